"""The municipality in an address: which ones a name can mean, and how sure that is.

An address rarely has a municipality's full name. "Orange" is one; "Washington Township" is five; "Short Hills" is none,
but a post office of one. Whatever a name could mean is kept and said, and nothing is chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

from grownj_geo.addresswords import address_words
from grownj_geo.yamlfile import read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grownj_geo.locate import MunicipalDirectory

__all__ = ["Place", "PlaceBook", "PlaceHow", "place_book"]

PlaceHow = Literal["named", "ambiguous", "postal", "guessed", "conflict", "unknown", "none"]

_LONGEST_NAME = 5
_LIKE = 0.8
_COUNTY = frozenset({"COUNTY", "CNTY", "CO"})


@dataclass(frozen=True)
class Place:
    """What the name of a place can mean.

    Attributes
    ----------
    typed
        The name as it was typed; empty where there was none.
    mun_codes
        Treasury codes of the municipalities that it can be, sorted; empty where none is known.
    how
        ``"named"`` (one municipality has that name), ``"ambiguous"`` (several have it), ``"postal"`` (no municipality,
        but mail there is addressed so), ``"guessed"`` (misspelt, or of another kind: a municipality's name is near),
        ``"conflict"`` (another place was typed beside it that it does not lie in), ``"unknown"`` (nothing is near),
        ``"none"`` (none was typed).
    against
        That other place.
    """

    typed: str = ""
    mun_codes: tuple[str, ...] = ()
    how: PlaceHow = "none"
    against: str = ""


class PlaceBook:
    """Names of municipalities and post offices.

    Parameters
    ----------
    names
        Treasury code to (name, county).
    """

    def __init__(self, names: Mapping[str, tuple[str, str]]) -> None:
        self._names = names
        self._types: dict[str, frozenset[str]] = {}
        self._bases: dict[str, list[str]] = {}
        for code, (name, _) in names.items():
            base, types = _base(_words(name))
            self._types[code] = types
            self._bases.setdefault(base, []).append(code)
        self._counties: dict[str, str] = {"".join(_words(county)): county for _, county in names.values()}
        self._postal = {
            "".join(_words(name)): tuple(code for code in codes if code in names)
            for name, codes in _postal_names().items()
        }

    def label(self, code: str) -> str:
        """Return a municipality's name with its county."""
        name, county = self._names[code]
        return f"{name}, {county} County"

    def county(self, text: str) -> str | None:
        """Return the county that a text names in full, with or without the word for it."""
        words = [w for w in _words(text) if w not in _COUNTY and w != "OF"]
        return self._counties.get("".join(words))

    def find(self, text: str, *, county: str | None = None, near: bool = True) -> Place:
        """Return what a name can mean.

        Parameters
        ----------
        text
            Name of a municipality, a post office or neither.
        county
            County that was typed beside it.
        near
            Whether a name that is nearly one counts.

        Examples
        --------
        >>> book = PlaceBook({"0408": ("Camden City", "Camden"), "0717": ("City of Orange Township", "Essex")})
        >>> book.find("Orange"), book.find("Camdne").how
        (Place(typed='Orange', mun_codes=('0717',), how='named', against=''), 'guessed')
        """
        words = _words(text)
        base, types = _base(words)
        if not base:
            return Place()
        same = self._bases.get(base, [])
        codes = [c for c in same if types <= self._types[c]]
        postal = () if codes else self._postal.get("".join(words), ())
        how: PlaceHow = "postal" if postal else "named"
        codes = codes or list(postal)
        if not codes and near:
            how = "guessed"
            codes = same or self._near(base)
        if county is not None and codes:
            there = [c for c in codes if self._names[c][1] == county]
            if not there:
                return Place(text.strip(" -"), tuple(sorted(codes)), "conflict", f"{county} County")
            codes = there
        if not codes:
            return Place(text.strip(" -"), (), "unknown")
        if how == "named" and len(codes) > 1:
            how = "ambiguous"
        return Place(text.strip(" -"), tuple(sorted(codes)), how)

    def _near(self, base: str) -> list[str]:
        try:
            from rapidfuzz import process  # noqa: PLC0415 - an extra, and slow to import
            from rapidfuzz.distance import OSA  # noqa: PLC0415 - the same
        except ImportError:
            # Without the extra nothing is near, and the name is told as unknown.
            return []
        spelt = [*self._bases, *self._postal]
        found = process.extract(base, spelt, scorer=OSA.normalized_similarity, score_cutoff=_LIKE, limit=3)
        best = [name for name, score, _ in found if score == found[0][1]]
        return [c for name in best for c in self._bases.get(name) or self._postal[name]]

    def at_end(self, words: Sequence[str]) -> list[tuple[int, Place]]:
        """Return which places the last words of a line can be, the longest first, each with its number of words.

        Only names that are written in full count here: the words before them are a street's.
        """
        found = []
        for count in range(min(_LONGEST_NAME, len(words) - 1), 0, -1):
            place = self.find(" ".join(words[-count:]), near=False)
            if place.mun_codes and words[-count].strip(".,").upper() not in _COUNTY:
                found.append((count, place))
        return found

    def starting(self, text: str) -> tuple[str, ...]:
        """Return the codes of municipalities whose names begin with a text, for typing ahead."""
        key = "".join(_words(text))
        if not key:
            return ()
        codes = [c for base, of in self._bases.items() if base.startswith(key) for c in of]
        codes += [c for c in self._names if "".join(_words(self._names[c][0])).startswith(key)]
        codes += [c for name, of in self._postal.items() if name.startswith(key) for c in of]
        return tuple(sorted(set(codes)))


def place_book(directory: MunicipalDirectory) -> PlaceBook:
    """Return the book of a directory, made once for each list of names."""
    return _book(tuple(directory.names.items()))


@lru_cache(maxsize=4)
def _book(names: tuple[tuple[str, tuple[str, str]], ...]) -> PlaceBook:
    return PlaceBook(dict(names))


@lru_cache(maxsize=1)
def _postal_names() -> dict[str, list[str]]:
    file = resources.files("grownj_geo") / "postalnames.yaml"
    read: dict[str, dict[str, list[str]]] = read_yaml(file.read_bytes())
    return read["names"]


def _words(text: str) -> list[str]:
    known = address_words().place_words
    words = [w for w in re.split(r"[^A-Z0-9]+", text.upper().replace("'", "")) if w]
    return [known.get(w, w) for w in words]


def _base(words: Sequence[str]) -> tuple[str, frozenset[str]]:
    """Return a name without the kinds of municipality in it, and the kinds."""
    kinds = address_words().place_types
    rest = list(words)
    types = set()
    if len(rest) > 2 and rest[0] in kinds and rest[1] == "OF":  # noqa: PLR2004 - "city of" and a name
        types.add(kinds[rest[0]])
        rest = rest[2:]
    while len(rest) > 1 and rest[-1] in kinds:
        types.add(kinds[rest.pop()])
    return "".join(rest), frozenset(types)
