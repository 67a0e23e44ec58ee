"""Lists of municipalities: who is on which, when several periods are known, and how an answer words it."""

from __future__ import annotations

from datetime import date

import pytest
from refined import HOLMDEL, table
from refined import refined as refine_shipped

from grownj_geo.atlas import Atlas
from grownj_geo.designations import Listing, deciding_listings, listings, load_lists, on_list, periods_overlap
from grownj_geo.determine import determine
from grownj_geo.errors import RulebookError
from grownj_geo.site import Site

OLD, NEW = date(2014, 1, 1), date(2017, 3, 1)


def _listing(starts: date | None, latest: date | None, ends: date | None, status: str = "confirmed") -> Listing:
    return Listing("0199", "Drawn", "lfb_supervision", status, "S", starts, latest, ends)


def test_the_period_that_holds_decides() -> None:
    was, back = _listing(None, None, OLD, "unverified"), _listing(NEW, date(2017, 3, 10), None)
    days = [date(2013, 12, 31), OLD, date(2017, 2, 28), NEW, date(2017, 3, 9), date(2017, 3, 10)]
    assert [on_list((was, back), day) for day in days] == [True, False, False, None, None, True]
    assert [on_list((back, was), day) for day in days] == [True, False, False, None, None, True]
    chosen = [deciding_listings((was, back), day) for day in days]
    assert chosen == [(was,), (was, back), (was, back), (back,), (back,), (back,)]
    assert deciding_listings((was, back), None) == (was, back)
    assert on_list((), NEW) is False


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ((NEW, None), False),
        ((None, OLD), False),
        ((date(2017, 2, 28), None), True),
        ((None, date(2014, 1, 2)), True),
        ((date(2015, 1, 1), date(2016, 1, 1)), True),
        ((None, None), True),
    ],
)
def test_periods_with_a_day_in_common(second: tuple[date | None, date | None], *, expected: bool) -> None:
    assert periods_overlap((OLD, NEW), second) is expected
    assert periods_overlap(second, (OLD, NEW)) is expected


def test_every_row_that_ships_is_on_a_list(atlas: Atlas) -> None:
    every = [listings(atlas, name) for name in load_lists()]
    assert None not in every
    assert sum(len(rows) for listed in every if listed for rows in listed.values()) == 421
    with pytest.raises(RulebookError, match="no list of municipalities named 'nowhere'"):
        listings(atlas, "nowhere")


@pytest.mark.parametrize(
    ("day", "outcome", "words", "status"),
    [
        (date(2016, 12, 31), "yes", "Holmdel Township is on the list of", "unverified"),
        (
            date(2017, 2, 1),
            "no",
            "which held until 2017-01-01 and no longer holds, and holds again from 2017-03-01",
            "",
        ),
        (date(2017, 3, 1), "yes", "Holmdel Township is on the list of", "confirmed"),
    ],
)
def test_an_answer_rests_on_the_period_of_its_day(
    atlas: Atlas, day: date, outcome: str, words: str, status: str
) -> None:
    of = {"municipality": "Holmdel", "designation": "lfb_supervision"}
    rows = [
        {**of, "until": "2017-01-01", "status": "unverified"},
        {**of, "from": "2017-03-01", "status": "confirmed"},
    ]
    layer, _ = refine_shipped(atlas, "designations", table(rows))
    found = determine(Site.from_lonlat(*HOLMDEL), Atlas(as_of=day, layers=[layer]))
    finding = found["distressed_municipality"]
    assert finding.outcome == outcome
    told = [each for each in finding.model_dump(mode="json")["evidence"] if words in str(each)]
    assert told
    assert not status or status in {each["status"] for each in told}
