"""Every case file of the credit rules comes out as it says."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest
from credit_case_files import CreditCase, as_amount, credit_cases

from grownj_geo.credithub import HubProject, estimate_hub
from grownj_geo.creditproject import project_of
from grownj_geo.credits import Estimate, estimate

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.creditanswer import CreditAnswer

RESULTS = {"award", "award_year", "if_eligible", "if_eligible_year"}


def amounts_of(found: Estimate, line: str) -> tuple[Any, Any]:
    part = getattr(found, line) if line in RESULTS else found[line]
    return part.low, part.high


def checked(case: CreditCase, found: CreditAnswer) -> None:
    assert case.expect, "a case expects something"
    for line, wanted in case.expect.items():
        word = {True: "yes", False: "no"}.get(wanted, wanted) if isinstance(wanted, (bool, str)) else wanted
        if isinstance(word, str) and word in {"yes", "no", "undetermined"}:
            assert (found.eligible if line == "eligible" else found.tests[line].outcome) == word, line
        else:
            least, most = word if isinstance(word, list) else (word, word)
            amount = found.amounts[line]
            assert (amount.low, amount.high) == (as_amount(least), as_amount(most)), line


@pytest.mark.parametrize("case", credit_cases("urban-transit-hub"), ids=str)
def test_a_hub_case_comes_out_as_its_file_says(case: CreditCase) -> None:
    checked(case, estimate_hub(HubProject.model_validate(case.raw)))


@pytest.mark.parametrize("case", credit_cases("grow-nj"), ids=str)
def test_a_case_comes_out_as_its_file_says(case: CreditCase) -> None:
    found = estimate(project_of(case.raw, name=str(case)), **case.options)
    assert case.expect, "a case expects something"
    for line, wanted in case.expect.items():
        # YAML reads yes and no as true and false.
        wanted = {True: "yes", False: "no"}.get(wanted, wanted) if isinstance(wanted, (bool, str)) else wanted  # noqa: PLW2901
        if isinstance(wanted, str) and wanted in {"yes", "no", "undetermined"}:
            assert (found.eligible if line == "eligible" else found[line].outcome) == wanted, line
        elif line == "gone":
            with pytest.raises(KeyError):
                found[wanted]
        else:
            least, most = wanted if isinstance(wanted, list) else (wanted, wanted)
            assert amounts_of(found, line) == (as_amount(least), as_amount(most)), line


@pytest.mark.shared
def test_every_published_award_of_good_quality_has_a_case(shared: Path) -> None:
    with (shared / "cases" / "grow_nj_approvals.csv").open(encoding="utf-8", newline="") as file:
        wanted = {row["case_id"] for row in csv.DictReader(file) if row["derived_quality"] in {"exact", "strong"}}
    named = " ".join(case.rule for case in credit_cases())
    assert wanted
    assert [case_id for case_id in sorted(wanted) if case_id not in named] == []


def test_every_case_names_its_rule_and_files_are_not_empty() -> None:
    cases = credit_cases()
    assert len(cases) > 350
    for case in cases:
        assert case.rule, str(case)
