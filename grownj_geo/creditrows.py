"""Rows of a table of projects as the columns that the rules compute with; every problem of a row is told."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from grownj_geo.areanames import area_names, area_pairs, contradictions
from grownj_geo.creditcapital import CAPITAL_RULES
from grownj_geo.creditcolumns import business_kind, is_startup
from grownj_geo.creditcount import JOB_RULES
from grownj_geo.creditnames import Industry, Premises
from grownj_geo.creditparams import Figures, load_credit_book
from grownj_geo.creditproblems import kind_contradiction
from grownj_geo.creditproject import NO_OTHER_BONUSES, Business, Kind
from grownj_geo.creditrange import INFINITY, Range, money, objects
from grownj_geo.credits import DEFAULT_DAY
from grownj_geo.creditsheet import KINDS, LIMITS, NO_OTHERS, STATED_FACTS, UNSAID, Sheet
from grownj_geo.credittri import sign_of
from grownj_geo.rows_block import cell_text, is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.rows_block import RawBlock

__all__ = ["NEEDED", "CreditRows", "credit_inputs"]

NEEDED = ("industry", "gross_leasable_sqft", "premises", "construction", "new_jobs", "retained_jobs")
_NUMBERS = (
    "gross_leasable_sqft", "similar_use_percent", "new_jobs", "retained_jobs", "capital_investment", "average_salary",
    "median_salary", "eligibility_years", "bonus_per_job", "retail_sqft", "grocery_percent", *LIMITS,
)  # fmt: skip
_WHOLE = frozenset({"new_jobs", "retained_jobs", "eligibility_years"})
_WORDS: dict[str, tuple[str, ...]] = {
    "industry": get_args(Industry),
    "kind": get_args(Kind),
    "premises": get_args(Premises),
    "construction": ("new", "rehabilitation"),
    "method": ("per_job", "capital_investment"),
    "bonus_rest": ("undetermined", "no"),
}
_DAYS = ("application_date", "approval_date")
_TESTS = (*STATED_FACTS, "vacant_industrial_unleased")
_ANSWERS = {1: True, -1: False, 0: None}
_YES_NO = {"yes": 1, "true": 1, "1": 1, "no": -1, "false": -1, "0": -1, "undetermined": 0, "unknown": 0, "": 0}
_MOST = Decimal(10) ** 15
_MOST_PER_JOB = 1_000_000


def credit_inputs() -> dict[str, str]:
    """Return the columns that are read, with what each holds."""
    found = dict.fromkeys(_NUMBERS, "a number")
    found |= {
        f"{kind}_jobs": f"{kind} full-time jobs as 18.2 counts them: by hours, time at the facility and health benefits"
        for kind in ("new", "retained")
    }
    found["capital_investment"] = "dollars that count as capital investment as 18.2 counts it, grants taken off"
    found["eligibility_years"] = "a whole number; left out, as many as there can be"
    found |= {name: ", ".join(words) for name, words in _WORDS.items()}
    found["bonus_rest"] += f"; {NO_OTHER_BONUSES}"
    found |= dict.fromkeys(_DAYS, "a day as YYYY-MM-DD")
    found |= dict.fromkeys((*_TESTS, *area_names()), "yes, no or undetermined")
    found |= {f"bonus_{bonus.id}": "yes, no or empty" for bonus in load_credit_book().bonuses}
    found |= {"base_floor": "dollars, as grownj batch writes it", "base_ceiling": "the same"}
    return found


class CreditRows:
    """Makes columns of a table into a sheet; every problem of a row is told."""

    def __init__(self, raw: RawBlock) -> None:
        self._raw, self.n = raw, len(raw)
        self.problems: dict[int, list[str]] = {row: [words] for row, words in raw.problems.items()}
        self._numbers = {name: self._number(name) for name in _NUMBERS}
        self._words = {name: self._word(name, words) for name, words in _WORDS.items()}
        self._tests = {name: self._test(name) for name in (*_TESTS, *area_names())}
        bonuses = [bonus.id for bonus in load_credit_book().bonuses]
        self._bonuses = {name: self._test(f"bonus_{name}") for name in bonuses if f"bonus_{name}" in raw.columns}
        self._dates = {name: self._day(name) for name in _DAYS}
        self._bounds = {name: self._bound(name) for name in ("base_floor", "base_ceiling")}
        for name in NEEDED:
            expected = ", ".join(_WORDS[name]) if name in _WORDS else "a number"
            values = self._words.get(name, self._numbers.get(name))
            for row in [] if values is None else [i for i, value in enumerate(values) if value is None]:
                if row not in self.problems:
                    self._told(row, f"{name} is empty; expected {expected}")
        book = load_credit_book()
        longest = self._longest = Figures(book, book.last_day).count("eligibility_years")
        for row, years in enumerate(self._numbers["eligibility_years"]):
            if years is not None and not 1 <= years <= longest:
                self._told(row, f"eligibility_years is {years}; expected 1 to {longest}")
        for row, sqft in enumerate(self._numbers["gross_leasable_sqft"]):
            if sqft is not None and sqft < 1:
                self._told(row, f"gross_leasable_sqft is {sqft:f}; expected 1 or more")
        for row, given in enumerate(self._numbers["bonus_per_job"]):
            if given is not None and given > _MOST_PER_JOB:
                self._told(row, f"bonus_per_job is {given:f}; expected at most {_MOST_PER_JOB:,}")
        self._check_kinds()
        self._check_areas()
        self.good = np.array([row not in self.problems for row in range(self.n)], dtype=bool)

    def _check_kinds(self) -> None:
        """Tell the rows whose kind of business is contradicted."""
        startup, warehouse = self._tests["technology_startup"], self._tests["primarily_warehouse"]
        for row, kind in enumerate(self._words["kind"]):
            if kind is not None:
                said = {"startup": _ANSWERS[int(startup[row])], "warehouse": _ANSWERS[int(warehouse[row])]}
                clash = kind_contradiction(kind, **said)
                if clash is not None:
                    self._told(row, clash.rstrip("."))

    def _check_areas(self) -> None:
        """Tell the rows whose areas cannot be together by their definitions, and take what follows from these."""
        bad = np.zeros(self.n, dtype=bool)
        for name, other, apart in area_pairs():
            bad |= (self._tests[name] > 0) & (self._tests[other] == (1 if apart else -1))
        for row in np.flatnonzero(bad):
            yes, no = ({n for n in area_names() if self._tests[n][row] == sign} for sign in (1, -1))
            for words in contradictions(yes, no):
                self._told(int(row), words)
        followed = dict(self._tests)
        for name, other, apart in area_pairs():
            first, second = self._tests[name], self._tests[other]
            end = 1 if apart else -1
            followed[other] = np.where((first > 0) & (second == 0), np.int8(-end), followed[other])
            followed[name] = np.where((second == end) & (first == 0), np.int8(-1), followed[name])
        self._tests = followed

    def _told(self, row: int, words: str) -> None:
        self.problems.setdefault(row, []).append(words)

    def _column(self, name: str) -> Sequence[Any]:
        return self._raw.columns.get(name, ())

    def _each(self, name: str, convert: Callable[[str], Any], expected: str) -> list[Any]:
        """Return a column's values; what is alike is read once."""
        values = self._column(name)
        if not len(values):
            return [None] * self.n
        return list(map(self._known(name, convert, expected).__getitem__, values))

    def _known(self, name: str, convert: Callable[[str], Any], expected: str) -> dict[Any, Any]:
        """Return what each value of a column is read as; tell the rows that have one that cannot be."""
        values = self._column(name)
        known = {value: _read(value, convert) for value in set(values)}
        if _BAD in known.values():
            for row, value in enumerate(values):
                if known[value] is _BAD:
                    self._told(row, f"{name} is {cell_text(value)!r}; expected {expected}")
            known = {value: None if result is _BAD else result for value, result in known.items()}
        return known

    def _numbers_of(self, name: str, convert: Callable[[str], int], expected: str, kind: type[Any]) -> NDArray[Any]:
        """Return a column as an array; 0 where nothing is said."""
        values = self._column(name)
        if not len(values):
            return np.zeros(self.n, dtype=kind)
        known = {value: result or 0 for value, result in self._known(name, convert, expected).items()}
        return np.fromiter(map(known.__getitem__, values), dtype=kind, count=self.n)

    def _number(self, name: str) -> list[Any]:
        expected = "a whole number of at least 0" if name in _WHOLE else "a number of at least 0, without $ or words"
        return self._each(name, _whole if name in _WHOLE else _decimal, expected)

    def _word(self, name: str, words: tuple[str, ...]) -> list[Any]:
        known = dict(zip(words, words, strict=True))
        return self._each(name, lambda text: known[text.lower()], f"one of {', '.join(words)}")

    def _test(self, name: str) -> NDArray[np.int8]:
        return self._numbers_of(name, lambda text: _YES_NO[text.lower()], "yes, no or undetermined", np.int8)

    def _day(self, name: str) -> NDArray[np.int64]:
        book = load_credit_book()

        def day(text: str) -> int:
            found = date.fromisoformat(text)
            if not book.first_day <= found <= book.last_day:
                raise ValueError(text)
            return found.toordinal()

        expected = f"a day as YYYY-MM-DD from {book.first_day} to {book.last_day}"
        return self._numbers_of(name, day, expected, np.int64)

    def _bound(self, name: str) -> list[Any]:
        return self._each(name, _whole, "dollars")

    @property
    def undated(self) -> NDArray[np.bool_]:
        """Which rows have neither day."""
        return np.asarray((self._dates["approval_date"] == 0) & (self._dates["application_date"] == 0))

    def days(self) -> NDArray[np.int64]:
        """Return the day whose figures each row is computed with, as an ordinal."""
        day = np.where(self._dates["approval_date"] > 0, self._dates["approval_date"], self._dates["application_date"])
        return np.where(day > 0, day, DEFAULT_DAY.toordinal())

    def sheet(self, rows: NDArray[np.int64], figures: Figures, *, strict: bool = False) -> Sheet:
        """Return rows without a problem as projects of one building each.

        Parameters
        ----------
        rows
            Their positions in the block.
        figures
            The figures of the law on the day of these rows.
        strict
            Leave open what is not stated.
        """
        n = len(rows)
        number = {name: [values[row] for row in rows] for name, values in self._numbers.items()}
        word = {name: [values[row] for row in rows] for name, values in self._words.items()}
        test = {name: values[rows] for name, values in self._tests.items()}
        new_built = np.array([value == "new" for value in word["construction"]])
        like = np.isin(np.array(word["premises"]), figures.names("similar_premises"))
        least = figures.number("similar_use_percent")
        share = np.array([0 if v is None else 1 if v >= least else -1 for v in number["similar_use_percent"]])
        vacant = test["vacant_industrial_unleased"]
        if not strict:
            vacant = np.where(vacant == 0, np.int8(-1), vacant)
        # The sentence on vacant premises stands with new construction (A53).
        used = np.where(new_built, np.minimum(share, np.negative(vacant)), share)
        similar = np.where(like, used, -1).astype(np.int8)
        jobs = {kind: np.array(number[f"{kind}_jobs"], dtype=np.int64) for kind in ("new", "retained")}
        capital, over = _ranged(number["capital_investment"]), _salaries(number)
        facts = {name: test[name] for name in STATED_FACTS}
        facts |= {
            "retail_size": _reached(number["retail_sqft"], figures.number("retail_sqft")),
            "grocery_share": _reached(number["grocery_percent"], figures.number("grocery_percent")),
            "substantial_remediation": np.zeros(n, dtype=np.int8),
        }
        kinds, facts["listed_industry"], facts["technology_startup"] = self._kinds(word, test, figures)
        stated = np.array([value == "targeted_industry" for value in word["kind"]])
        facts["primarily_warehouse"] = np.where(stated, np.int8(-1), facts["primarily_warehouse"])
        closed = np.array([value == "no" for value in word["bonus_rest"]])
        unsaid = np.where(closed, np.int8(NO_OTHERS), np.int8(UNSAID))
        bounded = "base_floor" in self._raw.columns or "base_ceiling" in self._raw.columns
        return Sheet(
            starts=np.arange(n),
            project=np.arange(n),
            sqft=objects(number["gross_leasable_sqft"]),
            similar=similar,
            industrial=np.where([value == "industrial" for value in word["premises"]], np.int8(1), np.int8(-1)),
            new_built=new_built,
            proximity=np.full(n, -1),
            new=dict.fromkeys(JOB_RULES, Range.exact(jobs["new"])),
            retained=dict.fromkeys(JOB_RULES, Range.exact(jobs["retained"])),
            capital=dict.fromkeys(CAPITAL_RULES, capital),
            salary_over=_where_any(over, jobs["new"] + jobs["retained"]),
            salary_over_new=_where_any(over, jobs["new"]),
            areas={name: test[name] for name in area_names()},
            floors=np.array(
                [-1 if self._bounds["base_floor"][r] is None else self._bounds["base_floor"][r] for r in rows]
            ),
            ceilings=np.array(
                [
                    (0 if bounded else 10**9)
                    if self._bounds["base_ceiling"][r] is None
                    else self._bounds["base_ceiling"][r]
                    for r in rows
                ]
            ),
            facts=facts,
            industry=objects(word["industry"]),
            kind=kinds,
            years=np.array([value or self._longest for value in number["eligibility_years"]], dtype=np.int64),
            by_capital=np.array([value == "capital_investment" for value in word["method"]]),
            approved=self._dates["approval_date"][rows],
            applied=self._dates["application_date"][rows],
            limits={name: objects(number[name]) for name in LIMITS},
            bonus_given=objects(number["bonus_per_job"]),
            bonus_stated={
                bonus.id: np.where(self._bonuses[bonus.id][rows] != 0, self._bonuses[bonus.id][rows], unsaid)
                if bonus.id in self._bonuses
                else unsaid
                for bonus in figures.book.bonuses
            },
        )

    @staticmethod
    def _kinds(
        word: Mapping[str, list[Any]], test: Mapping[str, NDArray[np.int8]], figures: Figures
    ) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int8]]:
        """Return the kind of each business, whether its industry is listed, and whether it has a startup's minimum.

        What is alike is looked up once.
        """
        known: dict[tuple[Any, ...], tuple[int, int, int]] = {}
        targeted = figures.names("targeted_industries")
        found = []
        keys = zip(word["industry"], word["kind"], test["technology_startup"], test["primarily_warehouse"], strict=True)
        for industry, kind, startup, warehouse in keys:
            key = (industry, kind, int(startup), int(warehouse))
            if key not in known:
                business = Business(
                    industry=industry,
                    kind=kind,
                    technology_startup=_ANSWERS[key[2]],
                    primarily_warehouse=_ANSWERS[key[3]],
                )
                listed = industry in targeted or kind == "targeted_industry"
                number = KINDS.index(business_kind(business, figures))
                known[key] = number, 1 if listed else -1, sign_of(is_startup(business))
            found.append(known[key])
        table = np.array(found).reshape(-1, 3)
        return table[:, 0], table[:, 1].astype(np.int8), table[:, 2].astype(np.int8)


