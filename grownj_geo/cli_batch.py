"""The command `grownj batch`: a table of sites in, the same table with the answers out."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grownj_geo.cli_site import (
    AsOf,
    Editions,
    Readings,
    StrictEditions,
    Text,
    day_of,
    fail,
    option,
    print_json,
    readings_of,
    refusals,
    say,
    utf8,
)
from grownj_geo.cli_sites import (
    Column,
    Delimiter,
    Encoding,
    Replace,
    Sheet,
    SiteColumn,
    Sublayer,
    TableCrs,
    check_outputs,
    rows_done,
)

if TYPE_CHECKING:
    from grownj_geo.batch import BatchSummary
    from grownj_geo.batchwork import Question

__all__ = ["batch"]

_MOST_SHOWN = 10


def batch(
    source: Annotated[
        str | None, typer.Argument(metavar="INPUT", help="The table: CSV, XLSX, Parquet, GIS files.")
    ] = None,
    *,
    output: Annotated[Text, option("-o", "--output", metavar="FILE", words="Where to write, by its ending.")] = None,
    replace: Replace = False,
    as_of: AsOf = None,
    rulebook: Annotated[
        str, option("--rulebook", metavar="ID", words="A shipped rulebook (default: grow-nj).")
    ] = "grow-nj",
    reading: Readings = None,
    edition: Editions = None,
    strict_editions: StrictEditions = False,
    columns: Annotated[
        str, option("--columns", metavar="brief|full", words="full: lean, margin, causes too.")
    ] = "brief",
    lon: Column = None,
    lat: Column = None,
    x: Column = None,
    y: Column = None,
    crs: TableCrs = None,
    site: SiteColumn = None,
    pin: Column = None,
    municipality: Column = None,
    county: Column = None,
    block: Column = None,
    lot: Column = None,
    qualifier: Column = None,
    wkt: Column = None,
    address: Annotated[
        Text, option(metavar="NAME", words="Column of addresses, looked up as grownj find does.")
    ] = None,
    house_number: Column = None,
    city: Column = None,
    zip_code: Annotated[Text, option("--zip", metavar="NAME", words="Column of ZIP codes, for addresses.")] = None,
    uncertainty: Annotated[Text, option(metavar="NAME", words="Column of feet that a place may be off.")] = None,
    uncertainty_ft: Annotated[float, option(metavar="FEET", words="The same for every row.")] = 0.0,
    sheet: Sheet = None,
    sublayer: Sublayer = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    workers: Annotated[int, option("--workers", metavar="N", least=1, words="Processes that answer.")] = 1,
    engine: Annotated[str, option("--engine", metavar="processes|dask", words="Who they are.")] = "processes",
    scheduler: Annotated[
        Text, option("--scheduler", metavar="ADDRESS", words="Dask scheduler, as in tcp://10.0.0.5:8786.")
    ] = None,
    block_rows: Annotated[int, option("--block-rows", metavar="N", least=1, words="Rows at a time.")] = 20_000,
    resume: Annotated[bool, option("--resume", words="Go on after what an earlier run wrote.")] = False,
    strict: Annotated[bool, option("--strict", words="Stop at the first row without an answer.")] = False,
    evidence: Annotated[
        Path | None, option("--evidence", metavar="FILE", words="Whole records too, a line each.")
    ] = None,
    summary: Annotated[Path | None, option("--summary", metavar="FILE", words="The closing summary as JSON.")] = None,
    index: Annotated[
        str, option("--index", metavar="auto|build|no", words="A cell index: faster, the same answers.")
    ] = "auto",
    dictionary: Annotated[bool, option("--dictionary", words="Say what each column means, and stop.")] = False,
    json: Annotated[bool, option("--json", words="Print the summary as JSON.")] = False,
) -> None:
    """Answer for every row of a table of sites, and write it again with the answers beside.

    Every row comes out, in its order. A row that cannot be read has its problem in its own column; it never stops the
    others, unless --strict says so. The file appears when it is whole; --resume goes on after a stopped run. Parcel
    numbers get the outlines of the parcels that are loaded, and addresses are looked up, where there are any.
    """
    utf8(*(part for part in (source, output) if part), crs, site, *(reading or ()))
    if columns not in {"brief", "full"}:
        fail(f"--columns was read as {columns!r}; expected brief or full.")
    detail: Literal["brief", "full"] = "full" if columns == "full" else "brief"
    from grownj_geo.atlas import DEFAULT_AS_OF  # noqa: PLC0415 - only where it is used
    from grownj_geo.batch import BatchOptions, Question, run_batch  # noqa: PLC0415 - same
    from grownj_geo.siterows import TableOptions  # noqa: PLC0415 - same

    question = Question(
        as_of=day_of(as_of, "--as-of") or DEFAULT_AS_OF,
        rulebook=rulebook,
        readings=readings_of(reading or (), strict=False, strict_editions=strict_editions),
        editions=tuple(edition or ()),
        detail=detail,
    )
    if dictionary:
        _print_dictionary(question, json=json)
        return
    if source is None or output is None:
        fail("Expected a table and where to write, as in: grownj batch sites.csv -o answers.csv.")
    with refusals():
        _refuse_same(source, output, evidence, summary)
        here = _local(output)
    read = [source]
    check_outputs(here, summary, sources=read, replace=replace)
    check_outputs(evidence, sources=read, replace=replace, answers=True)
    table = TableOptions(
        lon=lon, lat=lat, x=x, y=y, crs=crs, site=site, pin=pin, municipality=municipality, county=county, block=block,
        lot=lot, qualifier=qualifier, wkt=wkt, address=address, house_number=house_number, city=city,
        zip_code=zip_code, uncertainty=uncertainty, uncertainty_ft=uncertainty_ft, sheet=sheet, sublayer=sublayer,
        encoding=encoding, delimiter=delimiter,
    )  # fmt: skip
    _check_choices(index, engine, scheduler, workers)
    wanted: Literal["auto", "build", "no"] = "build" if index == "build" else "no" if index == "no" else "auto"
    options = BatchOptions(table, block_rows, workers, resume, strict, wanted, scheduler)
    with refusals(), rows_done(hidden=json) as progress:
        found = run_batch(source, output, question, options=options, evidence=evidence, progress=progress, tell=say)
    if summary is not None:
        _write_summary(summary, found)
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _print_summary(found)


def _refuse_same(source: str, output: str, evidence: Path | None, summary: Path | None) -> None:
    from grownj_geo.tablepath import refuse_same, table_path  # noqa: PLC0415 - only where it is used

    written = {"the output": table_path(output), "the evidence": evidence, "the summary": summary}
    refuse_same({"the table that is read": table_path(source), **written})


def _local(output: str) -> Path | None:
    """Return where a table goes on this machine; None for an object in a store, which is replaced as stores do."""
    from grownj_geo.tablepath import is_remote, table_path  # noqa: PLC0415 - only where it is used

    path = table_path(output)
    return None if is_remote(path) else path


def _check_choices(index: str, engine: str, scheduler: str | None, workers: int) -> None:
    if index not in {"auto", "build", "no"}:
        fail(f"--index was read as {index!r}; expected auto, build or no.")
    if engine not in {"processes", "dask"}:
        fail(f"--engine was read as {engine!r}; expected processes or dask.")
    if (engine == "dask") != (scheduler is not None):
        fail("--engine dask and --scheduler ADDRESS belong together, as in --scheduler tcp://10.0.0.5:8786.")
    if engine == "dask" and workers != 1:
        fail("--workers is about processes on this machine; how many a cluster has, its scheduler knows.")


def _print_dictionary(question: Question, *, json: bool) -> None:
    from grownj_geo.batchwork import batch_columns  # noqa: PLC0415 - only where it is used

    with refusals():
        columns = batch_columns(question.engine(), (), question.detail)
    if json:
        print_json([{"name": c.name, "type": c.type, "meaning": c.meaning} for c in columns])
        return
    for column in columns:
        typer.echo(f"{column.name} ({column.type}): {column.meaning}")


def _write_summary(path: Path, found: BatchSummary) -> None:
    from json import dumps  # noqa: PLC0415 - only where it is used

    from grownj_geo.files import written_beside  # noqa: PLC0415 - same

    content = {"format": "grownj-summary/1", **found.model_dump(mode="json")}
    try:
        with written_beside(path) as beside:
            beside.write_text(dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        fail(f"--summary {path} could not be written ({error.strerror}); the table itself was.")


def _print_summary(found: BatchSummary) -> None:
    """Print what the table came to, to the error stream: standard output stays free."""
    say(f"{found.target}: {found.rows:,} rows, {found.answered:,} answered, as of {found.as_of}, by {found.rulebook}.")
    for words in found.changes[:_MOST_SHOWN]:
        say(f"Note: {words}")
    if len(found.changes) > _MOST_SHOWN:
        say(f"{len(found.changes) - _MOST_SHOWN:,} more notes are in the summary as JSON.")
    problems = sorted(found.problems.items(), key=lambda item: -item[1])
    for problem, count in problems[:_MOST_SHOWN]:
        say(f"No answer in {count:,} row{'s' * (count > 1)}: {problem}")
    if len(problems) > _MOST_SHOWN:
        others = sum(count for _, count in problems[_MOST_SHOWN:])
        say(f"No answer in {others:,} more row{'s' * (others > 1)}, each for the reason in its column problem.")
    for name, counts in found.outcomes.items():
        words = ", ".join(f"{word} {counts[word]:,}" for word in ("yes", "undetermined", "no") if counts.get(word))
        say(f"{name}: {words or 'no site'}")
    if found.tiers:
        tiers = ((*map(int, pair.split("-")), count) for pair, count in found.tiers.items())
        say("Base amount, least-most: " + "; ".join(f"${low:,}-${high:,}: {count:,}" for low, high, count in tiers))
    say(f"Sites near a line: {found.near_line:,}. Causes: {', '.join(f'{k} {v:,}' for k, v in found.causes.items())}.")
    again = f" ({found.resumed_rows:,} were written before)" if found.resumed_rows else ""
    say(f"{found.seconds:,.1f} s, {found.rows_per_second:,.0f} rows a second{again}.")
