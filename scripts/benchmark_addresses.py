"""Print how many addresses of a real tax list are found, as typed and misspelt, and how long a search takes statewide.

Run from anywhere: ``python scripts/benchmark_addresses.py [--rows 3400000] [--json FILE]``. Asserts nothing. The tax
list is ``../shared/data/orange_city_modiv_2022.csv`` and left out where it is absent; the State is made up, with
streets named after what streets here are named after.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import resource
import sqlite3
import statistics
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from address_slips import SLIPS, misspelt

import grownj_geo as gj
from grownj_geo.addressbuild import build_address_index
from grownj_geo.addressindex import AddressIndex
from grownj_geo.determine import Directory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grownj_geo.locate import MunicipalDirectory

ORANGE = Path(__file__).resolve().parents[2] / "shared" / "data" / "orange_city_modiv_2022.csv"
ORANGE_PLACES = ("Orange", "Orange, NJ", "Orange NJ 07050", "City of Orange", "Orange Twp", "Ornage, NJ")
AIM_EXACT, AIM_MISSPELT, AIM_SEARCH_MS = 0.99, 0.95, 50.0

_COMMON = """
    MAIN PARK WASHINGTON MAPLE BROAD CENTRAL LINCOLN CHURCH OAK PINE WALNUT CHESTNUT ELM CEDAR HIGHLAND RIVER SPRING
    UNION FRANKLIN JEFFERSON MADISON MONROE JACKSON GROVE HILLSIDE LAKE PROSPECT PLEASANT MILL STATE MARKET FRONT SPRUCE
    LOCUST BIRCH WILLOW SUNSET MEADOW FOREST LIBERTY SUMMIT VALLEY ORCHARD COLLEGE SCHOOL RAILROAD VERNON CLINTON
    HAMILTON ADAMS GRANT CLEVELAND GARFIELD DELAWARE EVERGREEN HICKORY LAUREL FAIRVIEW CAMBRIDGE OXFORD
"""
_STARTS = """
    ASH BAR BEL BRA BUR CAL CAR CHES CLAR COL CON DEN DUN EL FAR FEN GAR GLEN HAR HAL HOL KEN KIN LAN LEX LIN MAR MEL
    MOR NEW NOR OR PEM RAD ROS SAN SHER STAN SUT TAL THORN VAN WAL WES WIN YOR
"""
_MIDDLES = "EN ER IN ING LE LING MAN MER MORE NEY RI SEY TER TON VEN WIN"
_ENDS = "BURG BURY DALE FIELD FORD GATE HURST LAND LEY MERE MONT RIDGE SON STONE TON VIEW WELL WICK WOOD WORTH"
_SUFFIXES = ("STREET", "AVENUE", "ROAD", "DRIVE", "LANE", "COURT", "PLACE", "TERRACE", "WAY", "BLVD", "CIRCLE")
_WEIGHTS = (26, 22, 16, 12, 7, 7, 5, 2, 1, 1, 1)
TABLES = """
CREATE TABLE parcels (id INTEGER PRIMARY KEY, pin TEXT, mun_code TEXT, block TEXT, lot TEXT, qualifier TEXT,
    address TEXT, zip_code TEXT);
CREATE TABLE address_points (id INTEGER PRIMARY KEY, mun_code TEXT, address TEXT, zip_code TEXT, x_ft REAL, y_ft REAL,
    kind TEXT, source TEXT);
"""


@dataclass(frozen=True)
class Shares:
    """Of a tax list's addresses: which share was found, and how many were said to be certain, and wrongly."""

    what: str
    rows: int
    found: float
    certain: float
    wrongly_certain: int
    median_ms: float


@dataclass(frozen=True)
class Searches:
    """How long searches of one kind took, on the clock and of a processor, and which share is among what is shown."""

    what: str
    searches: int
    found: float
    median_ms: float
    p99_ms: float
    processor_median_ms: float
    processor_p99_ms: float
    processor_max_ms: float

    def __str__(self) -> str:
        """Return a line of figures."""
        return (
            f"{self.what}: median {self.median_ms:.1f} ms, 99 of 100 within {self.p99_ms:.1f} ms; of a processor "
            f"{self.processor_median_ms:.1f}, {self.processor_p99_ms:.1f}, at most {self.processor_max_ms:.1f} ms "
            f"(aim {AIM_SEARCH_MS:.0f} ms); shown {self.found:.1%}"
        )


