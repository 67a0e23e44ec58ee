"""The store: editions that are whole or not there, picked by date, and never silently other than they were."""

from __future__ import annotations

import multiprocessing
import shutil
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from drawn import NEWARK, around, draw, site, stations

from grownj_geo.atlas import load_atlas
from grownj_geo.determine import Engine, determine
from grownj_geo.edition import RECORD_FILE, Origin, edition_for
from grownj_geo.errors import LayerError
from grownj_geo.exporttables import about_areas
from grownj_geo.features import LayerFault, LoadReport
from grownj_geo.layerfile import read_layer, write_layer
from grownj_geo.manifest import load_manifests
from grownj_geo.mapareas import draw_areas
from grownj_geo.rulebook import load_rulebook
from grownj_geo.store import MadeFrom, Store, home_folder

if TYPE_CHECKING:
    from pathlib import Path

    from grownj_geo.layer import Layer

ORIGIN = Origin(how="import", source="drawn.gpkg", retrieved_at=datetime(2026, 11, 30, 12, tzinfo=UTC))


def report(layer: Layer) -> LoadReport:
    return LoadReport(
        layer=layer.id,
        source="drawn.gpkg",
        read=len(layer),
        kept=len(layer),
        crs="EPSG:3424",
        fields={},
        unknown_values={},
        changes=(),
    )


def planning(detail: str = "METROPOLITAN", half: float = 5000.0, **stated: Any) -> Layer:
    """Return one planning area around Newark, as an edition would be."""
    shape = around(NEWARK, half)
    stated = {"accuracy_ft": 48.3, "least_features": 1} | stated
    return draw("planning_areas", [(shape, {"SPDETAIL": detail})], **stated)


def add(store: Store, layer: Layer) -> str:
    return store.add(layer, origin=ORIGIN, report=report(layer)).name


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def test_the_home_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GROWNJ_HOME", str(tmp_path / "mine"))
    assert home_folder() == tmp_path / "mine"
    monkeypatch.delenv("GROWNJ_HOME")
    assert home_folder().name == "grownj-geo"


def test_an_empty_store_holds_nothing_and_makes_no_folder(store: Store) -> None:
    assert store.held() == ()
    assert store.verify() == ()
    assert not store.home.exists()


@pytest.mark.parametrize("kind", ["polygon", "point", "table"])
def test_what_is_written_comes_back(kind: str) -> None:
    layers = {
        "polygon": planning(P2ACRES=None),
        "point": stations([(*NEWARK, {"name": "Penañ", "station_id": "x"}), (-74.1, 40.7, {"station_id": "y"})]),
        "table": load_atlas().layer("designations"),
    }
    if kind == "polygon":
        layers["polygon"] = draw(
            "planning_areas",
            [
                (around(NEWARK, 900.0), {"SPDETAIL": "RURAL", "P2ACRES": 1.5, "WHEN": date(2018, 1, 16), "N": 7}),
                (around(NEWARK, 100.0), {"SPDETAIL": None, "P2ACRES": None, "WHEN": None, "N": None}),
            ],
            least_features=1,
        )
    layer = layers[kind]
    assert layer is not None
    again = read_layer(layer.manifest, write_layer(layer), name="drawn.parquet")
    assert {name: list(values) for name, values in again.columns.items()} == {
        name: list(values) for name, values in layer.columns.items()
    }
    assert np.array_equal(again.bounds, layer.bounds, equal_nan=True)
    if kind == "polygon":
        assert [again.geometry(i).wkb for i in range(2)] == [layer.geometry(i).wkb for i in range(2)]
    if kind == "point":
        assert again.lonlat is not None
        assert layer.lonlat is not None
        assert np.array_equal(again.lonlat, layer.lonlat)


def test_a_column_that_mixes_kinds_of_values_is_kept_as_text() -> None:
    layer = draw(
        "planning_areas", [(around(NEWARK, 9.0), {"ID": "0102"}), (around(NEWARK, 8.0), {"ID": 102})], least_features=1
    )
    again = read_layer(layer.manifest, write_layer(layer), name="drawn.parquet")
    assert list(again.columns["ID"]) == ["0102", "102"]


def test_an_added_edition_is_used_and_named(store: Store) -> None:
    name = add(store, planning(edition=date(2018, 1, 16)))
    assert name.startswith("planning_areas@2018-01-16-")
    atlas = load_atlas(store=store)
    held = atlas.edition("planning_areas")
    assert held is not None
    assert held.name == name
    assert atlas.state("planning_areas").status == "loaded"
    found = determine(site(around(NEWARK, 10.0)), atlas)
    evidence = [e for f in found.findings for e in f.evidence if e.layer == "planning_areas" and e.outcome == "yes"]
    assert evidence
    assert evidence[0].edition == date(2018, 1, 16)
    assert any("2018-01-16" in caution and "2017-04-17" in caution for caution in found.cautions)


