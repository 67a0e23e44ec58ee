"""What changed between two editions of a layer: features added, removed, moved or given another class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import shapely
from pydantic import Field

from grownj_geo.errors import LayerError
from grownj_geo.fieldmap import fields_of
from grownj_geo.layercheck import is_blank
from grownj_geo.strict import Strict
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine
    from grownj_geo.layer import Layer
    from grownj_geo.site import Site

    Shapes = NDArray[np.object_]

__all__ = ["FeatureChange", "LayerDiff", "SiteChange", "changed_sites", "diff_layers"]

_SQFT_PER_SQFTUS = FT_PER_FTUS**2
# Two features are one that moved where they share at least this part of all that either covers.
_LEAST_COMMON = 0.5
_NOISE_FT = 0.05


class FeatureChange(Strict):
    """One feature that is not the same in both editions.

    Attributes
    ----------
    old_row, new_row
        Rows in the two editions, counted from 1; None where it is in one only.
    gained_sqft, lost_sqft
        Ground of the new shape that the old one did not cover, and the other way round; for a point, 0.
    moved_ft
        For a point, how far it moved.
    fields
        By field: its old and its new value.
    """

    kind: Literal["added", "removed", "moved", "reclassified", "moved and reclassified"]
    name: str
    old_row: int | None = None
    new_row: int | None = None
    gained_sqft: float = 0.0
    lost_sqft: float = 0.0
    moved_ft: float = 0.0
    fields: dict[str, tuple[str, str]] = Field(default_factory=dict)

    @property
    def words(self) -> str:
        """The change in a line for people."""
        parts = []
        if self.kind in {"added", "removed"} or self.gained_sqft or self.lost_sqft:
            parts.append(f"{self.gained_sqft:,.0f} sq ft gained, {self.lost_sqft:,.0f} lost")
        if self.moved_ft:
            parts.append(f"{self.moved_ft:,.1f} ft")
        parts += [f"{field}: {old or 'nothing'} -> {new or 'nothing'}" for field, (old, new) in self.fields.items()]
        detail = f" ({'; '.join(parts)})" if parts else ""
        return f"{self.kind}: {self.name}{detail}"


class LayerDiff(Strict):
    """What changed between two editions of one layer; areas in square feet."""

    layer: str
    old: str
    new: str
    old_features: int
    new_features: int
    same: int
    gained_sqft: float
    lost_sqft: float
    changes: tuple[FeatureChange, ...]

    def count(self, kind: str) -> int:
        """Return how many features changed in one way; one that moved and was reclassified counts for both."""
        return sum(kind in change.kind.split(" and ") for change in self.changes)


class SiteChange(Strict):
    """A site of which some findings come out otherwise: by category, its old and its new outcome."""

    site: str
    outcomes: dict[str, tuple[str, str]]


def diff_layers(old: Layer, new: Layer, *, old_name: str = "old", new_name: str = "new") -> LayerDiff:
    """Return what changed between two editions.

    Features with a key belong together by their key. Others belong together where they are the same, else where
    they share most of their ground, or, for points and rows without a place, their name.

    Parameters
    ----------
    old, new
        Two editions of one layer, in EPSG:3424.

    Raises
    ------
    LayerError
        If they are editions of two layers.
    """
    if old.id != new.id:
        raise LayerError(f"{old_name} is an edition of {old.id} and {new_name} one of {new.id}. Give two of one layer.")
    pairs, removed, added = _pair(old, new)
    changes = [change for i, j in pairs if (change := _changed(old, new, i, j)) is not None]
    same = len(pairs) - len(changes)
    changes += [_single(old, i, "removed") for i in removed] + [_single(new, j, "added") for j in added]
    return LayerDiff(
        layer=old.id,
        old=old_name,
        new=new_name,
        old_features=len(old),
        new_features=len(new),
        same=same,
        gained_sqft=sum(change.gained_sqft for change in changes),
        lost_sqft=sum(change.lost_sqft for change in changes),
        changes=tuple(changes),
    )


def changed_sites(before: Engine, after: Engine, sites: Sequence[Site]) -> tuple[SiteChange, ...]:
    """Return the sites whose findings differ between two engines: two editions, or two days.

    Raises
    ------
    OutsideNewJerseyError, SiteError
        For a site that cannot be determined.
    """
    found = []
    for site in sites:
        was, now = before.run(site), after.run(site)
        outcomes = {
            category.id: (_WORDS[was.category(category.id).first], _WORDS[now.category(category.id).first])
            for category in before.rulebook.categories
            if category.kind != "ground" and was.category(category.id).first != now.category(category.id).first
        }
        if outcomes:
            found.append(SiteChange(site=site.typed, outcomes=outcomes))
    return tuple(found)


_WORDS = {1: "yes", 0: "undetermined", -1: "no"}


def _pair(old: Layer, new: Layer) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Return which features belong together, and those that are in one edition only.

    What is the same comes first; then what has the same key, where only one is left of it; then what shares most of
    its ground, of features with one key before others.
    """
    left, right = set(range(len(old))), set(range(len(new)))
    pairs: list[tuple[int, int]] = []

    def take(found: Iterable[tuple[int, int]]) -> None:
        for i, j in found:
            pairs.append((i, j))
            left.remove(i)
            right.remove(j)

    take(_matches(_by_content(old), _by_content(new)))
    if old.manifest.key_field not in {None, old.manifest.bound_field}:
        by_key = [_groups(layer, sorted(rows)) for layer, rows in ((old, left), (new, right))]
        for key, ours in by_key[0].items():
            theirs = by_key[1].get(key, [])
            one = len(ours) == len(theirs) == 1
            take([(ours[0], theirs[0])] if one else _closest(old, new, ours, theirs))
    take(_closest(old, new, sorted(left), sorted(right)))
    return sorted(pairs), sorted(left), sorted(right)


