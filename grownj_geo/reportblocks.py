"""What a printed report is made of: sections of words, pairs, lists, tables, pictures and lines to fill in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Block", "Cell", "Fields", "Grid", "Key", "Listed", "Pairs", "Picture", "Report", "Section", "Words"]

Tone = Literal["", "yes", "no", "undetermined"]


@dataclass(frozen=True)
class Words:
    """A paragraph.

    Attributes
    ----------
    tone
        ``"answer"`` for the answer itself, ``"caution"`` for what must not be overlooked, ``"small"`` for the rest.
    outcome
        Of an answer, for its colour.
    """

    text: str
    tone: Literal["", "answer", "caution", "small"] = ""
    outcome: Tone = ""


@dataclass(frozen=True)
class Pairs:
    """Names and values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Listed:
    """Entries of a list; with numbers where the order matters."""

    entries: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its words, and smaller ones below them.

    Attributes
    ----------
    tone
        Of an outcome, for its colour, which never tells it alone.
    code
        The words are for a program, as a command or a checksum: they may be broken anywhere.
    target
        Id of the section that the words lead to.
    """

    words: str
    below: tuple[str, ...] = ()
    tone: Tone = ""
    code: bool = False
    target: str = ""


@dataclass(frozen=True)
class Grid:
    """A table. The first cell of each row is what the row is about.

    Attributes
    ----------
    widths
        Of the columns, as parts of the whole.
    """

    caption: str
    columns: tuple[str, ...]
    widths: tuple[int, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Key:
    """An entry of a picture's legend: words, and how the ground that they name is drawn."""

    label: str
    colour: str
    pattern: str
    opacity: float


@dataclass(frozen=True)
class Picture:
    """A map.

    Attributes
    ----------
    content, kind
        The picture as a file; an SVG begins with its element and has names of its own.
    title, words
        What it is called, and what it shows, for those who do not see it.
    keys
        The legend.
    below
        What is to be said of it.
    """

    content: bytes
    kind: Literal["svg", "png"]
    title: str
    words: str
    keys: tuple[Key, ...] = ()
    below: str = ""


@dataclass(frozen=True)
class Fields:
    """Names and values to be filled in: an empty value is a line to write on."""

    rows: tuple[tuple[str, str], ...]


Block = Words | Pairs | Listed | Grid | Picture | Fields


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it.

    Attributes
    ----------
    id
        Unique in the report.
    level
        Of the heading, from 1.
    page
        It begins on a new page.
    """

    id: str
    title: str
    blocks: tuple[Block, ...] = ()
    level: int = 2
    page: bool = False


@dataclass(frozen=True)
class Report:
    """A whole report.

    Attributes
    ----------
    title
        For its first heading, and for the window.
    foot
        Stands on every page.
    """

    title: str
    foot: str
    sections: tuple[Section, ...]
