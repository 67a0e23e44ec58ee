"""Tables for GIS files: drawn areas, and determined sites with texts from strangers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import shapely
from drawn import NEWARK
from few_world import few

from grownj_geo.answers import answers_many, atlas_mark
from grownj_geo.areapieces import drawn_areas
from grownj_geo.exporttables import ExportTable, area_tables, site_tables
from grownj_geo.sitetable import SiteTable
from grownj_geo.units import to_working

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "`${alert(1)}`",
    "</script><script>alert(2)</script>",
    "]]><b>bold</b>",
    "abc\u202edef",
    "x" * 10_000,
    "ü" * 200,
    "=HYPERLINK(1)",
    "$[description] & \"quoted\" 'text'",
    "Łódź Ελλάδα Київ",
)
X, Y = (float(v) for v in to_working(*NEWARK))


@lru_cache(maxsize=1)
def example_areas() -> tuple[ExportTable, ...]:
    """Return areas of what ships in some municipalities."""
    return tuple(area_tables(few(), drawn_areas(few(), ["qualified_incentive_area", "growth_zone_city"])))


@lru_cache(maxsize=1)
def example_sites() -> tuple[ExportTable, ...]:
    """Return determined points and polygons whose names and remarks come from strangers, and one without a place."""
    n = len(HOSTILE)
    points = shapely.points(X + 300.0 * np.arange(n), np.full(n, Y))
    shapes = np.array([*points, shapely.box(X, Y, X + 90, Y + 90)], dtype=object)
    table = SiteTable(shapes, np.zeros(n + 1), np.ones(n + 1, dtype=bool), ("",) * (n + 1))
    answers = answers_many(few(), table, {}).columns()
    columns = {
        "name": [*HOSTILE, "lot"],
        "A Remark that is long": [*HOSTILE, "lot"],
        "a remark that is long": [7] * (n + 1),
    }
    columns |= {name: list(values) for name, values in answers.items()}
    columns = {name: [*values, "lost" if name == "name" else None] for name, values in columns.items()}
    assert columns["atlas"][0] == atlas_mark(few())
    return tuple(site_tables(few(), columns, np.append(shapes, None)))
