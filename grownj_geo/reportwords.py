"""Words that every report of a determination uses, whatever it is printed on. Nothing is decided here."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from grownj_geo.evidence import feet, percent, stated_words
from grownj_geo.facts import load_facts
from grownj_geo.words import margin_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grownj_geo.determination import Determination, Evidence, Finding, LayerRecord, Neighbour, SiteRecord

__all__ = [
    "cut_words",
    "deciding_words",
    "neighbour_words",
    "outcome_words",
    "plain",
    "project_words",
    "share_or_margin_words",
    "site_pairs",
    "source_words",
    "typed_words",
    "unusable_words",
    "weak_words",
]

_SURE = {"confirmed", "derived"}
_MOST_TYPED = 300
_MOST_WAYS = 3
_ACRE_SQFT = 43560
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|\x9b[0-?]*[ -/]*[@-~]")


_TURNING = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(words: str) -> str:
    r"""Return text without terminal escapes and invisible or unpaired characters, line ends as spaces.

    Marks that turn the direction of what follows are told by number: a name that reads another way than it is written
    is to be seen as such.

    Examples
    --------
    >>> plain("a\x1b[31mb\n\u202ec")
    'ab ⟨U+202E⟩c'
    """
    text = re.sub(r"[\s\u2028\u2029]+", " ", _ESCAPE.sub("", words))
    text = _TURNING.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", text)
    return "".join("?" if unicodedata.category(c) == "Cs" else c for c in text if not _hidden(c))


def _hidden(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf"}


def cut_words(words: str, most: int) -> str:
    """Return text as `plain` does, with a mark where it was cut.

    Examples
    --------
    >>> cut_words("x" * 12, 10)
    'xxxxxxxxxx... (12 characters)'
    """
    text = plain(words)
    return f"{text[:most]}... ({len(text):,} characters)" if len(text) > most else text


def typed_words(found: Determination, *, most: int = 60) -> str:
    """Return the site as typed."""
    return cut_words(found.site.typed, most)


def outcome_words(finding: Finding) -> str:
    """Return an outcome with the way it leans."""
    return finding.outcome + (f", leans {finding.leans}" if finding.leans else "")


def weak_words(status: str | None) -> str:
    """Return a status that is weaker than derived, in brackets after a blank; else nothing.

    Examples
    --------
    >>> weak_words("confirmed"), weak_words("provisional")
    ('', ' (provisional)')
    """
    return f" ({status.replace('_', ' ')})" if status and status not in _SURE else ""


def unusable_words(layers: Iterable[LayerRecord]) -> str:
    """Return which layers could not be used; empty where all could."""
    names = [layer.title for layer in layers if layer.status == "unusable"]
    return f"could not be used: {'; '.join(names)} (see the cautions)" if names else ""


def neighbour_words(place: Neighbour) -> str:
    """Return a municipality with its code, its county, and what it has of the site or how far it is."""
    words = f"{place.name} ({place.mun_code}), {place.county} County"
    if place.share is not None:
        words += f", {percent(place.share)} of the site"
    elif place.distance_ft is not None:
        words += f", {feet(place.distance_ft)} away"
    return words


def site_pairs(found: Determination) -> list[tuple[str, str | None]]:
    """Return what is known of the site, by name; None where there is nothing to say."""
    site, place = found.site, found.place
    where = None
    if site.longitude is not None and site.latitude is not None:
        where = f"latitude {site.latitude:.6f}, longitude {site.longitude:.6f}"
        where += "" if site.kind == "point" else " (a point inside)"
        where += f"; x {site.x_ftus:,.0f}, y {site.y_ftus:,.0f} ft (EPSG:3424)"
    area = None
    if site.area_sqft is not None:
        parts = f", {site.parts} parts" if site.parts > 1 else ""
        area = f"{site.area_sqft:,.0f} square feet ({site.area_sqft / _ACRE_SQFT:,.2f} acres){parts}"
    basis = place.words.partition(place.municipality.name)[2] if place.municipality else ""
    return [
        ("Typed", typed_words(found, most=_MOST_TYPED)),
        ("Located by", site.located_by),
        ("Place", where or "not known: only what its municipality decides, or is the same in all of it"),
        ("Area", area),
        ("Uncertainty", _uncertainty_words(site)),
        ("Parcels", ", ".join(site.pins)),
        (
            "Municipality",
            neighbour_words(place.municipality) + basis if place.municipality else f"undetermined: {place.words}",
        ),
        ("County", f"{place.county} County" if place.county and not place.municipality else None),
        ("Candidates", "; ".join(map(neighbour_words, place.candidates))),
        ("Neighbours", "; ".join(map(neighbour_words, place.neighbours))),
        (
            "Facts stated",
            "; ".join(f"{name} = {stated_words(value)}" for name, value in site.facts.items()),
        ),
        *(("Note" if i == 0 else "", note) for i, note in enumerate(site.notes)),
    ]


def _uncertainty_words(site: SiteRecord) -> str | None:
    """Return how far off the place may be, and who says it."""
    if not site.uncertainty_ft:
        return None
    says = "by how it was located" if site.located_by.startswith("address") else "as stated"
    return f"{site.uncertainty_ft:,.0f} ft, {says}"


def share_or_margin_words(finding: Finding) -> str | None:
    """Return the share of a site that a line cuts, or by how much the deciding line is cleared or missed."""
    shares = [e.share for e in finding.evidence if e.share and e.share.value is not None]
    cut = next((s for s in shares if s.value is not None and 0 < s.value < 1), None)
    if cut is not None and cut.value is not None:
        return f"{percent(cut.value)} of the site"
    return None if finding.margin_ft is None else margin_words(finding.outcome, finding.margin_ft)


def source_words(finding: Finding, loaded: Mapping[str, LayerRecord], *, by_title: bool = False) -> list[str]:
    """Return the layers looked at, by id or title, each once, with its edition, and its status where that is weak."""
    found: dict[str, Evidence] = {}
    for evidence in finding.evidence:
        if evidence.layer is not None and evidence.layer in loaded and evidence.outcome == finding.outcome:
            found.setdefault(evidence.layer, evidence)
    words = []
    for layer_id, evidence in found.items():
        edition = loaded[layer_id].edition
        name = loaded[layer_id].title if by_title else layer_id
        words.append(f"{name}{f' of {edition}' if edition else ''}{weak_words(evidence.status)}")
    return words


def project_words(finding: Finding) -> str:
    """Return what could decide a finding about a project, or why it is decided."""
    ways = [missing.words for missing in finding.would_decide]
    if finding.outcome != "undetermined" or not ways:
        return finding.why
    rest = len(ways) - _MOST_WAYS
    more = f", or in {rest} other way{'s' if rest > 1 else ''}" if rest > 0 else ""
    return f"could be decided if you {', or '.join(ways[:_MOST_WAYS])}{more}"


def deciding_words(found: Determination) -> list[str]:
    """Return what would decide findings about places, apart from layers; what decides most comes first."""
    decided: dict[str, list[str]] = {}
    facts = load_facts()
    for finding in found.findings:
        if finding.kind == "project":
            continue
        for missing in finding.would_decide:
            if all(need.startswith("layer:") for need in missing.needs):
                continue
            (first, *more) = missing.needs
            fact = facts.get(first.removeprefix("fact:")) if not more else None
            words = f"--fact {fact.name}=...: {fact.question}" if fact else missing.words
            if fact and fact.kind == "ruling":
                words += " (an official finding)"
            decided.setdefault(words, []).append(finding.label)
    ordered = sorted(decided.items(), key=lambda item: -len(item[1]))
    return [
        f"{words}{'' if words.endswith(('?', ')', '.')) else '.'} Decides: {'; '.join(labels)}."
        for words, labels in ordered
    ]
