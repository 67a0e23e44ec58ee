"""The user's own knowledge: rows and outlines that replace or complete what ships, and are named as such.

A list of designations, better mid-points of stations, further stations, an official outline of the airport or of a
port terminal. The shipped layer stays what it is in all that is not given.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import shapely

from grownj_geo.atlas import load_atlas
from grownj_geo.crs import misfit, plain_text
from grownj_geo.designations import load_lists
from grownj_geo.errors import LayerError, SiteError
from grownj_geo.features import LayerFault
from grownj_geo.fieldvalues import as_text
from grownj_geo.findings import Findings
from grownj_geo.layer import EXACT, OUTER, Layer
from grownj_geo.layercheck import check_layer, is_blank, read_day, read_figure
from grownj_geo.manifest import Status
from grownj_geo.observe import SiteTable
from grownj_geo.pins import match_municipality
from grownj_geo.place import PlacementKind, place_sites
from grownj_geo.readings import nearest_name
from grownj_geo.units import FT_PER_FTUS, FT_PER_MILE, geodesic_ft, to_lonlat, to_working, to_working_geometry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.features import Change, Features
    from grownj_geo.manifest import Manifest

__all__ = ["REFINABLE", "refine"]

_STATUSES = get_args(Status)
_YES_NO = {
    "yes": "true",
    "y": "true",
    "1": "true",
    "t": "true",
    "no": "false",
    "n": "false",
    "0": "false",
    "f": "false",
}
_CODE_DIGITS = 4
_FARTHEST_MOVE_FT = FT_PER_MILE
"""A mid-point that is moved farther is another station's."""
_SAME_PLACE_FT = 500.0
_SAME_DEGREES = 1e-5
"""About 3 ft: two statements of one position agree within it."""
_MOST_SHOWN = 8
_RAIL = frozenset({"commuter_rail", "light_rail", "rapid_transit"})
# NAD83 in all its realisations, and WGS84 that is taken as the same: nothing else is without a shift to be checked.
_DATUMS = ("North American Datum 1983", "NAD83", "World Geodetic System 1984")

_COMMON = {"status": ("status",), "status_note": ("status_note",), "source": ("source",)}
_PLACE = {
    "mun_code": ("mun_code", "mun"),
    "municipality": ("municipality", "mun_label", "mun_name"),
    "county": ("county",),
}
_LIST_FIELDS = {
    **_PLACE,
    "designation": ("designation", "list"),
    "listed": ("listed",),
    "from_earliest": ("from_earliest", "from"),
    "from_latest": ("from_latest",),
    "until_exclusive": ("until_exclusive", "until"),
    "note": ("note", "notes"),
    **_COMMON,
}
_STATION_FIELDS = {
    "station_id": ("station_id", "id"),
    "name": ("name", "station"),
    **{name: (name,) for name in ("operator", "mode", "lines", "opened", "closed", "complex", "operator_tie")},
    **{name: (name,) for name in ("underground", "at_airport", "interstate", "out_of_state")},
    **{name: (name,) for name in ("lines_limited", "lines_other_operators")},
    "njt_rail_lines_n": ("njt_rail_lines_n",),
    "njt_rail_lines_merged_n": ("njt_rail_lines_merged_n",),
    "complex_njt_rail_and_light_rail_lines_n": ("complex_njt_rail_and_light_rail_lines_n",),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
    "coordinate_uncertainty_ft": ("coordinate_uncertainty_ft", "uncertainty_ft", "accuracy_ft"),
    "notes": ("notes", "note"),
    **_PLACE,
    **_COMMON,
}
_COUNTS = tuple(name for name in _STATION_FIELDS if name.endswith(("lines_n", "merged_n")))
_FLAGS = ("underground", "at_airport", "interstate", "out_of_state")
_OUTLINE_FIELDS = {
    "id": ("id",),
    "name": ("name",),
    "accuracy_ft": ("accuracy_ft", "uncertainty_ft", "accuracy"),
    **_COMMON,
}


