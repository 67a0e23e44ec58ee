"""The hub credit of bill A1178 over the years: its equal parts, when one is reduced or lost, and what is carried on."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

from grownj_geo.creditdays import years_later
from grownj_geo.credittri import Tri, all_met, any_met, opposite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from grownj_geo.creditanswer import AnswerBook, Bounds
    from grownj_geo.credithubinput import HubPeriod, HubProject

__all__ = ["add_hub_years", "days_of_effect", "hub_carried", "hub_kept", "hub_parts", "within_years"]

_CENT = Decimal("0.01")
_HUNDRED = Decimal(100)
_NOTHING = Decimal(0)


def days_of_effect(book: AnswerBook, name: str) -> tuple[date, date] | None:
    """Return the days between which an act took effect; None where they are not taken as they stand.

    Parameters
    ----------
    book
        Has the figures.
    name
        The act: ``"effective"`` or ``"mixed_use"``.
    """
    names = f"{name}_earliest", f"{name}_latest"
    return (book.day(names[0]), book.day(names[1])) if book.stands(*names) else None


def within_years(day: date | None, years: int, days: tuple[date, date] | None) -> Tri:
    """Return whether a day is within so many years from an act's effect, which is known between two days.

    Parameters
    ----------
    day
        The day, None where it is not stated.
    years
        How many.
    days
        The first and the last day on which the act may have taken effect; None where these are open.

    Examples
    --------
    >>> from datetime import date
    >>> act = (date(2008, 1, 1), date(2008, 1, 31))
    >>> [within_years(date(2013, 1, day), 5, act) for day in (1, 20, 31)], within_years(date(2013, 2, 1), 5, act)
    ([True, None, None], False)
    """
    if day is None or days is None:
        return None
    first, last = (years_later(start, years) for start in days)
    return True if day <= first else False if day > last else None


def hub_parts(credit: Decimal, periods: int) -> list[Decimal]:
    """Return a credit in equal parts that sum to it exactly; odd cents go to the first ones.

    Parameters
    ----------
    credit
        Dollars.
    periods
        How many parts there are.

    Examples
    --------
    >>> parts = hub_parts(Decimal("100.05"), 10)
    >>> parts[4], parts[5], sum(parts)
    (Decimal('10.01'), Decimal('10.00'), Decimal('100.05'))
    """
    each = (credit / periods).quantize(_CENT, rounding=ROUND_DOWN)
    odd = int((credit - each * periods) / _CENT)
    return [each + _CENT if number < odd else each for number in range(periods)]


def hub_kept(project: HubProject, book: AnswerBook, *, periods: int) -> list[tuple[Decimal, Decimal]]:
    """Return the least and the greatest share of each period's part that the business keeps (section 5, 3d).

    Forfeiture beats reduction, and both last until the Authority approves that what was lacking is restored. A sale or
    a sublease lasts for good.

    Parameters
    ----------
    project
        What the business says of its periods.
    book
        Has the figures.
    periods
        For how many periods. Of those that are not stated, what held last holds on, or is restored: after a forfeiture
        they keep nothing to all, after a reduction the reduced part to all. Where nothing was lacking, they keep all.
    """
    reduced = 1 - book.number("reduction_percent") / _HUNDRED
    found: list[tuple[Decimal, Decimal]] = []
    lost: Tri = False
    forfeits_now: Tri = False
    reduces_now: Tri = False
    approved: Tri = True
    for period in project.periods:
        # A sale takes the seller's credit and leaves the tenants'; a sublease takes the tenant's own.
        lost = any_met([lost, period.subleased if project.role == "tenant" else period.sold])
        forfeits_now = _held(forfeits_now, _forfeits(project, period, book), period.restored)
        reduces_now = _held(reduces_now, _reduces(project, period, book), period.restored)
        approved = period.approved
        gone = any_met([lost, forfeits_now, _late(period, book)])
        low = _NOTHING if gone is not False else reduced if reduces_now is not False else Decimal(1)
        high = _NOTHING if gone else reduced if reduces_now else Decimal(1)
        found.append((low, high))
    may_lose = forfeits_now is not False or approved is not True or lost is not False
    least = _NOTHING if may_lose else reduced if reduces_now is not False else Decimal(1)
    found += [(least, _NOTHING if lost else Decimal(1))] * (periods - len(found))
    return found


def _held(before: Tri, now: Tri, restored: Tri) -> Tri:
    """Return whether something lacks: what lacked before holds on until it is approved as restored."""
    return any_met([now, all_met([before, opposite(restored)])])


def _forfeits(project: HubProject, period: HubPeriod, book: AnswerBook) -> Tri:
    few = None if period.at_facility is None else period.at_facility < book.number("employees")
    fall = book.number("workforce_fall_percent")
    statewide = _fell(period.statewide, project.workforce_before, fall)
    return any_met([statewide, few, _fell_elsewhere(project, period, fall)])


def _fell(now: int | None, before: int | None, percent: Decimal) -> Tri:
    """Return whether a number of employees fell by more than a share."""
    if before == 0:
        return False
    return None if now is None or before is None else (before - now) * _HUNDRED > before * percent


def _fell_elsewhere(project: HubProject, period: HubPeriod, percent: Decimal) -> Tri:
    """Return whether employment fell by more than a share at any other facility (section 5, 3d(3)(b))."""
    now, before = period.elsewhere_each, project.elsewhere_each_before
    if now is not None and before is not None:
        return any_met(_fell(one, other, percent) for one, other in zip(now, before, strict=True))
    together = _fell(period.elsewhere, project.elsewhere_before, percent)
    # All of them together fall so far only if one does; if they do not, one of several may have all the same.
    return together if together or project.elsewhere_before == 0 else None


def _reduces(project: HubProject, period: HubPeriod, book: AnswerBook) -> Tri:
    applied = project.applied
    early = None if applied is None else applied < book.day("moved_within_before")
    few = None if period.new_positions is None else period.new_positions < book.number("new_positions")
    return all_met([opposite(all_met([project.moved_within_municipality, early])), few])


def _late(period: HubPeriod, book: AnswerBook) -> Tri:
    """Return whether a period's part is lost for ending after eight years while the credit was not approved."""
    within = within_years(period.ends, book.count("document_years"), days_of_effect(book, "effective"))
    return all_met([opposite(period.approved), opposite(within)])