_BAD = object()


def _read(value: object, convert: Callable[[str], Any]) -> Any:  # noqa: ANN401 - what the column holds
    if is_blank(value):
        return None
    try:
        return convert(cell_text(value).strip())
    except (ValueError, KeyError, InvalidOperation):
        return _BAD


def _decimal(text: str) -> Decimal:
    found = Decimal(text)
    if not (found.is_finite() and 0 <= found < _MOST):
        raise ValueError(text)
    return found


def _whole(text: str) -> int:
    found = _decimal(text)
    if found != found.to_integral_value() or found > 10**7:
        raise ValueError(text)
    return int(found)


def _ranged(values: Sequence[Any]) -> Range:
    low = objects(Decimal(0) if value is None else value for value in values)
    return Range(low, objects(INFINITY if value is None else value for value in values))


def _reached(values: Sequence[Any], least: Decimal) -> NDArray[np.int8]:
    return np.array([0 if value is None else 1 if value >= least else -1 for value in values], dtype=np.int8)


def _salaries(number: Mapping[str, list[Any]]) -> Range:
    """Return by how much average salaries are above the medians, given that there are jobs."""
    pairs = zip(number["average_salary"], number["median_salary"], strict=True)
    over = [None if salary is None or not median else salary / median - 1 for salary, median in pairs]
    low = objects(Decimal(0) if value is None else value for value in over)
    return Range(low, objects(INFINITY if value is None else value for value in over) if None in over else low)


def _where_any(over: Range, jobs: NDArray[np.int64]) -> Range:
    """Return the same with what stands for no average where there are no jobs."""
    some = jobs > 0
    if bool(some.all()):
        return over
    none = money(len(jobs), -1)
    low = np.where(some, over.low, none)
    return Range(low, low if over.high is over.low else np.where(some, over.high, none))
