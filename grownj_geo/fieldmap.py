"""Which of a source's fields is which of the manifest's: by word of whoever loads, by name, by the publisher's aliases.

Values are not looked at here; `fieldvalues` does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grownj_geo.layercheck import is_blank

if TYPE_CHECKING:
    from grownj_geo.features import Features, LoadOptions
    from grownj_geo.findings import Findings
    from grownj_geo.manifest import Manifest

__all__ = ["Mapped", "fields_of", "map_fields", "needed_fields"]

_SHAPEFILE_NAME = 10
"""Shapefiles cut the names of fields to so many characters."""
_RESERVED = frozenset({"geometry", "bbox", "lonlat"})
"""Columns of a layer's own file, which no attribute can be called."""
_POINT_FIELDS = ("longitude", "latitude")


@dataclass(frozen=True)
class Mapped:
    """Columns under the manifest's names, and where each was taken from.

    Attributes
    ----------
    columns
        Every field of the manifest that was found or stated, then the source's further fields under their own
        names; each of n values as they came.
    origins
        By the manifest's field: the source's name of it, or the constant in words.
    """

    columns: dict[str, list[Any]]
    origins: dict[str, str]


def needed_fields(manifest: Manifest) -> tuple[str, ...]:
    """Return the fields that a layer has to have, by the publisher's names, each once.

    Examples
    --------
    >>> from grownj_geo.manifest import load_manifests
    >>> needed_fields(load_manifests()["planning_areas"])
    ('SPDETAIL',)
    """
    named = (
        manifest.key_field,
        manifest.name_field,
        manifest.uncertainty_field,
        manifest.bound_field,
        manifest.from_field,
        manifest.until_field,
        *manifest.required_fields,
    )
    return tuple(dict.fromkeys(name for name in named if name is not None))


def fields_of(manifest: Manifest) -> tuple[str, ...]:
    """Return every field that the manifest names, needed or not, by the publisher's names, each once."""
    coded = (field.source_field for field in manifest.fields.values())
    return tuple(dict.fromkeys((*needed_fields(manifest), *coded)))


def map_fields(features: Features, manifest: Manifest, options: LoadOptions, found: Findings) -> Mapped:
    """Find the manifest's fields among those of the source.

    Asked in this order: the options' own words, the exact name, the name in other letters or cut to ten characters
    as shapefiles do, the manifest's aliases. A constant fills a field that the source lacks or has blank.

    Parameters
    ----------
    features
        As they came.
    manifest
        What the layer is to be.
    options
        Of which `fields` and `constants` are asked.
    found
        Takes the changes and faults: ``"missing_field"``, ``"unknown_field"``, ``"ambiguous_field"``,
        ``"constant_contradicts"``, ``"ragged_field"``.

    Raises
    ------
    LayerFault
        If a field cannot be found, or not in one way only; all such at once.
    """
    _check_lengths(features, found)
    wanted = fields_of(manifest)
    chosen = _by_word(features, manifest, options, found)
    constants = _constants(manifest, options, found)
    _by_name(features, manifest, [name for name in wanted if name not in chosen], chosen, found)
    columns: dict[str, list[Any]] = {}
    origins: dict[str, str] = {}
    for name in wanted:
        if name in chosen:
            columns[name] = list(features.columns[chosen[name]])
            origins[name] = chosen[name]
        if name in constants:
            _fill(columns, origins, name, [constants[name]] * len(features), found)
    _check_missing(features, manifest, columns, found)
    found.stop()
    _keep_others(features, set(chosen.values()), set(wanted), columns, found)
    return Mapped(columns, origins)


def _check_lengths(features: Features, found: Findings) -> None:
    for name, column in features.columns.items():
        if len(column) != len(features):
            found.fault(
                "ragged_field",
                f"the field {name} has {len(column)} values and there are {len(features)} features; expected one "
                "value for each. Read the source again",
            )
    found.stop()


def _target(manifest: Manifest, name: str) -> str | None:
    """Return the manifest's field that somebody means, who may say the publisher's name or the rules' name."""
    if name in fields_of(manifest):
        return name
    coded = manifest.fields.get(name)
    return None if coded is None else coded.source_field


def _unknown(manifest: Manifest, name: str, found: Findings) -> None:
    fields = ", ".join(fields_of(manifest)) or "none"
    found.fault("unknown_field", f"the layer {manifest.id} has no field {name!r}; its fields are {fields}. Name one")


def _by_word(features: Features, manifest: Manifest, options: LoadOptions, found: Findings) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for name, source in options.fields.items():
        target = _target(manifest, name)
        if target is None:
            _unknown(manifest, name, found)
        elif source not in features.columns:
            found.fault(
                "missing_field",
                f"{name} was to be read from {source!r}, which is not there; the fields are "
                f"{_listed(features)}. Name one with --map {name}=SOURCE",
            )
        elif chosen.setdefault(target, source) != source:
            found.fault(
                "ambiguous_field", f"{target} was to be read from both {chosen[target]!r} and {source!r}. Name one"
            )
    return chosen


