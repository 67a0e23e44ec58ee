"""Kept records: a determination sealed into a file, read again with its seal compared, never altered.

A kept record is one JSON object:

``format``
    ``"grownj-record/2"``.
``sha256``
    Of everything else in it: as JSON with sorted keys, without blanks, in UTF-8, whole figures without a point
    (``2.0`` as ``2``: programs that lay JSON out anew do not tell them apart). Of ``"grownj-record/1"``, which is
    read too, figures count as they are written.
``question``
    What was asked and a determination does not show: the exact geometry (``geometry_wkb``, hexadecimal, EPSG:3424),
    the readings and the editions that were chosen.
``rulebook``
    The whole rulebook. What stands at its default is left out.
``determination``
    The record that ``check --json`` prints.

Laid out anew it stays the same record; with any value changed it does not. The seal shows damage and careless
edits. It is no signature: whoever means to can seal another record.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import shapely
from pydantic import Field, ValidationError

from grownj_geo.determination import FORMAT, Determination
from grownj_geo.errors import RecordError, RulebookError, SiteError
from grownj_geo.files import written_beside
from grownj_geo.records import rulebook_record
from grownj_geo.rulebook import Rulebook
from grownj_geo.rulecheck import check_rulebook
from grownj_geo.site import Site
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grownj_geo.determine import Engine

__all__ = [
    "KEPT_FORMAT",
    "Kept",
    "Refused",
    "holds_records",
    "is_record",
    "keep",
    "read_records",
    "record_files",
    "sealed_text",
]

KEPT_FORMAT: Literal["grownj-record/2"] = "grownj-record/2"
_FIRST_FORMAT = "grownj-record/1"
_KEPT_FORMATS = (KEPT_FORMAT, _FIRST_FORMAT)

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
_LARGEST = 64_000_000
_LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_BEGINNING, _CHUNK = 4096, 1 << 20
_EXPECTED = "Expected a record of grownj check --save, check --json or batch --evidence"


class _Question(Strict):
    geometry_wkb: str | None
    readings: dict[str, str]
    editions: tuple[str, ...]


class _Sealed(Strict):
    format: Literal["grownj-record/1", "grownj-record/2"]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    question: _Question
    rulebook: dict[str, Any]
    determination: Determination


@dataclass(frozen=True)
class Kept:
    """A determination that somebody kept.

    Attributes
    ----------
    source
        The file that it was read from, and where in it, in words.
    determination
        As it was recorded.
    sealed
        Whether a checksum over the record was there and is right. A record of ``check --json`` has none: whether it
        was altered cannot be seen.
    readings
        The readings that were taken, by id: for an unsealed record all of them, chosen or not.
    editions
        The editions that were chosen by name; empty for an unsealed record, which does not tell them.
    """

    source: str
    determination: Determination
    sealed: bool
    readings: Mapping[str, str]
    editions: tuple[str, ...] = ()
    geometry_wkb: str | None = None
    rulebook_json: Mapping[str, Any] | None = None

    @property
    def margin_noise_ft(self) -> float:
        """How far a margin may differ for the record's own rounding of the place, in feet."""
        return 0.0 if self.sealed or self.determination.site.kind == "municipality" else 0.1

    @cached_property
    def site(self) -> Site:
        """The site as recorded: geometry, uncertainty, parcel numbers, municipality and facts.

        Raises
        ------
        SiteError
            If what is recorded is no site.
        """
        record = self.determination.site
        code, basis = record.mun_code, record.mun_basis
        if code is None and record.pins:  # records of before `mun_code` was written
            code, basis = record.pins[0][:4], "pin"
        return Site(
            typed=record.typed,
            located_by=record.located_by,
            geometry=_geometry(self.geometry_wkb, record.geometry_wkt, self.source),
            uncertainty_ft=record.uncertainty_ft,
            mun_code=code,
            mun_basis=basis,
            pins=record.pins,
            notes=record.notes,
            facts=dict(record.facts),
        )

    @cached_property
    def rulebook(self) -> Rulebook | None:
        """The rulebook that was applied, where the record holds it in a form that this version reads."""
        if self.rulebook_json is None:
            return None
        try:
            book = Rulebook.model_validate(self.rulebook_json)
            check_rulebook(book, name=self.source)
        except (ValidationError, RulebookError, RecursionError):
            # Another version's form of a rulebook. Whoever asks says that the old rules are not at hand.
            return None
        return book if rulebook_record(book).sha256 == self.determination.rulebook.sha256 else None


@dataclass(frozen=True)
class Refused:
    """What could not be taken as a record, and why, in words that name it and say what to do."""

    source: str
    words: str


def _geometry(wkb: str | None, wkt: str | None, source: str) -> shapely.Geometry | None:
    try:
        if wkb is not None:
            return shapely.from_wkb(bytes.fromhex(wkb))
        return None if wkt is None else shapely.from_wkt(wkt)
    except (shapely.errors.GEOSException, ValueError, TypeError) as error:
        raise SiteError(
            f"{source}: the recorded geometry cannot be read ({error}). Expected well-known text or binary in "
            "EPSG:3424; take the record from where it was kept first."
        ) from error


