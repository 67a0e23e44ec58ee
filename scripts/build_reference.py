"""Build the GeoParquet files of `data/` and write their checksums into the manifests.

Run from anywhere: ``python scripts/build_reference.py``. With ``--check`` nothing is written; the files are
built again and compared with the committed ones. The tables (CSV, YAML) of `data/` are kept by hand and are
only read here.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import math
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyproj
import shapely
import yaml

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
MANIFESTS = ROOT / "grownj_geo" / "manifests"
# Kept by hand; listed so that a table whose manifest is missing is noticed.
TABLES = ("designations.csv", "revitalization_index.csv", "transit_stations.csv")

PACKAGE = "@njam-data/new-jersey-municipalities@1.0.0"
ARCHIVE_SHA1 = "0df1808c8ed6a626488b1fdaee7b01ee8ec75d79"
MEMBER = "package/data/source/new-jersey-municipalities.geojson"

WORKING_CRS = "EPSG:3424"
FTUS_PER_METRE = 3937.0 / 1200.0
METRES_PER_MILE = 1609.344
QUANTUM_FTUS = 1.0 / 128.0
LARGEST_AREA_CHANGE = 1e-6
SLIVER_SQFT = 1000.0
EDGE_METRES = 152.4  # 500 ft
BUFFER_QUAD_SEGS = 32
CIRCLE_QUAD_SEGS = 64

PINE_VALLEY, PINE_HILL = "0429", "0428"
PINE_VALLEY_ENDED = "2022-01-01"
MERGER_NOTES = {
    PINE_VALLEY: "Merged into Pine Hill Borough (0428) on 2022-01-01; a place of its own until then.",
    PINE_HILL: "Took in Pine Valley Borough (0429) on 2022-01-01; the polygon is the one from before.",
}
COUNT_MUNICIPALITIES, COUNT_COUNTIES = 565, 21

# NAD83 outright, for the reason given in grownj_geo/units.py.
_TO_WORKING = pyproj.Transformer.from_crs("EPSG:4269", WORKING_CRS, always_xy=True)
_TO_LONLAT = pyproj.Transformer.from_crs(WORKING_CRS, "EPSG:4269", always_xy=True)
# The projection alone, without a change of datum: in ellipsoidal Mercator a rhumb line is straight.
_MERCATOR = pyproj.Proj("EPSG:3395")
_GEOD = pyproj.Geod(ellps="GRS80")


class BuildError(RuntimeError):
    """The source or the result is not what it should be."""


# --- small tools ---------------------------------------------------------------------------------------


def _project(geometry: Any) -> Any:  # noqa: ANN401 - shapely has no type information here
    """Return a geometry, or an array of them, in the working CRS from longitude and latitude."""
    return shapely.transform(geometry, lambda xy: np.column_stack(_TO_WORKING.transform(xy[:, 0], xy[:, 1])))


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _days(values: list[str | None]) -> pd.Series[Any]:
    # Spelled out, so that a column without any date is still a column of dates.
    days = [None if value is None else date.fromisoformat(value) for value in values]
    return pd.Series(days, dtype=pd.ArrowDtype(pa.date32()))


def _settle(frame: gpd.GeoDataFrame, label: str) -> gpd.GeoDataFrame:
    """Round to the quantum, repair, and refuse anything that changes areas.

    Each coordinate is rounded by itself. A precision grid (`set_precision`) would be free to move or drop a
    vertex of one polygon and not of its neighbour; like this the line that two share stays one line.
    """
    before = frame.geometry.to_numpy()
    rounded = shapely.transform(before, lambda xy: np.round(xy / QUANTUM_FTUS) * QUANTUM_FTUS)
    broken = ~shapely.is_valid(rounded)
    rounded[broken] = shapely.make_valid(rounded[broken], method="structure", keep_collapsed=False)
    # The area before is of the repaired shape where the source itself was broken.
    sound = np.where(shapely.is_valid(before), before, shapely.make_valid(before, method="structure"))
    was, now = shapely.area(sound), shapely.area(rounded)
    change = np.abs(now - was)
    worst = int((change / was).argmax())
    print(
        f"{label}: {len(frame)} rows, {int(broken.sum())} repaired, {was.sum():.1f} sq ft before and "
        f"{now.sum():.1f} after; largest change of a row "
        f"{change[worst]:.1f} sq ft ({change[worst] / was[worst]:.1e})"
    )
    # The layer as a whole keeps to the limit. A row may also differ by what rounding alone explains, half a
    # quantum each way along its line: for a small borough that is more than a millionth of its area.
    explained = np.sqrt(0.5) * QUANTUM_FTUS * shapely.length(sound)
    refused = change > np.maximum(LARGEST_AREA_CHANGE * was, explained)
    if refused.any() or change.sum() > LARGEST_AREA_CHANGE * was.sum():
        raise BuildError(f"{label}: rounding and repair change the area of row {worst} by {change[worst]:.1f} sq ft.")
    kinds = {geometry.geom_type for geometry in rounded}
    if not kinds <= {"Polygon", "MultiPolygon"} or not shapely.is_valid(rounded).all():
        raise BuildError(f"{label}: expected valid polygons, found {sorted(kinds)}.")
    return frame.set_geometry(gpd.GeoSeries(rounded, index=frame.index, crs=WORKING_CRS))


def _frame(columns: dict[str, Any], geometry: Any, label: str) -> gpd.GeoDataFrame:  # noqa: ANN401 - as above
    return _settle(gpd.GeoDataFrame(columns, geometry=list(geometry), crs=WORKING_CRS), label)


# --- municipalities and counties -----------------------------------------------------------------------


def fetch_archive(given: Path | None) -> bytes:
    """Return the bytes of the npm archive, from a local copy or from the registry, after a checksum.

    Parameters
    ----------
    given
        A local copy; None to let npm fetch it.

    Raises
    ------
    BuildError
        If npm is missing or fails, or the archive is not the expected one.
    """
    if given is not None:
        content = given.read_bytes()
    else:
        npm = shutil.which("npm")
        if npm is None:
            raise BuildError("npm was not found; install it, or give a copy of the archive with --archive.")
        with tempfile.TemporaryDirectory() as folder:
            try:
                subprocess.run(  # noqa: S603 - fixed arguments
                    [npm, "pack", PACKAGE, "--silent"],
                    cwd=folder,
                    check=True,
                    timeout=600,
                    stdout=subprocess.DEVNULL,
                )
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                raise BuildError(f"npm could not fetch {PACKAGE}: {error}.") from error
            content = next(Path(folder).glob("*.tgz")).read_bytes()
    found = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    if found != ARCHIVE_SHA1:
        raise BuildError(f"The archive's SHA-1 is {found}; expected {ARCHIVE_SHA1}.")
    return content


def read_features(archive: bytes) -> list[dict[str, Any]]:
    """Return the GeoJSON features of the one member that is used; nothing is unpacked to disk."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        file = tar.extractfile(MEMBER)
        if file is None:
            raise BuildError(f"The archive has no file {MEMBER}.")
        features: list[dict[str, Any]] = json.load(file)["features"]
    if len(features) != COUNT_MUNICIPALITIES:
        raise BuildError(f"The source has {len(features)} municipalities; expected {COUNT_MUNICIPALITIES}.")
    return sorted(features, key=lambda feature: str(feature["properties"]["MUN_CODE"]))


