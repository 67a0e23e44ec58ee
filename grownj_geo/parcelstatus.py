"""What the store of parcels and address points holds, how old and how sound it is: for the commands about layers."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from grownj_geo.parcelfields import ADDRESS_PARTS, usual_names
from grownj_geo.parceltables import Kind, ParcelPart, parcel_editions
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    import os

    from grownj_geo.parceltables import HeldParcels
    from grownj_geo.report import LayerRow

__all__ = [
    "ABOUT",
    "PARCEL_LAYERS",
    "About",
    "PartStatus",
    "StoreStatus",
    "field_lines",
    "parcel_rows",
    "store_status",
    "verify_parcels",
]


class About(Strict):
    """What parcels or address points are, and where to get them."""

    title: str
    description: str
    publisher: str
    how_to_load: str
    command: str
    terms: str


ABOUT: dict[Kind, About] = {
    "parcels": About(
        title="Parcels and tax records (MOD-IV)",
        description=(
            "Outlines and records of tax lots: by them a parcel number, or block and lot, is a place, and an address "
            "of the assessor's list is found. No rule asks for them, and no answer changes for them but the place."
        ),
        publisher="New Jersey Office of GIS, counties, municipalities",
        how_to_load=(
            "Download the composite of parcels from the New Jersey Geographic Information Network, or an extract of a "
            "county, or take an assessor's list; several add up, and a municipality's later file replaces its earlier."
        ),
        command="grownj layers import parcels FILE",
        terms=(
            "Tax maps as drawn for assessment: no survey, and no legal boundaries. Owners' names and mailing addresses "
            "are not taken over. Name the publisher."
        ),
    ),
    "address_points": About(
        title="Address points",
        description="Points of addresses, as kept for emergency calls: by them an address is a place.",
        publisher="New Jersey Office of GIS, counties",
        how_to_load=(
            "Download the address points from the New Jersey Geographic Information Network, or take a county's; a "
            "municipality's later file replaces its earlier."
        ),
        command="grownj layers import address_points FILE",
        terms="As the publisher states; name the publisher.",
    ),
}

PARCEL_LAYERS: frozenset[str] = frozenset(ABOUT)
"""What `grownj layers` calls the two."""


class PartStatus(Strict):
    """What one file brought, as it is in the store now."""

    kind: Kind
    source: str
    edition: date | None
    retrieved: date
    rows: int
    municipalities: int
    partial: bool


class StoreStatus(Strict):
    """A store of parcels: its edition, or what is wrong with it.

    Attributes
    ----------
    held
        Earlier editions that stay only because somebody reads them.
    """

    name: str
    parcels: int
    drawn: int
    address_points: int
    size_bytes: int
    parts: tuple[PartStatus, ...]
    held: tuple[str, ...]
    problem: str | None


def store_status(home: str | os.PathLike[str] | None = None) -> StoreStatus | None:
    """Return what the store of a home holds, without reading its database; None where nothing was loaded.

    Raises
    ------
    LayerError
        If its folder cannot be read.
    """
    editions = parcel_editions(home)
    if not editions:
        return None
    edition = editions[0].edition
    return StoreStatus(
        name=editions[0].name,
        parcels=edition.parcels if edition else 0,
        drawn=edition.drawn if edition else 0,
        address_points=edition.address_points if edition else 0,
        size_bytes=edition.size_bytes if edition else 0,
        parts=tuple(map(_part, edition.parts)) if edition else (),
        held=tuple(held.name for held in editions[1:]),
        problem=editions[0].problem,
    )


def _part(part: ParcelPart) -> PartStatus:
    return PartStatus(
        kind=part.kind,
        source=part.source,
        edition=part.edition,
        retrieved=part.retrieved_at.date(),
        rows=sum(part.municipalities.values()),
        municipalities=len([code for code in part.municipalities if code]),
        partial=part.partial,
    )


def parcel_rows(home: str | os.PathLike[str] | None = None) -> list[LayerRow]:
    """Return parcels and address points as `grownj layers list` shows layers.

    Raises
    ------
    LayerError
        If the store's folder cannot be read.
    """
    editions = parcel_editions(home)
    held = editions[0] if editions else None
    return [_row(kind, about, held) for kind, about in ABOUT.items()]


def _row(kind: Kind, about: About, held: HeldParcels | None) -> LayerRow:
    edition = None if held is None else held.edition
    parts = () if edition is None else edition.of(kind)
    latest = max((part.edition for part in parts if part.edition is not None), default=None)
    problem = None if held is None else held.problem
    return {
        "id": kind,
        "title": about.title,
        "publisher": about.publisher,
        "ships": False,
        "status": "unusable" if problem else ("loaded" if parts else "not loaded"),
        "problem": problem,
        "edition": str(latest) if latest else None,
        "stored": held.name if held is not None and (parts or problem) else None,
        "accuracy_ft": None,
        "sha256": edition.sha256 if edition is not None and parts else None,
        "needed_by": [],
        "how_to_load": f"{about.command}. {about.how_to_load}",
    }


def verify_parcels(home: str | os.PathLike[str] | None = None) -> dict[str, str | None]:
    """Compare every edition of parcels with its checksum; return what is wrong with each, None where nothing is.

    Raises
    ------
    LayerError
        If the store's folder cannot be read.
    """
    return {held.name: held.verify() for held in parcel_editions(home)}


def field_lines(kind: Kind) -> list[str]:
    """Return what is read of a file, and the usual names of each column."""
    words = {
        "pin": "parcel number (PAMS_PIN)",
        "municipality": "code or name; needed beside block and lot, where there is no parcel number",
        "county": "tells municipalities of one name apart",
        "block": "as text: zeros at the end count",
        "lot": "as text: zeros at the end count",
        "qualifier": "such as C0001 of a condominium's unit",
        "address": "where the property is",
        "zip_code": "of the property; not read beside columns of owners, whose mail it is",
        "property_class": "as in the assessor's list",
        "kind": "how the point was placed",
    }
    names = usual_names(kind)
    lines = [f"{role}: {words[role]}{_also(names.get(role, ()))}." for role in words if role in names]
    if kind == "address_points":
        parts = ", ".join(ADDRESS_PARTS)
        lines.append(f"{parts}: the parts of an address where there is no column of whole ones, as NENA names them.")
    return lines


def _also(names: tuple[str, ...]) -> str:
    return f"; found as {', '.join(names[:6])}" if names else ""
