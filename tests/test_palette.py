"""Classes of area: every one is told from every other, whatever colours its reader sees."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from grownj_geo.atlas import load_atlas
from grownj_geo.palette import NO_AMOUNT, NO_ANSWER, area_class, area_classes, area_groups, tier_looks
from grownj_geo.rulebook import load_rulebook

# Full protanopia, deuteranopia and tritanopia in linear RGB (Machado, Oliveira and Fernandes 2009).
SIGHTS = {
    "all colours": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TOLD_APART = 12.0  # CIE76; about five times what is just noticed


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(first: str, second: str, sight: np.ndarray) -> float:
    return float(np.linalg.norm(lab(sight @ linear(first)) - lab(sight @ linear(second))))


@pytest.mark.parametrize("sight", SIGHTS)
def test_classes_differ_in_pattern_or_in_a_colour_that_is_seen(sight: str) -> None:
    for one, other in combinations(area_classes(), 2):
        if one.pattern == other.pattern:
            assert apart(one.colour, other.colour, SIGHTS[sight]) >= TOLD_APART, (one.id, other.id)


@pytest.mark.parametrize("sight", SIGHTS)
def test_base_amounts_differ_in_colour_and_in_shape(sight: str) -> None:
    looks = [*tier_looks((5000, 4000, 3000, 500)).values(), NO_AMOUNT, NO_ANSWER]
    assert len({look.shape for look in looks}) == len(looks)
    for one, other in combinations(looks, 2):
        assert apart(one.colour, other.colour, SIGHTS[sight]) >= TOLD_APART, (one, other)


def test_the_check_itself_sees_colours_that_are_too_near() -> None:
    assert apart("#FF0000", "#8B7500", SIGHTS["no green"]) < apart("#FF0000", "#8B7500", SIGHTS["all colours"])
    assert apart("#0072B2", "#0075B0", SIGHTS["all colours"]) < TOLD_APART


def test_names_are_unique_and_groups_exist() -> None:
    names = [known.id for known in area_classes()]
    assert len(names) == len(set(names))
    groups = {group.id for group in area_groups()}
    assert {known.group for known in area_classes()} <= groups
    assert len({known.label for known in area_classes()}) == len(names)


def test_what_is_drawn_exists_in_the_atlas_and_the_rulebook() -> None:
    atlas, book = load_atlas(), load_rulebook("grow-nj")
    for known in area_classes():
        draw = known.draw
        if draw is None:
            continue
        assert (draw.category is None) != (draw.layer is None), known.id
        if draw.category is not None:
            assert book.category(draw.category).kind == "area", known.id
        if draw.layer is not None:
            manifest = atlas.manifests[draw.layer]
            assert set(draw.where) | set(draw.at_least) <= set(manifest.fields), known.id
            for name, values in draw.where.items():
                coded = set(manifest.fields[name].values.values())
                assert not coded or set(values) <= coded, (known.id, name)
        figures = [*draw.at_least.values(), *filter(None, [draw.radius])]
        assert set(figures) <= set(book.parameters), known.id


def test_a_label_names_its_radius_only_where_there_is_one() -> None:
    for known in area_classes():
        assert ("{radius}" in known.label) == bool(known.draw and known.draw.radius), known.id


def test_an_unknown_class_is_refused_with_those_there_are() -> None:
    assert area_class("growth_zone").label == "Garden State Growth Zone"
    with pytest.raises(KeyError, match="no class of area 'growthzone'; there are qualified_incentive_area"):
        area_class("growthzone")
