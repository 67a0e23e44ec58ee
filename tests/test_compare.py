"""Sites side by side: each column is what its determination says, and no cell runs or computes anything."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from browser import PHONE, opened
from drawn import NEWARK
from kept_world import AIRPORT, ATLANTIC_CITY, record

from grownj_geo.candidates import Candidate, candidates_of
from grownj_geo.compare import Comparer, Comparison
from grownj_geo.compareout import cell_words, compare_csv, compare_html
from grownj_geo.determine import Directory, Engine
from grownj_geo.errors import OutsideNewJerseyError
from grownj_geo.kept import Refused
from grownj_geo.nextbetter import next_better
from grownj_geo.site import Site
from grownj_geo.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.atlas import Atlas

METROPARK = (-74.320347, 40.567092)
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "`${alert(1)}`",
    '=HYPERLINK("http://x","y")',
    "@SUM(1)",
    "a\u202eb\x1b[31mc",
    "x" * 10_000,
    "Ελληνικά é Кириллица",
]


class Seen(HTMLParser):
    """Which tags and attributes a page has, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def candidate(place: tuple[float, float], name: str = "here") -> Candidate:
    return Candidate(name, "", Site.from_lonlat(*place))


@pytest.fixture(scope="module")
def hostile(engine: Engine) -> Comparison:
    return Comparer(engine).compare([candidate(NEWARK, name) for name in HOSTILE])


def test_columns_are_what_the_determinations_say(engine: Engine) -> None:
    places = [NEWARK, ATLANTIC_CITY, AIRPORT]
    found = Comparer(engine).compare([candidate(place) for place in places])
    for column, place in zip(found.sites, places, strict=True):
        record_of = engine.determine(Site.from_lonlat(*place))
        assert {k: (c.outcome, c.leans, c.margin_ft) for k, c in column.cells.items()} == {
            f.id: (f.outcome, f.leans, f.margin_ft) for f in record_of.findings
        }
        assert record_of.tier is not None
        assert (column.floor, column.ceiling) == (record_of.tier.floor, record_of.tier.ceiling)
        assert column.next_better == next_better(engine, Site.from_lonlat(*place)).words
    shown = {row.id for row in found.rows}
    assert shown == {c for c in found.sites[0].cells if any(s.cells[c].outcome != "no" for s in found.sites)}
    assert len(found.nowhere) == len(found.sites[0].cells) - len(shown)


def test_a_place_outside_is_refused_where_all_are_asked_at_once(engine: Engine) -> None:
    with pytest.raises(OutsideNewJerseyError):
        Comparer(engine).compare([candidate((-74.02, 40.70))])


def test_facts_that_are_stated_of_some_only_are_cautioned(engine: Engine) -> None:
    stated = Candidate("b", "", Site(**{**vars(Site.from_lonlat(*NEWARK)), "facts": {"structure_exists": True}}))
    found = Comparer(engine).compare([candidate(NEWARK), stated])
    assert any("Not the same facts" in caution for caution in found.cautions)
    assert Comparer(engine).compare([candidate(NEWARK), candidate(AIRPORT)]).cautions == ()


def test_a_record_that_was_answered_otherwise_is_cautioned(engine: Engine, tmp_path: Path) -> None:
    store = Store(tmp_path / "home")
    old = record(tmp_path, store, Site.from_lonlat(*ATLANTIC_CITY), as_of="2014-10-01")
    same = record(tmp_path, store, Site.from_lonlat(*NEWARK))
    found = Comparer(engine).compare(
        [Candidate("old", "old.json", old.site, old), Candidate("same", "same.json", same.site, same)]
    )
    assert [site.differs for site in found.sites] == [True, False]
    answered, days = found.cautions
    assert answered == "old: its record (old.json) was answered otherwise; see grownj recheck."
    assert days.startswith("Some records are of other days (2014-10-01); every site is asked as of 2017-04-17 here.")
    assert "<td>2014-10-01</td><td>2017-04-17</td>" in compare_html(found)
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(compare_csv(found)))}
    assert rows["recorded as of"] == ["2014-10-01", "2017-04-17"]


# -- out ----------------------------------------------------------------------------------------------


def test_only_what_is_decided_is_cleared_or_missed(engine: Engine) -> None:
    found = Comparer(engine).compare([candidate(METROPARK), candidate(NEWARK)])
    cells = [cell for site in found.sites for cell in site.cells.values() if cell.margin_ft is not None]
    assert {cell.outcome for cell in cells} == {"yes", "no", "undetermined"}
    for cell in cells:
        words = cell_words(cell)
        assert ("cleared" in words or "missed" in words) == (cell.outcome != "undetermined"), words
    assert "leans yes, computed: inside by 39 ft" in compare_html(found)


def test_csv_has_a_column_for_each_site_and_computes_nothing(hostile: Comparison) -> None:
    rows = list(csv.reader(io.StringIO(compare_csv(hostile))))
    assert {len(row) for row in rows} == {len(HOSTILE) + 1}
    for row in rows:
        for cell in row:
            assert not cell.startswith(("=", "@", "\t", "\r"))
            assert "\x1b" not in cell
            assert "\u202e" not in cell
    assert rows[0][4] == '\'=HYPERLINK("http://x","y")'
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["base amount, at least"] == ["5000"] * len(HOSTILE)
    assert by_name["Qualified incentive area"] == ["yes"] * len(HOSTILE)
    assert float(by_name["Transit oriented development, margin, feet"][0]) == pytest.approx(
        hostile.sites[0].cells["transit_oriented_development"].margin_ft
    )


