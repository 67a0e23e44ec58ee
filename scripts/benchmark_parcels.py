"""How long a State of generated parcels takes to be loaded, how much memory and disk, and how soon one is found.

Prints JSON; asserts nothing. ``--trees`` compares ways of finding what lies at a point, with the library rtree too.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from benchmark_process import command, process_tree, timed
from benchmark_sites import SEED, parcel_chunks

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Directory
from grownj_geo.parcelboxes import BOX_TABLES, Boxes, boxes_at
from grownj_geo.parcelkeep import connect
from grownj_geo.parcelstore import ParcelStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grownj_geo.atlas import Atlas

_STATE = 3_400_000
_TARGETS = {"import_s": 360.0, "import_peak_mb": 2_500.0, "by_pin_ms": 10.0, "at_ms": 10.0, "address_ms": 50.0}
_CHUNK = 100_000
_LOOKED_UP = 2_000
_SEARCHED = 300
_FIRST = (
    *(
        "Main",
        "Broad",
        "Park",
        "Washington",
        "Maple",
        "Oak",
        "Elm",
        "Highland",
        "Prospect",
        "Central",
        "Lincoln",
        "Union",
    ),
    *(
        "Grove",
        "Church",
        "Franklin",
        "Jefferson",
        "Madison",
        "Hamilton",
        "Monroe",
        "Cedar",
        "Chestnut",
        "Walnut",
        "Spruce",
    ),
    *("Pine", "Ridge", "River", "Lake", "Spring", "Mill", "Hill", "Forest", "Valley", "Liberty", "Summit", "Clinton"),
)
_SECOND = (
    "",
    "",
    "",
    "view",
    "wood",
    "field",
    "side",
    "dale",
    "land",
    "brook",
    "crest",
    "mont",
    "ton",
    "ville",
    "haven",
)
_SUFFIX = ("ST", "AVE", "RD", "DR", "LN", "CT", "PL", "TERR", "BLVD", "WAY", "CIR")
_FIELDS = ("PAMS_PIN", "PCL_MUN", "PCLBLOCK", "PCLLOT", "PCLQCODE", "PROP_LOC", "PROP_CLASS", "OWNER_NAME", "ZIP_CODE")
_CLASSES = ("1", "2", "2", "2", "2", "3B", "4A", "4B", "4C", "15C")
_STACKED, _TWICE, _BARE = 0.03, 0.001, 0.002
_LOTS = 25
_NUMBERS = 400


# -- what is loaded -------------------------------------------------------------------------------------


def parcel_tables(atlas: Atlas, n: int) -> Iterator[tuple[dict[str, list[str]], Any]]:
    """Yield chunks of parcels as the State publishes them: text columns, and outlines of shape (n,).

    Numbers come municipality by municipality, places anywhere in the State: the worst order for a tree of places.
    Three in a hundred are units of a condominium and have the outline of the lot before them; one in a thousand has the
    number of the one before; two in a thousand have no outline.
    """
    codes = sorted(Directory(atlas).names)
    done = 0
    for shapes in parcel_chunks(atlas, n, chunk=_CHUNK):
        rng = np.random.default_rng([SEED, done, 7])
        count = len(shapes)
        numbers = np.arange(done, done + count)
        stacked, twice = rng.random(count) < _STACKED, rng.random(count) < _TWICE
        stacked[0] = twice[0] = False
        before = np.maximum.accumulate(np.where(stacked | twice, 0, np.arange(count)))
        outlines = shapes.copy()
        outlines[stacked] = shapes[before[stacked]]
        outlines[rng.random(count) < _BARE] = None
        owner = np.where(stacked | twice, done + before, numbers)
        towns = [codes[i * len(codes) // n] for i in owner.tolist()]
        blocks = [str(1 + i // _LOTS % 4_000) for i in owner.tolist()]
        lots = [f"{1 + i % _LOTS}{'.01' if i // (_LOTS * 4_000) % 2 else ''}" for i in owner.tolist()]
        units = [f"C{i:06}" if unit else "" for i, unit in zip(numbers.tolist(), stacked.tolist(), strict=True)]
        columns = {
            "PAMS_PIN": ["_".join(filter(None, parts)) for parts in zip(towns, blocks, lots, units, strict=True)],
            "PCL_MUN": towns,
            "PCLBLOCK": blocks,
            "PCLLOT": lots,
            "PCLQCODE": units,
            "PROP_LOC": [_address(rng, i) for i in owner.tolist()],
            "PROP_CLASS": [_CLASSES[i % len(_CLASSES)] for i in numbers.tolist()],
            "OWNER_NAME": [""] * count,
            "ZIP_CODE": ["10001"] * count,
        }
        yield columns, outlines
        done += count


def _address(rng: np.random.Generator, number: int) -> str:
    # A street has some dozens of neighbours, as a town's has.
    street = number // 40
    name = f"{_FIRST[street % len(_FIRST)]}{_SECOND[street // 7 % len(_SECOND)]}"
    return f"{1 + int(rng.integers(_NUMBERS))} {name.upper()} {_SUFFIX[street // 3 % len(_SUFFIX)]}"


def write_file(path: Path, atlas: Atlas, n: int) -> None:
    """Write generated parcels as GeoParquet, or as a file geodatabase where the name ends so."""
    if path.suffix == ".gdb":
        _write_geodatabase(path, atlas, n)
        return
    import pyarrow as pa  # noqa: PLC0415 - only where a file is written
    import pyarrow.parquet as pq  # noqa: PLC0415 - same
    import pyproj  # noqa: PLC0415 - same

    about = {"encoding": "WKB", "geometry_types": ["Polygon"], "crs": pyproj.CRS.from_epsg(3424).to_json_dict()}
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    fields = [*(pa.field(name, pa.string()) for name in _FIELDS), pa.field("geometry", pa.binary())]
    schema = pa.schema(fields, metadata={"geo": json.dumps(geo)})
    with pq.ParquetWriter(path, schema) as writer:
        for columns, shapes in parcel_tables(atlas, n):
            outlines = pa.array(shapely.to_wkb(shapes), pa.binary())
            writer.write_table(pa.table([*(pa.array(columns[f]) for f in _FIELDS), outlines], schema=schema))


def _write_geodatabase(path: Path, atlas: Atlas, n: int) -> None:
    import pyogrio.raw  # noqa: PLC0415 - only where one is written

    for number, (columns, shapes) in enumerate(parcel_tables(atlas, n)):
        pyogrio.raw.write(
            path,
            shapely.to_wkb(shapes),
            [np.array(columns[name], dtype=object) for name in _FIELDS],
            list(_FIELDS),
            layer="parcels",
            driver="OpenFileGDB",
            geometry_type="Polygon",
            crs="EPSG:3424",
            append=number > 0,
        )


# -- what is measured -----------------------------------------------------------------------------------


def _milliseconds(work: Callable[[Any], Any], asked: Sequence[Any]) -> dict[str, float]:
    """Return how long each question takes: half of them at most, 99 in 100, and the longest."""
    took = []
    for one in asked:
        start = time.perf_counter()
        work(one)
        took.append(1_000 * (time.perf_counter() - start))
    return {
        "median": round(float(np.median(took)), 3),
        "p99": round(float(np.percentile(took, 99)), 3),
        "most": round(max(took), 3),
        "asked": len(took),
    }


def measure(n: int, folder: Path, *, form: str) -> dict[str, Any]:
    """Measure loading and finding."""
    atlas = load_atlas()
    source, home = folder / f"parcels.{form}", folder / "home"
    write_file(source, atlas, n)
    size = sum(f.stat().st_size for f in source.rglob("*")) if source.is_dir() else source.stat().st_size
    words = [*command(), "layers", "import", "parcels", str(source), "--edition", "2024-04-29", "--json"]
    used = process_tree(words, {"GROWNJ_HOME": str(home)}, log=folder / "log")
    store = ParcelStore.open(home)
    if store is None:
        raise SystemExit("Nothing was loaded.")
    with store:
        figures: dict[str, Any] = {
            "parcels": n,
            "format": form,
            "file_mb": round(size / 1e6),
            "import_s": round(used.seconds, 1),
            "import_processor_s": round(used.processor_s, 1),
            "import_peak_mb": round(used.resident_mb),
            "store_mb": round(store.edition.size_bytes / 1e6),
            "drawn": store.edition.drawn,
        }
        rng = np.random.default_rng(SEED)
        rows = rng.integers(1, n + 1, _LOOKED_UP).tolist()
        some = store.by_ids(rows)
        inside = [p.geometry.representative_point().coords[0] for p in some if p.geometry is not None]
        if any(not store.at(x, y) for x, y in inside[:100]):
            raise SystemExit("A point inside a parcel found none.")
        figures |= {
            "by_pin_ms": _milliseconds(store.by_pin, [p.pin for p in some]),
            "by_lot_ms": _milliseconds(lambda p: store.by_lot(p.mun_code, p.block, p.lot), some),
            "at_ms": _milliseconds(lambda xy: store.at(*xy), inside),
            "at_within_50_ft_ms": _milliseconds(lambda xy: store.at(*xy, within_ft=50.0), inside),
        }
        figures |= _addresses(store, atlas, [p.address or "" for p in some[:_SEARCHED]], [p.mun_code for p in some])
    again = process_tree(words, {"GROWNJ_HOME": str(home)}, log=folder / "log")
    figures |= {"import_again_s": round(again.seconds, 1), "import_again_peak_mb": round(again.resident_mb)}
    return figures | {"targets": _targets(figures, n)}


def _addresses(store: ParcelStore, atlas: Atlas, typed: list[str], codes: list[str]) -> dict[str, Any]:
    """Measure the search of addresses: as they are written, with a letter wrong, and while they are typed."""
    from grownj_geo.addressindex import AddressIndex  # noqa: PLC0415 - an extra

    directory = Directory(atlas)
    start = time.perf_counter()
    index = AddressIndex(store.connection, directory)
    opened = time.perf_counter() - start
    whole = [f"{text}, {directory.names[code][0]}" for text, code in zip(typed, codes, strict=False)]
    wrong = [text.replace("E", "", 1) for text in whole]
    return {
        "address_open_s": round(opened, 2),
        "address_ms": _milliseconds(index.search, whole),
        "address_misspelled_ms": _milliseconds(index.search, wrong),
        "address_without_town_ms": _milliseconds(index.search, typed),
        "suggest_ms": _milliseconds(lambda text: index.suggest(text[:8]), typed),
    }


def _targets(figures: dict[str, Any], n: int) -> dict[str, Any]:
    held = {}
    for name, most in _TARGETS.items():
        value = figures.get(name)
        found = value["p99"] if isinstance(value, dict) else value
        if found is not None:
            held[name] = {"at_most": most, "found": found, "held": found <= most}
    return {"for_parcels": _STATE, "measured_with": n, **held}


# -- ways of finding what lies at a point ---------------------------------------------------------------


def measure_trees(n: int, folder: Path) -> dict[str, Any]:
    """Compare the store's blocks with an R*Tree of SQLite over all parcels and with the library rtree."""
    bounds = np.concatenate([shapely.bounds(chunk) for chunk in parcel_chunks(load_atlas(), n, chunk=_CHUNK)])
    rng = np.random.default_rng(SEED)
    asked = bounds[rng.integers(0, n, _LOOKED_UP), :2] + 30.0
    figures: dict[str, Any] = {"parcels": n}

    def blocks(path: Path) -> None:
        with closing(connect(path)) as connection:
            for table in BOX_TABLES:
                connection.execute(table)
            connection.execute("BEGIN")
            boxes = Boxes()
            boxes.add(0, bounds)
            boxes.write(connection)
            connection.execute("COMMIT")

    def each(path: Path) -> None:
        with closing(connect(path)) as connection:
            connection.execute("CREATE VIRTUAL TABLE tree USING rtree (id, x0, x1, y0, y1)")
            connection.execute("BEGIN")
            columns = bounds[:, [0, 2, 1, 3]].T.tolist()
            connection.executemany("INSERT INTO tree VALUES (?, ?, ?, ?, ?)", zip(range(n), *columns, strict=True))
            connection.execute("COMMIT")

    def at_blocks(connection: sqlite3.Connection, xy: list[float]) -> object:
        return boxes_at(connection, xy[0], xy[1], 0.0)

    def at_each(connection: sqlite3.Connection, xy: list[float]) -> object:
        query = "SELECT id FROM tree WHERE x0 <= ?1 AND x1 >= ?1 AND y0 <= ?2 AND y1 >= ?2"
        return connection.execute(query, (xy[0], xy[1])).fetchall()

    for name, build, find in (("blocks", blocks, at_blocks), ("sqlite_rtree_of_all", each, at_each)):
        path = folder / f"{name}.sqlite"
        seconds, _ = timed(partial(build, path))
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            figures[name] = {
                "build_s": round(seconds, 1),
                "mb": round(path.stat().st_size / 1e6),
                "at_ms": _milliseconds(partial(find, connection), asked.tolist()),
            }
    return figures | _library(bounds, asked.tolist(), folder)