def test_the_same_again_is_the_same_edition(store: Store) -> None:
    assert add(store, planning()) == add(store, planning())
    assert len(store.held()) == 1


def test_other_dates_make_another_edition_of_the_same_features(store: Store) -> None:
    add(store, planning())
    add(store, planning(valid_from=date(2016, 1, 1)))
    assert len(store.held()) == 2


def test_the_edition_of_a_record_is_the_package_s_manifest_with_what_is_stated(store: Store) -> None:
    add(store, planning(edition=date(2018, 1, 16), accuracy_ft=10.0, complete=False))
    (held,) = store.held()
    assert held.edition is not None
    manifest, base = held.edition.manifest, load_manifests()["planning_areas"]
    assert (manifest.accuracy_ft, manifest.complete, manifest.edition) == (10.0, False, date(2018, 1, 16))
    assert manifest.fields == base.fields
    assert manifest.extent == base.extent


def test_a_manifest_that_says_what_values_mean_is_not_kept(store: Store) -> None:
    layer = planning()
    fields = {"planning_area": layer.manifest.fields["planning_area"].model_copy(update={"values": {"X": "PA1"}})}
    with pytest.raises(LayerError, match="manifest of its own"):
        add(store, replace(layer, manifest=layer.manifest.model_copy(update={"fields": fields})))
    assert store.held() == ()


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2014-01-01", "early"),  # none holds: the nearest in time
        ("2016-01-01", "early"),  # the first day of validity
        ("2017-12-31", "early"),
        ("2018-01-01", "late"),  # the day after
        ("2018-06-30", "late"),
        ("2019-06-30", "late"),  # holds no longer; the nearest
    ],
)
def test_the_edition_that_holds_on_the_day_is_taken(store: Store, day: str, expected: str) -> None:
    names = {
        "early": add(store, planning("RURAL", valid_from=date(2016, 1, 1), valid_until=date(2018, 1, 1))),
        "late": add(store, planning("FRINGE", valid_from=date(2018, 1, 1), valid_until=date(2019, 1, 1))),
        "unknown": add(store, planning("SUBURBAN", edition=None)),  # retrieved in 2026
    }
    held = edition_for(store.held("planning_areas"), date.fromisoformat(day))
    assert held is not None
    assert held.name == names[expected]


def test_of_editions_equally_near_the_earlier_is_taken(store: Store) -> None:
    early = add(store, planning(edition=date(2017, 4, 16)))
    add(store, planning(edition=date(2017, 4, 18)))
    held = edition_for(store.held(), date(2017, 4, 17))
    assert held is not None
    assert held.name == early


def test_an_edition_holds_on_its_own_date(store: Store) -> None:
    add(store, planning(edition=date(2017, 4, 17)))
    found = determine(site(around(NEWARK, 10.0)), load_atlas(store=store, as_of="2017-04-17"))
    assert not any("is not known to hold" in caution for caution in found.cautions)


@pytest.mark.parametrize(("day", "held"), [("2017-04-17", True), ("2017-04-18", False)])
def test_maps_and_files_say_of_an_edition_that_it_is_not_known_to_hold(day: str, store: Store, *, held: bool) -> None:
    add(store, planning(edition=date(2017, 4, 17)))
    engine = Engine(load_atlas(store=store, as_of=day), load_rulebook())
    (source,) = (each for each in draw_areas(engine).sources if each.layer == "planning_areas")
    assert (f"not known to hold on {day}" in source.edition) == (not held)
    assert (f"not known to hold on {day}" in about_areas(engine).get("cautions", "")) == (not held)


def test_of_editions_that_hold_from_one_day_the_later_published_is_taken(store: Store) -> None:
    late = add(store, planning("FRINGE", edition=date(2018, 1, 1), valid_from=date(2010, 1, 1)))
    add(store, planning("RURAL", edition=date(2012, 1, 1), valid_from=date(2010, 1, 1)))
    held = edition_for(store.held(), date(2017, 4, 17))
    assert held is not None
    assert held.name == late


def test_an_edition_without_a_date_comes_last(store: Store) -> None:
    add(store, planning("RURAL"))
    far = add(store, planning("FRINGE", edition=date(1990, 1, 1)))
    held = edition_for(store.held(), date(2017, 4, 17))
    assert held is not None
    assert held.name == far


def test_what_was_made_from_an_edition_that_is_not_the_latest_is_refused(store: Store) -> None:
    first = add(store, planning("RURAL"))
    assert store.latest("planning_areas") == store.find(first)
    layer = planning("FRINGE")
    store.add(layer, origin=ORIGIN, report=report(layer), made_from=MadeFrom(first))
    layer = planning("SUBURBAN")
    for base in (first, None):
        with pytest.raises(LayerFault) as refused:
            store.add(layer, origin=ORIGIN, report=report(layer), made_from=MadeFrom(base))
        assert refused.value.fault == "base_moved"
    assert len(store.held()) == 2