@dataclass
class _Work:
    """What one refinement is made of: what was given, what is there, and what was found on the way."""

    given: Features
    base: Layer
    manifest: Manifest
    source: str
    stated_on: date | None
    atlas: Atlas
    found: Findings
    names: dict[str, str] = field(default_factory=dict)

    def text(self, name: str, row: int) -> str:
        """Return a given value as text; empty where it is blank or its column is not there."""
        column = self.names.get(name)
        return "" if column is None else plain_text(as_text(self.given.columns[column][row]))

    def find_columns(self, fields: Mapping[str, tuple[str, ...]]) -> None:
        """Find the given columns by their names, whatever their capitals; the others are told."""
        plain = {re.sub(r"[\s\-]+", "_", name.strip().lower()): name for name in self.given.columns}
        used = set()
        for name, spellings in fields.items():
            there = [plain[spelling] for spelling in spellings if spelling in plain]
            if len(there) > 1:
                self.found.fault("two_columns", f"{' and '.join(there)} both say the {name}. Leave one of them out")
            if there:
                self.names[name] = there[0]
                used.update(there)
        unused = [name for name in self.given.columns if name not in used]
        if unused:
            self.found.tell("fields_not_used", "noted", (), f"These columns say nothing here: {', '.join(unused)}.")

    def fault(self, kind: str, row: int, message: str) -> None:
        """Add a fault of a row; the message may end as it likes."""
        message = message.rstrip(". ")
        self.found.fault(kind, f"row {row + 1}: {message}{' Correct it' if message.endswith('?') else ''}")

    def own(self, row: int) -> dict[str, str]:
        """Return what every given row has: status, source and remark."""
        status = self.text("status", row).lower().replace(" ", "_") or "secondary"
        if status not in _STATUSES:
            self.fault(
                "bad_status", row, f"the status is {status!r}, which is no status. {nearest_name(status, _STATUSES)}"
            )
        stated = f"stated on {self.stated_on}" if self.stated_on else ""
        note = "; ".join(filter(None, (self.text("status_note", row), f"refined by {self.source}", stated)))
        return {"status": status, "source": self.text("source", row) or self.source, "status_note": note}

    def day(self, name: str, row: int) -> date | None:
        """Return a given day; what is none is a fault."""
        column = self.names.get(name)
        value = None if column is None else self.given.columns[column][row]
        try:
            return read_day(value)
        except (ValueError, OverflowError):
            self.fault("bad_date", row, f"{column} is {value!r}. Expected a day such as 2017-04-17, or nothing")
            return None

    def feet(self, name: str, row: int) -> float | None:
        """Return given feet; None where nothing is given, and where what is given is a fault."""
        text = self.text(name, row)
        if not text:
            return None
        feet = read_figure(text)
        if not feet >= 0:
            self.fault("bad_figure", row, f"{self.names[name]} is {text!r}. Expected feet, 0 or more, without a unit")
            return None
        return feet

    def municipality(self, row: int) -> str | None:
        """Return the code of the municipality that a row names, by code, by name, or by both; None after a fault."""
        code, name, county = (self.text(n, row) for n in ("mun_code", "municipality", "county"))
        known = self.atlas.municipal_names
        if code and code not in known:
            padded = code.zfill(_CODE_DIGITS)
            if not (code.isdigit() and padded in known):
                self.fault(
                    "bad_code", row, f"the municipal code is {code!r}, and there is no such. Expected four digits"
                )
                return None
            self.found.tell(
                "leading_zeros", "changed", [row], f"The code {code} was read as {padded} ({known[padded][0]})."
            )
            code = padded
        if not name:
            if not code:
                self.fault("missing_value", row, "it names no municipality. Give mun_code, or municipality and county")
            elif county and plain_text(county).lower().removesuffix(" county") != known[code][1].lower():
                self.fault("municipality_contradicted", row, f"{code} lies in {known[code][1]} County, not in {county}")
            return code or None
        try:
            by_name, notes = match_municipality(f"{name}, {county}" if county else name, _Directory(known))
        except SiteError as error:
            self.fault("unknown_municipality", row, str(error))
            return None
        if code and by_name != code:
            theirs = f"{known[code][0]}, and {name!r} is {by_name}"
            self.fault(
                "municipality_contradicted",
                row,
                f"{code} is {theirs}. Correct either (other agencies number otherwise)",
            )
            return None
        for note in notes:
            self.found.tell("municipality_read", "noted", [row], note)
        return by_name


@dataclass(frozen=True)
class _Directory:
    names: Mapping[str, tuple[str, str]]


