"""The command line: `grownj check` and its companions.

Exit codes: 0 a determination was made; 1 something unforeseen; 2 bad input; 3 the site lies outside New
Jersey; 4 incomplete, a layer that should be there could not be used; 5 an address may be one of several places.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from grownj_geo.cli_batch import batch
from grownj_geo.cli_credits import credits_app
from grownj_geo.cli_export import export_app
from grownj_geo.cli_find import add_find_command, leave_unsettled, render_choices
from grownj_geo.cli_loading import layers_app
from grownj_geo.cli_map import draw_map
from grownj_geo.cli_records import add_record_commands
from grownj_geo.cli_report import report
from grownj_geo.cli_rules import rules_app
from grownj_geo.cli_serve import serve
from grownj_geo.cli_settings import settings_app
from grownj_geo.cli_site import (
    BAD_INPUT,
    EPILOG,
    STRICT_WORDS,
    AsOf,
    At,
    Crs,
    Editions,
    Facts,
    FactsFile,
    Group,
    Json,
    Municipality,
    Pin,
    Question,
    Readings,
    SiteCommand,
    Strict,
    StrictEditions,
    Text,
    Texts,
    Uncertainty,
    Width,
    console_of,
    day_of,
    fail,
    fail_incomplete,
    option,
    print_text,
    readings_of,
    refusals,
    rulebook_of,
    say,
    utf8,
)
from grownj_geo.cli_sites import check_outputs, forget_outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from grownj_geo.determination import Determination
    from grownj_geo.determine import Engine
    from grownj_geo.explain import Explanation
    from grownj_geo.finder import Finder
    from grownj_geo.found import Found
    from grownj_geo.site import Site

    Answer = tuple[Determination, dict[str, Explanation]]

__all__ = ["app", "main"]

_SITE = (
    "Coordinates (40.7344,-74.1641), a parcel number (0408_81_1), block and lot (Camden City block 81 lot 1), an "
    "address, GeoJSON file or WKT; words are joined."
)
_BOOKS = "A shipped rulebook's id or a YAML file (default: grow-nj); repeatable, one report after the other."
_FILE_WIDTH = 100
_WIDEST = 120

app = typer.Typer(
    name="grownj",
    cls=Group,
    help="Which Grow New Jersey incentive areas is a site in, by which words, and how sure is that?",
    epilog=EPILOG,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=EPILOG)(batch)
app.command("map", cls=SiteCommand, epilog=EPILOG)(draw_map)
app.command(cls=SiteCommand, epilog=EPILOG)(report)
app.command()(serve)
app.add_typer(export_app, name="export")
app.add_typer(credits_app, name="credits")
app.add_typer(layers_app, name="layers")
app.add_typer(rules_app, name="rules")
app.add_typer(settings_app, name="settings")
add_record_commands(app)
add_find_command(app)


def main() -> None:
    """Run the console script `grownj`."""
    import sys  # noqa: PLC0415 - only here

    try:
        app(prog_name="grownj")
    except BrokenPipeError:
        # Whoever reads has seen enough ("| head"): nothing is wrong, and there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _version() -> NoReturn:
    from grownj_geo.determination import software  # noqa: PLC0415 - only here

    typer.echo(software())
    raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        _version()
    elif ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(BAD_INPUT)
    ctx.call_on_close(forget_outputs)


@app.command(cls=SiteCommand, epilog=EPILOG)
def check(
    site: Annotated[Texts, typer.Argument(metavar="SITE", help=_SITE, show_default=False)] = None,
    *,
    as_of: AsOf = None,
    json: Json = False,
    explain: Annotated[bool, option("--explain", words="Add the deciding clauses; not to JSON.")] = False,
    pin: Pin = None,
    municipality: Municipality = None,
    crs: Crs = None,
    uncertainty_ft: Uncertainty = 0.0,
    at: At = None,
    fact: Facts = None,
    facts_file: FactsFile = None,
    reading: Readings = None,
    strict: Strict = False,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    rulebook: Annotated[Texts, option("--rulebook", metavar="ID|FILE", words=_BOOKS)] = None,
    determined_on: Annotated[Text, option(metavar="DATE", words="A day to write into the record.")] = None,
    output: Annotated[Path | None, option("-o", "--output", metavar="FILE", words="Write to a file.")] = None,
    save: Annotated[
        Path | None, option("--save", metavar="FILE", words="Keep the record, sealed, for recheck.")
    ] = None,
    replace: Annotated[bool, option("--replace", words="Overwrite: --save a record, -o a file of others.")] = False,
    width: Width = None,
) -> None:
    """Determine which incentive areas one site is in."""
    typed = " ".join(site or ())
    utf8(typed, pin, municipality, crs, at, *(fact or ()), *(reading or ()))
    on = day_of(determined_on, "--determined-on")
    named = list(dict.fromkeys(rulebook or ["grow-nj"]))
    sources = [facts_file, *map(Path, filter(None, [typed, *named]))]
    target = _target(output, sources) if output else None
    kept = _kept_target(save, sources, rulebooks=len(named), replace=replace) if save else None
    if target is not None and target == kept:
        fail(f"--output {output} is to be a kept record; expected another file. Nothing was overwritten.")
    check_outputs(target, sources=(), replace=replace, answers=True)
    question = Question(
        typed=typed,
        day=day_of(as_of, "--as-of"),
        chosen=readings_of(reading or (), strict=strict, strict_editions=strict_editions),
        stated=(fact or (), facts_file),
        place={"pin": pin, "municipality": municipality, "crs": crs, "uncertainty_ft": uncertainty_ft, "at": at},
        editions=edition or (),
    )
    engines, finder, looked = question.find([rulebook_of(name) for name in named])
    place = looked.site
    if place is None:
        leave_unsettled(engines[0], finder, looked, json=json, width=width)
    with refusals():
        answers: list[Answer] = []
        for engine in engines:
            found = engine.determine(place, determined_on=on, other_readings=True)
            answers.append((found, _trees(engine, place, found) if explain and not json else {}))
    if strict:
        say(f"--strict: {STRICT_WORDS}")
    if kept is not None:
        _keep(kept, answers[0][0], engines[0], place, question.editions, replace=replace)
    better = [] if json else [_better(engine, place) for engine in engines]

    def shown(console: Console) -> None:
        _render(answers, better, console)
        _render_choices(engines[0], finder, looked, console)

    if target is not None:
        _write(target, _json_text(answers) if json else _report_text(shown, width or _FILE_WIDTH))
        say(f"Wrote the {'record' if json else 'report'} to {target}.")
    elif json:
        print_text(_json_text(answers))
    else:
        shown(console_of(width))
    if any(found.incomplete for found, _ in answers):
        fail_incomplete(list(dict.fromkeys(x.problem for found, _ in answers for x in found.layers if x.problem)))


def _keep(
    kept: Path, found: Determination, engine: Engine, site: Site, editions: Sequence[str], *, replace: bool
) -> None:
    from grownj_geo.kept import keep, sealed_text  # noqa: PLC0415 - only where it is used

    with refusals():
        keep(kept, sealed_text(found, engine, site, editions=editions), replace=replace)
    say(f"Kept the record in {kept}.")


def _trees(engine: Engine, site: Site, found: Determination) -> dict[str, Explanation]:
    from grownj_geo.explain import explain  # noqa: PLC0415 - only where it is used

    run = engine.run(site)
    return {finding.id: explain(run, finding.id, depth="compact") for finding in found.findings}


def _better(engine: Engine, site: Site) -> str | None:
    """Return how far the next better line is; None for a rulebook without lines."""
    if not engine.rulebook.tiers:
        return None
    from grownj_geo.nextbetter import next_better  # noqa: PLC0415 - only where it is used

    return next_better(engine, site).words


def _json_text(answers: Sequence[Answer]) -> str:
    """Return one record, or a list of them where several rulebooks were asked for."""
    if len(answers) == 1:
        return answers[0][0].to_json()
    from json import dumps  # noqa: PLC0415 - only where it is used

    return dumps([found.model_dump(mode="json") for found, _ in answers], indent=2, ensure_ascii=False) + "\n"


def _render(answers: Sequence[Answer], better: Sequence[str | None], console: Console) -> None:
    """Print one report after the other, with a line between them."""
    from grownj_geo.report import render  # noqa: PLC0415 - only where it is used

    for number, ((found, trees), words) in enumerate(zip(answers, better, strict=True)):
        if number:
            console.print(f"\n{'=' * min(console.width, _WIDEST)}\n")
        render(found, console, explanations=trees, next_better=words)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the record that `check --json` prints."""
    from importlib import resources  # noqa: PLC0415 - only where it is used

    print_text((resources.files("grownj_geo") / "schemas" / "determination.schema.json").read_text(encoding="utf-8"))


