"""The rulebook format: one program's definitions as data, checked on loading.

A rulebook is YAML: named parameters with dated values, and categories, each an expression over a few
operators. This module reads and checks; `evaluate` computes.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator

from grownj_geo.errors import RulebookError
from grownj_geo.manifest import MunCode, Status

__all__ = [
    "Category",
    "DatedValue",
    "Day",
    "Node",
    "Parameter",
    "Rulebook",
    "Tier",
    "children_of",
    "load_rulebook",
    "operator_of",
    "read_rulebook",
]

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
AmbiguityId = Annotated[str, Field(pattern=r"^A\d+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)


class UncertainDay(_Strict):
    """A day that is only known to lie between two others, both included."""

    earliest: date
    latest: date

    @model_validator(mode="after")
    def _order(self) -> UncertainDay:
        if self.earliest > self.latest:
            raise ValueError("earliest comes after latest")
        return self


Day = date | UncertainDay


class DatedValue(_Strict):
    """One value of a parameter, in force from a day until the next value's."""

    from_: date = Field(alias="from")
    value: float | tuple[str, ...]
    citation: str
    status: Status
    source: str | None = None
    status_note: str | None = None


class Parameter(_Strict):
    """A figure or a list of the law, with its dated values."""

    label: str
    unit: Literal["mile", "share", "count", "sqft", "percent", "feet", "months", "dollars", "counties", "day"]
    values: Annotated[tuple[DatedValue, ...], Field(min_length=1)]

    def at(self, day: date) -> DatedValue:
        """Return the value in force on a day: the last one that has begun, else the first.

        Raises
        ------
        RulebookError
            Never for a checked rulebook: a parameter has at least one value.
        """
        begun = [v for v in self.values if v.from_ <= day]
        return max(begun, key=lambda v: v.from_) if begun else min(self.values, key=lambda v: v.from_)


class _Node(_Strict):
    """What every clause may carry besides its operator."""

    id: Name | None = None
    label: str | None = None
    citation: str | None = None
    status: Status | None = None
    note: str | None = None
    readings: tuple[AmbiguityId, ...] = ()
    when: dict[AmbiguityId, str] = Field(default_factory=dict)
    from_: Day | None = Field(default=None, alias="from")
    until: Day | None = None


