"""The clauses of a rulebook: what each operator looks like in YAML. `evaluate` and `leaves` compute them."""

from __future__ import annotations

from datetime import date
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from grownj_geo.manifest import MunCode, Status
from grownj_geo.strict import Strict

__all__ = [
    "OPERATORS",
    "AllNode",
    "AmbiguityId",
    "AnyNode",
    "CategoryNode",
    "ContainsFeatureNode",
    "CountyInNode",
    "Day",
    "DesignatedNode",
    "InNewJerseyNode",
    "InsideNode",
    "MunicipalityInNode",
    "Name",
    "Node",
    "NodeBase",
    "NotNode",
    "OverlapsNode",
    "RatioNode",
    "ShareOver",
    "ShareOverNode",
    "SiteFact",
    "SiteFactNode",
    "Strict",
    "Supported",
    "UncertainDay",
    "UndeterminedNode",
    "Where",
    "Within",
    "WithinNode",
    "asked_categories",
    "children_of",
    "named_parameters",
    "operator_of",
]

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
AmbiguityId = Annotated[str, Field(pattern=r"^A\d+$")]


class UncertainDay(Strict):
    """A day that is only known to lie between two others, both included."""

    earliest: date
    latest: date

    @model_validator(mode="after")
    def _order(self) -> UncertainDay:
        if self.earliest > self.latest:
            raise ValueError("earliest comes after latest")
        return self


Day = date | UncertainDay


class NodeBase(Strict):
    """What every clause may carry besides its operator."""

    id: Name | None = None
    label: str | None = None
    citation: str | None = None
    status: Status | None = None
    note: str | None = None
    readings: tuple[AmbiguityId, ...] = ()
    when: dict[AmbiguityId, str | tuple[str, ...]] = Field(default_factory=dict)
    from_: Day | None = Field(default=None, alias="from")
    until: Day | None = None


class Where(Strict):
    """A layer, or those of its features that have one of the values given and reach the figures given."""

    layer: Name
    where: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    at_least: dict[str, Name] = Field(default_factory=dict)

    @cached_property
    def selection(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The choice of features in the form that layers take."""
        return tuple(
            (name, (value,) if isinstance(value, str) else value) for name, value in sorted(self.where.items())
        )


class AnyNode(NodeBase):
    """Yes where one clause is yes; no where all are no."""

    any: Annotated[tuple[Node, ...], Field(min_length=1)]


class AllNode(NodeBase):
    """Yes where all clauses are yes; no where one is no."""

    all: Annotated[tuple[Node, ...], Field(min_length=1)]


class NotNode(NodeBase):
    """Yes and no change places."""

    not_: Node = Field(alias="not")


class Inside(Where):
    """Features that a site lies in.

    Attributes
    ----------
    cut
        How a site that the line cuts is read: as reading A3 says, or always undetermined, as for an exclusion,
        which the other options of A3 would turn round.
    """

    cut: Literal["as_read", "undetermined"] = "as_read"


class InsideNode(NodeBase):
    """The whole site lies in the features."""

    inside: Inside


class OverlapsNode(NodeBase):
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


class WithinNode(NodeBase):
    """The site is no farther than a radius from the nearest of the features."""

    within: Within


class ShareOver(Within):
    """Features, a radius in miles, and the share of the site's area that must be exceeded."""

    share: Name


class ShareOverNode(NodeBase):
    """More than a share of the site's area is within a radius of the features."""

    share_over: ShareOver


class Designated(Strict):
    """A list of municipalities, read for the as-of date or (dated: false) whatever its dates."""

    list: Name
    dated: bool = True


class DesignatedNode(NodeBase):
    """The site's municipality is on the list."""

    designated: Designated


class MunicipalityInNode(NodeBase):
    """The site's municipality is one of those named by code."""

    municipality_in: Annotated[tuple[MunCode, ...], Field(min_length=1)]


class CountyInNode(NodeBase):
    """The site's county is one of a named parameter's."""

    county_in: Name


class Count(Strict):
    """A field of features and the least count that it must have."""

    field: Name
    at_least: Name


class ContainsFeature(Where):
    """Features in the site's municipality, by count of a field, and what must hold where they stand."""

    count: Count | None = None
    at_feature: Name | None = None


class ContainsFeatureNode(NodeBase):
    """The site's municipality contains such a feature."""

    contains_feature: ContainsFeature


class Assume(Strict):
    """What is taken for granted, under a reading, about a fact that nobody publishes."""

    value: bool
    reading: AmbiguityId
    option: str
    words: str


class Ratio(Strict):
    """A share made of stated figures: `part` divided by the sum of `whole`, at least a parameter."""

    part: Name
    whole: Annotated[tuple[Name, ...], Field(min_length=1)]
    at_least: Name
    assume: Assume | None = None


class RatioNode(NodeBase):
    """A share of stated figures reaches a threshold; undetermined while a figure is not stated."""

    ratio: Ratio


class Supported(Where):
    """Features that speak for a fact; where the layer is complete, their absence speaks against it."""


class SiteFact(Strict):
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


class SiteFactNode(NodeBase):
    """A fact that the user states; undetermined while it is not stated."""

    site_fact: SiteFact


class InNewJerseyNode(NodeBase):
    """The site lies in New Jersey; undetermined off the shore, where it may lie in another State's water."""

    in_new_jersey: Literal[True]


class CategoryNode(NodeBase):
    """Another category of the same rulebook."""

    category: Name


class Undetermined(Strict):
    """A point that the text or the sources leave open."""

    why: str
    cause: Literal["reading_open", "wording_unseen", "list_unknown", "ruling_missing"] = "reading_open"
    leans: bool | None = None


class UndeterminedNode(NodeBase):
    """Always undetermined, with its reason."""

    undetermined: Undetermined


OPERATORS: dict[str, str] = {
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
    "in_new_jersey": "in_new_jersey",
    "contains_feature": "contains_feature",
    "ratio": "ratio",
    "site_fact": "site_fact",
    "category": "category",
    "undetermined": "undetermined",
}


def _operator(value: Any) -> str:  # noqa: ANN401 - whatever YAML holds
    if isinstance(value, dict):
        found = [key for key in value if key in OPERATORS]
        return found[0] if len(found) == 1 else "none"
    return operator_of(value) if isinstance(value, NodeBase) else "none"


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
    | Annotated[InNewJerseyNode, Tag("in_new_jersey")]
    | Annotated[ContainsFeatureNode, Tag("contains_feature")]
    | Annotated[RatioNode, Tag("ratio")]
    | Annotated[SiteFactNode, Tag("site_fact")]
    | Annotated[CategoryNode, Tag("category")]
    | Annotated[UndeterminedNode, Tag("undetermined")],
    Discriminator(
        _operator,
        custom_error_type="one_operator",
        custom_error_message="a clause has exactly one operator of: " + ", ".join(OPERATORS),
    ),
]

