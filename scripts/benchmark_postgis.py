"""PostGIS on the same job, in a cluster that lives in a temporary folder for as long as it is measured."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_peers import by_id, municipal_wkb
from benchmark_process import timed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grownj_geo.determine import Engine

__all__ = ["FOLDERS", "Cluster", "cluster", "municipal_by_postgis", "programs"]

FOLDERS = Path("/usr/lib/postgresql")
"""Where Debian keeps servers, by version."""
_JOINS = {
    "whole": "CREATE UNLOGGED TABLE joined AS SELECT s.id, a.code FROM sites s JOIN areas a "
    "ON ST_Intersects(a.geom, s.geom)",
    "subdivided": "CREATE UNLOGGED TABLE joined AS SELECT s.id, p.code FROM sites s JOIN pieces p "
    "ON ST_Intersects(p.geom, s.geom)",
}
_SETTINGS = (
    "listen_addresses=",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "shared_buffers=512MB",
    "work_mem=256MB",
    "maintenance_work_mem=256MB",
    "max_parallel_workers_per_gather={processors}",
    "max_parallel_workers={processors}",
    "parallel_setup_cost=0",
    "min_parallel_table_scan_size=0",
)
"""No network, no care for the disk, and every processor."""


def programs() -> Path | None:
    """Return the folder of a PostgreSQL server that has the PostGIS extension; None where there is none."""
    known = shutil.which("pg_config")
    folders = sorted(FOLDERS.glob("*/bin"), reverse=True)
    if known is not None:
        told = subprocess.run([known, "--bindir"], capture_output=True, text=True, check=True).stdout  # noqa: S603
        folders.insert(0, Path(told.strip()))
    for folder in folders:
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            control = folder / "pg_config"
            places = [Path("/usr/share/postgresql") / folder.parent.name / "extension"]
            if control.is_file():
                told = subprocess.run([control, "--sharedir"], capture_output=True, text=True, check=False).stdout  # noqa: S603
                places.append(Path(told.strip()) / "extension")
            if any((place / "postgis.control").is_file() for place in places):
                return folder
    return None


class Cluster:
    """A PostgreSQL server of our own, asked through its socket.

    Parameters
    ----------
    folder
        Where it lives: its data, its socket, its log.
    bin_folder
        Where its programs are.
    user
        Who runs it; None for whoever runs this.
    """

    def __init__(self, folder: Path, bin_folder: Path, user: str | None) -> None:
        self.folder, self._bin, self._user = folder, bin_folder, user

    def run(self, program: str, *words: str, given: bytes | None = None) -> str:
        """Run one of its programs and return what it prints.

        Raises
        ------
        SystemExit
            If it fails; with what it said.
        """
        done = subprocess.run(  # noqa: S603
            [self._bin / program, *words],
            input=given,
            capture_output=True,
            check=False,
            user=self._user,
            group=None if self._user is None else pwd.getpwnam(self._user).pw_gid,
            extra_groups=None if self._user is None else [],
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C", "HOME": str(self.folder)},
        )
        if done.returncode:
            log = self.folder / "log"
            told = done.stderr.decode(errors="replace")
            told = (told + (log.read_text(errors="replace") if log.is_file() else ""))[-2_000:]
            raise SystemExit(f"{program} ended with exit code {done.returncode}; expected 0. It said: {told}")
        return done.stdout.decode()

    def sql(self, words: str, *, given: bytes | None = None) -> str:
        """Return what statements print, unaligned and without headings."""
        options = ["-h", str(self.folder), "-d", "postgres", "-XqAt", "-F", ",", "-v", "ON_ERROR_STOP=1"]
        return self.run("psql", *options, "-c", words, given=given)


@contextmanager
def cluster(bin_folder: Path) -> Iterator[Cluster]:
    """Give a server with PostGIS that is stopped and removed at the end, whatever happens.

    A server refuses to be run by root, who lends it to the user of the package, or else to nobody.
    """
    user = None
    if os.geteuid() == 0:
        user = next(name for name in ("postgres", "nobody") if name in {each.pw_name for each in pwd.getpwall()})
    with tempfile.TemporaryDirectory(prefix="grownj-postgis-") as name:
        folder = Path(name)
        if user is not None:
            shutil.chown(folder, user)
        own = Cluster(folder, bin_folder, user)
        data, log = str(folder / "data"), str(folder / "log")
        own.run("initdb", "-D", data, "-A", "trust", "-U", user or pwd.getpwuid(os.geteuid()).pw_name, "--no-sync")
        settings = [word.format(processors=os.cpu_count() or 1) for word in _SETTINGS]
        options = " ".join(f'-c "{word}"' for word in settings) + f' -k "{folder}"'
        own.run("pg_ctl", "start", "-w", "-D", data, "-l", log, "-o", options)
        try:
            own.sql("CREATE EXTENSION postgis")
            yield own
        finally:
            own.run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", data)


def municipal_by_postgis(engine: Engine, points: NDArray[np.object_]) -> dict[str, Any]:
    """Return seconds, codes and version: with whole polygons, and with polygons that are cut into small ones.

    Both have a tree and are analyzed, and the second of two runs counts.
    """
    folder = programs()
    if folder is None:
        raise FileNotFoundError("PostGIS")
    codes, shapes = municipal_wkb(engine)
    xy = shapely.get_coordinates(points)
    with cluster(folder) as own:
        own.sql("CREATE TABLE raw (id int, x float8, y float8); CREATE TABLE areas (code text, geom geometry)")
        rows = "".join(f"{i},{x!r},{y!r}\n" for i, (x, y) in enumerate(xy.tolist()))
        own.sql("COPY raw FROM STDIN (FORMAT csv)", given=rows.encode())
        rows = "".join(f"{code},{shape.hex()}\n" for code, shape in zip(codes, shapes, strict=True))
        own.sql("COPY areas FROM STDIN (FORMAT csv)", given=rows.encode())
        own.sql(
            "CREATE TABLE sites AS SELECT id, ST_Point(x, y) AS geom FROM raw;"
            "CREATE TABLE pieces AS SELECT code, ST_Subdivide(geom, 128) AS geom FROM areas;"
            "CREATE INDEX ON sites USING gist (geom); CREATE INDEX ON areas USING gist (geom);"
            "CREATE INDEX ON pieces USING gist (geom)"
        )
        own.sql("VACUUM ANALYZE")
        found: dict[str, Any] = {"version": own.sql("SELECT version()").split(" on ")[0].strip()}
        found["version"] += ", PostGIS " + own.sql("SELECT postgis_lib_version()").strip()
        for name, query in _JOINS.items():
            seconds, _ = timed(partial(own.sql, f"DROP TABLE IF EXISTS joined; {query}"), times=2)
            lines = own.sql("COPY joined TO STDOUT (FORMAT csv)").split()
            pairs = [line.split(",") for line in lines]
            found[name] = seconds, by_id(np.array([int(i) for i, _ in pairs]), [code for _, code in pairs], len(xy))
    return found
