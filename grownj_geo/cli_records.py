"""The commands about kept records and several sites: `grownj recheck`, `grownj watch`, `grownj compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from grownj_geo import cli_site
from grownj_geo.cli_site import (
    AsOf,
    Crs,
    Editions,
    Facts,
    Json,
    Readings,
    SiteCommand,
    StrictEditions,
    Text,
    Texts,
    Width,
    console_of,
    day_of,
    fail,
    fail_incomplete,
    option,
    print_json,
    print_text,
    readings_of,
    refusals,
    rulebook_of,
    say,
    stated_facts,
    utf8,
)
from grownj_geo.cli_sites import Replace, check_outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from grownj_geo.candidates import Candidate
    from grownj_geo.compare import Compared
    from grownj_geo.determination import Determination
    from grownj_geo.kept import Refused
    from grownj_geo.recheck import Recheck
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import FactValue
    from grownj_geo.watch import Watched

__all__ = ["add_record_commands"]

CHANGED, REFUSED = 5, 2
_MOST_SITES = 60
_RECHECK_EPILOG = """Exit codes:

0  every record is answered the same (other margins, causes or assumptions are listed)

1  something unforeseen: please report it

2  a record was refused (damaged, altered, none), or an option could not be read; the other records were done

4  incomplete: a layer that should be there could not be used

5  something is answered otherwise"""
_EPILOG = """Exit codes:

0  every site was answered

1  something unforeseen: please report it

2  a site was refused, or an option could not be read; the other sites were done

4  incomplete: a layer that should be there could not be used"""
_SITES = "Records, folders of records, tables, or sites as check takes them."

Records = Annotated[Texts, typer.Argument(metavar="FILES...", help="Records, folders, JSON lines of a batch.")]
Sites = Annotated[Texts, typer.Argument(metavar="SITES...", help=_SITES, show_default=False)]
Books = Annotated[Texts, option("--rulebook", metavar="ID|FILE", words="For records of its id; repeatable.")]
Output = Annotated[Path | None, option("-o", "--output", metavar="FILE", words="Write to a file, by its ending.")]

_T = TypeVar("_T")


def add_record_commands(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command(epilog=_RECHECK_EPILOG, help=_paragraphs(recheck))(recheck)
    app.command(cls=SiteCommand, epilog=_EPILOG, help=_paragraphs(watch))(watch)
    app.command(cls=SiteCommand, epilog=_EPILOG, help=_paragraphs(compare))(compare)


def _paragraphs(command: Callable[..., None]) -> str:
    """Return a command's description with its paragraphs on one line each: the terminal breaks them."""
    from inspect import getdoc  # noqa: PLC0415 - only here

    return "\n\n".join(" ".join(part.split()) for part in (getdoc(command) or "").split("\n\n"))


# -- recheck ------------------------------------------------------------------------------------------


def recheck(
    files: Records = None,
    *,
    as_of: Annotated[Text, option(metavar="DATE", words="Another day (default: each record's own).")] = None,
    fact: Facts = None,
    reading: Readings = None,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    rulebook: Books = None,
    every: Annotated[bool, option("--all", words="List records that are the same too.")] = False,
    json: Json = False,
    output: Output = None,
    replace: Replace = False,
    width: Width = None,
) -> None:
    """Run kept determinations again: what is answered otherwise now, and why.

    The site stays as recorded: geometry, uncertainty, parcel numbers, facts. So do the day and what was chosen,
    unless an option says otherwise; layers and rules are today's. One thing at a time is changed until it is known
    what did it: a layer's edition, the rulebook, the day (with the dates of the law), a reading, a fact. What cannot
    be separated is said to be so. A record is verified and never altered. -o takes .csv or .json.
    """
    utf8(*(files or ()), *(fact or ()), *(reading or ()), *(edition or ()))
    if not files:
        fail("Expected records, as in: grownj recheck saved.json, or a folder of them.")
    target = _target(output, files, (".csv", ".json"), replace=replace)
    day = day_of(as_of, "--as-of")
    from grownj_geo.kept import Refused, read_records  # noqa: PLC0415 - only where it is used
    from grownj_geo.recheck import Asked, Rechecker  # noqa: PLC0415 - same

    asked = Asked(
        as_of=day,
        readings=_readings(reading, strict_editions=strict_editions),
        facts=stated_facts(fact or ()),
        editions=tuple(edition or ()),
        rulebooks=_books(rulebook),
    )
    _check_editions(asked.editions)
    rechecker = Rechecker(asked)
    done: list[Recheck] = []
    refused: list[Refused] = []
    for kept in read_records(map(Path, files)):
        if isinstance(kept, Refused):
            refused.append(kept)
        else:
            _attempt(lambda one=kept: rechecker.recheck(one), kept.source, done, refused)  # type: ignore[misc]
    _recheck_out(done, refused, target, json=json, every=every, width=width)
    _leave(refused, [problem for one in done for problem in one.incomplete])
    if any(one.answers_differ for one in done):
        raise typer.Exit(CHANGED)