for _model in (AnyNode, AllNode, NotNode):
    _model.model_rebuild()


def operator_of(node: NodeBase) -> str:
    """Return the name of a clause's operator.

    Examples
    --------
    >>> operator_of(CategoryNode(category="port_district"))
    'category'
    """
    return _operator_of_type(type(node))


@lru_cache(maxsize=64)
def _operator_of_type(kind: type[NodeBase]) -> str:
    fields = kind.model_fields
    return next((name for name in OPERATORS if (name if name != "not" else "not_") in fields), "none")


def children_of(node: NodeBase) -> tuple[Node, ...]:
    """Return the clauses inside a clause."""
    if isinstance(node, AnyNode):
        return node.any
    if isinstance(node, AllNode):
        return node.all
    return (node.not_,) if isinstance(node, NotNode) else ()


def asked_categories(node: Node) -> list[str]:
    """Return the categories that a clause, or any clause inside it, asks for.

    Examples
    --------
    >>> asked_categories(CategoryNode(category="port_district"))
    ['port_district']
    """
    if isinstance(node, CategoryNode):
        return [node.category]
    if isinstance(node, ContainsFeatureNode):
        return [node.contains_feature.at_feature] if node.contains_feature.at_feature else []
    return [category for child in children_of(node) for category in asked_categories(child)]


def named_parameters(node: Node) -> list[str]:
    """Return the parameters that a clause, or any clause inside it, names.

    Examples
    --------
    >>> named_parameters(CountyInNode(county_in="southern_eight_counties"))
    ['southern_eight_counties']
    """
    found: list[str | None] = [name for child in children_of(node) for name in named_parameters(child)]
    if isinstance(node, InsideNode | OverlapsNode | WithinNode | ShareOverNode | ContainsFeatureNode):
        where: Where = getattr(node, operator_of(node))
        found += where.at_least.values()
        if isinstance(where, Within):
            found.append(where.radius)
        if isinstance(where, ShareOver):
            found.append(where.share)
        if isinstance(where, ContainsFeature) and where.count is not None:
            found.append(where.count.at_least)
    elif isinstance(node, CountyInNode):
        found.append(node.county_in)
    elif isinstance(node, RatioNode):
        found.append(node.ratio.at_least)
    elif isinstance(node, SiteFactNode):
        found += [node.site_fact.at_least, node.site_fact.at_most, node.site_fact.more_than]
    return [name for name in found if name is not None]
