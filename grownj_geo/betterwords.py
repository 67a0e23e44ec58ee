"""The next better line of the base amount as a record, and in words."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from grownj_geo.determination import Interval, Missing, OutcomeWord
from grownj_geo.words import feet

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SEARCHED", "Better", "NextBetter", "Step", "all_words", "better_words", "line_name", "step_words"]

SEARCHED = (
    "Nearest means: of the places where one clause more holds or, for a point, two do at once. "
    "A nearer place may need more."
)
"""How far was searched, as it stands beside a table of ways."""

_READABLE = 2
_SEARCHED = {
    1: "one clause: a nearer place may need two",
    2: "one clause or two at once: a nearer place may need more",
}


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Step(_Record):
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


class Better(_Record):
    """One better line, or one area that the site is not in.

    Attributes
    ----------
    dollars
        The line's amount; null for an area.
    outcome
        What it is at the site itself.
    steps
        The nearest places where one clause more holds, or (of a point) two at once, for this line or a higher one:
        first those where that is enough, then those where it may be, then the others; each kind by distance.
    here
        What could decide it at the site itself, without moving: facts, layers, readings.
    not_measured
        Layers that are not loaded, with whose lines it may be nearer.
    """

    category: str
    label: str
    dollars: int | None
    outcome: OutcomeWord
    steps: tuple[Step, ...]
    here: tuple[Missing, ...] = ()
    not_measured: tuple[str, ...] = ()
    words: str

    @property
    def nearest(self) -> Step | None:
        """The nearest place, of those that were tried, that is enough."""
        return next((step for step in self.steps if step.there == "yes"), None)


class NextBetter(_Record):
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
    elif value <= 0:
        words = f"inside {to} by {feet(-value)} as computed, surely {feet(high)} nearer"
    elif whole:
        words = f"{feet(value)} from its nearest part to {to}, {feet(high)} to move it there"
    else:
        words = f"{feet(value)} to {to}"
    words += f" ({why})" if why else ""
    if there == "no":
        return f"{words}; not enough by itself"
    if there == "undetermined":
        ways = list(dict.fromkeys(need.words for need in needs))
        return f"{words}; undetermined there" + (f": {' or '.join(ways[:_READABLE])}" if ways else "")
    return words


def better_words(
    name: str, steps: Sequence[Step], here: Sequence[Missing], lacking: Sequence[str], *, placed: bool
) -> str:
    """Return a better line in one sentence: the nearest way, what could decide it here, what was not measured."""
    parts = [_ways(steps)] if placed else ["the site has no place to measure from"]
    ways = list(dict.fromkeys(missing.words for missing in here))
    if ways:
        more = f" or {len(ways) - _READABLE} other ways" if len(ways) > _READABLE else ""
        parts.append(f"here: {' or '.join(ways[:_READABLE])}{more}")
    if lacking:
        more = f" and {len(lacking) - _READABLE} more" if len(lacking) > _READABLE else ""
        parts.append(f"not measured, as not loaded: {', '.join(lacking[:_READABLE])}{more}")
    return f"{name}: {'; '.join(parts)}"


def _ways(steps: Sequence[Step]) -> str:
    enough = _enough(steps)
    perhaps = next((step for step in steps if step.there == "undetermined"), None)
    parts = [] if enough is None else [enough.words]
    if perhaps is not None and (enough is None or perhaps.enough_ft < enough.enough_ft):
        parts.append(("perhaps " if enough is not None else "") + perhaps.words)
    return "; ".join(parts) or "no single line that could be measured is enough"


def all_words(better: Sequence[Better], floor: int | None, *, lines: bool, placed: bool, at_once: int = 1) -> str:
    """Return the next better line in one sentence, a higher one that is as near, and how far was searched.

    Parameters
    ----------
    better
        The lines, the lowest first.
    floor
        What is reached.
    lines, placed
        Whether the rulebook has lines, and the site a place.
    at_once
        How many clauses were looked for that begin to hold at one place: 1 or 2.
    """
    if not lines:
        return "the rulebook has no lines of a base amount"
    if not better:
        return f"none: ${floor:,} is the highest line by place"
    if not placed:
        return "the site has no place to measure from"
    first = better[0]
    nearest = _enough(first.steps)
    words = [f"{line_name(first.label, first.dollars)}: {_ways(first.steps)}"]
    for line in better[1:]:
        step = _enough(line.steps)
        if step is not None and (nearest is None or step.enough_ft <= nearest.enough_ft):
            if len(words) > 1 and nearest is not None and step.enough_ft == nearest.enough_ft:
                words.pop()
            nearest = step
            words.append(f"{line_name(line.label, line.dollars)}: {step.words}")
    lacking = any(line.not_measured for line in better)
    if nearest is not None:
        words.append(f"nearest through {_SEARCHED[at_once]}")
    return "; ".join(words) + (" (of the layers that are loaded)" if lacking else "")


def line_name(label: str, dollars: int | None) -> str:
    """Return what a line, or an area, is called.

    Examples
    --------
    >>> line_name("priority area", 3000)
    '$3,000 (priority area)'
    """
    return label if dollars is None else f"${dollars:,} ({label})"


def _enough(steps: Sequence[Step]) -> Step | None:
    return next((step for step in steps if step.there == "yes"), None)
