"""Which columns of a table say where its sites are: found by usual names, or named by whoever asks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grownj_geo.errors import FactError
from grownj_geo.facts import check_facts, load_facts
from grownj_geo.features import LayerFault
from grownj_geo.housenumbers import HOUSE_NUMBERS, STREETS, NumberColumn, number_column
from grownj_geo.readers_text import COORDINATE_FIELDS, WKT_FIELDS
from grownj_geo.readings import nearest_name
from grownj_geo.rows_block import cell_text, is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "Roles",
    "TableOptions",
    "answers_in",
    "chosen_name_column",
    "find_header",
    "find_roles",
    "name_column",
    "says_where",
    "unique_names",
    "unnamed_words",
]

# Pairs of longitude and latitude come first among the usual pairs of coordinates.
_DEGREES = COORDINATE_FIELDS[:7]
_MUNICIPAL_NAMES = ("municipality", "mun_name", "muni_name", "municipality_name", "muni", "mun_label", "mun")
_USUAL: dict[str, tuple[str, ...]] = {
    "pin": ("pams_pin", "pamspin", "pams", "gis_pin", "pin", "parcel_number", "parcel_id"),
    "municipality": (
        *("mun_code", "muncode", "mun_cd", "municode", "muni_code", "municipality_code", "municipal_code", "pcl_mun"),
        *_MUNICIPAL_NAMES,
    ),
    "county": ("county", "county_name", "co_name"),
    "block": ("block", "pclblock", "blk", "block_no", "block_number"),
    "lot": ("lot", "pcllot", "lot_no", "lot_number"),
    "qualifier": ("qualifier", "qual", "pclqcode", "qcode", "qualification_code"),
    "wkt": tuple(name for name in WKT_FIELDS if name != "shape"),
    "site": ("site", "coordinates", "coords", "coordinate", "lat_lon", "latlon", "lat_long", "latlong"),
    "uncertainty": ("uncertainty_ft",),
}
# They count only where addresses can be looked up; elsewhere a table has them for its readers.
_ADDRESSED: dict[str, tuple[str, ...]] = {
    "address": (
        *(
            "address",
            "street_address",
            "site_address",
            "property_address",
            "property_location",
            "prop_loc",
            "full_address",
        ),
        *("address_1", "address1", "addr", "situs_address", "location_address", "st_address", *STREETS),
    ),
    "house_number": HOUSE_NUMBERS,
    "city": ("city", "post_office", "postal_city", "city_name", "site_city", "property_city"),
    "zip_code": ("zip", "zip_code", "zipcode", "zip5", "postal_code", "postcode", "site_zip", "property_zip"),
}
_NAMED = (
    *("lon", "lat", "x", "y", "site", "pin", "municipality", "county", "block", "lot", "qualifier", "wkt"),
    *_ADDRESSED,
)
_TITLES = (
    *("name", "site_name", "sitename", "site name", "site", "title", "label", "project", "project_name", "applicant"),
    *("address", "id", "pams_pin", "pin"),
)
_HEADER_WITHIN = 30
_FACT = "fact:"
_PLACE_LIKE = re.compile(r"\s*(?:\{|SRID=|(?:MULTI)?(?:POINT|POLYGON)\b|[0-9]{3,4}_)|[0-9].*[^0-9.][^0-9]*[0-9]")
_FIGURE = re.compile(r"[+-]?[0-9][0-9.,]*")
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_WKT_LIKE = re.compile(r"\s*(?:SRID=[0-9]+;)?\s*(?:MULTI)?(?:POINT|POLYGON|LINESTRING)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What whoever asks says about a table; all columns by the table's own names.

    Attributes
    ----------
    lon, lat
        Columns of longitude and latitude, as decimal degrees or as degrees, minutes and seconds.
    x, y
        Columns of coordinates in `crs`, east before north.
    crs
        What coordinates are in where the table does not say; longitude and latitude unless given.
    site
        A column of places as `locate` takes them: coordinates, well-known text, GeoJSON, parcel numbers. Files are
        never opened for a cell.
    pin
        A column of parcel numbers (PAMS_PIN).
    municipality, county
        Columns of municipal codes or names, and of counties that tell names apart.
    block, lot, qualifier
        Columns that make parcel numbers together with `municipality`.
    wkt
        A column of well-known text.
    geometry
        A column of well-known binary: as such in Parquet, as hexadecimal text elsewhere.
    address
        A column of addresses: number and street, or the whole address; looked up where rows have no other place.
    house_number, city, zip_code
        Columns with the number, the postal name and the ZIP code where `address` has them not.
    uncertainty
        A column of feet that the true place may be off.
    uncertainty_ft
        The same for every row that does not say.
    sheet
        Sheet of a workbook; the first that is shown unless given.
    sublayer
        Layer of a file with several.
    encoding, delimiter
        How text is written, where it cannot be seen or is seen wrongly.
    ignored
        Columns that say nothing of the sites, whatever their names: the answers of an earlier batch.
    addresses
        Whether addresses can be looked up, so that columns with their usual names count.
    """

    lon: str | None = None
    lat: str | None = None
    x: str | None = None
    y: str | None = None
    crs: str | None = None
    site: str | None = None
    pin: str | None = None
    municipality: str | None = None
    county: str | None = None
    block: str | None = None
    lot: str | None = None
    qualifier: str | None = None
    wkt: str | None = None
    geometry: str | None = None
    address: str | None = None
    house_number: str | None = None
    city: str | None = None
    zip_code: str | None = None
    uncertainty: str | None = None
    uncertainty_ft: float = 0.0
    sheet: str | None = None
    sublayer: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    ignored: frozenset[str] = frozenset()
    addresses: bool = False

    def named(self) -> dict[str, str]:
        """Return the columns that are named, by role."""
        roles = (*_NAMED, "geometry", "uncertainty")
        return {role: name for role in roles if (name := getattr(self, role)) is not None}


