"""The command `grownj report`: determinations as documents to attach to a file, one site or many."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from grownj_geo import cli_site
from grownj_geo.cli_site import (
    OUTSIDE,
    STRICT_WORDS,
    AsOf,
    Crs,
    Editions,
    Readings,
    Strict,
    StrictEditions,
    Text,
    Texts,
    Uncertainty,
    day_of,
    fail,
    fail_incomplete,
    option,
    readings_of,
    refusals,
    rulebook_of,
    say,
    stated_facts,
    utf8,
)
from grownj_geo.cli_sites import Replace, check_outputs, places_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from grownj_geo.candidates import Candidate
    from grownj_geo.creditproject import Project
    from grownj_geo.determine import Engine
    from grownj_geo.kept import Refused
    from grownj_geo.reportblocks import Report
    from grownj_geo.reportmake import Maker
    from grownj_geo.reportpage import Form, Reported
    from grownj_geo.site import FactValue

__all__ = ["report"]

_SITES = "Sites as check takes them, one word each; a table as batch takes it; kept records, or folders of them."
_ENGINES = ("auto", "chromium", "fpdf2")
_UNSAFE = re.compile(r"[^\w.-]+")
_MOST_SITES = 1_000
_MOST_TOLD = 10
_MOST_NAMED = 5
_COVER = "000-all-sites"
_OF_RUN = re.compile(r"\d{3,}-.+\.(pdf|html)")
_PAGE_S, _SITE_S = 90.0, 3.0


class _Plan(NamedTuple):
    """Where reports go, and what makes a PDF: the path of a browser; empty for fpdf2; None for pages."""

    target: Path
    folder: bool
    browser: str | None
    odd: set[str]
    """Signs that are not shown as they should be; found while they are written."""

    @property
    def kind(self) -> Literal["svg", "png"]:
        return "png" if self.browser == "" else "svg"

    @property
    def ending(self) -> str:
        """How the files of a folder end."""
        return ".html" if self.browser is None else ".pdf"


def report(
    sites: Annotated[Texts, typer.Argument(metavar="SITES...", help=_SITES, show_default=False)] = None,
    *,
    output: Annotated[
        Text, option("-o", "--output", metavar="FILE", words="report.pdf, report.html, or a folder/ for one each.")
    ] = None,
    replace: Replace = False,
    as_of: AsOf = None,
    fact: Annotated[Texts, option(metavar="NAME=VALUE", words="A fact stated of every site; repeatable.")] = None,
    reading: Readings = None,
    strict: Strict = False,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    rulebook: Annotated[Text, option(metavar="ID|FILE", words="A rulebook (default: grow-nj).")] = None,
    crs: Crs = None,
    name: Annotated[Text, option("--name", metavar="COLUMN", words="Column of the sites' names in tables.")] = None,
    uncertainty_ft: Uncertainty = 0.0,
    preparer: Annotated[Text, option(metavar="NAME", words="Who prepares it; a blank line without.")] = None,
    on: Annotated[Text, option("--date", metavar="DATE", words="When; a blank line without.")] = None,
    contact: Annotated[Text, option(metavar="TEXT", words="Whom to ask for a review; a blank line without.")] = None,
    project: Annotated[
        Path | None,
        option("--project", metavar="YAML", words="Its credits at each site too, as grownj credits has it."),
    ] = None,
    no_map: Annotated[bool, option("--no-map", words="Leave out the map pictures.")] = False,
    format: Annotated[Text, option(metavar="pdf|html", words="What a folder gets (default: pdf).")] = None,  # noqa: A002
    pdf_engine: Annotated[
        str, option("--pdf-engine", metavar="auto|chromium|fpdf2", words="chromium: with tags; fpdf2: without.")
    ] = "auto",
) -> None:
    """Write a report of each site to attach to a file: the answer, every reason, what could not be checked.

    The page (.html) is the accessible original: it opens anywhere, loads nothing and runs nothing. A PDF is printed
    from it by Chromium, with tags for screen readers; where there is no Chromium it is made without tags, and says
    so. Many sites become one file that begins with a table of all, or a new folder. Of a kept record, which is verified
    first, the report says what was recorded. For example:

    grownj report "40.7344,-74.1641" -o site.pdf --preparer "A. Analyst" --date 2017-05-02

    grownj report sites.csv -o sites.pdf

    grownj report records/ -o reports/ --format html
    """
    typed = places_of(sites or [])
    utf8(*typed, crs, name, preparer, contact, output, *(fact or ()), *(reading or ()))
    if not typed or output is None:
        fail('Expected sites and where to write, as in: grownj report "40.7344,-74.1641" -o report.pdf.')
    if name is not None and not any(map(_may_have_columns, typed)):
        fail(f"--name {name} is a column of a table, and there is none; places are called as typed. Leave it out.")
    plan = _plan(output, typed, format, pdf_engine, replace=replace)
    from grownj_geo.reporthtml import check_report_packages  # noqa: PLC0415 - only where it is used
    from grownj_geo.reportmake import Maker  # noqa: PLC0415 - same
    from grownj_geo.reportpage import Form  # noqa: PLC0415 - same

    with refusals():
        check_report_packages(fpdf2=plan.browser == "", picture=not no_map)
    day = day_of(on, "--date")
    form = Form(preparer=preparer or "", date=str(day or ""), contact=contact or "")
    chosen = readings_of(reading or (), strict=strict, strict_editions=strict_editions)
    engine = _engine(as_of, rulebook, edition or (), chosen)
    with refusals():
        stated = stated_facts(fact or ())
        described = None if project is None else _project(project, engine, stated)
        maker = Maker(engine, maps=None if no_map else plan.kind, project=described)
        # Counted and named before any is answered: at a limit, or beside reports of others, nothing would come of it.
        found = list(islice(_candidates(engine, typed, crs, name), _MOST_SITES + 1))
        if len(found) > _MOST_SITES:
            fail(
                f"There are more than {_MOST_SITES:,} sites; expected as many as are read. Use grownj batch for tables."
            )
        _check_names(plan, found)
        done, refused = _reported(maker, found, stated, uncertainty_ft)
        if not done:
            _tell_refused(refused)
            raise typer.Exit(OUTSIDE if refused and all(one.outside for one in refused) else cli_site.BAD_INPUT)
        written = list(_written(plan, done, refused, form))
    if strict:
        say(f"--strict: {STRICT_WORDS}")
    if as_of or fact or chosen or edition or rulebook or uncertainty_ft:
        _tell_recorded(done)
    _tell(plan, written, len(done))
    _tell_refused(refused)
    if refused:
        raise typer.Exit(cli_site.BAD_INPUT)
    problems = [layer.problem for one in done for layer in one.found.layers if layer.problem]
    if problems:
        fail_incomplete(list(dict.fromkeys(problems)))


class _NotDone(NamedTuple):
    name: str
    words: str
    outside: bool = False


# -- before any work -----------------------------------------------------------------------------------


def _may_have_columns(word: str) -> bool:
    """Return whether a word names a file other than one of records."""
    try:
        if not Path(word).is_file():
            return False
    except (OSError, ValueError):
        return False
    from grownj_geo.kept import holds_records  # noqa: PLC0415 - only where there is a file

    return not holds_records(Path(word))


def _plan(output: str, typed: Sequence[str], form: str | None, pdf_engine: str, *, replace: bool) -> _Plan:
    """Return where to write and how, refused before any work is done where that cannot be."""
    if pdf_engine not in _ENGINES:
        fail(f"--pdf-engine was read as {pdf_engine!r}; expected {', '.join(_ENGINES[:-1])} or {_ENGINES[-1]}.")
    if form not in {None, "pdf", "html"}:
        fail(f"--format was read as {form!r}; expected pdf or html.")
    target = Path(output).resolve()
    folder = output.endswith(("/", os.sep)) or target.is_dir()
    ending = f".{form or 'pdf'}" if folder else target.suffix.lower()
    if not folder:
        if ending not in {".pdf", ".html"}:
            fail(f"--output {output} ends in {ending or 'nothing'}; expected .pdf, .html, or a folder's name and /.")
        if form is not None and ending != f".{form}":
            fail(f"--format {form} and --output {output} are not of one kind. Leave out --format.")
        check_outputs(target, sources=typed, replace=replace)
    elif target.exists() and not target.is_dir():
        fail(f"--output {output} is no folder; expected one, or a name that is free.")
    elif target.is_dir():
        _check_folder(output, target)
    elif not target.parent.is_dir():
        fail(f"--output {output}: there is no folder {target.parent}. Make it first, or name another.")
    return _Plan(target, folder, _browser(pdf_engine) if ending == ".pdf" else None, set())


def _check_folder(output: str, folder: Path) -> None:
    """Refuse a folder with anything in it but reports of an earlier run."""
    from grownj_geo.replacing import is_own  # noqa: PLC0415 - only where something is there

    others = [path.name for path in _shown_files(folder) if not (_OF_RUN.fullmatch(path.name) and is_own(path))]
    if others:
        fail(
            f"--output {output} holds what grownj report did not write ({', '.join(sorted(others)[:_MOST_NAMED])}"
            f"{', ...' if len(others) > _MOST_NAMED else ''}); expected an empty folder, a new one, or one of an "
            "earlier run. Name another. Nothing was written."
        )


def _shown_files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


def _browser(pdf_engine: str) -> str:
    """Return what prints: the path of a browser, or nothing for fpdf2."""
    from grownj_geo.reportchromium import find_chromium  # noqa: PLC0415 - only where it is used

    found = None if pdf_engine == "fpdf2" else find_chromium()
    if pdf_engine == "chromium" and found is None:
        fail(
            "--pdf-engine chromium: no Chromium or Chrome was found. Expected one on the PATH, or named by the "
            "environment variable GROWNJ_CHROMIUM; install it, or use --pdf-engine fpdf2, whose files have no tags."
        )
    return found or ""


def _engine(as_of: str | None, rulebook: str | None, editions: Sequence[str], readings: dict[str, str]) -> Engine:
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.determine import Engine  # noqa: PLC0415 - same

    book = rulebook_of(rulebook)
    atlas = cli_site.atlas_of(day_of(as_of, "--as-of") or DEFAULT_AS_OF, editions)
    with refusals():
        return Engine(atlas, book, readings)


# -- the work ------------------------------------------------------------------------------------------


def _project(path: Path, engine: Engine, stated: dict[str, FactValue]) -> Project:
    """Return a project of one building, whose facts are stated of every site."""
    from grownj_geo.creditproject import ProjectError, read_project  # noqa: PLC0415 - only where it is used
    from grownj_geo.facts import check_facts  # noqa: PLC0415 - same
    from grownj_geo.reportcredits import only_building  # noqa: PLC0415 - same

    if engine.rulebook.id != "grow-nj":
        fail(
            f"--project is of the program of the rulebook grow-nj, and --rulebook is {engine.rulebook.id!r}. "
            "Leave out either."
        )
    try:
        found = read_project(path)
        only_building(found)
    except ProjectError as error:
        for line in str(error).splitlines():
            say(line)
        raise typer.Exit(cli_site.BAD_INPUT) from error
    for name, value in check_facts(found.buildings[0].facts).items():
        if stated.setdefault(name, value) != value:
            fail(
                f"The fact {name} is {value!r} in {path} and {stated[name]!r} in --fact; expected one. "
                "Leave out either."
            )
    return found


def _reported(
    maker: Maker, found: Sequence[Candidate | Refused], stated: dict[str, FactValue], uncertainty_ft: float
) -> tuple[list[Reported], list[_NotDone]]:
    """Return what is reported of every site, and what could not be; one never stops the others."""
    from grownj_geo.errors import FactError, OutsideNewJerseyError, SiteError  # noqa: PLC0415 - only where it is used
    from grownj_geo.kept import Refused  # noqa: PLC0415 - same

    done: list[Reported] = []
    refused: list[_NotDone] = []
    for one in _shown(found):
        if isinstance(one, Refused):
            refused.append(_NotDone(one.source, one.words))
            continue
        try:
            done.append(maker.report(_with(one, stated, uncertainty_ft)))
        except OutsideNewJerseyError as error:
            refused.append(_NotDone(one.name, _told(one, error), outside=True))
        except (SiteError, FactError) as error:
            refused.append(_NotDone(one.name, _told(one, error)))
    return done, refused


def _candidates(
    engine: Engine, typed: Sequence[str], crs: str | None, name: str | None
) -> Iterator[Candidate | Refused]:
    from grownj_geo.candidates import candidates_of  # noqa: PLC0415 - only where it is used
    from grownj_geo.determine import Directory  # noqa: PLC0415 - same
    from grownj_geo.finder import Finder  # noqa: PLC0415 - same

    return candidates_of(
        typed,
        directory=Directory(engine.atlas),
        crs=crs,
        finder=Finder.at_home(engine.atlas),
        name=name,
        tell=lambda words: say(f"Note: {words}"),
    )


def _told(one: Candidate, error: Exception) -> str:
    return f"{one.source}: {error}" if one.source else str(error)


def _with(one: Candidate, stated: dict[str, FactValue], uncertainty_ft: float) -> Candidate:
    """Return a site with what was stated of all; a record stays as it was recorded."""
    from dataclasses import replace  # noqa: PLC0415 - only where it is used

    if one.kept is not None:
        return one
    feet = max(one.site.uncertainty_ft, uncertainty_ft)
    return replace(one, site=replace(one.site, facts={**one.site.facts, **stated}, uncertainty_ft=feet))


def _shown(found: Sequence[Candidate | Refused]) -> Iterator[Candidate | Refused]:
    """Yield sites, and tell on a terminal how many are done."""
    from rich.console import Console  # noqa: PLC0415 - only where it is used
    from rich.progress import Progress, TextColumn  # noqa: PLC0415 - same

    console = Console(stderr=True)
    words = TextColumn("Sites done: {task.completed} of {task.total}")
    with Progress(words, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("sites", total=len(found))
        for one in found:
            yield one
            bar.advance(task)


# -- files ---------------------------------------------------------------------------------------------


def _check_names(plan: _Plan, found: Sequence[Candidate | Refused]) -> None:
    """Refuse a folder with reports that cannot be of any of these sites, whichever of them have no report."""
    from grownj_geo.kept import Refused  # noqa: PLC0415 - only where it is used

    if not plan.folder or not plan.target.is_dir():
        return
    named = [_file_name(one.name) for one in found if not isinstance(one, Refused)]
    latest = {name: number for number, name in enumerate(named, start=1)}
    left_over = set()
    for path in _shown_files(plan.target):
        number, _, name = path.name.removesuffix(plan.ending).partition("-")
        own = path.suffix == plan.ending and number.isdecimal() and 0 < int(number) <= latest.get(name, 0)
        if path.name != f"{_COVER}{plan.ending}" and not own:
            left_over.add(path.name)
    _refuse_others(plan, left_over)


def _refuse_others(plan: _Plan, left_over: set[str]) -> None:
    """Refuse a folder with reports of other sites: they would be taken for these; removing is not for us."""
    if left_over:
        listed = sorted(left_over)
        fail(
            f"{plan.target} has reports of other sites ({', '.join(listed[:_MOST_NAMED])}"
            f"{', ...' if len(listed) > _MOST_NAMED else ''}); expected those of the same sites only, which are "
            "replaced. Name another folder, or remove them. Nothing was written."
        )


def _written(plan: _Plan, done: Sequence[Reported], refused: Sequence[_NotDone], form: Form) -> Iterator[Path]:
    from grownj_geo.reportpage import report_cover, report_many, report_one  # noqa: PLC0415 - only where it is used

    left = [(one.name, one.words) for one in refused]
    if not plan.folder:
        alone = len(done) == 1 and not refused
        yield _write(
            plan, plan.target, report_one(done[0], form) if alone else report_many(done, left, form), len(done)
        )
        return
    cover = f"{_COVER}{plan.ending}"
    names = [f"{number:03}-{_file_name(one.name)}{plan.ending}" for number, one in enumerate(done, start=1)]
    with _disk(plan.target):
        plan.target.mkdir(exist_ok=True)
        left_over = {path.name for path in _shown_files(plan.target)} - {cover, *names}
    # Where a site was refused, those after it have another number than they might have had.
    _refuse_others(plan, left_over)
    # All beside first: a run that is stopped leaves no folder with reports of two days.
    with _disk(plan.target), _all_or_none(plan.target) as beside:
        for name, one in zip(names, done, strict=True):
            _write(plan, beside / name, report_one(one, form), 1)
        _write(plan, beside / cover, report_cover(done, names, left, form), 1)
    yield from (plan.target / name for name in (*names, cover))


@contextmanager
def _all_or_none(folder: Path) -> Iterator[Path]:
    """Give a hidden folder for files that go into a folder together when all of them are there."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - only where it is used

    with TemporaryDirectory(prefix=".grownj-", suffix=".part", dir=folder, ignore_cleanup_errors=True) as beside:
        yield Path(beside)
        for path in sorted(Path(beside).iterdir()):
            path.replace(folder / path.name)


