"""Case files of the rules: reading them, drawing their layers, asking their question."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
import yaml
from drawn import draw, stations
from pydantic import BaseModel, ConfigDict, Field, model_validator

from grownj_geo.atlas import DEFAULT_AS_OF, Atlas, load_atlas
from grownj_geo.coverage import CaseKind
from grownj_geo.determination import OutcomeWord
from grownj_geo.determine import Engine
from grownj_geo.facts import check_facts
from grownj_geo.logic import Outcome
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.units import to_lonlat, to_working
from grownj_geo.values import ANSWER, LEANING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.binding import Clause
    from grownj_geo.layer import Layer

FOLDER = Path(__file__).parent / "rule_cases"
SHAPES = {"square", "rectangle", "point", "offset_ft", "accuracy_ft"}


class Place(BaseModel):
    """Where a site is."""

    model_config = ConfigDict(extra="forbid")
    point: tuple[float, float] | None = None
    square: tuple[float, float, float] | None = None
    municipality: str | None = None
    offset_ft: tuple[float, float] = (0.0, 0.0)
    uncertainty_ft: float = 0.0


class Case(BaseModel):
    """One question with its answer.

    With `not_in_force` the node is expected to be out of force on the day, or of a reading that was not chosen: it
    lets nobody in, and nothing is asked of it. Without, it must be evaluated.
    """

    model_config = ConfigDict(extra="forbid")
    node: str
    kind: CaseKind
    name: str
    site: Place
    as_of: date = DEFAULT_AS_OF
    facts: dict[str, Any] = Field(default_factory=dict)
    readings: dict[str, str] = Field(default_factory=dict)
    layers: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    expect: OutcomeWord
    leans: OutcomeWord | None = None
    not_in_force: bool = False

    @model_validator(mode="after")
    def _out_of_force_is_no(self) -> Case:
        if self.not_in_force and (self.expect != "no" or self.kind not in {"negative", "boundary"}):
            raise ValueError("a node that is not in force lets nobody in: a negative or boundary case with 'no'")
        return self


def load_cases() -> list[tuple[str, Case]]:
    """Return every case with a name for the test run."""
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        for number, raw in enumerate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader), start=1):
            case = Case.model_validate(_words(raw))
            found.append((f"{path.stem}-{number}-{case.node}-{case.kind}", case))
    return found


def _words(raw: dict[str, Any]) -> dict[str, Any]:
    """YAML reads a bare yes or no as true or false; here they are answers."""
    words = {True: "yes", False: "no"}
    return {key: words[value] if key in {"expect", "leans"} and value in words else value for key, value in raw.items()}


def answer(case: Case) -> tuple[str, str | None]:
    """Return the outcome of the case's node, and its lean where it is undetermined.

    Raises
    ------
    AssertionError
        If the node was not evaluated and the case does not say so, or the other way round.
    """
    book_id, path = case.node.split(":", 1)
    run = _engine(book_id, case.as_of, json.dumps(case.readings), json.dumps(case.layers, default=str)).run(_site(case))
    out = _out_of_force(run.bound.by_path, path)
    values = run.clause_values.get(path)
    if case.not_in_force:
        assert out is not None, f"{case.node} is in force and chosen"
        assert values is None, f"{case.node} was evaluated, although {out}"
        return "no", None
    assert values is not None, f"{case.node} was not evaluated: {out}"
    outcomes = values.outcomes
    if run.bound.by_path[path].in_force == "unsure":
        # Only perhaps in force on the day: a yes of such a clause decides nothing.
        outcomes = outcomes.clip(max=0)
    now, lean = int(outcomes[ANSWER, 0]), int(outcomes[LEANING, 0])
    return Outcome.of(now).value, Outcome.of(lean).value if now == 0 and lean else None


# What the cases of a node change is mostly the site; a file has them one after the other.
@lru_cache(maxsize=64)
def _engine(book_id: str, as_of: date, readings: str, layers: str) -> Engine:
    """Return a rulebook on what ships and some drawn layers; readings and rows of layers are JSON."""
    drawn = [_layer(name, rows) for name, rows in json.loads(layers).items()]
    return Engine(Atlas(as_of=as_of, layers=[*_shipped(), *drawn]), load_rulebook(book_id), json.loads(readings))


def _out_of_force(clauses: Mapping[str, Clause], path: str) -> str | None:
    """Return which clause on the way to a node does not count, and why; None where the node is asked."""
    steps = path.split(".")
    for end in range(1, len(steps) + 1):
        clause = clauses[".".join(steps[:end])]
        if clause.in_force == "no":
            return f"{clause.path} is not in force on the day"
        if not clause.chosen:
            return f"{clause.path} belongs to a reading that was not chosen"
    return None


@lru_cache(maxsize=1)
def _shipped() -> tuple[Layer, ...]:
    """Read what ships once for all cases; a layer that a case draws takes its place."""
    atlas = load_atlas()
    layers = (atlas.layer(name) for name, manifest in atlas.manifests.items() if manifest.ships)
    return tuple(layer for layer in layers if layer is not None)


def _moved(lon: float, lat: float, offset: tuple[float, float]) -> tuple[float, float]:
    x, y = to_working(lon, lat)
    return float(x) + offset[0], float(y) + offset[1]


def _box(lon: float, lat: float, half_width: float, half_height: float, offset: tuple[float, float]) -> shapely.Polygon:
    x, y = _moved(lon, lat, offset)
    return shapely.box(x - half_width, y - half_height, x + half_width, y + half_height)


def _site(case: Case) -> Site:
    place = case.site
    geometry: shapely.Geometry | None = None
    if place.point is not None:
        geometry = shapely.Point(_moved(*place.point, place.offset_ft))
    elif place.square is not None:
        geometry = _box(*place.square, place.square[2], place.offset_ft)
    return Site(
        typed=case.name,
        located_by="a rule case",
        geometry=geometry,
        uncertainty_ft=place.uncertainty_ft,
        mun_code=place.municipality,
        mun_basis="stated" if place.municipality else None,
        facts=check_facts(case.facts),
    )


def _layer(layer_id: str, rows: list[dict[str, Any]]) -> Layer:
    if layer_id == "designations":
        return _listed(rows)
    accuracy = max((float(row.get("accuracy_ft", 0.0)) for row in rows), default=0.0)
    drawn = []
    for row in rows:
        columns = {name: value for name, value in row.items() if name not in SHAPES}
        offset = tuple(row.get("offset_ft", (0.0, 0.0)))
        if layer_id == "transit_stations":
            lon, lat = to_lonlat(*_moved(*row["point"], offset))
            drawn.append((float(lon), float(lat), columns))
        elif "square" in row:
            lon, lat, half = row["square"]
            drawn.append((_box(lon, lat, half, half, offset), columns))
        else:
            drawn.append((_box(*row["rectangle"], offset), columns))
    if layer_id == "transit_stations":
        return stations(drawn, accuracy_ft=accuracy)
    return draw(layer_id, drawn, accuracy_ft=accuracy)


def _listed(rows: list[dict[str, Any]]) -> Layer:
    """Return the shipped table of designations with further rows, as a user's own list adds them."""
    (base,) = (layer for layer in _shipped() if layer.id == "designations")
    columns = {name: [*values, *(str(row.get(name, "")) for row in rows)] for name, values in base.columns.items()}
    n = len(base) + len(rows)
    return replace(base, columns=columns, bounds=np.full((n, 4), np.nan), fingerprint="drawn")
