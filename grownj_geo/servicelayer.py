"""One layer of a feature service: its address, what it says about itself, and questions put to it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from grownj_geo.esrijson import KINDS
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grownj_geo.netclient import Reply, Session

__all__ = ["ServiceFacts", "ask", "count_of", "facts_of", "ids_of", "layer_url"]

_LAYER = re.compile(
    r"(?P<layer>.+/(?:FeatureServer|MapServer)/[0-9]+)/?(?:query/?)?(?:\?f=p?(?:json|html))?", re.IGNORECASE
)
_LONGEST_GET = 1_800
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Codes of errors that do not go away by asking again.
_SIGN_IN = frozenset({401, 403, 498, 499})
# Fields that the server itself keeps by these names; one that is named Shape_Area can be a left-over of another system.
_AREA_FIELDS = re.compile(r"(?:shape__area|shape\.starea\(\)|shape\.area)", re.IGNORECASE)


@dataclass(frozen=True)
class ServiceFacts:
    """What a service says about a layer.

    Attributes
    ----------
    url
        Of the layer, without a query.
    count
        How many features it announces for the choice asked for.
    last_edited
        The day of its last edit (UTC), None where it does not say.
    last_edit_ms
        The same as milliseconds since 1970, as it says it.
    wkid
        Number of the CRS that it keeps its coordinates in.
    max_record_count
        The most features that it gives at once.
    geometry
        Its kind of geometry, such as ``"esriGeometryPolygon"``.
    object_id_field
        The field that tells features apart.
    fields
        Kind by name of field, geometry left out.
    area_field
        The field in which the server itself keeps areas, in the square units of `wkid`.
    statistics, extents
        Whether it offers sums, and the extent of a choice.
    copyright_text, description
        Its own words, where terms of use may stand.
    """

    url: str
    name: str
    count: int
    last_edited: date | None
    last_edit_ms: int | None
    wkid: int | None
    max_record_count: int | None
    geometry: str
    object_id_field: str
    fields: dict[str, str] = field(default_factory=dict)
    area_field: str | None = None
    statistics: bool = False
    extents: bool = False
    copyright_text: str = ""
    description: str = ""


def layer_url(url: str) -> str:
    """Return the address of a layer from one that may end in a slash, in ``/query`` or in ``?f=json``.

    Raises
    ------
    LayerFault
        ``not_a_layer_address`` for anything else, such as a service without the number of a layer.

    Examples
    --------
    >>> layer_url("https://maps.nj.gov/arcgis/rest/services/Framework/Government_Boundaries/MapServer/2/?f=json")
    'https://maps.nj.gov/arcgis/rest/services/Framework/Government_Boundaries/MapServer/2'
    """
    found = _LAYER.fullmatch(url.strip())
    if found is None or "?" in found["layer"]:
        raise LayerFault(
            "not_a_layer_address",
            f"{url[:300]!r}: no address of a layer; expected one that ends in FeatureServer/ and a number, or "
            "MapServer/ and a number, with nothing after it. Open the service in a browser and take the layer's.",
        )
    return found["layer"]


def ask(session: Session, url: str, params: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON object that a service answers, sending long questions by POST.

    Raises
    ------
    LayerFault
        ``service_error`` for an error that stays after asking again, ``sign_in`` where it wants one, and what
        `Session.read` raises.
    """
    query = urlencode({"f": "json", **params})
    if len(url) + len(query) < _LONGEST_GET:
        return session.read(f"{url}?{query}", _object_of)
    return session.read(url, _object_of, form={"f": "json", **params})


def _object_of(reply: Reply) -> dict[str, Any]:
    from grownj_geo.netclient import TransientError, json_of  # noqa: PLC0415 - httpx is slow to import

    found = json_of(reply)
    where = reply.url.partition("?")[0]
    if not isinstance(found, dict):
        raise TransientError("bad_reply", f"{where}: the reply is a {type(found).__name__}; expected a JSON object.")
    error = found.get("error")
    if error is None and found.get("status") != "error":
        return found
    error = error if isinstance(error, dict) else {"message": str(error or found)}
    details = error.get("details")
    more = "; ".join(str(detail) for detail in details) if isinstance(details, list) else ""
    # Quoted, so that no sign in it is obeyed by a terminal.
    words = f"{error.get('code')!r}, {str(error.get('message'))[:200]!r}{f', {more[:200]!r}' if more else ''}"
    if error.get("code") in _SIGN_IN:
        raise LayerFault(
            "sign_in",
            f"{where}: the service gives this to those signed in only ({words}). Download the layer by hand and "
            "import it, or ask the publisher.",
        )
    raise TransientError(
        "service_error", f"{where}: the service answered an error ({words}); expected features. Try again later."
    )


