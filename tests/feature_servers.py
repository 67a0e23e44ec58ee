"""Servers on loopback for the tests of fetching: a stub that can misbehave in every way, and a real one (Koop)."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

from grownj_geo.netguard import Guard
from grownj_geo.reference import data_folder
from grownj_geo.units import to_lonlat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

KOOP = Path(__file__).with_name("koop")
_CLASSES = ("METROPOLITAN", "SUBURBAN", "FRINGE", "RURAL", "RURAL ENV. SENSITIVE", "ENV. SENSITIVE BARRIER IS")


@dataclass(frozen=True)
class Asked:
    """One question that came: what for, how, and with which words."""

    kind: str
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]

    @property
    def ids(self) -> list[int]:
        return [int(one) for one in self.params.get("objectIds", "").split(",") if one]


@dataclass(frozen=True)
class Answer:
    """What goes back. `drip_s` is the pause before each byte; with `promised`, that length is announced instead."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    drip_s: float = 0.0
    promised: int | None = None

    @classmethod
    def of(cls, value: Any, **more: Any) -> Answer:
        return cls(json.dumps(value).encode(), headers={"Content-Type": "application/json"}, **more)


class LoopbackServer:
    """A web server on a free port of this machine. `answer` says what goes back; what was asked is in `log`."""

    def __init__(self, answer: Callable[[Asked], Answer] | None = None, *, tls: ssl.SSLContext | None = None) -> None:
        self.log: list[Asked] = []
        self._answer = answer
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or each answer waits for the client's receipt of its headers

            def do_GET(self) -> None:
                outer.serve(self, "")

            def do_POST(self) -> None:
                outer.serve(self, self.rfile.read(int(self.headers["Content-Length"])).decode())

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """Clients that leave early are what is tested; anything else shows in the test's own failure."""
                if not isinstance(sys.exception(), ConnectionError | ssl.SSLError):
                    super().handle_error(*_)

        self._server = Server(("127.0.0.1", 0), Handler)
        if tls is not None:
            # The greeting waits until a thread of its own answers, not the one that takes connections.
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        assert self._answer is not None
        return self._answer(asked)

    def kind_of(self, _path: str, _params: Mapping[str, str]) -> str:
        return "file"

    def serve(self, handler: BaseHTTPRequestHandler, form: str) -> None:
        parts = urlsplit(handler.path)
        params = dict(parse_qsl(parts.query) + parse_qsl(form))
        kind = self.kind_of(parts.path, params)
        asked = Asked(kind, handler.command, parts.path, params, dict(handler.headers.items()))
        self.log.append(asked)
        answer = self.answer(asked)
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body) if answer.promised is None else answer.promised))
        handler.end_headers()
        if answer.drip_s:
            for i in range(len(answer.body)):
                time.sleep(answer.drip_s)
                handler.wfile.write(answer.body[i : i + 1])
                handler.wfile.flush()
        else:
            handler.wfile.write(answer.body)
        handler.close_connection = handler.close_connection or answer.promised is not None