def refine(
    layer_id: str,
    given: Features,
    *,
    base: Layer,
    manifest: Manifest,
    source: str,
    stated_on: date | None = None,
    atlas: Atlas | None = None,
) -> tuple[Layer, tuple[Change, ...]]:
    """Put what the user knows better into a layer that ships.

    Parameters
    ----------
    layer_id
        One of `REFINABLE`.
    given
        The rows. ``designations``: `designation`, and `mun_code` or `municipality` (and `county`); `from`, `until`
        (the first day on which it no longer holds), `status`, `source`, `note`; `listed` is no for a municipality
        that is not on the list. ``transit_stations``: `station_id` or a unique `name` with what is to be changed, or
        all that a further station needs; positions as points or as `latitude` and `longitude`. Outlines of the
        airport and of terminals: polygons with `id` and `accuracy_ft`, the feet within which the outline is true.
    base
        The layer as it is now.
    manifest
        Its manifest in the package.
    source
        What the answer is to call the given rows: the file's name.
    stated_on
        The day on which it was so, or was said.
    atlas
        Says which municipalities there are and in which a point lies; what ships by default.

    Returns
    -------
    tuple of (Layer, tuple of Change)
        The refined layer, whose manifest says in its source what was refined by what, and what is to be told beyond
        the changes of `given` itself.

    Raises
    ------
    LayerFault
        With all problems that were found; the kind is the first one's.
    ValueError
        If the layer is none that can be refined, or `base` is another layer.
    """
    if layer_id not in _METHODS or base.id != layer_id or manifest.id != layer_id:
        raise ValueError(f"{layer_id!r} with {base.id!r} cannot be refined; expected one of {', '.join(REFINABLE)}")
    work = _Work(given, base, manifest, source, stated_on, atlas or load_atlas(), Findings(source))
    if base.problem is not None:
        raise work.found.refuse("unusable_base", f"what it is to refine cannot be used: {base.problem.rstrip('.')}")
    if not len(given):
        raise work.found.refuse("no_rows", "it has no rows. Expected at least one")
    if not work.atlas.municipal_names:
        raise work.found.refuse("unusable_base", "no layer tells which municipalities there are. Repair municipalities")
    layer = _METHODS[layer_id](work)
    work.found.stop()
    try:
        check_layer(layer)
    except LayerError as error:
        raise LayerFault("refined_layer_refused", f"{source}: with it the layer cannot be used. {error}") from error
    return layer, tuple(work.found.changes)


def _result(
    work: _Work,
    columns: dict[str, list[Any]],
    bounds: np.ndarray[Any, np.dtype[np.float64]],
    words: str,
    *,
    lonlat: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    shapes: Sequence[shapely.Geometry] = (),
    **more: Any,  # noqa: ANN401 - fields of the manifest
) -> Layer:
    on = f", stated on {work.stated_on}" if work.stated_on else ""
    update = {
        "ships": False,
        "file": None,
        "sha256": None,
        "refines": True,
        "source": f"{work.base.manifest.source.rstrip('.')}; refined by {work.source}{on}: {words}",
        "least_features": min(work.manifest.least_features, len(bounds)),
        "accuracy_ft": work.base.manifest.accuracy_ft,
        "accuracy_source": work.base.manifest.accuracy_source,
    }
    digest = hashlib.sha256(work.base.fingerprint.encode())
    digest.update(json.dumps(columns, default=str, sort_keys=True).encode())
    digest.update(bounds.tobytes())
    for shape in shapes:
        digest.update(shapely.to_wkb(shape))
    manifest = work.manifest.model_copy(update=update | more)
    return Layer(manifest, columns, bounds, digest.hexdigest(), lonlat=lonlat, geometries=dict(enumerate(shapes)))


def _in_words(**numbers: int) -> str:
    return ", ".join(f"{n} row{'s' if n != 1 else ''} {what}" for what, n in numbers.items() if n) or "nothing changed"


def _shown(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_MOST_SHOWN]) + (
        f" and {len(listed) - _MOST_SHOWN} more" if len(listed) > _MOST_SHOWN else ""
    )


