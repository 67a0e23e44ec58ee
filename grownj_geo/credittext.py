"""An estimate as text: the result first, then every line of the computation, then what it rests on."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from grownj_geo.creditanswer import CreditAnswer
    from grownj_geo.creditline import CreditLine
    from grownj_geo.credits import AmountRange, Estimate

__all__ = ["amount_words", "answer_text", "estimate_text", "line_words", "range_words"]

_LABEL, _VALUE = 62, 32
_PARTS = {
    "inputs": "WHAT GOES IN",
    "minimums": "MINIMUMS",
    "place": "PLACE",
    "award": "AMOUNT FOR A JOB AND YEAR",
    "result": "CREDIT",
}
_TRUST = {
    "confirmed": "only confirmed figures; what rests on another is left open",
    "known": "unverified figures are not taken as they stand, they widen the range",
    "stated": "every figure is taken as it stands, unverified ones too",
}
_UNITS = {"percent": " %", "sqft": " sq ft", "jobs": " jobs", "years": " years", "dollars_per_sqft": " a sq ft"}
_MOST_SETTLING = 12


def amount_words(amount: Decimal | None, unit: str = "dollars") -> str:
    """Return an amount in words.

    Parameters
    ----------
    amount
        None where nothing bounds it.
    unit
        As in `creditline`.

    Examples
    --------
    >>> from decimal import Decimal
    >>> amount_words(Decimal("1250000.5")), amount_words(Decimal(8), "jobs"), amount_words(None)
    ('$1,250,000.50', '8 jobs', 'no limit')
    """
    if amount is None:
        return "no limit"
    if unit.startswith("dollars"):
        whole = amount == amount.to_integral_value()
        return f"${amount:,.0f}{_UNITS.get(unit, '')}" if whole else f"${amount:,.2f}{_UNITS.get(unit, '')}"
    digits = f"{amount:,.0f}" if amount == amount.to_integral_value() else f"{amount.normalize():,f}"
    return digits + _UNITS.get(unit, "")


def range_words(amount: AmountRange | CreditLine, unit: str = "dollars") -> str:
    """Return the least and the greatest in words, once where they are the same.

    Parameters
    ----------
    amount
        Its bounds are told.
    unit
        As in `creditline`.
    """
    low, high = amount_words(amount.low, unit), amount_words(amount.high, unit)
    return low if low == high else f"{low} to {high}"


def line_words(line: CreditLine) -> str:
    """Return what a line comes to, in words."""
    return line.outcome.upper() if line.outcome is not None else range_words(line, line.unit)


def estimate_text(found: Estimate, *, width: int = 100) -> str:
    """Return an estimate as a report, with a line end.

    Parameters
    ----------
    found
        The estimate.
    width
        Columns; lines that are longer are broken.
    """
    return "\n".join(line.rstrip() for line in _report(found, width)) + "\n"


def _report(found: Estimate, width: int) -> Iterator[str]:
    yield f"Project       {found.project or '(without a name)'}"
    yield f"Figures       of {found.as_of} ({found.book}): {_TRUST[found.trust]}"
    if found.strict:
        yield "Strict        nothing is assumed where it is not stated"
    yield ""
    yield "RESULT"
    yield f"Eligible      {found.eligible.upper()}"
    yield from _pair("Award", f"{range_words(found.award)} in all; {range_words(found.award_year)} a year", width)
    if found.eligible == "undetermined":
        if_met = f"{range_words(found.if_eligible)} in all; {range_words(found.if_eligible_year)} a year"
        yield from _pair("If eligible", if_met, width)
    kept = amount_words(found.commitment_years, "years")
    yield from _pair("Years", f"{found.eligibility_years} years of credit; the jobs are to be kept for {kept}", width)
    part = ""
    buildings = {line.building for line in found.lines if line.building}
    for line in sorted(found.lines, key=lambda each: list(_PARTS).index(each.part)):
        if line.part != part:
            part = line.part
            yield ""
            yield _PARTS[part]
        label = f"{line.building}: {line.label}" if line.building and len(buildings) > 1 else line.label
        yield from _line(label, line, width)
    yield from _settling(found, width)
    yield from _listed("TAKEN FOR GRANTED, SINCE IT IS NOT STATED", found.assumptions, width)
    weak = {figure.name: figure for figure in found.figures if figure.name in found.below_confirmed}
    named = [
        f"{figure.label}: {figure.value} ({figure.status}{'' if figure.taken else ', not taken as it stands'})"
        for figure in weak.values()
    ]
    yield from _listed("FIGURES BELOW CONFIRMED THAT THIS RESTS ON", named, width)
    yield from _listed("LEFT OUT", found.notes, width)
    yield from _listed("NOTE", found.cautions, width)
    yield ""
    yield from textwrap.wrap(found.disclaimer, width)


def answer_text(found: CreditAnswer, *, width: int = 100) -> str:
    """Return what a credit of the bill comes to as a report, with a line end.

    Parameters
    ----------
    found
        What the credit comes to.
    width
        Columns; lines that are longer are broken.
    """
    named = [f"Project       {found.name}"] if found.name else []
    lines = [
        *named,
        f"Program       {found.program}",
        "",
        "RESULT",
        f"Eligible      {found.eligible.upper()}",
        "",
        "TESTS",
    ]
    for test in found.tests.values():
        lines += _entry(test.label, test.outcome.upper(), test.rule, width)
    lines += ["", "AMOUNTS"]
    for name, amount in found.amounts.items():
        unit = "count" if name.startswith(("employees", "positions", "ratio", "sustained", "commitment")) else "dollars"
        label = name.replace("_", " ")
        lines += _entry(label[:1].upper() + label[1:], range_words(amount, unit), found.rules[name], width)
    lines += _listed("WHAT WOULD SETTLE IT", found.settles, width)
    weak = {figure.name: figure for figure in found.figures if figure.name in found.below_confirmed}
    named = [
        f"{figure.label}: {figure.value} ({figure.status}{', statement only' if name in found.statement_only else ''})"
        for name, figure in weak.items()
    ]
    lines += _listed("FIGURES BELOW CONFIRMED THAT THIS RESTS ON", named, width)
    lines += _listed("NOTE", found.notes, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _entry(label: str, value: str, rule: str, width: int) -> Iterator[str]:
    head = f"  {label:<{_LABEL}} {value:<{_VALUE}} "
    if len(head) + len(rule) <= width:
        yield head + rule
        return
    yield head
    yield from textwrap.wrap(rule, width, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _settling(found: Estimate, width: int) -> Iterator[str]:
    if not found.settles:
        return
    yield ""
    yield "WHAT WOULD SETTLE IT"
    for each in found.settles[:_MOST_SETTLING]:
        words = f"- {each.words}{f' (building {each.building})' if each.building else ''}"
        so = "taken as it stands" if each.kind == "law" else "if so"
        for name, amounts in ((so, each.if_yes), ("if not", each.if_no)):
            if amounts is not None:
                low, high = (amount_words(amount) for amount in amounts)
                words += f"; {name} {low if low == high else f'{low} to {high}'}"
        if each.needs:
            words += f". To decide it: {'; or '.join(each.needs)}"
        yield from textwrap.wrap(words, width, subsequent_indent="  ")
    if len(found.settles) > _MOST_SETTLING:
        yield f"- and {len(found.settles) - _MOST_SETTLING} more; all of them are in the JSON"


def _pair(label: str, words: str, width: int) -> Iterator[str]:
    yield from textwrap.wrap(f"{label:<13} {words}", width, subsequent_indent=" " * 14)


def _line(label: str, line: CreditLine, width: int) -> Iterator[str]:
    head = f"  {label:<{_LABEL}} {line_words(line):<{_VALUE}} "
    words = "; ".join(filter(None, [line.words, line.rule]))
    if len(head) + len(words) <= width or len(head.rstrip()) > width:
        yield head + words
        return
    yield head
    yield from textwrap.wrap(words, width, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _listed(title: str, words: Sequence[str], width: int) -> Iterator[str]:
    if words:
        yield ""
        yield title
        for each in words:
            yield from textwrap.wrap(f"- {each}", width, subsequent_indent="  ")
