"""By what a file shows that this package wrote it: exact marks, each in the place that its format has for them.

Words that anybody may write are no mark. A mark is a field that names the program that wrote the file, and nothing
else: the creator of a workbook or of a picture, the generator of a page, an instruction at the head of a KML
document, a key of JSON. A table as CSV has no such field: there it is all of the columns that this package always
writes. A report for a terminal is known by its first lines and its last.

What is read here may be anybody's: a function here may raise whatever its format's library raises for a damaged file.
"""

from __future__ import annotations

import csv
import json
import re
import xml.parsers.expat
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = [
    "LAST_WORDS",
    "PDF_MARK",
    "WRITTEN_BY",
    "Xml",
    "is_software",
    "own_document",
    "own_header",
    "own_json",
    "own_page",
    "own_pdf",
    "own_picture",
    "own_text",
]

WRITTEN_BY = "grownj-geo"
"""What files say of who wrote them, where their format has a place for it."""

PDF_MARK = f"/WrittenBy ({WRITTEN_BY})"
"""The entry of a report's document information; keywords are for people, and anybody's may name this package."""

LAST_WORDS = f"Written by {WRITTEN_BY}"
"""The last line of a report as text; also what the description of a layer is."""

_SOFTWARE = re.compile(rf"{WRITTEN_BY}(?: [0-9][0-9A-Za-z.+-]*)?")
_FORMATS = re.compile(r"grownj-(?:determination|record|recheck|watch|comparison|summary)/[0-9]{1,4}")
_FEATURES = re.compile(
    rb'\{\s*"type":\s*"FeatureCollection",\s*(?:"name":\s*"[^"\\]*",\s*)?'
    rb'(?:"generator":\s*"grownj-geo"|"description":\s*"Written by grownj-geo"),'
)
_ANY_FEATURES = re.compile(rb'\{\s*"type":\s*"FeatureCollection"')
_LARGEST_JSON = 64_000_000
_PREFIX = "grownj_"
_FIRST = ("row", "problem", "notes", "mun_code", "municipality", "county", "placement")
_LAST = ("review", "rulebook", "atlas")
_CREDITS = (
    "credit_problem", "credit_eligible", "credit_award_low", "credit_award_high", "credit_year_low",
    "credit_year_high", "credit_if_eligible_low", "credit_if_eligible_high", "credit_per_job_low",
    "credit_per_job_high", "credit_required_low", "credit_required_high", "credit_capital_met", "credit_jobs_met",
    "credit_open", "credit_below_confirmed",
)  # fmt: skip
_RECHECKED = (
    "source", "site", "rulebook", "as_of_recorded", "as_of_now", "sealed", "status", "item", "figure", "was", "now",
    "because", "how", "why",
)  # fmt: skip
_WATCHED = (
    "site", "source", "rulebook", "as_of", "until", "base_floor", "base_ceiling", "in", "undetermined", "holds",
    "day", "item", "figure", "was", "now", "because",
)  # fmt: skip
_COMPARED = (
    "", "source", "as of", "rulebook", "place", "base amount, at least", "base amount, at most", "next better line",
    "next better line, feet",
)  # fmt: skip
_COMPARED_LAST = ("would decide", "not checked")
_MAY_COME = "recorded as of"
_REPORT = re.compile(r"As of {9}[0-9]{4}-[0-9]{2}-[0-9]{2}")
_REPORT_LINES = 40


def is_software(text: str) -> bool:
    """Return whether a text names this package as a program, with its version or without.

    Examples
    --------
    >>> is_software("grownj-geo"), is_software("grownj-geo 0.1.0"), is_software("On grownj-geo"), is_software("")
    (True, True, False, False)
    """
    return _SOFTWARE.fullmatch(text) is not None


# -- XML and pages -------------------------------------------------------------------------------------


