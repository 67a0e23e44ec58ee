"""How the cost grows: with the number of sites, and with the number of layers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmark_process import peak_of, timed
from benchmark_sites import GROUNDS, drawn_grounds, random_points, table, unequal_findings

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.bulk import evaluate_many
from grownj_geo.bulkplan import plan_of
from grownj_geo.cells import CellIndex
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grownj_geo.bulk import Findings

__all__ = ["exponent", "measure_by_layers", "measure_by_sites"]

_SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)
_TIMES = 3


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the power of the size that the seconds grow with: 1 is linear, less is better.

    Examples
    --------
    >>> round(exponent([10, 100, 1000], [2.0, 20.0, 200.0]), 6)
    1.0
    >>> round(exponent([1, 4, 16], [3.0, 6.0, 12.0]), 6)
    0.5
    """
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)


def measure_by_sites(engine: Engine, index: CellIndex, places: NDArray[np.object_]) -> dict[str, Any]:
    """Measure every category for the first hundredth of some points, and for more and more up to all.

    Returns
    -------
    dict
        Counts, seconds and megabytes for each, and the power that the seconds grow with over the upper half, where
        what every run costs weighs little.
    """
    counts = sorted({max(1, round(len(places) * share)) for share in _SHARES})
    seconds, megabytes = [], []
    for count in counts:
        work = partial(_classified, engine, index, places[:count])
        seconds.append(timed(work, times=_TIMES)[0])
        megabytes.append(peak_of(work)[0])
    upper = len(counts) // 2
    return {
        "counts": counts,
        "seconds": seconds,
        "megabytes": megabytes,
        "microseconds_each": [1e6 * s / n for s, n in zip(seconds, counts, strict=True)],
        "exponent": exponent(counts[upper:], seconds[upper:]) if len(counts) > upper + 1 else float("nan"),
    }


def _classified(engine: Engine, index: CellIndex, places: NDArray[np.object_]) -> Findings:
    """Return the findings of some points, of which nothing is known yet but where they are."""
    return evaluate_many(engine, table(places), index=index)


def measure_by_layers(*, points: int, counts: Sequence[int] = (1, 2, 4, 8)) -> dict[str, Any]:
    """Measure every category for the same points, with more and more layers of polygons beside those that ship.

    Parameters
    ----------
    points
        How many.
    counts
        How many layers are drawn, each of 150 shapes and 24,000 vertices; at most as many as `GROUNDS` names.
    """
    as_of = load_atlas().as_of
    places = random_points(load_atlas(), points)
    few = table(places[: min(points, 2_000)])
    drawn = drawn_grounds(max(counts))
    figures: dict[str, Any] = {"points": points, "layers": list(counts), "of": list(GROUNDS[: max(counts)])}
    for name in ("grounds", "seconds", "megabytes", "build_s", "index_mb", "unequal_with_and_without_index"):
        figures[name] = []
    for count in counts:
        engine = Engine(Atlas(as_of=as_of, layers=drawn[:count]), load_rulebook())
        build_s, index = timed(partial(CellIndex.build, engine))
        work = partial(_classified, engine, index, places)
        unequal = unequal_findings(evaluate_many(engine, few), evaluate_many(engine, few, index=index))
        figures["unequal_with_and_without_index"].append(unequal)
        figures["grounds"].append(len(plan_of(engine.bound, engine.atlas).grounds))
        figures["seconds"].append(timed(work, times=_TIMES)[0])
        figures["megabytes"].append(peak_of(work)[0])
        figures["build_s"].append(build_s)
        figures["index_mb"].append(index.size_bytes / 1e6)
    figures["exponent"] = exponent(counts, figures["seconds"])
    figures["cost_of_all_to_cost_of_one"] = figures["seconds"][-1] / figures["seconds"][0]
    return figures
