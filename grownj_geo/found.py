"""What came of looking for a site: the site where there is one, the choices where there are several, who was asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from grownj_geo.errors import SiteError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.addressplaces import PlaceHow
    from grownj_geo.locator import AddressQuery, Match
    from grownj_geo.site import FactValue, Site

__all__ = [
    "Asked",
    "AskedOutcome",
    "Form",
    "Found",
    "TypedAddress",
    "UnsettledSiteError",
    "choice_words",
    "feet_words",
    "match_words",
]

Form = Literal["coordinates", "geometry", "pin", "lot", "address", "municipality"]
"""What a text was read as; a geometry is WKT, GeoJSON or a file of it."""

AskedOutcome = Literal["settled", "several", "weak", "nothing", "failed", "left_out"]
"""What a locator had: one place, several that fit equally well, only what does not fit well enough, nothing; or it gave
no answer, or was not asked."""

_MOST_SHOWN = 8


@dataclass(frozen=True)
class TypedAddress:
    """An address that is to be looked up.

    Attributes
    ----------
    text
        As typed.
    query
        What locators are asked.
    place
        What the name typed for its municipality is: one municipality's, several municipalities', a post office's.
    notes
        How it was read.
    """

    text: str
    query: AddressQuery
    place: PlaceHow = "named"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """A locator that was asked, or was to be asked, and what came of it.

    Attributes
    ----------
    locator
        Its name.
    outcome
        What came of it.
    words
        The same in a sentence, with what it would take.
    online
        Whether the address was sent away for it.
    """

    locator: str
    outcome: AskedOutcome
    words: str
    online: bool = False


@dataclass(frozen=True)
class Found:
    """What a text that names a place came to.

    Attributes
    ----------
    text
        As typed.
    form
        What it was read as.
    site
        The site; None where it is not settled. Of places that fit equally well and lie close together it is the
        circle around them all, so that what they do not share is undetermined.
    match
        The place of an address that was settled.
    choices
        Where it was not: all places that may be meant, the best first.
    notes
        What the reader has to know.
    asked
        The locators in the order in which they were asked.
    facts
        What the user states of the site.
    """

    text: str
    form: Form
    site: Site | None
    match: Match | None = None
    choices: tuple[Match, ...] = ()
    notes: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    facts: Mapping[str, FactValue] = field(default_factory=dict)

    @property
    def settled(self) -> bool:
        """Whether the text names one place, and not one of several."""
        return self.site is not None and not self.choices


class UnsettledSiteError(SiteError):
    """An address that may be one of several places, or that nobody who was asked knows.

    Parameters
    ----------
    message
        What was found, what was expected, what to do.
    found
        The choices, and who was asked.
    """

    def __init__(self, message: str, found: Found) -> None:
        super().__init__(message)
        self.found = found


def feet_words(feet: float) -> str:
    """Return feet as a reader takes them.

    Examples
    --------
    >>> feet_words(69.2), feet_words(58071.0)
    ('69 ft', '11.00 miles')
    """
    return f"{feet:,.0f} ft" if feet < 5280 else f"{feet / 5280:,.2f} miles"  # noqa: PLR2004 - a mile


def match_words(match: Match) -> str:
    """Return who found a place, what kind of place it is, how well it fits and how well it is known."""
    if not match.has_place:
        what = f"{match.kind}, anywhere in its municipality" if match.pin is None else "parcel without a known place"
        return f"{match.locator}: {what}, score {match.score:.2f}"
    known = f"known to {feet_words(match.uncertainty_ft)}" if match.uncertainty_ft else "by its outline"
    return f"{match.locator}: {match.kind}, score {match.score:.2f}, {known}"


def choice_words(
    matches: Sequence[Match], municipalities: Mapping[Match, str] | None = None, *, most: int = _MOST_SHOWN
) -> str:
    """Return choices in one line: the address, its municipality, its parcel, and how it was found.

    Parameters
    ----------
    matches
        The choices.
    municipalities
        Names of their municipalities.
    most
        How many are named; the others are counted.
    """
    shown = []
    for match in matches[:most]:
        where = (municipalities or {}).get(match)
        parts = [match.matched, where, f"parcel {match.pin}" if match.pin else None]
        shown.append(f"{', '.join(part for part in parts if part)} ({match_words(match)})")
    rest = len(matches) - most
    return "; ".join(shown) + (f"; and {rest:,} more" if rest > 0 else "")
