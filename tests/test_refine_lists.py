"""A user's rows in the lists of municipalities: what they change in an answer, and what is refused."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from refined import HOLMDEL, NEWARK, kinds_of, outcome_at, refined, refined_whole, refused, table

from grownj_geo.designations import load_lists
from grownj_geo.features import LayerFault, LoadOptions
from grownj_geo.manifest import load_manifests

if TYPE_CHECKING:
    from grownj_geo.atlas import Atlas
    from grownj_geo.layer import Layer

AID = {"municipality": "Holmdel", "designation": "urban_aid_2017", "from": "2017-01-01", "until": "2018-01-01"}


def test_a_listed_municipality_becomes_distressed(atlas: Atlas) -> None:
    assert outcome_at("distressed_municipality", HOLMDEL) == "no"
    layer, changes = refined(atlas, "designations", table([AID]))
    assert outcome_at("distressed_municipality", HOLMDEL, layer) == "yes"
    ended, _ = refined(atlas, "designations", table([{**AID, "until": "2017-04-17"}]))
    assert outcome_at("distressed_municipality", HOLMDEL, ended) == "no"
    assert outcome_at("distressed_municipality", HOLMDEL, ended, day="2017-04-16") == "yes"
    assert outcome_at("distressed_municipality", NEWARK, layer) == "yes"
    assert kinds_of(changes) == {"rows_added": (1,), "days_given": (1,)}
    row = {name: values[-1] for name, values in layer.columns.items()}
    assert row == {
        "mun_code": "1320",
        "mun_label": "Holmdel Township",
        "county": "Monmouth",
        "designation": "urban_aid_2017",
        "status": "secondary",
        "status_note": "refined by mine.csv; stated on 2017-03-01",
        "from_earliest": "2017-01-01",
        "from_latest": "2017-01-01",
        "until_exclusive": "2018-01-01",
        "source": "mine.csv",
        "note": "",
        "dca_code": "",
    }


def test_a_municipality_under_oversight_is_no_longer_assumed_to_be_none(atlas: Atlas) -> None:
    row = {"municipality": "Holmdel", "designation": "transitional_aid_state_oversight_mou"}
    layer, _ = refined(atlas, "designations", table([row]))
    assert outcome_at("distressed_municipality", HOLMDEL, layer) == "undetermined"
    # And one that was not under it is known to be not.
    asbury = (-74.0121, 40.2204)
    off = {"municipality": "Asbury Park", "designation": "transitional_aid_state_oversight_mou", "listed": "no"}
    sda = {"municipality": "Asbury Park", "designation": "sda_municipality", "listed": False}
    aid = {"municipality": "Asbury Park", "designation": "urban_aid_2017", "listed": 0}
    layer, changes = refined(atlas, "designations", table([off, sda, aid]))
    assert outcome_at("distressed_municipality", asbury) == "yes"
    assert outcome_at("distressed_municipality", asbury, layer) == "no"
    assert kinds_of(changes)["rows_taken_off"] == (1, 2, 3)
    assert len(layer) == 418
    assert "3 rows removed" in layer.manifest.source


def test_a_replaced_row_stands_where_it_stood(atlas: Atlas) -> None:
    base = atlas.layer("designations")
    assert base is not None
    rows = [
        {"mun_code": "0714", "designation": "Urban-Aid 2017", "until": date(2017, 3, 1), "status": "Confirmed"},
        {"mun_code": 102, "designation": "gsgz", "source": "the Authority's letter"},
    ]
    layer, changes = refined(atlas, "designations", table(rows))
    assert outcome_at("distressed_municipality", NEWARK, layer) == "yes"  # by its SDA district
    assert len(layer) == len(base)
    changed = [i for i in range(len(base)) if layer.value("source", i) != base.value("source", i)]
    keys = [(layer.value("mun_code", i), layer.value("designation", i)) for i in changed]
    assert set(keys) == {("0714", "urban_aid_2017"), ("0102", "gsgz")}
    assert keys == [(base.value("mun_code", i), base.value("designation", i)) for i in changed]
    of = dict(zip(keys, changed, strict=True))
    aid, zone = of["0714", "urban_aid_2017"], of["0102", "gsgz"]
    assert (layer.value("status", aid), layer.value("until_exclusive", aid)) == ("confirmed", "2017-03-01")
    assert layer.value("source", zone) == "the Authority's letter"
    assert layer.value("dca_code", zone) == base.value("dca_code", zone) == "0102"
    kinds = kinds_of(changes)
    assert (kinds["leading_zeros"], kinds["rows_replaced"]) == ((2,), (1, 2))
    assert kinds["days_dropped"] == (1, 2)
    assert [c.effect for c in changes if c.kind == "leading_zeros"] == ["changed"]


def test_what_was_refined_is_named_and_nothing_else_of_the_manifest_moves(atlas: Atlas) -> None:
    base, shipped = atlas.layer("designations"), load_manifests()["designations"]
    layer, _ = refined(atlas, "designations", table([AID]))
    assert layer.manifest.source.startswith(shipped.source)
    assert "; refined by mine.csv, stated on 2017-03-01: 1 row added" in layer.manifest.source
    assert layer.manifest.refines
    assert (layer.manifest.ships, layer.manifest.file, layer.manifest.sha256) == (False, None, None)
    moved = {name for name in type(shipped).model_fields if getattr(layer.manifest, name) != getattr(shipped, name)}
    assert moved == {"ships", "file", "sha256", "refines", "source"}
    again, _ = refined(atlas, "designations", table([{**AID, "municipality": "Colts Neck"}]), base=layer)
    assert again.manifest.source.count("refined by") == 2
    assert base is not None
    assert len({base.fingerprint, layer.fingerprint, again.fingerprint}) == 3
    assert refined(atlas, "designations", table([AID]))[0].fingerprint == layer.fingerprint


@pytest.mark.parametrize(
    ("row", "fault", "words"),
    [
        ({"mun_code": "9999"}, "bad_code", "'9999', and there is no such"),
        ({"mun_code": "14b"}, "bad_code", "'14b'"),
        ({}, "missing_value", "it names no municipality"),
        ({"municipality": "Washington Township"}, "unknown_municipality", "Add the county"),
        ({"municipality": "Washington Township", "county": "Nowhere"}, "unknown_municipality", "not a county"),
        ({"municipality": "Homdel"}, "unknown_municipality", r"Did you mean Holmdel Township.*\? Correct it\."),
        ({"mun_code": "1303", "municipality": "Asbury Park"}, "municipality_contradicted", "other agencies"),
        ({"mun_code": "1320", "county": "Essex"}, "municipality_contradicted", "Monmouth County, not in Essex"),
        ({"mun_code": "1320", "designation": "urban_aid_2016"}, "unknown_list", "Did you mean 'urban_aid_201"),
        ({"mun_code": "1320", "designation": ""}, "unknown_list", "names no designation"),
        ({"mun_code": "1320", "designation": "southern_eight_county"}, "unknown_list", "list of counties"),
        ({"mun_code": "1320", "from": "spring"}, "bad_date", "from is no day in row 2 \\('spring'\\)"),
        ({"mun_code": "1320", "from": "17/4/2017"}, "bad_date", "17/4/2017"),
        ({"mun_code": "1320", "from": "2017-01-02", "until": "2017-01-02"}, "bad_period", "first day without it"),
        ({"mun_code": "1320", "from": "2017-01-02", "from_latest": "2017-01-01"}, "bad_period", "no span"),
        ({"mun_code": "1320", "status": "sure"}, "bad_status", "'sure'"),
        ({"mun_code": "1320", "listed": "perhaps"}, "unknown_value", "Expected yes or no"),
    ],
)
def test_rows_that_cannot_be_understood(atlas: Atlas, row: dict[str, Any], fault: str, words: str) -> None:
    found = refused(atlas, "designations", table([AID, {"designation": "urban_aid_2017", **row}]))
    assert found.fault == fault
    assert "row 2" in str(found)
    with pytest.raises(LayerFault, match=words):
        raise found


def test_all_problems_are_told_at_once(atlas: Atlas) -> None:
    rows = [{"mun_code": "9999", "designation": "gsgz"}, {"mun_code": "0102", "designation": "gzgz", "until": "soon"}]
    found = str(refused(atlas, "designations", table(rows)))
    assert "3 things are wrong" in found
    assert all(words in found for words in ("'9999'", "Did you mean 'gsgz'?", "until is no day in row 2 ('soon')"))


def _periods(layer: Layer, code: str, name: str) -> list[tuple[str, str]]:
    return [
        (layer.value("from_earliest", i), layer.value("until_exclusive", i))
        for i in range(len(layer))
        if (layer.value("mun_code", i), layer.value("designation", i)) == (code, name)
    ]


def test_a_municipality_may_come_back(atlas: Atlas) -> None:
    under = {"municipality": "Holmdel", "designation": "lfb_supervision"}
    first, second = {**under, "until": "2015-01-01"}, {**under, "from": "2017-02-01"}
    layer, changes = refined(atlas, "designations", table([first, second]))
    assert _periods(layer, "1320", "lfb_supervision") == [("", "2015-01-01"), ("2017-02-01", "")]
    assert kinds_of(changes)["rows_added"] == (1, 2)
    # Other lists are not known for 2015.
    days = {"2014-12-31": "yes", "2015-01-01": "undetermined", "2017-01-31": "no", "2017-02-01": "yes"}
    assert {day: outcome_at("distressed_municipality", HOLMDEL, layer, day=day) for day in days} == days
    # In one go or one after the other, and given again: the same periods.
    alone, _ = refined(atlas, "designations", table([first]))
    after, _ = refined(atlas, "designations", table([second]), base=alone)
    again, changes = refined(atlas, "designations", table([second, first]), base=after)
    for each in (after, again):
        assert each.columns == layer.columns
    assert kinds_of(changes)["rows_replaced"] == (1, 2)


def test_the_period_with_days_in_common_is_replaced(atlas: Atlas) -> None:
    later = {**AID, "municipality": "Newark", "county": "Essex", "from": "2019-01-01", "until": "2020-01-01"}
    layer, changes = refined(atlas, "designations", table([later]))
    assert _periods(layer, "0714", "urban_aid_2017") == [("2017-01-01", "2018-01-01"), ("2019-01-01", "2020-01-01")]
    assert kinds_of(changes) == {"rows_added": (1,), "days_given": (1,)}
    shorter, changes = refined(atlas, "designations", table([{**later, "until": "2019-07-01"}]), base=layer)
    assert _periods(shorter, "0714", "urban_aid_2017")[1] == ("2019-01-01", "2019-07-01")
    assert next(c.words for c in changes if c.kind == "rows_replaced") == (
        "These rows take the place of shipped ones: Newark City (0714), urban_aid_2017 "
        "(from 2019-01-01 until 2019-07-01; was from 2019-01-01 until 2020-01-01)."
    )
    both = {**later, "from": "2017-06-01"}
    with pytest.raises(LayerFault, match="from 2017-01-01 until 2018-01-01 and from 2019-01-01") as raised:
        refined(atlas, "designations", table([both]), base=layer)
    assert raised.value.fault == "several_periods"
    off = {**later, "listed": "no"}
    one, changes = refined(atlas, "designations", table([both, off]), base=layer)
    assert _periods(one, "0714", "urban_aid_2017") == [("2017-06-01", "2020-01-01")]
    assert (kinds_of(changes)["rows_replaced"], kinds_of(changes)["rows_taken_off"]) == ((1,), (2,))
    halves = [{**later, "from": "2017-01-01", "until": "2017-03-01"}, {**later, "from": "2017-03-01"}]
    assert refused(atlas, "designations", table(halves)).fault == "several_periods"
    whole = {**later, "from": "2017-01-01", "until": "2018-01-01", "listed": "no"}
    split, _ = refined(atlas, "designations", table([*halves, whole]))
    assert _periods(split, "0714", "urban_aid_2017") == [("2017-01-01", "2017-03-01"), ("2017-03-01", "2020-01-01")]


def test_who_is_taken_off_loses_all_periods_or_the_one_given(atlas: Atlas) -> None:
    later = {**AID, "municipality": "Newark", "county": "Essex", "from": "2019-01-01", "until": "2020-01-01"}
    layer, _ = refined(atlas, "designations", table([later]))
    of = {"mun_code": "0714", "designation": "urban_aid_2017", "listed": "no"}
    none, _ = refined(atlas, "designations", table([of]), base=layer)
    assert not _periods(none, "0714", "urban_aid_2017")
    one, _ = refined(atlas, "designations", table([{**of, "from": "2019-01-01", "until": "2020-01-01"}]), base=layer)
    assert _periods(one, "0714", "urban_aid_2017") == [("2017-01-01", "2018-01-01")]
    found = refused(atlas, "designations", table([{**of, "from": "2017-03-01"}]))
    assert found.fault == "unknown_period"
    assert "listed from 2017-01-01 until 2018-01-01, not from 2017-03-01" in str(found)


@pytest.mark.parametrize(
    "second",
    [
        {"until": "2018-06-01"},
        {"from": "2017-12-31", "until": "2018-06-01"},
        {"from": "2016-01-01", "from_latest": "2017-06-01", "until": "2018-06-01"},
        {"listed": "no", "from": "", "until": ""},
    ],
)
def test_periods_with_days_in_common_are_refused(atlas: Atlas, second: dict[str, str]) -> None:
    found = refused(atlas, "designations", table([AID, {**AID, "municipality": None, "mun_code": "1320", **second}]))
    assert (found.fault, "stands in row 1 too" in str(found)) == ("duplicate_row", True)


def test_days_in_the_usual_order_of_the_country_are_read_and_told(atlas: Atlas) -> None:
    layer, changes = refined(atlas, "designations", table([{**AID, "from": "01/05/2016", "until": 20170417}]))
    assert _periods(layer, "1320", "urban_aid_2017") == [("2016-01-05", "2017-04-17")]
    told = [c for c in changes if c.kind == "date_form"]
    assert [(c.effect, c.rows) for c in told] == [("changed", (1,)), ("changed", (1,))]
    assert "'01/05/2016' is 2016-01-05" in told[0].words
    early, changes = refined(atlas, "designations", table([{**AID, "from": "1899-12-30"}]))
    assert kinds_of(changes)["early_dates"] == (1,)
    assert _periods(early, "1320", "urban_aid_2017") == [("1899-12-30", "2018-01-01")]


def test_a_column_that_its_user_names_takes_the_place_of_another(atlas: Atlas) -> None:
    rows = [{"municipality": "Holmdel", "designation": "sda_municipality", "kind": "lfb_supervision"}]
    options = LoadOptions(fields={"designation": "kind"})
    whole = refined_whole(atlas, "designations", table(rows), options=options)
    assert _periods(whole.layer, "1320", "lfb_supervision") == [("", "")]
    clash = next(c for c in whole.changes if c.kind == "column_clash")
    assert "designation" in clash.words
    assert whole.fields == {"municipality": "municipality", "designation": "kind"}
    for fields, fault in (
        ({"designation": "list"}, "missing_field"),
        ({"designaton": "kind"}, "unknown_field"),
        ({"designation": "kind", "list": "municipality"}, "ambiguous_field"),
    ):
        assert refused(atlas, "designations", table(rows), options=LoadOptions(fields=fields)).fault == fault


def test_a_value_that_is_stated_fills_what_is_blank_and_contradicts_nothing(atlas: Atlas) -> None:
    rows = [
        {"municipality": "Holmdel", "designation": "lfb_supervision"},
        {"municipality": "Colts Neck", "designation": ""},
    ]
    options = LoadOptions(constants={"Designation": "lfb_supervision", "source": "our letter"})
    whole = refined_whole(atlas, "designations", table(rows), options=options)
    assert [_periods(whole.layer, code, "lfb_supervision") for code in ("1320", "1310")] == [[("", "")]] * 2
    assert whole.layer.columns["source"][-2:] == ["our letter"] * 2
    assert kinds_of(whole.changes)["constant_filled"] == (2,)
    assert whole.fields["source"] == "'our letter', as stated for all"
    assert whole.crs == "none: a table"
    rows[0]["designation"] = "sda_municipality"
    found = refused(atlas, "designations", table(rows), options=options)
    assert found.fault == "constant_contradicts"
    assert "row 1 'sda_municipality'" in str(found)
    unknown = LoadOptions(constants={"designaton": "lfb_supervision"})
    assert refused(atlas, "designations", table(rows), options=unknown).fault == "unknown_field"


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"options": LoadOptions(crs="EPSG:3424")}, "--crs means"),
        ({"options": LoadOptions(partial=True, crs="EPSG:3424")}, "--partial and --crs mean"),
        ({"accuracy_ft": 5.0}, "--accuracy-ft means"),
    ],
)
def test_what_means_nothing_for_a_list_is_refused(atlas: Atlas, more: dict[str, Any], named: str) -> None:
    found = refused(atlas, "designations", table([AID]), **more)
    assert (found.fault, named in str(found)) == ("option_not_used", True)


def test_the_last_municipality_stays_on_its_list(atlas: Atlas) -> None:
    row = {"mun_code": "0408", "designation": "gsgz_mrera", "listed": "no"}
    assert refused(atlas, "designations", table([row])).fault == "list_emptied"


def test_columns_that_are_not_used_or_stand_twice(atlas: Atlas) -> None:
    _, changes = refined(atlas, "designations", table([{**AID, "Mayor": "x"}]))
    assert next(c.words for c in changes if c.kind == "fields_not_used") == "These columns say nothing here: Mayor."
    assert refused(atlas, "designations", table([{**AID, "from_earliest": "2017-01-01"}])).fault == "two_columns"


def test_taking_off_who_is_not_listed_is_told(atlas: Atlas) -> None:
    layer, changes = refined(atlas, "designations", table([{**AID, "listed": "No"}]))
    assert len(layer) == 421
    assert kinds_of(changes)["not_listed"] == (1,)


@pytest.mark.parametrize("name", sorted(set(load_lists()) - {"southern_eight_county"}))
def test_every_list_of_municipalities_takes_rows(atlas: Atlas, name: str) -> None:
    layer, _ = refined(atlas, "designations", table([{"mun_code": "1320", "designation": name}]))
    there = zip(layer.columns["mun_code"], layer.columns["designation"], strict=True)
    assert list(there).count(("1320", name)) == 1