def _put(
    base: Layer,
    replaced: Mapping[int, Mapping[str, Any]],
    added: Sequence[Mapping[str, Any]],
    left_out: Iterable[int] = (),
) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the columns with rows replaced in place, others added and some left out, and which rows were kept."""
    gone = set(left_out)
    kept = [i for i in range(len(base)) if i not in gone]
    columns = {}
    for name, values in base.columns.items():
        column = [replaced.get(i, {}).get(name, values[i]) for i in kept]
        columns[name] = column + [row.get(name, "") for row in added]
    return columns, kept


# -- lists of municipalities -------------------------------------------------------------------------------


def _designations(work: _Work) -> Layer:
    work.find_columns(_LIST_FIELDS)
    base = work.base
    there = {(base.value("mun_code", i), base.value("designation", i)): i for i in range(len(base))}
    seen: dict[tuple[str, str], int] = {}
    replaced: dict[int, dict[str, Any]] = {}
    added: list[dict[str, Any]] = []
    told: dict[str, dict[int, str]] = {"rows_replaced": {}, "rows_added": {}, "rows_taken_off": {}, "not_listed": {}}
    taken_off: list[int] = []
    for row in range(len(work.given)):
        values, listed = _designation(work, row)
        if values is None:
            continue
        key = values["mun_code"], values["designation"]
        label = f"{values['mun_label']} ({key[0]}), {key[1]}"
        if key in seen:
            work.fault("duplicate_row", row, f"{label} stands in row {seen[key] + 1} too. Expected one period for each")
            continue
        seen[key] = row
        index = there.get(key)
        if not listed:
            told["not_listed" if index is None else "rows_taken_off"][row] = label
            taken_off += [] if index is None else [index]
        elif index is None:
            added.append(values)
            told["rows_added"][row] = label
        else:
            replaced[index] = values
            told["rows_replaced"][row] = label
    columns, kept = _put(base, replaced, added, taken_off)
    _check_left(work, {name for _, name in seen}, columns["designation"], taken_off)
    _tell_listings(work, told, replaced, list(seen.values()))
    words = _in_words(replaced=len(replaced), added=len(added), removed=len(taken_off))
    return _result(work, columns, np.full((len(kept) + len(added), 4), np.nan), words)


def _check_left(work: _Work, names: set[str], left: Sequence[str], taken_off: Sequence[int]) -> None:
    """Refuse to take the last municipality off a list."""
    for name in sorted(names - set(left)):
        if any(work.base.value("designation", i) == name for i in taken_off):
            message = f"nothing would be left of the list {name}, and an empty list looks like a lost one"
            work.found.fault("list_emptied", f"{message}. End its rows with a day in 'until' instead")
    work.found.stop()


def _tell_listings(
    work: _Work,
    told: Mapping[str, Mapping[int, str]],
    replaced: Mapping[int, Mapping[str, Any]],
    rows: Sequence[int],
) -> None:
    for kind, words in (
        ("rows_replaced", "These rows take the place of shipped ones"),
        ("rows_added", "These rows were added"),
        ("rows_taken_off", "These municipalities were taken off their lists"),
        ("not_listed", "These municipalities are on no such list anyway"),
    ):
        if told[kind]:
            work.found.tell(kind, "noted", told[kind], f"{words}: {_shown(told[kind].values())}.")
    days = ("from_earliest", "from_latest", "until_exclusive")
    dropped = [
        row
        for row, index in zip(told["rows_replaced"], replaced, strict=True)
        if any(work.base.value(n, index) for n in days) and not any(replaced[index][n] for n in days)
    ]
    if dropped:
        words = "These rows give no days: the days of the shipped rows no longer hold, and the designation always does."
        work.found.tell("days_dropped", "noted", dropped, words)
    dated = [row for row in rows if work.text("from_earliest", row) or work.text("until_exclusive", row)]
    if dated:
        words = "Rules that read a list whatever its days do not look at these; 'listed: no' takes a municipality off."
        work.found.tell("days_given", "noted", dated, words)


def _designation(work: _Work, row: int) -> tuple[dict[str, Any] | None, bool]:
    """Return the columns of a row, or None after a fault, and whether it puts the municipality on the list."""
    code, name = work.municipality(row), _list_name(work, row)
    listed = work.text("listed", row).lower() or "true"
    listed = _YES_NO.get(listed, listed)
    if listed not in {"true", "false"}:
        work.fault("unknown_value", row, f"'listed' is {listed!r}. Expected yes or no")
    values: dict[str, Any] = work.own(row)
    earliest, latest, until = (work.day(n, row) for n in ("from_earliest", "from_latest", "until_exclusive"))
    if latest is None:
        latest = earliest
    if earliest is not None and latest is not None and latest < earliest:
        work.fault("bad_period", row, f"it begins between {earliest} and {latest}, which is no span. Exchange the days")
    begins = latest or earliest
    if until is not None and begins is not None and until <= begins:
        work.fault(
            "bad_period", row, f"it begins on {begins} and has ended by {until}. 'until' is the first day without it"
        )
    if code is None or name is None:
        return None, False
    label, county = work.atlas.municipal_names[code]
    days = {"from_earliest": earliest, "from_latest": latest, "until_exclusive": until}
    values |= {n: "" if day is None else day.isoformat() for n, day in days.items()}
    values |= {"mun_code": code, "mun_label": label, "county": county, "designation": name}
    return values | {"note": work.text("note", row)}, listed == "true"


def _list_name(work: _Work, row: int) -> str | None:
    typed = work.text("designation", row)
    name = re.sub(r"[\s\-]+", "_", typed.lower())
    rows = [i for i, each in enumerate(work.base.columns["designation"]) if each == name]
    if name not in load_lists():
        problem = f"the designation is {typed!r}, and there is no such list" if typed else "it names no designation"
        work.fault("unknown_list", row, f"{problem}. {nearest_name(name, load_lists())}")
        return None
    if rows and all(is_blank(work.base.columns["mun_code"][i]) for i in rows):
        work.fault("unknown_list", row, f"{name} is a list of counties. Name a list of municipalities")
        return None
    return name


# -- stations ----------------------------------------------------------------------------------------------


def _stations(work: _Work) -> Layer:
    work.find_columns(_STATION_FIELDS)
    base = work.base
    if base.lonlat is None:
        raise work.found.refuse("unusable_base", "the stations have no longitude and latitude. Load them again")
    places = _positions(work)
    rows: list[tuple[int, int | None, dict[str, Any]]] = []
    seen: dict[str, int] = {}
    for row in range(len(work.given)):
        known, index = _station(work, row)
        if not known:
            continue
        values = _station_values(work, row, index, placed=row in places)
        key = base.key(index) if index is not None else values["station_id"]
        if key in seen:
            work.fault("duplicate_row", row, f"the station {key} stands in row {seen[key] + 1} too. Leave one out")
        seen.setdefault(key, row)
        if row in places and index is not None:
            _told_move(work, row, index, places[row])
        rows.append((row, index, values))
    work.found.stop()
    _into_municipalities(work, [each for each in rows if each[0] in places], places)
    work.found.stop()
    replaced = {index: values for _, index, values in rows if index is not None}
    added = [values for _, index, values in rows if index is None]
    columns, _ = _put(base, replaced, added)
    lonlat = np.vstack([base.lonlat, *(places[row] for row, index, _ in rows if index is None)])
    for row, index, _ in rows:
        if index is not None and row in places:
            lonlat[index] = places[row]
    for kind, words, chosen in (
        ("rows_replaced", "These stations were refined", [r for r in rows if r[1] is not None]),
        ("rows_added", "These stations were added", [r for r in rows if r[1] is None]),
    ):
        if chosen:
            named = _shown(str(values.get("name") or base.name(index or 0)) for _, index, values in chosen)
            work.found.tell(kind, "noted", [row for row, _, _ in chosen], f"{words}: {named}.")
    x, y = to_working(lonlat[:, 0], lonlat[:, 1])
    words = _in_words(replaced=len(replaced), added=len(added))
    return _result(work, columns, np.column_stack([x, y, x, y]), words, lonlat=lonlat)


def _station(work: _Work, row: int) -> tuple[bool, int | None]:
    """Return whether a row names a station, and its index; None for a further one."""
    key, name = work.text("station_id", row), work.text("name", row)
    if not key and not name:
        work.fault("missing_value", row, "it names no station. Give station_id or name")
        return False, None
    keys = {work.base.key(i).lower(): i for i in range(len(work.base))}
    fitting = [keys[key.lower()]] if key.lower() in keys else [] if key else _called(work, row, name)
    if len(fitting) == 1:
        return True, fitting[0]
    if fitting:
        listed = "; ".join(f"{work.base.key(i)} ({work.base.value('mode', i)})" for i in fitting)
        work.fault("ambiguous_station", row, f"{len(fitting)} stations are called {name!r}: {listed}. Give station_id")
        return False, None
    if not (name and work.text("mode", row) and work.text("operator", row)):
        hint = nearest_name(key or name, keys if key else sorted(set(work.base.names)))
        problem = f"there is no station {key or name!r}, and a further one needs name, mode and operator"
        work.fault("unknown_station", row, f"{problem}. {hint}")
        return False, None
    return True, None


def _called(work: _Work, row: int, name: str) -> list[int]:
    """Return the stations of a name, and of a row's mode where it says one."""
    base, mode = work.base, _coded(work, "mode", row, quiet=True)
    same = [i for i in range(len(base)) if base.name(i).casefold() == name.casefold()]
    return [i for i in same if not mode or base.value("mode", i) == mode]


