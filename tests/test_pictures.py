"""Pictures for documents: text is text, its font is inside, strangers' names are drawn as they are, bytes are equal."""

from __future__ import annotations

import re
import struct
import zlib
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely

from grownj_geo.determine import Engine
from grownj_geo.mapanswer import Asked
from grownj_geo.mapareas import MapAreas, draw_areas
from grownj_geo.mapsites import MapSites, sites_of_places
from grownj_geo.pictures import draw_picture, picture_bytes, write_picture
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.units import to_working

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "<script>alert(1)</script> $x^2$ & Éléonore Ωμέγα Жёлтый \u202e漢"


@pytest.fixture(scope="module")
def areas(engine: Engine) -> MapAreas:
    return draw_areas(engine)


def sites_of(engine: Engine, *places: tuple[str, float, float]) -> MapSites:
    asked = Asked(date(2017, 4, 17), load_rulebook())
    return sites_of_places(asked, engine, [Site.from_lonlat(lon, lat, typed=name) for name, lon, lat in places])


@pytest.fixture(scope="module")
def one(engine: Engine) -> MapSites:
    return sites_of(engine, (EVIL, -74.320347, 40.567092))


@pytest.fixture(scope="module")
def figure(engine: Engine, areas: MapAreas, one: MapSites) -> Any:
    return draw_picture(engine, areas, one)


def texts_of(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def test_svg_has_text_as_text_and_its_font_inside(figure: Any) -> None:
    svg = picture_bytes(figure, "svg").decode()
    assert "Within ½ mile of a rail station" in svg
    assert "&lt;script&gt;alert(1)&lt;/script&gt; $x^2$ &amp; Éléonore Ωμέγα Жёлтый" in svg
    assert "<script" not in svg
    assert "\u202e" not in svg
    assert svg.count("@font-face") == 2
    assert not re.findall(r'(?:href|src)\s*=\s*"(?!#|data:)', svg.replace("xlink:href", "href"))


def test_pdf_has_its_fonts_inside(figure: Any) -> None:
    pdf = picture_bytes(figure, "pdf")
    assert pdf.startswith(b"%PDF-")
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    streams = [_unpacked(part) for part in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)]
    # Signs beyond the first 256 have a table that says what they are, so that text can be selected.
    assert any(b"beginbfrange" in stream or b"beginbfchar" in stream for stream in streams)