def facts_of(session: Session, url: str, *, where: str) -> ServiceFacts:
    """Return what a service says about a layer, and how many features it has for a choice.

    Raises
    ------
    LayerFault
        ``not_features`` for a layer without features or object ids, and what `ask` raises.
    """
    raw = ask(session, url, {})
    try:
        return _read_facts(raw, url, count_of(session, url, where))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, LayerFault):
            raise
        raise LayerFault(
            "bad_reply",
            f"{url}: what the service says about the layer does not fit the format ({type(error).__name__}: {error}). "
            "It may not be a feature service; download the layer by hand and import it.",
        ) from error


def _read_facts(raw: dict[str, Any], url: str, count: int) -> ServiceFacts:
    fields = {str(entry["name"]): str(entry["type"]) for entry in raw.get("fields") or ()}
    key = raw.get("objectIdField") or next((n for n, kind in fields.items() if kind == "esriFieldTypeOID"), None)
    kind = raw.get("geometryType")
    if kind not in KINDS or not key:
        raise LayerFault(
            "not_features",
            f"{url}: a {raw.get('type') or 'thing without a type'} with geometry {kind!r} and object id field {key!r}; "
            "expected a feature layer of points, lines or polygons. Name the address of one layer of the service.",
        )
    editing = raw.get("editingInfo") or {}
    edited = editing.get("dataLastEditDate") or editing.get("lastEditDate")
    advanced = raw.get("advancedQueryCapabilities") or {}
    named = (raw.get("geometryProperties") or {}).get("shapeAreaFieldName")
    most = raw.get("maxRecordCount")
    return ServiceFacts(
        url=url,
        name=str(raw.get("name") or ""),
        count=count,
        last_edited=None if edited is None else (_EPOCH + timedelta(milliseconds=edited)).date(),
        last_edit_ms=None if edited is None else int(edited),
        # A map has a system too, that of its extents, which need not be the data's.
        wkid=_wkid(raw.get("sourceSpatialReference")) or _wkid((raw.get("extent") or {}).get("spatialReference")),
        max_record_count=int(most) if most else None,
        geometry=kind,
        object_id_field=next((name for name in fields if name.lower() == str(key).lower()), str(key)),
        fields={name: kind for name, kind in fields.items() if kind != "esriFieldTypeGeometry"},
        area_field=named or next((name for name in fields if _AREA_FIELDS.fullmatch(name)), None),
        statistics=bool(advanced.get("supportsStatistics", raw.get("supportsStatistics"))),
        extents=bool(advanced.get("supportsReturningQueryExtent")),
        copyright_text=str(raw.get("copyrightText") or ""),
        description=str(raw.get("description") or ""),
    )


def _wkid(reference: Any) -> int | None:  # noqa: ANN401 - JSON is anything
    found = reference.get("latestWkid") or reference.get("wkid") if isinstance(reference, dict) else None
    return int(found) if found else None


def count_of(session: Session, url: str, where: str) -> int:
    """Return how many features a service announces.

    Raises
    ------
    LayerFault
        ``bad_reply`` where it announces none that can be read, and what `ask` raises.
    """
    found = ask(session, f"{url}/query", {"where": where, "returnCountOnly": "true"}).get("count")
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise _no_answer(url, "the number of features", found)
    return found


def ids_of(session: Session, url: str, where: str) -> tuple[int, ...]:
    """Return all object ids of a choice, sorted; a service's page size does not limit these.

    Raises
    ------
    LayerFault
        ``bad_reply`` where it answers none that can be read, and what `ask` raises.
    """
    reply = ask(session, f"{url}/query", {"where": where, "returnIdsOnly": "true"})
    found = reply.get("objectIds", "nothing")
    if found is None:
        return ()  # how servers say that there are none
    if not isinstance(found, list) or not all(isinstance(one, int) and not isinstance(one, bool) for one in found):
        raise _no_answer(url, "the object ids", found)
    return tuple(sorted(found))


def _no_answer(url: str, what: str, found: object) -> LayerFault:
    return LayerFault(
        "bad_reply",
        f"{url}: asked for {what}, the service answered {json.dumps(found)[:60]}; expected whole numbers. It may not "
        "be a feature service; download the layer by hand and import it.",
    )
