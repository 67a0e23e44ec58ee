"""The pages of the law as this package has it: rulebooks, categories, readings, facts and coverage."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs_text import anchor, bullets, code, status, table, text

from grownj_geo.atlas import DEFAULT_AS_OF, load_atlas
from grownj_geo.binding import bind
from grownj_geo.coverage import coverage, load_clauses
from grownj_geo.facts import load_facts
from grownj_geo.readings import load_readings, resolve_readings
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks
from grownj_geo.rules_text import definition_of, value_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grownj_geo.rulebook import Category, Rulebook

__all__ = ["rule_pages"]

_KINDS = {"area": "Areas", "project": "Projects", "ground": "Grounds that these are built from"}
_SEE = re.compile(r"category ([a-z0-9_\\]+)( holds)? \(see grownj rules show [a-z0-9_\\]+\)")
_CASES = Path(__file__).resolve().parents[1] / "tests" / "rule_cases"

_INTRO = """\
# Rules

The law is data: every page below is made from the rulebooks that `grownj` computes with, so it says what is asked and
nothing else. Wording is the project's own; the citation says where the law stands. How far a figure or a list is known
is explained in [the data's README](../project/data.md).
"""


def rule_pages() -> dict[str, str]:
    """Return the pages by their place below ``docs``."""
    atlas = load_atlas(store=_CASES / "no-store")
    pages = {"rules/readings.md": _readings(), "rules/facts.md": _facts(), "rules/coverage.md": _coverage()}
    rows = []
    for book_id in shipped_rulebooks():
        book = load_rulebook(book_id)
        bound = bind(book, as_of=max(book.first_day, DEFAULT_AS_OF), readings=resolve_readings({}))
        pages[f"rules/{book.id}/index.md"] = _book(book)
        for category in book.categories:
            shown = definition_of(category, bound, atlas, deep=False)
            pages[f"rules/{book.id}/{category.id}.md"] = _category(category, shown, book)
        days = f"{book.first_day} to {book.last_day}"
        rows.append([f"[{code(book.id)}]({book.id}/index.md)", text(book.title), str(len(book.categories)), days])
    also = [
        "[Readings](readings.md): where the text is silent or goes round in a circle, and the ways to read it.",
        "[Facts](facts.md): what no map shows and somebody has to state.",
        "[Figures of the credits](credits.md): what credits are computed from, each with its status.",
        "[Coverage](coverage.md): every geographic clause of the texts, and what computes it.",
    ]
    head = ["Rulebook", "Title", "Categories", "Days"]
    pages["rules/index.md"] = "\n".join([_INTRO, *table(head, rows), *bullets(also)])
    return pages


def _book(book: Rulebook) -> str:
    lines = [
        f"# {text(book.title)}",
        "",
        (
            f"Rulebook {code(book.id)}, version {text(book.version)}; {text(book.citation)}; {book.first_day} to "
            f"{book.last_day}. {text(book.outside_days)}"
        ),
    ]
    for kind, title in _KINDS.items():
        group = [category for category in book.categories if category.kind == kind]
        rows = [
            [f"[{text(c.label)}]({c.id}.md)", text(c.citation), text(c.summary), text(c.status.replace("_", " "))]
            for c in group
        ]
        if rows:
            lines += ["", f"## {title}", *table(["Category", "Citation", "In our words", "Status"], rows)]
    tiers = [[text(t.label), f"${t.dollars:,}", text(t.citation), text(t.status)] for t in book.tiers]
    if tiers:
        lines += ["", "## Base amounts", *table(["Line", "Per job and year", "Citation", "Status"], tiers)]
    figures = [
        [
            text(parameter.label),
            text(value_words(parameter, value)),
            str(value.from_),
            text(value.citation),
            status(value.status, value.status_note),
        ]
        for parameter in book.parameters.values()
        for value in parameter.values
    ]
    if figures:
        lines += ["", "## Figures", *table(["Figure", "Value", "From", "Citation", "Status"], figures)]
    return "\n".join(lines) + "\n"


def _category(category: Category, shown: dict[str, Any], book: Rulebook) -> str:
    lines = [
        f"# {text(category.label)}",
        "",
        f"{text(shown['summary'])}",
        "",
        *bullets(
            [
                f"Category {code(category.id)} of [{text(book.title)}](index.md), kind {text(category.kind)}",
                f"Citation: {text(shown['citation'])}",
                f"Status: {text(shown['status'].replace('_', ' '))}",
                f"As of {shown['as_of']}, with the default readings",
            ]
        ),
    ]
    if shown["note"]:
        lines += ["", text(shown["note"])]
    lines += ["", "## Clauses", "", *_clause(shown["clause"], 0, shown["citation"])]
    lines += _section(
        "Readings",
        (
            f"[{r['id']}](../readings.md#{r['id'].lower()}), {text(r['title'])}: {code(r['option'])}. "
            f"{text(r['meaning'])}"
            for r in shown["readings"]
        ),
    )
    lines += _section(
        "Layers",
        (
            f"[{text(layer['title'])}](../../layers.md#{layer['id']}) ({'ships' if layer['ships'] else 'to be loaded'})"
            for layer in shown["layers"]
        ),
    )
    lines += _section(
        "Lists of municipalities", (f"{text(one['label'])}: {text(one['note'])}" for one in shown["lists"])
    )
    lines += _section(
        "Facts",
        (f"[{code(fact['name'])}](../facts.md#{fact['name']}): {text(fact['question'])}" for fact in shown["facts"]),
    )
    asked = f"grownj rules explain SITE {category.id}"
    lines += ["", f"For a site: `{asked}`. {'' if book.id == 'grow-nj' else f'With `--rulebook {book.id}`.'}".rstrip()]
    return "\n".join(lines) + "\n"


def _section(title: str, entries: Iterable[str]) -> list[str]:
    found = bullets(entries)
    return ["", f"## {title}", "", *found] if found else []


def _clause(clause: dict[str, Any], level: int, citation: str) -> list[str]:
    """Return a clause and those below it as a list within a list."""
    # The category that is named has a page of its own beside this one.
    words = _SEE.sub(
        lambda found: f"category [{found[1]}]({found[1].replace(chr(92), '')}.md){found[2] or ''}",
        text(clause["words"]),
    )
    label = f"**{text(clause['label'])}**: " if clause["label"] else ""
    notes = [f"{word} {clause[word]}" for word in ("from", "until") if clause[word]]
    notes += {"no": ["not in force on this day"], "unsure": ["perhaps in force on this day"]}.get(
        clause["in_force"], []
    )
    notes += [f"if {_reading(reading)} is {text(_options(option))}" for reading, option in clause["when"].items()]
    notes += [] if clause["chosen"] else ["not the reading chosen"]
    notes += [_reading(reading) for reading in clause["readings"] if reading not in clause["when"]]
    notes += [text(clause["note"])] if clause["note"] else []
    said = f" *({'; '.join(notes)})*" if notes else ""
    cited = f" — {text(clause['citation'])}" if clause["citation"] != citation else ""
    lines = bullets([f"{label}{words}{said}{cited}"], level=level)
    for child in clause["clauses"]:
        lines += _clause(child, level + 1, clause["citation"])
    return lines


def _options(option: object) -> str:
    return option if isinstance(option, str) else " or ".join(str(each) for each in option)  # type: ignore[attr-defined]


def _reading(reading: str) -> str:
    return f"[{reading}](../readings.md#{reading.lower()})"


def _readings() -> str:
    lines = [
        "# Readings",
        "",
        (
            "Where the text is silent, unclear or goes round in a circle, there is more than one way to read it. Each "
            "question has a number, its options and a default; an answer names those that mattered. Choose with "
            '`--reading A11=strict`, or `readings={"A11": "strict"}` in Python.'
        ),
    ]
    for reading in load_readings().values():
        lines += ["", f"## {reading.id}: {text(reading.title)} {anchor(reading.id)}", "", text(reading.question), ""]
        for name, meaning in reading.options.items():
            default = " (default)" if name == reading.default and len(reading.options) > 1 else ""
            lines += bullets([f"{code(name)}{default}: {text(meaning)}"])
        if reading.kind != "option":
            lines += ["", "One way is built in; it cannot be chosen."]
        lines += ["", f"Evidence: {text(reading.evidence)}", "", f"Citation: {text(reading.citation)}"]
    return "\n".join(lines) + "\n"


def _facts() -> str:
    lines = [
        "# Facts",
        "",
        (
            "What no map shows. State it with `--fact NAME=VALUE`, in a column of a table, or with `facts={...}` in "
            "Python. A fact that nobody states leaves open what rests on it. Official findings are those that only an "
            "authority can make."
        ),
    ]
    for fact in load_facts().values():
        unit = f" of {fact.unit}" if fact.unit else ""
        kind = "an official finding" if fact.kind == "ruling" else "anybody can state it"
        lines += ["", f"## {text(fact.label)} {anchor(fact.name)}", "", text(fact.question), ""]
        lines += bullets([f"Name: {code(fact.name)}", f"Value: {text(fact.type)}{text(unit)}; {kind}"])
        lines += bullets([f"Choices: {', '.join(map(code, fact.choices))}"] if fact.choices else [])
        lines += bullets([f"Citation: {text(fact.citation)}"])
        lines += ["", text(fact.note)] if fact.note else []
    return "\n".join(lines) + "\n"


def _coverage() -> str:
    covered = {node.node: node for node in coverage(cases=_CASES)}
    lines = [
        "# Coverage",
        "",
        (
            f"{len(load_clauses())} clauses of the texts, and the node of a rulebook that computes each, with the "
            "number of cases that test it: for yes, for no, on the line, and undetermined."
        ),
    ]
    last = None
    for clause in load_clauses():
        if clause.text != last:
            lines += ["", f"## {text(clause.text)}", ""]
            last = clause.text
        lines += bullets([text(clause.words)])
        for name in clause.nodes:
            counts = covered[name].cases or {}
            cases = ", ".join(f"{kind} {count}" for kind, count in counts.items())
            book, _, node = name.partition(":")
            page = f"{book}/{node.partition('.')[0]}.md"
            lines += bullets([f"[{code(name)}]({page}): {text(cases)}"], level=1)
    return "\n".join(lines) + "\n"
