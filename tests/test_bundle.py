"""Bundles: all of a store for a colleague, and nothing of one that was meddled with."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import shapely
from drawn import NEWARK, around, draw
from test_store import add, planning

from grownj_geo.atlas import load_atlas
from grownj_geo.bundle import export_bundle, import_bundle
from grownj_geo.errors import LayerError
from grownj_geo.features import LayerFault
from grownj_geo.layerfile import write_layer
from grownj_geo.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return Store(tmp_path / "other")


def rewritten(path: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> Path:
    """Write a bundle again with its members changed or left out."""
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            member = change(name, old.read(name))
            if member is not None:
                new.writestr(*member)
    return target


def test_a_bundle_comes_out_as_it_went_in(store: Store, other: Store, tmp_path: Path) -> None:
    names = {add(store, planning()), add(store, planning("RURAL"))}
    export_bundle(store.held(), tmp_path / "atlas.zip")
    editions = import_bundle(tmp_path / "atlas.zip", other)
    assert {edition.name for edition in editions} == names == {held.name for held in other.held()}
    ours, theirs = ({held.name: held.read() for held in some.held()} for some in (store, other))
    for name in names:
        assert ours[name].fingerprint == theirs[name].fingerprint
        assert ours[name].manifest == theirs[name].manifest
    for held in other.held():
        assert held.edition is not None
        assert held.edition.origin.words == "imported from drawn.gpkg, as the bundle atlas.zip says"
    assert load_atlas(store=other).state("planning_areas").status == "loaded"


def test_a_damaged_edition_is_not_handed_on(store: Store, tmp_path: Path) -> None:
    add(store, planning())
    (held,) = store.held()
    (held.folder / "layer.parquet").write_bytes(b"PAR1")
    with pytest.raises(LayerError, match="changed on disk"):
        export_bundle(store.held(), tmp_path / "atlas.zip")
    assert not (tmp_path / "atlas.zip").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_an_old_bundle_stays_when_the_new_one_fails(store: Store, tmp_path: Path) -> None:
    (tmp_path / "atlas.zip").write_bytes(b"old")
    add(store, planning())
    (held,) = store.held()
    (held.folder / "layer.parquet").unlink()
    with pytest.raises(LayerError):
        export_bundle(store.held(), tmp_path / "atlas.zip")
    assert (tmp_path / "atlas.zip").read_bytes() == b"old"


def _index(change: Callable[[dict[str, Any]], None]) -> Callable[[str, bytes], tuple[str, bytes]]:
    def changed(name: str, content: bytes) -> tuple[str, bytes]:
        if name != "bundle.json":
            return name, content
        index = json.loads(content)
        change(index)
        return name, json.dumps(index).encode()

    return changed


def _record(change: Callable[[dict[str, Any]], None]) -> Callable[[str, bytes], tuple[str, bytes]]:
    def changed(name: str, content: bytes) -> tuple[str, bytes]:
        if not name.endswith("edition.json"):
            return name, content
        record = json.loads(content)
        change(record)
        return name, json.dumps(record).encode()

    return changed


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda n, c: None if n == "bundle.json" else (n, c), id="no index"),
        pytest.param(lambda n, c: None if n.endswith(".parquet") else (n, c), id="no layer"),
        pytest.param(lambda n, c: None if n.endswith("edition.json") else (n, c), id="no record"),
        pytest.param(lambda n, c: (n, c[:-9]) if n.endswith(".parquet") else (n, c), id="layer cut"),
        pytest.param(lambda n, c: (n, c[:-9]) if n.endswith(".json") else (n, c), id="records cut"),
        pytest.param(_index(lambda i: i.update(editions=["planning_areas@../../x-00000000"])), id="path in the index"),
        pytest.param(_index(lambda i: i.update(editions=["../planning_areas@undated-00000000"])), id="layer is a path"),
        pytest.param(_index(lambda i: i.update(editions=["planning_areas@undated-00000000"])), id="not there"),
        pytest.param(_index(lambda i: i.update(format=2)), id="another format"),
        pytest.param(_record(lambda r: r.update(layer_id="designated_centers")), id="record of another layer"),
        pytest.param(_record(lambda r: r.update(sha256="0" * 64)), id="another checksum"),
        pytest.param(_record(lambda r: r["stated"].update(fields={})), id="meaning of values"),
        pytest.param(_record(lambda r: r["stated"].update(extent={"counties": ["Essex"]})), id="extent"),
        pytest.param(_record(lambda r: r["stated"].update(accuracy_ft=-1)), id="accuracy below zero"),
        pytest.param(_record(lambda r: r["stated"].update(valid_from="2010-01-01")), id="other days"),
    ],
)
def test_a_bundle_that_was_meddled_with_adds_nothing(
    store: Store, other: Store, tmp_path: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]
) -> None:
    add(store, planning())
    add(store, planning("RURAL"))
    export_bundle(store.held(), tmp_path / "atlas.zip")
    with pytest.raises(LayerError):
        import_bundle(rewritten(tmp_path / "atlas.zip", change), other)
    assert other.held() == ()


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"accuracy_ft": 1.0}, "known to 1 ft (here: 48.3 ft)"),
        ({"status": "confirmed"}, "it is confirmed (here: secondary)"),
        ({"cautions": ()}, "cautions are left out"),
        ({"refines": True}, "it refines what ships"),
    ],
)
def test_what_a_bundle_states_to_make_answers_surer_is_asked_about(
    store: Store, other: Store, tmp_path: Path, stated: dict[str, Any], said: str
) -> None:
    add(store, planning(**stated))
    export_bundle(store.held(), tmp_path / "atlas.zip")
    with pytest.raises(LayerFault) as refused:
        import_bundle(tmp_path / "atlas.zip", other)
    assert refused.value.fault == "statements"
    assert said in str(refused.value)
    assert other.held() == ()
    assert len(import_bundle(tmp_path / "atlas.zip", other, accept_statements=True)) == 1


def test_a_layer_that_a_bundle_calls_complete_is_asked_about(store: Store, other: Store, tmp_path: Path) -> None:
    layer = draw(
        "highlands_receiving_areas",
        [(around(NEWARK, 500.0), {"DESIGNATED": "2010-01-01"})],
        accuracy_ft=75.3,
        least_features=1,
        complete=True,
    )
    add(store, layer)
    export_bundle(store.held(), tmp_path / "atlas.zip")
    with pytest.raises(LayerFault, match="it is complete"):
        import_bundle(tmp_path / "atlas.zip", other)


def test_a_bundle_with_a_path_out_of_it_writes_nothing(store: Store, other: Store, tmp_path: Path) -> None:
    add(store, planning())
    export_bundle(store.held(), tmp_path / "atlas.zip")
    with zipfile.ZipFile(tmp_path / "atlas.zip", "a") as archive:
        archive.writestr("../outside.txt", "x")
    with pytest.raises(LayerError):
        import_bundle(tmp_path / "atlas.zip", other)
    assert not list(tmp_path.rglob("outside.txt"))
    assert other.held() == ()


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04"])
def test_what_is_no_bundle_is_said(other: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "atlas.zip"
    path.write_bytes(content)
    with pytest.raises(LayerError, match=r"atlas\.zip"):
        import_bundle(path, other)


def test_nothing_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(LayerError, match="no edition"):
        export_bundle([], tmp_path / "atlas.zip")


def test_a_layer_that_lies_elsewhere_is_refused_however_its_record_looks(
    store: Store, other: Store, tmp_path: Path
) -> None:
    # A colleague's record and checksum can be right, and the layer wrong all the same.
    name = add(store, planning())
    (held,) = store.held()
    assert held.edition is not None
    far = shapely.transform(around(NEWARK, 100.0), lambda xy: xy * 1000)
    layer = replace(held.read(), geometries={0: far}, wkb=None)
    layer = replace(layer, bounds=layer.bounds * 1000)
    content = write_layer(layer)
    sha256 = hashlib.sha256(content).hexdigest()
    new = held.edition.model_copy(update={"sha256": sha256, "id": held.edition.stated.edition_id(sha256)})
    for given, said in (
        (held.edition.model_copy(update={"sha256": sha256}), "not its own"),
        (new, "outside New Jersey"),
    ):
        with zipfile.ZipFile(tmp_path / "atlas.zip", "w") as archive:
            index = {"software": "x", "made_at": "2026-11-30T00:00:00Z", "editions": [given.name]}
            archive.writestr("bundle.json", json.dumps(index))
            archive.writestr(f"planning_areas/{given.id}/layer.parquet", content)
            archive.writestr(f"planning_areas/{given.id}/edition.json", given.model_dump_json(exclude_unset=True))
        with pytest.raises(LayerError, match=said):
            import_bundle(tmp_path / "atlas.zip", other)
        assert other.held() == ()
    assert name == held.name
