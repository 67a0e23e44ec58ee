"""KML and KMZ: folders of placemarks with styles, declared fields, and descriptions that show every text as text."""

from __future__ import annotations

import html
import re
import shutil
import zipfile
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

import numpy as np
import shapely

from grownj_geo.ownmarks import WRITTEN_BY
from grownj_geo.rows_block import cell_text
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from numpy.typing import NDArray

    from grownj_geo.exportstyles import LookClass
    from grownj_geo.exporttables import ExportTable

__all__ = ["write_kml", "write_kmz"]

_NAMESPACE = "http://www.opengis.net/kml/2.2"
_DECIMALS = 8
_LONG_SIDE_FT = 2_000.0
_TYPES = {"text": "string", "integer": "int", "number": "double", "boolean": "bool"}
_DAY = (1980, 1, 1, 0, 0, 0)
# What XML cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def write_kmz(tables: Sequence[ExportTable], path: Path, *, about: Mapping[str, str]) -> None:
    """Write a KMZ: one KML document in a zip file, without a clock, so that the same features give the same bytes.

    Parameters
    ----------
    tables, path, about
        As for `write_kml`.
    """
    whole = path.with_name(f"{path.name}.doc.kml")
    # GDAL finds declared fields in a KML file and not in a KMZ file: there each value brings its own name.
    with whole.open("wb") as file:
        _Writer(file, declared=False).document(tables, about)
    entry = zipfile.ZipInfo("doc.kml", _DAY)
    entry.compress_type = zipfile.ZIP_DEFLATED
    # With its size told before, the entry has a plain header: not every program reads the larger kind.
    entry.file_size = whole.stat().st_size
    with zipfile.ZipFile(path, "w") as target, whole.open("rb") as source, target.open(entry, "w") as out:
        shutil.copyfileobj(source, out)
    whole.unlink()


def write_kml(tables: Sequence[ExportTable], path: Path, *, about: Mapping[str, str]) -> None:
    """Write KML 2.2.

    A placemark's description is a table that is escaped once more than XML asks: programs show it as HTML, and
    whatever an attribute holds appears there as text. The values themselves are in ExtendedData as they are.

    Parameters
    ----------
    tables
        One folder each; geometry in EPSG:3424 is written in longitude and latitude.
    path
        Where.
    about
        What is said of the whole, by headings.
    """
    with path.open("wb") as file:
        _Writer(file, declared=True).document(tables, about)


def _clean(value: object) -> str:
    return _CONTROL.sub("\ufffd", cell_text(value))


def _colour(known: LookClass, opacity: float) -> str:
    """Return a colour as KML has it: opacity, blue, green, red."""
    red, green, blue = (known.colour[i : i + 2] for i in (1, 3, 5))
    return f"{round(255 * opacity):02x}{blue}{green}{red}".lower()


