"""Words that every report uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grownj_geo.reportwords import cut_words, deciding_words, plain, site_pairs, weak_words
from grownj_geo.site import Site

if TYPE_CHECKING:
    from grownj_geo.determine import Engine


def test_hidden_signs_are_left_out_and_what_turns_the_direction_is_told() -> None:
    assert plain("a\x1b]8;;x\x07b\u200bc\ud800") == "abc?"
    assert plain("a\u202eb\u2066c\u200f") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩"


def test_text_at_the_limit_is_whole() -> None:
    assert cut_words("x" * 10, 10) == "x" * 10
    assert cut_words("x" * 11, 10) == "x" * 10 + "... (11 characters)"


def test_only_weak_statuses_are_told() -> None:
    assert [weak_words(s) for s in (None, "confirmed", "derived")] == ["", "", ""]
    assert weak_words("not_found") == " (not found)"


def test_a_site_without_a_place_says_so(engine: Engine) -> None:
    found = engine.determine(Site(typed="0408_81_1", located_by="PIN", mun_code="0408", mun_basis="pin"))
    pairs = dict(site_pairs(found))
    assert pairs["Place"].startswith("not known")
    assert pairs["Municipality"].startswith("Camden City (0408), Camden County")


def test_what_decides_most_comes_first(engine: Engine) -> None:
    words = deciding_words(engine.determine(Site.from_lonlat(-74.306893, 41.060826)))
    assert any(w.startswith("--fact highlands_receiving_area=...: ") for w in words)
    assert all("Decides: " in w for w in words)
