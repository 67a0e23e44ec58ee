"""The pages of the commands, from the help that typer prints."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import typer
from docs_text import code, table, text

from grownj_geo.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command_pages", "commands"]

_INTRO = """\
# Commands

Made from the help that the commands print: `grownj COMMAND --help` says the same. Exit codes are explained in the
[README](../project/readme.md#ways-to-give-a-site).
"""


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that does something: the words that call it, and the command."""
    yield from _below((), typer.main.get_command(app))


def _below(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401 - a command of click, or of typer's own copy of it
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, each in inner.items():
        yield from _below((*path, name), each)


def command_pages() -> dict[str, str]:
    """Return the pages by their place below ``docs``: one of all commands, and one for each."""
    # Typer's own writer of documentation: what it takes from a command is what the help shows.
    from typer.cli import get_docs_for_click  # noqa: PLC0415 - beside the warning that it may raise

    pages = {}
    rows = []
    for path, command in commands():
        name = f"commands/{'-'.join(path)}.md"
        parent = " ".join(("grownj", *path[:-1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            root: Any = typer.main.get_command(app)
            context: Any = root.context_class(root, info_name="grownj")
            body = get_docs_for_click(obj=command, ctx=context, name=path[-1], call_prefix=parent)
        called = f"grownj {' '.join(path)}"
        title, _, rest = body.partition("\n")
        if called not in title:
            raise ValueError(f"The documentation of {called} begins with {title!r}; expected its name.")
        pages[name] = f"---\ntitle: {called}\n---\n\n# {called}\n{_shown(rest)}"
        rows.append([f"[{code(called)}]({name.removeprefix('commands/')})", text(_first_sentence(command.help or ""))])
    pages["commands/index.md"] = "\n".join([_INTRO, *table(["Command", "What it does"], rows)])
    return pages


def _shown(body: str) -> str:
    """Return a page with the lines of exit codes as a list, and without typer's marks of its own."""
    lines = []
    for line in body.replace("\f", "").splitlines():
        number, _, meaning = line.partition("  ")
        lines.append(f"- `{number}` {meaning.strip()}" if number.isdigit() and meaning else line)
    return "\n".join(lines)


def _first_sentence(words: str) -> str:
    paragraph = words.partition("\n\n")[0]
    return paragraph.partition(". ")[0].strip().rstrip(".") + "."
