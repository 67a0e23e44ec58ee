"""What is answered for each of several places that an address may mean, and whether the answers differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grownj_geo.errors import SiteError
from grownj_geo.settling import site_of_match

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import shapely

    from grownj_geo.asking import Asker
    from grownj_geo.determination import Determination
    from grownj_geo.determine import Engine
    from grownj_geo.found import Found
    from grownj_geo.locator import Match
    from grownj_geo.site import FactValue

__all__ = ["MOST_ASKED", "ChoiceAnswer", "ChoiceAnswers", "answer_choices", "choices_json"]

MOST_ASKED = 24
"""Choices that are answered for; a person does not compare more."""


@dataclass(frozen=True)
class ChoiceAnswer:
    """One place that may be meant.

    Attributes
    ----------
    match
        The place.
    municipality
        Where it lies, in words.
    found
        The determination that it would have; None where it cannot be answered for.
    problem
        Why it cannot.
    """

    match: Match
    municipality: str
    found: Determination | None
    problem: str | None = None


@dataclass(frozen=True)
class ChoiceAnswers:
    """All places that may be meant.

    Attributes
    ----------
    rows
        The places that were answered for, the best first.
    differing
        Labels of the findings that are not the same for all of them, with the outcomes that there are.
    not_asked
        How many more places there are.
    """

    rows: tuple[ChoiceAnswer, ...]
    differing: tuple[str, ...]
    not_asked: int = 0

    @property
    def words(self) -> str:
        """Whether the answers differ, in a sentence."""
        answered = [row for row in self.rows if row.found is not None]
        n = len(answered)
        if not answered:
            return "None of these places can be answered for."
        more = f" {self.not_asked:,} more places were not asked about." if self.not_asked else ""
        if n < len(self.rows):
            more = f" {len(self.rows) - n} of these places cannot be answered for.{more}"
        if n == 1:
            return f"It was not taken, as it is not surely what was meant; the answer would be its own.{more}"
        if not self.differing:
            return f"All {n} places have the same findings, whichever is meant.{more}"
        return f"The answers differ in {len(self.differing)} findings: {'; '.join(self.differing)}.{more}"


def answer_choices(
    engine: Engine, found: Found, asker: Asker, *, facts: Mapping[str, FactValue] | None = None
) -> ChoiceAnswers:
    """Answer for each place that an address may mean.

    Parameters
    ----------
    engine
        The question's engine.
    found
        The choices.
    asker
        Who found them.
    facts
        What is stated of the site, whichever it is.
    """
    rows = []
    for match in found.choices[:MOST_ASKED]:
        where = asker.municipality_words(match)
        site = site_of_match(match, typed=found.text, located_by=f"address, if {match.matched} is meant")
        try:
            rows.append(ChoiceAnswer(match, where, engine.determine(replace(site, facts=dict(facts or {})))))
        except SiteError as error:
            # One that lies abroad, for one; the others are answered for all the same.
            rows.append(ChoiceAnswer(match, where, None, str(error)))
    answered = [row.found for row in rows if row.found is not None]
    return ChoiceAnswers(tuple(rows), tuple(_differing(answered)), max(0, len(found.choices) - MOST_ASKED))


def _differing(answered: Sequence[Determination]) -> list[str]:
    differing = []
    for finding in answered[0].findings if answered else ():
        outcomes = sorted({one[finding.id].outcome for one in answered}, reverse=True)
        if len(outcomes) > 1:
            differing.append(f"{finding.label} ({', '.join(outcomes)})")
    return differing


def choices_json(found: Found, asker: Asker, answers: ChoiceAnswers | None = None) -> dict[str, Any]:
    """Return what a text came to, in values that JSON has: the choices, who was asked, and the answers there are.

    Parameters
    ----------
    found
        What it came to.
    asker
        Who found it.
    answers
        What is answered for each choice.
    """
    by_match = {} if answers is None else {row.match: row for row in answers.rows}
    places = found.choices or ((found.match,) if found.match is not None else ())
    return {
        "query": found.text,
        "form": found.form,
        "settled": found.settled,
        "choices": [_choice_json(match, asker, by_match.get(match)) for match in places],
        "differing": None if answers is None else list(answers.differing),
        "notes": list(found.notes),
        "asked": [
            {"locator": one.locator, "outcome": one.outcome, "words": one.words, "online": one.online}
            for one in found.asked
        ],
    }


def _choice_json(match: Match, asker: Asker, answer: ChoiceAnswer | None) -> dict[str, Any]:
    lon, lat = match.lonlat
    codes = asker.codes_of(match)
    shown: dict[str, Any] = {
        "label": match.matched,
        "kind": match.kind,
        "locator": match.locator,
        "score": round(match.score, 3),
        "latitude": round(lat, 7),
        "longitude": round(lon, 7),
        "uncertainty_ft": round(match.uncertainty_ft, 1),
        "pin": match.pin,
        "mun_code": codes[0] if len(codes) == 1 else None,
        "municipality": asker.municipality_words(match),
        "geometry": _geojson(match.geometry),
        "notes": list(match.notes),
    }
    if answer is not None:
        record = answer.found
        shown["findings"] = None if record is None else {f.id: f.outcome for f in record.findings}
        shown["base_amount"] = None if record is None or record.tier is None else record.tier.words
        shown["problem"] = answer.problem
    return shown


def _geojson(outline: shapely.Geometry | None) -> dict[str, Any] | None:
    """Return an outline as GeoJSON in degrees."""
    if outline is None:
        return None
    import json  # noqa: PLC0415 - only where it is used

    import numpy as np  # noqa: PLC0415 - same
    import shapely as geos  # noqa: PLC0415 - same

    from grownj_geo.units import to_lonlat  # noqa: PLC0415 - same

    degrees = geos.transform(outline, lambda xy: np.column_stack(to_lonlat(xy[:, 0], xy[:, 1])))
    shape: dict[str, Any] = json.loads(geos.to_geojson(geos.set_precision(degrees, 1e-9, mode="pointwise")))
    return shape