class FeatureStub(LoopbackServer):
    """A feature server that does as it should until a rule says otherwise.

    The first of `rules` that returns an answer has the word. `features`, `cap` and `layer` can be changed while it
    runs.
    """

    def __init__(self, features: list[dict[str, Any]], *, cap: int = 2000) -> None:
        self.features = features
        self.cap = cap
        self.rules: list[Callable[[Asked], Answer | None]] = []
        self.layer: dict[str, Any] = {
            "currentVersion": 11.2,
            "id": 0,
            "name": "Planning areas",
            "type": "Feature Layer",
            "geometryType": "esriGeometryPolygon",
            "objectIdField": "OBJECTID",
            "copyrightText": "Not to be given to others.",
            "description": "Drawn for a test.",
            "maxRecordCount": cap,
            "supportsStatistics": True,
            "advancedQueryCapabilities": {"supportsStatistics": True, "supportsReturningQueryExtent": True},
            "editingInfo": {"lastEditDate": 1_500_000_000_000},
            "extent": {"spatialReference": {"wkid": 4326, "latestWkid": 4326}},
            "fields": [
                {"name": "OBJECTID", "type": "esriFieldTypeOID"},
                {"name": "SPDETAIL", "type": "esriFieldTypeString"},
                {"name": "P2ACRES", "type": "esriFieldTypeDouble"},
                {"name": "CENDATE", "type": "esriFieldTypeDate"},
                {"name": "Shape__Area", "type": "esriFieldTypeDouble"},
            ],
        }
        super().__init__()

    @property
    def layer_url(self) -> str:
        return f"{self.url}/arcgis/rest/services/Planning/FeatureServer/0"

    @property
    def pages(self) -> list[Asked]:
        return [asked for asked in self.log if asked.kind == "page"]

    def kind_of(self, path: str, params: Mapping[str, str]) -> str:
        if not path.endswith("/query"):
            return "layer"
        known = {
            "returnCountOnly": "count",
            "returnIdsOnly": "ids",
            "returnExtentOnly": "extent",
            "outStatistics": "sum",
        }
        return next((kind for name, kind in known.items() if name in params), "page")

    def answer(self, asked: Asked) -> Answer:
        for rule in self.rules:
            found = rule(asked)
            if found is not None:
                return found
        return Answer.of(self.honest(asked))

    def honest(self, asked: Asked) -> dict[str, Any]:
        """Return what a faultless server answers."""
        ids = [feature["attributes"]["OBJECTID"] for feature in self.features]
        if asked.kind == "layer":
            return self.layer
        if asked.kind == "count":
            return {"count": len(ids)}
        if asked.kind == "ids":
            return {"objectIdFieldName": "OBJECTID", "objectIds": ids}
        if asked.kind == "sum":
            areas = [feature["attributes"]["Shape__Area"] for feature in self.features]
            return {"features": [{"attributes": {"area_sum": math.fsum(areas)}}]}
        if asked.kind == "extent":
            xy = [point for feature in self.features for ring in feature["geometry"]["rings"] for point in ring]
            xs, ys = [point[0] for point in xy], [point[1] for point in xy]
            box = {"xmin": min(xs), "ymin": min(ys), "xmax": max(xs), "ymax": max(ys)}
            return {"extent": {**box, "spatialReference": {"wkid": 4326}}}
        wanted = set(asked.ids)
        return self.page([one for one in self.features if one["attributes"]["OBJECTID"] in wanted])

    def page(self, features: list[dict[str, Any]], *, flag: bool | None = None) -> dict[str, Any]:
        """Return a page of at most the cap's features, with the more-flag where there are more."""
        return {
            "objectIdFieldName": "OBJECTID",
            "geometryType": "esriGeometryPolygon",
            "spatialReference": {"wkid": 4326, "latestWkid": 4326},
            "exceededTransferLimit": len(features) > self.cap if flag is None else flag,
            "features": features[: self.cap],
        }


