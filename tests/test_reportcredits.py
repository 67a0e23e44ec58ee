"""Credits of a project in the report of a site: the figures of the estimate, from the site's own determination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from grownj_geo.areas import areas_of
from grownj_geo.candidates import Candidate
from grownj_geo.cli import app
from grownj_geo.creditproject import Project, ProjectError, project_of
from grownj_geo.credits import estimate
from grownj_geo.reportblocks import Grid, Pairs, Words
from grownj_geo.reportcredits import credit_section, only_building
from grownj_geo.reportmake import Maker
from grownj_geo.site import Site

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.determine import Engine

RAW: dict[str, Any] = {
    "name": "<b>Plant</b>",
    "business": {
        "industry": "manufacturing",
        "final_point_of_sale_retail": False,
        "university_research_hospital": False,
    },
    "buildings": [{"id": "main", "gross_leasable_sqft": 50_000, "premises": "industrial", "construction": "new"}],
    "jobs": [
        {"kind": "new", "count": 30, "hours_per_week": 40, "time_at_facility_percent": 100, "health_benefits": True}
    ],
    "capital": [{"what": "construction", "amount": 1_500_000}],
}


def plant() -> Project:
    return project_of(RAW)


def test_the_figures_are_those_of_the_estimate(engine: Engine) -> None:
    found = engine.determine(Site.from_lonlat(-74.1641, 40.7344))
    section = credit_section(plant(), [found])
    wanted = estimate(plant(), areas_of({"main": [found]}))
    first, pairs, *rest = section.blocks
    assert first == Words(f"Eligible: {wanted.eligible.upper()}", "answer", wanted.eligible)
    assert isinstance(pairs, Pairs)
    assert dict(pairs.rows)["Project"] == "<b>Plant</b>"
    assert dict(pairs.rows)["Award"].endswith(" a year")
    rows = [row for block in rest if isinstance(block, Grid) for row in block.rows]
    assert len(rows) == len(wanted.lines)
    assert isinstance(section.blocks[-1], Words)
    assert "not the New Jersey Economic Development Authority's approval" in section.blocks[-1].text


def test_a_report_is_of_one_building() -> None:
    first = RAW["buildings"][0]
    placed = {name: [entry | {"building": "main"} for entry in RAW[name]] for name in ("jobs", "capital")}
    two = project_of({**RAW, **placed, "buildings": [first, {**first, "id": "other"}]})
    with pytest.raises(ProjectError, match="has 2 buildings; expected one"):
        only_building(two)


def test_the_maker_asks_what_credit_rules_ask(engine: Engine) -> None:
    site = Site.from_lonlat(-74.1641, 40.7344)
    (section,) = Maker(engine, maps=None, project=plant()).report(Candidate("here", "", site)).extra
    place = next(block for block in section.blocks if isinstance(block, Grid) and block.caption == "Place")
    assert place.rows[0][0].words == "Qualified business facility"
    assert not Maker(engine, maps=None).report(Candidate("here", "", site)).extra


def test_on_the_command_line(tmp_path: Path) -> None:
    project = tmp_path / "project.yaml"
    new = CliRunner().invoke(app, ["credits", "new", "-o", str(project)])
    assert new.exit_code == 0, new.output
    target = tmp_path / "report.html"
    words = ["report", "40.7344,-74.1641", "-o", str(target), "--no-map", "--project", str(project)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "What credit the project could have here" in target.read_text(encoding="utf-8")
    project.write_text("format: grownj-project/1\n", encoding="utf-8")
    target.unlink()
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 2
    assert str(project) in " ".join(refused.output.split())
    assert not target.exists()