def test_a_page_shows_hostile_names_as_text_and_runs_nothing(hostile: Comparison) -> None:
    page = compare_html(hostile)
    seen = Seen()
    seen.feed(page)
    assert not seen.tags & {"script", "img", "a", "iframe", "link", "object", "form"}
    assert seen.attributes <= {
        "lang",
        "charset",
        "name",
        "content",
        "http-equiv",
        "class",
        "scope",
        "tabindex",
        "role",
        "aria-label",
    }
    assert "default-src 'none'" in page
    words = "".join(seen.words)
    for name in (*HOSTILE[:5], HOSTILE[6], HOSTILE[7]):
        assert name in words
    assert "\u202e" not in page
    assert "a⟨U+202E⟩bc" in words


@pytest.mark.browser
@pytest.mark.slow
def test_on_a_phone_the_table_scrolls_within_the_page(hostile: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "sites.html"
    path.write_text(compare_html(hostile), encoding="utf-8")
    with opened(path, ready="table", **PHONE) as view:
        assert view.faults() == []
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # What a row is about stays in sight, and leaves room for a site beside it.
        view.page.evaluate("document.querySelector('.scroll').scrollLeft = 400")
        box = view.page.query_selector("tbody th").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390 / 3 + 10
        # So does the name of each site, and the keyboard can scroll.
        view.page.evaluate("document.querySelector('.scroll').scrollTop = 600")
        frame, head = (view.page.query_selector(s).bounding_box() for s in (".scroll", "thead th"))
        assert abs(head["y"] - frame["y"]) <= 2
        assert head["height"] <= 844 / 4  # however long a name is
        view.page.focus(".scroll")
        assert "Scroll sideways" in view.page.inner_text("caption")


@pytest.mark.browser
@pytest.mark.slow
def test_two_sites_stand_side_by_side_on_a_phone(hostile: Comparison, tmp_path: Path) -> None:
    two = hostile.model_copy(update={"sites": hostile.sites[2:4]})
    path = tmp_path / "two.html"
    path.write_text(compare_html(two), encoding="utf-8")
    assert "Scroll sideways" not in compare_html(two)
    with opened(path, ready="table", **PHONE) as view:
        last = view.page.query_selector("thead th:last-child").bounding_box()
        assert last["x"] + last["width"] <= 390


def test_json_comes_back(hostile: Comparison) -> None:
    assert Comparison.model_validate_json(hostile.model_dump_json()) == hostile


# -- candidates ---------------------------------------------------------------------------------------


def named(found: list[Candidate | Refused]) -> list[tuple[str, str]]:
    return [
        (one.name, one.source.rpartition(", ")[2].rpartition("/")[2]) if isinstance(one, Candidate) else ("", "refused")
        for one in found
    ]


def test_sites_of_every_origin_in_order(atlas: Atlas, tmp_path: Path, engine: Engine) -> None:
    table = tmp_path / "sites.csv"
    table.write_text("name,lon,lat\nA,-74.1641,40.7344\n,-74.435,39.36\nfar,-75,10\n", encoding="utf-8")
    kept = tmp_path / "kept.json"
    kept.write_text(engine.determine(Site.from_lonlat(*NEWARK)).to_json(), encoding="utf-8")
    typed = ["40.7344,-74.1641", str(table), str(kept), "nowhere at all", str(tmp_path / "gone.csv")]
    found = list(candidates_of(typed, directory=Directory(atlas)))
    assert named(found) == [
        ("40.7344,-74.1641", ""),
        ("A", "row 2"),
        ("39.36,-74.435", "row 3"),
        ("", "refused"),
        ("40.7344,-74.1641", "kept.json"),
        ("", "refused"),
        ("", "refused"),
    ]


def test_the_answers_of_a_batch_are_no_facts_of_its_sites(atlas: Atlas, tmp_path: Path) -> None:
    from grownj_geo.batch import Question, run_batch  # noqa: PLC0415 - only here

    table, out = tmp_path / "sites.csv", tmp_path / "out.csv"
    table.write_text("name,lon,lat,structure_exists\nA,-74.1641,40.7344,yes\n", encoding="utf-8")
    run_batch(table, out, Question(atlas.as_of))
    (found,) = candidates_of([str(out)], directory=Directory(atlas))
    assert isinstance(found, Candidate)
    assert dict(found.site.facts) == {"structure_exists": True}
    assert found.site.mun_code is None


def test_a_broken_line_of_records_does_not_stop_the_others(atlas: Atlas, tmp_path: Path, engine: Engine) -> None:
    line = json.dumps(engine.determine(Site.from_lonlat(*NEWARK)).model_dump(mode="json"))
    (tmp_path / "e.jsonl").write_text(f"{line}\n{line[:99]}\n{line}\n", encoding="utf-8")
    found = list(candidates_of([str(tmp_path / "e.jsonl")], directory=Directory(atlas)))
    assert [type(one) for one in found] == [Candidate, Refused, Candidate]
