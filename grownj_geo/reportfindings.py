"""The tables of a site's report: findings with reasons and measures, what was stated, what could not be checked."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from grownj_geo.betterwords import SEARCHED, none_words
from grownj_geo.evidence import feet, percent, stated_words
from grownj_geo.facts import load_facts
from grownj_geo.reportblocks import Cell, Grid, Words
from grownj_geo.reportwords import (
    cut_words,
    outcome_words,
    plain,
    project_words,
    share_or_margin_words,
    source_words,
    weak_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grownj_geo.determination import Determination, Evidence, Finding, LayerRecord, NotChecked
    from grownj_geo.nextbetter import NextBetter
    from grownj_geo.reportblocks import Block

__all__ = [
    "better_blocks",
    "findings_blocks",
    "loading_block",
    "project_block",
    "stated_block",
    "stations_block",
    "unchecked_blocks",
]

_WIDTHS = (31, 19, 50)
_LONG_CELL = 160
_SAME_WHY_LENGTH = 60


def stated_block(found: Determination) -> Block:
    """Return what the user stated, as stated."""
    if not found.site.facts:
        return Words("Nothing was stated beyond the place. What depends on facts that no map shows is undetermined.")
    facts = load_facts()
    rows = []
    for name, value in found.site.facts.items():
        known = facts.get(name)
        below = (plain(known.question), plain(known.citation)) if known else ()
        label = known.label if known else name
        rows.append((Cell(plain(label), (name, *below)), Cell(cut_words(stated_words(value), _LONG_CELL))))
    return Grid("Facts as the user stated them; none was verified", ("Fact", "Value"), (70, 30), tuple(rows))


def findings_blocks(found: Determination, *, alone: bool) -> Iterator[Block]:
    """Yield the findings about a place, by outcome; closer where the site is one of several."""
    loaded = {layer.id: layer for layer in found.layers if layer.status == "loaded"}
    said: dict[str, str] = {}
    for outcome, title in (("yes", "Yes"), ("undetermined", "Undetermined"), ("no", "No")):
        group = [f for f in found.findings if f.kind != "project" and f.outcome == outcome]
        rows = []
        for finding in group:
            known = said.get(finding.why) if len(finding.why) > _SAME_WHY_LENGTH else None
            said.setdefault(finding.why, finding.label)
            rows.append(_finding_row(finding, loaded, f"as for {known}" if known else finding.why, alone=alone))
        if rows:
            yield Grid(
                f"{title}: {len(group)}", ("Area and citation", "Answer", "Reason and measures"), _WIDTHS, tuple(rows)
            )


def _finding_row(finding: Finding, loaded: dict[str, LayerRecord], why: str, *, alone: bool) -> tuple[Cell, ...]:
    margin = share_or_margin_words(finding)
    answer = [margin] if margin else []
    answer += [weak_words(finding.status).strip(" ()")] if weak_words(finding.status) else []
    answer += ["by assumption"] if finding.assumed else []
    below = list(_measures(finding)) if why == finding.why and (alone or finding.outcome != "no") else []
    sources = source_words(finding, loaded, by_title=True)
    below += [f"Layers: {'; '.join(sources)}"] if sources else []
    below += [_sentence(words) for words in finding.assumptions if words not in finding.why]
    others = "; ".join(f"{o} under {reading}" for reading, o in (finding.under_other_readings or {}).items())
    below += [f"Under another reading: {others}"] if others else []
    if not alone:
        answer, below = ["; ".join(answer)] if answer else [], ["; ".join(below)] if below else []
    return (
        Cell(plain(finding.label), (plain(finding.citation),)),
        Cell(outcome_words(finding), tuple(map(plain, answer)), tone=finding.outcome),
        Cell(_sentence(_unstated(plain(why))), tuple(map(plain, below))),
    )


def _unstated(words: str) -> str:
    """Return a reason in which facts that were not stated have the names by which people know them."""
    facts = load_facts()

    def told(found: re.Match[str]) -> str:
        known = facts.get(found[1])
        return found[0] if known is None else f"not stated: {known.label} ({found[1]})"

    return re.sub(r"\b([a-z][a-z0-9_]*) not stated", told, words)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _measures(finding: Finding) -> Iterator[str]:
    """Yield the distances and shares of a finding with their errors, each once."""
    seen: set[str] = set()
    for evidence in finding.evidence:
        words = _measure(evidence)
        # A reason that tells a distance tells its bounds and its radius.
        told = evidence.distance_ft is not None and evidence.words in finding.why
        if words and not told and words not in seen:
            seen.add(words)
            yield words


def _measure(evidence: Evidence) -> str:
    name = evidence.feature_name or evidence.label
    away, share = evidence.distance_ft, evidence.share
    if away is not None and (away.value is not None or away.low is not None or away.high is not None):
        words = f"{name}: {_between(away.low, away.value, away.high, feet)}"
        words += f"; radius {feet(evidence.radius_ft)}" if evidence.radius_ft is not None else ""
    elif share is not None and share.value is not None and 0 < share.value < 1:
        words = f"{name}: {_between(share.low, share.value, share.high, percent)} of the site's area"
    else:
        return ""
    if evidence.margin_ft is not None:
        words += f"; margin {'+' if evidence.margin_ft >= 0 else '-'}{feet(abs(evidence.margin_ft))}"
    return words


def _between(low: float | None, value: float | None, high: float | None, say: Callable[[float], str]) -> str:
    """Return a figure with its least and its greatest value."""
    least, most = (say(bound) if bound is not None else "not known" for bound in (low, high))
    if value is None:
        return f"between {least} and {most}"
    return say(value) if least == most == say(value) else f"{say(value)} (at least {least}, at most {most})"


def project_block(projects: Sequence[Finding], *, alone: bool) -> Block:
    """Return the findings about a project."""
    if not alone and all(f.outcome == "undetermined" for f in projects):
        words = "; ".join(f"{f.label} [{f.citation}]" for f in projects)
        return Words(plain(f"Undetermined while nothing more is stated of the project: {words}."))
    rows = tuple(
        (
            Cell(plain(finding.label), (plain(finding.citation),)),
            Cell(outcome_words(finding), tone=finding.outcome),
            Cell(_sentence(plain(project_words(finding)))),
        )
        for finding in projects
    )
    return Grid("Findings about a project", ("Finding and citation", "Answer", "Reason"), _WIDTHS, rows)


def better_blocks(better: NextBetter, titles: dict[str, str], *, alone: bool) -> Iterator[Block]:
    """Yield how far each better line is, and through which clause; `titles` names layers."""
    asked = "Each distance is measured; the site was moved there and asked again, everything else as it is."
    yield Words(f"{asked} {SEARCHED}")
    rows = []
    for line in better.lines:
        open_here = " or ".join(missing.words for missing in line.here[:2])
        more = f" or {len(line.here) - 2} other ways" if len(line.here) > 2 else ""  # noqa: PLR2004 - two are told
        below = [f"Here: {open_here}{more}"] if open_here else []
        head = Cell(f"${line.dollars:,}" if line.dollars is not None else plain(line.label), (plain(line.label),))
        if not line.steps:
            rows.append((head, Cell(plain(none_words(line)), tuple(map(plain, below)))))
        for step in line.steps if alone else line.steps[:1]:
            cited = plain(f"{step.citation}; {step.layer}")
            rows.append((head, Cell(_sentence(plain(step.words)), (cited, *map(plain, below)))))
            below = []
    yield Grid("Better lines of the base amount", ("Line", "Nearest ways"), (28, 72), tuple(rows))
    lacking = dict.fromkeys(titles.get(name, name) for line in better.lines for name in line.not_measured)
    if lacking:
        words = "; ".join(lacking) if alone else f"{len(lacking)} layers"
        yield Words(
            plain(f"A line of these may be nearer; they are not loaded, and so not measured: {words}."), "small"
        )


def stations_block(found: Determination, *, alone: bool) -> Block:
    """Return the nearest stations with their distances."""
    if not alone:
        near = (
            f"{x.name} {_between(x.distance_ft.low, x.distance_ft.value, x.distance_ft.high, feet)}"
            for x in found.stations[:3]
        )
        return Words(plain(f"On the ellipsoid: {'; '.join(near)}."))

    def said(value: float | None) -> Cell:
        return Cell("not known" if value is None else feet(value))

    rows = tuple(
        (
            Cell(plain(station.name) + weak_words(station.status)),
            Cell(plain(f"{station.operator} {station.mode.replace('_', ' ')}")),
            said(station.distance_ft.value),
            said(station.distance_ft.low),
            said(station.distance_ft.high),
            said(station.uncertainty_ft),
        )
        for station in found.stations
    )
    columns = ("Station", "Operator, mode", "Distance", "At least", "At most", "Error")
    return Grid("Distances on the ellipsoid", columns, (28, 26, 12, 12, 12, 10), rows)


def unchecked_blocks(found: Determination, *, alone: bool) -> Iterator[Block]:
    """Yield what could not be checked, and for a site alone how to load it."""
    unusable = [layer for layer in found.layers if layer.status == "unusable"]
    if unusable:
        rows = tuple((Cell(plain(x.title), (x.id,)), Cell(cut_words(x.problem or "", 400))) for x in unusable)
        yield Grid("Layers that could not be used", ("Layer", "Why"), (35, 65), rows)
    labels = {f.id: f.label for f in found.findings}
    if found.not_checked and alone:
        waiting = tuple((x, "; ".join(labels.get(name, name) for name in x.findings)) for x in found.not_checked)
        listed = tuple((*_layer_cell(x), Cell(plain(words)), _load_cell(x)) for x, words in waiting)
        columns = ("Layer that is not loaded", "Findings that wait for it", "How to load it")
        yield Grid("What was not looked at is undetermined, never no", columns, (22, 38, 40), listed)
    elif found.not_checked:
        names = "; ".join(f"{x.title} ({len(x.findings)})" for x in found.not_checked)
        words = (
            f"Layers that are not loaded, with how many findings wait for each: {names}. How to load them: see the end."
        )
        yield Words(plain(words))
    if not unusable and not found.not_checked:
        yield Words("Every layer that a finding waits for was loaded.")


def _layer_cell(missing: NotChecked) -> tuple[Cell]:
    return (Cell(plain(missing.title), (missing.layer,)),)


def _load_cell(missing: NotChecked) -> Cell:
    return Cell(plain(missing.command), (plain(missing.how_to_load),), code=True)


def loading_block(every: Sequence[Determination]) -> Block | None:
    """Return how to load what any of several sites waits for; None where none does."""
    missing = {one.layer: one for found in every for one in found.not_checked}
    if not missing:
        return None
    counts = Counter(one.layer for found in every for one in found.not_checked)
    rows = tuple(
        (*_layer_cell(one), Cell(f"{counts[name]:,} of {len(every):,}"), _load_cell(one))
        for name, one in missing.items()
    )
    columns = ("Layer that is not loaded", "Sites that wait", "How to load it")
    return Grid("What was not looked at is undetermined, never no", columns, (34, 18, 48), rows)
