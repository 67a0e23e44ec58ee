"""What the coordinates of a user's rows are in: as their file declares, as the user states, and never both apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.georeference import agree, declared_system, stated_system
from grownj_geo.units import WORKING_CRS

if TYPE_CHECKING:
    from grownj_geo.features import Features
    from grownj_geo.findings import Findings
    from grownj_geo.georeference import Georeference

__all__ = ["degrees_system", "geometry_system", "read_from_columns", "system_in_words"]

_FROM_COLUMNS = "geometry_columns"
"""The change by which a reader of tables tells that points were made of two columns."""
_COLUMNS_CRS = "OGC:CRS84"
"""What that reader takes columns of longitude and latitude for; nothing in the file says so."""


def read_from_columns(given: Features) -> bool:
    """Return whether the points were made of columns of longitude and latitude, whose datum no file declares."""
    return given.crs == _COLUMNS_CRS and any(change.kind == _FROM_COLUMNS for change in given.changes)


def geometry_system(given: Features, stated: str | None, found: Findings) -> Georeference:
    """Return what the geometries are in.

    Columns of longitude and latitude in a table count as NAD83 until their user states another datum.

    Parameters
    ----------
    given
        The rows, some with a geometry.
    stated
        The user's word on it, as a code; None where none was given.
    found
        Takes what is to be told, and the fault.

    Raises
    ------
    LayerFault
        ``"undeclared_crs"`` where nobody says it; ``"crs_contradiction"`` where the file and the user say different
        things; otherwise as `declared_system`.
    """
    if read_from_columns(given) and stated is not None:
        return _of_degrees(stated, found)
    if given.crs is not None:
        system = declared_system(given.crs, found)
        if stated is not None:
            agree(system, stated, found)
        return system
    if stated is not None:
        return stated_system(stated, found)
    raise found.refuse(
        "undeclared_crs",
        f"it does not say what its coordinates are in. Save it with its CRS, or name that with --crs {WORKING_CRS}",
    )


def degrees_system(given: Features, stated: str | None, found: Findings) -> Georeference | None:
    """Return what columns of longitude and latitude are in, beside the geometries; None for NAD83.

    Raises
    ------
    LayerFault
        ``"crs_contradiction"`` where the stated system has no degrees and there is no geometry that it can be about.
    """
    if stated is None:
        return None
    if all(shape is None for shape in given.geometries):
        return _of_degrees(stated, found)
    if given.crs is not None and not read_from_columns(given):
        return None
    system = stated_system(stated, found, tell=False)
    return system if system.is_degrees else None


def _of_degrees(stated: str, found: Findings) -> Georeference:
    system = stated_system(stated, found)
    if not system.is_degrees:
        raise found.refuse(
            "crs_contradiction",
            f"its columns are of longitude and latitude, and --crs says {system.name}. Leave --crs out, or call "
            "columns of feet or metres x and y",
        )
    return system


def system_in_words(system: Georeference, given: Features, stated: str | None) -> str:
    """Return a system with datum and unit, and who says so, as a report has it."""
    taken = "" if not system.one_datum or "1983" in system.words or "NAD83" in system.words else ", taken as NAD83"
    if given.crs is not None and not read_from_columns(given):
        return f"{system.words}{taken}; as declared"
    return f"{system.words}{taken}; {'as its columns are named' if stated is None else 'as stated'}"
