"""What GIS files are made of: tables of features with few and short fields, each explained, ready for any format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.answers import atlas_mark, rulebook_mark
from grownj_geo.arealines import DRAWN_WITHIN_FT
from grownj_geo.areapieces import CLASSES
from grownj_geo.exportstyles import Look, area_look, site_look
from grownj_geo.exportvalues import Kind, export_columns
from grownj_geo.records import day_cautions
from grownj_geo.rows_block import cell_text
from grownj_geo.rows_columns import name_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from grownj_geo.areapieces import Area
    from grownj_geo.determine import Engine
    from grownj_geo.rows_columns import Roles

__all__ = [
    "ExportField",
    "ExportTable",
    "about_areas",
    "about_sites",
    "answer_marks",
    "area_tables",
    "problems_in",
    "short_names",
    "site_tables",
]

_LONGEST_NAME = 10
_POINTS = (shapely.GeometryType.POINT, shapely.GeometryType.MULTIPOINT)
_CLASS = "class"
_NO_ANSWER = "no_answer"
_NO_AMOUNT = "no_amount"
_KEPT_NAMES = frozenset({"about", "dictionary", "layer_styles"})
_MOST_MARKS = 5
_CAUTION = (
    "Computed from public facts and maps; not the New Jersey Economic Development Authority's determination and not "
    "legal advice."
)


@dataclass(frozen=True)
class ExportField:
    """A field of a table.

    Attributes
    ----------
    name
        As formats have it that allow long names.
    short
        As a shapefile has it: at most ten plain letters, digits and underscores, unique in the table.
    type, meaning
        What it holds, and what that means.
    """

    name: str
    short: str
    type: Kind
    meaning: str


@dataclass(frozen=True, eq=False)
class ExportTable:
    """Features of one kind.

    Attributes
    ----------
    name
        Fit for a file's or a layer's name.
    label, about
        For people: its name, and what it is in a sentence.
    fields, values
        The fields, and n values of each by name; None is nothing.
    geometries
        In EPSG:3424 (US survey feet), shape (n,); None where a site has no place.
    look
        How each feature is drawn.
    title
        The field that names a feature; empty for none.
    """

    name: str
    label: str
    about: str
    fields: tuple[ExportField, ...]
    values: Mapping[str, Sequence[Any]]
    geometries: NDArray[np.object_]
    look: Look
    title: str = ""

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.geometries)

    @property
    def points(self) -> bool:
        """Whether the features are points."""
        return self.look.points


def short_names(names: Sequence[str]) -> list[str]:
    """Return a name of at most ten plain signs for each name, unique whatever the case.

    Examples
    --------
    >>> short_names(["qualified_incentive_area", "qualified_incubator", "Straße", "county"])
    ['qualified', 'qualified1', 'Strae', 'county']
    """
    taken: set[str] = set()
    found = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]", "", name) or "field"
        base = (plain if plain[0].isalpha() else f"f{plain}")[:_LONGEST_NAME].rstrip("_")
        short, number = base, 0
        while short.casefold() in taken:
            number += 1
            short = f"{base[: _LONGEST_NAME - len(str(number))]}{number}"
        taken.add(short.casefold())
        found.append(short)
    return found


# -- areas ---------------------------------------------------------------------------------------------

_AREA_FIELDS: tuple[tuple[str, Kind, str], ...] = (
    ("area_id", "text", "the area: a category of the rulebook, or one of its radii"),
    ("area", "text", "its name"),
    (_CLASS, "text", f"how the ground is drawn: {'; '.join(f'{key}, {words}' for key, words in CLASSES.items())}"),
    ("outcome", "text", "yes or undetermined; where nothing is drawn the answer is no"),
    ("leans", "text", "yes or no where only the accuracy of a line leaves it open"),
    ("assumed", "boolean", "whether the outcome rests on an assumption"),
    ("clauses", "text", "the clauses that make it yes, or that leave it open, separated by semicolons"),
    ("clause_ids", "text", "their places in the rulebook"),
    ("citations", "text", "the law they stand in"),
    ("causes", "text", "why it is undetermined, in the words of the record"),
    ("waits_for", "text", "maps and site facts that could decide it; facts are taken as not stated"),
    ("mun_code", "text", "Treasury code of the municipality, for areas that municipalities alone decide"),
    ("municipal", "text", "its name"),
    ("sq_miles", "number", "planar area in EPSG:3424, square miles"),
    ("as_of", "text", "the day asked about"),
    ("rulebook", "text", "rulebook, version and fingerprint"),
    ("atlas", "text", "fingerprint of the layers, their editions and the day"),
)


def area_tables(engine: Engine, areas: Sequence[Area]) -> list[ExportTable]:
    """Return one table of pieces for each area.

    Parameters
    ----------
    engine
        What they were made with.
    areas
        As `drawn_areas` gives them.
    """
    fields = tuple(ExportField(name, name, kind, meaning) for name, kind, meaning in _AREA_FIELDS)
    same = (engine.bound.as_of.isoformat(), rulebook_mark(engine), atlas_mark(engine))
    found = []
    for area in areas:
        rows = [
            (
                area.id, area.label, piece.kind, piece.outcome, piece.leans, piece.assumed, "; ".join(piece.clauses),
                "; ".join(piece.clause_ids), "; ".join(piece.citations), "; ".join(piece.causes),
                "; ".join(piece.waits_for), piece.mun_code, piece.municipality, round(piece.square_miles, 4), *same,
            )
            for piece in area.pieces
        ]  # fmt: skip
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
        geometries = np.empty(len(rows), dtype=object)
        geometries[:] = [piece.geometry for piece in area.pieces]
        values = {field.name: list(column) for field, column in zip(fields, columns, strict=True)}
        about = f"{area.summary} {area.citation}"
        # Files have tables of these names beside the areas.
        name = f"{area.id}_area" if area.id in _KEPT_NAMES else area.id
        found.append(ExportTable(name, area.label, about, fields, values, geometries, area_look(area.id), "municipal"))
    return found


def about_areas(engine: Engine) -> dict[str, str]:
    """Return what whoever opens a file of areas has to know of it, by headings."""
    return _made_with(engine) | {
        "drawing": f"Lines are drawn within {DRAWN_WITHIN_FT:g} ft of those that decide; answers are decided by "
        "distance, not by these polygons. They are drawn for a place without a size and without uncertainty, with no "
        "site fact stated; a parcel that a line cuts has to be asked about itself.",
        "caution": _CAUTION,
    }


def _made_with(engine: Engine) -> dict[str, str]:
    editions = "; ".join(
        f"{record.id} {record.edition or record.status}"
        for record in engine.layer_records
        if record.status != "missing"
    )
    missing = ", ".join(record.id for record in engine.layer_records if record.status == "missing")
    readings = "; ".join(f"{name}={option}" for name, option in sorted(engine.readings.items())) or "the defaults"
    return {
        "as of": engine.bound.as_of.isoformat(),
        "rulebook": f"{rulebook_mark(engine)}: {engine.rulebook.title}",
        "readings": readings,
        "layers": editions,
        "layers not loaded": missing or "none",
        **({"cautions": " ".join(cautions)} if (cautions := day_cautions(engine.bound, engine.atlas)) else {}),
    }


# -- sites ---------------------------------------------------------------------------------------------


def about_sites(engine: Engine, *, before: Sequence[tuple[str, str]] | None = None) -> dict[str, str]:
    """Return what whoever opens a file of determined sites has to know of it, by headings.

    Parameters
    ----------
    engine
        The question's engine.
    before
        For a table that was answered before, its marks as `answer_marks` gives them; None where this engine has just
        answered. Where marks are not this engine's, nothing is said of its day, its readings and its layers.
    """
    sites = {
        "sites": "Each site was determined by distance where it lies, with its own size, uncertainty and site facts, "
        "where the table states them; every row has its answer, or why there is none.",
        "caution": _CAUTION,
    }
    if before is None:
        return _made_with(engine) | sites
    if set(before) == {(rulebook_mark(engine), atlas_mark(engine))}:
        # The marks hold the rules, the day and the layers; of readings a table says nothing.
        return _made_with(engine) | {"readings": "as the table was answered with before, which it does not say"} | sites
    said = [f"rulebook mark {book or 'none'}, atlas mark {atlas or 'none'}" for book, atlas in before]
    more = f"; and with {len(said) - _MOST_MARKS:,} others" if len(said) > _MOST_MARKS else ""
    return {"as answered before": ("; ".join(said[:_MOST_MARKS]) or "no row has an answer") + more} | sites


def answer_marks(columns: Mapping[str, Sequence[Any]]) -> list[tuple[str, str]]:
    """Return the marks of rulebook and atlas that the rows of an answered table have, each pair once.

    Parameters
    ----------
    columns
        As for `site_tables`.
    """
    pairs = zip(_column(columns, "rulebook"), _column(columns, "atlas"), strict=True)
    texts = {tuple("" if mark is None else cell_text(mark) for mark in pair) for pair in pairs}
    return sorted((book, atlas) for book, atlas in texts if book or atlas)


def problems_in(columns: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield why rows of an answered table have no answer, each with its row's number once in front.

    Parameters
    ----------
    columns
        As for `site_tables`.
    """
    for row, problem in zip(_column(columns, "row"), _column(columns, "problem"), strict=True):
        if problem is not None:
            words = cell_text(problem)
            yield words if words.startswith("Row ") or row is None else f"Row {cell_text(row)}: {words}"


