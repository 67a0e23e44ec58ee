"""What is found while a layer is made: faults are gathered, so that all of one step are told at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from grownj_geo.features import Change, LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Findings", "rows_in_words", "values_in_words"]

_MOST_ROWS = 10
_MOST_VALUES = 12
_LONGEST_VALUE = 60


def rows_in_words(rows: Iterable[int]) -> str:
    """Name rows, which are counted from 0 in arrays and from 1 for people.

    Examples
    --------
    >>> rows_in_words([4]), rows_in_words([0, 2, 6]), rows_in_words(range(12))
    ('row 5', 'rows 1, 3, 7', 'rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more')
    """
    numbers = [int(row) + 1 for row in rows]
    shown = ", ".join(map(str, numbers[:_MOST_ROWS]))
    more = f" and {len(numbers) - _MOST_ROWS} more" if len(numbers) > _MOST_ROWS else ""
    return f"row{'s' if len(numbers) > 1 else ''} {shown}{more}"


def values_in_words(values: Sequence[object]) -> str:
    """List values for a message, each once, long ones cut.

    Examples
    --------
    >>> values_in_words(["PA1", "PA1", ""])
    "'PA1', ''"
    """
    known = list(dict.fromkeys(repr(value) for value in values))
    shown = ", ".join(v if len(v) <= _LONGEST_VALUE else f"{v[:_LONGEST_VALUE]}..." for v in known[:_MOST_VALUES])
    return f"{shown} and {len(known) - _MOST_VALUES} more" if len(known) > _MOST_VALUES else shown


class Findings:
    """Changes to tell of, and faults to refuse for, in the order in which they were found.

    Parameters
    ----------
    source
        What is being read, as messages begin.

    Examples
    --------
    >>> found = Findings("areas.shp")
    >>> found.fault("null_geometry", "row 3 has no geometry. Draw it or remove it")
    >>> found.stop()
    Traceback (most recent call last):
        ...
    grownj_geo.features.LayerFault: areas.shp: row 3 has no geometry. Draw it or remove it.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.changes: list[Change] = []
        self._faults: list[tuple[str, str]] = []

    def tell(self, kind: str, effect: Literal["changed", "left_out", "noted"], rows: Iterable[int], words: str) -> None:
        """Add a change; its rows are counted from 0 here."""
        self.changes.append(Change.about(kind, effect, [int(row) + 1 for row in rows], words))

    def fault(self, kind: str, message: str) -> None:
        """Add a fault; the message has neither the source at its beginning nor a full stop at its end."""
        self._faults.append((kind, message))

    def refuse(self, kind: str, message: str) -> LayerFault:
        """Add a fault that nothing can be looked at after, and return all faults as one to raise."""
        self.fault(kind, message)
        return self._all()

    def stop(self) -> None:
        """Raise what faults there are; all of them, under the kind of the first.

        Raises
        ------
        LayerFault
            If there is any fault.
        """
        if self._faults:
            raise self._all()

    def _all(self) -> LayerFault:
        kind = self._faults[0][0]
        messages = [message for _, message in self._faults]
        if len(messages) == 1:
            return LayerFault(kind, f"{self.source}: {messages[0]}.")
        listed = " ".join(f"({number}) {message}." for number, message in enumerate(messages, 1))
        return LayerFault(kind, f"{self.source}: {len(messages)} things are wrong. {listed}")