def _groups(layer: Layer, rows: Sequence[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(layer.key(row), []).append(row)
    return found


def _closest(old: Layer, new: Layer, left: Sequence[int], right: Sequence[int]) -> list[tuple[int, int]]:
    """Return pairs of features that share most of their ground, or, without ground, their name."""
    if old.manifest.kind in {"polygon", "line"}:
        return list(_most_common(old, new, left, right))
    matches = _matches([old.name(i) for i in left], [new.name(j) for j in right])
    return [(left[a], right[b]) for a, b in matches]


def _matches(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal values, each position once, in order."""
    places: dict[Hashable, list[int]] = {}
    for j, value in enumerate(new):
        places.setdefault(value, []).append(j)
    for i, value in enumerate(old):
        waiting = places.get(value)
        if waiting:
            yield i, waiting.pop(0)


def _by_content(layer: Layer) -> list[Hashable]:
    shapes = _shapes(layer, range(len(layer)))
    return [
        (None if shape is None else shapely.to_wkb(shapely.normalize(shape)), tuple(sorted(_values(layer, i).items())))
        for i, shape in enumerate(shapes)
    ]


def _shapes(layer: Layer, indices: Sequence[int]) -> list[shapely.Geometry | None]:
    if layer.manifest.kind == "table":
        return [None] * len(indices)
    if layer.manifest.kind == "point":
        return [layer.points[i] for i in indices]
    return [layer.geometry(i) for i in indices]


def _values(layer: Layer, index: int) -> dict[str, str]:
    """Return the fields that the manifest names: row numbers and the publisher's own sums change with every export."""
    return {name: _text(layer.columns[name][index]) for name in fields_of(layer.manifest) if name in layer.columns}


def _text(value: Any) -> str:  # noqa: ANN401 - attributes of any kind
    return "" if is_blank(value) else str(value)


def _most_common(old: Layer, new: Layer, left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of features that share most of their ground, those that share most first."""
    if not left or not right:
        return
    ours, theirs = np.array(_shapes(old, left), dtype=object), np.array(_shapes(new, right), dtype=object)
    a, b = shapely.STRtree(theirs).query(ours, predicate="intersects")
    measure = shapely.area if old.manifest.kind == "polygon" else shapely.length
    common = measure(shapely.intersection(ours[a], theirs[b]))
    every = measure(ours[a]) + measure(theirs[b]) - common
    share = np.divide(common, every, out=np.zeros_like(common), where=every > 0)
    taken_left, taken_right = set(), set()
    for n in np.argsort(-share, kind="stable"):
        i, j = int(a[n]), int(b[n])
        if share[n] >= _LEAST_COMMON and i not in taken_left and j not in taken_right:
            taken_left.add(i)
            taken_right.add(j)
            yield left[i], right[j]


def _changed(old: Layer, new: Layer, i: int, j: int) -> FeatureChange | None:
    was, now = _values(old, i), _values(new, j)
    fields = {
        name: (was.get(name, ""), now.get(name, ""))
        for name in dict.fromkeys((*was, *now))
        if was.get(name, "") != now.get(name, "")
    }
    gained = lost = moved = 0.0
    (before,), (after,) = _shapes(old, [i]), _shapes(new, [j])
    has_moved = before is not None and after is not None and _has_moved(before, after)
    if has_moved and old.manifest.kind == "polygon":
        gained = float(shapely.area(shapely.difference(after, before))) * _SQFT_PER_SQFTUS
        lost = float(shapely.area(shapely.difference(before, after))) * _SQFT_PER_SQFTUS
    elif has_moved:
        moved = _farthest_ft(before, after)
    if not fields and not has_moved:
        return None
    kind: Any = " and ".join(["moved"] * has_moved + ["reclassified"] * bool(fields))
    name = new.name(j) or new.key(j)
    return FeatureChange(
        kind=kind,
        name=name,
        old_row=i + 1,
        new_row=j + 1,
        gained_sqft=gained,
        lost_sqft=lost,
        moved_ft=moved,
        fields=fields,
    )


def _has_moved(before: shapely.Geometry, after: shapely.Geometry) -> bool:
    """Return whether a line moved by more than projecting back and forth explains."""
    if shapely.equals_exact(before, after, normalize=True):
        return False
    return _farthest_ft(before, after) > _NOISE_FT


def _farthest_ft(before: shapely.Geometry, after: shapely.Geometry) -> float:
    """Return how far any vertex of one of two shapes is from the other's line."""
    return max(_one_way(before, after), _one_way(after, before)) * FT_PER_FTUS


def _one_way(vertices: shapely.Geometry, line: shapely.Geometry) -> float:
    points = shapely.points(shapely.get_coordinates(vertices))
    if shapely.get_dimensions(line) == 0:
        return float(shapely.distance(points, line).max())
    # By a tree of sides: shapely's own Hausdorff distance compares every vertex with every side.
    sides = _sides(line)
    nearest = shapely.STRtree(sides).nearest(points)
    return float(shapely.distance(points, sides[nearest]).max())


def _sides(shape: shapely.Geometry) -> Shapes:
    parts = shapely.get_parts(shape)
    lines = shapely.get_rings(parts) if shapely.get_dimensions(shape) == 2 else parts  # noqa: PLR2004 - polygons
    coordinates, line = shapely.get_coordinates(lines, return_index=True)
    along = line[1:] == line[:-1]
    ends = np.stack([coordinates[:-1][along], coordinates[1:][along]], axis=1)
    return np.asarray(shapely.linestrings(ends), dtype=object)


def _single(layer: Layer, index: int, kind: Literal["added", "removed"]) -> FeatureChange:
    (shape,) = _shapes(layer, [index])
    area = 0.0 if shape is None else float(shapely.area(shape)) * _SQFT_PER_SQFTUS
    return FeatureChange(
        kind=kind,
        name=layer.name(index) or layer.key(index),
        old_row=index + 1 if kind == "removed" else None,
        new_row=index + 1 if kind == "added" else None,
        gained_sqft=area if kind == "added" else 0.0,
        lost_sqft=area if kind == "removed" else 0.0,
    )
