"""Coordinate systems and New Jersey's box: what a CRS is called, and why coordinates do not fit one.

Nothing is guessed. A usual slip (swapped axes, a missing minus sign, feet without a CRS, degrees with one)
is recognized and described, so that the caller can refuse it and say what to do.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import shapely

from grownj_geo.errors import SiteError
from grownj_geo.units import to_lonlat, to_working_geometry

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "LAT_RANGE",
    "LONLAT",
    "LON_RANGE",
    "Misfit",
    "agreed_crs",
    "is_degrees",
    "misfit",
    "parse_crs",
    "plain_text",
]

LON_RANGE = (-75.8, -73.7)
"""New Jersey's box in degrees with a margin of about 0.2: the municipal polygons decide later, not this."""
LAT_RANGE = (38.7, 41.5)

LONLAT = frozenset({"EPSG:4326", "EPSG:4269", "OGC:CRS84"})
"""Longitude and latitude on WGS84 or NAD83, taken as one."""

_CANDIDATES = {
    "EPSG:3424": "State Plane feet",
    "EPSG:32111": "State Plane metres",
    "EPSG:26918": "UTM zone 18N metres",
    "EPSG:3857": "Web Mercator metres",
}
_FULL_CIRCLE = 360.0

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("º˚", "°"),
        **dict.fromkeys("′’‘´`ʹ‛", "'"),  # noqa: RUF001
        **dict.fromkeys("″”“ʺ‟", '"'),
        **dict.fromkeys("−–—‐‑‒", "-"),  # noqa: RUF001
    }
)
_EPSG = re.compile(
    r"(?:(?P<auth>EPSG|ESRI)[:\s]|URN:OGC:DEF:CRS:EPSG:[0-9.]*:|HTTPS?://WWW\.OPENGIS\.NET/DEF/CRS/EPSG/[0-9.]+/)?"
    r"(?P<code>[0-9]{4,6})"
)
_CRS84 = re.compile(
    r"(?:OGC:)?CRS84|URN:OGC:DEF:CRS:OGC:[0-9.]*:CRS84|HTTPS?://WWW\.OPENGIS\.NET/DEF/CRS/OGC/[0-9.]+/CRS84"
)


class Misfit(NamedTuple):
    """Why coordinates do not lie in New Jersey's box, as a kind and a sentence."""

    kind: Literal["not finite", "zero", "swapped", "sign", "projected", "degrees", "crs", "range", "outside"]
    hint: str


def plain_text(text: str) -> str:
    r"""Return the text without invisible characters, with plain spaces, signs and digits.

    Examples
    --------
    >>> plain_text("\u200e40.7344,\u00a0\u221274.1641")
    '40.7344, -74.1641'
    """
    visible = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", visible.translate(_SIGNS)).strip()


def parse_crs(text: str) -> str:
    """Return the name of a coordinate reference system as ``"EPSG:3424"``.

    Codes are looked up by number only: text that PROJ would take for a definition or a file is refused.

    Parameters
    ----------
    text
        ``"3424"``, ``"EPSG:3424"``, ``"urn:ogc:def:crs:EPSG::3424"``, ``"CRS84"`` and the like.

    Raises
    ------
    SiteError
        For anything else, an unknown code, or a system without horizontal x and y.

    Examples
    --------
    >>> parse_crs("3424")
    'EPSG:3424'
    """
    import pyproj  # noqa: PLC0415

    wanted = plain_text(text).upper()
    if _CRS84.fullmatch(wanted):
        return "OGC:CRS84"
    found = _EPSG.fullmatch(wanted)
    if found is None:
        raise SiteError(
            f"The CRS was read as {text!r}; expected a code. Write it as --crs EPSG:3424 (New Jersey State Plane feet)."
        )
    name = f"{found['auth'] or 'EPSG'}:{int(found['code'])}"
    try:
        crs = pyproj.CRS.from_user_input(name)
    except pyproj.exceptions.CRSError:
        raise SiteError(
            f"The CRS {name} is not known to PROJ; expected a code such as EPSG:3424 "
            "(New Jersey State Plane feet) or EPSG:26918 (UTM zone 18N). "
            "Look the code up at the source of the coordinates."
        ) from None
    if not (crs.is_projected or crs.is_geographic):
        raise SiteError(
            f"The CRS {name} ({crs.name}) has no horizontal x and y; expected one such as EPSG:3424. "
            "Name the horizontal system of the coordinates."
        )
    return name


def agreed_crs(crs: str | None, inner: str | None, source: str) -> tuple[str, tuple[str, ...]]:
    """Return the CRS to read in, from --crs and from what the text itself says, and notes.

    Parameters
    ----------
    crs
        As the user typed it; None where it was not given.
    inner
        What the text says of itself, as `parse_crs` returns it; None where it says nothing.
    source
        What is being read, as messages begin.

    Raises
    ------
    SiteError
        Where the two say different things, or `crs` cannot be read.

    Examples
    --------
    >>> agreed_crs(None, "EPSG:3424", "The file 'site.geojson'")
    ('EPSG:3424', ('Its coordinates were read in EPSG:3424, as it says.',))
    """
    stated = None if crs is None else parse_crs(crs)
    if inner is not None:
        same = stated in {None, inner} or {stated, inner} <= LONLAT
        if not same:
            raise SiteError(
                f"{source}: it says {inner}, and --crs says {stated}. Expected one system; leave --crs out or fix it."
            )
        return inner, (f"Its coordinates were read in {inner}, as it says.",)
    return stated or "EPSG:4269", () if stated is None else (f"Its coordinates were read in {stated}, as stated.",)


