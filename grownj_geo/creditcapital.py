"""Which expenses of a project are capital investment: by kind, day, grants and share of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Literal

import numpy as np

from grownj_geo.creditdays import months_before
from grownj_geo.creditrange import Range, objects
from grownj_geo.credittri import all_met
from grownj_geo.creditunsaid import taken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from grownj_geo.creditparams import Figures
    from grownj_geo.creditproject import CapitalItem
    from grownj_geo.creditrange import Amounts
    from grownj_geo.credittri import Tri

__all__ = ["CAPITAL_RULES", "CountedCapital", "allocated", "count_capital"]

CapitalRule = Literal["plain", "zone"]
CAPITAL_RULES: tuple[CapitalRule, ...] = ("plain", "zone")
"""What counts as capital: everywhere, and in a growth zone, where more does."""

_CENT = Decimal("0.01")
_NOTHING = Decimal(0)
_ACQUISITION = "site_acquisition"


@dataclass(frozen=True)
class CountedCapital:
    """Capital investment of each building under each rule, and what was left out.

    Attributes
    ----------
    amounts
        By rule: the least and the greatest dollars of each building, in the order of the buildings, shape (b,).
    remediation
        By rule: the least and the greatest dollars of remediation in all.
    notes
        By rule: what does not count, and why.
    unsaid
        Inputs that are left out and matter, by their names in `creditunsaid`.
    """

    amounts: dict[CapitalRule, Range]
    remediation: dict[CapitalRule, tuple[Decimal, Decimal]]
    notes: dict[CapitalRule, list[str]]
    unsaid: set[str]


@dataclass(frozen=True)
class _Part:
    """What of one expense may count: bounds in dollars, and whether it comes from before the application."""

    building: str
    soft: bool
    remediation: bool
    low: Decimal
    high: Decimal
    before: Tri

    @property
    def known(self) -> bool:
        return self.low == self.high and self.before is not None


def count_capital(
    items: Sequence[CapitalItem],
    buildings: Sequence[str],
    *,
    applied: date | None,
    figures: Figures,
    excess: str = "alike",
    strict: bool = False,
) -> CountedCapital:
    """Return what of the expenses is capital investment (18.2, Capital investment; Soft costs).

    Soft costs count up to their share of the whole, before and after the application together. What then remains of
    what followed the application has to reach its share of what came before; else only what followed counts, and soft
    costs are limited anew.

    Parameters
    ----------
    items
        The expenses as stated.
    buildings
        The buildings' ids, in order.
    applied
        The day of the application.
    figures
        The figures of the law on the day.
    excess
        The option of A60: of which soft costs the part is taken that is too much.
    strict
        Leave open what is not stated; else it is taken for granted, and named in `unsaid`.

    Examples
    --------
    >>> from datetime import date
    >>> from grownj_geo.creditparams import Figures, load_credit_book
    >>> from grownj_geo.creditproject import CapitalItem
    >>> figures = Figures(load_credit_book(), date(2017, 4, 17))
    >>> spent = [CapitalItem(what="construction", amount=80), CapitalItem(what="soft_costs", amount=30)]
    >>> count_capital(spent, ["site"], applied=None, figures=figures).amounts["plain"].low[0]
    Decimal('100.00')
    """
    found = CountedCapital({}, {}, {}, set())
    for rule in CAPITAL_RULES:
        notes: list[str] = []
        told = (notes, found.unsaid)
        every = [
            _part(
                item,
                item.building or buildings[0],
                rule=rule,
                applied=applied,
                figures=figures,
                told=told,
                strict=strict,
            )
            for item in items
        ]
        parts = [part for part in every if part is not None]
        if all(part.known for part in parts):
            counted = _known(parts, figures, excess, notes)
            low = high = _by_building(counted, buildings)
            bounds = (_remediation(counted),) * 2
        else:
            low, high, bounds = _bounded(parts, buildings, figures, notes)
        found.amounts[rule] = Range(low, high)
        found.remediation[rule] = bounds
        found.notes[rule] = notes
    return found


def allocated(items: Iterable[CapitalItem], sqft: Mapping[str, Decimal], notes: list[str]) -> list[CapitalItem]:
    """Return expenses with the premises' share of what pertains to a whole facility.

    Parameters
    ----------
    items
        The expenses as stated.
    sqft
        Gross leasable area of each building of the project.
    notes
        Takes what is told of each share.

    Examples
    --------
    >>> from grownj_geo.creditproject import CapitalItem
    >>> whole = CapitalItem(what="construction", amount=Decimal(900), of_facility_sqft=Decimal(3000))
    >>> allocated([whole], {"site": Decimal(1000)}, [])[0].amount
    Decimal('300.00')
    """
    first = next(iter(sqft))
    found = []
    for item in items:
        if item.of_facility_sqft is None:
            found.append(item)
            continue
        own = min(sqft[item.building or first], item.of_facility_sqft)
        parts = {
            # Multiplied first: a third of three is one.
            name: None if amount is None else (amount * own / item.of_facility_sqft).quantize(_CENT, ROUND_DOWN)
            for name, amount in (("amount", item.amount), ("grants", item.grants))
        }
        notes.append(f"${parts['amount']:,.2f} of ${item.amount:,.2f} is the premises' share of the facility.")
        found.append(item.model_copy(update={**parts, "of_facility_sqft": None}))
    return found


# -- one expense --------------------------------------------------------------------------------------


def _part(
    item: CapitalItem,
    building: str,
    *,
    rule: CapitalRule,
    applied: date | None,
    figures: Figures,
    told: tuple[list[str], set[str]],
    strict: bool,
) -> _Part | None:
    """Return what of an expense may count; None where nothing of it does."""
    notes, unsaid = told
    why = None
    if item.what in figures.names("never_capital"):
        why = f"{item.what.replace('_', ' ')} and heavy equipment that do not stay there"
    elif item.what in figures.names("growth_zone_capital") and rule == "plain":
        why = f"{item.what.replace('_', ' ')} outside a growth zone"
    in_time, late = (None, "") if why else _in_time(item, applied, figures, unsaid, strict=strict)
    if in_time is False:
        why = late
    if why is not None:
        notes.append(f"${item.amount:,.2f} does not count: {why}.")
        return None
    if late:
        notes.append(f"Whether ${item.amount:,.2f} counts is open: {late}.")
    least, most = item.grants or _NOTHING, item.grants or _NOTHING
    if item.grants is None:
        unsaid.add("grants")
        most = item.amount if strict else _NOTHING
    elif item.grants:
        notes.append(f"${min(item.grants, item.amount):,.2f} does not count: paid by grants.")
    net = max(item.amount - least, _NOTHING)
    return _Part(
        building=building,
        soft=item.what == "soft_costs",
        remediation=item.what == "remediation",
        low=max(item.amount - most, _NOTHING) if in_time else _NOTHING,
        high=net,
        before=_is_before(item, applied, unsaid, strict=strict),
    )


def _in_time(
    item: CapitalItem, applied: date | None, figures: Figures, unsaid: set[str], *, strict: bool
) -> tuple[Tri, str]:
    """Return whether an expense lies within the months that count, and what is to be said of it."""
    months = figures.count("months_before_application")
    if item.incurred is not None and applied is not None:
        if item.incurred < months_before(applied, months):
            return False, f"incurred on {item.incurred}, more than {months} months before the application"
        if item.what == _ACQUISITION and item.incurred > months_before(applied, -months):
            # Within so many months of the application may be said of both sides of it.
            return None, f"acquired on {item.incurred}, more than {months} months after the application"
        return True, ""
    answers: list[Tri] = []
    if item.what == _ACQUISITION:
        answers.append(taken(None, True, "acquired", unsaid, strict=strict))
    elif item.when == "before":
        answers.append(taken(None, True, "incurred", unsaid, strict=strict))
    elif item.when is None:
        answers.append(taken(None, True, "when", unsaid, strict=strict))
    return all_met(answers), ""


def _is_before(item: CapitalItem, applied: date | None, unsaid: set[str], *, strict: bool) -> Tri:
    if item.incurred is not None and applied is not None:
        return item.incurred < applied
    return taken(None if item.when is None else item.when == "before", False, "when", unsaid, strict=strict)


# -- all expenses, known ------------------------------------------------------------------------------


def _known(parts: Sequence[_Part], figures: Figures, excess: str, notes: list[str]) -> list[tuple[_Part, Decimal]]:
    """Return what of each expense counts, where all is known of them."""
    told: list[str] = []
    counted = _within_soft(parts, figures, excess, told)
    earlier = sum((amount for part, amount in counted if part.before), _NOTHING)
    later = sum((amount for part, amount in counted if not part.before), _NOTHING)
    needed = figures.number("after_to_before_percent")
    if earlier and later * 100 < earlier * needed:
        notes.append(
            f"${earlier:,.2f} from before the application does not count: ${later:,.2f} followed it, less than "
            f"{needed:g} %."
        )
        told = []
        counted = _within_soft([part for part in parts if not part.before], figures, excess, told)
    notes += told
    return counted


def _within_soft(
    parts: Sequence[_Part], figures: Figures, excess: str, notes: list[str]
) -> list[tuple[_Part, Decimal]]:
    """Return what of each expense counts: soft costs at most their share of the whole, soft costs included."""
    soft = [part for part in parts if part.soft]
    share = figures.number("soft_cost_percent")
    most = _soft_most(sum((part.high for part in parts if not part.soft), _NOTHING), share)
    total = sum((part.high for part in soft), _NOTHING)
    if total <= most:
        return [(part, part.high) for part in parts]
    notes.append(f"${total - most:,.2f} of soft costs does not count: over {share:g} % of the capital investment.")
    turns = {"earlier_first": (False, True), "later_first": (True, False)}.get(excess)
    kept: dict[int, Decimal] = {}
    left = most
    for turn in turns or (None,):
        own = [part for part in soft if turn is None or part.before is turn]
        kept |= dict(zip(map(id, own), _in_proportion([part.high for part in own], left), strict=True))
        left -= sum((kept[id(part)] for part in own), _NOTHING)
    return [(part, kept[id(part)] if part.soft else part.high) for part in parts]


def _in_proportion(amounts: Sequence[Decimal], most: Decimal) -> list[Decimal]:
    """Return amounts cut in proportion to a sum, to the cent, none more than it was."""
    total = sum(amounts, _NOTHING)
    if total <= most:
        return list(amounts)
    cut = [(amount * most / total).quantize(_CENT, rounding=ROUND_DOWN) for amount in amounts]
    odd = most - sum(cut, _NOTHING)
    for number, amount in enumerate(amounts):
        more = min(_CENT, odd, amount - cut[number])
        cut[number] += more
        odd -= more
    return cut


def _soft_most(hard: Decimal, share: Decimal) -> Decimal:
    return (hard * share / (100 - share)).quantize(_CENT, rounding=ROUND_DOWN)


def _by_building(counted: Iterable[tuple[_Part, Decimal]], buildings: Sequence[str]) -> Amounts:
    sums = dict.fromkeys(buildings, _NOTHING)
    for part, amount in counted:
        sums[part.building] += amount
    return objects(sums.values())


def _remediation(counted: Iterable[tuple[_Part, Decimal]]) -> Decimal:
    return sum((amount for part, amount in counted if part.remediation), _NOTHING)


# -- all expenses, some of them open ------------------------------------------------------------------


def _bounded(
    parts: Sequence[_Part], buildings: Sequence[str], figures: Figures, notes: list[str]
) -> tuple[Amounts, Amounts, tuple[Decimal, Decimal]]:
    """Return bounds of what counts in each building, and of remediation, over all ways the open things can turn out.

    They also hold whichever soft costs are too many.
    """
    met = _enough_followed(parts, figures)
    after = [part for part in parts if part.before is not True]
    # What may be from before the application, and may not, surely counts in neither way.
    sure_after = [part if part.before is False else _unsure(part) for part in after]
    ways = [_way(parts, buildings, figures)] if met is not False else []
    if met is not True:
        ways.append(_way(sure_after, buildings, figures))
        if met is False:
            notes.append("What comes from before the application does not count: too little followed it.")
    low, high = ways[0][0], ways[0][1]
    for way in ways[1:]:
        low, high = np.minimum(low, way[0]), np.maximum(high, way[1])
    return low, high, (min(way[2][0] for way in ways), max(way[2][1] for way in ways))


def _unsure(part: _Part) -> _Part:
    return _Part(part.building, part.soft, part.remediation, _NOTHING, part.high, part.before)


def _soft_bounds(parts: Sequence[_Part], figures: Figures) -> tuple[Decimal, Decimal]:
    """Return the greatest excess of soft costs that there can be, and the greatest sum of them that can count."""
    share = figures.number("soft_cost_percent")
    hard = [part for part in parts if not part.soft]
    least, most = (
        _soft_most(sum(values, _NOTHING), share) for values in ([p.low for p in hard], [p.high for p in hard])
    )
    total = sum((part.high for part in parts if part.soft), _NOTHING)
    return max(total - least, _NOTHING), most


def _sums(parts: Iterable[_Part], over: Decimal, most: Decimal) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest sum of some expenses, given the bounds of all soft costs."""
    chosen = list(parts)
    hard, soft = ([part for part in chosen if part.soft is kind] for kind in (False, True))
    low = sum((p.low for p in hard), _NOTHING) + max(sum((p.low for p in soft), _NOTHING) - over, _NOTHING)
    return low, sum((p.high for p in hard), _NOTHING) + min(sum((p.high for p in soft), _NOTHING), most)


def _enough_followed(parts: Sequence[_Part], figures: Figures) -> Tri:
    """Return whether what followed the application reaches its share of what came before."""
    over, most = _soft_bounds(parts, figures)
    earlier_low, _ = _sums([part for part in parts if part.before is True], over, most)
    _, earlier_high = _sums([part for part in parts if part.before is not False], over, most)
    later_low, _ = _sums([part for part in parts if part.before is False], over, most)
    _, later_high = _sums([part for part in parts if part.before is not True], over, most)
    needed = figures.number("after_to_before_percent")
    if not earlier_high or later_low * 100 >= earlier_high * needed:
        return True
    return False if later_high * 100 < earlier_low * needed else None


def _way(
    parts: Sequence[_Part], buildings: Sequence[str], figures: Figures
) -> tuple[Amounts, Amounts, tuple[Decimal, Decimal]]:
    over, most = _soft_bounds(parts, figures)
    sums = [_sums([part for part in parts if part.building == name], over, most) for name in buildings]
    cleaned = [part for part in parts if part.remediation]
    bounds = sum((p.low for p in cleaned), _NOTHING), sum((p.high for p in cleaned), _NOTHING)
    return objects(low for low, _ in sums), objects(high for _, high in sums), bounds
