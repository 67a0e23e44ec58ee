"""The pages of a fetch on disk, so that one that was stopped goes on where it was.

A folder holds one plan (what is fetched) and the pages that came, each named by its own checksum. Files appear
whole or not at all, and a page that is damaged or belongs to another plan is not taken.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["FetchPages"]

_PLAN = "plan.json"
_PAGE = re.compile(r"page-(?P<sha256>[0-9a-f]{64})\.json")
_OURS = re.compile(r"(?:plan|page-[0-9a-f]{64})\.json(?:\.part)?")
_LONGEST_UNDATED = timedelta(hours=24)


class FetchPages:
    """What has come of one fetch.

    Parameters
    ----------
    folder
        Made if it is not there. Nothing is written or removed outside, and only files of our own names inside.
    plan
        What is fetched, as JSON values. Pages of any other plan are removed.
    dated
        The plan itself tells the state of the service, by the time of its last edit. Otherwise pages are taken for
        24 hours only.

    Attributes
    ----------
    damaged
        How many pages were there and could not be taken, because their content is not what their name says.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any], *, dated: bool) -> None:
        self._folder = folder
        self._digest = hashlib.sha256(_bytes(plan)).hexdigest()
        self.damaged = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not self._goes_on(dated=dated):
                self.clear()
                begun = {"plan": dict(plan), "digest": self._digest, "begun": datetime.now(UTC).isoformat()}
                self._write(_PLAN, json.dumps(begun, indent=1).encode())
        except OSError as error:
            raise self._fault(error) from error

    def _goes_on(self, *, dated: bool) -> bool:
        try:
            found = json.loads((self._folder / _PLAN).read_bytes())
            same = found["digest"] == self._digest
            age = datetime.now(UTC) - datetime.fromisoformat(found["begun"])
        except FileNotFoundError:
            return False
        except (ValueError, KeyError, TypeError):
            return False  # not a plan of ours, or cut short: begun anew, which loses time only
        return bool(same and (dated or timedelta(0) <= age <= _LONGEST_UNDATED))

    def clear(self) -> None:
        """Remove all pages and the plan."""
        # The plan first: pages without one are never taken.
        for path in sorted(self._ours(), key=lambda path: path.name != _PLAN):
            path.unlink(missing_ok=True)

    def _ours(self) -> list[Path]:
        return [path for path in self._folder.iterdir() if _OURS.fullmatch(path.name)]

    def pages(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the features of each page that is there, and remove damaged ones."""
        for path in sorted(self._ours()):
            name = _PAGE.fullmatch(path.name)
            if name is None:
                continue
            try:
                content = path.read_bytes()
                if hashlib.sha256(content).hexdigest() != name["sha256"]:
                    self.damaged += 1
                    path.unlink(missing_ok=True)
                    continue
            except OSError as error:
                raise self._fault(error) from error
            page = json.loads(content)
            if page["digest"] == self._digest:
                yield page["features"]

    def add(self, features: list[dict[str, Any]]) -> None:
        """Keep one page.

        Raises
        ------
        LayerFault
            If it cannot be written.
        """
        content = _bytes({"digest": self._digest, "features": features})
        try:
            self._write(f"page-{hashlib.sha256(content).hexdigest()}.json", content)
        except OSError as error:
            raise self._fault(error) from error

    def _write(self, name: str, content: bytes) -> None:
        part = self._folder / f"{name}.part"
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._folder / name)

    def _fault(self, error: OSError) -> LayerFault:
        return LayerFault(
            "work_folder",
            f"{self._folder}: pages of the fetch cannot be kept there ({error}); expected a folder with room that can "
            "be written. Name another folder, or make room.",
        )


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
