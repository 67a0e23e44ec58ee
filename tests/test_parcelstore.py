"""Finding parcels in a store: by number, by block and lot, by point; from threads, and while it is replaced."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parcel_files import DEEP, WIDE, X, Y, composite, frame, lot, write

from grownj_geo.errors import LayerError
from grownj_geo.parcelbuild import import_parcels
from grownj_geo.parcelkeep import remove_parcels
from grownj_geo.parcelstore import ParcelStore
from grownj_geo.parceltables import parcel_editions
from grownj_geo.pins import Pin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ParcelStore]:
    folder = tmp_path_factory.mktemp("store")
    import_parcels(write(composite(), folder / "parcels.gpkg"), home=folder / "home")
    with _opened(folder / "home") as found:
        yield found


def _opened(home: Path) -> ParcelStore:
    found = ParcelStore.open(home)
    assert found is not None
    return found


def pins(found: tuple[object, ...]) -> list[str]:
    return [parcel.pin for parcel in found]  # type: ignore[attr-defined]


def test_nothing_loaded_is_none(tmp_path: Path) -> None:
    assert ParcelStore.open(tmp_path) is None


@pytest.mark.parametrize(
    "typed", ["0408_81_1", Pin("0408", "81", "1"), " 0408_81_1 ", "0408_0081_01", "0408_81_1_"[:-1], "0408_081_1"]
)
def test_a_number_is_found_in_any_spelling_of_it(typed: Pin | str, store: ParcelStore) -> None:
    assert pins(store.by_pin(typed)) == ["0408_81_1"]


@pytest.mark.parametrize(
    "typed", ["0408_81_10", "0408_81", "", "0409_81_1", "0408_81_1_C0001", "nonsense", "0408_81_1.0"]
)
def test_another_number_is_not_found(typed: str, store: ParcelStore) -> None:
    assert store.by_pin(typed) == ()


def test_a_lot_with_its_units_or_one_of_them(store: ParcelStore) -> None:
    units = ["0408_81_2_C0001", "0408_81_2_C0002"]
    assert pins(store.by_lot("0408", "81", "2")) == units
    assert pins(store.by_lot("0408", "0081", "2", "c0002")) == units[1:]
    assert store.by_lot("0408", "81", "2", "") == ()
    assert pins(store.by_lot("0408", "81", "1", "")) == ["0408_81_1"]


def test_a_point_inside_on_a_line_and_beside(store: ParcelStore) -> None:
    assert pins(store.at(X + 10, Y + 10)) == ["0408_81_1"]
    # The line between lots 1 and 2, and of lot 2 both units.
    assert set(pins(store.at(X + WIDE, Y + 10))) == {"0408_81_1", "0408_81_2_C0001", "0408_81_2_C0002"}
    assert pins(store.at(X, Y)) == ["0408_81_1"]
    assert store.at(X - 0.001, Y) == ()
    assert pins(store.at(X - 5, Y + 10, within_ft=5.0)) == ["0408_81_1"]
    assert store.at(X - 5, Y + 10, within_ft=4.999) == ()
    near = store.at(X + 10, Y + 10, within_ft=45.0)
    assert pins(near)[0] == "0408_81_1"
    assert len(near) == 3


@pytest.mark.parametrize("place", [(float("nan"), Y, 0.0), (X, float("inf"), 0.0), (X, Y, -1.0)])
def test_a_point_that_is_none_is_refused(place: tuple[float, float, float], store: ParcelStore) -> None:
    with pytest.raises(ValueError, match="expected finite numbers"):
        store.at(*place[:2], within_ft=place[2])


def test_rows_are_given_in_the_order_asked_for(store: ParcelStore) -> None:
    ids = [parcel.id for parcel in store.by_pin("0408_82_1")]
    assert [parcel.id for parcel in store.by_ids([ids[1], 10_000, ids[0]])] == [ids[1], ids[0]]


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ParcelStore, list[shapely.Polygon]]]:
    """Give a store of lots of all sizes over and beside one another, some blocks of them, and the lots."""
    folder = tmp_path_factory.mktemp("scattered")
    rng = np.random.default_rng(5)
    corners = np.array([X, Y]) + rng.uniform(0, 3_000, (400, 2))
    sizes = np.exp(rng.normal(4.5, 1.0, (400, 2)))
    shapes = list(shapely.box(*corners.T, *(corners + sizes).T))
    import_parcels(write(frame(*({"geometry": s} for s in shapes)), folder / "p.parquet"), home=folder / "home")
    with _opened(folder / "home") as found:
        yield found, shapes


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    x=st.floats(-100, 3_400),
    y=st.floats(-100, 3_400),
    within=st.one_of(st.just(0.0), st.floats(0, 500)),
    snap=st.booleans(),
)
def test_a_point_finds_what_looking_at_every_lot_finds(
    scattered: tuple[ParcelStore, list[shapely.Polygon]], x: float, y: float, within: float, *, snap: bool
) -> None:
    store, shapes = scattered
    px, py = X + x, Y + y
    if snap:
        px, py = shapes[int(abs(x)) % len(shapes)].exterior.coords[0]
    expected = [f"0408_81_{i + 1}" for i, s in enumerate(shapes) if s.distance(shapely.Point(px, py)) <= within]
    found = store.at(px, py, within_ft=within)
    assert sorted(pins(found)) == sorted(expected)
    away = [shapely.distance(parcel.geometry, shapely.Point(px, py)) for parcel in found]
    assert away == sorted(away)


def test_threads_share_a_store(scattered: tuple[ParcelStore, list[shapely.Polygon]]) -> None:
    store, shapes = scattered
    wrong: list[str] = []

    def ask(first: int) -> None:
        for i in range(first, len(shapes), 4):
            point = shapes[i].representative_point()
            pin = f"0408_81_{i + 1}"
            if pins(store.by_pin(pin)) != [pin] or pin not in pins(store.at(point.x, point.y)):
                wrong.append(pin)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_reading_writes_nothing(tmp_path: Path) -> None:
    import_parcels(write(composite(), tmp_path / "parcels.gpkg"), home=tmp_path / "home")
    folder = parcel_editions(tmp_path / "home")[0].folder
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with _opened(tmp_path / "home") as first, _opened(tmp_path / "home") as second:
            assert first.at(X + 1, Y + 1) == second.at(X + 1, Y + 1) != ()
    finally:
        folder.chmod(0o755)
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()} == before


def test_a_store_that_is_open_outlives_its_replacement(tmp_path: Path) -> None:
    home = tmp_path / "home"
    import_parcels(write(frame({}, {}), tmp_path / "one.gpkg"), home=home)
    with _opened(home) as old:
        import_parcels(write(frame({"PAMS_PIN": "0408_9_9"}), tmp_path / "two.gpkg"), home=home)
        assert not old.is_current
        assert pins(old.by_pin("0408_81_2")) == ["0408_81_2"]
        with _opened(home) as new:
            assert new.fingerprint != old.fingerprint
            assert new.is_current
            assert new.by_pin("0408_81_2") == ()
    assert len(parcel_editions(home)) == 2
    import_parcels(write(frame({}), tmp_path / "three.gpkg"), home=home)
    assert len(parcel_editions(home)) == 1


def test_what_is_taken_away_can_be_read_to_the_end(tmp_path: Path) -> None:
    home = tmp_path / "home"
    import_parcels(write(frame({}), tmp_path / "one.gpkg"), home=home)
    with _opened(home) as store:
        assert remove_parcels(home=home) == (store.edition.name,)
        assert pins(store.by_pin("0408_81_1")) == ["0408_81_1"]
    assert ParcelStore.open(home) is None
    with pytest.raises(LayerError, match="There is no edition"):
        remove_parcels(home=home)


@pytest.mark.parametrize("damage", ["record", "no record", "no database", "database"])
def test_a_damaged_store_is_named_and_not_passed_over(damage: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    import_parcels(write(frame({}), tmp_path / "one.gpkg"), home=home)
    folder = parcel_editions(home)[0].folder
    if damage == "record":
        (folder / "edition.json").write_text("{}")
    elif damage == "no record":
        (folder / "edition.json").unlink()
    elif damage == "no database":
        (folder / "parcels.sqlite").unlink()
    else:
        (folder / "parcels.sqlite").write_bytes(b"nothing of the kind" * 100)
    with pytest.raises(LayerError, match=r"grownj layers (remove|verify)"):
        ParcelStore.open(home)
    assert parcel_editions(home)[0].verify() is not None


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    import_parcels(write(frame({}), tmp_path / "one.gpkg"), home=home)
    held = parcel_editions(home)[0]
    assert held.verify() is None
    content = held.database.read_bytes()
    held.database.write_bytes(content.replace(b"MARKET", b"MARKED"))
    assert "checksum" in str(held.verify())


def test_lots_lie_where_the_tests_think() -> None:
    assert lot(1, 2).bounds == (X + WIDE, Y + 2 * DEEP, X + 2 * WIDE, Y + 3 * DEEP)
