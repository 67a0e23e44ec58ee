"""Municipalities, addresses and ZIP codes as parcels and address points come with them; counts of what was changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grownj_geo.errors import SiteError
from grownj_geo.features import Change
from grownj_geo.pins import match_municipality
from grownj_geo.rows_block import cell_text

if TYPE_CHECKING:
    from grownj_geo.locate import MunicipalDirectory

__all__ = ["Municipalities", "Tally", "plain_address", "zip_of"]

_ZIP = re.compile(r"([0-9]{5})(?:[- ]?[0-9]{4})?")
_SHORT_ZIP = re.compile(r"([0-9]{4})(?:\.0)?|([0-9]{8})")
_NEW_JERSEY_ZIP = ("07", "08")
_LONGEST_ADDRESS = 200
_MOST_REMEMBERED = 100_000
_CODE = 4


class Tally:
    """Counts what was changed or left out over all rows, with the first rows of each kind.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add("no_number", 7)
    >>> tally.changes({"no_number": ("left_out", "Rows without a number: {count}.")})[0].words
    'Rows without a number: 1.'
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._rows: dict[str, list[int]] = {}
        self._example: dict[str, str] = {}

    def add(self, kind: str, row: int, example: str = "") -> None:
        """Count one row."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        rows = self._rows.setdefault(kind, [])
        if len(rows) < 10:  # noqa: PLR2004 - as many as a change names
            rows.append(row)
        self._example.setdefault(kind, example)

    def __getitem__(self, kind: str) -> int:
        """Return how many rows were counted."""
        return self._counts.get(kind, 0)

    def changes(self, words: dict[str, tuple[Any, str]]) -> list[Change]:
        """Return what is to be told, in the order of `words`: for each kind its effect and a sentence.

        ``{count}`` and ``{example}`` in a sentence are filled in.
        """
        return [
            Change(
                kind=kind,
                effect=effect,
                count=self[kind],
                words=sentence.format(count=f"{self[kind]:,}", example=self._example[kind]),
                rows=tuple(self._rows[kind]),
            )
            for kind, (effect, sentence) in words.items()
            if self[kind]
        ]


class Municipalities:
    """Reads municipalities, each spelling once."""

    def __init__(self, directory: MunicipalDirectory) -> None:
        self.names = directory.names
        self._directory = directory
        self._known: dict[tuple[str, str], str | None] = {}

    def code(self, municipality: object, county: object = None) -> str | None:
        """Return the Treasury code of a code or name; None where there is none such, or several.

        Parameters
        ----------
        municipality
            As a cell has it; a code may have lost its zero.
        county
            Tells municipalities of one name apart.
        """
        key = cell_text(municipality).strip(), cell_text(county).strip()
        if key not in self._known:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = self._match(*key)
        return self._known[key]

    def _match(self, text: str, county: str) -> str | None:
        digits = text.removesuffix(".0")
        if digits.isascii() and digits.isdigit():
            code = digits.zfill(_CODE)
            return code if code in self.names else None
        tries = [f"{text}, {county}", text] if county and text else [text]
        for attempt in tries:
            try:
                return match_municipality(attempt, self._directory)[0]
            except SiteError:
                # None says so, and whoever asked counts the row and tells it.
                continue
        return None


def plain_address(cell: object, row: int, tally: Tally) -> str | None:
    """Return an address on one line; None where nothing stands."""
    if cell is None:
        return None
    text = cell if isinstance(cell, str) else cell_text(cell)
    if not text.isprintable() or len(text) > _LONGEST_ADDRESS:
        cleaned = "".join(sign if sign.isprintable() else " " for sign in text)[:_LONGEST_ADDRESS]
        if cleaned.split() != text.split():
            tally.add("address_left", row, repr(cleaned[:40]))
        text = cleaned
    return " ".join(text.split()) or None


def zip_of(cell: object, row: int, tally: Tally) -> str | None:
    """Return the five digits of a ZIP code of New Jersey; None where nothing stands, or none."""
    text = cell_text(cell).strip()
    if not text:
        return None
    found, short = _ZIP.fullmatch(text), _SHORT_ZIP.fullmatch(text)
    digits = ""
    if found is not None:
        digits = found[1]
    elif short is not None:
        digits = f"0{(short[1] or short[2])[:4]}"
        tally.add("zip_restored", row)
    if digits[:2] in _NEW_JERSEY_ZIP:
        return digits
    if text.strip("0-"):
        tally.add("zip_left", row, repr(text[:20]))
    return None
