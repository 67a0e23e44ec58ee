"""Lists of the HTTP API: what this server is and has, the layers, the rules, the facts, the readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.binding import bind
from grownj_geo.creditreadings import credit_readings
from grownj_geo.determination import software
from grownj_geo.determine import DISCLAIMER
from grownj_geo.errors import RulebookError
from grownj_geo.facts import load_facts
from grownj_geo.layerstatus import layer_status
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.rules_text import definition_of, needs_of
from grownj_geo.serveproblems import ProblemError

if TYPE_CHECKING:
    from datetime import date

    from grownj_geo.atlas import Atlas
    from grownj_geo.determine import Engine
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.serveanswers import Terms
    from grownj_geo.store import Store

__all__ = ["about_words", "book_rows", "category_rows", "definition", "fact_rows", "layer_rows", "reading_rows"]


def about_words(atlas_mark: str) -> dict[str, Any]:
    """Return what this server is: version, days, rulebooks; `atlas_mark` tells its layers from others."""
    book = load_rulebook()
    name, _, version = software().partition(" ")
    return {
        "version": version,
        "software": f"{name} {version}",
        "disclaimer": DISCLAIMER,
        "as_of": {"default": DEFAULT_AS_OF, "first": book.first_day, "last": book.last_day},
        "rulebooks": book_rows(),
        "atlas": atlas_mark,
    }


def book_rows() -> list[dict[str, Any]]:
    """Return the rulebooks that ship, the default one first."""
    return [
        {
            "id": book.id,
            "title": book.title,
            "version": book.version,
            "default": place == 0,
            "citation": book.citation,
            "first_day": book.first_day,
            "last_day": book.last_day,
            "outside_days": book.outside_days.strip(),
            "categories": len(book.categories),
        }
        for place, book in enumerate(map(load_rulebook, shipped_rulebooks()))
    ]


def category_rows() -> list[dict[str, Any]]:
    """Return every category of every rulebook, without its clauses."""
    return [
        category.model_dump(mode="json", exclude={"rule"}) | {"rulebook": book.id}
        for book in map(load_rulebook, shipped_rulebooks())
        for category in book.categories
    ]


def definition(terms: Terms, category: str, atlas: Atlas, *, deep: bool) -> dict[str, Any]:
    """Return a category's definition on a day, with all that it needs.

    Raises
    ------
    ProblemError
        404 where there is no such rulebook or category.
    RulebookError
        For a day that the rulebook does not cover, or a reading that there is not.
    """
    book = known_book(terms.rulebook)
    try:
        found = book.category(category)
    except RulebookError as error:
        raise ProblemError(404, str(error), code="no_category") from error
    bound = bind(book, as_of=terms.as_of, readings=resolve_readings(dict(terms.readings)))
    return definition_of(found, bound, atlas, deep=deep)


def known_book(rulebook: str) -> Rulebook:
    """Return a rulebook that ships.

    Raises
    ------
    ProblemError
        404 where there is none.
    """
    if rulebook not in shipped_rulebooks():
        known = ", ".join(shipped_rulebooks())
        raise ProblemError(404, f"There is no rulebook {rulebook!r}; there are {known}.", code="no_rulebook")
    return load_rulebook(rulebook)


def fact_rows() -> list[dict[str, Any]]:
    """Return the vocabulary of site facts, with the categories that ask for each."""
    asked = _named_by("facts")
    return [
        fact.model_dump(mode="json")
        | {"used_by": asked.get(fact.name, []), "expected": fact.expected, "example": fact.example}
        for fact in load_facts().values()
    ]


def reading_rows() -> list[dict[str, Any]]:
    """Return the open questions of the law's geography, then of the credit rules, with who names each."""
    named = _named_by("readings")
    of_areas = [entry.model_dump(mode="json") | {"of": "areas"} for entry in load_readings().values()]
    of_credits = [entry.model_dump(mode="json") | {"of": "credits"} for entry in credit_readings().values()]
    return [row | {"named_by": named.get(row["id"], [])} for row in (*of_areas, *of_credits)]


def _named_by(kind: str) -> dict[str, list[str]]:
    """Return, by fact or reading, the categories of all rulebooks that name it themselves."""
    found: dict[str, list[str]] = {}
    for book in map(load_rulebook, shipped_rulebooks()):
        for category in book.categories:
            for name in needs_of(category)[kind]:
                if category.id not in found.setdefault(name, []):
                    found[name].append(category.id)
    return found


def layer_rows(engine: Engine, store: Store) -> dict[str, Any]:
    """Return the layers of an engine's day and the editions of the store, with what waits for each.

    Raises
    ------
    LayerError
        If the store cannot be read.
    """
    atlas = engine.atlas
    needed: dict[str, list[str]] = {}
    for category in engine.rulebook.categories:
        for layer_id in needs_of(category)["layers"]:
            if category.label not in needed.setdefault(layer_id, []):
                needed[layer_id].append(category.label)
    rows = []
    for record in engine.layer_records:
        manifest = atlas.manifests[record.id]
        rows.append(
            {
                "id": record.id,
                "title": record.title,
                "publisher": manifest.publisher,
                "ships": manifest.ships,
                "status": record.status,
                "problem": record.problem,
                "edition": record.edition,
                "valid_from": manifest.valid_from,
                "valid_until": manifest.valid_until,
                "stored": record.stored,
                "origin": record.origin,
                "accuracy_ft": manifest.accuracy_ft,
                "sha256": record.sha256,
                "waiting": needed.get(record.id, []),
                "how": manifest.load_command,
                "words": manifest.how_to_load,
            }
        )
    return {"layers": rows, "editions": _editions(atlas.as_of, store, needed)}


def _editions(day: date, store: Store, needed: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [edition.model_dump(mode="json") for edition in layer_status(day, needed_by=needed, store=store).editions]
