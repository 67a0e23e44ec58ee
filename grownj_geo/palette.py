"""The classes of area that outputs show: their names, order, colours and patterns; the colours of base amounts."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Annotated, Literal

from pydantic import Field

from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

__all__ = [
    "NO_AMOUNT",
    "NO_ANSWER",
    "PAPER",
    "AreaClass",
    "Draw",
    "Group",
    "Pattern",
    "TierLook",
    "area_class",
    "area_classes",
    "area_groups",
    "tier_looks",
]

Pattern = Literal["solid", "diagonal", "antidiagonal", "cross", "dots", "outline"]
Shape = Literal["square", "diamond", "triangle", "circle", "ring", "cross"]
Colour = Annotated[str, Field(pattern=r"^#[0-9A-F]{6}$")]

PAPER = "#FFFFFF"
"""What everything is drawn on."""


class Draw(Strict):
    """What ground a class is.

    Attributes
    ----------
    category
        Municipalities for which this category of the rulebook holds by municipality alone.
    around
        Id of a class by distance whose ground the category takes in on some days; its line is drawn then.
    layer, where, at_least
        Features of a layer, chosen as a clause of a rulebook chooses them.
    radius
        The rulebook's parameter for a distance around the features.
    begins_field
        Field with the day before which it is open whether a feature counts.
    possible
        Why all of it is drawn as ground that may belong; None where it does.
    """

    category: str | None = None
    around: str | None = None
    layer: str | None = None
    where: dict[str, list[str]] = Field(default_factory=dict)
    at_least: dict[str, str] = Field(default_factory=dict)
    radius: str | None = None
    begins_field: str | None = None
    possible: str | None = None


class AreaClass(Strict):
    """A class of area, as every output names and colours it.

    Attributes
    ----------
    id
        Stable name.
    label
        For the legend; may hold ``{radius}``.
    group
        Id of its `Group`.
    colour
        Of lines and, with `opacity`, of the pattern: ``#RRGGBB``.
    pattern
        What the ground is filled with.
    opacity
        Of the fill, 0 to 1.
    shown
        Whether a map opens with it.
    draw
        What ground it is; None where it is derived from others.
    like
        Beginnings of ids of other areas that look like it; its own id is one too.
    """

    id: str
    label: str
    group: str
    colour: Colour
    pattern: Pattern
    opacity: Annotated[float, Field(gt=0, le=1)]
    shown: bool = False
    draw: Draw | None = None
    like: tuple[str, ...] = ()


class Group(Strict):
    """A heading of the legend."""

    id: str
    label: str


class _Classes(Strict):
    groups: tuple[Group, ...]
    classes: tuple[AreaClass, ...]


@lru_cache(maxsize=1)
def _read() -> _Classes:
    return _Classes.model_validate(read_yaml((resources.files("grownj_geo") / "mapclasses.yaml").read_bytes()))


def area_groups() -> tuple[Group, ...]:
    """Return the headings of the legend, in order."""
    return _read().groups


def area_classes() -> tuple[AreaClass, ...]:
    """Return every class of area, in the order in which they are drawn, the lowest first.

    Examples
    --------
    >>> area_classes()[0].label, area_classes()[0].colour
    ('Qualified incentive area', '#009E73')
    """
    return _read().classes


def area_class(name: str) -> AreaClass:
    """Return one class of area by its id.

    Raises
    ------
    KeyError
        If there is none; the message lists those there are.
    """
    for known in area_classes():
        if known.id == name:
            return known
    raise KeyError(f"no class of area {name!r}; there are {', '.join(known.id for known in area_classes())}")


class TierLook(Strict):
    """How a site with a certain base amount is drawn: by shape and by colour, so that either tells it alone."""

    colour: Colour
    shape: Shape


# From dark to light as the amount falls; also told apart without any colour.
_RAMP = (
    TierLook(colour="#0D0887", shape="square"),
    TierLook(colour="#9C179E", shape="diamond"),
    TierLook(colour="#ED7953", shape="triangle"),
    TierLook(colour="#FDCA26", shape="circle"),
)
NO_AMOUNT = TierLook(colour=PAPER, shape="ring")
"""A site that surely reaches no line of the base amount."""
NO_ANSWER = TierLook(colour="#808080", shape="cross")
"""A row without an answer."""


def tier_looks(dollars: tuple[int, ...]) -> dict[int, TierLook]:
    """Return how each base amount is drawn, the highest first. More amounts than looks share the last one.

    Examples
    --------
    >>> [look.shape for look in tier_looks((5000, 4000, 3000, 500)).values()]
    ['square', 'diamond', 'triangle', 'circle']
    """
    ordered = sorted(set(dollars), reverse=True)
    return {amount: _RAMP[min(place, len(_RAMP) - 1)] for place, amount in enumerate(ordered)}
