"""How long `grownj serve` takes to answer many clients, each asking about another place every second.

Starts a server of its own on loopback, lets each client begin at a moment of its own within the first second, and
prints percentiles, errors, memory before and after, and processor time as JSON. Asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import psutil

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Load", "measure_serving"]

SEED = 7
_READY_S, _WARM_S, _TOO_LONG_S = 60.0, 120.0, 30.0
_WEST, _EAST, _SOUTH, _NORTH = -74.7, -74.4, 40.2, 40.7
"""A box inside the State: every question is answered."""


@dataclass(frozen=True)
class Load:
    """Who asks, how often and how long.

    Attributes
    ----------
    clients
        Clients at once, each with one connection.
    seconds
        How long each asks, once a second.
    address
        A server that runs already; by default one is started.
    """

    clients: int = 50
    seconds: float = 60.0
    address: str | None = None


@dataclass
class _Seen:
    milliseconds: list[float] = field(default_factory=list)
    bytes: int = 0
    errors: list[str] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)


def measure_serving(load: Load) -> dict[str, Any]:
    """Return how long answers took, and what the server used for them.

    Parameters
    ----------
    load
        Who asks.
    """
    if load.address is not None:
        return asyncio.run(_measure(load.address, load, None))
    with tempfile.TemporaryDirectory(prefix="grownj-benchmark-") as home:
        process = subprocess.Popen(
            [sys.executable, "-m", "grownj_geo", "serve", "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "GROWNJ_HOME": home},
        )
        try:
            address = _address(process)
            return asyncio.run(_measure(address, load, psutil.Process(process.pid)))
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen[str]) -> str:
    """Return where the server listens, and let its log run into nothing from then on."""
    import threading  # noqa: PLC0415 - only here

    for line in process.stderr or ():
        told = re.search(r"Serving (http://\S+?)/? ", line)
        if told is not None:
            threading.Thread(target=lambda: [None for _ in process.stderr or ()], daemon=True).start()
            return told[1]
    raise SystemExit("The server did not begin; run grownj serve to see why.")


async def _measure(address: str, load: Load, process: psutil.Process | None) -> dict[str, Any]:
    seen = _Seen()
    limits = httpx.Limits(max_connections=load.clients, max_keepalive_connections=load.clients)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=_TOO_LONG_S) as client:
        await _ready(client)
        places = _places(int(load.clients * (load.seconds + 1)))
        begins = np.random.default_rng(SEED).random(load.clients)
        before = _used(process)
        started = time.monotonic()
        middle = asyncio.create_task(_later(load.seconds / 2, process))
        await asyncio.gather(
            *(
                _client(client, started + float(begins[i]), load.seconds, places[i :: load.clients], seen)
                for i in range(load.clients)
            )
        )
        seconds = time.monotonic() - started
        after = _used(process)
        halfway = await middle
    found = np.sort(np.array(seen.milliseconds))
    return {
        "clients": load.clients,
        "seconds": round(seconds, 1),
        "answers": len(found),
        "errors": len(seen.errors),
        "first_errors": seen.errors[:5],
        "milliseconds": {name: _percentile(found, share) for name, share in _SHARES.items()},
        "begun_late_ms_p99": _percentile(np.sort(np.array(seen.late_ms)), 99.0),
        "kilobytes_each": round(seen.bytes / max(len(found), 1) / 1e3, 1),
        "server": _of_server(before, halfway, after, len(found)),
    }


_SHARES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "most": 100.0}


def _percentile(values: NDArray[np.float64], share: float) -> float | None:
    return round(float(np.percentile(values, share)), 1) if len(values) else None


def _places(count: int) -> list[str]:
    rng = np.random.default_rng(SEED)
    lat = _SOUTH + (_NORTH - _SOUTH) * rng.random(count)
    lon = _WEST + (_EAST - _WEST) * rng.random(count)
    return [f"{a:.6f},{b:.6f}" for a, b in zip(lat, lon, strict=True)]


async def _ready(client: httpx.AsyncClient) -> None:
    """Wait until the server has read its layers and drawn its areas, which it does once when it begins."""
    stop = time.monotonic() + _READY_S
    while time.monotonic() < stop:
        try:
            if (await client.get("/healthz")).status_code == httpx.codes.OK:
                break
        except httpx.TransportError:
            await asyncio.sleep(0.2)
    (await client.get("/api/v1/areas", timeout=_WARM_S)).raise_for_status()
    for text in _places(8):
        (await client.post("/api/v1/determine", json={"site": text})).raise_for_status()


async def _client(client: httpx.AsyncClient, begin: float, seconds: float, places: list[str], seen: _Seen) -> None:
    for number, text in enumerate(places):
        due = begin + number
        if due - begin >= seconds:
            return
        await asyncio.sleep(max(due - time.monotonic(), 0.0))
        now = time.monotonic()
        seen.late_ms.append((now - due) * 1e3)
        try:
            answer = await client.post("/api/v1/determine", json={"site": text})
        except httpx.HTTPError as error:
            seen.errors.append(f"{type(error).__name__}: {error}")
            continue
        if answer.status_code != httpx.codes.OK:
            seen.errors.append(f"{answer.status_code}: {answer.text[:200]}")
            continue
        seen.milliseconds.append((time.monotonic() - now) * 1e3)
        seen.bytes += len(answer.content)


async def _later(seconds: float, process: psutil.Process | None) -> dict[str, float]:
    await asyncio.sleep(seconds)
    return _used(process)


def _used(process: psutil.Process | None) -> dict[str, float]:
    """Return megabytes and processor seconds of a server, and the megabytes of the processes that it started."""
    if process is None:
        return {}
    times = process.cpu_times()
    children = sum(child.memory_info().rss for child in process.children(recursive=True))
    return {
        "megabytes": round(process.memory_info().rss / 1e6, 1),
        "megabytes_of_helpers": round(children / 1e6, 1),
        "processor_seconds": times.user + times.system,
    }


def _of_server(
    before: dict[str, float], halfway: dict[str, float], after: dict[str, float], answers: int
) -> dict[str, Any]:
    if not before:
        return {}
    used = after["processor_seconds"] - before["processor_seconds"]
    return {
        "megabytes_before": before["megabytes"],
        "megabytes_halfway": halfway["megabytes"],
        "megabytes_after": after["megabytes"],
        "megabytes_of_helpers": after["megabytes_of_helpers"],
        "processor_ms_each": round(used * 1e3 / max(answers, 1), 1),
    }


def main() -> None:
    """Print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=Load.clients, help="clients at once (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=Load.seconds, help="how long (default: %(default)s)")
    parser.add_argument("--address", help="a server that runs already, as in http://127.0.0.1:8337")
    given = parser.parse_args()
    print(json.dumps(measure_serving(Load(given.clients, given.seconds, given.address)), indent=2))


if __name__ == "__main__":
    main()
