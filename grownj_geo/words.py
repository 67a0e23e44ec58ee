"""Figures, places, lists and selections in words: what a clause asked, and what is there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import shapely

from grownj_geo.designations import Listing, deciding_listings, load_lists, on_list
from grownj_geo.layer import EXACT, INNER, OUTER
from grownj_geo.logic import Cause, Outcome
from grownj_geo.observe import MARGIN_LIMIT_FT, Distance
from grownj_geo.outcomes import SLIVER_SQFT
from grownj_geo.place import PlacementKind
from grownj_geo.units import FT_PER_FTUS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from grownj_geo.binding import BoundRulebook
    from grownj_geo.layer import Layer
    from grownj_geo.leaves import Leaves
    from grownj_geo.nodes import DesignatedNode, Ratio, Where, Within
    from grownj_geo.site import FactValue

__all__ = [
    "asked_words",
    "count_words",
    "counted_words",
    "coverage_words",
    "distance_words",
    "feature_named",
    "feet",
    "field_words",
    "here_words",
    "joined",
    "lacking_figure",
    "lengths",
    "list_words",
    "margin_words",
    "noun_of",
    "other_features",
    "own_distance",
    "percent",
    "place_words",
    "ratio_words",
    "stated_words",
]

_BOOLEANS = {"yes", "no", "true", "false"}
_NO_CLASS = {"", "none", "other"}
_MOST_HERE = 3
_HALF_MILE_FT = 2640.0
_SHARE_DIGITS = 12


def feet(value: float) -> str:
    """Return a distance as people read it: feet below half a mile, miles beyond.

    Examples
    --------
    >>> feet(412.3), feet(5280), feet(26400), feet(-0.3)
    ('412 ft', '1.00 mile', '5.00 miles', '0 ft')
    """
    if abs(value) < _HALF_MILE_FT:
        return f"{value:z,.0f} ft"
    miles = f"{value / 5280:,.2f}"
    return f"{miles} mile" if miles == "1.00" else f"{miles} miles"


def counted_words(count: int, one: str, many: str | None = None) -> str:
    """Return a count with what is counted.

    Examples
    --------
    >>> counted_words(1, "site"), counted_words(1_200, "site"), counted_words(2, "site is", "sites are")
    ('1 site', '1,200 sites', '2 sites are')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def margin_words(outcome: str, margin_ft: float) -> str:
    """Return on which side of the line that decides a site is, and how far from it.

    "cleared" and "missed" are said of what is decided; of an undetermined finding the side is only computed.

    Examples
    --------
    >>> margin_words("yes", 39.2), margin_words("no", -5280), margin_words("undetermined", -3)
    ('cleared by 39 ft', 'missed by 1.00 mile', 'computed: outside by 3 ft')
    """
    away = feet(abs(margin_ft))
    if outcome == "undetermined":
        return f"computed: {'inside' if margin_ft >= 0 else 'outside'} by {away}"
    return f"{'cleared' if margin_ft >= 0 else 'missed'} by {away}"


def lengths(*values: float) -> list[str]:
    """Return distances that stand in one sentence: those that differ never read the same.

    Examples
    --------
    >>> lengths(2650.0, 2640.0, 26400.0)
    ['2,650 ft', '2,640 ft', '5.00 miles']
    """
    texts = [feet(value) for value in values]
    if len(set(texts)) == len(set(values)) and not any(abs(abs(value) - _HALF_MILE_FT) < 1 for value in values):
        # Only around half a mile can feet and miles be rounded to the same feet.
        return texts
    read_as = {value: {feet(value), f"{value:z,.0f} ft"} for value in values if math.isfinite(value)}
    found = []
    for value in values:
        text = feet(value)
        others = [forms for other, forms in read_as.items() if other != value] if value in read_as else []
        for finer in (f"{value:z,.0f} ft", f"{value:z,.2f} ft"):
            if any(text in forms for forms in others):
                text = finer
        found.append(text)
    return found


