"""A project as its applicant describes it: buildings, investment, jobs, dates; checked, all problems told at once.

Money is decimal throughout. What is left out is not known, and the credit rules answer with a range for it; nothing is
taken for zero.
"""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from grownj_geo.areas import BuildingAreas
from grownj_geo.creditnames import PROJECT_FACTS, Industry, Premises, Spent
from grownj_geo.creditparams import Figures, load_credit_book
from grownj_geo.creditproblems import kind_contradiction, problem_in_words, problems_across
from grownj_geo.errors import FactError
from grownj_geo.readings import nearest_name
from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "NO_OTHER_BONUSES",
    "PROJECT_FACTS",
    "PROJECT_FORMAT",
    "Bonuses",
    "Building",
    "Business",
    "CapitalItem",
    "Industry",
    "JobGroup",
    "Project",
    "ProjectError",
    "project_of",
    "read_project",
    "read_raw",
]

PROJECT_FORMAT: Literal["grownj-project/1"] = "grownj-project/1"

Kind = Literal["technology_startup", "manufacturing", "targeted_industry", "other"]
NO_OTHER_BONUSES = "no: there are no bonuses besides those stated and those that areas, figures and facts show"
"""What `rest: no` says of bonuses, in words."""

_LARGEST = 1_000_000
_TEXT = ' in "<unicode string>",'
"""What YAML says of where a text is from."""


class ProjectError(FactError):
    """A project cannot be taken as it is.

    Attributes
    ----------
    problems
        Each problem: its place in the project, what was found, what was expected, what to do.
    """

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


def _plain(value: object) -> object:
    # A float goes through its own digits; a word such as yes is no number.
    if isinstance(value, bool):
        raise ValueError("expected a number")  # noqa: TRY004 - pydantic's way
    return str(value) if isinstance(value, float) else value


def _in_program(day: date) -> date:
    book = load_credit_book()
    if not book.first_day <= day <= book.last_day:
        raise ValueError(
            f"expected a day from {book.first_day} to {book.last_day}, the days of the program; correct the date"
        )
    return day


def _years(value: int) -> int:
    most = _longest()
    if value > most:
        raise ValueError(f"expected at most {most} years (N.J.A.C. 19:31-18.2, Eligibility period); shorten the period")
    return value


def _longest() -> int:
    return Figures(load_credit_book(), load_credit_book().last_day).count("eligibility_years")


def _plain_text(value: str) -> str:
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        raise ValueError("expected text without control characters; write it again")
    return value


def _named(value: str) -> str:
    # The names stand in formulas and reports.
    if not re.fullmatch(r"\w[\w .,#/&()'-]{0,99}", value):
        raise ValueError("expected a name of letters, digits, blanks and . , # / & ( ) ' -, up to 100; rename it")
    return value


Text = Annotated[str, AfterValidator(_plain_text)]
Money = Annotated[Decimal, BeforeValidator(_plain), Field(ge=0, allow_inf_nan=False, max_digits=18, decimal_places=2)]
Number = Annotated[Decimal, BeforeValidator(_plain), Field(ge=0, allow_inf_nan=False, max_digits=18)]
Percent = Annotated[Decimal, BeforeValidator(_plain), Field(ge=0, le=100)]
Whole = Annotated[int, BeforeValidator(_plain), Field(ge=0, le=10_000_000)]
Day = Annotated[date, AfterValidator(_in_program)]


class Business(Strict):
    """What the business is.

    Attributes
    ----------
    final_point_of_sale_retail, university_research_hospital
        Whether it is one of these, which have no qualified business facility.
    auto_headquarters, drug_device_or_clinical_lab
        Whether it is one of these, which may be mega projects.
    kind
        Which minimum of jobs it has; derived from the industry and the next two where it is left out.
    technology_startup
        Whether it is a technology startup; where neither this nor the kind is stated, both minimums may hold.
    primarily_warehouse
        Whether it is primarily a warehouse, distribution or fulfillment center business, which is no targeted industry.
    gaming_revenue_percent
        Share of gaming in the revenue of a project with both: that share of jobs and investment does not count.
    retail_sqft, grocery_percent
        Of a retail facility in the project: its size, and the share of a full-service supermarket or grocery.
    """

    industry: Industry
    kind: Kind | None = None
    technology_startup: bool | None = None
    primarily_warehouse: bool | None = None
    final_point_of_sale_retail: bool | None = None
    university_research_hospital: bool | None = None
    auto_headquarters: bool | None = None
    drug_device_or_clinical_lab: bool | None = None
    gaming_revenue_percent: Percent | None = None
    retail_sqft: Number | None = None
    grocery_percent: Percent | None = None

    @model_validator(mode="after")
    def _of_one_kind(self) -> Business:
        words = kind_contradiction(self.kind, startup=self.technology_startup, warehouse=self.primarily_warehouse)
        if words:
            raise ValueError(words)
        return self


