"""Classes, codes, dates and figures as publishers and their tables write them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from drawn import manifest_of

from grownj_geo.features import LayerFault
from grownj_geo.fieldvalues import as_text, read_values
from grownj_geo.findings import Findings
from grownj_geo.manifest import CodedField

if TYPE_CHECKING:
    from grownj_geo.features import Change
    from grownj_geo.manifest import Manifest

MUN_CODES = frozenset({"0102", "0328", "1401"})


def _read(
    manifest: Manifest, columns: dict[str, list[Any]], **options: Any
) -> tuple[dict[str, list[Any]], dict[str, tuple[str, ...]], list[Change]]:
    found = Findings("areas.shp")
    unknown = read_values(columns, manifest, found, **options)
    return columns, unknown, found.changes


def _fault(manifest: Manifest, columns: dict[str, list[Any]], **options: Any) -> LayerFault:
    with pytest.raises(LayerFault) as caught:
        _read(manifest, columns, **options)
    return caught.value


def _kinds(changes: list[Change]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(change.kind, change.effect, change.rows) for change in changes]


def test_publishers_values_stay_as_they_are() -> None:
    columns, unknown, changes = _read(manifest_of("planning_areas"), {"SPDETAIL": ["METROPOLITAN", "PARK 1ST PLAN"]})
    assert columns["SPDETAIL"] == ["METROPOLITAN", "PARK 1ST PLAN"]
    assert not unknown
    assert not changes


def test_capitals_and_blanks_are_the_publishers_value_and_told() -> None:
    typed = ["metropolitan ", "Rural  Env. Sensitive", "WATER", "ELLIS ISLAND- NJ"]
    columns, unknown, changes = _read(manifest_of("planning_areas"), {"SPDETAIL": typed})
    assert columns["SPDETAIL"] == ["METROPOLITAN", "RURAL ENV. SENSITIVE", "WATER", "ELLIS ISLAND- NJ"]
    assert not unknown
    assert _kinds(changes) == [("value_spelling", "changed", (1, 2))]
    assert "'metropolitan ' as 'METROPOLITAN'" in changes[0].words


def test_whole_names_only_never_a_beginning() -> None:
    columns, unknown, changes = _read(
        manifest_of("pinelands_management_areas"), {"MGT_NAME": ["Pinelands Town", "Pinelands Town Center"]}
    )
    assert columns["MGT_NAME"] == ["Pinelands Town", "Pinelands Town Center"]
    assert unknown == {"MGT_NAME": ("Pinelands Town Center",)}
    assert _kinds(changes) == [("unknown_values", "noted", (2,))]


def test_unknown_and_blank_values_are_listed_and_kept() -> None:
    columns, unknown, changes = _read(
        manifest_of("highlands_region"), {"REGION": ["Highlands Planning Area", None, "X"]}
    )
    assert columns["REGION"] == ["Highlands Planning Area", "", "X"]
    assert unknown == {"REGION": ("", "X")}
    assert _kinds(changes) == [("unknown_values", "noted", (2, 3))]


def test_a_field_of_which_no_value_is_known_is_another_schema() -> None:
    fault = _fault(manifest_of("planning_areas"), {"SPDETAIL": ["1", "2", "4A"]})
    assert fault.fault == "unknown_schema"
    assert "('1', '2', '4A')" in str(fault)
    assert "'METROPOLITAN'" in str(fault)


def test_a_needed_field_that_is_blank_throughout_is_another_schema_and_an_optional_one_is_not() -> None:
    assert _fault(manifest_of("planning_areas"), {"SPDETAIL": [None, " "]}).fault == "unknown_schema"
    centers = {"CENTYPE": [None], "CENDATE": ["2017-01-01"], "ENDDATE": [None]}
    _, unknown, _ = _read(manifest_of("designated_centers"), centers)
    assert unknown == {"CENTYPE": ("",)}
    assert _fault(manifest_of("designated_centers"), centers | {"CENTYPE": ["Town"]}).fault == "unknown_schema"


def test_publishers_typing_errors_that_the_manifest_lists_are_no_change() -> None:
    columns = {"APPROVAL": ["2017-01-01"] * 4, "NONCONDEMN": ["YES", " YES", "TES", "BOTH"]}
    columns, unknown, changes = _read(manifest_of("redevelopment_areas"), columns)
    assert columns["NONCONDEMN"] == ["YES", " YES", "TES", "BOTH"]
    assert not unknown
    assert not changes


def test_spellings_that_would_be_two_meanings_are_not_guessed() -> None:
    coded = CodedField(source_field="GRADE", values={"A": "first", "a ": "second"})
    _, unknown, _ = _read(manifest_of("closed_military_land", fields={"grade": coded}), {"GRADE": ["A", " a"]})
    # " a" may be either; "a" without blanks is the second, as the engine compares.
    assert unknown == {}
    _, unknown, _ = _read(
        manifest_of(
            "closed_military_land", fields={"grade": CodedField(source_field="G", values={"a b": "1", "A B": "2"})}
        ),
        {"G": ["a b", "A b"]},
    )
    assert unknown == {"G": ("A b",)}


def test_years_as_numbers_are_the_values_as_text() -> None:
    columns, unknown, _ = _read(
        manifest_of("census_tract_poverty"),
        {
            "GEOID": ["34001000100"] * 2,
            "POVERTY_RATE": [1, 2],
            "TRACT_VINTAGE": [2010, 2020.0],
            "ACS_EDITION": ["x"] * 2,
        },
    )
    assert columns["TRACT_VINTAGE"] == ["2010", "2020"]
    assert not unknown


@pytest.mark.parametrize("value", [102, 102.0, "102", "102.0", " 102"])
def test_lost_zeros_are_written_again_where_the_code_is_a_municipality(value: Any) -> None:
    columns = {"MUN": [value, "0328"], "DATE_DESIG": ["", ""]}
    columns, _, changes = _read(manifest_of("urban_enterprise_zones"), columns, mun_codes=MUN_CODES)
    assert columns["MUN"] == ["0102", "0328"]
    assert _kinds(changes) == [("lost_zeros", "changed", (1,))]


@pytest.mark.parametrize(
    ("value", "codes", "words"),
    [
        (103, MUN_CODES, "no municipality's in row 1"),
        (102, None, "nothing says whether zeros before them were lost"),
        ("Camden", MUN_CODES, "no code of 4 digits in row 1 ('Camden')"),
        ("01020", MUN_CODES, "no code of 4 digits"),
        (102.5, MUN_CODES, "no code of 4 digits"),
        ("-102", MUN_CODES, "no code of 4 digits"),
    ],
)
def test_codes_that_cannot_be_told_are_refused(value: Any, codes: frozenset[str] | None, words: str) -> None:
    fault = _fault(manifest_of("urban_enterprise_zones"), {"MUN": [value], "DATE_DESIG": [""]}, mun_codes=codes)
    assert fault.fault == "bad_code"
    assert words in str(fault)


def test_whole_codes_as_numbers_become_text_and_strange_ones_are_noted() -> None:
    columns = {"MUN": [1401, "9999", None], "DATE_DESIG": [""] * 3}
    columns, _, changes = _read(manifest_of("urban_enterprise_zones"), columns, mun_codes=MUN_CODES)
    assert columns["MUN"] == ["1401", "9999", None]
    assert _kinds(changes) == [("codes_from_numbers", "noted", (1,)), ("unknown_codes", "noted", (2,))]


def _tracts(rates: list[Any], geoid: Any = "34001000100") -> dict[str, list[Any]]:
    n = len(rates)
    return {
        "GEOID": [geoid] * n,
        "POVERTY_RATE": rates,
        "TRACT_VINTAGE": ["2010"] * n,
        "ACS_EDITION": ["2011-2015"] * n,
    }


def test_a_tract_without_all_its_digits_is_refused() -> None:
    fault = _fault(manifest_of("census_tract_poverty"), _tracts([1.0], geoid="1000100"), mun_codes=MUN_CODES)
    assert fault.fault == "bad_code"
    columns, _, _ = _read(manifest_of("census_tract_poverty"), _tracts([1.0], geoid=34001000100.0))
    assert columns["GEOID"] == ["34001000100"]


def test_figures_stay_unrounded_and_percent_signs_are_told() -> None:
    rates = [19.96, "20.4 %", "20", None, "", 0, 100]
    columns, _, changes = _read(manifest_of("census_tract_poverty"), _tracts(rates))
    assert columns["POVERTY_RATE"] == [19.96, "20.4", "20", None, "", 0, 100]
    assert _kinds(changes) == [("percent_sign", "changed", (2,))]


@pytest.mark.parametrize("rate", [-666666666, "N/A", "-", "1,5", 100.01, -0.1, "1_0", float("inf"), "%"])
def test_figures_that_are_none_or_out_of_range_are_refused(rate: Any) -> None:
    fault = _fault(manifest_of("census_tract_poverty"), _tracts([10.0, rate]))
    assert fault.fault == "bad_figure"
    assert "row 2" in str(fault)


def test_shares_in_a_field_of_percents_are_refused() -> None:
    assert _fault(manifest_of("census_tract_poverty"), _tracts([0.2] * 19 + [1.0])).fault == "bad_figure"
    # One that is above 1, or too few to tell.
    _read(manifest_of("census_tract_poverty"), _tracts([0.2] * 19 + [1.1]))
    _read(manifest_of("census_tract_poverty"), _tracts([0.2] * 19))


def _centers(begun: list[Any], ended: list[Any] | None = None) -> dict[str, list[Any]]:
    return {"CENDATE": begun, "ENDDATE": ended or [None] * len(begun)}


def test_days_in_the_layers_own_forms_stay() -> None:
    given = [date(2016, 5, 4), datetime(2016, 5, 4, 12, tzinfo=UTC), "2016-05-04T00:00:00Z", 1_462_320_000_000, None]
    columns, _, changes = _read(manifest_of("designated_centers"), _centers(list(given)))
    assert columns["CENDATE"] == given
    assert not changes


@pytest.mark.parametrize(
    "typed",
    [
        "2016/05/04",
        "2016.5.4",
        "05/04/2016",
        "5/4/2016",
        "5/4/2016 12:00:00 AM",
        20160504,
        20160504.0,
        "2016/05/04 00:00:00",
    ],
)
def test_usual_other_forms_of_a_day_are_read_and_told(typed: Any) -> None:
    columns, _, changes = _read(manifest_of("designated_centers"), _centers([typed, "2017-01-01"]))
    assert columns["CENDATE"] == ["2016-05-04", "2017-01-01"]
    assert _kinds(changes) == [("date_form", "changed", (1,))]
    assert "2016-05-04" in changes[0].words


@pytest.mark.parametrize(
    "typed",
    ["25/04/2016", "05/04/16", "May 2016", "2016", "2016/13/01", 20161301, True, "05-04-2016", "2016/05/04 noon"],
)
def test_what_is_no_day_is_refused_with_its_row(typed: Any) -> None:
    fault = _fault(manifest_of("designated_centers"), _centers(["2017-01-01", typed]))
    assert fault.fault == "bad_date"
    assert "CENDATE is no day in row 2" in str(fault)


def test_days_that_look_like_missing_ones_and_periods_that_never_are_noted() -> None:
    _, _, changes = _read(
        manifest_of("designated_centers"), _centers(["1899-12-30", "2017-01-01"], [None, "2017-01-01"])
    )
    assert _kinds(changes) == [("early_dates", "noted", (1,)), ("ends_before_beginning", "noted", (2,))]
    _, _, changes = _read(manifest_of("designated_centers"), _centers(["2017-01-01"], ["2017-01-02"]))
    assert not changes


def test_an_uncertainty_that_is_no_number_of_feet_is_refused() -> None:
    manifest = manifest_of("transit_stations", fields={}, from_field=None, until_field=None)
    fault = _fault(manifest, {"coordinate_uncertainty_ft": [0, "50", None, -1, "wide"]})
    assert fault.fault == "bad_figure"
    assert "rows 3, 4, 5" in str(fault)


def test_all_faults_of_the_values_are_told_at_once() -> None:
    fault = _fault(manifest_of("census_tract_poverty"), _tracts(["N/A"], geoid="x"))
    assert fault.fault == "bad_code"
    assert "2 things are wrong" in str(fault)
    assert "POVERTY_RATE" in str(fault)


def test_text_of_attributes() -> None:
    assert as_text(float("nan")) == ""
    assert as_text(20.4) == "20.4"
    assert as_text("3E5") == "3E5"
