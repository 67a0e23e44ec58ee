"""What the commands share: option types, refusals in words, and the reading of sites, facts, readings, rulebooks."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from grownj_geo.atlas import Atlas
    from grownj_geo.determine import Engine
    from grownj_geo.finder import Finder
    from grownj_geo.found import Found
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import FactValue, Site

__all__ = [
    "BAD_INPUT",
    "EPILOG",
    "INCOMPLETE",
    "OUTSIDE",
    "STRICT_WORDS",
    "UNSETTLED",
    "AsOf",
    "At",
    "Crs",
    "Editions",
    "Facts",
    "FactsFile",
    "Group",
    "Json",
    "Municipality",
    "Pin",
    "Question",
    "Readings",
    "SiteCommand",
    "Strict",
    "StrictEditions",
    "Text",
    "Texts",
    "Uncertainty",
    "Width",
    "atlas_of",
    "console_of",
    "day_of",
    "fail",
    "fail_incomplete",
    "option",
    "print_json",
    "print_text",
    "readings_of",
    "refusals",
    "rulebook_of",
    "say",
    "stated_facts",
    "utf8",
]

BAD_INPUT, OUTSIDE, INCOMPLETE, UNSETTLED = 2, 3, 4, 5
EPILOG = """Exit codes:

0  a determination was made, whatever is undetermined in it for lack of optional layers or facts

1  something unforeseen: please report it

2  bad input: site, date, fact, reading, rulebook or option

3  the site lies outside New Jersey

4  incomplete: a layer that ships or was loaded could not be used; the report is printed all the same

5  the address may be one of several places: they are printed, and none is chosen"""
STRICT_WORDS = "No assumptions (A24=list_of_the_year, A25=undetermined), no layers of another edition (A43=strict)."

_NUMBER_LIKE = re.compile(r"-\s*[\d.]|-\s")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LARGEST_FACTS = 1_000_000
_LONGEST_PATH = 4096

# What every usage error of typer is, whether typer brings its own click or uses the one installed.
_UsageError = cast("type[Exception]", typer.BadParameter.__base__)


# -- typer --------------------------------------------------------------------------------------------


class Group(TyperGroup):
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
        """Run a command and leave with its exit code."""
        output = _output()
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _UsageError as error:
            if not standalone_mode:
                raise
            words = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
            command = getattr(getattr(error, "ctx", None), "command_path", "grownj")
            # Without a subcommand the help has been printed, and there is nothing to add.
            if words:
                say(f"{words.rstrip('.')}. See {command} --help.")
            code = BAD_INPUT
        except typer.Abort:
            code = 130
        except SystemExit as left:
            # Help and tables are printed by others, who put output elsewhere and leave with 1 where nobody reads on.
            if left.code != 1 or _output() == output:
                raise
            code = 0
        return sys.exit(code if isinstance(code, int) else 0) if standalone_mode else code

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's or typer's own
        """Run the command that was typed; end quietly where nobody reads on, as in ``| head``."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
        except typer.Exit:
            _flush()
            raise
        except BrokenPipeError:
            # Caught here: whoever called would leave with a code that says that something is wrong.
            _flush()
            raise typer.Exit(0) from None
        return done


def _output() -> tuple[int, int, str]:
    """Return what tells where output goes."""
    try:
        status = os.fstat(1)
    except OSError:
        return 0, 0, type(sys.stdout).__name__
    return status.st_dev, status.st_ino, type(sys.stdout).__name__


def _flush() -> None:
    """Write what waits to be written; nowhere, where nobody reads any more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class SiteCommand(TyperCommand):
    """Takes words that start with a minus sign and a digit as part of the site, not as options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's or typer's own
        """Sort the words into options and arguments, then parse as usual."""
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


def option(*names: str, metavar: str | None = None, words: str, least: int | None = None) -> Any:  # noqa: ANN401
    """Return an option whose default is told in its words, if anywhere."""
    return typer.Option(*names, metavar=metavar, help=words, min=least, show_default=False)


Text = str | None
Texts = list[str] | None
AsOf = Annotated[Text, option(metavar="DATE", words="The day asked about (default: 2017-04-17).")]
At = Annotated[Text, option("--at", metavar="LAT,LON", words="Where you move the place to; both stay on record.")]
Crs = Annotated[Text, option(metavar="CODE", words="What coordinates are in: EPSG:3424.")]
Facts = Annotated[Texts, option(metavar="NAME=VALUE", words="A fact that no map shows; repeatable.")]
FactsFile = Annotated[Path | None, option(metavar="YAML", words="Facts; --fact outranks it.")]
Json = Annotated[bool, option("--json", words="Print JSON, and nothing else.")]
Municipality = Annotated[Text, option(metavar="NAME", words="Municipality, by name or code.")]
Pin = Annotated[Text, option(metavar="PIN", words="Parcel number; settles the municipality.")]
Readings = Annotated[Texts, option(metavar="ID=OPTION", words="A way to read (A11=strict); repeatable.")]
Editions = Annotated[Texts, option("--edition", metavar="LAYER@ID", words="A stored edition to use; repeatable.")]
StrictEditions = Annotated[bool, option("--strict-editions", words="Leave out layers not known to hold on the day.")]
Strict = Annotated[bool, option("--strict", words=STRICT_WORDS)]
Uncertainty = Annotated[float, option(metavar="FEET", words="How far off the place may be.")]
Width = Annotated[int | None, option(metavar="N", least=60, words="Columns (default: the terminal's).")]


