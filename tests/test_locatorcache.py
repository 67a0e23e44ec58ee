"""Kept answers and turns: by age, by question, by many at once, and on a disk that cannot be used."""

from __future__ import annotations

import sqlite3
import stat
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

from grownj_geo.errors import LayerError
from grownj_geo.locator import Match, locator_facts
from grownj_geo.locatorcache import AnswerCache

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ("census", "https://a.example", "1 A ST")
FOUND = Match(
    locator="census",
    matched="1 A ST, ORANGE, NJ, 07050",
    score=0.9,
    kind="range",
    x_ft=5e5,
    y_ft=6e5,
    uncertainty_ft=1381.0,
    city="ORANGE",
    zip_code="07050",
    notes=("a note", "another"),
)


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    now = time.time() + seconds
    monkeypatch.setattr(time, "time", lambda: now)


def test_an_answer_comes_back_as_it_was_with_the_day_of_it(tmp_path: Path) -> None:
    AnswerCache(tmp_path, days=1).put("census", PARTS, [FOUND])
    (again,) = AnswerCache(tmp_path, days=1).get(PARTS) or ()
    assert again.answered_on is not None
    assert {**vars(again), "answered_on": None} == vars(FOUND)


@pytest.mark.parametrize(
    "other", [("nj", *PARTS[1:]), (PARTS[0], "https://b.example", PARTS[2]), (*PARTS[:2], "2 A ST")]
)
def test_another_locator_address_or_service_is_another_question(tmp_path: Path, other: tuple[str, ...]) -> None:
    cache = AnswerCache(tmp_path, days=1)
    cache.put("census", PARTS, [FOUND])
    assert cache.get(other) is None


def test_an_answer_by_other_figures_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = AnswerCache(tmp_path, days=1)
    cache.put("census", PARTS, [FOUND])
    monkeypatch.setitem(locator_facts()["kinds"]["range"], "metres", 4_210)
    assert cache.get(PARTS) is None
    monkeypatch.undo()
    assert cache.get(PARTS) is not None


def test_answers_get_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = AnswerCache(tmp_path, days=10)
    cache.put("census", PARTS, [FOUND])
    later(monkeypatch, 9.9 * 86_400)
    assert cache.get(PARTS)
    later(monkeypatch, 0.2 * 86_400)
    assert cache.get(PARTS) is None


def test_that_an_address_is_not_known_is_believed_for_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = AnswerCache(tmp_path, days=10)
    cache.put("census", PARTS, [])
    assert cache.get(PARTS) == ()
    later(monkeypatch, 1.1 * 86_400)
    assert cache.get(PARTS) is None


def test_a_clock_that_was_set_back_makes_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = AnswerCache(tmp_path, days=10)
    cache.put("census", PARTS, [FOUND])
    cache.rest("a.example", 60)
    later(monkeypatch, -30 * 86_400)
    assert cache.get(PARTS) is None
    assert cache.resting_s("a.example") == 0
    assert cache.turn("a.example", rate_per_s=1) == 0


def test_nothing_is_kept_where_nothing_is_to_be(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=0)
    cache.put("census", PARTS, [FOUND])
    assert cache.get(PARTS) is None
    assert not cache.path.exists()


def test_forgotten_addresses_are_not_in_the_file_any_more(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    cache.put("census", PARTS, [FOUND])
    assert b"1 A ST" in cache.path.read_bytes()
    assert cache.held()[0] == 1
    assert cache.clear() == 1
    assert b"1 A ST" not in cache.path.read_bytes()
    assert cache.held()[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="files there have other rights")
def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    cache.put("census", PARTS, [FOUND])
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600


def test_turns_are_a_time_apart(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    waits = [cache.turn("a.example", rate_per_s=1.0) for _ in range(3)]
    assert waits == pytest.approx([0, 1, 2], abs=0.3)
    assert cache.turn("b.example", rate_per_s=1.0) == 0


def test_a_turn_that_nobody_would_wait_for_is_not_taken(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    for _ in range(3):
        cache.turn("a.example", rate_per_s=0.1)
    assert cache.turn("a.example", rate_per_s=0.1, longest_wait_s=5) == pytest.approx(30, abs=1)
    assert cache.turn("a.example", rate_per_s=0.1) == pytest.approx(30, abs=1)


def test_many_answers_are_kept_and_found_together(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    questions = [("census", str(i)) for i in range(1_234)]
    cache.put_many("census", [(parts, [FOUND] if i % 2 else []) for i, parts in enumerate(questions[:1_200])])
    found = cache.get_many([*questions, questions[1]])
    assert [None if one is None else len(one) for one in found] == [i % 2 for i in range(1_200)] + [None] * 34 + [1]


def test_trouble_that_is_over_is_not_told_any_more(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    cache.path.mkdir()
    cache.put("census", PARTS, [FOUND])
    assert cache.problem
    cache.path.rmdir()
    cache.put("census", PARTS, [FOUND])
    assert cache.problem is None


def _take(home: Path, count: int) -> list[float]:
    cache = AnswerCache(home, days=1)
    return [time.time() + cache.turn("a.example", rate_per_s=10.0) for _ in range(count)]


def test_programs_that_run_at_once_share_their_turns(tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        times = sorted(at for taken in pool.starmap(_take, [(tmp_path, 10)] * 2) for at in taken)
    assert len(times) == 20
    assert min(b - a for a, b in pairwise(times)) > 0.05


def test_threads_share_one_cache(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)

    def work(i: int) -> bool:
        parts = (*PARTS, str(i % 7))
        cache.put("census", parts, [FOUND])
        return cache.get(parts) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(80)))
    assert cache.problem is None
    assert cache.held()[0] == 7


def test_a_service_is_left_alone_as_long_as_it_asked_for_but_never_for_days(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    cache.rest("a.example", 40)
    assert cache.resting_s("a.example") == pytest.approx(40, abs=1)
    assert cache.turn("a.example", rate_per_s=1) == pytest.approx(40, abs=1)
    cache.rest("b.example", 1e9)
    assert cache.resting_s("b.example") <= 86_400


def test_a_file_that_is_none_stops_nobody_and_is_told(tmp_path: Path) -> None:
    content = b"no database at all, and longer than one page would be" * 100
    cache = AnswerCache(tmp_path, days=1)
    cache.path.write_bytes(content)
    cache.put("census", PARTS, [FOUND])
    assert cache.get(PARTS) is None
    assert cache.problem is not None
    assert str(cache.path) in cache.problem
    # Turns are kept all the same.
    assert [cache.turn("a.example", rate_per_s=1.0) for _ in range(2)] == pytest.approx([0, 1], abs=0.3)
    with pytest.raises(LayerError, match="cannot be used"):
        cache.held()
    with pytest.raises(LayerError, match="cannot be used"):
        cache.clear()
    assert cache.path.read_bytes() == content


def test_answers_of_another_version_are_dropped(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path, days=1)
    cache.put("census", PARTS, [FOUND])
    with sqlite3.connect(cache.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert cache.get(PARTS) is None
    assert cache.problem is None


def test_a_home_that_is_a_file_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    cache = AnswerCache(tmp_path / "home", days=1)
    cache.put("census", PARTS, [FOUND])
    assert cache.get(PARTS) is None
    assert cache.problem
