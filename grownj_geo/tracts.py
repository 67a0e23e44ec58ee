"""Census tracts with their poverty rate: boundaries of one vintage joined to one edition of the survey.

A poverty table fits the tracts that it was published for and no others: the 2020 tracts have other lines and other
numbers than the 2010 ones, and a join of both would give most tracts the rate of somewhere else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grownj_geo.crs import plain_text
from grownj_geo.features import Change, Features
from grownj_geo.layercheck import is_blank
from grownj_geo.poverty import RATE
from grownj_geo.surveys import edition_vintage, year_vintage
from grownj_geo.tractids import ID_FIELDS, STATE, is_water, read_ids, refuse, tract_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grownj_geo.poverty import PovertyTable

__all__ = ["join_poverty"]

# The first that is there counts.
_NAME_FIELDS = ("NAMELSAD", "NAMELSAD10", "NAMELSAD20", "NAME")
_YEAR_IN_NAME = re.compile(r"(?:(?:cb|tl)_?|tigerWMS_(?:ACS|Census))(?P<year>20\d\d)", re.IGNORECASE)
_MOST_NAMED = 10


def _named(ids: Iterable[str]) -> str:
    found = sorted(ids)
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return ", ".join(found[:_MOST_NAMED]) + more


def _vintage_of(tracts: Features, names: Mapping[str, str], given: str | None) -> str:
    """Return the vintage of boundaries by what is said of them; a contradiction is refused."""
    said: dict[str, str] = {}
    for name, vintage in ID_FIELDS.items():
        if vintage and name in names:
            said[f"the field {names[name]}"] = vintage
    if "TRACT_VINTAGE" in names:
        for value in {str(v).strip() for v in tracts.columns[names["TRACT_VINTAGE"]] if not is_blank(v)}:
            said[f"the field {names['TRACT_VINTAGE']}, {value!r},"] = value
    found = _YEAR_IN_NAME.search(tracts.source)
    if found is not None and not said:
        said[f"the name {found[0]!r}"] = year_vintage(int(found["year"]))
    if given is not None:
        said["the vintage that was given"] = given
    shown = "; ".join(f"{what} says {vintage}" for what, vintage in said.items())
    if len(set(said.values())) > 1:
        remedy = "Expected one vintage; give boundaries of one, or the one that holds."
        raise refuse("mixed_vintage", tracts.source, [shown], remedy)
    vintage = next(iter(said.values()), None)
    if vintage not in {"2010", "2020"}:
        raise refuse(
            "unknown_vintage",
            tracts.source,
            [shown or "nothing in its fields or its name says of which census the tracts are"],
            "Expected the tracts of 2010 or 2020; say which they are.",
        )
    return vintage


def join_poverty(tracts: Features, poverty: PovertyTable, *, edition: str, vintage: str | None = None) -> Features:
    """Give tract boundaries the poverty rate of one edition.

    Parameters
    ----------
    tracts
        Boundaries with `GEOID` (or `GEOID10`, `GEOID20`).
    poverty
        The rates.
    edition
        The survey's five-year edition, such as ``"2011-2015"``.
    vintage
        ``"2010"`` or ``"2020"``, where neither field nor name of the boundaries says it.

    Returns
    -------
    Features
        The same geometries in the same order, with the fields of the layer `census_tract_poverty`. Water tracts that
        the table does not have, and tracts without persons whose poverty is known, have no rate.

    Raises
    ------
    LayerFault
        ``bad_edition``; ``edition_contradicted`` where the table says another; ``unknown_vintage``;
        ``mixed_vintage`` where boundaries and edition are on different tracts, as they say or as their ids show;
        ``unmatched_tracts`` where either side lacks some; ``missing_columns``, ``bad_tract_id``, ``duplicate_tract``.
    """
    expected = edition_vintage(edition)
    edition = plain_text(edition)
    if poverty.edition is not None and poverty.edition != edition:
        raise refuse(
            "edition_contradicted",
            poverty.source,
            [f"it is the edition {poverty.edition}, and {edition} was named"],
            "Name the edition of the table.",
        )
    names = {name.upper(): name for name in tracts.columns}
    field = next((name for name in ID_FIELDS if name in names), None)
    if field is None:
        raise refuse(
            "missing_columns",
            tracts.source,
            [f"it has {', '.join(tracts.columns)}"],
            "Expected the tracts' ids in GEOID, GEOID10 or GEOID20; is it a layer of tracts?",
        )
    found = _vintage_of(tracts, names, vintage)
    if found != expected or poverty.vintage not in {None, expected}:
        on = f", and the table {poverty.source} is on the tracts of {poverty.vintage}" if poverty.vintage else ""
        raise refuse(
            "mixed_vintage",
            tracts.source,
            [f"the tracts are those of {found}{on}; the edition {edition} is published for those of {expected}"],
            f"Give the tracts of {expected}, or an edition on the tracts of {found}.",
        )
    ids, changes = read_ids(tracts.columns[names[field]], tracts.source, kind=names[field])
    keep = [i for i, geoid in enumerate(ids) if geoid.startswith(STATE)]
    if len(keep) < len(ids):
        rows = [i + 1 for i, geoid in enumerate(ids) if not geoid.startswith(STATE)]
        words = f"{len(rows):,} tracts of other States were left out."
        changes.append(Change.about("other_states", "left_out", rows, words))
    changes += _compare(tracts, poverty, [ids[i] for i in keep], edition=edition, vintage=found)
    given = next((tracts.columns[names[name]] for name in _NAME_FIELDS if name in names), None)
    labels = [_label(None if given is None else given[i], ids[i]) for i in keep]
    return Features(
        source=f"{tracts.source}, with the poverty of {poverty.source}",
        columns={
            "GEOID": [ids[i] for i in keep],
            "NAMELSAD": labels,
            RATE: [poverty.rates.get(ids[i], "") for i in keep],
            "ACS_EDITION": [edition] * len(keep),
            "TRACT_VINTAGE": [found] * len(keep),
        },
        geometries=tracts.geometries[keep],
        crs=tracts.crs,
        changes=(*tracts.changes, *poverty.changes, *changes),
        added_accuracy_ft=tracts.added_accuracy_ft,
    )


def _label(given: Any, geoid: str) -> str:  # noqa: ANN401 - whatever the boundaries hold
    """Return a tract's name; the bare number that some files give is not one."""
    text = "" if is_blank(given) else str(given).strip()
    return text if any(c.isalpha() for c in text) else tract_name(geoid)


