"""The report: the answer first, everything in it, and nothing wider than the page."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Directory, Engine
from grownj_geo.explain import explain
from grownj_geo.locate import locate
from grownj_geo.report import plain, render
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from grownj_geo.determination import Determination
    from grownj_geo.explain import Explanation

PLACES: dict[str, dict[str, Any]] = {
    "Newark Penn Station": {"text": "40.7344,-74.1641"},
    "Princeton": {"text": "40.3487,-74.6593"},
    "a parcel": {"text": "0408_81_1"},
    "a municipality": {"text": "", "municipality": "Camden City"},
    "a pier": {"text": "40.7398,-74.024"},
    "Fort Monmouth": {"text": "40.309,-74.044"},
    "Phillipsburg": {"text": "40.693,-75.202"},
    "two towns": {"text": "POLYGON ((-74.17 40.73, -74.15 40.73, -74.15 40.75, -74.17 40.75, -74.17 40.73))"},
}


@lru_cache(maxsize=1)
def _engine() -> Engine:
    return Engine(load_atlas(), load_rulebook())


@lru_cache
def _determined(place: str) -> tuple[Determination, dict[str, Explanation]]:
    engine = _engine()
    site = locate(directory=Directory(engine.atlas), **PLACES[place])
    found, run = engine.determine(site), engine.run(site)
    return found, {f.id: explain(run, f.id, depth="compact") for f in found.findings}


def _report(place: str, width: int, *, explained: bool = False, **options: Any) -> str:
    found, trees = _determined(place)
    file = io.StringIO()
    render(found, Console(file=file, width=width, **options), explanations=trees if explained else None)
    return file.getvalue()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_too_long_or_ends_in_blanks(place: str, width: int) -> None:
    for text in (_report(place, width), _report(place, width, explained=True)):
        assert "\x1b" not in text
        for line in text.splitlines():
            assert len(line) <= width
            assert line == line.rstrip()


@pytest.mark.parametrize("place", PLACES)
def test_the_answer_comes_first_and_on_the_first_screen(place: str) -> None:
    found, _ = _determined(place)
    lines = _report(place, 80).splitlines()
    answer = next(i for i, line in enumerate(lines) if line.startswith("Qualified incentive area: "))
    assert lines[answer].startswith(f"Qualified incentive area: {found.findings[0].outcome.upper()}")
    assert answer <= 14
    assert answer < next(i for i, line in enumerate(lines) if line == "SITE")
    headings = [i for i, line in enumerate(lines) if line.startswith(("YES (", "NO (", "UNDETERMINED ("))]
    assert headings
    assert answer < headings[0]
    assert any(str(found.as_of) in line for line in lines[:3])
    assert any("A25=" in line for line in lines[:answer])


@pytest.mark.parametrize("place", PLACES)
def test_everything_of_the_record_appears(place: str) -> None:
    found, _ = _determined(place)
    text = " ".join(_report(place, 400).split())
    rows = text[text.index(" SITE ") :]
    wide = " ".join(_report(place, 120).split())
    for finding in found.findings:
        assert finding.citation in wide
        assert _first_words(finding.label) in rows
    for caution in found.cautions:
        assert " ".join(caution.split())[:60] in text
    for missing in found.not_checked:
        assert missing.layer in text
    for layer in found.layers:
        assert layer.id in text
        assert (layer.sha256 or "")[:12] in text
    for station in found.stations:
        assert station.name in text
    assert found.disclaimer in text


def _first_words(label: str) -> str:
    return " ".join(label.split()[:2])


def test_every_finding_stands_under_its_outcome() -> None:
    found, _ = _determined("Newark Penn Station")
    text = _report("Newark Penn Station", 120)
    for outcome in ("yes", "undetermined", "no"):
        findings = [f for f in found.findings if f.kind != "project" and f.outcome == outcome]
        start = text.index(f"\n{outcome.upper()} ({len(findings)})")
        block = text[start : text.index("\n\n", start + 2)]
        for finding in findings:
            assert f"\n  {_first_words(finding.label)}" in block


def test_margins_leans_and_weak_figures_are_said() -> None:
    assert "cleared by 233 ft" in _report("Princeton", 80)
    assert "(unverified)" in _report("Newark Penn Station", 80)
    assert "undetermined, leans" in _report("a pier", 80)
    assert "% of the site" in _report("two towns", 120)


def test_what_the_base_amount_rests_on_is_said_beside_it() -> None:
    text = _report("Princeton", 120)
    answer = " ".join(text[text.index("Base amount") : text.index("\nUndetermined")].split())
    assert "rests on an assumption [N.J.A.C. 19:31-18.8]" in answer
    assert "under supervision of the Local Finance Board" in answer
    assert "assum" not in _report("Newark Penn Station", 120).partition("Base amount")[2].partition("\nIn ")[0]


def test_colour_only_in_a_terminal() -> None:
    assert "\x1b[" in _report("Princeton", 80, force_terminal=True, color_system="standard")
    assert "\x1b[" not in _report("Princeton", 80)


def test_markup_in_the_record_is_shown_as_it_is() -> None:
    found, _ = _determined("Princeton")
    hostile = "[red]x[/red] \x1b[31my\x1b[0m <b>z</b> \N{RIGHT-TO-LEFT OVERRIDE}w"
    site = found.site.model_copy(update={"typed": hostile, "notes": (hostile,)})
    file = io.StringIO()
    render(found.model_copy(update={"site": site}), Console(file=file, width=120))
    assert "[red]x[/red] y <b>z</b> ⟨U+202E⟩w" in file.getvalue()
    assert "\x1b" not in file.getvalue()


def test_long_typed_text_is_cut_and_its_length_said() -> None:
    found, _ = _determined("Princeton")
    site = found.site.model_copy(update={"typed": "x" * 5000})
    file = io.StringIO()
    render(found.model_copy(update={"site": site}), Console(file=file, width=80))
    assert "5,000 characters" in file.getvalue()
    assert "x" * 400 not in file.getvalue().replace("\n", "").replace(" ", "")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("a\tb\r\nc", "a b c"),
        ("\x1b]8;;http://example.org\x07link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("\udcff", "?"),
        ("\u200ba\x00b\x7f", "ab"),
    ],
)
def test_plain_text_has_no_controls(words: str, shown: str) -> None:
    assert plain(words) == shown
