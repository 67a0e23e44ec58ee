"""What `grownj rules` prints for a reader: records of rules as text, wrapped, without anything decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.evidence import stated_words
from grownj_geo.explain import text_lines
from grownj_geo.report import Page, plain
from grownj_geo.words import margin_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from grownj_geo.determination import Determination, Finding
    from grownj_geo.explain import Explanation
    from grownj_geo.rulebook import Category

__all__ = [
    "coverage_page",
    "definition_page",
    "explained_page",
    "fact_page",
    "facts_page",
    "held_page",
    "listed_page",
    "reading_page",
    "readings_page",
]

Record = dict[str, Any]

_SURE = {None, "confirmed", "derived"}
_DEEPEST_INDENT = 0.4
_MOST_WAYS = 8


# -- blocks -------------------------------------------------------------------------------------------


def _entry(page: Page, title: str, *lines: str) -> None:
    """Print a title and, indented below it, its lines; lines without words are left out."""
    page.put(Text(plain(title), "bold", overflow="fold"))
    for words in lines:
        if words:
            _hanging(page, 4, "", Text(plain(words)))


def _hanging(page: Page, indent: int, mark: str, words: Text) -> None:
    """Print words wrapped under their own beginning, with a mark before it."""
    room = max(2, min(indent, int(page.width * _DEEPEST_INDENT)))
    words.overflow = "fold"
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=room - 1, justify="right")
    grid.add_column(overflow="fold")
    grid.add_row(mark, words)
    page.put(grid)


def _items(page: Page, title: str, entries: Sequence[str]) -> None:
    if entries:
        page.heading(title)
    for entry in entries:
        _hanging(page, 4, "-", Text(plain(entry)))


def _words(status: str) -> str:
    return status.replace("_", " ")


# -- list ---------------------------------------------------------------------------------------------


def listed_page(
    books: Iterable[Record], categories: Sequence[Record], kinds: Mapping[str, str], console: Console
) -> None:
    """Print the rulebooks, and the categories of the one chosen."""
    page = Page(console)
    page.put(Text("RULEBOOKS", "bold"))
    chosen: Record = {}
    for book in books:
        mark = ""
        if book["listed"]:
            chosen, mark = book, " (listed below)"
        _entry(
            page,
            f"{book['id']}{mark}",
            f"{book['title']}, version {book['version']}",
            f"{book['first_day']} to {book['last_day']}; {book['categories']} categories; {book['citation']}",
        )
    for kind, title in kinds.items():
        group = [row for row in categories if row["kind"] == kind]
        if group:
            page.heading(f"{title}, {chosen['id']} ({len(group)})")
        for row in group:
            about = [row["citation"], _words(row["status"])]
            about += [", ".join(row["readings"])] if row["readings"] else []
            about += [f"taken from {row['taken_from']}"] if row["taken_from"] else []
            _entry(page, f"{row['id']}: {row['label']}", "; ".join(about))
    page.blank()
    page.put(Text("For one: grownj rules show CATEGORY. Other rulebooks: --rulebook ID or FILE.", "dim"))


# -- show ---------------------------------------------------------------------------------------------


def definition_page(shown: Record, console: Console) -> None:
    """Print a definition with its clauses and what it needs."""
    page = Page(console)
    page.pairs(
        [
            ("Category", f"{shown['label']} ({shown['id']}, {shown['kind']})"),
            ("Rulebook", shown["rulebook"]),
            ("As of", _day_words(shown["as_of"])),
            ("Citation", shown["citation"]),
            ("Our wording", shown["summary"]),
            ("Status", _words(shown["status"])),
            ("Note", shown["note"]),
        ]
    )
    _readings(page, shown["readings"])
    page.heading("CLAUSES (x: does not count on this day or by the readings chosen; #: id)")
    _clause(page, shown["clause"], 0, shown["citation"])
    _items(
        page,
        "LAYERS",
        [
            f"{layer['title']} ({layer['id']}): {_layer_state(layer)}"
            + (f"; to load: {layer['how_to_load']}" if layer["status"] == "not loaded" else "")
            for layer in shown["layers"]
        ],
    )
    _items(
        page,
        "LISTS OF MUNICIPALITIES",
        [
            f"{each['label']} ({each['name']}), {'' if each['complete'] else 'not '}complete: {each['note']}"
            for each in shown["lists"]
        ],
    )
    _items(
        page,
        "FACTS (state them with --fact NAME=VALUE)",
        [f"{fact['name']} ({_fact_kind(fact)}): {fact['question']}" for fact in shown["facts"]],
    )
    through = [f"{kind}: {', '.join(names)}" for kind, names in shown["through_categories"].items() if names]
    _items(page, "THROUGH THE CATEGORIES NAMED (written out with --deep)", through)


def _day_words(day: str) -> str:
    return f"{day} ({'the default day' if day == str(DEFAULT_AS_OF) else 'as stated'})"


def _readings(page: Page, readings: Sequence[Record]) -> None:
    entries = []
    for each in readings:
        others = [option for option in each["options"] if option != each["option"]]
        default = "the default" if each["option"] == each["default"] else f"default {each['default']}"
        chosen = f" ({default}; or {', '.join(others)})" if others else ""
        entries.append(f"{each['id']}, {each['title']}: {each['option']}{chosen}. {each['meaning']}")
    _items(page, "READINGS (choose with --reading ID=OPTION)", entries)


def _clause(page: Page, clause: Record, level: int, citation: str) -> None:
    counts = clause["chosen"] and clause["in_force"] != "no"
    mark = "x" if not counts else "?" if clause["in_force"] == "unsure" else "-"
    label = f"{clause['label']}: " if clause["label"] else ""
    dates = " ".join(f"{word} {clause[word]}" for word in ("from", "until") if clause[word])
    not_counted = {"no": "not in force", "unsure": "perhaps in force"}.get(clause["in_force"], "")
    notes = [
        dates + (f", {not_counted} on this day" if not_counted else ""),
        *(f"if {reading}={option}" for reading, option in clause["when"].items()),
        "" if clause["chosen"] else "not the reading chosen",
        clause["note"] or "",
        "" if clause["status"] in _SURE else _words(clause["status"]),
        "shown above" if clause["shown_above"] else "",
        ", ".join(reading for reading in clause["readings"] if reading not in clause["when"]),
    ]
    said = "; ".join(note for note in notes if note)
    words = f"{label}{clause['words']}{f' [{said}]' if said else ''}"
    words += f" <{clause['citation']}>" if clause["citation"] != citation else ""
    text = Text(plain(words), "" if counts else "dim")
    text.append(f" #{plain(clause['path'])}", "dim")
    _hanging(page, 4 + 2 * level, mark, text)
    for child in clause["clauses"]:
        _clause(page, child, level + 1, clause["citation"])


def _layer_state(layer: Record) -> str:
    if layer["problem"]:
        return f"UNUSABLE: {layer['problem']}"
    return "ships" if layer["ships"] else str(layer["status"])


def _fact_kind(fact: Record) -> str:
    unit = f" of {fact['unit']}" if fact["unit"] else ""
    return f"{fact['type']}{unit}{', an official finding' if fact['kind'] == 'ruling' else ''}"


# -- explain ------------------------------------------------------------------------------------------


def explained_page(found: Determination, category: Category, tree: Explanation, console: Console) -> None:
    """Print why a category comes out as it does for a site."""
    page = Page(console)
    finding = found[category.id]
    place = found.place.municipality
    where = f"{place.name} ({place.mun_code}), {place.county} County" if place else found.place.words
    typed = f"{found.site.typed}: " if found.site.typed else ""
    page.pairs(
        [
            ("Site", f"{typed}{where}"),
            ("Located by", found.site.located_by),
            ("Facts stated", "; ".join(f"{name} = {stated_words(v)}" for name, v in found.site.facts.items())),
            ("As of", _day_words(str(found.as_of))),
            ("Rulebook", f"{found.rulebook.title}, {found.rulebook.version}"),
            ("Category", f"{category.label} ({category.id}, {category.kind})"),
            ("Our wording", category.summary),
            ("Outcome", _outcome(finding)),
            ("Assumed", "; ".join(finding.assumptions)),
        ]
    )
    _items(page, "COULD DECIDE IT (each line by itself)", _ways(finding) if finding.outcome == "undetermined" else [])
    page.heading("CLAUSES (YES, no, ? undetermined, - does not count)")
    for line in text_lines(_without_idle(tree)):
        mark, _, words = line.lstrip().partition(" ")
        words = words.lstrip()
        _hanging(page, len(line) - len(words), mark, Text(plain(words)))
    _items(page, "CAUTIONS", found.cautions)
    page.blank()
    page.put(Text(plain(found.disclaimer), "italic"))


def _without_idle(tree: Explanation) -> Explanation:
    """Leave out what is below a clause that does not count; the record (--json) keeps it."""
    below = () if tree.outcome is None else tuple(_without_idle(clause) for clause in tree.clauses)
    return tree.model_copy(update={"clauses": below})


def _outcome(finding: Finding) -> str:
    words = [finding.outcome.upper() + (f", leans {finding.leans}" if finding.leans else "")]
    if finding.margin_ft is not None:
        words.append(margin_words(finding.outcome, finding.margin_ft))
    if finding.assumed:
        words.append("by assumption")
    if finding.status not in _SURE:
        words.append(_words(finding.status))
    return "; ".join(words)


def _ways(finding: Finding) -> list[str]:
    """Return what could decide a finding, layers first: what somebody can load before what somebody must state."""
    sets = sorted(finding.would_decide, key=lambda missing: not missing.needs[0].startswith("layer:"))
    ways = [missing.words for missing in sets[:_MOST_WAYS]]
    if len(sets) > _MOST_WAYS:
        ways.append(f"{len(sets) - _MOST_WAYS} other ways, which are in the record (--json)")
    return ways or ["no layer, fact or reading, alone or with one other"]


# -- readings and facts -------------------------------------------------------------------------------


def readings_page(rows: Iterable[Record], console: Console) -> None:
    """Print every reading with its options."""
    page = Page(console)
    for row in rows:
        options = [f"{name} (default)" if name == row["default"] else name for name in row["options"]]
        kind = " or ".join(options) if row["kind"] == "option" else "documented: one way is built in"
        _entry(page, f"{row['id']}: {row['title']}", kind)
    page.blank()
    page.put(Text("For one: grownj rules readings ID. To choose: --reading ID=OPTION.", "dim"))


def reading_page(row: Record, console: Console) -> None:
    """Print one reading in full."""
    page = Page(console)
    page.pairs(
        [
            ("Reading", f"{row['id']}, {row['title']}"),
            ("Question", row["question"]),
            ("Citation", row["citation"]),
            ("Kind", "option: choose one" if row["kind"] == "option" else "documented: one way is built in"),
            ("Evidence", row["evidence"]),
            ("Affects", ", ".join(row["affects"]) or "amounts only"),
            ("Named by", ", ".join(row["named_by"]) or "no clause of a rulebook; the engine or the reader minds it"),
        ]
    )
    page.heading("OPTIONS")
    for name, words in row["options"].items():
        _entry(page, f"{name} (default)" if name == row["default"] else name, words)


def facts_page(rows: Iterable[Record], console: Console) -> None:
    """Print every fact with its question."""
    page = Page(console)
    for row in rows:
        asked = "" if row["asked_by"] else "; no rule asks for it"
        _entry(page, row["name"], f"{_fact_kind(row)}{asked}", row["question"])
    page.blank()
    page.put(Text("For one: grownj rules facts NAME. To state it: --fact NAME=VALUE.", "dim"))


def fact_page(row: Record, console: Console) -> None:
    """Print one fact in full."""
    page = Page(console)
    page.pairs(
        [
            ("Fact", f"{row['name']}: {row['label']}"),
            ("Question", row["question"]),
            ("Value", row["expected"]),
            ("State it like", f"--fact {row['example']}"),
            ("Kind", "an official finding" if row["kind"] == "ruling" else "a fact that anybody can state"),
            ("Citation", row["citation"]),
            ("Used by", ", ".join(row["used_by"])),
            ("Asked by", ", ".join(row["asked_by"]) or "no rule asks for it"),
            ("Note", row["note"]),
        ]
    )


# -- coverage and validate ----------------------------------------------------------------------------


def coverage_page(summary: str, rows: Iterable[Record], console: Console) -> None:
    """Print the clauses of the law, by text, each with its nodes and their cases."""
    page = Page(console)
    page.put(Text(plain(summary), overflow="fold"))
    last = None
    for row in rows:
        if row["text"] != last:
            page.heading(plain(row["text"]))
            last = row["text"]
        _hanging(page, 4, "-", Text(plain(f"{row['words']} ({row['id']})")))
        for node in row["nodes"]:
            words = [node["node"]]
            if node["cases"] is not None:
                words.append(", ".join(f"{kind} {count}" for kind, count in node["cases"].items()))
            words += [f"LACKS {', '.join(node['lacking'])}"] if node["lacking"] else []
            _hanging(page, 6, "", Text(plain("; ".join(words)), "bold" if node["lacking"] else ""))
        for kind, why in row["without"].items():
            _hanging(page, 6, "", Text(plain(f"no {kind} case: {why}")))


def held_page(held: Record, console: Console) -> None:
    """Print what a checked rulebook holds."""
    page = Page(console)
    needs = held["needs"]
    taken = [f"{name} from {source}" for name, source in held["taken"].items()]
    page.put(Text(plain(f"{held['file']} is a rulebook without a problem."), overflow="fold"))
    page.pairs(
        [
            ("Rulebook", f"{held['id']}: {held['title']}, version {held['version']}"),
            ("Citation", held["citation"]),
            ("Days", f"{held['first_day']} to {held['last_day']}. {held['outside_days']}"),
            *(
                (name, f"{len(entries)}: {', '.join(entries)}" if entries else None)
                for name, entries in (
                    ("Categories", held["categories"]),
                    ("Taken over", taken),
                    ("Tiers", held["tiers"]),
                    ("Layers", needs["layers"]),
                    ("Lists", needs["lists"]),
                    ("Figures", needs["figures"]),
                    ("Facts", needs["facts"]),
                    ("Readings", needs["readings"]),
                )
            ),
        ]
    )