def _coded(work: _Work, name: str, row: int, *, quiet: bool = False) -> str:
    """Return a given value in the manifest's spelling; one that the manifest does not know is a fault."""
    text = work.text(name, row)
    known = work.manifest.fields[name].values
    plain = {value.lower(): value for value in known}
    wanted = re.sub(r"[\s\-]+", "_", text.lower())
    wanted = _YES_NO.get(wanted, wanted) if name in _FLAGS else wanted
    if text and wanted not in plain and not quiet:
        hint = nearest_name(wanted, [value for value in known if value])
        work.fault("unknown_value", row, f"{name} is {text!r}, which the manifest does not know. {hint}")
    return plain.get(wanted, "")


def _station_values(work: _Work, row: int, index: int | None, *, placed: bool) -> dict[str, Any]:
    """Return what a row says of a station: all for a further one, what is to be changed for one that is there."""
    coded = [*_FLAGS, "mode", "operator", "operator_tie"]
    values: dict[str, Any] = {name: _coded(work, name, row) for name in coded}
    plain = (
        set(_STATION_FIELDS) - set(coded) - set(_PLACE) - set(_COMMON) - {"opened", "closed", "latitude", "longitude"}
    )
    values |= {name: work.text(name, row) for name in plain}
    days = {name: work.day(name, row) for name in ("opened", "closed")}
    values |= {name: day.isoformat() if day else "" for name, day in days.items()}
    for name in _COUNTS:
        if values[name] and not values[name].isdigit():
            work.fault("bad_figure", row, f"{name} is {values[name]!r}. Expected a number of lines, or nothing")
    feet = work.feet("coordinate_uncertainty_ft", row)
    if placed and not values["coordinate_uncertainty_ft"]:
        work.fault(
            "missing_uncertainty",
            row,
            "it has a position without coordinate_uncertainty_ft, and would count as exact. Give feet",
        )
    values["coordinate_uncertainty_ft"] = "" if feet is None else repr(feet)
    if index is None:
        _complete(work, row, values, placed=placed)
    else:
        values = {name: value for name, value in values.items() if value != "" and name != "station_id"}
        if placed:
            # How well sources agreed about the former position says nothing of this one.
            values |= {"n_independent_sources": "", "spread_m": ""}
        if not values and not work.text("mun_code", row):
            work.fault("missing_value", row, "it says nothing new of the station. Give what is to be changed")
    opened, closed = (
        days[name] or (None if index is None else read_day(work.base.value(name, index)))
        for name in ("opened", "closed")
    )
    if opened is not None and closed is not None and closed <= opened:
        work.fault("bad_period", row, f"the station opened on {opened} and had closed by {closed}. Correct the days")
    if work.text("mun_code", row) or work.text("municipality", row):
        code = work.municipality(row)
        values |= {} if code is None else _named(work, code)
    return values | work.own(row)


