"""The computation of one project line by line, in the order in which it is computed."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from grownj_geo.areanames import area_names
from grownj_geo.creditaward import ANY_METHOD_LIMITS
from grownj_geo.creditline import CreditLine, amount_line, at_least_formula, every_formula, outcome_line
from grownj_geo.creditrange import Range
from grownj_geo.logic import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.creditaward import Award
    from grownj_geo.creditminimums import Minimums
    from grownj_geo.creditparams import Bonus, Figures
    from grownj_geo.creditproject import Project
    from grownj_geo.creditrange import Kleene
    from grownj_geo.creditsheet import Sheet

__all__ = ["CONDITIONS", "lines_of"]

CONDITIONS = {
    "facility": ("Qualified business facility", "N.J.A.C. 19:31-18.2, Qualified business facility"),
    "capital": ("Minimum capital investment is met", "N.J.A.C. 19:31-18.3(a)1"),
    "jobs": ("Minimum of full-time jobs is met", "N.J.A.C. 19:31-18.3(a)2"),
    "green_standard": ("Environmental and sustainability standards are met", "N.J.A.C. 19:31-18.3(a)3i"),
    "net_benefit": ("Net benefit to the State is enough", "N.J.A.C. 19:31-18.3(a)3ii"),
    "method": ("The chosen method is open to the project", "N.J.S.A. 34:1B-246"),
}
"""Conditions of any credit: label and rule."""

_CAPITAL_FIGURES = (
    "soft_cost_percent", "after_to_before_percent", "months_before_application", "growth_zone_capital", "never_capital",
)  # fmt: skip
_AMOUNTS = "N.J.A.C. 19:31-18.8(b)"
_KINDS = ("new", "retained")
_BENEFIT_MET = 'IF({carried:low}>0,"yes",IF({carried:high}<=0,"no","undetermined"))'
_MEGA = {"3": "mega_capital_hub", "4": "mega_jobs_south", "5": "mega_5_applied_after"}


class _Lines:
    """Makes the lines of one project."""

    def __init__(self, project: Project, sheet: Sheet, minimums: Minimums, award: Award, figures: Figures) -> None:
        self.project, self.sheet, self.minimums, self.award, self.figures = project, sheet, minimums, award, figures

    # -- what goes in ---------------------------------------------------------------------------------

    def inputs(self, row: int, name: str) -> Iterator[CreditLine]:
        building, minimums = self.project.buildings[row], self.minimums
        sqft = type(minimums.capital)(self.sheet.sqft, self.sheet.sqft)
        yield amount_line("sqft", "inputs", "Gross leasable area", sqft, row=row, building=name, unit="sqft")
        yield amount_line(
            "capital", "inputs", "Capital investment that counts", minimums.capital, row=row, building=name,
            rule="N.J.A.C. 19:31-18.2, Capital investment",
            words="not stated" if self.project.capital is None else "",
            figures=_CAPITAL_FIGURES if self.project.capital else (),
        )  # fmt: skip
        if any(jobs.high[row] for jobs in self.sheet.retained.values()):
            granted = minimums.at_risk[row] > 0 and self.sheet.fact("jobs_at_risk")[0] == 0
            yield outcome_line(
                "at_risk", "inputs", "Retained jobs count: at risk of leaving the State, or moved into such a zone",
                minimums.at_risk, row=row, building=name, rule="N.J.A.C. 19:31-18.2, Retained full-time job",
                words="taken for granted, since it is not stated" if granted else self._said("mrera_growth_zone", row),
            )  # fmt: skip
        for kind, jobs in (("new", minimums.new), ("retained", minimums.retained)):
            yield amount_line(
                f"{kind}_jobs", "inputs", f"{kind.capitalize()} full-time jobs that count", jobs, row=row,
                building=name, rule="N.J.A.C. 19:31-18.2, Full-time employee; Eligible position", unit="jobs",
                figures=("full_time_hours", "time_at_facility_percent"),
            )  # fmt: skip
        use = Outcome.of(int(self.sheet.similar[row])).value
        built = "newly built" if self.sheet.new_built[row] else "rehabilitated"
        premises = building.premises.replace("_", " ")
        yield amount_line(
            "rate", "minimums", "Minimum capital for a square foot", minimums.rate, row=row, building=name,
            rule="N.J.A.C. 19:31-18.3(a)1", unit="dollars_per_sqft",
            words=f"{premises} premises, {built}; in continued similar use: {use}; reduced by one part in "
            f"{self.figures.number('capital_reduction_parts'):g}: "
            f"{Outcome.of(int(minimums.capital_reduced[row])).value}",
            figures=self._rate_figures(row),
        )  # fmt: skip
        yield amount_line(
            "required", "minimums", "Minimum capital investment", minimums.capital_required, row=row, building=name,
            rule="N.J.A.C. 19:31-18.3(a)1", formula=self._required_formula(name),
        )  # fmt: skip

    def _rate_figures(self, row: int) -> tuple[str, ...]:
        built = "new" if self.sheet.new_built[row] else "rehabilitation"
        uses = {1: ("industrial",), -1: ("other",)}.get(int(self.sheet.similar[row]), ("industrial", "other"))
        cut = ("capital_reduction_parts",) if self.minimums.capital_reduced[row] >= 0 else ()
        return (*(f"capital_{use}_{built}" for use in uses), *cut)

    def _required_formula(self, name: str) -> str | None:
        row = next(i for i, building in enumerate(self.project.buildings) if building.id == name)
        exact = self.minimums.rate.low[row] * self.sheet.sqft[row]
        # A reduction of the total, or a rate without an end in decimals, is not the product of the two lines.
        as_product = abs(exact - self.minimums.capital_required.low[row]) < Decimal("0.005")
        return f"ROUNDUP(ROUND({{rate@{name}}}*{{sqft@{name}}},4),2)" if as_product else None

    # -- minimums -------------------------------------------------------------------------------------

    def minimum_lines(self, names: Sequence[str]) -> Iterator[CreditLine]:
        minimums = self.minimums
        alone = len(names) == 1
        yield outcome_line(
            "capital_met", "minimums", CONDITIONS["capital"][0], minimums.capital_met, rule=CONDITIONS["capital"][1],
            formula=at_least_formula(f"capital@{names[0]}", f"required@{names[0]}") if alone else None,
            words="" if alone else "proximate buildings with the same minimum for a square foot are taken together",
        )  # fmt: skip
        there = int(minimums.in_reduced[0])
        where = {1: "counted in the buildings of reduced places", -1: "counted in all buildings"}.get(
            there, "it is open whether a building is in a reduced place"
        )
        kind = ("startup", "targeted", "other")[int(self.sheet.kind[0])]
        perhaps = self.sheet.fact("technology_startup")[0] == 0
        for word, required, jobs, whole, cut in (
            ("new", minimums.new_required, minimums.new_there, minimums.new_least, minimums.new_cut),
            (
                "retained", minimums.retained_required, minimums.retained_there, minimums.retained_least,
                minimums.retained_cut,
            ),
        ):  # fmt: skip
            reduction = ("jobs_reduction_parts",) if there >= 0 else ()
            yield amount_line(
                f"{word}_required", "minimums", f"Minimum of {word} full-time jobs", required,
                rule="N.J.A.C. 19:31-18.3(a)2", unit="jobs",
                figures=(*((f"jobs_startup_{word}",) if perhaps else ()), f"jobs_{kind}_{word}", *reduction),
                words="whether it is a technology startup is open" if perhaps else "",
            )  # fmt: skip
            for key, values in (("", whole), ("_cut", cut)) if not there else ():
                # Both minimums may hold: each has a line of its own, so that the test can be computed.
                yield amount_line(
                    f"{word}_least{key}", "minimums",
                    f"Minimum of {word} full-time jobs, {'reduced' if key else 'not reduced'}", values,
                    rule="N.J.A.C. 19:31-18.3(a)2", unit="jobs",
                )  # fmt: skip
            if there >= 0:
                yield amount_line(
                    f"{word}_there", "minimums", f"{word.capitalize()} jobs in reduced places", jobs,
                    rule="N.J.A.C. 19:31-18.3(a)2iv", unit="jobs", formula=_there_formulas(word, names)[0],
                    formula_high=_there_formulas(word, names)[1],
                )  # fmt: skip
        formula = _jobs_formula(names, there=there)
        yield outcome_line(
            "jobs_met", "minimums", CONDITIONS["jobs"][0], minimums.jobs_met, rule=CONDITIONS["jobs"][1],
            formula=formula, words=f"new or retained, never summed; {where}",
        )  # fmt: skip

    # -- place and award ------------------------------------------------------------------------------

    def place_lines(self, row: int, name: str) -> Iterator[CreditLine]:
        award = self.award
        yield outcome_line(
            "facility", "place", CONDITIONS["facility"][0], award.facility, row=row, building=name,
            rule=CONDITIONS["facility"][1],
            words=self._said("qualified_incentive_area", row),
        )  # fmt: skip
        yield outcome_line(
            "reduced", "place", "In a place with reduced minimums", self.minimums.reduced, row=row, building=name,
            rule="N.J.A.C. 19:31-18.3(a)1 and 2",
        )  # fmt: skip
        paragraphs = [number for number, outcome in award.mega.items() if number != "any" and outcome[row] >= 0]
        yield outcome_line(
            "mega", "place", "Mega project", award.mega["any"], row=row, building=name,
            rule="N.J.A.C. 19:31-18.2, Mega project",
            words=_by_paragraphs({number: int(award.mega[number][row]) for number in paragraphs}),
            figures=("mega_capital", "mega_jobs", "mega_jobs_alone", *(_MEGA[n] for n in paragraphs if n in _MEGA)),
        )  # fmt: skip
        lines = [line for line in self.figures.book.lines if award.lines[line.id][row] >= 0]
        sure = len(lines) == 1 and award.lines[lines[0].id][row] > 0
        words = " or ".join(line.label for line in lines) or "no line: outside the incentive area"
        yield amount_line(
            "base", "award", "Base amount", award.base, row=row, building=name, rule=_AMOUNTS,
            words=words if sure or not lines else f"{words}, as far as is known", figures=[line.base for line in lines],
        )  # fmt: skip

    def award_lines(self, row: int, name: str) -> Iterator[CreditLine]:
        award = self.award
        terms = []
        if self.project.bonuses.per_job is not None:
            yield amount_line("bonuses", "award", "Bonuses together", award.bonuses.total, row=row, building=name)
        else:
            for bonus in self.figures.book.bonuses:
                amounts = award.bonuses.amounts[bonus.id]
                if award.bonuses.applies[bonus.id][row] < 0 or not amounts.high[row]:
                    continue
                terms.append(f"{{bonus_{bonus.id}@{name}}}")
                yield self._bonus(bonus, row, name)
            total = f"SUM({','.join(terms)})" if terms else None
            yield amount_line(
                "bonuses", "award", "Bonuses together", award.bonuses.total, row=row, building=name, rule=_AMOUNTS,
                formula=total,
            )  # fmt: skip
        lines = [line for line in self.figures.book.lines if award.lines[line.id][row] >= 0]
        sure = all(self._stands(line.job_limit) for line in lines)
        yield amount_line(
            "job_limit", "award", "Limit for a job and year", award.job_limit, row=row, building=name,
            rule="N.J.S.A. 34:1B-246",
            figures=[*(line.job_limit for line in lines), *(() if sure else ("job_limit_most",))],
        )  # fmt: skip
        yield amount_line(
            "gross", "award", "Amount for a new job and year", award.gross, row=row, building=name, rule=_AMOUNTS,
            formula=f"MIN({{base@{name}}}+{{bonuses@{name}}},{{job_limit@{name}}})",
        )  # fmt: skip
        yield amount_line(
            "new_amount", "award", "New jobs, a year", award.new_amount, row=row, building=name, rule=_AMOUNTS,
            formula=f"{{gross@{name}}}*{{new_jobs@{name}}}",
        )  # fmt: skip
        if self.minimums.retained.high[row]:
            yield from self._retained(row, name)
        parts = ("new_amount", "retained_amount") if self.minimums.retained.high[row] else ("new_amount",)
        yield amount_line(
            "yearly", "award", "New and retained jobs, a year", award.yearly, row=row, building=name, rule=_AMOUNTS,
            formula="+".join(f"{{{of}@{name}}}" for of in parts),
        )  # fmt: skip

    def _bonus(self, bonus: Bonus, row: int, name: str) -> CreditLine:
        asked = [n for kind, n in bonus.when.asked() if kind == "area"] if bonus.when else []
        words = "; ".join(self._said(area, row) for area in asked)
        return amount_line(
            f"bonus_{bonus.id}", "award", f"Bonus: {bonus.label}", self.award.bonuses.amounts[bonus.id], row=row,
            building=name, rule=self.figures.of(bonus.figures[0]).citation, words=words,
            figures=self._bonus_figures(bonus, row),
        )  # fmt: skip

    def _said(self, area: str, row: int) -> str:
        return f"{area_names()[area].label}: {Outcome.of(int(self.sheet.area(area)[row])).value}"

    def _bonus_figures(self, bonus: Bonus, row: int) -> tuple[str, ...]:
        """Return the figures of a bonus that matter: of tiers, those that the number of jobs may reach."""
        if bonus.tiers is None:
            return bonus.figures
        amounts = self.award.bonuses.amounts[bonus.id]
        reached = [
            tier
            for tier in bonus.tiers.amounts
            if amounts.low[row] <= self.figures.number(tier.amount) <= amounts.high[row]
        ]
        return tuple(name for tier in reached for name in (tier.amount, tier.more_than))

    def _retained(self, row: int, name: str) -> Iterator[CreditLine]:
        award = self.award
        rule = "N.J.S.A. 34:1B-246, retained jobs"
        percent, parts = self.figures.number("retained_percent"), self.figures.number("retained_capital_parts")
        jobs, gross = f"{{retained_jobs@{name}}}", f"{{gross@{name}}}"
        yield amount_line(
            "retained_share", "award", "Share of a new job's amount for a retained job", award.ordinary_share, row=row,
            building=name, rule=rule, figures=("retained_percent",),
            formula=f"{gross}*{percent}/100" if self._stands("retained_percent") else None,
        )  # fmt: skip
        capital = None
        if self._stands("retained_capital_parts") and len(self.project.buildings) == 1:
            # More new jobs share the capital among more: the least share goes with the greatest number of them.
            new = f"{{new_jobs@{name}:%s}}"
            capital = f"{{capital@{name}}}*{jobs}/({parts}*MAX(1,{jobs}+{new}))"
        exception = int(award.exception[row])
        full, ordinary, ordinary_high = f"{gross}*{jobs}", None, None
        if capital is not None:
            ordinary = f"MIN({{retained_share@{name}}}*{jobs},{capital % 'high'})"
            ordinary_high = f"MIN({{retained_share@{name}}}*{jobs},{capital % 'low'})"
        sure = self._stands("retained_percent_exceptions")
        more = ("retained_percent_exceptions",) if exception >= 0 else ()
        low = full if exception > 0 and sure else ordinary
        high = full if exception >= 0 else ordinary_high
        yield amount_line(
            "retained_amount", "award", "Retained jobs, a year", award.retained_amount, row=row, building=name,
            rule=rule, words=f"the lesser of that share and of one part in {parts:g} of the capital, shared by the jobs"
            if exception < 0
            else "a growth zone, a disaster or an automobile headquarters may have the full amount",
            figures=("retained_percent", "retained_capital_parts", *more),
            formula=low if low and high else None, formula_high=high if low and high else None,
        )  # fmt: skip

    def _granted(self, key: str, met: Kleene) -> str:
        """Say that a condition is taken for granted, where nobody stated it."""
        if key == "method" and self.project.method == "capital_investment":
            return "by capital investment only in growth zones under the recovery act; elsewhere write method: per_job"
        if met[0] < 1:
            return ""
        unsaid = {
            "green_standard": self.project.green_standard is None,
            "net_benefit": self.project.net_benefit is None,
        }
        return "taken for granted, since it is not stated" if unsaid.get(key) else ""

    def _benefit_lines(self) -> Iterator[CreditLine]:
        """Yield the stated net benefit, what share of the credit it has to be, and what credit it is enough for."""
        award, stated = self.award, self.project.net_benefit
        if stated is None:
            return
        rule = CONDITIONS["net_benefit"][1]
        yield amount_line("net_benefit", "inputs", "Net benefit to the State", Range.same(1, stated), rule=rule)
        yield amount_line(
            "benefit_percent", "result", "Least net benefit, as a share of the credit", award.benefit_percent,
            rule=rule, unit="percent", figures=self._benefit_figures(),
        )  # fmt: skip
        yield amount_line(
            "carried", "result", "Greatest credit that the net benefit is enough for", award.carried, rule=rule,
            formula="ROUNDDOWN(ROUND({net_benefit}*100/{benefit_percent:high},6),2)",
            formula_high="ROUNDDOWN(ROUND({net_benefit}*100/{benefit_percent:low},6),2)",
            figures=self._benefit_figures(),
        )  # fmt: skip

    def _benefit_figures(self) -> tuple[str, ...]:
        if self.project.net_benefit is None:
            return ()
        mrera = (self.sheet.area("mrera_growth_zone") >= 0).all()
        return ("net_benefit_percent", "net_benefit_percent_mrera") if mrera else ("net_benefit_percent",)

    def _stands(self, name: str) -> bool:
        return self.figures.stands(name)

    # -- result ---------------------------------------------------------------------------------------

    def result_lines(self, names: Sequence[str]) -> Iterator[CreditLine]:
        award, years = self.award, self.project.eligibility_years
        alone = len(names) == 1
        for row, name in enumerate(names):
            used = [line.year_limit for line in self.figures.book.lines if award.lines[line.id][row] >= 0]
            yield amount_line(
                "year_limit", "award", "Limit of the line, a year", award.pool_limit, row=row, building=name,
                rule="N.J.S.A. 34:1B-246", figures=used,
            )  # fmt: skip
        yield amount_line(
            "limited", "result", "Within the limits of the lines, a year", award.limited, rule="N.J.S.A. 34:1B-246",
            formula=f"MIN({{yearly@{names[0]}}},{{year_limit@{names[0]}}})" if alone else None,
            words="" if alone else "buildings with the same factors are pooled, the others computed apart",
        )  # fmt: skip
        by_capital = self.project.method == "capital_investment"
        terms = ["{by_capital}" if by_capital else "{limited}"]
        rules = {
            "withholdings": ("Share of the withholdings, a year", "N.J.S.A. 34:1B-246"),
            "board_maximum": ("Maximum that the Board approved, a year", "N.J.A.C. 19:31-18.8(a)"),
            "section_1_7g_amount": ("Amount of section 1.7(g), a year", "N.J.A.C. 19:31-18.8(a)"),
        }
        for limit, values in award.year_limits.items():
            if values.low[0].is_finite():
                if not by_capital or limit in ANY_METHOD_LIMITS:
                    terms.append(f"{{limit_{limit}}}")
                label, rule = rules[limit]
                used = ["withholdings_percent"] if limit == "withholdings" else []
                yield amount_line(f"limit_{limit}", "result", label, values, rule=rule, figures=used)
        if by_capital:
            steps = [name for step in self.figures.book.investment_steps for name in step.figures]
            yield amount_line(
                "by_capital", "result", "By the method of capital investment, a year", award.method_limit,
                rule="N.J.S.A. 34:1B-246, growth zone under the recovery act", figures=steps,
            )  # fmt: skip
        yield from self._benefit_lines()
        terms += ["{carried}/{years}"] * (self.project.net_benefit is not None)
        of = f"MIN({','.join(terms)})"
        yield amount_line(
            "year", "result", "Credit of a year, if eligible", award.year, rule="N.J.A.C. 19:31-18.8(a), in cents",
            formula=f"ROUNDDOWN(ROUND({of},6),2)",
        )  # fmt: skip
        period = type(award.year)([Decimal(years)], [Decimal(years)])  # type: ignore[arg-type]
        yield amount_line(
            "years", "inputs", "Eligibility period", period, unit="years",
            rule="N.J.A.C. 19:31-18.2, Eligibility period", figures=("eligibility_years",),
        )  # fmt: skip
        yield amount_line(
            "total", "result", "Credit in all, if eligible", award.total, formula="{year}*{years}",
            rule="N.J.A.C. 19:31-18.2, Eligibility period",
        )  # fmt: skip
        for key, met in award.conditions.items():
            label, rule = CONDITIONS[key]
            same = {"capital": "capital_met", "jobs": "jobs_met"}.get(key)
            formula = f"{{{same}:low}}" if same else None
            if key == "facility":
                formula = every_formula(f"facility@{name}" for name in names)
            elif key == "net_benefit" and self.project.net_benefit is not None:
                formula = _BENEFIT_MET
            yield outcome_line(
                f"condition_{key}", "result", label, met, rule=rule, formula=formula,
                words=self._granted(key, met),
                figures=self._benefit_figures() if key == "net_benefit" else (),
            )  # fmt: skip
        yield outcome_line(
            "eligible", "result", "Eligible", award.eligible, rule="N.J.A.C. 19:31-18.3",
            formula=every_formula(f"condition_{key}" for key in award.conditions),
        )  # fmt: skip
        for key, label, of, values in (
            ("award_year", "Award of a year", "year", award.award_year),
            ("award", "Award", "total", award.award),
        ):
            yield amount_line(
                key, "result", label, values, rule="N.J.A.C. 19:31-18.3 and 18.8",
                formula=f'IF({{eligible:low}}="yes",{{{of}}},0)', formula_high=f'IF({{eligible:low}}="no",0,{{{of}}})',
            )  # fmt: skip


def _by_paragraphs(outcomes: dict[str, int]) -> str:
    """Return by which paragraphs it surely is, and by which it perhaps is."""
    sure, may = ([number for number, outcome in outcomes.items() if outcome == sign] for sign in (1, 0))
    words = [
        f"{how}by paragraph {' and '.join(numbers)}" for how, numbers in (("", sure), ("perhaps ", may)) if numbers
    ]
    return ", ".join(words) or "by no paragraph"


def _there_formulas(word: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the formulas of the fewest and the most jobs in reduced places, given that a building is in one."""
    sure = [f'IF({{reduced@{name}:low}}="yes",{{{word}_jobs@{name}:low}},0)' for name in names]
    may = [f'IF({{reduced@{name}:low}}="no",0,{{{word}_jobs@{name}:high}})' for name in names]
    # Where no building surely is, at least one of those that may be is.
    fewest = [f'IF({{reduced@{name}:low}}="undetermined",{{{word}_jobs@{name}:low}},1E+99)' for name in names]
    some_sure, some_open = (
        f"OR({','.join(f'{{reduced@{name}:low}}={chr(34)}{said}{chr(34)}' for name in names)})"
        for said in ("yes", "undetermined")
    )
    low = f"IF({some_sure},SUM({','.join(sure)}),IF({some_open},MIN({','.join(fewest)}),0))"
    return low, f"SUM({','.join(may)})"


