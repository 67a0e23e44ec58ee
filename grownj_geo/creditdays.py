"""Days so many months or years apart, as the credit rules count them: by the calendar."""

from __future__ import annotations

from calendar import monthrange
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

__all__ = ["months_before", "years_later"]

_MONTHS_OF_A_YEAR = 12


def months_before(day: date, months: int) -> date:
    """Return the day so many months earlier, or later for less than none; a month's last day where it has no such day.

    Parameters
    ----------
    day
        Where to count from.
    months
        How many; fewer than none go the other way.

    Examples
    --------
    >>> from datetime import date
    >>> months_before(date(2016, 2, 29), 24)
    datetime.date(2014, 2, 28)
    """
    year, month = divmod(day.year * _MONTHS_OF_A_YEAR + day.month - 1 - months, _MONTHS_OF_A_YEAR)
    return day.replace(year=year, month=month + 1, day=min(day.day, monthrange(year, month + 1)[1]))


def years_later(day: date, years: int) -> date:
    """Return the day so many years later; the 28th for a leap day that the year does not have.

    Parameters
    ----------
    day
        Where to count from.
    years
        How many.

    Examples
    --------
    >>> from datetime import date
    >>> years_later(date(2008, 2, 29), 5)
    datetime.date(2013, 2, 28)
    """
    return months_before(day, -years * _MONTHS_OF_A_YEAR)
