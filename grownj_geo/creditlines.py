"""The computation of one project line by line: each with its rule, what goes in, what comes out, and a formula.

A formula is written as spreadsheets write it, with the names of other lines in braces: ``{gross@A}`` is the same bound
of that line, ``{gross@A:low}`` and ``{gross@A:high}`` a certain one.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from grownj_geo.areas import area_names
from grownj_geo.creditaward import ANY_METHOD_LIMITS
from grownj_geo.logic import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grownj_geo.creditaward import Award
    from grownj_geo.creditminimums import Minimums
    from grownj_geo.creditparams import Bonus, Figures
    from grownj_geo.creditproject import Project
    from grownj_geo.creditrange import Kleene, Range
    from grownj_geo.creditsheet import Sheet

__all__ = ["CONDITIONS", "CreditLine", "lines_of"]

Unit = Literal["dollars", "dollars_per_sqft", "sqft", "jobs", "years", "outcome"]

CONDITIONS = {
    "facility": ("Qualified business facility", "N.J.A.C. 19:31-18.2, Qualified business facility"),
    "capital": ("Minimum capital investment is met", "N.J.A.C. 19:31-18.3(a)1"),
    "jobs": ("Minimum of full-time jobs is met", "N.J.A.C. 19:31-18.3(a)2"),
    "green_standard": ("Environmental and sustainability standards are met", "N.J.A.C. 19:31-18.3(a)3i"),
    "net_benefit": ("Net benefit to the State is enough", "N.J.A.C. 19:31-18.3(a)3ii"),
    "method": ("The chosen method is open to the project", "N.J.S.A. 34:1B-246"),
}
"""Conditions of any credit: label and rule."""

_AMOUNTS = "N.J.A.C. 19:31-18.8(b)"
_MEGA = {"3": "mega_capital_hub", "4": "mega_jobs_south", "5": "mega_5_applied_after"}


class CreditLine(BaseModel):
    """One line of a computation.

    Attributes
    ----------
    low, high
        The least and the greatest that an amount can be; `high` is null where nothing bounds it, both are null for a
        line that is an outcome.
    outcome
        For a test: yes, no or undetermined.
    formula, formula_high
        How it comes from other lines; the second where the greatest is computed in another way.
    figures
        Names of the figures of the law that it uses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    part: Literal["inputs", "minimums", "place", "award", "result"]
    building: str | None = None
    label: str
    rule: str
    unit: Unit
    low: Decimal | None = None
    high: Decimal | None = None
    outcome: Literal["yes", "no", "undetermined"] | None = None
    words: str = ""
    formula: str | None = None
    formula_high: str | None = None
    figures: tuple[str, ...] = ()


