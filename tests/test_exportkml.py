"""KML and KMZ: valid, styled, and every text as text."""

from __future__ import annotations

import html
import zipfile
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pyogrio
import pytest
import shapely
from few_tables import HOSTILE, example_areas, example_sites

from grownj_geo.exportkml import write_kml, write_kmz
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from grownj_geo.exporttables import ExportTable

KML = "{http://www.opengis.net/kml/2.2}"
ABOUT = {"caution": "<b>none</b> & nothing"}
TABLES = {"areas": example_areas, "sites": example_sites}


@pytest.fixture(params=["areas", "sites"])
def tables(request: pytest.FixtureRequest) -> tuple[ExportTable, ...]:
    """Return drawn areas, then sites with hostile texts."""
    return TABLES[request.param]()


def test_it_validates_against_the_schema_of_kml(tables: tuple[ExportTable, ...], tmp_path: Path) -> None:
    etree = pytest.importorskip("lxml.etree")
    pytest.importorskip("fastkml")
    write_kml(tables, tmp_path / "out.kml", about=ABOUT)
    with resources.as_file(resources.files("fastkml") / "schema") as folder:
        schema = etree.XMLSchema(etree.parse(str(folder / "ogckml22.xsd")))
    with zipfile.ZipFile(_kmz(tables, tmp_path)) as archive, archive.open("doc.kml") as inner:
        documents = [etree.parse(str(tmp_path / "out.kml")), etree.parse(inner)]
    for document in documents:
        assert schema.validate(document), schema.error_log


def _kmz(tables: tuple[ExportTable, ...], folder: Path) -> Path:
    write_kmz(tables, folder / "out.kmz", about=ABOUT)
    return folder / "out.kmz"


def test_each_placemark_has_the_style_of_its_class(tables: tuple[ExportTable, ...], tmp_path: Path) -> None:
    write_kml(tables, tmp_path / "out.kml", about=ABOUT)
    root = ET.parse(tmp_path / "out.kml").getroot()  # noqa: S314 - our own
    styles = {style.get("id"): style for style in root.iter(f"{KML}Style")}
    for number, (table, folder) in enumerate(zip(tables, root.iter(f"{KML}Folder"), strict=True)):
        placemarks = folder.findall(f"{KML}Placemark")
        assert len(placemarks) == len(table)
        for row, placemark in enumerate(placemarks):
            known = table.look.of(table.values[table.look.field][row])
            url = placemark.findtext(f"{KML}styleUrl")
            assert url == f"#style{number}_{table.look.classes.index(known)}"
            style = styles[url[1:]]
            red, green, blue = (known.colour[i : i + 2].lower() for i in (1, 3, 5))
            for part in ("LineStyle", "PolyStyle"):
                assert style.findtext(f"{KML}{part}/{KML}color", "")[2:] == blue + green + red


def test_hostile_texts_are_text_in_name_description_and_values(tmp_path: Path) -> None:
    write_kml(example_sites(), tmp_path / "out.kml", about=ABOUT)
    root = ET.parse(tmp_path / "out.kml").getroot()  # noqa: S314 - our own
    folder = next(root.iter(f"{KML}Folder"))
    for text, placemark in zip(HOSTILE, folder.findall(f"{KML}Placemark"), strict=False):
        assert placemark.findtext(f"{KML}name") == text
        values = {d.get("name"): d.text for d in placemark.iter(f"{KML}SimpleData")}
        assert values["A Remark that is long"] == text
        # A description is shown as HTML: read so, it is the same text, and has no tags but the table's.
        description = placemark.findtext(f"{KML}description", "")
        assert html.escape(text).replace("$", "&#36;") in description
        assert "<img" not in description
        assert "<script" not in description
        assert "<b>" not in description
    assert root.findtext(f"{KML}Document/{KML}description", "").count("&lt;b&gt;") == 1


@pytest.mark.parametrize("name", ["out.kml", "out.kmz"])
def test_no_field_is_put_into_a_balloon_by_what_a_stranger_wrote(tmp_path: Path, name: str) -> None:
    hostile = "$[A Remark that is long] $[name/displayName] $[geDirections]"
    table = example_sites()[1]
    fields = (replace(table.fields[0], meaning=hostile), *table.fields[1:])
    odd = replace(table, about=hostile, fields=fields, values={**table.values, "name": [hostile]})
    (write_kml if name == "out.kml" else write_kmz)([odd], tmp_path / name, about={hostile: hostile})
    if name == "out.kml":
        text = (tmp_path / name).read_bytes()
    else:
        with zipfile.ZipFile(tmp_path / name) as archive:
            text = archive.read("doc.kml")
    root = ET.fromstring(text)  # noqa: S314 - our own
    shown = [e.text or "" for tag in ("description", "displayName") for e in root.iter(f"{KML}{tag}")]
    # Each is shown as HTML: there is nothing for a program to replace, and people read what was written.
    assert sum(hostile in html.unescape(words) for words in shown) >= (4 if name == "out.kml" else 3)
    assert not any("$" in words for words in shown)
    # The only one that is replaced is our own, by the description.
    assert {e.text for e in root.iter(f"{KML}text")} == {"$[description]"}


@pytest.mark.parametrize("name", ["out.kml", "out.kmz"])
def test_gdal_reads_the_values_and_the_places_back(tmp_path: Path, name: str) -> None:
    table = example_areas()[1]
    (write_kml if name == "out.kml" else write_kmz)([table], tmp_path / name, about=ABOUT)
    meta, _, wkb, columns = pyogrio.raw.read(tmp_path / name, layer=table.label)
    read = dict(zip(meta["fields"].tolist(), columns, strict=True))
    assert list(read["clauses"]) == table.values["clauses"]
    assert list(read["mun_code"]) == table.values["mun_code"]
    for shape, drawn in zip(shapely.force_2d(shapely.from_wkb(wkb)), table.geometries, strict=True):
        back = shapely.transform(shape, _working)
        assert back.symmetric_difference(drawn).area < 0.02 * drawn.length


def _working(xy: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack(to_working(xy[:, 0], xy[:, 1]))


def test_what_xml_cannot_hold_is_replaced(tmp_path: Path) -> None:
    table = example_sites()[1]
    odd = replace(table, values={**table.values, "name": ["a\x01b\ufffe\ud800c"]})
    write_kml([odd], tmp_path / "out.kml", about={})
    root = ET.parse(tmp_path / "out.kml").getroot()  # noqa: S314 - our own
    assert root.findtext(f".//{KML}Placemark/{KML}name") == "a\ufffdb\ufffd\ufffdc"


def test_the_same_features_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.kmz", "two.kmz"):
        write_kmz(example_sites(), tmp_path / name, about=ABOUT)
    assert (tmp_path / "one.kmz").read_bytes() == (tmp_path / "two.kmz").read_bytes()