def _jobs_formula(names: Sequence[str], *, there: int) -> str:
    """Return the formula of the test of jobs.

    Parameters
    ----------
    there
        Whether a building is in a reduced place. Where that is open both tests are made, and have to agree.
    """
    in_all = {
        word: {
            bound: f"SUM({','.join(f'{{{word}_jobs@{name}:{bound}}}' for name in names)})" for bound in ("low", "high")
        }
        for word in _KINDS
    }
    in_reduced = {word: {bound: f"{{{word}_there:{bound}}}" for bound in ("low", "high")} for word in _KINDS}
    if there:
        return _met_formula(in_reduced if there > 0 else in_all, "required")
    one, other = _met_formula(in_reduced, "least_cut"), _met_formula(in_all, "least")
    return f'IF({one}={other},{one},"undetermined")'


def _met_formula(jobs: dict[str, dict[str, str]], least: str) -> str:
    yes = ",".join(f"{jobs[word]['low']}>={{{word}_{least}:high}}" for word in _KINDS)
    no = ",".join(f"{jobs[word]['high']}<{{{word}_{least}:low}}" for word in _KINDS)
    return f'IF(OR({yes}),"yes",IF(AND({no}),"no","undetermined"))'


def lines_of(
    project: Project, sheet: Sheet, minimums: Minimums, award: Award, figures: Figures
) -> tuple[CreditLine, ...]:
    """Return every line of one project's computation, in the order in which it is computed.

    Parameters
    ----------
    project, sheet
        The project, and the sheet of it alone.
    minimums, award
        What came of it.
    figures
        The figures that were used.
    """
    maker = _Lines(project, sheet, minimums, award, figures)
    names = [building.id for building in project.buildings]
    found: list[CreditLine] = []
    for row, name in enumerate(names):
        found += maker.inputs(row, name)
    found += maker.minimum_lines(names)
    for row, name in enumerate(names):
        found += maker.place_lines(row, name)
        found += maker.award_lines(row, name)
    found += maker.result_lines(names)
    return tuple(found)
