"""The command line: `grownj check` and its companions.

Exit codes: 0 a determination was made; 1 something unforeseen; 2 bad input; 3 the site lies outside New
Jersey; 4 incomplete, a layer that should be there could not be used.
"""

from __future__ import annotations

import os
import re
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from grownj_geo.atlas import Atlas
    from grownj_geo.determination import Determination
    from grownj_geo.explain import Explanation
    from grownj_geo.report import LayerRow
    from grownj_geo.site import FactValue, Site

__all__ = ["app", "main"]

BAD_INPUT, OUTSIDE, INCOMPLETE = 2, 3, 4

_STRICT = {"A25": "undetermined", "A43": "strict"}
_EPILOG = """Exit codes:

0  a determination was made, whatever is undetermined in it for lack of optional layers or facts

1  something unforeseen: please report it

2  bad input: site, date, fact, reading or option

3  the site lies outside New Jersey

4  incomplete: a layer that ships or was loaded could not be used; the report is printed all the same"""
_SITE = "Coordinates (40.7344,-74.1641), a parcel number (0408_81_1), GeoJSON file or WKT; words are joined."
_STRICT_WORDS = "No assumptions (A25=undetermined), no layers of another edition (A43=strict)."
_NUMBER_LIKE = re.compile(r"-\s*[\d.]|-\s")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LARGEST_FACTS = 1_000_000
_FILE_WIDTH = 100

# What every usage error of typer is, whether typer brings its own click or uses the one installed.
_UsageError = cast("type[Exception]", typer.BadParameter.__base__)


class _Group(TyperGroup):
    """Says what is wrong with the options in one plain paragraph."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - typer's own
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002 - same
        **extra: Any,  # noqa: ANN401 - same
    ) -> Any:  # noqa: ANN401 - same
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _UsageError as error:
            if not standalone_mode:
                raise
            words = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
            _say(f"{words.rstrip('.')}. See grownj --help, or grownj check --help.")
            code = BAD_INPUT
        except typer.Abort:
            code = 130
        return sys.exit(code if isinstance(code, int) else 0) if standalone_mode else code


class _CheckCommand(TyperCommand):
    """Takes words that start with a minus sign and a digit as part of the site, not as options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's or typer's own
        takes_value = {
            name
            for param in self.params
            if param.param_type_name == "option" and not getattr(param, "is_flag", False)
            for name in param.opts
        }
        options: list[str] = []
        words: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if word == "--":
                words += rest
                break
            if not word.startswith("-") or word == "-" or _NUMBER_LIKE.match(word):
                words.append(word)
                continue
            options.append(word)
            if word in takes_value:
                if not rest:  # nothing may come between, so that the parser misses the value
                    return super().parse_args(ctx, options)
                options.append(rest.pop(0))
        return super().parse_args(ctx, [*options, "--", *words])


