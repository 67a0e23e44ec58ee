"""Files appear when they are whole, and nothing else is left in their folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grownj_geo.files import written_beside

if TYPE_CHECKING:
    from pathlib import Path


def test_the_target_is_as_it_was_until_the_end(tmp_path: Path) -> None:
    target = tmp_path / "site.json"
    target.write_text("before")
    with written_beside(target) as beside:
        beside.write_text("after")
        assert beside.suffix == ".json"
        assert target.read_text() == "before"
    assert target.read_text() == "after"
    assert list(tmp_path.iterdir()) == [target]


def test_what_fails_changes_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "site.json"
    target.write_text("before")

    def fail() -> None:
        with written_beside(target) as beside:
            beside.write_text("hal")
            raise RuntimeError("half")

    with pytest.raises(RuntimeError, match="half"):
        fail()
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_two_who_write_the_same_do_not_write_into_one_file(tmp_path: Path) -> None:
    target = tmp_path / "estimate.xlsx"
    with written_beside(target) as first, written_beside(target) as second:
        assert first != second
        first.write_text("first" * 100)
        second.write_text("second")
    # The outer one ends last.
    assert target.read_text() == "first" * 100
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_of_the_longest_name_can_be_written(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 251 + ".csv")
    with written_beside(target) as beside:
        beside.write_text("whole")
    assert target.read_text() == "whole"


def test_it_is_as_readable_as_any_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    with written_beside(tmp_path / "made") as beside:
        beside.write_text("")
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_what_was_not_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), written_beside(tmp_path / "nothing"):
        pass
    with pytest.raises(OSError, match="nowhere"), written_beside(tmp_path / "nowhere" / "a") as beside:
        beside.write_text("")