# -- files --------------------------------------------------------------------------------------------


def _kept_target(save: Path, sources: Sequence[Path | None], *, rulebooks: int, replace: bool) -> Path:
    """Return where to keep a record, refused before any work is done where that cannot be."""
    if rulebooks > 1:
        fail("--save keeps one record, and several rulebooks were asked for. Keep them one by one.")
    target = _target(save, sources, name="--save")
    if target.exists() and not replace:
        fail(
            f"--save {save} is there already, and a kept record is never overwritten unasked. Give another name, or "
            "--replace."
        )
    return target


def _target(output: Path, sources: Sequence[Path | None], *, name: str = "--output") -> Path:
    """Return where to write, refused before any work is done where that cannot be."""
    try:
        target = output.resolve()
        is_folder, is_file, exists = target.is_dir(), target.is_file(), target.exists()
        is_source = exists and any(s is not None and s.exists() and s.samefile(target) for s in sources)
    except (OSError, ValueError) as error:
        fail(f"{name} {output} cannot be used: {error}. Expected a file's name; give another.")
    if is_folder:
        fail(f"{name} {output} is a folder; expected a file. Give its name, as in {output / 'site.txt'}.")
    if exists and not is_file:
        fail(f"{name} {output} is no regular file; expected one. Leave {name} out to print.")
    if is_source:
        fail(f"{name} {output} is a file that is read; expected another. Nothing was overwritten.")
    if not target.parent.is_dir():
        fail(f"{name} {output}: there is no folder {target.parent}. Make it first, or name another.")
    return target


