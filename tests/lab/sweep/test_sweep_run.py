"""Sweeps on processes of this machine: stopped, killed, and with workers that die."""

import contextlib
import os
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from sweep_grids import DEADLY, die_at_first, die_or_run, sweep, told_of_signals

from fcn.lab.sweep.measures import MEASURES
from fcn.lab.sweep.rows import ROWS_FILE, RowStore, alone_in
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


def kill_at_random(rng: random.Random, process: subprocess.Popen[bytes]) -> None:
    """After some time the sweep with all its processes, or one of these alone; or it has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(rng.uniform(0, 15))
    with contextlib.suppress(OSError):  # where it, or the process chosen, has ended
        own = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if own and rng.random() < 0.5:
            os.kill(int(rng.choice(own)), signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0, 15))
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kills", "seeds"), [(1, 2), (20, 20)])
def test_a_sweep_that_was_killed_goes_on_and_ends_with_the_same_tables(
    tmp_path: Path, kills: int, seeds: int
) -> None:
    """At random moments, it or one of its workers, and started again on another number of them."""
    sweep(tmp_path, f"scenarios: [tiny.yaml]\nmodes: [ecn, none]\nseeds: {seeds}\n")
    whole, killed, rng = tmp_path / "whole", tmp_path / "killed", random.Random(3)
    done = subprocess.run(command(tmp_path, whole, 1), check=True, capture_output=True, text=True)
    assert f"grid: {2 * seeds - 1} of {2 * seeds}, " in done.stderr
    assert " s left: tiny, mode " in done.stderr
    assert f"{2 * seeds} of {2 * seeds} runs; tables: " in done.stdout

    before = 0
    for kill in range(kills):
        with subprocess.Popen(
            command(tmp_path, killed, 1 + kill % 2),
            start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            kill_at_random(rng, process)
        assert before <= rows_in(killed) <= 2 * seeds
        before = rows_in(killed)
    again = subprocess.run(command(tmp_path, killed, 2), check=True, capture_output=True, text=True)
    assert not before or f"{before} of {2 * seeds} runs are there already" in again.stderr
    assert rows_in(killed) == 2 * seeds
    for name in TABLES:
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name

    runs = pd.read_parquet(whole / TABLES[0])
    assert (runs["error"] == "").all()
    assert (runs.groupby("seed")["digest"].nunique() == 1).all(), "nothing is marked"
    assert runs["digest"].nunique() == seeds
    assert (runs["packet_hops"] > 0).all()
    assert set(MEASURES) < set(runs.columns)


def test_two_sweeps_in_one_folder_do_not_run_all_twice(tmp_path: Path) -> None:
    sweep(tmp_path)
    with alone_in(tmp_path / "out"):
        other = subprocess.run(
            command(tmp_path, tmp_path / "out", 1), stderr=subprocess.PIPE, text=True, check=False
        )
    assert other.returncode == 1
    # A line each second of planning may come before.
    said = other.stderr.splitlines()[-1]
    assert said.startswith(f"error: another sweep writes to {tmp_path / 'out'}: ")


def test_a_worker_that_dies_costs_its_run_only(tmp_path: Path) -> None:
    """Here a run kills each worker it is given to: all others, which lose a worker once, have their
    rows, and it is run again by the next sweep. With one worker each is begun before it is lost."""
    points = [p for p in sweep(tmp_path).points if p.plan.scenario.mode == "ecn"][:3]
    store = RowStore(tmp_path / "out")
    with cluster(workers=1) as client:
        done = list(run_sweep(points, store, client, execute=partial(die_at_first, tmp_path)))
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


def test_neither_ctrl_c_nor_sigterm_ends_a_worker(tmp_path: Path) -> None:
    """A terminal has the one, a service manager the other for every process of the command, of
    which this one says what is ended."""
    points = list(sweep(tmp_path).points)[:1]
    store = RowStore(tmp_path / "out")
    with cluster(workers=1) as client:
        list(run_sweep(points, store, client, execute=told_of_signals))
    assert [row.measures["goodput_bps"] for row in store.rows.values()] == [0.0]
