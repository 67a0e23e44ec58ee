"""Any file that a GIS office has, read into `Features`: finding the layers in it, choosing one, and reading that."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.readers_files import DEFAULT_LIMITS, LayerFile, layer_files, safe_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.archive import Limits

__all__ = ["Kind", "Opened", "Source", "find_sources", "open_source", "read_features"]

Kind = Literal["polygon", "point", "line", "table"]
"""What a layer may be made of."""

_MOST_NAMED = 20


@dataclass(frozen=True)
class Source:
    """One layer of a file that can be read.

    Attributes
    ----------
    sublayer
        What chooses it: a layer's name, a file's path in an archive or folder, or both with a slash between.
    format
        One of the values of `readers_files.FORMATS`.
    kind
        What it is made of; ``"mixed"`` where the file does not say, or has several.
    features
        How many; None where counting would take reading.
    """

    sublayer: str
    format: str
    kind: str
    features: int | None


@dataclass(frozen=True)
class Opened:
    """One layer of a file, found and safe to be given to a reader.

    Attributes
    ----------
    path
        Where it is: unpacked, and under a name that means nothing else to a reader.
    format
        One of the values of `readers_files.FORMATS`.
    layer
        Its name in a file with several.
    sublayer
        As `Source.sublayer` has it.
    source
        What messages call it.
    changes
        What is to be told of the choice.
    """

    path: Path
    format: str
    layer: str | None
    sublayer: str
    source: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class _Found:
    """A source with what reading it needs."""

    source: Source
    file: LayerFile
    layer: str | None = None
    links: int = 0


def find_sources(path: Path) -> list[Source]:
    r"""Return every layer in a file or folder.

    Parameters
    ----------
    path
        A file, an archive, a file geodatabase, or a folder of such.

    Raises
    ------
    LayerFault
        As `read_features`, where something in it cannot even be looked at.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "sites.csv").write_text("name,lon,lat\nA,-74.16,40.73\n")
    >>> find_sources(folder / "sites.csv")
    [Source(sublayer='sites.csv', format='text', kind='point', features=None)]
    """
    with _scratch() as scratch:
        files, _ = layer_files(path, scratch)
        return [found.source for file in files for found in _look(file, path.name, None, scratch, count=True)]


def read_features(
    path: Path, *, sublayer: str | None = None, kind: Kind | None = None, encoding: str | None = None
) -> Features:
    r"""Read one layer of a file, whole and unchanged, or refuse it.

    Taken are file geodatabases, shapefiles, GeoPackages, GeoJSON (whole or by lines), KML, KMZ, GeoParquet, text with
    coordinates or well-known text, and zip files with any of them in any folder.

    Parameters
    ----------
    path
        A local file, or a folder that is a file geodatabase or holds one candidate.
    sublayer
        Which layer, where there are several: as `Source.sublayer` names it, or only the layer's own name.
    kind
        What the layer has to be made of. Where exactly one candidate is, it is taken, and that is told.
    encoding
        What text is in, whatever the file declares: for shapefiles, GeoJSON and CSV.

    Returns
    -------
    Features
        Geometry in the source's own coordinates, plane, x first. Features without geometry keep their place.

    Raises
    ------
    LayerFault
        ``not_found``, ``not_allowed``, ``wrong_format``, ``no_layer``, ``several_layers``, ``missing_sidecar``,
        ``truncated``, ``unreadable``, ``wrong_encoding``, ``broken_geometry``, ``bad_coordinates``, ``ragged_rows``,
        ``duplicate_fields``, ``unknown_crs``, ``unsaved_changes``, or one of `unpack`.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "sites.csv").write_text("code,lon,lat\n0102,-74.16,40.73\n")
    >>> features = read_features(folder / "sites.csv")
    >>> features.columns["code"], features.geometries[0].wkt
    (['0102'], 'POINT (-74.16 40.73)')
    """
    with _scratch() as scratch:
        files, changes = layer_files(path, scratch)
        candidates = [f for file in files for f in _look(file, path.name, encoding, scratch, count=len(files) > 1)]
        chosen, told = _choose(path.name, candidates, sublayer, kind)
        features = _read(chosen, path.name, kind, encoding, scratch)
    return Features(
        features.source,
        features.columns,
        features.geometries,
        features.crs,
        (*changes, *told, *features.changes),
    )


@contextmanager
def open_source(
    path: Path,
    *,
    sublayer: str | None = None,
    kinds: Sequence[Kind | None] = (None,),
    encoding: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Opened]:
    """Find the one layer of a file that is meant, for whoever reads it as a stream.

    Parameters
    ----------
    path, sublayer, encoding
        As in `read_features`.
    kinds
        What the layer may be made of, the best first; None for anything.
    limits
        How much an archive may hold.

    Yields
    ------
    Opened
        Where it is, until the block ends: what was unpacked is gone then.

    Raises
    ------
    LayerFault
        As `read_features`, as far as looking at the file can tell.
    """
    with _scratch() as scratch:
        files, changes = layer_files(path, scratch, limits)
        found = [f for file in files for f in _look(file, path.name, encoding, scratch, count=len(files) > 1)]
        kind = next((kind for kind in kinds if _fitting(found, kind)), kinds[-1])
        chosen, told = _choose(path.name, found, sublayer, kind)
        sublayer = chosen.source.sublayer
        yield Opened(
            path=safe_path(chosen.file, scratch),
            format=chosen.file.format,
            layer=chosen.layer,
            sublayer=sublayer,
            source=path.name if sublayer == path.name else f"{path.name}: {sublayer}",
            changes=(*changes, *told),
        )


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="grownj-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _label(name: str, file: LayerFile) -> str:
    return name if file.name == name else f"{name}: {file.name}"


def _look(file: LayerFile, name: str, encoding: str | None, scratch: Path, *, count: bool) -> list[_Found]:
    """Return the layers of one file."""
    # Imported here, as all that follows: each format costs only whoever reads it.
    label = _label(name, file)
    if file.format == "geodatabase":
        from grownj_geo.readers_database import geodatabase_layers  # noqa: PLC0415

        return _several(file, name, geodatabase_layers(safe_path(file, scratch), source=label))
    if file.format == "geopackage":
        from grownj_geo.readers_database import geopackage_layers  # noqa: PLC0415

        return _several(file, name, geopackage_layers(safe_path(file, scratch), source=label))
    if file.format == "kml":
        from grownj_geo.readers_json import kml_layers  # noqa: PLC0415

        kml = kml_layers(safe_path(file, scratch), source=label)
        return _several(file, name, kml.layers, links=kml.links)
    made_of, number = "mixed", None
    if file.format == "shapefile":
        from grownj_geo.readers_shape import shape_count, shape_kind  # noqa: PLC0415

        made_of, number = shape_kind(file.path), shape_count(file.path)
    elif file.format == "parquet":
        from grownj_geo.readers_parquet import parquet_about  # noqa: PLC0415

        made_of, number = parquet_about(file.path, source=label)
    elif file.format == "text":
        from grownj_geo.readers_text import text_kind  # noqa: PLC0415

        made_of = text_kind(file.path, source=label, encoding=encoding)
    elif count:
        from grownj_geo.readers_json import geojson_count  # noqa: PLC0415

        number = geojson_count(file.path, source=label, scratch=scratch, encoding=encoding)
    return [_Found(Source(file.name, file.format, made_of, number), file)]


def _several(file: LayerFile, name: str, layers: list[tuple[str, str | None, int]], *, links: int = 0) -> list[_Found]:
    if not layers:
        raise LayerFault("no_layer", f"{_label(name, file)} has no layer with features in it. Export the layer again.")
    alone = file.name == name
    return [
        _Found(
            Source(layer if alone else f"{file.name}/{layer}", file.format, _kind(shape), number), file, layer, links
        )
        for layer, shape, number in layers
    ]


def _kind(shape: str | None) -> str:
    """Return what GDAL's geometry type is made of."""
    if shape is None:
        return "table"
    for sign, kind in (("Polygon", "polygon"), ("Surface", "polygon"), ("LineString", "line"), ("Curve", "line")):
        if sign in shape:
            return kind
    return "point" if "Point" in shape else "mixed"


