"""Coordinates as people type them: text in, longitude and latitude out.

Nothing is guessed. Where two readings are possible, or the usual slip has been made (a missing minus
sign, feet without a CRS, degrees with one), the text is refused and the corrected command is printed.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import shapely

from grownj_geo.crs import LAT_RANGE, LONLAT, Misfit, is_degrees, misfit, parse_crs, plain_text
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.units import FT_PER_METRE, to_lonlat, to_working, to_working_geometry

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Coordinates", "parse_coordinates", "plain_text"]

_FT_PER_DEGREE = 364_000.0
_PARTS = ("deg", "min", "sec")
_ROUNDING_NOTE_FT = 40.0
_LONGEST = 300
_EXPECTED = (
    'Expected latitude and longitude in degrees, as in "40.7344,-74.1641", '
    '"40 44 03.8 N 74 09 50.8 W" or "40°44\'03.8\\"N 74°09\'50.8\\"W".'
)

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<num>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))
    | (?P<sec>"|''|SECONDS?\b|SEC\b\.?|S(?=\s*[NSEW](?![A-Z])))
    | (?P<deg>°|DEGREES?\b|DEG\b\.?|D(?![A-Z]))
    | (?P<min>'|MINUTES?\b|MIN\b\.?|M(?![A-Z]))
    | (?P<label>LATITUDE|LAT|LONGITUDE|LONG|LON|LNG)\b\.?
    | (?P<hemi>NORTH|SOUTH|EAST|WEST|[NSEW](?![A-Z]))
    | (?P<colon>[:=])
    | (?P<sep>[,;/|])
    )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_COMMA_PAIR = re.compile(
    r"(?P<a>[^0-9,;]*[+-]?[0-9]{1,3},[0-9]+[^0-9,;]*?)(?:\s*;\s*|,\s+|\s+)"
    r"(?P<b>[^0-9,;]*[+-]?[0-9]{1,3},[0-9]+[^0-9,;]*)"
)
_ELEVATION = re.compile(
    r"(?<![\s,;])[\s,;]+(?:ELEVATION|ELEV|ELE|ALTITUDE|ALT|HEIGHT|Z)\.?\s*[:=]?\s*"
    r"[+-]?[0-9.]+\s*(?:METRES|METERS|FEET|FT|M)?$"
)
_NOT_A_NUMBER = re.compile(r"(?<![A-Z])(?:NAN|INF|INFINITY|NULL|NONE)(?![A-Z])")


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """One place, read from text.

    Parameters
    ----------
    lon, lat
        Degrees.
    x, y
        The same place in EPSG:3424, US survey feet.
    order
        Which number came first: ``"latitude first"``, ``"longitude first"`` or ``"x, y in EPSG:3424"``.
    rounding_ft
        Half a unit in the last place typed, in feet, the larger of the two axes. It says how finely the place
        was typed, and is never taken for the site's uncertainty.
    notes
        What was changed or assumed while reading.
    """

    lon: float
    lat: float
    x: float
    y: float
    order: str
    rounding_ft: float
    notes: tuple[str, ...] = ()


class _UnreadableError(Exception):
    """One reading of the text does not work; another may."""


class _Angle(NamedTuple):
    value: float
    axis: str | None
    fields: int
    marked: bool
    signed: bool
    unit: float
    typed: str
    places: str
    note: str | None


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise _UnreadableError(f"{text[at:].strip()[:20]!r} is not part of a coordinate")
        kind, word = str(token.lastgroup), token.group(str(token.lastgroup))
        if word == "S" and [k for k, _ in found[-2:]] == ["min", "num"] and found[-2][1].startswith("M"):
            kind = "sec"  # as in 40d 44m 03.8s, not south
        found.append((kind, word))
        at = token.end()
    return found


def _drop_colons(tokens: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    kept: list[tuple[str, str]] = []
    for i, token in enumerate(tokens):
        if token[0] != "colon":
            kept.append(token)
        elif i == 0 or i + 1 == len(tokens) or tokens[i - 1][0] not in {"num", "label", "hemi"}:
            raise _UnreadableError("a colon stands where none belongs")
    return kept


def _fields(tokens: Sequence[tuple[str, str]]) -> tuple[list[str], bool, str | None, str | None]:
    """Return the numbers of one angle, whether they carry unit signs, its letter and its label."""
    numbers: list[str] = []
    marks: list[str] = []
    hemi = label = None
    previous = ""
    for position, (kind, token) in enumerate(tokens):
        if kind == "num":
            if hemi and position and previous == "hemi" and numbers:
                raise _UnreadableError("a number follows the letter that ends the angle")
            numbers.append(token)
        elif kind in {"deg", "min", "sec"}:
            if previous != "num" or len(numbers) != _PARTS.index(kind) + 1:
                raise _UnreadableError("degrees, minutes and seconds are out of order")
            marks.append(kind)
        elif kind == "hemi":
            if hemi or (numbers and position + 1 < len(tokens)):
                raise _UnreadableError("a letter N, S, E or W stands inside the angle")
            hemi = token[0]
        else:
            if label or position:
                raise _UnreadableError("a label stands inside the angle")
            label = "lat" if token.startswith("LAT") else "lon"
        previous = kind
    return numbers, bool(marks), hemi, label


def _angle(tokens: Sequence[tuple[str, str]]) -> _Angle:
    numbers, marked, hemi, label = _fields(_drop_colons(tokens))
    if not 1 <= len(numbers) <= 3:  # noqa: PLR2004 - degrees, minutes, seconds
        raise _UnreadableError(f"{len(numbers)} numbers for one angle")
    if any("." in n for n in numbers[:-1]) or any(n[0] in "+-" for n in numbers[1:]):
        raise _UnreadableError("only the last number of an angle has decimals, only the first a sign")
    if any(float(n) >= 60 for n in numbers[1:]):  # noqa: PLR2004 - minutes in a degree
        raise _UnreadableError("minutes and seconds are below 60")
    axis = label
    note = None
    negative = numbers[0][0] == "-"
    if hemi:
        axis = "lat" if hemi in "NS" else "lon"
        if label and label != axis:
            raise _UnreadableError(f"the label says {label}, the letter {hemi} says {axis}")
        if negative and hemi in "NE":
            raise _UnreadableError(f"the minus sign and the letter {hemi} contradict each other")
        if negative:
            note = f"The minus sign and the letter {hemi} say the same and were read once."
        negative = hemi in "SW"
    size = sum(abs(float(n)) / 60**i for i, n in enumerate(numbers))
    decimals = len(numbers[-1].partition(".")[2])
    name = ("degree", "minute", "second")[len(numbers) - 1]
    return _Angle(
        value=-size if negative else size,
        axis=axis,
        fields=len(numbers),
        marked=marked,
        signed=numbers[0][0] in "+-" or hemi is not None,
        unit=10.0**-decimals / 60 ** (len(numbers) - 1),
        typed=numbers[0] if len(numbers) == 1 else f"{size:.7f}",
        places=f"{decimals} decimal{'s' * (decimals != 1)}{f' of a {name}' * (len(numbers) > 1)}"
        if decimals
        else f"whole {name}s",
        note=note,
    )


def _pair(first: Sequence[tuple[str, str]], second: Sequence[tuple[str, str]]) -> tuple[_Angle, _Angle]:
    a, b = _angle(first), _angle(second)
    if a.fields != b.fields and not (a.marked and b.marked):
        raise _UnreadableError("the two angles have different numbers of parts")
    if a.axis and a.axis == b.axis:
        raise _UnreadableError(f"both are marked as {'latitude' if a.axis == 'lat' else 'longitude'}")
    return a, b


def _angles(tokens: Sequence[tuple[str, str]]) -> tuple[_Angle, _Angle]:
    parts = [list(g) for is_sep, g in itertools.groupby(tokens, lambda t: t[0] == "sep") if not is_sep]
    if len(parts) > 2 or (len(parts) == 1 and sum(t[0] == "num" for t in tokens) == 1):  # noqa: PLR2004
        numbers = sum(t[0] == "num" for t in tokens)
        raise _UnreadableError(f"{numbers} number{'s' * (numbers != 1)} where two are expected")
    if len(parts) == 2:  # noqa: PLR2004 - latitude and longitude
        return _pair(*parts)
    readings = []
    why: list[str] = []
    for i in range(1, len(tokens)):
        try:
            readings.append(_pair(tokens[:i], tokens[i:]))
        except _UnreadableError as error:
            why.append(str(error))
    distinct = {(a.value, b.value, a.axis, b.axis): (a, b) for a, b in readings}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if distinct:
        raise _UnreadableError("they can be split into latitude and longitude in several ways; put a comma between")
    numbers = sum(t[0] == "num" for t in tokens)
    count = f"{numbers} number{'s' * (numbers != 1)}"
    telling = [w for w in why if any(word in w for word in ("contradict", "both are", "label says"))]
    if telling:
        raise _UnreadableError(telling[0])
    if numbers in {4, 6} and any(w.startswith("minutes") for w in why):
        raise _UnreadableError("minutes and seconds are below 60")
    raise _UnreadableError(f"{count} that do not make a latitude and a longitude")


def _rounding(angles: tuple[_Angle, _Angle], lat: float) -> tuple[float, str | None]:
    errors = []
    for angle, axis in zip(angles, ("lat", "lon"), strict=True):
        scale = _FT_PER_DEGREE * (1.0 if axis == "lat" else float(np.cos(np.radians(lat))))
        errors.append((0.5 * angle.unit * scale, angle.places))
    worst, places = max(errors)
    if worst <= _ROUNDING_NOTE_FT:
        return worst, None
    return worst, (
        f"Typed to {places}: the place may be off by up to {worst:,.0f} ft; state --uncertainty-ft to let that count."
    )


def _signless(angle: _Angle) -> str:
    return angle.typed.lstrip("+-")


def _from_degrees(text: str, plain: str, crs: str) -> Coordinates:
    upper = plain.upper()
    notes: list[str] = []
    elevation = _ELEVATION.search(upper)
    if elevation:
        upper = upper[: elevation.start()]
        notes.append(f"The height {elevation.group().strip(' ,;').lower()!r} was dropped: places are two-dimensional.")
    comma = None if "." in upper else _COMMA_PAIR.fullmatch(upper)
    if comma:
        upper = f"{comma['a'].replace(',', '.')};{comma['b'].replace(',', '.')}"
        notes.append("The commas inside the numbers were read as decimal points.")
    try:
        first, second = _angles(_tokens(re.sub(r"[\t\n\r]+", ";", upper.strip("()[]<> "))))
    except _UnreadableError as error:
        raise SiteError(f"Coordinates were read as {text!r}: {error}. {_EXPECTED}") from None
    notes += [a.note for a in (first, second) if a.note]
    lon_first = first.axis == "lon" or second.axis == "lat"
    lettered = bool(first.axis or second.axis)
    lat, lon = (second, first) if lon_first else (first, second)
    problem = misfit(np.array([[lon.value, lat.value]]), crs)
    if problem and problem.kind == "swapped" and not lettered:
        lat, lon, lon_first = lon, lat, True
        problem = None
    if problem:
        _refuse(text, problem, lat, lon, lettered=lettered)
    if lon_first:
        notes.append("Longitude came first, latitude second; read so.")
    rounding_ft, note = _rounding((lat, lon), lat.value)
    if note:
        notes.append(note)
    x, y = _working(lon.value, lat.value, crs)
    east, north = lon.value, lat.value
    if crs not in LONLAT:
        east, north = (float(v) for v in to_lonlat(x, y))
        notes.append(f"Read in {crs} and moved to NAD83.")
    return Coordinates(
        lon=east,
        lat=north,
        x=x,
        y=y,
        order="longitude first" if lon_first else "latitude first",
        rounding_ft=rounding_ft,
        notes=tuple(notes),
    )


def _working(x: float, y: float, crs: str) -> tuple[float, float]:
    if crs in LONLAT:
        east, north = to_working(x, y)
        return float(east), float(north)
    point = to_working_geometry(shapely.Point(x, y), crs=crs)
    return point.x, point.y


def _refuse(text: str, problem: Misfit, lat: _Angle, lon: _Angle, *, lettered: bool) -> None:
    read = f"Coordinates were read as {text!r}"
    if problem.kind == "outside":
        raise OutsideNewJerseyError(
            f"{read}: {problem.hint}. Expected a place in New Jersey; check the numbers and their order."
        )
    if problem.kind == "sign":
        a, b = (lat, lon) if LAT_RANGE[0] <= abs(lat.value) <= LAT_RANGE[1] else (lon, lat)
        slip = "the minus sign of the longitude is missing" if b.value > 0 and a.value > 0 else problem.hint
        raise SiteError(
            f"{read}: {slip}. Expected a negative longitude in New Jersey. "
            f'If that is the place, run: grownj check "{_signless(a)},-{_signless(b)}"'
        )
    if problem.kind == "swapped" and lettered:
        raise SiteError(
            f"{read}: the letters or labels say that {lat.typed} is the latitude, but {problem.hint}. "
            f'Expected labels that fit. If the labels are wrong, run: grownj check "{lon.typed},{lat.typed}"'
        )
    raise SiteError(f"{read}: {problem.hint}. {_EXPECTED}")


def _from_projected(text: str, plain: str, crs: str) -> Coordinates:
    numbers = [n for n in re.split(r"[\s,;|]+", plain.strip("()[]<> ")) if n]
    if len(numbers) != 2 or not all(_NUMBER.fullmatch(n) for n in numbers):  # noqa: PLR2004 - x and y
        thousands = " Write numbers without thousands commas." if re.search(r"[0-9],[0-9]{3}(?![0-9])", plain) else ""
        raise SiteError(
            f"Coordinates were read as {text!r} with --crs {crs}; expected two numbers, "
            f'x (east) then y (north), as in "585000 700000".{thousands}'
        )
    x, y = float(numbers[0]), float(numbers[1])
    problem = misfit(np.array([[x, y]]), crs)
    if problem:
        swap = f' Run: grownj check "{numbers[1]} {numbers[0]}" --crs {crs}' if problem.kind == "swapped" else ""
        kind = OutsideNewJerseyError if problem.kind == "outside" else SiteError
        raise kind(
            f"Coordinates were read as {text!r} with --crs {crs}: {problem.hint}.{swap} "
            "Expected x and y in that system, in New Jersey."
        )
    import pyproj  # noqa: PLC0415

    unit_ft = pyproj.CRS.from_user_input(crs).axis_info[0].unit_conversion_factor * FT_PER_METRE
    decimals = min(len(n.partition(".")[2]) for n in numbers)
    east, north = _working(x, y, crs)
    lon, lat = to_lonlat(east, north)
    return Coordinates(
        lon=float(lon),
        lat=float(lat),
        x=east,
        y=north,
        order=f"x, y in {crs}",
        rounding_ft=0.5 * 10.0**-decimals * unit_ft,
    )


def parse_coordinates(text: str, *, crs: str | None = None) -> Coordinates:
    """Read a place from text.

    Parameters
    ----------
    text
        Degrees in any of the usual notations, or x and y where `crs` is a projected system.
    crs
        What the numbers are in; longitude and latitude (NAD83 or WGS84) unless given.

    Raises
    ------
    OutsideNewJerseyError
        Where the text is clear and the place is plainly not in New Jersey.
    SiteError
        Where the text is not clear. The message says what was read, what was expected and what to do.

    Examples
    --------
    >>> place = parse_coordinates("40 44 03.84 N 74 09 50.76 W")
    >>> round(place.lon, 4), round(place.lat, 4), place.order
    (-74.1641, 40.7344, 'latitude first')
    """
    plain = plain_text(text)
    if not plain:
        raise SiteError(f"Coordinates were read as {text!r}, which is empty. {_EXPECTED}")
    if len(plain) > _LONGEST:
        raise SiteError(
            f"Coordinates were read as {text[:_LONGEST]!r} and so on: {len(plain):,} characters are too many for one "
            f"place. {_EXPECTED}"
        )
    if _NOT_A_NUMBER.search(plain.upper()):
        raise SiteError(f"Coordinates were read as {text!r}, which holds something that is not a number. {_EXPECTED}")
    system = "EPSG:4269" if crs is None else parse_crs(crs)
    return _from_degrees(text, plain, system) if is_degrees(system) else _from_projected(text, plain, system)
