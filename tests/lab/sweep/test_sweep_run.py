"""Sweeps on processes of this machine: stopped, killed, and with workers that die."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
from sweep_grids import DEADLY, die_or_run, sweep

from fcn.lab.sweep.measures import MEASURES
from fcn.lab.sweep.rows import ROWS_FILE, RowStore
from fcn.lab.sweep.run import Done, cluster, run_sweep

TABLES = ("runs.parquet", "summary.parquet")


def command(folder: Path, out: Path, workers: int) -> list[str]:
    return [
        sys.executable, "-m", "fcn.lab", "sweep", str(folder / "grid.yaml"), "--out", str(out),
        "--workers", str(workers),
    ]  # fmt: skip


def rows_in(out: Path) -> int:
    file = out / ROWS_FILE
    return file.read_bytes().count(b"\n") if file.exists() else 0


def test_a_sweep_that_was_killed_goes_on_and_ends_with_the_same_tables(tmp_path: Path) -> None:
    """Killed, with all its processes, when it has some of its four rows; then started again, on
    another number of processes."""
    sweep(tmp_path, "scenarios: [tiny.yaml]\nmodes: [ecn, none]\nseeds: 2\n")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    text = subprocess.run(
        command(tmp_path, whole, 1), check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    assert "grid: 3 of 4, " in text
    assert " s left: tiny, mode " in text
    assert "4 of 4 runs; tables: " in text

    with subprocess.Popen(command(tmp_path, killed, 1), start_new_session=True) as process:
        while rows_in(killed) < 1:
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    before = rows_in(killed)
    assert 1 <= before < 4
    assert not (killed / TABLES[0]).exists()

    again = subprocess.run(
        command(tmp_path, killed, 2), check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    assert f"{before} of 4 runs are there already" in again
    assert rows_in(killed) == 4
    for name in TABLES:
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name

    runs = pd.read_parquet(whole / TABLES[0])
    assert (runs["error"] == "").all()
    assert (runs.groupby("seed")["digest"].nunique() == 1).all(), "nothing is marked"
    assert runs["digest"].nunique() == 2
    assert (runs["packet_hops"] > 0).all()
    assert set(MEASURES) < set(runs.columns)


def test_a_worker_that_dies_costs_its_run_only(tmp_path: Path) -> None:
    """Here a run kills each worker it is given to: all others have their rows, and it is run again
    by the next sweep."""
    points = [p for p in sweep(tmp_path).points if p.plan.scenario.mode == "ecn"]
    store = RowStore(tmp_path / "out")
    with cluster(workers=2) as client:
        done = list(run_sweep(points, store, client, execute=die_or_run))
    assert len(done) == len(points)
    failed = {each.point.identity for each in done if each.error}
    assert failed == {p.identity for p in points if p.plan.scenario.seed == DEADLY}
    assert all("KilledWorker" in each.error for each in done if each.error)
    assert set(store.missing(p.identity for p in points)) == failed


def test_what_is_asked_to_stop_begins_no_more(tmp_path: Path) -> None:
    points = [p for p in sweep(tmp_path).points if p.plan.scenario.seed != DEADLY]
    store = RowStore(tmp_path / "out")
    with cluster(workers=1) as client:
        done: list[Done] = []
        begun = run_sweep(points, store, client, stop=lambda: bool(done), execute=die_or_run)
        for each in begun:
            done.append(each)
        assert 0 < len(done) < len(points)
        rest = list(run_sweep(points, store, client, execute=die_or_run))
    assert {each.point.identity for each in (*done, *rest)} == {p.identity for p in points}
    assert len(done) + len(rest) == len(points)
