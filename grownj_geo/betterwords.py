"""The next better line of the base amount as a record, and in words."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from grownj_geo.determination import Interval, Missing, OutcomeWord
from grownj_geo.strict import Strict
from grownj_geo.words import feet

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "SEARCHED",
    "WHOLE_STATE_FT",
    "Better",
    "NextBetter",
    "Step",
    "all_words",
    "at_most_words",
    "better_words",
    "is_nearest",
    "line_name",
    "none_words",
    "step_words",
]

SEARCHED = (
    "For a point, no nearer place surely has the line, through whatever clauses; where that was not searched to the "
    "end, the distance is said to be at most so far. For a polygon: of the places where one clause more holds; a "
    "nearer place may need more."
)
"""How far was searched, as it stands beside a table of ways."""

WHOLE_STATE_FT = 1_000_000.0
"""Farther than any two places of New Jersey are from each other."""

_READABLE, _HALF_FT = 2, 0.5
_SAME_FT = 2.0
"""Ways whose feet differ by no more than by how far beyond a line a site is moved, and by rounding, are as far."""

_AS_NEAR_FT, _PLANAR_ERROR = 5.0, 2e-4


class Step(Strict):
    """One place clause that a category waits for, and the nearest place where it holds.

    Attributes
    ----------
    clause, label, citation
        The clause.
    area
        The area of the law that it belongs to, such as "Transit oriented development".
    layer, feature, feature_name
        What it is measured from.
    distance_ft
        Feet from the site to the line of the clause, on the ellipsoid: at least, as computed (below 0: inside as
        computed), and what surely is enough. Of a polygon: from its nearest part, and how far it was moved.
    bearing_deg
        In which direction, from north.
    longitude, latitude
        The place beyond the line in degrees, to which the site (of a polygon: its nearest part) was moved.
    there
        What the category comes to at that place, everything else as it is; of a line: yes for a higher line too.
    open_there
        For an undetermined outcome there: what could decide it.
    words
        All that in a sentence.
    """

    clause: str
    label: str
    citation: str
    area: str
    layer: str
    feature: str | None
    feature_name: str | None
    distance_ft: Interval
    bearing_deg: float
    longitude: float
    latitude: float
    there: OutcomeWord
    open_there: tuple[Missing, ...] = ()
    words: str

    @property
    def enough_ft(self) -> float:
        """How far is surely enough, in feet: by this ways are ranked, a polygon's by how far all of it is moved."""
        return self.distance_ft.high or 0.0


class Better(Strict):
    """One better line, or one area that the site is not in.

    Attributes
    ----------
    dollars
        The line's amount; null for an area.
    outcome
        What it is at the site itself.
    steps
        The nearest places where one clause more holds, and (of a point) the nearest where several at once do that are
        enough, for this line or a higher one: first those where that is enough, then those where it may be, then the
        others; each kind by distance.
    here
        What could decide it at the site itself, without moving: facts, layers, readings.
    not_measured
        Layers that are not loaded, with whose lines it may be nearer.
    none_within_ft
        Of a point: no place is nearer than this, in feet, that surely has this line or a higher one. Null for a
        polygon, of which single clauses are tried only.
    """

    category: str
    label: str
    dollars: int | None
    outcome: OutcomeWord
    steps: tuple[Step, ...]
    here: tuple[Missing, ...] = ()
    not_measured: tuple[str, ...] = ()
    none_within_ft: float | None = None
    words: str

    @property
    def nearest(self) -> Step | None:
        """The nearest place, of those that were tried, that is enough."""
        return next((step for step in self.steps if step.there == "yes"), None)

    @property
    def at_most(self) -> bool:
        """Whether there may be a place that is nearer than the nearest that was found, of a point."""
        nearest, none_within = self.nearest, self.none_within_ft
        return nearest is not None and none_within is not None and not is_nearest(nearest.enough_ft, none_within)


class NextBetter(Strict):
    """Every line of the base amount above the one that the place surely reaches, the lowest first."""

    floor: int | None
    lines: tuple[Better, ...]
    areas: tuple[Better, ...] = ()
    words: str


def step_words(
    to: str,
    why: str,
    away: tuple[float, float],
    there: OutcomeWord,
    needs: tuple[Missing, ...],
    *,
    whole: bool = False,
) -> str:
    """Return how far it is to the line of a clause, and what comes of it.

    Parameters
    ----------
    to
        What it is measured to.
    why
        The area of the law.
    away
        Feet as computed, and what surely is enough.
    there, needs
        What the category comes to there, and what could decide it.
    whole
        The site is a polygon: the feet as computed are those of its nearest part.
    """
    value, high = away
    if not isfinite(value):
        words = f"at most {feet(high)} to {to}"
    elif abs(value) < _HALF_FT and high >= 1:
        words = f"0 ft to {to} as computed, surely {feet(high)}"
    elif value < 0:
        out = to.startswith("the way out of ")
        inside = "past " if out else "inside, " if to.startswith("where ") else "inside "
        words = f"{inside}{to} by {feet(-value)} as computed, surely {feet(high)} {'farther' if out else 'nearer'}"
    elif whole:
        words = f"{feet(value)} from its nearest part to {to}, {feet(high)} to move it there"
    else:
        words = f"{feet(value)} to {to}"
        if feet(value) != feet(high) and high > value + _SAME_FT:
            words += f" as computed, surely {feet(high)}"
    words += f" ({why})" if why else ""
    if there == "no":
        return f"{words}; not enough by itself"
    if there == "undetermined":
        ways = list(dict.fromkeys(need.words for need in needs))
        return f"{words}; undetermined there" + (f": {' or '.join(ways[:_READABLE])}" if ways else "")
    return words


