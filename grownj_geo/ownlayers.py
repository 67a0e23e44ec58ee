"""Whose a file is that holds several things: workbooks, zip files, GeoPackages and geodatabases.

Each function returns None for a file that this package did not write. Of one that it wrote it returns what others have
added to it since, by name: a layer, a table, a project or a style of QGIS, a sheet, a file, a day on which features or
cells were changed. Nothing for none.

What is read here may be anybody's: a function here may raise whatever its format's library raises for a damaged file.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import warnings
import zipfile
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from grownj_geo.ownmarks import LAST_WORDS, WRITTEN_BY, Xml, is_software

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["added_to_database", "added_to_geodatabase", "added_to_zip"]

_HEAD = 1_000_000
_SHEETS = ({"Sites"}, {"Computation", "Figures", "Notes"})
_PUT_IN = re.compile(
    r"xl/(?:comments|threadedComments|drawings|charts|media|pivot|tables|embeddings|externalLinks|vbaProject|macro"
    r"|chartsheets|dialogsheets)"
)
"""Parts of a workbook in which a program keeps what a person put in, and of which this package writes none."""
_ONE_MOMENT = timedelta(minutes=1)
_SHAPES = frozenset({"cpg", "csv", "dbf", "prj", "qml", "shp", "shx", "sld"})
_DICTIONARY = ["layer", "field", "shapefile_field", "type", "meaning"]
_ABOUT = ["what", "words"]
_OF_FORMAT = frozenset(
    {"spatial_ref_sys", "contents", "ogr_contents", "geometry_columns", "tile_matrix_set", "tile_matrix", "extensions"}
)
_CLOCK = "1980-01-01T00:00:00.000Z"
"""The time of all that is written of sites and areas; whatever changes a layer puts its own there."""
_INDEX = ("", "_rowid", "_node", "_parent")
_STYLE = "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n<qgis version=\"3.22.0\" styleCategories="
"""As styles of this package begin; QGIS writes its own version there."""
_OF_GEODATABASE = re.compile(r"a[0-9a-f]{8}\.[A-Za-z0-9_]+(?:\.[a-z]+)?|gdb|timestamps|.*\.lock")
_ITEMS = frozenset({"", "Workspace"})


# -- zip files -----------------------------------------------------------------------------------------


def added_to_zip(path: Path) -> list[str] | None:
    """Return what others added to a workbook, zipped shapefiles, a KMZ or a bundle; None where it is none of these."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if "xl/workbook.xml" in names:
            return _added_to_workbook(archive, names)
        if "doc.kml" in names:
            own = WRITTEN_BY in Xml(_content(archive, "doc.kml"), "kml").first
            return [name for name in names if name != "doc.kml"] if own else None
        if {"dictionary.csv", "about.csv"} <= set(names):
            return _added_to_shapefiles(archive, names)
        if "bundle.json" in names:
            index = json.loads(_content(archive, "bundle.json"))
            if not isinstance(index, dict) or not is_software(str(index.get("software"))):
                return None
            held = set(index["editions"] if isinstance(index.get("editions"), list) else ())
            others = (name for name in names if name != "bundle.json")
            return [name for name in others if "@".join(name.split("/")[:2]) not in held]
    return None


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        return file.read(_HEAD)


def _added_to_workbook(archive: zipfile.ZipFile, names: list[str]) -> list[str] | None:
    if "docProps/core.xml" not in names:
        return None
    core = _content(archive, "docProps/core.xml")
    if Xml(core, "coreProperties/creator").texts != [WRITTEN_BY]:
        return None
    sheets = Xml(_content(archive, "xl/workbook.xml"), "workbook/sheets/sheet").names
    own = next((own for own in _SHEETS if own <= set(sheets)), None)
    if own is None:
        return None
    found = [f"sheet {name}" for name in sheets if name not in own] + [name for name in names if _PUT_IN.match(name)]
    return found or _saved_again(core)


def _saved_again(core: bytes) -> list[str]:
    """Return who saved a workbook again and when: its own times are of one moment, and it names nobody.

    What was changed in it is not looked for: whoever saved it had a reason.
    """
    created, modified = (
        datetime.fromisoformat(Xml(core, f"coreProperties/{name}").texts[0]).replace(tzinfo=None)
        for name in ("created", "modified")
    )
    by = [name for name in Xml(core, "coreProperties/lastModifiedBy").texts if name]
    if not by and modified - created < _ONE_MOMENT:
        return []
    return [f"changes saved{f' by {by[0]}' if by else ''} on {modified:%Y-%m-%d}"]


