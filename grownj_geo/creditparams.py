"""The figures of the credit rules as data: dated, cited, each with how well it is known, checked on loading."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import yaml
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from grownj_geo.areanames import area_names, near_area
from grownj_geo.creditnames import BUSINESS_FACTS, COMPUTED_FACTS, LISTED, PROJECT_FACTS
from grownj_geo.errors import RulebookError
from grownj_geo.manifest import STATUS_ORDER, Status
from grownj_geo.nodes import Day, Name, UncertainDay
from grownj_geo.readings import nearest_name
from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Bonus",
    "Condition",
    "CreditBook",
    "Figure",
    "FigureValue",
    "Figures",
    "Line",
    "Trust",
    "below_confirmed",
    "credit_books",
    "load_credit_book",
]

Trust = Literal["confirmed", "known", "stated"]
"""Which figures are taken as they stand: only confirmed ones; all but unverified ones; every one there is."""

_ValueT = TypeVar("_ValueT")
_UNSURE = {"unverified", "not_found"}


def _no_yes_or_no(value: object) -> object:
    # YAML reads a bare yes as true, and true would count as one. A float goes through its own digits.
    if isinstance(value, bool):
        raise ValueError("this is yes or no; expected a figure, a day or a list of names")  # noqa: TRY004 - pydantic's way
    return str(value) if isinstance(value, float) else value


Amount = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]


class FigureValue(Strict):
    """One value of a figure, in force from a day until the next value's; null where no value was found.

    Attributes
    ----------
    value
        A number, a day or names.
    citation, status, source, status_note
        Where the law has it, how well it is known, by which sources, and what is to be said of that.
    """

    from_: date = Field(alias="from")
    value: Annotated[date | Amount | tuple[str, ...] | None, BeforeValidator(_no_yes_or_no)]
    citation: Annotated[str, Field(min_length=1)]
    status: Status
    source: str | None = None
    status_note: str | None = None

    @model_validator(mode="after")
    def _found(self) -> FigureValue:
        if (self.value is None) != (self.status == "not_found"):
            raise ValueError("a figure has no value exactly when its status is 'not_found'")
        return self


class Figure(Strict):
    """A figure of the law, with its dated values.

    Attributes
    ----------
    label, unit
        What it is, and in what it is counted.
    values
        From the day on which each begins.
    """

    label: Annotated[str, Field(min_length=1)]
    unit: Literal[
        "dollars", "dollars_per_sqft", "count", "percent", "years", "months", "days", "hours", "sqft", "day",
        "industries", "premises", "costs",
    ]  # fmt: skip
    values: Annotated[tuple[FigureValue, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _fits(self) -> Figure:
        wanted: type = tuple if self.unit in LISTED else date if self.unit == "day" else Decimal
        for each in self.values:
            if each.value is not None and not isinstance(each.value, wanted):
                raise ValueError(f"{each.value!r} is no value of the unit {self.unit!r}")
            for name in each.value if isinstance(each.value, tuple) else ():
                if name not in LISTED[self.unit]:
                    raise ValueError(f"{name!r} is none of the {self.unit}. {nearest_name(name, LISTED[self.unit])}")
        if len({each.from_ for each in self.values}) != len(self.values):
            raise ValueError("two values begin on the same day; keep one")
        return self

    def at(self, day: date) -> FigureValue:
        """Return the value in force on a day: the last one that has begun, else the first."""
        begun = [v for v in self.values if v.from_ <= day]
        return max(begun, key=lambda v: v.from_) if begun else min(self.values, key=lambda v: v.from_)


class Condition(Strict):
    """A condition on areas and facts of a project: exactly one of its parts is given.

    Attributes
    ----------
    area, fact
        A name: whether the place is in the area, or the fact is so.
    any, all, not_
        Conditions of which one, all or none must be met.
    """

    area: str | None = None
    fact: Name | None = None
    any: tuple[Condition, ...] = ()
    all: tuple[Condition, ...] = ()
    not_: Condition | None = Field(default=None, alias="not")

    @model_validator(mode="after")
    def _one(self) -> Condition:
        given = [part for part in (self.area, self.fact, self.any, self.all, self.not_) if part]
        if len(given) != 1:
            raise ValueError("expected exactly one of area, fact, any, all, not")
        if self.area is not None and self.area not in area_names():
            raise ValueError(f"there is no area {self.area!r}. {near_area(self.area)}")
        facts = (*PROJECT_FACTS, *BUSINESS_FACTS, *COMPUTED_FACTS)
        if self.fact is not None and self.fact not in facts:
            raise ValueError(f"there is no fact {self.fact!r}. {nearest_name(self.fact, facts)}")
        return self

    def asked(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the name of everything it looks at: ``("area", "priority_area")``."""
        if self.area:
            yield "area", self.area
        if self.fact:
            yield "fact", self.fact
        for part in (*self.any, *self.all, *([self.not_] if self.not_ else [])):
            yield from part.asked()


