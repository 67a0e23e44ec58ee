"""The command line's `grownj rules`: what the rulebooks say, why a site comes out as it does, what is covered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from grownj_geo import cli_site
from grownj_geo.cli_site import (
    EPILOG,
    STRICT_WORDS,
    AsOf,
    Crs,
    Editions,
    Facts,
    FactsFile,
    Json,
    Municipality,
    Pin,
    Question,
    Readings,
    SiteCommand,
    Strict,
    StrictEditions,
    Text,
    Texts,
    Uncertainty,
    Width,
    console_of,
    day_of,
    fail,
    fail_incomplete,
    option,
    print_json,
    readings_of,
    refusals,
    rulebook_of,
    say,
    utf8,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grownj_geo.binding import BoundRulebook
    from grownj_geo.rulebook import Category, Rulebook

__all__ = ["rules_app"]

_LACKING = 1
_KINDS = {"area": "AREAS", "project": "PROJECTS", "ground": "GROUNDS that these are built from"}
_CASES_ELSEWHERE = "The cases live in the repository, in tests/rule_cases; an installed package has none."

Book = Annotated[
    Text, option("--rulebook", metavar="ID|FILE", words="A shipped rulebook's id or a YAML file (default: grow-nj).")
]

rules_app = typer.Typer(help="What the rulebooks say, and why.")


# -- list and show ------------------------------------------------------------------------------------


@rules_app.command("list")
def rules_list(*, rulebook: Book = None, json: Json = False, width: Width = None) -> None:
    """List the rulebooks, and the categories of one."""
    from grownj_geo.rulebook import load_rulebook, shipped_rulebooks  # noqa: PLC0415 - only where it is used

    book = rulebook_of(rulebook)
    books = [load_rulebook(book_id) for book_id in shipped_rulebooks()]
    if not any(shipped is book for shipped in books):
        books.insert(0, book)
    rows = [_book_row(each) | {"listed": each is book} for each in books]
    categories = [_category_row(category, book) for category in book.categories]
    if json:
        print_json({"rulebooks": rows, "categories": categories})
        return
    from grownj_geo.rules_page import listed_page  # noqa: PLC0415 - only where it is used

    listed_page(rows, categories, _KINDS, console_of(width))


def _book_row(book: Rulebook) -> dict[str, Any]:
    return {
        "id": book.id,
        "title": book.title,
        "version": book.version,
        "citation": book.citation,
        "first_day": str(book.first_day),
        "last_day": str(book.last_day),
        "outside_days": book.outside_days.strip(),
        "categories": len(book.categories),
    }


def _category_row(category: Category, book: Rulebook) -> dict[str, Any]:
    row = category.model_dump(mode="json", exclude={"rule"})
    return row | {"taken_from": _taken_from(category, book)}


def _taken_from(category: Category, book: Rulebook) -> str | None:
    """Return the shipped rulebook that a category was taken from by `uses`."""
    from grownj_geo.rulebook import load_rulebook  # noqa: PLC0415 - only where it is used

    for source in book.uses:
        if any(other.id == category.id and other.rule == category.rule for other in load_rulebook(source).categories):
            return source
    return None


def _category(book: Rulebook, typed: str) -> Category:
    """Return a category by its id or its label, however it is capitalised."""
    wanted = "_".join(typed.lower().replace("-", " ").replace("_", " ").split())
    for category in book.categories:
        if wanted in {category.id, "_".join(category.label.lower().replace("-", " ").replace("_", " ").split())}:
            return category
    return book.category(typed.strip())


def _bound(book: Rulebook, as_of: str | None, reading: Sequence[str]) -> BoundRulebook:
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.binding import bind  # noqa: PLC0415 - only where it is used
    from grownj_geo.readings import resolve_readings  # noqa: PLC0415 - only where it is used

    chosen = resolve_readings(readings_of(reading, strict=False))
    return bind(book, as_of=day_of(as_of, "--as-of") or DEFAULT_AS_OF, readings=chosen)


@rules_app.command("show")
def rules_show(
    category: Annotated[list[str], typer.Argument(metavar="CATEGORY", help="A category's id, as in 'rules list'.")],
    *,
    rulebook: Book = None,
    as_of: AsOf = None,
    reading: Readings = None,
    deep: Annotated[bool, option("--deep", words="Show the categories that it names too.")] = False,
    json: Json = False,
    width: Width = None,
) -> None:
    """Show a definition without a site: its words, readings and clauses, and what it needs."""
    from grownj_geo.rules_text import definition_of  # noqa: PLC0415 - only where it is used

    typed = " ".join(category)
    utf8(typed, *(reading or ()))
    book = rulebook_of(rulebook)
    with refusals():
        bound = _bound(book, as_of, reading or ())
        chosen = _category(book, typed)
    shown = definition_of(chosen, bound, cli_site.atlas_of(bound.as_of), deep=deep)
    if json:
        print_json(shown)
        return
    from grownj_geo.rules_page import definition_page  # noqa: PLC0415 - only where it is used

    definition_page(shown, console_of(width))


# -- explain ------------------------------------------------------------------------------------------


@rules_app.command("explain", cls=SiteCommand, epilog=EPILOG)
def rules_explain(
    words: Annotated[
        Texts,
        typer.Argument(metavar="SITE CATEGORY", help="A site as in 'grownj check', then a category's id as last word."),
    ] = None,
    *,
    as_of: AsOf = None,
    pin: Pin = None,
    municipality: Municipality = None,
    crs: Crs = None,
    uncertainty_ft: Uncertainty = 0.0,
    fact: Facts = None,
    facts_file: FactsFile = None,
    reading: Readings = None,
    strict: Strict = False,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    rulebook: Book = None,
    compact: Annotated[bool, option("--compact", words="Only the clauses that decide.")] = False,
    json: Json = False,
    width: Width = None,
) -> None:
    """Explain one category for one site, clause by clause."""
    from grownj_geo.explain import explain  # noqa: PLC0415 - only where it is used

    *site, last = words or [""]
    utf8(*site, last, pin, municipality, crs, *(fact or ()), *(reading or ()))
    if not last:
        fail("Nothing to explain. Expected a site and a category: grownj rules explain 40.7344,-74.1641 port_district.")
    book = rulebook_of(rulebook)
    category = _last_word(book, last)
    question = Question(
        typed=" ".join(site),
        day=day_of(as_of, "--as-of"),
        chosen=readings_of(reading or (), strict=strict, strict_editions=strict_editions),
        stated=(fact or (), facts_file),
        place={"pin": pin, "municipality": municipality, "crs": crs, "uncertainty_ft": uncertainty_ft},
        editions=edition or (),
    )
    (engine,), place = question.prepare([_asking_only(book, category)])
    with refusals():
        found = engine.determine(place, other_readings=True)
        tree = explain(engine.run(place), category.id, depth="compact" if compact else "whole")
    if strict:
        say(f"--strict: {STRICT_WORDS}")
    if json:
        from grownj_geo.records import rulebook_record  # noqa: PLC0415 - only where it is used

        record = found.model_dump(mode="json", exclude={"findings", "tier", "stations", "not_checked", "layers"})
        # Of the rulebook itself, not of the copy that asks one question.
        record["rulebook"] = rulebook_record(book).model_dump(mode="json")
        finding = found[category.id].model_dump(mode="json") | {"kind": category.kind}
        print_json(record | {"finding": finding, "explanation": tree.model_dump(mode="json")})
    else:
        from grownj_geo.rules_page import explained_page  # noqa: PLC0415 - only where it is used

        explained_page(found, category, tree, console_of(width))
    if found.incomplete:
        fail_incomplete([layer.problem for layer in found.layers if layer.problem])


def _last_word(book: Rulebook, last: str) -> Category:
    from grownj_geo.errors import RulebookError  # noqa: PLC0415 - only where it is used

    try:
        return _category(book, last)
    except RulebookError as error:
        fail(f"{error} The last word must be a category: write grownj rules explain SITE CATEGORY.")


def _asking_only(book: Rulebook, category: Category) -> Rulebook:
    """Return the rulebook with one category as its only question: grounds can be asked for too, and it is quicker."""
    kind = "area" if category.kind == "ground" else category.kind
    return book.model_copy(
        update={
            "categories": tuple(
                each.model_copy(update={"kind": kind if each is category else "ground"}) for each in book.categories
            ),
        }
    )


# -- readings and facts -------------------------------------------------------------------------------


@rules_app.command("readings")
def rules_readings(
    reading: Annotated[Text, typer.Argument(metavar="[ID]", help="One reading in full.", show_default=False)] = None,
    *,
    json: Json = False,
    width: Width = None,
) -> None:
    """List the open questions of the law's geography, and the ways to read each."""
    from grownj_geo.readings import load_readings, nearest_name  # noqa: PLC0415 - only where it is used

    utf8(reading)
    known = load_readings()
    named = _named_by("readings")
    rows = [entry.model_dump(mode="json") | {"named_by": named.get(entry.id, [])} for entry in known.values()]
    if reading is not None:
        rows = [row for row in rows if row["id"] == reading.strip().upper()]
        if not rows:
            first, *_, last = known
            fail(f"There is no reading {reading!r}; expected one of {first} to {last}. {nearest_name(reading, known)}")
    if json:
        print_json(rows if reading is None else rows[0])
        return
    from grownj_geo.rules_page import reading_page, readings_page  # noqa: PLC0415 - only where it is used

    console = console_of(width)
    readings_page(rows, console) if reading is None else reading_page(rows[0], console)


