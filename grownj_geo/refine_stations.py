"""A user's rows on stations: better mid-points, days of opening and closing, further stations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.crs import misfit
from grownj_geo.layercheck import read_day, read_figure
from grownj_geo.place import PlacementKind, place_sites
from grownj_geo.readings import nearest_name
from grownj_geo.refine_places import degrees_system, geometry_system, system_in_words
from grownj_geo.refining import COMMON_FIELDS, PLACE_FIELDS, YES_NO, in_words, put, result, shown
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import FT_PER_MILE, geodesic_ft, to_lonlat, to_working

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.georeference import Georeference
    from grownj_geo.layer import Layer
    from grownj_geo.refining import Work

__all__ = ["refine_stations"]

_FARTHEST_MOVE_FT = FT_PER_MILE
"""A mid-point that is moved farther is another station's."""
_SAME_PLACE_FT = 500.0
_AGREE_FT = 4.0
"""Two statements of one position agree within it: degrees of five places are so fine."""
_RAIL = frozenset({"commuter_rail", "light_rail", "rapid_transit"})
_FIELDS = {
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
    **PLACE_FIELDS,
    **COMMON_FIELDS,
}
_PLAIN_DEGREES = "longitude and latitude in degrees, on NAD83; as the columns are named"
_COUNTS = tuple(name for name in _FIELDS if name.endswith(("lines_n", "merged_n")))
_FLAGS = ("underground", "at_airport", "interstate", "out_of_state")


@dataclass(frozen=True)
class _Position:
    """Where a row puts its station: longitude and latitude on NAD83, and the feet that a change of datum adds."""

    lonlat: NDArray[np.float64]
    added_ft: float


def refine_stations(work: Work) -> Layer:
    """Return the stations with what the given rows say of them, and with the further ones.

    Raises
    ------
    LayerFault
        For stations without longitude and latitude (``unusable_base``), and with all faults of the rows.
    """
    work.find_columns(_FIELDS)
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
        values = _station_values(work, row, index, places.get(row))
        key = base.key(index) if index is not None else values["station_id"]
        if key in seen:
            work.fault("duplicate_row", row, f"the station {key} stands in row {seen[key] + 1} too. Leave one out")
        seen.setdefault(key, row)
        if row in places and index is not None:
            _told_move(work, row, index, places[row].lonlat)
        rows.append((row, index, values))
    work.found.stop()
    _into_municipalities(work, [each for each in rows if each[0] in places], places)
    work.found.stop()
    replaced = {index: values for _, index, values in rows if index is not None}
    added = [values for _, index, values in rows if index is None]
    columns, _ = put(base, replaced, added)
    lonlat = np.vstack([base.lonlat, *(places[row].lonlat for row, index, _ in rows if index is None)])
    for row, index, _ in rows:
        if index is not None and row in places:
            lonlat[index] = places[row].lonlat
    for kind, words, chosen in (
        ("rows_replaced", "These stations were refined", [r for r in rows if r[1] is not None]),
        ("rows_added", "These stations were added", [r for r in rows if r[1] is None]),
    ):
        if chosen:
            named = shown(str(values.get("name") or base.name(index or 0)) for _, index, values in chosen)
            work.found.tell(kind, "noted", [row for row, _, _ in chosen], f"{words}: {named}.")
    x, y = to_working(lonlat[:, 0], lonlat[:, 1])
    words = in_words(replaced=len(replaced), added=len(added))
    return result(work, columns, np.column_stack([x, y, x, y]), words, lonlat=lonlat)


def _station(work: Work, row: int) -> tuple[bool, int | None]:
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


def _called(work: Work, row: int, name: str) -> list[int]:
    """Return the stations of a name, and of a row's mode where it says one."""
    base, mode = work.base, _coded(work, "mode", row, quiet=True)
    same = [i for i in range(len(base)) if base.name(i).casefold() == name.casefold()]
    return [i for i in same if not mode or base.value("mode", i) == mode]


def _coded(work: Work, name: str, row: int, *, quiet: bool = False) -> str:
    """Return a given value in the manifest's spelling; one that the manifest does not know is a fault."""
    text = work.text(name, row)
    known = work.manifest.fields[name].values
    plain = {value.lower(): value for value in known}
    wanted = re.sub(r"[\s\-]+", "_", text.lower())
    wanted = YES_NO.get(wanted, wanted) if name in _FLAGS else wanted
    if text and wanted not in plain and not quiet:
        hint = nearest_name(wanted, [value for value in known if value])
        work.fault("unknown_value", row, f"{name} is {text!r}, which the manifest does not know. {hint}")
    return plain.get(wanted, "")


def _station_values(work: Work, row: int, index: int | None, place: _Position | None) -> dict[str, Any]:
    """Return what a row says of a station: all for a further one, what is to be changed for one that is there."""
    coded = [*_FLAGS, "mode", "operator", "operator_tie"]
    values: dict[str, Any] = {name: _coded(work, name, row) for name in coded}
    otherwise = ("opened", "closed", "latitude", "longitude")
    plain = set(_FIELDS).difference(coded, PLACE_FIELDS, COMMON_FIELDS, otherwise)
    values |= {name: work.text(name, row) for name in plain}
    days = {name: work.day(name, row) for name in ("opened", "closed")}
    values |= {name: day.isoformat() if day else "" for name, day in days.items()}
    for name in _COUNTS:
        if values[name] and not values[name].isdigit():
            work.fault("bad_figure", row, f"{name} is {values[name]!r}. Expected a number of lines, or nothing")
    feet, placed = work.feet("coordinate_uncertainty_ft", row), place is not None
    if not placed and row in work.columns.filled.get("coordinate_uncertainty_ft", ()):
        # What is stated of all positions in the file is not about one that it does not give.
        values["coordinate_uncertainty_ft"], feet = "", None
    if placed and not values["coordinate_uncertainty_ft"]:
        work.fault(
            "missing_uncertainty",
            row,
            "it has a position without coordinate_uncertainty_ft, and would count as exact. Give feet",
        )
    values["coordinate_uncertainty_ft"] = "" if feet is None else repr(feet + (place.added_ft if place else 0.0))
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