class Line(Strict):
    """One line of the base amounts with its limits. `place` lines depend on the place alone.

    Attributes
    ----------
    when
        Whether it applies, unless a higher one does: one area, or that the project is a mega project.
    base
        The figure of its base amount, dollars for a job and year.
    job_limit, year_limit, withholdings
        The figures of its limits for a job, for a year, and by the withholdings.
    """

    id: Name
    label: str
    when: Condition
    base: Name
    job_limit: Name
    year_limit: Name
    withholdings: Name | None = None
    place: bool = False

    @model_validator(mode="after")
    def _of_one_thing(self) -> Line:
        mega = self.when.fact == "mega_project" and not self.place
        if self.when.area is None and not mega:
            found = self.when.model_dump(exclude_defaults=True, by_alias=True)
            raise ValueError(
                f"the line {self.id!r} applies by {found}; expected {{area: NAME}}, or {{fact: mega_project}} where "
                "place is not set. Write one of these"
            )
        return self


class Steps(Strict):
    """An amount for each whole step of a share above a level, up to a most.

    Attributes
    ----------
    of
        What is above a level.
    amount, step_percent, most
        The figures of a step, its size, and the most.
    most_where, most_there
        Where another most holds, and its figure.
    """

    of: Literal["capital_over_minimum", "salary_over_median"]
    amount: Name
    step_percent: Name
    most: Name
    most_where: Condition | None = None
    most_there: Name | None = None


class TierAmount(Strict):
    """An amount from more than so many on; both are figures."""

    more_than: Name
    amount: Name


class Tiers(Strict):
    """Amounts by number, the highest that is reached.

    Attributes
    ----------
    of
        What is counted.
    amounts
        The lowest first.
    """

    of: Literal["jobs"]
    amounts: Annotated[tuple[TierAmount, ...], Field(min_length=1)]


class Bonus(Strict):
    """What is added for each job and year: a flat amount, tiers or steps.

    Attributes
    ----------
    when
        Whether it applies; None where only its steps or tiers say so.
    from_
        The day on which it began, which may be known roughly.
    amount, steps, tiers
        Exactly one of these.
    """

    id: Name
    label: str
    when: Condition | None = None
    from_: Day | None = Field(default=None, alias="from")
    amount: Name | None = None
    steps: Steps | None = None
    tiers: Tiers | None = None

    @model_validator(mode="after")
    def _one(self) -> Bonus:
        if sum(part is not None for part in (self.amount, self.steps, self.tiers)) != 1:
            raise ValueError("expected exactly one of amount, steps, tiers")
        return self

    @property
    def begins(self) -> tuple[date, date] | None:
        """The first day on which it may and on which it surely exists; None where it always did."""
        if isinstance(self.from_, UncertainDay):
            return self.from_.earliest, self.from_.latest
        return None if self.from_ is None else (self.from_, self.from_)

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that it names."""
        if self.steps is not None:
            names = (self.steps.amount, self.steps.step_percent, self.steps.most, self.steps.most_there)
            return tuple(name for name in names if name)
        if self.tiers is not None:
            return tuple(tier.amount for tier in self.tiers.amounts)
        return (self.amount,) if self.amount else ()


class InvestmentStep(Strict):
    """One step of the method by capital investment; no yearly limit on the last.

    Attributes
    ----------
    jobs, capital, year_limit
        Figures: what has to be reached, and the yearly limit.
    total_limit
        A limit in all that another source states in place of the yearly one; which of them holds is open.
    """

    jobs: Name
    capital: Name
    year_limit: Name | None = None
    total_limit: Name | None = None

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that it names."""
        return tuple(name for name in (self.jobs, self.capital, self.year_limit, self.total_limit) if name)


class CreditBook(Strict):
    """One program's figures, and for Grow New Jersey its lines and bonuses.

    Attributes
    ----------
    first_day, last_day, outside_days
        The days that it covers, and what is to be said of others.
    figures
        By their names.
    lines, bonuses, investment_steps
        Of Grow New Jersey: the highest line first, the lowest step first.
    """

    format: Literal[1]
    id: str
    title: str
    version: str
    citation: str
    first_day: date
    last_day: date
    outside_days: str
    figures: dict[Name, Figure]
    lines: tuple[Line, ...] = ()
    bonuses: tuple[Bonus, ...] = ()
    investment_steps: tuple[InvestmentStep, ...] = ()

    @model_validator(mode="after")
    def _named(self) -> CreditBook:
        named = [n for line in self.lines for n in (line.base, line.job_limit, line.year_limit, line.withholdings) if n]
        named += [name for bonus in self.bonuses for name in bonus.figures]
        named += [name for step in self.investment_steps for name in step.figures]
        named += [tier.more_than for bonus in self.bonuses if bonus.tiers for tier in bonus.tiers.amounts]
        for name in named:
            if name not in self.figures:
                raise ValueError(f"there is no figure {name!r}. {nearest_name(name, self.figures)}")
        held = list(dict.fromkeys(line.withholdings for line in self.lines if line.withholdings))
        if len(held) > 1:
            raise ValueError(f"lines have {', '.join(held)} as withholdings; expected one figure for all. Keep one")
        return self


