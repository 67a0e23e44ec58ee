"""A user's rulebook, read from a file with care: sizes, circles and keys are looked at before anything is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from grownj_geo.errors import RulebookError
from grownj_geo.rulebook import Rulebook, read_rulebook

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_rulebook_file"]

_LARGEST = 5_000_000
_DEEPEST = 100
_MOST_ALIASES = 100
_MOST_REPEATED = 20_000
_PLAIN_TAGS = {"str", "int", "float", "bool", "null", "timestamp", "seq", "map"}
_EXPECTED = "Expected a rulebook in YAML; give its file's name, or a shipped rulebook's id."


def read_rulebook_file(path: Path) -> Rulebook:
    """Read and check a user's rulebook.

    Parameters
    ----------
    path
        A file of at most 5 MB.

    Raises
    ------
    RulebookError
        If it cannot be read, is no YAML, repeats keys or itself, or is not a consistent rulebook. The message
        names the file and the line or the place in it, one problem a line.
    """
    text = _text_of(path)
    try:
        _check_values(_composed(text, str(path)), str(path))
        return read_rulebook(text, name=str(path))
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        words = getattr(error, "problem", None) or str(error)
        raise RulebookError(f"{path}{line}: not readable YAML: {' '.join(words.split())}. Correct it.") from error
    except RulebookError as error:
        said = str(error)
        raise RulebookError(said if said.startswith(str(path)) else f"{path}: {said}") from error


def _text_of(path: Path) -> str:
    """Return a file's text, or refuse what can be no rulebook."""
    try:
        if path.exists() and not path.is_file():
            raise RulebookError(f"{path} is {'a folder' if path.is_dir() else 'no regular file'}. {_EXPECTED}")
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, RulebookError):
            raise
        raise RulebookError(f"{path} could not be read: {getattr(error, 'strerror', error)}. {_EXPECTED}") from error
    if len(content) > _LARGEST:
        raise RulebookError(f"{path} is larger than {_LARGEST // 1_000_000} MB. {_EXPECTED}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RulebookError(f"{path} is not UTF-8 text. {_EXPECTED}") from error
    if "\0" in text:
        raise RulebookError(f"{path} is a binary file. {_EXPECTED}")
    return text


def _composed(text: str, name: str) -> Any:  # noqa: ANN401 - a yaml node
    """Return the nodes of a YAML text, after refusing what would be large, deep or circular when it is built."""
    depth = aliases = written = 0
    event: Any
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        written += isinstance(event, yaml.NodeEvent)
        tag = getattr(event, "tag", None)
        wrong = None
        if depth > _DEEPEST:
            wrong = f"this goes deeper than {_DEEPEST} levels; write it with fewer"
        elif aliases > _MOST_ALIASES:
            wrong = f"there are more than {_MOST_ALIASES} aliases (*name); make a category of what is repeated"
        elif tag is not None and tag.removeprefix("tag:yaml.org,2002:") not in _PLAIN_TAGS:
            wrong = f"a rulebook has no tag such as {tag}; leave it out"
        if wrong:
            raise RulebookError(f"{name}, line {event.start_mark.line + 1}: {wrong}.")
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    if root is not None:
        _measure(root, 1, {}, name, most=written + _MOST_REPEATED)
    return root


def _measure(  # a yaml node has no type of its own
    node: Any,  # noqa: ANN401
    depth: int,
    known: dict[int, tuple[int, int]],
    name: str,
    *,
    most: int,
) -> tuple[int, int]:
    """Return how many nodes there are with every alias written out, and how many levels; refuse what is no key."""
    place = f"{name}, line {node.start_mark.line + 1}"
    if id(node) not in known:
        # Until it is measured a node counts as too deep: that is what a circle is.
        known[id(node)] = (1, _DEEPEST)
        below = [] if isinstance(node, yaml.ScalarNode) else node.value
        if isinstance(node, yaml.MappingNode):
            _check_keys(node, name)
            below = [item for pair in below for item in pair]
        sizes = [_measure(item, depth + 1, known, name, most=most) for item in below]
        known[id(node)] = (1 + sum(size for size, _ in sizes), 1 + max((levels for _, levels in sizes), default=0))
    size, levels = known[id(node)]
    if depth + levels > _DEEPEST + 1:
        raise RulebookError(f"{place}: an alias (*name) goes round in a circle or too deep; write it out.")
    if size > most:
        raise RulebookError(f"{place}: aliases (*name) make this too long; make a category of what is repeated.")
    return size, levels


def _check_keys(node: Any, name: str) -> None:  # noqa: ANN401 - a yaml node
    seen: set[str] = set()
    for key, _ in node.value:
        place = f"{name}, line {key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode):
            raise RulebookError(f"{place}: a list or mapping stands where a name is expected.")
        if key.value in seen:
            raise RulebookError(f"{place}: {key.value!r} is given twice; keep one.")
        seen.add(key.value)


def _check_values(root: Any, name: str) -> None:  # noqa: ANN401 - a yaml node
    """Refuse a value that is written like a date or a number and is none."""
    waiting = [root] if root is not None else []
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            try:
                yaml.SafeLoader("").construct_object(node)
            except (ValueError, OverflowError) as error:
                raise RulebookError(f"{name}, line {node.start_mark.line + 1}: {error}. Correct the value.") from error
        else:
            below = node.value
            if isinstance(node, yaml.MappingNode):
                below = [item for pair in below for item in pair]
            waiting += reversed(below)
