"""Block and lot as people type them: "Camden City block 81 lot 1", "blk 81, lot 1.10 qual C0001, Camden"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grownj_geo.addressplaces import place_book
from grownj_geo.coordinates import plain_text
from grownj_geo.errors import SiteError
from grownj_geo.parcel import plain_part
from grownj_geo.pins import Pin, match_municipality

if TYPE_CHECKING:
    from grownj_geo.locate import MunicipalDirectory

__all__ = ["looks_like_lot", "parse_lot"]

_LONGEST = 300
_MOST_PIECES = 12
_PART = r"[0-9A-Z][0-9A-Z.\-]{0,15}(?<![.\-])"
_SIGNS = r"[\s.:#=]{0,5}"
_NUMBER = rf"{_SIGNS}(?:(?:no|num|number)\b{_SIGNS})?"
_BLOCK = rf"\b(?:block|blck|blk|bl|b){_NUMBER}(?P<block>{_PART})(?![0-9A-Z])"
_OTHER = rf"(?:lots?\b{_SIGNS})?[0-9][0-9A-Z.]{{0,15}}(?![0-9A-Z])"
# After a comma a number may be a house's: then a street's name follows it.
_MORE = (
    rf"(?:\s{{0,5}}(?:&|\+|;|/|\band\b|\bto\b|\bthrough\b)\s{{0,5}}{_OTHER}"
    rf"|\s{{0,5}},\s{{0,5}}{_OTHER}(?!\s+(?!and\b|to\b|through\b)[A-Z]))*"
)
_LOT = rf"\b(?P<word>lots?|lt|l){_NUMBER}(?P<lot>{_PART})(?![0-9A-Z])(?P<more>{_MORE})"
_QUALIFIER = (
    rf"\b(?:qualifier|qualification code|qualif|qual|qcode|q|unit){_SIGNS}(?P<qualifier>[0-9A-Z][0-9A-Z\-]{{0,15}})"
)
_BETWEEN = r"[\s,;/&\-]{0,8}(?:\band\b\s{0,5})?"
_ORDERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_BLOCK}{_BETWEEN}{_LOT}(?:{_BETWEEN}{_QUALIFIER})?",
        rf"{_LOT}(?:{_BETWEEN}{_QUALIFIER})?{_BETWEEN}{_BLOCK}",
    )
)
_FILLING = re.compile(r"^(?:[\s,;:.\-/()]|\b(?:in|of|the|tax map|parcel|at)\b)+|[\s,;:.\-/(]+$", re.IGNORECASE)
_STATE = re.compile(r"(?:,?\s*\b(?:N\.?J\.?|New Jersey)\b\.?)?(?:\s+[0-9]{5}(?:-[0-9]{4})?)?\s*$", re.IGNORECASE)
_COUNTY = re.compile(r"\b(?:COUNTY|CNTY|CO)\b", re.IGNORECASE)
# One of the two alone, beside words without a number: a street's number would be one.
_HALF = re.compile(
    rf"[^0-9]*?\b(?:(?P<block>block|blck|blk)|lot){_NUMBER}[0-9][0-9A-Z.\-]{{0,15}}(?![0-9A-Z])[^0-9]*", re.IGNORECASE
)
_EXPECTED = 'Expected municipality, block and lot, as in "Camden City block 81 lot 1"'


def looks_like_lot(text: str) -> bool:
    """Whether text is meant as block and lot, whatever else is in it.

    Examples
    --------
    >>> looks_like_lot("Camden City block 81 lot 1"), looks_like_lot("lot 4, blk 12, Nutley")
    (True, True)
    >>> looks_like_lot("81 Block Island Rd"), looks_like_lot("12 Main St, Camden")
    (False, False)
    """
    return _find(plain_text(text)) is not None


def _find(typed: str) -> re.Match[str] | None:
    """Return where block and lot stand: each has a digit in it, or is one letter."""
    if len(typed) > _LONGEST:
        return None
    for order in _ORDERS:
        for found in order.finditer(typed):
            if all(len(part) == 1 or any(map(str.isdigit, part)) for part in found.group("block", "lot")):
                return found
    return None


def parse_lot(text: str, directory: MunicipalDirectory) -> tuple[Pin, tuple[str, ...]] | None:
    """Read a municipality with block, lot and qualifier, in whatever order they are typed.

    Parameters
    ----------
    text
        What was typed.
    directory
        Which municipalities there are.

    Returns
    -------
    tuple of (Pin, tuple of str), or None
        The parcel and notes on how it was read; None where the text does not name a block and a lot.

    Raises
    ------
    SiteError
        Where it names several lots, or no municipality, or one that is not known or that several have.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> names = {"0408": ("Camden City", "Camden"), "0714": ("Newark City", "Essex")}
    >>> directory = SimpleNamespace(names=names)
    >>> pin, notes = parse_lot("Camden City block 81 lot 1", directory)
    >>> str(pin), notes
    ('0408_81_1', ())
    >>> str(parse_lot("blk 81, lot 1.10 qual c0001, Newark NJ", directory)[0])
    '0714_81_1.10_C0001'
    >>> parse_lot("12 Main St, Camden", directory) is None
    True
    """
    typed = plain_text(text)
    found = _find(typed)
    if found is None:
        half = _HALF.fullmatch(typed)
        if half is not None:
            given, lacking = ("block", "lot") if half["block"] else ("lot", "block")
            raise SiteError(f"{text[:80]!r} has a {given} and no {lacking}. {_EXPECTED}; add the {lacking}.")
        return None
    if found["more"].strip() or (found["word"].casefold() == "lots" and "-" in found["lot"]):
        raise SiteError(
            f"Block and lot were read as {found[0].strip()!r}, which names several lots. Expected one; give the parcel "
            "numbers one after the other, as in 0408_81_1 0408_81_2."
        )
    parts = [plain_part(found[name] or "") for name in ("block", "lot", "qualifier")]
    rest = [_without_filling(piece) for piece in (typed[: found.start()], typed[found.end() :])]
    code, notes = _municipality(text, [piece for piece in rest if piece], directory)
    if parts[0] != found["block"].upper() or parts[1] != found["lot"].upper():
        notes = (*notes, f"Zeros in front were left out: read as block {parts[0]}, lot {parts[1]}.")
    return Pin(code, *parts), notes


def _without_filling(text: str) -> str:
    return _FILLING.sub("", _FILLING.sub("", text)).strip()


def _municipality(text: str, rest: list[str], directory: MunicipalDirectory) -> tuple[str, tuple[str, ...]]:
    """Return the municipality that stands around block and lot, and notes."""
    if not rest:
        raise SiteError(f"Block and lot were read from {text!r}, without a municipality. {_EXPECTED}.")
    whole = ", ".join(rest)
    if whole.count(",") >= _MOST_PIECES:
        raise SiteError(f"Block and lot were read from {text!r}, with too much beside them. {_EXPECTED}.")
    found, problem = _named(whole, rest, directory)
    if len(found) > 1:
        listed = " and ".join(f"{directory.names[code][0]} ({code})" for code in found)
        raise SiteError(
            f"Beside block and lot, {whole!r} names {listed}. Expected one municipality; leave the other out."
        )
    if not found:
        raise problem or SiteError(f"Block and lot were read from {text!r}, without a municipality. {_EXPECTED}.")
    ((code, (attempt, notes)),) = found.items()
    aside = [piece.strip() for piece in _STATE.sub("", whole).split(",")]
    aside = [piece for piece in aside if piece and piece not in attempt]
    name, own = directory.names[code]
    for piece in aside:
        county = place_book(directory).county(piece)
        if county not in {None, own} and _COUNTY.search(piece):
            raise SiteError(
                f"Beside block and lot stands {piece!r}, and {name} ({code}) is in {own} County. Expected one place; "
                "correct either."
            )
    if aside:
        notes = (*notes, f"Left aside: {', '.join(aside)!r}; block and lot say which parcel it is.")
    return code, notes


def _named(
    whole: str, rest: list[str], directory: MunicipalDirectory
) -> tuple[dict[str, tuple[str, tuple[str, ...]]], SiteError | None]:
    """Return the municipalities that a text names, each with the words that do and notes, and why it names none."""
    problem: SiteError | None = None
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    # All of it first; only then its pieces, of which one may be a street.
    for pieces in ([whole], [*rest, *(piece for part in rest for piece in part.split(","))]):
        for attempt in dict.fromkeys(filter(None, (_STATE.sub("", piece).strip(" ,") for piece in pieces))):
            try:
                code, notes = match_municipality(attempt, directory)
            except SiteError as error:
                # What is said of all that was typed is what has to be corrected.
                problem = problem or error
            else:
                found.setdefault(code, (attempt, notes))
        if found:
            break
    return found, problem