app = typer.Typer(
    name="grownj",
    cls=_Group,
    help="Which Grow New Jersey incentive areas is a site in, by which words, and how sure is that?",
    epilog=_EPILOG,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
layers_app = typer.Typer(help="The layers that the rules need.")
app.add_typer(layers_app, name="layers")


def main() -> None:
    """Run the console script `grownj`."""
    app(prog_name="grownj")


# -- shared steps -------------------------------------------------------------------------------------


def _atlas(as_of: date) -> Atlas:
    """Return the atlas that every command works on."""
    from grownj_geo.atlas import load_atlas  # noqa: PLC0415 - only where it is used

    return load_atlas(as_of=as_of)


def _say(words: str) -> None:
    """Write one paragraph to the error stream, without terminal escapes."""
    shown = "".join(c if c.isprintable() else " " for c in words)
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    typer.echo(shown.encode(encoding, "backslashreplace").decode(encoding), err=True)


def _fail(words: str, code: int = BAD_INPUT) -> NoReturn:
    _say(words)
    raise typer.Exit(code)


def _day(text: str | None, option: str) -> date | None:
    if text is None:
        return None
    try:
        if _ISO_DATE.fullmatch(text.strip()):
            return date.fromisoformat(text.strip())
        wrong = "that is no date"
    except ValueError:
        wrong = "there is no such day in the calendar"
    _fail(f"{option} was read as {text!r}: {wrong}. Expected YYYY-MM-DD; write it as {option} 2017-04-17.")


def _utf8(*texts: str | None) -> None:
    for text in texts:
        if any("\ud800" <= c <= "\udfff" for c in text or ""):
            _fail(f"An argument was read as {text!r}; expected UTF-8 text. Type it again, or rename the file.")


def _print(text: str) -> None:
    """Write text to standard output as it is, in UTF-8 with plain line ends."""
    typer.echo(text.encode(), nl=False)


def _console(width: int | None) -> Console:
    from rich.console import Console  # noqa: PLC0415 - only where it is used

    return Console(width=width, highlight=False, markup=False, emoji=False)


# -- facts and readings -------------------------------------------------------------------------------


def _facts(stated: Sequence[str], facts_file: Path | None) -> dict[str, FactValue]:
    from grownj_geo.errors import FactError  # noqa: PLC0415 - only where it is used
    from grownj_geo.facts import check_facts, parse_fact  # noqa: PLC0415 - only where it is used

    found = check_facts(_facts_of_file(facts_file)) if facts_file else {}
    typed: dict[str, FactValue] = {}
    for statement in stated:
        name, value = parse_fact(statement)
        if typed.setdefault(name, value) != value:
            raise FactError(f"The fact {name} was stated twice, with different values. Expected one; state it once.")
    return found | typed


def _facts_of_file(path: Path) -> dict[str, str]:
    """Read a YAML mapping of names and plain values; every value is text here, checked like a typed one."""
    import yaml  # noqa: PLC0415 - only where it is used

    expected = "Expected lines such as 'structure_exists: yes', each fact once; correct the file."
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST_FACTS + 1)
        root = yaml.compose(text, Loader=yaml.SafeLoader) if len(text) <= _LARGEST_FACTS else None
    except OSError as error:
        _fail(f"--facts-file {path} could not be read: {error.strerror}. {expected}")
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        _fail(f"--facts-file {path} is not readable YAML: {' '.join(str(error).split())}. {expected}")
    if len(text) > _LARGEST_FACTS:
        _fail(f"--facts-file {path} is longer than {_LARGEST_FACTS:,} characters. {expected}")
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        _fail(f"--facts-file {path} does not hold names and values. {expected}")
    found: dict[str, str] = {}
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
            _fail(f"--facts-file {path}, line {line}: the value is a list or a mapping. {expected}")
        if key.value in found:
            _fail(f"--facts-file {path}, line {line}: {key.value!r} is stated twice. {expected}")
        found[key.value] = value.value
    return found


