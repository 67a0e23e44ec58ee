"""What is aimed at, what was found, and whether it holds: one table of the whole benchmark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["TARGETS", "Target", "disagreements", "print_targets", "table_of_targets"]


@dataclass(frozen=True)
class Target:
    """One thing that is aimed at.

    Attributes
    ----------
    name
        What is measured.
    path
        Where its figure is in what the benchmark found, by keys.
    target
        The figure that is aimed at.
    at_least
        Whether more is better; otherwise less is.
    unit
        What the figure is in.
    workload
        Path to the size that was measured, and the size that the target is for; a figure of another size says nothing.
    """

    name: str
    path: tuple[str, ...]
    target: float
    unit: str
    at_least: bool = False
    workload: tuple[tuple[str, ...], int] | None = None


_LARGE = 1_000
_MANY = (("cells", "points"), 1_000_000)
# Seconds grow as the rows do and can be scaled; that memory does not grow is only seen on all of them.
_PARCELS = (("parcel_file", "parcels"), 200_000)
_STATE = (("parcel_file", "parcels"), 3_400_000)
TARGETS = (
    Target("one site, cold command", ("cold", "seconds_median"), 1.5, "s"),
    Target("one site, cold command, peak", ("cold", "megabytes_peak"), 300.0, "MB"),
    Target("one site, warm", ("warm", "determine_ms_median"), 5.0, "ms"),
    Target("rules alone, 1 M sites", ("rules", "seconds"), 2.0, "s", workload=(("rules", "sites"), 1_000_000)),
    Target("census tracts imported", ("loading", "tracts_import_s"), 5.0, "s"),
    Target("store verified", ("loading", "verify_s"), 2.0, "s"),
    Target(
        "large GeoJSON imported, peak",
        ("loading", "large_import_peak_mb"),
        2_000.0,
        "MB",
        workload=(("loading", "large_geojson_mb"), 450),
    ),
    Target("10,000 rows of CSV, cold", ("batch", "seconds"), 4.0, "s", workload=(("batch", "rows"), 10_000)),
    Target("1 M points, all categories, warm", ("cells", "points_s"), 2.0, "s", workload=_MANY),
    Target(
        "the same, geopandas pipeline : ours", ("cells", "ratio_geopandas_pipeline_to_ours"), 10.0, "x", True, _MANY
    ),
    Target(
        "municipality alone, SedonaDB : ours", ("cells", "municipal", "ratio_sedonadb_to_ours"), 5.0, "x", True, _MANY
    ),
    Target("index built", ("cells", "build_s"), 20.0, "s"),
    Target("index mapped", ("cells", "load_s"), 0.3, "s"),
    Target("a parcel, one processor, warm", ("cells", "parcel_us"), 70.0, "us"),
    Target("3.4 M parcels, GeoParquet to Parquet", ("parcel_file", "state_seconds"), 120.0, "s", workload=_PARCELS),
    Target("3.4 M parcels, peak of all processes", ("parcel_file", "peak_mb"), 2_500.0, "MB", workload=_STATE),
    Target("sites: power of the cost (linear: 1)", ("cells", "by_sites", "exponent"), 1.1, "", workload=_MANY),
    Target("layers: power of the cost (linear: 1)", ("by_layers", "exponent"), 0.99, ""),
)
"""All that is aimed at."""


def disagreements(figures: Any, path: str = "") -> dict[str, int]:  # noqa: ANN401 - what JSON takes
    """Return every figure that counts unequal answers, by its path.

    Examples
    --------
    >>> disagreements({"a": {"rows_unequal": 0, "seconds": 1.5}, "b_unequal_to": [0, 2]})
    {'a.rows_unequal': 0, 'b_unequal_to': 2}
    """
    found: dict[str, int] = {}
    if isinstance(figures, dict):
        for name, value in figures.items():
            here = f"{path}.{name}" if path else str(name)
            if isinstance(value, dict):
                found |= disagreements(value, here)
            elif "unequal" in str(name):
                found[here] = sum(value) if isinstance(value, list) else int(value)
    return found


def table_of_targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each target: what was found, and whether it holds.

    A row says None where nothing was measured, or less than the target is for: such a figure proves nothing.
    """
    rows = []
    for target in TARGETS:
        found = _at(figures, target.path)
        enough = target.workload is None or (_at(figures, target.workload[0]) or 0) >= target.workload[1]
        holds: bool | None = None
        if found is not None and enough:
            holds = found >= target.target if target.at_least else found <= target.target
        note = ""
        if found is None:
            note = "not measured"
        elif not enough:
            note = "measured on fewer than the target is for"
        elif target.path[0] == "parcel_file":
            note = str(figures["parcel_file"]["state_is"])
        rows.append(
            {
                "name": target.name,
                "found": found,
                "target": target.target,
                "at": "least" if target.at_least else "most",
                "unit": target.unit,
                "holds": holds,
                "note": note,
            }
        )
    unequal = disagreements(figures)
    rows.append(
        {
            "name": "answers unequal to another way's",
            "found": sum(unequal.values()),
            "target": 0,
            "at": "most",
            "unit": "",
            "holds": not sum(unequal.values()) if unequal else None,
            "note": f"{len(unequal)} comparisons" if unequal else "not measured",
        }
    )
    return rows


def _at(figures: Any, path: tuple[str, ...]) -> float | None:  # noqa: ANN401 - what JSON takes
    """Return the figure at a path; None where there is none."""
    for name in path:
        figures = figures.get(name) if isinstance(figures, dict) else None
    if isinstance(figures, bool) or not isinstance(figures, int | float) or math.isnan(figures):
        return None
    return float(figures)


def print_targets(rows: list[dict[str, Any]]) -> None:
    """Print the table."""
    print("\nTargets")
    for row in rows:
        found = (
            "-" if row["found"] is None else f"{row['found']:,.4g}" if row["found"] < _LARGE else f"{row['found']:,.0f}"
        )
        bound = f"{'>=' if row['at'] == 'least' else '<='} {row['target']:,g} {row['unit']}".rstrip()
        holds = {True: "holds", False: "DOES NOT HOLD", None: "not known"}[row["holds"]]
        print(f"  {row['name']:<40} {found:>9}  {bound:<14} {holds:<14} {row['note']}".rstrip())
