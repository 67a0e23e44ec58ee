"""Which edition of a layer a day takes, and on which days that changes: held against every single day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept_world import ORIGIN

from grownj_geo.edition import Edition, Held, Stated, edition_for, switches
from grownj_geo.features import LoadReport

FIRST = date(2016, 12, 20)
DAYS = [FIRST + timedelta(days=n) for n in range(140)]
SHA256 = "0" * 64


def held(layer_id: str, number: int = 0, **stated: date | None) -> Held:
    """Return an edition of a layer that states some dates."""
    said = Stated.model_validate({name: day for name, day in stated.items() if day is not None})
    report = LoadReport(
        layer=layer_id, source="drawn", read=1, kept=1, crs="EPSG:3424", fields={}, unknown_values={}, changes=()
    )
    edition = Edition(
        id=said.edition_id(SHA256), layer_id=layer_id, stated=said, sha256=SHA256, size_bytes=1, features=1,
        origin=ORIGIN, report=report, added_at=datetime(2026, 1, 1 + number, tzinfo=UTC),
    )  # fmt: skip
    return Held(layer_id, edition.id, Path("nowhere"), edition)


def by_day(every: list[Held]) -> list[date]:
    """Return on which of the days another edition is used than on the day before, asked day by day."""
    used = [edition_for(every, day) for day in DAYS]
    return [day for day, was, now in zip(DAYS[1:], used[:-1], used[1:], strict=True) if was is not now]


days = st.none() | st.sampled_from(DAYS[20:-20])
dates = st.fixed_dictionaries({"valid_from": days, "edition": days, "valid_until": days})


@given(
    st.sampled_from(["closed_military_land", "planning_areas", "designations"]), st.lists(dates, min_size=1, max_size=5)
)
@settings(deadline=None, max_examples=150)
def test_the_edition_changes_on_the_switch_days_and_on_no_other(
    layer_id: str, drawn: list[dict[str, date | None]]
) -> None:
    every = [held(layer_id, number, **stated) for number, stated in enumerate(drawn)]
    found = [one for one in switches(every) if DAYS[0] < one.day <= DAYS[-1]]
    assert [one.day for one in found if one.was is not one.now] == by_day(every)
    for one in found:
        assert one.now is edition_for(every, one.day)
        assert one.was is edition_for(every, one.day - timedelta(days=1))


def test_between_two_days_the_nearest_one_is_used_and_the_switch_falls_half_way() -> None:
    early, late = (held("closed_military_land", edition=day) for day in (date(2017, 6, 1), date(2018, 6, 1)))
    found = {one.day: one for one in switches([late, early])}
    assert list(found) == [date(2017, 6, 1), date(2017, 6, 2), date(2017, 12, 1), date(2018, 6, 1), date(2018, 6, 2)]
    half = found[date(2017, 12, 1)]
    assert (half.was, half.now, half.held, half.holds) == (early, late, False, False)


@pytest.mark.parametrize("other", [None, date(2016, 1, 1)])
def test_what_ships_takes_over_where_no_edition_covers_the_day(other: date | None) -> None:
    one = held("designations", valid_from=date(2017, 1, 10), valid_until=date(2017, 2, 1), edition=other)
    found = [(s.day, s.was, s.now) for s in switches([one])]
    assert found == [(date(2017, 1, 10), None, one), (date(2017, 2, 1), one, None)]


def test_one_whose_record_cannot_be_read_is_never_replaced() -> None:
    broken = Held("closed_military_land", "undated-00000000", Path("nowhere"), None, "damaged")
    assert switches([held("closed_military_land", edition=date(2017, 6, 1)), broken]) == ()