def site_tables(
    engine: Engine,
    columns: Mapping[str, Sequence[Any]],
    geometries: NDArray[np.object_],
    *,
    name: str = "sites",
    roles: Roles | None = None,
) -> list[ExportTable]:
    """Return determined sites as a table of points, a table of polygons, or both.

    Sites without a place are in the first one, without geometry.

    Parameters
    ----------
    engine
        What they were determined with.
    columns
        All columns of the answered table, n values each; those of the answers by the names of `answer_columns`, or
        with ``grownj_`` in front.
    geometries
        In EPSG:3424, shape (n,); None for sites without a place.
    name
        For files and layers.
    roles
        Which column of the table says what.
    """
    ready = list(export_columns(engine, columns, roles=roles))
    meanings = {column.name: column.meaning for column in ready}
    own = _free_name(_CLASS, meanings)
    names = [own, *meanings]
    kinds: list[Kind] = ["text", *(column.kind or _kind(column.values) for column in ready)]
    look_words = "how the site is drawn: its sure base amount, or its answer where the rulebook has no amounts"
    fields = tuple(
        ExportField(each, short, kind, look_words if each == own else meanings[each])
        for each, short, kind in zip(names, short_names(names), kinds, strict=True)
    )
    values = {own: _site_classes(engine, columns), **{column.name: column.values for column in ready}}
    plain = {field.name: _plain(values[field.name], field.type) for field in fields}
    types = shapely.get_type_id(geometries)
    placed = ~shapely.is_missing(geometries)
    point = np.isin(types, _POINTS)
    polygons = placed & ~point
    if not polygons.any():
        parts = [(name, "Sites", True, np.arange(len(geometries)))]
    elif not point.any():
        parts = [(name, "Sites", False, np.arange(len(geometries)))]
    else:
        parts = [
            (f"{name}_points", "Sites, points", True, np.flatnonzero(~polygons)),
            (f"{name}_polygons", "Sites, polygons", False, np.flatnonzero(polygons)),
        ]
    return [
        ExportTable(
            table,
            label,
            "Determined sites with their answers",
            fields,
            {key: [column[i] for i in rows.tolist()] for key, column in plain.items()},
            geometries[rows],
            site_look(engine, own, points=points),
            name_column(columns) or "",
        )
        for table, label, points, rows in parts
    ]


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    """Return a name that no other has, whatever the case: as it is, with a mark in front, then counted up."""
    known = {other.casefold() for other in taken}
    wanted = (name, f"grownj_{name}", *(f"grownj_{name}_{number}" for number in range(2, len(known) + 3)))
    return next(free for free in wanted if free not in known)


