"""The hand-over from the classifier to the credit rules: areas in three answers, building by building.

Credit rules never look at geometry. All that they know of a place is in this record, whether it was taken from a
determination, from a row of a batch, or written by hand.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from grownj_geo.areanames import area_names, area_pairs, contradictions, near_area
from grownj_geo.errors import FactError
from grownj_geo.manifest import Status
from grownj_geo.readings import nearest_name
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.determination import Determination, Finding

__all__ = [
    "AREAS_FORMAT",
    "AreaAnswer",
    "Areas",
    "BaseBounds",
    "BuildingAreas",
    "areas_by_hand",
    "areas_of",
    "areas_of_row",
    "building_areas",
]

AREAS_FORMAT: Literal["grownj-areas/1"] = "grownj-areas/1"

OutcomeWord = Literal["yes", "no", "undetermined"]
_WORDS = {"yes": "yes", "no": "no", "undetermined": "undetermined", "true": "yes", "false": "no", "": "undetermined"}
_UNSAID = "it was not stated"


def _outcome(value: object) -> object:
    # YAML reads a bare yes as true.
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower(), value)
    return value


class AreaAnswer(Strict):
    """One area's answer for one building.

    Attributes
    ----------
    why
        What decided it, in words.
    outcome
        ``"yes"``, ``"no"`` or ``"undetermined"``.
    leans
        What an undetermined one would be, where that is known.
    margin_ft
        Feet by which the deciding line is cleared (positive: inside) or missed.
    assumed
        Whether it rests on a documented assumption.
    status
        How well the definition and the lists behind it are known.
    settles
        What would decide an undetermined one.
    """

    outcome: Annotated[OutcomeWord, BeforeValidator(_outcome)]
    leans: Annotated[Literal["yes", "no"] | None, BeforeValidator(_outcome)] = None
    margin_ft: Annotated[float, Field(allow_inf_nan=False)] | None = None
    assumed: bool = False
    status: Status = "confirmed"
    why: str = ""
    settles: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> AreaAnswer:
        if self.leans is not None and self.outcome != "undetermined":
            raise ValueError(f"it leans {self.leans} and is {self.outcome}; only what is undetermined leans")
        return self


def _answer(value: object) -> object:
    # By hand, a word is enough.
    return {"outcome": value, "why": "stated"} if isinstance(value, (bool, str)) else value


class BaseBounds(Strict):
    """What the base amount can be by place alone, dollars per job and year; null is no line. Both are stated.

    Tighter than the areas alone can say: a place may surely be on the priority line or a better one while it is open
    which.

    Attributes
    ----------
    floor, ceiling
        The least and the greatest base amount; None for no line.
    """

    floor: Annotated[int, Field(ge=0, le=1_000_000)] | None
    ceiling: Annotated[int, Field(ge=0, le=1_000_000)] | None

    @model_validator(mode="after")
    def _order(self) -> BaseBounds:
        if self.floor is not None and (self.ceiling is None or self.floor > self.ceiling):
            raise ValueError(f"the floor {self.floor} is above the ceiling {self.ceiling}")
        return self


def _named_areas(schema: dict[str, Any]) -> None:
    """Let a schema name the areas that there are, so that editors complete them and refuse others."""
    schema["propertyNames"] = {"enum": list(area_names())}


class BuildingAreas(Strict):
    """The areas of one building.

    Attributes
    ----------
    place, municipality, mun_code, county
        Where it is, as far as that is known.
    areas
        Answers by area.
    id
        The building's name in the project; one building alone needs none.
    rest
        What every area that is not named under `areas` is: ``"undetermined"``, or ``"no"`` where whoever wrote the
        record says that the list is whole.
    bounds
        The base amount by place; None where only the areas are known.
    """

    id: str = "site"
    place: str = ""
    municipality: str | None = None
    mun_code: str | None = None
    county: str | None = None
    areas: dict[str, Annotated[AreaAnswer, BeforeValidator(_answer)]] = Field(
        default_factory=dict, json_schema_extra=_named_areas
    )
    rest: Annotated[Literal["undetermined", "no"], BeforeValidator(_outcome)] = "undetermined"
    bounds: BaseBounds | None = None

    @model_validator(mode="after")
    def _known(self) -> BuildingAreas:
        for name in self.areas:
            if name not in area_names():
                raise ValueError(f"there is no area {name!r}. {near_area(name)}")
        words = contradictions(*({n for n, a in self.areas.items() if a.outcome == said} for said in ("yes", "no")))
        if words:
            raise ValueError(f"{'; '.join(words)}. Correct one of each")
        return self

    def __getitem__(self, name: str) -> AreaAnswer:
        """Return the answer for an area: as stated, else what follows from those stated, else the rest.

        Raises
        ------
        KeyError
            If no credit rule asks for such an area.
        """
        if name not in area_names():
            raise KeyError(f"there is no area {name!r}. {near_area(name)}")
        found = self.areas.get(name)
        return found if found is not None and found.outcome != "undetermined" else self._followed(name, found)

    def _followed(self, name: str, stated: AreaAnswer | None) -> AreaAnswer:
        """Return what follows for an area from the others, by the definitions; else what is stated, else the rest."""
        said = {other: answer.outcome for other, answer in self.areas.items()}
        for one, other, apart in area_pairs():
            end: OutcomeWord = "yes" if apart else "no"
            for asked, known, at, outcome in ((other, one, "yes", "no" if apart else "yes"), (one, other, end, "no")):
                if asked == name and said.get(known) == at:
                    of = self.areas[known]
                    words = f"by its definition, from {area_names()[known].label}: {at}"
                    return AreaAnswer.model_validate(
                        {"outcome": outcome, "why": words, "status": of.status, "assumed": of.assumed}
                    )
        if stated is not None:
            return stated
        # That the list is whole does not take back what a stated area may bring with it.
        grounds = [other for other, area in area_names().items() if name in area.ground_of and other in said]
        inside = [one for one, other, apart in area_pairs() if other == name and not apart]
        for other in (*grounds, *inside) if self.rest == "no" else ():
            if said.get(other) in {"yes", "undetermined"}:
                words = f"{area_names()[other].label} may bring it and is {said[other]}"
                return AreaAnswer(outcome="undetermined", why=words, settles=(f"state {name}",))
        return AreaAnswer(outcome=self.rest, why="not among the areas stated" if self.rest == "no" else _UNSAID)


class Areas(Strict):
    """What the credit rules take: the areas of each building of a project.

    Attributes
    ----------
    format, software
        Of the record, and what made it.
    as_of
        The day of the answers.
    cautions
        What is to be noted.
    buildings
        One record for each.
    made_from
        ``"determination"``, ``"batch row"`` or ``"by hand"``.
    rulebooks
        Version and fingerprint of each rulebook that was applied, by its id.
    readings
        The chosen option of each open question.
    """

    format: Literal["grownj-areas/1"] = AREAS_FORMAT
    as_of: date | None = None
    made_from: Literal["determination", "batch row", "by hand"] = "by hand"
    software: str | None = None
    rulebooks: dict[str, str] = Field(default_factory=dict)
    readings: dict[str, str] = Field(default_factory=dict)
    cautions: tuple[str, ...] = ()
    buildings: Annotated[tuple[BuildingAreas, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _each_once(self) -> Areas:
        ids = [building.id for building in self.buildings]
        for name in ids:
            if ids.count(name) > 1:
                raise ValueError(f"the building {name!r} is given {ids.count(name)} times; give it once")
        return self

    def building(self, name: str, *, alone: bool = True) -> BuildingAreas:
        """Return the areas of a building.

        Parameters
        ----------
        name
            The building.
        alone
            Whether it is the only one of its project: then the only one there is here answers to any name.

        Raises
        ------
        FactError
            If none has the name.
        """
        for building in self.buildings:
            if building.id == name or (alone and len(self.buildings) == 1):
                return building
        known = [building.id for building in self.buildings]
        raise FactError(f"The areas have no building {name!r}. {nearest_name(name, known)}")

    def only(self) -> BuildingAreas:
        """Return the areas of the only building, for a credit of one place.

        Raises
        ------
        FactError
            If there are several.
        """
        if len(self.buildings) > 1:
            names = ", ".join(building.id for building in self.buildings)
            raise FactError(f"The areas are of {len(self.buildings)} buildings, {names}; expected one place. Give one.")
        return self.buildings[0]

    def to_json(self) -> str:
        """Return the record as JSON, with a line end."""
        return self.model_dump_json(indent=2) + "\n"


def areas_of(determinations: Mapping[str, Sequence[Determination]]) -> Areas:
    """Return the areas of determinations.

    Parameters
    ----------
    determinations
        By building: one determination for each rulebook that was asked (`rulebooks_for`). What no rulebook answered is
        undetermined.

    Raises
    ------
    FactError
        If the determinations are not all of one day.

    Examples
    --------
    >>> import grownj_geo as gj
    >>> found = gj.determine("40.7344,-74.1641", gj.load_atlas())
    >>> areas_of({"site": [found]}).buildings[0]["distressed_municipality"].outcome
    'yes'
    """
    every = [found for many in determinations.values() for found in many]
    days = sorted({found.as_of for found in every})
    if len(days) != 1:
        words = " and ".join(map(str, days)) or "no day"
        raise FactError(f"The determinations are of {words}; expected one day for a project. Ask again with one.")
    return Areas(
        as_of=days[0],
        made_from="determination",
        software=every[0].software,
        rulebooks={f.rulebook.id: f"{f.rulebook.version} {f.rulebook.sha256}" for f in every},
        readings=every[0].readings,
        cautions=tuple(dict.fromkeys(words for found in every for words in found.cautions)),
        buildings=tuple(building_areas(name, many) for name, many in determinations.items()),
    )


def building_areas(name: str, determinations: Sequence[Determination]) -> BuildingAreas:
    """Return the areas of one building from its determinations, one for each rulebook.

    Parameters
    ----------
    name
        The building.
    determinations
        One for each rulebook.
    """
    by_book = {found.rulebook.id: found for found in determinations}
    answers = {}
    for area in area_names().values():
        found = by_book.get(area.rulebook)
        finding = None if found is None else next((f for f in found.findings if f.id == area.asked), None)
        if finding is not None:
            answers[area.name] = _of_finding(finding)
    first = determinations[0]
    tier = next((found.tier for found in determinations if found.tier is not None), None)
    town = first.place.municipality
    return BuildingAreas(
        id=name,
        place=first.site.typed,
        municipality=town.name if town else None,
        mun_code=town.mun_code if town else None,
        county=first.place.county,
        areas=answers,
        bounds=None if tier is None else BaseBounds(floor=tier.floor, ceiling=tier.ceiling),
    )


def _of_finding(finding: Finding) -> AreaAnswer:
    leans = finding.leans if finding.leans in {"yes", "no"} and finding.outcome == "undetermined" else None
    return AreaAnswer(
        outcome=finding.outcome,
        leans=leans,
        margin_ft=finding.margin_ft,
        assumed=finding.assumed,
        status=finding.status,
        why=finding.why,
        settles=tuple(missing.words for missing in finding.would_decide),
    )


def areas_of_row(row: Mapping[str, Any], *, name: str = "site") -> Areas:
    """Return the areas of a row that `grownj batch` wrote.

    Parameters
    ----------
    name
        The building.
    row
        Values by column. Columns that are no area are left alone; an area without a column is undetermined.

    Raises
    ------
    FactError
        If a column of an area holds another word than yes, no or undetermined, or the row has no answer.

    Examples
    --------
    >>> row = {"priority_area": "yes", "base_floor": "3000", "base_ceiling": "3000", "my_column": 7}
    >>> areas_of_row(row).buildings[0]["priority_area"].outcome
    'yes'
    """
    if row.get("problem"):
        raise FactError(f"The row has no areas: {row['problem']}. Correct the site and run the batch again.")
    answers: dict[str, Any] = {}
    for area in area_names().values():
        if row.get(area.name) in (None, ""):
            continue
        leans = row.get(f"{area.name}_leans") or None
        answers[area.name] = {
            "outcome": row[area.name],
            "leans": leans,
            "why": "; ".join(filter(None, ["as the batch says", row.get(f"{area.name}_causes")])),
            "assumed": str(row.get(f"{area.name}_assumed", "")).lower() == "true",
        }
    bounds = None
    if "base_floor" in row or "base_ceiling" in row:
        bounds = {"floor": row.get("base_floor") or None, "ceiling": row.get("base_ceiling") or None}
    return _checked(
        {
            "made_from": "batch row",
            "rulebooks": {str(row["rulebook"]).split()[0]: str(row["rulebook"])} if row.get("rulebook") else {},
            "buildings": [
                {
                    "id": name,
                    "municipality": row.get("municipality") or None,
                    "mun_code": row.get("mun_code") or None,
                    "county": row.get("county") or None,
                    "areas": answers,
                    "bounds": bounds,
                }
            ],
        },
        "The row",
    )


def areas_by_hand(raw: object, *, name: str = "The areas") -> Areas:
    """Return areas that somebody wrote, as YAML or JSON gave them.

    Parameters
    ----------
    name
        The file, for messages.
    raw
        A whole record, or only names and answers of one building.

    Raises
    ------
    FactError
        If a name or an answer is not known; the message tells all problems with their places.

    Examples
    --------
    >>> areas_by_hand({"priority_area": True, "rest": "no"}).buildings[0]["southern_eight"].outcome
    'no'
    """
    if isinstance(raw, dict) and {"business", "program"} & set(raw):
        raise FactError(f"{name} is a project, not areas. Expected names of areas with yes or no; leave it out here.")
    if isinstance(raw, dict) and "buildings" not in raw:
        rest = {key: raw[key] for key in ("rest", "bounds", "municipality", "county") if key in raw}
        raw = {"buildings": [{**rest, "areas": {k: v for k, v in raw.items() if k not in rest}}]}
    return _checked(raw, name)


def _checked(raw: object, name: str) -> Areas:
    try:
        return Areas.model_validate(raw)
    except ValidationError as error:
        problems = []
        for each in error.errors():
            place = " > ".join(str(step) for step in each["loc"])
            words = each["msg"].removeprefix("Value error, ")
            if each["type"] == "extra_forbidden":
                words = "nothing of the areas is called that"
            problems.append(f"{place}: {words}" if place else words)
        raise FactError(f"{name} cannot be taken as areas: {'; '.join(problems)}.") from error