def percent(share: float) -> str:
    """Return a share in percent; a part is never shown as nothing or as the whole.

    Examples
    --------
    >>> percent(0.123), percent(0.00004), percent(0.99996), percent(1.0)
    ('12.3 %', '0.004 %', '99.996 %', '100.0 %')
    """
    text = f"{100 * share:.1f}"
    if 0 < share < 1:
        for digits in range(1, _SHARE_DIGITS):
            text = f"{100 * share:.{digits}f}"
            if 0 < float(text) < 100:  # noqa: PLR2004 - percent
                break
    return f"{text} %"


def joined(words: Iterable[str], last: str = "or") -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> joined(["PA1", "PA2", "PA3"]), joined(["one"]), joined(["A", "B"], "and")
    ('PA1, PA2 or PA3', 'one', 'A and B')
    """
    *some, end = words
    return f"{', '.join(some)} {last} {end}" if some else end


def field_words(name: str) -> str:
    """Return a field's name as words; the mark of a count at its end is left out.

    Examples
    --------
    >>> field_words("planning_area"), field_words("njt_rail_lines_n")
    ('planning area', 'njt rail lines')
    """
    return name.removesuffix("_n").replace("_", " ")


def noun_of(layer_id: str) -> str:
    """Return what one feature of a layer is, from the last word of the layer's id.

    Examples
    --------
    >>> noun_of("transit_stations"), noun_of("planning_areas"), noun_of("census_tract_poverty")
    ('station', 'area', 'feature')
    """
    last = layer_id.rpartition("_")[2]
    return last[:-1] if last.endswith("s") else "feature"


def stated_words(value: FactValue) -> str:
    """Return a stated fact's value as it would be typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


def place_words(leaves: Leaves) -> str:
    """Return the site's municipality in words."""
    place = leaves.placement
    names = [leaves.membership.name(code) for code in place.codes_of(0)]
    if not names:
        return "municipality not known"
    kind = place.kinds[0]
    if kind is PlacementKind.CERTAIN:
        return names[0]
    if kind is PlacementKind.OFFSHORE:
        return f"outside every municipal polygon; nearest is {names[0]}"
    return ("in parts of " if kind is PlacementKind.SEVERAL else "one of ") + ", ".join(names)


# -- selections ----------------------------------------------------------------------------------------


def asked_words(where: Where, title: str, bound: BoundRulebook) -> str:
    """Return which features of a layer a clause asks for.

    Parameters
    ----------
    where
        The layer and the choice of its features.
    title
        The layer's title. A field that it begins with is not named again.
    bound
        Gives figures their values on the day.
    """
    classes, tests = [], []
    for name, wanted in where.selection:
        words = field_words(name)
        values = joined(value.replace("_", " ") for value in wanted)
        if _BOOLEANS.issuperset(wanted):
            tests.append(f"{words} is {values}")
        else:
            classes.append(values if title.lower().startswith(words) else f"{words} {values}")
    tests += [f"{field_words(name)} is at least {bound.figures[least]:,.10g}" for name, least in where.at_least.items()]
    of = f"{' and '.join(classes)} of " if classes else ""
    return f"{of}{title}{' where ' if tests else ''}{' and '.join(tests)}"


def here_words(leaves: Leaves, layer: Layer, where: Where) -> str:
    """Return what the layer shows where the first site is, in the fields that a clause asks about; empty if none."""
    names = [name for name, _ in where.selection] + list(where.at_least)
    if not names:
        return ""
    shown: list[str] = []
    for index in _covering(leaves, layer):
        values = [_shown(layer, name, index, alone=len(names) == 1) for name in names]
        shown.append(", ".join(values))
    shown = list(dict.fromkeys(shown))
    more = f" and {len(shown) - _MOST_HERE} more" if len(shown) > _MOST_HERE else ""
    return f" (here: {', '.join(shown[:_MOST_HERE])}{more})" if shown else f" (here: no {noun_of(layer.id)} of it)"


def _shown(layer: Layer, name: str, index: int, *, alone: bool) -> str:
    value = layer.value(name, index)
    coded = layer.manifest.fields.get(name)
    if value in _NO_CLASS and coded is not None:
        # The publisher's own word says more than "none".
        column = layer.columns.get(coded.source_field)
        raw = "" if column is None or column[index] is None else str(column[index])
        value = f"{value}, {raw}" if value and raw.lower() != value else raw or "no value"
    return value.replace("_", " ") if alone and value not in _BOOLEANS else f"{field_words(name)} {value}"