class Where(_Strict):
    """A layer, or those of its features that have one of the values given and reach the figures given."""

    layer: Name
    where: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    at_least: dict[str, Name] = Field(default_factory=dict)

    @property
    def selection(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The choice of features in the form that layers take."""
        return tuple(
            (name, (value,) if isinstance(value, str) else value) for name, value in sorted(self.where.items())
        )


class AnyNode(_Node):
    """Yes where one clause is yes; no where all are no."""

    any: Annotated[tuple[Node, ...], Field(min_length=1)]


class AllNode(_Node):
    """Yes where all clauses are yes; no where one is no."""

    all: Annotated[tuple[Node, ...], Field(min_length=1)]


class NotNode(_Node):
    """Yes and no change places."""

    not_: Node = Field(alias="not")


class InsideNode(_Node):
    """The whole site lies in the features."""

    inside: Where


class OverlapsNode(_Node):
    """More than a drawing sliver of the site lies in the features."""

    overlaps: Where


class Nearest(Where):
    """Only the n features that are nearest to any of these."""

    n: Annotated[int, Field(ge=1)]


class Within(Where):
    """Features and a radius in miles; a site at exactly the radius is in.

    Attributes
    ----------
    part
        How much of the site must be that near: the whole, or any part.
    """

    radius: Name
    part: Literal["whole", "any"] = "whole"
    nearest: Nearest | None = None


class WithinNode(_Node):
    """The site is no farther than a radius from the nearest of the features."""

    within: Within


class ShareOver(Within):
    """Features, a radius in miles, and the share of the site's area that must be exceeded."""

    share: Name


class ShareOverNode(_Node):
    """More than a share of the site's area is within a radius of the features."""

    share_over: ShareOver


class Designated(_Strict):
    """A list of municipalities, read for the as-of date or (dated: false) whatever its dates."""

    list: Name
    dated: bool = True
    complete: bool = True


class DesignatedNode(_Node):
    """The site's municipality is on the list."""

    designated: Designated


class MunicipalityInNode(_Node):
    """The site's municipality is one of those named by code."""

    municipality_in: Annotated[tuple[MunCode, ...], Field(min_length=1)]


class CountyInNode(_Node):
    """The site's county is one of a named parameter's."""

    county_in: Name


class Count(_Strict):
    """A field of features and the least count that it must have."""

    field: Name
    at_least: Name


class ContainsFeature(Where):
    """Features in the site's municipality, by count of a field, and what must hold where they stand."""

    count: Count | None = None
    at_feature: Name | None = None


class ContainsFeatureNode(_Node):
    """The site's municipality contains such a feature."""

    contains_feature: ContainsFeature


class Ratio(_Strict):
    """A share made of stated figures: `part` divided by the sum of `whole`, at least a parameter."""

    part: Name
    whole: Annotated[tuple[Name, ...], Field(min_length=1)]
    at_least: Name


class RatioNode(_Node):
    """A share of stated figures reaches a threshold; undetermined while a figure is not stated."""

    ratio: Ratio


class Assume(_Strict):
    """What is taken for granted, under a reading, about a fact that nobody publishes."""

    value: bool
    reading: AmbiguityId
    option: str
    words: str


class Supported(Where):
    """Features that speak for a fact; where the layer is complete, their absence speaks against it."""

    complete: bool = False


class SiteFact(_Strict):
    """A stated fact and one comparison with a value or a parameter's name.

    What the user states outranks a layer that supports the fact.
    """

    name: Name
    is_: bool | str | tuple[str, ...] | None = Field(default=None, alias="is")
    at_least: Name | None = None
    at_most: Name | None = None
    more_than: Name | None = None
    before: Day | None = None
    after: Day | None = None
    on_or_before_as_of: bool = False
    leans: bool | None = None
    assume: Assume | None = None
    supported_by: Supported | None = None

    @model_validator(mode="after")
    def _one_comparison(self) -> SiteFact:
        given = [
            name
            for name, value in (
                ("is", self.is_),
                ("at_least", self.at_least),
                ("at_most", self.at_most),
                ("more_than", self.more_than),
                ("before", self.before),
                ("after", self.after),
                ("on_or_before_as_of", self.on_or_before_as_of or None),
            )
            if value is not None
        ]
        if len(given) != 1:
            raise ValueError(f"a site fact has exactly one comparison; found {given or 'none'}")
        return self


class SiteFactNode(_Node):
    """A fact that the user states; undetermined while it is not stated."""

    site_fact: SiteFact


class CategoryNode(_Node):
    """Another category of the same rulebook."""

    category: Name


class Undetermined(_Strict):
    """A point that the text or the sources leave open."""

    why: str
    cause: Literal["reading_open", "wording_unseen", "list_unknown", "ruling_missing"] = "reading_open"
    leans: bool | None = None


class UndeterminedNode(_Node):
    """Always undetermined, with its reason."""

    undetermined: Undetermined


_OPERATORS: dict[str, str] = {
    "any": "any",
    "all": "all",
    "not": "not",
    "inside": "inside",
    "overlaps": "overlaps",
    "within": "within",
    "share_over": "share_over",
    "designated": "designated",
    "municipality_in": "municipality_in",
    "county_in": "county_in",
    "contains_feature": "contains_feature",
    "ratio": "ratio",
    "site_fact": "site_fact",
    "category": "category",
    "undetermined": "undetermined",
}


def _operator(value: Any) -> str:  # noqa: ANN401 - whatever YAML holds
    if isinstance(value, dict):
        found = [key for key in value if key in _OPERATORS]
        return found[0] if len(found) == 1 else "none"
    return operator_of(value) if isinstance(value, _Node) else "none"


Node = Annotated[
    Annotated[AnyNode, Tag("any")]
    | Annotated[AllNode, Tag("all")]
    | Annotated[NotNode, Tag("not")]
    | Annotated[InsideNode, Tag("inside")]
    | Annotated[OverlapsNode, Tag("overlaps")]
    | Annotated[WithinNode, Tag("within")]
    | Annotated[ShareOverNode, Tag("share_over")]
    | Annotated[DesignatedNode, Tag("designated")]
    | Annotated[MunicipalityInNode, Tag("municipality_in")]
    | Annotated[CountyInNode, Tag("county_in")]
    | Annotated[ContainsFeatureNode, Tag("contains_feature")]
    | Annotated[RatioNode, Tag("ratio")]
    | Annotated[SiteFactNode, Tag("site_fact")]
    | Annotated[CategoryNode, Tag("category")]
    | Annotated[UndeterminedNode, Tag("undetermined")],
    Discriminator(
        _operator,
        custom_error_type="one_operator",
        custom_error_message="a clause has exactly one operator of: " + ", ".join(_OPERATORS),
    ),
]

for _model in (AnyNode, AllNode, NotNode):
    _model.model_rebuild()


def operator_of(node: _Node) -> str:
    """Return the name of a clause's operator.

    Examples
    --------
    >>> operator_of(CategoryNode(category="port_district"))
    'category'
    """
    return next(
        (name for name in _OPERATORS if (name if name != "not" else "not_") in type(node).model_fields), "none"
    )


def children_of(node: _Node) -> tuple[_Node, ...]:
    """Return the clauses inside a clause."""
    if isinstance(node, AnyNode):
        return node.any
    if isinstance(node, AllNode):
        return node.all
    return (node.not_,) if isinstance(node, NotNode) else ()


class Category(_Strict):
    """One term of the law: what it is called, where it stands, and when it holds."""

    id: Name
    label: str
    citation: str
    summary: str
    kind: Literal["area", "ground", "project"] = "area"
    readings: tuple[AmbiguityId, ...] = ()
    status: Status = "confirmed"
    note: str | None = None
    rule: Node


class Tier(_Strict):
    """One line of the base amounts, dollars per job and year.

    Attributes
    ----------
    category
        Gives the bounds: the line is reached where this is yes, and out of reach where it is no.
    project
        Whether it depends on the project and not on the place alone; such lines are left out of the bounds
        that a place has.
    """

    id: Name
    label: str
    dollars: int
    category: Name
    project: bool = False
    citation: str
    status: Status
    source: str | None = None


class WordingPeriod(_Strict):
    """Days for which the wording was read, or was not."""

    from_: date = Field(alias="from")
    until: date
    seen: bool
    words: str


class Rulebook(_Strict):
    """One program's definitions.

    Attributes
    ----------
    first_day, last_day
        The days that the rulebook covers, both included.
    """

    FORMAT: ClassVar[int] = 1

    format: Literal[1]
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    title: str
    version: str
    citation: str
    first_day: date
    last_day: date
    outside_days: str
    wording: tuple[WordingPeriod, ...] = ()
    parameters: dict[Name, Parameter] = Field(default_factory=dict)
    categories: Annotated[tuple[Category, ...], Field(min_length=1)]
    tiers: tuple[Tier, ...] = ()

    def category(self, category_id: str) -> Category:
        """Return a category by its id.

        Raises
        ------
        RulebookError
            If there is none; the message names the nearest.
        """
        for category in self.categories:
            if category.id == category_id:
                return category
        raise RulebookError(
            f"The rulebook {self.id} has no category {category_id!r}.{_nearest(category_id, [c.id for c in self.categories])}"
        )

    def check_day(self, day: date) -> None:
        """Refuse a day that the rulebook does not cover.

        Raises
        ------
        RulebookError
            With the rulebook's own statement of what held before and after.
        """
        if not self.first_day <= day <= self.last_day:
            raise RulebookError(
                f"The as-of date {day} is outside what the rulebook {self.id} covers "
                f"({self.first_day} to {self.last_day}). {self.outside_days.strip()}"
            )


def _nearest(name: str, known: list[str]) -> str:
    import difflib  # noqa: PLC0415 - only when something is wrong

    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def read_rulebook(content: bytes | str, *, name: str) -> Rulebook:
    """Read and check a rulebook.

    Raises
    ------
    RulebookError
        If it is not YAML, does not follow the format, names something that does not exist, or its categories
        go round in a circle. The message names the file, the place in it, and the remedy.
    """
    from grownj_geo.rulecheck import check_rulebook  # noqa: PLC0415 - it needs this module

    try:
        raw = yaml.load(content, Loader=yaml.CSafeLoader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise RulebookError(f"{name} is not readable YAML: {error}. Correct the line named.") from error
    if not isinstance(raw, dict):
        raise RulebookError(f"{name} holds a {type(raw).__name__}; expected a rulebook with format, id, categories.")
    try:
        book = Rulebook.model_validate(raw)
    except ValidationError as error:
        lines = [f"  {_place(raw, e['loc'])}: {e['msg']}" for e in error.errors()]
        raise RulebookError(f"{name} does not follow the rulebook format:\n" + "\n".join(lines)) from error
    check_rulebook(book, name=name)
    return book


def _place(raw: Any, loc: tuple[int | str, ...]) -> str:  # noqa: ANN401 - whatever YAML holds
    """Return a place in the file that a person can find: categories by their id, not by their number."""
    words: list[str] = []
    here = raw
    for step in loc:
        if isinstance(step, str) and step in _OPERATORS and not (isinstance(here, dict) and step in here):
            continue
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            here = None
        label = here.get("id") if isinstance(here, dict) else None
        words.append(str(label or step))
    return " > ".join(words) or "top level"


@lru_cache(maxsize=8)
def load_rulebook(rulebook_id: str = "grow-nj") -> Rulebook:
    """Return a shipped rulebook.

    Raises
    ------
    RulebookError
        If there is none of that name.

    Examples
    --------
    >>> load_rulebook("grow-nj").id
    'grow-nj'
    """
    path = resources.files("grownj_geo") / "rules" / f"{Path(rulebook_id).name}.yaml"
    if not path.is_file():
        raise RulebookError(f"There is no shipped rulebook {rulebook_id!r}; there is 'grow-nj'.")
    return read_rulebook(path.read_bytes(), name=path.name)
