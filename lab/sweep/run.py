"""Runs a sweep on Dask: on processes of this machine, or on a cluster that exists."""

import asyncio
import logging
import multiprocessing
import os
import signal
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker

import dask
from distributed import Client, Future, LocalCluster, as_completed, rpc
from distributed.comm import CommClosedError

from fcn.lab.errors import LabError
from fcn.lab.run.runner import run_scenario
from fcn.lab.sweep.grid import Point
from fcn.lab.sweep.measures import measures_of
from fcn.lab.sweep.rows import Row, RowStore

_OF_PROCESSES = {
    # Who sends the runs knows better what to do then (run_sweep).
    "distributed.scheduler.allowed-failures": 0,
    # A process may be slow to start beside others that compute, also in place of one that died.
    "distributed.comm.timeouts.connect": "300s",
    "distributed.deploy.lost-worker-timeout": "1 hour",
}


_MOST_REASON = 300
"""Characters of what an error says, of which Dask's have several lines."""

_GONE = "the Dask scheduler is gone: the same command goes on with what is missing"

_ANSWER_S = 30.0
"""What a scheduler has to answer."""


@dataclass(frozen=True, slots=True)
class Done:
    """A run that ended: `error` is empty where it has a row."""

    point: Point
    error: str


def execute(point: Point) -> Row:
    """Run one, in a worker. Raises LabError."""
    result = run_scenario(point.plan, until_ns=point.until_ns)
    return Row(point.identity, result.about.digest, measures_of(result))


@contextmanager
def cluster(address: str | None = None, workers: int | None = None) -> Iterator[Client]:
    """The cluster with that address, or so many processes of this machine (None: one for each of
    its processors). Raises LabError when it cannot be reached."""
    if address is not None:
        # What it says of itself is told by the error below.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        asyncio.run(_find_scheduler(address))
        try:
            with Client(address, set_as_default=False) as client:
                if not client.nthreads():
                    some = f"dask worker {address} --nworkers -1"
                    raise LabError(f"no worker is at {address}: start some ({some})")
                yield client
        except CommClosedError:
            raise LabError(_GONE) from None
        return
    with (
        dask.config.set(_OF_PROCESSES),
        _processes(workers or len(os.sched_getaffinity(0))) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _processes(workers: int) -> Iterator[LocalCluster]:
    """Ctrl-C of a terminal and SIGTERM to a group are for all of them, but this process says what
    they end: the others have the mask of the thread that starts them."""
    resource_tracker.ensure_running()  # where a thread starts it, it has an empty mask then
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        local = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=":0",
            silence_logs=50,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        with local:
            yield local
    finally:
        # Where a second Ctrl-C cut that short; Python would wait for them at its end.
        for process in multiprocessing.active_children():
            process.kill()


async def _find_scheduler(address: str) -> None:
    """A client would wait for ever for what is no scheduler. Raises LabError."""
    try:
        async with asyncio.timeout(_ANSWER_S), rpc(address) as server:
            kind = (await server.identity())["type"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = str(error) or f"nothing in {_ANSWER_S:g} s"
        raise LabError(
            f"no Dask scheduler answers at {address}: {reason}; write its tcp://HOST:PORT"
        ) from None
    if kind != "Scheduler":
        raise LabError(f"no Dask scheduler is at {address}, but a {kind.lower()}")


def run_sweep(
    points: list[Point],
    store: RowStore,
    client: Client,
    *,
    stop: Callable[[], bool] = lambda: False,
    execute: Callable[[Point], Row] = execute,
) -> Iterator[Done]:
    """Run those of which there is no row, and keep the row of each as it finishes.

    A run that fails costs no other. Neither does one whose worker dies: all that this worker had,
    results included, is run again at the end, one at a time, so that it is known which of them it
    is. stop: asked before each run whether to begin no more. Raises LabError when the scheduler
    is gone.
    """
    suspects: list[Point] = []
    missing = [point for point in points if point.identity not in store.rows]
    for point, outcome in _at_once(missing, client, execute, stop):
        if isinstance(outcome, Exception) and not isinstance(outcome, LabError):
            suspects.append(point)
        else:
            yield _done(point, outcome, store)
    for suspect in suspects:
        for point, outcome in _at_once([suspect], client, execute, stop):
            yield _done(point, outcome, store)


def _at_once(
    points: list[Point],
    client: Client,
    execute: Callable[[Point], Row],
    stop: Callable[[], bool],
) -> Iterator[tuple[Point, Row | Exception]]:
    """Runs as they end, as many at a time as there are workers. What waits is kept here: a worker
    that dies is held against all that was sent to it."""
    waiting = iter(points)
    running: dict[Future, Point] = {}
    pool = as_completed(loop=client.loop)

    def begin() -> None:
        if not stop() and (point := next(waiting, None)) is not None:
            # By a key of its own: of one that failed the scheduler would tell the same again.
            future = client.submit(execute, point, pure=False)
            running[future] = point
            pool.add(future)

    for _ in range(max(1, sum(client.nthreads().values()))):
        begin()
    for future in pool:
        if future.cancelled():
            raise LabError(
                "the Dask scheduler is gone: the same command goes on with what is missing"
            )
        yield running.pop(future), _outcome(future)
        begin()


def _outcome(future: Future) -> Row | Exception:
    """The result is still in the worker, and is lost where that dies now."""
    try:
        row: Row = future.result()
    except Exception as error:
        return error
    return row


def _done(point: Point, outcome: Row | Exception, store: RowStore) -> Done:
    if isinstance(outcome, Exception):
        return Done(point, _reason(outcome))
    if outcome.identity != point.identity:
        return Done(point, "a worker has another version of fcn: give all of them this one")
    store.add(outcome)
    return Done(point, "")


def _reason(error: Exception) -> str:
    if isinstance(error, LabError):
        return str(error)
    return textwrap.shorten(f"{type(error).__name__}: {error}", _MOST_REASON)
