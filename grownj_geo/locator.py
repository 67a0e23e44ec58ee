"""Locators: who is asked where an address is, what is asked, and what comes back.

Every locator, on this machine or online, takes an `AddressQuery` and gives `Match` objects, best first; what goes wrong
is a `LocatorError` of one of five kinds. Nothing is chosen here: whoever asks decides which match is good enough.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from grownj_geo.crs import plain_text
from grownj_geo.units import FT_PER_METRE, geodesic_ft, to_lonlat
from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date

    import shapely

__all__ = [
    "KINDS",
    "AddressQuery",
    "Answer",
    "Failure",
    "Kind",
    "Locator",
    "LocatorError",
    "Match",
    "apart_ft",
    "best_first",
    "figures_mark",
    "leading",
    "locator_facts",
    "uncertainty_ft",
]

Kind = Literal["rooftop", "parcel", "range", "street", "municipality"]
"""What a match is a place of: a building or its door, a parcel, a place between the ends of a street's house numbers, a
street, a municipality (or another area of that size)."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds, the most exact first."""

Failure = Literal["down", "slow", "rate_limited", "nonsense", "refused"]
"""Why a locator gave no answer: it could not be reached or is broken; it took too long; it asks to be left alone; what
it said cannot be understood; or it was not asked, or would not take what it was asked."""

_ZIP = re.compile(r"\b([0-9]{5})(?:-[0-9]{4})?\s*$")
_STATE = re.compile(r"(?:^|[\s,])(?:N\.?\s?J\.?|NEW JERSEY)\s*,?\s*$", re.IGNORECASE)
_COUNTRY = re.compile(r"(?:^|[\s,])(?:U\.?\s?S\.?\s?A?\.?|UNITED STATES(?: OF AMERICA)?)\s*$", re.IGNORECASE)