def _compare(
    tracts: Features, poverty: PovertyTable, ids: Sequence[str], *, edition: str, vintage: str
) -> list[Change]:
    """Refuse boundaries and rates that are not of the same tracts."""
    first: dict[str, int] = {}
    twice = []
    for row, geoid in enumerate(ids, start=1):
        if geoid in first:
            twice.append(f"{geoid} stands twice")
        first.setdefault(geoid, row)
    if twice:
        raise refuse("duplicate_tract", tracts.source, twice, "Expected each tract once; remove one.")
    without = {geoid for geoid in first if geoid not in poverty.rates}
    unused = {geoid for geoid in poverty.rates if geoid not in first}
    dry_without = {geoid for geoid in without if not is_water(geoid)}
    dry_unused = {geoid for geoid in unused if not is_water(geoid)}
    if dry_without or dry_unused:
        problems = []
        if dry_without:
            problems.append(
                f"{len(dry_without):,} of {len(first):,} tracts are not in the table ({_named(dry_without)})"
            )
        if dry_unused:
            problems.append(f"{len(dry_unused):,} rows of {len(poverty):,} have no tract ({_named(dry_unused)})")
        # Numbers that only one side has, on both sides, are what another census leaves behind.
        mixed = bool(dry_without and dry_unused)
        raise refuse(
            "mixed_vintage" if mixed else "unmatched_tracts",
            f"{tracts.source} and {poverty.source}",
            problems,
            f"Expected a row for each tract of {vintage} and a tract for each row of the edition {edition}; "
            + ("one of the two looks like another census's tracts." if mixed else "one of the two is not whole."),
        )
    if not without:
        return []
    words = f"{len(without)} water tracts have no row in the table and no rate."
    return [Change.about("water_tracts", "noted", [first[geoid] for geoid in sorted(without)], words)]
