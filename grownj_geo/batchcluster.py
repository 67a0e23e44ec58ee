"""Blocks of a table answered by the workers of a Dask cluster, in the order of the blocks."""

from __future__ import annotations

import importlib
import logging
import pickle
import threading
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from grownj_geo.batchengines import in_order
from grownj_geo.batchwork import Answerer, BlockAnswers, Work
from grownj_geo.features import LayerFault
from grownj_geo.siterows import row_source
from grownj_geo.tablepath import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from grownj_geo.batchengines import Answering
    from grownj_geo.rows_block import RawBlock

__all__ = ["cluster"]

_WAITING = 2
"""Blocks that wait for each thread of a worker."""
_CONNECT_SECONDS = 30.0
_WORKER_SECONDS = 60.0


class _Span(NamedTuple):
    """Rows that a worker reads for itself."""

    start: int
    rows: int


@contextmanager
def cluster(work: Work, scheduler: str, *, spans: bool) -> Iterator[Answering]:
    """Give what answers for blocks on an existing Dask cluster.

    Every worker is given the question and the layers once, those that join later too. A worker that ends takes
    nothing with it: the scheduler has another one do its blocks again.

    Parameters
    ----------
    work
        What is to be done.
    scheduler
        The scheduler's address, as in ``"tcp://10.0.0.5:8786"``; what Dask's own settings say (TLS, timeouts) holds.
    spans
        Whether any rows of the table can be read without those before. Workers that see the same file then read their
        rows themselves; the others are sent them.

    Raises
    ------
    LayerFault
        ``no_cluster`` without Dask, without the scheduler or without a worker; ``worker_lost`` where a block ended
        several workers, ``cluster_lost`` where the scheduler went away; what the answering itself raises.
    """
    distributed = _distributed()
    # What it writes to the log of a lost connection is raised, too.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    carried = pickle.dumps(work, protocol=pickle.HIGHEST_PROTOCOL)
    key = uuid4().hex  # a run's own: two that are alike may be under way
    try:
        client = distributed.Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False, name="grownj-batch")
    except (OSError, ValueError) as error:
        raise LayerFault(
            "no_cluster",
            f"No Dask scheduler answered at {scheduler} ({error}). Start one with 'dask scheduler', and workers with "
            "'dask worker ADDRESS', or name another.",
        ) from error
    with closing(client):
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            raise LayerFault(
                "no_cluster", f"The scheduler at {scheduler} has no worker; start some with 'dask worker {scheduler}'."
            ) from error
        plugin = _plugin(key, carried)
        client.register_plugin(plugin)
        try:
            alone = spans and _same_file(client, work.source)
            yield lambda blocks: _answered(client, work, key, blocks, alone=alone)
        finally:
            # A run that is done is not undone by a scheduler that has gone since.
            with suppress(OSError, ValueError, TimeoutError):
                if client.status == "running":
                    client.unregister_worker_plugin(plugin.name)


def _distributed() -> Any:  # noqa: ANN401 - half of it has types
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise LayerFault(
            "no_cluster", "Dask is not installed here; expected the extra: pip install 'grownj-geo[dask]'."
        ) from error


def _lost() -> type[Exception]:
    lost: type[Exception] = importlib.import_module("distributed.comm").CommClosedError
    return lost


def _answered(
    client: Any,  # noqa: ANN401 - distributed has no types
    work: Work,
    key: str,
    blocks: Iterable[RawBlock],
    *,
    alone: bool,
) -> Iterator[tuple[RawBlock, BlockAnswers]]:
    distributed = _distributed()
    used = work.terms.roles.used

    def submit(raw: RawBlock) -> Any:  # noqa: ANN401
        part = _Span(raw.start, len(raw)) if alone else raw.slim(used)
        return client.submit(_on_worker, key, part, pure=False, key=f"grownj-{key}-{raw.start}")

    try:
        yield from in_order(blocks, submit, max(4, _WAITING * sum(client.nthreads().values())))
    except distributed.KilledWorker as error:
        raise LayerFault(
            "worker_lost",
            f"A block of rows ended several workers one after another ({error}); perhaps their memory is too small. "
            "What was written whole is kept: go on with --resume.",
        ) from error
    except (distributed.CancelledError, _lost(), TimeoutError) as error:
        raise LayerFault(
            "cluster_lost",
            f"The connection to the Dask scheduler broke ({error}). What was written whole is kept: go on with "
            "--resume.",
        ) from error


def _same_file(client: Any, path: Path) -> bool:  # noqa: ANN401
    """Return whether all workers see the same table under the same path or URL."""
    return set(client.run(_seen, path).values()) == {_seen(path)}


def _seen(path: Path) -> str | None:
    return stamp(path) if path.is_file() else None


# -- on the workers ------------------------------------------------------------------------------------


@dataclass
class _OnWorker:
    """What a worker's process holds for the runs that are under way."""

    carried: dict[str, bytes] = field(default_factory=dict)
    ready: dict[tuple[str, int], tuple[Answerer, Work]] = field(default_factory=dict)


on_worker = _OnWorker()


def _plugin(key: str, carried: bytes) -> Any:  # noqa: ANN401
    """Return what gives every worker the work, also one that joins or is started again later."""

    class Carrier(_distributed().WorkerPlugin):  # type: ignore[misc]
        name = f"grownj-{key}"

        def setup(self, worker: Any) -> None:  # noqa: ANN401, ARG002 - as Dask calls it
            from grownj_geo.batchcluster import on_worker  # noqa: PLC0415 - the worker's own

            on_worker.carried[key] = carried

        def teardown(self, worker: Any) -> None:  # noqa: ANN401, ARG002 - as Dask calls it
            from grownj_geo.batchcluster import on_worker  # noqa: PLC0415 - the worker's own

            on_worker.carried.pop(key, None)
            for mark in [mark for mark in on_worker.ready if mark[0] == key]:
                on_worker.ready.pop(mark, None)

    return Carrier()


def _on_worker(key: str, part: RawBlock | _Span) -> BlockAnswers:
    """Answer for a block of rows, on a worker; each of its threads has an answerer of its own."""
    mark = (key, threading.get_ident())
    if mark not in on_worker.ready:
        work: Work = pickle.loads(on_worker.carried[key])  # noqa: S301 - what the run sent through its own scheduler
        on_worker.ready[mark] = (Answerer(work), work)
    answerer, work = on_worker.ready[mark]
    return answerer.answer(_read(work, part) if isinstance(part, _Span) else part)


def _read(work: Work, span: _Span) -> RawBlock:
    rows = row_source(work.source, work.terms.options)
    with closing(rows.raw_blocks(span.start, span.rows)) as blocks:
        return next(blocks)