@rules_app.command("facts")
def rules_facts(
    name: Annotated[Text, typer.Argument(metavar="[NAME]", help="One fact in full.", show_default=False)] = None,
    *,
    json: Json = False,
    width: Width = None,
) -> None:
    """List the site facts that can be stated: what a map cannot show."""
    from grownj_geo.facts import load_facts  # noqa: PLC0415 - only where it is used
    from grownj_geo.readings import nearest_name  # noqa: PLC0415 - only where it is used

    utf8(name)
    known = load_facts()
    asked = _named_by("facts")
    rows = [
        entry.model_dump(mode="json")
        | {"expected": entry.expected, "example": entry.example, "asked_by": asked.get(entry.name, [])}
        for entry in known.values()
    ]
    if name is not None:
        rows = [row for row in rows if row["name"] == name.strip().lower().replace("-", "_")]
        if not rows:
            fail(f"There is no fact {name!r}. {nearest_name(name, known)}")
    if json:
        print_json(rows if name is None else rows[0])
        return
    from grownj_geo.rules_page import fact_page, facts_page  # noqa: PLC0415 - only where it is used

    console = console_of(width)
    facts_page(rows, console) if name is None else fact_page(rows[0], console)


def _named_by(kind: str) -> dict[str, list[str]]:
    """Return, for every reading or fact, the categories of shipped rulebooks whose own clauses name it."""
    from grownj_geo.rulebook import load_rulebook, shipped_rulebooks  # noqa: PLC0415 - only where it is used
    from grownj_geo.rules_text import needs_of  # noqa: PLC0415 - only where it is used

    found: dict[str, list[str]] = {}
    for book_id in shipped_rulebooks():
        book = load_rulebook(book_id)
        for category in book.categories:
            if _taken_from(category, book) is None:
                for name in needs_of(category)[kind]:
                    found.setdefault(name, []).append(f"{book_id}:{category.id}")
    return found