def _library(bounds: Any, asked: list[list[float]], folder: Path) -> dict[str, Any]:  # noqa: ANN401
    try:
        import rtree  # noqa: PLC0415 - only to compare with
    except ImportError:
        return {"rtree_library": "not installed"}
    path = folder / "tree"
    ids, least, most = np.arange(len(bounds)), bounds[:, :2].copy(), bounds[:, 2:].copy()
    seconds, tree = timed(lambda: rtree.index.Index(str(path), (ids, least, most)))
    tree.close()
    before = path.with_suffix(".idx").stat().st_mtime_ns
    tree = rtree.index.Index(str(path))
    found = {
        "build_s": round(seconds, 1),
        "mb": round(sum(path.with_suffix(end).stat().st_size for end in (".idx", ".dat")) / 1e6),
        "at_ms": _milliseconds(lambda xy: list(tree.intersection((*xy, *xy))), asked),
    }
    tree.close()
    written = path.with_suffix(".idx").stat().st_mtime_ns != before
    return {"rtree_library": {**found, "writes_its_files_when_read": written, "version": rtree.__version__}}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Time loading parcels and finding one.")
    parser.add_argument("--parcels", type=int, default=_STATE, help="how many")
    parser.add_argument("--format", choices=("parquet", "gdb"), default="gdb", help="what they are loaded from")
    parser.add_argument("--trees", action="store_true", help="compare ways of finding what lies at a point instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="grownj-parcels-") as name:
        folder = Path(name)
        found = (
            measure_trees(options.parcels, folder)
            if options.trees
            else measure(options.parcels, folder, form=options.format)
        )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
