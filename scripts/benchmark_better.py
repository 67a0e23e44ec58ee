"""How long the search for the nearest better place takes, by how well a place is known.

Random points of New Jersey, the same ones in every run, under the layers that ship. CPU seconds, because a machine that
does other work beside would be measured too. Writes one line of JSON for each uncertainty.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from benchmark_sites import random_points

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine
from grownj_geo.nextbetter import Finder
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site

_UNSURE_FT = (0.0, 5.0, 50.0, 500.0, 3_000.0)


def main() -> None:
    """Measure, and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=40, help="how many points for each uncertainty")
    points = random_points(load_atlas(), parser.parse_args().points)
    finder = Finder(Engine(load_atlas(), load_rulebook()))
    for unsure_ft in _UNSURE_FT:
        took, at_most, lines = [], 0, 0
        for point in points:
            site = Site(typed="", located_by="point", geometry=point, uncertainty_ft=unsure_ft)
            begun = time.process_time()
            found = finder.find(site)
            took.append(time.process_time() - begun)
            lines += len(found.lines)
            at_most += sum(line.at_most for line in found.lines)
        figures = {
            "uncertainty_ft": unsure_ft,
            "points": len(points),
            "median_s": round(float(np.median(took)), 3),
            "worst_s": round(max(took), 3),
            "lines": lines,
            "not_searched_to_the_end": at_most,
        }
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
