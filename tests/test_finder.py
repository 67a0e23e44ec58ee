"""From anything that names a place to a site: what settles, what is shown as choices, and what is said of it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest
import shapely
from feature_servers import Answer
from geocoding_servers import CAMDEN_SIDE, COLLINGSWOOD_SIDE, HOUSES, NEWARK_HALL, CensusServer, House, NjServer
from parcel_world import local_sources, square

from grownj_geo.asking import Sources
from grownj_geo.errors import OutsideNewJerseyError, SiteError
from grownj_geo.finder import Finder
from grownj_geo.found import UnsettledSiteError
from grownj_geo.matchfigures import CLOSE_FT
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from feature_servers import Asked

    from grownj_geo.atlas import Atlas
    from grownj_geo.determine import Engine

NEWARK = "920 Broad St, Newark, NJ 07102"


@pytest.fixture(scope="module")
def finder(atlas: Atlas, parcels_home: Path) -> Finder:
    return Finder(atlas, local_sources(atlas, parcels_home))


@pytest.fixture
def census() -> Iterator[CensusServer]:
    with CensusServer() as running:
        yield running


@pytest.fixture
def nj() -> Iterator[NjServer]:
    with NjServer() as running:
        yield running


# -- parcels and lots ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form"), [("0408_81_1", "pin"), ("Camden City block 81 lot 1", "lot"), ("blk 81 lot 1, Camden", "lot")]
)
def test_a_parcel_number_and_a_lot_get_the_outline_that_is_loaded(finder: Finder, text: str, form: str) -> None:
    found = finder.find(text)
    site = found.site
    assert site is not None
    assert (found.form, site.typed, site.pins, site.mun_code, site.mun_basis) == (
        form, text, ("0408_81_1",), "0408", "pin",
    )  # fmt: skip
    assert shapely.hausdorff_distance(site.geometry, square((-75.1190, 39.9447), 0.0)) < 0.01
    assert "outline of the loaded parcels" in site.located_by


def test_lots_with_zeros_at_the_end_are_other_lots(finder: Finder) -> None:
    one, ten = finder.site("0408_81_1"), finder.site("Camden City block 81 lot 1.10")
    assert ten.pins == ("0408_81_1.10",)
    assert shapely.distance(one.geometry, ten.geometry) > 50
    other = finder.site("0408_81_1.1")
    assert other.geometry is None
    assert any("0408_81_1.1 is not among the loaded parcels" in note for note in other.notes)


def test_of_a_municipality_that_is_not_loaded_no_lot_is_said_to_be_missing(finder: Finder) -> None:
    (told,) = [note for note in finder.site("1305_81_1").notes if "loaded" in note]
    assert told.startswith("No parcels of the municipality of 1305_81_1 are loaded")
    assert any("is not among the loaded parcels" in note for note in finder.site("0408_9999_1").notes)


def test_without_parcels_a_lot_still_gives_the_municipality(atlas: Atlas) -> None:
    found = Finder(atlas).find("Camden City block 81 lot 1")
    assert found.site is not None
    assert (found.form, found.site.geometry, found.site.mun_code) == ("lot", None, "0408")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Camden City", "0408"),
        ("city of camden, NJ", "0408"),
        ("Union City, New Jersey", "0910"),
        ("Washington Township, Bergen County", "0266"),
    ],
)
def test_the_name_of_a_municipality_alone_is_the_municipality(finder: Finder, text: str, code: str) -> None:
    found = finder.find(text)
    assert found.site is not None
    assert (found.form, found.site.mun_code, found.site.geometry, found.site.typed) == (
        "municipality",
        code,
        None,
        text,
    )
    assert found.asked == ()


def test_a_name_of_several_municipalities_is_none_of_them(finder: Finder) -> None:
    with pytest.raises(SiteError, match=r"5 have that name: Washington Township, Bergen County"):
        finder.find("Washington Township")
    # What is no municipality stays an address.
    assert finder.find("Main Street").form == "address"


def test_several_parcels_are_one_ground_or_none(finder: Finder) -> None:
    both = finder.site("0408_81_1 0408_81_1.10")
    assert shapely.get_num_geometries(both.geometry) == 2
    lacking = finder.site("0408_81_1 0408_84_1")
    assert lacking.geometry is None
    assert any("outline of 0408_84_1 is not known" in note for note in lacking.notes)


def test_the_unit_that_is_not_loaded_is_not_taken_for_another(finder: Finder) -> None:
    site = finder.site("0408_82_1_C0009")
    assert site.geometry is None
    assert any("of the same lot there are 0408_82_1_C0001, 0408_82_1_C0002" in note for note in site.notes)


# -- addresses that are loaded ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["100 Main St, Camden", "100 MAIN STREET, CAMDEN CITY, NJ", "100 main st camden", "100 Main St., Camden NJ 08103"],
)
def test_an_address_that_fits_in_every_part_is_settled(finder: Finder, text: str) -> None:
    found = finder.find(text)
    assert (found.form, found.settled, found.choices) == ("address", True, ())
    assert found.match is not None
    assert found.site is not None
    assert (found.match.pin, found.match.score, found.site.pins, found.site.mun_code) == (
        "0408_81_1", 1.0, ("0408_81_1",), "0408",
    )  # fmt: skip
    assert (found.site.typed, found.site.uncertainty_ft) == (text, 0.0)
    assert found.site.located_by == "address, found as 100 Main Street (local: parcel, score 1.00, by its outline)"
    assert [(one.locator, one.outcome, one.online) for one in found.asked] == [("local", "settled", False)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("100 Mian St, Camden", "differs from what was typed"),
        ("100 Main St", "neither municipality nor ZIP code was typed"),
        ("104 Main St, Camden", "only the street was found"),
        ("101 Main St, Camden", "only the street was found"),
        ("8 Only Ln, Camden", "Collingswood Borough"),
        ("12 Spring St, Washington Township", "municipalities have the name"),
        ("100 Main St, Camdne", "no municipality is called"),
        ("100 Main St, Camden City, Essex County", "two places were typed of which 'Camden City' is one"),
        ("1 Line Rd, Collingswood, Camden City", "two places were typed of which 'Camden City' is one"),
        ("12 Spring St, Washington Township, Camden County", "two places were typed"),
    ],
)
def test_what_fits_less_well_is_shown_and_never_taken(finder: Finder, text: str, why: str) -> None:
    found = finder.find(text)
    assert found.site is None
    assert found.match is None
    assert found.choices
    assert [one.outcome for one in found.asked] == ["weak"]
    with pytest.raises(UnsettledSiteError, match=why) as caught:
        finder.site(text)
    assert caught.value.found.choices == found.choices


def test_the_municipality_typed_decides_on_which_side_of_a_line(finder: Finder) -> None:
    camden, collingswood = finder.site("1 Line Rd, Camden"), finder.site("1 Line Rd, Collingswood")
    assert (camden.pins, collingswood.pins) == (("0408_99_1",), ("0412_5_1",))
    undecided = finder.find("1 Line Rd")
    assert undecided.site is None
    assert {match.pin for match in undecided.choices} == {"0408_99_1", "0412_5_1"}


def test_a_county_tells_municipalities_of_one_name_apart(finder: Finder) -> None:
    assert finder.site("12 Spring St, Washington Township, Morris County").pins == ("1438_7_3",)
    assert finder.site("12 Spring St", municipality="1438").mun_code == "1438"


def test_places_that_fit_equally_well_and_lie_close_are_one_circle(finder: Finder, engine: Engine) -> None:
    found = finder.find("5 Twin Ave, Camden")
    assert found.match is None
    assert {match.pin for match in found.choices} == {"0408_90_1", "0408_91_7"}
    site = found.site
    assert site is not None
    assert site.is_point
    assert site.pins == ()
    for east_ft in (1_000.0, 1_400.0):
        corners = shapely.points(shapely.get_coordinates(square((-75.1190, 39.9447), east_ft)))
        assert (shapely.distance(corners, site.geometry) * FT_PER_FTUS).max() <= site.uncertainty_ft + 0.01
    assert site.uncertainty_ft == pytest.approx(226.4, abs=0.5)
    assert "2 places fit equally well, and none was chosen" in site.notes[0]
    assert "0408_90_1" in site.notes[0]
    assert "0408_91_7" in site.notes[0]
    # Every parcel is Camden's: that is certain although the place is not.
    record = engine.determine(site)
    assert record.place.municipality is not None
    assert record.place.municipality.mun_code == "0408"


def test_places_that_fit_equally_well_and_lie_far_apart_have_their_municipality_in_common(finder: Finder) -> None:
    found = finder.find("3 Far St, Camden")
    assert len(found.choices) == 2
    assert found.site is not None
    assert (found.site.geometry, found.site.mun_code, found.site.mun_basis, found.site.pins) == (
        None,
        "0408",
        "pin",
        (),
    )


def test_parcels_with_one_outline_are_that_ground(finder: Finder) -> None:
    stacked = finder.find("9 Stack Rd, Camden")
    assert len(stacked.choices) == 2
    assert stacked.site is not None
    assert shapely.hausdorff_distance(stacked.site.geometry, square((-75.1190, 39.9447), 2_400.0)) < 0.01
    assert stacked.site.uncertainty_ft == 0
    lot = finder.find("7 Tower Pl, Camden")
    assert lot.match is not None
    assert lot.match.pin == "0408_82_1"
    assert any("2 parcels of one lot have this address" in note for note in lot.notes)


def test_a_parcel_without_an_outline_gives_its_municipality_and_no_place(finder: Finder) -> None:
    found = finder.find("11 Blank St, Camden")
    assert found.match is not None
    assert found.site is not None
    assert (found.match.kind, found.match.pin) == ("municipality", "0408_84_1")
    assert (found.site.geometry, found.site.mun_code, found.site.pins) == (None, "0408", ("0408_84_1",))
    tied = finder.find("15 Blank St, Camden")
    assert {match.pin for match in tied.choices} == {"0408_85_1", "0408_86_4"}
    assert tied.site is not None
    assert (tied.site.geometry, tied.site.mun_code) == (None, "0408")


def test_of_a_municipality_that_is_not_loaded_nothing_is_known(finder: Finder) -> None:
    with pytest.raises(
        UnsettledSiteError, match=r"has no addresses of Newark City, so that nothing is known"
    ) as caught:
        finder.site("920 Broad St, Newark")
    assert caught.value.found.choices == ()
    with pytest.raises(UnsettledSiteError, match="knows no such address"):
        finder.site("920 Nowhere Blvd, Camden")


# -- what is no address -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("PO Box 12, Camden, NJ", "box at a post office"),
        ("RR 2 Box 14, Camden", "route of mail delivery"),
        ("Camden City block 81", "block|street|not found|any of"),
        ("40.7344, 74.1641", "minus|negative"),
    ],
)
def test_what_cannot_be_looked_up_is_refused_with_what_to_do(finder: Finder, text: str, words: str) -> None:
    with pytest.raises(SiteError, match=words):
        finder.site(text)


def test_another_state_is_outside(finder: Finder) -> None:
    with pytest.raises(OutsideNewJerseyError, match=r"Pennsylvania|ZIP"):
        finder.find("1234 Market St, Philadelphia, PA 19107")


def test_a_system_of_coordinates_does_not_go_with_words(finder: Finder) -> None:
    with pytest.raises(SiteError, match=r"--crs EPSG:3424 was given with words alone"):
        finder.find("Camden City block 81 lot 1", crs="EPSG:3424")
    with pytest.raises(SiteError, match="expected two numbers"):
        finder.find("100 Main St, Camden", crs="EPSG:3424")


def test_with_nothing_to_look_in_it_is_said_what_would_help(atlas: Atlas) -> None:
    with pytest.raises(UnsettledSiteError, match=r"layers import parcels FILE.*settings set locators census"):
        Finder(atlas).site("100 Main St, Camden")


# -- what the user says beside an address -------------------------------------------------------------


def test_a_parcel_or_municipality_stated_beside_an_address_has_to_agree(finder: Finder) -> None:
    assert finder.site("100 Main St, Camden", pin="0408_81_1").pins == ("0408_81_1",)
    with pytest.raises(SiteError, match="found on the parcel 0408_81_1, and --pin names 0408_81_2"):
        finder.find("100 Main St, Camden", pin="0408_81_2")
    with pytest.raises(SiteError, match=r"found in Camden City \(0408\), and the municipality was stated as Newark"):
        finder.find("100 Main St, Camden", municipality="0714")


def test_the_greater_uncertainty_counts(finder: Finder) -> None:
    assert finder.site("100 Main St, Camden", uncertainty_ft=30.0).uncertainty_ft == 30
    tied = finder.site("5 Twin Ave, Camden", uncertainty_ft=30.0)
    assert tied.uncertainty_ft > 200
    assert any("30 ft of uncertainty were stated" in note for note in tied.notes)


# -- a place that was moved ---------------------------------------------------------------------------


def test_a_place_that_was_moved_keeps_what_was_typed_and_where_that_was(finder: Finder, engine: Engine) -> None:
    camden = finder.site("1 Line Rd, Camden")
    found = finder.find("1 Line Rd, Camden", at="39.92342207149239,-75.08631409908728")
    site = found.site
    assert site is not None
    assert (site.typed, site.pins, site.mun_code) == ("1 Line Rd, Camden", (), None)
    assert site.located_by == "coordinates, set by hand at 39.923422,-75.086314"
    (note,) = [note for note in site.notes if "moved by hand" in note]
    assert "1 Line Road (local: parcel" in note
    assert [
        engine.determine(one).place.candidates or engine.determine(one).place.municipality for one in (camden, site)
    ]
    before, after = (engine.determine(one).place.words for one in (camden, site))
    assert "Camden City" in before
    assert "Collingswood Borough" in after


def test_a_place_can_be_given_where_the_address_was_not_found(finder: Finder) -> None:
    site = finder.site("920 Nowhere Blvd, Camden", at="39.9447,-75.1190")
    assert site.typed == "920 Nowhere Blvd, Camden"
    assert any(note.startswith("As typed it was not located: The address") for note in site.notes)
    boxed = finder.site("PO Box 7, Camden", at="39.9447,-75.1190")
    assert any("box at a post office" in note for note in boxed.notes)


def test_only_coordinates_can_be_moved_to(finder: Finder) -> None:
    with pytest.raises(SiteError, match="--at was read as"):
        finder.find("100 Main St, Camden", at="0408_81_1")


# -- online locators ----------------------------------------------------------------------------------


def test_nothing_leaves_the_machine_without_an_online_locator(
    atlas: Atlas, parcels_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.delenv("GROWNJ_LOCATORS", raising=False)
    finder = Finder.at_home(atlas, home=parcels_home)
    assert [locator.name for locator in finder.sources.locators] == ["local"]
    for text in ("100 Main St, Camden", "100 Mian St, Camden", NEWARK, "Camden City block 81 lot 1"):
        assert all(not one.online for one in finder.find(text).asked)


def test_the_settings_say_who_is_asked_and_in_which_order(
    atlas: Atlas, parcels_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROWNJ_LOCATORS", "census,local,nj")
    finder = Finder.at_home(atlas, home=parcels_home)
    assert [locator.name for locator in finder.sources.locators] == ["census", "local", "nj"]


def test_what_is_settled_here_is_not_asked_elsewhere(
    atlas: Atlas, parcels_home: Path, census: CensusServer, tmp_path: Path
) -> None:
    local = local_sources(atlas, parcels_home)
    finder = Finder(atlas, Sources(local.store, (*local.locators, census.locator(tmp_path))))
    assert finder.find("100 Main St, Camden").settled
    assert census.log == []
    found = finder.find(NEWARK)
    assert len(census.log) == 1
    assert found.match is not None
    assert found.site is not None
    assert (found.match.locator, found.match.kind) == ("census", "range")
    assert [(one.locator, one.outcome, one.online) for one in found.asked] == [
        ("local", "nothing", False),
        ("census", "settled", True),
    ]
    # How far such a place may be off enters the determination.
    assert found.site.uncertainty_ft == found.match.uncertainty_ft > 1_000
    assert found.site.mun_code is None


def test_places_on_both_sides_of_a_line_are_undetermined_with_candidates(
    atlas: Atlas, engine: Engine, tmp_path: Path
) -> None:
    one = House("1", "LINE", "RD", "CAMDEN", "08104", CAMDEN_SIDE.lon, CAMDEN_SIDE.lat)
    other = House("1", "LINE", "RD", "CAMDEN", "08104", COLLINGSWOOD_SIDE.lon, COLLINGSWOOD_SIDE.lat)
    with CensusServer((one, other)) as census:
        found = Finder(atlas, Sources(None, (census.locator(tmp_path),))).find("1 Line Rd, Camden, NJ 08104")
    assert len(found.choices) == 2
    assert found.match is None
    assert found.site is not None
    assert found.site.uncertainty_ft < CLOSE_FT
    record = engine.determine(found.site)
    assert record.place.municipality is None
    assert {"0408", "0412"} <= {place.mun_code for place in record.place.candidates}
    assert record["garden_state_growth_zone"].outcome == "undetermined"


def test_a_place_in_another_municipality_than_typed_is_said_and_not_taken(
    atlas: Atlas, nj: NjServer, tmp_path: Path
) -> None:
    nj.houses = (*HOUSES, House("40", "MAIN", "ST", "CAMDEN", "08108", -75.0700, 39.9160))
    found = Finder(atlas, Sources(None, (nj.locator(tmp_path),))).find("40 Main St, Camden, NJ 08108")
    assert found.site is None
    assert len(found.choices) == 1
    assert "Camden City, Camden County was typed" in found.asked[0].words


def test_a_zip_code_that_cannot_be_compared_is_said(atlas: Atlas, parcels_home: Path) -> None:
    finder = Finder(atlas, local_sources(atlas, parcels_home))
    words = "ZIP code 08608 was not compared"
    (told,) = [note for note in finder.find("100 Main St, Camden NJ 08608").notes if words in note]
    assert told.endswith("what is loaded has none there.")
    assert not [note for note in finder.find("100 Main St, Camden").notes if "ZIP" in note]


def test_no_municipality_typed_is_not_another_one(atlas: Atlas, parcels_home: Path) -> None:
    found = Finder(atlas, local_sources(atlas, parcels_home)).find("100 Main St")
    assert found.site is None
    assert all("No municipality was typed." in match.notes for match in found.choices)
    assert not any("Not as typed: municipality" in note for match in found.choices for note in match.notes)


@pytest.mark.parametrize(("text", "name"), [("Hobokn", "Hoboken City"), ("Short Hils", "Millburn Township")])
def test_a_misspelt_municipality_alone_is_asked_for(atlas: Atlas, parcels_home: Path, text: str, name: str) -> None:
    for finder in (Finder(atlas), Finder(atlas, local_sources(atlas, parcels_home))):
        with pytest.raises(UnsettledSiteError, match=rf"Did you mean {name}"):
            finder.site(text)
        with pytest.raises(UnsettledSiteError) as other:
            finder.site("1 Hobokn")
        assert "Did you mean" not in str(other.value)


def test_a_failing_locator_is_said_and_the_next_one_is_asked(
    atlas: Atlas, census: CensusServer, nj: NjServer, tmp_path: Path
) -> None:
    def broken(_: Asked) -> Answer:
        return Answer(b"<html>maintenance</html>")

    census.rules.append(broken)
    finder = Finder(atlas, Sources(None, (census.locator(tmp_path), nj.locator(tmp_path))))
    found = finder.find(NEWARK)
    assert found.match is not None
    assert found.match.locator == "nj"
    assert [one.outcome for one in found.asked] == ["failed", "settled"]
    assert "nonsense" in found.asked[0].words
    assert any(note.startswith("census: no answer (nonsense)") for note in found.notes)
    nj.rules.append(broken)
    with pytest.raises(
        UnsettledSiteError, match=r"could not be looked up. Asked: census: no answer.*nj: no answer"
    ) as caught:
        finder.site("33 Livingston Ave, New Brunswick")
    assert caught.value.found.choices == ()


def test_how_far_the_answers_are_apart_is_said(
    atlas: Atlas, census: CensusServer, nj: NjServer, tmp_path: Path
) -> None:
    moved = House("920", "BROAD", "ST", "NEWARK", "07102", NEWARK_HALL.lon + 0.001, NEWARK_HALL.lat)
    nj.houses = (moved,)
    sources = Sources(None, (census.locator(tmp_path), nj.locator(tmp_path)))
    one = Finder(atlas, sources, every_locator=True).find(NEWARK)
    assert one.match is not None
    assert (one.match.locator, len(nj.log)) == ("census", 1)
    (note,) = [note for note in one.notes if note.startswith("Another answer")]
    assert note.startswith("Another answer, 27")
    # Farther apart than both are uncertain they are choices.
    nj.houses = (House("920", "BROAD", "ST", "NEWARK", "07102", NEWARK_HALL.lon + 0.006, NEWARK_HALL.lat),)
    sources = Sources(None, (census.locator(tmp_path / "other"), nj.locator(tmp_path / "other")))
    split = Finder(atlas, sources, every_locator=True).find(NEWARK)
    assert split.match is None
    assert len(split.choices) == 2
    assert any("disagree by more than their answers are uncertain" in note for note in split.notes)


def test_of_a_parcel_without_a_place_another_locator_may_know_it(
    atlas: Atlas, parcels_home: Path, nj: NjServer, tmp_path: Path
) -> None:
    nj.houses = (House("11", "BLANK", "ST", "CAMDEN", "08103", -75.1190, 39.9447),)
    local = local_sources(atlas, parcels_home)
    finder = Finder(atlas, Sources(local.store, (*local.locators, nj.locator(tmp_path))))
    found = finder.find("11 Blank St, Camden, NJ 08103")
    site = found.site
    assert site is not None
    assert site.is_point
    assert (site.pins, site.mun_code, site.mun_basis) == (("0408_84_1",), "0408", "pin")
    assert site.uncertainty_ft > 60
    assert any(note.startswith("The parcel is 0408_84_1 (local); its place is that of nj") for note in site.notes)
    # A place in another municipality than the parcel's is no place of it.
    nj.houses = (House("13", "BLANK", "ST", "CAMDEN", "08108", -75.0700, 39.9160),)
    other = finder.site("13 Blank St, Camden, NJ 08108")
    assert (other.geometry, other.pins) == (None, ("0408_84_2",))
    assert len(nj.log) == 2


# -- many addresses -----------------------------------------------------------------------------------


def test_many_are_asked_together_and_only_what_is_still_open(
    atlas: Atlas, parcels_home: Path, census: CensusServer, tmp_path: Path
) -> None:
    local = local_sources(atlas, parcels_home)
    finder = Finder(atlas, Sources(local.store, (*local.locators, census.locator(tmp_path))))
    texts = ["100 Main St, Camden", NEWARK, "33 Livingston Ave, New Brunswick, NJ 08901", "5 Twin Ave, Camden"]
    found = finder.find_many([finder.address(text) for text in texts])
    assert [one.text for one in found] == texts
    assert [None if one.match is None else one.match.locator for one in found] == ["local", "census", "census", None]
    assert [asked.kind for asked in census.log] == ["addressbatch"]
    alone = [finder.find(text) for text in texts]
    assert [one.site for one in alone] == [one.site for one in found]


def test_a_locator_that_answers_nothing_is_not_asked_for_every_block(
    atlas: Atlas, census: CensusServer, tmp_path: Path
) -> None:
    census.rules.append(lambda _: Answer(b"<html>maintenance</html>"))
    finder = Finder(atlas, Sources(None, (census.locator(tmp_path),)))
    first = finder.find_many([finder.address(NEWARK), finder.address("1 Line Rd, Camden")])
    assert [one.asked[0].outcome for one in first] == ["failed", "failed"]
    asked = len(census.log)
    (again,) = finder.find_many([finder.address("33 Livingston Ave, New Brunswick")])
    assert (again.asked[0].outcome, len(census.log)) == ("left_out", asked)


# -- municipalities of one name -----------------------------------------------------------------------


def test_municipalities_of_one_name_say_their_county_and_others_do_not(finder: Finder) -> None:
    choices = finder.find("12 Spring St, Washington Township").choices
    assert [finder.asker.municipality_words(match) for match in choices] == [
        "Washington Township, Morris County (1438)"
    ]
    assert finder.asker.name("0408") == "Camden City (0408)"
