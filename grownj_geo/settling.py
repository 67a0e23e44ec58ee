"""Which of a locator's matches is the place that was meant, and what site several make that fit equally well.

A match is taken only where it fits in everything that was typed, is one place, and lies in the municipality that was
typed. Otherwise it is a choice, with the reason. Nothing is asked here, and nothing is guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import shapely

from grownj_geo.enclosing import around, farthest_ft
from grownj_geo.found import choice_words, feet_words
from grownj_geo.locator import apart_ft, leading
from grownj_geo.matchfigures import CLOSE_FT, GOOD_SCORE, SAME_FT
from grownj_geo.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grownj_geo.found import TypedAddress
    from grownj_geo.locator import AddressQuery, Match

__all__ = [
    "Verdict",
    "doubts",
    "judge",
    "same_ground",
    "shared_site",
    "site_of_match",
]

_EXACT = frozenset({"rooftop", "parcel", "range"})
_MOST_NOTES = 2


@dataclass(frozen=True)
class Verdict:
    """What the matches of one locator come to.

    Attributes
    ----------
    word
        ``"settled"``: one place; ``"several"``: places that fit equally well; ``"weak"``; ``"nothing"``.
    matches
        The place, or the choices, the best first.
    why
        Why the best of weak ones is not taken.
    notes
        What else is to be told.
    """

    word: Literal["settled", "several", "weak", "nothing"]
    matches: tuple[Match, ...] = ()
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def judge(
    typed: TypedAddress,
    matches: Sequence[Match],
    *,
    codes_of: Callable[[Match], tuple[str, ...]],
    names: Mapping[str, tuple[str, str]],
) -> Verdict:
    """Return what the matches of one locator come to.

    Parameters
    ----------
    typed
        What was asked.
    matches
        What came back.
    codes_of
        The municipalities in which a match may lie, the likeliest first.
    names
        Name and county by municipal code.
    """
    if not matches:
        return Verdict("nothing")
    best = leading(matches)
    against = {match: doubts(typed, match, codes_of(match), names) for match in best}
    good = [match for match in best if not against[match]]
    if not good:
        return Verdict("weak", tuple(dict.fromkeys((*best, *matches))), against[best[0]])
    notes = [f"Not taken: {choice_words([match])}; {why[0]}." for match, why in against.items() if why]
    if _one_place(good):
        return Verdict("settled", (good[0],), notes=tuple(notes))
    return Verdict("several", tuple(good), notes=tuple(notes))


def doubts(
    typed: TypedAddress, match: Match, codes: Sequence[str], names: Mapping[str, tuple[str, str]]
) -> tuple[str, ...]:
    """Return why a match cannot be taken for the place that was meant; nothing where it can.

    Parameters
    ----------
    typed, match
        What was asked and what came back.
    codes
        The municipalities in which the match may lie; none where it lies outside New Jersey.
    names
        Name and county by municipal code.
    """
    found = []
    if match.score < GOOD_SCORE:
        said = "; ".join(note.rstrip(".") for note in match.notes[:_MOST_NOTES])
        why = f"{said}; " if said else ""
        found.append(f"it differs from what was typed ({why}score {match.score:.2f}, expected {GOOD_SCORE})")
    if match.kind not in _EXACT and match.pin is None:
        found.append(f"only the {match.kind} was found, not the house number")
    if not codes:
        found.append("it lies outside the lines of every municipality of New Jersey")
    elsewhere = _elsewhere(typed, match, codes, names)
    return (*found, elsewhere) if elsewhere else tuple(found)


def _elsewhere(
    typed: TypedAddress, match: Match, codes: Sequence[str], names: Mapping[str, tuple[str, str]]
) -> str | None:
    """Return why a match's municipality may be another than was typed; None where it is the same."""
    query, words = typed.query, None
    same_zip = query.zip_code is not None and query.zip_code == match.zip_code
    # Where mail goes under a postal name is not known surely: a service that has the address under it knows better.
    by_mail = typed.place == "postal" and (same_zip or _same_city(query, match))
    if query.mun_codes and codes and not set(query.mun_codes) & set(codes) and not by_mail:
        wanted = " or ".join(_name(code, names) for code in query.mun_codes[:3])
        how = "was typed" if typed.place in {"named", "ambiguous"} else f"is what {query.city!r} can mean"
        words = f"it lies in {_name(codes[0], names)}, and {wanted} {how}"
    elif typed.place == "postal" and not by_mail:
        listed = "; ".join(_name(code, names) for code in query.mun_codes)
        words = f"no municipality is called {query.city!r}; mail is addressed so in {listed}, and perhaps elsewhere"
    elif typed.place == "conflict":
        words = f"two places were typed of which {query.city!r} is one, and it does not lie in the other"
    elif typed.place == "guessed":
        words = f"no municipality is called {query.city!r}; only a name like it is known"
    elif typed.place == "ambiguous" and not same_zip:
        listed = "; ".join(_name(code, names) for code in query.mun_codes)
        words = f"{len(query.mun_codes)} municipalities have the name {query.city!r} ({listed})"
    elif not query.mun_codes and not same_zip and not _same_city(query, match):
        words = _not_compared(query)
    return words


