"""From rows to sites: each row's place, parcel, municipality and facts, by columns and not one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.coordinates import parse_coordinates
from grownj_geo.crs import plain_text
from grownj_geo.errors import FactError, SiteError
from grownj_geo.features import Change
from grownj_geo.locate import locate
from grownj_geo.pins import looks_like_pin
from grownj_geo.rows_block import RawBlock, RowBlock, cell_text, is_blank
from grownj_geo.rows_cells import says_nothing, ungrouped
from grownj_geo.rows_facts import read_fact
from grownj_geo.rows_parcels import Parcels
from grownj_geo.rows_shapes import fitting_box, place_points, place_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from grownj_geo.georeference import Georeference
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.rows_columns import Roles, TableOptions

__all__ = ["Placer", "plain_numbers"]

_NUMBER = re.compile(r"\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\s*")
_BLANK, _PLAIN, _OTHER = 0, 1, 2
_MOST_UNCERTAIN_FT = 1_000_000.0
_COARSE_PLACES = 3
_HEX = re.compile(r"(?:00|01)[0-9A-Fa-f]+")


def plain_numbers(cells: Sequence[Any]) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the numbers of cells, NaN where there is none, and what each cell is: 0 nothing, 1 a number, 2 other.

    Examples
    --------
    >>> plain_numbers(["-74.16", "", "74 09 50 W"])[1].tolist()
    [1, 0, 2]
    """
    kinds = np.full(len(cells), _PLAIN, dtype=np.int8)
    types = set(map(type, cells))
    if types <= {float, int, NoneType}:
        values = np.array(cells, dtype=np.float64)
        kinds[np.isnan(values)] = _BLANK
        return values, kinds
    if types == {str}:
        try:
            values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
        except ValueError:
            pass  # a blank or another notation: looked at cell by cell below
        else:
            # Python takes 1_0 and nan for numbers too.
            if np.isfinite(values).all() and "_" not in "".join(cells):
                return values, kinds
    values = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        if says_nothing(cell):
            kinds[i] = _BLANK
        elif isinstance(cell, int | float) and not isinstance(cell, bool):
            values[i] = cell
        elif isinstance(cell, str) and _NUMBER.fullmatch(cell):
            values[i] = float(cell)
        else:
            kinds[i] = _OTHER
    return values, kinds


@dataclass(eq=False)
class _State:
    """What is known of the rows of a block so far."""

    raw: RawBlock
    geometries: NDArray[Any]
    uncertainty_ft: NDArray[np.float64]
    located_by: list[str]
    pins: list[tuple[str, ...]]
    codes: list[str]
    basis: list[str | None]
    problems: list[str | None]
    notes: list[tuple[str, ...]]
    changes: list[Change]

    def refuse(self, row: int, why: str) -> None:
        if self.problems[row] is None:
            self.problems[row] = f"Row {self.raw.first_row + row}: {why.rstrip('.')}."

    def note(self, row: int, *words: str) -> None:
        self.notes[row] = tuple(dict.fromkeys((*self.notes[row], *words)))

    def tell(self, kind: str, effect: Any, rows: Iterable[int], words: str) -> None:  # noqa: ANN401 - one of three words
        numbers = [self.raw.first_row + row for row in rows]
        if numbers:
            self.changes.append(Change.about(kind, effect, numbers, words))

    def open(self) -> list[int]:
        """Return the rows that are not refused yet."""
        return [i for i, problem in enumerate(self.problems) if problem is None]