@dataclass(frozen=True)
class Roles:
    """Which column says what.

    Attributes
    ----------
    pair
        Columns of coordinates, x (or longitude) first.
    degrees
        Whether their names say longitude and latitude.
    columns
        The other columns by role.
    facts
        Columns by the site fact that they state.
    named
        Roles whose column was named and not found.
    number
        A column with the name of any number beside streets: one that counts rows, or whose house numbers are a guess.
    """

    pair: tuple[str, str] | None = None
    degrees: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    number: NumberColumn | None = None

    def __getitem__(self, role: str) -> str | None:
        """Return the column of a role; None where there is none."""
        return self.columns.get(role)

    @property
    def used(self) -> frozenset[str]:
        """All columns that say something of a site; what is looked up for a row comes with it."""
        columns = (column for role, column in self.columns.items() if role not in _ADDRESSED)
        return frozenset({*(self.pair or ()), *columns, *self.facts.values()})

    @property
    def place(self) -> bool:
        """Whether any column can say where a site is."""
        return self.pair is not None or any(
            r in self.columns for r in ("wkt", "geometry", "site", "pin", "municipality", "address")
        )


_BEGIN, _END = ("row", "problem", "notes"), "atlas"
"""How the columns of a batch begin and end; a name that the table had already has something in front."""


def _usual(options: TableOptions) -> dict[str, tuple[str, ...]]:
    """Return the usual names of columns by role."""
    return _USUAL | _ADDRESSED if options.addresses or options.address is not None else _USUAL


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")


def _without_unit(name: str) -> str:
    """Return a name without what stands in brackets behind it: ``Longitude (W)`` is a longitude."""
    return _plain(_BRACKETS.sub("", name))


def unique_names(cells: Sequence[object]) -> tuple[list[str], list[str]]:
    """Return a name for each cell of a header, each once, and what had to be renamed.

    Examples
    --------
    >>> unique_names(["lot", " lot "])
    (['lot', 'lot_2'], ["the second 'lot' is called 'lot_2'"])
    """
    names: list[str] = []
    told: list[str] = []
    given = {cell_text(cell).strip() for cell in cells}
    for i, cell in enumerate(cells):
        name = cell_text(cell).strip()
        if not name:
            base, words = f"column_{i + 1}", f"column {i + 1} has no name and is called {{!r}}"
        elif name in names:
            base, words = f"{name}_2", f"the second {name!r} is called {{!r}}"
        else:
            names.append(name)
            continue
        found, number = base, 2
        while found in names or found in given:
            number += 1
            found = f"{base}_{number}"
        names.append(found)
        told.append(words.format(found))
    return names, told