# -- coverage and validate ----------------------------------------------------------------------------


@rules_app.command("coverage")
def rules_coverage(
    *,
    lacking: Annotated[bool, option("--lacking", words="Only nodes that lack a kind of case.")] = False,
    json: Json = False,
    width: Width = None,
) -> None:
    """Show which clause of the law is which node of a rulebook, and its cases; exit code 1 if a node lacks a kind."""
    from grownj_geo.coverage import case_folder, coverage, load_clauses  # noqa: PLC0415 - only where it is used

    folder = case_folder()
    with refusals():
        covered = {node.node: node.model_dump(mode="json") for node in coverage(cases=folder)}
        clauses = load_clauses()
    short = [name for name, node in covered.items() if node["lacking"]]
    rows = [
        clause.model_dump(mode="json", exclude={"nodes"})
        | {"nodes": [covered[name] for name in clause.nodes if name in short or not lacking]}
        for clause in clauses
        if not lacking or any(name in short for name in clause.nodes)
    ]
    if json:
        print_json({"cases": None if folder is None else str(folder), "lacking": short, "clauses": rows})
    else:
        from grownj_geo.rules_page import coverage_page  # noqa: PLC0415 - only where it is used

        where = _CASES_ELSEWHERE if folder is None else f"Cases in {folder}."
        summary = f"{len(clauses)} clauses of the law are carried by {len(covered)} nodes of the rulebooks. {where}"
        coverage_page(summary, rows, console_of(width))
    if short:
        fail(f"{len(short)} of {len(covered)} nodes lack a kind of case: {', '.join(short)}.", _LACKING)


@rules_app.command("validate")
def rules_validate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A rulebook in YAML.")],
    *,
    json: Json = False,
    width: Width = None,
) -> None:
    """Check a rulebook of your own: what it holds, or every problem with its place (exit code 2)."""
    from grownj_geo.rules_text import needs_of  # noqa: PLC0415 - only where it is used

    book = rulebook_of(file)
    own = [category for category in book.categories if _taken_from(category, book) is None]
    used = needs_of(*book.categories)
    held = _book_row(book) | {
        "file": file,
        "categories": [category.id for category in own],
        "taken": {c.id: source for c in book.categories if (source := _taken_from(c, book))},
        "tiers": [tier.id for tier in book.tiers],
        "needs": used,
    }
    if json:
        print_json(held)
        return
    from grownj_geo.rules_page import held_page  # noqa: PLC0415 - only where it is used

    held_page(held, console_of(width))
