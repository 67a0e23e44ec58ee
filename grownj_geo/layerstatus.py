"""What the user's store holds, how old and how sound it is, and what its editions change."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from pydantic import Field

from grownj_geo.atlas import DEFAULT_AS_OF, Atlas, load_atlas
from grownj_geo.bundle import export_bundle
from grownj_geo.errors import LayerError, SiteError
from grownj_geo.files import written_beside
from grownj_geo.layerdiff import LayerDiff, SiteChange, changed_sites, diff_layers
from grownj_geo.manifest import load_manifests
from grownj_geo.ownmarks import LAST_WORDS, WRITTEN_BY
from grownj_geo.parcelstatus import StoreStatus, store_status, verify_parcels
from grownj_geo.store import Store
from grownj_geo.strict import Strict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from grownj_geo.edition import Held
    from grownj_geo.layer import Layer

__all__ = [
    "Comparison",
    "EditionStatus",
    "LayerStatus",
    "MissingStatus",
    "compare_editions",
    "export_bundle_of",
    "export_layer",
    "layer_status",
    "verify_layers",
]

SHIPPED = "shipped"

_EDGE_FT = 500.0
_DRIVERS = {".gpkg": "GPKG", ".geojson": "GeoJSON"}


class EditionStatus(Strict):
    """One stored edition.

    Attributes
    ----------
    used
        It is the one that the day takes.
    holds
        It is known to hold on the day.
    age_days
        Since it was retrieved.
    stale
        That is longer than the manifest allows: the publisher may have another edition.
    base_changed
        It refines a shipped table of which the package has another edition now: load it again.
    """

    name: str
    title: str
    origin: str | None
    features: int | None
    edition: date | None
    valid_from: date | None
    valid_until: date | None
    used: bool
    holds: bool
    complete: bool | None
    retrieved: date | None
    age_days: int | None
    stale: bool
    base_changed: bool
    problem: str | None


class MissingStatus(Strict):
    """A layer that is not loaded: which categories wait for it, and how to load it."""

    layer: str
    title: str
    needed_by: tuple[str, ...]
    how_to_load: str
    command: str


class LayerStatus(Strict):
    """A store as of a day.

    Attributes
    ----------
    parcels
        The parcels and address points in it; None where none are loaded.
    """

    home: str
    as_of: date
    editions: tuple[EditionStatus, ...]
    missing: tuple[MissingStatus, ...]
    parcels: StoreStatus | None = None


class Comparison(Strict):
    """Two editions side by side.

    Attributes
    ----------
    sites
        Those that come out otherwise; None where no sites were given.
    unread
        Sites that could not be asked about, with the reason.
    """

    diff: LayerDiff
    sites: tuple[SiteChange, ...] | None = None
    unread: dict[str, str] = Field(default_factory=dict)


def layer_status(
    day: date | None = None, *, needed_by: Mapping[str, Sequence[str]], store: Store | None = None
) -> LayerStatus:
    """Return what a store holds and what is missing, without reading the layers.

    Parameters
    ----------
    day
        The day for which answers are wanted; the default day where it is None.
    needed_by
        Labels of the categories that ask for a layer.

    Raises
    ------
    LayerError
        If the store cannot be read.
    """
    store, day = store or Store(), day or DEFAULT_AS_OF
    atlas = load_atlas(as_of=day, store=store)
    editions = tuple(_status(held, atlas, day) for held in store.held())
    there = {held.layer_id for held in store.held()}
    missing = tuple(
        MissingStatus(
            layer=layer_id,
            title=manifest.title,
            needed_by=tuple(needed_by.get(layer_id, ())),
            how_to_load=manifest.how_to_load,
            command=manifest.load_command,
        )
        for layer_id, manifest in load_manifests().items()
        if not manifest.ships and layer_id not in there
    )
    return LayerStatus(
        home=str(store.home), as_of=day, editions=editions, missing=missing, parcels=store_status(store.home)
    )


def _status(held: Held, atlas: Atlas, day: date) -> EditionStatus:
    used = atlas.edition(held.layer_id)
    base = load_manifests().get(held.layer_id)
    edition = held.edition
    age = None if edition is None else (datetime.now(UTC) - edition.origin.retrieved_at).days
    refined = None if edition is None else edition.origin.base_sha256
    return EditionStatus(
        name=held.name,
        title=base.title if base else held.layer_id,
        origin=edition.origin.words if edition else None,
        features=edition.features if edition else None,
        edition=edition.manifest.edition if edition else None,
        valid_from=edition.manifest.valid_from if edition else None,
        valid_until=edition.manifest.valid_until if edition else None,
        used=used is not None and used.name == held.name,
        holds=edition is not None and edition.manifest.covers(day),
        complete=edition.manifest.complete if edition else None,
        retrieved=edition.origin.retrieved_at.date() if edition else None,
        age_days=age,
        stale=bool(edition and age is not None and age > edition.manifest.max_age_days),
        base_changed=bool(refined and base and refined != base.sha256),
        problem=held.problem,
    )


def verify_layers(store: Store | None = None) -> dict[str, str | None]:
    """Read every layer that ships and every stored edition; return what is wrong with each, None where nothing is.

    Raises
    ------
    LayerError
        If the store cannot be read.
    """
    shipped = Atlas()
    found: dict[str, str | None] = {
        f"{layer_id}@{SHIPPED}": shipped.state(layer_id).problem
        for layer_id, manifest in load_manifests().items()
        if manifest.ships
    }
    store = store or Store()
    return found | {held.name: problem for held, problem in store.verify()} | verify_parcels(store.home)


def compare_editions(
    old: str, new: str, *, sites: Sequence[str] | None = None, day: date | None = None, store: Store | None = None
) -> Comparison:
    """Return what changed between two editions, and which of some sites come out otherwise.

    Parameters
    ----------
    old, new
        Editions of one layer by name; ``"LAYER@shipped"`` is what ships.
    sites
        Text that locates each site.

    Raises
    ------
    LayerError
        If an edition is not there, cannot be read, or they are of two layers.
    """
    from grownj_geo.determine import Engine  # noqa: PLC0415 - only where sites are asked about
    from grownj_geo.finder import Finder  # noqa: PLC0415 - same
    from grownj_geo.rulebook import load_rulebook  # noqa: PLC0415 - same

    store, day = store or Store(), day or DEFAULT_AS_OF
    names = [_full_name(name, store) for name in (old, new)]
    atlases = [load_atlas(as_of=day, store=store, editions=[name]) for name in names]
    layers = [_layer(atlas, name) for atlas, name in zip(atlases, names, strict=True)]
    diff = diff_layers(layers[0], layers[1], old_name=names[0], new_name=names[1])
    if sites is None:
        return Comparison(diff=diff)
    book = load_rulebook()
    before, after = (Engine(atlas, book) for atlas in atlases)
    moved: list[SiteChange] = []
    unread: dict[str, str] = {}
    finder = Finder.at_home(atlases[0])
    for text in sites:
        # One that cannot be asked about does not keep the others from being compared.
        try:
            moved += changed_sites(before, after, [finder.site(text)])
        except SiteError as error:
            unread[text] = str(error)
    return Comparison(diff=diff, sites=tuple(moved), unread=unread)


def _full_name(name: str, store: Store) -> str:
    return name if name.endswith(f"@{SHIPPED}") else store.find(name).name


def _layer(atlas: Atlas, name: str) -> Layer:
    layer_id = name.partition("@")[0]
    layer = atlas.layer(layer_id)
    if layer is None:
        state = atlas.state(layer_id)
        raise LayerError(
            state.problem or f"{name} is not there: {layer_id} does not ship. {state.manifest.how_to_load}"
        )
    return layer


def export_bundle_of(names: Sequence[str], target: Path, *, store: Store | None = None) -> int:
    """Write editions, or all of them, into one file; return how many.

    Raises
    ------
    LayerError
        If an edition is not there or is damaged, or the file cannot be written.
    """
    store = store or Store()
    held = [store.find(name) for name in names] if names else list(store.held())
    export_bundle(held, target)
    return len(held)


def export_layer(name: str, target: Path, *, day: date | None = None, store: Store | None = None) -> int:
    """Write the layer of a day, or an edition, as a GIS file in EPSG:3424 (GeoJSON: in degrees); return its features.

    Raises
    ------
    LayerError
        If the layer is not loaded, the format is not known, or the file cannot be written.
    """
    store = store or Store()
    layer_id, at, _ = name.partition("@")
    editions = [_full_name(name, store)] if at else []
    atlas = load_atlas(as_of=day or DEFAULT_AS_OF, store=store, editions=editions)
    layer = _layer(atlas, name if at else layer_id)
    suffix = target.suffix.lower()
    if suffix != ".parquet" and suffix not in _DRIVERS:
        raise LayerError(f"The file {target.name} has the ending {suffix!r}; expected .gpkg, .geojson or .parquet.")
    if not target.parent.is_dir():
        raise LayerError(f"There is no folder {target.parent} to write {target.name} into. Make it first.")
    try:
        with written_beside(target) as beside:
            _write(layer, beside, suffix)
    except (OSError, RuntimeError) as error:  # GDAL's own errors are of the second kind
        raise LayerError(
            f"The file {target} could not be written ({error}). Check the folder and its space."
        ) from error
    return len(layer)


def _write(layer: Layer, path: Path, suffix: str) -> None:
    from grownj_geo.layerfile import write_layer  # noqa: PLC0415 - only where it is used

    if suffix == ".parquet":
        import io  # noqa: PLC0415 - only here

        import pyarrow.parquet as pq  # noqa: PLC0415 - same

        table = pq.read_table(io.BytesIO(write_layer(layer)))
        told = {**(table.schema.metadata or {}), b"written_by": WRITTEN_BY.encode()}
        pq.write_table(table.replace_schema_metadata(told), path, compression="zstd")
        return
    import numpy as np  # noqa: PLC0415 - only where it is used
    import pyogrio  # noqa: PLC0415 - brings in GDAL
    import shapely  # noqa: PLC0415 - only where it is used

    from grownj_geo.units import WORKING_CRS, to_lonlat  # noqa: PLC0415 - only where it is used

    kinds = {"polygon": "MultiPolygon", "line": "MultiLineString", "point": "Point", "table": None}
    kind = kinds[layer.manifest.kind]
    shapes: list[shapely.Geometry] = []
    if kind is not None:
        many = {"MultiPolygon": shapely.multipolygons, "MultiLineString": shapely.multilinestrings}.get(kind)
        found = layer.points if kind == "Point" else [layer.geometry(i) for i in range(len(layer))]
        shapes = [many([*shapely.get_parts(shape)]) if many else shape for shape in found]
    if suffix == ".geojson":
        # A long side that is straight in feet is not straight in degrees.
        shapes = [
            shapely.transform(
                shapely.segmentize(s, _EDGE_FT), lambda xy: np.column_stack(to_lonlat(xy[:, 0], xy[:, 1]))
            )
            for s in shapes
        ]
    # Text throughout: whoever opens the file sees the values as the rules do.
    fields = [[None if value is None else str(value) for value in column] for column in layer.columns.values()]
    pyogrio.raw.write(
        path,
        shapely.to_wkb(np.array(shapes, dtype=object)) if shapes else None,
        [np.array(column, dtype=object) for column in fields],
        # A GeoPackage keeps its own row numbers and geometries under these names.
        [f"{name}_" if name.lower() in {"fid", "geom"} else name for name in layer.columns],
        layer=layer.id,
        driver=_DRIVERS[suffix],
        geometry_type=kind,
        crs="EPSG:4326" if suffix == ".geojson" else WORKING_CRS,
        layer_options={"DESCRIPTION": LAST_WORDS} | ({"COORDINATE_PRECISION": "12"} if suffix == ".geojson" else {}),
    )
