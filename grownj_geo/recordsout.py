"""What rechecking and watching found, for a terminal and as rows of a table. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grownj_geo.report import plain
from grownj_geo.rerun import MAIN_FIELDS, field_words, value_words
from grownj_geo.words import counted_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from grownj_geo.kept import Refused
    from grownj_geo.recheck import Difference, Recheck
    from grownj_geo.watch import Turn, Upcoming, Watched

__all__ = ["counted", "recheck_rows", "render_rechecks", "render_watched", "watch_rows"]

_BESIDE = "the same answers and other margins, causes or assumptions"


def render_rechecks(done: Sequence[Recheck], refused: Sequence[Refused], console: Console, *, every: bool) -> None:
    """Print what differs, record by record; those that are the same too where that is asked for."""
    for one in done:
        if one.same and not every:
            continue
        day = (
            str(one.as_of_now) if one.as_of_was == one.as_of_now else f"{one.as_of_now}, recorded as of {one.as_of_was}"
        )
        title = f"{one.typed} ({one.source})" if one.typed != one.source else one.source
        _put(console, 0, f"{title}: {_status(one)}, as of {day}", style="bold")
        if not one.sealed:
            _put(console, 2, "not sealed (made without --save): whether it was altered cannot be seen")
        for change in one.inputs:
            _put(console, 2, f"other now: {change.words}")
        _differences(one.differences, console)
    _put(console, 0, f"{counted(done, refused)}.")


def counted(done: Sequence[Recheck], refused: Sequence[Refused]) -> str:
    """Return how many records changed in an answer, and apart from them how many only in what stands beside it."""
    answers, same = sum(one.answers_differ for one in done), sum(one.same for one in done)
    beside = len(done) - answers - same
    parts = [f"{answers:,} changed"]
    if beside:
        parts.append(f"{beside:,} with {_BESIDE}")
    parts.append(f"{same:,} the same")
    if refused:
        parts.append(f"{len(refused):,} refused")
    return f"{counted_words(len(done) + len(refused), 'record')}: {', '.join(parts)}"


def _status(one: Recheck) -> str:
    if one.same:
        return "the same"
    return "CHANGED" if one.answers_differ else _BESIDE


def _put(console: Console, indent: int, words: str, *, style: str = "") -> None:
    # Padding would fill lines with blanks to the same width.
    for line in Text(plain(words), style).wrap(console, max(console.width - indent, 1)):
        line.rstrip()
        console.print(Text(" " * indent) + line)


def _differences(differences: Sequence[Difference], console: Console) -> None:
    """Print differences, those with the same reason under it once."""
    by_why: dict[str, list[Difference]] = {}
    for difference in differences:
        by_why.setdefault(difference.why, []).append(difference)
    for why, group in by_why.items():
        for one in group:
            was, now = value_words(one.field, one.was), value_words(one.field, one.now)
            _put(console, 2, f"{_figure(one.label, one.field)}: {was} -> {now}")
        _put(console, 4, f"because: {why}")


def _figure(label: str, name: str) -> str:
    words = field_words(name)
    return words[0].upper() + words[1:] if name in {"floor", "ceiling", "municipality"} else f"{label}, {words}"


def recheck_rows(done: Sequence[Recheck], refused: Sequence[Refused]) -> Iterator[list[object]]:
    """Yield a comparison of records as rows: a header, then a row for each difference, record without one, refusal.

    The status is that of the record: ``changed`` in an answer, ``beside`` in margins, causes or assumptions only.
    """
    yield [
        "source", "site", "rulebook", "as_of_recorded", "as_of_now", "sealed", "status", "item", "figure", "was", "now",
        "because", "how", "why",
    ]  # fmt: skip
    for one in done:
        first = [one.source, one.typed, one.rulebook, one.as_of_was, one.as_of_now, "yes" if one.sealed else "no"]
        if one.same:
            other = "; ".join(change.words for change in one.inputs)
            yield [*first, "same", None, None, None, None, None, None, f"other now: {other}" if other else None]
        for d in one.differences:
            was, now = (None if v is None else value_words("", v) for v in (d.was, d.now))
            status = "changed" if one.answers_differ else "beside"
            yield [*first, status, d.item, d.field, was, now, "; ".join(d.because), d.how, d.why]
    for lost in refused:
        yield [lost.source, None, None, None, None, None, "refused", None, None, None, None, None, None, lost.words]


def render_watched(found: Sequence[Watched], refused: Sequence[Refused], console: Console) -> None:
    """Print the sites with their last answers and next days, then what changes on each day."""
    table = Table(header_style="bold", expand=False)
    for name in ("Site", "As of", "Base amount", "In", "Open", "Next other answer"):
        table.add_column(name, overflow="fold")
    for one in found:
        table.add_row(
            Text(plain(one.name)),
            Text(f"{one.as_of}{_holds(one)}"),
            Text(_bounds(one)),
            Text(counted_words(len(one.yes), "area")),
            Text(counted_words(len(one.undetermined), "area")),
            Text(str(one.next_day) if one.next_day else f"none known to {one.until}"),
        )
    if found:
        console.print(table)
    for one in found:
        if one.upcoming:
            console.print(Text(plain(f"{one.name}{f' ({one.source})' if one.source else ''}"), "bold"))
        for coming in one.upcoming:
            _coming(coming, console)
    for book, until, last in sorted({(one.rulebook, one.until, one.last_day) for one in found}):
        ends = f"The rulebook {book} ends on {last}; later days are not answered."
        console.print(Text(ends if until == last else f"Looked at to {until}; of later days nothing is said. {ends}"))
    if refused:
        console.print(Text(f"{counted_words(len(refused), 'site was', 'sites were')} refused."))


def _coming(coming: Upcoming, console: Console) -> None:
    _put(console, 2, str(coming.day))
    main = [turn for turn in coming.turns if turn.field in MAIN_FIELDS]
    for turn in main:
        _put(console, 4, f"{_figure(turn.label, turn.field)}: {_turned(turn)}")
    rest = len(coming.turns) - len(main)
    if rest:
        beside = f"{counted_words(rest, 'figure')} of margins, causes or assumptions"
        _put(console, 4, beside + (" too" if main else "; no answer changes"))
    _put(console, 4, f"because: {'; '.join(coming.because)}")


def _turned(turn: Turn) -> str:
    return f"{value_words(turn.field, turn.was)} -> {value_words(turn.field, turn.now)}"


def _holds(one: Watched) -> str:
    if one.holds is not False:
        return ""
    return " (answered otherwise now: grownj recheck)" if one.recorded else " (the table says otherwise)"


def _bounds(one: Watched) -> str:
    low, high = ("none" if v is None else f"${v:,}" for v in (one.floor, one.ceiling))
    return low if low == high else f"{low} to {high}"


def watch_rows(found: Sequence[Watched], refused: Sequence[Refused]) -> Iterator[list[object]]:
    """Yield watched sites as rows: a header, then a row for each figure that changes, site without one, refusal."""
    yield [
        "site", "source", "rulebook", "as_of", "until", "base_floor", "base_ceiling", "in", "undetermined", "holds",
        "day", "item", "figure", "was", "now", "because",
    ]  # fmt: skip
    for one in found:
        holds = {True: "yes", False: "no", None: None}[one.holds]
        first = [
            one.name, one.source, one.rulebook, one.as_of, one.until, one.floor, one.ceiling, "; ".join(one.yes),
            "; ".join(one.undetermined), holds,
        ]  # fmt: skip
        if not one.upcoming:
            yield [*first, None, None, None, None, None, f"nothing known to {one.until}"]
        for coming in one.upcoming:
            for turn in coming.turns:
                was, now = (None if v is None else value_words("", v) for v in (turn.was, turn.now))
                yield [*first, coming.day, turn.item, turn.field, was, now, "; ".join(coming.because)]
    for lost in refused:
        yield [None, lost.source, *([None] * 13), lost.words]
