"""Asking a drawn feature service: what comes, what is refused, and rules for what it answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from feature_servers import Answer, Asked, FeatureStub, loopback_guard, square_feature

from grownj_geo.features import Features, LayerFault
from grownj_geo.featureservice import fetch_features
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


FEET = {"wkid": 102711, "latestWkid": 3424}


def fetch(stub: FeatureStub, folder: Path, **more: Any) -> Features:
    limits = more.pop("limits", {})
    return fetch_features(stub.layer_url, guard=loopback_guard(stub.url, **limits), work_folder=folder / "work", **more)


def fault(stub: FeatureStub, folder: Path, **more: Any) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        fetch(stub, folder, **more)
    return caught.value


def kinds(features: Features) -> dict[str, int]:
    return {change.kind: change.count for change in features.changes}


def assert_whole(features: Features, count: int = 7) -> None:
    """Say whether exactly the drawn features came."""
    drawn = [square_feature(number) for number in range(1, count + 1)]
    assert features.columns["OBJECTID"] == list(range(1, count + 1))
    assert features.columns["SPDETAIL"] == [one["attributes"]["SPDETAIL"] for one in drawn]
    assert [shape.wkt for shape in features.geometries] == [
        shapely.Polygon(one["geometry"]["rings"][0]).wkt for one in drawn
    ]
    assert features.crs == "EPSG:4326"


def instead(kind: str, *answers: Answer | None) -> Callable[[Asked], Answer | None]:
    """Return a rule: these answers to the first questions of a kind, the honest ones after that (None: honest)."""
    left = list(answers)

    def rule(asked: Asked) -> Answer | None:
        return left.pop(0) if asked.kind == kind and left else None

    return rule


def always(kind: str, answer: Callable[[Asked], Answer | None]) -> Callable[[Asked], Answer | None]:
    return lambda asked: answer(asked) if asked.kind == kind else None


def rings_of(shape: Any) -> list[Any]:
    """Return rings as the format winds them: outer ones clockwise, holes the other way."""
    found = []
    for part in shapely.get_parts(shape):
        outer, *holes = shapely.get_rings(part)
        found += [outer if not outer.is_ccw else outer.reverse(), *(h if h.is_ccw else h.reverse() for h in holes)]
    return found


def serve_feet(stub: FeatureStub, shapes: list[Any], reference: Any = None) -> None:
    """Have the stub keep areas in State Plane feet, and bring vertices over where it is asked for degrees."""
    stub.features = [square_feature(number, Shape__Area=shape.area) for number, shape in enumerate(shapes, 1)]
    for feature, shape in zip(stub.features, shapes, strict=True):
        feature["geometry"] = {"rings": [shapely.get_coordinates(ring).tolist() for ring in rings_of(shape)]}
    stub.layer["extent"] = {"spatialReference": FEET if reference is None else reference}
    stub.layer["maxRecordCount"] = stub.cap = 100

    def rule(asked: Asked) -> Answer | None:
        if asked.kind == "extent":
            return Answer.of({"extent": {**stub.honest(asked)["extent"], "spatialReference": FEET}})
        if asked.kind != "page":
            return None
        page = json.loads(json.dumps(stub.honest(asked)))
        if asked.params["outSR"] == "3424":
            return Answer.of({**page, "spatialReference": FEET})
        assert asked.params["outSR"] == "4326"
        for feature in page["features"]:
            feature["geometry"]["rings"] = [
                np.column_stack(to_lonlat(*np.array(ring).T)).tolist() for ring in feature["geometry"]["rings"]
            ]
        return Answer.of(page)

    stub.rules[:] = [lambda _: None, rule]


def stopped_after(stub: FeatureStub, folder: Path, pages: int, **more: Any) -> None:
    """Fetch until some pages came, and then lose the server."""
    stub.rules.insert(0, always("page", lambda _: None if len(stub.pages) <= pages else Answer(status=404)))
    assert fault(stub, folder, **more).fault == "http_error"
    stub.rules.clear()
    stub.log.clear()
