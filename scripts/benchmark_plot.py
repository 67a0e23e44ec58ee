"""A picture of how the cost grows, beside others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

__all__ = ["draw_costs"]

_OURS, _THEIRS = "#1f5fa8", "#b0b0b0"
_PEERS = ("geopandas", "sedonadb", "duckdb", "postgis_subdivided", "postgis_whole")
_SHOWN = {
    "geopandas": "geopandas",
    "sedonadb": "SedonaDB",
    "duckdb": "DuckDB",
    "postgis_subdivided": "PostGIS, cut",
    "postgis_whole": "PostGIS",
}


def draw_costs(figures: dict[str, Any], paths: list[Path]) -> None:
    """Draw cost against the number of sites, against that of layers, and the join beside others, into some files.

    Parameters
    ----------
    figures
        What the benchmark found: `cells` with `by_sites` and `municipal`, and `by_layers`.
    paths
        Where to draw, by their endings: PNG, SVG.
    """
    import matplotlib as mpl  # noqa: PLC0415 - only where a picture is drawn

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of where it draws

    # The same picture in every run of the same figures.
    with mpl.rc_context({"svg.hashsalt": "grownj", "font.size": 9}):
        chart, (left, middle, right) = plt.subplots(1, 3, figsize=(12.5, 3.9), layout="constrained")
        _by_sites(left, figures["cells"])
        _by_layers(middle, figures["by_layers"])
        _joins(right, figures["cells"])
        chart.suptitle(f"{figures['versions']['machine']}; {figures['measured']}", fontsize=8, color="#555555")
        for path in paths:
            chart.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(chart)


def _by_sites(axes: Axes, cells: dict[str, Any]) -> None:
    found = cells["by_sites"]
    axes.loglog(found["counts"], found["seconds"], "o-", color=_OURS, label="every category, index warm")
    last, count = found["seconds"][-1], found["counts"][-1]
    axes.loglog(found["counts"], [last * n / count for n in found["counts"]], ":", color=_OURS, label="linear")
    if "geopandas_pipeline_s" in cells:
        axes.loglog([cells["points"]], [cells["geopandas_pipeline_s"]], "s", color=_THEIRS, label="geopandas pipeline")
    axes.set(title="Cost against number of points", xlabel="points", ylabel="seconds")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.2)


def _by_layers(axes: Axes, found: dict[str, Any]) -> None:
    layers, seconds = found["layers"], found["seconds"]
    axes.plot(layers, seconds, "o-", color=_OURS, label=f"{found['points']:,} points, every category")
    axes.plot(layers, [seconds[0] * n / layers[0] for n in layers], ":", color=_OURS, label="linear")
    axes.set(title="Cost against number of layers", xlabel="drawn layers beside those that ship", ylabel="seconds")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.2)


def _joins(axes: Axes, cells: dict[str, Any]) -> None:
    join = cells["municipal"]
    there = [name for name in _PEERS if isinstance(join.get(f"{name}_s"), float)]
    rows = [
        ("this package", 1e6 * join["municipal_s"] / cells["points"]),
        *((_SHOWN[name], 1e6 * join[f"{name}_s"] / join[f"{name}_points"]) for name in there),
    ]
    names, each = zip(*rows[::-1], strict=True)
    colors = [_OURS if name == "this package" else _THEIRS for name in names]
    # Dots: on a logarithmic axis the length of a bar would say nothing.
    axes.hlines(names, min(each) / 2, each, colors="#e4e4e4", zorder=1)
    axes.scatter(each, names, c=colors, s=45, zorder=2)
    for name, value in zip(names, each, strict=True):
        axes.annotate(f"{value:.3g}", (value, name), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(min(each) / 2, max(each) * 5)
    axes.set(title="Municipality of a point", xlabel="microseconds a point (for 1 M points: seconds)")
