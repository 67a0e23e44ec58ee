"""What features have to do with one another: the same twice, the same ground in two classes, one key twice."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from grownj_geo.fieldmap import fields_of
from grownj_geo.fieldvalues import as_text
from grownj_geo.findings import rows_in_words
from grownj_geo.layercheck import read_day
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from grownj_geo.findings import Findings
    from grownj_geo.manifest import Manifest

__all__ = ["check_keys", "classes_of", "drop_duplicates", "note_overlaps"]

_MOST_PAIRS = 5_000
_MOST_VERTICES = 20_000_000
"""Bounds of the work on overlaps: what is beyond is told as not looked at."""
_LEAST_OVERLAP_SQFT = 1.0
"""Less is the rounding of coordinates along a line that two features share."""


def classes_of(columns: Mapping[str, Sequence[Any]], manifest: Manifest, *, needed: bool) -> list[tuple[str, ...]]:
    """Return each feature's classes: what the values of its coded fields mean; empty where the manifest codes none.

    Parameters
    ----------
    columns
        Under the manifest's names, each of n values.
    manifest
        What the values mean.
    needed
        Look at the fields only that a layer has to have.
    """
    n = len(next(iter(columns.values()), ()))
    coded = [
        field
        for field in manifest.fields.values()
        if field.values
        and field.source_field in columns
        and (field.source_field in manifest.required_fields or not needed)
    ]
    return [
        tuple(field.values.get(text := as_text(columns[field.source_field][row]), text) for field in coded)
        for row in range(n)
    ]


def _same_ground(shapes: NDArray[Any]) -> list[list[int]]:
    """Return the indices of features that have one geometry, wherever their rings begin."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    # Equal geometries have equal boxes: only those are brought into a normal form, which is slow.
    boxes: dict[bytes, list[int]] = defaultdict(list)
    for index, box in enumerate(np.ascontiguousarray(shapely.bounds(shapes))):
        boxes[box.tobytes()].append(index)
    for alike in boxes.values():
        if len(alike) > 1:
            normal = shapely.to_wkb(shapely.normalize(shapes[alike]))
            for index, content in zip(alike, normal, strict=True):
                groups[content].append(index)
    return [group for group in groups.values() if len(group) > 1]


def drop_duplicates(
    shapes: NDArray[Any],
    columns: Mapping[str, Sequence[Any]],
    rows: NDArray[np.int64],
    manifest: Manifest,
    found: Findings,
) -> NDArray[np.bool_]:
    """Return which features to keep: of those that are the same in geometry and in the manifest's fields, the first.

    Fields that the manifest does not name, such as the source's row numbers, are not compared.

    Parameters
    ----------
    shapes
        In EPSG:3424, shape (n,).
    columns
        Under the manifest's names, each of n values.
    rows
        Which features they are, counted from 0 as the source has them, shape (n,).
    manifest
        What the layer is.
    found
        Takes the changes ``"duplicates"`` (left out) and ``"same_ground"`` (noted), and the fault
        ``"conflicting_duplicates"``: the same ground, at the same time, in two classes of a field that the layer has to
        have. Points are no ground: two kinds of station may share one.

    Raises
    ------
    LayerFault
        For conflicting duplicates, all at once.
    """
    keep = np.ones(len(shapes), dtype=bool)
    fields = [name for name in fields_of(manifest) if name in columns]
    needed = classes_of(columns, manifest, needed=True)
    conflicts: list[tuple[int, int]] = []
    same: set[int] = set()
    for group in _same_ground(shapes):
        first: dict[tuple[str, ...], int] = {}
        for index in group:
            content = tuple(as_text(columns[name][index]).strip() for name in fields)
            if first.setdefault(content, index) != index:
                keep[index] = False
        for a, b in combinations(first.values(), 2):
            if manifest.kind != "point" and needed[a] != needed[b] and _meet_in_time(columns, manifest, a, b):
                conflicts.append((a, b))
            elif manifest.kind != "point":
                same |= {a, b}
    if conflicts:
        listed = "; ".join(
            f"rows {rows[a] + 1} and {rows[b] + 1} ({'/'.join(needed[a])} and {'/'.join(needed[b])})"
            for a, b in conflicts[:10]
        )
        found.fault(
            "conflicting_duplicates",
            f"the same ground is in two classes {len(conflicts)} times: {listed}. Remove the wrong features",
        )
    left = np.flatnonzero(~keep)
    if len(left):
        words = f"{len(left)} features are the same as an earlier one, in geometry and fields, and are left out."
        found.tell("duplicates", "left_out", rows[left], words)
    if same:
        words = "Features have the same geometry and differ in their fields."
        found.tell("same_ground", "noted", rows[sorted(same)], words)
    found.stop()
    return keep


