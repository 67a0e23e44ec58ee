"""A comparison as a table for a terminal, as a page, and as CSV. Nothing is decided here."""

from __future__ import annotations

import csv
import io
from html import escape
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from grownj_geo.report import plain
from grownj_geo.tableformats import guarded
from grownj_geo.words import margin_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from grownj_geo.compare import Cell, Compared, Comparison

__all__ = ["compare_csv", "compare_html", "csv_text", "render_comparison"]

_STYLES = {"yes": "green", "no": "red", "undetermined": "yellow"}
_LABEL_WIDTH = 26
_SITE_WIDTH = 26
_MOST_WAYS = 2
_RECORDED = "Recorded as of"


def render_comparison(found: Comparison, console: Console) -> None:
    """Print a comparison: sites as columns, as many beside one another as fit."""
    console.print(Text(f"As of {found.as_of}, {found.rulebook.title}, {found.rulebook.version}", "bold"))
    fit = max(1, (console.width - _LABEL_WIDTH) // _SITE_WIDTH)
    for first in range(0, len(found.sites), fit):
        sites = found.sites[first : first + fit]
        table = Table(show_lines=False, expand=False, header_style="bold")
        table.add_column("", width=_LABEL_WIDTH, overflow="fold")
        for site in sites:
            table.add_column(Text(plain(site.name)), overflow="fold", min_width=_SITE_WIDTH - 6)
        for label, cells in _lines(found, sites):
            table.add_row(Text(plain(label), "bold"), *cells)
        console.print(table)
    if found.nowhere:
        console.print(Text(f"No for every site: {plain('; '.join(found.nowhere))}."))
    for caution in found.cautions:
        console.print(Text(f"- {plain(caution)}"))
    console.print(Text(plain(found.disclaimer), "italic"))


def _lines(found: Comparison, sites: Sequence[Compared]) -> Iterator[tuple[str, list[Text]]]:
    yield "Place", [Text(plain(site.place)) for site in sites]
    if _has_records(found):
        yield _RECORDED, [Text(_recorded(site)) for site in sites]
    yield "Base amount, at least", [Text(_dollars(site.floor)) for site in sites]
    yield "Base amount, at most", [Text(_dollars(site.ceiling)) for site in sites]
    yield "Next better line", [Text(plain(site.next_better)) for site in sites]
    for row in found.rows:
        yield row.label, [_text(site.cells[row.id]) for site in sites]
    yield "Would decide", [Text(plain(would_decide(site))) for site in sites]
    yield "Not checked", [Text(plain("; ".join(n.title for n in site.not_checked)) or "nothing") for site in sites]


def _text(cell: Cell) -> Text:
    return Text(cell_words(cell), _STYLES[cell.outcome])


def cell_words(cell: Cell) -> str:
    """Return an outcome with lean, margin and what it rests on."""
    words: str = cell.outcome
    if cell.leans:
        words += f", leans {cell.leans}"
    if cell.margin_ft is not None:
        words += f", {margin_words(cell.outcome, cell.margin_ft)}"
    return words + (" (assumed)" if cell.assumed else "")


def would_decide(site: Compared) -> str:
    """Return what could decide most of what is undetermined, each with how many categories it could."""
    counts: dict[str, int] = {}
    for cell in site.cells.values():
        for missing in cell.would_decide:
            counts[missing.words] = counts.get(missing.words, 0) + 1
    ways = sorted(counts.items(), key=lambda item: -item[1])
    shown = "; ".join(f"{words} ({count})" for words, count in ways[:_MOST_WAYS])
    return shown + (f"; {len(ways) - _MOST_WAYS} more" if len(ways) > _MOST_WAYS else "") or "nothing is open"


def _has_records(found: Comparison) -> bool:
    return any(site.recorded_as_of for site in found.sites)


def _recorded(site: Compared) -> str:
    return str(site.recorded_as_of or "no record")


def _dollars(value: int | None) -> str:
    return "none" if value is None else f"${value:,}"


def csv_text(rows: Sequence[Sequence[object]]) -> str:
    r"""Return rows as CSV that no spreadsheet program computes anything of, without control characters.

    Examples
    --------
    >>> csv_text([["name", "feet"], ["=1+1", -3.5], ["a\x07b", None]])
    "name,feet\r\n'=1+1,-3.5\r\nab,\r\n"
    """
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\r\n")
    writer.writerows([["" if cell is None else guarded(plain(str(cell))) for cell in row] for row in rows])
    return page.getvalue()


def compare_csv(found: Comparison) -> str:
    """Return a comparison as CSV: a row for each figure, a column for each site, margins as numbers of their own."""
    sites = found.sites
    rows: list[list[object]] = [
        ["", *(site.name for site in sites)],
        ["source", *(site.source for site in sites)],
        ["as of", *(found.as_of for _ in sites)],
        ["rulebook", *(f"{found.rulebook.id} {found.rulebook.version}" for _ in sites)],
        ["place", *(site.place for site in sites)],
        ["base amount, at least", *(site.floor for site in sites)],
        ["base amount, at most", *(site.ceiling for site in sites)],
        ["next better line", *(site.next_better for site in sites)],
        ["next better line, feet", *(site.next_better_ft for site in sites)],
    ]
    if _has_records(found):
        rows.insert(4, ["recorded as of", *(site.recorded_as_of for site in sites)])
    for row in found.rows:
        cells = [site.cells[row.id] for site in sites]
        rows.append([row.label, *(c.outcome for c in cells)])
        for name in ("leans", "margin_ft"):
            values = [getattr(c, name) for c in cells]
            if any(value is not None for value in values):
                rows.append([f"{row.label}, {'margin, feet' if name == 'margin_ft' else name}", *values])
    rows.append(["would decide", *(would_decide(site) for site in sites)])
    rows.append(["not checked", *("; ".join(n.title for n in site.not_checked) for site in sites)])
    return csv_text(rows)


_FIT_PHONES = 2
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="grownj-geo">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #1a1a1a; }}
h1 {{ font-size: 1.3rem; margin: 0; }}
.scroll {{ overflow: auto; margin: 1rem 0; }}
@media screen {{ .scroll {{ max-height: 92vh; }} thead th {{ position: sticky; top: -1px; z-index: 1; }}
  thead th:first-child {{ left: 0; z-index: 2; }} .called {{ max-height: 7em; overflow-y: auto; }} }}
.scroll:focus-visible {{ outline: 3px solid #0b4f7d; outline-offset: 2px; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid #bbb; padding: .35rem .6rem; text-align: left; vertical-align: top; min-width: 9rem;
  max-width: 22rem; overflow-wrap: anywhere; }}
thead th {{ background: #eee; }}
tbody th {{ position: sticky; left: 0; background: #f6f6f6; }}
.yes {{ background: #d6ecd2; }} .no {{ background: #f3f3f3; }} .undetermined {{ background: #fdeec2; }}
.small {{ font-size: .85rem; color: #444; font-weight: normal; }} caption {{ text-align: left; }}
caption span {{ display: block; max-width: calc(100vw - 3rem); }}
@media screen and (max-width: 40rem) {{
  body {{ margin: .8rem; font-size: 14px; }}
  th, td {{ min-width: 7.1rem; padding: .3rem .4rem; }}
  tbody th, thead th:first-child {{ min-width: 5.3rem; max-width: 5.3rem; hyphens: auto; }}
}}
@media print {{ body {{ margin: 0; font-size: 10px; }} tbody th {{ position: static; }} }}
@media print {{ .scroll {{ overflow: visible; }} .sideways {{ display: none; }} }}
@media screen and (min-width: 40rem) {{ .sideways {{ display: none; }} }}
</style></head><body>
<h1>{title}</h1>
<p>As of {as_of}. {book}, version {version} (<span class="small">{sha}</span>). {readings}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Sites side by side"><table>
<caption class="small"><span>One column for each site; all asked on the same day.{sideways}</span></caption>
<thead><tr><th scope="col">Figure</th>{heads}</tr></thead>
<tbody>
{rows}
</tbody></table></div>
{notes}
<p class="small">{disclaimer}</p>
</body></html>
"""


def compare_html(found: Comparison) -> str:
    """Return a comparison as a page that opens anywhere, loads nothing and runs nothing."""
    rows = [
        _html_row("Place", [_td(site.place) for site in found.sites]),
        *([_html_row(_RECORDED, [_td(_recorded(site)) for site in found.sites])] if _has_records(found) else []),
        _html_row("Base amount, at least", [_td(_dollars(site.floor)) for site in found.sites]),
        _html_row("Base amount, at most", [_td(_dollars(site.ceiling)) for site in found.sites]),
        _html_row("Next better line", [_td(site.next_better) for site in found.sites]),
    ]
    for row in found.rows:
        cells = [site.cells[row.id] for site in found.sites]
        tds = [
            f'<td class="{cell.outcome}"><strong>{_safe(cell_words(cell))}</strong>'
            f'<br><span class="small">{_safe(cell.why)}</span></td>'
            for cell in cells
        ]
        rows.append(_html_row(row.label, tds, citation=row.citation))
    rows.append(_html_row("Would decide", [_td(would_decide(site)) for site in found.sites]))
    rows.append(
        _html_row(
            "Not checked", [_td("; ".join(n.title for n in site.not_checked) or "nothing") for site in found.sites]
        )
    )
    notes = [f"No for every site: {'; '.join(found.nowhere)}."] if found.nowhere else []
    readings = "; ".join(f"{name}={option}" for name, option in found.readings.items())
    return _PAGE.format(
        title="Sites side by side",
        as_of=found.as_of,
        book=_safe(found.rulebook.title),
        version=_safe(found.rulebook.version),
        sha=found.rulebook.sha256[:12],
        readings=f"Readings chosen: {_safe(readings)}." if readings else "",
        heads="".join(_head(site) for site in found.sites),
        sideways=f'<span class="sideways">Scroll sideways: {len(found.sites)} sites.</span>'
        if len(found.sites) > _FIT_PHONES
        else "",
        rows="\n".join(rows),
        notes="".join(f"<p>{_safe(words)}</p>" for words in (*notes, *found.cautions)),
        disclaimer=_safe(found.disclaimer),
    )


def _head(site: Compared) -> str:
    below = site.source or site.typed
    small = "" if below == site.name else f'<br><span class="small">{_safe(below)}</span>'
    # A place is broken after its comma, if anywhere.
    name = _safe(site.name).replace(",", ",<wbr>")
    return f'<th scope="col"><div class="called">{name}{small}</div></th>'


def _html_row(label: str, cells: Sequence[str], *, citation: str = "") -> str:
    cited = f'<br><span class="small">{_safe(citation)}</span>' if citation else ""
    return f'<tr><th scope="row">{_safe(label)}{cited}</th>{"".join(cells)}</tr>'


def _td(words: str) -> str:
    return f"<td>{_safe(words)}</td>"


def _safe(words: str) -> str:
    return escape(plain(words))