def _readings(chosen: Sequence[str], *, strict: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement in chosen:
        name, equals, option = (part.strip() for part in statement.partition("="))
        if not equals:
            _fail(f"The reading {statement!r} has no '='; expected ID=OPTION. Write it as --reading A11=strict.")
        if found.setdefault(name, option) != option:
            _fail(f"The reading {name} was chosen twice, as {found[name]} and {option}; expected one. Choose one.")
    for name, option in _STRICT.items() if strict else ():
        if found.setdefault(name, option) != option:
            _fail(f"--strict means {name}={option}, and --reading says {name}={found[name]}. Leave out either.")
    return found


# -- commands -----------------------------------------------------------------------------------------


def _version() -> NoReturn:
    from importlib import metadata  # noqa: PLC0415 - only here

    try:
        version = metadata.version("grownj-geo")
    except metadata.PackageNotFoundError:
        version = "0 (not installed)"
    typer.echo(f"grownj-geo {version}")
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


def _option(*names: str, metavar: str | None = None, words: str, least: int | None = None) -> Any:  # noqa: ANN401
    return typer.Option(*names, metavar=metavar, help=words, min=least, show_default=False)


_Text = str | None
_Texts = list[str] | None
_Json = Annotated[bool, _option("--json", words="Print JSON, and nothing else.")]
_Width = Annotated[int | None, _option(metavar="N", least=60, words="Columns (default: the terminal's).")]


@app.command(cls=_CheckCommand, epilog=_EPILOG)
def check(
    site: Annotated[_Texts, typer.Argument(metavar="SITE", help=_SITE, show_default=False)] = None,
    *,
    as_of: Annotated[_Text, _option(metavar="DATE", words="The day asked about (default: 2017-04-17).")] = None,
    json: _Json = False,
    explain: Annotated[bool, _option("--explain", words="Add the deciding clauses; not to JSON.")] = False,
    pin: Annotated[_Text, _option(metavar="PIN", words="Parcel number; settles the municipality.")] = None,
    municipality: Annotated[_Text, _option(metavar="NAME", words="Municipality, by name or code.")] = None,
    crs: Annotated[_Text, _option(metavar="CODE", words="What coordinates are in: EPSG:3424.")] = None,
    uncertainty_ft: Annotated[float, _option(metavar="FEET", words="How far off the place may be.")] = 0.0,
    fact: Annotated[_Texts, _option(metavar="NAME=VALUE", words="A fact that no map shows; repeatable.")] = None,
    facts_file: Annotated[Path | None, _option(metavar="YAML", words="Facts; --fact outranks it.")] = None,
    reading: Annotated[_Texts, _option(metavar="ID=OPTION", words="A way to read (A11=strict); repeatable.")] = None,
    strict: Annotated[bool, _option("--strict", words=_STRICT_WORDS)] = False,
    determined_on: Annotated[_Text, _option(metavar="DATE", words="A day to write into the record.")] = None,
    output: Annotated[Path | None, _option("-o", "--output", metavar="FILE", words="Write to a file.")] = None,
    width: _Width = None,
) -> None:
    """Determine which incentive areas one site is in."""
    typed = " ".join(site or ())
    _utf8(typed, pin, municipality, crs, *(fact or ()), *(reading or ()))
    on = _day(determined_on, "--determined-on")
    target = _target(output, typed, facts_file) if output else None
    found, trees = _determine(
        typed,
        day=_day(as_of, "--as-of"),
        chosen=_readings(reading or (), strict=strict),
        stated=(fact or (), facts_file),
        place={"pin": pin, "municipality": municipality, "crs": crs, "uncertainty_ft": uncertainty_ft},
        determined_on=on,
        explained=explain and not json,
    )
    if strict:
        _say(f"--strict: {_STRICT_WORDS}")
    if target is not None:
        _write(target, found.to_json() if json else _report_text(found, trees, width or _FILE_WIDTH))
        _say(f"Wrote the {'record' if json else 'report'} to {target}.")
    elif json:
        _print(found.to_json())
    else:
        from grownj_geo.report import render  # noqa: PLC0415 - only where it is used

        render(found, _console(width), explanations=trees)
    if found.incomplete:
        _say(
            "Incomplete: a layer could not be used, and what depends on it is undetermined. "
            + " ".join(layer.problem for layer in found.layers if layer.problem)
        )
        raise typer.Exit(INCOMPLETE)


def _determine(
    typed: str,
    *,
    day: date | None,
    chosen: dict[str, str],
    stated: tuple[Sequence[str], Path | None],
    place: dict[str, Any],
    determined_on: date | None,
    explained: bool,
) -> tuple[Determination, dict[str, Explanation]]:
    """Locate and determine, or say in one paragraph why not."""
    from dataclasses import replace  # noqa: PLC0415 - only where it is used

    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.determine import Directory, Engine  # noqa: PLC0415 - only where it is used
    from grownj_geo.errors import FactError, OutsideNewJerseyError, RulebookError, SiteError  # noqa: PLC0415 - only where it is used
    from grownj_geo.locate import locate  # noqa: PLC0415 - only where it is used
    from grownj_geo.pins import looks_like_pin  # noqa: PLC0415 - only where it is used
    from grownj_geo.rulebook import load_rulebook  # noqa: PLC0415 - only where it is used

    rulebook = load_rulebook()
    atlas = _atlas(day or DEFAULT_AS_OF)
    try:
        engine = Engine(atlas, rulebook, chosen)
        facts = _facts(*stated)
        site: Site = replace(locate(typed, directory=Directory(atlas), **place), facts=facts)
        found = engine.determine(site, determined_on=determined_on)
        trees = _trees(engine, site, found) if explained else {}
    except OutsideNewJerseyError as error:
        _fail(str(error), OUTSIDE)
    except (SiteError, FactError, RulebookError) as error:
        by_code = place["pin"] or place["municipality"] or looks_like_pin(typed)
        if isinstance(error, SiteError) and by_code and not atlas.municipal_names:
            problems = "; ".join(p for layer_id in atlas.manifests if (p := atlas.state(layer_id).problem))
            _fail(f"{error} No list of municipalities could be used: {problems}", INCOMPLETE)
        _fail(str(error))
    return found, trees


def _trees(engine: Any, site: Site, found: Determination) -> dict[str, Explanation]:  # noqa: ANN401 - an Engine
    from grownj_geo.explain import explain  # noqa: PLC0415 - only where it is used

    run = engine.run(site)
    return {finding.id: explain(run, finding.id, depth="compact") for finding in found.findings}


@app.command()
def schema() -> None:
    """Print the JSON Schema of the record that `check --json` prints."""
    from importlib import resources  # noqa: PLC0415 - only where it is used

    _print((resources.files("grownj_geo") / "schemas" / "determination.schema.json").read_text(encoding="utf-8"))


@layers_app.command("list", epilog=_EPILOG)
def layers_list(
    *,
    json: _Json = False,
    width: _Width = None,
) -> None:
    """List every layer that is known: what ships, what is loaded, and what waits for the others."""
    rows = _layer_rows()
    if json:
        from json import dumps  # noqa: PLC0415 - only where it is used

        _print(dumps(rows, indent=2, ensure_ascii=False) + "\n")
    else:
        from grownj_geo.report import render_layers  # noqa: PLC0415 - only where it is used

        render_layers(rows, _console(width))
    unusable = [str(row["id"]) for row in rows if row["problem"]]
    if unusable:
        _say(f"Incomplete: {', '.join(unusable)} could not be used. Reinstall the package.")
        raise typer.Exit(INCOMPLETE)


def _layer_rows() -> list[LayerRow]:
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.rulebook import load_rulebook  # noqa: PLC0415 - only where it is used

    atlas = _atlas(DEFAULT_AS_OF)
    needed: dict[str, list[str]] = {}
    for category in load_rulebook().categories:
        for layer_id in _layers_in(category.rule.model_dump()):
            if category.label not in needed.setdefault(layer_id, []):
                needed[layer_id].append(category.label)
    rows: list[LayerRow] = []
    for layer_id, manifest in sorted(atlas.manifests.items(), key=lambda item: (not item[1].ships, item[0])):
        state = atlas.state(layer_id)
        layer = atlas.layer(layer_id)
        rows.append(
            {
                "id": layer_id,
                "title": manifest.title,
                "publisher": manifest.publisher,
                "ships": manifest.ships,
                "status": "not loaded" if state.status == "missing" else state.status,
                "problem": state.problem,
                "edition": str(manifest.edition) if manifest.edition else None,
                "accuracy_ft": manifest.accuracy_ft,
                "sha256": layer.fingerprint if layer else None,
                "needed_by": needed.get(layer_id, []),
                "how_to_load": manifest.how_to_load,
            }
        )
    return rows


def _layers_in(node: object) -> Iterable[str]:
    """Yield every layer that a clause of the rulebook, or one below it, names."""
    if isinstance(node, dict):
        if isinstance(node.get("layer"), str):
            yield node["layer"]
        elif isinstance(node.get("designated"), dict):
            yield "designations"
        for value in node.values():
            yield from _layers_in(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _layers_in(value)


# -- files --------------------------------------------------------------------------------------------


def _target(output: Path, typed: str, facts_file: Path | None) -> Path:
    """Return where to write, refused before any work is done where that cannot be."""
    try:
        target = output.resolve()
        is_folder, is_file, exists = target.is_dir(), target.is_file(), target.exists()
        sources = [facts_file, Path(typed) if typed else None]
        is_source = exists and any(s is not None and s.exists() and s.samefile(target) for s in sources)
    except (OSError, ValueError) as error:
        _fail(f"--output {output} cannot be used: {error}. Expected a file's name; give another.")
    if is_folder:
        _fail(f"--output {output} is a folder; expected a file. Give its name, as in {output / 'site.txt'}.")
    if exists and not is_file:
        _fail(f"--output {output} is no regular file; expected one. Leave --output out to print.")
    if is_source:
        _fail(f"--output {output} is a file that is read; expected another. Nothing was overwritten.")
    if not target.parent.is_dir():
        _fail(f"--output {output}: there is no folder {target.parent}. Make it first, or name another.")
    return target


def _write(target: Path, text: str) -> None:
    """Write beside the target, then rename: a reader sees the old file or the whole new one."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            beside.write_bytes(text.encode())
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        _fail(f"--output {target} could not be written: {error.strerror}. Check the folder's permissions and space.")


def _report_text(found: Determination, trees: dict[str, Explanation], width: int) -> str:
    import io  # noqa: PLC0415 - only where it is used

    from rich.console import Console  # noqa: PLC0415 - only where it is used

    from grownj_geo.report import render  # noqa: PLC0415 - only where it is used

    page = io.StringIO()
    render(found, Console(file=page, width=width, color_system=None, force_terminal=False), explanations=trees)
    return page.getvalue()
