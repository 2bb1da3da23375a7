"""The demo's figures as PNG, drawn without a display."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from fcn.topologies.demo.measure import Measurement, Series
from fcn.topologies.demo.scenario import Scenario

DPI = 130
MBIT = 1e6
BIN_MS = 50
# Height of an axis relative to its data, so that the legend covers no data.
LEGEND_ROOM = 1.45
ZOOM_BEFORE_MS = 10.0
SENDER_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd")
PE_COLOUR, RECEIVER_COLOUR = "#1b7837", "#b2182b"
ONSET_STYLE = {"color": "0.35", "linestyle": ":", "linewidth": 1.2}

# Where nobody cut its rate, so much is shown after the onset.
UNANSWERED_MS = 50.0
COLUMN_WIDTH = 6.25

Results = Mapping[str, Measurement]
"""By the names of the modes, in the order in which they are shown."""


def draw_overview(scenario: Scenario, results: Results, path: Path) -> None:
    """Rate of each sender, queue depth and notifications over the whole of the runs."""
    figure, axes = pyplot.subplots(
        3,
        len(results),
        figsize=(COLUMN_WIDTH * len(results), 9.5),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for column, result in enumerate(results.values()):
        axes[0][column].set_title(result.mode.title, fontsize=13, fontweight="bold")
        _draw_rates(axes[0][column], scenario, result)
        _draw_queue(axes[1][column], scenario, result)
        _draw_notifications(axes[2][column], scenario, result)
        axes[2][column].set_xlabel("time since the first packet (s)")
        for row in range(3):
            axes[row][column].axvline(result.onset_ms / 1000, **ONSET_STYLE)
            axes[row][column].grid(alpha=0.25)
            axes[row][column].legend(loc="upper right", fontsize=8, framealpha=0.9)
    held = any(result.pause_frames for result in results.values())
    axes[0][0].set_ylabel(f"sending rate{' between pauses' if held else ''} (Mb/s)")
    axes[1][0].set_ylabel("queue (packets)")
    axes[2][0].set_ylabel(f"per {BIN_MS} ms")
    axes[0][0].set_xlim(0, scenario.seconds)
    # All columns have the limits of the rows.
    highest = max(max(r.total_rate_bps.values, default=0.0) for r in results.values()) / MBIT
    axes[0][0].set_ylim(0, LEGEND_ROOM * max(highest, scenario.bottleneck_bps / MBIT))
    deepest = max(max(r.peak_queue, r.mode.depths[-1]) for r in results.values())
    axes[1][0].set_ylim(0, 1.1 * deepest)
    axes[2][0].set_ylim(0, LEGEND_ROOM * max(axes[2][0].get_ylim()[1], 1))
    node, peer = scenario.bottleneck
    figure.suptitle(
        f"Congestion at {node} towards {peer} ({scenario.bottleneck_pps} packets/s); "
        "the dotted line is the onset of the first"
    )
    figure.savefig(path, dpi=DPI)
    pyplot.close(figure)


def _seconds(series: Series) -> list[float]:
    return [time / 1000 for time in series.times_ms]


def _draw_rates(axes: Axes, scenario: Scenario, result: Measurement) -> None:
    for (name, series), colour in zip(result.rates_bps.items(), SENDER_COLOURS, strict=False):
        values = [value / MBIT for value in series.values]
        axes.step(_seconds(series), values, where="post", color=colour, label=name, linewidth=1.2)
    total = result.total_rate_bps
    sums = [value / MBIT for value in total.values]
    axes.step(
        _seconds(total), sums, where="post", color="0.6", label="all senders", linewidth=1.0,
        zorder=1,
    )  # fmt: skip
    capacity = scenario.bottleneck_bps / MBIT
    axes.axhline(capacity, color="k", linestyle="--", linewidth=1.0, label="bottleneck")


def _draw_queue(axes: Axes, scenario: Scenario, result: Measurement) -> None:
    label = {
        "traffic manager": "queue, read every 2 ms",
        "packets in and out": "queue, packets in less packets out",
    }[result.queue_source]
    axes.plot(
        _seconds(result.queue),
        result.queue.values,
        color=result.mode.colour,
        linewidth=0.9,
        label=label,
    )
    depths = result.mode.depths
    for level, depth in enumerate(depths, 1):
        axes.axhline(depth, color="0.8", linewidth=0.7, linestyle="--", zorder=0)
        if level in (1, len(depths)):
            axes.text(
                scenario.seconds * 0.005, depth, f"level {level}", fontsize=7, color="0.4",
                va="bottom",
            )  # fmt: skip


def _draw_notifications(axes: Axes, scenario: Scenario, result: Measurement) -> None:
    edges = [edge * BIN_MS / 1000 for edge in range(int(scenario.seconds * 1000 / BIN_MS) + 1)]
    axes.hist(
        [
            [time / 1000 for time in result.cnps_from_pe],
            [time / 1000 for time in result.cnps_from_receiver],
        ],
        bins=edges,
        stacked=True,
        color=[PE_COLOUR, RECEIVER_COLOUR],
        label=[
            f"CNPs from the ingress PE ({len(result.cnps_from_pe)})",
            f"CNPs from receivers ({len(result.cnps_from_receiver)})",
        ],
    )
    axes.hist(
        [time / 1000 for time in result.notices],
        bins=edges,
        histtype="step",
        color="k",
        linewidth=1.0,
        label=f"{result.mode.notice.title} from {scenario.bottleneck[0]} ({len(result.notices)})",
    )
    if result.mode.holds:
        axes.hist(
            [time / 1000 for time in result.pause_frames],
            bins=edges,
            histtype="step",
            color=result.mode.colour,
            linewidth=1.0,
            label=f"PAUSE frames heard by senders ({len(result.pause_frames)})",
        )


def draw_reaction(scenario: Scenario, results: Results, path: Path) -> None:
    """The first congestion of each run, aligned at the onset."""
    firsts = [result.first for result in results.values()]
    longest = max((first.reaction_ms for first in firsts if first), default=UNANSWERED_MS)
    end_ms = 2.0 * longest + 10.0
    figure, (rate_axes, queue_axes) = pyplot.subplots(
        2, 1, figsize=(10, 7.5), sharex=True, layout="constrained"
    )
    for result in results.values():
        mode, first = result.mode, result.first
        colour = mode.colour
        times, values = _aligned(result.total_rate_bps, result.onset_ms, end_ms)
        rate_axes.step(
            times, [value / MBIT for value in values], where="post", color=colour, linewidth=1.8,
            label=f"{mode.title}: {_first_answer(result)}",
        )  # fmt: skip
        times, values = _aligned(result.queue, result.onset_ms, end_ms)
        queue_axes.step(times, values, where="post", color=colour, linewidth=1.4, label=mode.title)
        if first is None:
            continue
        for axes in (rate_axes, queue_axes):
            axes.axvline(first.reaction_ms, color=colour, linewidth=1.0)
            axes.axvline(first.bound_ms, color=colour, linewidth=1.0, linestyle="--", alpha=0.7)
    rate_axes.set_title(
        "From the onset of the first congestion to the first rate cut\n"
        "solid line: measured, dashed: propagation delay alone",
        fontsize=12,
    )
    rate_axes.set_ylabel("rate of all senders (Mb/s)")
    rate_axes.axhline(
        scenario.bottleneck_bps / MBIT, color="k", linewidth=0.9, linestyle="-.",
        label="bottleneck",
    )  # fmt: skip
    rate_axes.set_ylim(bottom=0)
    queue_axes.set_ylabel("queue at the bottleneck (packets)")
    queue_axes.axhline(
        next(iter(results.values())).mode.depths[0], color="0.6", linewidth=0.8, linestyle=":",
        label="congestion level 1",
    )  # fmt: skip
    queue_axes.set_ylim(bottom=0)
    queue_axes.set_xlabel("time since the onset of congestion (ms)")
    for axes in (rate_axes, queue_axes):
        axes.axvline(0, **ONSET_STYLE)
        axes.grid(alpha=0.25)
        axes.legend(fontsize=9, loc="best")
    queue_axes.set_xlim(-ZOOM_BEFORE_MS, end_ms)
    figure.savefig(path, dpi=DPI)
    pyplot.close(figure)


def _first_answer(result: Measurement) -> str:
    if result.first is not None:
        return f"first cut after {result.first.reaction_ms:.2f} ms, by {result.first.sender}"
    if result.pauses_ms:
        return f"no rate cut, first pause after {result.pauses_ms[0]:.2f} ms"
    return "no rate cut"


def _aligned(series: Series, onset_ms: float, end_ms: float) -> tuple[list[float], list[float]]:
    """Points of the window around the onset, with one before it so that steps begin at the edge."""
    shifted = [
        (time - onset_ms, value)
        for time, value in zip(series.times_ms, series.values, strict=True)
        if time - onset_ms <= end_ms
    ]
    before = [index for index, (time, _) in enumerate(shifted) if time <= -ZOOM_BEFORE_MS]
    inside = shifted[before[-1] if before else 0 :]
    if inside:
        inside.append((end_ms, inside[-1][1]))
    return [time for time, _ in inside], [value for _, value in inside]