# -- words in and out ---------------------------------------------------------------------------------


def say(words: str) -> None:
    """Write one paragraph to the error stream, without terminal escapes."""
    shown = "".join(c if c.isprintable() else " " for c in words)
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    try:
        typer.echo(shown.encode(encoding, "backslashreplace").decode(encoding), err=True)
    except BrokenPipeError:
        # Nobody reads what goes wrong; the exit code still says it.
        _flush()


def fail(words: str, code: int = BAD_INPUT) -> NoReturn:
    """Say what is wrong and leave."""
    say(words)
    raise typer.Exit(code)


def fail_incomplete(problems: Sequence[str]) -> NoReturn:
    """Say which layers could not be used and leave; what could be said was printed before."""
    fail(
        f"Incomplete: a layer could not be used, and what depends on it is undetermined. {' '.join(problems)}",
        INCOMPLETE,
    )


def print_text(text: str) -> None:
    """Write text to standard output as it is, in UTF-8 with plain line ends."""
    typer.echo(text.encode(), nl=False)


def print_json(value: object) -> None:
    """Write a value to standard output as JSON."""
    from json import dumps  # noqa: PLC0415 - only where it is used

    print_text(dumps(value, indent=2, ensure_ascii=False) + "\n")


def console_of(width: int | None) -> Console:
    """Return a console that prints text as it is."""
    from rich.console import Console  # noqa: PLC0415 - only where it is used

    return Console(width=width, highlight=False, markup=False, emoji=False)


def utf8(*texts: str | None) -> None:
    """Refuse arguments that are no text."""
    for text in texts:
        if any("\ud800" <= c <= "\udfff" for c in text or ""):
            fail(f"An argument was read as {text!r}; expected UTF-8 text. Type it again, or rename the file.")


def day_of(text: str | None, option_name: str) -> date | None:
    """Return a day typed as an option's value."""
    if text is None:
        return None
    try:
        if _ISO_DATE.fullmatch(text.strip()):
            return date.fromisoformat(text.strip())
        wrong = "that is no date"
    except ValueError:
        wrong = "there is no such day in the calendar"
    fail(f"{option_name} was read as {text!r}: {wrong}. Expected YYYY-MM-DD; write it as {option_name} 2017-04-17.")


# -- facts, readings, rulebooks -----------------------------------------------------------------------


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


def stated_facts(stated: Sequence[str]) -> dict[str, FactValue]:
    """Return facts that were typed of all sites, each stated once."""
    from grownj_geo.facts import parse_fact  # noqa: PLC0415 - only where it is used

    found: dict[str, FactValue] = {}
    with refusals():
        for statement in stated:
            name, value = parse_fact(statement)
            if found.setdefault(name, value) != value:
                fail(f"The fact {name} was stated twice, with different values. Expected one; state it once.")
    return found


def _facts_of_file(path: Path) -> dict[str, str]:
    """Read a YAML mapping of names and plain values; every value is text here, checked like a typed one."""
    import yaml  # noqa: PLC0415 - only where it is used

    expected = "Expected lines such as 'structure_exists: yes', each fact once; correct the file."
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST_FACTS + 1)
        root = yaml.compose(text, Loader=yaml.SafeLoader) if len(text) <= _LARGEST_FACTS else None
    except OSError as error:
        fail(f"--facts-file {path} could not be read: {error.strerror}. {expected}")
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        fail(f"--facts-file {path} is not readable YAML: {' '.join(str(error).split())}. {expected}")
    if len(text) > _LARGEST_FACTS:
        fail(f"--facts-file {path} is longer than {_LARGEST_FACTS:,} characters. {expected}")
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        fail(f"--facts-file {path} does not hold names and values. {expected}")
    found: dict[str, str] = {}
    for key, value in root.value:
        line = key.start_mark.line + 1
        if not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
            fail(f"--facts-file {path}, line {line}: the value is a list or a mapping. {expected}")
        if key.value in found:
            fail(f"--facts-file {path}, line {line}: {key.value!r} is stated twice. {expected}")
        found[key.value] = value.value
    return found