def _named(work: _Work, code: str) -> dict[str, str]:
    name, county = work.atlas.municipal_names[code]
    return {"mun_code": code, "municipality": name, "county": county}


def _complete(work: _Work, row: int, values: dict[str, Any], *, placed: bool) -> None:
    """Complete a further station, or say what it lacks."""
    wanted = ["name", "mode", "operator"]
    if values["mode"] in _RAIL:
        wanted += _FLAGS
    if values["mode"] == "commuter_rail" and values["out_of_state"] != "true":
        wanted += _COUNTS
    lacking = [name for name in wanted if not values[name] and not work.text(name, row)]
    if not placed and not _tried_place(work, row):
        lacking.append("a position")
    if lacking:
        work.fault("missing_value", row, f"a further station needs {', '.join(lacking)}. Give them")
    values["out_of_state"] = values["out_of_state"] or "false"
    if not values["station_id"]:
        values["station_id"] = "given-" + re.sub(r"[^a-z0-9]+", "-", values["name"].lower()).strip("-")
        if values["station_id"] in {work.base.key(i) for i in range(len(work.base))}:
            work.fault("duplicate_row", row, f"there is a station {values['station_id']}. Give a station_id of its own")


def _tried_place(work: _Work, row: int) -> bool:
    return work.given.geometries[row] is not None or bool(work.text("latitude", row) or work.text("longitude", row))


