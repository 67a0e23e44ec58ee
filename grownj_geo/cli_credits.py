"""The commands under `grownj credits`: what credit a project may have, one project or a table of them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grownj_geo.cli_site import (
    BAD_INPUT,
    AsOf,
    Facts,
    FactsFile,
    Group,
    Json,
    Municipality,
    Pin,
    Texts,
    Width,
    atlas_of,
    day_of,
    fail,
    option,
    print_json,
    print_text,
    refusals,
    say,
    utf8,
)
from grownj_geo.cli_sites import Replace, check_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.areas import Areas
    from grownj_geo.creditbatch import CreditSummary
    from grownj_geo.creditparams import Trust
    from grownj_geo.creditproject import Project
    from grownj_geo.credits import Estimate

__all__ = ["credits_app"]

_WIDTH = 100
_LARGEST = 5_000_000
_MOST_SHOWN = 10
_EPILOG = """Give a project file (grownj credits new makes one), and where its buildings are: in the file, by --site,
or as areas by --areas.

Exit codes:

0  the credit was computed, as a range where something is open

1  something unforeseen: please report it

2  bad input: project, site, areas, reading or option; every problem is told at once"""

_BATCH_EPILOG = """A file of the name given with -o that grownj wrote is replaced, once the new one is whole.

Exit codes:

0  every row came out; those without an answer say why in credit_problem, and how many there are is told at the end

1  something unforeseen: please report it

2  bad input: the table cannot be read or lacks a column, a reading or option; nothing was written"""

Confirmed = Annotated[bool, option("--confirmed-only", words="Leave open what rests on a figure below confirmed.")]
Stated = Annotated[bool, option("--take-unverified", words="Take unverified figures as they stand.")]
Readings = Annotated[Texts, option("--reading", metavar="ID=OPTION", words="A way to read (A13=none); repeatable.")]
Strict = Annotated[bool, option("--strict", words="Assume nothing that is not stated.")]


class _CreditsGroup(Group):
    """Takes the name of a project file in place of a command: then the credit is computed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - click's or typer's own
        """Return the command that the first word names, or that of a project."""
        if args and args[0] not in self.list_commands(ctx):
            return super().resolve_command(ctx, ["project", *args])
        return super().resolve_command(ctx, args)


