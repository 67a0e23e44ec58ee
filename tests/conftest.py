"""What the tests share: the shipped atlas and engine, and the project's own facts where they are there."""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from feature_servers import FeatureStub, install_koop, koop, municipalities, planning_areas, square_feature

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook
from grownj_geo.workbooks import workbook_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desk import Desk
    from playwright.sync_api import Browser
    from serving import Served

# Before any test imports openpyxl by itself, here and in processes that tests start.
workbook_library()

# No test sees the store of layers of whoever runs it.
os.environ["GROWNJ_HOME"] = str(Path(__file__).parent / "no-store-here")

# What is collected stays until the end: looking for garbage among ten thousand tests takes a third of collecting them.
gc.disable()

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs the shared folder where it is absent; in one of several processes begin with slow files."""
    if hasattr(config, "workerinput"):
        slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
        items.sort(key=lambda item: -slow[item.path])
    if not (SHARED / "facts").is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason="../shared is not here"))


def pytest_collection_finish() -> None:
    """Look for garbage again, and not among what was collected."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared facts."""
    return SHARED


@pytest.fixture(scope="session")
def atlas() -> Atlas:
    """Return what ships, as of the default day."""
    return load_atlas()


@pytest.fixture(scope="session")
def engine(atlas: Atlas) -> Engine:
    """Return the shipped rulebook on the shipped atlas."""
    return Engine(atlas, load_rulebook())


@pytest.fixture(scope="session")
def parcels_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a store with the parcels of `parcel_world`; it is read by many tests, and can be changed by none."""
    from parcel_world import parcel_home  # noqa: PLC0415 - for those that ask

    home = parcel_home(tmp_path_factory.mktemp("parcels"))
    within = [home, *home.rglob("*")]
    for path in within:
        path.chmod(path.stat().st_mode & ~0o222)
    # Whoever may do everything may write all the same: what the files are is compared too.
    before = {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in within}
    yield home
    assert {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in (home, *home.rglob("*"))} == before
    for path in within:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.fixture(scope="session")
def four_parcels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store into which the command line imported the parcels of `serving`, to be copied."""
    from serving import load_parcels, parcels_file  # noqa: PLC0415 - for those that ask

    folder = tmp_path_factory.mktemp("four-parcels")
    load_parcels(folder / "home", parcels_file(folder / "parcels.geojson"))
    return folder / "home"


@pytest.fixture(scope="module")
def served_home(four_parcels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what `served` keeps its layers, parcels and jobs in, for the tests of one file."""
    return Path(shutil.copytree(four_parcels, tmp_path_factory.mktemp("served") / "home"))


@pytest.fixture(scope="module")
def served(served_home: Path) -> Iterator[Served]:
    """Yield a running server with four parcels, for the tests of one file."""
    from serving import serving  # noqa: PLC0415 - for those that ask

    with serving(served_home) as found:
        yield found


@pytest.fixture(scope="session")
def page_parcels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with the parcels that the tests of the page know, to be copied."""
    from desk import parcels_of_page  # noqa: PLC0415 - for those that ask

    return parcels_of_page(tmp_path_factory.mktemp("page-parcels"))


@pytest.fixture(scope="module")
def page_home(page_parcels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what the page's service keeps its layers, parcels and jobs in, for the tests of one file."""
    return Path(shutil.copytree(page_parcels, tmp_path_factory.mktemp("page") / "home"))


@pytest.fixture(scope="module")
def page_service(page_home: Path) -> Iterator[Served]:
    """Yield a running service with the page's parcels, for the tests of one file."""
    from serving import serving  # noqa: PLC0415 - for those that ask

    with serving(page_home) as running:
        yield running


@pytest.fixture(scope="module")
def alone_browser() -> Iterator[Browser]:
    """Yield a browser that reaches nobody but this machine."""
    from desk import lonely_browser  # noqa: PLC0415 - for those that ask

    with lonely_browser() as found:
        yield found


@pytest.fixture(scope="module")
def window(alone_browser: Browser, page_service: Served) -> Iterator[Desk]:
    """Yield the page in a wide window, for the tests of one file."""
    from desk import DESK, Desk  # noqa: PLC0415 - for those that ask

    found = Desk(alone_browser, page_service, **DESK)
    found.open()
    yield found
    found.context.close()


@pytest.fixture
def desk(window: Desk) -> Iterator[Desk]:
    """Return the one window, with nothing asked; what a test leaves wrong in it is that test's fault."""
    window.page.evaluate("document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close())")
    window.page.evaluate("location.hash = 'view=one'")
    window.page.wait_for_selector("#welcome")
    yield window
    assert window.faults() == []


@pytest.fixture
def stub() -> Iterator[FeatureStub]:
    """Yield a server with seven features that gives three at once."""
    with FeatureStub([square_feature(number) for number in range(1, 8)], cap=3) as server:
        yield server


@pytest.fixture(scope="session")
def services(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a running Koop with the municipalities and drawn planning areas."""
    installed = install_koop(request.config.cache.mkdir("koop"))
    folder = tmp_path_factory.mktemp("koop") / "data"
    folder.mkdir()
    for drawn in (municipalities(), planning_areas()):
        (folder / f"{drawn['metadata']['name']}.geojson").write_text(json.dumps(drawn), encoding="utf-8")
    with koop(installed, folder) as address:
        yield address