class Xml:
    """What stands at one place of an XML document, which may be cut short.

    Parameters
    ----------
    content
        The document or its beginning.
    path
        Names of elements from the root on, without their namespaces, with slashes between.

    Attributes
    ----------
    texts, names
        Of each element there, its own text and what its attribute ``name`` says, None without one.
    first
        Targets of the processing instructions before the root.

    Raises
    ------
    ValueError
        If it defines entities, as no file of this package does.
    xml.parsers.expat.ExpatError
        If it is no XML.
    """

    def __init__(self, content: bytes, path: str) -> None:
        self.texts: list[str] = []
        self.names: list[str | None] = []
        self.first: list[str] = []
        self._path = path.split("/")
        self._open: list[str] = []
        self._begun = False
        parser = xml.parsers.expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.ProcessingInstructionHandler = self._instruction
        parser.EntityDeclHandler = self._refuse
        parser.Parse(content, False)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._begun = True
        self._open.append(name.rpartition(" ")[2])
        if self._open == self._path:
            self.texts.append("")
            self.names.append(attributes.get("name"))

    def _end(self, name: str) -> None:  # noqa: ARG002 - expat gives it
        self._open.pop()

    def _data(self, text: str) -> None:
        if self._open == self._path:
            self.texts[-1] += text

    def _instruction(self, target: str, data: str) -> None:  # noqa: ARG002 - expat gives it
        if not self._begun:
            self.first.append(target)

    def _refuse(self, *_: Any) -> None:  # noqa: ANN401 - expat tells much of an entity
        raise ValueError("the document defines entities")


def own_document(head: bytes) -> bool:
    """Return whether the beginning of an XML document is that of a KML document or a picture (SVG) of this package."""
    found = Xml(head, "svg/metadata/RDF/Work/creator/Agent/title")
    return WRITTEN_BY in found.first or any(map(is_software, found.texts))


