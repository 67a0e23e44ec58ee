"""Which columns of a file say what of a parcel or an address point: by their usual names, or as they are named.

What a file says of owners is never taken over: their names, and the addresses and ZIP codes where they get their mail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from grownj_geo.features import Change, LayerFault
from grownj_geo.housenumbers import BARE_NUMBERS, HOUSE_NUMBERS
from grownj_geo.rows_columns import TableOptions, find_roles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grownj_geo.parceltables import Kind
    from grownj_geo.rows_block import RawBlock


__all__ = ["ADDRESS_PARTS", "Columns", "find_columns", "plain_name", "usual_names"]

_IDENTITY = ("pin", "municipality", "county", "block", "lot", "qualifier")
_PLACES = ("lon", "lat", "x", "y", "wkt")
_ADDRESS = (
    *("prop_loc", "prop_location", "property_location", "property_address", "prop_addr", "propaddr", "prop_address"),
    *("site_address", "siteaddr", "site_addr", "siteaddress", "situs", "situs_address", "location_address", "locaddr"),
    *("full_address", "fulladdr", "fulladdress", "full_addr", "address", "street_address", "addr", "location"),
)
_CLASS = ("prop_class", "property_class", "propclass", "prop_cls", "pclass", "class", "class_code")
_OWN_ZIP = ("prop_zip", "property_zip", "propzip", "site_zip", "loc_zip", "situs_zip", "location_zip")
_ANY_ZIP = ("zip_code", "zipcode", "zip", "zip5", "postal_code", "post_code", "postcode")
# Where a file has one of these, its plain ZIP code may be the owner's.
_OWNERS = frozenset(
    {
        *("owner", "owner_name", "owners_name", "ownername", "st_address", "city_state", "owner_address", "own_addr"),
        *("owner_addr", "owner_street", "mail_address", "mailing_address", "mail_addr", "mailaddr", "owner_zip"),
    }
)
_PARCEL_COLUMNS: dict[str, tuple[str, ...]] = {
    "address": _ADDRESS,
    "zip_code": (*_OWN_ZIP, *_ANY_ZIP),
    "property_class": _CLASS,
}
# The parts of an address as the standard for emergency calls (NENA) names them, in the order in which they are said.
ADDRESS_PARTS: dict[str, tuple[str, ...]] = {
    "number_prefix": ("addnum_pre", "addnumpre"),
    "number": ("add_number", "addnumber", "addr_num", *HOUSE_NUMBERS, *BARE_NUMBERS),
    "number_suffix": ("addnum_suf", "addnumsuf", "house_suffix"),
    "pre_modifier": ("st_premod", "stpremod"),
    "pre_direction": ("st_predir", "stpredir", "predir", "pre_dir"),
    "pre_type": ("st_pretyp", "stpretyp", "pretype", "pre_type"),
    "pre_separator": ("st_presep", "stpresep"),
    "street": ("st_name", "stname", "street_name", "streetname", "street", "str_name"),
    "type": ("st_postyp", "stpostyp", "street_type", "st_type", "sttype", "postype", "suffix", "str_type"),
    "post_direction": ("st_posdir", "stposdir", "postdir", "post_dir", "sufdir"),
    "post_modifier": ("st_posmod", "stposmod"),
}
"""Columns of the parts of an address, in the order in which they are written."""

_POINT_COLUMNS: dict[str, tuple[str, ...]] = {
    "address": tuple(name for name in _ADDRESS if name != "location"),
    **ADDRESS_PARTS,
    "zip_code": _ANY_ZIP,
    "kind": ("placement", "addr_type", "point_type", "place_type", "addtype", "placementtype"),
}
_MORE_MUNICIPALITIES = ("inc_muni", "incmuni", "municipal", "muniname", "mun_label")
_SHOWN = 25


@dataclass(frozen=True)
class Columns:
    """Which column says what.

    Attributes
    ----------
    by_role
        The file's columns by what they say.
    constants
        What is stated for all rows, by what it says.
    pair
        Columns of coordinates, x (or longitude) first.
    degrees
        Whether their names say longitude and latitude.
    changes
        What is to be told of the choice.
    """

    by_role: Mapping[str, str]
    constants: Mapping[str, str] = field(default_factory=dict)
    pair: tuple[str, str] | None = None
    degrees: bool = False
    changes: tuple[Change, ...] = ()

    def __getitem__(self, role: str) -> str | None:
        """Return the column of a role; None where there is none."""
        return self.by_role.get(role)

    def cells(self, raw: RawBlock, role: str) -> Sequence[Any]:
        """Return what rows say for a role: what is stated for all, else their cells, else None for each."""
        if role in self.constants:
            return [self.constants[role]] * len(raw)
        column = self[role]
        return raw.columns[column] if column is not None else [None] * len(raw)

    @property
    def used(self) -> frozenset[str]:
        """All columns that are read."""
        return frozenset({*self.by_role.values(), *(self.pair or ())})


def usual_names(kind: Kind) -> dict[str, tuple[str, ...]]:
    """Return what is read of parcels or address points, with the usual names of its columns, parts of addresses apart.

    Columns of numbers and municipalities are found as tables of sites have them.
    """
    none: tuple[str, ...] = ()
    identity = dict.fromkeys(_IDENTITY if kind == "parcels" else ("municipality", "county"), none)
    own = _PARCEL_COLUMNS if kind == "parcels" else _POINT_COLUMNS
    return {**identity, **{role: names for role, names in own.items() if role not in ADDRESS_PARTS}}


def plain_name(name: str) -> str:
    """Return a column's name as usual names are written.

    Examples
    --------
    >>> plain_name(" Add-Number "), plain_name("PROP_LOC")
    ('add_number', 'prop_loc')
    """
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")


def find_columns(
    header: Sequence[str],
    sample: Mapping[str, Sequence[Any]],
    *,
    kind: Kind,
    name: str,
    fields: Mapping[str, str] | None = None,
    constants: Mapping[str, str] | None = None,
) -> Columns:
    """Return which columns of a file say what.

    Parameters
    ----------
    header
        The file's columns.
    sample
        Some values of them.
    kind
        What the file's rows are.
    name
        What messages call the file.
    fields
        The file's name of a column by what it says; outranks the usual names.
    constants
        One value for all rows by what it says: ``{"municipality": "0717"}``.

    Raises
    ------
    LayerFault
        ``no_column`` for a named column that is not there, ``unknown_field`` for a name that means nothing here.

    Examples
    --------
    >>> found = find_columns(["PAMS_PIN", "PROP_LOC", "ZIP_CODE", "OWNER_NAME"], {}, kind="parcels", name="p.gdb")
    >>> dict(found.by_role), [change.kind for change in found.changes]
    ({'pin': 'PAMS_PIN', 'address': 'PROP_LOC'}, ['owners_zip_left'])
    """
    own = _PARCEL_COLUMNS if kind == "parcels" else _POINT_COLUMNS
    named = dict(fields or {})
    fixed = dict(constants or {})
    known = {*_IDENTITY, *_PLACES, *own}
    for given in (*named, *fixed):
        if given not in known:
            raise LayerFault(
                "unknown_field",
                f"{name}: {given!r} is nothing that is read of {kind.replace('_', ' ')}; expected one of "
                f"{', '.join(sorted(known))}. Write it as --map address=PROP_LOC.",
            )
    by_plain: dict[str, str] = {}
    for column in header:
        by_plain.setdefault(plain_name(column), column)
    roles = {role: _named(column, header, role, name) for role, column in named.items() if role in own}
    taken = set(roles.values())
    identity = {role: column for role, column in named.items() if role not in own}
    if kind == "address_points" and "municipality" not in identity:
        municipal = next((by_plain[n] for n in _MORE_MUNICIPALITIES if n in by_plain), None)
        identity |= {} if municipal is None else {"municipality": municipal}
    found = find_roles(
        [c for c in header if c not in taken], TableOptions(**cast("dict[str, Any]", identity)), sample, name=name
    )
    wanted = (*_IDENTITY, "municipal_name", "wkt")
    by_role = {role: column for role, column in found.columns.items() if role in wanted} | roles
    by_role = {role: column for role, column in by_role.items() if role not in fixed}
    changes: list[Change] = []
    has_owners = not _OWNERS.isdisjoint(by_plain)
    for role, usual in own.items():
        if role in roles or role in fixed:
            continue
        free = [by_plain[n] for n in usual if n in by_plain and by_plain[n] not in by_role.values()]
        if role == "zip_code" and has_owners and kind == "parcels":
            mail = [column for column in free if plain_name(column) in _ANY_ZIP]
            if mail:
                words = (
                    f"{_listed(mail)} was left aside: beside what is said of owners it is where they get their mail."
                )
                changes.append(Change(kind="owners_zip_left", effect="noted", count=len(mail), words=words))
            free = [column for column in free if column not in mail]
        if free:
            by_role[role] = free[0]
    return Columns(_told_apart(by_role, roles), fixed, found.pair, found.degrees, tuple(changes))


def _told_apart(by_role: Mapping[str, str], named: Mapping[str, str]) -> dict[str, str]:
    """Return columns by role without a column that has the name of any number where no streets stand beside it."""
    bare = "number" not in named and "street" not in by_role and plain_name(by_role.get("number", "")) in BARE_NUMBERS
    return {role: column for role, column in by_role.items() if role != "number" or not bare}


def _named(column: str, header: Sequence[str], role: str, name: str) -> str:
    for same in (str, plain_name):
        found = next((h for h in header if same(h) == same(column)), None)
        if found is not None:
            return found
    raise LayerFault(
        "no_column",
        f"{name} has no column {column!r}, which was named for {role}; found {_listed(header)}. Name another.",
    )


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