def _file_name(name: str) -> str:
    """Return a name that every system takes as a file's: no separators, no leading dot, not long."""
    return _UNSAFE.sub("-", name)[:60].strip("-._") or "site"


def _write(plan: _Plan, target: Path, made: Report, sites: int) -> Path:
    from grownj_geo.files import written_beside  # noqa: PLC0415 - only where it is used
    from grownj_geo.picturetext import odd_signs  # noqa: PLC0415 - same
    from grownj_geo.reporthtml import texts_of  # noqa: PLC0415 - same

    plan.odd.update(odd_signs(texts_of(made)))
    if plan.browser == "":
        from grownj_geo.reportpdf import untagged_pdf  # noqa: PLC0415 - only where it is used

        content = untagged_pdf(made)
    else:
        from grownj_geo.reporthtml import report_html  # noqa: PLC0415 - only where it is used

        page = report_html(made)
        content = page.encode()
        if plan.browser is not None:
            from grownj_geo.reportchromium import print_page  # noqa: PLC0415 - only where it is used

            content = print_page(page, plan.browser, timeout_s=_PAGE_S + _SITE_S * sites)
    with _disk(target), written_beside(target) as beside:
        beside.write_bytes(content)
    return target


def _disk(path: Path) -> AbstractContextManager[None]:
    from grownj_geo.tableparts import disk_faults  # noqa: PLC0415 - only where it is used

    return disk_faults(path)