def _choose(
    name: str, candidates: list[_Found], sublayer: str | None, kind: Kind | None
) -> tuple[_Found, list[Change]]:
    if sublayer is not None:
        return _named(name, candidates, sublayer), []
    fitting = _fitting(candidates, kind)
    if len(fitting) == 1:
        chosen = fitting[0]
        if len(candidates) == 1:
            return chosen, []
        others = [f.source.sublayer for f in candidates if f is not chosen]
        words = (
            f"Of {len(candidates)} layers, {chosen.source.sublayer!r} was taken, the only one that is "
            f"{kind or 'drawn'}; not read: {', '.join(others[:_MOST_NAMED])}."
        )
        return chosen, [Change(kind="sublayer_taken", effect="noted", count=len(others), words=words)]
    if fitting:
        raise LayerFault(
            "several_layers",
            f"{name} has {len(fitting)} layers that could be meant: {_list(fitting)}. "
            f"Choose one with sublayer={fitting[0].source.sublayer!r} (--sublayer on the command line).",
        )
    if len(candidates) == 1 and candidates[0].source.kind == "table":
        raise LayerFault(
            "no_layer",
            f"{name} is a table without places, and a layer of kind {kind} is wanted. Expected a column of well-known "
            f"text{' or of longitude and latitude' if kind == 'point' else ''}; or give the layer as a GIS file.",
        )
    raise LayerFault(
        "no_layer",
        f"{name} has no layer of kind {kind}; found {_list(candidates)}. Give another file, or choose one of these "
        "with sublayer= (--sublayer on the command line).",
    )


