"""A table of sites comes out whole, in its order, with the answers that each site gets alone."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from drawn import NEWARK

from grownj_geo.atlas import load_atlas
from grownj_geo.batch import BatchOptions, Question, run_batch
from grownj_geo.batchwork import batch_columns
from grownj_geo.determine import Engine, determine
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.features import LayerFault
from grownj_geo.reference import data_folder
from grownj_geo.rulebook import load_rulebook
from grownj_geo.site import Site
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.atlas import Atlas

QUESTION = Question(date(2017, 4, 17))


def table(path: Path, n: int, *, seed: int = 7) -> Path:
    """Write n random places, most of them in New Jersey, with rows that are none between them."""
    rng = np.random.default_rng(seed)
    lon, lat = to_lonlat(rng.uniform(330_000, 620_000, n), rng.uniform(100_000, 880_000, n))
    rows = [[f"site {i}", f"{a:.6f}", f"{b:.6f}"] for i, (a, b) in enumerate(zip(lat, lon, strict=True))]
    for i in range(5, n, 17):
        rows[i][1:] = [["", ""], ["40.7", "74.1"], ["forty", "-74"], ["0", "0"]][i % 4]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["name", "lat", "lon"], *rows])
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def test_every_row_comes_out_in_order_with_the_answer_it_gets_alone(tmp_path: Path, atlas: Atlas) -> None:
    source, target = table(tmp_path / "in.csv", 120), tmp_path / "out.csv"
    found = run_batch(source, target, QUESTION, options=BatchOptions(block_rows=50))
    before, after = read(source), read(target)
    assert [{k: row[k] for k in before[0]} for row in after] == before
    assert [int(row["row"]) for row in after] == list(range(2, 122))
    answered = 0
    for row in after:
        try:
            record = determine(f"{row['lat']},{row['lon']}", atlas)
        except ValueError as error:
            assert row["problem"]
            assert row["qualified_incentive_area"] == ""
            if isinstance(error, OutsideNewJerseyError):
                assert "outside" in row["problem"]
            continue
        answered += 1
        assert not row["problem"]
        assert {f.id: f.outcome for f in record.findings} == {f.id: row[f.id] for f in record.findings}
        assert record.tier is not None
        assert (row["base_floor"], row["base_ceiling"]) == (
            str(record.tier.floor or ""),
            str(record.tier.ceiling or ""),
        )
    assert found.rows == 120
    assert found.answered == answered > 40
    assert sum(found.problems.values()) == 120 - answered
    assert all(sum(counts.values()) == answered for counts in found.outcomes.values())
    assert sum(found.tiers.values()) == sum(found.placements.values()) == answered


@pytest.mark.parametrize("options", [BatchOptions(block_rows=7), BatchOptions(block_rows=1000)])
def test_blocks_change_nothing(tmp_path: Path, options: BatchOptions) -> None:
    source = table(tmp_path / "in.csv", 90)
    run_batch(source, tmp_path / "a.csv", QUESTION, options=BatchOptions(block_rows=40))
    run_batch(source, tmp_path / "b.csv", QUESTION, options=options)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_the_order_of_rows_changes_nothing_in_any_row(tmp_path: Path) -> None:
    source = table(tmp_path / "in.csv", 60)
    lines = source.read_text().splitlines()
    shuffled = tmp_path / "shuffled.csv"
    body = lines[1:]
    np.random.default_rng(3).shuffle(body)
    shuffled.write_text("\n".join([lines[0], *body]) + "\n")
    for path in (source, shuffled):
        run_batch(path, path.with_suffix(".out.csv"), QUESTION)
    one, other = (
        {
            row["name"]: {k: v for k, v in row.items() if k not in {"row", "problem"}}
            for row in read(p.with_suffix(".out.csv"))
        }
        for p in (source, shuffled)
    )
    assert one == other


@pytest.mark.slow
def test_an_index_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "home"))
    source = table(tmp_path / "in.csv", 600)
    question = Question(date(2017, 4, 17), detail="full")
    for index in ("no", "build", "auto"):
        run_batch(source, tmp_path / f"{index}.csv", question, options=BatchOptions(index=index))  # type: ignore[arg-type]
    assert len(list((tmp_path / "home" / "cells").glob("*.cells"))) == 1
    assert (tmp_path / "no.csv").read_bytes() == (tmp_path / "build.csv").read_bytes()
    assert (tmp_path / "no.csv").read_bytes() == (tmp_path / "auto.csv").read_bytes()
    # A damaged index is not used: it is built again, or left alone.
    (path,) = (tmp_path / "home" / "cells").glob("*.cells")
    path.write_bytes(path.read_bytes()[:1000])
    run_batch(source, tmp_path / "again.csv", question)
    assert (tmp_path / "no.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


@pytest.mark.slow
def test_workers_change_nothing(tmp_path: Path) -> None:
    source = table(tmp_path / "in.csv", 400)
    for workers in (1, 2):
        options = BatchOptions(block_rows=40, workers=workers)
        run_batch(source, tmp_path / f"{workers}.csv", QUESTION, options=options)
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_full_columns_are_those_of_the_dictionary(tmp_path: Path, atlas: Atlas) -> None:
    source = table(tmp_path / "in.csv", 20)
    run_batch(source, tmp_path / "out.csv", Question(date(2017, 4, 17), detail="full"))
    engine = Engine(atlas, load_rulebook())
    assert list(read(tmp_path / "out.csv")[0]) == [
        "name", "lat", "lon", *(column.name for column in batch_columns(engine, ["name", "lat", "lon"], "full")),
    ]  # fmt: skip


def test_a_column_that_the_table_has_already_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("county,lat,lon,notes\nmine,40.7344,-74.1641,own\n")
    run_batch(path, tmp_path / "out.csv", QUESTION)
    (row,) = read(tmp_path / "out.csv")
    assert (row["county"], row["notes"]) == ("mine", "own")
    assert (row["grownj_county"], row["municipality"]) == ("Essex", "Newark City")


def test_answers_of_an_earlier_run_state_nothing(tmp_path: Path) -> None:
    source = table(tmp_path / "in.csv", 60)
    first = run_batch(source, tmp_path / "one.csv", QUESTION)
    second = run_batch(tmp_path / "one.csv", tmp_path / "two.csv", QUESTION)
    assert [any("state nothing" in words for words in found.changes) for found in (first, second)] == [False, True]
    names = [column.name for column in batch_columns(QUESTION.engine(), read(source)[0], "brief")]
    assert {"highlands_receiving_area", "mun_code"} <= set(names)  # the names of a fact and of a place
    for before, after in zip(read(tmp_path / "one.csv"), read(tmp_path / "two.csv"), strict=True):
        assert [after[f"grownj_{name}"] for name in names] == [before[name] for name in names]


def test_facts_stand_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("lat,lon,lfb_supervision\n40.42,-74.66,yes\n40.42,-74.66,no\n40.42,-74.66,\n")
    run_batch(path, tmp_path / "out.csv", QUESTION)
    assert [row["distressed_municipality"] for row in read(tmp_path / "out.csv")] == ["yes", "no", "no"]


def test_strict_stops_at_the_first_row_without_an_answer(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    for bad, said in (("0,0", "row 3"), ("40.75,-73.92", "row 3")):
        source.write_text(f"lat,lon\n40.7344,-74.1641\n{bad}\n40.7344,-74.1641\n")
        with pytest.raises(LayerFault) as refused:
            run_batch(source, tmp_path / "out.csv", QUESTION, options=BatchOptions(strict=True))
        assert refused.value.fault == "bad_row"
        assert said in str(refused.value).lower()
        assert not (tmp_path / "out.csv").exists()


def test_evidence_is_the_record_of_each_site(tmp_path: Path, atlas: Atlas) -> None:
    source = tmp_path / "in.csv"
    source.write_text(f"lat,lon\n{NEWARK[1]},{NEWARK[0]}\n0,0\n40.42,-74.66\n")
    run_batch(source, tmp_path / "out.csv", QUESTION, evidence=tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line.pop("row") for line in lines] == [2, 4]
    expected = determine(f"{NEWARK[1]},{NEWARK[0]}", atlas).model_dump(mode="json")
    for record in (lines[0], expected):
        del record["site"]
    assert lines[0] == expected


_CLIENT = """
import sys
from datetime import date
from pathlib import Path
from grownj_geo.batch import BatchOptions, Question, run_batch
if __name__ == "__main__":
    source, target, evidence = map(Path, sys.argv[1:])
    run_batch(source, target, Question(date(2017, 4, 17)), options=BatchOptions(block_rows=10, resume=True),
              evidence=evidence, progress=lambda done, total: print(done, flush=True))