def test_an_edition_can_be_chosen_whatever_the_day(store: Store) -> None:
    near = add(store, planning(edition=date(2017, 4, 16)))
    far = add(store, planning(edition=date(2026, 4, 18)))

    def used(*editions: str) -> str | None:
        held = load_atlas(store=store, editions=editions).edition("planning_areas")
        return None if held is None else held.name

    assert used() == near
    assert used(far) == far
    assert used("planning_areas@2026") == far
    assert used("planning_areas@none") is None
    with pytest.raises(LayerError, match=r"There is no edition 'planning_areas@2025'; there are: .*2017-04-16"):
        used("planning_areas@2025")
    with pytest.raises(LayerError, match="Several editions fit"):
        used("planning_areas@20")
    with pytest.raises(LayerError, match="There is no layer 'planing_areas'"):
        used("planing_areas@2026")


def _damage(folder: Path, how: str) -> None:
    layer, record = folder / "layer.parquet", folder / RECORD_FILE
    match how:
        case "one byte":
            content = bytearray(layer.read_bytes())
            content[len(content) // 2] ^= 1
            layer.write_bytes(content)
        case "cut":
            layer.write_bytes(layer.read_bytes()[:-100])
        case "file gone":
            layer.unlink()
        case "record gone":
            record.unlink()
        case "record cut":
            record.write_text(record.read_text()[:50])
        case "record of another":
            record.write_text(record.read_text().replace("planning_areas", "designated_centers"))
        case "file of another":
            layer.write_bytes(b"PAR1")


@pytest.mark.parametrize(
    "how", ["one byte", "cut", "file gone", "record gone", "record cut", "record of another", "file of another"]
)
def test_a_damaged_edition_is_unusable_and_nothing_takes_its_place(store: Store, how: str) -> None:
    add(store, planning("RURAL", edition=date(2016, 1, 1)))
    name = add(store, planning(edition=date(2017, 4, 17)))
    _damage(store.find(name).folder, how)
    atlas = load_atlas(store=store)
    state = atlas.state("planning_areas")
    assert state.status == "unusable"
    assert name in str(state.problem)
    found = determine(site(around(NEWARK, 10.0)), atlas)
    assert found.incomplete
    assert [held.name for held, problem in store.verify() if problem] == [name]
    store.remove(store.find(name))
    assert all(problem is None for _, problem in store.verify())
    assert load_atlas(store=store).state("planning_areas").status == "loaded"


def test_an_edition_with_a_damaged_record_is_replaced_by_the_same_one(store: Store) -> None:
    name = add(store, planning())
    _damage(store.find(name).folder, "record cut")
    assert add(store, planning()) == name
    assert all(problem is None for _, problem in store.verify())


def test_what_a_stopped_run_left_is_not_seen_and_goes(store: Store) -> None:
    left = store.home / "incoming" / "add-1"
    left.mkdir(parents=True)
    (left / "layer.parquet").write_bytes(b"half")
    assert store.held() == ()
    add(store, planning())
    assert not (store.home / "incoming").exists()


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(LayerError, match=r"could not be written.*Nothing was changed"):
        add(Store(file), planning())


def test_a_layer_that_does_not_pass_the_checks_is_never_seen(store: Store) -> None:
    broken = planning()
    broken = replace(broken, bounds=broken.bounds + 1e7)
    with pytest.raises(LayerError, match="outside New Jersey"):
        add(store, broken)
    assert store.held() == ()
    assert not (store.home / "layers" / "planning_areas").exists()


def _read_again_and_again(home: str, stop: Any, problems: Any) -> None:
    store = Store(home)
    while not stop.is_set():
        for held in store.held():
            try:
                held.read()
            except LayerError as error:
                if held.folder.exists():
                    problems.put(str(error))


def test_readers_see_whole_editions_while_one_writes(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    stop, problems = context.Event(), context.Queue()
    reader = context.Process(target=_read_again_and_again, args=(str(store.home), stop, problems))
    reader.start()
    try:
        for number in range(12):
            name = add(store, planning(half=1000.0 + number))
            if number % 3 == 2:
                store.remove(store.find(name))
    finally:
        stop.set()
        reader.join(30)
    assert reader.exitcode == 0
    assert problems.empty()
    assert len(store.held()) == 8


def test_a_home_that_was_copied_works_elsewhere(store: Store, tmp_path: Path) -> None:
    name = add(store, planning())
    shutil.copytree(store.home, tmp_path / "elsewhere")
    assert [held.name for held in Store(tmp_path / "elsewhere").held()] == [name]