def find_header(rows: Sequence[Sequence[object]], options: TableOptions) -> tuple[int, int]:
    """Return which of the first rows has the names of columns, and how many of them are known.

    Titles and notes may stand above. The row that has the most known names counts, the first of several.

    Examples
    --------
    >>> find_header([["Sites of 2017", None], [None, None], ["Block", "Lot"], ["81", "1"]], TableOptions())
    (2, 2)
    >>> find_header([["Name", "A", "B"], ["X", "40,7344", "-74,1641"]], TableOptions())
    (0, 0)
    """
    wanted = {_plain(name) for name in options.named().values()}
    known = wanted | {name for names in _usual(options).values() for name in names}
    known |= {name for pair in COORDINATE_FIELDS for name in pair} | set(load_facts())
    best, most = 0, 0
    for i, row in enumerate(rows[:_HEADER_WITHIN]):
        texts = [cell_text(cell).strip() for cell in row]
        count = len({n for t in texts if t for n in (_plain(t), _without_unit(t))} & known) + sum(
            t.casefold().startswith(_FACT) for t in texts
        )
        # A row of figures has no names of columns, whatever a site in it is called.
        figures = sum(bool(_FIGURE.fullmatch(t)) for t in texts)
        if count > most and (i == 0 or 2 * figures < sum(map(bool, texts))):
            best, most = i, count
    return best, most


def find_roles(
    header: Sequence[str], options: TableOptions, sample: Mapping[str, Sequence[Any]], *, name: str
) -> Roles:
    """Return which columns say where the sites are and what is stated of them.

    Parameters
    ----------
    header
        Names of the columns.
    options
        Names whoever asks gives; they outrank the usual ones.
    sample
        Some values, which decide whether a column with a usual name holds what that name says.
    name
        What messages call the table.

    Raises
    ------
    LayerFault
        ``no_column`` for a named column that is not there, ``unknown_fact``, or ``lone_coordinate``.

    Examples
    --------
    >>> find_roles(["Longitude", "LATITUDE", "retail_sqft"], TableOptions(), {}, name="sites.csv").pair
    ('Longitude', 'LATITUDE')
    """
    header = [column for column in header if column not in options.ignored]
    by_plain: dict[str, str] = {}
    for column in header:
        by_plain.setdefault(_plain(column), column)
    for column in header:
        by_plain.setdefault(_without_unit(column), column)
    given = {role: _named(column, header, by_plain, role, name) for role, column in options.named().items()}
    pair, degrees = _pair(given, by_plain, options, name)
    columns = {role: column for role, column in given.items() if role not in {"lon", "lat", "x", "y"}}
    placed = pair is not None and any(role in given for role in ("lon", "x"))
    for role, names in _usual(options).items():
        if role in columns or (role in {"wkt", "site"} and (placed or "wkt" in columns or "site" in columns)):
            continue
        if role in _ADDRESSED and role != "address" and "address" not in columns:
            continue
        found = next((by_plain[n] for n in names if n in by_plain and by_plain[n] not in columns.values()), None)
        if found is not None and _speaks(role, sample.get(found, ()), pair=pair is not None):
            columns[role] = found
    number = _add_usual_pairs(columns, by_plain, sample)
    return Roles(pair, degrees, columns, _facts(header, name), frozenset(given), number)


def _add_usual_pairs(
    columns: dict[str, str], by_plain: Mapping[str, str], sample: Mapping[str, Sequence[Any]]
) -> NumberColumn | None:
    """Add columns that count beside another alone: house numbers beside streets, names beside municipal codes."""
    number = None
    if "house_number" not in columns and _plain(columns.get("address", "")) in STREETS:
        found, number = number_column(by_plain, columns["address"], list(columns.values()), sample)
        if found is not None:
            columns["house_number"] = found
    if "municipality" in columns:
        # A table with a code often has the name too: it fills in, and has to agree.
        others = (by_plain[n] for n in _MUNICIPAL_NAMES if n in by_plain and by_plain[n] not in columns.values())
        found = next(others, None)
        if found is not None:
            columns["municipal_name"] = found
    return number


def answers_in(header: Sequence[str]) -> frozenset[str]:
    """Return the columns that a batch has put beside a table: they answer, and state nothing.

    Examples
    --------
    >>> sorted(answers_in(["lot", "row", "problem", "notes", "hub", "rulebook", "atlas", "owner"]))
    ['atlas', 'hub', 'notes', 'problem', 'row', 'rulebook']
    >>> answers_in(["lot", "row", "notes"])
    frozenset()
    """
    found: set[str] = set()
    begin: int | None = None
    for at, column in enumerate(header):
        three = header[at : at + len(_BEGIN)]
        if len(three) == len(_BEGIN) and all(name.endswith(end) for name, end in zip(three, _BEGIN, strict=True)):
            begin = at
        elif begin is not None and column.endswith(_END):
            found.update(header[begin : at + 1])
            begin = None
    return frozenset(found)


