"""Files appear when they are whole, and nothing else is left in their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grownj_geo.files import put_new_file, written_beside


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


# -- where nothing may be ------------------------------------------------------------------------------


def no_links(*_: object) -> None:
    raise OSError(95, "no links on this file system")


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_never_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "record.json"

    def write() -> None:
        with written_beside(target, new=True) as beside:
            beside.write_text("mine")

    write()
    assert target.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [target]
    target.write_text("other")
    with pytest.raises(FileExistsError):
        write()
    assert target.read_text() == "other"
    assert list(tmp_path.iterdir()) == [target]


def test_where_a_new_file_cannot_be_put_no_empty_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, target = tmp_path / "written", tmp_path / "record.json"
    written.write_text("whole")

    def full(*_: object) -> Path:
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        put_new_file(written, target)
    assert list(tmp_path.iterdir()) == [written]