class _Lines:
    """Makes the lines of one project."""

    def __init__(self, project: Project, sheet: Sheet, minimums: Minimums, award: Award, figures: Figures) -> None:
        self.project, self.sheet, self.minimums, self.award, self.figures = project, sheet, minimums, award, figures

    def amount(
        self,
        name: str,
        part: Literal["inputs", "minimums", "place", "award", "result"],
        label: str,
        values: Range,
        *,
        row: int = 0,
        building: str | None = None,
        rule: str = "as stated",
        unit: Unit = "dollars",
        formula: str | None = None,
        formula_high: str | None = None,
        words: str = "",
        figures: Sequence[str] = (),
    ) -> CreditLine:
        # Jobs are counted in whole numbers, which are none of Decimal's own.
        low, high = (v if isinstance(v, Decimal) else Decimal(int(v)) for v in (values.low[row], values.high[row]))
        return CreditLine(
            id=name if building is None else f"{name}@{building}",
            part=part,
            building=building,
            label=label,
            rule=rule,
            unit=unit,
            low=low if low.is_finite() else None,
            high=high if high.is_finite() else None,
            words=words,
            formula=formula,
            formula_high=formula_high,
            figures=tuple(figures),
        )

    def test(
        self,
        name: str,
        part: Literal["inputs", "minimums", "place", "award", "result"],
        label: str,
        values: Kleene,
        *,
        row: int = 0,
        building: str | None = None,
        rule: str,
        formula: str | None = None,
        words: str = "",
        figures: Sequence[str] = (),
    ) -> CreditLine:
        return CreditLine(
            id=name if building is None else f"{name}@{building}",
            part=part,
            building=building,
            label=label,
            rule=rule,
            unit="outcome",
            outcome=Outcome.of(int(values[row])).value,
            words=words,
            formula=formula,
            figures=tuple(figures),
        )

    # -- what goes in ---------------------------------------------------------------------------------

    def inputs(self, row: int, name: str) -> Iterator[CreditLine]:
        building, minimums = self.project.buildings[row], self.minimums
        sqft = type(minimums.capital)(self.sheet.sqft, self.sheet.sqft)
        yield self.amount("sqft", "inputs", "Gross leasable area", sqft, row=row, building=name, unit="sqft")
        yield self.amount(
            "capital", "inputs", "Capital investment that counts", minimums.capital, row=row, building=name,
            rule="N.J.A.C. 19:31-18.2, Capital investment",
            words="not stated" if self.project.capital is None else "",
            figures=("soft_cost_percent", "after_to_before_percent") if self.project.capital else (),
        )  # fmt: skip
        if self.sheet.retained["port"][row] or self.sheet.retained["plain"][row]:
            granted = minimums.at_risk[row] > 0 and self.sheet.fact("jobs_at_risk")[0] == 0
            yield self.test(
                "at_risk", "inputs", "Retained jobs count: at risk of leaving the State, or moved into such a zone",
                minimums.at_risk, row=row, building=name, rule="N.J.A.C. 19:31-18.2, Retained full-time job",
                words="taken for granted, since it is not stated" if granted else self._said("mrera_growth_zone", row),
            )  # fmt: skip
        for kind, jobs in (("new", minimums.new), ("retained", minimums.retained)):
            yield self.amount(
                f"{kind}_jobs", "inputs", f"{kind.capitalize()} full-time jobs that count", jobs, row=row,
                building=name, rule="N.J.A.C. 19:31-18.2, Full-time employee; Eligible position", unit="jobs",
                figures=("full_time_hours", "time_at_facility_percent"),
            )  # fmt: skip
        use = Outcome.of(int(self.sheet.similar[row])).value
        built = "newly built" if self.sheet.new_built[row] else "rehabilitated"
        premises = building.premises.replace("_", " ")
        yield self.amount(
            "rate", "minimums", "Minimum capital for a square foot", minimums.rate, row=row, building=name,
            rule="N.J.A.C. 19:31-18.3(a)1", unit="dollars_per_sqft",
            words=f"{premises} premises, {built}; in continued similar use: {use}; reduced by one part in three: "
            f"{Outcome.of(int(minimums.capital_reduced[row])).value}",
            figures=self._rate_figures(row),
        )  # fmt: skip
        yield self.amount(
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
        yield self.test(
            "capital_met", "minimums", CONDITIONS["capital"][0], minimums.capital_met, rule=CONDITIONS["capital"][1],
            formula=_at_least(f"capital@{names[0]}", f"required@{names[0]}") if alone else None,
            words="" if alone else "proximate buildings with the same minimum for a square foot are taken together",
        )  # fmt: skip
        there = int(minimums.in_reduced[0])
        where = {1: "counted in the buildings of reduced places", -1: "counted in all buildings"}.get(
            there, "it is open whether a building is in a reduced place"
        )
        kind = ("startup", "targeted", "other")[int(self.sheet.kind[0])]
        perhaps = self.sheet.fact("technology_startup")[0] == 0
        for word, required, jobs in (
            ("new", minimums.new_required, minimums.new_there),
            ("retained", minimums.retained_required, minimums.retained_there),
        ):
            reduction = ("jobs_reduction_parts",) if there >= 0 else ()
            yield self.amount(
                f"{word}_required", "minimums", f"Minimum of {word} full-time jobs", required,
                rule="N.J.A.C. 19:31-18.3(a)2", unit="jobs",
                figures=(*((f"jobs_startup_{word}",) if perhaps else ()), f"jobs_{kind}_{word}", *reduction),
                words="whether it is a technology startup is open" if perhaps else "",
            )  # fmt: skip
            if there >= 0:
                yield self.amount(
                    f"{word}_there", "minimums", f"{word.capitalize()} jobs in reduced places", jobs,
                    rule="N.J.A.C. 19:31-18.3(a)2iv", unit="jobs",
                )  # fmt: skip
        counted = "{%s_there%s}" if there > 0 else "SUM(%s)"
        formula = None
        if there:
            sums = []
            for word in ("new", "retained"):
                every = [f"{{{word}_jobs@{name}:%s}}" for name in names]
                low, high = (
                    (counted % (word, f":{bound}") if there > 0 else counted % ",".join(e % bound for e in every))
                    for bound in ("low", "high")
                )
                sums.append((low, high, f"{word}_required"))
            yes = ",".join(f"{low}>={{{need}:high}}" for low, _, need in sums)
            no = ",".join(f"{high}<{{{need}:low}}" for _, high, need in sums)
            formula = f'IF(OR({yes}),"yes",IF(AND({no}),"no","undetermined"))'
        yield self.test(
            "jobs_met", "minimums", CONDITIONS["jobs"][0], minimums.jobs_met, rule=CONDITIONS["jobs"][1],
            formula=formula, words=f"new or retained, never summed; {where}",
        )  # fmt: skip

    # -- place and award ------------------------------------------------------------------------------

    def place_lines(self, row: int, name: str) -> Iterator[CreditLine]:
        award = self.award
        yield self.test(
            "facility", "place", CONDITIONS["facility"][0], award.facility, row=row, building=name,
            rule=CONDITIONS["facility"][1],
            words=self._said("qualified_incentive_area", row),
        )  # fmt: skip
        paragraphs = [number for number, outcome in award.mega.items() if number != "any" and outcome[row] >= 0]
        yield self.test(
            "mega", "place", "Mega project", award.mega["any"], row=row, building=name,
            rule="N.J.A.C. 19:31-18.2, Mega project",
            words=f"perhaps or surely by paragraph {', '.join(paragraphs)}" if paragraphs else "by no paragraph",
            figures=("mega_capital", "mega_jobs", "mega_jobs_alone", *(_MEGA[n] for n in paragraphs if n in _MEGA)),
        )  # fmt: skip
        lines = [line for line in self.figures.book.lines if award.lines[line.id][row] >= 0]
        sure = len(lines) == 1 and award.lines[lines[0].id][row] > 0
        words = " or ".join(line.label for line in lines) or "no line: outside the incentive area"
        yield self.amount(
            "base", "award", "Base amount", award.base, row=row, building=name, rule=_AMOUNTS,
            words=words if sure or not lines else f"{words}, as far as is known", figures=[line.base for line in lines],
        )  # fmt: skip

    def award_lines(self, row: int, name: str) -> Iterator[CreditLine]:
        award = self.award
        terms = []
        if self.project.bonuses.per_job is not None:
            yield self.amount("bonuses", "award", "Bonuses together", award.bonuses.total, row=row, building=name)
        else:
            for bonus in self.figures.book.bonuses:
                amounts = award.bonuses.amounts[bonus.id]
                if award.bonuses.applies[bonus.id][row] < 0 or not amounts.high[row]:
                    continue
                terms.append(f"{{bonus_{bonus.id}@{name}}}")
                yield self._bonus(bonus, row, name)
            total = f"SUM({','.join(terms)})" if terms else None
            yield self.amount(
                "bonuses", "award", "Bonuses together", award.bonuses.total, row=row, building=name, rule=_AMOUNTS,
                formula=total,
            )  # fmt: skip
        lines = [line for line in self.figures.book.lines if award.lines[line.id][row] >= 0]
        yield self.amount(
            "job_limit", "award", "Limit for a job and year", award.job_limit, row=row, building=name,
            rule="N.J.S.A. 34:1B-246", figures=[line.job_limit for line in lines],
        )  # fmt: skip
        yield self.amount(
            "gross", "award", "Amount for a new job and year", award.gross, row=row, building=name, rule=_AMOUNTS,
            formula=f"MIN({{base@{name}}}+{{bonuses@{name}}},{{job_limit@{name}}})",
        )  # fmt: skip
        yield self.amount(
            "new_amount", "award", "New jobs, a year", award.new_amount, row=row, building=name, rule=_AMOUNTS,
            formula=f"{{gross@{name}}}*{{new_jobs@{name}}}",
        )  # fmt: skip
        if self.minimums.retained.high[row]:
            yield from self._retained(row, name)
        parts = ("new_amount", "retained_amount") if self.minimums.retained.high[row] else ("new_amount",)
        yield self.amount(
            "yearly", "award", "New and retained jobs, a year", award.yearly, row=row, building=name, rule=_AMOUNTS,
            formula="+".join(f"{{{of}@{name}}}" for of in parts),
        )  # fmt: skip

    def _bonus(self, bonus: Bonus, row: int, name: str) -> CreditLine:
        asked = [n for kind, n in bonus.when.asked() if kind == "area"] if bonus.when else []
        words = "; ".join(self._said(area, row) for area in asked)
        return self.amount(
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
        named = [name for name in bonus.figures if amounts.low[row] <= self.figures.number(name) <= amounts.high[row]]
        return tuple(named)

    def _retained(self, row: int, name: str) -> Iterator[CreditLine]:
        award = self.award
        rule = "N.J.S.A. 34:1B-246, retained jobs"
        percent = self.figures.number("retained_percent")
        jobs, gross = f"{{retained_jobs@{name}}}", f"{{gross@{name}}}"
        yield self.amount(
            "retained_share", "award", "Share of a new job's amount for a retained job", award.ordinary_share, row=row,
            building=name, rule=rule, figures=("retained_percent",),
            formula=f"{gross}*{percent}/100" if self._stands("retained_percent") else None,
        )  # fmt: skip
        capital = None
        if self._stands("retained_capital_parts") and len(self.project.buildings) == 1:
            # More new jobs share the capital among more: the least share goes with the greatest number of them.
            part, new = self.figures.number("retained_capital_parts"), f"{{new_jobs@{name}:%s}}"
            capital = f"{{capital@{name}}}*{jobs}/({part}*MAX(1,{jobs}+{new}))"
        exception = int(award.exception[row])
        full, ordinary, ordinary_high = f"{gross}*{jobs}", None, None
        if capital is not None:
            ordinary = f"MIN({{retained_share@{name}}}*{jobs},{capital % 'high'})"
            ordinary_high = f"MIN({{retained_share@{name}}}*{jobs},{capital % 'low'})"
        sure = self._stands("retained_percent_exceptions")
        more = ("retained_percent_exceptions",) if exception >= 0 else ()
        low = full if exception > 0 and sure else ordinary
        high = full if exception >= 0 else ordinary_high
        yield self.amount(
            "retained_amount", "award", "Retained jobs, a year", award.retained_amount, row=row, building=name,
            rule=rule, words="the lesser of that share and of one-tenth of the capital, shared over the jobs"
            if exception < 0
            else "a growth zone, a disaster or an automobile headquarters may have the full amount",
            figures=("retained_percent", "retained_capital_parts", *more),
            formula=low if low and high else None, formula_high=high if low and high else None,
        )  # fmt: skip

    def _granted(self, key: str, met: Kleene) -> str:
        """Say that a condition is taken for granted, where nobody stated it."""
        if met[0] < 1:
            return ""
        unsaid = {
            "green_standard": self.project.green_standard is None,
            "net_benefit": self.project.net_benefit is None,
        }
        return "taken for granted, since it is not stated" if unsaid.get(key) else ""

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
            yield self.amount(
                "year_limit", "award", "Limit of the line, a year", award.pool_limit, row=row, building=name,
                rule="N.J.S.A. 34:1B-246", figures=used,
            )  # fmt: skip
        yield self.amount(
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
                yield self.amount(f"limit_{limit}", "result", label, values, rule=rule, figures=used)
        if by_capital:
            steps = [n for s in self.figures.book.investment_steps for n in (s.jobs, s.capital, s.year_limit) if n]
            yield self.amount(
                "by_capital", "result", "By the method of capital investment, a year", award.method_limit,
                rule="N.J.S.A. 34:1B-246, growth zone under the recovery act", figures=steps,
            )  # fmt: skip
        of = f"MIN({','.join(terms)})"
        yield self.amount(
            "year", "result", "Credit of a year, if eligible", award.year, rule="N.J.A.C. 19:31-18.8(a), in cents",
            formula=f"ROUNDDOWN(ROUND({of},6),2)",
        )  # fmt: skip
        period = type(award.year)([Decimal(years)], [Decimal(years)])  # type: ignore[arg-type]
        yield self.amount(
            "years", "inputs", "Eligibility period", period, unit="years",
            rule="N.J.A.C. 19:31-18.2, Eligibility period", figures=("eligibility_years",),
        )  # fmt: skip
        yield self.amount(
            "total", "result", "Credit in all, if eligible", award.total, formula="{year}*{years}",
            rule="N.J.A.C. 19:31-18.2, Eligibility period",
        )  # fmt: skip
        for key, met in award.conditions.items():
            label, rule = CONDITIONS[key]
            same = {"capital": "capital_met", "jobs": "jobs_met"}.get(key)
            formula = f"{{{same}:low}}" if same else None
            if key == "facility":
                formula = _every(f"facility@{name}" for name in names)
            yield self.test(
                f"condition_{key}", "result", label, met, rule=rule, formula=formula,
                words=self._granted(key, met),
                figures=self._benefit_figures() if key == "net_benefit" else (),
            )  # fmt: skip
        yield self.test(
            "eligible", "result", "Eligible", award.eligible, rule="N.J.A.C. 19:31-18.3",
            formula=_every(f"condition_{key}" for key in award.conditions),
        )  # fmt: skip
        for key, label, of, values in (
            ("award_year", "Award of a year", "year", award.award_year),
            ("award", "Award", "total", award.award),
        ):
            yield self.amount(
                key, "result", label, values, rule="N.J.A.C. 19:31-18.3 and 18.8",
                formula=f'IF({{eligible:low}}="yes",{{{of}}},0)', formula_high=f'IF({{eligible:low}}="no",0,{{{of}}})',
            )  # fmt: skip


def _every(names: Iterable[str]) -> str:
    cells = [f"{{{name}:low}}" for name in names]
    yes, no = (",".join(f'{cell}="{word}"' for cell in cells) for word in ("yes", "no"))
    return f'IF(OR({no}),"no",IF(AND({yes}),"yes","undetermined"))'


def _at_least(one: str, other: str) -> str:
    return f'IF({{{one}:low}}>={{{other}:high}},"yes",IF({{{one}:high}}<{{{other}:low}},"no","undetermined"))'


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