def readings_of(chosen: Sequence[str], *, strict: bool, strict_editions: bool = False) -> dict[str, str]:
    """Return the readings that were chosen, each once."""
    if strict_editions and not strict:
        chosen = [*chosen, "A43=strict"]
    found: dict[str, str] = {}
    for statement in chosen:
        name, equals, choice = (part.strip() for part in statement.partition("="))
        if not equals:
            fail(f"The reading {statement!r} has no '='; expected ID=OPTION. Write it as --reading A11=strict.")
        if found.setdefault(name, choice) != choice:
            fail(f"The reading {name} was chosen twice, as {found[name]} and {choice}; expected one. Choose one.")
    if strict:
        from grownj_geo.readings import STRICT_READINGS  # noqa: PLC0415 - only where it is used
    for name, choice in STRICT_READINGS.items() if strict else ():
        if found.setdefault(name, choice) != choice:
            fail(f"--strict means {name}={choice}, and --reading says {name}={found[name]}. Leave out either.")
    return found


def rulebook_of(named: str | None) -> Rulebook:
    """Return a shipped rulebook by its id, or the one in a file; leave where it is refused.

    Every problem of a file is said on a line of its own.
    """
    from grownj_geo.errors import RulebookError  # noqa: PLC0415 - only where it is used
    from grownj_geo.rulebook import load_rulebook, shipped_rulebooks  # noqa: PLC0415 - only where it is used
    from grownj_geo.rulebook_file import read_rulebook_file  # noqa: PLC0415 - only where it is used

    named = "grow-nj" if named is None else named
    utf8(named)
    shipped = named in shipped_rulebooks()
    try:
        # A word without a folder or an ending that is no file's name was meant as an id.
        if shipped or not (Path(named).suffix or len(Path(named).parts) > 1 or (named and _exists(named))):
            return load_rulebook(named)
        return read_rulebook_file(Path(named))
    except RulebookError as error:
        for line in str(error).splitlines():
            say(line)
        raise typer.Exit(BAD_INPUT) from error


def _exists(named: str) -> bool:
    try:
        return Path(named).exists()
    except (OSError, ValueError):
        return False


# -- sites --------------------------------------------------------------------------------------------


def atlas_of(as_of: date, editions: Sequence[str] = ()) -> Atlas:
    """Return the atlas that every command works on: what ships, and the user's store."""
    from grownj_geo.atlas import load_atlas  # noqa: PLC0415 - only where it is used

    with refusals():
        return load_atlas(as_of=as_of, editions=editions)


@dataclass(frozen=True)
class Question:
    """One site, a day, and what the user says about both, as typed."""

    typed: str
    day: date | None
    chosen: dict[str, str]
    stated: tuple[Sequence[str], Path | None]
    place: dict[str, Any]
    editions: Sequence[str] = ()

    def prepare(self, books: Sequence[Rulebook]) -> tuple[list[Engine], Site]:
        """Return one engine for each rulebook, and the site; leave where anything is refused or is not settled."""
        from grownj_geo.found import UnsettledSiteError  # noqa: PLC0415 - only where it is used

        engines, finder, found = self.find(books)
        with refusals():
            if found.site is None:
                raise UnsettledSiteError(finder.words_of(found), found)
        return engines, found.site

    def find(self, books: Sequence[Rulebook]) -> tuple[list[Engine], Finder, Found]:
        """Return one engine for each rulebook, who looks for places, and what the site came to.

        Its facts are those of the question. Leaves where anything is refused.
        """
        from dataclasses import replace  # noqa: PLC0415 - only where it is used

        from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
        from grownj_geo.determine import Engine  # noqa: PLC0415 - only where it is used
        from grownj_geo.errors import SiteError  # noqa: PLC0415 - only where it is used
        from grownj_geo.finder import Finder  # noqa: PLC0415 - only where it is used
        from grownj_geo.pins import looks_like_pin  # noqa: PLC0415 - only where it is used

        atlas = atlas_of(self.day or DEFAULT_AS_OF, self.editions)
        with refusals():
            engines = [Engine(atlas, book, self.chosen) for book in books]
            facts = _facts(*self.stated)
            finder = Finder.at_home(atlas)
            try:
                found = finder.find(self.typed, **self.place)
            except SiteError as error:
                by_code = self.place["pin"] or self.place["municipality"] or looks_like_pin(self.typed)
                if by_code and not atlas.municipal_names:
                    problems = "; ".join(p for layer_id in atlas.manifests if (p := atlas.state(layer_id).problem))
                    fail(f"{error} No list of municipalities could be used: {problems}", INCOMPLETE)
                raise
            site = None if found.site is None else replace(found.site, facts=facts)
            return engines, finder, replace(found, site=site, facts=facts)


@contextmanager
def refusals() -> Iterator[None]:
    """Say in one paragraph what was refused, and leave."""
    from grownj_geo.errors import (  # noqa: PLC0415 - only where it is used
        FactError,
        LayerError,
        OutsideNewJerseyError,
        RecordError,
        RulebookError,
        SettingsError,
        SiteError,
    )
    from grownj_geo.found import UnsettledSiteError  # noqa: PLC0415 - same

    try:
        yield
    except OutsideNewJerseyError as error:
        fail(str(error), OUTSIDE)
    except UnsettledSiteError as error:
        fail(str(error), UNSETTLED if error.found.choices else BAD_INPUT)
    except (SiteError, FactError, LayerError, RecordError, RulebookError, SettingsError) as error:
        fail(str(error))