def square_feature(number: int, **attributes: Any) -> dict[str, Any]:
    """Return a square of a tenth of a degree, wound as the format wants, with the publisher's field names."""
    x, y = -75.0 + 0.01 * (number % 100), 39.0 + 0.01 * (number // 100)
    ring = [[x, y], [x, y + 0.01], [x + 0.01, y + 0.01], [x + 0.01, y], [x, y]]
    plain = {
        "OBJECTID": number,
        "SPDETAIL": _CLASSES[number % len(_CLASSES)],
        "P2ACRES": number + 0.5,
        "CENDATE": 1_492_387_200_000,
        "Shape__Area": 0.0001,
    }
    return {"attributes": plain | attributes, "geometry": {"rings": [ring]}}


def loopback_guard(url: str, **limits: Any) -> Guard:
    """Return a guard that lets this one server through, and does not wait long."""
    quick = {"tries": 3, "backoff_s": 0.01, "idle_s": 5.0, "reply_s": 20.0, "longest_wait_s": 2.0}
    return Guard(frozenset(), allow_private=True, **(quick | limits)).naming(url)


@lru_cache(maxsize=1)
def planning_areas(count: int = 3114) -> dict[str, Any]:
    """Return drawn planning areas as GeoJSON: every third with a hole, every fifth in two parts."""

    def box(x: float, y: float, side: float, *, hole: bool = False) -> list[list[float]]:
        ring = [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]
        return ring[::-1] if hole else ring

    features = []
    for i in range(count):
        x, y = -75.5 + 0.02 * (i % 70), 39.0 + 0.02 * (i // 70)
        rings = [box(x, y, 0.008)] + ([box(x + 0.002, y + 0.002, 0.004, hole=True)] if i % 3 == 0 else [])
        parts = [rings] + ([[box(x + 0.01, y + 0.01, 0.007)]] if i % 5 == 0 else [])
        one = len(parts) == 1
        shape = {"type": "Polygon" if one else "MultiPolygon", "coordinates": rings if one else parts}
        row = {"OBJECTID": i + 1, "SPDETAIL": _CLASSES[i % 6], "SPDETAIL2": f"{i % 9999:04d}", "P2ACRES": 1.25 * i}
        features.append({"type": "Feature", "properties": row, "geometry": shape})
    # Without these the server guesses, and takes 0101 for a day.
    fields = [("OBJECTID", "Integer"), ("SPDETAIL", "String"), ("SPDETAIL2", "String"), ("P2ACRES", "Double")]
    return geojson("planning_areas", fields, features)


@lru_cache(maxsize=1)
def municipalities() -> dict[str, Any]:
    """Return the municipalities that ship as GeoJSON."""
    table = pq.read_table(data_folder() / "municipalities.parquet", columns=["mun_code", "name", "geometry"])
    shapes = shapely.transform(
        shapely.from_wkb(table["geometry"].to_pylist()), lambda xy: np.column_stack(to_lonlat(xy[:, 0], xy[:, 1]))
    )
    rows = zip(table["mun_code"].to_pylist(), table["name"].to_pylist(), shapes, strict=True)
    features = [
        {
            "type": "Feature",
            "properties": {"OBJECTID": number, "MUN_CODE": code, "NAME": name},
            "geometry": json.loads(shapely.to_geojson(shape)),
        }
        for number, (code, name, shape) in enumerate(rows, start=1)
    ]
    return geojson("municipalities", [("OBJECTID", "Integer"), ("MUN_CODE", "String"), ("NAME", "String")], features)


def geojson(name: str, fields: list[tuple[str, str]], features: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a feature collection with the notes that Koop's file provider reads."""
    about = {
        "name": name,
        "idField": "OBJECTID",
        "maxRecordCount": 2000,
        "fields": [{"name": field_name, "type": kind} for field_name, kind in fields],
    }
    return {"type": "FeatureCollection", "metadata": about, "features": features}


def install_koop(cache: Path) -> Path:
    """Return a folder with the installed server, installing it once for each state of the lock file."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not on this machine: the real feature server cannot be started")
    names = ("package.json", "package-lock.json", "server.mjs")
    state = hashlib.sha256(b"".join((KOOP / name).read_bytes() for name in names)).hexdigest()[:16]
    ready = cache / state
    if not ready.is_dir():
        # Installed aside and renamed, so that a stopped run or a second one beside it leaves nothing half-made.
        aside = cache / f"{state}-{os.getpid()}"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        for name in names:
            shutil.copy(KOOP / name, aside)
        command = [npm, "ci", "--omit=peer", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run(command, cwd=aside, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            words = f"npm could not install the real feature server: {done.stderr[-500:]}"
            if os.environ.get("CI_OFFLINE") == "1":
                pytest.skip(words)
            pytest.fail(words)
        try:
            aside.rename(ready)
        except OSError:
            assert ready.is_dir()  # another run was faster
            shutil.rmtree(aside)
    return ready


@contextmanager
def koop(installed: Path, folder: Path) -> Iterator[str]:
    """Start Koop on the GeoJSON files of a folder, and yield the address before a file's name."""
    node = shutil.which("node")
    assert node is not None
    environment = {**os.environ, "SUPPRESS_NO_CONFIG_WARNING": "1"}
    with subprocess.Popen(
        [node, str(installed / "server.mjs"), folder.name],
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as server:
        try:
            assert server.stdout is not None
            port = next((line.split()[1] for line in server.stdout if line.startswith("PORT ")), None)
            assert port is not None, "the real feature server did not start"
            # Read on, or the server stands still when the pipe is full.
            threading.Thread(target=server.stdout.read, daemon=True).start()
            yield f"http://127.0.0.1:{port}/file-geojson/rest/services"
        finally:
            server.kill()