def _period(columns: Mapping[str, Sequence[Any]], manifest: Manifest, row: int) -> tuple[date | None, date | None]:
    begun, ended = manifest.from_field, manifest.until_field
    return (
        None if begun is None else read_day(columns[begun][row]),
        None if ended is None else read_day(columns[ended][row]),
    )


def _meet_in_time(columns: Mapping[str, Sequence[Any]], manifest: Manifest, a: int, b: int) -> bool:
    """Return whether two features may hold on one day; one without a day holds always."""
    (begun_a, ended_a), (begun_b, ended_b) = _period(columns, manifest, a), _period(columns, manifest, b)
    return (ended_a is None or begun_b is None or begun_b < ended_a) and (
        ended_b is None or begun_a is None or begun_a < ended_b
    )


def check_keys(
    columns: Mapping[str, Sequence[Any]], rows: NDArray[np.int64], manifest: Manifest, found: Findings
) -> None:
    """Refuse features without a key, and different features with one key.

    Rows with one key whose fields of the manifest are all the same are parts of one feature, as some exports write
    them; for polygons and lines they are noted. In a layer of bounds the key and the bound together are the key.

    Parameters
    ----------
    columns
        Under the manifest's names, each of n values.
    rows
        Which features they are, counted from 0 as the source has them, shape (n,).
    manifest
        What the layer is.
    found
        Takes the change ``"key_in_parts"`` and the faults ``"blank_key"`` and ``"duplicate_key"``.

    Raises
    ------
    LayerFault
        All faults at once.
    """
    if manifest.key_field is None:
        return
    names = [manifest.key_field, *([manifest.bound_field] if manifest.bound_field else [])]
    by_key: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index in range(len(rows)):
        by_key[tuple(as_text(columns[name][index]).strip() for name in names)].append(index)
    blank = [index for key, listed in by_key.items() if not key[0] for index in listed]
    if blank:
        found.fault(
            "blank_key", f"{manifest.key_field} is blank in {rows_in_words(rows[sorted(blank)])}. Write the key there"
        )
    fields = [name for name in fields_of(manifest) if name in columns]
    parts: list[int] = []
    twice: list[str] = []
    for key, listed in by_key.items():
        if len(listed) == 1 or not key[0]:
            continue
        contents = {tuple(as_text(columns[name][index]).strip() for name in fields) for index in listed}
        if len(contents) == 1 and manifest.kind in {"polygon", "line"} and manifest.bound_field is None:
            parts += listed
        else:
            twice.append(f"{'/'.join(key)!r} in {rows_in_words(rows[listed])}")
    if twice:
        more = f" and {len(twice) - 10} more" if len(twice) > 10 else ""  # noqa: PLR2004 - as many as are read
        found.fault(
            "duplicate_key",
            f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} the same in features that differ: "
            f"{'; '.join(twice[:10])}{more}. Each feature needs a key of its own",
        )
    if parts:
        words = f"Rows with one {manifest.key_field} and the same fields are parts of one feature."
        found.tell("key_in_parts", "noted", rows[sorted(parts)], words)
    found.stop()