credits_app = typer.Typer(
    cls=_CreditsGroup,
    help="What credit a project may have: grownj credits PROJECT.yaml, or a command.",
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@credits_app.command(epilog=_EPILOG)
def project(
    file: Annotated[Path, typer.Argument(metavar="PROJECT.yaml", help="The project: YAML or JSON.")],
    *,
    site: Annotated[
        Texts, option("--site", metavar="[BUILDING=]PLACE", words="Where a building is, as check takes it; repeatable.")
    ] = None,
    areas: Annotated[
        Path | None, option("--areas", metavar="FILE", words="The areas: of credits areas, or written by hand.")
    ] = None,
    as_of: AsOf = None,
    confirmed_only: Confirmed = False,
    take_unverified: Stated = False,
    reading: Readings = None,
    strict: Strict = False,
    json: Json = False,
    xlsx: Annotated[Path | None, option("--xlsx", metavar="FILE", words="A workbook that computes, too.")] = None,
    replace: Replace = False,
    width: Width = None,
) -> None:
    """Compute what credit a project may have, line by line.

    What is undetermined of the place or not stated of the project makes a range, and what would settle it is named.
    """
    utf8(*(site or ()), *(reading or ()))
    if xlsx is not None:
        _check_workbook(xlsx, [file, *([areas] if areas else ())], replace=replace)
    with refusals(), _problems():
        from grownj_geo.creditproject import project_of, read_raw  # noqa: PLC0415 - only where it is used
        from grownj_geo.credits import estimate  # noqa: PLC0415 - same

        raw = read_raw(file)
        trust = _trust(confirmed_only=confirmed_only, take_unverified=take_unverified)
        if isinstance(raw, dict) and raw.get("program", "grow-nj") != "grow-nj":
            if xlsx or strict or reading:
                fail("--xlsx, --strict and --reading are for projects of Grow New Jersey; leave them out.")
            _other_program(raw, file, (areas, site or (), as_of), trust, json=json, width=width or _WIDTH)
            return
        described = project_of(
            {k: v for k, v in raw.items() if k != "program"} if isinstance(raw, dict) else raw, name=str(file)
        )
        chosen, of_areas = _readings(reading or ())
        place = _areas(described, areas, site or (), as_of, of_areas)
        found = estimate(
            described,
            place,
            trust=trust,
            readings=chosen,
            strict=strict,
        )
    if xlsx is not None:
        _write_workbook(found, xlsx)
    if json:
        print_text(found.to_json())
    else:
        from grownj_geo.credittext import estimate_text  # noqa: PLC0415 - only where it is used

        print_text(estimate_text(found, width=width or _WIDTH))


def _other_program(
    raw: dict[str, Any],
    file: Path,
    place: tuple[Path | None, Sequence[str], str | None],
    trust: Trust,
    *,
    json: bool,
    width: int,
) -> None:
    """Print what a credit of the bill comes to."""
    from grownj_geo.creditprogram import estimate_program  # noqa: PLC0415 - only where it is used
    from grownj_geo.credits import DEFAULT_DAY  # noqa: PLC0415 - same
    from grownj_geo.creditsites import areas_of_site  # noqa: PLC0415 - same
    from grownj_geo.credittext import answer_text  # noqa: PLC0415 - same

    areas, sites, as_of = place
    found = None
    if areas is not None:
        if sites:
            fail("--areas and --site both say where the place is; leave out either.")
        found = _areas_of_file(areas).only()
    elif sites:
        from grownj_geo.areas import building_areas  # noqa: PLC0415 - only where it is used

        if len(sites) > 1:
            fail("--site was given several times; a credit of the bill is of one place. Give it once.")
        atlas = atlas_of(day_of(as_of, "--as-of") or DEFAULT_DAY)
        found = building_areas("site", areas_of_site(sites[0], atlas))
    answer = estimate_program(raw, name=str(file), areas=found, trust=trust)
    print_text(answer.to_json() if json else answer_text(answer, width=width))


@credits_app.command()
def new(
    *,
    program: Annotated[
        str | None, option("--program", metavar="NAME", words="A credit of bill A1178: urban-transit-hub ...")
    ] = None,
    output: Annotated[
        Path | None, option("-o", "--output", metavar="FILE", words="Write it there, where nothing is yet.")
    ] = None,
) -> None:
    """Print a project file with everything that can be said, explained."""
    from importlib import resources  # noqa: PLC0415 - only where it is used

    if program is None or program == "grow-nj":
        text = (resources.files("grownj_geo") / "rules" / "credits" / "project.template").read_text(encoding="utf-8")
    else:
        with refusals(), _problems():
            from grownj_geo.creditprogram import template_of  # noqa: PLC0415 - only where it is used

            text = template_of(program)
    if output is None:
        print_text(text)
        return
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        fail(f"--output {output} is there already; give another name. Nothing was overwritten.")
    except OSError as error:
        fail(f"--output {output} could not be written: {error.strerror}.")
    say(f"Wrote a project file to {output}. Fill it in; grownj credits {output} says what is missing.")


@credits_app.command()
def areas(
    site: Annotated[Texts, typer.Argument(metavar="SITE", help="The place, as check takes it.")] = None,
    *,
    as_of: AsOf = None,
    pin: Pin = None,
    municipality: Municipality = None,
    fact: Facts = None,
    facts_file: FactsFile = None,
    reading: Readings = None,
) -> None:
    """Print the areas of a place as the credit rules take them, for --areas."""
    from grownj_geo.areanames import area_names, rulebooks_for  # noqa: PLC0415 - only where it is used
    from grownj_geo.areas import areas_of  # noqa: PLC0415 - only where it is used
    from grownj_geo.cli_site import Question, rulebook_of  # noqa: PLC0415 - same

    typed = " ".join(site or ())
    utf8(typed, pin, municipality, *(fact or ()), *(reading or ()))
    question = Question(
        typed=typed,
        day=day_of(as_of, "--as-of"),
        chosen=_readings(reading or ())[1],
        stated=(fact or (), facts_file),
        place={"pin": pin, "municipality": municipality, "crs": None, "uncertainty_ft": 0.0},
    )
    engines, place = question.prepare([rulebook_of(book) for book in rulebooks_for(area_names())])
    with refusals():
        print_text(areas_of({"site": [engine.determine(place) for engine in engines]}).to_json())


@credits_app.command(epilog=_BATCH_EPILOG)
def batch(
    source: Annotated[Path | None, typer.Argument(metavar="INPUT", help="The table: CSV, XLSX or Parquet.")] = None,
    *,
    output: Annotated[
        Path | None,
        option("-o", "--output", metavar="FILE", words="Where to write, by its ending."),
    ] = None,
    replace: Replace = False,
    confirmed_only: Confirmed = False,
    take_unverified: Stated = False,
    reading: Readings = None,
    strict: Strict = False,
    dictionary: Annotated[bool, option("--dictionary", words="Say what each column means, and stop.")] = False,
    json: Annotated[bool, option("--json", words="Print the summary as JSON.")] = False,
) -> None:
    """Compute the credit of every row of a table of projects, one building a row.

    Areas are read from the columns that grownj batch writes: run it first, then this on its output. Every row comes
    out, in its order; one that cannot be read says why in credit_problem.
    """
    utf8(*(reading or ()))
    if dictionary:
        _print_dictionary(json=json)
        return
    if source is None or output is None:
        fail("Expected a table and where to write, as in: grownj credits batch projects.csv -o credits.csv.")
    check_outputs(output, sources=[source], replace=replace)
    from grownj_geo.creditbatch import CreditQuestion, run_credit_batch  # noqa: PLC0415 - only where it is used

    trust = _trust(confirmed_only=confirmed_only, take_unverified=take_unverified)
    with refusals():
        chosen, of_areas = _readings(reading or ())
        _only_credit_readings(of_areas, "the areas are those of the table")
        found = run_credit_batch(source, output, CreditQuestion(trust, chosen, strict))
    if json:
        print_json(vars(found) | {"award_low": str(found.award_low), "award_high": str(found.award_high)})
    else:
        _print_summary(output, found)


def _print_dictionary(*, json: bool) -> None:
    from grownj_geo.creditbatch import CREDIT_COLUMNS  # noqa: PLC0415 - only where it is used
    from grownj_geo.creditrows import NEEDED, credit_inputs  # noqa: PLC0415 - same

    read = [
        {"name": name, "direction": "read", "needed": name in NEEDED, "meaning": meaning}
        for name, meaning in credit_inputs().items()
    ]
    written = [
        {"name": column.name, "direction": "written", "needed": False, "meaning": meaning}
        for column, meaning in CREDIT_COLUMNS
    ]
    if json:
        print_json([*read, *written])
        return
    for each in (*read, *written):
        typer.echo(f"{each['name']} ({each['direction']}{', needed' if each['needed'] else ''}): {each['meaning']}")


def _print_summary(target: Path, found: CreditSummary) -> None:
    say(f"{target}: {found.rows:,} rows, {found.answered:,} answered.")
    for column, name in found.unread.items():
        say(f"Nothing was read from the column {column!r}. Did you mean {name!r}? Rename it and run again.")
    for words, count in sorted(found.problems.items(), key=lambda item: -item[1])[:_MOST_SHOWN]:
        say(f"No answer in {count:,} row{'s' * (count > 1)}: {words}")
    if len(found.problems) > _MOST_SHOWN:
        say(f"And {len(found.problems) - _MOST_SHOWN:,} more problems; every row says its own in credit_problem.")
    counts = ", ".join(f"{w} {found.eligible[w]:,}" for w in ("yes", "undetermined", "no") if found.eligible.get(w))
    say(f"Eligible: {counts or 'no project'}.")
    most = f"${found.award_high:,.2f}" if found.award_high.is_finite() else "no limit"
    say(f"Awards together: ${found.award_low:,.2f} to {most}.")


@contextmanager
def _problems() -> Iterator[None]:
    """Say every problem of a project on a line of its own, and leave."""
    from grownj_geo.creditproject import ProjectError  # noqa: PLC0415 - only where it is used

    try:
        yield
    except ProjectError as error:
        for line in str(error).splitlines():
            say(line)
        raise typer.Exit(BAD_INPUT) from error


# -- what is typed ------------------------------------------------------------------------------------


def _trust(*, confirmed_only: bool, take_unverified: bool) -> Trust:
    if confirmed_only and take_unverified:
        fail("--confirmed-only and --take-unverified say opposite things; leave out either.")
    return "confirmed" if confirmed_only else "stated" if take_unverified else "known"


def _readings(chosen: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the readings of the credit rules, and those of the areas."""
    from grownj_geo.cli_site import readings_of  # noqa: PLC0415 - only where it is used
    from grownj_geo.creditreadings import credit_readings  # noqa: PLC0415 - same

    every = readings_of(chosen, strict=False)
    own = {name: option for name, option in every.items() if name in credit_readings()}
    return own, {name: option for name, option in every.items() if name not in own}


def _areas(
    described: Project, file: Path | None, sites: Sequence[str], as_of: str | None, readings: dict[str, str]
) -> Areas | None:
    """Return the areas of the buildings: of a file, or found where they are; None for those that the project states."""
    day = day_of(as_of, "--as-of")
    if file is not None:
        _only_credit_readings(readings, "the areas are those of --areas")
        if sites:
            fail("--areas and --site both say where the buildings are; leave out either.")
        return _areas_of_file(file)
    named = dict(_site(each, described) for each in sites)
    located = any(building.site or building.pin or building.municipality for building in described.buildings)
    if not named and not located:
        _only_credit_readings(readings, "nothing asks where the project is")
        if all(building.areas is None for building in described.buildings):
            say("Nothing says where the project is: every area is open. Give --site, --areas, or areas in the file.")
        return None
    from grownj_geo.credits import DEFAULT_DAY  # noqa: PLC0415 - only where it is used
    from grownj_geo.creditsites import areas_of_project  # noqa: PLC0415 - same

    atlas = atlas_of(day or described.approval_date or described.application_date or DEFAULT_DAY)
    return areas_of_project(described, atlas, sites=named, readings=readings)


def _only_credit_readings(readings: dict[str, str], why: str) -> None:
    """Refuse a reading of the areas where no area is found, and one that there is not."""
    if readings:
        from grownj_geo.readings import resolve_readings  # noqa: PLC0415 - only where it is used

        resolve_readings(readings)
        fail(f"--reading {', '.join(readings)} is about areas, and {why}. Leave it out, or give --site.")


def _site(statement: str, described: Project) -> tuple[str, str]:
    """Return the building and the place of a statement; the only building needs no name."""
    ids = [building.id for building in described.buildings]
    name, equals, place = statement.partition("=")
    if equals and name.strip() in ids:
        return name.strip(), place.strip()
    if len(ids) > 1 or equals:
        fail(f"--site {statement!r} names no building; expected one of {', '.join(ids)}. Write {ids[0]}=PLACE.")
    return ids[0], statement


def _areas_of_file(path: Path) -> Areas:
    from yaml import YAMLError  # noqa: PLC0415 - only where it is used

    from grownj_geo.areas import areas_by_hand  # noqa: PLC0415 - only where it is used
    from grownj_geo.yamlfile import read_yaml  # noqa: PLC0415 - same

    expected = "Expected what grownj credits areas prints, or names of areas with yes or no."
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            fail(f"--areas {path} is larger than {_LARGEST // 1_000_000} MB. {expected}")
        raw = read_yaml(content.decode("utf-8-sig"))
    except OSError as error:
        fail(f"--areas {path} could not be read: {error.strerror}. {expected}")
    except (YAMLError, UnicodeDecodeError, RecursionError) as error:
        fail(f"--areas {path} is not readable: {' '.join(str(error).split())}. {expected}")
    return areas_by_hand(raw, name=str(path))


def _check_workbook(path: Path, sources: Sequence[Path], *, replace: bool) -> None:
    if path.suffix.lower() != ".xlsx":
        fail(f"--xlsx {path} does not end in .xlsx; expected a workbook's name.")
    check_outputs(path, sources=sources, replace=replace)


def _write_workbook(found: Estimate, path: Path) -> None:
    from grownj_geo.creditxlsx import write_estimate  # noqa: PLC0415 - only where it is used

    try:
        write_estimate(found, path)
    except OSError as error:
        fail(f"--xlsx {path} could not be written: {error.strerror}.")
    say(f"Wrote the computation to {path}.")
