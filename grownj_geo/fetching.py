"""A layer from its publisher's service: terms shown and accepted, fetched whole, checked, kept as an edition."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from grownj_geo.edition import Origin
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault, LoadOptions
from grownj_geo.files import written_beside
from grownj_geo.loading import EditionFacts, Loaded, keep_layer, manifest_of, prepare_layer
from grownj_geo.manifest import load_manifests
from grownj_geo.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grownj_geo.features import Features
    from grownj_geo.manifest import Manifest
    from grownj_geo.netguard import Guard

__all__ = ["FetchOptions", "fetch_layer", "fetchable", "terms_accepted_at"]

_TRACTS = "census_tract_poverty"
_TERMS_FILE = "terms.json"
_SERVICE = re.compile(r"/(?:FeatureServer|MapServer)(?:/|$)", re.IGNORECASE)


@dataclass(frozen=True)
class FetchOptions:
    """How a layer is fetched.

    Attributes
    ----------
    url
        A service's layer, or a file to download, in place of the publisher's; its host may then be reached too.
    where
        Which features, in the service's own language: the layer is then a part, from which absence proves nothing.
    accept_terms
        The user has read the publisher's terms and accepts them; remembered until they change.
    allow_private
        Let addresses of inner networks through.
    page_size
        Features asked for at once; the server's own number by default.
    polite_s
        Pause between two pages, in seconds.
    acs_edition
        For census tracts: the five-year edition of the survey on poverty, such as ``"2011-2015"``.
    census_key
        The user's own key to the Census Bureau's interface, where there is one.
    poverty_url
        Another address of that interface than the Bureau's; its host may then be reached too.
    """

    url: str | None = None
    where: str | None = None
    accept_terms: bool = False
    allow_private: bool = False
    page_size: int | None = None
    polite_s: float = 0.1
    acs_edition: str | None = None
    census_key: str | None = None
    poverty_url: str | None = None


@dataclass(frozen=True)
class _Source:
    """What is fetched from where, and what came."""

    url: str
    features: Features
    announced: int | None
    facts: EditionFacts


def fetchable() -> tuple[str, ...]:
    """Return the layers that have a service.

    Examples
    --------
    >>> "planning_areas" in fetchable(), "municipalities" in fetchable()
    (True, False)
    """
    manifests = load_manifests().values()
    return tuple(m.id for m in manifests if not m.ships and (m.source_url or m.fetch_options))


def fetch_layer(
    layer_id: str,
    *,
    store: Store | None = None,
    fetch: FetchOptions | None = None,
    options: LoadOptions | None = None,
    facts: EditionFacts | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Loaded:
    """Fetch a layer whole and keep it as an edition.

    A fetch that was stopped goes on where it was. Nothing is kept of one that is not whole.

    Parameters
    ----------
    layer_id
        Which layer.
    store
        Where to keep it; the user's own by default.
    fetch
        From where, and how.
    options
        Fields, constants, strictness.
    facts
        Dates and accuracy; the edition's date is by default the day of the service's last edit, else today.
    progress
        Called with how many features have come, and of how many.

    Raises
    ------
    LayerFault
        ``terms_not_accepted``, ``no_service``, ``being_fetched``; and whatever goes wrong on the way.
    LayerError
        If the store cannot be written.
    """
    store, fetch, facts = store or Store(), fetch or FetchOptions(), facts or EditionFacts()
    manifest = manifest_of(layer_id)
    place = _address(manifest, fetch)
    accepted = _terms(manifest, store, accept=fetch.accept_terms)
    if fetch.where is not None:
        options = replace(options or LoadOptions(), partial=True)
    with _work_folder(store, layer_id, place) as work:
        came = _fetch(manifest, place, fetch, facts, work=work, progress=progress)
        layer, report = prepare_layer(came.features, layer_id, options=options, facts=came.facts)
        origin = Origin(
            how="fetch",
            source=came.url,
            retrieved_at=datetime.now(UTC).replace(microsecond=0),
            publisher_date=came.facts.edition,
            announced=came.announced,
            terms_accepted_at=accepted,
            where=fetch.where,
        )
        edition = keep_layer(layer, report, origin=origin, store=store)
        shutil.rmtree(work, ignore_errors=True)
    return Loaded(layer, report, edition)


class _Place(NamedTuple):
    url: str
    where: str


def _address(manifest: Manifest, fetch: FetchOptions) -> _Place:
    """Return where a layer is served, and which of its features are wanted."""
    if manifest.id == _TRACTS:
        from grownj_geo.surveys import tract_service  # noqa: PLC0415 - only where it is used

        if fetch.acs_edition is None:
            raise LayerFault(
                "no_edition",
                "Which edition of the survey on poverty governs is open (A6), so it is chosen, not assumed. Expected "
                "first and last year of a five-year edition; write it as --acs 2011-2015.",
            )
        service = tract_service(fetch.acs_edition)
        return _Place(fetch.url or service.url, fetch.where or service.where)
    url = fetch.url or manifest.source_url
    if url is None:
        raise LayerFault(
            "no_service",
            f"No service of {manifest.id} is known. {manifest.how_to_load} Then: grownj layers import {manifest.id} "
            "FILE. Or give the address of a service: --url.",
        )
    return _Place(url, fetch.where or "1=1")


def _fetch(
    manifest: Manifest,
    place: _Place,
    fetch: FetchOptions,
    facts: EditionFacts,
    *,
    work: Path,
    progress: Callable[[int, int], None] | None,
) -> _Source:
    from grownj_geo.featureservice import describe_service, fetch_features  # noqa: PLC0415 - brings in httpx

    guard = _guard(manifest, place.url, fetch)
    if _SERVICE.search(place.url) is None:
        if fetch.where is not None:
            raise LayerFault("no_service", f"{place.url} is a file, of which nothing can be chosen. Leave --where out.")
        features = _downloaded(manifest, place.url, guard, work)
        return _Source(place.url, features, None, facts)
    service = describe_service(place.url, guard=guard)
    features = fetch_features(
        place.url,
        guard=guard,
        where=place.where,
        page_size=fetch.page_size,
        work_folder=work / "pages",
        progress=progress,
        polite_s=fetch.polite_s,
    )
    announced = len(features)
    if manifest.id == _TRACTS:
        features = _with_poverty(features, guard, fetch)
    today = datetime.now(UTC).date()
    return _Source(
        place.url, features, announced, replace(facts, edition=facts.edition or service.last_edited or today)
    )


def _downloaded(manifest: Manifest, url: str, guard: Guard, work: Path) -> Features:
    from grownj_geo.download import download  # noqa: PLC0415 - brings in httpx
    from grownj_geo.readers import read_features  # noqa: PLC0415 - brings in GDAL

    name = Path(urlsplit(url).path).name
    if not Path(name).suffix:
        raise LayerFault(
            "no_service",
            f"{url} is neither a layer of a service (.../FeatureServer/0, .../MapServer/6) nor a file. "
            "Expected one of these; correct the address.",
        )
    return read_features(download(url, work / name, guard=guard), kind=manifest.kind)


def _with_poverty(tracts: Features, guard: Guard, fetch: FetchOptions) -> Features:
    from grownj_geo.netclient import Session, json_of  # noqa: PLC0415 - brings in httpx
    from grownj_geo.poverty import fetch_poverty  # noqa: PLC0415 - only where it is used
    from grownj_geo.surveys import tract_service  # noqa: PLC0415 - only where it is used
    from grownj_geo.tracts import join_poverty  # noqa: PLC0415 - only where it is used

    edition = fetch.acs_edition
    assert edition is not None  # noqa: S101 - looked at before anything was fetched

    def get_json(url: str, params: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON is anything
        with Session(guard.naming(url)) as session:
            return session.read(f"{url}?{urlencode(params)}", json_of)

    # Of another address only what comes says on which tracts it is.
    vintage = tract_service(edition).vintage if fetch.url is None else None
    rates = fetch_poverty(edition, get_json=get_json, key=fetch.census_key, url=fetch.poverty_url)
    return join_poverty(tracts, rates, edition=edition, vintage=vintage)


def _guard(manifest: Manifest, url: str, fetch: FetchOptions) -> Guard:
    from grownj_geo.netguard import Guard  # noqa: PLC0415 - only where it is used

    hosts = {urlsplit(known).hostname or "" for known in (manifest.source_url,) if known}
    guard = Guard(frozenset(hosts), allow_private=fetch.allow_private)
    # The address is the package's own, or the user named it.
    return guard.naming(url)


# -- terms ----------------------------------------------------------------------------------------------


def terms_accepted_at(manifest: Manifest, store: Store) -> datetime | None:
    """Return when the terms of a layer, as they read now, were accepted; None where they were not."""
    found = _accepted(store).get(manifest.id)
    if found is None or found["terms"] != _digest(manifest.terms):
        return None
    return datetime.fromisoformat(found["at"])


def _terms(manifest: Manifest, store: Store, *, accept: bool) -> datetime:
    known = terms_accepted_at(manifest, store)
    if known is not None:
        return known
    if not accept:
        raise LayerFault(
            "terms_not_accepted",
            f"{manifest.title}, {manifest.publisher}. Terms: {manifest.terms} Read the publisher's own words where you "
            f"fetch it. If you accept them, run again with --accept-terms.",
        )
    now = datetime.now(UTC).replace(microsecond=0)
    entry = {"terms": _digest(manifest.terms), "at": now.isoformat()}
    path = store.home / _TERMS_FILE
    try:
        store.home.mkdir(parents=True, exist_ok=True)
        with written_beside(path) as beside:
            beside.write_text(json.dumps(_accepted(store) | {manifest.id: entry}, indent=2), encoding="utf-8")
    except OSError as error:
        raise LayerError(
            f"The store {store.home} could not be written ({error.strerror}). Check its permissions."
        ) from error
    return now


def _accepted(store: Store) -> dict[str, dict[str, str]]:
    path = store.home / _TERMS_FILE
    try:
        found: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise LayerError(
            f"The file {path} cannot be read ({error}). Remove it; terms are then asked for again."
        ) from error
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# -- the work folder ------------------------------------------------------------------------------------


@contextmanager
def _work_folder(store: Store, layer_id: str, place: _Place) -> Iterator[Path]:
    """Give a fetch its own folder in the store, which a later one of the same question takes up."""
    import filelock  # noqa: PLC0415 - only where it is used

    work = store.home / "fetching" / f"{layer_id}-{_digest(place.url + place.where)[:8]}"
    lock = filelock.FileLock(work.with_suffix(".lock"), timeout=0)
    try:
        work.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise LayerFault(
            "being_fetched", f"{layer_id} is being fetched by another run. Wait for it, or stop it, and try again."
        ) from error
    except OSError as error:
        words = f"The store {store.home} could not be written ({error.strerror or error}). Check its permissions."
        raise LayerError(words) from error
    try:
        yield work
    finally:
        lock.release()