def municipalities(features: list[dict[str, Any]]) -> gpd.GeoDataFrame:
    """Return the municipalities, one row each, sorted by `mun_code`."""
    facts = {row["mun_code"]: row for row in _rows(DATA / "revitalization_index.csv")}
    records = [feature["properties"] for feature in features]
    codes = [str(record["MUN_CODE"]) for record in records]
    for code, record in zip(codes, records, strict=True):
        # The publisher's SSN field is the other department's code: it has to agree with our table.
        if code not in facts or str(record["SSN"]) != facts[code]["dca_code"]:
            raise BuildError(f"Municipality {code} ({record['MUN_LABEL']}) does not fit revitalization_index.csv.")
    # Not densified: the publisher's own lines are straight in State Plane feet, and the longitudes and
    # latitudes are its vertices. Cutting the sides in degrees first would bend them.
    shapes = _project(np.array([shapely.geometry.shape(feature["geometry"]) for feature in features]))
    columns = {
        "mun_code": codes,
        "name": [str(record["MUN_LABEL"]) for record in records],
        "municipality_type": [str(record["MUN_TYPE"]) for record in records],
        "county": [str(record["COUNTY"]).title() for record in records],
        "county_code": [code[:2] for code in codes],
        "dca_code": [facts[code]["dca_code"] for code in codes],
        "gnis": [str(record["GNIS"]) for record in records],
        "valid_from": _days([None] * len(codes)),
        "valid_until": _days([PINE_VALLEY_ENDED if code == PINE_VALLEY else None for code in codes]),
        "note": [MERGER_NOTES.get(code, "") for code in codes],
        "source": "NJOGIS-MUN-2021",
        "status": "confirmed",
    }
    return _frame(columns, shapes, "municipalities")