def name_column(header: Iterable[str]) -> str | None:
    """Return the column that tells what a row is called, by its usual names whatever the case; None where none does.

    Parameters
    ----------
    header
        The columns.

    Examples
    --------
    >>> name_column(["ID", "lat", "lon", " Site_Name"]), name_column(["lat", "lon"])
    (' Site_Name', None)
    """
    by_name: dict[str, str] = {}
    for column in header:
        by_name.setdefault(column.strip().casefold(), column)
    return next((by_name[usual] for usual in _TITLES if usual in by_name), None)


def chosen_name_column(header: Sequence[str], name: str | None, table: str) -> str | None:
    """Return the column of names that was chosen, or the usual one; None where no usual one is there.

    Raises
    ------
    LayerFault
        ``no_column`` where the chosen one is not there.
    """
    if name is not None and name not in header:
        raise LayerFault(
            "no_column",
            f"{table} has no column {name!r}; it has {', '.join(map(repr, header[:20]))}. Name one of them.",
        )
    return name or name_column(header)


def unnamed_words(header: Sequence[str], table: str) -> str:
    """Return what is to be told of a table without a usual column of names."""
    listed = ", ".join(map(repr, header[:20]))
    return f"{table}: no column of names was recognised among {listed}; name one with --name."


def says_where(rows: Sequence[Sequence[object]], options: TableOptions) -> bool:
    """Return whether the first rows of a table have the names of columns that say where sites are.

    Examples
    --------
    >>> says_where([["Sites"], ["Block", "Lot", "Municipality"]], TableOptions())
    True
    """
    at, known = find_header(rows, options)
    if not known:
        return False
    names, _ = unique_names(rows[at])
    sample = {name: [row[i] for row in rows[at + 1 :] if i < len(row)] for i, name in enumerate(names)}
    try:
        return find_roles(names, options, sample, name="").place
    except LayerFault:
        # A column that was named is not there, for one: this is not the table that is meant.
        return False


def _named(column: str, header: Sequence[str], by_plain: Mapping[str, str], role: str, name: str) -> str:
    exact = [h for h in header if h == column] or [
        h for h in header if h.strip().casefold() == column.strip().casefold()
    ]
    found = exact[0] if exact else by_plain.get(_plain(column))
    if found is None:
        raise LayerFault(
            "no_column",
            f"{name} has no column {column!r}, which was named for {role}; found {_listed(header)}. "
            f"{nearest_name(column, header)}",
        )
    return found


def _listed(header: Sequence[str], most: int = 20) -> str:
    more = f" and {len(header) - most} more" if len(header) > most else ""
    return ", ".join(map(repr, header[:most])) + more


def _pair(
    given: Mapping[str, str], by_plain: Mapping[str, str], options: TableOptions, name: str
) -> tuple[tuple[str, str] | None, bool]:
    for first, second in (("lon", "lat"), ("x", "y")):
        if first in given and second in given:
            return (given[first], given[second]), first == "lon"
        if first in given or second in given:
            there, lacking = (first, second) if first in given else (second, first)
            raise LayerFault(
                "lone_coordinate",
                f"{name}: a column was named for {there} and none for {lacking}. Name both.",
            )
    if any(role in given for role in ("site", "wkt", "geometry")):
        return None, False
    pairs = [(by_plain[x], by_plain[y], (x, y) in _DEGREES) for x, y in COORDINATE_FIELDS if {x, y} <= by_plain.keys()]
    if not pairs:
        return None, False
    # A named system is about the columns that are not called longitude and latitude.
    best = next((p for p in pairs if not p[2]), pairs[0]) if options.crs is not None else pairs[0]
    return best[:2], best[2]


def _speaks(role: str, values: Sequence[Any], *, pair: bool) -> bool:
    """Return whether values of a column are what its usual name says, for names that are used for other things too."""
    if role not in {"wkt", "site"}:
        return True
    pattern = _WKT_LIKE if role == "wkt" else _PLACE_LIKE
    texts = [v for v in values if isinstance(v, str) and not is_blank(v)]
    return not pair and any(pattern.search(text[:200]) for text in texts)


def _facts(header: Sequence[str], name: str) -> dict[str, str]:
    known = load_facts()
    found: dict[str, str] = {}
    for column in header:
        text = column.strip()
        said = text.casefold().startswith(_FACT)
        fact = _plain(text[len(_FACT) :] if said else text)
        if said and fact not in known:
            try:
                check_facts({fact: ""})
            except FactError as error:
                raise LayerFault("unknown_fact", f"{name}, column {column!r}: {error}") from error
        if fact in known:
            if fact in found:
                raise LayerFault(
                    "duplicate_fields",
                    f"{name} states the fact {fact} in two columns, {found[fact]!r} and {column!r}; expected one.",
                )
            found[fact] = column
    return found
