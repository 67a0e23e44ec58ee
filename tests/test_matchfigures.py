"""The figures of addresses stand to each other as their reasons say, so that changing one does not undo another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grownj_geo import matchfigures as figures

FOLDER = Path(figures.__file__).parent


@pytest.mark.parametrize(
    "off",
    [
        *("SUFFIX_OTHER", "DIRECTION_OTHER", "NUMBER_LETTER", "ACROSS_THE_STREET", "BETWEEN_NEIGHBOURS", "STREET_ONLY"),
        "MUNICIPALITY_OTHER",
    ],
)
def test_what_contradicts_is_never_good_by_its_score(off: str) -> None:
    assert 1 - getattr(figures, off) < figures.GOOD_SCORE


@pytest.mark.parametrize("off", ["SUFFIX_MISSING", "NUMBER_INSIDE", "UNIT_UNSAID", "MUNICIPALITY_UNKNOWN"])
def test_what_is_only_missing_stays_good(off: str) -> None:
    assert 1 - getattr(figures, off) >= figures.GOOD_SCORE


def test_places_without_a_house_are_below_any_house_that_fits() -> None:
    assert figures.NOT_SURE < figures.GOOD_SCORE
    assert 1 - figures.STREET_ONLY < 1 - figures.BETWEEN_NEIGHBOURS < 1 - figures.ACROSS_THE_STREET < figures.GOOD_HOUSE
    assert figures.GOOD_HOUSE < figures.NUMBERED_STREET < figures.GOOD_SCORE


def test_missing_takes_less_than_other() -> None:
    assert figures.SUFFIX_MISSING < figures.SUFFIX_OTHER
    assert figures.DIRECTION_MISSING < figures.DIRECTION_OTHER
    assert figures.UNIT_UNSAID < figures.UNIT_OTHER
    assert figures.PLACE_OFF["named"] == 0 < min(off for how, off in figures.PLACE_OFF.items() if how != "named")


def test_every_figure_has_its_reason_and_stands_nowhere_else() -> None:
    body = ast.parse(Path(figures.__file__).read_text(encoding="utf-8")).body
    named: set[str] = set()
    for node, after in zip(body, [*body[1:], None], strict=True):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        if not names or names == {"__all__"}:
            continue
        assert isinstance(after, ast.Expr), f"{names} has no reason"
        assert isinstance(after.value, ast.Constant)
        assert len(after.value.value) > 60
        named |= names
    assert named == set(figures.__all__)
    for module in ("addressindex", "addressmatch", "settling", "locatorlocal"):
        text = (FOLDER / f"{module}.py").read_text(encoding="utf-8")
        floats = [
            node.value
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Constant) and isinstance(node.value, float)
        ]
        assert set(floats) <= {0.0, 1.0}, f"{module} has figures of its own"


def test_what_finds_imports_nothing_from_what_judges() -> None:
    for module in ("locatorlocal", "addressindex", "addressmatch", "enclosing", "matchfigures"):
        text = (FOLDER / f"{module}.py").read_text(encoding="utf-8")
        for above in ("settling", "asking", "finder", "choiceanswers", "sources"):
            assert f"grownj_geo.{above}" not in text, f"{module} imports {above}"
