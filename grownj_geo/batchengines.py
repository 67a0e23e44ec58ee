"""Who answers for the blocks of a table: this process, or several others on this machine."""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Protocol

from grownj_geo.batchwork import Answerer, BlockAnswers, Work
from grownj_geo.features import LayerFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grownj_geo.cells import CellIndex
    from grownj_geo.determine import Engine
    from grownj_geo.rows_block import RawBlock

    Answering = Callable[[Iterable[RawBlock]], Iterator[tuple[RawBlock, BlockAnswers]]]
    """Gives blocks back in their order, each with its answers."""

__all__ = ["Answering", "Pending", "in_order", "processes", "this_process"]

_WAITING = 2
"""Blocks that wait for each process, so that none is idle and memory stays bounded."""


class Pending(Protocol):
    """Answers that are on their way."""

    def result(self) -> Any:  # noqa: ANN401 - futures of several libraries
        """Return them when they are there."""

    def cancel(self) -> Any:  # noqa: ANN401 - same
        """Give them up."""


@contextmanager
def this_process(work: Work, engine: Engine, index: CellIndex | None) -> Iterator[Answering]:
    """Give what answers for blocks one after another, here, with the engine and the index that are there."""
    answerer = Answerer(work, engine=engine, index=index)
    yield lambda blocks: ((raw, answerer.answer(raw)) for raw in blocks)


@contextmanager
def processes(work: Work, workers: int) -> Iterator[Answering]:
    """Give what answers for blocks in several processes, in the order of the blocks.

    Raises
    ------
    LayerFault
        ``worker_lost`` where a process ends before it is done.
    """
    # Spawned, not forked: the same on every platform, and no lock of a library is copied half-way.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(work,))

    def answering(blocks: Iterable[RawBlock]) -> Iterator[tuple[RawBlock, BlockAnswers]]:
        used = work.terms.roles.used
        try:
            yield from in_order(blocks, lambda raw: pool.submit(_answer, raw.slim(used)), workers * _WAITING)
        except BrokenProcessPool as error:
            raise LayerFault(
                "worker_lost",
                "A worker process ended before it was done (killed, or out of memory). What was written whole is kept: "
                "go on with --resume, perhaps with fewer workers.",
            ) from error

    try:
        yield answering
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def in_order(
    blocks: Iterable[RawBlock], submit: Callable[[RawBlock], Pending], most: int
) -> Iterator[tuple[RawBlock, BlockAnswers]]:
    """Yield blocks with their answers in order, while others wait for theirs.

    Parameters
    ----------
    blocks
        The blocks.
    submit
        Asks for the answers of one.
    most
        How many wait at a time.
    """
    waiting: deque[tuple[RawBlock, Pending]] = deque()
    try:
        for raw in blocks:
            waiting.append((raw, submit(raw)))
            if len(waiting) >= most:
                first, answers = waiting.popleft()
                yield first, answers.result()
        while waiting:
            first, answers = waiting.popleft()
            yield first, answers.result()
    finally:
        for _, answers in waiting:
            answers.cancel()


_own: list[Answerer | LayerFault] = []


def _begin(work: Work) -> None:
    """Make a process ready: one answerer for all its blocks, or why there is none."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _own.append(Answerer(work))
    except LayerFault as fault:
        # Raised here it would look like a process that was killed.
        _own.append(fault)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, killed perhaps: nobody would ask it anything any more."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _answer(raw: RawBlock) -> BlockAnswers:
    own = _own[-1]
    if isinstance(own, LayerFault):
        raise own
    return own.answer(raw)