def better_words(line: Better, lacking: Sequence[str], *, placed: bool) -> str:
    """Return a better line in one sentence: the nearest way, what could decide it here, what was not measured."""
    parts = [_ways(line)] if placed else ["the site has no place to measure from"]
    ways = list(dict.fromkeys(missing.words for missing in line.here))
    if ways:
        more = f" or {len(ways) - _READABLE} other ways" if len(ways) > _READABLE else ""
        parts.append(f"here: {' or '.join(ways[:_READABLE])}{more}")
    if lacking:
        more = f" and {len(lacking) - _READABLE} more" if len(lacking) > _READABLE else ""
        parts.append(f"not measured, as not loaded: {', '.join(lacking[:_READABLE])}{more}")
    return f"{line_name(line.label, line.dollars)}: {'; '.join(parts)}"


def none_words(line: Better) -> str:
    """Return that no place was found that is enough for a line, and how far was looked."""
    within = line.none_within_ft
    if within is None:
        return "no single line that could be measured is enough"
    if within >= WHOLE_STATE_FT:
        return "no place in New Jersey is surely enough"
    if within < _HALF_FT:
        return "whether a place is surely enough was not searched to the end"
    return f"no place within {feet(within)} is surely enough; not searched further"


def _ways(line: Better) -> str:
    enough = line.nearest
    perhaps = next((step for step in line.steps if step.there == "undetermined"), None)
    parts = [none_words(line)] if enough is None else [enough.words]
    if perhaps is not None and (enough is None or not is_nearest(enough.enough_ft, perhaps.enough_ft)):
        parts.append("perhaps " + perhaps.words)
    return "; ".join(parts)


def at_most_words(words: str, none_within_ft: float) -> str:
    """Return the words of a step so that they do not say that it is the nearest.

    Parameters
    ----------
    words
        As `step_words` gives them: the last distance before the area of the law is what surely is enough.
    none_within_ft
        No place is nearer than this.

    Examples
    --------
    >>> at_most_words("1,240 ft to Trenton City", 900.0)
    'at most 1,240 ft to Trenton City; not searched further than 900 ft'
    >>> at_most_words("1,240 ft to Trenton City as computed, surely 1,300 ft", 0.2)
    '1,240 ft to Trenton City as computed, surely at most 1,300 ft; a nearer place was not looked for'
    """
    surely = " as computed, surely "
    if surely in words:
        words = words.replace(surely, f"{surely}at most ", 1)
    elif words[0].isdigit():
        words = "at most " + words
    searched = "a nearer place was not looked for"
    if none_within_ft >= _HALF_FT:
        searched = f"not searched further than {feet(none_within_ft)}"
    return f"{words}; {searched}"


def all_words(better: Sequence[Better], floor: int | None, *, lines: bool, placed: bool) -> str:
    """Return the next better line in one sentence, a higher one that is as near, and how far was searched.

    Parameters
    ----------
    better
        The lines, the lowest first.
    floor
        What is reached.
    lines, placed
        Whether the rulebook has lines, and the site a place.
    """
    if not lines:
        return "the rulebook has no lines of a base amount"
    if not better:
        return f"none: ${floor:,} is the highest line by place"
    if not placed:
        return "the site has no place to measure from"
    first = better[0]
    told, nearest = [first], first.nearest
    for line in better[1:]:
        step = line.nearest
        if step is not None and (nearest is None or step.enough_ft <= nearest.enough_ft):
            if len(told) > 1 and nearest is not None and step.enough_ft == nearest.enough_ft:
                told.pop()
            nearest = step
            told.append(line)
    words = [
        f"{line_name(line.label, line.dollars)}: {_ways(line) if line is first else _shown(line)}" for line in told
    ]
    if nearest is not None:
        words.append(_searched(told))
    lacking = any(line.not_measured for line in better)
    return "; ".join(words) + (" (of the layers that are loaded)" if lacking else "")


def _shown(line: Better) -> str:
    return "" if line.nearest is None else line.nearest.words


def _searched(told: Sequence[Better]) -> str:
    """Return how far the words that were told can be relied on."""
    within = [line.none_within_ft for line in told if line.none_within_ft is not None]
    if not within:
        return "nearest through one clause: a nearer place may need more"
    return "a nearer place may have it" if any(line.at_most for line in told) else "no nearer place surely has it"


def is_nearest(enough_ft: float, none_within_ft: float) -> bool:
    """Return whether a place is the nearest, where there surely is none within so many feet in the plane.

    Examples
    --------
    >>> is_nearest(1240.5, 1240.0), is_nearest(1240.5, 900.0)
    (True, False)
    """
    return enough_ft <= none_within_ft * (1 + _PLANAR_ERROR) + _AS_NEAR_FT


def line_name(label: str, dollars: int | None) -> str:
    """Return what a line, or an area, is called.

    Examples
    --------
    >>> line_name("priority area", 3000)
    '$3,000 (priority area)'
    """
    return label if dollars is None else f"${dollars:,} ({label})"