class LocatorError(RuntimeError):
    """A locator gave no answer; whether the address exists is not known from it.

    Parameters
    ----------
    locator
        Whose failure it is.
    kind
        Which of the five ways.
    message
        What was found, what was expected, what to do.
    retry_after_s
        For how long the service asks to be left alone; None where it says nothing.
    """

    def __init__(self, locator: str, kind: Failure, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.locator = locator
        self.kind: Failure = kind
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how it crosses from one process to another."""
        return _remade, (self.locator, self.kind, str(self), self.retry_after_s)


def _remade(locator: str, kind: Failure, message: str, retry_after_s: float | None) -> LocatorError:
    return LocatorError(locator, kind, message, retry_after_s=retry_after_s)


@dataclass(frozen=True, kw_only=True)
class AddressQuery:
    """An address to be found.

    Parameters
    ----------
    text
        As typed. It is never sent where `street` is known.
    street
        House number and street, without unit, city and State; None where the text was not taken apart.
    city
        The municipality or postal name as typed.
    zip_code
        Five digits.
    state
        Always New Jersey unless the caller says otherwise.
    mun_codes
        Treasury codes of the municipalities that the typed name can mean; for comparing, never sent.

    Examples
    --------
    >>> AddressQuery(text="12 Main St Apt 3, Camden", street="12 Main St", city="Camden", zip_code="08102").line
    '12 Main St, Camden, NJ 08102'
    """

    text: str
    street: str | None = None
    city: str | None = None
    zip_code: str | None = None
    state: str = "NJ"
    mun_codes: tuple[str, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> AddressQuery:
        """Take an address apart at its commas, without knowing anything about streets.

        Without a comma only State and ZIP code are told apart, and the rest is the street's line.

        Examples
        --------
        >>> found = AddressQuery.from_text("12 Main St, Camden, New Jersey 08102-1234")
        >>> found.street, found.city, found.zip_code
        ('12 Main St', 'Camden', '08102')
        """
        rest = _COUNTRY.sub("", " ".join(plain_text(text).split())).rstrip(" ,")
        found = _ZIP.search(rest)
        # A house number alone is no ZIP code.
        zip_code = found[1] if found and found.start() else None
        rest = rest[: found.start()].rstrip(" ,") if found and found.start() else rest
        rest = _STATE.sub("", rest).rstrip(" ,")
        street, *more = [part.strip() for part in rest.split(",") if part.strip()] or [rest]
        return cls(text=text, street=street or None, city=more[-1] if more else None, zip_code=zip_code)

    @property
    def line(self) -> str:
        """The address on one line, as it is sent to services that take one."""
        if self.street is None:
            return " ".join(plain_text(self.text).split())
        end = f"{self.state} {self.zip_code}" if self.zip_code else self.state
        return ", ".join(part for part in (self.street, self.city, end) if part)


@dataclass(frozen=True, kw_only=True)
class Match:
    """One place that a locator has for an address.

    Parameters
    ----------
    locator
        Whose answer it is: ``"local"``, ``"census"``, ``"nj"``, ``"nominatim"``.
    matched
        The address as the locator has it.
    score
        From 0 to 1: how far the address found agrees with the address asked for. 1 only where number, street, and every
        other part that was given agree.
    kind
        What it is a place of.
    x_ft, y_ft
        The place in EPSG:3424 (US survey feet).
    uncertainty_ft
        How far the true place may be, in feet; see `uncertainty_ft`.
    mun_code
        Treasury code of the municipality where the locator itself knows it. Online services do not: the city that they
        give is a postal name.
    pin
        PAMS_PIN of the parcel where the locator knows it.
    geometry
        Outline of the parcel in EPSG:3424 where the locator has it.
    city, zip_code
        Postal name and ZIP code as the locator has them.
    answered_on
        The day on which an online service gave the answer, which may be kept from earlier.
    notes
        What differs from what was asked, and what else the reader has to know.

    Raises
    ------
    ValueError
        For a score beyond 0 to 1, or a place or an uncertainty that is not finite.
    """

    locator: str
    matched: str
    score: float
    kind: Kind
    x_ft: float
    y_ft: float
    uncertainty_ft: float
    mun_code: str | None = None
    pin: str | None = None
    geometry: shapely.Geometry | None = None
    city: str | None = None
    zip_code: str | None = None
    answered_on: date | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be a place."""
        if not 0 <= self.score <= 1:
            raise ValueError(f"The score of {self.matched!r} is {self.score!r}; expected 0 to 1.")
        if not all(map(math.isfinite, (self.x_ft, self.y_ft, self.uncertainty_ft))) or self.uncertainty_ft < 0:
            raise ValueError(
                f"{self.matched!r} lies at {self.x_ft!r}, {self.y_ft!r} within {self.uncertainty_ft!r} ft; expected "
                "finite feet in EPSG:3424."
            )

    @property
    def has_place(self) -> bool:
        """Whether it says where a place is, and not only in which municipality.

        A street whose municipality is known may be anywhere in that: what is loaded of a street need not be all of it.
        """
        return self.geometry is not None or self.mun_code is None or self.kind not in {"street", "municipality"}

    @property
    def lonlat(self) -> tuple[float, float]:
        """Longitude and latitude in degrees."""
        lon, lat = to_lonlat(self.x_ft, self.y_ft)
        return float(lon), float(lat)


Answer = tuple[Match, ...] | LocatorError
"""What became of one of several queries: its matches, best first, none where the address is not known; or why not."""


class Locator(Protocol):
    """Whoever can be asked where an address is."""

    @property
    def name(self) -> str:
        """One word, as in the settings."""
        ...

    @property
    def online(self) -> bool:
        """Whether asking sends anything away from this machine."""
        ...

    @property
    def sends(self) -> str:
        """What asking sends, and to whom, in a sentence; for a local one, that nothing is sent."""
        ...

    def find(self, query: AddressQuery) -> tuple[Match, ...]:
        """Return the places of an address, best first; none where the locator knows no such address.

        Raises
        ------
        LocatorError
            Where the locator gave no answer.
        """
        ...

    def find_many(
        self, queries: Sequence[AddressQuery], *, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Answer, ...]:
        """Return an answer for each query, in order; the failure of one does not lose the others.

        Parameters
        ----------
        queries
            Any number; what was asked twice is sent once.
        progress
            Called with how many are answered, and of how many.
        """
        ...

    def was_sent(self, query: AddressQuery) -> bool:
        """Whether this thread's last `find` or `find_many` sent this address away, or may have.

        What was kept from earlier, what was refused beforehand, and what found no connection was not sent.
        """
        ...


# -- figures --------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def locator_facts() -> dict[str, Any]:
    """Return what is known of kinds of matches and of services, with sources: `locators.yaml`."""
    content = (resources.files("grownj_geo") / "locators.yaml").read_bytes()
    facts: dict[str, Any] = read_yaml(content)
    return facts


def figures_mark() -> str:
    """Return a mark of all figures of `locators.yaml`: other figures, another mark."""
    return hashlib.sha256(json.dumps(locator_facts(), sort_keys=True, default=str).encode()).hexdigest()


def uncertainty_ft(kind: Kind, *, half_extent_ft: float | None = None) -> float:
    """Return how far the true place may be from a match of a kind, in feet.

    The figures are those within which 95 percent of the addresses of a study lay (`locators.yaml` names it).

    Parameters
    ----------
    kind
        What the match is a place of.
    half_extent_ft
        Half of the diagonal of the street's or area's box, where it is known. A street counts at least as uncertain as
        the study found; an area as its box is; for the other kinds it says nothing.

    Examples
    --------
    >>> [round(uncertainty_ft(kind)) for kind in KINDS]
    [69, 128, 1381, 9423, 58071]
    >>> round(uncertainty_ft("municipality", half_extent_ft=8_000.0))
    8000
    """
    known = float(locator_facts()["kinds"][kind]["metres"]) * FT_PER_METRE
    if half_extent_ft is None or kind not in {"street", "municipality"}:
        return known
    return half_extent_ft if kind == "municipality" else max(known, half_extent_ft)


# -- comparing matches ----------------------------------------------------------------------------------


def apart_ft(one: Match, other: Match) -> float:
    """Return the distance between two matches in feet, on the ellipsoid."""
    return float(geodesic_ft(*one.lonlat, *other.lonlat))


def best_first(matches: Iterable[Match]) -> tuple[Match, ...]:
    """Return matches by score, then the more exact kind, then whatever makes their order the same every time."""
    return tuple(sorted(matches, key=lambda m: (-m.score, KINDS.index(m.kind), m.matched, m.pin or "", m.x_ft, m.y_ft)))


def leading(matches: Iterable[Match], *, margin: float | None = None) -> tuple[Match, ...]:
    """Return the matches among which the scores decide nothing: all that are about as good as the best.

    Parameters
    ----------
    matches
        Of one address.
    margin
        How much lower a score may be; by default the package's figure.

    Examples
    --------
    >>> common = {"locator": "census", "matched": "1 A ST", "kind": "range", "y_ft": 5e5, "uncertainty_ft": 1381.0}
    >>> def match(score, x):
    ...     return Match(score=score, x_ft=x, **common)
    >>> [found.x_ft for found in leading([match(0.7, 3e5), match(0.98, 4e5), match(1.0, 5e5)])]
    [500000.0, 400000.0]
    """
    ordered = best_first(matches)
    if not ordered:
        return ()
    least = ordered[0].score - (float(locator_facts()["tie_margin"]) if margin is None else margin)
    # A score computed in tenths is a last bit off.
    return tuple(match for match in ordered if match.score >= least - 1e-9)
