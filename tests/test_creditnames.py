"""The facts of a project are those that bonuses of the book ask for, each with the bonus that its file says."""

from __future__ import annotations

import pytest

from grownj_geo.creditnames import BUSINESS_FACTS, COMPUTED_FACTS, PROJECT_FACTS, ProjectFact, project_facts
from grownj_geo.creditparams import load_credit_book

BONUSES = {bonus.id: bonus for bonus in load_credit_book("grow-nj").bonuses}


@pytest.mark.parametrize("fact", project_facts(), ids=lambda fact: fact.name)
def test_the_bonus_that_a_fact_names_asks_for_it(fact: ProjectFact) -> None:
    bonus = BONUSES[fact.bonus]
    assert bonus.when is not None
    assert ("fact", fact.name) in list(bonus.when.asked())


def test_every_fact_that_bonuses_ask_for_is_known() -> None:
    asked = {name for bonus in BONUSES.values() if bonus.when for kind, name in bonus.when.asked() if kind == "fact"}
    assert asked <= {*PROJECT_FACTS, *BUSINESS_FACTS, *COMPUTED_FACTS}
    assert set(PROJECT_FACTS) <= asked
