"""A rulebook from a user's file is measured before anything is built from it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
import yaml

from grownj_geo import rulebook_file
from grownj_geo.errors import RulebookError
from grownj_geo.rulebook_file import read_rulebook_file

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
format: 1
id: own
title: t
version: "1"
citation: c
first_day: 2013-09-18
last_day: 2019-07-01
outside_days: Nothing.
categories:
"""
FACT = "{site_fact: {name: structure_exists, is: true}}"


def _category(number: int, rule: str) -> str:
    return f"- {{id: c{number}, label: l, citation: c, summary: s, rule: {rule}}}\n"


def _doubling(levels: int) -> str:
    """Return a rulebook whose last rule is 2 to the power of `levels` leaves long when its aliases are written out."""
    rules = [f"&r0 {FACT}", *(f"&r{i} {{any: [*r{i - 1}, *r{i - 1}]}}" for i in range(1, levels + 1))]
    return HEAD + "".join(_category(i, rule) for i, rule in enumerate(rules))


def _refused(tmp_path: Path, text: str) -> str:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RulebookError) as caught:
        read_rulebook_file(path)
    return str(caught.value).removeprefix(str(path))


@pytest.fixture
def nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_args: object, **_more: object) -> None:
        pytest.fail("the rulebook was built")

    monkeypatch.setattr(rulebook_file, "read_rulebook", build)


@pytest.mark.usefixtures("nothing_is_built")
@pytest.mark.parametrize("levels", [13, 15, 16, 20, 45])
def test_aliases_that_double_are_refused_before_the_rulebook_is_built(tmp_path: Path, levels: int) -> None:
    begun = time.perf_counter()
    message = _refused(tmp_path, _doubling(levels))
    assert message.startswith(", line ")
    assert message.endswith(": aliases (*name) make this too long; make a category of what is repeated.")
    assert time.perf_counter() - begun < 1


@pytest.mark.usefixtures("nothing_is_built")
def test_a_value_that_is_named_often_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    construct = yaml.SafeLoader.construct_object

    def counted(self: yaml.SafeLoader, node: yaml.Node, deep: bool = False) -> object:  # noqa: FBT001, FBT002
        looked_at.append(node)
        return construct(self, node, deep)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(yaml.SafeLoader, "construct_object", counted)
    path = tmp_path / "own.yaml"
    path.write_text(_doubling(8), encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match="was built"):
        read_rulebook_file(path)
    assert len(looked_at) == len(set(map(id, looked_at)))


@pytest.mark.usefixtures("nothing_is_built")
def test_300_levels_are_refused_in_one_short_line(tmp_path: Path) -> None:
    deep = HEAD + _category(0, "{not: " * 300 + FACT + "}" * 300)
    message = _refused(tmp_path, deep)
    assert message == ", line 11: this goes deeper than 100 levels; write it with fewer."


def test_a_few_aliases_and_many_levels_are_read(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(_doubling(6) + _category(90, "{not: " * 80 + FACT + "}" * 80), encoding="utf-8")
    assert len(read_rulebook_file(path).categories) == 8


def test_a_long_file_without_aliases_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(HEAD + "".join(_category(i, FACT) for i in range(3000)), encoding="utf-8")
    assert len(read_rulebook_file(path).categories) == 3000
