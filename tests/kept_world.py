"""Drawn editions in a store, and records that are made, kept and taken back, for the tests of what runs them again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine
from grownj_geo.edition import Origin
from grownj_geo.features import LoadReport
from grownj_geo.kept import Kept, keep, read_records, sealed_text
from grownj_geo.rulebook import load_rulebook

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.layer import Layer
    from grownj_geo.rulebook import Rulebook
    from grownj_geo.site import Site
    from grownj_geo.store import Store

ATLANTIC_CITY = (-74.4350, 39.3600)
AIRPORT = (-74.5772, 39.4576)
ORIGIN = Origin(how="import", source="drawn.gpkg", retrieved_at=datetime(2026, 11, 30, 12, tzinfo=UTC))


def add(store: Store, layer: Layer) -> str:
    report = LoadReport(
        layer=layer.id, source="drawn.gpkg", read=len(layer), kept=len(layer), crs="EPSG:3424", fields={},
        unknown_values={}, changes=(),
    )  # fmt: skip
    return store.add(layer, origin=ORIGIN, report=report).name


def record(
    folder: Path,
    store: Store,
    where: Site,
    *,
    as_of: str = "2017-04-17",
    book: Rulebook | None = None,
    readings: dict[str, str] | None = None,
    editions: tuple[str, ...] = (),
) -> Kept:
    """Determine a site, keep the record, and take it back."""
    engine = Engine(load_atlas(as_of=as_of, store=store, editions=editions), book or load_rulebook(), readings or {})
    path = folder / "record.json"
    keep(path, sealed_text(engine.determine(where), engine, where, editions=editions), replace=True)
    (kept,) = read_records([path])
    assert isinstance(kept, Kept)
    return kept
