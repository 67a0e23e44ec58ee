"""Expressions over stated facts against a truth table written independently, dates, and many sites at once."""

from __future__ import annotations

from datetime import date
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from drawn import WORDS, draw, drawn_book, drawn_category, points, site, square
from hypothesis import given, settings
from hypothesis import strategies as st

from grownj_geo.atlas import Atlas
from grownj_geo.binding import bind, day_reached
from grownj_geo.evaluate import Evaluation
from grownj_geo.leaves import Leaves
from grownj_geo.readings import resolve_readings
from grownj_geo.rulebook import Rulebook, load_rulebook
from grownj_geo.sitetable import SiteTable

if TYPE_CHECKING:
    from grownj_geo.values import Values

FACTS = ("structure_exists", "structure_existed", "permits_comply", "tourism_exists")
X, Y = 450_000.0, 500_000.0
GROUND = draw(
    "municipalities", [(square(X, Y, 50_000), {"mun_code": "0408", "name": "Camden City", "county": "Camden"})]
)
DAY = date(2017, 4, 17)

Tree = Any


def _book(rule: Tree, **more: Tree) -> Rulebook:
    return drawn_book(rule, categories=[drawn_category(name, body) for name, body in more.items()])


def _values(book: Rulebook, rows: list[dict[str, bool | None]], day: date = DAY) -> Values:
    atlas = Atlas(as_of=day, layers=[GROUND])
    bound = bind(book, as_of=day, readings=resolve_readings({}))
    table = SiteTable.of(points([(X + 100 * i, Y + 100) for i in range(1, len(rows) + 1)]))
    columns = {name: [row.get(name) for row in rows] for name in FACTS}
    return Evaluation(bound, Leaves(bound, atlas, table, columns)).category("answer")


def _answers(book: Rulebook, rows: list[dict[str, bool | None]], day: date = DAY) -> list[int]:
    return [int(v) for v in _values(book, rows, day).outcomes[0]]


def _fact(name: str, *, is_: bool = True) -> Tree:
    return {"site_fact": {"name": name, "is": is_}}