class Building(Strict):
    """One building of the project.

    Attributes
    ----------
    id, gross_leasable_sqft
        Its name in the project, and square feet of gross leasable area.
    premises, construction
        What it is used for, and whether it is built or rehabilitated.
    pin, municipality
        Where it is, in place of `site`.
    similar_use_percent
        Share of the leasable area in continued similar use by the business.
    vacant_industrial_unleased
        Whether it is vacant industrial premises, unleased and unoccupied.
    proximity
        Buildings with the same word here are proximate; left out, it is not known.
    site, facts
        Where it is and what no map shows, for the classifier.
    areas
        Its areas, where they are known already.
    median_salary
        The median salary that the average is compared with: the county's, in a growth zone the zone's.
    """

    id: Annotated[str, AfterValidator(_named)] = "site"
    gross_leasable_sqft: Annotated[Number, Field(ge=1, le=10**9)]
    premises: Premises
    construction: Literal["new", "rehabilitation"]
    similar_use_percent: Percent | None = None
    vacant_industrial_unleased: bool | None = None
    proximity: str | None = None
    site: str | None = None
    pin: str | None = None
    municipality: str | None = None
    facts: dict[str, bool | str | float] = Field(default_factory=dict)
    areas: BuildingAreas | None = None
    median_salary: Money | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_hand(cls, raw: Any) -> Any:  # noqa: ANN401 - whatever was written
        # By hand, the areas are names and answers.
        areas = raw.get("areas") if isinstance(raw, dict) else None
        if isinstance(areas, dict) and not ({"areas", "id"} & set(areas)):
            rest = {key: areas[key] for key in ("rest", "bounds") if key in areas}
            raw = {**raw, "areas": {**rest, "areas": {k: v for k, v in areas.items() if k not in rest}}}
        return raw


class JobGroup(Strict):
    """Jobs that are alike.

    Attributes
    ----------
    building, kind
        Where the jobs are, and whether they are new or retained.
    count
        Persons. What is left out of the following is taken for granted and listed, or left open where nothing is to be
        assumed: that these are full-time jobs.
    hours_per_week, time_at_facility_percent
        Hours of each person; the share of the working time spent at the facility.
    health_benefits
        Whether the business provides them.
    contractors
        Whether they are independent contractors or consultants, who are no employees.
    customary_full_time, customary_time
        Whether fewer hours, or less time at the facility, are full-time by custom as the Authority found.
    collective_agreement
        Whether health benefits come from a third party under a collective bargaining agreement.
    average_salary
        Dollars a year.
    """

    building: str | None = None
    kind: Literal["new", "retained"]
    count: Whole
    hours_per_week: Annotated[Number, Field(le=168)] | None = None
    customary_full_time: bool | None = None
    time_at_facility_percent: Percent | None = None
    customary_time: bool | None = None
    health_benefits: bool | None = None
    collective_agreement: bool | None = None
    contractors: bool | None = None
    average_salary: Money | None = None


class CapitalItem(Strict):
    """One part of the capital investment.

    Attributes
    ----------
    building
        Which one it is for, where there are several.
    what, amount
        What it was spent on, and dollars.
    when
        Before or after the application; `incurred`, a day, says it where it is given. A site has to be acquired within
        the months around the application that the law names, and other earlier capital within those before it.
    grants
        What State sources paid of it, for remediation any public source: that much does not count. Left out, none is
        taken to be, unless nothing is to be assumed.
    of_facility_sqft
        Where it pertains to a whole facility, as a seller's or landlord's may: the gross leasable area of all of it;
        the premises' share counts.
    """

    building: str | None = None
    what: Spent
    amount: Money
    when: Literal["before", "after"] | None = None
    incurred: date | None = None
    grants: Money | None = None
    of_facility_sqft: Annotated[Number, Field(gt=0)] | None = None


class Bonuses(Strict):
    """What is known of bonuses besides what areas and facts tell.

    Attributes
    ----------
    per_job
        All bonuses together, dollars per job and year, where only their sum is known.
    stated
        By a bonus's id: whether it applies.
    rest
        ``"no"`` where there are no bonuses besides those stated and those that areas, figures and facts show: what only
        a bonus asks for and nobody stated is no.
    """

    per_job: Annotated[Money, Field(le=1_000_000)] | None = None
    stated: dict[str, bool] = Field(default_factory=dict)
    rest: Literal["undetermined", "no"] = "undetermined"

    @model_validator(mode="before")
    @classmethod
    def _no_is_a_word(cls, raw: Any) -> Any:  # noqa: ANN401 - whatever was written
        return raw | {"rest": "no"} if isinstance(raw, dict) and raw.get("rest") is False else raw

    @model_validator(mode="after")
    def _known(self) -> Bonuses:
        known = [bonus.id for bonus in load_credit_book().bonuses]
        for name in self.stated:
            if name not in known:
                raise ValueError(f"there is no bonus {name!r}. {nearest_name(name, known)}")
        return self


