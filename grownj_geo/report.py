"""The report of a determination for a terminal, a pipe or a text file: the answer first.

Everything printed here is words of the record; nothing is decided. Text that a user's file brought along is
shown as plain text: no markup, no control characters.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.evidence import feet, percent, stated_words
from grownj_geo.explain import text_lines
from grownj_geo.facts import load_facts
from grownj_geo.readings import load_readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console, RenderableType

    from grownj_geo.determination import Determination, Evidence, Finding, LayerRecord, Neighbour
    from grownj_geo.explain import Explanation

__all__ = ["LayerRow", "plain", "render", "render_layers"]

LayerRow = dict[str, str | float | bool | list[str] | None]
"""One layer as `grownj layers list` shows it."""

_WIDEST = 120
_NARROW = 100
_SURE = {"confirmed", "derived"}
_ASSUMING = ("A25", "A43")
_STYLES = {"yes": "green", "no": "red", "undetermined": "yellow"}
_SAME_WHY_LENGTH = 60
_MOST_TYPED = 300
_MOST_FACTS = 12
_MOST_WAYS = 3
_MOST_WAITING = 4
_ACRE_SQFT = 43560
_LIST_WIDTH = 80
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|\x9b[0-?]*[ -/]*[@-~]")


def plain(words: str) -> str:
    r"""Return text without terminal escapes and invisible or unpaired characters, line ends as spaces.

    Examples
    --------
    >>> plain("a\x1b[31mb\n\u202ec")
    'ab c'
    """
    text = re.sub(r"[\s\u2028\u2029]+", " ", _ESCAPE.sub("", words))
    return "".join("?" if unicodedata.category(c) == "Cs" else c for c in text if not _hidden(c))


def _hidden(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf"}


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
            ("Site", f"{_typed(d)}: {name}"),
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
        outcome = Text(_outcome_words(main).upper(), f"bold {_STYLES[main.outcome]}")
        page.put(Text.assemble((plain(main.label), "bold"), ": ", outcome, _weak(main.status)))
    groups = {o: [f.label for f in others if f.outcome == o] for o in ("yes", "undetermined")}
    tier = d.tier
    page.pairs(
        [
            ("Base amount", f"{tier.words} [{tier.citation}]{_weak(tier.status)}" if tier else None),
            ("", "; ".join(tier.assumptions) if tier else None),
            ("Next better", next_better),
            ("In", "; ".join(groups["yes"]) or "no further area"),
            ("Undetermined", "; ".join(groups["undetermined"])),
            ("Incomplete", _unusable_words(d.layers)),
        ]
    )


def _unusable_words(layers: Iterable[LayerRecord]) -> str:
    names = [layer.title for layer in layers if layer.status == "unusable"]
    return f"could not be used: {'; '.join(names)} (see the cautions)" if names else ""


def _outcome_words(finding: Finding) -> str:
    return finding.outcome + (f", leans {finding.leans}" if finding.leans else "")


def _weak(status: str | None) -> str:
    return f" ({status.replace('_', ' ')})" if status and status not in _SURE else ""


def _site(d: Determination, page: Page) -> None:
    site, place = d.site, d.place
    where = None
    if site.longitude is not None and site.latitude is not None:
        where = f"latitude {site.latitude:.6f}, longitude {site.longitude:.6f}"
        where += "" if site.kind == "point" else " (a point inside)"
        where += f"; x {site.x_ftus:,.0f}, y {site.y_ftus:,.0f} ft (EPSG:3424)"
    area = None
    if site.area_sqft is not None:
        parts = f", {site.parts} parts" if site.parts > 1 else ""
        area = f"{site.area_sqft:,.0f} square feet ({site.area_sqft / _ACRE_SQFT:,.2f} acres){parts}"
    basis = place.words.partition(place.municipality.name)[2] if place.municipality else ""
    page.heading("SITE")
    page.pairs(
        [
            ("Typed", _typed(d, most=_MOST_TYPED)),
            ("Located by", site.located_by),
            ("Place", where or "not known: only what depends on the municipality can be decided"),
            ("Area", area),
            ("Uncertainty", f"{site.uncertainty_ft:,.0f} ft, as stated" if site.uncertainty_ft else None),
            ("Parcels", ", ".join(site.pins)),
            (
                "Municipality",
                _neighbour(place.municipality) + basis if place.municipality else f"undetermined: {place.words}",
            ),
            ("County", f"{place.county} County" if place.county and not place.municipality else None),
            ("Candidates", "; ".join(map(_neighbour, place.candidates))),
            ("Neighbours", "; ".join(map(_neighbour, place.neighbours))),
            (
                "Facts stated",
                "; ".join(f"{name} = {stated_words(value)}" for name, value in site.facts.items()),
            ),
            *(("Note" if i == 0 else "", note) for i, note in enumerate(site.notes)),
        ]
    )


def _typed(d: Determination, *, most: int = 60) -> str:
    typed = plain(d.site.typed)
    return f"{typed[:most]}... ({len(typed):,} characters)" if len(typed) > most else typed


def _neighbour(place: Neighbour) -> str:
    words = f"{place.name} ({place.mun_code}), {place.county} County"
    if place.share is not None:
        words += f", {percent(place.share)} of the site"
    elif place.distance_ft is not None:
        words += f", {feet(place.distance_ft)} away"
    return words


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
            cited = "; ".join([finding.citation, *_sources(finding, loaded)])
            others = "; ".join(
                f"{outcome} under {reading}" for reading, outcome in (finding.under_other_readings or {}).items()
            )
            cited += f"; other reading: {others}" if others else ""
            _row(page, finding, Text.assemble(plain(why), "\n", (plain(cited), "dim")))
            if finding.id in trees:
                page.tree(trees[finding.id])


def _row(page: Page, finding: Finding, right: Text) -> None:
    left = Text(plain(finding.label), "bold")
    margin = _margin_words(finding)
    for words in (
        _outcome_words(finding) if finding.leans else None,
        _weak(finding.status).strip(),
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


def _margin_words(finding: Finding) -> str | None:
    shares = [e.share for e in finding.evidence if e.share and e.share.value is not None]
    cut = next((s for s in shares if s.value is not None and 0 < s.value < 1), None)
    if cut is not None and cut.value is not None:
        return f"{percent(cut.value)} of the site"
    if finding.margin_ft is None:
        return None
    away = feet(abs(finding.margin_ft))
    if finding.outcome == "undetermined":
        return f"computed: {'inside' if finding.margin_ft >= 0 else 'outside'} by {away}"
    return f"{'cleared' if finding.margin_ft >= 0 else 'missed'} by {away}"


def _sources(finding: Finding, loaded: Mapping[str, LayerRecord]) -> list[str]:
    """Return the layers looked at, each once, with its edition, and its status where that is weak."""
    found: dict[str, Evidence] = {}
    for evidence in finding.evidence:
        if evidence.layer is not None and evidence.layer in loaded and evidence.outcome == finding.outcome:
            found.setdefault(evidence.layer, evidence)
    words = []
    for layer_id, evidence in found.items():
        edition = loaded[layer_id].edition
        words.append(f"{layer_id}{f' of {edition}' if edition else ''}{_weak(evidence.status)}")
    return words


def _projects(d: Determination, page: Page, trees: Mapping[str, Explanation]) -> None:
    projects = [f for f in d.findings if f.kind == "project"]
    if not projects:
        return
    page.heading("DEPENDS ON THE PROJECT (state facts with --fact NAME=VALUE)")
    for finding in projects:
        words = f"{_outcome_words(finding)}: "
        ways = [missing.words for missing in finding.would_decide]
        if finding.outcome == "undetermined" and ways:
            rest = len(ways) - _MOST_WAYS
            more = f", or in {rest} other way{'s' if rest > 1 else ''}" if rest > 0 else ""
            words += f"could be decided if you {', or '.join(ways[:_MOST_WAYS])}{more}"
        else:
            words += finding.why
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
            Text(plain(station.name) + _weak(station.status)),
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
    decided: dict[str, list[str]] = {}
    facts = load_facts()
    for finding in d.findings:
        if finding.kind == "project":
            continue
        for missing in finding.would_decide:
            if all(need.startswith("layer:") for need in missing.needs):
                continue
            (first, *more) = missing.needs
            fact = facts.get(first.removeprefix("fact:")) if not more else None
            words = f"--fact {fact.name}=...: {fact.question}" if fact else missing.words
            if fact and fact.kind == "ruling":
                words += " (an official finding)"
            decided.setdefault(words, []).append(finding.label)
    ordered = sorted(decided.items(), key=lambda item: -len(item[1]))
    entries = [
        f"{words}{'' if words.endswith(('?', ')', '.')) else '.'} Decides: {'; '.join(labels)}."
        for words, labels in ordered[:_MOST_FACTS]
    ]
    if len(ordered) > _MOST_FACTS:
        entries.append(f"{len(ordered) - _MOST_FACTS} other ways are in the record (--json).")
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