"""


def test_a_place_far_from_the_municipality_that_its_row_says_has_no_answer(tmp_path: Path, atlas: Atlas) -> None:
    newark, off_newark = "40.7344,-74.1641", "40.7330,-74.1100"
    source = tmp_path / "in.csv"
    source.write_text(
        f"lat,lon,pin\n{newark},0408_1_1\n{newark},0714_1_1\n{newark},\n{off_newark},0714_1_1\n40.75,-73.0,0714_1_1\n",
        encoding="utf-8",
    )
    engine = Engine(atlas, load_rulebook())
    run_batch(source, tmp_path / "out.csv", QUESTION)
    rows = read(tmp_path / "out.csv")
    assert "71.86 miles from Camden City (0408)" in rows[0]["problem"]
    assert [bool(row["problem"]) for row in rows] == [True, False, False, _refused(engine, off_newark), True]
    assert [row["mun_code"] for row in rows[:3]] == ["", "0714", "0714"]
    assert rows[0]["qualified_incentive_area"] == ""


def _refused(engine: Engine, place: str) -> bool:
    lat, lon = map(float, place.split(","))
    site = replace(Site.from_lonlat(lon, lat), mun_code="0714", mun_basis="pin", pins=("0714_1_1",))
    try:
        engine.run(site)
    except SiteError:
        return True
    return False


def test_an_index_that_cannot_be_kept_is_told_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = table(tmp_path / "in.csv", 20)
    home = tmp_path / "home"
    home.mkdir()
    (home / "cells").write_text("a file where the folder should be", encoding="utf-8")
    monkeypatch.setenv("GROWNJ_HOME", str(home))
    monkeypatch.setattr("grownj_geo.batch._WORTH_AN_INDEX", 1)
    run_batch(source, tmp_path / "no.csv", QUESTION, options=BatchOptions(index="no"))
    summary = run_batch(source, tmp_path / "auto.csv", QUESTION)
    assert any("without a cell index" in words for words in summary.changes)
    assert (tmp_path / "auto.csv").read_bytes() == (tmp_path / "no.csv").read_bytes()
    with pytest.raises(LayerFault):
        run_batch(source, tmp_path / "build.csv", QUESTION, options=BatchOptions(index="build"))


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    source = table(tmp_path / "in.csv", 300)
    whole = tmp_path / "whole.csv"
    run_batch(source, whole, QUESTION, options=BatchOptions(block_rows=10), evidence=tmp_path / "whole.jsonl")
    target, evidence = tmp_path / "out.csv", tmp_path / "out.jsonl"
    rng = np.random.default_rng(11)
    kills = 0
    for _ in range(40):
        if target.exists():
            break
        with subprocess.Popen(
            [sys.executable, "-c", _CLIENT, str(source), str(target), str(evidence)], stdout=subprocess.PIPE
        ) as run:
            assert run.stdout is not None
            if kills < 5:
                run.stdout.readline()
                time.sleep(rng.uniform(0, 0.3))
                if run.poll() is None:
                    os.kill(run.pid, signal.SIGKILL)
                    kills += 1
            run.communicate(timeout=120)
        assert not target.exists() or run.returncode == 0
    assert kills > 2
    assert target.read_bytes() == whole.read_bytes()
    assert evidence.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.csv",
        "out.csv",
        "out.jsonl",
        "whole.csv",
        "whole.jsonl",
    ]


def test_a_run_of_another_question_is_not_gone_on_with(tmp_path: Path) -> None:
    source = table(tmp_path / "in.csv", 60)

    class StopError(Exception):
        pass

    def stop(done: int, _total: int | None) -> None:
        if done >= 20:
            raise StopError

    options = BatchOptions(block_rows=10, resume=True)
    with pytest.raises(StopError):
        run_batch(source, tmp_path / "out.csv", QUESTION, options=options, progress=stop)
    with pytest.raises(LayerFault) as refused:
        run_batch(source, tmp_path / "out.csv", Question(date(2016, 1, 4)), options=options)
    assert refused.value.fault == "other_run"
    found = run_batch(source, tmp_path / "out.csv", QUESTION, options=options)
    assert found.resumed_rows == 20
    assert found.rows == 60
    assert found.answered + sum(found.problems.values()) == 60


def test_a_layer_that_breaks_is_never_a_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in data_folder().iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "port_of_new_york_district.parquet").write_bytes(b"")

    def damaged(**more: Any) -> Atlas:
        return load_atlas(folder=tmp_path, **more)

    monkeypatch.setattr("grownj_geo.batchwork.load_atlas", damaged)
    source = tmp_path / "in.csv"
    source.write_text("lat,lon\n40.7344,-74.1641\n39.3,-74.6\n")
    run_batch(source, tmp_path / "out.csv", QUESTION)
    assert [row["port_of_new_york_district"] for row in read(tmp_path / "out.csv")] == ["undetermined", "undetermined"]
