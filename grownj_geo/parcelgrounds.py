"""What ground the records of one parcel number are, and the units of one lot.

Outlines that touch are parts of one ground. Where they lie apart, nobody can tell parts of one parcel from a number
that was given twice: then each ground is a place of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.parcel import Parcel

__all__ = ["apart_words", "grounds_of", "outline_of_units", "units_words"]

# One line that was drawn twice may differ by so much, in US survey feet; the figure is ours.
_TOUCH_FTUS = 1.0
_MOST_SHOWN = 6
_LEAST_UNITS = 2


def grounds_of(parcels: Sequence[Parcel]) -> tuple[shapely.Geometry, ...]:
    """Return the grounds of some records in EPSG:3424: outlines that touch are one, others are each its own.

    Outlines within 1 ft of each other touch. One outline alone stays as it came, to the last bit.

    Parameters
    ----------
    parcels
        The records; those without an outline have no ground.

    Examples
    --------
    >>> from grownj_geo.parcel import Parcel
    >>> boxes = [shapely.box(0, 0, 50, 50), shapely.box(50, 0, 99, 50), shapely.box(900, 0, 950, 50)]
    >>> len(grounds_of([Parcel("0408_81_1", "0408", "81", "1", geometry=box) for box in boxes]))
    2
    """
    shapes = np.array(list({p.geometry.wkb: p.geometry for p in parcels if p.geometry is not None}.values()), object)
    if len(shapes) < 2:  # noqa: PLR2004 - nothing to join
        return tuple(shapes)
    group = np.arange(len(shapes))
    for one, other in shapely.STRtree(shapes).query(shapes, predicate="dwithin", distance=_TOUCH_FTUS).T:
        group[group == group[other]] = group[one]
    parts = [shapes[group == number] for number in dict.fromkeys(group.tolist())]
    return tuple(part[0] if len(part) == 1 else shapely.union_all(part) for part in parts)


def apart_words(pin: str, parcels: Sequence[Parcel], grounds: Sequence[shapely.Geometry]) -> str:
    """Return that a parcel number is there more than once, how far apart, and in which rows.

    Parameters
    ----------
    pin
        The number.
    parcels
        Its records.
    grounds
        Their grounds, two at least, in EPSG:3424.
    """
    all_of = np.array(grounds, dtype=object)
    away = float(shapely.distance(all_of[:, None], all_of[None, :]).max()) * FT_PER_FTUS
    n = len(parcels)
    times = "twice" if n == 2 else f"{n:,} times"  # noqa: PLR2004 - a word for it
    shown = ", ".join(str(parcel.source_row) for parcel in parcels[:_MOST_SHOWN])
    more = f" and {n - _MOST_SHOWN:,} more" if n > _MOST_SHOWN else ""
    return (
        f"{pin} is there {times}, with outlines that do not touch and lie up to {away:,.0f} ft apart (rows "
        f"{shown}{more} of the files). Which is meant is open: one number given twice, or parts of one parcel."
    )


def outline_of_units(units: Sequence[Parcel]) -> shapely.Geometry | None:
    """Return the outline of a lot that its units show: one that several units have, and no unit has another.

    Parameters
    ----------
    units
        All records of the lot with a qualifier.

    Returns
    -------
    shapely.Geometry or None
        In EPSG:3424; None where a unit has no outline or one of its own, or where there is one unit alone: its outline
        may be a part of the lot.
    """
    if len({unit.pin for unit in units}) < _LEAST_UNITS:
        return None
    first = units[0].geometry
    same = all(unit.geometry is not None and shapely.equals(unit.geometry, first) for unit in units)
    return first if same else None


def units_words(units: Sequence[Parcel]) -> str:
    """Return the parcel numbers of units, as many as can be read, and how many more there are.

    Parameters
    ----------
    units
        Records of one lot.
    """
    pins = list(dict.fromkeys(unit.pin for unit in units))
    rest = len(pins) - _MOST_SHOWN
    return ", ".join(pins[:_MOST_SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")
