"""Parcel numbers and municipalities in the columns of a table, with what spreadsheets do to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grownj_geo.errors import SiteError
from grownj_geo.pins import match_municipality, parse_pins
from grownj_geo.rows_block import RawBlock, cell_text
from grownj_geo.rows_cells import is_day_like, says_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.rows_columns import Roles

__all__ = ["Parcels", "SaidOfParcel"]

# A parcel number that needs no reading: nothing to note, nothing to refuse but its municipality.
_PLAIN_PIN = re.compile(r"[0-9]{4}_(?:[1-9][0-9]*(?:\.[0-9]+)?)_(?:[1-9][0-9]*(?:\.[0-9]+)?)(?:_[A-Z][A-Z0-9]*)?")
_SHORT_PIN = re.compile(r"([0-9]{3})(?:\.0)?(_.*)")
_DIGITS = re.compile(r"([0-9]+)(?:\.0+)?")
_NUMBER_LIKE = re.compile(r"[0-9]+\.[0-9]*[1-9]")
_SEVERAL = re.compile(r"\s*(?:[,;&\n]|\band\b)\s*", re.IGNORECASE)
_CODE_DIGITS = 4
_ROLES = ("pin", "municipality", "municipal_name", "county", "block", "lot", "qualifier")
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
        names = {r: c for r in _ROLES if (c := roles[r])}
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
            cells = {role: values[row] for role, values in columns.items()}
            said = self._row(cells)
            if said is not None:
                yield row, self._in_county(said, cells)

    def _row(self, cells: dict[str, Any]) -> SaidOfParcel | None:
        stated = self._stated(cells)
        if not says_nothing(cells.get("pin")):
            found = self._pin(cell_text(cells["pin"]).strip(), self.roles["pin"] or "", named="pin" in self.roles.named)
        elif (
            stated is not None
            and stated.code
            and not (says_nothing(cells.get("block")) and says_nothing(cells.get("lot")))
        ):
            found = self._from_parts(stated, cells)
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

    def _in_county(self, said: SaidOfParcel, cells: dict[str, Any]) -> SaidOfParcel:
        """Refuse a municipality that is not in the county that the row names."""
        county = _county(cells)
        if not said.code or county not in self._counties:
            return said
        name, own = self.directory.names[said.code]
        if own.casefold() == county:
            return said
        problem = (
            f"{name} ({said.code}) is in {own} County, and {self.roles['county']} says "
            f"{cell_text(cells['county']).strip()}; expected one place"
        )
        return SaidOfParcel(problem=problem, named=True)

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

    def _from_parts(self, stated: SaidOfParcel, cells: dict[str, Any]) -> SaidOfParcel:
        """Return the parcel, or parcels, that block, lot and qualifier make with a municipality."""
        block, lot, qualifier = (cells.get(role) for role in ("block", "lot", "qualifier"))
        names = [self.roles[role] for role in ("block", "lot", "qualifier")]
        if says_nothing(block) or says_nothing(lot):
            lacking = names[0] if says_nothing(block) else names[1]
            return SaidOfParcel(
                problem=f"{lacking or 'block or lot'} is empty, so that there is no whole parcel number"
            )
        # An empty cell that a formula looks up shows as 0.
        bare = says_nothing(qualifier) or cell_text(qualifier).strip() == "0"
        parts = (block, lot) if bare else (block, lot, qualifier)
        by_sheet = stated.restored and isinstance(cells.get("municipality"), str)
        unsure = [
            f"{name} is {_as_it_stands(part)}. The parcel was not identified; write it as text."
            for name, part in zip(names, parts, strict=False)
            if _may_be_another(part, by_sheet=by_sheet)
        ]
        if unsure:
            return SaidOfParcel(stated.code, "stated", (), "municipality as stated", tuple(unsure))
        texts = [cell_text(part).strip() for part in parts]
        lots = [text for text in _SEVERAL.split(texts[1]) if text]
        if len(lots) > 1 and not bare:
            return SaidOfParcel(
                problem=f"{names[1]} is {texts[1]!r}, several lots, with one {names[2]}; expected a row for each"
            )
        pins = ("_".join([stated.code, texts[0], each, *texts[2:]]) for each in lots)
        return self._pin(" ".join(pins), f"{names[0]} and {names[1]}", named=False)

    def _stated(self, cells: dict[str, Any]) -> SaidOfParcel | None:
        said = [
            found for role in ("municipality", "municipal_name") if (found := self._of_cell(cells, role)) is not None
        ]
        known = [found for found in said if found.problem is None]
        if len({found.code for found in known}) > 1:
            names = " and ".join(f"{self.directory.names[found.code][0]} ({found.code})" for found in known)
            columns = f"{self.roles['municipality']} and {self.roles['municipal_name']}"
            return SaidOfParcel(problem=f"{columns} say {names}; expected one municipality", named=True)
        return next(iter([*known, *said]), None)

    def _of_cell(self, cells: dict[str, Any], role: str) -> SaidOfParcel | None:
        cell = cells.get(role)
        if says_nothing(cell):
            return None
        key = cell_text(cell).strip(), cell_text(cells.get("county")).strip()
        if key not in self._municipalities:
            if len(self._municipalities) >= _MOST_KNOWN:
                self._municipalities.clear()
            self._municipalities[key] = self._match(*key)
        found = self._municipalities[key]
        column = self.roles[role] or ""
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
        elif _plain_county(county) in self._counties:
            text = f"{text}, {county}"
        try:
            code, notes = match_municipality(text, self.directory)
        except SiteError as error:
            return error
        return code, notes, False


def _county(cells: dict[str, Any]) -> str:
    return _plain_county(cell_text(cells.get("county")))


def _plain_county(text: str) -> str:
    return text.casefold().strip().removesuffix("county").strip()


def _may_be_another(part: Any, *, by_sheet: bool) -> bool:  # noqa: ANN401
    """Return whether a spreadsheet may have made this of another block or lot.

    Text is as it was typed, unless the municipal code beside it is text that has lost its zero: then a spreadsheet
    wrote the whole row.
    """
    if isinstance(part, bool) or is_day_like(part):
        return True
    if isinstance(part, str):
        return by_sheet and _NUMBER_LIKE.fullmatch(part.strip()) is not None
    return isinstance(part, float) and not part.is_integer()


def _as_it_stands(part: Any) -> str:  # noqa: ANN401
    shown = cell_text(part).strip()
    if isinstance(part, bool):
        return f"{shown} in the table, which is neither block nor lot"
    if is_day_like(part):
        return f"the day or time {shown!r} in the table: a spreadsheet makes days of such as 7-14"
    return f"the number {shown} in the table, which may be {shown} or {shown}0: a spreadsheet drops zeros at the end"


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
