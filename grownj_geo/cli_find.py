"""The command `grownj find`, and how places are shown among which an address does not decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from grownj_geo.cli_site import (
    BAD_INPUT,
    EPILOG,
    UNSETTLED,
    Json,
    Municipality,
    SiteCommand,
    Texts,
    Width,
    atlas_of,
    console_of,
    fail,
    option,
    print_json,
    refusals,
    utf8,
)

if TYPE_CHECKING:
    from rich.console import Console

    from grownj_geo.choiceanswers import ChoiceAnswers
    from grownj_geo.determine import Engine
    from grownj_geo.finder import Finder
    from grownj_geo.found import Found
    from grownj_geo.locator import Match

__all__ = ["add_find_command", "leave_unsettled", "render_choices"]

_TEXT = 'An address ("12 Main St, Camden"), block and lot with their municipality, a parcel number, or coordinates.'
_MOST_SHOWN = 40


def add_find_command(app: typer.Typer) -> None:
    """Add the command to the others."""
    app.command(cls=SiteCommand, epilog=EPILOG)(find)


def find(
    text: Annotated[Texts, typer.Argument(metavar="TEXT", help=_TEXT, show_default=False)] = None,
    *,
    municipality: Municipality = None,
    every: Annotated[
        bool, option("--all", words="Ask every locator of the settings, and say how far apart they are.")
    ] = False,
    json: Json = False,
    width: Width = None,
) -> None:
    """Find a place by whatever names it, and show all places that may be meant.

    Addresses are looked up in the parcels and address points that are loaded (grownj layers import parcels FILE), and
    by the online locators that the settings switch on (grownj settings); without one nothing leaves this machine.
    Nothing is chosen where several places fit. For example:

    grownj find "448 Orange Road, Orange"

    grownj find Camden City block 81 lot 1
    """
    typed = " ".join(text or ())
    utf8(typed, municipality)
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.choiceanswers import choices_json  # noqa: PLC0415 - same
    from grownj_geo.finder import Finder  # noqa: PLC0415 - same

    finder = Finder.at_home(atlas_of(DEFAULT_AS_OF), every_locator=every)
    with refusals():
        found = finder.find(typed, municipality=municipality)
        shown = choices_json(found, finder.asker) if json else None
    if shown is not None:
        print_json(shown | {"site": _site_json(found)})
    else:
        with refusals():
            _render_found(found, finder, console_of(width))
    if found.site is None and not found.choices:
        if shown is None:
            fail(finder.words_of(found))
        raise typer.Exit(BAD_INPUT)


def _site_json(found: Found) -> dict[str, object] | None:
    if found.site is None:
        return None
    from grownj_geo.records import site_record  # noqa: PLC0415 - only where it is used

    return site_record(found.site).model_dump(mode="json")


def _render_found(found: Found, finder: Finder, console: Console) -> None:
    """Print what a text came to."""
    from grownj_geo.report import Page  # noqa: PLC0415 - only where it is used

    page = Page(console)
    site = found.site
    rows: list[tuple[str, str | None]] = [("Typed", found.text), ("Read as", _FORMS[found.form])]
    if site is not None:
        place = None if site.lonlat is None else f"latitude {site.lonlat[1]:.6f}, longitude {site.lonlat[0]:.6f}"
        rows += [
            ("Located by", site.located_by),
            ("Place", place or "not known: only its municipality is"),
            ("Uncertainty", f"{site.uncertainty_ft:,.0f} ft" if site.uncertainty_ft else None),
            ("Parcels", ", ".join(site.pins)),
            ("Municipality", None if found.match is None else finder.asker.municipality_words(found.match)),
        ]
        if site.mun_code is not None and found.match is None:
            rows.append(("Municipality", finder.asker.name(site.mun_code)))
    page.pairs(rows)
    if found.choices:
        render_choices(found, finder, console)
    page.items("NOTES", found.notes)
    page.items("ASKED", [f"{one.locator}{_sent(one.online)}: {one.words}" for one in found.asked])
    if found.settled:
        page.items("NEXT", [f'grownj check "{found.text}"'])


_FORMS = {
    "coordinates": "coordinates",
    "geometry": "geometry",
    "pin": "parcel number",
    "lot": "block and lot",
    "address": "address",
    "municipality": "municipality",
}


def _sent(online: bool) -> str:  # noqa: FBT001 - a word for it
    return " (online: the address was sent there)" if online else ""


def render_choices(found: Found, finder: Finder, console: Console, answers: ChoiceAnswers | None = None) -> None:
    """Print the places that may be meant, each with its municipality and with what would be answered for it.

    Parameters
    ----------
    found
        The choices.
    finder
        Who found them.
    console
        Where to.
    answers
        What is answered for each; left out where nothing was asked.
    """
    from rich.table import Table  # noqa: PLC0415 - only where it is used
    from rich.text import Text as Words  # noqa: PLC0415 - same

    from grownj_geo.found import match_words  # noqa: PLC0415 - same
    from grownj_geo.report import Page, plain  # noqa: PLC0415 - same

    page = Page(console)
    page.heading(f"CANDIDATES ({len(found.choices):,}): none was chosen")
    rows = {} if answers is None else {row.match: row for row in answers.rows}
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(ratio=3, overflow="fold")
    grid.add_column(ratio=4, overflow="fold")
    for number, match in enumerate(found.choices[:_MOST_SHOWN], start=1):
        right = [_where(match), match_words(match)]
        row = rows.get(match)
        if row is not None and row.found is not None:
            areas = [finding for finding in row.found.findings if finding.kind != "project"]
            right.append(f"{areas[0].label}: {areas[0].outcome}" if areas else "")
            right.append("" if row.found.tier is None else f"Base amount: {row.found.tier.words}")
        elif row is not None:
            right.append(f"not answered for: {row.problem}")
        left = Words.assemble((plain(match.matched), "bold"), "\n", plain(finder.asker.municipality_words(match)))
        grid.add_row(f"{number}", left, Words(plain("; ".join(part for part in right if part))))
    page.put(grid)
    if len(found.choices) > _MOST_SHOWN:
        page.put(Words(f"and {len(found.choices) - _MOST_SHOWN:,} more; see --json."))
    if answers is not None:
        page.put(Words(plain(answers.words), "bold"))


def _where(match: Match) -> str:
    lon, lat = match.lonlat
    parcel = f"parcel {match.pin}" if match.pin is not None else ""
    place = f"{lat:.6f},{lon:.6f}" if match.has_place else ""
    return "; ".join(part for part in (parcel, place) if part)


def leave_unsettled(engine: Engine, finder: Finder, found: Found, *, json: bool, width: int | None) -> NoReturn:
    """Show the places that may be meant with what would be answered for each, and leave; nothing is determined.

    Parameters
    ----------
    engine
        The question's engine.
    finder, found
        Who looked for the site, and what it came to.
    json
        Print JSON.
    width
        Columns of the page.
    """
    from grownj_geo.choiceanswers import answer_choices, choices_json  # noqa: PLC0415 - only where it is used

    if not found.choices:
        fail(finder.words_of(found))
    with refusals():
        answers = answer_choices(engine, found, finder.asker, facts=found.facts)
        if json:
            print_json(choices_json(found, finder.asker, answers))
        else:
            console = console_of(width)
            render_choices(found, finder, console, answers)
            from grownj_geo.report import Page  # noqa: PLC0415 - only where it is used

            page = Page(console)
            page.items("NOTES", found.notes)
            page.items("ASKED", [f"{one.locator}{_sent(one.online)}: {one.words}" for one in found.asked])
            page.items("", {row.found.disclaimer for row in answers.rows if row.found is not None})
    one = len(found.choices) == 1
    fail(
        f"No determination was made: the address {found.text[:80]!r} "
        f"{'was not found surely' if one else 'may be any of these places'}. Type it as it stands there, give its "
        "parcel number, or say where it is with --at LAT,LON.",
        UNSETTLED,
    )
