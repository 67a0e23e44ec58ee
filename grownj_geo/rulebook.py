"""The rulebook format: one program's definitions as data, checked on loading.

A rulebook is YAML: named parameters with dated values, and categories, each an expression over a few
operators. This module reads and checks; `evaluate` computes.
"""

from __future__ import annotations

from datetime import date
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, ValidationError

from grownj_geo.errors import RulebookError
from grownj_geo.manifest import Status
from grownj_geo.nodes import OPERATORS, AmbiguityId, Name, Node, asked_categories, named_parameters
from grownj_geo.readings import nearest_name
from grownj_geo.strict import Strict
from grownj_geo.yamlfile import read_yaml

__all__ = [
    "Category",
    "DatedValue",
    "Parameter",
    "Rulebook",
    "Tier",
    "load_rulebook",
    "read_rulebook",
    "shipped_rulebooks",
]


def _written(words: str) -> str:
    if not words.strip():
        raise ValueError("this is blank; write it out")
    return words


def _no_yes_or_no(value: object) -> object:
    # YAML reads a bare yes as true, and true would count as one.
    if isinstance(value, bool):
        raise ValueError("this is yes or no; expected a figure or a list of names")  # noqa: TRY004 - pydantic's way
    return value


Words = Annotated[str, AfterValidator(_written)]


class DatedValue(Strict):
    """One value of a parameter, in force from a day until the next value's."""

    from_: date = Field(alias="from")
    value: Annotated[Annotated[FiniteFloat, Field(ge=0)] | tuple[str, ...], BeforeValidator(_no_yes_or_no)]
    citation: Words
    status: Status
    source: str | None = None
    status_note: str | None = None


class Parameter(Strict):
    """A figure or a list of the law, with its dated values."""

    label: Words
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


class Category(Strict):
    """One term of the law: what it is called, where it stands, and when it holds."""

    id: Name
    label: Words
    citation: Words
    summary: Words
    kind: Literal["area", "ground", "project"] = "area"
    readings: tuple[AmbiguityId, ...] = ()
    status: Status = "confirmed"
    note: str | None = None
    rule: Node


class Tier(Strict):
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
    label: Words
    dollars: Annotated[int, Field(ge=0)]
    category: Name
    project: bool = False
    citation: Words
    status: Status
    source: str | None = None


class WordingPeriod(Strict):
    """Days for which the wording was read, or was not."""

    from_: date = Field(alias="from")
    until: date
    seen: bool
    words: Words