def _unpacked(part: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(part)
    except zlib.error:
        return part


def test_png_is_a_letter_page(figure: Any) -> None:
    png = picture_bytes(figure, "png")
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (2200, 1700)


def test_equal_pictures_are_equal_bytes(engine: Engine, areas: MapAreas, one: MapSites) -> None:
    for kind in ("png", "svg", "pdf"):
        first, second = (picture_bytes(draw_picture(engine, areas, one), kind) for _ in range(2))  # type: ignore[arg-type]
        assert first == second, kind


def test_a_single_site_has_its_answer_its_line_and_its_sources(figure: Any) -> None:
    texts = texts_of(figure)
    whole = " ".join(" ".join(texts).split())
    assert "Woodbridge Township, Middlesex County. $4,000 (distressed municipality)" in whole
    assert "2,601 ft" in texts
    assert "Metropark" in texts
    assert "New Jersey Office of GIS (NJOGIS), edition of 2021-01-01" in whole
    assert "As of 2017-04-17." in whole
    assert "not legal advice" in whole


def test_the_share_of_a_cut_says_of_what_and_stands_clear_of_the_lot(engine: Engine, areas: MapAreas) -> None:
    x, y = (float(v) for v in to_working(-74.320347, 40.567092))
    lot = Site(typed="lot", located_by="drawn", geometry=shapely.box(x - 900, y - 400, x + 900, y + 400))
    figure = draw_picture(engine, areas, sites_of_places(None, engine, [lot]))
    (words,) = (t for t in figure.findobj(lambda a: hasattr(a, "get_text")) if " % inside " in t.get_text())
    assert words.get_text().endswith(" % inside the radius of 0.50 miles around Metropark")
    figure.canvas.draw()
    box = words.get_window_extent().transformed(words.axes.transData.inverted())
    # The mark of the site stands within the lot.
    assert box.y0 > y + 400


def test_signs_that_the_font_lacks_are_marked(figure: Any) -> None:
    title = next(text for text in texts_of(figure) if text.startswith("<script>"))
    assert "Éléonore Ωμέγα Жёлтый" in title
    assert "漢" not in title


def test_the_legend_has_what_is_in_view_and_nothing_else(engine: Engine, areas: MapAreas, one: MapSites) -> None:
    near, state = draw_picture(engine, areas, one), draw_picture(engine, areas, one, extent="state")
    assert "Within 1 mile of Atlantic City" not in " ".join(texts_of(near))
    assert "Within 1 mile of Atlantic City" in " ".join(texts_of(state))
    assert "Garden State Growth Zone" in texts_of(state)
    assert float(state.get_size_inches()[1]) == 11.0


def test_classes_can_be_chosen(engine: Engine, areas: MapAreas) -> None:
    found = draw_picture(engine, areas, show=["southern_eight"])
    assert "Southern eight counties" in texts_of(found)
    assert "Distressed municipality" not in texts_of(found)


def test_sites_are_counted_by_amount_and_named(engine: Engine, areas: MapAreas) -> None:
    found = draw_picture(engine, areas, sites_of(engine, ("Hub", -74.1641, 40.7344), ("Edge", -74.320347, 40.567092)))
    texts = texts_of(found)
    assert "Hub" in texts
    assert "Edge" in texts
    # The count follows the amount's status; both are wrapped to the width of the key.
    amount = next(k for k, text in enumerate(texts) if text.startswith("$4,000"))
    assert " ".join(texts[amount : amount + 2]) == "$4,000: distressed municipality (from a secondary source) (1)"


def test_sites_known_by_municipality_only_are_said_to_be_missing(engine: Engine, areas: MapAreas) -> None:
    town = Site(typed="Newark City", located_by="municipality", mun_code="0714", mun_basis="stated")
    lot = Site.from_lonlat(-75.1190, 39.9447)
    both = sites_of_places(Asked(date(2017, 4, 17), load_rulebook()), engine, [lot, town])
    words = " ".join(texts_of(draw_picture(engine, areas, both))).replace("\n", " ")
    assert "1 site is known by municipality only: not on the map" in words
    alone = sites_of_places(Asked(date(2017, 4, 17), load_rulebook()), engine, [lot])
    assert "municipality only" not in " ".join(texts_of(draw_picture(engine, areas, alone)))


def test_a_polygon_is_drawn_as_one(engine: Engine, areas: MapAreas) -> None:
    x, y = (float(v) for v in to_working(-74.1641, 40.7344))
    lot = Site(typed="Lot", located_by="drawn", geometry=shapely.box(x, y, x + 900, y + 600))
    sites = sites_of_places(Asked(date(2017, 4, 17), load_rulebook()), engine, [lot])
    found = draw_picture(engine, areas, sites)
    paths = [patch.get_path().vertices for patch in found.axes[0].findobj(lambda a: hasattr(a, "get_path"))]
    assert any(len(v) == 5 and np.allclose(v.max(axis=0), (x + 900, y + 600)) for v in paths)


def test_a_picture_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png", b"png")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.png", b"png")]


def test_sites_whose_names_have_no_room_are_counted_and_the_scale_is_left_free(engine: Engine, areas: MapAreas) -> None:
    close = [(f"Place {k} of the same street", -74.1641 + 1e-5 * k, 40.7344) for k in range(6)]
    found = draw_picture(engine, areas, sites_of(engine, *close))
    texts = texts_of(found)
    named = sum(text.startswith("Place ") for text in texts)
    assert 0 < named < 6
    assert f"{6 - named} sites have no name here" in " ".join(texts)
    apart = draw_picture(engine, areas, sites_of(engine, ("Hub", -74.1641, 40.7344), ("Edge", -74.320347, 40.567092)))
    assert "no name here" not in " ".join(texts_of(apart))


def test_a_picture_says_what_was_chosen_and_that_classes_are_missing(engine: Engine, areas: MapAreas) -> None:
    chosen = Engine(engine.atlas, engine.rulebook, {"A3": "majority"})
    text = " ".join(" ".join(texts_of(draw_picture(chosen, areas, extent="state"))).split())
    assert "Readings chosen: A3=majority." in text
    assert f"{len(areas.not_drawn)} classes of area" in text
