"""One layer of a geodatabase, GeoPackage or shapefile, batch by batch: whoever reads it never holds it whole."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from grownj_geo.features import Change, LayerFault
from grownj_geo.readers_gdal import Announced, Decoder, check_twice, column_values, has_curve, layer_info, quiet_gdal

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping

    from numpy.typing import NDArray

    from grownj_geo.readers import Opened

__all__ = ["Batch", "LayerStream"]

_DRIVERS = {"geodatabase": "OpenFileGDB", "geopackage": "GPKG", "shapefile": "ESRI Shapefile"}
_DEFAULT_GEOMETRY = "wkb_geometry"


class Batch(NamedTuple):
    """Some features as they came.

    Attributes
    ----------
    columns
        Values by field.
    shapes
        Plane shapely geometries in the layer's own coordinates, shape (n,); None where a feature has none.
    problems
        By position: why a geometry cannot be used.
    """

    columns: dict[str, list[Any]]
    shapes: NDArray[Any]
    problems: dict[int, str]


class LayerStream:
    """A layer to be read batch by batch.

    Parameters
    ----------
    opened
        The layer: of a file geodatabase, a GeoPackage or a shapefile.
    encoding
        What a shapefile's text is in, whatever it declares.

    Attributes
    ----------
    names
        Its fields.
    crs
        What it declares its coordinates to be in; None where it declares nothing.
    count
        How many features it has.
    has_shapes
        Whether it has geometry.
    changes
        What is to be told of it; complete when it has been read.

    Raises
    ------
    LayerFault
        ``unreadable``, ``wrong_format``, ``truncated``, ``missing_sidecar``, ``duplicate_fields``, ``wrong_encoding``.
    """

    def __init__(self, opened: Opened, *, encoding: str | None = None) -> None:
        self.source = opened.source
        self._path = str(opened.path)
        self._layer = opened.layer
        self._options: dict[str, Any] = {}
        self.changes: list[Change] = []
        announced = Announced()
        if opened.format == "shapefile":
            from grownj_geo.readers_shape import about_shapefile  # noqa: PLC0415 - only where it is read

            about = about_shapefile(opened.path, encoding=encoding)
            announced, self._options = about.announced, dict(about.options)
            self.changes += about.changes
        elif encoding is not None:
            raise LayerFault(
                "wrong_encoding",
                f"{self.source}: the format says itself what text is in; leave the encoding {encoding!r} out.",
            )
        elif opened.format == "geopackage":
            self._options = {"IMMUTABLE": "YES"}
        drivers = (_DRIVERS[opened.format],)
        with quiet_gdal(self.source):
            info = layer_info(self._path, self._layer, source=self.source, drivers=drivers, options=self._options)
        self.names = [str(name) for name in info["fields"]]
        check_twice(self.source, self.names)
        self.crs: str | None = str(info["crs"]) if info["crs"] else None
        self.has_shapes = info["geometry_type"] is not None
        self.count = int(info["features"]) if announced.features is None else announced.features
        self._nulls = announced.nulls

    def batches(self, names: Collection[str], size: int = 50_000) -> Generator[Batch]:
        """Yield all features in their order, `size` at a time at most.

        Parameters
        ----------
        names
            Fields to read; the others are left where they are.

        Raises
        ------
        LayerFault
            ``unreadable`` or ``truncated`` where the file does not give what it announces.
        """
        from pyogrio.raw import open_arrow  # noqa: PLC0415 - see readers_gdal.gdal

        wanted = [name for name in self.names if name in names]
        account = _Account(self.source)
        with ExitStack() as stack:
            with quiet_gdal(self.source):
                meta, reader = stack.enter_context(
                    open_arrow(
                        self._path,
                        layer=self._layer,
                        columns=wanted,
                        use_pyarrow=True,
                        batch_size=size,
                        **self._options,
                    )
                )
                batches = iter(reader)
            while True:
                # Only while GDAL works: what whoever reads does in between is none of its errors.
                with quiet_gdal(self.source) as said:
                    batch = next(batches, None)
                account.said.update(dict.fromkeys(said.lines))
                if batch is None:
                    break
                yield self._batch(batch, meta, wanted, account)
        self.changes += account.changes()
        if account.read != self.count:
            raise LayerFault(
                "truncated",
                f"{self.source}: {account.read:,} features could be read; expected {self.count:,}, as the file says. "
                "Get or export the file again.",
            )
        if self._nulls is not None and account.nulls != self._nulls:
            raise LayerFault(
                "broken_geometry",
                f"{self.source}: {account.nulls:,} features came out without geometry; expected {self._nulls:,}, as "
                "the file says. Get or export the file again.",
            )

    def _batch(self, batch: Any, meta: Mapping[str, Any], wanted: list[str], account: _Account) -> Batch:  # noqa: ANN401
        fields = list(batch.schema.names)
        columns: dict[str, list[Any]] = {}
        for name in wanted:
            values = column_values(batch.column(fields.index(name)))
            columns[name] = [None] * batch.num_rows if values is None else values
        shapes: NDArray[Any] = np.full(batch.num_rows, None, dtype=object)
        problems: dict[int, str] = {}
        if self.has_shapes:
            shape_name = meta["geometry_name"] or _DEFAULT_GEOMETRY
            # An attribute may have the geometry's name; the geometry comes last.
            at = len(fields) - 1 - fields[::-1].index(shape_name)
            decoder = Decoder(self.source)
            decoder.add(batch.column(at).to_pylist())
            account.decoded(decoder)
            shapes = np.asarray(decoder.parts[0], dtype=object)
            problems = {row - 1: why for row, why in decoder.broken.items()}
            if decoder.curved:
                self._straighten(decoder.curved, shapes, problems, account.read)
            account.nulls += int(shapely.is_missing(shapes).sum()) - len(problems)
        account.read += batch.num_rows
        return Batch(columns, shapes, problems)

    def _straighten(self, rows: list[int], shapes: NDArray[Any], problems: dict[int, str], before: int) -> None:
        """Read curved geometries again, as GDAL's chords: shapely has no curves."""
        from pyogrio.raw import read  # noqa: PLC0415 - see readers_gdal.gdal

        with quiet_gdal(self.source):
            _, _, wkb, _ = read(
                self._path,
                layer=self._layer,
                columns=[],
                force_2d=True,
                skip_features=before,
                max_features=len(shapes),
                **self._options,
            )
        for row in rows:
            try:
                shape = shapely.from_wkb(wkb[row - 1])
            except (shapely.errors.ShapelyError, NotImplementedError):
                shape = None
            if shape is None or has_curve(shape):
                # GDAL leaves the curves alone that are in a collection.
                problems[row - 1] = "its curves cannot be replaced by chords"
            else:
                shapes[row - 1] = shape