class _Clock:
    """Times of one kind of search."""

    def __init__(self) -> None:
        self._clock: list[float] = []
        self._processor: list[float] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        start, worked = time.perf_counter(), time.thread_time()
        yield
        self._processor.append((time.thread_time() - worked) * 1e3)
        self._clock.append((time.perf_counter() - start) * 1e3)

    def figures(self, what: str, found: float) -> Searches:
        clock, processor = sorted(self._clock), sorted(self._processor)
        middle, late = len(clock) // 2, min(len(clock) - 1, len(clock) * 99 // 100)
        return Searches(
            what,
            len(clock),
            found,
            clock[middle],
            clock[late],
            processor[middle],
            processor[late],
            processor[-1],
        )


def orange_index(path: Path, directory: MunicipalDirectory) -> tuple[list[str], AddressIndex]:
    """Return the addresses of the tax list, and an index in which row n is parcel n + 1."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    connection.executemany(
        "INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
        [
            (i, row["pams_pin"], row["mun_code"], row["block"], row["lot"], row["qual"], row["prop_loc"])
            for i, row in enumerate(rows, start=1)
        ],
    )
    build_address_index(connection)
    return [row["prop_loc"] for row in rows], AddressIndex(connection, directory)


def measure_shares(what: str, index: AddressIndex, typed: Sequence[str]) -> Shares:
    """Search what was typed for row n of a list; it is found if parcel n + 1 is among the best hits, ties included."""
    found = certain = wrong = 0
    times = []
    for number, text in enumerate(typed, start=1):
        start = time.perf_counter()
        hits = index.search(text)
        times.append(time.perf_counter() - start)
        found += any(number in hit.parcel_ids for hit in hits if hit.score == hits[0].score)
        if hits and hits[0].certain:
            certain += 1
            wrong += number not in hits[0].parcel_ids
    rows = len(typed)
    return Shares(what, rows, found / rows, certain / rows, wrong, statistics.median(times) * 1e3)


def state_rows(
    directory: MunicipalDirectory, rows: int, seed: int = 7
) -> Iterator[tuple[int, str, str, str, str, str, str, None]]:
    """Yield parcels of a made-up State: streets of each municipality, with the numbers of their houses in order."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret is drawn
    codes = sorted(directory.names)
    number = 0
    for position, code in enumerate(codes):
        wanted = rows * (position + 1) // len(codes) - rows * position // len(codes)
        taken: set[str] = set()
        while wanted > 0:
            street = _street_name(chance)
            if street in taken:
                continue
            taken.add(street)
            house = chance.choice((1, 2, 10, 100, 101))
            for _ in range(min(wanted, int(chance.lognormvariate(3.0, 0.9)) + 1)):
                number += 1
                wanted -= 1
                house += chance.choice((1, 1, 2, 2, 4, 6))
                unit = f" UNIT {chance.randrange(1, 40)}" if chance.random() < 0.04 else ""  # noqa: PLR2004 - one of 25
                block, lot = str(len(taken)), str(house)
                yield number, f"{code}_{block}_{lot}", code, block, lot, "", f"{house} {street}{unit}", None


def _street_name(chance: random.Random) -> str:
    everywhere, longer, directed = (chance.random() < share for share in (0.25, 0.7, 0.12))
    if everywhere:
        common = _COMMON.split()
        name = common[min(int(chance.expovariate(0.06)), len(common) - 1)]
    else:
        middle = "".join(chance.choices(_MIDDLES.split(), k=chance.choice((1, 2)))) if longer else ""
        name = chance.choice(_STARTS.split()) + middle + chance.choice(_ENDS.split())
    before = chance.choice(("NORTH ", "SOUTH ", "EAST ", "WEST ", "N ", "S ")) if directed else ""
    return f"{before}{name} {chance.choices(_SUFFIXES, _WEIGHTS)[0]}"


def measure_searches(what: str, index: AddressIndex, asked: Sequence[tuple[int, str]]) -> Searches:
    """Search addresses, each with the parcel that it was made from."""
    found, clock = 0, _Clock()
    for number, text in asked:
        with clock.running():
            hits = index.search(text)
        found += any(number in hit.parcel_ids for hit in hits)
    return clock.figures(what, found / len(asked))


