"""Parcels as the State's tax records have them: number, place and outline, and what has to be told of each.

A parcel number is text in all of its parts: lots ``1.1`` and ``1.10`` are two parcels. Nothing is merged: where several
records share a number or an outline, each stays what it is and says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grownj_geo.pins import Pin

if TYPE_CHECKING:
    import shapely

__all__ = ["Parcel", "plain_part", "told_of"]

_LEADING_ZEROS = re.compile(r"0+(?=[0-9])")


@dataclass(frozen=True)
class Parcel:
    """One record of a parcel file.

    Attributes
    ----------
    pin
        The parcel number (PAMS_PIN) as the file has it, in capitals.
    mun_code
        Treasury code of the municipality, four digits.
    block, lot, qualifier
        Its parts as text, without zeros in front; no qualifier is empty text.
    address
        Where the property is, as the file has it; None where it says nothing.
    zip_code
        Five digits of the property's own ZIP code; None where the file does not say (an owner's is never read).
    property_class
        As the assessor's list has it: ``"4A"``; None where the file does not say.
    geometry
        Polygon or MultiPolygon in EPSG:3424 (US survey feet); None where the file has none that can be used.
    source
        The file that it came from.
    source_row
        Its row there: lines of a text count from 1, header included; features count from 1.
    notes
        What has to be told: that several records share the number, that several parcels share the outline (stacked
        condominium), that there is no geometry, what was repaired.
    id
        Its row in the store that gave it.
    """

    pin: str
    mun_code: str
    block: str
    lot: str
    qualifier: str = ""
    address: str | None = None
    zip_code: str | None = None
    property_class: str | None = None
    geometry: shapely.Geometry | None = field(default=None, compare=False)
    source: str = ""
    source_row: int = 0
    notes: tuple[str, ...] = ()
    id: int = 0

    @property
    def number(self) -> Pin:
        """The parcel number in its parts.

        Examples
        --------
        >>> str(Parcel("0408_81_1.10", "0408", "81", "1.10").number)
        '0408_81_1.10'
        """
        return Pin(self.mun_code, self.block, self.lot, self.qualifier)


def plain_part(text: str) -> str:
    """Return a block, lot or qualifier in the one way in which it is compared: capitals, no blanks, no zeros in front.

    Zeros at the end stay: they tell parcels apart.

    Examples
    --------
    >>> plain_part(" 00081 "), plain_part("1.10"), plain_part("c0001"), plain_part("0.5"), plain_part("0")
    ('81', '1.10', 'C0001', '0.5', '0')
    """
    plain = "".join(text.split()).upper()
    return _LEADING_ZEROS.sub("", plain, count=1) if plain[:1] == "0" else plain


def told_of(*, has_geometry: bool, same_pin: int, same_polygon: int, drawn_apart: bool) -> tuple[str, ...]:
    """Return what has to be told of a parcel for what others of its store have.

    Parameters
    ----------
    has_geometry
        Whether it has an outline.
    same_pin
        How many records have its number, itself included.
    same_polygon
        How many parcel numbers have its very outline, its own included.
    drawn_apart
        Whether the records of its number have different outlines.

    Examples
    --------
    >>> told_of(has_geometry=False, same_pin=1, same_polygon=1, drawn_apart=False)
    ('No outline: the file has no geometry for this parcel, so that its place is not known.',)
    """
    notes = []
    if same_pin > 1 and drawn_apart:
        notes.append(f"Several polygons: {same_pin} records have this parcel number, with different outlines.")
    elif same_pin > 1:
        notes.append(f"Duplicate number: {same_pin} records have this parcel number; none was left out or merged.")
    if same_polygon > 1:
        notes.append(f"Stacked: {same_polygon} parcel numbers have this same outline, as units of a condominium do.")
    if not has_geometry:
        notes.append("No outline: the file has no geometry for this parcel, so that its place is not known.")
    return tuple(notes)
