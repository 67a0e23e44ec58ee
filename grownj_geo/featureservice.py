"""Layers out of feature services (ArcGIS REST, FeatureServer and MapServer): whole, or not at all.

The count and all object ids are asked for first, then pages by lists of ids, so that no page size, ordering or flag
of the server decides what is missing. At the end the ids are asked for again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grownj_geo.esrijson import Told, column_of, geometry_of
from grownj_geo.features import Change, Features, LayerFault
from grownj_geo.fetchpages import FetchPages
from grownj_geo.servicelayer import ServiceFacts, ask, facts_of, ids_of, layer_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import shapely
    from numpy.typing import NDArray

    from grownj_geo.netclient import Session
    from grownj_geo.netguard import Guard
    from grownj_geo.servicecrs import AskedSystem

__all__ = ["ServiceFacts", "describe_service", "fetch_features"]

_USUAL_PAGE = 1_000
_LARGEST_JSON = 64 * 2**20
_MOST_ASKED = 3
_FULL_PAGES_TO_GROW = 5
_MOST_LOST = 20
_MOST_NAMED = 10
_LARGEST_LON, _LARGEST_LAT = 180 + 1e-9, 90 + 1e-9
# A page may be too much for a server or for us where half of it is not.
_HALVED = frozenset({"response_too_large", "service_error", "http_error", "bad_reply", "cut_short", "too_slow"})
_WORDS = {
    "z_dropped": "Heights or measures were left out of coordinates.",
    "ring_closed": "Rings whose last point was not their first were closed.",
    "ring_left_out": "Rings without area were left out of polygons.",
    "hole_outside": "Holes with no ring round them became polygons of their own.",
    "number_as_text": "Numbers in fields declared to be text were written as text; leading zeros may be lost.",
}


class _MovedError(Exception):
    """The service changed while it was read; carries what to raise when that happens again."""

    def __init__(self, fault: LayerFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class _Row(NamedTuple):
    attributes: dict[str, Any]
    geometry: shapely.Geometry | None


class _Pace:
    """How many features to ask for at once: fewer after a short page, more again after several full ones."""

    def __init__(self, largest: int) -> None:
        self.size = largest
        self._largest = largest
        self._full = 0

    def after(self, asked: int, came: int) -> None:
        self._full = self._full + 1 if came == asked else 0
        if came < asked:
            self.size = came or max(1, asked // 2)
        elif self._full == _FULL_PAGES_TO_GROW:
            self.size, self._full = min(2 * self.size, self._largest), 0


def describe_service(url: str, *, guard: Guard, where: str = "1=1") -> ServiceFacts:
    """Return what a feature service says about one of its layers.

    Parameters
    ----------
    url
        Of the layer: ends in ``FeatureServer/0`` or ``MapServer/2``.
    guard
        What may be reached.
    where
        The features to count, in the service's own language.

    Raises
    ------
    LayerFault
        Where the service cannot be reached or read, with the kind of fault.
    """
    from grownj_geo.netclient import Session  # noqa: PLC0415 - httpx is slow to import

    with Session(_smaller(guard)) as session:
        return facts_of(session, layer_url(url), where=where)


def fetch_features(
    url: str,
    *,
    guard: Guard,
    work_folder: Path,
    fields: Sequence[str] = ("*",),
    where: str = "1=1",
    page_size: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    polite_s: float = 0.0,
) -> Features:
    """Fetch all features of a layer, or raise.

    The service is asked for the coordinate system that it keeps them in, so that sides which are straight there come
    so. Where that is not known here it is asked for longitude and latitude (EPSG:4326), and how far sides may be bent
    by that is told and added to their accuracy.

    Called again with the same question after being stopped, it takes the pages that came before. The pages stay in
    `work_folder` until somebody removes them.

    Parameters
    ----------
    url
        Of the layer: ends in ``FeatureServer/0`` or ``MapServer/2``.
    guard
        What may be reached, and the limits.
    work_folder
        Where pages are kept, for this fetch alone. Nothing is written outside it.
    fields
        Attributes by the service's names; ``"*"`` is all. The object id always comes along.
    where
        Which features, in the service's own language.
    page_size
        Features asked for at once; the server's own greatest number otherwise, and never more than that.
    progress
        Called with how many features have come, and of how many.
    polite_s
        Pause between two pages, in seconds.

    Returns
    -------
    Features
        Sorted by object id. Times are dates where all of a field are starts of days (UTC), coded values stay codes.
        Noted changes say what the service announced and what was compared.

    Raises
    ------
    LayerFault
        ``incomplete_fetch``, ``changed_during_fetch``, ``crs_not_confirmed``, ``area_mismatch``,
        ``extent_mismatch``, ``duplicate_ids``, ``missing_field``, ``curves``, ``bad_geometry``, ``bad_value``,
        ``work_folder``, and what `describe_service` and `grownj_geo.netclient.Session.read` raise.
    """
    from grownj_geo.netclient import Session  # noqa: PLC0415 - httpx is slow to import

    if page_size is not None and page_size < 1:
        raise ValueError(f"page_size is {page_size}; expected 1 or more.")
    layer = layer_url(url)
    with Session(_smaller(guard)) as session:
        for again in (True, False):
            fetch = _Fetch(session, facts_of(session, layer, where=where), where, fields)
            try:
                return fetch.run(work_folder, page_size, progress or _silent, polite_s)
            except _MovedError as moved:
                if not again:
                    raise moved.fault from moved
    raise AssertionError("the loop returns or raises")


def _silent(_have: int, _of: int) -> None:
    """Tell nobody."""


def _smaller(guard: Guard) -> Guard:
    return replace(guard, max_bytes=min(guard.max_bytes, _LARGEST_JSON))


class _Fetch:
    """One attempt at a layer in one state."""

    def __init__(self, session: Session, facts: ServiceFacts, where: str, fields: Sequence[str]) -> None:
        self.session = session
        self.facts = facts
        self.where = where
        self.names = _names(facts, fields)
        self.asked = _asked_of(facts)
        self.out_fields = "*" if "*" in fields else ",".join(self.names)
        self.rows: dict[int, _Row] = {}
        self.told: Told = {}
        self.doubled: list[int] = []
        self.strangers = 0

    def run(
        self, folder: Path, page_size: int | None, progress: Callable[[int, int], None], polite_s: float
    ) -> Features:
        facts = self.facts
        ids = ids_of(self.session, facts.url, self.where)
        if len(set(ids)) != len(ids):
            raise self._double(next(a for a, b in itertools.pairwise(ids) if a == b))
        if len(ids) != facts.count:
            raise _MovedError(
                LayerFault(
                    "incomplete_fetch",
                    f"{facts.url}: the service announces {facts.count:,} features and gives {len(ids):,} object ids; "
                    "expected as many. Try again later; if it stays so, download the layer by hand and import it.",
                )
            )
        wanted = frozenset(ids)
        plan = {
            "url": facts.url,
            "where": self.where,
            "fields": self.names,
            "crs": self.asked.code,
            "ids": hashlib.sha256(json.dumps(ids).encode()).hexdigest(),
            "last_edit_ms": facts.last_edit_ms,
        }
        pages = FetchPages(folder, plan, dated=facts.last_edit_ms is not None)
        for features in pages.pages():
            self._take(features, wanted)
        resumed = len(self.rows)
        progress(resumed, len(ids))
        self._rest(ids, pages, page_size, progress, polite_s)
        self._check_unmoved(ids)
        return self._features(ids, resumed, pages.damaged)

    def _rest(
        self,
        ids: Sequence[int],
        pages: FetchPages,
        page_size: int | None,
        progress: Callable[[int, int], None],
        polite_s: float,
    ) -> None:
        """Ask for what is not there yet, in smaller pages where the server does not give what was asked for."""
        most = self.facts.max_record_count or page_size or _USUAL_PAGE
        pace = _Pace(min(page_size or most, most))
        pending = [one for one in ids if one not in self.rows]
        lost: list[int] = []
        in_vain = 0
        while pending and len(lost) < _MOST_LOST:
            asked = pending[: pace.size]
            new = self._take(self._page(asked), frozenset(asked))
            if new:
                pages.add(new)
                progress(len(self.rows), len(ids))
            pending = [one for one in asked if one not in self.rows] + pending[len(asked) :]
            pace.after(len(asked), len(new))
            in_vain = 0 if new or len(asked) > 1 else in_vain + 1
            if in_vain == _MOST_ASKED:
                lost.append(pending.pop(0))
                in_vain = 0
            if polite_s and pending:
                time.sleep(polite_s)
        if lost:
            self._check_unmoved(ids)
            first = ", ".join(str(one) for one in lost[:_MOST_NAMED])
            more = " and more" if len(lost) > _MOST_NAMED or pending else ""
            raise LayerFault(
                "incomplete_fetch",
                f"{self.facts.url}: {len(self.rows):,} of {len(ids):,} features came; expected all. Object ids that do "
                f"not come: {first}{more}. Try again later: what came is kept. If it stays so, download the layer by "
                "hand and import it.",
            )

    def _page(self, asked: Sequence[int]) -> list[Any]:
        """Return the features of a page, or none where the whole page fails and a smaller one may not."""
        facts = self.facts
        params = {
            "where": self.where,
            "objectIds": ",".join(str(one) for one in asked),
            "outFields": self.out_fields,
            "outSR": str(self.asked.wkid),
            "returnGeometry": "true",
            "returnZ": "false",
            "returnM": "false",
        }
        try:
            reply = ask(self.session, f"{facts.url}/query", params)
        except LayerFault as error:
            if error.fault not in _HALVED or len(asked) == 1:
                raise
            return []
        features = reply.get("features")
        if not isinstance(features, list):
            raise LayerFault(
                "bad_reply",
                f"{facts.url}: a page without a list of features; expected one. Try again later.",
            )
        if features:
            self._check_reply(reply)
        return features

    def _check_reply(self, reply: dict[str, Any]) -> None:
        reference = reply.get("spatialReference")
        if not self.asked.is_that(reference):
            raise LayerFault(
                "crs_not_confirmed",
                f"{self.facts.url}: asked for coordinates in {self.asked.code}, the service says its reply is in "
                f"{json.dumps(reference)[:120]}; expected that. Download the layer by hand and import it.",
            )
        kind = reply.get("geometryType", self.facts.geometry)
        if kind != self.facts.geometry:
            raise LayerFault(
                "geometry_kind",
                f"{self.facts.url}: a page with {kind}, where the layer has {self.facts.geometry}. Try again later.",
            )

    def _take(self, features: Iterable[Any], asked: frozenset[int]) -> list[dict[str, Any]]:
        """Take those features up that were asked for and are not there yet, and return them as they came."""
        taken = []
        for feature in features:
            attributes = self._attributes(feature)
            one = attributes[self.facts.object_id_field]
            if one not in asked:
                self.strangers += 1
                continue
            row = _Row(attributes, self._geometry(feature, one))
            if one not in self.rows:
                self.rows[one] = row
                taken.append(feature)
            elif self.rows[one] == row:
                self.doubled.append(one)
            else:
                raise self._double(one)
        return taken

    def _attributes(self, feature: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON is anything
        attributes = feature.get("attributes") if isinstance(feature, dict) else None
        key = self.facts.object_id_field
        one = attributes.get(key) if isinstance(attributes, dict) else None
        if not isinstance(attributes, dict) or isinstance(one, bool) or not isinstance(one, int):
            raise LayerFault(
                "missing_field",
                f"{self.facts.url}: a feature without a whole number in {key}: {str(feature)[:120]}. Tell the "
                "publisher, or download the layer by hand and import it.",
            )
        missing = [name for name in self.names if name not in attributes]
        if missing:
            raise LayerFault(
                "missing_field",
                f"{self.facts.url}, object {one}: no {', '.join(missing)}; expected all fields that were asked for. "
                "Ask for fewer fields, or download the layer by hand and import it.",
            )
        return {name: attributes[name] for name in self.names}

    def _geometry(self, feature: dict[str, Any], one: int) -> shapely.Geometry | None:
        facts = self.facts
        found = geometry_of(feature.get("geometry"), facts.geometry, where=facts.url, row=one, told=self.told)
        if self.asked.is_degrees and found is not None and not found.is_empty:
            x0, y0, x1, y1 = found.bounds
            if max(-x0, x1) > _LARGEST_LON or max(-y0, y1) > _LARGEST_LAT:
                raise LayerFault(
                    "crs_not_confirmed",
                    f"{facts.url}, object {one}: coordinates to {x1:.10g}, {y1:.10g}, which are no degrees, where the "
                    f"service says {self.asked.code}. Download the layer by hand and import it.",
                )
        return found

    def _double(self, one: int) -> LayerFault:
        return LayerFault(
            "duplicate_ids",
            f"{self.facts.url}: two different features have the object id {one} in {self.facts.object_id_field}; "
            "expected each id once. Download the layer by hand and import it.",
        )

    def _check_unmoved(self, ids: Sequence[int]) -> None:
        """See that the service has the same features, edited last at the same time, as at the beginning."""
        now = facts_of(self.session, self.facts.url, where=self.where)
        ids_now = ids_of(self.session, self.facts.url, self.where)
        if ids_now != tuple(ids) or now.count != len(ids) or now.last_edit_ms != self.facts.last_edit_ms:
            raise _MovedError(
                LayerFault(
                    "changed_during_fetch",
                    f"{self.facts.url}: the layer was changed twice while it was read (it had {len(ids):,} features, "
                    f"now {now.count:,}); expected it to stay as it is. Try again later.",
                )
            )

    def _features(self, ids: Sequence[int], resumed: int, damaged: int) -> Features:
        from grownj_geo.servicecheck import compare_with_service  # noqa: PLC0415 - pyproj is slow to import

        facts = self.facts
        geometries = np.empty(len(ids), dtype=object)
        geometries[:] = [self.rows[one].geometry for one in ids]
        compared = compare_with_service(self.session, facts, geometries, crs=self.asked.code, where=self.where)
        columns = {
            name: column_of(
                name,
                facts.fields[name],
                [self.rows[one].attributes[name] for one in ids],
                ids,
                where=facts.url,
                told=self.told,
            )
            for name in self.names
        }
        edited = f", edited last on {facts.last_edited}" if facts.last_edited else ""
        changes = [
            _noted("announced", len(ids), f"The service announced {facts.count:,} features{edited}; all came."),
            *compared,
        ]
        if resumed:
            changes.append(_noted("resumed", resumed, f"{resumed:,} features came from an earlier, stopped fetch."))
        if damaged:
            changes.append(_noted("pages_damaged", damaged, f"{damaged} kept pages were damaged and fetched again."))
        if self.doubled:
            changes.append(
                _noted("sent_twice", len(self.doubled), "Features that the service sent twice were taken once.")
            )
        if self.strangers:
            changes.append(
                _noted("not_asked_for", self.strangers, "Features that nobody had asked for in a page were not taken.")
            )
        places = {one: place for place, one in enumerate(ids, start=1)}
        changes += [
            Change.about(kind, "changed", [places[one] for one in sorted(set(rows))], _WORDS[kind])
            for kind, rows in sorted(self.told.items())
        ]
        bend = self._bend(geometries, changes) if self.asked.why_not_own else 0.0
        return Features(facts.url, columns, geometries, self.asked.code, tuple(changes), bend)

    def _bend(self, geometries: NDArray[Any], changes: list[Change]) -> float:
        """Tell that it was asked for degrees, and return how many feet its sides may be bent by that."""
        from grownj_geo.servicecrs import bend_ft  # noqa: PLC0415 - pyproj is slow to import

        bend = bend_ft(geometries)
        changes.append(
            _noted(
                "asked_in_degrees",
                len(geometries),
                f"The service was asked for longitude and latitude, since {self.asked.why_not_own}. Sides that are "
                f"straight in its own may come as much as {bend:.1f} ft beside; these are added to the accuracy.",
            )
        )
        return bend


def _asked_of(facts: ServiceFacts) -> AskedSystem:
    from grownj_geo.servicecrs import system_to_ask  # noqa: PLC0415 - pyproj is slow to import

    return system_to_ask(facts)


def _noted(kind: str, count: int, words: str) -> Change:
    return Change(kind=kind, effect="noted", count=count, words=words)


def _names(facts: ServiceFacts, fields: Sequence[str]) -> list[str]:
    """Return the fields to ask for, by the service's own spelling, the object id first."""
    known = {name.lower(): name for name in facts.fields}
    key = facts.object_id_field
    wanted = (
        [name for name in facts.fields if "(" not in name]
        if "*" in fields
        else [known.get(name.lower(), "") or name for name in fields]
    )
    missing = [name for name in wanted if name not in facts.fields]
    if missing or key not in facts.fields:
        raise LayerFault(
            "missing_field",
            f"{facts.url}: no field {', '.join(missing or [key])}; expected some of {', '.join(facts.fields)}. The "
            "publisher may have renamed it; name the fields that are there.",
        )
    return [key, *(name for name in dict.fromkeys(wanted) if name != key)]
