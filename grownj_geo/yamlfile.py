"""Reading YAML: safe types only, and no key given twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["read_yaml"]


class _Loader(yaml.CSafeLoader):
    """The safe loader, which also refuses a key that is given twice: the last would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} is given twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def read_yaml(content: bytes | str) -> Any:  # noqa: ANN401 - whatever YAML holds
    """Return what a YAML text holds.

    Raises
    ------
    yaml.YAMLError
        If it is not YAML, asks for unsafe types, or gives a key twice; the message names the line.

    Examples
    --------
    >>> read_yaml("radius: {unit: mile, value: 0.5}")
    {'radius': {'unit': 'mile', 'value': 0.5}}
    """
    try:
        return yaml.load(content, Loader=_Loader)  # noqa: S506 - a safe loader, made stricter
    except (ValueError, OverflowError) as error:
        # The C loader lets Python's own complaint about a day such as 2012-13-10 through.
        raise yaml.YAMLError(f"a value cannot be read: {error}") from error
