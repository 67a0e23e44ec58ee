"""Sites for maps: the record in a panel, the line that was measured, tables whole, in general, and of a batch."""

from __future__ import annotations

import csv
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely

from grownj_geo.batch import run_batch
from grownj_geo.batchwork import Question
from grownj_geo.determine import Directory, Engine
from grownj_geo.features import LayerFault
from grownj_geo.locate import locate
from grownj_geo.mapanswer import Asked, decisive_lines, panel_of
from grownj_geo.mapsites import MapSites, sites_of_places, sites_of_table
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.siterows import TableOptions
from grownj_geo.units import geodesic_ft, to_working

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

METROPARK = (-74.320347, 40.567092)
DAY = date(2017, 4, 17)
ROWS = [
    ("Newark Penn", 40.7344, -74.1641),
    ("Metropark edge", 40.567092, -74.320347),
    ("Camden", 39.9447, -75.1190),
    ("Staten Island", 40.60999, -74.14843),
    ("nowhere", "", ""),
]


@pytest.fixture(scope="module")
def asked() -> Asked:
    return Asked(DAY, load_rulebook("grow-nj"))


def table_of(folder: Path, rows: Sequence[Sequence[object]], header: Sequence[str] = ("name", "lat", "lon")) -> Path:
    path = folder / "sites.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def read(asked: Asked, engine: Engine, path: Path, **options: object) -> MapSites:
    return sites_of_table(asked, engine, path, options=TableOptions(), directory=Directory(engine.atlas), **options)  # type: ignore[arg-type]


def test_a_panel_says_what_the_record_says(engine: Engine) -> None:
    site = Site.from_lonlat(*METROPARK)
    record = engine.determine(site)
    panel = panel_of(record)
    assert [f.category for f in panel.found] == [f.id for f in record.findings]
    for shown, finding in zip(panel.found, record.findings, strict=True):
        assert (shown.outcome, shown.leans, shown.margin_ft) == (finding.outcome, finding.leans, finding.margin_ft)
        assert shown.why == finding.why
        assert bool(shown.needs) == bool(finding.would_decide)
    assert panel.place == "Woodbridge Township, Middlesex County"
    assert record.tier is not None
    assert panel.tier == f"{record.tier.words} ({record.tier.status})"
    weak = {"provisional", "secondary", "unverified"}
    assert [f.status for f in panel.found] == [f.status if f.status in weak else "" for f in record.findings]
    assert weak & {f.status for f in panel.found}
    assert set(record.cautions) | set(record.assumptions) == set(panel.remarks)


def test_the_line_is_as_long_as_the_figure_that_decided(engine: Engine) -> None:
    site = Site.from_lonlat(*METROPARK)
    record = engine.determine(site)
    lines = decisive_lines(engine, site, record)
    by_finding = {finding: line for line in lines for finding in line.findings}
    for finding in record.findings:
        line = by_finding.get(finding.id)
        if line is None:
            continue
        assert line.margin_ft == finding.margin_ft
        length = float(geodesic_ft(*line.start, *line.end))
        assert length == pytest.approx(line.feet, abs=max(6.0, 0.0015 * line.feet))
        assert line.start == pytest.approx(METROPARK, abs=1e-6)
    station = by_finding["transit_oriented_development"]
    assert station.to == "Metropark"
    assert station.words == "2,601 ft to Metropark; computed: inside by 39 ft"
    # Only what is decided is cleared or missed.
    assert {line.outcome for line in lines} >= {"undetermined", "no"}
    for line in lines:
        assert {record[finding].outcome for finding in line.findings} <= {line.outcome, "yes", "no"}
        assert ("computed: " in line.words) == (line.outcome == "undetermined")
        assert ("cleared" in line.words or "missed" in line.words) == (line.outcome != "undetermined")
    # The narrowest margin comes first.
    assert [abs(line.margin_ft) for line in lines] == sorted(abs(line.margin_ft) for line in lines)


def test_the_line_of_a_polygon_begins_where_it_was_measured(engine: Engine) -> None:
    x, y = (float(v) for v in to_working(*METROPARK))
    site = Site(typed="lot", located_by="drawn", geometry=shapely.box(x - 400, y - 40, x - 100, y + 40))
    record = engine.determine(site)
    lines = decisive_lines(engine, site, record)
    station = next(line for line in lines if "transit_oriented_development" in line.findings)
    assert station.margin_ft == record["transit_oriented_development"].margin_ft
    # The whole lot has to be within the radius, so its farthest corner decides.
    assert station.start[0] == pytest.approx(METROPARK[0] - 100 / 278_000, abs=1e-5)
    assert float(geodesic_ft(*station.start, *station.end)) == pytest.approx(station.feet, abs=6)


def test_the_line_that_cuts_a_lot_comes_first_with_its_share(engine: Engine) -> None:
    x, y = (float(v) for v in to_working(*METROPARK))
    lot = shapely.box(x - 900, y - 40, x + 900, y + 40)
    record = engine.determine(site := Site(typed="lot", located_by="drawn", geometry=lot))
    (evidence,) = (e for e in record["transit_oriented_development"].evidence if e.feature_name == "Metropark")
    assert evidence.share is not None
    line = decisive_lines(engine, site, record)[0]
    assert line.findings[0] == "transit_oriented_development"
    assert line.share == evidence.share.value
    share = line.label.removesuffix(" inside the radius of 0.50 miles around Metropark")
    assert line.words == f"the radius of 0.50 miles around Metropark cuts the site: {share} of it is inside"
    # From one end of the cut to the other, each on the circle.
    assert line.feet == pytest.approx(80, abs=2)
    station = next(s for s in record.stations if s.name == "Metropark")
    layer = engine.atlas.layer("transit_stations")
    assert layer is not None
    at = layer.lonlat[layer.names.index(station.name)]
    for end in (line.start, line.end):
        assert float(geodesic_ft(*end, *at)) == pytest.approx(2640, abs=1)
    whole = Site(typed="lot", located_by="drawn", geometry=shapely.box(x + 300, y - 40, x + 900, y + 40))
    assert all(line.share is None for line in decisive_lines(engine, whole, engine.determine(whole)))


