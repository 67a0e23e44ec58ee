"""Addresses as people get them wrong: letters, abbreviations, missing words, other ways to write a unit or a place.

House numbers are left alone: another number is another address.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

__all__ = ["SLIPS", "misspelt"]

_BESIDE = {
    "A": "SQ",
    "B": "VN",
    "C": "XV",
    "D": "SF",
    "E": "WR",
    "F": "DG",
    "G": "FH",
    "H": "GJ",
    "I": "UO",
    "J": "HK",
    "K": "JL",
    "L": "KO",
    "M": "N",
    "N": "BM",
    "O": "IP",
    "P": "OL",
    "Q": "WA",
    "R": "ET",
    "S": "AD",
    "T": "RY",
    "U": "YI",
    "V": "CB",
    "W": "QE",
    "X": "ZC",
    "Y": "TU",
    "Z": "XS",
}
_SHORT = {
    "STREET": ("ST", "ST.", "STR"),
    "AVENUE": ("AVE", "AV", "AVE."),
    "ROAD": ("RD", "RD."),
    "PLACE": ("PL", "PL."),
    "TERRACE": ("TER", "TERR"),
    "COURT": ("CT", "CRT"),
    "DRIVE": ("DR", "DR."),
    "BOULEVARD": ("BLVD", "BLVD."),
    "LANE": ("LN",),
    "CIRCLE": ("CIR",),
    "PLAZA": ("PLZ",),
    "ALLEY": ("ALY",),
    "WAY": ("WY",),
    "PARKWAY": ("PKWY",),
    "ST": ("STREET",),
    "ST.": ("STREET", "ST"),
    "AVE": ("AVENUE",),
    "AVE.": ("AVENUE",),
    "BLVD": ("BOULEVARD",),
    "BLVD.": ("BOULEVARD",),
    "PL": ("PLACE",),
    "RD": ("ROAD",),
}
_DIRECTION = {
    "NORTH": ("N", "N.", "NO", "NO."),
    "SOUTH": ("S", "S.", "SO", "SO."),
    "EAST": ("E", "E."),
    "WEST": ("W", "W."),
    "S": ("SOUTH",),
    "S.": ("SOUTH",),
    "SO": ("SOUTH",),
    "SO.": ("SOUTH",),
}
_UNIT = re.compile(r"(?:#\s*|(?:- )?UNIT )(?P<id>[0-9A-Z-]+)$")
_NUMBER = re.compile(r"[0-9]")


def _letters(words: list[str]) -> list[int]:
    """Return the places of words of the street's name that a slip of the finger may be in."""
    return [
        i
        for i, word in enumerate(words)
        if len(word) > 3  # noqa: PLR2004 - a word
        and word.isalpha()
        and word not in _SHORT
        and word not in _DIRECTION
        and word not in {"REAR", "UNIT", "FRONT"}
    ]


def _slip(words: list[str], chance: random.Random) -> list[str]:
    places = _letters(words)
    if not places:
        return words
    at = chance.choice(places)
    word = words[at]
    spot = chance.randrange(1, len(word)) if chance.random() > 0.1 else 0  # noqa: PLR2004 - first letters are seldom wrong
    kind = chance.choice(("drop", "double", "swap", "beside"))
    if kind == "drop":
        word = word[:spot] + word[spot + 1 :]
    elif kind == "double":
        word = word[:spot] + word[spot] + word[spot:]
    elif kind == "swap" and spot + 1 < len(word):
        word = word[:spot] + word[spot + 1] + word[spot] + word[spot + 2 :]
    else:
        word = word[:spot] + chance.choice(_BESIDE[word[spot]]) + word[spot + 1 :]
    return [*words[:at], word, *words[at + 1 :]]


def _shorten(words: list[str], chance: random.Random) -> list[str]:
    return [chance.choice(_SHORT[w]) if i and w in _SHORT else w for i, w in enumerate(words)]


def _without_suffix(words: list[str], _: random.Random) -> list[str]:
    last = max((i for i, w in enumerate(words) if w in _SHORT), default=0)
    return [*words[:last], *words[last + 1 :]] if last > 1 else words


def _short_direction(words: list[str], chance: random.Random) -> list[str]:
    return [chance.choice(_DIRECTION[w]) if w in _DIRECTION else w for w in words]


def _without_direction(words: list[str], _: random.Random) -> list[str]:
    named = [w for w in words if not _NUMBER.search(w) and w not in _SHORT and w not in _DIRECTION]
    return [w for w in words if w not in _DIRECTION] if named else words


def _joined(words: list[str], chance: random.Random) -> list[str]:
    pairs = [i for i in _letters(words) if i + 1 in _letters(words)]
    if not pairs:
        return words
    at = chance.choice(pairs)
    return [*words[:at], words[at] + words[at + 1], *words[at + 2 :]]


def _other_unit(words: list[str], chance: random.Random) -> list[str]:
    found = _UNIT.search(" ".join(words))
    if not found:
        return words
    before = " ".join(words)[: found.start()].split()
    return [*before, chance.choice(("APT", "UNIT", "#", "STE")), found["id"]]


SLIPS: dict[str, Callable[[list[str], random.Random], list[str]]] = {
    "letter": _slip,
    "abbreviation": _shorten,
    "no suffix": _without_suffix,
    "short direction": _short_direction,
    "no direction": _without_direction,
    "joined words": _joined,
    "other unit": _other_unit,
}


def misspelt(address: str, places: tuple[str, ...], chance: random.Random) -> tuple[str, tuple[str, ...]]:
    """Return an address with one or two things wrong, and which.

    Parameters
    ----------
    address
        As a file has it, in capitals.
    places
        Ways to write its municipality, of which one is put behind.
    chance
        A seeded generator.
    """
    words = address.split()
    done: list[str] = []
    wanted = 1 if chance.random() < 0.7 else 2  # noqa: PLR2004 - two slips in three of ten
    for name in chance.sample(list(SLIPS), len(SLIPS)):
        changed = SLIPS[name](words, chance)
        if changed != words:
            words = changed
            done.append(name)
        if len(done) == wanted:
            break
    line = " ".join(words)
    line = chance.choice((str, str.lower, str.title))(line)
    return f"{line}{chance.choice((', ', ', ', ' '))}{chance.choice(places)}", tuple(done)
