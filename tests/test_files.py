"""Files appear when they are whole, and nothing else is left in their folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from grownj_geo.files import (
    expect_as_seen,
    expect_nothing,
    look_at,
    put_as_seen,
    put_file,
    put_new_file,
    written_beside,
)


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


# -- where something was looked at ---------------------------------------------------------------------


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_is_put_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    written, target = tmp_path / "written", tmp_path / "record.json"
    written.write_text("whole")
    put_new_file(written, target)
    assert list(tmp_path.iterdir()) == [target]
    assert target.stat().st_nlink == 1


@pytest.mark.parametrize("before", [None, "ours"])
def test_only_what_was_looked_at_is_replaced(tmp_path: Path, before: str | None) -> None:
    written, target = tmp_path / "written", tmp_path / "out.csv"
    if before is not None:
        target.write_text(before)
    seen = look_at(target)
    target.write_text("dear colleague")
    written.write_text("mine")
    with pytest.raises(OSError, match="something came there or was changed") as refused:
        put_as_seen(written, target, seen)
    assert refused.value.errno == errno.EBUSY
    assert (target.read_text(), written.read_text()) == ("dear colleague", "mine")
    put_as_seen(written, target, look_at(target))
    assert (target.read_text(), list(tmp_path.iterdir())) == ("mine", [target])


def test_a_place_is_expected_as_it_was_seen_once_and_until_that_is_forgotten(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"

    def write(text: str) -> None:
        with written_beside(target) as beside:
            beside.write_text(text)

    try:
        expect_as_seen(target, look_at(target))
        target.write_text("dear colleague")
        with pytest.raises(OSError, match="something came there"):
            write("mine")
        expect_as_seen(target, look_at(target))
        write("mine")
        # What this run put there is its own.
        write("mine again")
        expect_as_seen(target, None)
    finally:
        expect_nothing()
    write("and again")
    assert target.read_text() == "and again"


# -- links ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("new", [True, False])
def test_a_link_is_followed_and_stays(tmp_path: Path, *, new: bool, there: bool) -> None:
    (tmp_path / "far").mkdir()
    far, link = tmp_path / "far" / "data.bin", tmp_path / "out.csv"
    link.symlink_to(far)
    if there:
        far.write_text("before")
    if new and there:
        with pytest.raises(FileExistsError), written_beside(link, new=True) as beside:
            beside.write_text("after")
        assert far.read_text() == "before"
        return
    with written_beside(link, new=new) as beside:
        assert (beside.name, beside.parent.parent) == ("out.csv", far.parent)
        beside.write_text("after")
    assert (link.is_symlink(), far.is_symlink(), far.read_text()) == (True, False, "after")
    assert list(far.parent.iterdir()) == [far]


def test_a_file_put_at_a_link_goes_where_it_points(tmp_path: Path) -> None:
    far, link, written = tmp_path / "far.csv", tmp_path / "out.csv", tmp_path / "written"
    link.symlink_to(far)
    written.write_text("whole")
    put_file(written, link)
    assert (link.is_symlink(), far.read_text()) == (True, "whole")
