"""`grownj serve` as a process of its own on loopback, for the tests of the page and of the HTTP API."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from grownj_geo.serverun import listening, server_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi import FastAPI

_READY_S = 60.0


@dataclass
class Served:
    """A server that answers."""

    address: str
    port: int
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    @property
    def log(self) -> list[dict[str, Any]]:
        """What it wrote down so far."""
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def client(self, **headers: str) -> httpx.Client:
        """Return a client that asks it."""
        return httpx.Client(base_url=self.address, headers=headers, timeout=60.0)

    def raw(self, content: bytes, *, wait_s: float = 20.0) -> bytes:
        """Send bytes as they are, and return all that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait_s) as sock:
            sock.sendall(content)
            return read_all(sock)


def sent_until_cut(sock: socket.socket, piece: bytes, most: int) -> int:
    """Send a piece again and again until the other side cuts it off or so many bytes are sent; return how many were."""
    sent = 0
    while sent < most:
        try:
            sock.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            break
        sent += len(piece)
    return sent


def read_all(sock: socket.socket) -> bytes:
    """Return what comes until the other side closes."""
    found = b""
    while True:
        try:
            piece = sock.recv(65_536)
        except ConnectionResetError:
            return found
        if not piece:
            return found
        found += piece


@contextmanager
def serving(home: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[Served]:
    """Run a server on a free port with its own home, and end it as Ctrl+C does."""
    environment = {**os.environ, "GROWNJ_HOME": str(home), **(env or {})}
    process = subprocess.Popen(
        [sys.executable, "-m", "grownj_geo", "serve", "--port", "0", *options],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    found = Served("", 0, process)
    reader = threading.Thread(target=_read, args=(process, found), daemon=True)
    reader.start()
    try:
        _wait(found)
        yield found
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            reader.join(5)
            if process.stderr is not None:
                process.stderr.close()


@contextmanager
def serving_here(app: FastAPI) -> Iterator[int]:
    """Run a server of an application in a thread of this process, and yield its port."""
    sock = listening("127.0.0.1", 0)
    server = server_of(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        yield sock.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        sock.close()
    assert not thread.is_alive()


def _read(process: subprocess.Popen[str], found: Served) -> None:
    for line in process.stderr or ():
        found.lines.append(line.rstrip("\n"))


def _wait(found: Served) -> None:
    stop = time.monotonic() + _READY_S
    while time.monotonic() < stop:
        told = re.search(r"Serving (http://127\.0\.0\.1:(\d+))/", "\n".join(found.lines))
        if told is not None:
            found.address, found.port = told[1], int(told[2])
            try:
                if httpx.get(f"{found.address}/healthz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
        if found.process.poll() is not None:
            break
        time.sleep(0.05)
    raise AssertionError("the server did not begin:\n" + "\n".join(found.lines))


def parcels_file(path: Path) -> Path:
    """Write four parcels in Camden and Collingswood, two of them with one address."""
    features = []
    for lon, lat, pin, street in (
        (-75.1190, 39.9447, "0408_81_1", "520 MARKET ST"),
        (-75.0700, 39.9170, "0412_10_2", "12 HADDON AVE"),
        (-75.1000, 39.9300, "0408_90_3.01", "7 BROADWAY"),
        (-75.1010, 39.9310, "0408_90_4", "7 BROADWAY"),
    ):
        west, east, south, north = lon - 0.0003, lon + 0.0003, lat - 0.0003, lat + 0.0003
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        shape = {"type": "Polygon", "coordinates": [ring]}
        features.append({"type": "Feature", "properties": {"PAMS_PIN": pin, "PROP_LOC": street}, "geometry": shape})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def load_parcels(home: Path, file: Path) -> None:
    """Import parcels into a home, as the command line does."""
    command = [sys.executable, "-m", "grownj_geo", "layers", "import", "parcels", str(file)]
    done = subprocess.run(
        command, env={**os.environ, "GROWNJ_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
