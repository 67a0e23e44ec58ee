"""One line with a number and a street, split into parts that can be compared.

Lines of files and lines that are typed go through the same code, so that what is typed as it stands in a file is
found. It is quick enough for millions of lines, and never fails: what it does not understand stays in the name.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from grownj_geo.addresswords import address_words

__all__ = ["StreetLine", "StreetName", "compact", "split_line", "split_lines", "split_street"]

_FRACTIONS = {"½": " 1/2", "¼": " 1/4", "¾": " 3/4"}
_LONGEST = 300
_SHORTEST_FUZZY = 5

# "REAR 241 WILLIAM STREET", "REAR PTN.-280 WATCHUNG"
_PLACED = re.compile(r"(REAR|FRONT|FRNT)\b[ .]*(?:(?:OF|PTN|PORTION|PART|PT)\b[ .]*)?-?\s*(?=[0-9])")
_NUMBER = re.compile(
    r"""\#?\s*(?:NO\.?\s*)?
    (?P<low>[0-9]{1,7})
    (?P<low_letter>[-.]?[A-Z](?![A-Z0-9])(?!\.\s))?
    (?:\s+(?P<half>[1-3]/[2-4])(?![0-9]))?
    (?:\s*(?P<join>[-/&+])\s*(?P<high>[0-9]{1,7})(?P<high_letter>[-.]?[A-Z](?![A-Z0-9]))?(?!(?:ST|ND|RD|TH)\b)
       (?:\s+(?P<high_half>[1-3]/[2-4])(?![0-9]))?
      |-(?P<last_letter>[A-Z])(?![A-Z0-9]))?
    (?=[\s,./\#]|$)\s*""",
    re.VERBOSE,
)
_HIGHWAY = re.compile(
    r"\b(?:(?P<county>COUNTY|CO)\s+)?(?:(?:U\s?S|N\s?J|STATE|ST|INTERSTATE|OLD(?=\s+(?:HIGHWAY|HWY)))\s+){0,2}"
    r"(?:(?:HIGHWAY|HWY|HIGHWY|ROUTE|RTE|RT)\s+){1,2}(?:(?:NO|NUMBER)\s+)?\#?\s*(?P<number>[0-9]{1,3}[A-Z]?)\b"
)
_SHORT_HIGHWAY = re.compile(r"^(?:(?:U\s?S|N\s?J|S\s?R)[\s-]+)(?P<number>[0-9]{1,3}[A-Z]?)\b(?!\s+(?:ST|ND|RD|TH)\b)")
_COUNTY_ROAD = re.compile(r"^(?:C\s?R|CO(?:UNTY)?\s+R(?:OA)?D)\s+(?:NO\s+)?\#?(?P<number>[0-9]{1,3})\b")
# "BROAD AVE (PVT RD)"; but "(REAR)" is kept.
_ASIDE = re.compile(r"\((?!\s*(?:REAR|FRONT|UNIT|APT|#))[^)]*\)")
# A second address behind a first one with a letter in it: not "12/14 MAIN ST" and not "12 1/2 MAIN ST".
_AND_ANOTHER = re.compile(r"(?<=[A-Z.])\s*[/&]\s*(?:AKA\s*)?(?=[0-9])")
_FLOOR = re.compile(r"\s(?P<id>[0-9]{1,2})(?:ST|ND|RD|TH)\s+(?:FL|FLR|FLOOR)$")
_CODE = re.compile(r"[A-Z]-[A-Z]|[A-Z]?[0-9]{1,5}[A-Z]?|[A-Z]-?[0-9]{1,4}|[0-9]{1,4}-?[A-Z]|[A-Z]")
# Behind any word a unit, even where the street's suffix was left out: "433 LINCOLN C014A".
_SURE_CODE = re.compile(r"[A-Z]-?[0-9]{2,4}[A-Z]?|[0-9]{1,4}-?[A-Z]")
_GLUED = re.compile(r"(APT|UNIT|UNT|UN|STE|SUITE|BLDG|FL|RM|PH)-?([0-9]+-?[A-Z]?)")
_ORDINAL = re.compile(r"0*([0-9]+)(ST|ND|RD|TH)")
# The one name that half of the cities have, and that is written in a dozen ways.
_KING = re.compile(
    r"^(?:REV(?:EREND)?\s+)?(?:D(?:OCTO)?R\s+)?(?:MARTIN\s+L(?:UTHER)?|M\s?L|M\s+LUTHER)\s*KING(?:\s+J(?:UNIO)?R)?$"
)


class StreetName(NamedTuple):
    """A street's name in parts, in capitals and written out; a part that is not there is empty.

    Attributes
    ----------
    pre, name, suffix, post
        ``SOUTH``, ``JEFFERSON``, ``STREET``, and a direction behind.
    """

    pre: str
    name: str
    suffix: str
    post: str

    def __str__(self) -> str:
        """Return the name as one text."""
        return " ".join(part for part in self if part)


@dataclass(frozen=True, slots=True)
class StreetLine:
    """What a line says.

    Attributes
    ----------
    number
        House number as text: ``"12"``, ``"12A"``, ``"12 1/2"``, ``"95-123"``; empty where there is none.
    low, high
        Least and greatest number that it stands for; both 0 without one. ``"17-09"``, a number with a hyphen
        as in Fair Lawn, is 17.
    street
        The street's name in parts.
    unit
        Apartment, floor or such, as in ``"507"`` or ``"FLOOR 2"``; ``"REAR"`` for a lot behind; or empty.
    """

    number: str
    low: int
    high: int
    street: StreetName
    unit: str


def compact(name: str) -> str:
    """Return a name without its spaces, so that MC CHESNEY and MCCHESNEY are one.

    Examples
    --------
    >>> compact("MC CHESNEY")
    'MCCHESNEY'
    """
    return name.replace(" ", "")


def split_line(text: str) -> StreetLine:
    """Split a line with house number, street and unit.

    Parameters
    ----------
    text
        One line without municipality; longer ones than 300 characters are cut.

    Examples
    --------
    >>> line = split_line("475 So. Jefferson St., Apt 3")
    >>> line.number, line.street, line.unit
    ('475', StreetName(pre='SOUTH', name='JEFFERSON', suffix='STREET', post=''), '3')
    >>> split_line("REAR 241 WILLIAM STREET").unit
    'REAR'
    """
    line = _plain(text)
    before = ""
    placed = _PLACED.match(line)
    if placed:
        before = "FRONT" if placed[1] != "REAR" else "REAR"
        line = line[placed.end() :]
    number, low, high = "", 0, 0
    found = _NUMBER.match(line)
    if found and found.end() < len(line):
        number, low, high = _number(found)
        line = line[found.end() :]
    street, unit = split_street(line)
    return StreetLine(number, low, high, street, " ".join(part for part in (before, unit) if part))


def split_lines(text: str) -> tuple[StreetLine, ...]:
    """Split a line of a file, which may name the two streets of a corner lot.

    Returns
    -------
    tuple of StreetLine
        The line as a whole; and where it holds several addresses, each of them.

    Examples
    --------
    >>> [(line.number, str(line.street)) for line in split_lines("398 MAIN ST./7-9 LINCOLN")]
    [('398', 'MAIN ST / 7-9 LINCOLN'), ('398', 'MAIN STREET'), ('7-9', 'LINCOLN')]
    """
    whole = split_line(text)
    if "/" not in text and "&" not in text:
        return (whole,)
    parts = [split_line(part) for part in _AND_ANOTHER.split(_plain(text))]
    if len(parts) == 1:
        return (whole,)
    return (whole, *(part for part in parts if part.number and part.street.name))


def _plain(text: str) -> str:
    line = text[:_LONGEST]
    if not line.isascii():
        for sign, written in _FRACTIONS.items():
            line = line.replace(sign, written)
        line = unicodedata.normalize("NFKD", line).replace("\u2013", "-").replace("\u2014", "-").replace("\u2044", "/")
        line = "".join(c for c in line if not unicodedata.combining(c))
    return " ".join(line.upper().split())


def _number(found: re.Match[str]) -> tuple[str, int, int]:
    """Return the number as text, and the least and the greatest that it stands for."""
    low = int(found["low"])
    if low == 0:
        return "", 0, 0
    text = str(low) + (found["low_letter"] or "").strip("-.")
    if found["half"]:
        text += f" {found['half']}"
    if found["last_letter"]:
        return f"{text}-{found['last_letter']}", low, low
    if found["high"] is None:
        return text, low, low
    high = int(found["high"])
    letter = (found["high_letter"] or "").strip("-.") + (f" {found['high_half']}" if found["high_half"] else "")
    if found["high"].startswith("0") or high < low:
        # 17-09 is one number with a hyphen, and 651-61 is short for 651-661.
        whole = int(str(low)[: -len(found["high"])] + found["high"]) if len(found["high"]) < len(str(low)) else 0
        if whole <= low or found["join"] != "-":
            return f"{text}-{found['high']}{letter}", low, low
        high = whole
    return f"{text}-{high}{letter}", low, high


@lru_cache(maxsize=200_000)
def split_street(text: str) -> tuple[StreetName, str]:
    """Split what follows the number into a street's name and a unit.

    Examples
    --------
    >>> split_street("LINCOLN AVENUE #507")
    (StreetName(pre='', name='LINCOLN', suffix='AVENUE', post=''), '507')
    >>> split_street("US HIGHWAY NO. 22 WEST")[0]
    StreetName(pre='', name='ROUTE 22', suffix='', post='WEST')
    """
    line = re.sub(r"(?<=[0-9])\.(?=[A-Z0-9])", "-", _plain(text))
    line = _ASIDE.sub(" ", re.sub(r"['`\"]", "", line))
    line = re.sub(r"\s*([&/])\s*", r" \1 ", re.sub(r"[.,;:()]", " ", line))
    line = " ".join(line.replace("#", " # ").split()).strip(" -/&")
    line = _COUNTY_ROAD.sub(r"COUNTY_ROAD_\g<number>", line)
    line = _HIGHWAY.sub(lambda m: f"{'COUNTY_ROAD' if m['county'] else 'ROUTE'}_{m['number']}", line)
    line = _SHORT_HIGHWAY.sub(r"ROUTE_\g<number>", line)
    words, unit = _split_unit(line)
    return _split_name(words), unit


def _split_unit(line: str) -> tuple[list[str], str]:
    """Take units off the end until there is none."""
    known = address_words()
    units: list[str] = []
    floor = _FLOOR.search(line)
    if floor:
        units.append(f"FLOOR {floor['id']}")
        line = line[: floor.start()]
    words = [w for w in line.split() if w != "-"]
    while len(words) > 1:
        taken = _last_unit(words)
        if taken is None:
            break
        count, unit = taken
        units.insert(0, unit)
        del words[-count:]
        if words and words[-1] in {"#", "-", "/", "&"}:
            words.pop()
    if len(words) > 1 and units and words[-1] in known.units and words[-1] not in known.suffixes:
        words.pop()
    return words, " ".join(units)


def _last_unit(words: list[str]) -> tuple[int, str] | None:
    """Return how many words at the end are a unit, and how it is written."""
    known = address_words()
    for count in (3, 2, 1):
        tail = " ".join(words[-count:])
        if len(words) > count and tail in known.units and tail != "#" and (count > 1 or known.units[tail]):
            # "ROW" and "LOT" end names too: only behind a suffix do they mean land.
            behind_suffix = words[-count - 1] in known.suffixes and len(words) - count > 1
            if tail in known.suffixes and not behind_suffix:
                continue
            return count, known.units[tail]
    return _named_unit(words) or _bare_unit(words)


def _named_unit(words: list[str]) -> tuple[int, str] | None:
    """Return the unit that the last words name with its kind: ``APT 5``, ``UN2-B``."""
    known = address_words()
    last = words[-1]
    if len(words) > 2 and words[-2] in known.units and _is_id(last):  # noqa: PLR2004 - a street, the kind, the name
        if words[-2] in known.suffixes and not any(w in known.suffixes for w in words[:-2]):
            return None
        return 2, _unit(known.units[words[-2]], last)
    glued = _GLUED.fullmatch(last)
    return (1, _unit(known.units[glued[1]], glued[2])) if glued else None


def _bare_unit(words: list[str]) -> tuple[int, str] | None:
    """Return the unit that the last word is without its kind: ``C014A``, ``B-14``."""
    known = address_words()
    last = words[-1]
    if _SURE_CODE.fullmatch(last) and words[-2].isalpha():
        return 1, _unit("", last)
    behind = words[-2] in known.suffixes and len(words) > 2  # noqa: PLR2004 - name, suffix, code
    if behind and _CODE.fullmatch(last) and last not in known.directions and last not in known.suffixes:
        return 1, _unit("", last)
    return None


def _is_id(word: str) -> bool:
    return bool(_CODE.fullmatch(word)) or any(c.isdigit() for c in word)


def _unit(kind: str, name: str) -> str:
    bare = name.replace("-", "")
    bare = bare.lstrip("0") or bare
    return f"{kind} {bare}".strip()


def _split_name(words: list[str]) -> StreetName:
    """Split a street's words into directions, name and suffix."""
    known = address_words()
    if not words:
        return StreetName("", "", "", "")
    pre = suffix = post = ""
    rest = list(words)
    numbered = rest[0].startswith(("ROUTE_", "COUNTY_ROAD_"))
    if len(rest) > 1 and rest[-1] in known.directions:
        after_suffix = len(rest) > 2 and rest[-2] in known.suffixes  # noqa: PLR2004 - name, suffix, direction
        if numbered or after_suffix or (len(rest) > 2 and len(rest[-1]) > 2):  # noqa: PLR2004 - no "AVENUE E"
            post = known.directions[rest.pop()]
    if len(rest) > 1 and not numbered:
        found = _suffix(rest[-1])
        if found:
            suffix = found
            rest.pop()
    if len(rest) > 1 and rest[0] in known.directions:
        pre = known.directions[rest.pop(0)]
    elif len(rest) == 1 and rest[0] in known.directions:
        rest[0] = known.directions[rest[0]]
    return StreetName(pre, _name(rest), suffix, post)


@lru_cache(maxsize=50_000)
def _suffix(word: str) -> str:
    """Return the suffix that a last word is, or is one letter away from."""
    known = address_words().suffixes
    if word in known:
        return known[word]
    if len(word) < _SHORTEST_FUZZY:
        return ""
    near = {s for s in set(known.values()) if s[0] == word[0] and len(s) >= _SHORTEST_FUZZY and _one_slip(word, s)}
    return near.pop() if len(near) == 1 else ""


def _one_slip(one: str, two: str) -> bool:
    """Whether two words differ by one letter put in, left out or changed, or by two neighbours changed over."""
    if one == two:
        return True
    if abs(len(one) - len(two)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    a, b = one[start:], two[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _name(words: list[str]) -> str:
    known = address_words()
    written = [known.name_words.get(w, w) for w in words]
    if len(written) > 1:
        written[0] = known.first_words.get(written[0], written[0])
        if written[0] in {"MC", "MAC", "O"}:
            written[0:2] = [written[0] + written[1]]
    joined = " ".join(_ORDINAL.sub(r"\1\2", w) if w[0].isdigit() else w for w in written)
    joined = _KING.sub("MARTIN LUTHER KING", joined)
    return joined.replace("_", " ")
