"""Every case file of the credit rules comes out as it says."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import pytest
from credit_case_files import CreditCase, as_amount, credit_cases

from grownj_geo.creditbill import estimate_bill
from grownj_geo.creditbillinput import BILL_CREDITS
from grownj_geo.credithub import estimate_hub
from grownj_geo.credithubinput import HubProject
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


@pytest.mark.parametrize("case", credit_cases("a1178"), ids=str)
def test_a_case_of_the_bill_comes_out_as_its_file_says(case: CreditCase) -> None:
    checked(case, estimate_bill(BILL_CREDITS[case.raw["program"]].model_validate(case.raw)))


def test_figures_of_the_statement_are_marked() -> None:
    (case,) = [case for case in credit_cases("a1178") if case.name.startswith("B04")]
    found = estimate_bill(BILL_CREDITS["relocation-grant"].model_validate(case.raw))
    assert "relocation_largest_class" in found.statement_only
    assert "relocation_yearly" not in found.statement_only


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


# Numbers of the bill without a case here, and why.
ELSEWHERE = {
    **dict.fromkeys([f"H{number:02}" for number in range(2, 13) if number != 5], "an area: cases of the classifier"),
    "H05": "hours of an employee; the hub credit takes employees as they are counted",
    "U36": "the text has no number",
    "U38": "a wind facility, by the statement, without a number of its own",
    "M14": "twelve months are what the averages of a credit year are taken over",
    "B05": "an area: cases of the classifier",
}


@pytest.mark.shared
def test_every_number_of_the_bill_has_a_case_or_a_reason(shared: Path) -> None:
    text = (shared / "model" / "a1178_numbers.md").read_text(encoding="utf-8")
    numbers = set(re.findall(r"^\| ([A-Z]{1,2}\d\d) \|", text, flags=re.MULTILINE))
    named = " ".join(f"{case.name} {case.rule}" for case in credit_cases())
    assert len(numbers) > 90
    missing = {number for number in numbers if number not in named} - set(ELSEWHERE)
    assert missing == set()
    assert {number for number in ELSEWHERE if number not in numbers} == set()


def test_every_case_names_its_rule_and_files_are_not_empty() -> None:
    cases = credit_cases()
    assert len(cases) > 350
    for case in cases:
        assert case.rule, str(case)