def _recheck_out(
    done: list[Recheck], refused: list[Refused], target: Path | None, *, json: bool, every: bool, width: int | None
) -> None:
    from grownj_geo.recordsout import counted, recheck_rows, render_rechecks  # noqa: PLC0415 - only where it is used

    content = {
        "format": "grownj-recheck/1",
        "records": [
            {**one.model_dump(mode="json"), "same": one.same, "answers_differ": one.answers_differ} for one in done
        ],
        "refused": [{"source": one.source, "words": one.words} for one in refused],
    }
    if target is not None:
        _put(target, list(recheck_rows(done, refused)), content)
    if json:
        print_json(content)
    elif target is None:
        render_rechecks(done, refused, console_of(width), every=every)
    else:
        say(f"Wrote {target}. {counted(done, refused)}.")


# -- watch --------------------------------------------------------------------------------------------


def watch(
    sites: Sites = None,
    *,
    as_of: AsOf = None,
    until: Annotated[Text, option(metavar="DATE", words="Last day to look at (default: the rulebook's).")] = None,
    reading: Readings = None,
    rulebook: Books = None,
    crs: Crs = None,
    json: Json = False,
    output: Output = None,
    replace: Replace = False,
    width: Width = None,
) -> None:
    """List sites with their last answers and the next days on which law, lists or maps change them.

    A record is looked at from its own day on, with its readings; other sites from --as-of. The days are those of the
    rulebook, the lists, the layers and the stated facts; the site is asked again on each. A day that changes only
    margins, causes or assumptions is listed as such; one that changes nothing is not. -o takes .csv or .json.
    """
    utf8(*(sites or ()), *(reading or ()), crs)
    if not sites:
        fail("Expected sites, as in: grownj watch records/ or grownj watch sites.csv.")
    target = _target(output, sites, (".csv", ".json"), replace=replace)
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.watch import Watcher  # noqa: PLC0415 - same

    typed_day, last = day_of(as_of, "--as-of"), day_of(until, "--until")
    if typed_day is not None and last is not None and last < typed_day:
        fail(f"--until {last} is before --as-of {typed_day}; expected the same day or a later one.")
    day = typed_day or DEFAULT_AS_OF
    watcher = Watcher(
        as_of=day, until=last, readings=_readings(reading, strict_editions=False), rulebooks=_books(rulebook)
    )
    found: list[Watched] = []
    candidates, refused = _candidates(sites, day, crs)
    for candidate in candidates:
        _attempt(lambda one=candidate: watcher.watch(one), candidate.source or candidate.name, found, refused)  # type: ignore[misc]
    from grownj_geo.recordsout import render_watched, watch_rows  # noqa: PLC0415 - only where it is used

    content = {
        "format": "grownj-watch/1",
        "sites": [{**one.model_dump(mode="json"), "next_day": str(one.next_day or "") or None} for one in found],
        "refused": [{"source": one.source, "words": one.words} for one in refused],
    }
    if target is not None:
        _put(target, list(watch_rows(found, refused)), content)
        say(f"Wrote {_sites(len(found))} to {target}.")
    if json:
        print_json(content)
    elif target is None:
        render_watched(found, refused, console_of(width))
    _leave(refused, [])