def _without_slivers(shape: Any, county: str) -> Any:  # noqa: ANN401 - as above
    """Drop the tiny holes that two mismatched edges leave between neighbours, and say so."""
    parts = []
    for part in shapely.get_parts(shape):
        kept = []
        for ring in part.interiors:
            area = shapely.area(shapely.Polygon(ring))
            if area < SLIVER_SQFT:
                print(f"counties: dropped a hole of {area:.1f} sq ft in {county}")
            else:
                print(f"counties: kept a hole of {area:.1f} sq ft in {county}")
                kept.append(ring)
        parts.append(shapely.Polygon(part.exterior, kept))
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


def counties(towns: gpd.GeoDataFrame) -> gpd.GeoDataFrame:
    """Return the counties, dissolved from the municipalities, sorted by `county_code`."""
    codes, names, shapes = [], [], []
    for (code, name), group in towns.groupby(["county_code", "county"], sort=True):
        codes.append(str(code))
        names.append(str(name))
        # Not coverage_union_all: two pairs of neighbours have mismatched edges.
        shapes.append(_without_slivers(shapely.union_all(group.geometry.to_numpy()), str(name)))
    if len(codes) != COUNT_COUNTIES:
        raise BuildError(f"The municipalities make {len(codes)} counties; expected {COUNT_COUNTIES}.")
    columns = {"county_code": codes, "county": names, "source": "NJOGIS-MUN-2021", "status": "derived"}
    return _frame(columns, shapes, "counties")


# --- the Port of New York District ---------------------------------------------------------------------


def _rhumb(start: tuple[float, float], end: tuple[float, float]) -> Any:  # noqa: ANN401 - as above
    """Return the rhumb line between two points (degrees) as a line in the working CRS."""
    side = shapely.LineString([_MERCATOR(*start), _MERCATOR(*end)])
    # Mercator metres are longer than true ones here, so no piece is longer than 500 ft.
    cut = shapely.get_coordinates(shapely.segmentize(side, EDGE_METRES))
    lon, lat = _MERCATOR(cut[:, 0], cut[:, 1], inverse=True)
    return _project(shapely.LineString(np.column_stack([lon, lat])))


def port_district(land: Any) -> gpd.GeoDataFrame:  # noqa: ANN401 - as above
    """Return the district as drawn (nominal), as the least it can be (inner) and the most (outer).

    Parameters
    ----------
    land
        The counties, for the report of how much of the district is in New Jersey.
    """
    rows = _rows(DATA / "source" / "port_of_new_york_district.csv")
    points = [
        (
            -(float(r["lon_deg_west"]) + float(r["lon_min_west"]) / 60),
            float(r["lat_deg"]) + float(r["lat_min"]) / 60,
        )
        for r in rows
    ]
    sides = [_rhumb(a, b) for a, b in zip(points, points[1:] + points[:1], strict=True)]
    nominal = shapely.Polygon(np.vstack([shapely.get_coordinates(side)[:-1] for side in sides]))
    # Grid feet taken as true ones: the scale is within 1 in 5,000 here, that is 8 cm of the 400 m.
    widths = [float(row["side_tolerance_m"]) * FTUS_PER_METRE for row in rows]
    margin = shapely.union_all(
        [shapely.buffer(s, w, quad_segs=BUFFER_QUAD_SEGS) for s, w in zip(sides, widths, strict=True)]
    )
    shapes = {
        "inner": shapely.difference(nominal, margin),
        "nominal": nominal,
        "outer": nominal.union(margin),
    }
    for bound, shape in shapes.items():
        print(
            f"port_of_new_york_district: {bound} has {_square_miles(shape):.2f} square miles, "
            f"{_square_miles(shape.intersection(land)):.2f} of them in the municipalities of New Jersey"
        )
    columns = {
        "bound": list(shapes),
        "name": "Port of New York District",
        "source": "S-MEFI;S-WS204",
        "status": "unverified",
    }
    return _frame(columns, shapes.values(), "port_of_new_york_district")