def _covering(leaves: Leaves, layer: Layer) -> list[int]:
    """Return the features of any kind that cover the first site or a part of it."""
    site = leaves.sites.geometries[0]
    features = layer.select(as_of=leaves.bound.as_of)
    point = site.geom_type == "Point"
    return [
        int(i)
        for i in layer.meeting(features, site.bounds)
        if shapely.intersects(layer.geometry(int(i)), site)
        and (point or shapely.area(shapely.intersection(layer.geometry(int(i)), site)) > 0)
    ]


def lacking_figure(leaves: Leaves, layer: Layer, where: Where) -> tuple[int, str] | None:
    """Return a feature at the first site that lacks a figure that is asked for, with the reason in words."""
    selected = layer.select(where.selection, as_of=leaves.bound.as_of)
    lacking = [(int(i), name) for name in where.at_least for i in selected if math.isnan(_figure(layer, name, int(i)))]
    if not lacking:
        return None
    covering = set(_covering(leaves, layer))
    site = leaves.sites.geometries[0]
    index, name = min(
        lacking, key=lambda pair: 0.0 if pair[0] in covering else shapely.distance(layer.geometry(pair[0]), site)
    )
    known_as = feature_named(layer, index) or f"the {noun_of(layer.id)}"
    where_it_is = "here" if index in covering else "within reach of its line"
    return index, f"{known_as} {where_it_is} has no figure for {name}"


def _figure(layer: Layer, name: str, index: int) -> float:
    try:
        return float(layer.value(name, index))
    except ValueError:
        return math.nan


def feature_named(layer: Layer, index: int) -> str:
    """Return a feature's name, or its key; empty where the layer has neither."""
    manifest = layer.manifest
    if manifest.name_field:
        return layer.name(index)
    return "" if manifest.key_field in {None, manifest.bound_field} else layer.key(index)


# -- lists and stated figures --------------------------------------------------------------------------


def list_words(leaves: Leaves, node: DesignatedNode, listed: Mapping[str, Sequence[Listing]], outcome: Outcome) -> str:
    """Return how each municipality that the first site may be in stands to a list."""
    wanted = node.designated
    definition = load_lists()[wanted.list]
    codes = leaves.placement.codes_of(0)
    if not codes:
        return f"municipality not known, so not whether it is on the list of {definition.label}"
    standing: dict[str, list[str]] = {}
    for code in codes:
        words = _standing(
            listed.get(code, ()), leaves.bound.as_of if wanted.dated else None, complete=definition.complete
        )
        standing.setdefault(words, []).append(leaves.membership.name(code))
    label = f"the list of {definition.label}"
    parts = []
    for number, (words, names) in enumerate(standing.items()):
        verb = "is" if len(names) == 1 else "are"
        parts.append(f"{joined(names, 'and')} {verb} {words.format('it' if number else label)}")
    return _possible(leaves, outcome) + "; ".join(parts)


def _standing(periods: Sequence[Listing], day: date | None, *, complete: bool) -> str:
    if not periods:
        return "not on {0}" if complete else "not on {0}, and the list is not complete"
    holds = True if day is None else on_list(periods, day)
    if holds or day is None:
        return "on {0}"
    if holds is None:
        row = deciding_listings(periods, day)[0]
        if row.starts is None:
            return f"on {{0}}, which begins to hold by {row.starts_latest} at the latest"
        return f"on {{0}}, which begins to hold on a day between {row.starts} and {row.starts_latest}"
    ended = [row.ends for row in periods if row.ends is not None and day >= row.ends]
    begins = [row.starts for row in periods if row.starts is not None and day < row.starts]
    if not ended:
        return f"on {{0}}, which holds from {min(begins)} only"
    again = f", and holds again from {min(begins)}" if begins else ""
    return f"on {{0}}, which held until {max(ended)} and no longer holds{again}"


