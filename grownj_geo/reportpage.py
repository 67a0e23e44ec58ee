"""What the report of a determination says, as data: the answer first, then what it rests on. Nothing is decided here.

A report of one site is its sections; a report of many begins with a table of all of them and ends with what is the
same for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.betterwords import SEARCHED, none_words
from grownj_geo.readings import load_readings
from grownj_geo.reportblocks import Cell, Fields, Grid, Listed, Pairs, Picture, Report, Section, Words
from grownj_geo.reportfindings import (
    better_blocks,
    findings_blocks,
    loading_block,
    project_block,
    stated_block,
    stations_block,
    unchecked_blocks,
)
from grownj_geo.reportwords import (
    cut_words,
    deciding_words,
    neighbour_words,
    outcome_words,
    plain,
    site_pairs,
    typed_words,
    unusable_words,
    weak_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.determination import Determination, Finding
    from grownj_geo.nextbetter import NextBetter
    from grownj_geo.reportblocks import Block

__all__ = ["MAP_ID", "Form", "Reported", "report_cover", "report_many", "report_one"]

MAP_ID = "map"

_TITLE = "Grow New Jersey incentive areas"
_ALONE = 2
"""Level of the headings of a report of one site."""
_LONG_NAME = 90
_MOST_OF_MANY = 4
_LONG_CELL = 160
_NOT_OFFICIAL = (
    "This is not a determination by the New Jersey Economic Development Authority. The Authority decides, by its own "
    "maps and files; a yes here is no approval, and a no is no refusal."
)
_REVIEW = """
Check what was put in: the place on the map, what was stated, the readings chosen. Each can be corrected.
Compare what is marked secondary, provisional or unverified with an official source. Where a line is nearer than its \
error, its publisher can say more than a map.
Have it run again. Whoever keeps the record (grownj check --save) runs it on the same or on newer layers and rules \
with grownj recheck, which says what changed and why. The checksums tell whether two editions are the same.
Ask the Authority for its own determination, with this report and its record. No form, address or time limit for that \
is known to this package; whom to ask is for the preparer to fill in.
"""


@dataclass(frozen=True)
class Form:
    """What the preparer says: an empty text is a line to write on."""

    preparer: str = ""
    date: str = ""
    contact: str = ""


@dataclass(frozen=True)
class Reported:
    """One site with all that is reported of it.

    Attributes
    ----------
    name
        What people call it.
    found
        Its determination.
    better
        How far the next better line is, where it was measured; otherwise `better_words` says why not.
    origin
        Where the determination comes from, where it was not made now.
    picture
        Its map; None for none, and `no_picture` says why.
    extra
        Further sections, such as what credits a project there could have.
    """

    name: str
    found: Determination
    better: NextBetter | None = None
    better_words: str = ""
    origin: str = ""
    picture: Picture | None = None
    no_picture: str = ""
    extra: tuple[Section, ...] = field(default=())

    @property
    def title(self) -> str:
        """The name, where it is long with a mark where it was cut."""
        return cut_words(self.name, _LONG_NAME) or "(no name)"


# -- whole reports -------------------------------------------------------------------------------------


def report_one(site: Reported, form: Form | None = None) -> Report:
    """Return the report of one site.

    Parameters
    ----------
    site
        The site.
    form
        What the preparer says.
    """
    form = form or Form()
    sections = [*_site(site, form, "", 2), *site.extra, *_common(site.found, "", 2), _signed(form, 2)]
    return Report(title=site.title, foot=_foot([site]), sections=tuple(sections))


def report_many(sites: Sequence[Reported], refused: Sequence[tuple[str, str]] = (), form: Form | None = None) -> Report:
    """Return the report of several sites: a table of all, each site, and what is the same for all.

    Parameters
    ----------
    sites
        The sites.
    refused
        Names and reasons of those without an answer.
    form
        What the preparer says.
    """
    form = form or Form()
    shared = len({tuple(_common(site.found, "", 2)) for site in sites}) == 1
    sections = [_cover(sites, refused, form)]
    for number, site in enumerate(sites, start=1):
        mark = f"site-{number}"
        sections.append(Section(mark, f"{number}. {site.title}", level=2, page=True))
        sections += _site(site, form, f"{mark}-", 3)
        sections += [replace(s, id=f"{mark}-{s.id}", level=s.level + 1) for s in site.extra]
        sections += [] if shared else _common(site.found, f"{mark}-", 3)
    sections.append(Section("all", "The same for all sites", level=2, page=True))
    loading = loading_block([site.found for site in sites])
    sections += [Section("all-load", "How to load what could not be checked", (loading,), level=3)] if loading else []
    sections += _common(sites[0].found, "all-", 3) if shared else []
    sections.append(_signed(form, 2))
    return Report(title=f"{_TITLE}: {_count(sites)}", foot=_foot(sites), sections=tuple(sections))


def report_cover(
    sites: Sequence[Reported],
    files: Sequence[str],
    refused: Sequence[tuple[str, str]] = (),
    form: Form | None = None,
) -> Report:
    """Return the table of sites whose reports are files of their own.

    Parameters
    ----------
    sites, files
        The sites, and what their files are called.
    refused
        Names and reasons of those without an answer.
    form
        What the preparer says.
    """
    form = form or Form()
    sections = (_cover(sites, refused, form, files), _signed(form, 2))
    return Report(title=f"{_TITLE}: {_count(sites)}", foot=_foot(sites), sections=sections)


def _count(sites: Sequence[Reported]) -> str:
    return f"{len(sites):,} site{'s' * (len(sites) != 1)}"


def _foot(sites: Sequence[Reported]) -> str:
    days = sorted({site.found.as_of for site in sites})
    as_of = f" as of {days[0]}" if len(days) == 1 else ""
    return f"{_TITLE}{as_of}. Not a determination by the Authority."


def _cover(
    sites: Sequence[Reported], refused: Sequence[tuple[str, str]], form: Form, files: Sequence[str] = ()
) -> Section:
    firsts = [site.found for site in sites]
    days = sorted({str(d.as_of) for d in firsts})
    books = sorted({f"{d.rulebook.title}, {d.rulebook.version}" for d in firsts})
    tiers: dict[str, int] = {}
    for found in firsts:
        tiers[_amount(found)] = tiers.get(_amount(found), 0) + 1
    rows = [
        ("As of", ", ".join(days)),
        ("Rules", "; ".join(books)),
        ("Prepared by", form.preparer),
        ("Date", form.date),
        ("Base amount", "; ".join(f"{words}: {count:,}" for words, count in sorted(tiers.items(), reverse=True))),
        ("Without answer", f"{len(refused):,}, listed below" if refused else ""),
    ]
    blocks: list[Block] = [Words(_NOT_OFFICIAL, "caution"), _pairs(rows)]
    if sites:
        blocks.append(
            Grid(
                "Sites, in the order in which they were given; open: how many areas are undetermined",
                ("Site", "Place", "Incentive area", "Base amount", "Open", "Next better line"),
                (21, 18, 15, 13, 7, 26),
                tuple(_cover_row(i + 1, site, files[i] if files else "") for i, site in enumerate(sites)),
            )
        )
        blocks.append(Words(SEARCHED, "small"))
    if refused:
        listed = tuple((Cell(cut_words(name, _LONG_NAME)), Cell(cut_words(why, 400))) for name, why in refused)
        blocks.append(Grid("Sites without an answer", ("Site", "Why"), (30, 70), listed))
    return Section("sites", "All sites", tuple(blocks))


def _cover_row(number: int, site: Reported, file: str) -> tuple[Cell, ...]:
    found, main = site.found, _main(site.found)
    place = found.place.municipality
    where = f"{place.name}, {place.county}" if place else found.place.words
    open_count = sum(f.outcome == "undetermined" for f in found.findings if f.kind != "project")
    return (
        Cell(f"{number}. {cut_words(site.name, 60)}", (file,) if file else (), target="" if file else f"site-{number}"),
        Cell(cut_words(where, _LONG_CELL)),
        Cell("not asked") if main is None else Cell(outcome_words(main), tone=main.outcome),
        Cell(_amount(found)),
        Cell(f"{open_count:,}"),
        Cell(cut_words(_better_short(site), _LONG_CELL)),
    )


def _amount(found: Determination) -> str:
    tier = found.tier
    if tier is None:
        return "not asked"
    floor, ceiling = (f"${v:,}" if v is not None else "none" for v in (tier.floor, tier.ceiling))
    return floor if floor == ceiling else f"{floor} to {ceiling}"


def _better_short(site: Reported) -> str:
    """Return the nearest way to a better line in a few words."""
    if site.better is None:
        return "not measured"
    if not site.better.lines:
        return "none is higher"
    steps = [line.nearest for line in site.better.lines if line.nearest is not None]
    near = min(steps, key=lambda step: step.distance_ft.high or 0.0, default=None)
    return near.words if near is not None else none_words(site.better.lines[0])


# -- one site ------------------------------------------------------------------------------------------


def _main(found: Determination) -> Finding | None:
    """Return the finding that the others serve; None for a rulebook without amounts."""
    areas = [f for f in found.findings if f.kind != "project"]
    return areas[0] if areas and found.tier is not None else None


def _pairs(rows: Sequence[tuple[str, str | None]]) -> Pairs:
    return Pairs(tuple((plain(name), plain(value)) for name, value in rows if value))


def _site(site: Reported, form: Form, mark: str, level: int) -> Iterator[Section]:
    """Yield the sections about one site; those without anything to say are left out.

    One of several is told closer: what is read once for all stands at the end of the report.
    """
    found, alone = site.found, level == _ALONE
    yield Section(f"{mark}answer", "Answer", tuple(_answer(site, form, alone=alone)), level)
    if site.picture is not None:
        yield Section(f"{mark}{MAP_ID}", "Map", (site.picture,), level)
    elif site.no_picture:
        yield Section(f"{mark}{MAP_ID}", "Map", (Words(plain(site.no_picture)),), level)
    yield Section(f"{mark}site", "The site", (_pairs(_located(found)),), level)
    yield Section(f"{mark}stated", "What was stated", (stated_block(found),), level)
    yield Section(f"{mark}findings", "Areas, one by one", tuple(findings_blocks(found, alone=alone)), level)
    projects = [f for f in found.findings if f.kind == "project"]
    if projects:
        yield Section(f"{mark}projects", "What depends on the project", (project_block(projects, alone=alone),), level)
    if site.better is not None and site.better.lines:
        titles = {layer.id: layer.title for layer in found.layers}
        blocks = tuple(better_blocks(site.better, titles, alone=alone))
        yield Section(f"{mark}better", "How far the next better area is", blocks, level)
    if found.stations:
        yield Section(f"{mark}stations", "Nearest stations", (stations_block(found, alone=alone),), level)
    yield Section(f"{mark}unchecked", "What could not be checked", tuple(unchecked_blocks(found, alone=alone)), level)
    ways = deciding_words(found)
    if ways:
        entries = tuple(plain(words.replace("--fact ", "the fact ", 1)) for words in ways)
        yield Section(f"{mark}open", "What could decide the undetermined", (Listed(_few(entries, alone=alone)),), level)
    cautions = (*found.cautions, *((found.wording,) if found.wording else ()))
    if cautions:
        yield Section(f"{mark}cautions", "Cautions", (Listed(tuple(map(plain, cautions))),), level)


def _few(entries: tuple[str, ...], *, alone: bool) -> tuple[str, ...]:
    """Return entries, of a site of several only the first, with how many there are more."""
    rest = len(entries) - _MOST_OF_MANY
    if alone or rest <= 1:
        return entries
    return (*entries[:_MOST_OF_MANY], f"{rest} more are in the site's record (grownj check --json).")


def _answer(site: Reported, form: Form, *, alone: bool) -> Iterator[Block]:
    found, main = site.found, _main(site.found)
    if main is not None:
        words = f"{main.label}: {outcome_words(main).upper()}{weak_words(main.status)}"
        yield Words(plain(words), "answer", main.outcome)
    others = [f for f in found.findings if f.kind != "project" and f is not main]
    groups = {o: "; ".join(f.label for f in others if f.outcome == o) for o in ("yes", "undetermined")}
    tier, place = found.tier, found.place.municipality
    day = "the default day" if found.as_of == DEFAULT_AS_OF else "as stated"
    yield _pairs(
        [
            ("Site", f"{typed_words(found)}: {neighbour_words(place) if place else found.place.words}"),
            ("As of", f"{found.as_of} ({day})"),
            ("Base amount", f"{tier.words} [{tier.citation}]{weak_words(tier.status)}" if tier else None),
            ("Next better", site.better.words if site.better is not None else site.better_words),
            ("In", groups["yes"] or "no further area"),
            ("Undetermined", groups["undetermined"]),
            (
                "Assumed",
                "; ".join(w.removeprefix("assumed: ") for w in (tier.assumptions if tier else ()) or found.assumptions),
            ),
            ("Incomplete", unusable_words(found.layers)),
            ("Record", site.origin),
            ("Determined on", str(found.determined_on) if found.determined_on else None),
            *((("Prepared by", form.preparer), ("Date", form.date)) if alone else ()),
        ]
    )
    if alone:
        yield Words(_NOT_OFFICIAL, "caution")


def _located(found: Determination) -> list[tuple[str, str | None]]:
    names = {"Typed": "As typed", "Located by": "Located by", "Place": "As located"}
    return [(names.get(name, name), value) for name, value in site_pairs(found) if name != "Facts stated"]


# -- what is the same for sites of one run -------------------------------------------------------------


def _common(found: Determination, mark: str, level: int) -> list[Section]:
    """Return the sections that are about layers, rules and readings."""
    return [
        Section(f"{mark}readings", "Readings chosen", tuple(_readings(found)), level),
        Section(f"{mark}layers", "Layers, with dates and checksums", tuple(_layers(found)), level),
        Section(f"{mark}rules", "Rules and software", (_rules(found),), level),
        Section(f"{mark}review", "What this is, and how to have it reviewed", tuple(_review(found)), level),
    ]


def _readings(found: Determination) -> Iterator[Block]:
    known = load_readings()
    yield Words("Where the text of the law is open, one way to read it was taken. The defaults are no official answer.")
    rows = []
    for name, option in found.readings.items():
        reading = known.get(name)
        chosen = "as chosen" if reading is None or option != reading.default else "the default"
        title, words = (reading.title, reading.options.get(option, option)) if reading else (name, option)
        rows.append((Cell(f"{name}: {plain(title)}"), Cell(plain(words), (f"{option} ({chosen})",))))
    yield Grid("Open questions and the ways taken", ("Question", "Read as"), (35, 65), tuple(rows))


def _layers(found: Determination) -> Iterator[Block]:
    used = [layer for layer in found.layers if layer.status == "loaded"]
    rows = tuple(
        (
            Cell(
                plain(layer.title),
                (
                    layer.id,
                    *((cut_words(f"{layer.stored}: {layer.origin or ''}", _LONG_CELL),) if layer.stored else ()),
                ),
            ),
            Cell(str(layer.edition) if layer.edition else "as shipped, no date of its own"),
            Cell(layer.sha256 or "none", code=True),
        )
        for layer in used
    )
    if rows:
        yield Grid("Layers that were used", ("Layer", "Edition", "SHA-256 of its content"), (26, 15, 59), rows)
    missing = [x.title for x in found.layers if x.status == "missing"]
    if missing:
        yield Words(plain(f"Known to the rules and not loaded: {'; '.join(missing)}."), "small")


def _rules(found: Determination) -> Pairs:
    book = found.rulebook
    return _pairs(
        [
            ("Rulebook", f"{book.title} ({book.id}), version {book.version}"),
            ("Citation", book.citation),
            ("SHA-256", book.sha256),
            ("Software", found.software),
        ]
    )


def _review(found: Determination) -> Iterator[Block]:
    yield Words(_NOT_OFFICIAL, "caution")
    yield Words(plain(found.disclaimer))
    yield Listed(tuple(_REVIEW.strip().splitlines()), numbered=True)


def _signed(form: Form, level: int) -> Section:
    rows = (
        ("Prepared by", plain(form.preparer)),
        ("Date", plain(form.date)),
        ("Reviewed by", ""),
        ("Date of review", ""),
        ("Whom to ask", plain(form.contact)),
    )
    return Section("signed", "Preparer and review", (Fields(rows),), level)
