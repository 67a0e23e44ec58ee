"""What commands share that take several sites: options for a table's columns, places typed, how far the work is."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from grownj_geo.cli_site import Text, option, refusals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = [
    "Column",
    "Delimiter",
    "Encoding",
    "Replace",
    "Sheet",
    "SiteColumn",
    "Sublayer",
    "TableCrs",
    "check_outputs",
    "forget_outputs",
    "places_of",
    "rows_done",
    "steps_done",
]

Column = Annotated[Text, option(metavar="NAME", words="Column, where its name is not a usual one.")]
SiteColumn = Annotated[Text, option(metavar="NAME", words="Column of places as check takes them.")]
TableCrs = Annotated[Text, option(metavar="CODE", words="What coordinates are in, if the table says nothing.")]
Sheet = Annotated[Text, option(metavar="NAME", words="Sheet of a workbook.")]
Sublayer = Annotated[Text, option(metavar="NAME", words="Layer of a file with several.")]
Encoding = Annotated[Text, option(metavar="NAME", words="What text is in, as in cp1252.")]
Delimiter = Annotated[Text, option(metavar="SIGN", words="What stands between two cells.")]
Replace = Annotated[bool, option("--replace", words="Replace the file even if grownj did not write it.")]

_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?,?")


def places_of(words: Sequence[str]) -> list[str]:
    """Return the places that were typed; a coordinate in several words is one.

    Examples
    --------
    >>> places_of(["40.7344,", "-74.1641"]), places_of(["0408_81_1", "sites.csv"])
    (['40.7344, -74.1641'], ['0408_81_1', 'sites.csv'])
    """
    if len(words) > 1 and all(_NUMBER.fullmatch(word) for word in words):
        return [" ".join(words)]
    return list(words)


def check_outputs(*paths: Path | None, sources: Iterable[str | Path], replace: bool, answers: bool = False) -> None:
    """Leave where an output would take the place of what it must not, as `replacing.check_replaceable` has it.

    Parameters
    ----------
    paths
        The outputs; None for one that is not wanted.
    sources
        Whatever was typed that may name a file or a folder that is read.
    replace, answers
        As for `check_replaceable`.
    """
    from pathlib import Path  # noqa: PLC0415 - only for the annotations otherwise

    from grownj_geo.files import expect_as_seen  # noqa: PLC0415 - only where it is used
    from grownj_geo.replacing import check_replaceable  # noqa: PLC0415 - same

    read = [Path(source) for source in sources]
    with refusals():
        for path in paths:
            if path is None:
                continue
            seen = check_replaceable(path, sources=read, replace=replace, answers=answers)
            if not replace:
                expect_as_seen(path, seen)


def forget_outputs() -> None:
    """Let go of what a command was to find at the places of its outputs, when it is done."""
    from grownj_geo.files import expect_nothing  # noqa: PLC0415 - only where it is used

    expect_nothing()


@contextmanager
def rows_done(*, hidden: bool) -> Iterator[Callable[[int, int | None], None]]:
    """Show on the error stream, where that is a terminal, how many rows are done and how long the rest will take.

    Parameters
    ----------
    hidden
        Show nothing.

    Yields
    ------
    Callable
        To be told the rows that are done, and how many there are; None where that is not known.
    """
    from rich.console import Console  # noqa: PLC0415 - only where it is used
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415 - same

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    # Into a file it would write an empty line and nothing else.
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task("rows", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def steps_done(*, hidden: bool) -> Iterator[Callable[[int, int, str], None]]:
    """Show on the error stream, where that is a terminal, which step of a work is done now, and since when.

    Parameters
    ----------
    hidden
        Show nothing.

    Yields
    ------
    Callable
        To be told the steps that are done, how many there are, and what is done now.
    """
    from rich.console import Console  # noqa: PLC0415 - only where it is used
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, words: bar.update(task, completed=done, total=total, description=words)
