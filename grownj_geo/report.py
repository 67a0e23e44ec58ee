"""The report of a determination for a terminal, a pipe or a text file: the answer first.

Everything printed here is words of the record; nothing is decided. Text that a user's file brought along is
shown as plain text: no markup, no control characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.evidence import feet
from grownj_geo.explain import text_lines
from grownj_geo.readings import load_readings
from grownj_geo.reportwords import (
    deciding_words,
    outcome_words,
    plain,
    project_words,
    share_or_margin_words,
    site_pairs,
    source_words,
    typed_words,
    unusable_words,
    weak_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console, RenderableType

    from grownj_geo.determination import Determination, Finding
    from grownj_geo.explain import Explanation

__all__ = ["LayerRow", "plain", "render", "render_layers"]

LayerRow = dict[str, str | float | bool | list[str] | None]
"""One layer as `grownj layers list` shows it."""

_WIDEST = 120
_NARROW = 100
_ASSUMING = ("A25", "A43")
_STYLES = {"yes": "green", "no": "red", "undetermined": "yellow"}
_SAME_WHY_LENGTH = 60
_MOST_FACTS = 12
_MOST_WAITING = 4
_LIST_WIDTH = 80


def render(
    determination: Determination,
    console: Console,
    *,
    explanations: Mapping[str, Explanation] | None = None,
    next_better: str | None = None,
) -> None:
    """Print a determination.

    Parameters
    ----------
    determination
        The record.
    console
        Where to; its width and encoding are respected.
    explanations
        Trees of clauses by finding, printed under each.
    next_better
        How far it is to the next better line of the base amount, in a sentence.
    """
    page = Page(console)
    trees = explanations or {}
    _header(determination, page)
    _answer(determination, page, next_better)
    _site(determination, page)
    _findings(determination, page, trees)
    _projects(determination, page, trees)
    _stations(determination, page)
    page.items("CAUTIONS", determination.cautions)
    _not_checked(determination, page)
    _would_decide(determination, page)
    _layers(determination, page)
    page.blank()
    page.put(Text(plain(determination.disclaimer), "italic"))


class Page:
    """Prints blocks on a console, no line longer than it is wide and none with blanks at its end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.width = min(console.width, _WIDEST)
        self._encoding = console.encoding

    def put(self, block: RenderableType) -> None:
        options = self._console.options.update(width=self.width)
        for line in self._console.render_lines(block, options, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                line[-1] = Segment(line[-1].text.rstrip(), line[-1].style)
            shown = [Segment(self._encodable(s.text), s.style) for s in line]
            self._console.print(Segments([*shown, Segment.line()]), end="")

    def _encodable(self, text: str) -> str:
        return text.encode(self._encoding, "replace").decode(self._encoding)

    def blank(self) -> None:
        self._console.print()

    def heading(self, words: str, style: str = "") -> None:
        self.blank()
        self.put(Text(words, f"bold {style}".strip()))

    def pairs(self, rows: Iterable[tuple[str, str | Text | None]]) -> None:
        """Print names and values; rows without a value are left out."""
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=13)
        grid.add_column(overflow="fold")
        for name, value in rows:
            if value:
                grid.add_row(Text(name, "bold"), value if isinstance(value, Text) else Text(plain(value)))
        self.put(grid)

    def items(self, title: str, entries: Iterable[str]) -> None:
        """Print a list under a heading; nothing where it is empty."""
        shown = [plain(entry) for entry in entries]
        if not shown:
            return
        self.heading(title)
        grid = Table.grid(padding=(0, 1))
        for entry in shown:
            grid.add_row("-", Text(entry, overflow="fold"))
        self.put(grid)

    def tree(self, explanation: Explanation) -> None:
        """Print a tree of clauses, each wrapped under its own indent."""
        for line in text_lines(explanation):
            words = line.lstrip()
            grid = Table.grid()
            grid.add_column(width=min(6 + len(line) - len(words), self.width // 2))
            grid.add_column(overflow="fold")
            grid.add_row("", Text(plain(words), "dim"))
            self.put(grid)


# -- the first screen ---------------------------------------------------------------------------------


def _header(d: Determination, page: Page) -> None:
    known = load_readings()
    changed = [i for i, o in d.readings.items() if i in known and o != known[i].default and i not in _ASSUMING]
    place = d.place.municipality
    name = f"{place.name}, {place.county} County" if place else d.place.words
    page.pairs(
        [
            ("As of", f"{d.as_of} ({'the default day' if d.as_of == DEFAULT_AS_OF else 'as stated'})"),
            ("Site", f"{typed_words(d)}: {name}"),
            ("Determined on", str(d.determined_on) if d.determined_on else None),
            ("Rulebook", f"{d.rulebook.title}, {d.rulebook.version} ({d.rulebook.citation})"),
            *(
                ("Assumption" if i == _ASSUMING[0] else "Editions", f"{i}={o}: {known[i].options[o]}")
                for i in _ASSUMING
                if (o := d.readings.get(i)) and i in known and (i == _ASSUMING[0] or o != known[i].default)
            ),
            ("Readings", "; ".join(f"{i}={d.readings[i]} (default {known[i].default})" for i in changed)),
            ("Wording", d.wording),
        ]
    )


def _answer(d: Determination, page: Page, next_better: str | None) -> None:
    areas = [f for f in d.findings if f.kind != "project"]
    if not areas:
        return
    main, *others = areas
    page.heading("ANSWER")
    if d.tier is None:
        # A rulebook without amounts has no one question that the others serve.
        others = areas
    else:
        outcome = Text(outcome_words(main).upper(), f"bold {_STYLES[main.outcome]}")
        page.put(Text.assemble((plain(main.label), "bold"), ": ", outcome, weak_words(main.status)))
    groups = {o: [f.label for f in others if f.outcome == o] for o in ("yes", "undetermined")}
    tier = d.tier
    page.pairs(
        [
            ("Base amount", f"{tier.words} [{tier.citation}]{weak_words(tier.status)}" if tier else None),
            ("", "; ".join(tier.assumptions) if tier else None),
            ("Next better", next_better),
            ("In", "; ".join(groups["yes"]) or "no further area"),
            ("Undetermined", "; ".join(groups["undetermined"])),
            ("Incomplete", unusable_words(d.layers)),
        ]
    )


def _site(d: Determination, page: Page) -> None:
    page.heading("SITE")
    page.pairs(site_pairs(d))


# -- findings -----------------------------------------------------------------------------------------


def _findings(d: Determination, page: Page, trees: Mapping[str, Explanation]) -> None:
    loaded = {layer.id: layer for layer in d.layers if layer.status == "loaded"}
    said: dict[str, str] = {}
    for outcome in ("yes", "undetermined", "no"):
        group = [f for f in d.findings if f.kind != "project" and f.outcome == outcome]
        if not group:
            continue
        page.heading(f"{outcome.upper()} ({len(group)})", _STYLES[outcome])
        for finding in group:
            why = finding.why
            if why in said and len(why) > _SAME_WHY_LENGTH:
                why = f"as for {said[why]}"
            said.setdefault(finding.why, finding.label)
            cited = "; ".join([finding.citation, *source_words(finding, loaded)])
            others = "; ".join(
                f"{outcome} under {reading}" for reading, outcome in (finding.under_other_readings or {}).items()
            )
            cited += f"; other reading: {others}" if others else ""
            _row(page, finding, Text.assemble(plain(why), "\n", (plain(cited), "dim")))
            if finding.id in trees:
                page.tree(trees[finding.id])


def _row(page: Page, finding: Finding, right: Text) -> None:
    left = Text(plain(finding.label), "bold")
    margin = share_or_margin_words(finding)
    for words in (
        outcome_words(finding) if finding.leans else None,
        weak_words(finding.status).strip(),
        margin,
        "by assumption" if finding.assumed else None,
    ):
        if words:
            left.append(f"\n{words}", "not bold")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(width=24 if page.width < _NARROW else 32)
    grid.add_column(overflow="fold")
    grid.add_row("", left, right)
    page.put(grid)


def _projects(d: Determination, page: Page, trees: Mapping[str, Explanation]) -> None:
    projects = [f for f in d.findings if f.kind == "project"]
    if not projects:
        return
    page.heading("DEPENDS ON THE PROJECT (state facts with --fact NAME=VALUE)")
    for finding in projects:
        words = f"{outcome_words(finding)}: {project_words(finding)}"
        _row(page, finding, Text.assemble(plain(words), "\n", (plain(finding.citation), "dim")))
        if finding.id in trees:
            page.tree(trees[finding.id])


# -- what was measured, and what was not --------------------------------------------------------------


def _stations(d: Determination, page: Page) -> None:
    if not d.stations:
        return
    page.heading("NEAREST STATIONS")
    table = Table(box=None, show_header=True, header_style="", pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("Station", "Operator, mode", "Distance", "At least", "At most", "+/-"):
        table.add_column(title, overflow="fold")
    for station in d.stations:
        away = station.distance_ft
        table.add_row(
            Text(plain(station.name) + weak_words(station.status)),
            Text(plain(f"{station.operator} {station.mode.replace('_', ' ')}")),
            *(_feet(value) for value in (away.value, away.low, away.high, station.uncertainty_ft)),
        )
    page.put(table)


def _feet(value: float | None) -> str:
    return "not known" if value is None else feet(value)


def _not_checked(d: Determination, page: Page) -> None:
    if not d.not_checked:
        return
    labels = {f.id: f.label for f in d.findings}
    page.heading("NOT CHECKED (not loaded; see grownj layers fetch and grownj layers import)")
    grid = Table.grid(padding=(0, 1))
    for missing in d.not_checked:
        names = [labels.get(name, name) for name in missing.findings]
        rest = len(names) - _MOST_WAITING
        waiting = "; ".join(names[:_MOST_WAITING]) + (f"; and {rest} more" if rest > 0 else "")
        grid.add_row(
            "-",
            Text.assemble(
                (plain(missing.title), "bold"),
                f" ({missing.layer})\n",
                plain(f"waiting for it: {waiting}"),
                "\n",
                (plain(f"to load it: {missing.command}\n{missing.how_to_load}"), "dim"),
                overflow="fold",
            ),
        )
    page.put(grid)


def _would_decide(d: Determination, page: Page) -> None:
    """Print what would decide findings about places, apart from layers, which were named before."""
    ways = deciding_words(d)
    entries = ways[:_MOST_FACTS]
    if len(ways) > _MOST_FACTS:
        entries.append(f"{len(ways) - _MOST_FACTS} other ways are in the record (--json).")
    page.items("COULD DECIDE WHAT IS UNDETERMINED", entries)


def _layers(d: Determination, page: Page) -> None:
    page.heading(f"LAYERS (edition, fingerprint), read by {plain(d.software)}")
    used = [layer for layer in d.layers if layer.status != "missing"]
    grid = Table.grid(padding=(0, 2))
    for layer in used:
        mark = (layer.sha256 or "")[:12] if layer.status == "loaded" else "UNUSABLE"
        grid.add_row(Text(layer.id), str(layer.edition or "no edition date"), mark)
    page.put(grid)
    for layer in used:
        if layer.stored is not None:
            page.put(Text(plain(f"{layer.stored}: {layer.origin or 'not readable'}."), "dim"))
    waiting = {missing.layer for missing in d.not_checked}
    idle = [layer.id for layer in d.layers if layer.status == "missing" and layer.id not in waiting]
    if idle:
        page.put(Text(plain(f"Not loaded, and no finding waits for them here: {', '.join(idle)}."), "dim"))


# -- layers list --------------------------------------------------------------------------------------


def render_layers(rows: Iterable[LayerRow], console: Console) -> None:
    """Print every layer that is known: whether it is loaded, its edition, and what waits for it.

    Parameters
    ----------
    rows
        What `grownj layers list --json` prints.
    console
        Where to.
    """
    page = Page(console)
    _columns(page, "Layer", "State", "Edition", "Accuracy", "Fingerprint")
    for row in rows:
        accuracy = f"{row['accuracy_ft']:,.0f} ft" if isinstance(row["accuracy_ft"], float) else "-"
        status = "ships" if row["ships"] and row["status"] == "loaded" else str(row["status"])
        _columns(
            page,
            str(row["id"]),
            status.upper() if row["problem"] else status,
            str(row["edition"] or "-"),
            accuracy,
            str(row["sha256"] or "-")[:12],
        )
        needed = row["needed_by"]
        details = [f"{row['title']}; {row['publisher']}"]
        if row["problem"]:
            details.append(f"problem: {row['problem']}")
        if row["status"] == "not loaded":
            details.append(f"to load: {row['how_to_load']}")
        if isinstance(needed, list) and needed:
            details.append(f"needed by: {', '.join(needed)}")
        grid = Table.grid()
        grid.add_column(width=4)
        grid.add_column(overflow="fold")
        for words in details:
            grid.add_row("", Text(plain(words)))
        page.put(grid)


def _columns(page: Page, *cells: str) -> None:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for width in (31, 10, 10, 8, 12):
        grid.add_column(width=width if page.width >= _LIST_WIDTH else None, overflow="fold")
    grid.add_row(Text(cells[0], "bold"), *cells[1:])
    page.put(grid)