def _constants(manifest: Manifest, options: LoadOptions, found: Findings) -> dict[str, str]:
    stated: dict[str, str] = {}
    for name, value in options.constants.items():
        target = _target(manifest, name)
        if target is None:
            _unknown(manifest, name, found)
        else:
            stated[target] = value
    return stated


def _aliases(manifest: Manifest, name: str) -> tuple[str, ...]:
    return tuple(a for field in manifest.fields.values() if field.source_field == name for a in field.aliases)


def _by_name(
    features: Features, manifest: Manifest, wanted: list[str], chosen: dict[str, str], found: Findings
) -> None:
    """Add to `chosen` the fields that are found by their names."""
    chosen.update({name: name for name in wanted if name in features.columns})
    taken = set(chosen.values())
    free = [name for name in features.columns if name not in taken]
    left = [name for name in wanted if name not in chosen]
    # Two of the manifest's names can be cut to the same ten characters; then the cut one is neither.
    cuts = [_cut(name) for name in left]
    otherwise: list[str] = []
    for name in left:
        cut = _cut(name) if cuts.count(_cut(name)) == 1 and len(name) > _SHAPEFILE_NAME else None
        aliases = {alias.casefold() for alias in _aliases(manifest, name)}
        for step in (
            [source for source in free if source.strip().casefold() == name.casefold()],
            [source for source in free if cut is not None and source.strip().casefold() == cut],
            [source for source in free if source.strip().casefold() in aliases],
            [source for source in free if source.strip().casefold() in {_cut(alias) for alias in aliases}],
        ):
            if len(step) > 1:
                found.fault(
                    "ambiguous_field",
                    f"{name} may be any of {', '.join(map(repr, step))}. Choose with --map {name}=SOURCE",
                )
            if step:
                chosen[name] = step[0]
                otherwise.append(f"{name} from {step[0]!r}")
                break
    if otherwise:
        found.tell("fields_matched", "noted", (), f"Fields were matched by their usual names: {', '.join(otherwise)}.")


def _cut(name: str) -> str:
    return name.casefold()[:_SHAPEFILE_NAME]


def _fill(
    columns: dict[str, list[Any]], origins: dict[str, str], name: str, stated: list[str], found: Findings
) -> None:
    """Put a constant where the source has nothing."""
    column = columns.get(name)
    value = stated[0]
    if column is None:
        columns[name] = list(stated)
        origins[name] = f"{value!r}, as stated for all"
        return
    blank = [row for row, given in enumerate(column) if is_blank(given)]
    other = [row for row, given in enumerate(column) if not is_blank(given) and str(given).strip() != value.strip()]
    if other:
        found.fault(
            "constant_contradicts",
            f"{name} was stated as {value!r} for all, and {len(other)} features say something else, row "
            f"{other[0] + 1} {column[other[0]]!r}. Leave the constant out, or map another field",
        )
    elif blank:
        columns[name] = [value if is_blank(given) else given for given in column]
        origins[name] = f"{origins[name]}, and {value!r} as stated where it is blank"
        found.tell("constant_filled", "noted", blank, f"{name} was blank and is now {value!r}, as stated.")


def _listed(features: Features) -> str:
    return ", ".join(features.columns) or "none"


def _check_missing(features: Features, manifest: Manifest, columns: dict[str, list[Any]], found: Findings) -> None:
    needed = needed_fields(manifest)
    lacking = [name for name in needed if name not in columns]
    if manifest.kind == "point":
        # A point's own place fills these once it is known.
        lacking = [name for name in lacking if name not in _POINT_FIELDS]
    if lacking:
        remedies = " ".join(f"--map {name}=SOURCE" for name in lacking)
        found.fault(
            "missing_field",
            f"the layer {manifest.id} needs {', '.join(lacking)}, found the fields {_listed(features)}. "
            f"Say which they are with {remedies}, or state one value for all",
        )
    absent = [name for name in fields_of(manifest) if name not in columns and name not in needed]
    if absent:
        found.tell(
            "field_absent",
            "noted",
            (),
            f"The source has no {', '.join(absent)}; rules that ask for what is in there stay undetermined.",
        )


def _keep_others(
    features: Features, used: set[str], wanted: set[str], columns: dict[str, list[Any]], found: Findings
) -> None:
    """Keep the source's further fields, but for those whose name already means something."""
    clashing = []
    for name, column in features.columns.items():
        if name in used:
            continue
        if name in wanted or name.casefold() in _RESERVED:
            clashing.append(name)
        else:
            columns[name] = list(column)
    if clashing:
        found.tell(
            "column_clash",
            "noted",
            (),
            f"Fields of the source whose names are taken by others are not kept: {', '.join(clashing)}.",
        )
