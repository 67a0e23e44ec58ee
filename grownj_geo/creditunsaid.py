"""What a project leaves unsaid and a rule needs: how it is taken for granted, and how it is told where it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grownj_geo.credittri import Tri

__all__ = ["UNSAID_INPUTS", "UnsaidInput", "assumed_words", "taken"]


class UnsaidInput(NamedTuple):
    """One input that is left out: what is assumed for it, and what is said where nothing is to be assumed.

    Attributes
    ----------
    assumed
        After "it is taken for granted".
    opened
        What is open, as a sentence without its stop.
    """

    assumed: str
    opened: str


UNSAID_INPUTS = {
    "hours_per_week": UnsaidInput(
        "that the jobs have the weekly hours of full-time jobs, where none are stated",
        "the weekly hours of the jobs are not stated",
    ),
    "customary_full_time": UnsaidInput(
        "that fewer hours are not full-time by custom, where it is not stated",
        "whether fewer hours are full-time by custom is not stated",
    ),
    "time_at_facility_percent": UnsaidInput(
        "that enough of the working time is spent at the facility, where it is not stated",
        "the share of the working time at the facility is not stated",
    ),
    "customary_time": UnsaidInput(
        "that less time at the facility is not enough by custom, where it is not stated",
        "whether less time at the facility is enough by custom is not stated",
    ),
    "health_benefits": UnsaidInput(
        "that health benefits are provided, where it is not stated",
        "whether health benefits are provided is not stated",
    ),
    "collective_agreement": UnsaidInput(
        "that no third party provides health benefits under a collective agreement, where it is not stated",
        "whether a third party provides health benefits under a collective agreement is not stated",
    ),
    "contractors": UnsaidInput(
        "that nobody is an independent contractor or consultant, where it is not stated",
        "whether anybody is an independent contractor or consultant is not stated",
    ),
    "gaming_revenue_percent": UnsaidInput(
        "that no revenue comes from gaming, where it is not stated",
        "the share of gaming in the revenue is not stated",
    ),
    "vacant_industrial_unleased": UnsaidInput(
        "that the premises are not vacant, unleased industrial ones, where it is not stated",
        "whether the premises are vacant, unleased industrial ones is not stated",
    ),
    "when": UnsaidInput(
        "that capital without a day follows the application",
        "whether capital without a day follows the application is not stated",
    ),
    "incurred": UnsaidInput(
        "that earlier capital without a day lies within the months before the application that count",
        "the day of capital from before the application is not stated",
    ),
    "acquired": UnsaidInput(
        "that a site without a day was acquired within the months around the application that count",
        "the day on which the site was acquired is not stated",
    ),
    "grants": UnsaidInput(
        "that no grant paid for a part of the capital, where it is not stated",
        "what grants paid of the capital is not stated",
    ),
    "primarily_warehouse": UnsaidInput(
        "that the business is not primarily warehouse or distribution",
        "whether the business is primarily warehouse or distribution is not stated",
    ),
}
"""By the name of an input."""


def taken(value: Tri, otherwise: bool, name: str, unsaid: set[str], *, strict: bool) -> Tri:  # noqa: FBT001 - an answer
    """Return an answer, or what is taken for granted where none is stated; open where nothing is to be.

    Parameters
    ----------
    value
        What is stated.
    otherwise
        What is taken for granted.
    name
        The input, one of `UNSAID_INPUTS`.
    unsaid
        Takes the name where nothing is stated.
    strict
        Take nothing for granted.

    Examples
    --------
    >>> left_out = set()
    >>> taken(None, True, "health_benefits", left_out, strict=False), left_out
    (True, {'health_benefits'})
    """
    if value is not None:
        return value
    unsaid.add(name)
    return None if strict else otherwise


def assumed_words(names: Iterable[str]) -> list[str]:
    """Return what is taken for granted where inputs are left out, in words, in the order of `UNSAID_INPUTS`.

    Examples
    --------
    >>> assumed_words({"grants"})
    ['that no grant paid for a part of the capital, where it is not stated']
    """
    left_out = set(names)
    return [words.assumed for name, words in UNSAID_INPUTS.items() if name in left_out]
