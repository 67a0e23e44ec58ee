"""Tables with addresses and parcel numbers: looked up where they are read, the same as one by one."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from geocoding_servers import CensusServer
from parcel_world import local_sources, square

from grownj_geo import rows_find
from grownj_geo.asking import Sources
from grownj_geo.batch import BatchOptions, Question, run_batch
from grownj_geo.determine import Directory
from grownj_geo.features import LayerFault
from grownj_geo.finder import Finder
from grownj_geo.siterows import TableOptions, open_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grownj_geo.atlas import Atlas
    from grownj_geo.determine import Engine
    from grownj_geo.rows_block import RowBlock

NEWARK = "920 Broad St, Newark, NJ 07102"


@pytest.fixture
def finder(atlas: Atlas, parcels_home: Path) -> Finder:
    return Finder(atlas, local_sources(atlas, parcels_home))


def written(folder: Path, text: str, name: str = "sites.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, atlas: Atlas, finder: Finder | None, **options: Any) -> tuple[RowBlock, list[str]]:
    table = open_table(path, TableOptions(**options), directory=Directory(atlas), finder=finder)
    (block,) = table.blocks()
    return block, [change.words for change in table.changes]


def test_addresses_become_sites_as_one_by_one(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    texts = ["100 Main St, Camden", "5 Twin Ave, Camden", "9 Stack Rd, Camden City", "11 Blank St, Camden"]
    path = written(tmp_path, "name,address\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(texts)))
    block, told = read(path, atlas, finder)
    for row, text in enumerate(texts):
        site, alone = block.site(row), finder.site(text)
        assert site is not None
        for name in ("typed", "located_by", "uncertainty_ft", "mun_code", "mun_basis", "pins"):
            assert getattr(site, name) == getattr(alone, name), name
        assert site.notes == (f"Located by {alone.located_by}.", *alone.notes)
        assert site.geometry == alone.geometry
    assert "Addresses looked up, each once: 4: found by local 2, several places fit 2." in told


def test_an_address_is_put_together_from_its_columns(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    text = (
        "House Number,Street,City,Municipality,County,ZIP\n"
        "1,Line Rd,Camden,Collingswood,Camden,08108\n"
        "12,Spring St,,Washington Township,Morris,7880\n"
        "100,Main St,,0408,,\n"
    )
    block, _ = read(written(tmp_path, text), atlas, finder)
    assert [site and site.pins for site in block.sites] == [("0412_5_1",), ("1438_7_3",), ("0408_81_1",)]
    assert block.sites[1] is not None
    assert block.sites[1].typed == "12 Spring St, Washington Township, Morris County, NJ 07880"


def test_the_house_number_is_kept_where_the_street_begins_with_its_digits(
    atlas: Atlas, finder: Finder, tmp_path: Path
) -> None:
    text = "house_number,address,municipality\n" + "".join(
        f"{number},{street},Camden City\n"
        for number, street in [("1", "12TH AVE"), ("100", "Main St"), ("100", "100 MAIN ST"), ("43A", "43-A Elm St")]
    )
    block, _ = read(written(tmp_path, text), atlas, finder)
    notes = ["; ".join(notes) for notes in block.notes]
    assert "'1 12TH AVE, Camden City" in notes[0]
    assert [site and site.pins for site in block.sites[1:3]] == [("0408_81_1",)] * 2
    assert "'43-A Elm St, Camden City" in notes[3]


@pytest.mark.parametrize("name", ["No", "No.", "number", "House No", "hse", "HSE_NO", "Street Number"])
@pytest.mark.parametrize("street", ["Street", "ST_NAME"])
def test_a_number_beside_a_street_is_the_house_number(
    atlas: Atlas, finder: Finder, tmp_path: Path, name: str, street: str
) -> None:
    block, _ = read(written(tmp_path, f"{name},{street},Municipality\n100,Main St,Camden City\n"), atlas, finder)
    assert [site and site.pins for site in block.sites] == [("0408_81_1",)]


@pytest.mark.parametrize(
    "text",
    [
        # Rows are counted, and the streets have their numbers; one that is left out changes nothing.
        "No,Street,Municipality\n1,100 Main St,Camden City\n2,100 Main Street,Camden City\n3,Main St,Camden City\n",
        # Beside whole addresses a number is of anything.
        "No,Address,Municipality\n1,100 Main St,Camden City\n2,100 Main Street,Camden City\n",
        "Number,Street,Municipality\nA-7,100 Main St,Camden City\nB-8,100 Main St,Camden City\n",
    ],
)
def test_a_number_that_counts_rows_is_no_house_number(atlas: Atlas, finder: Finder, tmp_path: Path, text: str) -> None:
    block, _ = read(written(tmp_path, text), atlas, finder)
    assert [site and site.pins for site in block.sites[:2]] == [("0408_81_1",)] * 2


def _counted(order: Callable[[list[int]], object], name: str = "No") -> str:
    """Return a table of companies that are counted, of which those in the lines of houses have no such address."""
    numbers = list(range(1, 121))
    order(numbers)
    return f"{name},Street,Municipality,Company\n" + "".join(f"{i},Main St,Camden City,Firm {i}\n" for i in numbers)


@pytest.mark.parametrize("name", ["No", "Number", "Nr.", "House"])
@pytest.mark.parametrize(
    "order", [lambda _: None, np.random.default_rng(7).shuffle, list.reverse, lambda numbers: numbers.remove(60)]
)
def test_a_number_that_counts_rows_beside_bare_streets_finds_no_parcel(
    atlas: Atlas, finder: Finder, tmp_path: Path, name: str, order: Callable[[list[int]], object]
) -> None:
    block, told = read(written(tmp_path, _counted(order, name)), atlas, finder)
    assert not any(site and (site.pins or site.geometry is not None) for site in block.sites)
    assert any(f"{name!r} counts the rows, so it was not taken for house numbers." in words for words in told)
    # Whoever says that it has house numbers is believed.
    block, _ = read(written(tmp_path, _counted(order, name)), atlas, finder, house_number=name)
    assert sum(bool(site and site.pins) for site in block.sites) == 2


@pytest.mark.parametrize("keep", [2, 3, 40])
def test_a_number_is_of_houses_only_where_most_addresses_are_known(
    atlas: Atlas, finder: Finder, tmp_path: Path, keep: int
) -> None:
    """What is left of a count in disorder looks like house numbers, and hardly any of the addresses are known."""
    others = np.random.default_rng(3).choice([n for n in range(1, 400) if n not in {100, 102}], keep - 1, replace=False)
    text = "No,Street,Municipality\n" + "".join(f"{n},Main St,Camden City\n" for n in (100, *others))
    block, told = read(written(tmp_path, text), atlas, finder)
    assert not any(site and (site.pins or site.geometry is not None) for site in block.sites)
    doubt = f"of the first {keep} addresses with its numbers 1 are surely among those that are loaded"
    assert all(doubt in "; ".join(notes) for notes in block.notes)
    assert any(f"with a number that may be no house's {keep}" in words for words in told)
    named = text.replace("No,", "house_no,", 1)
    block, _ = read(written(tmp_path, named), atlas, finder)
    assert block.sites[0] is not None
    assert block.sites[0].pins == ("0408_81_1",)


def test_what_was_taken_for_house_numbers_is_said_of_the_table_and_of_each_row(
    atlas: Atlas, finder: Finder, tmp_path: Path
) -> None:
    rows = [
        "100,Main St,Camden City",
        "7,Nowhere Pl,Camden City",
        "102,Main St,Camden City",
        ",100 Main St,Camden City",
    ]
    path = written(tmp_path, "No,Street,Municipality\n" + "\n".join(rows) + "\n")
    block, told = read(path, atlas, finder)
    assert [site and site.pins for site in block.sites] == [("0408_81_1",), (), ("0408_81_1.10",), ("0408_81_1",)]
    said = ["The column 'No' was taken for house numbers." in notes for notes in block.notes]
    assert said == [True, False, True, False]
    assert "'No' was taken for house numbers, since streets without numbers stand beside it." in told


def test_where_reading_begins_changes_nothing_of_what_numbers_are_taken_for(
    atlas: Atlas, finder: Finder, tmp_path: Path
) -> None:
    rows = ["100,Main St", "102,Main St", "100,Main St", *(f"{n},Nowhere Pl" for n in (9, 4, 77))]
    path = written(tmp_path, "No,Street,Municipality\n" + "".join(f"{row},Camden City\n" for row in [*rows, *rows]))
    table = open_table(path, TableOptions(), directory=Directory(atlas), finder=finder)
    whole = [pins for block in table.blocks() for pins in block.pins]
    for start, size in ((0, 1), (3, 4), (8, 50)):
        again = open_table(path, TableOptions(), directory=Directory(atlas), finder=finder)
        assert [pins for block in again.blocks(start, size) for pins in block.pins] == whole[start:]


def test_an_online_locator_is_not_asked_what_a_number_is(atlas: Atlas, tmp_path: Path) -> None:
    text = "No,Street,City\n920,Broad St,Newark\n31,Broad St,Newark\n7,Broad St,Newark\n"
    with CensusServer() as census:
        finder = Finder(atlas, Sources(None, (census.locator(tmp_path),)))
        block, _ = read(written(tmp_path, text), atlas, finder)
        assert census.log == []
        assert all("of the first 3 addresses with its numbers 0 are surely" in str(block.problems[i]) for i in range(3))


@pytest.mark.parametrize("number", ["1", "10", "102", "100-102"])
def test_two_house_numbers_in_a_row_are_told_and_neither_is_taken(
    atlas: Atlas, finder: Finder, tmp_path: Path, number: str
) -> None:
    text = f'house_number,address,municipality\n{number},100 MAIN ST,Camden City\n{number},"100 MAIN ST, Camden",\n'
    block, told = read(written(tmp_path, text), atlas, finder)
    assert block.geometries[0] is None
    assert any(f"The house number is '{number}', and the street is '100 MAIN ST'" in note for note in block.notes[0])
    assert block.problems[1] is not None
    assert "Correct either cell" in block.problems[1]
    assert any("not read 2" in words for words in told)


def test_an_address_that_does_not_settle_leaves_what_the_row_states(
    atlas: Atlas, finder: Finder, tmp_path: Path
) -> None:
    text = 'address,municipality\n"104 Main St",Camden City\n"104 Main St, Camden",\n"PO Box 1, Camden",\n'
    block, told = read(written(tmp_path, text), atlas, finder)
    stated = block.site(0)
    assert stated is not None
    assert (stated.geometry, stated.mun_code, stated.mun_basis) == (None, "0408", "stated")
    assert any(note.startswith("The address gave no place: The address") for note in stated.notes)
    assert block.problems[1] is not None
    assert block.problems[1].startswith("Row 3: The address '104 Main St, Camden' was not found surely")
    assert "Main Street" in block.problems[1]
    assert block.problems[2] is not None
    assert "box at a post office" in block.problems[2]
    assert any(words.startswith("Addresses that gave no place") for words in (c.words for c in block.changes))
    assert any("no place fits surely 2, not read 1" in words for words in told)


def test_a_county_in_a_column_counts_for_the_address(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    text = (
        "address,county\n"
        '"12 Spring St, Washington Township",Morris\n'
        '"12 Spring St, Washington Twp, NJ 07853",Morris\n'
        '"100 Main St, Camden",Camden\n'
        '"100 Main St, Camden",Essex\n'
    )
    block, _ = read(written(tmp_path, text), atlas, finder)
    assert [site and site.pins for site in block.sites] == [
        ("1438_7_3",), ("1438_7_3",), ("0408_81_1",), None,
    ]  # fmt: skip
    assert block.problems[3] is not None
    assert "two places were typed" in block.problems[3]


def test_a_municipality_that_contradicts_the_address_is_a_problem(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    text = (
        "address,municipality\n"
        '"100 Main St, Camden",Newark City\n'
        '"8 Only Ln",Camden City\n'
        '"1 Line Rd, Camden",Collingswood Borough\n'
        '"9 Nowhere St",Camden City\n'
        '"9 Nowhere St",Newark City\n'
    )
    block, _ = read(written(tmp_path, text), atlas, finder)
    for row, stated in ((0, "Newark City (0714)"), (1, "Camden City (0408)")):
        assert block.problems[row] is not None
        assert f"the row states {stated}, which contradicts it" in str(block.problems[row])
    assert block.pins[2] == ("0412_5_1",)
    assert "The address names 'Camden'; it was found in Collingswood Borough (0412)" in " ".join(block.notes[2])
    assert [block.problems[row] for row in (3, 4)] == [None, None]
    assert block.mun_codes[3:5] == ("0408", "0714")


def test_an_address_elsewhere_than_its_parcel_number_is_told(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    text = 'pams_pin,address\n0408_81_1,"5 Main St, Hoboken, NJ 07030"\n0408_81_1,"100 Main St, Camden"\n'
    block, _ = read(written(tmp_path, text), atlas, finder)
    assert "The address names 'Hoboken'; the parcel is in Camden City (0408)" in " ".join(block.notes[0])
    assert not any("The address names" in note for note in block.notes[1])


def test_a_column_of_addresses_may_hold_parcel_numbers_and_numbers_of_a_spreadsheet(
    atlas: Atlas, finder: Finder, tmp_path: Path
) -> None:
    text = "house_number,address,municipality\n,0408_81_1,\n100.0,Main St,Camden City\n"
    block, _ = read(written(tmp_path, text), atlas, finder)
    assert list(block.pins) == [("0408_81_1",)] * 2
    assert block.geometries[0].equals(block.geometries[1])


def test_a_place_in_the_row_outranks_its_address(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    text = 'lon,lat,address\n-74.1641,40.7344,"100 Main St, Camden"\n,,"100 Main St, Camden"\n'
    block, _ = read(written(tmp_path, text), atlas, finder)
    assert block.sites[0] is not None
    assert block.sites[0].typed == "40.7344,-74.1641"
    assert block.sites[1] is not None
    assert block.sites[1].pins == ("0408_81_1",)


def test_parcel_numbers_and_lots_get_their_outlines(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    pins, _ = read(written(tmp_path, "pams_pin\n0408_81_1\n0408_81_1.1\n0714_1_1\n"), atlas, finder)
    assert shapely.hausdorff_distance(pins.geometries[0], square((-75.1190, 39.9447), 0.0)) < 0.01
    assert (pins.geometries[1], pins.mun_codes[1], pins.problems[1]) == (None, "0408", None)
    assert any("is not among the loaded parcels" in note for note in pins.notes[1])
    assert pins.mun_codes[2] == "0714"
    lots, _ = read(written(tmp_path, "municipality,block,lot\nCamden City,81,1.10\n"), atlas, finder)
    assert lots.pins[0] == ("0408_81_1.10",)
    assert lots.geometries[0] is not None


def test_a_column_of_places_takes_all_that_check_takes(atlas: Atlas, finder: Finder, tmp_path: Path) -> None:
    text = 'place\n"40.7344,-74.1641"\nCamden City block 81 lot 1\n"100 Main St, Camden"\n0408_81_1\n'
    block, _ = read(written(tmp_path, text), atlas, finder, site="place")
    assert block.problems == [None] * 4
    assert block.geometries[1].equals(block.geometries[2])
    without, _ = read(written(tmp_path, text), atlas, None, site="place")
    assert [problem is None for problem in without.problems] == [True, False, False, True]


def test_where_nothing_can_be_looked_up_the_columns_stay_what_they_were(atlas: Atlas, tmp_path: Path) -> None:
    path = written(tmp_path, 'address,municipality\n"100 Main St",Camden City\n')
    plain, told = read(path, atlas, None)
    same, told_too = read(path, atlas, Finder(atlas))
    assert told == told_too == ["Columns used: 'municipality' for municipality."]
    assert plain.sites == same.sites
    with pytest.raises(LayerFault, match="An address cannot be looked up here") as caught:
        open_table(path, TableOptions(address="address"), directory=Directory(atlas), finder=Finder(atlas))
    assert caught.value.fault == "no_locator"
    with pytest.raises(LayerFault, match="layers import parcels FILE") as caught:
        read(written(tmp_path, 'address\n"100 Main St"\n'), atlas, Finder(atlas))
    assert caught.value.fault == "no_place_columns"


def test_online_locators_are_asked_in_files_and_told(atlas: Atlas, parcels_home: Path, tmp_path: Path) -> None:
    texts = [NEWARK, "100 Main St, Camden", NEWARK, "33 Livingston Ave, New Brunswick, NJ", "5 Nowhere St, Newark"]
    text = "address\n" + "".join(f'"{one}"\n' for one in texts)
    local = local_sources(atlas, parcels_home)
    with CensusServer() as census:
        finder = Finder(atlas, Sources(local.store, (*local.locators, census.locator(tmp_path))))
        table = open_table(written(tmp_path, text), directory=Directory(atlas), finder=finder)
        assert len(table.sends) == 1
        assert "census" in table.sends[0]
        assert not table.seekable
        (block,) = table.blocks()
        assert [asked.kind for asked in census.log] == ["addressbatch"]
    assert [problem is None for problem in block.problems] == [True, True, True, True, False]
    assert block.uncertainty_ft[0] > 1_000
    words = [change.words for change in table.changes]
    assert "Addresses looked up, each once: 4: found by census 2, found by local 1, not found 1." in words
    assert any(one.startswith("census was asked about 3 addresses.") for one in words)


def test_an_answer_that_was_kept_is_not_told_as_sent(atlas: Atlas, tmp_path: Path) -> None:
    with CensusServer() as census:
        for sent in (True, False):
            finder = Finder(atlas, Sources(None, (census.locator(tmp_path),)))
            _, told = read(written(tmp_path, f'address\n"{NEWARK}"\n'), atlas, finder)
            assert any("was asked about 1 addresses" in words for words in told) == sent


def test_a_service_that_fails_is_said_in_every_row(atlas: Atlas, tmp_path: Path) -> None:
    with CensusServer() as census:
        locator = census.locator(tmp_path, timeout_s=1.0)
    finder = Finder(atlas, Sources(None, (locator,)))
    block, told = read(written(tmp_path, f'address\n"{NEWARK}"\n"1 Line Rd, Camden"\n'), atlas, finder)
    assert all(problem is not None and "census: no answer" in problem for problem in block.problems)
    assert any("not found, and not everybody answered 2" in words for words in told)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_batch_answers_as_check_does(
    engine: Engine, parcels_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setenv("GROWNJ_HOME", str(parcels_home))
    texts = [
        "100 Main St, Camden",
        "1 Line Rd, Collingswood",
        "5 Twin Ave, Camden",
        "12 Spring St, Washington Township",
    ]
    path = written(tmp_path, "address\n" + "".join(f'"{text}"\n' for text in texts))
    out, evidence = tmp_path / "out.csv", tmp_path / "out.jsonl"
    question = Question(as_of=engine.atlas.as_of)
    options = BatchOptions(workers=workers, block_rows=2)
    found = run_batch(path, out, question, options=options, evidence=evidence)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    finder = Finder.at_home(engine.atlas)
    for text, row in zip(texts[:3], rows, strict=False):
        alone = engine.determine(finder.site(text))
        assert row["address"] == text
        assert row["qualified_incentive_area"] == alone["qualified_incentive_area"].outcome
        assert row["garden_state_growth_zone"] == alone["garden_state_growth_zone"].outcome
    assert "2 places fit equally well" in rows[2]["notes"]
    assert rows[3]["garden_state_growth_zone"] == ""
    assert "municipalities have the name" in rows[3]["problem"]
    assert (found.rows, found.answered) == (4, 3)
    assert len(evidence.read_text(encoding="utf-8").splitlines()) == 3


def test_other_parcels_are_another_run(
    engine: Engine, parcels_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "pams_pin\n0408_81_1\n")
    monkeypatch.setenv("GROWNJ_HOME", str(parcels_home))
    table = open_table(path, directory=Directory(engine.atlas), finder=Finder.at_home(engine.atlas))
    assert table.mark is not None
    assert "parcels" in table.mark
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "empty"))
    assert open_table(path, directory=Directory(engine.atlas), finder=Finder.at_home(engine.atlas)).mark is None


def test_whoever_waits_is_told_how_far_looking_up_is(
    atlas: Atlas, finder: Finder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_find, "_SAY_S", 0.0)
    path = written(tmp_path, 'address\n"100 Main St, Camden"\n"1 Line Rd, Camden"\n')
    table = open_table(path, directory=Directory(atlas), finder=finder)
    told: list[str] = []
    table.tell_with(told.append)
    list(table.blocks())
    assert told == [f"local: {done} of 2 addresses of these rows are looked up." for done in (1, 2)]