def note_overlaps(
    shapes: NDArray[Any],
    columns: Mapping[str, Sequence[Any]],
    rows: NDArray[np.int64],
    manifest: Manifest,
    found: Findings,
) -> None:
    """Tell of ground that lies in two classes at once, as change ``"overlaps"``.

    The work is bounded: in a badly torn layer the pairs beyond are told as ``"overlaps_not_looked_at"``.

    Parameters
    ----------
    shapes
        Valid polygons in EPSG:3424, shape (n,).
    columns
        Under the manifest's names, each of n values.
    rows
        Which features they are, counted from 0 as the source has them, shape (n,).
    manifest
        What the layer is.
    found
        Takes the changes.
    """
    classes = classes_of(columns, manifest, needed=False)
    if len(set(classes)) <= 1:
        return
    pairs = _pairs(shapes, classes)
    pairs = [(a, b) for a, b in pairs if _meet_in_time(columns, manifest, a, b)]
    counts = shapely.get_num_coordinates(shapes)
    budget = np.cumsum([counts[a] + counts[b] for a, b in pairs]) <= _MOST_VERTICES
    looked = min(_MOST_PAIRS, int(budget.sum()))
    meant = pairs[:looked]
    if meant:
        first, second = (np.array(side) for side in zip(*meant, strict=True))
        areas = shapely.area(shapely.intersection(shapes[first], shapes[second]))
        over = np.flatnonzero(areas > _LEAST_OVERLAP_SQFT)
        if len(over):
            worst = int(over[np.argmax(areas[over])])
            a, b = meant[worst]
            if manifest.classes_exclude:
                _refuse_wide(shapes, [meant[i] for i in over], rows, manifest, found)
            found.tell(
                "overlaps",
                "noted",
                rows[np.unique([first[over], second[over]])],
                f"{len(over)} pairs of features of different classes overlap, {areas[over].sum():,.0f} square feet in "
                f"all; most rows {rows[a] + 1} and {rows[b] + 1} with {areas[worst]:,.0f}. A site there lies in both.",
            )
    if looked < len(pairs):
        words = f"{len(pairs) - looked:,} pairs of neighbours were not looked at for overlaps: too many of them differ."
        found.tell("overlaps_not_looked_at", "noted", (), words)


def _refuse_wide(
    shapes: NDArray[Any],
    pairs: Sequence[tuple[int, int]],
    rows: NDArray[np.int64],
    manifest: Manifest,
    found: Findings,
) -> None:
    """Refuse classes that exclude each other on ground wider than the lines are unsure of."""
    wide = []
    for a, b in pairs:
        both = shapely.intersection(shapes[a], shapes[b])
        if not shapely.is_empty(shapely.buffer(both, -(manifest.accuracy_ft or 0.0) / FT_PER_FTUS)):
            wide.append(f"rows {rows[a] + 1} and {rows[b] + 1} ({shapely.area(both):,.0f} square feet)")
    if wide:
        more = f" and {len(wide) - 10} more" if len(wide) > 10 else ""  # noqa: PLR2004 - as many as are read
        raise found.refuse(
            "overlapping_classes",
            f"ground lies in two classes of which it can only be in one: {'; '.join(wide[:10])}{more}. Which of them "
            "holds has to be settled by the publisher, or by whoever draws the layer",
        )


def _pairs(shapes: NDArray[Any], classes: list[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Return pairs of different classes that may overlap, each once."""
    # In a clean coverage neighbours share every vertex. What does not is found in one fast pass, and only its pairs
    # have to be cut with one another. Of two nested polygons the inner one is among those found.
    torn = np.flatnonzero(~shapely.is_empty(shapely.coverage_invalid_edges(shapes)))
    if not len(torn):
        return []
    tree = shapely.STRtree(shapes)
    left, right = tree.query(shapes[torn])
    pairs = {(min(a, b), max(a, b)) for a, b in zip(torn[left].tolist(), right.tolist(), strict=True) if a != b}
    return sorted(pair for pair in pairs if classes[pair[0]] != classes[pair[1]])
