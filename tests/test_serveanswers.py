"""Answers of the service in the thread that answers: an answer and its tag are of the same layers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from grownj_geo import serveanswers
from grownj_geo.cli import app
from grownj_geo.serveanswers import Answers
from grownj_geo.serveasked import SiteAsk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CAMDEN = SiteAsk.model_validate({"site": "39.9447,-75.1190"})


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """Yield answers from an empty home that look for new layers whenever they are asked to."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("GROWNJ_HOME", str(home))
    monkeypatch.setattr(serveanswers, "_LOOK_AGAIN_S", 0.0)
    found = Answers(home)
    yield found
    found.close()


def load_planning_areas(folder: Path) -> None:
    ring = [[-75.13, 39.93], [-75.10, 39.93], [-75.10, 39.95], [-75.13, 39.95], [-75.13, 39.93]]
    row = {"OBJECTID": 1, "SPDETAIL": "METROPOLITAN", "SPDETAIL2": "0001", "P2ACRES": 1.0}
    feature = {"type": "Feature", "properties": row, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    file = folder / "planning.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}), encoding="utf-8")
    words = ["layers", "import", "planning_areas", str(file), "--partial", "--edition", "2017-01-01"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output


def statuses(record: serveanswers.Answer) -> dict[str, str]:
    return {layer.id: layer.status for layer in record.record.layers}


def test_a_layer_that_is_added_while_a_question_is_answered_counts_from_the_next_one(
    answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = answers.whole_answer(CAMDEN)
    assert statuses(before)["planning_areas"] == "missing"
    # Between the engine and the tag: the place is read there.
    read = serveanswers.site_of

    def slowly(*words: object) -> object:
        monkeypatch.setattr(serveanswers, "site_of", read)
        load_planning_areas(tmp_path)
        return read(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(serveanswers, "site_of", slowly)
    during = answers.whole_answer(CAMDEN)
    after = answers.whole_answer(CAMDEN)
    assert (during.tag, statuses(during)["planning_areas"]) == (before.tag, "missing")
    assert statuses(after)["planning_areas"] == "loaded"
    assert after.tag != before.tag