def _site_classes(engine: Engine, columns: Mapping[str, Sequence[Any]]) -> list[str]:
    first = next(c.id for c in engine.rulebook.categories if c.kind != "ground")
    tiers = any(not tier.project for tier in engine.rulebook.tiers)
    answers = _column(columns, first)
    if not tiers:
        return [_NO_ANSWER if answer is None else cell_text(answer) for answer in answers]
    floors = _column(columns, "base_floor")
    return [
        _NO_ANSWER if answer is None else _NO_AMOUNT if floor is None or floor == "" else cell_text(_number(floor))
        for answer, floor in zip(answers, floors, strict=True)
    ]


def _column(columns: Mapping[str, Sequence[Any]], name: str) -> Sequence[Any]:
    """Return a column of the answers, under its own name or, where the table had that name, the longer one."""
    found = columns.get(f"grownj_{name}", columns.get(name))
    return [None] * len(next(iter(columns.values()))) if found is None else [x if x != "" else None for x in found]


def _number(value: Any) -> Any:  # noqa: ANN401 - of many kinds
    return float(value) if isinstance(value, str) else value


def _kind(values: Sequence[Any]) -> Kind:
    """Return what a column holds, from its values."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "integer" if all(abs(v) < 2**31 for v in values if v is not None) else "number"
    return "number" if kinds and kinds <= {int, float} else "text"


def _plain(values: Sequence[Any], kind: Kind) -> list[Any]:
    if kind == "text":
        return [None if value is None else cell_text(value).replace("\0", "\ufffd") for value in values]
    return [None if value is None or value != value else value for value in values]  # noqa: PLR0124 - not a number
