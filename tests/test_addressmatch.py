"""Whatever differs takes something off, and what contradicts is told from what is only missing."""

from __future__ import annotations

import pytest

from grownj_geo.addressline import StreetName, split_line
from grownj_geo.addressmatch import UNIT_UNKNOWN, House, houses_at, neighbours, street_fit
from grownj_geo.matchfigures import GOOD_HOUSE


def name(text: str) -> StreetName:
    return split_line(f"1 {text}").street


def house(number: int, *, high: int | None = None, text: str = "", unit: str = "", row: int = 1) -> House:
    return House(number, high or number, text or str(number), unit, False, row)


@pytest.mark.parametrize(
    ("typed", "found", "differs", "compatible"),
    [
        ("PARK AVENUE", "PARK AVE", (), True),
        ("PARK", "PARK AVENUE", ("street suffix",), True),
        ("PARK AVENUE", "PARK", ("street suffix",), True),
        ("PARK STREET", "PARK AVENUE", ("street suffix",), False),
        ("CENTER STREET", "SOUTH CENTER STREET", ("direction",), True),
        ("SOUTH CENTER STREET", "CENTER STREET", ("direction",), False),
        ("NORTH CENTER STREET", "SOUTH CENTER STREET", ("direction",), False),
        ("SOUTH CENTER STREET", "CENTER STREET SOUTH", ("direction",), False),
    ],
)
def test_parts_of_streets(typed: str, found: str, differs: tuple[str, ...], *, compatible: bool) -> None:
    fit = street_fit(name(typed), name(found), 1.0)
    assert (fit.differs, fit.compatible) == (differs, compatible)
    assert (fit.off == 0) == (not differs)


def test_another_direction_takes_off_more_than_a_missing_one() -> None:
    other = street_fit(name("NORTH CENTER STREET"), name("SOUTH CENTER STREET"), 1.0).off
    missing = street_fit(name("CENTER STREET"), name("SOUTH CENTER STREET"), 1.0).off
    assert other > missing > 0


def test_a_misspelt_name_is_never_compatible() -> None:
    assert not street_fit(name("MAIN ST"), name("MAIN ST"), 0.99).compatible


def test_a_number_is_exact_inside_a_range_or_another() -> None:
    line = split_line("101 Freeway Drive West")
    exact = houses_at(line, [house(101)])
    inside = houses_at(line, [house(95, high=123, text="95-123")])
    assert [f.differs for f, _ in exact] == [()]
    assert [(f.differs, f.compatible) for f, _ in inside] == [(("house number",), True)]
    assert houses_at(line, [house(95, high=99, text="95-99")]) == []
    assert houses_at(line, [house(102)]) == []
    assert houses_at(line, [house(101, text="101A")])[0][0].compatible is False


@pytest.mark.parametrize(("number", "found"), [(94, 0), (95, 1), (97, 1), (123, 1), (125, 0)])
def test_the_ends_of_a_range_belong_to_it(number: int, found: int) -> None:
    assert len(houses_at(split_line(f"{number} Main St"), [house(95, high=123, text="95-123")])) == found


@pytest.mark.parametrize(("number", "found"), [(93, 0), (94, 0), (96, 1), (122, 1), (124, 0)])
def test_a_number_of_the_other_side_inside_a_range_is_weak_and_contradicts(number: int, found: int) -> None:
    across = houses_at(split_line(f"{number} Main St"), [house(95, high=123, text="95-123")])
    assert len(across) == found
    for fit, _ in across:
        assert (fit.differs, fit.compatible) == (("house number", "side of the street"), False)
        assert 1 - fit.off < GOOD_HOUSE


def test_a_range_that_is_typed_holds_its_side_and_weakly_the_other() -> None:
    line = split_line("10-20 Main St")
    (same,), (across,) = houses_at(line, [house(12)]), houses_at(line, [house(13)])
    assert (same[0].compatible, across[0].compatible) == (True, False)
    assert same[0].off < across[0].off
    assert houses_at(line, [house(21)]) == []


def test_units_are_told_apart() -> None:
    houses = [house(52, row=1), house(52, unit="507", row=2), house(52, unit="508", row=3)]
    typed = houses_at(split_line("52 Lincoln Ave #507"), houses)
    assert [[h.source_id for h in group] for _, group in typed] == [[2]]
    untold = houses_at(split_line("52 Lincoln Ave"), houses)
    assert [[h.source_id for h in group] for _, group in untold] == [[1], [2, 3]]
    other = houses_at(split_line("52 Lincoln Ave #999"), houses)
    assert [(f.differs, len(group)) for f, group in other] == [(("unit",), 3)]
    none_known = houses_at(split_line("52 Lincoln Ave #999"), houses[:1])
    assert [(f.differs, f.compatible, len(group)) for f, group in none_known] == [((UNIT_UNKNOWN,), True, 1)]


def test_neighbours_are_the_nearest_on_the_same_side() -> None:
    below, above = [house(19), house(20), house(21)], [house(27), house(26), house(29)]
    found = neighbours(25, below, above)
    assert found is not None
    assert [h.number for group in found for h in group] == ["21", "27"]
    assert neighbours(25, [house(20)], above) is None
    assert neighbours(25, below, []) is None