# -- compare ------------------------------------------------------------------------------------------


def compare(
    sites: Sites = None,
    *,
    as_of: Annotated[
        Text, option(metavar="DATE", words="The day for all (default: the records' last, or 2017-04-17).")
    ] = None,
    fact: Annotated[Texts, option(metavar="NAME=VALUE", words="A fact stated of every site; repeatable.")] = None,
    reading: Readings = None,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    rulebook: Annotated[Text, option(metavar="ID|FILE", words="The rulebook for all (default: grow-nj).")] = None,
    crs: Crs = None,
    json: Json = False,
    output: Output = None,
    replace: Replace = False,
    width: Width = None,
) -> None:
    """Put candidate sites side by side: lines of the base amount, categories, margins, what is undetermined.

    All are asked anew, on one day, under one set of rules, readings and layers; a record stands for its site with
    its facts, and it is said where its own answer was another. How far each is from the next better line, and through
    which clause, stands beside. -o takes .csv, .json or .html.
    """
    utf8(*(sites or ()), *(fact or ()), *(reading or ()), *(edition or ()), crs)
    if not sites:
        fail('Expected sites, as in: grownj compare "40.7344,-74.1641" 0408_81_1, or a table.')
    target = _target(output, sites, (".csv", ".json", ".html"), replace=replace)
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.compare import Comparer  # noqa: PLC0415 - same
    from grownj_geo.determine import Engine  # noqa: PLC0415 - same

    stated, typed_day = stated_facts(fact or ()), day_of(as_of, "--as-of")
    candidates, refused = _candidates(sites, typed_day or DEFAULT_AS_OF, crs, facts=stated, most=_MOST_SITES)
    recorded = [candidate.kept.determination.as_of for candidate in candidates if candidate.kept is not None]
    day = typed_day or max(recorded, default=DEFAULT_AS_OF)
    with refusals():
        atlas = cli_site.atlas_of(day, edition or ())
        engine = Engine(atlas, rulebook_of(rulebook), _readings(reading, strict_editions=strict_editions))
    comparer = Comparer(engine)
    columns: list[tuple[Compared, Determination]] = []
    for candidate in candidates:
        _attempt(lambda one=candidate: comparer.site(one), candidate.source or candidate.name, columns, refused)  # type: ignore[misc]
    if not columns:
        _leave(refused, [])
        fail("None of the sites could be answered.")
    found = comparer.side_by_side(columns)
    from grownj_geo.compareout import compare_csv, compare_html, render_comparison  # noqa: PLC0415 - only here

    content = found.model_dump_json(indent=2) + "\n"
    if target is not None:
        made: dict[str, Callable[[], str]] = {
            ".csv": lambda: compare_csv(found),
            ".html": lambda: compare_html(found),
            ".json": lambda: content,
        }
        _keep(target, made[target.suffix.lower()]())
        say(f"Wrote {_sites(len(found.sites))} to {target}.")
    if json:
        print_text(content)
    elif target is None:
        render_comparison(found, console_of(width))
    _leave(refused, found.incomplete)


def _sites(count: int) -> str:
    from grownj_geo.words import counted_words  # noqa: PLC0415 - only where it is used

    return counted_words(count, "site")


# -- what they share ----------------------------------------------------------------------------------