# -- keeping ------------------------------------------------------------------------------------------


def _digest(content: Mapping[str, Any]) -> str:
    rest: Any = {name: value for name, value in content.items() if name != "sha256"}
    if content.get("format") != _FIRST_FORMAT:
        rest = _whole_figures(rest)
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _whole_figures(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return content in which figures without a fraction are integers: JavaScript and jq write 0.0 as 0."""
    if isinstance(value, dict):
        return {name: _whole_figures(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_figures(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def sealed_text(determination: Determination, engine: Engine, site: Site, *, editions: Sequence[str] = ()) -> str:
    """Return a kept record as text.

    Parameters
    ----------
    determination
        The answer.
    engine, site
        What gave it.
    editions
        The editions that were chosen by name; the record has their whole names.

    Examples
    --------
    >>> from grownj_geo import Engine, Site, load_atlas, load_rulebook
    >>> engine, site = Engine(load_atlas(), load_rulebook()), Site.from_lonlat(-74.1641, 40.7344)
    >>> text = sealed_text(engine.determine(site), engine, site)
    >>> json.loads(text)["format"]
    'grownj-record/2'
    """
    wkb = None if site.geometry is None else shapely.to_wkb(site.geometry, hex=True, byte_order=1)
    chosen = []
    for name in editions:
        held = engine.atlas.edition(name.partition("@")[0])
        chosen.append(name if held is None else held.name)
    content = {
        "format": KEPT_FORMAT,
        "sha256": "",
        "question": {"geometry_wkb": wkb, "readings": dict(sorted(engine.readings.items())), "editions": chosen},
        "determination": determination.model_dump(mode="json"),
        "rulebook": engine.rulebook.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        | {"format": engine.rulebook.format},
    }
    content["sha256"] = _digest(content)
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def keep(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a kept record: whole or not at all, and never over another file unless that is asked for.

    Raises
    ------
    RecordError
        If something is there already, or the system does not let it be written.
    """
    try:
        with written_beside(path, new=not replace) as beside:
            beside.write_bytes(text.encode())
    except FileExistsError as error:
        raise RecordError(
            f"{path} is there already, and a kept record is never overwritten unasked. Nothing was changed. Give "
            "another name, or --replace."
        ) from error
    except OSError as error:
        raise RecordError(
            f"{path} could not be written ({error.strerror or error}). Nothing was changed. Check the folder, its "
            "permissions and the free space."
        ) from error


def is_record(path: Path) -> bool:
    """Return whether a file holds a kept record, whole or damaged: nothing else may take its place unasked.

    What is there and cannot be read counts as one.
    """
    return _names(path, *_KEPT_FORMATS) or _reads_as(path, sealed=True)


def holds_records(path: Path) -> bool:
    """Return whether a file holds what `read_records` takes: kept records, or determinations without a seal."""
    return _names(path, *_KEPT_FORMATS, FORMAT) or _reads_as(path, sealed=False)


def _names(path: Path, *forms: str) -> bool:
    """Return whether a format stands anywhere in a file as a string of JSON: its keys may come in any order."""
    marks = [f'"{text}"'.encode() for form in forms for text in (form, form.replace("/", r"\/"))]
    longest = max(map(len, marks))
    kept = b""
    try:
        with path.open("rb") as file:
            # A page or a table may quote a record; under another ending it is one only where it begins as JSON.
            begins = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
            if path.suffix.lower() not in _SUFFIXES and begins not in {b"{", b"["}:
                return False
            file.seek(0)
            while chunk := file.read(_CHUNK):
                kept += chunk
                if any(mark in kept for mark in marks):
                    return True
                kept = kept[-longest:]
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _reads_as(path: Path, *, sealed: bool) -> bool:
    """Return whether a file reads as a record, however its text is written."""
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return False
    return any(isinstance(one, Kept) and (one.sealed or not sealed) for one in read_records([path]))


# -- reading ------------------------------------------------------------------------------------------


def record_files(paths: Iterable[Path]) -> Iterator[Path | Refused]:
    """Yield files of records: those named, and in folders all that end in .json, .jsonl or .ndjson, in order."""
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in _SUFFIXES and p.is_file())
            if inside:
                yield from inside
            else:
                words = f"The folder {path} holds no records. {_EXPECTED}, ending in .json, .jsonl or .ndjson."
                yield Refused(str(path), words)
        elif path.is_file():
            yield path
        else:
            what = "is no regular file" if path.exists() else "is not there"
            yield Refused(str(path), f"{path} {what}. {_EXPECTED}; check the name.")