def _named(work: Work, code: str) -> dict[str, str]:
    name, county = work.atlas.municipal_names[code]
    return {"mun_code": code, "municipality": name, "county": county}


def _complete(work: Work, row: int, values: dict[str, Any], *, placed: bool) -> None:
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


def _tried_place(work: Work, row: int) -> bool:
    return work.given.geometries[row] is not None or bool(work.text("latitude", row) or work.text("longitude", row))


def _positions(work: Work) -> dict[int, _Position]:
    """Return where rows put their stations, for the rows that do."""
    given, stated = work.given, work.options.crs
    pointed = [row for row, shape in enumerate(given.geometries) if shape is not None]
    typed = {row: text for row in range(len(given)) if any(text := _typed(work, row))}
    if not pointed and not typed:
        unused = " and ".join(["--crs"] * (stated is not None) + ["--accuracy-ft"] * (work.accuracy_ft is not None))
        if unused:
            raise work.found.refuse("option_not_used", f"{unused}: nothing where no row has a position. Leave it out")
        work.crs = "none: no positions"
        return {}
    system = geometry_system(given, stated, work.found) if pointed else None
    degrees = degrees_system(given, stated, work.found) if typed else None
    told = [one for one in (system, degrees) if one is not None]
    work.crs = system_in_words(told[0], given, stated) if told else _PLAIN_DEGREES
    work.added_accuracy_ft = max((one.added_accuracy_ft for one in told), default=0.0)
    found: dict[int, _Position] = {}
    for row in sorted({*pointed, *typed}):
        place = _position(work, row, typed.get(row), system, degrees)
        if place is None:
            continue
        problem = misfit(place.lonlat.reshape(1, 2), "EPSG:4269")
        if problem is not None:
            lon, lat = typed.get(row, ("", ""))
            where = f"longitude {lon or place.lonlat[0]}, latitude {lat or place.lonlat[1]}"
            work.fault("misplaced", row, f"{where}: {problem.hint}")
            continue
        found[row] = place
    shifted = [row for row, place in found.items() if place.added_ft]
    if shifted:
        feet = max(found[row].added_ft for row in shifted)
        words = f"The {feet:.1f} ft of the change of datum were added to coordinate_uncertainty_ft of these rows."
        work.found.tell("uncertainty_added", "noted", shifted, words)
    return found


def _typed(work: Work, row: int) -> tuple[str, str]:
    return work.text("longitude", row), work.text("latitude", row)


def _position(
    work: Work, row: int, typed: tuple[str, str] | None, system: Georeference | None, degrees: Georeference | None
) -> _Position | None:
    """Return a row's position by its point, by its columns, or by both where they agree; None after a fault."""
    shape = work.given.geometries[row]
    if shape is None or system is None:
        return None if typed is None else _on_nad83(work, row, _figures(typed), degrees)
    if shape.geom_type != "Point" or shape.is_empty:
        work.fault("wrong_geometry", row, f"it is a {shape.geom_type}. Expected one point, the mid-point")
        return None
    raw = np.array([shape.x, shape.y])
    by_point = _on_nad83(work, row, raw, system)
    # Columns with the point's own numbers are what it was made of.
    if typed is None or by_point is None or (_figures(typed) == raw).all():
        return by_point
    by_columns = _on_nad83(work, row, _figures(typed), degrees)
    if by_columns is None:
        return None
    apart = float(geodesic_ft(*by_point.lonlat, *by_columns.lonlat)) if np.isfinite(by_columns.lonlat).all() else np.inf
    if apart > _AGREE_FT + by_point.added_ft + by_columns.added_ft:
        work.fault("position_contradicted", row, "its point is not at its latitude and longitude. Leave one out")
        return None
    return min(by_columns, by_point, key=lambda place: place.added_ft)


def _figures(typed: tuple[str, str]) -> NDArray[np.float64]:
    return np.array([read_figure(text) for text in typed], dtype=np.float64)


def _on_nad83(work: Work, row: int, xy: NDArray[np.float64], system: Georeference | None) -> _Position | None:
    """Return longitude and latitude on NAD83 of a place in a system, which is NAD83's degrees where there is none."""
    if system is None or (system.is_degrees and system.one_datum):
        # Degrees stay as they were given: there and back again they would differ in the last digits.
        return _Position(xy, 0.0)
    working = system.forward(xy.reshape(1, 2))
    if not np.isfinite(working).all():
        work.fault("misplaced", row, f"its point cannot be projected from {system.name}. Correct its coordinates")
        return None
    lon, lat = to_lonlat(working[:, 0], working[:, 1])
    return _Position(np.array([float(lon[0]), float(lat[0])]), system.added_accuracy_ft)


def _told_move(work: Work, row: int, index: int, place: np.ndarray[Any, np.dtype[np.float64]]) -> None:
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
    work: Work,
    rows: Sequence[tuple[int, int | None, dict[str, Any]]],
    places: Mapping[int, _Position],
) -> None:
    """Find the municipality of each station with a new position; one that was given is compared."""
    if not rows:
        return
    said = [
        values.get("mun_code") or (work.base.value("mun_code", i) if i is not None else "") for _, i, values in rows
    ]
    lonlat = np.array([places[row].lonlat for row, _, _ in rows])
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


def _told_twin(work: Work, row: int, values: Mapping[str, Any], place: np.ndarray[Any, np.dtype[np.float64]]) -> None:
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