def _write(target: Path, text: str) -> None:
    """Write beside the target, then rename: a reader sees the old file or the whole new one."""
    from grownj_geo.files import written_beside  # noqa: PLC0415 - only where it is used

    try:
        with written_beside(target) as beside:
            beside.write_bytes(text.encode())
    except OSError as error:
        fail(f"--output {target} could not be written: {error.strerror}. Check the folder's permissions and space.")


def _render_choices(engine: Engine, finder: Finder, looked: Found, console: Console) -> None:
    """Print the places of which the site is what they share, with what each would be answered; where there are any."""
    if not looked.choices:
        return
    from grownj_geo.choiceanswers import answer_choices  # noqa: PLC0415 - only where it is used

    render_choices(looked, finder, console, answer_choices(engine, looked, finder.asker, facts=looked.facts))


def _report_text(shown: Callable[[Console], None], width: int) -> str:
    import io  # noqa: PLC0415 - only where it is used

    from rich.console import Console  # noqa: PLC0415 - only where it is used

    from grownj_geo.ownmarks import LAST_WORDS  # noqa: PLC0415 - same

    page = io.StringIO()
    shown(Console(file=page, width=width, color_system=None, force_terminal=False))
    # By its last line the file is known again, so that the same command may replace it.
    return f"{page.getvalue()}\n{LAST_WORDS}\n"