def _square_miles(shape: Any) -> float:  # noqa: ANN401 - as above
    """Return the area on the ellipsoid."""
    lonlat = shapely.transform(shape, lambda xy: np.column_stack(_TO_LONLAT.transform(xy[:, 0], xy[:, 1])))
    # Signed by the direction of each ring, so rings are turned the usual way first.
    area, _ = _GEOD.geometry_area_perimeter(shapely.orient_polygons(lonlat))
    return abs(float(area)) / METRES_PER_MILE**2


# --- the airport and the terminals ---------------------------------------------------------------------


def airport(facts: dict[str, Any]) -> gpd.GeoDataFrame:
    """Return the airport's inner and outer bound. They serve both editions of the rule."""
    inner = shapely.convex_hull(_project(shapely.MultiPoint(facts["inner"])))
    # Parallels are not straight in feet, so the box is cut to pieces of about 500 ft before projecting.
    outer = _project(shapely.segmentize(shapely.box(*facts["outer_box"]), EDGE_METRES / 111_320))
    columns = {
        "id": facts["id"],
        "name": facts["name"],
        "bound": ["inner", "outer"],
        "source": facts["source"],
        "status": facts["status"],
        "status_note": facts["status_note"],
    }
    return _frame(columns, [inner, outer], "atlantic_city_airport")


def _disk(centre: list[float], metres: float) -> Any:  # noqa: ANN401 - as above
    """Return a disk of a true radius on the ground: its vertices are found on the ellipsoid."""
    n = 4 * CIRCLE_QUAD_SEGS
    azimuths = np.arange(n) * (360.0 / n)
    lon, lat, _ = _GEOD.fwd(np.full(n, centre[0]), np.full(n, centre[1]), azimuths, np.full(n, metres))
    return _project(shapely.Polygon(np.column_stack([lon, lat])))