EXPRESSIONS = st.recursive(
    st.builds(lambda name, is_: _fact(name, is_=is_), st.sampled_from(FACTS), st.booleans()),
    lambda inner: st.one_of(
        st.builds(lambda parts: {"any": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"all": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda part: {"not": part}, inner),
    ),
    max_leaves=8,
)
EVERY_ROW = [dict(zip(FACTS, values, strict=True)) for values in product((True, None, False), repeat=len(FACTS))]


def _plain(tree: Tree, row: dict[str, bool | None]) -> bool | None:
    """Kleene's tables, written out in words: no minimum, no maximum."""
    if "site_fact" in tree:
        value = row[tree["site_fact"]["name"]]
        return None if value is None else value is tree["site_fact"]["is"]
    if "not" in tree:
        value = _plain(tree["not"], row)
        return None if value is None else not value
    if "any" in tree:
        parts = [_plain(part, row) for part in tree["any"]]
        return True if True in parts else None if None in parts else False
    parts = [_plain(part, row) for part in tree["all"]]
    return False if False in parts else None if None in parts else True


@settings(max_examples=120, deadline=None)
@given(EXPRESSIONS)
def test_expressions_follow_the_truth_table_for_all_81_rows_at_once(tree: Tree) -> None:
    expected = [{True: 1, None: 0, False: -1}[_plain(tree, row)] for row in EVERY_ROW]
    values = _values(_book(tree), EVERY_ROW)
    assert values.outcomes[0].tolist() == expected
    assert ((values.causes == 0) == (values.outcomes[0] != 0)).all()


def _shuffled(tree: Tree, random: Any) -> Tree:
    for operator in ("any", "all"):
        if operator in tree:
            parts = [_shuffled(part, random) for part in tree[operator]]
            random.shuffle(parts)
            return {operator: parts}
    return {"not": _shuffled(tree["not"], random)} if "not" in tree else tree


@settings(max_examples=60, deadline=None)
@given(EXPRESSIONS, st.randoms())
def test_the_order_of_clauses_never_matters(tree: Tree, random: Any) -> None:
    one, two = _values(_book(tree), EVERY_ROW), _values(_book(_shuffled(tree, random)), EVERY_ROW)
    assert one.outcomes.tolist() == two.outcomes.tolist()
    assert one.causes.tolist() == two.causes.tolist()


@settings(max_examples=30, deadline=None)
@given(EXPRESSIONS)
def test_a_category_is_what_its_rule_is(tree: Tree) -> None:
    assert _answers(_book({"category": "other"}, other=tree), EVERY_ROW) == _answers(_book(tree), EVERY_ROW)


# -- dates ---------------------------------------------------------------------------------------------

YES, NO, OPEN = {"structure_exists": True}, {"structure_exists": False}, {}
SPAN = {"earliest": date(2014, 10, 16), "latest": date(2014, 10, 24)}


@pytest.mark.parametrize(
    ("operator", "row", "expected"),
    [
        # On the day before, in the span, on the last day of the span. Out of force a clause is no clause.
        ("any", YES, (-1, 0, 1)),
        ("any", NO, (-1, -1, -1)),
        ("any", OPEN, (-1, 0, 0)),
        ("all", YES, (1, 1, 1)),
        ("all", NO, (1, 0, -1)),
        ("all", OPEN, (1, 0, 0)),
    ],
)
def test_a_clause_is_neutral_before_its_day_and_decides_nothing_in_an_unsure_span(
    operator: str, row: dict[str, bool | None], expected: tuple[int, ...]
) -> None:
    book = _book({operator: [_fact("structure_exists") | {"from": SPAN}]})
    days = (date(2014, 10, 15), date(2014, 10, 20), date(2014, 10, 24))
    assert tuple(_answers(book, [row], day)[0] for day in days) == expected


@pytest.mark.parametrize(
    ("day", "expected"),
    [("2016-06-05", -1), ("2016-06-06", 1), ("2017-03-02", 1), ("2017-03-03", -1)],
)
def test_from_counts_and_until_does_not(day: str, expected: int) -> None:
    clause = _fact("structure_exists") | {"from": date(2016, 6, 6), "until": date(2017, 3, 3)}
    assert _answers(_book({"any": [clause]}), [YES], date.fromisoformat(day)) == [expected]


def test_an_unsure_clause_beside_a_sure_one_changes_nothing() -> None:
    sure = _fact("structure_existed")
    book = _book({"any": [sure, _fact("structure_exists") | {"from": SPAN}]})
    row = {"structure_exists": True, "structure_existed": True}
    assert _answers(book, [row], date(2014, 10, 20)) == [1]


@pytest.mark.parametrize(
    ("day", "word"),
    [("2014-10-15", "no"), ("2014-10-16", "unsure"), ("2014-10-23", "unsure"), ("2014-10-24", "yes")],
)
def test_days_of_a_span(day: str, word: str) -> None:
    span = load_rulebook().category("tourism_district_growth_zone").rule.any[0].from_  # type: ignore[union-attr]
    assert day_reached(span, date.fromisoformat(day)) == word


def test_readings_choose_clauses() -> None:
    rule = {
        "any": [
            _fact("structure_exists") | {"when": {"A11": "loose"}},
            _fact("structure_existed") | {"when": {"A11": "strict"}},
        ]
    }
    rows: list[dict[str, bool | None]] = [{"structure_exists": True, "structure_existed": False}]
    atlas = Atlas(layers=[GROUND])
    found = []
    for option in ("loose", "strict"):
        bound = bind(_book(rule), as_of=DAY, readings=resolve_readings({"A11": option}))
        facts = {name: [row.get(name) for row in rows] for name in FACTS}
        leaves = Leaves(bound, atlas, SiteTable.of(points([(X + 5, Y + 5)])), facts)
        found.append(int(Evaluation(bound, leaves).category("answer").outcomes[0, 0]))
    assert found == [1, -1]


# -- many at once --------------------------------------------------------------------------------------


def test_many_sites_at_once_are_what_each_is_alone(atlas: Atlas) -> None:
    rng = np.random.default_rng(34)
    layer = atlas.layer("municipalities")
    assert layer is not None
    sites = []
    for i in rng.choice(565, 24, replace=False):
        spot = layer.geometry(int(i)).representative_point()
        sites.append(site(spot))
        sites.append(site(shapely.box(spot.x - 900, spot.y - 700, spot.x + 800, spot.y + 600)))
        sites.append(site(spot, uncertainty_ft=float(rng.uniform(0, 3000))))
    sites.append(site(None, mun_code="0408", mun_basis="stated"))
    book = load_rulebook()
    bound = bind(book, as_of=atlas.as_of, readings=resolve_readings({}))
    facts: dict[str, list[Any]] = {
        "structure_exists": [[True, False, None][i % 3] for i in range(len(sites))],
        "urban_aid_in_year": [[None, True][i % 2] for i in range(len(sites))],
    }
    together = Evaluation(bound, Leaves(bound, atlas, SiteTable.of(sites), facts), keep=False)
    for i, one in enumerate(sites):
        mine = {name: [column[i]] for name, column in facts.items()}
        alone = Evaluation(bound, Leaves(bound, atlas, SiteTable.of([one]), mine))
        for category in book.categories:
            many, single = together.category(category.id), alone.category(category.id)
            assert many.outcomes[:, i].tolist() == single.outcomes[:, 0].tolist(), (i, category.id)
            assert many.causes[i] == single.causes[0], (i, category.id)
            np.testing.assert_allclose(many.margin(i), single.margin(0), atol=1e-6)


def test_every_undetermined_answer_has_a_cause_and_no_other_has(atlas: Atlas) -> None:
    rng = np.random.default_rng(5)
    layer = atlas.layer("municipalities")
    assert layer is not None
    sites = [site(layer.geometry(int(i)).representative_point()) for i in rng.choice(565, 60, replace=False)]
    book = load_rulebook()
    bound = bind(book, as_of=atlas.as_of, readings=resolve_readings({}))
    run = Evaluation(bound, Leaves(bound, atlas, SiteTable.of(sites)))
    for category in book.categories:
        values = run.category(category.id)
        open_ = values.outcomes[0] == 0
        assert (values.causes[open_] != 0).all(), category.id
        assert (values.causes[~open_] == 0).all(), category.id
        # What is decided leans as it is decided; without assumptions nothing turns, it only opens.
        assert (values.outcomes[1][~open_] == values.outcomes[0][~open_]).all(), category.id
        strict = values.outcomes[2]
        assert ((strict == values.outcomes[0]) | (strict == 0)).all(), category.id


def test_the_words_of_the_helpers() -> None:
    assert WORDS == {1: "yes", 0: "undetermined", -1: "no"}