def _not_compared(query: AddressQuery) -> str:
    if query.city:
        return f"no municipality is called {query.city!r}, so that it could not be compared"
    if query.zip_code:
        return f"it was not found under ZIP code {query.zip_code}"
    return "neither municipality nor ZIP code was typed"


def _same_city(query: AddressQuery, match: Match) -> bool:
    """Return whether a postal name that is no municipality's is the one under which a service has the address."""
    return bool(query.city and match.city and query.city.casefold().strip() == match.city.casefold().strip())


def _name(code: str, names: Mapping[str, tuple[str, str]]) -> str:
    if code not in names:
        return code
    name, county = names[code]
    return f"{name}, {county} County"


def _one_place(matches: Sequence[Match]) -> bool:
    first = matches[0]
    if len(matches) == 1:
        return True
    if len({match.pin for match in matches}) > 1:
        return False
    return all(apart_ft(first, match) <= SAME_FT for match in matches[1:])


def same_ground(matches: Sequence[Match]) -> bool:
    """Return whether all matches are parcels with one and the same outline: units of a condominium."""
    first = matches[0].geometry
    return first is not None and all(
        match.geometry is not None and shapely.equals(match.geometry, first) for match in matches[1:]
    )


def site_of_match(
    match: Match, *, typed: str, located_by: str, uncertainty_ft: float = 0.0, notes: Sequence[str] = ()
) -> Site:
    """Return the site that a match is.

    The outline of a parcel is the site; else the point, known to the match's uncertainty or to what the user states if
    that is more. A parcel without an outline and a street settle the municipality, and the place in it is not known.

    Parameters
    ----------
    match
        The place.
    typed, located_by, notes
        For the record.
    uncertainty_ft
        What the user states.
    """
    placed = match.has_place
    own = 0.0 if match.geometry is not None else match.uncertainty_ft
    by_pin = match.pin is not None and match.mun_code is not None
    basis = "pin" if by_pin else None if placed else "stated"
    return Site(
        typed=typed,
        located_by=located_by,
        geometry=None
        if not placed
        else shapely.Point(match.x_ft, match.y_ft)
        if match.geometry is None
        else match.geometry,
        uncertainty_ft=max(own, uncertainty_ft) if placed else uncertainty_ft,
        mun_code=match.mun_code if basis is not None else None,
        mun_basis=basis,
        pins=(match.pin,) if match.pin is not None else (),
        notes=tuple(dict.fromkeys((*notes, *match.notes))),
    )


def shared_site(
    matches: Sequence[Match], *, typed: str, uncertainty_ft: float = 0.0, notes: Sequence[str] = ()
) -> Site | None:
    """Return the one site that holds for every one of several places; None where there is none that says anything.

    Of parcels with one outline it is that outline; of places that lie close together the circle around all of them; of
    parcels of one municipality that municipality. Whatever is decided for it holds for each of the places.

    Parameters
    ----------
    matches
        Places that fit equally well.
    typed, notes
        For the record.
    uncertainty_ft
        What the user states.
    """
    pins = {match.pin for match in matches}
    pin = next(iter(pins)) if len(pins) == 1 else None
    codes = {match.mun_code if match.pin is not None else None for match in matches}
    code = next(iter(codes)) if len(codes) == 1 else None
    n = len(matches)
    common = {
        "typed": typed,
        "mun_code": code,
        "mun_basis": None if code is None else "pin",
        "pins": () if pin is None else (pin,),
        "notes": tuple(dict.fromkeys(notes)),
    }
    if same_ground(matches):
        return Site(
            located_by=f"address: {n} parcels with one outline, as units of a condominium have",
            geometry=matches[0].geometry,
            uncertainty_ft=uncertainty_ft,
            **common,  # type: ignore[arg-type]
        )
    circle = _circle(matches) if all(match.has_place for match in matches) else None
    if circle is not None and circle[1] <= CLOSE_FT:
        centre, radius = circle
        return Site(
            located_by=f"address: the circle of {feet_words(radius)} around {n} places that fit equally well",
            geometry=centre,
            uncertainty_ft=max(radius, uncertainty_ft),
            **common,  # type: ignore[arg-type]
        )
    if code is not None:
        return Site(
            located_by=f"address: the municipality of {n} parcels that fit equally well"
            if pin is None
            else f"address: the municipality of a parcel for which {n} places are known",
            uncertainty_ft=uncertainty_ft,
            **common,  # type: ignore[arg-type]
        )
    return None


def _circle(matches: Sequence[Match]) -> tuple[shapely.Point, float]:
    """Return a point, and the feet within which every place lies whole, its own uncertainty included."""
    shapes = [shapely.Point(m.x_ft, m.y_ft) if m.geometry is None else m.geometry for m in matches]
    centre = around(shapely.geometrycollections(shapes))[0]
    radius = 0.0
    for match, shape in zip(matches, shapes, strict=True):
        own = match.uncertainty_ft if match.geometry is None else 0.0
        radius = max(radius, farthest_ft(centre, shape) + own)
    return centre, radius
