"""Markdown for the pages of the documentation that are made when it is built."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["anchor", "bullets", "code", "status", "table", "text"]

_SIGNS = re.compile(r"([\\`*_{}\[\]#|~])")


def text(words: object) -> str:
    """Return words as Markdown that shows them as they are, on one line.

    Examples
    --------
    >>> print(text("a < b"))
    a &lt; b
    """
    return _SIGNS.sub(r"\\\1", escape(" ".join(str(words).split()), quote=False))


def code(words: object) -> str:
    """Return words as code, safe in a cell of a table.

    Examples
    --------
    >>> code("processes|dask")
    '<code>processes&#124;dask</code>'
    """
    shown = escape(" ".join(str(words).split()), quote=False)
    return f"<code>{_SIGNS.sub(lambda sign: f'&#{ord(sign.group(1))};', shown)}</code>"


def anchor(name: str) -> str:
    """Return an anchor to stand behind a heading.

    Examples
    --------
    >>> anchor("A11")
    '{ #a11 }'
    """
    return f"{{ #{name.lower()} }}"


def status(word: str, note: str | None) -> str:
    """Return how far a figure is known, with the note where there is one.

    Examples
    --------
    >>> status("not_found", "statement only")
    'not found: statement only'
    """
    return text(word.replace("_", " ") + (f": {note}" if note else ""))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; cells are Markdown already."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows]
    return ["", *lines, ""]


def bullets(entries: Iterable[str], *, level: int = 0) -> list[str]:
    """Return the lines of a list; entries are Markdown already."""
    return [f"{'    ' * level}- {entry}" for entry in entries]