def _fitting(candidates: list[_Found], kind: Kind | None) -> list[_Found]:
    """Return the candidates that may be meant."""
    drawn = [f for f in candidates if f.source.kind != "table"]
    if kind is None:
        return drawn or candidates
    if kind == "table":
        # Attributes alone may be taken from a layer that is drawn too, where nothing else is there.
        tables = [f for f in candidates if f.source.kind == "table"]
        return tables or (candidates if len(candidates) == 1 else [])
    sure = [f for f in drawn if f.source.kind == kind]
    return sure or [f for f in drawn if f.source.kind == "mixed"]


def _list(candidates: list[_Found]) -> str:
    words = [
        f"{f.source.sublayer!r} ({f.source.kind}"
        + ("" if f.source.features is None else f", {f.source.features:,} features")
        + ")"
        for f in candidates[:_MOST_NAMED]
    ]
    more = len(candidates) - len(words)
    return ", ".join(words) + (f" and {more} more" if more else "")


def _named(name: str, candidates: list[_Found], sublayer: str) -> _Found:
    wanted = sublayer.replace("\\", "/").strip("/")
    tests = (
        lambda f: f.source.sublayer == wanted,
        lambda f: f.source.sublayer.casefold() == wanted.casefold(),
        lambda f: wanted.casefold() in {part.casefold() for part in _short_names(f)},
    )
    for test in tests:
        found = [f for f in candidates if test(f)]
        if len(found) == 1:
            return found[0]
        if found:
            raise LayerFault(
                "several_layers",
                f"{name} has several layers that {sublayer!r} may mean: {_list(found)}. Name one whole.",
            )
    raise LayerFault("no_layer", f"{name} has no layer {sublayer!r}; found {_list(candidates)}. Name one of these.")


def _short_names(found: _Found) -> set[str]:
    if found.layer is not None:
        return {found.layer}
    path = Path(found.file.name)
    return {path.name, path.stem}


def _read(found: _Found, name: str, kind: Kind | None, encoding: str | None, scratch: Path) -> Features:
    file = found.file
    source = name if found.source.sublayer == name else f"{name}: {found.source.sublayer}"
    path = safe_path(file, scratch)
    if encoding is not None and file.format not in {"shapefile", "geojson", "text"}:
        raise LayerFault(
            "wrong_encoding", f"{source}: the format says itself what text is in; leave the encoding {encoding!r} out."
        )
    layer = found.layer or ""
    if file.format in {"geodatabase", "geopackage"}:
        from grownj_geo import readers_database as databases  # noqa: PLC0415

        read = databases.read_geodatabase if file.format == "geodatabase" else databases.read_geopackage
        return read(path, layer=layer, source=source)
    if file.format in {"kml", "geojson"}:
        from grownj_geo import readers_json  # noqa: PLC0415

        if file.format == "kml":
            return readers_json.read_kml(path, layer=layer, source=source, links=found.links)
        return readers_json.read_geojson(path, source=source, scratch=scratch, encoding=encoding)
    return _read_single(file.format, path, source, kind, encoding)


def _read_single(form: str, path: Path, source: str, kind: Kind | None, encoding: str | None) -> Features:
    if form == "shapefile":
        from grownj_geo.readers_shape import read_shapefile  # noqa: PLC0415

        return read_shapefile(path, source=source, encoding=encoding)
    if form == "parquet":
        from grownj_geo.readers_parquet import read_parquet  # noqa: PLC0415

        return read_parquet(path, source=source)
    from grownj_geo.readers_text import read_text  # noqa: PLC0415

    return read_text(path, source=source, kind=kind, encoding=encoding)
