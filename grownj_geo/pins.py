"""Parcel numbers and municipalities as people type them.

A parcel number (PAMS_PIN) is ``municipality_block_lot`` with an optional qualifier, and every part of it
is text: lots ``1.1`` and ``1.10`` are two parcels.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from grownj_geo.coordinates import plain_text
from grownj_geo.errors import SiteError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grownj_geo.locate import MunicipalDirectory

__all__ = ["Pin", "find_municipality", "looks_like_pin", "match_municipality", "parse_pins"]

_PART = r"[0-9A-Z][0-9A-Z.\-]*"
_PIN = re.compile(rf"(?P<mun>[0-9]{{4}})_(?P<block>{_PART})_(?P<lot>{_PART})(?:_(?P<qualifier>{_PART}))?")
_PIN_LIKE = re.compile(r"['\"]*[0-9]{1,6}(?:\.0)?_\S*")
_HYPHENS = re.compile(r"['\"]*[0-9]{3,4}-[0-9][0-9A-Z.]*-[0-9][0-9A-Z.]*(?:-[0-9A-Z]+)?", re.IGNORECASE)
_EXPECTED = "Expected municipality code, block, lot and an optional qualifier, as in 0408_81_1 or 0408_81_1_C0101"
_LAST_COUNTY = 21
_NEAREST = 4

_TYPES = ("city", "township", "borough", "town", "village")
_ABBREVIATIONS = {
    "twp": "township",
    "twsp": "township",
    "tp": "township",
    "boro": "borough",
    "bor": "borough",
    "vlg": "village",
    "st": "saint",
    "mt": "mount",
    "ft": "fort",
    "pt": "point",
    "n": "north",
    "s": "south",
    "e": "east",
    "w": "west",
    "hts": "heights",
    "pk": "park",
    "bch": "beach",
    "spgs": "springs",
}
# In these "City" is part of the name ("City of Jersey City"), so "Jersey" alone does not name them.
_CITY_IN_NAME = frozenset(
    {
        "atlanticcity",
        "corbincity",
        "eggharborcity",
        "gloucestercity",
        "jerseycity",
        "margatecity",
        "oceancity",
        "seaislecity",
        "unioncity",
        "ventnorcity",
    }
)


@dataclass(frozen=True)
class Pin:
    """One parcel number, its parts kept as text.

    Examples
    --------
    >>> str(Pin("0408", "81", "1.10"))
    '0408_81_1.10'
    >>> Pin("0408", "81", "1.10") == Pin("0408", "81", "1.1")
    False
    """

    mun_code: str
    block: str
    lot: str
    qualifier: str = ""

    def __str__(self) -> str:
        """Return the PAMS_PIN."""
        return "_".join(filter(None, (self.mun_code, self.block, self.lot, self.qualifier)))


class _Name(NamedTuple):
    full: str
    base: str
    typed: bool


def looks_like_pin(text: str) -> bool:
    """Whether text is meant as parcel numbers, well formed or not.

    Examples
    --------
    >>> looks_like_pin("0408_81_1"), looks_like_pin("408_81_1"), looks_like_pin("40.7,-74.1")
    (True, True, False)
    """
    pieces = _pieces(plain_text(text))
    return bool(pieces) and bool(_PIN_LIKE.fullmatch(pieces[0]) or _HYPHENS.fullmatch(pieces[0]))


def _pieces(text: str) -> list[str]:
    return [p for p in re.split(r"[\s,;|]+", text) if p]


def _label(code: str, directory: MunicipalDirectory) -> str:
    name, county = directory.names[code]
    return f"{name}, {county} County ({code})"


def _listed(codes: Iterable[str], directory: MunicipalDirectory) -> str:
    return "; ".join(_label(code, directory) for code in codes)


def _unknown_code(code: str, directory: MunicipalDirectory) -> str:
    same_county = [c for c in directory.names if c[:2] == code[:2]]
    if not same_county:
        return f"county numbers, the first two digits, run from 01 to {_LAST_COUNTY}; check the code {code!r}"
    near = sorted(sorted(same_county, key=lambda c: (abs(int(c) - int(code)), c))[:_NEAREST])
    return f"the nearest codes of that county are {_listed(near, directory)}"


def _explain_bad_pin(piece: str) -> str:  # noqa: PLR0911 - one return for each slip
    parts = piece.split("_")
    if _HYPHENS.fullmatch(piece):
        code, *rest = piece.split("-")
        fixed = "_".join([code.zfill(4), *rest])
        return f"it has hyphens where underscores belong; if that is the parcel, write {fixed}"
    if re.fullmatch(r"[0-9]{3}(?:\.0)?", parts[0]):
        fixed = "_".join([parts[0].removesuffix(".0").zfill(4), *parts[1:]])
        if _PIN.fullmatch(fixed):
            return (
                "the municipality code has 3 digits, so a spreadsheet has probably eaten its leading zero; "
                f"if that is the parcel, write {fixed}"
            )
    if not re.fullmatch(r"[0-9]{4}", parts[0]):
        return f"the municipality code {parts[0]!r} does not have 4 digits"
    if len(parts) < 3:  # noqa: PLR2004 - municipality, block, lot
        return "the lot is missing"
    if len(parts) > 4:  # noqa: PLR2004 - and qualifier
        return f"it has {len(parts)} parts"
    if "" in parts:
        return "a part of it is empty"
    if re.search(r"E\+[0-9]+", piece):
        return "a spreadsheet has turned a part of it into a power of ten; take it from the source again"
    return "a part of it holds characters other than letters, digits, points and hyphens"


def parse_pins(text: str, directory: MunicipalDirectory) -> tuple[tuple[Pin, ...], tuple[str, ...]]:  # noqa: C901 - one check after the other
    """Read one or several parcel numbers of one municipality.

    Parameters
    ----------
    text
        Parcel numbers, separated by spaces, commas or semicolons.
    directory
        Which municipalities there are.

    Returns
    -------
    tuple of (tuple of Pin, tuple of str)
        The parcels, each once, and notes on what was changed while reading.

    Raises
    ------
    SiteError
        For text that is not parcel numbers, an unknown municipality, or several municipalities.
    """
    notes: list[str] = []
    pins: dict[Pin, None] = {}
    for raw in _pieces(plain_text(text)):
        piece = raw.strip("'\"")
        if piece != raw:
            notes.append(f"The quotation marks around {piece} were dropped.")
        if piece != piece.upper():
            notes.append(f"{piece} was read in capitals, as {piece.upper()}.")
            piece = piece.upper()
        found = _PIN.fullmatch(piece)
        if found is None:
            raise SiteError(f"The parcel number was read as {raw!r}: {_explain_bad_pin(piece)}. {_EXPECTED}.")
        pin = Pin(found["mun"], found["block"], found["lot"], found["qualifier"] or "")
        if pin.mun_code not in directory.names:
            raise SiteError(
                f"The parcel number was read as {raw!r}, and there is no municipality {pin.mun_code}: "
                f"{_unknown_code(pin.mun_code, directory)}. {_EXPECTED}; check the code."
            )
        if re.match(r"0[0-9]", pin.block) or re.match(r"0[0-9]", pin.lot):
            notes.append(f"{pin} has zeros before its block or lot; kept as typed, though PAMS_PIN has none.")
        if pin in pins:
            notes.append(f"{pin} was named twice and counts once.")
        else:
            pins[pin] = None
    if not pins:
        raise SiteError(f"The parcel number was read as {text!r}, which is empty. {_EXPECTED}.")
    codes = list(dict.fromkeys(p.mun_code for p in pins))
    if len(codes) > 1:
        raise SiteError(
            f"The parcel numbers were read as {', '.join(map(str, pins))}, in {_listed(codes, directory)}. "
            "Expected parcels of one municipality. "
            "Check them one by one: a complex is computed building by building."
        )
    if len(pins) > 1:
        notes.append(f"{len(pins)} parcels were taken as one site.")
    return tuple(pins), tuple(notes)


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", plain_text(text)).casefold()
    folded = "".join(c for c in folded if not unicodedata.combining(c)).replace("'", "")
    words = [_ABBREVIATIONS.get(w, w) for w in re.split(r"[^a-z0-9]+", folded) if w]
    return [w for w in words if w != "and"]


def _name(text: str) -> _Name:
    words = _words(text)
    if len(words) > 2 and words[0] in _TYPES and words[1] == "of":  # noqa: PLR2004 - "city of" and a name
        words = [*words[2:], words[0]]
    base = list(words)
    while len(base) > 1 and base[-1] in _TYPES:
        base.pop()
    return _Name("".join(words), "".join(base), len(base) < len(words))


def _split_county(text: str, counties: Iterable[str]) -> tuple[str, str | None]:
    """Split ``"Washington Twp (Morris)"`` into name and county."""
    known = {"".join(_words(c)): c for c in counties}
    bare = re.sub(r"(?<![\s,])[\s,]+(?:N\.?J\.?|New Jersey)[\s.]*$", "", plain_text(text), flags=re.IGNORECASE)
    name, *parts = (p.strip() for p in re.sub(r"[()]", ",", bare).split(","))
    parts = [p for p in parts if p]
    if parts and name:
        keys = ["".join(w for w in _words(part) if w not in {"county", "co", "of"}) for part in parts]
        key, rest = keys[-1], ", ".join(parts)
        if key in known and len(set(keys)) > 1:
            between = ", ".join(part for part, k in zip(parts, keys, strict=True) if k != key)
            raise SiteError(
                f"The municipality was read as {text!r}, and {between!r} stands between its name and its county. "
                f'Expected a name and a county; leave {between!r} out, as in "{name}, {known[key]}".'
            )
        if key not in known or len(set(keys)) > 1:
            raise SiteError(
                f"The municipality was read as {text!r}, and {rest!r} is not a county of New Jersey. "
                'Expected a name, or a name and a county, as in "Washington Township, Morris".'
            )
        return name, known[key]
    for key, county in known.items():
        words = _words(name)
        tail = [*_words(county), "county"]
        if words[-len(tail) :] == tail and len(words) > len(tail) and key:
            return " ".join(words[: -len(tail)]), county
    return name, None


def _from_code(text: str, code: str, directory: MunicipalDirectory) -> str:
    if code in directory.names:
        return code
    if len(code) == 3 and code.zfill(4) in directory.names:  # noqa: PLR2004 - a code without its zero
        raise SiteError(
            f"The municipality was read as {text!r}; expected a code of 4 digits. "
            f"Did you mean {code.zfill(4)}, {directory.names[code.zfill(4)][0]}?"
        )
    hint = _unknown_code(code, directory) if len(code) == 4 else "codes have 4 digits, as in 0408"  # noqa: PLR2004
    raise SiteError(f"The municipality was read as {text!r}, and there is no such code: {hint}. Check the code.")


def _choices(text: str, wanted: _Name, directory: MunicipalDirectory) -> SiteError:
    pool = {code: _name(name) for code, (name, _) in directory.names.items()}
    same_base = [c for c, n in pool.items() if n.base == wanted.base]
    spellings: dict[str, list[str]] = {}
    for code, name in pool.items():
        for spelling in {name.full, name.base}:
            spellings.setdefault(spelling, []).append(code)
    near = [wanted.full, wanted.base]
    close = [m for w in near for m in difflib.get_close_matches(w, spellings, n=3, cutoff=0.75)]
    codes = same_base or list(dict.fromkeys(code for m in close for code in spellings[m]))[: _NEAREST + 1]
    ask = f"Did you mean {_listed(codes, directory)}?" if codes else "Look the name up, or give its 4-digit code."
    return SiteError(
        f"The municipality was read as {text!r}, and no municipality has that name; expected one such as "
        f'"Camden City", "Washington Township, Morris" or "0408". {ask}'
    )


def match_municipality(text: str, directory: MunicipalDirectory) -> tuple[str, tuple[str, ...]]:
    """Return the code of the municipality that the text names, and notes on how it was read.

    Parameters
    ----------
    text
        Code or name; type of municipality and county may be left out where the rest is unambiguous.
    directory
        Which municipalities there are.

    Raises
    ------
    SiteError
        For a name that is unknown, ambiguous, or only a county's. The message lists the choices.
    """
    stripped = plain_text(text).strip("'\" ")
    if not stripped:
        raise SiteError('The municipality is empty; expected a name or a code, as in "Camden City" or "0408".')
    if re.fullmatch(r"[0-9]+", stripped):
        return _from_code(text, stripped, directory), ()
    counties = {"".join(_words(county)): county for _, county in directory.names.values()}
    typed_name, county = _split_county(stripped, counties.values())
    wanted = _name(typed_name)
    pool = {c: _name(n) for c, (n, of) in directory.names.items() if county is None or of == county}
    matches = [c for c, n in pool.items() if n.full == wanted.full and n.full]
    if not matches and not wanted.typed:
        matches = [c for c, n in pool.items() if n.base == wanted.base]
        if len(matches) == 1 and pool[matches[0]].full in _CITY_IN_NAME:
            matches = []
    if len(matches) > 1:
        raise SiteError(
            f"The municipality was read as {text!r}, and {len(matches)} have that name: "
            f'{_listed(matches, directory)}. Add the county, as in "{directory.names[matches[0]][0]}, '
            f'{directory.names[matches[0]][1]}", or give the code.'
        )
    words = "".join(w for w in _words(typed_name) if w != "county")
    only_county = counties.get(words)
    if matches:
        code = matches[0]
        name, of = directory.names[code]
        if only_county and county is None and not wanted.typed and "county" not in _words(typed_name):
            return code, (f"{only_county} is also the name of a county; read as {name}, {of} County ({code}).",)
        return code, ()
    if only_county and county is None:
        inside = [c for c, n in pool.items() if n.base == words]
        hint = f" Did you mean {_listed(inside, directory)}?" if inside else ""
        raise SiteError(
            f"The municipality was read as {text!r}, which is only a county's name; "
            f"expected a municipality in it."
            f"{hint} Name the municipality or give its code."
        )
    raise _choices(text, wanted, directory)


def find_municipality(text: str, directory: MunicipalDirectory) -> str:
    """Return the code of the municipality that the text names; see `match_municipality`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> names = {"0408": ("Camden City", "Camden"), "0714": ("Newark City", "Essex")}
    >>> directory = SimpleNamespace(names=names)
    >>> find_municipality("city of newark", directory)
    '0714'
    """
    return match_municipality(text, directory)[0]