def _attempt(ask: Callable[[], _T], source: str, done: list[_T], refused: list[Refused]) -> None:
    """Add an answer, or the refusal of what cannot be asked; the others go on."""
    from grownj_geo.errors import FactError, LayerError, RecordError, RulebookError, SiteError  # noqa: PLC0415
    from grownj_geo.kept import Refused  # noqa: PLC0415 - only where it is used

    try:
        done.append(ask())
    except (SiteError, FactError, LayerError, RecordError, RulebookError) as error:
        words = str(error)
        refused.append(Refused(source, words if source in words else f"{source}: {words}"))


def _candidates(
    sites: Sequence[str],
    day: date,
    crs: str | None,
    *,
    facts: dict[str, FactValue] | None = None,
    most: int | None = None,
) -> tuple[list[Candidate], list[Refused]]:
    from dataclasses import replace  # noqa: PLC0415 - only where it is used

    from grownj_geo.candidates import candidates_of  # noqa: PLC0415 - same
    from grownj_geo.determine import Directory  # noqa: PLC0415 - same
    from grownj_geo.finder import Finder  # noqa: PLC0415 - same
    from grownj_geo.kept import Refused  # noqa: PLC0415 - same

    found: list[Candidate] = []
    refused: list[Refused] = []
    atlas = cli_site.atlas_of(day)
    for one in candidates_of(sites, directory=Directory(atlas), crs=crs, finder=Finder.at_home(atlas)):
        if isinstance(one, Refused):
            refused.append(one)
            continue
        site = replace(one.site, facts={**one.site.facts, **facts}) if facts else one.site
        found.append(replace(one, site=site))
        if most is not None and len(found) > most:
            fail(f"There are more than {most} sites; expected as many as a person compares. Leave some out.")
    return found, refused


def _leave(refused: Sequence[Refused], incomplete: Sequence[str]) -> None:
    """Leave where something was refused, or a layer could not be used; what could be said was printed before."""
    for one in refused:
        say(f"Refused: {one.words}")
    if refused:
        raise typer.Exit(REFUSED)
    if incomplete:
        fail_incomplete(list(dict.fromkeys(incomplete)))


def _readings(chosen: Sequence[str] | None, *, strict_editions: bool) -> dict[str, str]:
    from grownj_geo.readings import resolve_readings  # noqa: PLC0415 - only where it is used

    found = readings_of(chosen or (), strict=False, strict_editions=strict_editions)
    with refusals():
        resolve_readings(found)
    return found


def _check_editions(editions: Sequence[str]) -> None:
    """Refuse an edition that is not there once, and not for every record."""
    if editions:
        from grownj_geo.atlas import load_atlas  # noqa: PLC0415 - only where it is used

        with refusals():
            load_atlas(editions=editions)


def _books(named: Sequence[str] | None) -> tuple[Rulebook, ...]:
    books = tuple(rulebook_of(name) for name in dict.fromkeys(named or ()))
    twice = {book.id for book in books if sum(other.id == book.id for other in books) > 1}
    if twice:
        fail(f"Several rulebooks have the id {', '.join(sorted(twice))}; expected one of each. Give one.")
    return books


def _target(output: Path | None, sources: Sequence[str], endings: tuple[str, ...], *, replace: bool) -> Path | None:
    """Return where to write, refused before any work where that cannot be, or where a record would be lost."""
    if output is None:
        return None
    target = output.resolve()
    if target.suffix.lower() not in endings:
        ending = target.suffix or "nothing"
        fail(f"--output {output} ends in {ending}; expected {' or '.join(endings)}. Name the file so.")
    check_outputs(target, sources=sources, replace=replace)
    return target


def _put(target: Path, rows: list[list[object]], content: object) -> None:
    from json import dumps  # noqa: PLC0415 - only where it is used

    from grownj_geo.compareout import csv_text  # noqa: PLC0415 - same

    as_csv = target.suffix.lower() == ".csv"
    _keep(target, csv_text(rows) if as_csv else dumps(content, indent=2, ensure_ascii=False) + "\n")


def _keep(target: Path, text: str) -> None:
    from grownj_geo.kept import keep  # noqa: PLC0415 - only where it is used

    with refusals():
        keep(target, text, replace=True)