class Project(Strict):
    """A project of the Grow New Jersey program.

    Attributes
    ----------
    format, name
        Of the file, and how the project is called.
    capital
        Parts of the investment; left out, it is not known, and an empty list is none.
    business, buildings, jobs
        What the business is, where it goes, and who works there.
    application_date, approval_date
        Days within the program; that of the approval decides which figures are used, else that of the application.
    eligibility_years
        Years in which the credit may be claimed. The applicant chooses them; left out, as many as there can be.
    method
        ``"capital_investment"`` is open to growth zones under the recovery act. The applicant chooses it.
    green_standard, jobs_at_risk
        Whether the environmental standards are met; whether the retained jobs are at risk of leaving the State.
    withholdings
        Withheld from the wages of the full-time employees, dollars a year.
    board_maximum, section_1_7g_amount
        Totals that the Authority set: each, divided by the years, limits the yearly credit. Left out, it set none.
    net_benefit
        The net benefit to the State, dollars over the years that count, as the Authority computes it.
    bonuses, facts
        What is known of bonuses; facts of `PROJECT_FACTS`, yes or no.
    """

    format: Literal["grownj-project/1"] = PROJECT_FORMAT
    name: Text = ""
    business: Business
    buildings: Annotated[tuple[Building, ...], Field(min_length=1, max_length=200)]
    jobs: Annotated[tuple[JobGroup, ...], Field(max_length=2_000)]
    capital: Annotated[tuple[CapitalItem, ...], Field(max_length=5_000)] | None = None
    application_date: Day | None = None
    approval_date: Day | None = None
    eligibility_years: Annotated[int, BeforeValidator(_plain), Field(ge=1), AfterValidator(_years)] = Field(
        default_factory=_longest
    )
    method: Literal["per_job", "capital_investment"] = "per_job"
    green_standard: bool | None = None
    jobs_at_risk: bool | None = None
    net_benefit: Money | None = None
    withholdings: Money | None = None
    board_maximum: Money | None = None
    section_1_7g_amount: Money | None = None
    bonuses: Bonuses = Bonuses()
    facts: dict[str, bool] = Field(default_factory=dict)

    def to_json(self) -> str:
        """Return the project as JSON, with a line end."""
        return self.model_dump_json(indent=2) + "\n"


_MODELS: dict[str, type[BaseModel]] = {
    "": Project,
    "business": Business,
    "buildings": Building,
    "jobs": JobGroup,
    "capital": CapitalItem,
    "bonuses": Bonuses,
}


def read_project(path: Path) -> Project:
    """Read a project file, YAML or JSON by its ending.

    Raises
    ------
    ProjectError
        If the file cannot be read or the project cannot be taken; all problems at once.
    """
    return project_of(read_raw(path), name=str(path))


def read_raw(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a project file holds, unchecked: YAML or JSON by its ending.

    Raises
    ------
    ProjectError
        If the file cannot be read, is too large, or repeats itself by aliases.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise ProjectError(f"{path} is larger than {_LARGEST // 1_000_000} MB; expected a project file.")
        text = content.decode("utf-8-sig")
        if path.suffix.lower() == ".json":
            return json.loads(text, parse_float=Decimal, object_pairs_hook=_each_key_once)
        if "&" in text and any(isinstance(e, yaml.AliasEvent) for e in yaml.parse(text, Loader=yaml.CSafeLoader)):
            raise ProjectError(f"{path} uses aliases (*name); write out what is repeated.")
        return read_yaml(text)
    except OSError as error:
        raise ProjectError(
            f"{path} could not be read: {error.strerror}. Expected a project file; grownj credits new makes one."
        ) from error
    except UnicodeDecodeError as error:
        raise ProjectError(f"{path} is not UTF-8 text; save it as UTF-8.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ProjectError(
            f"{path} is not readable: {' '.join(str(error).replace(_TEXT, '').split())}. Correct the line named."
        ) from error


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return found


def project_of(raw: object, *, name: str = "The project") -> Project:
    """Return a project from what YAML or JSON gave.

    Parameters
    ----------
    raw
        What YAML or JSON gave.
    name
        The file, for messages.

    Raises
    ------
    ProjectError
        With every problem: its place, what was found, what was expected and what to do.

    Examples
    --------
    >>> project_of({"business": {"industry": "finance"}, "jobs": [], "buildings": [{"premises": "other"}]})
    Traceback (most recent call last):
        ...
    grownj_geo.creditproject.ProjectError: The project has 2 problems:
      buildings > site > gross_leasable_sqft: it is missing; expected a number. Add it.
      buildings > site > construction: it is missing; expected new or rehabilitation. Add it.
    """
    if not isinstance(raw, (dict, Project)):
        found_words = "nothing" if raw is None else f"a {type(raw).__name__}"
        raise ProjectError(
            f"{name} holds {found_words}; expected a project with business, buildings and jobs. grownj credits new "
            "makes one."
        )
    problems: list[str] = []
    project = None
    try:
        project = Project.model_validate(raw)
    except ValidationError as error:
        # Where every building is wrong, pydantic adds that there is none.
        told = [each for each in error.errors() if not (each["type"] == "too_short" and each["input"])]
        problems = [problem_in_words(raw, dict(each), _MODELS) for each in told]
    problems += problems_across(raw, PROJECT_FACTS)
    if problems or project is None:
        found = tuple(dict.fromkeys(problems))
        count = f"{len(found)} problem{'s' * (len(found) > 1)}"
        raise ProjectError(f"{name} has {count}:\n" + "\n".join(f"  {each}" for each in found), found)
    return project