def _possible(leaves: Leaves, outcome: Outcome) -> str:
    kind = leaves.placement.kinds[0]
    if kind is PlacementKind.SEVERAL:
        reading = leaves.bound.readings.get("A3", "undetermined")
        by = f" (read by A3={reading})" if outcome is not Outcome.UNDETERMINED and reading != "undetermined" else ""
        beyond = ", or in none" if leaves.placement.may_be_nowhere(0) else ""
        return f"the site is in parts of several municipalities{beyond}{by}: "
    if kind is PlacementKind.OFFSHORE:
        return "outside every municipal polygon; of the nearest, "
    return "" if kind is PlacementKind.CERTAIN else "the municipality is not certain; of those possible, "


def ratio_words(ratio: Ratio, leaves: Leaves, causes: Cause) -> str:
    """Return a share of stated figures beside the share that is asked for, or which figures are not stated."""
    stated = {name: (leaves.facts.get(name) or [None])[0] for name in dict.fromkeys((ratio.part, *ratio.whole))}
    missing = [name for name, value in stated.items() if value is None]
    if missing:
        return f"not stated: {joined(missing, 'and')}"
    figures = {name: float(value) for name, value in stated.items() if value is not None}
    whole = sum(figures[name] for name in ratio.whole)
    least = leaves.bound.figures[ratio.at_least]
    if causes or whole <= 0:
        return f"the stated {' + '.join(ratio.whole)} come to {whole:,.10g}, of which there is no share"
    shares = f"{_exact_percent(figures[ratio.part] / whole)}, where {_exact_percent(least)} is asked for"
    return f"as stated, {ratio.part} is {figures[ratio.part]:,.10g} of {whole:,.10g}: {shares}"


def _exact_percent(share: float) -> str:
    text = f"{100 * share:.6f}".rstrip("0").rstrip(".")
    return f"{text} %"


def count_words(leaves: Leaves, layer: Layer, field: str, least: float, candidates: NDArray[np.int64]) -> str:
    """Return that no feature of the first site's place has the count asked for, and which has the most."""
    noun, place = noun_of(layer.id), place_words(leaves)
    asked = f"{least:,.10g} or more {field_words(field)}"
    here = set(leaves.placement.codes_of(0))
    counts = {i: _figure(layer, field, i) for i in map(int, candidates) if layer.value("mun_code", i) in here}
    if not counts:
        return f"no such {noun} in {place}"
    best = max(counts, key=lambda i: -1.0 if math.isnan(counts[i]) else counts[i])
    if math.isnan(counts[best]):
        return f"of no {noun} in {place} is the count of {field_words(field)} known"
    return f"no {noun} in {place} has {asked}; {layer.name(best)} has {counts[best]:,.10g}"


# -- ground and distance -------------------------------------------------------------------------------


def coverage_words(
    leaves: Leaves, layer: Layer, where: Where, *, outcome: Outcome, share: float, margin: float, causes: Cause
) -> str:
    """Return on which side of the ground asked for the first site lies, how far from its line, and what is there."""
    ground = asked_words(where, layer.manifest.title, leaves.bound)
    if math.isnan(share):
        if outcome is Outcome.UNDETERMINED:
            bounds = layer.manifest.bound_field is not None
            why = "of its line only bounds are known" if bounds else "the date or the class of a feature is not known"
            return f"perhaps in {ground}: {why}"
        share = 1.0 if outcome is Outcome.YES else 0.0
    plain = not (where.selection or where.at_least)
    one_class = sum(len(wanted) for _, wanted in where.selection) == 1 and not where.at_least
    here = "" if share == 1 and one_class else here_words(leaves, layer, where)
    if 0 < share < 1:
        sliver = share * float(shapely.area(leaves.sites.geometries[0])) <= SLIVER_SQFT
        noise = ", no more than a drawing sliver" if outcome is Outcome.NO and sliver else ""
        return f"{percent(share)} of the site is in {ground}{here}{noise}"
    incomplete = "; the layer is not complete, so that proves nothing" if Cause.LAYER_INCOMPLETE in causes else ""
    side = "inside" if share == 1 else "outside" if plain else "not in"
    far = ""
    if math.isfinite(margin):
        tolerance = (layer.manifest.accuracy_ft or 0.0) + float(leaves.sites.uncertainty_ft[0])
        beyond = " or more" if abs(margin) == max(MARGIN_LIMIT_FT, 2.0 * tolerance) else ""
        far = f", {feet(abs(margin))}{beyond} from {'its' if plain else 'the nearest'} line"
    near = ", which is nearer than the line is known" if Cause.NEAR_LINE in causes and far else ""
    return f"{side} {ground}{here}{far}{near}{incomplete}"


