"""Pages on disk: whole, of this plan, and nothing else touched."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from grownj_geo.features import LayerFault
from grownj_geo.fetchpages import FetchPages

if TYPE_CHECKING:
    from pathlib import Path

PLAN: dict[str, Any] = {"url": "https://maps.nj.gov/MapServer/2", "ids": "abc", "last_edit_ms": 1}
ONE: list[dict[str, Any]] = [{"attributes": {"OBJECTID": 1}, "geometry": {"x": -74.17240000000001, "y": 40.1}}]
TWO: list[dict[str, Any]] = [{"attributes": {"OBJECTID": 2, "NAME": "Peñaflor"}, "geometry": None}]


def begun(folder: Path, *, dated: bool = True, **changes: Any) -> FetchPages:
    return FetchPages(folder, PLAN | changes, dated=dated)


def kept(pages: FetchPages) -> list[int]:
    return sorted(feature["attributes"]["OBJECTID"] for page in pages.pages() for feature in page)


def grow_old(folder: Path, hours: float) -> None:
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    plan["begun"] = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")


def test_pages_are_kept_as_they_came(tmp_path: Path) -> None:
    pages = begun(tmp_path)
    pages.add(ONE)
    pages.add(TWO)
    again = begun(tmp_path)
    assert sorted(again.pages(), key=str) == sorted([ONE, TWO], key=str)
    assert again.damaged == 0


def test_another_plan_begins_anew(tmp_path: Path) -> None:
    begun(tmp_path).add(ONE)
    assert kept(begun(tmp_path, ids="abd")) == []
    assert kept(begun(tmp_path)) == []


def test_a_page_of_another_plan_that_lies_there_is_not_taken(tmp_path: Path) -> None:
    begun(tmp_path / "a").add(ONE)
    other = begun(tmp_path / "b", ids="abd")
    for page in (tmp_path / "a").glob("page-*.json"):
        page.rename(tmp_path / "b" / page.name)
    assert kept(other) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"x" * 100])
def test_damaged_pages_are_not_taken(tmp_path: Path, damage: bytes) -> None:
    pages = begun(tmp_path)
    pages.add(ONE)
    pages.add(TWO)
    next(tmp_path.glob("page-*.json")).write_bytes(damage)
    again = begun(tmp_path)
    assert len(kept(again)) == 1
    assert again.damaged == 1
    assert len(list(tmp_path.glob("page-*.json"))) == 1


@pytest.mark.parametrize("plan", [b"", b"{}", b"[1]", b'{"digest": 1, "begun": "yesterday"}'])
def test_a_damaged_plan_begins_anew(tmp_path: Path, plan: bytes) -> None:
    begun(tmp_path).add(ONE)
    (tmp_path / "plan.json").write_bytes(plan)
    assert kept(begun(tmp_path)) == []


def test_half_written_pages_are_not_taken(tmp_path: Path) -> None:
    begun(tmp_path).add(ONE)
    page = next(tmp_path.glob("page-*.json"))
    page.rename(page.with_name(f"{page.name}.part"))
    assert kept(begun(tmp_path)) == []


def test_without_a_time_of_edit_pages_hold_for_a_day(tmp_path: Path) -> None:
    begun(tmp_path, dated=False).add(ONE)
    grow_old(tmp_path, 23)
    assert kept(begun(tmp_path, dated=False)) == [1]
    grow_old(tmp_path, 25)
    assert kept(begun(tmp_path, dated=False)) == []


def test_with_a_time_of_edit_pages_hold(tmp_path: Path) -> None:
    begun(tmp_path).add(ONE)
    grow_old(tmp_path, 24 * 365)
    assert kept(begun(tmp_path)) == [1]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in ("page-1.json", "plan.txt", "areas.parquet"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    begun(tmp_path).add(ONE)
    begun(tmp_path, ids="abd").clear()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["areas.parquet", "page-1.json", "plan.txt"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(LayerFault) as caught:
        begun(tmp_path / "file" / "work")
    assert caught.value.fault == "work_folder"