def read_records(paths: Iterable[Path]) -> Iterator[Kept | Refused]:
    """Yield the records of files and folders, each verified; one that is damaged or altered never stops the others.

    Taken are kept records, the JSON of ``check --json`` (one record, or a list for several rulebooks), and one record
    a line as ``batch --evidence`` writes them.

    Parameters
    ----------
    paths
        Files and folders.
    """
    for path in record_files(paths):
        if isinstance(path, Refused):
            yield path
            continue
        try:
            yield from _of_file(path)
        except OSError as error:
            yield Refused(str(path), f"{path} could not be read ({error.strerror or error}). Check its permissions.")


def _of_file(path: Path) -> Iterator[Kept | Refused]:
    source = str(path)
    with path.open("rb") as file:
        # One damaged line, even the first, must not take the others with it.
        by_lines = path.suffix.lower() in _LINE_SUFFIXES or _is_line(file.readline(_LARGEST + 1))
        file.seek(0)
        content = b"" if by_lines else file.read(_LARGEST + 1)
        found = None if by_lines else _whole(content, source)
        if by_lines or (isinstance(found, Refused) and _has_lines(file)):
            file.seek(0)
            yield from _of_lines(file, path)
            return
    if isinstance(found, list):
        for number, one in enumerate(found, start=1):
            yield _record(one, f"{source}, record {number}")
    else:
        yield found if isinstance(found, Refused) else _record(found, source)


def _whole(content: bytes, source: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    if len(content) > _LARGEST:
        words = (
            f"{source} is larger than {_LARGEST // 1_000_000} MB. {_EXPECTED}, one a line in a file ending in .jsonl."
        )
        return Refused(source, words)
    return _parsed(content, source)


def _has_lines(file: Any) -> bool:  # noqa: ANN401 - any binary file
    """Return whether any line of a file that is damaged as a whole is a whole record."""
    file.seek(0)
    while line := file.readline(_LARGEST + 1):
        if _is_line(line):
            return True
    return False


def _is_line(line: bytes) -> bool:
    """Return whether a line is a whole record, of whatever format."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "format" in found


def _of_lines(file: Any, path: Path) -> Iterator[Kept | Refused]:  # noqa: ANN401 - any binary file
    number = 0
    while line := file.readline(_LARGEST + 1):
        number += 1
        source = f"{path}, line {number}"
        if len(line) > _LARGEST:
            yield Refused(source, f"{source} is longer than {_LARGEST // 1_000_000} MB, and no record. {_EXPECTED}.")
            while line and not line.endswith(b"\n"):
                line = file.readline(_LARGEST + 1)
        elif line.strip():
            found = _parsed(line, source)
            yield found if isinstance(found, Refused) else _record(found, source)
    if not number:
        yield Refused(str(path), f"{path} is empty: not readable as JSON. {_EXPECTED}; take a whole copy.")


def _parsed(content: bytes, source: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        words = " ".join(str(error).split())[:200] or "it goes too deep"
        return Refused(source, f"{source} is damaged: not readable as JSON ({words}). {_EXPECTED}; take a whole copy.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Of two values under one name a reader sees the first and a program the second.
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _no_constant(name: str) -> Any:  # noqa: ANN401 - it never returns
    raise ValueError(f"{name} is no figure")


def _record(content: Any, source: str) -> Kept | Refused:  # noqa: ANN401 - whatever JSON holds
    form = content.get("format") if isinstance(content, dict) else None
    try:
        if form in _KEPT_FORMATS:
            return _sealed(content, source)
        if form == FORMAT:
            determination = Determination.model_validate({k: v for k, v in content.items() if k != "row"})
            return Kept(source, determination, sealed=False, readings=determination.readings)
    except ValidationError as error:
        first = error.errors()[0]
        place = " > ".join(map(str, first["loc"]))[:120]
        words = f"{source} does not follow its format {form}: {place}: {first['msg']}. {_EXPECTED}, unchanged."
        return Refused(source, words)
    except (ValueError, RecursionError) as error:
        return Refused(source, f"{source} is damaged: {str(error)[:200]}. {_EXPECTED}, unchanged.")
    what = f"its format is {str(form)[:60]!r}" if form is not None else "it names no format"
    return Refused(source, f"{source} is no record: {what}. {_EXPECTED} ({KEPT_FORMAT} or {FORMAT}).")


def _sealed(content: dict[str, Any], source: str) -> Kept | Refused:
    stated, found = content.get("sha256"), _digest(content)
    if stated != found:
        return Refused(
            source,
            f"{source} was altered after it was kept, or is damaged: its content has the checksum {found[:12]}, and it "
            f"states {str(stated)[:12]}. It is not used; take it from where it was kept first.",
        )
    record = _Sealed.model_validate(content)
    return Kept(
        source,
        record.determination,
        sealed=True,
        readings=record.question.readings,
        editions=record.question.editions,
        geometry_wkb=record.question.geometry_wkb,
        rulebook_json=record.rulebook,
    )