class Rulebook(Strict):
    """One program's definitions.

    Attributes
    ----------
    first_day, last_day
        The days that the rulebook covers, both included.
    circles
        Readings that break a circle of the text: a determination shows what the other reading would give.
    uses
        Categories taken from shipped rulebooks, by the rulebook's id; what they ask for comes with them.
    """

    FORMAT: ClassVar[int] = 1

    format: Literal[1]
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    title: Words
    version: Words
    citation: Words
    first_day: date
    last_day: date
    outside_days: Words
    wording: tuple[WordingPeriod, ...] = ()
    circles: tuple[AmbiguityId, ...] = ()
    uses: dict[str, tuple[Name, ...]] = Field(default_factory=dict)
    parameters: dict[Name, Parameter] = Field(default_factory=dict)
    categories: Annotated[tuple[Category, ...], Field(min_length=1)]
    tiers: tuple[Tier, ...] = ()

    @cached_property
    def _by_id(self) -> dict[str, Category]:
        return {category.id: category for category in self.categories}

    def category(self, category_id: str) -> Category:
        """Return a category by its id.

        Raises
        ------
        RulebookError
            If there is none; the message names the nearest.
        """
        found = self._by_id.get(category_id)
        if found is not None:
            return found
        raise RulebookError(
            f"The rulebook {self.id} has no category {category_id!r}. "
            + nearest_name(category_id, [c.id for c in self.categories])
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


def read_rulebook(content: bytes | str, *, name: str) -> Rulebook:
    """Read and check a rulebook of a known origin.

    A text that a user brings goes through `rulebook_file.read_rulebook_file`, which first looks at its size, its
    depth and what its aliases come to; here a few hundred bytes of aliases can cost minutes.

    Raises
    ------
    RulebookError
        If it is not YAML, does not follow the format, names something that does not exist, or its categories
        go round in a circle. The message names the file, the place in it, and the remedy.
    """
    from grownj_geo.rulecheck import check_rulebook  # noqa: PLC0415 - it needs this module

    try:
        raw = read_yaml(content)
    except yaml.YAMLError as error:
        raise RulebookError(f"{name} is not readable YAML: {error}. Correct the line named.") from error
    if not isinstance(raw, dict):
        raise RulebookError(f"{name} holds a {type(raw).__name__}; expected a rulebook with format, id, categories.")
    try:
        book = Rulebook.model_validate(raw)
    except ValidationError as error:
        lines = [f"  {_place(raw, e['loc'])}: {e['msg'].removeprefix('Value error, ')}" for e in error.errors()]
        raise RulebookError(f"{name} does not follow the rulebook format:\n" + "\n".join(lines)) from error
    book = _with_used(book, name)
    check_rulebook(book, name=name)
    return book


def _with_used(book: Rulebook, name: str) -> Rulebook:
    """Add the categories that a rulebook takes from shipped ones, and the parameters that these name."""
    own = {category.id for category in book.categories}
    taken: dict[str, Category] = {}
    parameters = dict(book.parameters)
    for source_id, wanted in book.uses.items():
        if source_id == book.id:
            raise RulebookError(f"{name}: uses > {source_id}: a rulebook cannot use itself.")
        source = load_rulebook(source_id)
        waiting = list(wanted)
        while waiting:
            category_id = waiting.pop()
            if category_id in taken:
                continue
            if category_id in own:
                raise RulebookError(
                    f"{name}: uses > {source_id}: the category {category_id!r} comes with what is taken over and is "
                    "defined here too. Rename one of them."
                )
            category = source.category(category_id)
            # What was taken over is a ground here: the rulebook answers for its own categories.
            taken[category_id] = category.model_copy(update={"kind": "ground"})
            waiting += asked_categories(category.rule)
            for parameter in named_parameters(category.rule):
                value = source.parameters[parameter]
                if parameters.setdefault(parameter, value).values != value.values:
                    raise RulebookError(
                        f"{name}: uses > {source_id}: the parameter {parameter!r} of {category_id!r} is defined here "
                        "with other values. Rename it."
                    )
    return book.model_copy(update={"categories": (*book.categories, *taken.values()), "parameters": parameters})


def _place(raw: Any, loc: tuple[int | str, ...]) -> str:  # noqa: ANN401 - whatever YAML holds
    """Return a place in the file that a person can find: categories by their id, not by their number."""
    words: list[str] = []
    here = raw
    for step in loc:
        if isinstance(step, str) and step in OPERATORS and not (isinstance(here, dict) and step in here):
            continue
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            here = None
        label = here.get("id") if isinstance(here, dict) else None
        words.append(str(label or step))
    return " > ".join(words) or "top level"


def shipped_rulebooks() -> list[str]:
    """Return the ids of the rulebooks that ship, `grow-nj` first.

    Examples
    --------
    >>> shipped_rulebooks()[0]
    'grow-nj'
    """
    folder = resources.files("grownj_geo") / "rules" / "books"
    names = sorted(path.name.removesuffix(".yaml") for path in folder.iterdir() if path.name.endswith(".yaml"))
    return sorted(names, key=lambda name: (name != "grow-nj", name))


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
    path = resources.files("grownj_geo") / "rules" / "books" / f"{Path(rulebook_id).name}.yaml"
    if not path.is_file():
        raise RulebookError(
            f"There is no shipped rulebook {rulebook_id!r}. {nearest_name(rulebook_id, shipped_rulebooks())}"
        )
    return read_rulebook(path.read_bytes(), name=path.name)