def terminals(facts: list[dict[str, Any]]) -> gpd.GeoDataFrame:
    """Return an inner and an outer row for each terminal, sorted by id."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "name", "bound", "first_vessel", "source", "status", "status_note")
    }
    shapes = []
    rounding = 2 * QUANTUM_FTUS / FTUS_PER_METRE
    circumscribe = math.cos(math.pi / (4 * CIRCLE_QUAD_SEGS))
    for terminal in sorted(facts, key=lambda fact: str(fact["id"])):
        # A terminal of which one point is known has an inner disk of one foot: a layer holds one kind of
        # geometry, and a foot is far below every tolerance. Its polygon lies inside the circle.
        inner = terminal["inner_radius_miles"] * METRES_PER_MILE or 0.3048
        # The polygon of the outer disk lies outside the circle, also after its corners are rounded.
        outer = (terminal["outer_radius_miles"] * METRES_PER_MILE + rounding) / circumscribe
        for bound, metres in (("inner", inner), ("outer", outer)):
            for name in ("id", "name", "source", "status", "status_note"):
                columns[name].append(terminal[name])
            columns["bound"].append(bound)
            columns["first_vessel"].append(str(terminal["first_vessel"]) if terminal["first_vessel"] else None)
            shapes.append(_disk(terminal["centre"], metres))
    table: dict[str, Any] = {**columns, "first_vessel": _days(columns["first_vessel"])}
    return _frame(table, shapes, "south_jersey_port_terminals")


# --- writing, comparing, checksums ---------------------------------------------------------------------


def build(archive: Path | None) -> dict[str, gpd.GeoDataFrame]:
    """Return every layer by file name."""
    towns = municipalities(read_features(fetch_archive(archive)))
    districts = counties(towns)
    facts = yaml.safe_load((DATA / "source" / "airport_and_terminals.yaml").read_text(encoding="utf-8"))
    return {
        "municipalities.parquet": towns,
        "counties.parquet": districts,
        "port_of_new_york_district.parquet": port_district(shapely.union_all(districts.geometry.to_numpy())),
        "atlantic_city_airport.parquet": airport(facts["airport"]),
        "south_jersey_port_terminals.parquet": terminals(facts["terminals"]),
    }


def write(frame: gpd.GeoDataFrame, path: Path) -> None:
    """Write GeoParquet 1.1 with boxes, the same bytes each time with the same libraries."""
    frame.to_parquet(
        path,
        index=False,
        compression="zstd",
        compression_level=15,
        schema_version="1.1.0",
        write_covering_bbox=True,
    )


def difference(frame: gpd.GeoDataFrame, path: Path, folder: Path) -> str | None:
    """Return how a committed file differs in content from what was built, or None.

    Bytes are not compared: they depend on the versions of the libraries. Coordinates may differ by one
    quantum, which a last digit of the projection can tip; the order of rings and vertices does not count.
    """
    if not path.is_file():
        return "is missing"
    again = folder / path.name
    write(frame, again)
    try:
        new, old = gpd.read_parquet(again), gpd.read_parquet(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"cannot be read: {error}"
    if list(new.columns) != list(old.columns) or len(new) != len(old) or new.crs != old.crs:
        return "has other columns, another number of rows or another CRS"
    for column in new.columns.drop("geometry"):
        if not new[column].equals(old[column]):
            return f"differs in the column {column}"
    one, other = (shapely.normalize(f.geometry.to_numpy()) for f in (new, old))
    unequal = ~shapely.equals_exact(one, other, tolerance=1.5 * QUANTUM_FTUS)
    if unequal.any():
        return f"differs in the geometry of {int(unequal.sum())} rows, first row {int(unequal.argmax())}"
    return None


def checksums(*, write_them: bool) -> list[str]:
    """Compare, and on request replace, the checksums in the manifests; return what was wrong.

    Only the line ``sha256:`` is touched: the rest of a manifest is written by hand.
    """
    wrong = []
    described = set()
    for path in sorted(MANIFESTS.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        name = yaml.safe_load(text).get("file")
        if name is None:
            continue
        described.add(name)
        if not (DATA / name).is_file():
            wrong.append(f"{path.name}: data/{name} is missing")
            continue
        digest = hashlib.sha256((DATA / name).read_bytes()).hexdigest()
        fixed, n = re.subn(r"^sha256:.*$", f"sha256: {digest}", text, flags=re.MULTILINE)
        if n != 1:
            wrong.append(f"{path.name}: expected one line 'sha256:', found {n}")
        elif fixed != text:
            if write_them:
                path.write_text(fixed, encoding="utf-8", newline="\n")
                print(f"{path.name}: checksum replaced")
            else:
                wrong.append(f"{path.name}: the checksum is not that of data/{name}")
    wrong += [f"data/{name}: no manifest names it" for name in TABLES if name not in described]
    return wrong


def main() -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description="Build the reference layers of data/ and their checksums.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    parser.add_argument("--archive", type=Path, help="a local copy of the npm archive, instead of fetching it")
    options = parser.parse_args()
    problems = []
    try:
        layers = build(options.archive)
    except BuildError as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in layers.items():
            found = difference(frame, DATA / name, Path(folder))
            if found is None:
                print(f"data/{name}: up to date")
            elif options.check:
                problems.append(f"data/{name} {found}")
            else:
                # A file with the same content is left alone, so that new libraries alone change no bytes.
                write(frame, DATA / name)
                print(f"data/{name}: written ({found})")
    problems += checksums(write_them=not options.check)
    for problem in problems:
        print(f"failed: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