def own_distance(leaves: Leaves, layer: Layer, where: Within, index: int) -> Distance:
    """Return how far the first site is from one feature, or from all bounds of it where it has several."""
    measured = leaves.distance(where)
    if measured is not None and layer.lonlat is not None and leaves.sites.points[0] and math.isfinite(measured.near[0]):
        # From point to point the computed distance is that of the feature named: only the bounds may be of others.
        near, slack = measured.near[:1], leaves.sites.uncertainty_ft[:1]
        tolerance = layer.tolerances_ft[index]
        low, high = np.maximum(near - tolerance - slack, 0.0), near + tolerance + slack
        return Distance(low, near, high, low, near, high, measured.feature[:1])
    same: tuple[int, ...] = (index,)
    if layer.manifest.bound_field is not None:
        names = layer.names
        same = tuple(i for i in leaves.features(layer, where).tolist() if names[i] == names[index])
    return leaves.first_distance(layer, same)


def other_features(leaves: Leaves, layer: Layer, where: Within, own: tuple[str, Distance], measured: Distance) -> str:
    """Return which other features the least or the greatest possible distance belongs to; empty where none."""
    name, itself = own
    low, high = float(measured.near_low[0]), float(measured.near_high[0])
    meant = leaves.features(layer, where)
    words = ""
    if low < float(itself.near_low[0]) - 1:
        # Where a rank is in doubt, the nearest that may be meant need not be among those that are.
        every = layer.select(where.selection, as_of=leaves.bound.as_of) if where.nearest else meant
        other = _extreme(leaves, layer, every, sign=-1.0)
        if other != name:
            words += f"; {other} may be nearer: {feet(low)}"
    if high < float(itself.near_high[0]) - 1:
        other = _extreme(leaves, layer, meant, sign=1.0)
        if other != name:
            words += f"; {other} is surely no farther than {feet(high)}"
    elif math.isfinite(float(itself.near_high[0])) and not high <= float(itself.near_high[0]) + 1:
        doubt = f"that it is among the {where.nearest.n} nearest" if where.nearest else "that it counts on this day"
        words += f"; {doubt} is not sure"
    return words


def _extreme(leaves: Leaves, layer: Layer, features: NDArray[np.int64], *, sign: float) -> str:
    """Return the name of the feature with the least possible (-1) or the least certain (1) distance."""
    wanted = (EXACT, OUTER) if sign < 0 else (EXACT, INNER)
    features = features[np.isin(layer.bound_kinds[features], wanted)]
    if not len(features):
        return f"another {noun_of(layer.id)}"
    if layer.lonlat is None:
        shapes = np.array([layer.geometry(int(i)) for i in features], dtype=object)
    else:
        shapes = layer.points[features]
    away = shapely.distance(leaves.sites.geometries[0], shapes) * FT_PER_FTUS + sign * layer.tolerances_ft[features]
    return feature_named(layer, int(features[int(np.argmin(away))])) or f"another {noun_of(layer.id)}"


def distance_words(name: str, own: Distance, radius: float, *, whole: bool) -> str:
    """Return how far a feature is, and between which bounds; for the whole of a site its farthest part too."""
    near = (float(own.near_low[0]), float(own.near[0]), float(own.near_high[0]))
    far = (float(own.far_low[0]), float(own.far[0]), float(own.far_high[0]))
    if whole and far[2] - near[2] > 1:
        nearest, farthest = _span(near, radius, " from the nearest part"), _span(far, radius, " from the farthest")
        return f"{name} is {nearest} and {farthest}"
    return f"{name} is {_span(near, radius, ' away')}"


def _span(bounds: tuple[float, float, float], radius: float, words: str) -> str:
    low, value, high = bounds
    _, first, middle, last = lengths(radius, low, value if math.isfinite(value) else low, high)
    if not math.isfinite(value):
        return f"between {first} and {last}{words}"
    return f"{middle}{words} (known to {first} - {last})" if high - low > 1 else f"{middle}{words}"
