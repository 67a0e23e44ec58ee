"""The words of addresses are data that agrees with itself."""

from __future__ import annotations

from grownj_geo.addresswords import address_words


def test_no_spelling_means_two_things_of_a_kind() -> None:
    words = address_words()
    for table in (words.suffixes, words.directions, words.place_types):
        assert all(table[word] == word for word in table.values())


def test_the_words_are_text() -> None:
    words = address_words()
    tables = (words.suffixes, words.directions, words.units, words.first_words, words.name_words, words.place_words)
    # "NO" and "ON" without quotation marks would be truth values in YAML.
    assert all(isinstance(k, str) and isinstance(v, str) for table in tables for k, v in table.items())
    assert words.directions["NO"] == "NORTH"


def test_new_jersey_is_no_other_state() -> None:
    words = address_words()
    assert "NJ" not in words.other_states
    assert len(words.other_states) == 51
    assert (words.zip_first, words.zip_last) == (70, 89)