# -- what is told --------------------------------------------------------------------------------------


def _tell(plan: _Plan, written: Sequence[Path], sites: int) -> None:
    size = sum(path.stat().st_size for path in written) / 1e6
    where = f"{len(written):,} files to {plan.target}" if plan.folder else str(plan.target)
    say(f"Wrote {where}: {sites:,} site{'s' * (sites != 1)}, {size:,.1f} MB.")
    if plan.browser == "":
        from grownj_geo.reportpdf import UNTAGGED  # noqa: PLC0415 - only where it is used

        say(f"Made without Chromium. {UNTAGGED}")
    from grownj_geo.picturetext import odd_words  # noqa: PLC0415 - only where it is used
    from grownj_geo.reporthtml import beyond_font  # noqa: PLC0415 - same

    if words := (odd_words if plan.browser == "" else beyond_font)(sorted(plan.odd)):
        say(f"Note: {words}")


def _tell_recorded(done: Sequence[Reported]) -> None:
    count = sum(bool(one.origin) for one in done)
    if count:
        records = f"{count:,} records are" if count > 1 else "1 record is"
        say(f"{records} reported as recorded: day, facts and readings that were typed are not applied to them.")


def _tell_refused(refused: Sequence[_NotDone]) -> None:
    for one in refused[:_MOST_TOLD]:
        say(f"No report: {one.words}")
    if len(refused) > _MOST_TOLD:
        say(f"No report of {len(refused) - _MOST_TOLD:,} more; the table of all sites has the reasons.")