def _positions(work: _Work) -> dict[int, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return longitude and latitude by row, for the rows that have them."""
    found: dict[int, np.ndarray[Any, np.dtype[np.float64]]] = {}
    project = _projection(work) if any(shape is not None for shape in work.given.geometries) else None
    for row, shape in enumerate(work.given.geometries):
        typed = [work.text(n, row) for n in ("longitude", "latitude")]
        by_columns = by_point = None
        if any(typed):
            by_columns = np.array([read_figure(text) for text in typed], dtype=np.float64)
        if shape is not None and project is not None:
            if shape.geom_type != "Point" or shape.is_empty:
                work.fault("wrong_geometry", row, f"it is a {shape.geom_type}. Expected one point, the mid-point")
                continue
            point = project(shape)
            if not np.isfinite([point.x, point.y]).all():
                work.fault("misplaced", row, "its point cannot be projected. Correct its coordinates")
                continue
            by_point = np.array([float(v) for v in to_lonlat(point.x, point.y)])
        if by_columns is not None and by_point is not None and np.abs(by_columns - by_point).max() > _SAME_DEGREES:
            work.fault("position_contradicted", row, "its point is not at its latitude and longitude. Leave one out")
            continue
        place = by_point if by_columns is None else by_columns
        if place is None:
            continue
        problem = misfit(place.reshape(1, 2), "EPSG:4269")
        if problem is not None:
            work.fault(
                "misplaced", row, f"longitude {typed[0] or place[0]}, latitude {typed[1] or place[1]}: {problem.hint}"
            )
            continue
        found[row] = place
    return found


def _projection(work: _Work) -> Callable[[shapely.Geometry], shapely.Geometry] | None:
    """Return what projects given geometries to EPSG:3424; None after a fault."""
    import pyproj  # noqa: PLC0415 - lists need none

    text = work.given.crs
    if text is None:
        work.found.fault("undeclared_crs", "it does not say what its coordinates are in. Save it with its CRS")
        return None
    try:
        crs = pyproj.CRS.from_user_input(text)
        datum = crs.datum.name if crs.datum is not None else str(crs.name)
    except pyproj.exceptions.CRSError as error:
        work.found.fault("undeclared_crs", f"its CRS cannot be read ({error}). Save it in EPSG:3424")
        return None
    if not datum.startswith(_DATUMS):
        work.found.fault("unchecked_datum", f"its coordinates are on {datum}. Expected NAD83: project it to EPSG:3424")
        return None
    return lambda shape: to_working_geometry(shapely.force_2d(shape), crs=text)


def _told_move(work: _Work, row: int, index: int, place: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    assert work.base.lonlat is not None  # noqa: S101 - the caller looked
    before = work.base.lonlat[index]
    moved = float(geodesic_ft(before[0], before[1], place[0], place[1]))
    name, was = work.base.name(index), work.base.value("coordinate_uncertainty_ft", index)
    if moved > _FARTHEST_MOVE_FT:
        remedy = "Correct the position, or add it as a station of its own with another station_id"
        work.fault(
            "moved_too_far", row, f"{name} would move by {moved:,.0f} ft, which makes it another place. {remedy}"
        )
    else:
        words = f"{name} moved by {moved:,.0f} ft; its former position was known to {was} ft."
        work.found.tell("station_moved", "noted", [row], words)


def _into_municipalities(
    work: _Work,
    rows: Sequence[tuple[int, int | None, dict[str, Any]]],
    places: Mapping[int, np.ndarray[Any, np.dtype[np.float64]]],
) -> None:
    """Find the municipality of each station with a new position; one that was given is compared."""
    if not rows:
        return
    said = [
        values.get("mun_code") or (work.base.value("mun_code", i) if i is not None else "") for _, i, values in rows
    ]
    lonlat = np.array([places[row] for row, _, _ in rows])
    x, y = to_working(lonlat[:, 0], lonlat[:, 1])
    slack = np.array([float(values["coordinate_uncertainty_ft"]) for _, _, values in rows])
    points = np.asarray(shapely.points(np.column_stack([x, y])), dtype=object)
    n = len(rows)
    table = SiteTable(points, slack, np.ones(n, dtype=bool), tuple(said), by_pin=(False,) * n)
    place = place_sites(work.atlas, table)
    for i, (row, index, values) in enumerate(rows):
        abroad = values.get("out_of_state") or (
            work.base.value("out_of_state", index) if index is not None else "false"
        )
        codes, certain = place.codes_of(i), place.kinds[i] is PlacementKind.CERTAIN
        names = "; ".join(f"{work.atlas.municipal_names[code][0]} ({code})" for code in codes) or "no municipality"
        if abroad == "true":
            if certain or values.get("mun_code"):
                work.fault("municipality_contradicted", row, f"it is said to be out of State, and lies in {names}")
        elif certain and codes[0] != said[i]:
            if values.get("mun_code"):
                work.fault("municipality_contradicted", row, f"it lies in {names}, not in {said[i]}. Correct either")
                continue
            values.update(_named(work, codes[0]))
            if said[i]:
                work.found.tell(
                    "municipality_changed", "noted", [row], f"The station now lies in {names}, not in {said[i]}."
                )
        elif not certain and said[i] not in codes:
            remedy = "Give mun_code, or out_of_state" if not said[i] else "Correct the position or mun_code"
            where = f"{names}{f', not in {said[i]}' if said[i] else ''}"
            work.fault("municipality_open", row, f"within its uncertainty it may lie in {where}. {remedy}")
        if index is None:
            _told_twin(work, row, values, lonlat[i])


def _told_twin(work: _Work, row: int, values: Mapping[str, Any], place: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    """Tell of a station of the same mode that is there already."""
    assert work.base.lonlat is not None  # noqa: S101 - the caller looked
    same = work.base.select((("mode", (values["mode"],)),))
    if not len(same):
        return
    there = work.base.lonlat[same]
    away = geodesic_ft(np.full(len(same), place[0]), np.full(len(same), place[1]), there[:, 0], there[:, 1])
    nearest = int(np.argmin(away))
    if away[nearest] < _SAME_PLACE_FT:
        other = f"{work.base.name(int(same[nearest]))} ({work.base.key(int(same[nearest]))})"
        words = f"{values['name']} is {away[nearest]:,.0f} ft from {other} of the same mode: is it that one?"
        work.found.tell("close_to_known", "noted", [row], words)


# -- outlines ----------------------------------------------------------------------------------------------


def _outlines(work: _Work) -> Layer:
    work.find_columns(_OUTLINE_FIELDS)
    base, project = work.base, _projection(work)
    work.found.stop()
    assert project is not None  # noqa: S101 - it would have been a fault
    by_id: dict[str, list[int]] = {}
    for i in range(len(base)):
        by_id.setdefault(base.key(i), []).append(i)
    shapes: list[shapely.Geometry] = []
    rows: list[dict[str, Any]] = []
    accuracies: list[float] = []
    for row in range(len(work.given)):
        key = _outlined(work, row, by_id)
        shape = _outline(work, row, project)
        feet = work.feet("accuracy_ft", row)
        if feet is None and not work.text("accuracy_ft", row):
            words = "it has no accuracy_ft, and would count as exact. Give the feet within which the outline is true"
            work.fault("missing_uncertainty", row, words)
        own = work.own(row)
        if key is None or shape is None or feet is None:
            continue
        former = by_id[key]
        _compare_bounds(work, row, shape, former)
        like = {name: values[former[0]] for name, values in base.columns.items()}
        name = work.text("name", row) or base.name(former[0])
        shapes.append(shape)
        rows.append(like | own | {"bound": EXACT, "name": name})
        accuracies.append(feet)
    work.found.stop()
    outlined = {str(row["id"]) for row in rows}
    gone = [i for key in outlined for i in by_id[key]]
    columns, kept = _put(base, {}, rows, gone)
    every = [base.geometry(i) for i in kept] + shapes
    bounds = np.array([shapely.bounds(shape) for shape in every], dtype=np.float64).reshape(-1, 4)
    own_ft = (work.manifest.accuracy_ft or 0.0) + max(accuracies)
    # One figure holds for the whole layer: what is kept is never taken for better known than it is.
    accuracy = max([own_ft, *([base.manifest.accuracy_ft or 0.0] if kept else [])])
    named = _shown(sorted(outlined))
    work.found.tell("rows_replaced", "noted", range(len(rows)), f"An outline takes the place of the bounds of {named}.")
    if kept and accuracy > (base.manifest.accuracy_ft or 0.0):
        words = f"The bounds that stay count as known to {accuracy:.1f} ft too, as the outline does."
        work.found.tell("accuracy_of_all", "noted", (), words)
    words = f"{_in_words(replaced=len(gone))} by {len(rows)} outline{'s' if len(rows) != 1 else ''} ({named})"
    datum = f"{max(accuracies):g} ft as {work.source} states; {work.manifest.accuracy_source}"
    return _result(work, columns, bounds, words, shapes=every, accuracy_ft=accuracy, accuracy_source=datum)


def _outlined(work: _Work, row: int, by_id: Mapping[str, Sequence[int]]) -> str | None:
    """Return the id of what a row outlines; None after a fault."""
    typed, name = work.text("id", row), work.text("name", row)
    if not typed and len(by_id) == 1:
        return next(iter(by_id))
    names = {work.base.name(indices[0]).lower(): key for key, indices in by_id.items()}
    found = typed.lower() if typed else names.get(name.lower(), "")
    if found in by_id:
        return found
    listed = "; ".join(f"{key} ({work.base.name(indices[0])})" for key, indices in by_id.items())
    work.fault("unknown_id", row, f"it outlines {typed or name or 'nothing that it names'!r}. Give the id: {listed}")
    return None


def _outline(work: _Work, row: int, project: Callable[[shapely.Geometry], shapely.Geometry]) -> shapely.Geometry | None:
    """Return an outline in EPSG:3424; None after a fault."""
    shape = work.given.geometries[row]
    if shape is None or shape.is_empty:
        work.fault("null_geometry", row, "it has no geometry. Draw it, or remove the row")
        return None
    if shape.geom_type not in {"Polygon", "MultiPolygon"}:
        work.fault("wrong_geometry", row, f"it is a {shape.geom_type}. Expected a polygon, the outline")
        return None
    if not shapely.is_valid(shape):
        reason = shapely.is_valid_reason(shape)
        work.fault("invalid_geometry", row, f"its outline is not valid ({reason}). Repair it in a GIS")
        return None
    if shape.has_z:
        work.found.tell("z_dropped", "changed", [row], "Heights were dropped: areas are two-dimensional.")
    try:
        return project(shape)
    except ValueError as error:
        work.fault("misplaced", row, f"it cannot be projected: {error}. Is its CRS the right one?")
        return None


def _compare_bounds(work: _Work, row: int, shape: shapely.Geometry, former: Sequence[int]) -> None:
    """Refuse an outline that lies elsewhere; tell where it does not lie between the shipped bounds."""
    base = work.base
    outer = [i for i in former if base.bound_kinds[i] == OUTER] or list(former)
    widest = shapely.union_all([base.geometry(i) for i in outer])
    name = base.name(former[0])
    if not shapely.intersects(widest, shape):
        away = float(shapely.distance(widest, shape)) * FT_PER_FTUS / FT_PER_MILE
        words = f"the outline lies {away:,.1f} miles from all ground that can be {name}"
        work.fault("misplaced", row, f"{words}. Correct its id, or the CRS that it says it is in")
        return
    narrow = [base.geometry(i) for i in former if base.bound_kinds[i] != OUTER]
    beyond, short = not shapely.covers(widest, shape), any(not shapely.covers(shape, each) for each in narrow)
    if beyond or short:
        how = " and ".join(filter(None, ("reaches beyond the outer" * beyond, "does not cover the inner" * short)))
        work.found.tell("beyond_bounds", "noted", [row], f"The outline of {name} {how} bound that ships. It was taken.")


_METHODS: dict[str, Callable[[_Work], Layer]] = {
    "atlantic_city_airport": _outlines,
    "designations": _designations,
    "south_jersey_port_terminals": _outlines,
    "transit_stations": _stations,
}
REFINABLE = tuple(_METHODS)
"""The layers that the user's own knowledge refines; every other layer is loaded whole."""
