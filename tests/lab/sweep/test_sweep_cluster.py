"""Sweeps on a Dask cluster that exists, or does not, or goes away."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from distributed import LocalCluster
from sweep_grids import row, sweep

from fcn.lab.errors import LabError
from fcn.lab.sweep import run
from fcn.lab.sweep.grid import Point
from fcn.lab.sweep.rows import Row, RowStore
from fcn.lab.sweep.run import cluster, run_sweep


@contextmanager
def a_cluster(workers: int) -> Iterator[LocalCluster]:
    with LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=False, protocol="tcp://",
        dashboard_address=None, silence_logs=50,
    ) as local:  # fmt: skip
        yield local


def of_another_version(point: Point) -> Row:
    return replace(row(point), identity="another")


def that_fails(_point: Point) -> Row:
    raise RuntimeError("what went wrong\nand why")


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1", "tcp://127.0.0.1", "nonsense://127.0.0.1:1", "tls://127.0.0.1:1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(LabError, match="no Dask scheduler answers at"), cluster(address):
        pass


def test_what_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_ANSWER_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(LabError, match=r"nothing in 0\.5 s"), cluster(address):
            pass


def test_a_cluster_without_workers_and_a_worker_are_no_cluster() -> None:
    with a_cluster(0) as local:
        with pytest.raises(LabError, match="no worker is at"), cluster(local.scheduler_address):
            pass
        local.scale(1)
        local.sync(local._correct_state)
        worker = next(iter(local.workers.values())).address
        with pytest.raises(LabError, match=r"but a worker$"), cluster(worker):
            pass


def test_runs_of_workers_with_another_version_do_not_count(tmp_path: Path) -> None:
    points = list(sweep(tmp_path).points)
    store = RowStore(tmp_path / "out")
    with a_cluster(1) as local, cluster(local.scheduler_address) as client:
        done = list(run_sweep(points, store, client, execute=of_another_version))
    assert [each.error[:28] for each in done] == ["a worker has another version"] * len(points)
    assert not store.rows


def test_why_a_run_failed_is_told_whole(tmp_path: Path) -> None:
    points = list(sweep(tmp_path).points)[:1]
    with a_cluster(1) as local, cluster(local.scheduler_address) as client:
        done = list(run_sweep(points, RowStore(tmp_path), client, execute=that_fails))
    assert [each.error for each in done] == ["RuntimeError: what went wrong and why"]


def test_a_scheduler_that_goes_away_ends_the_sweep_which_goes_on_with_another(
    tmp_path: Path,
) -> None:
    points = list(sweep(tmp_path).points)
    store = RowStore(tmp_path / "out")
    command = [sys.executable, "-c", SCHEDULER]
    # It finds the modules of tests as this process does.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with cluster(address) as client:
            assert not logging.getLogger("distributed.client").isEnabledFor(logging.ERROR)
            begun = run_sweep(points, store, client, execute=row)
            assert not next(begun).error
            process.kill()
            with pytest.raises(LabError, match="the Dask scheduler is gone"):
                list(begun)
    assert 1 <= len(store.rows) < len(points)
    with a_cluster(1) as local, cluster(local.scheduler_address) as client:
        rest = list(run_sweep(points, store, client, execute=row))
    assert store.rows.keys() == {point.identity for point in points}
    assert 1 <= len(rest) < len(points)


SCHEDULER = """
from distributed import LocalCluster
with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://",
                  dashboard_address=None, silence_logs=50) as local:
    print(local.scheduler_address, flush=True)
    input()
"""