def hub_carried(parts: Sequence[Decimal], taxes: Sequence[Decimal], *, carry: int) -> tuple[list[Decimal], Decimal]:
    """Return what is used in each period, the oldest first, and what expires unused.

    Parameters
    ----------
    parts
        What becomes available in each period.
    taxes
        Tax due in each period, those after the last part included.
    carry
        For how many periods what is unused is carried on.

    Examples
    --------
    >>> used, expired = hub_carried([Decimal(100)], [Decimal(0)] * 20 + [Decimal(70), Decimal(70)], carry=20)
    >>> used[20], used[21], expired
    (Decimal('70'), Decimal('0'), Decimal('30'))
    """
    left = list(parts)
    used = []
    for number, tax in enumerate(taxes):
        room = tax
        for begun in range(max(0, number - carry), min(number + 1, len(left))):
            amount = min(left[begun], room)
            left[begun] -= amount
            room -= amount
        used.append(tax - room)
    expired = sum((part for begun, part in enumerate(left) if begun + carry < len(taxes)), Decimal(0))
    return used, expired


def add_hub_years(project: HubProject, book: AnswerBook, credit: Bounds, due: Tri) -> None:
    """Add the credit of each period, what is used of it and what expires.

    Parameters
    ----------
    project
        What the business says of its periods.
    book
        Takes the amounts.
    credit
        The least and the greatest credit, dollars; the years are not told where nothing bounds it.
    due
        Whether it is due.
    """
    if credit[1] is None:
        book.notes.append("The parts of the years are not told, since the investment is not stated.")
        return
    rule = "A1178 section 5, 3c(1) and 3d"
    count = book.count("credit_periods")
    least, most = hub_parts(credit[0], count), hub_parts(credit[1], count)
    kept = hub_kept(project, book, periods=count)
    left = book.left_of("fiscal_year_limit", project.fiscal_year_so_far)
    if project.fiscal_year_so_far:
        book.notes.append("The fiscal year of which credits are stated is taken to be that of the first period.")
    lows: list[Decimal] = []
    highs: list[Decimal] = []
    unpaid: list[int] = []
    for number in range(count):
        low, high = (
            (part * share).quantize(_CENT, rounding=ROUND_DOWN)
            for part, share in zip((least[number], most[number]), kept[number], strict=True)
        )
        if project.role == "tenant":
            period = project.periods[number] if number < len(project.periods) else None
            rent = None if period is None else period.lease_payments
            if rent is None and high:
                unpaid.append(number + 1)
            low, high = min(low, rent or _NOTHING), high if rent is None else min(high, rent)
        if not number:
            low, high = min(low, left[0]), high if left[1] is None else min(high, left[1])
        lows.append(low if due else _NOTHING)
        highs.append(high if due is not False else _NOTHING)
        book.amount(f"year_{number + 1}", lows[-1], highs[-1], rule)
    book.amount("credit_kept", sum(lows, _NOTHING), sum(highs, _NOTHING), rule)
    if unpaid and due is not False:
        label = f"The lease payments are stated (not for {_periods(unpaid)})"
        book.told("lease_payments", label, None, "A1178 section 5, 3c(1)")
        book.notes.append(
            "A tenant's credit of a period is at most its lease payments; where they are not stated, it may be nothing."
        )
    if len(project.periods) < count:
        book.notes.append(_of_later_periods(kept[-1]))
    taxes = [period.tax for period in project.periods if period.tax is not None]
    if taxes and len(taxes) == len(project.periods) and lows == highs:
        used, expired = hub_carried(highs, taxes, carry=book.count("carry_periods"))
        book.amount("used", sum(used, _NOTHING), sum(used, _NOTHING), "A1178 section 5, 3c(1)")
        book.amount("expired", expired, expired, "A1178 section 5, 3c(1)")


def _periods(numbers: Sequence[int]) -> str:
    """Return numbers in words, those of a row as one.

    Examples
    --------
    >>> _periods([2]), _periods([1, 2, 3, 5])
    ('period 2', 'periods 1 to 3, 5')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"period{'s' if len(numbers) > 1 else ''} {words}"


def _of_later_periods(kept: tuple[Decimal, Decimal]) -> str:
    if min(kept) == 1:
        return "For periods that are not stated it is taken that nothing is lost."
    if max(kept) == 0:
        return "Nothing is paid for the periods after a sale or a sublease."
    return "Whether what was lacking is restored in the periods that are not stated is open."
