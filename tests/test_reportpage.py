"""What the report of a determination says: everything that the record has, the answer first."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grownj_geo.nextbetter import Finder
from grownj_geo.reportblocks import Fields, Grid, Pairs, Section, Words
from grownj_geo.reporthtml import texts_of
from grownj_geo.reportpage import Form, Reported, report_cover, report_many, report_one
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.determine import Engine
    from grownj_geo.reportblocks import Report

METROPARK = Site.from_lonlat(-74.320347, 40.567092)
WANAQUE = Site.from_lonlat(-74.306893, 41.060826)


def reported(engine: Engine, site: Site, name: str = "a site") -> Reported:
    return Reported(name, engine.determine(site, other_readings=True), better=Finder(engine).find(site))


@pytest.fixture(scope="module")
def metropark(engine: Engine) -> Reported:
    return reported(engine, METROPARK, "Metropark")


@pytest.fixture(scope="module")
def one(metropark: Reported) -> Report:
    return report_one(metropark)


def section(report: Report, name: str) -> Section:
    return next(s for s in report.sections if s.id == name)


def words_of(report: Report) -> str:
    return "\n".join(texts_of(report))


def grids(report: Report, name: str) -> list[Grid]:
    return [block for block in section(report, name).blocks if isinstance(block, Grid)]


def test_the_answer_comes_first_and_says_that_it_is_no_determination(one: Report) -> None:
    first = one.sections[0]
    assert first.id == "answer"
    assert first.blocks[0] == Words("Qualified incentive area: YES", "answer", "yes")
    assert isinstance(first.blocks[-1], Words)
    assert first.blocks[-1].tone == "caution"
    assert "not a determination by the New Jersey Economic Development Authority" in first.blocks[-1].text


def test_every_finding_has_its_outcome_reason_and_citation(one: Report, metropark: Reported) -> None:
    rows = [row for grid in (*grids(one, "findings"), *grids(one, "projects")) for row in grid.rows]
    by_label = {row[0].words: row for row in rows}
    assert len(rows) == len(metropark.found.findings)
    reasons = {f.label: f.why for f in metropark.found.findings}
    for finding in metropark.found.findings:
        label, answer, reason = by_label[finding.label]
        assert finding.citation in label.below
        assert answer.words.startswith(finding.outcome)
        if finding.kind != "project":
            same = reasons.get(reason.words.removeprefix("As for "), reason.words)
            # A fact is told by its label, with its name behind.
            same = re.sub(r"not stated: [^()]+ \((\w+)\)", r"\1 not stated", same, flags=re.IGNORECASE)
            assert same.lower() == finding.why.lower()


def test_facts_and_layers_have_the_names_that_people_know_them_by(engine: Engine) -> None:
    found = Reported("hub", engine.determine(Site.from_lonlat(-75.1190, 39.9447)))
    reasons = [row[-1] for grid in grids(report_one(found), "findings") for row in grid.rows]
    words = [cell.words for cell in reasons]
    assert "Not stated: Delineated by the Authority (hub_delineated)" in words
    assert not any(re.search(r"\w_\w+ not stated", one) for one in words)
    below = [one for cell in reasons for one in cell.below]
    assert "Layers: Designations of municipalities" in below


def test_a_lean_and_the_margin_stand_beside_the_answer(one: Report) -> None:
    row = next(r for g in grids(one, "findings") for r in g.rows if r[0].words == "Transit oriented development")
    assert row[1].words == "undetermined, leans yes"
    assert row[1].below == ("computed: inside by 39 ft",)
    assert "known to 2,436 ft - 0.52 miles" in row[2].words


def test_a_cut_parcel_has_its_share_with_its_error(engine: Engine) -> None:
    import shapely  # noqa: PLC0415 - only here

    # Across the line between Edison and Woodbridge.
    x, y = METROPARK.geometry.x, METROPARK.geometry.y
    site = Site(typed="a parcel", located_by="drawn", geometry=shapely.box(x - 6_000, y - 400, x + 600, y + 400))
    text = words_of(report_one(reported(engine, site)))
    assert "% of the site" in text
    assert "square feet" in text


def test_what_was_stated_is_told_as_stated(engine: Engine) -> None:
    site = replace(METROPARK, facts={"vacant_building_sqft": 450_000.0, "structure_exists": True})
    report = report_one(reported(engine, site))
    (grid,) = grids(report, "stated")
    assert {row[0].below[0]: row[1].words for row in grid.rows} == {
        "vacant_building_sqft": "450,000",
        "structure_exists": "yes",
    }
    assert "none was verified" in grid.caption


def test_nothing_stated_is_said(one: Report) -> None:
    (words,) = section(one, "stated").blocks
    assert isinstance(words, Words)
    assert words.text.startswith("Nothing was stated beyond the place.")


def test_what_could_not_be_checked_says_how_to_load_it(one: Report, metropark: Reported) -> None:
    (grid,) = grids(one, "unchecked")
    assert len(grid.rows) == len(metropark.found.not_checked) > 0
    for row, missing in zip(grid.rows, metropark.found.not_checked, strict=True):
        assert missing.layer in row[0].below
        assert row[2].words == missing.command
        assert missing.how_to_load in row[2].below


def test_layers_have_editions_and_whole_checksums(one: Report, metropark: Reported) -> None:
    (grid,) = grids(one, "layers")
    loaded = [layer for layer in metropark.found.layers if layer.status == "loaded"]
    assert [row[2].words for row in grid.rows] == [layer.sha256 for layer in loaded]
    assert {row[0].words: row[1].words for row in grid.rows}["Counties of New Jersey"] == "2021-01-01"


def test_readings_rules_and_review(one: Report, metropark: Reported) -> None:
    (grid,) = grids(one, "readings")
    assert [row[0].words.partition(":")[0] for row in grid.rows] == list(metropark.found.readings)
    (rules,) = section(one, "rules").blocks
    assert isinstance(rules, Pairs)
    assert dict(rules.rows)["SHA-256"] == metropark.found.rulebook.sha256
    text = "\n".join(texts_of(replace(one, sections=(section(one, "review"),))))
    assert "grownj recheck" in text
    assert "No form, address or time limit" in text


def test_the_next_better_area_with_its_clause(one: Report) -> None:
    (grid,) = grids(one, "better")
    row = grid.rows[0]
    assert row[0].words == "$5,000"
    assert "6.62 miles to New Brunswick City" in row[1].words
    assert row[1].below[0].startswith("N.J.A.C. 19:31-18.8")


def test_who_and_when_are_lines_to_write_on_unless_said(metropark: Reported) -> None:
    def fields(form: Form | None) -> dict[str, str]:
        (block,) = section(report_one(metropark, form), "signed").blocks
        assert isinstance(block, Fields)
        return dict(block.rows)

    assert set(fields(None).values()) == {""}
    said = fields(Form(preparer="A. Analyst", date="2017-05-02", contact="the office"))
    assert (said["Prepared by"], said["Date"], said["Whom to ask"]) == ("A. Analyst", "2017-05-02", "the office")
    assert said["Reviewed by"] == ""


def test_a_layer_that_could_not_be_used_is_no_answer_of_no(metropark: Reported) -> None:
    layers = tuple(
        layer.model_copy(update={"status": "unusable", "sha256": None, "problem": "the file is cut short"})
        if layer.id == "transit_stations"
        else layer
        for layer in metropark.found.layers
    )
    broken = replace(metropark, found=metropark.found.model_copy(update={"layers": layers}))
    report = report_one(broken)
    assert "could not be used: Rail, light rail" in words_of(report)
    assert grids(report, "unchecked")[0].rows[0][1].words == "the file is cut short"


def test_many_sites_begin_with_a_table_that_leads_to_each(engine: Engine, metropark: Reported) -> None:
    other = reported(engine, WANAQUE, "Wanaque")
    report = report_many([metropark, other], [("third", "row 4: no place")])
    cover = grids(report, "sites")
    assert [row[0].words for row in cover[0].rows] == ["1. Metropark", "2. Wanaque"]
    ids = [s.id for s in report.sections]
    assert len(ids) == len(set(ids))
    assert all(row[0].target in ids for row in cover[0].rows)
    assert cover[0].rows[0][2].words == "yes"
    assert cover[0].rows[1][2].words == "undetermined"
    assert [c.words for c in cover[1].rows[0]] == ["third", "row 4: no place"]


def test_what_is_the_same_for_all_is_told_once(engine: Engine, metropark: Reported) -> None:
    other = reported(engine, WANAQUE, "Wanaque")
    together = [s.id for s in report_many([metropark, other]).sections]
    assert "all-layers" in together
    assert "site-1-layers" not in together
    layers = metropark.found.layers[:-1]
    apart = replace(other, found=other.found.model_copy(update={"layers": layers}))
    ids = [s.id for s in report_many([metropark, apart]).sections]
    assert {"site-1-layers", "site-2-layers"} <= set(ids)
    assert "all-layers" not in ids


def test_a_table_for_a_folder_names_the_files(metropark: Reported) -> None:
    (grid,) = grids(report_cover([metropark], ["001-Metropark.html"]), "sites")
    assert grid.rows[0][0].below == ("001-Metropark.html",)
    assert not grid.rows[0][0].target


def test_of_a_long_or_hidden_name_enough_is_shown(metropark: Reported) -> None:
    assert report_one(replace(metropark, name="long " * 2_000)).title.endswith("... (10,000 characters)")
    assert report_one(replace(metropark, name="a\u202eb")).title == "a⟨U+202E⟩b"
    assert report_one(replace(metropark, name="\u200b")).title == "(no name)"


def test_further_sections_come_in_before_what_is_common(metropark: Reported) -> None:
    extra = Section("credits", "What credits a project could have", (Words("nothing"),))
    ids = [s.id for s in report_one(replace(metropark, extra=(extra,))).sections]
    assert ids.index("cautions") < ids.index("credits") < ids.index("readings")