class _Account:
    """What was read so far, and what it was."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.read = 0
        self.nulls = 0
        self.said: dict[str, None] = {}
        self._heights: list[int] = []
        self._measures: list[int] = []
        self._curves: list[int] = []

    def decoded(self, decoder: Decoder) -> None:
        """Take over what a batch had that shapely's plane geometries have not."""
        for rows, more in (
            (self._heights, decoder.z_rows),
            (self._measures, decoder.m_rows),
            (self._curves, decoder.curved),
        ):
            rows.extend(row + self.read for row in more)

    def changes(self) -> list[Change]:
        """Return what is to be told of all that was read."""
        told = []
        for kind, rows, words in (
            ("z_dropped", self._heights, "Heights (Z) were left out: everything is measured in the plane."),
            ("m_dropped", self._measures, "Measures (M) were left out: nothing here is measured along a line."),
            ("curves_linearised", self._curves, "Curves were replaced by chords of a quarter of a degree."),
        ):
            if rows:
                told.append(Change.about(kind, "noted", rows, words))
        spoken = [line for line in self.said if not line.startswith("Measured (M) geometry types are not supported")]
        if spoken:
            words = f"GDAL said while reading: {'; '.join(spoken[:5])[:400]}."
            told.append(Change(kind="reader_warned", effect="noted", count=len(spoken), words=words))
        return told
