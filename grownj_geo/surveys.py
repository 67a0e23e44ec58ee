"""Editions of the five-year survey: which tracts each is published for, and where both are served."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from grownj_geo.crs import plain_text
from grownj_geo.features import LayerFault
from grownj_geo.manifest import Status
from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

__all__ = [
    "PovertyService",
    "TractService",
    "edition_ending",
    "edition_vintage",
    "last_year",
    "poverty_service",
    "tract_service",
    "year_vintage",
]

_FIRST_LAST_YEAR, _LAST_2010_YEAR, _YEARS = 2010, 2019, 5
_EDITION = re.compile(r"(\d{4})-(\d{4})")


class _Record(Strict):
    url: str
    status: Status
    note: str


class _Tracts(_Record):
    vintage: str
    where: str


class PovertyService(_Record):
    """Where the counts of poverty are served.

    Attributes
    ----------
    url
        Of the interface, with ``{year}`` for the last year of an edition.
    table
        The survey's table.
    """

    table: str


class _Services(Strict):
    poverty: PovertyService
    tracts: tuple[_Tracts, ...]


class TractService(NamedTuple):
    """Where tract boundaries of one vintage are served.

    Attributes
    ----------
    url
        Of the layer.
    where
        What to ask it for: the tracts of New Jersey.
    vintage
        ``"2010"`` or ``"2020"``.
    status, note
        How well the address is known, and what is known of it.
    """

    url: str
    where: str
    vintage: str
    status: str
    note: str


def last_year(edition: str) -> int:
    """Return the last year of an edition of the five-year survey.

    Raises
    ------
    LayerFault
        For text that is not an edition, or one before 2006-2010 (``bad_edition``).

    Examples
    --------
    >>> last_year("2011-2015")
    2015
    """
    found = _EDITION.fullmatch(plain_text(edition))
    if found is None or int(found[2]) - int(found[1]) != _YEARS - 1 or int(found[2]) < _FIRST_LAST_YEAR:
        raise LayerFault(
            "bad_edition",
            f"The survey's edition is {edition!r}; expected first and last year of five, from 2006-2010 on, as in "
            "2011-2015. (The edition 2005-2009 is on the tracts of 2000.)",
        )
    return int(found[2])


def edition_ending(last: int) -> str:
    """Return the edition of the five-year survey that a year ends.

    Examples
    --------
    >>> edition_ending(2015)
    '2011-2015'
    """
    return f"{last - _YEARS + 1}-{last}"


def year_vintage(year: int) -> str:
    """Return of which census the tracts are that were published in or for a year.

    Examples
    --------
    >>> year_vintage(2009), year_vintage(2019), year_vintage(2020)
    ('2000', '2010', '2020')
    """
    if year < _FIRST_LAST_YEAR:
        return "2000"
    return "2010" if year <= _LAST_2010_YEAR else "2020"


def edition_vintage(edition: str) -> str:
    """Return which tracts an edition of the five-year survey is published for: ``"2010"`` or ``"2020"``.

    Raises
    ------
    LayerFault
        For text that is not an edition, or one before 2006-2010 (``bad_edition``).

    Examples
    --------
    >>> edition_vintage("2011-2015"), edition_vintage("2015-2019"), edition_vintage("2016-2020")
    ('2010', '2010', '2020')
    """
    return year_vintage(last_year(edition))


@lru_cache(maxsize=1)
def _services() -> _Services:
    content = (resources.files("grownj_geo") / "services.yaml").read_bytes()
    return _Services.model_validate(read_yaml(content))


def tract_service(edition: str) -> TractService:
    """Return where the tract boundaries that fit an edition are served.

    Raises
    ------
    LayerFault
        For text that is not an edition (``bad_edition``).

    Examples
    --------
    >>> tract_service("2016-2020").where
    "STATE='34'"
    """
    vintage = edition_vintage(edition)
    found = next(each for each in _services().tracts if each.vintage == vintage)
    return TractService(found.url, found.where, found.vintage, found.status, found.note)


def poverty_service() -> PovertyService:
    """Return where the counts of poverty are served.

    Examples
    --------
    >>> poverty_service().table
    'B17001'
    """
    return _services().poverty
