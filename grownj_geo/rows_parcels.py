"""Parcel numbers and municipalities in the columns of a table, with what spreadsheets do to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grownj_geo.errors import SiteError
from grownj_geo.pins import match_municipality, parse_pins
from grownj_geo.rows_block import RawBlock, cell_text, is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.rows_columns import Roles

__all__ = ["Parcels", "SaidOfParcel"]

# A parcel number that needs no reading: nothing to note, nothing to refuse but its municipality.
_PLAIN_PIN = re.compile(r"[0-9]{4}_(?:[1-9][0-9]*(?:\.[0-9]+)?)_(?:[1-9][0-9]*(?:\.[0-9]+)?)(?:_[A-Z][A-Z0-9]*)?")
_SHORT_PIN = re.compile(r"([0-9]{3})(?:\.0)?(_.*)")
_DIGITS = re.compile(r"([0-9]+)(?:\.0+)?")
_CODE_DIGITS = 4
_MOST_KNOWN = 200_000


@dataclass(frozen=True)
class SaidOfParcel:
    """What a row says of its parcel and municipality.

    Attributes
    ----------
    code
        Municipality; empty where nothing could be used.
    basis
        ``"pin"`` or ``"stated"``.
    pins
        Parcel numbers, where they are certain.
    located_by
        How that makes a site.
    notes
        What was changed or assumed.
    restored
        Whether a leading zero was put back.
    problem
        What could not be read.
    named
        Whether that stands in a column that was named.
    """

    code: str = ""
    basis: str = "stated"
    pins: tuple[str, ...] = ()
    located_by: str = "municipality as stated"
    notes: tuple[str, ...] = ()
    restored: bool = False
    problem: str | None = None
    named: bool = False


class Parcels:
    """Reads the columns of parcel numbers and municipalities.

    Parameters
    ----------
    roles
        Which column says what.
    directory
        Which municipalities there are.
    """

    def __init__(self, roles: Roles, directory: MunicipalDirectory) -> None:
        self.roles = roles
        self.directory = directory
        self._counties = {county.casefold() for _, county in directory.names.values()}
        self._municipalities: dict[tuple[str, str], tuple[str, tuple[str, ...], bool] | SiteError] = {}

    def read(self, raw: RawBlock, rows: Sequence[int]) -> Iterator[tuple[int, SaidOfParcel]]:
        """Yield what each row says, for the rows that say anything."""
        roles = self.roles
        names = {r: c for r in ("pin", "municipality", "county", "block", "lot", "qualifier") if (c := roles[r])}
        if not names.keys() & {"pin", "municipality"}:
            return
        columns: dict[str, Sequence[Any]] = {role: raw.columns[column] for role, column in names.items()}
        plain_only = columns.keys() == {"pin"}
        known = self.directory.names
        for row in rows:
            if plain_only:
                pin = columns["pin"][row]
                if type(pin) is str and pin[:_CODE_DIGITS] in known and _PLAIN_PIN.fullmatch(pin):
                    yield row, SaidOfParcel(pin[:_CODE_DIGITS], "pin", (pin,), "parcel number (PAMS_PIN)")
                    continue
            said = self._row({role: values[row] for role, values in columns.items()})
            if said is not None:
                yield row, said

    def _row(self, cells: dict[str, Any]) -> SaidOfParcel | None:
        stated = self._stated(cells)
        if not is_blank(cells.get("pin")):
            found = self._pin(cell_text(cells["pin"]).strip(), self.roles["pin"] or "", named="pin" in self.roles.named)
        elif stated is not None and stated.code and not (is_blank(cells.get("block")) and is_blank(cells.get("lot"))):
            found = self._from_parts(stated.code, cells)
        else:
            return stated
        if stated is None:
            return found
        if found.problem is not None:
            # The municipality is known all the same, as whoever made the table states it.
            return stated if stated.problem is not None else _also(stated, f"Not used: {found.problem}.", other=found)
        if stated.problem is not None:
            return found if not stated.named else stated
        if stated.code != found.code:
            return SaidOfParcel(
                problem=(
                    f"the parcel number {found.pins[0] if found.pins else found.code} is in "
                    f"{self.directory.names[found.code][0]}, and {self.roles['municipality']} says "
                    f"{self.directory.names[stated.code][0]} ({stated.code}); expected one municipality"
                ),
                named=True,
            )
        return _also(found, *stated.notes, other=stated)

    def _pin(self, text: str, column: str, *, named: bool) -> SaidOfParcel:
        notes: tuple[str, ...] = ()
        short = _SHORT_PIN.fullmatch(text)
        if short is not None and short[1].zfill(_CODE_DIGITS) in self.directory.names:
            text = short[1].zfill(_CODE_DIGITS) + short[2]
            notes = (f"{column} was read as {text}: a spreadsheet drops the zero before a code.",)
        try:
            pins, more = parse_pins(text, self.directory)
        except SiteError as error:
            return SaidOfParcel(problem=f"{column}: {str(error).rstrip('.')}", named=named)
        names = tuple(map(str, pins))
        return SaidOfParcel(
            pins[0].mun_code, "pin", names, "parcel number (PAMS_PIN)", (*notes, *more), restored=bool(notes)
        )

    def _from_parts(self, code: str, cells: dict[str, Any]) -> SaidOfParcel:
        """Return the parcel that block, lot and qualifier make with a municipality."""
        parts = [cells.get(role) for role in ("block", "lot", "qualifier")]
        roles = [self.roles[role] for role in ("block", "lot", "qualifier")]
        if is_blank(parts[0]) or is_blank(parts[1]):
            lacking = roles[0] if is_blank(parts[0]) else roles[1]
            return SaidOfParcel(
                problem=f"{lacking or 'block or lot'} is empty, so that there is no whole parcel number"
            )
        unsure = [
            f"{name} is the number {part!r} in the table, which may be {part!r} or {part!r}0: a spreadsheet drops "
            "zeros at the end. The parcel was not identified; write such lots as text."
            for name, part in zip(roles, parts, strict=True)
            if isinstance(part, float) and not part.is_integer() and not is_blank(part)
        ]
        if unsure:
            return SaidOfParcel(code, "stated", (), "municipality as stated", tuple(unsure))
        texts = [cell_text(part).strip() for part in parts]
        return self._pin("_".join([code, *filter(None, texts)]), f"{roles[0]} and {roles[1]}", named=False)

    def _stated(self, cells: dict[str, Any]) -> SaidOfParcel | None:
        cell = cells.get("municipality")
        if is_blank(cell):
            return None
        key = cell_text(cell).strip(), cell_text(cells.get("county")).strip()
        if key not in self._municipalities:
            if len(self._municipalities) >= _MOST_KNOWN:
                self._municipalities.clear()
            self._municipalities[key] = self._match(*key)
        found = self._municipalities[key]
        column = self.roles["municipality"] or ""
        if isinstance(found, SiteError):
            return SaidOfParcel(problem=f"{column}: {str(found).rstrip('.')}", named="municipality" in self.roles.named)
        code, notes, restored = found
        return SaidOfParcel(code, "stated", (), "municipality as stated", notes, restored=restored)

    def _match(self, text: str, county: str) -> tuple[str, tuple[str, ...], bool] | SiteError:
        digits = _DIGITS.fullmatch(text)
        if digits is not None:
            code = digits[1].zfill(_CODE_DIGITS) if len(digits[1]) == _CODE_DIGITS - 1 else digits[1]
            if code in self.directory.names and code != digits[1]:
                words = f"The municipality {text!r} was read as {code}: a spreadsheet drops the zero before a code."
                return code, (words,), True
            text = code if code in self.directory.names else text
        elif county.casefold().removesuffix("county").strip() in self._counties:
            text = f"{text}, {county}"
        try:
            code, notes = match_municipality(text, self.directory)
        except SiteError as error:
            return error
        return code, notes, False


def _also(said: SaidOfParcel, *notes: str, other: SaidOfParcel) -> SaidOfParcel:
    """Return the same with more notes."""
    return SaidOfParcel(
        said.code,
        said.basis,
        said.pins,
        said.located_by,
        tuple(dict.fromkeys((*said.notes, *notes))),
        restored=said.restored or other.restored,
    )
