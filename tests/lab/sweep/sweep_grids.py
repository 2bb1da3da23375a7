"""A scenario that takes a moment, grids of it, and workers that die."""

import os
import signal
from pathlib import Path

from fcn.lab.sweep.grid import Point, Sweep, parse_grid
from fcn.lab.sweep.rows import Row

SCENARIO = """\
network: wan
duration: 300us
links:
  core: {rate: 10 Gb/s, delay: 1 km}
  hosts: {rate: 10 Gb/s}
traffic:
  - {pattern: poisson, from: [h1, h2], to: [h3], load: 0.7, sizes: [[20kB, 1.0]]}
measure: {interval: 10us}
"""

GRID = """\
scenarios: [tiny.yaml]
modes: [ecn, none]
seeds: 2
parameters:
  hosts.mtu: [1024, 4096]
"""

DEADLY = 2
"""The seed of runs whose worker dies."""


def sweep(folder: Path, grid: str = GRID) -> Sweep:
    """The grid beside its scenario."""
    (folder / "tiny.yaml").write_text(SCENARIO)
    (folder / "grid.yaml").write_text(grid)
    return parse_grid(grid, folder / "grid.yaml")


def row(point: Point, value: float = 1.0) -> Row:
    """A row as if a run had given it."""
    return Row(point.identity, f"of seed {point.plan.scenario.seed}", {"goodput_bps": value})


def die_or_run(point: Point) -> Row:
    """In a worker: runs of one seed kill it."""
    if point.plan.scenario.seed == DEADLY:
        os._exit(9)
    return row(point)


def die_at_first(folder: Path, point: Point) -> Row:
    """As die_or_run(), and every other run kills its worker, too, the first time that it is run:
    to whoever waits for it, another run might have."""
    try:
        (folder / point.identity).touch(exist_ok=False)
    except FileExistsError:
        return die_or_run(point)
    os._exit(9)


def told_of_signals(point: Point) -> Row:
    """In a worker: how many would end it of those that each process of a group may get."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return row(point, float(len({signal.SIGINT, signal.SIGTERM} - mask)))
