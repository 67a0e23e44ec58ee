"""Files of the bill's credits: which program a file asks for, checked, and what it comes to."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from grownj_geo.areanames import area_names
from grownj_geo.creditbill import estimate_bill
from grownj_geo.creditbillinput import BILL_CREDITS, BillCredit, EmployeeGroup
from grownj_geo.credithub import estimate_hub
from grownj_geo.credithubinput import HubPeriod, HubProject
from grownj_geo.creditopen import settles_of
from grownj_geo.creditproblems import problem_in_words
from grownj_geo.creditproject import ProjectError
from grownj_geo.readings import nearest_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grownj_geo.areas import BuildingAreas
    from grownj_geo.creditanswer import CreditAnswer
    from grownj_geo.creditparams import Trust

__all__ = ["PROGRAMS", "estimate_program", "program_of", "template_of"]

PROGRAMS = ("grow-nj", "urban-transit-hub", *BILL_CREDITS)
"""What a file may name as its program; the first is that of a file that names none."""


def program_of(raw: object, *, name: str = "The file") -> str:
    """Return the program that a file asks for.

    Parameters
    ----------
    raw
        What YAML or JSON gave.
    name
        The file, for messages.

    Raises
    ------
    ProjectError
        If there is no such program; the message names the nearest.

    Examples
    --------
    >>> program_of({"business": {}}), program_of({"program": "enterprise-zone"})
    ('grow-nj', 'enterprise-zone')
    """
    found = raw.get("program", PROGRAMS[0]) if isinstance(raw, dict) else PROGRAMS[0]
    if found not in PROGRAMS:
        raise ProjectError(f"{name}: there is no program {found!r}. {nearest_name(str(found), PROGRAMS)}")
    return str(found)


def estimate_program(
    raw: dict[str, Any], *, name: str = "The file", areas: BuildingAreas | None = None, trust: Trust | None = None
) -> CreditAnswer:
    """Return what a credit of the bill comes to, from what a file holds.

    Parameters
    ----------
    name
        The file, for messages.
    raw
        What YAML or JSON gave, with its `program`.
    areas
        The areas of the place; left out, those that the file states.
    trust
        Which figures are taken as they stand; left out, what the file says.

    Raises
    ------
    ProjectError
        With every problem: its place, what was found, what was expected and what to do.
    """
    program = program_of(raw, name=name)
    model: type[BaseModel] = HubProject if program == "urban-transit-hub" else BILL_CREDITS[program]
    whole = dict(raw)
    stated = whole.get("areas")
    if isinstance(stated, dict) and not {"areas", "id"} & set(stated):
        # By hand, the areas are names and answers.
        rest = {key: stated[key] for key in ("rest", "bounds") if key in stated}
        whole["areas"] = {**rest, "areas": {key: value for key, value in stated.items() if key not in rest}}
    if areas is not None:
        whole["areas"] = areas
    if trust is not None:
        whole["trust"] = trust
    try:
        found = model.model_validate(whole)
    except ValidationError as error:
        models: dict[str, type[BaseModel]] = {"": model, "employees": EmployeeGroup, "periods": HubPeriod}
        problems = tuple(dict.fromkeys(problem_in_words(whole, dict(each), models) for each in error.errors()))
        count = f"{len(problems)} problem{'s' * (len(problems) > 1)}"
        raise ProjectError(f"{name} has {count}:\n" + "\n".join(f"  {each}" for each in problems), problems) from error
    answer = _answer(found)
    return answer.model_copy(update={"name": getattr(found, "name", ""), "settles": settles_of(found, _answer, answer)})


def _answer(found: BaseModel) -> CreditAnswer:
    return estimate_hub(found) if isinstance(found, HubProject) else estimate_bill(_bill(found))


def _bill(found: BaseModel) -> BillCredit:
    if not isinstance(found, BillCredit):
        raise TypeError(f"{type(found).__name__} is no credit of the bill")
    return found


def template_of(program: str) -> str:
    """Return an empty file of a credit of the bill: every field, what it expects, and what the docstring says of it.

    Raises
    ------
    ProjectError
        If there is no such program.

    Examples
    --------
    >>> print(template_of("income-tax-limit").splitlines()[0])
    program: income-tax-limit
    """
    program_of({"program": program}, name="--program")
    if program not in {"urban-transit-hub", *BILL_CREDITS}:
        raise ProjectError(f"{program!r} has a template of its own; leave --program out.")
    model: type[BaseModel] = HubProject if program == "urban-transit-hub" else BILL_CREDITS[program]
    lines = [f"program: {program}"]
    told = (inspect.getdoc(model) or "").splitlines()
    lines += [f"# {line}".rstrip() for line in told if line != "Attributes" and not line.startswith("---")]
    lines.append(
        "# Leave out what is not known. Money is plain dollars; take the # away before a line that you fill in."
    )
    lines += _fields(model, skip={"program", "trust"})
    return "\n".join(lines) + "\n"


def _fields(model: type[BaseModel], *, skip: set[str]) -> Iterator[str]:
    parts: dict[str, type[BaseModel]] = {"employees": EmployeeGroup, "periods": HubPeriod}
    for name, field in model.model_fields.items():
        if name in skip:
            continue
        inner = parts.get(name)
        if name == "areas":
            yield "areas:                                  # yes, no or undetermined, where they matter"
            for area in area_names().values():
                if area.rulebook != "grow-nj":
                    yield f"  {area.name}: undetermined  # {area.tests}"
        elif inner is not None:
            yield f"# {name}:"
            yield f"#   - {{{', '.join(f'{key}: {_words(inner, key)}' for key in inner.model_fields)}}}"
        else:
            words = _words(model, name)
            yield f"{name}: {words}  # needed: write one in its place" if field.is_required() else f"# {name}: {words}"


def _words(model: type[BaseModel], name: str) -> str:
    """Return what a field expects, in a word or two."""
    kind = str(model.model_fields[name].annotation)
    literal = re.search(r"Literal\[([^\]]*)\]", kind)
    if literal is not None:
        return str(literal[1]).replace("'", "").replace(", ", "|")
    for mark, words in (("tuple", "[numbers]"), ("bool", "yes|no"), ("date", "YYYY-MM-DD"), ("str", "text")):
        if mark in kind:
            return words
    return "number"