def _added_to_shapefiles(archive: zipfile.ZipFile, names: list[str]) -> list[str] | None:
    about = list(csv.reader(_content(archive, "about.csv").decode("utf-8", "replace").splitlines()))
    rows = list(csv.reader(_content(archive, "dictionary.csv").decode("utf-8", "replace").splitlines()))
    if about[:1] != [_ABOUT] or rows[:1] != [_DICTIONARY]:
        return None
    own = {"dictionary.csv", "about.csv", *(f"{row[0]}.{end}" for row in rows[1:] if row for end in _SHAPES)}
    return [name for name in names if name not in own]


# -- GeoPackages ---------------------------------------------------------------------------------------


def added_to_database(path: Path) -> list[str] | None:
    """Return what others added to a GeoPackage: layers, tables, views, projects and styles of QGIS.

    Its own layers are those that its dictionary names, and those whose description says that this package wrote them.
    What GDAL lists is not all: a project of QGIS, for one, stands in no list of layers.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
        names = [str(name) for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type IN ('table','view')")]
        if "gpkg_contents" not in names:
            return None
        rows = base.execute("SELECT table_name, description, last_change FROM gpkg_contents").fetchall()
        layers = {str(name) for name, words, _ in rows if words == LAST_WORDS}
        fields: dict[str, int] = {}
        own: set[str] = set()
        if _columns(base, "dictionary") == _DICTIONARY and _columns(base, "about") == _ABOUT:
            own |= {"dictionary", "about"}
            fields = dict(base.execute("SELECT layer, count(*) FROM dictionary GROUP BY layer"))
            layers |= set(map(str, fields))
        if not layers:
            return None
        changed = [(str(name), str(at)) for name, _, at in rows if name in {*fields, "sites"} and at != _CLOCK]
        own |= layers | {f"gpkg_{name}" for name in _OF_FORMAT}
        own |= {f"rtree_{layer}_geom{part}" for layer in layers for part in _INDEX}
        found = [name for name in names if name not in own and not name.startswith("sqlite_")]
        # An index goes with its layer.
        indexes = tuple(f"rtree_{name}_" for name in found)
        found = [name for name in found if not name.startswith(indexes)]
        if fields and "layer_styles" in found:
            found.remove("layer_styles")
            found += _styles_of_others(base, layers)
        for layer, count in fields.items():
            more = len(_columns(base, str(layer))) - count
            if more > 0:
                changed = [each for each in changed if each[0] != layer]
                found.append(f"{more:,} more field{'s' * (more > 1)} of {layer}")
    found += [f"changes of {name} on {at[:10]}" for name, at in changed if name not in found]
    beside = path.with_name(f"{path.name}-wal")
    # What a program that has it open has not yet put into the file itself.
    return found + ([beside.name] if beside.exists() and beside.stat().st_size else [])


def _columns(base: sqlite3.Connection, table: str) -> list[str]:
    """Return the names of a table's columns without its row numbers and geometries."""
    rows = base.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return [str(name) for (name,) in rows if name not in {"fid", "geom"}]


def _styles_of_others(base: sqlite3.Connection, layers: set[str]) -> list[str]:
    rows = base.execute("SELECT f_table_name, styleName, styleQML FROM layer_styles").fetchall()
    return [
        f"style {name} of {table}"
        for table, name, words in rows
        if not (table in layers and name == table[:30] and str(words).startswith(_STYLE))
    ]


# -- geodatabases --------------------------------------------------------------------------------------


def added_to_geodatabase(path: Path) -> list[str] | None:
    """Return what others added to a file geodatabase: files and folders, and whatever its list of items names.

    The list names more than layers: feature datasets, relationships, domains, rasters.
    """
    import pyogrio  # noqa: PLC0415 - only where something is there

    with warnings.catch_warnings():
        # What is odd about somebody else's file is not this run's to tell.
        warnings.simplefilter("ignore")
        listed = [str(name) for name, _ in pyogrio.list_layers(path).tolist()]
        if not {"dictionary", "about"} <= set(listed):
            return None
        about = pyogrio.read_info(path, layer="about")["fields"].tolist()
        information, _, _, values = pyogrio.raw.read(path, layer="dictionary", read_geometry=False)
        if about != _ABOUT or information["fields"].tolist() != _DICTIONARY:
            return None
        (items,) = pyogrio.raw.read(path, layer="GDB_Items", columns=["Name"], read_geometry=False)[3]
    own = {"dictionary", "about", *map(str, values[0])}
    stray = sorted(p.name for p in path.iterdir() if not p.is_file() or not _OF_GEODATABASE.fullmatch(p.name))
    return [name for name in dict.fromkeys([*listed, *map(str, items)]) if name not in own | _ITEMS] + stray