class _Head(HTMLParser):
    """Reads what a page's head says of its generator."""

    def __init__(self) -> None:
        super().__init__()
        self.generators: list[str | None] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"head", "body"}:
            self._inside = tag == "head"
        said = dict(attrs)
        if self._inside and tag == "meta" and said.get("name") == "generator":
            self.generators.append(said.get("content"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "head":
            self._inside = False


def own_page(head: bytes) -> bool:
    """Return whether the head of a page has this package, and nothing else, as its generator.

    Examples
    --------
    >>> own_page(b'<!doctype html><html><head><meta name="generator" content="grownj-geo"></head>')
    True
    >>> own_page(b'<!doctype html><html><head></head><body><meta name="generator" content="grownj-geo">')
    False
    """
    page = _Head()
    page.feed(head.decode("utf-8", "replace"))
    return page.generators == [WRITTEN_BY]


# -- pictures and PDF ----------------------------------------------------------------------------------


def own_picture(head: bytes) -> bool:
    """Return whether a PNG's text ``Software`` names this package; texts stand before what is drawn."""
    at = 8
    while len(chunk := head[at : at + 8]) == 8 and chunk[4:] != b"IDAT":  # noqa: PLR2004 - length and kind
        length = int.from_bytes(chunk[:4], "big")
        name, _, text = head[at + 8 : at + 8 + length].partition(b"\0")
        if chunk[4:] == b"tEXt" and name == b"Software":
            return is_software(text.decode("latin-1"))
        at += 12 + length
    return False


def own_pdf(content: bytes) -> bool:
    """Return whether the document information of a PDF names this package; that of a changed one is elsewhere.

    Read are files with a plain table of their objects at the end, as this package's are.
    """
    end = re.search(rb"startxref\s+([0-9]{1,12})\s+%%EOF\s*\Z", content[-200:])
    table = re.compile(rb"xref\s+0 ([0-9]{1,8})\s+").match(content, int(end[1])) if end else None
    if table is None:
        return False
    trailer = content[table.end() + 20 * int(table[1]) :]
    named = re.match(rb"\s*trailer\s*<<.*?/Info ([0-9]{1,8}) 0 R", trailer, re.DOTALL)
    if named is None or b"/Prev" in trailer:
        return False
    at = int(content[table.end() + 20 * int(named[1]) :][:10])
    begin = re.compile(rb"\s*%d 0 obj\s*<<" % int(named[1])).match(content, at)
    if begin is None:
        return False
    said = _information(content[begin.end() : begin.end() + 10_000].decode("latin-1"))
    return said.get("WrittenBy") == WRITTEN_BY or is_software(said.get("Creator", ""))


def _information(text: str) -> dict[str, str]:
    """Return the texts of a dictionary of a PDF by name; a text may have names and brackets in it."""
    found: dict[str, str] = {}
    at = 0
    while key := re.compile(r"\s*/([A-Za-z]+)\s*").match(text, at):
        at = key.end()
        if text[at : at + 1] != "(":
            # No text in brackets: a number, a name, or hexadecimal digits.
            at = re.compile(r"/?[^/(>]*(?:>(?!>))?").match(text, at).end()  # type: ignore[union-attr]
            continue
        start, depth = at + 1, 0
        while at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 2 if text[at] == "\\" else 1
            if not depth:
                break
        found[key[1]] = text[start : at - 1]
    return found


# -- JSON ----------------------------------------------------------------------------------------------


def own_json(path: Path, head: bytes) -> bool:
    """Return whether JSON says at its beginning, or by its key ``format``, that this package wrote it.

    Parameters
    ----------
    path
        The file.
    head
        Its beginning, from the first bracket on.
    """
    # GeoJSON may be of any length, and says who wrote it at its beginning; so do records, one to a line.
    if _ANY_FEATURES.match(head):
        return _FEATURES.match(head) is not None
    try:
        first = json.loads(head.partition(b"\n")[0])
    except ValueError:
        first = None
    if _has_format(first):
        return True
    if path.stat().st_size > _LARGEST_JSON:
        return False
    value = json.loads(path.read_bytes().decode("utf-8-sig"))
    return bool(value) and all(map(_has_format, value)) if isinstance(value, list) else _has_format(value)


def _has_format(value: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    if not isinstance(value, dict):
        return False
    form = value.get("format")
    return isinstance(form, str) and _FORMATS.fullmatch(form) is not None


# -- tables and reports as text ------------------------------------------------------------------------


def own_header(names: Sequence[str]) -> bool:
    """Return whether names of columns end as those of a table that ``batch`` or ``credits batch`` wrote.

    Columns of the table that was answered come before; one that somebody added behind makes it theirs.

    Examples
    --------
    >>> own_header(["name", "rulebook", "atlas", "problem"])
    False
    """
    plain = [name.removeprefix(_PREFIX) for name in names]
    if tuple(plain[-len(_CREDITS) :]) == _CREDITS:
        return True
    begins = (tuple(plain[at : at + len(_FIRST)]) == _FIRST for at in range(len(plain)))
    return tuple(plain[-len(_LAST) :]) == _LAST and any(begins)


def own_text(text: str) -> bool:
    """Return whether a text is a table that this package writes, or its report for a terminal.

    Parameters
    ----------
    text
        The whole file, or of a long table its beginning.
    """
    lines = text.splitlines()
    if lines and lines[-1] == LAST_WORDS:
        begin = [line[:14] for line in lines[:_REPORT_LINES]]
        return bool(_REPORT.match(lines[0])) and "Site".ljust(14) in begin and "Rulebook".ljust(14) in begin
    # By its lines as they end in the file: a cell may have others in it.
    rows = csv.reader(iter(text.splitlines(keepends=True)))
    header = next(rows, [])
    if header[:1] == [""]:
        first = ["" if not row else row[0] for row in [header, *rows]]
        plain = tuple(name for name in first if name != _MAY_COME)
        return plain[: len(_COMPARED)] == _COMPARED and plain[-len(_COMPARED_LAST) :] == _COMPARED_LAST
    return tuple(header) in {_RECHECKED, _WATCHED} or own_header(header)