class _Writer:
    """Writes elements; whatever is text is escaped in one place."""

    def __init__(self, file: IO[bytes], *, declared: bool) -> None:
        self._declared = declared
        self._xml = XMLGenerator(file, encoding="utf-8", short_empty_elements=True)

    def _start(self, element: str, /, **attributes: str) -> None:
        self._xml.startElement(element, AttributesImpl(attributes))

    def _end(self, name: str) -> None:
        self._xml.endElement(name)
        self._xml.characters("\n")

    def _leaf(self, element: str, content: object, /, **attributes: str) -> None:
        self._start(element, **attributes)
        self._xml.characters(_clean(content))
        self._xml.endElement(element)

    def document(self, tables: Sequence[ExportTable], about: Mapping[str, str]) -> None:
        self._xml.startDocument()
        self._xml.processingInstruction(WRITTEN_BY, "areas and sites")
        self._start("kml", xmlns=_NAMESPACE)
        self._start("Document")
        self._leaf("name", "; ".join(table.label for table in tables[:3]) + ("; ..." if len(tables) > 3 else ""))  # noqa: PLR2004
        self._leaf("open", "1")
        self._leaf("description", _html_table(about))
        for number, table in enumerate(tables):
            self._styles(number, table)
        for number, table in enumerate(tables if self._declared else ()):
            self._schema(number, table)
        for number, table in enumerate(tables):
            self._folder(number, table)
        self._end("Document")
        self._end("kml")
        self._xml.endDocument()

    def _styles(self, number: int, table: ExportTable) -> None:
        for place, known in enumerate(table.look.classes):
            self._start("Style", id=f"style{number}_{place}")
            if table.points:
                self._start("IconStyle")
                self._leaf("color", _colour(known, known.opacity))
                self._leaf("scale", "0.9")
                self._end("IconStyle")
            line = 1.0 if known.pattern == "outline" else 0.8
            self._start("LineStyle")
            self._leaf("color", _colour(known, line))
            self._leaf("width", "1.5")
            self._end("LineStyle")
            # KML has no patterns: what is a pattern elsewhere is paler here.
            self._start("PolyStyle")
            self._leaf("color", _colour(known, known.opacity * (1.0 if known.pattern == "solid" else 0.4)))
            self._leaf("fill", "0" if known.pattern == "outline" else "1")
            self._leaf("outline", "1")
            self._end("PolyStyle")
            self._start("BalloonStyle")
            self._leaf("text", "$[description]")
            self._end("BalloonStyle")
            self._end("Style")

    def _schema(self, number: int, table: ExportTable) -> None:
        self._start("Schema", name=table.name, id=f"schema{number}")
        for field in table.fields:
            self._start("SimpleField", type=_TYPES[field.type], name=_clean(field.name))
            self._leaf("displayName", _shown(field.meaning))
            self._end("SimpleField")
        self._end("Schema")

    def _folder(self, number: int, table: ExportTable) -> None:
        self._start("Folder")
        self._leaf("name", table.label)
        # The first folder is what was asked for first; the others are switched on by hand.
        self._leaf("visibility", "1" if number == 0 else "0")
        self._leaf("description", _shown(table.about))
        shapes = _in_degrees(table.geometries)
        title = table.values.get(table.title)
        for row, shape in enumerate(shapes):
            known = table.look.of(table.values[table.look.field][row])
            own = title[row] if title is not None else None
            self._start("Placemark")
            self._leaf("name", own if own is not None else known.label)
            self._leaf("visibility", "1" if number == 0 else "0")
            values = {field.name: table.values[field.name][row] for field in table.fields}
            self._leaf("description", _html_table({k: cell_text(v) for k, v in values.items() if v is not None}))
            self._leaf("styleUrl", f"#style{number}_{table.look.classes.index(known)}")
            self._values(number, {name: value for name, value in values.items() if value is not None})
            if shape is not None:
                self._geometry(shape)
            self._end("Placemark")
        self._end("Folder")

    def _values(self, number: int, values: Mapping[str, Any]) -> None:
        self._start("ExtendedData")
        if self._declared:
            self._start("SchemaData", schemaUrl=f"#schema{number}")
        for name, value in values.items():
            content = int(value) if isinstance(value, bool) else value
            if self._declared:
                self._leaf("SimpleData", content, name=_clean(name))
            else:
                self._start("Data", name=_clean(name))
                self._leaf("value", content)
                self._end("Data")
        if self._declared:
            self._end("SchemaData")
        self._end("ExtendedData")

    def _geometry(self, shape: shapely.Geometry) -> None:
        if hasattr(shape, "geoms"):
            self._start("MultiGeometry")
            for part in shape.geoms:
                self._geometry(part)
            self._end("MultiGeometry")
        elif shape.geom_type == "Polygon":
            self._start("Polygon")
            for name, rings in (("outerBoundaryIs", [shape.exterior]), ("innerBoundaryIs", shape.interiors)):
                for ring in rings:
                    self._start(name)
                    self._start("LinearRing")
                    self._leaf("coordinates", _pairs(ring))
                    self._end("LinearRing")
                    self._end(name)
            self._end("Polygon")
        else:
            self._start(shape.geom_type)
            self._leaf("coordinates", _pairs(shape))
            self._end(shape.geom_type)


def _pairs(shape: Any) -> str:  # noqa: ANN401 - shapely has no types
    return " ".join(f"{lon},{lat}" for lon, lat in shapely.get_coordinates(shape).tolist())


def _in_degrees(geometries: NDArray[np.object_]) -> NDArray[np.object_]:
    def degrees(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack(to_lonlat(xy[:, 0], xy[:, 1])).round(_DECIMALS)

    # A side that is straight in feet is a curve in degrees.
    shapes = shapely.transform(shapely.segmentize(geometries, _LONG_SIDE_FT), degrees)
    return np.asarray(shapely.orient_polygons(shapes))


def _shown(text: str) -> str:
    """Return text for a balloon, as HTML without markup.

    Programs replace ``$[field]`` in a balloon by the field's raw value; without a dollar sign there is nothing to
    replace, and HTML shows the entity as one.
    """
    return html.escape(text).replace("$", "&#36;")


def _html_table(values: Mapping[str, str]) -> str:
    """Return names and values as an HTML table in which nothing is markup but the table itself."""
    rows = "".join(
        f"<tr><th align='left'>{_shown(name)}</th><td>{_shown(value)}</td></tr>" for name, value in values.items()
    )
    return f"<table>{rows}</table>"
