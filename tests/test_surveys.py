"""Editions of the survey, and where what they need is served."""

from __future__ import annotations

import pytest

from grownj_geo.features import LayerFault
from grownj_geo.surveys import edition_vintage, tract_service


@pytest.mark.parametrize("edition", ["2005-2009", "2011-2016", "2015", "2011 to 2015", "2015-2011", ""])
def test_what_is_no_edition(edition: str) -> None:
    with pytest.raises(LayerFault) as raised:
        edition_vintage(edition)
    assert raised.value.fault == "bad_edition"


@pytest.mark.parametrize(
    ("edition", "service"), [("2006-2010", "Census2010"), ("2015-2019", "Census2010"), ("2016-2020", "Census2020")]
)
def test_boundaries_come_from_the_service_of_the_editions_vintage(edition: str, service: str) -> None:
    found = tract_service(edition)
    assert f"tigerWMS_{service}/MapServer/" in found.url
    assert found.vintage == edition_vintage(edition) == service.removeprefix("Census")
    assert found.note
