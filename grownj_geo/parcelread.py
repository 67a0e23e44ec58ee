"""Parcels of a file, block by block: their numbers read, their outlines brought to EPSG:3424 and made valid."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.cleaning import repair
from grownj_geo.features import Change, LayerFault
from grownj_geo.findings import Findings
from grownj_geo.georeference import agree, declared_system, project, stated_system
from grownj_geo.parcel import plain_part
from grownj_geo.parceltexts import Municipalities, Tally, plain_address, zip_of
from grownj_geo.rows_block import cell_text, is_blank
from grownj_geo.rows_cells import is_day_like
from grownj_geo.rows_shapes import fitting_box, place_shapes
from grownj_geo.units import WORKING_CRS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grownj_geo.georeference import Georeference
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.parcelfields import Columns
    from grownj_geo.rows_block import RawBlock, RowSource

__all__ = ["ParcelBlock", "ParcelReader", "geometry_system"]

# A parcel number that needs no reading.
_PLAIN_PIN = re.compile(r"([0-9]{4})_([1-9A-Z][0-9A-Z.]*)_([1-9A-Z][0-9A-Z.]*)(?:_([A-Z][0-9A-Z]*))?")
_SHORT_CODE = re.compile(r"[0-9]{3}(?:\.0)?")
_NUMBER_LIKE = re.compile(r"[0-9]+\.[0-9]*[1-9]")
_LONGEST_PIN = 80
_CODE = 4
_LEAST_PARTS = 3
_POLYGONS = (shapely.GeometryType.POLYGON, shapely.GeometryType.MULTIPOLYGON)


_FIRST = "{count}; the first: {example}."
_TOLD: dict[str, tuple[Any, str]] = {
    "row_problem": ("left_out", f"Rows that cannot be read, left out: {_FIRST}"),
    "no_number": (
        "left_out",
        "Rows without parcel number, and without municipality, block and lot (roads and water), left out: {count}.",
    ),
    "bad_number": ("left_out", f"Rows with a parcel number that is none, left out: {_FIRST}"),
    "unknown_municipality": ("left_out", f"Rows of a municipality that is not known, left out: {_FIRST}"),
    "unsure_number": (
        "left_out",
        (
            "Rows with a block or lot that a spreadsheet may have changed (a number loses zeros at its end, 7-14 "
            f"becomes a day), left out: {_FIRST} Export these columns as text."
        ),
    ),
    "number_made": ("noted", "Parcel numbers made from municipality, block and lot: {count}."),
    "zero_restored": ("changed", "Parcel numbers that got back the zero before their municipal code: {count}."),
    "other_municipality": (
        "noted",
        f"Rows with another municipality beside their parcel number, which was believed: {_FIRST}",
    ),
    "other_parts": (
        "noted",
        f"Rows with another block or lot beside their parcel number, which was believed: {_FIRST}",
    ),
    "no_geometry": ("noted", "Parcels for which the file has no outline, whose places are not known: {count}."),
    "geometry_unusable": ("changed", f"Outlines that cannot be used; these parcels are kept without one: {_FIRST}"),
    "repaired": ("changed", f"Outlines that were not valid, and were repaired: {_FIRST}"),
    "z_dropped": ("noted", "Outlines with heights or measures, which were left out: {count}."),
    "zip_restored": ("changed", "ZIP codes that got back the zero before them: {count}."),
    "zip_left": ("changed", f"ZIP codes that are none of New Jersey, left out: {_FIRST}"),
    "address_left": ("changed", f"Addresses that are too long or hold control characters: {_FIRST}"),
}


@dataclass
class ParcelBlock:
    """Some parcels, ready to be stored: lists of n values each, those left out not among them.

    Attributes
    ----------
    pins, mun_codes, blocks, lots, qualifiers
        Their numbers.
    addresses, zip_codes, classes
        What the file says of them; None where it says nothing.
    rows
        Their rows in the file.
    notes
        What reading changed in each; None for most.
    wkb
        Outlines as well-known binary in EPSG:3424, shape (n,); None where there is none.
    bounds
        Of the outlines: x0, y0, x1, y1, shape (n, 4); NaN where there is none.
    read
        Rows of the file that were looked at.
    """

    pins: list[str] = field(default_factory=list)
    mun_codes: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    lots: list[str] = field(default_factory=list)
    qualifiers: list[str] = field(default_factory=list)
    addresses: list[str | None] = field(default_factory=list)
    zip_codes: list[str | None] = field(default_factory=list)
    classes: list[str | None] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    notes: list[str | None] = field(default_factory=list)
    wkb: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=object))
    bounds: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 4)))
    read: int = 0

    def __len__(self) -> int:
        """Return the number of parcels."""
        return len(self.pins)


def geometry_system(source: RowSource, stated: str | None, found: Findings) -> Georeference:
    """Return what a file's geometries are in: as it declares, else as whoever loads it states.

    Raises
    ------
    LayerFault
        ``undeclared_crs``, ``unknown_crs``, ``crs_contradiction`` or ``datum_path``.
    """
    if source.has_shapes and source.crs is not None:
        system = declared_system(source.crs, found)
        if stated is not None:
            agree(system, stated, found)
        return system
    if stated is None:
        raise found.refuse(
            "undeclared_crs",
            "it does not say what its coordinates are in; expected a declared system, such as EPSG:3424 (New Jersey "
            "State Plane, US survey feet). Name it with --crs",
        )
    return stated_system(stated, found)


class ParcelReader:
    """Makes parcels of blocks of rows.

    Parameters
    ----------
    name
        What messages call the file.
    columns
        Which column says what.
    system
        What outlines are in; None where the file has none.
    directory
        Which municipalities there are.

    Attributes
    ----------
    tally
        What was changed or left out so far.
    """

    def __init__(self, name: str, columns: Columns, system: Georeference | None, directory: MunicipalDirectory) -> None:
        if not (columns["pin"] or (columns["block"] and columns["lot"])):
            raise LayerFault(
                "no_number_columns",
                f"{name} has no column of parcel numbers. Expected PAMS_PIN, or municipality, block and lot; name the "
                "columns: --map pin=COLUMN, or --map block=COLUMN --map lot=COLUMN --map municipality=COLUMN.",
            )
        if not (columns["pin"] or columns["municipality"] or "municipality" in columns.constants):
            raise LayerFault(
                "no_municipality",
                f"{name} has block and lot, and no column of municipalities. Name it with --map municipality=COLUMN, "
                'or state one for all rows: --set municipality="Camden City".',
            )
        self.name = name
        self.columns = columns
        self.tally = Tally()
        self._system = system
        self._box = None if system is None else fitting_box(system)
        self._municipalities = Municipalities(directory)

    @property
    def changes(self) -> list[Change]:
        """What is to be told of the rows so far."""
        return self.tally.changes(_TOLD)

    def read(self, raw: RawBlock) -> ParcelBlock:
        """Return the parcels of some rows."""
        block = ParcelBlock(read=len(raw))
        kept = self._numbers(raw, block)
        self._texts(raw, kept, block)
        self._outlines(raw, kept, block)
        return block

    # -- numbers ----------------------------------------------------------------------------------------

    def _numbers(self, raw: RawBlock, block: ParcelBlock) -> list[int]:
        """Fill in the numbers; return the positions of the rows that have one."""
        pins, municipalities = self.columns.cells(raw, "pin"), self.columns.cells(raw, "municipality")
        lots, lands = self.columns.cells(raw, "lot"), self.columns.cells(raw, "block")
        known, plain = self._municipalities.names, _PLAIN_PIN.fullmatch
        unread = raw.problems if raw.shapes is None else {}
        kept: list[int] = []
        for i, pin in enumerate(pins):
            row = raw.first_row + i
            if i in unread:
                self.tally.add("row_problem", row, unread[i])
                continue
            found = plain(pin) if type(pin) is str else None
            if found is not None and found[1] in known:
                code, land, lot, qualifier = found.groups("")
                number = pin
            else:
                made = self._number(raw, i, row)
                if made is None:
                    continue
                number, code, land, lot, qualifier = made
            if (beside := municipalities[i]) is not None and beside != code and not is_blank(beside):
                self._compare_municipality(raw, i, row, code, number)
            if (beside := lots[i]) is not None and beside != lot and not is_blank(beside):
                self._compare_part(beside, lot, row, number)
            if (beside := lands[i]) is not None and beside != land and not is_blank(beside):
                self._compare_part(beside, land, row, number)
            kept.append(i)
            block.pins.append(number)
            block.mun_codes.append(code)
            block.blocks.append(land)
            block.lots.append(lot)
            block.qualifiers.append(qualifier)
        block.rows = [raw.first_row + i for i in kept]
        return kept

    def _number(self, raw: RawBlock, i: int, row: int) -> tuple[str, str, str, str, str] | None:
        """Return number, municipality, block, lot and qualifier of a row that is not plain; None where it has none."""
        pin = cell_text(self.columns.cells(raw, "pin")[i]).strip().strip("'\"").rstrip("_")
        if not pin:
            return self._from_parts(raw, i, row)
        text = "".join(pin.split()).upper()
        code, *parts = text.split("_")
        if len(text) > _LONGEST_PIN or len(parts) < _LEAST_PARTS - 1 or not all(parts[:2]) or not code.isdigit():
            self.tally.add("bad_number", row, repr(pin[:_LONGEST_PIN]))
            return None
        restored = code.zfill(_CODE)
        if restored not in self._municipalities.names:
            self.tally.add("unknown_municipality", row, repr(pin))
            return None
        if restored != code:
            self.tally.add("zero_restored", row, repr(pin))
        qualifier = plain_part("_".join(parts[2:]))
        number = "_".join([restored, *parts[:2], *filter(None, [qualifier])])
        return number, restored, plain_part(parts[0]), plain_part(parts[1]), qualifier

    def _from_parts(self, raw: RawBlock, i: int, row: int) -> tuple[str, str, str, str, str] | None:
        cells = [self.columns.cells(raw, role)[i] for role in ("block", "lot", "qualifier")]
        municipality, county = self.columns.cells(raw, "municipality")[i], self.columns.cells(raw, "county")[i]
        if is_blank(municipality):
            municipality = self.columns.cells(raw, "municipal_name")[i]
        if any(is_blank(part) for part in (municipality, *cells[:2])):
            self.tally.add("no_number", row)
            return None
        code = self._municipalities.code(municipality, county)
        if code is None:
            self.tally.add("unknown_municipality", row, repr(cell_text(municipality)[:60]))
            return None
        # A municipal code that has lost its zero says that a spreadsheet wrote the row.
        by_sheet = isinstance(municipality, str) and _SHORT_CODE.fullmatch(municipality.strip()) is not None
        for part in cells:
            if _may_be_another(part, by_sheet=by_sheet):
                self.tally.add("unsure_number", row, f"{cell_text(part)[:40]!r} in {code}")
                return None
        land, lot, qualifier = (plain_part(cell_text(part)) for part in cells)
        number = "_".join([code, land, lot, *filter(None, [qualifier])])
        if len(number) > _LONGEST_PIN or not (land and lot):
            self.tally.add("bad_number", row, repr(number[:_LONGEST_PIN]))
            return None
        self.tally.add("number_made", row)
        return number, code, land, lot, qualifier

    def _compare_municipality(self, raw: RawBlock, i: int, row: int, code: str, number: str) -> None:
        typed = self.columns.cells(raw, "municipality")[i]
        beside = self._municipalities.code(typed, self.columns.cells(raw, "county")[i])
        if beside is not None and beside != code:
            self.tally.add("other_municipality", row, f"{number} and {cell_text(typed)[:40]!r}")

    def _compare_part(self, beside: object, part: str, row: int, number: str) -> None:
        typed = cell_text(beside)
        if plain_part(typed) != part:
            self.tally.add("other_parts", row, f"{number} and {typed[:40]!r}")

    # -- what else the file says ------------------------------------------------------------------------

    def _texts(self, raw: RawBlock, kept: list[int], block: ParcelBlock) -> None:
        addresses, zips, kinds = (self.columns.cells(raw, role) for role in ("address", "zip_code", "property_class"))
        tally, first = self.tally, raw.first_row
        block.addresses = [plain_address(addresses[i], first + i, tally) for i in kept]
        block.zip_codes = [None if zips[i] is None else zip_of(zips[i], first + i, tally) for i in kept]
        block.classes = [None if kinds[i] is None else cell_text(kinds[i]).strip()[:8].upper() or None for i in kept]

    # -- outlines ---------------------------------------------------------------------------------------

    def _outlines(self, raw: RawBlock, kept: list[int], block: ParcelBlock) -> None:
        n = len(kept)
        block.notes = [None] * n
        block.wkb = np.full(n, None, dtype=object)
        block.bounds = np.full((n, 4), np.nan)
        shapes, unread = self._shapes(raw)
        if shapes is None or self._system is None or self._box is None:
            for row in block.rows:
                self.tally.add("no_geometry", row)
            return
        positions = np.array(kept, dtype=np.int64)
        shapes = np.asarray(shapes, dtype=object)[positions]
        placed, problems, high = place_shapes(shapes, self._system, self._box, source=self.name)
        for i in sorted(problems):
            placed[i] = self._mended(shapes[i], i, block, problems)
        points = ~shapely.is_missing(placed) & ~np.isin(shapely.get_type_id(placed), _POLYGONS)
        for i in map(int, np.flatnonzero(points)):
            problems[i], placed[i] = f"it is a {placed[i].geom_type}; expected a polygon", None
        problems |= {i: unread[p] for i, p in enumerate(kept) if p in unread}
        for i in map(int, np.flatnonzero(shapely.is_missing(placed))):
            if i in problems:
                self.tally.add("geometry_unusable", block.rows[i], problems[i])
                block.notes[i] = f"The file's outline cannot be used: {problems[i]}."
            else:
                self.tally.add("no_geometry", block.rows[i])
        for i in high:
            self.tally.add("z_dropped", block.rows[i])
        single = shapely.get_type_id(placed) == shapely.GeometryType.MULTIPOLYGON
        single &= shapely.get_num_geometries(placed) == 1
        placed[single] = shapely.get_geometry(placed[single], 0)
        block.wkb = np.asarray(shapely.to_wkb(placed), dtype=object)
        block.bounds = np.asarray(shapely.bounds(placed), dtype=np.float64).reshape(-1, 4)

    def _shapes(self, raw: RawBlock) -> tuple[Any, dict[int, str]]:
        """Return the geometries of some rows, and why some cannot be read."""
        if raw.shapes is not None:
            return raw.shapes, dict(raw.problems)
        column = self.columns["wkt"]
        if column is None:
            return None, {}
        texts = [None if is_blank(cell) else cell_text(cell) for cell in raw.columns[column]]
        shapes = shapely.from_wkt(texts, on_invalid="ignore")
        lost = (i for i, text in enumerate(texts) if text is not None and shapes[i] is None)
        return shapes, dict.fromkeys(lost, "it cannot be read as well-known text")

    def _mended(
        self, shape: shapely.Geometry, i: int, block: ParcelBlock, problems: dict[int, str]
    ) -> shapely.Geometry | None:
        """Return a valid outline where a small repair makes one, and take its problem away."""
        if self._system is None or shape is None or shapely.get_type_id(shape) not in _POLYGONS or shape.is_empty:
            return None
        if shapely.is_valid(shape):
            return None
        found = Findings(self.name)
        try:
            flat = project(np.array([shapely.force_2d(shape)], dtype=object), self._system, found)
            # Rows count from 0 there.
            mended = repair(flat, np.array([block.rows[i] - 1]), "polygon", found)
            # What the repair made is looked at as every other outline: does it lie in New Jersey?
            working = declared_system(WORKING_CRS, found)
            placed, still, _ = place_shapes(mended, working, fitting_box(working), source=self.name)
        except LayerFault as error:
            problems[i] = str(error).removeprefix(f"{self.name}: ").rstrip(".")
            return None
        if still:
            problems[i] = still[0]
            return None
        words = next((change.words for change in found.changes if change.kind == "repaired"), "")
        del problems[i]
        block.notes[i] = f"The outline was repaired: {words}"
        self.tally.add("repaired", block.rows[i], f"{block.pins[i]}: {words.rstrip('.')}")
        result: shapely.Geometry = placed[0]
        return result


def _may_be_another(part: object, *, by_sheet: bool) -> bool:
    """Return whether a spreadsheet may have made this of another block or lot."""
    if is_blank(part):
        return False
    if isinstance(part, bool) or is_day_like(part):
        return True
    if isinstance(part, str):
        return by_sheet and _NUMBER_LIKE.fullmatch(part.strip()) is not None
    return isinstance(part, float) and not part.is_integer()
