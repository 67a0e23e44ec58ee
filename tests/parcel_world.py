"""A few parcels around the line between Camden and Collingswood, loaded into a store, for whoever looks places up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import shapely

from grownj_geo.parcelbuild import import_parcels
from grownj_geo.parcelstore import ParcelStore
from grownj_geo.settings import Settings
from grownj_geo.sources import sources_of
from grownj_geo.units import to_lonlat, to_working

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.asking import Sources
    from grownj_geo.atlas import Atlas

IN_CAMDEN = (-75.1190, 39.9447)
BY_THE_LINE = ((-75.0865500846311, 39.923696874449455), (-75.08631409908728, 39.92342207149239))
IN_WASHINGTON_MORRIS = (-74.7960, 40.7690)

# Parcel number, address, where (degrees), and how far east of there in feet; no place where the file has no outline.
PARCELS: tuple[tuple[str, str, tuple[float, float] | None, float], ...] = (
    ("0408_81_1", "100 MAIN ST", IN_CAMDEN, 0.0),
    ("0408_81_1.10", "102 MAIN ST", IN_CAMDEN, 120.0),
    ("0408_90_1", "5 TWIN AVE", IN_CAMDEN, 1_000.0),
    ("0408_91_7", "5 TWIN AVE", IN_CAMDEN, 1_400.0),
    ("0408_92_1", "3 FAR ST", IN_CAMDEN, -500.0),
    ("0408_93_1", "3 FAR ST", BY_THE_LINE[0], -3_000.0),
    ("0408_82_1_C0001", "7 TOWER PL UNIT 1", IN_CAMDEN, 2_000.0),
    ("0408_82_1_C0002", "7 TOWER PL UNIT 2", IN_CAMDEN, 2_000.0),
    ("0408_83_1", "9 STACK RD", IN_CAMDEN, 2_400.0),
    ("0408_83_2", "9 STACK RD", IN_CAMDEN, 2_400.0),
    ("0408_84_1", "11 BLANK ST", None, 0.0),
    ("0408_84_2", "13 BLANK ST", None, 0.0),
    ("0408_85_1", "15 BLANK ST", None, 0.0),
    ("0408_86_4", "15 BLANK ST", None, 0.0),
    ("0408_99_1", "1 LINE RD", BY_THE_LINE[0], 0.0),
    ("0412_5_1", "1 LINE RD", BY_THE_LINE[1], 0.0),
    ("0412_5_2", "8 ONLY LN", BY_THE_LINE[1], 400.0),
    ("1438_7_3", "12 SPRING ST", IN_WASHINGTON_MORRIS, 0.0),
)
SIDE_FT = 50.0


def square(place: tuple[float, float], east_ft: float) -> shapely.Polygon:
    """Return the ground of a parcel in EPSG:3424."""
    x, y = (float(v) for v in to_working(*place))
    half = SIDE_FT / 2
    return shapely.box(x + east_ft - half, y - half, x + east_ft + half, y + half)


def parcel_file(folder: Path) -> Path:
    """Write the parcels as GeoJSON."""
    features: list[dict[str, Any]] = []
    for pin, address, place, east_ft in PARCELS:
        geometry = None
        if place is not None:
            xy = shapely.get_coordinates(square(place, east_ft))
            lon, lat = to_lonlat(xy[:, 0], xy[:, 1])
            ring = [[round(float(a), 9), round(float(b), 9)] for a, b in zip(lon, lat, strict=True)]
            geometry = {"type": "Polygon", "coordinates": [ring]}
        properties = {"PAMS_PIN": pin, "PROP_LOC": address}
        features.append({"type": "Feature", "properties": properties, "geometry": geometry})
    path = folder / "parcels.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def parcel_home(folder: Path) -> Path:
    """Load the parcels into a home of their own, and return it."""
    home = folder / "home"
    import_parcels(parcel_file(folder), home=home)
    return home


def local_sources(atlas: Atlas, home: Path) -> Sources:
    """Return the sources of a home without any online locator."""
    return sources_of(atlas, ParcelStore.open(home), Settings(), home=home)