class Placer:
    """Makes sites of rows; what it makes of a row does not depend on the other rows of the block.

    Parameters
    ----------
    name
        What messages call the table.
    roles
        Which column says what.
    system
        What coordinates in columns, or geometries, are in.
    options
        What whoever asks says about the table.
    directory
        Which municipalities there are.
    """

    def __init__(
        self, name: str, roles: Roles, system: Georeference, options: TableOptions, directory: MunicipalDirectory
    ) -> None:
        self.name = name
        self.roles = roles
        self.system = system
        self.options = options
        self.directory = directory
        self.box = fitting_box(system)
        self.parcels = Parcels(roles, directory)

    def place(self, raw: RawBlock) -> RowBlock:
        """Return a block with its sites."""
        n = raw.count
        added = self.system.added_accuracy_ft
        state = _State(
            raw,
            np.full(n, None, dtype=object),
            np.full(n, self.options.uncertainty_ft, dtype=np.float64),
            [""] * n,
            [()] * n,
            [""] * n,
            [None] * n,
            [None] * n,
            [()] * n,
            list(raw.changes),
        )
        for row, why in raw.problems.items():
            state.refuse(row, why)
        for row, cells in raw.unread.items():
            for column in sorted(cells.keys() & self.roles.used):
                state.refuse(row, f"{column!r} could not be read: {cells[column]}")
        self._uncertainty(state)
        self._places(state)
        if added:
            state.uncertainty_ft[~shapely.is_missing(state.geometries)] += added
        self._municipalities(state)
        self._not_located(state)
        facts = self._facts(state)
        for row in state.open():
            if state.geometries[row] is None and not state.codes[row]:
                state.refuse(row, f"nothing says where the site is; expected a value in {self._wanted()}")
        bad = [i for i, problem in enumerate(state.problems) if problem is not None]
        for row in bad:
            state.geometries[row], state.codes[row], state.basis[row], state.pins[row] = None, "", None, ()
            for values in facts.values():
                values[row] = None
        return RowBlock(
            raw.start,
            raw.first_row,
            raw.columns,
            raw.batch,
            raw.shapes,
            state.geometries,
            state.uncertainty_ft,
            tuple(state.codes),
            tuple(state.basis),
            tuple(state.pins),
            facts,
            state.problems,
            state.notes,
            tuple(state.changes),
            raw.wkb,
            self._words(state),
        )

    def _wanted(self) -> str:
        order = ("wkt", "geometry", "site", "pin", "municipality", "address")
        names = [*(self.roles.pair or ()), *(c for r in order if (c := self.roles[r]) is not None)]
        return " or ".join(map(repr, names)) or "the geometry"

    def _words(self, state: _State) -> Callable[[int], tuple[str, str]]:
        """Return what says what was typed for a row and how it became a place."""
        raw, roles, located, pins = state.raw, self.roles, state.located_by, state.pins

        def words(row: int) -> tuple[str, str]:
            by = located[row]
            if row in raw.located and raw.located[row].located_by == by and raw.located[row].typed:
                typed = raw.located[row].typed
            elif roles.pair is not None and by.startswith("coordinates"):
                x, y = (cell_text(raw.columns[c][row]).strip() for c in roles.pair)
                typed = f"{y},{x}" if self.system.is_degrees else f"{x} {y}"
            elif by == "parcel number (PAMS_PIN)" and pins[row]:
                typed = " ".join(pins[row])
            else:
                typed = f"{self.name}, row {raw.first_row + row}"
            return typed, by

        return words

    # -- where a row is -------------------------------------------------------------------------------

    def _uncertainty(self, state: _State) -> None:
        column = self.roles["uncertainty"]
        if column is None:
            return
        values, kinds = plain_numbers(state.raw.columns[column])
        for row in state.open():
            if kinds[row] == _BLANK:
                continue
            if kinds[row] == _OTHER or not 0 <= values[row] <= _MOST_UNCERTAIN_FT:
                shown = cell_text(state.raw.columns[column][row])[:40]
                state.refuse(row, f"{column} is {shown!r}; expected feet, from 0 to {_MOST_UNCERTAIN_FT:,.0f}")
            else:
                state.uncertainty_ft[row] = values[row]

    def _places(self, state: _State) -> None:
        raw, roles = state.raw, self.roles
        if raw.shapes is not None:
            self._shapes(state, raw.shapes, "geometry of the table")
        elif roles["wkt"] is not None or roles["geometry"] is not None:
            column = roles["wkt"] or roles["geometry"] or ""
            self._shapes(state, self._parsed(state, column), "WKT" if roles["wkt"] else "well-known binary")
        elif roles.pair is not None:
            self._coordinates(state, *roles.pair)
        self._located(state)
        if roles["site"] is not None:
            self._texts(state, roles["site"])

    def _located(self, state: _State) -> None:
        """Take what was found for the rows that were looked up."""
        for row, found in state.raw.located.items():
            if state.problems[row] is not None or found.problem is not None or state.geometries[row] is not None:
                continue
            state.geometries[row] = found.geometry
            state.uncertainty_ft[row] = max(state.uncertainty_ft[row], found.uncertainty_ft)
            state.located_by[row] = found.located_by
            state.pins[row], state.codes[row], state.basis[row] = found.pins, found.code, found.basis
            by = f"Located by {found.located_by}." if found.located_by.startswith("address") else ""
            state.note(row, *filter(None, (by, *found.notes)))

    def _not_located(self, state: _State) -> None:
        """Tell where an address gave no place: a municipality that the row states decides what it can."""
        told = []
        for row, found in state.raw.located.items():
            if found.problem is None or state.problems[row] is not None or state.geometries[row] is not None:
                continue
            if state.codes[row] and not found.against:
                state.note(row, f"The address gave no place: {found.problem}.")
                told.append(row)
            else:
                state.refuse(row, found.problem)
        words = "Addresses that gave no place: of these rows only the municipality is known."
        state.tell("address_not_located", "noted", told, words)

    def _shapes(self, state: _State, shapes: NDArray[Any], how: str) -> None:
        ready = np.full(len(shapes), None, dtype=object)
        rows = [i for i in state.open() if shapes[i] is not None]
        ready[rows] = shapes[rows]
        placed, problems, notes = place_shapes(ready, self.system, self.box, source=self.name)
        for row, why in problems.items():
            state.refuse(row, why)
        for row, words in notes.items():
            state.note(row, *words)
        state.tell("z_dropped", "changed", sorted(notes), "Heights (Z) and measures (M) were left out.")
        state.geometries[rows] = placed[rows]
        for row in rows:
            state.located_by[row] = how

    def _parsed(self, state: _State, column: str) -> NDArray[Any]:
        """Return the geometries of a column of well-known text, or of binary as hexadecimal text."""
        shapes = np.full(state.raw.count, None, dtype=object)
        cells = state.raw.columns[column]
        rows = [i for i in state.open() if not says_nothing(cells[i])]
        texts = [_bare(cell_text(cells[i]), self.system) for i in rows]
        if not texts:
            return shapes
        hexed = [_HEX.fullmatch(text) is not None for text in texts]
        for wanted, read in ((False, shapely.from_wkt), (True, shapely.from_wkb)):
            some = [k for k, is_hex in enumerate(hexed) if is_hex == wanted]
            if some:
                found = read(np.array([texts[k] for k in some], dtype=object), on_invalid="ignore")
                shapes[[rows[k] for k in some]] = found
        for row, text in zip(rows, texts, strict=True):
            if shapes[row] is None:
                state.refuse(
                    row,
                    f"{column} is {text[:60]!r}, which cannot be read; expected well-known text such as "
                    "POINT (-74.1641 40.7344), rings closed, in the table's own system",
                )
        return shapes

    def _coordinates(self, state: _State, x_name: str, y_name: str) -> None:
        x_cells, y_cells = state.raw.columns[x_name], state.raw.columns[y_name]
        (x, x_kind), (y, y_kind) = plain_numbers(x_cells), plain_numbers(y_cells)
        open_rows = np.array([problem is None for problem in state.problems], dtype=bool)
        both = open_rows & (x_kind == _PLAIN) & (y_kind == _PLAIN)
        rows = np.flatnonzero(both)
        points, problems = place_points(np.column_stack([x[rows], y[rows]]), self.system, self.box)
        state.geometries[rows] = points
        how = "coordinates, longitude and latitude" if self.system.is_degrees else f"coordinates in {self.system.name}"
        for row in rows.tolist():
            state.located_by[row] = how
        for k, why in problems.items():
            state.refuse(int(rows[k]), f"{why} ({x_name} and {y_name})")
        if self.system.is_degrees:
            coarse = both & _is_coarse(x) & _is_coarse(y)
            words = (
                f"Coordinates with {_COARSE_PLACES} decimals of a degree or fewer may be off by hundreds of feet; "
                "state an uncertainty to let that count."
            )
            state.tell("coarse_coordinates", "noted", np.flatnonzero(coarse).tolist(), words)
        for row in map(int, np.flatnonzero(open_rows & ~both & ((x_kind != _BLANK) | (y_kind != _BLANK)))):
            self._typed(state, row, (x_name, cell_text(x_cells[row])), (y_name, cell_text(y_cells[row])))

    def _typed(self, state: _State, row: int, x: tuple[str, str], y: tuple[str, str]) -> None:
        """Read one pair of coordinates as people type them."""
        if says_nothing(x[1]) or says_nothing(y[1]):
            there, lacking = (y, x) if says_nothing(x[1]) else (x, y)
            shown = f"is {lacking[1].strip()[:40]!r}" if lacking[1].strip() else "is empty"
            state.refuse(row, f"{there[0]} is {there[1][:40]!r} and {lacking[0]} {shown}; expected both or none")
            return
        for name, text in (x, y):
            if not any(sign.isdigit() for sign in text):
                expected = "degrees such as -74.1641" if self.system.is_degrees else "a number such as 585000.5"
                state.refuse(row, f"{name} is {text[:40]!r}; expected {expected}")
                return
        if not self.system.is_degrees:
            # What parts groups of digits in feet or metres would part degrees from their decimals.
            x, y = self._ungrouped(state, row, x), self._ungrouped(state, row, y)
        # The labels say which is which, so that swapped columns are refused.
        text = f"LAT {y[1]}; LON {x[1]}" if self.system.is_degrees else f"{x[1]}; {y[1]}"
        try:
            found = parse_coordinates(text, crs=self.options.crs)
        except SiteError as error:
            shown = f"{x[1].strip()[:40]!r} ({x[0]}) and {y[1].strip()[:40]!r} ({y[0]})"
            state.refuse(row, str(error).replace(repr(text), shown))
            return
        state.geometries[row] = shapely.Point(found.x, found.y)
        state.located_by[row] = "coordinates as typed"
        state.note(row, *found.notes)

    @staticmethod
    def _ungrouped(state: _State, row: int, cell: tuple[str, str]) -> tuple[str, str]:
        """Return a coordinate without what parts its groups of digits."""
        bare = ungrouped(cell[1])
        if bare is None:
            return cell
        state.note(row, f"{cell[0]}: {cell[1].strip()!r} was read as {bare}.")
        return cell[0], bare

    def _texts(self, state: _State, column: str) -> None:
        """Read places as whoever checks one site types them."""
        cells = state.raw.columns[column]
        for row in state.open():
            text = cell_text(cells[row]).strip()
            if state.geometries[row] is not None or says_nothing(text) or row in state.raw.located:
                continue
            try:
                _refuse_paths(text)
                crs = None if self.options.crs is None or looks_like_pin(text) else self.options.crs
                site = locate(text, crs=crs, directory=self.directory)
            except SiteError as error:
                state.refuse(row, f"{column}: {error}")
                continue
            state.geometries[row] = site.geometry
            state.located_by[row] = site.located_by
            state.pins[row] = site.pins
            state.codes[row] = site.mun_code or ""
            state.basis[row] = site.mun_basis
            state.note(row, *site.notes)

    # -- municipality and facts -----------------------------------------------------------------------

    def _municipalities(self, state: _State) -> None:
        restored: list[int] = []
        unused: list[int] = []
        for row, found in self.parcels.read(state.raw, state.open()):
            placed = state.geometries[row] is not None or bool(state.codes[row])
            if found.problem is not None and (not placed or found.named):
                state.refuse(row, found.problem)
                continue
            if found.problem is not None:
                state.note(row, f"Not used: {found.problem}.")
                unused.append(row)
            if found.restored:
                restored.append(row)
            if found.notes:
                state.note(row, *found.notes)
            if not found.code:
                continue
            if state.codes[row] and (state.codes[row] != found.code or (found.pins and state.pins[row] != found.pins)):
                said = " ".join(state.pins[row]) or state.codes[row]
                state.refuse(
                    row,
                    f"the site names {said}, and other columns name {' '.join(found.pins) or found.code}; expected one",
                )
                continue
            state.codes[row], state.pins[row] = found.code, found.pins or state.pins[row]
            state.basis[row] = state.basis[row] if state.basis[row] == "pin" else found.basis
            state.located_by[row] = state.located_by[row] or found.located_by
        state.tell("zeros_restored", "changed", restored, "Municipal codes of 3 digits were given back their zero.")
        state.tell(
            "parcel_not_used", "noted", unused, "Parcel numbers or municipalities that cannot be read were not used."
        )

    def _facts(self, state: _State) -> dict[str, list[Any]]:
        facts: dict[str, list[Any]] = {}
        for fact, column in self.roles.facts.items():
            values: list[Any] = [None] * state.raw.count
            known: dict[Any, Any] = {}
            cells = state.raw.columns[column]
            for row in state.open():
                cell = cells[row]
                if is_blank(cell):
                    continue
                key = type(cell), cell
                if key not in known:
                    try:
                        known[key] = read_fact(fact, cell, column=column)
                    except FactError as error:
                        known[key] = error
                if isinstance(known[key], FactError):
                    state.refuse(row, str(known[key]))
                    continue
                values[row], told = known[key]
                if told is not None:
                    state.note(row, told)
            facts[fact] = values
        return facts


def _bare(text: str, system: Georeference) -> str:
    """Return well-known text without a number of its system, where that is the table's."""
    text = plain_text(text)
    head, semicolon, rest = text.partition(";")
    if semicolon and head.upper().startswith("SRID="):
        code = head[5:].strip()
        same = system.code.endswith(f":{code}") or (
            system.is_degrees and system.one_datum and code.isdigit() and f"EPSG:{code}" in {"EPSG:4326", "EPSG:4269"}
        )
        # With another system's number it stays, and cannot be read.
        return rest.strip() if same else text
    return text


def _is_coarse(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    scaled = values * 10.0**_COARSE_PLACES
    return np.asarray(np.abs(scaled - np.round(scaled)) < 1e-7, dtype=bool)  # noqa: PLR2004 - the last bits


def _refuse_paths(text: str) -> None:
    """Refuse what `locate` would look for on the disk: a table may be a stranger's."""
    plain = plain_text(text[:1000])
    if plain.startswith("{"):
        return
    if plain.lower().endswith((".geojson", ".json")) or "\\" in plain or re.match(r"[A-Za-z]:|//|/|~|\.", plain):
        raise SiteError(f"{text[:60]!r} looks like a file; files are not opened for a cell. Give the place itself")
