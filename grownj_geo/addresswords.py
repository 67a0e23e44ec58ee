"""The words of addresses: suffixes, directions, units and states with the spellings that people use.

They are data (``addresswords.yaml``, after USPS Publication 28); this module reads them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AddressWords", "address_words"]


@dataclass(frozen=True)
class AddressWords:
    """Spellings, in capitals, to the one way in which a word is written here.

    Attributes
    ----------
    suffixes
        ``{"AVE": "AVENUE", ...}``.
    directions
        ``{"SO": "SOUTH", ...}``.
    units
        ``{"APT": "", "FL": "FLOOR", ...}``; empty where only the unit's own name counts.
    first_words
        Words that are short for another one at the beginning of a street's name (``ST``, ``MT``).
    name_words
        Words that are short for others anywhere in a street's name, and ordinals (``FIRST``).
    other_states
        ``{"NY": "NEW YORK", ...}``, without New Jersey.
    place_types
        Kinds of municipality: ``{"TWP": "TOWNSHIP", ...}``.
    place_words
        Words of municipalities' names that are written short: ``{"HTS": "HEIGHTS", ...}``.
    zip_first, zip_last
        Least and greatest first three digits of New Jersey's ZIP codes.
    """

    suffixes: Mapping[str, str]
    directions: Mapping[str, str]
    units: Mapping[str, str]
    first_words: Mapping[str, str]
    name_words: Mapping[str, str]
    other_states: Mapping[str, str]
    place_types: Mapping[str, str]
    place_words: Mapping[str, str]
    zip_first: int
    zip_last: int


def _turned(lists: Mapping[str, list[str]]) -> dict[str, str]:
    return {spelling: word for word, spellings in lists.items() for spelling in spellings}


@lru_cache(maxsize=1)
def address_words() -> AddressWords:
    """Return the words, read once.

    Examples
    --------
    >>> words = address_words()
    >>> words.suffixes["TERR"], words.directions["SO"], words.units["APT"]
    ('TERRACE', 'SOUTH', '')
    """
    file = resources.files("grownj_geo") / "addresswords.yaml"
    read: dict[str, Any] = read_yaml(file.read_bytes())
    return AddressWords(
        suffixes=_turned(read["suffixes"]),
        directions=_turned(read["directions"]),
        units=_turned(read["units"]),
        first_words=read["first_words"],
        name_words=read["name_words"],
        other_states={short: name.upper() for short, name in read["other_states"].items()},
        place_types=_turned(read["place_types"]),
        place_words=read["place_words"],
        zip_first=int(read["zip_prefixes"]["first"]),
        zip_last=int(read["zip_prefixes"]["last"]),
    )
