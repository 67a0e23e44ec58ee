"""What to type for the record of a site that a map shows: the site as it was asked about, and how it was asked."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from grownj_geo.records import rulebook_record
from grownj_geo.rulebook import load_rulebook, shipped_rulebooks

if TYPE_CHECKING:
    from grownj_geo.determination import SiteRecord
    from grownj_geo.determine import Engine
    from grownj_geo.site import FactValue

__all__ = ["SiteWords", "asked_words", "chosen_words", "site_words"]


class SiteWords(NamedTuple):
    """A site as arguments of `grownj check`, and what is to be said of them; without arguments there is no command."""

    arguments: str
    note: str = ""


def site_words(site: SiteRecord) -> SiteWords:
    """Return the arguments that ask about a site, with everything that was stated of it.

    Parameters
    ----------
    site
        The site as it was recorded. A polygon is named by a word in capitals for its file: a point inside it would
        be another question.
    """
    place, note = "", ""
    if site.kind == "polygon":
        place, note = (
            "POLYGON.geojson",
            "POLYGON.geojson is a file with the site's polygon; a point gets another answer",
        )
    elif site.latitude is not None and site.longitude is not None:
        place = f"{site.latitude:.8f},{site.longitude:.8f}"
    parts = [place] * bool(place)
    # Parcels that settle no municipality stand in the file of their polygons.
    if site.pins and site.mun_basis == "pin":
        parts.append(f"--pin {shlex.quote(', '.join(site.pins))}")
    elif site.mun_basis == "stated" and site.mun_code:
        parts.append(f"--municipality {shlex.quote(site.mun_code)}")
    if site.uncertainty_ft:
        parts.append(f"--uncertainty-ft {site.uncertainty_ft:.10g}")
    parts += [f"--fact {shlex.quote(f'{name}={_typed(value)}')}" for name, value in site.facts.items()]
    return SiteWords(" ".join(parts), note)


def _typed(value: FactValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def chosen_words(engine: Engine) -> str:
    """Return what was chosen otherwise than by default, for whoever reads an answer: readings and editions.

    Examples
    --------
    >>> from grownj_geo import Engine, load_atlas
    >>> chosen_words(Engine(load_atlas(), load_rulebook(), {"A3": "majority"}))
    'Readings chosen: A3=majority.'
    >>> chosen_words(Engine(load_atlas(), load_rulebook()))
    ''
    """
    readings = ", ".join(f"{name}={option}" for name, option in sorted(engine.readings.items()))
    said = [f"Readings chosen: {readings}."] if readings else []
    if engine.atlas.chosen:
        said.append(f"Editions chosen: {', '.join(engine.atlas.chosen)}.")
    return " ".join(said)


def asked_words(engine: Engine) -> SiteWords:
    """Return the options that ask as an engine was asked: day, rulebook, readings and editions.

    Parameters
    ----------
    engine
        The question's engine. A rulebook that does not ship is named by a word in capitals for its file.
    """
    parts, note = [f"--as-of {engine.atlas.as_of}"], ""
    book, (default, *_) = engine.rulebook, shipped_rulebooks()
    ships = book.id in shipped_rulebooks()
    if not ships or rulebook_record(load_rulebook(book.id)).sha256 != engine.rulebook_record.sha256:
        parts.append("--rulebook RULEBOOK.yaml")
        note = f"RULEBOOK.yaml is the file of the rulebook {book.title}, version {book.version}"
    elif book.id != default:
        parts.append(f"--rulebook {shlex.quote(book.id)}")
    parts += [f"--reading {shlex.quote(f'{name}={option}')}" for name, option in sorted(engine.readings.items())]
    parts += [f"--edition {shlex.quote(name)}" for name in engine.atlas.chosen]
    if engine.atlas.given:
        note = "; ".join(filter(None, (note, f"layers were given beside the store: {', '.join(engine.atlas.given)}")))
    return SiteWords(" ".join(parts), note)
