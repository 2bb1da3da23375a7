"""Runs a sweep on Dask: on processes of this machine, or on a cluster that exists."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import dask
from distributed import Client, Future, LocalCluster, as_completed

from fcn.lab.errors import LabError
from fcn.lab.run.runner import run_scenario
from fcn.lab.sweep.grid import Point
from fcn.lab.sweep.measures import measures_of
from fcn.lab.sweep.rows import Row, RowStore

RETRIES = 1
"""How often a run whose worker died is run again, on processes of this machine."""

_OF_PROCESSES = {
    "distributed.scheduler.allowed-failures": RETRIES,
    # A process may be slow to start beside others that compute.
    "distributed.comm.timeouts.connect": "300s",
}


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
        try:
            client = Client(address, set_as_default=False)
        except (OSError, ValueError) as error:
            raise LabError(f"no Dask cluster answers at {address}: {error}") from None
        with client:
            yield client
        return
    with (
        dask.config.set(_OF_PROCESSES),
        LocalCluster(
            n_workers=workers or len(os.sched_getaffinity(0)),
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=None,
            silence_logs=50,
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


def run_sweep(
    points: list[Point],
    store: RowStore,
    client: Client,
    *,
    stop: Callable[[], bool] = lambda: False,
    execute: Callable[[Point], Row] = execute,
) -> Iterator[Done]:
    """Run those of which there is no row, and keep the row of each as it finishes.

    A run that fails, or whose worker dies again and again, costs no other. stop: asked after each
    run whether to begin no more.
    """
    waiting = iter([point for point in points if point.identity not in store.rows])
    running: dict[Future, Point] = {}

    def begin() -> Future | None:
        point = next(waiting, None)
        if point is None or stop():
            return None
        # What waits is kept here: a worker that dies is held against all that was sent to it.
        future = client.submit(execute, point, key=f"fcn-{point.identity}", pure=False)
        running[future] = point
        return future

    pool = as_completed(loop=client.loop)
    for _ in range(max(1, sum(client.nthreads().values()))):
        if (future := begin()) is not None:
            pool.add(future)
    for future in pool:
        point = running.pop(future)
        error = future.exception()
        if error is None:
            store.add(future.result())
        yield Done(point, "" if error is None else _reason(error))
        if (another := begin()) is not None:
            pool.add(another)


def _reason(error: BaseException) -> str:
    if isinstance(error, LabError):
        return str(error)
    return f"{type(error).__name__}: {error}".splitlines()[0]
