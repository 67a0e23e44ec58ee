"""An address as it is typed, read into number, street, unit and the municipalities that it can mean.

What cannot be a place is refused by name: boxes at a post office, rural routes, other states. Where a text can be read
in two ways ("55 Mount Vernon" is a street, or Mount in Vernon), both readings are kept, and the search says which fits.

usaddress labels the words as most people write them. It is wrong or refuses where lists are terse, so it only adds
readings to those that follow from the municipalities' names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grownj_geo.addressline import StreetLine, split_line
from grownj_geo.addressplaces import Place, PlaceBook, place_book
from grownj_geo.addresswords import address_words
from grownj_geo.coordinates import plain_text
from grownj_geo.errors import OutsideNewJerseyError, SiteError

if TYPE_CHECKING:
    from grownj_geo.locate import MunicipalDirectory

__all__ = ["AddressError", "ParsedAddress", "Reading", "parse_address"]

_LONGEST = 300
_EXPECTED = 'Expected number, street and municipality, as in "520 Market Street, Camden City"'

_BOX = re.compile(
    r"\b(?:P\.?\s*O\.?\s*(?:BOX|B(?=\s*[0-9#]))|POST(?:AL)?\s+OFFICE\s+BOX|POB(?=\s*[0-9#])|P\.?\s*O\.?\s*DRAWER"
    r"|CALLER\s+SERVICE|LOCK\s*BOX)\b",
    re.IGNORECASE,
)
_BOX_FIRST = re.compile(r"^BOX\s+#?[0-9]+\b", re.IGNORECASE)
_RURAL = re.compile(
    r"\b(?:R\.?\s*R\.?|R\.?\s*F\.?\s*D\.?|RURAL\s+(?:ROUTE|DELIVERY)|H\.?\s*C\.?\s*R?|STAR\s+ROUTE|RD)\s*(?:NO\.?\s*)?#?\s*"
    r"[0-9]+[A-Z]?\s*,?\s*BOX\b|^(?:R\.?\s*R\.?|R\.?\s*F\.?\s*D\.?|RURAL\s+(?:ROUTE|DELIVERY)|H\.?\s*C\.?)\s*(?:NO\.?\s*)?#?\s*[0-9]+\b"
    r"|\bGENERAL\s+DELIVERY\b",
    re.IGNORECASE,
)
_LOT = re.compile(
    r"\bBL(?:OC)?K\.?\s*#?\s*[0-9][0-9.]*[A-Z]?\s*[,;&]?\s*(?:AND\s+)?LO?T\.?\s*#?\s*[0-9]", re.IGNORECASE
)
_COUNTRY = re.compile(r"[\s,]+(?:U\.?\s?S\.?\s?A\.?|UNITED\s+STATES(?:\s+OF\s+AMERICA)?)$", re.IGNORECASE)
_ZIP = re.compile(r"[\s,]+(?P<zip>[0-9]{5})(?:\s*-?\s*[0-9]{4})?$")
_SHORT_ZIP = re.compile(r"(?P<state>N\.?\s?J\.?|NEW\s+JERSEY)[\s,]+(?P<zip>[78][0-9]{3})(?:-[0-9]{4})?$", re.IGNORECASE)
_STATE = re.compile(r"(?<![A-Z0-9])(?:N\.?\s?J\.?|NEW\s+JERSEY)$", re.IGNORECASE)
_UNIT_FIRST = re.compile(
    r"(?:\#|(?:APT|APARTMENT|UNIT|STE|SUITE|FL|FLOOR|RM|ROOM|BLDG|BUILDING|PH|REAR|FRONT)\b|[0-9]{1,2}(?:ST|ND|RD|TH)\s+FL)"
    r"|[A-Z]?[0-9]{1,4}[A-Z]?$",
    re.IGNORECASE,
)
_STARTS = re.compile(r"(?:REAR\b|FRONT\b|\#)?[^A-Z0-9]*[0-9]", re.IGNORECASE)


class AddressError(SiteError):
    """A text is no address of a place in New Jersey, or none that can be looked up.

    Attributes
    ----------
    fault
        The kind in one stable word: ``"empty"``, ``"too_long"``, ``"po_box"``, ``"rural_route"``,
        ``"block_and_lot"``, ``"no_street"`` or ``"not_installed"``.
    """

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[AddressError], tuple[str, str]]:
        """Return how it crosses from one process to another."""
        return type(self), (self.fault, str(self))


@dataclass(frozen=True)
class Reading:
    """One way to read an address.

    Attributes
    ----------
    line
        Number, street and unit.
    place
        What stands for the municipality.
    """

    line: StreetLine
    place: Place


@dataclass(frozen=True)
class ParsedAddress:
    """An address as it was typed and how it can be read.

    Attributes
    ----------
    text
        As typed.
    readings
        The likeliest first; at least one.
    zip_code
        Five digits, or None.
    notes
        What was left out or made good, and what the municipality could mean, in sentences.
    """

    text: str
    readings: tuple[Reading, ...]
    zip_code: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> StreetLine:
        """Number, street and unit of the likeliest reading."""
        return self.readings[0].line

    @property
    def place(self) -> Place:
        """What stands for the municipality in the likeliest reading."""
        return self.readings[0].place

    @property
    def mun_codes(self) -> tuple[str, ...]:
        """Treasury codes of the municipalities that the likeliest reading can mean; empty where none is known."""
        return self.place.mun_codes


def parse_address(text: str, directory: MunicipalDirectory) -> ParsedAddress:
    """Read an address.

    Parameters
    ----------
    text
        As typed or as a table has it: ``"12 Main St, Apt 3, Camden, NJ 08102"``; commas are not needed.
    directory
        Which municipalities there are.

    Raises
    ------
    AddressError
        For an empty text, a post-office box, a rural route, a block and lot, or a text without a street.
    OutsideNewJerseyError
        For another state or its ZIP code.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> names = {"0408": ("Camden City", "Camden"), "0714": ("Newark City", "Essex")}
    >>> parsed = parse_address("520 market st camden nj 08102", SimpleNamespace(names=names))
    >>> parsed.line.number, str(parsed.line.street), parsed.mun_codes, parsed.zip_code
    ('520', 'MARKET STREET', ('0408',), '08102')
    """
    plain = " ".join(plain_text(re.sub(r"[\r\n\t|]+", ", ", text[: 2 * _LONGEST])).split())
    _refuse(text, plain)
    book = place_book(directory)
    notes: list[str] = []
    rest, zip_code = _without_tail(text, plain, book, notes)
    county, segments = _segments(rest, book)
    readings = list(dict.fromkeys(_readings(segments, county, book, notes)))
    readings = [r for r in readings if any(c.isalpha() for c in r.line.street.name)]
    labelled = _labelled(", ".join(segments), county, book)
    if labelled and _adds(labelled, readings):
        # Words before the number ("Acme Corp 12 Main St") are where only the labels find it.
        readings.insert(len(readings) if readings and readings[0].line.number else 0, labelled)
    if not readings:
        raise AddressError("no_street", f"The address was read as {text!r}, and no street is in it. {_EXPECTED}.")
    notes += _place_notes(readings[0].place, book)
    return ParsedAddress(text, tuple(readings), zip_code, tuple(notes))


def _refuse(text: str, plain: str) -> None:
    if not plain or not any(c.isalnum() for c in plain):
        raise AddressError("empty", f"The address is empty. {_EXPECTED}.")
    if len(plain) > _LONGEST:
        raise AddressError(
            "too_long",
            f"The address was read as {text[:40]!r}... and has {len(text)} characters; "
            f"expected at most {_LONGEST}. Shorten it to number, street and municipality.",
        )
    if _BOX.search(plain) or _BOX_FIRST.search(plain):
        raise AddressError(
            "po_box",
            f"The address was read as {text!r}, which is a box at a post office and says nothing of where the site is. "
            f"{_EXPECTED}; give the street without the box, a parcel number or coordinates.",
        )
    if _RURAL.search(plain):
        raise AddressError(
            "rural_route",
            f"The address was read as {text!r}, which is a route of mail delivery and no place. "
            f"{_EXPECTED}; give the street, a parcel number or coordinates.",
        )
    if _LOT.search(plain):
        raise AddressError(
            "block_and_lot",
            f"The address was read as {text!r}, which names a block and a lot. {_EXPECTED}; look the parcel up "
            "by its number instead, as in 0408_81_1.",
        )


# -- the end: country, ZIP code, state -----------------------------------------------------------------


def _without_tail(text: str, plain: str, book: PlaceBook, notes: list[str]) -> tuple[str, str | None]:
    """Take country, ZIP code and state off the end, and refuse those of other states."""
    known = address_words()
    rest = _COUNTRY.sub("", plain).rstrip(" ,.")
    zip_code = None
    short = _SHORT_ZIP.search(rest)
    found = _ZIP.search(rest)
    if short:
        zip_code = "0" + short["zip"]
        notes.append(f"The ZIP code {short['zip']} was read as {zip_code}: it had lost its leading zero.")
        rest = rest[: short.start("zip")].rstrip(" ,.")
    elif found and re.search(r"[A-Za-z]", rest[: found.start()]) and not _highway_ahead(rest[: found.start()]):
        zip_code = found["zip"]
        rest = rest[: found.start()].rstrip(" ,.")
    if zip_code and not known.zip_first <= int(zip_code[:3]) <= known.zip_last:
        raise OutsideNewJerseyError(
            f"The address was read as {text!r}, and its ZIP code {zip_code} is not one of New Jersey "
            f"({known.zip_first:03d}00 to {known.zip_last:03d}99). Expected a place in New Jersey; check the ZIP code."
        )
    state = _STATE.search(rest)
    if state and state.start():
        return rest[: state.start()].rstrip(" ,."), zip_code
    other = None if zip_code else _other_state(rest, book)
    if other:
        raise OutsideNewJerseyError(
            f"The address was read as {text!r}, in {other.title()}. Expected a place in New Jersey; "
            "check the state, or leave it out."
        )
    return rest, zip_code


def _highway_ahead(before: str) -> bool:
    return bool(re.search(r"(?:\b(?:ROUTE|RTE|RT|HWY|HIGHWAY|BOX|UNIT|APT|STE|SUITE)\.?|#)\s*$", before, re.IGNORECASE))


def _other_state(rest: str, book: PlaceBook) -> str | None:
    """Return the other state that the end of a text names, if it does and is no place here."""
    known = address_words()
    segments = [s.strip(" .") for s in rest.upper().split(",")]
    last = segments[-1]
    words = last.replace(".", "").split()
    if not words or (len(segments) == 1 and len(words) < 4):  # noqa: PLR2004 - number, street, place, state
        return None
    short = known.other_states.get(words[-1])
    means_else = words[-1] in known.suffixes or words[-1] in known.directions or words[-1] in known.units
    if short and ((len(words) == 1 and len(segments) > 1) or not means_else):
        return short
    if len(segments) > 1 and last in known.other_states.values() and not book.find(last, near=False).mun_codes:
        return last
    return None


# -- the middle: number, street, unit, municipality ----------------------------------------------------


def _segments(rest: str, book: PlaceBook) -> tuple[str | None, list[str]]:
    """Return the county that was typed, and the parts between commas without it."""
    parts = [p.strip(" .") for p in re.sub(r"[()]", ",", rest).replace(";", ",").split(",")]
    parts = [p for p in parts if p]
    county = None
    if len(parts) > 1:
        named = book.county(parts[-1])
        with_word = bool(re.search(r"\b(?:COUNTY|CNTY|CO)\b", parts[-1], re.IGNORECASE))
        beside_place = len(parts) > 2 and bool(book.find(parts[-2], near=False).mun_codes)  # noqa: PLR2004 - line, place
        if named and (with_word or beside_place):
            county = named
            parts.pop()
    words = parts[-1].split() if parts else []
    if county is None and len(words) > 3 and words[-1].upper() in {"COUNTY", "CO"}:  # noqa: PLR2004 - and a street
        for count in (2, 1):
            named = book.county(" ".join(words[-1 - count : -1]))
            if named:
                county = named
                parts[-1] = " ".join(words[: -1 - count])
                break
    return county, parts


def _readings(segments: list[str], county: str | None, book: PlaceBook, notes: list[str]) -> list[Reading]:
    if not segments:
        return []
    start = next((i for i, s in enumerate(segments) if _STARTS.match(s)), None)
    if start is None:
        start = next((i for i, s in enumerate(segments) if not book.find(s, near=False).mun_codes), 0)
    before, line, after = segments[:start], segments[start], segments[start + 1 :]
    units: list[str] = []
    places: list[Place] = []
    for segment in after:
        if _UNIT_FIRST.match(segment) and not book.find(segment, near=False).mun_codes:
            units.append(segment)
        else:
            places.append(book.find(segment, county=county))
    for segment in before:
        place = book.find(segment, county=county, near=False)
        if place.mun_codes:
            places.append(place)
        elif _UNIT_FIRST.match(segment):
            units.append(segment)
        else:
            notes.append(f"{segment!r} before the number was read as the name of a building or firm and left out.")
    if places:
        chosen = _chosen(places, notes)
        return [Reading(split_line(" ".join([line, *units])), chosen)]
    return _without_commas(" ".join([line, *units]), county, book)


def _chosen(places: list[Place], notes: list[str]) -> Place:
    """Return the one of several places that is taken, marked where another contradicts it."""
    known = [p for p in places if p.how == "named"] or [p for p in places if p.mun_codes] or places
    chosen = known[-1]
    other = next((p for p in places if _contradicts(p, chosen)), None)
    if other is not None and chosen.how != "conflict":
        return replace(chosen, how="conflict", against=other.typed)
    left = [p.typed for p in places if p is not chosen]
    if left:
        notes.append(f"Of several places {chosen.typed!r} was taken; left out: {', '.join(map(repr, left))}.")
    return chosen


def _contradicts(place: Place, chosen: Place) -> bool:
    """Return whether a place that was typed too is surely none of those that the chosen one can be."""
    sure = place.how in {"named", "ambiguous", "postal"}
    return sure and bool(chosen.mun_codes) and not set(place.mun_codes) & set(chosen.mun_codes)


def _without_commas(line: str, county: str | None, book: PlaceBook) -> list[Reading]:
    """Return the readings in which the last words are a municipality, and the one in which none is named."""
    words = line.replace(",", " ").split()
    found: list[Reading] = []
    for count, place in book.at_end(words):
        street = split_line(" ".join(words[:-count]))
        if not street.street.name or (not street.number and len(words) - count < 2):  # noqa: PLR2004 - "Park Ridge"
            continue
        narrowed = book.find(place.typed, county=county, near=False) if county else place
        found.append(Reading(street, narrowed))
    after_suffix = _after_suffix(words)
    if not found and after_suffix:
        place = book.find(" ".join(words[-after_suffix:]), county=county)
        if place.mun_codes:
            found.append(Reading(split_line(" ".join(words[:-after_suffix])), place))
    if not found:
        found += _nearly_at_end(words, county, book)
    return [*found, Reading(split_line(line), Place())]


def _nearly_at_end(words: list[str], county: str | None, book: PlaceBook) -> list[Reading]:
    """Return the reading in which the last words are a municipality, misspelt: "12 Main Ornage"."""
    for count in (2, 1):
        street = split_line(" ".join(words[:-count]))
        tail = words[-count:]
        whole = street.number and street.street.name and all(len(w) > 3 and w.isalpha() for w in tail)  # noqa: PLR2004
        if whole and tail[-1].upper() not in address_words().suffixes:
            place = book.find(" ".join(tail), county=county)
            if place.mun_codes:
                return [Reading(street, place)]
    return []


def _after_suffix(words: list[str]) -> int:
    """Return how many words stand behind the last suffix, if they can only be a place."""
    known = address_words()
    plain = [w.upper().strip(".") for w in words]
    last = max((i for i, w in enumerate(plain) if i > 1 and w in known.suffixes), default=len(plain))
    behind = plain[last + 1 :]
    if not behind or any(c.isdigit() or c == "#" for w in behind for c in w):
        return 0
    if behind[0] in known.units or all(w in known.directions for w in behind):
        return 0
    return len(behind) if sum(map(len, behind)) > 3 else 0  # noqa: PLR2004 - a letter is a unit, not a place


def _adds(labelled: Reading, readings: list[Reading]) -> bool:
    """Whether a reading says something that the others do not say better."""
    if not readings or not readings[0].line.number:
        return True
    if not labelled.place.mun_codes:
        return False
    return not any(
        labelled.line == r.line and r.place.mun_codes and set(r.place.mun_codes) <= set(labelled.place.mun_codes)
        for r in readings
    )


def _labelled(text: str, county: str | None, book: PlaceBook) -> Reading | None:
    """Return the reading that follows from usaddress's labels, where it is there and is sure of them."""
    try:
        import usaddress  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    try:
        labels, kind = usaddress.tag(text)
    except usaddress.RepeatedLabelError:
        # It found two streets or two numbers: its labels are no help, and the other readings stand.
        return None
    if kind != "Street Address":
        return None
    parts = [v for k, v in labels.items() if k.startswith(("AddressNumber", "StreetName", "Occupancy", "Subaddress"))]
    line = split_line(" ".join(parts))
    if not line.number or not line.street.name:
        return None
    return Reading(line, book.find(labels.get("PlaceName", ""), county=county))


def _place_notes(place: Place, book: PlaceBook) -> list[str]:
    could_be = "; ".join(map(book.label, place.mun_codes))
    words = {
        "named": None,
        "ambiguous": f"{place.typed!r} is the name of {len(place.mun_codes)} municipalities: {could_be}.",
        "postal": f"{place.typed!r} is no municipality; mail there is addressed so in: {could_be}.",
        "guessed": f"{place.typed!r} is no municipality; the nearest name is taken: {could_be}.",
        "conflict": f"{place.typed!r} ({could_be}) and {place.against!r} were both typed; the one is not in the other.",
        "unknown": f"{place.typed!r} is no municipality or post office that is known; it was searched without it.",
        "none": "No municipality was typed: every one whose addresses are loaded was searched.",
    }[place.how]
    return [] if words is None else [words]
