"""The forms of a page for what is not asked of a site itself: a project's credit, and what stands on a report.

Which fields there are and how they are asked is in `forms.yaml`; what each may be is read from the model that takes it,
so that a form never offers what would be refused.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field

from grownj_geo.creditnames import PROJECT_FACTS
from grownj_geo.creditproject import Bonuses, Building, Business, CapitalItem, JobGroup, Project
from grownj_geo.readings import read_entries
from grownj_geo.serveasked import ReportAsk
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Form", "FormField", "FormList", "FormPart", "load_forms", "models_of"]

FieldType = Literal["boolean", "number", "date", "text", "choice"]
Repeated = Literal["no", "one", "many"]

_MODELS: dict[str, dict[str, type[BaseModel]]] = {
    "credits": {
        "": Project,
        "business": Business,
        "buildings": Building,
        "jobs": JobGroup,
        "capital": CapitalItem,
        "bonuses": Bonuses,
    },
    "report": {"": ReportAsk},
}


class _Asked(Strict):
    name: str
    question: Annotated[str, Field(min_length=5)]
    unit: str | None = None


class _Part(Strict):
    id: str
    label: str
    key: str
    repeated: Repeated = "no"
    fields: tuple[_Asked, ...]


class _Entry(Strict):
    id: str
    parts: tuple[_Part, ...]
    left_out: dict[str, str] = Field(default_factory=dict)


class FormField(Strict):
    """One field of a form.

    Attributes
    ----------
    name, question, unit
        What it is called where it is sent, how it is asked, and the unit of a number.
    type, choices
        What it may be.
    required
        Whether what is sent cannot be taken without it.
    default
        What counts where it is left out, as the model has it; None where it is then not known.
    """

    name: str
    question: str
    type: FieldType
    choices: tuple[str, ...] = ()
    unit: str | None = None
    required: bool = False
    default: str | None = None


class FormPart(Strict):
    """A part of a form.

    Attributes
    ----------
    id, label
        Its name, and what stands above it.
    key
        Where its fields stand in what is sent; empty for the top.
    repeated
        ``"many"`` for a list of such parts, ``"one"`` for a list of which the form has one entry.
    required
        Whether what is sent cannot be taken without it.
    fields
        In the order in which they are asked.
    """

    id: str
    label: str
    key: str
    repeated: Repeated
    required: bool
    fields: tuple[FormField, ...]


class Form(Strict):
    """A form: its parts in order."""

    id: str
    parts: tuple[FormPart, ...]


class FormList(Strict):
    """The forms."""

    forms: tuple[Form, ...]


def models_of(form: str) -> Mapping[str, type[BaseModel]]:
    """Return what takes each part of a form, by the part's key."""
    return _MODELS[form]


@lru_cache(maxsize=1)
def load_forms() -> dict[str, Form]:
    """Return every form by its id.

    Raises
    ------
    RulebookError
        If the file of forms is not readable, or does not follow its format.

    Examples
    --------
    >>> industry = load_forms()["credits"].parts[0].fields[0]
    >>> industry.type, industry.required, industry.choices[:2]
    ('choice', True, ('aviation', 'defense'))
    """
    return {entry.id: Form(id=entry.id, parts=tuple(_parts(entry))) for entry in _entries()}


@lru_cache(maxsize=1)
def _entries() -> tuple[_Entry, ...]:
    content = (resources.files("grownj_geo") / "forms.yaml").read_bytes()
    return tuple(read_entries(content, _Entry, name="forms.yaml"))


def _parts(entry: _Entry) -> Iterator[FormPart]:
    for part in entry.parts:
        if part.key == "facts":
            fields = [
                FormField(name=name, question=f"Is it so that {words}?", type="boolean")
                for name, words in PROJECT_FACTS.items()
            ]
        else:
            model = _MODELS[entry.id][part.key]
            fields = [_field(asked, model) for asked in part.fields]
        whole = _MODELS[entry.id][""].model_fields
        yield FormPart(
            id=part.id,
            label=part.label,
            key=part.key,
            repeated=part.repeated,
            required=part.key in whole and whole[part.key].is_required(),
            fields=tuple(fields),
        )


def _field(asked: _Asked, model: type[BaseModel]) -> FormField:
    """Return a field as its model takes it."""
    info = model.model_fields[asked.name]
    kind, choices = _kind(info.annotation)
    default = info.get_default(call_default_factory=True) if not info.is_required() else None
    shown = None if default is None or default == "" else "yes" if default is True else str(default)
    return FormField(
        name=asked.name,
        question=asked.question,
        type=kind,
        choices=choices,
        unit=asked.unit,
        required=info.is_required(),
        default=shown,
    )


def _kind(annotation: Any) -> tuple[FieldType, tuple[str, ...]]:  # noqa: ANN401 - a type as it was written
    """Return what a field may be, in the words of forms."""
    for each in _alternatives(annotation):
        if get_origin(each) is Literal:
            return "choice", tuple(map(str, get_args(each)))
        for known, kind in ((bool, "boolean"), (date, "date"), (str, "text")):
            if each is known:
                return kind, ()  # type: ignore[return-value]
        if each in {int, float, Decimal}:
            return "number", ()
    raise TypeError(f"no form can ask for {annotation!r}")


def _alternatives(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - a type as it was written
    """Yield the types that an annotation allows, without what is put around them."""
    if get_origin(annotation) is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in {None, Literal}:
        if annotation is not type(None):
            yield annotation
    else:
        for each in get_args(annotation):
            yield from _alternatives(each)
