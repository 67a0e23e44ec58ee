"""What the tests share: the shipped atlas and engine, and the project's own facts where they are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grownj_geo.atlas import Atlas, load_atlas
from grownj_geo.determine import Engine
from grownj_geo.rulebook import load_rulebook

# No test sees the store of whoever runs it.
os.environ["GROWNJ_HOME"] = str(Path(__file__).parent / "no-store-here")

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the shared folder where it is absent."""
    if not (SHARED / "facts").is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason="../shared is not here"))


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
