"""Rows of a table that are looked up: parcels by the outlines that are loaded, addresses by the user's locators.

All of a block is looked up at once, where the table is read, before anybody answers for it: the processes that answer
never ask a locator. A row that has a place already is left alone.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from grownj_geo.addressline import split_line
from grownj_geo.addressplaces import Place, place_book
from grownj_geo.errors import NoPlaceError, SiteError
from grownj_geo.features import Change
from grownj_geo.housenumbers import AGREEING_SHARE
from grownj_geo.locate import locate
from grownj_geo.pins import looks_like_pin, parse_pins
from grownj_geo.rows_block import cell_text
from grownj_geo.rows_cells import says_nothing
from grownj_geo.rows_parcels import Parcels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import shapely

    from grownj_geo.finder import Finder
    from grownj_geo.found import Found, TypedAddress
    from grownj_geo.locate import MunicipalDirectory
    from grownj_geo.locator import Locator
    from grownj_geo.rows_block import RawBlock
    from grownj_geo.rows_columns import Roles

__all__ = ["LocatedRow", "RowFinder"]

_LONGEST_TEXT = 1_000
_DECIMALS = re.compile(r"(?<=[0-9])\.0+$")
_ZIP = r"[0-9]{5}(?:-[0-9]{4})?"
_END = re.compile(rf"[\s,]+(?:(?:N\.?\s?J\.?|NEW\s+JERSEY)(?:[\s,]+{_ZIP})?|{_ZIP})$", re.IGNORECASE)
_COUNTY = re.compile(r"\bCOUNTY\b", re.IGNORECASE)
_MOST_KNOWN = 100_000
_SAY_S = 10.0


@dataclass(frozen=True)
class LocatedRow:
    """What looking up a row came to.

    Attributes
    ----------
    geometry
        Point or polygon in EPSG:3424; None where only the municipality was found, or nothing.
    uncertainty_ft
        How far the true place may be, in feet, by how it was found.
    code, basis, pins
        Municipality and parcels, as in `Site`.
    typed, located_by
        What was looked up, and how it became a place; empty where it did not.
    notes
        What has to be told.
    problem
        Why an address gave no place; None where it did.
    against
        Whether that contradicts the municipality that the row states, so that nothing is answered for it.
    choices_in
        The municipalities of the places that were found and not taken.
    """

    geometry: shapely.Geometry | None = None
    uncertainty_ft: float = 0.0
    code: str = ""
    basis: str | None = None
    pins: tuple[str, ...] = ()
    typed: str = ""
    located_by: str = ""
    notes: tuple[str, ...] = ()
    problem: str | None = None
    against: bool = False
    choices_in: frozenset[str] = frozenset()


class RowFinder:
    """Looks up the rows of a table that name a parcel or an address and have no place.

    Parameters
    ----------
    finder
        Who looks.
    roles
        Which column says what.
    directory
        Which municipalities there are.
    sample
        The first rows: whether a column with the name of any number has house numbers is decided by them, wherever
        reading begins.
    """

    def __init__(self, finder: Finder, roles: Roles, directory: MunicipalDirectory, sample: RawBlock) -> None:
        self._finder = finder
        self._roles = roles
        self._guessed = roles.number is not None and roles.number.name == roles["house_number"]
        self._sample = sample
        self._directory = directory
        self._parcels = Parcels(roles, directory)
        self._known: dict[str, LocatedRow] = {}
        self._counts: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()
        self._places: dict[str, Place] = {}
        self._said = time.monotonic()
        self.tell: Callable[[str], None] | None = None
        """Called now and then while many addresses are looked up, which may take minutes."""

    @property
    def useful(self) -> bool:
        """Whether anything of the table can be looked up with what the user has."""
        roles, sources = self._roles, self._finder.sources
        parcels = roles["pin"] is not None or (roles["block"] is not None and roles["municipality"] is not None)
        by_address = roles["address"] is not None or roles["site"] is not None
        return (sources.store is not None and (parcels or by_address)) or (bool(sources.locators) and by_address)

    @property
    def mark(self) -> str:
        """What the answers rest on besides the table: the parcels and the locators."""
        store, locators, _ = self._finder.sources
        return f"parcels {None if store is None else store.fingerprint}, locators {[one.name for one in locators]}"

    @property
    def sends(self) -> tuple[str, ...]:
        """What looking up sends to whom, in sentences."""
        if self._roles["address"] is None and self._roles["site"] is None:
            return ()
        asked = [locator for locator in self._finder.sources.locators if locator.online]
        return tuple(f"Addresses that are not settled before are asked of {one.name}. {one.sends}" for one in asked)

    def changes(self) -> Iterator[Change]:
        """Tell what came of the addresses so far, and who got them."""
        total = sum(self._counts.values())
        if not total:
            return
        listed = ", ".join(f"{words} {count:,}" for words, count in sorted(self._counts.items()))
        words = f"Addresses looked up, each once: {total:,}: {listed}."
        yield Change(kind="addresses_looked_up", effect="noted", count=total, words=words)
        for locator in self._finder.sources.locators:
            count = self._sent[locator.name]
            if count:
                words = f"{locator.name} was asked about {count:,} addresses. {locator.sends}"
                yield Change(kind="addresses_sent", effect="noted", count=count, words=words)

    def located(self, raw: RawBlock) -> RawBlock:
        """Return a block with what was found for its rows."""
        rows = [row for row in range(raw.count) if row not in raw.problems and self._is_open(raw, row)]
        if not rows:
            return raw
        found: dict[int, LocatedRow] = {}
        said = dict(self._parcels.read(raw, rows))
        texts: dict[int, str] = {}
        guesses = {row for row in rows if self._guessed and self._is_guess(raw, row)}
        for row in rows:
            parcel = said.get(row)
            if parcel is not None and parcel.pins:
                outline, slack_ft, how, notes = self._finder.ground_of(parcel.pins)
                for other in list(self._others(raw, row, parcel.code, "address", "city"))[:1]:
                    own = f"{self._directory.names[parcel.code][0]} ({parcel.code})"
                    words = f"The address names {other!r}; the parcel is in {own} by its number, which counts."
                    notes = (*notes, words)
                if outline is not None or notes:
                    by = f"parcel number (PAMS_PIN){how}" if outline is not None else ""
                    found[row] = LocatedRow(outline, slack_ft, located_by=by, typed=" ".join(parcel.pins), notes=notes)
                continue
            text = self._asked(raw, row, "" if parcel is None else parcel.code, guess=row in guesses)
            if isinstance(text, LocatedRow):
                found[row] = text
            elif text:
                texts[row] = text
        self._look_up(list(dict.fromkeys(texts.values())))
        for row, text in texts.items():
            parcel = said.get(row)
            code = "" if parcel is None else parcel.code
            known = self._known[text]
            if row in guesses and known.problem is None:
                words = f"The column {self._roles['house_number']!r} was taken for house numbers."
                known = replace(known, notes=(*known.notes, words))
            found[row] = self._beside(known, code, self._others(raw, row, code, "address"))
        found |= self._unread(raw, rows)
        return replace(raw, located=found)

    def _unread(self, raw: RawBlock, rows: Sequence[int]) -> Mapping[int, LocatedRow]:
        """Return the rows whose address is not known for a cell that could not be read."""
        columns = {column for role in ("address", "house_number", "city", "zip_code") if (column := self._roles[role])}
        return {
            row: LocatedRow(problem=f"{column!r} could not be read: {cells[column]}")
            for row, cells in raw.unread.items()
            if row in rows
            for column in sorted(cells.keys() & columns)[:1]
        }

    # -- what a row says ------------------------------------------------------------------------------

    def _is_open(self, raw: RawBlock, row: int) -> bool:
        """Return whether nothing but a parcel number or words can say where a row is."""
        roles = self._roles
        if raw.shapes is not None and raw.shapes[row] is not None:
            return False
        columns = [*(roles.pair or ()), *(c for c in (roles["wkt"], roles["geometry"]) if c is not None)]
        if any(not says_nothing(raw.columns[column][row]) for column in columns if column in raw.columns):
            return False
        site = roles["site"]
        return site is None or says_nothing(raw.columns[site][row]) or self._is_words(cell_text(raw.columns[site][row]))

    def _asked(self, raw: RawBlock, row: int, code: str, *, guess: bool) -> str | LocatedRow:
        """Return the address of a row to be looked up, or why it is not; empty where it says none."""
        try:
            text = self._text(raw, row, code)
        except SiteError as error:
            self._counts["not read"] += 1
            return LocatedRow(problem=str(error).rstrip("."))
        if guess and self._doubt:
            self._counts["with a number that may be no house's"] += 1
            return LocatedRow(typed=text, problem=self._doubt)
        return text

    def _is_guess(self, raw: RawBlock, row: int) -> bool:
        """Return whether the house number of a row is one only if its column has house numbers."""
        site, street = self._roles["site"], self._cell(raw, row, "address")
        if site is not None and not says_nothing(raw.columns[site][row]):
            return False
        return bool(street and self._cell(raw, row, "house_number")) and not split_line(street).number

    @cached_property
    def _doubt(self) -> str:
        """Why the numbers of a column with the name of any number are not taken; empty where they are of houses.

        They are where most addresses that they make are among those that are loaded. Nobody else is asked: what a
        locator makes of a range of numbers has any number, and what may be no address is sent to nobody.
        """
        raw = self._sample
        rows = [row for row in range(raw.count) if row not in raw.problems and self._is_open(raw, row)]
        said = dict(self._parcels.read(raw, rows))
        texts: dict[str, int] = Counter()
        for row in rows:
            parcel = said.get(row)
            if (parcel is None or not parcel.pins) and self._is_guess(raw, row):
                try:
                    texts[self._text(raw, row, "" if parcel is None else parcel.code)] += 1
                except SiteError:
                    continue
        asked = {}
        for text in texts:
            try:
                asked[text] = self._finder.address(text)
            except SiteError:
                continue
        houses = {found.text for found in self._finder.find_loaded(list(asked.values())) if _is_house(found)}
        found, total = sum(texts[text] for text in houses), sum(texts.values())
        if total and found >= AGREEING_SHARE * total:
            return ""
        return (
            f"The column {self._roles['house_number']!r} may have house numbers or other numbers: of the first "
            f"{total:,} addresses with its numbers {found:,} are surely among those that are loaded; two of three are "
            "expected. If it has house numbers, call it house_number or name it with --house-number"
        )

    def _is_words(self, text: str) -> bool:
        """Return whether a place as somebody types it is in none of the forms that are read without looking up."""
        if len(text) > _LONGEST_TEXT or looks_like_pin(text):
            return False
        try:
            locate(text, directory=self._directory, files=False)
        except NoPlaceError:
            return True
        except SiteError:
            # Of another form, and wrong: whoever reads the row says how.
            return False
        return False

    def _text(self, raw: RawBlock, row: int, code: str) -> str:
        """Return the address of a row on one line; empty where it says none.

        Raises
        ------
        SiteError
            Where its cells name two house numbers.
        """
        site = self._roles["site"]
        if site is not None and not says_nothing(raw.columns[site][row]):
            return cell_text(raw.columns[site][row]).strip()
        street = self._cell(raw, row, "address")
        if not street:
            return ""
        if "_" in street and looks_like_pin(street):
            return street
        # A spreadsheet makes a number with decimals of it.
        number = _DECIMALS.sub("", self._cell(raw, row, "house_number"))
        line = _with_number(number, street) if number else street
        name, county = self._directory.names.get(code, ("", ""))
        zip_code = self._cell(raw, row, "zip_code")
        # A spreadsheet drops the zero before a ZIP code.
        zip_code = zip_code.zfill(5) if zip_code.isdigit() else zip_code
        line, end = _without_end(line)
        if code:
            # Mail goes across municipal lines, but not across the State: the municipality that is stated is looked in.
            others = self._others(raw, row, code, "address").items()
            near = {part for part, codes in others if any(one[:2] == code[:2] for one in codes)}
            line = ",".join(part for part in line.split(",") if part.strip() not in near)
            place = [name, f"{county} County"]
        else:
            place = [self._cell(raw, row, "city"), self._county(raw, row, line)]
        return ", ".join(part for part in (line, *place, f"NJ {zip_code}" if zip_code else end) if part)

    def _county(self, raw: RawBlock, row: int, line: str) -> str:
        """Return the county of a row as it stands in an address; empty where it says none, or the address does."""
        county = place_book(self._directory).county(self._cell(raw, row, "county"))
        return "" if county is None or _COUNTY.search(line) else f"{county} County"

    def _others(self, raw: RawBlock, row: int, code: str, *roles: str) -> dict[str, tuple[str, ...]]:
        """Return what the cells of an address name that is not the municipality of a code, each with its codes."""
        cells = {role: self._cell(raw, row, role) for role in roles}
        parts = [*_without_end(cells.get("address", ""))[0].split(",")[1:], cells.get("city", "")]
        book = place_book(self._directory)
        others = {}
        for part in map(str.strip, parts):
            if part not in self._places:
                if len(self._places) >= _MOST_KNOWN:
                    self._places.clear()
                self._places[part] = book.find(part, near=False) if part else Place()
            place = self._places[part]
            if place.how in {"named", "ambiguous", "postal"} and code not in place.mun_codes:
                others[part] = place.mun_codes
        return others

    def _beside(self, found: LocatedRow, code: str, others: Mapping[str, tuple[str, ...]]) -> LocatedRow:
        """Return what was found for an address beside the municipality that the row states."""
        if not code:
            return found
        label = f"{self._directory.names[code][0]} ({code})"
        if found.problem is None:
            if not others:
                return found
            words = f"The address names {next(iter(others))!r}; it was found in {label}, as the row states."
            return replace(found, notes=(words, *found.notes))
        loaded = any(code in codes for codes in map(_loaded, self._finder.sources.locators))
        if others or (found.choices_in and code not in found.choices_in and loaded):
            words = f"{found.problem}; the row states {label}, which contradicts it: correct either"
            return replace(found, problem=words, against=True)
        return found

    def _cell(self, raw: RawBlock, row: int, role: str) -> str:
        column = self._roles[role]
        if column is None:
            return ""
        cell: Any = raw.columns[column][row]
        return "" if says_nothing(cell) else cell_text(cell).strip()

    # -- looking up -----------------------------------------------------------------------------------

    def _look_up(self, texts: Sequence[str]) -> None:
        """Look up the texts that were not looked up before, together."""
        new = [text for text in texts if text not in self._known]
        if len(self._known) + len(new) > _MOST_KNOWN:
            # Those of the block at hand have to stay.
            self._known = {text: self._known[text] for text in texts if text in self._known}
        addresses: list[TypedAddress] = []
        for text in new:
            try:
                lot = self._lot(text)
                if lot is not None:
                    self._known[text] = lot
                    continue
                addresses.append(self._finder.address(text))
            except SiteError as error:
                self._known[text] = LocatedRow(typed=text, problem=str(error).rstrip("."))
                self._counts["not read"] += 1
        for found in self._finder.find_many(addresses, progress=self._progress):
            self._count(found)
            self._known[found.text] = self._row(found)

    def _progress(self, locator: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self.tell is not None and now - self._said >= _SAY_S:
            self._said = now
            self.tell(f"{locator}: {done:,} of {total:,} addresses of these rows are looked up.")

    def _lot(self, text: str) -> LocatedRow | None:
        """Return what parcel numbers, or block and lot in words, come to; None where the words are others."""
        from grownj_geo.parcellot import parse_lot  # noqa: PLC0415 - only where there are words

        if looks_like_pin(text):
            pins, told = parse_pins(text, self._directory)
            names = tuple(map(str, pins))
            outline, slack_ft, how, more = self._finder.ground_of(names)
            return LocatedRow(
                outline,
                slack_ft,
                code=pins[0].mun_code,
                basis="pin",
                pins=names,
                typed=text,
                located_by=f"parcel number (PAMS_PIN){how}",
                notes=(*told, *more),
            )
        read = parse_lot(text, self._directory)
        if read is None:
            return None
        pin, notes = read
        outline, slack_ft, how, more = self._finder.ground_of([str(pin)])
        return LocatedRow(
            outline,
            slack_ft,
            code=pin.mun_code,
            basis="pin",
            pins=(str(pin),),
            typed=text,
            located_by=f"block and lot{how}",
            notes=(*notes, *more),
        )

    def _count(self, found: Found) -> None:
        for one in found.asked:
            self._sent[one.locator] += one.online
        if found.match is not None:
            self._counts[f"found by {found.match.locator}"] += 1
        elif found.choices:
            several = "several places fit" if found.site is not None else "no place fits surely"
            self._counts[several] += 1
        else:
            failed = any(one.outcome in {"failed", "left_out"} for one in found.asked)
            self._counts["not found, and not everybody answered" if failed else "not found"] += 1

    def _row(self, found: Found) -> LocatedRow:
        site = found.site
        if site is None:
            codes = frozenset(code for match in found.choices for code in self._finder.asker.codes_of(match))
            return LocatedRow(typed=found.text, problem=self._finder.words_of(found).rstrip("."), choices_in=codes)
        return LocatedRow(
            site.geometry,
            site.uncertainty_ft,
            site.mun_code or "",
            site.mun_basis,
            site.pins,
            found.text,
            site.located_by,
            site.notes,
        )


def _is_house(found: Found) -> bool:
    """Return whether an address was found for certain, and not only between others of its street."""
    return found.settled and found.match is not None and found.match.kind in {"rooftop", "parcel"}


def _loaded(locator: Locator) -> frozenset[str]:
    """Return the municipalities of which a locator on this machine has addresses."""
    if locator.online:
        return frozenset()
    from grownj_geo.locatorlocal import LocalLocator  # noqa: PLC0415 - it brings in the index of addresses

    return locator.index.mun_codes if isinstance(locator, LocalLocator) else frozenset()


def _without_end(line: str) -> tuple[str, str]:
    """Return an address without the State and ZIP code at its end, and these."""
    found = _END.search(line)
    # What stands before has to be more than a number.
    if found is None or not any(map(str.isalpha, line[: found.start()])):
        return line, ""
    return line[: found.start()], found[0].strip(" ,")


def _with_number(number: str, street: str) -> str:
    """Return house number and street on one line, where the street's cell may have the number too.

    Raises
    ------
    SiteError
        Where it has another.
    """
    # "12TH AVE" has no house number, though it begins with digits.
    own = split_line(street).number
    if not own:
        return f"{number} {street}"
    said = split_line(f"{number} X STREET").number
    if own == said:
        return street
    raise SiteError(
        f"The house number is {number[:40]!r}, and the street is {street[:80]!r}, which begins with another; expected "
        "one number. Correct either cell."
    )
