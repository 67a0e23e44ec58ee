"""The tree of clauses as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.explain import Explanation, explain, text_lines
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.determine import Engine


def _leaf(name: str, citation: str) -> Explanation:
    return Explanation(clause=name, label=name, operator="stated", citation=citation, outcome="yes")


def test_a_citation_stands_only_where_it_changes() -> None:
    inner = Explanation(
        clause="b",
        label="b",
        operator="all",
        citation="Two",
        outcome="yes",
        clauses=(_leaf("c", "Two"), _leaf("d", "One")),
    )
    tree = Explanation(
        clause="a", label="a", operator="any", citation="One", outcome="yes", clauses=(inner, _leaf("e", "One"))
    )
    assert text_lines(tree) == [
        "YES  a (any of) <One>",
        "  YES  b (all of) <Two>",
        "    YES  c",
        "    YES  d <One>",
        "  YES  e",
    ]


def test_no_line_of_a_shipped_tree_repeats_the_citation_above(engine: Engine) -> None:
    run = engine.run(Site.from_lonlat(-74.1641, 40.7344))

    def check(node: Explanation, lines: list[str], above: str) -> None:
        line = lines.pop(0)
        assert line.endswith(f"<{node.citation}>") == (node.citation != above)
        for child in node.clauses:
            check(child, lines, node.citation)

    for category in ("qualified_incentive_area", "priority_area", "urban_transit_hub"):
        tree = explain(run, category)
        lines = text_lines(tree)
        check(tree, lines, "")
        assert not lines
