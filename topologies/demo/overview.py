"""One mode's whole run: rates, queue and notifications over time."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fcn.topologies.demo.measure import Measurement, Series
from fcn.topologies.demo.scenario import Scenario

DPI = 150
MBIT = 1e6
BIN_MS = 50
# Height of an axis relative to its data, so that the legend covers no data.
LEGEND_ROOM = 1.45
SENDER_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd")
PE_COLOUR, RECEIVER_COLOUR = "#1b7837", "#b2182b"


def draw_overview(
    scenario: Scenario, result: Measurement, highest: float, deepest: float, path: Path
) -> None:
    """highest: rate of all modes, in Mb/s, deepest: queue; so that pictures can be compared."""
    figure = Figure(figsize=(4.8, 8.4), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    _draw_rates(axes[0], scenario, result)
    _draw_queue(axes[1], scenario, result)
    _draw_notifications(axes[2], scenario, result)
    for each in axes:
        for onset in result.onsets:
            each.axvline(onset.onset_ms / 1000, color="0.35", linestyle=":", linewidth=1.0)
        each.grid(alpha=0.25)
        each.legend(loc="upper right", fontsize=8, framealpha=0.9)
    axes[0].set_ylabel(f"rate{' between pauses' if result.pause_frames else ''} (Mb/s)")
    axes[1].set_ylabel("queue (packets)")
    axes[2].set_ylabel(f"per {BIN_MS} ms")
    axes[2].set_xlabel("time since the first packet (s)")
    axes[0].set_xlim(0, scenario.seconds)
    axes[0].set_ylim(0, LEGEND_ROOM * max(highest, scenario.bottleneck_bps / MBIT))
    axes[1].set_ylim(0, 1.1 * deepest)
    axes[2].set_ylim(0, LEGEND_ROOM * max(axes[2].get_ylim()[1], 1))
    figure.suptitle(f"{result.mode.title}; dotted: onsets", fontsize=11)
    figure.savefig(path, dpi=DPI)


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