@lru_cache(maxsize=8)
def load_credit_book(book_id: str = "grow-nj") -> CreditBook:
    """Return a shipped book of figures: `grow-nj`, `urban-transit-hub` or `a1178`.

    Raises
    ------
    RulebookError
        If there is none of that name, or it does not follow the format; the message names the place.

    Examples
    --------
    >>> load_credit_book().figures["jobs_startup_new"].values[0].value
    Decimal('10')
    """
    if book_id not in credit_books():
        raise RulebookError(f"There is no book of credit figures {book_id!r}. {nearest_name(book_id, credit_books())}")
    path = resources.files("grownj_geo") / "rules" / "credits" / f"{book_id}.yaml"
    return read_credit_book(path.read_bytes(), name=path.name)


def credit_books() -> list[str]:
    """Return the ids of the books that ship."""
    folder = resources.files("grownj_geo") / "rules" / "credits"
    names = [path.name.removesuffix(".yaml") for path in folder.iterdir() if path.name.endswith(".yaml")]
    return sorted(set(names) - {"areas", "project_facts", "readings"})


def read_credit_book(content: bytes | str, *, name: str) -> CreditBook:
    """Read and check a book of figures.

    Parameters
    ----------
    content
        YAML.
    name
        The file, for messages.

    Raises
    ------
    RulebookError
        If it is not YAML or does not follow the format; every problem with its place.
    """
    try:
        raw = read_yaml(content)
        return CreditBook.model_validate(raw)
    except yaml.YAMLError as error:
        raise RulebookError(f"{name} is not readable YAML: {error}. Correct the line named.") from error
    except ValidationError as error:
        places = [(" > ".join(map(str, e["loc"])), e["msg"].removeprefix("Value error, ")) for e in error.errors()]
        lines = "\n".join(f"  {place or 'top level'}: {words}" for place, words in places)
        raise RulebookError(f"{name} does not follow the format of credit figures:\n{lines}") from error


def below_confirmed(status: str) -> bool:
    """Return whether a status is weaker than `confirmed`.

    Examples
    --------
    >>> below_confirmed("confirmed"), below_confirmed("derived")
    (False, True)
    """
    return STATUS_ORDER.index(status) > 0


@dataclass(frozen=True)
class Figures:
    """A book's figures on a day, and which of them are taken as they stand.

    Attributes
    ----------
    trust
        ``"confirmed"`` takes confirmed figures only; ``"known"`` all but unverified ones; ``"stated"`` every one that
        has a value.
    book, day
        The book, and the day on which its values are looked up.
    taken
        Further figures that are taken as they stand, whatever their status.
    """

    book: CreditBook
    day: date
    trust: Trust = "known"
    taken: frozenset[str] = frozenset()
    _values: dict[str, FigureValue] = field(default_factory=dict)

    def of(self, name: str) -> FigureValue:
        """Return a figure as it stands on the day."""
        found = self._values.get(name)
        if found is None:
            found = self._values[name] = self.book.figures[name].at(self.day)
        return found

    def number(self, name: str) -> Decimal:
        """Return a figure's value as a number, whatever its status."""
        return _as(Decimal, self.of(name).value, name)

    def count(self, name: str) -> int:
        """Return a whole figure."""
        value = self.number(name)
        if value != int(value):
            raise RulebookError(f"The figure {name!r} is {value}; expected a whole number. Correct the book.")
        return int(value)

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list of names."""
        return _as(tuple, self.of(name).value, name)

    def date(self, name: str) -> date:
        """Return a day."""
        return _as(date, self.of(name).value, name)

    def stands(self, name: str) -> bool:
        """Return whether a figure is taken as it stands."""
        status = self.of(name).status
        if name in self.taken:
            return status != "not_found"
        if self.trust == "confirmed":
            return status == "confirmed"
        return status != "not_found" and (self.trust == "stated" or status not in _UNSURE)

    def band(self, name: str) -> tuple[Decimal, Decimal]:
        """Return the least and the greatest that an amount to be added can be.

        An unverified amount may be as stated or nothing; one below what is asked for, or without a value, may be
        anything.
        """
        if self.stands(name):
            value = self.number(name)
            return value, value
        value_or_none = self.of(name).value
        if self.trust == "confirmed" or value_or_none is None:
            return Decimal(0), Decimal("Infinity")
        return Decimal(0), self.number(name)

    def limit(self, name: str) -> tuple[Decimal, Decimal]:
        """Return the least and the greatest that a limit can be: an unverified one may not exist."""
        if self.stands(name):
            value = self.number(name)
            return value, value
        if self.trust == "confirmed":
            return Decimal(0), Decimal("Infinity")
        return self.number(name), Decimal("Infinity")


def _as(kind: type[_ValueT], value: object, name: str) -> _ValueT:
    if not isinstance(value, kind):
        raise RulebookError(f"The figure {name!r} is {value!r}; expected a {kind.__name__}. Correct the book.")
    return value