def _searches(
    index: AddressIndex, connection: sqlite3.Connection, directory: MunicipalDirectory, rows: int
) -> list[Searches]:
    chance = random.Random(11)  # noqa: S311 - nothing secret is drawn
    drawn = [
        connection.execute(
            "SELECT id, mun_code, address FROM parcels WHERE id = ?", (chance.randrange(1, rows + 1),)
        ).fetchone()
        for _ in range(400)
    ]
    named = {code: f"{name}, {county} County" for code, (name, county) in directory.names.items()}
    wrong = [(i, misspelt(a, (named[c], f"{directory.names[c][0]} NJ"), chance)[0]) for i, c, a in drawn]
    nowhere = [(i, misspelt(a, ("NJ",), chance)[0]) for i, _, a in drawn]
    kinds = {
        "exact, municipality and county": [(i, f"{a}, {named[c]}, NJ") for i, c, a in drawn],
        "exact, municipality without commas": [(i, f"{a} {directory.names[c][0]} NJ") for i, c, a in drawn],
        "exact, no municipality": [(i, a) for i, _, a in drawn],
        "misspelt, municipality": wrong,
        "misspelt, no municipality": nowhere,
        "12 Main Street, no municipality": [(0, "12 Main Street")] * 20,
        "no such street, no municipality": [(0, "12 Qwertyuiop Street")] * 20,
    }
    measured = [measure_searches(what, index, asked) for what, asked in kinds.items()]
    clock, offered = _Clock(), 0
    beginnings = [address[:length] for _, _, address in drawn for length in (4, 6, 8, 10)]
    for beginning in beginnings:
        with clock.running():
            offered += bool(index.suggest(beginning))
    return [*measured, clock.figures("suggestions while typing", offered / len(beginnings))]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Search addresses of a tax list and of a made-up State.")
    parser.add_argument("--rows", type=int, default=3_400_000, help="how many parcels the State has; 0 leaves it out")
    parser.add_argument("--seed", type=int, default=1, help="of the misspellings")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    directory = Directory(gj.load_atlas())
    figures: dict[str, object] = {}
    if ORANGE.exists():
        addresses, index = orange_index(ORANGE, directory)
        chance = random.Random(options.seed)  # noqa: S311 - nothing secret is drawn
        slips = [misspelt(a, ORANGE_PLACES, chance)[0] for a in addresses]
        shares = [
            measure_shares("as typed", index, [f"{a}, Orange, NJ" for a in addresses]),
            measure_shares(f"with slips ({', '.join(SLIPS)})", index, slips),
        ]
        for one, aim in zip(shares, (AIM_EXACT, AIM_MISSPELT), strict=True):
            print(
                f"{one.what}: {one.found:.2%} of {one.rows:,} found, ties included (aim {aim:.0%}); certain "
                f"{one.certain:.1%}, wrongly {one.wrongly_certain}; {one.median_ms:.2f} ms"
            )
        figures["orange"] = [asdict(one) for one in shares]
    else:
        print(f"{ORANGE} is not here: no shares of a real list")
    if options.rows:
        figures["state"] = _state(directory, options.rows)
    figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {figures['peak_mb']:,.0f} MB")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def _state(directory: MunicipalDirectory, rows: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.sqlite"
        connection = sqlite3.connect(path)
        connection.executescript(TABLES)
        connection.executemany("INSERT INTO parcels VALUES (?, ?, ?, ?, ?, ?, ?, ?)", state_rows(directory, rows))
        connection.commit()
        before = path.stat().st_size
        start, worked = time.perf_counter(), time.process_time()
        built = build_address_index(connection)
        connection.commit()
        build_s, build_processor_s = time.perf_counter() - start, time.process_time() - worked
        size_mb = (path.stat().st_size - before) / 1e6
        connection.close()
        # As a store of parcels opens its database.
        connection = sqlite3.connect(f"file:{path.as_posix()}?mode=ro&immutable=1", uri=True)
        names = connection.execute("SELECT count(*) FROM address_names").fetchone()[0]
        print(f"{rows:,} addresses on {built.streets:,} streets with {names:,} names")
        print(f"index built in {build_s:.1f} s ({build_processor_s:.1f} s of a processor), {size_mb:,.0f} MB")
        start = time.perf_counter()
        index = AddressIndex(connection, directory)
        index.search("12 Qwertyuiop Street")
        first_ms = (time.perf_counter() - start) * 1e3
        print(f"opened, and the first search done, in {first_ms:.0f} ms")
        searches = _searches(index, connection, directory, rows)
        for one in searches:
            print(one)
        connection.close()
    return {
        "rows": rows,
        "streets": built.streets,
        "names": names,
        "build_s": build_s,
        "build_processor_s": build_processor_s,
        "index_mb": size_mb,
        "first_ms": first_ms,
        "searches": [asdict(one) for one in searches],
    }


if __name__ == "__main__":
    main()
