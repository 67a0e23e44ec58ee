"""The process for long work: ended where it takes too long, replaced where it is gone, and with a line that ends."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grownj_geo.atlas import DEFAULT_AS_OF
from grownj_geo.serveanswers import Terms
from grownj_geo.servehelpers import Helper, areas_in_helper
from grownj_geo.serveproblems import ProblemError

if TYPE_CHECKING:
    from grownj_geo.servegeo import DrawnAreas


def test_what_takes_too_long_is_ended_and_the_next_is_done(tmp_path: Path) -> None:
    async def both() -> tuple[ProblemError, int]:
        helper = Helper(tmp_path, timeout_s=3.0)
        try:
            with pytest.raises(ProblemError) as refused:
                await helper.run(time.sleep, 120)
            helper.timeout_s = 90.0
            return refused.value, await helper.run(os.getpid)
        finally:
            helper.end()

    begun = time.monotonic()
    problem, process = asyncio.run(both())
    assert (problem.status_code, problem.code) == (503, "took_too_long")
    assert process != os.getpid()
    assert time.monotonic() - begun < 100


def test_who_waits_behind_what_takes_too_long_is_answered(tmp_path: Path) -> None:
    async def several() -> list[object]:
        helper = Helper(tmp_path)
        try:
            # The process is there: of the time that is allowed nothing goes into its beginning.
            await helper.run(os.getpid)
            helper.timeout_s = 3.0
            # Whoever comes after has as long as a busy machine needs to begin a process.
            asyncio.get_running_loop().call_later(1.0, setattr, helper, "timeout_s", 90.0)
            waits = (helper.run(time.sleep, seconds) for seconds in (120, 0.01, 0.01, 0.01))
            return await asyncio.gather(*waits, return_exceptions=True)
        finally:
            helper.end()

    refused, *done = asyncio.run(several())
    assert isinstance(refused, ProblemError)
    assert (refused.status_code, refused.code) == (503, "took_too_long")
    assert done == [None, None, None]


@pytest.mark.parametrize(("work_s", "kept"), [(0.5, True), (120, False)])
def test_who_goes_away_leaves_the_process_to_the_next(tmp_path: Path, *, work_s: float, kept: bool) -> None:
    async def before_and_after() -> tuple[int, int]:
        helper = Helper(tmp_path, grace_s=60.0 if kept else 1.0)
        try:
            before = await helper.run(os.getpid)
            gone = asyncio.create_task(helper.run(time.sleep, work_s))
            await asyncio.sleep(0.2)
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
            assert helper.waiting == 0
            return before, await asyncio.wait_for(helper.run(os.getpid), 60)
        finally:
            helper.end()

    before, after = asyncio.run(before_and_after())
    assert (before == after) == kept


def test_what_nobody_waits_for_is_ended_though_nobody_comes_after(tmp_path: Path) -> None:
    async def ended() -> bool:
        helper = Helper(tmp_path, grace_s=0.5)
        try:
            process = await helper.run(os.getpid)
            gone = asyncio.create_task(helper.run(time.sleep, 120))
            await asyncio.sleep(0.2)
            gone.cancel()
            for _ in range(600):
                await asyncio.sleep(0.1)
                if not _is_there(process):
                    return True
            return False
        finally:
            helper.end()

    assert asyncio.run(ended())


def _is_there(process: int) -> bool:
    """Return whether a process runs; one that has ended and was not asked for does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def test_a_process_that_is_gone_is_said_and_replaced(tmp_path: Path) -> None:
    async def both() -> tuple[ProblemError, int]:
        helper = Helper(tmp_path)
        try:
            with pytest.raises(ProblemError) as refused:
                await helper.run(os._exit, 9)
            return refused.value, await helper.run(os.getpid)
        finally:
            helper.end()

    problem, process = asyncio.run(both())
    assert (problem.status_code, problem.code) == (503, "worker_gone")
    assert process != os.getpid()


def test_no_more_waits_than_may(tmp_path: Path) -> None:
    async def several() -> list[object]:
        helper = Helper(tmp_path, most_waiting=2)
        try:
            return await asyncio.gather(*(helper.run(time.sleep, 0.1) for _ in range(3)), return_exceptions=True)
        finally:
            helper.end()

    *done, refused = asyncio.run(several())
    assert done == [None, None]
    assert isinstance(refused, ProblemError)
    assert (refused.status_code, refused.headers) == (503, {"Retry-After": "30"})


def test_what_it_refuses_comes_back_as_it_was_said(tmp_path: Path) -> None:
    async def asked() -> DrawnAreas:
        helper = Helper(tmp_path)
        try:
            return await helper.run(areas_in_helper, Terms(DEFAULT_AS_OF, "no-such-rulebook"))
        finally:
            helper.end()

    with pytest.raises(ValueError, match="no-such-rulebook"):
        asyncio.run(asked())


def test_a_refusal_crosses_processes_whole() -> None:
    import pickle  # noqa: PLC0415 - only here

    said = ProblemError(422, "words", code="several_places", headers={"Retry-After": "1"}, more={"choices": [1]})
    again = pickle.loads(pickle.dumps(said))  # noqa: S301 - same
    assert (again.status_code, again.detail, again.code) == (422, "words", "several_places")
    assert (again.headers, again.more) == ({"Retry-After": "1"}, {"choices": [1]})
