"""The plots of docs/findings.md, as SVG files that are the same for the same numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fcn.bench.findings.cases import AMPLE, BUFFERS
from fcn.bench.findings.numbers import Numbers
from fcn.topologies.demo.modes import MODES

BDP_OCTETS = 31_250_000
"""Of the grid `buffer`."""

DRAWN = ("none", "ecn", "fcn", "two-threshold", "fantel", "service")
"""Modes of the curves; `end-con` is as `fcn`, `priority` as `service`."""


def draw(grids: Mapping[str, Numbers], folder: Path) -> None:
    _save(_buffer(grids["buffer"]), folder / "findings-buffer.svg")
    _save(_needed(grids["buffer"]), folder / "findings-needed.svg")
    _save(_jobs(grids["all-reduce"]), folder / "findings-jobs.svg")


def _buffer(numbers: Numbers) -> Figure:
    figure = Figure(figsize=(10, 4), layout="constrained")
    lost, done = figure.subplots(1, 2)
    cases = [f"{bdps:g} BDP" for bdps in BUFFERS]
    _curves(lost, numbers, cases, "frames_lost", "frames lost")
    lost.set_yscale("symlog", linthresh=100)
    lost.set_ylim(bottom=0)
    _curves(done, numbers, cases, "goodput_bps", "goodput, Gb/s", 1e-9)
    done.set_ylim(bottom=0)
    done.legend(fontsize="small", loc="lower right")
    figure.suptitle("Incast at 25 Gb/s over 1000 km: what each mode needs of buffer")
    return figure


def _curves(
    axes: Axes, numbers: Numbers, cases: Sequence[str], measure: str, label: str, factor: float = 1
) -> None:
    for mode in DRAWN:
        values = [factor * numbers.need(mode, case, measure).mean for case in cases]
        axes.plot(BUFFERS, values, marker="o", color=MODES[mode].colour, label=mode)
    axes.set_xscale("log")
    axes.set_xticks(BUFFERS, [f"{bdps:g}" for bdps in BUFFERS])
    axes.set_xlabel("buffer, bandwidth-delay products")
    axes.set_ylabel(label)
    axes.grid(visible=True, alpha=0.3)


def _needed(numbers: Numbers) -> Figure:
    """With the largest buffer nothing is lost: the peak is what is needed."""
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    case = f"{max(BUFFERS):g} BDP"
    values = [numbers.need(mode, case, "queue_max_octets").mean for mode in numbers.modes]
    _bars(axes, numbers.modes, [each / BDP_OCTETS for each in values])
    axes.set_xlabel("buffer needed for an incast of 2 : 1, bandwidth-delay products")
    axes.set_xlim(right=AMPLE / 4)
    return figure


def _jobs(numbers: Numbers) -> Figure:
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    (case,) = numbers.cases
    values = [numbers.need(mode, case, "iteration_mean_ns").mean for mode in numbers.modes]
    _bars(axes, numbers.modes, [each / 1e6 for each in values])
    axes.set_xlabel("iteration of all-reduce and pipeline, mean, ms")
    return figure


def _bars(axes: Axes, modes: Sequence[str], values: Sequence[float]) -> None:
    bars = axes.barh(modes, values, color=[MODES[mode].colour for mode in modes])
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.margins(x=0.12)
    axes.invert_yaxis()


def _save(figure: Figure, file: Path) -> None:
    with mpl.rc_context({"svg.hashsalt": "fcn"}):
        figure.savefig(file, metadata={"Date": None})