def is_degrees(crs: str) -> bool:
    """Return whether a system, named as `parse_crs` returns it, has longitude and latitude in degrees."""
    if crs in LONLAT:
        return True
    import pyproj  # noqa: PLC0415

    return bool(pyproj.CRS.from_user_input(crs).is_geographic)


def _inside(lon: NDArray[np.float64], lat: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (lon >= LON_RANGE[0]) & (lon <= LON_RANGE[1]) & (lat >= LAT_RANGE[0]) & (lat <= LAT_RANGE[1])


def _lonlat_of(xy: NDArray[np.float64], crs: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = to_working_geometry(shapely.multipoints(xy), crs=crs, densify=False)
    working = shapely.get_coordinates(points)
    return to_lonlat(working[:, 0], working[:, 1])


def _fits(xy: NDArray[np.float64], crs: str) -> bool:
    return bool(_inside(*_lonlat_of(xy, crs)).all())


def _other_systems(xy: NDArray[np.float64], *, but: str = "") -> str:
    fitting = [code for code in _CANDIDATES if code != but and _fits(xy, code)]
    if not fitting:
        return ""
    first, *rest = fitting
    others = f" (or, if they are {' or '.join(f'{_CANDIDATES[c]}, {c}' for c in rest)})" if rest else ""
    return f"looks like {_CANDIDATES[first]}; add --crs {first}{others}"


def _misfit_degrees(  # noqa: PLR0911 - one return for each kind of slip
    xy: NDArray[np.float64],
) -> Misfit | None:
    lon, lat = xy[:, 0], xy[:, 1]
    where = f"longitude {lon[0]:.10g}, latitude {lat[0]:.10g}"
    if _inside(lon, lat).all():
        return None
    if not xy.any():
        return Misfit("zero", "(0, 0) is what software writes where a place is missing; give the real place")
    if _inside(lat, lon).all():
        return Misfit("swapped", f"latitude and longitude look swapped ({where})")
    if _inside(-abs(lon), abs(lat)).all() or _inside(-abs(lat), abs(lon)).all():
        return Misfit("sign", f"the signs do not fit ({where}); in New Jersey longitude is negative, latitude positive")
    if abs(xy).max() > _FULL_CIRCLE:
        hint = _other_systems(xy)
        if not hint and _other_systems(xy[:, ::-1]):
            hint = f"{_other_systems(xy[:, ::-1])}, with x (east) before y (north)"
        return Misfit("projected", hint or "too large for degrees; name their system with --crs, such as EPSG:3424")
    beyond = (abs(lat) > 90) | (abs(lon) > 180)  # noqa: PLR2004 - the ends of the globe
    if beyond.any():
        i = int(beyond.argmax())
        return Misfit(
            "range",
            f"longitude {lon[i]:.10g}, latitude {lat[i]:.10g} is not on the globe: "
            "latitude goes to 90, longitude to 180",
        )
    i = int((~_inside(lon, lat)).argmax())
    return Misfit(
        "outside",
        f"longitude {lon[i]:.10g}, latitude {lat[i]:.10g} is outside New Jersey, which lies between "
        "longitudes -75.6 and -73.9 and latitudes 38.9 and 41.4",
    )


def misfit(xy: NDArray[np.float64], crs: str) -> Misfit | None:  # noqa: PLR0911 - one for each kind of misfit
    """Say why coordinates do not lie in New Jersey's box; None where all do.

    Parameters
    ----------
    xy
        Shape (n, 2), x (or longitude) first.
    crs
        As `parse_crs` returns it.

    Examples
    --------
    >>> misfit(np.array([[-74.1641, 40.7344]]), "EPSG:4269") is None
    True
    >>> misfit(np.array([[40.7344, -74.1641]]), "EPSG:4269").kind
    'swapped'
    """
    if not np.isfinite(xy).all():
        return Misfit("not finite", "a coordinate is not a finite number; give the real place")
    if is_degrees(crs):
        return _misfit_degrees(xy)
    lon, lat = _lonlat_of(xy, crs)
    inside = _inside(lon, lat)
    if inside.all():
        return None
    if not xy.any():
        return Misfit("zero", "(0, 0) is what software writes where a place is missing; give the real place")
    if abs(xy).max() <= _FULL_CIRCLE / 2:
        return Misfit("degrees", f"these look like degrees, not coordinates in {crs}; leave --crs out")
    if _fits(xy[:, ::-1], crs):
        return Misfit("swapped", f"x and y look swapped; in {crs} x (east) comes first, y (north) second")
    hint = _other_systems(xy, but=crs)
    if hint:
        return Misfit("crs", f"not in New Jersey in {crs}, but it {hint}")
    i = int((~inside).argmax())
    return Misfit(
        "outside",
        f"x {xy[i, 0]:.10g}, y {xy[i, 1]:.10g} in {crs} is outside New Jersey; "
        "are they in another system, or feet against metres?",
    )