def test_a_site_known_by_municipality_has_no_line_and_no_place(asked: Asked, engine: Engine) -> None:
    site = locate("", municipality="Camden City", directory=Directory(engine.atlas))
    found = sites_of_places(asked, engine, [site])
    assert len(found) == 1
    assert not found.placed.any()
    assert found.panels[0].lines == ()


def test_a_table_has_every_reason_of_each_site(asked: Asked, engine: Engine, tmp_path: Path) -> None:
    found = read(asked, engine, table_of(tmp_path, ROWS))
    assert found.names == ("Newark Penn", "Metropark edge", "Camden")
    assert found.floors.tolist() == [5000, 4000, 5000]
    assert [n.name for n in found.not_answered] == ["nowhere", "Staten Island"]
    assert found.not_answered[1].problem.startswith("Row 5: ")
    assert "outside New Jersey" in found.not_answered[1].problem
    assert found.panels[1].lines[0].to == "Metropark"
    assert np.allclose(found.lonlat[0], (-74.1641, 40.7344), atol=1e-7)


def test_many_sites_share_what_is_said_and_have_the_same_answers(asked: Asked, engine: Engine, tmp_path: Path) -> None:
    path = table_of(tmp_path, ROWS * 3)
    whole, general = read(asked, engine, path), read(asked, engine, path, most_whole=5)
    assert general.panels == ()
    assert general.names == whole.names
    assert general.floors.tolist() == whole.floors.tolist()
    assert general.ceilings.tolist() == whole.ceilings.tolist()
    assert np.allclose(general.lonlat, whole.lonlat)
    assert len(general.not_answered) == len(whole.not_answered)
    assert len(general.groups) <= 3
    for i, panel in enumerate(whole.panels):
        shared = general.groups[general.group[i]]
        assert [(f.category, f.outcome, f.leans, f.assumed) for f in shared.found] == [
            (f.category, f.outcome, f.leans, f.assumed) for f in panel.found
        ]
        for finding in panel.found:
            rows, margins = general.margins.get(finding.category, (np.empty(0), np.empty(0)))
            near = dict(zip(rows.tolist(), margins.tolist(), strict=True))
            if finding.margin_ft is not None and abs(finding.margin_ft) < 499:
                assert near[i] == pytest.approx(finding.margin_ft, abs=0.06)
            else:
                assert i not in near


@pytest.mark.slow
def test_several_processes_answer_as_one_does(asked: Asked, engine: Engine, tmp_path: Path) -> None:
    rows = [(f"s{i}", 40.2 + 0.0011 * i, -74.6 + 0.0007 * i) for i in range(160)]
    by_many = read(asked, engine, table_of(tmp_path, rows))
    by_one = sites_of_places(asked, engine, [Site.from_lonlat(lon, lat) for _, lat, lon in rows[:20]])
    assert by_many.panels[:20] == tuple(
        panel.__class__(
            by_many.panels[i].typed, panel.place, panel.tier, panel.found, panel.lines, panel.remarks, panel.asked
        )
        for i, panel in enumerate(by_one.panels)
    )


def test_what_a_batch_wrote_is_taken_and_answered_anew(asked: Asked, engine: Engine, tmp_path: Path) -> None:
    header = ("name", "lat", "lon", "county")
    rows = [(n, lat, lon, "") for n, lat, lon in ROWS[:3]]
    source = table_of(tmp_path, rows, header)
    for ending in ("csv", "xlsx", "parquet"):
        target = tmp_path / f"out.{ending}"
        run_batch(source, target, Question(as_of=DAY))
        found = read(asked, engine, target)
        assert found.names == ("Newark Penn", "Metropark edge", "Camden"), ending
        assert any("left aside and made anew" in words for words in found.told)
        assert not any("other layers" in words for words in found.told)


def test_a_batch_of_another_day_is_told(asked: Asked, engine: Engine, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    run_batch(table_of(tmp_path, ROWS[:2]), target, Question(as_of=date(2016, 1, 4)))
    found = read(asked, engine, target)
    assert any(words.startswith("The table was answered with other layers or another day") for words in found.told)


def test_names_come_from_their_column_or_from_the_row(asked: Asked, engine: Engine, tmp_path: Path) -> None:
    path = table_of(tmp_path, [("A", "first", 40.7344, -74.1641)], ("code", "what", "lat", "lon"))
    found = read(asked, engine, path)
    assert found.names == ("Row 2",)
    words = "sites.csv: no column of names was recognised among 'code', 'what', 'lat', 'lon'; name one with --name."
    assert words in found.told
    assert read(asked, engine, path, name="what").names == ("first",)
    assert not any("no column of names" in words for words in read(asked, engine, path, name="what").told)
    with pytest.raises(LayerFault, match="has no column 'title'; it has 'code', 'what', 'lat', 'lon'"):
        read(asked, engine, path, name="title")


def test_a_table_that_is_not_there_is_refused(asked: Asked, engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(LayerFault, match=r"There is no .*missing\.csv"):
        read(asked, engine, tmp_path / "missing.csv")
