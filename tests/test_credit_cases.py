"""Every case file of the credit rules comes out as it says."""

from __future__ import annotations

from typing import Any

import pytest
from credit_case_files import CreditCase, as_amount, credit_cases

from grownj_geo.creditproject import project_of
from grownj_geo.credits import Estimate, estimate

RESULTS = {"award", "award_year", "if_eligible", "if_eligible_year"}


def amounts_of(found: Estimate, line: str) -> tuple[Any, Any]:
    part = getattr(found, line) if line in RESULTS else found[line]
    return part.low, part.high


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


def test_every_case_names_its_rule_and_files_are_not_empty() -> None:
    cases = credit_cases()
    assert len(cases) > 15
    for case in cases:
        assert case.rule, str(case)
