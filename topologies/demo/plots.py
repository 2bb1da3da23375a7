"""The demo's charts as PNG, drawn without a display: each by itself and narrow, for a phone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fcn.topologies.demo.bars import panels
from fcn.topologies.demo.measure import Measurement, Series
from fcn.topologies.demo.modes import DEPTHS
from fcn.topologies.demo.overview import draw_overview
from fcn.topologies.demo.scenario import Scenario

DPI = 170
WIDE, HIGH = 4.8, 3.6
"""Inches: a phone shows so much with letters that can be read."""

FEW = 3
"""Modes whose names have room beside each other."""

MBIT = 1e6
ZOOM_BEFORE_MS = 10.0
STEP_MS = 1.0
QUEUE_AFTER_MS = 250.0
# Where nobody cut its rate, so much is shown after the onset.
UNANSWERED_MS = 50.0
Results = Mapping[str, Measurement]
"""By the names of the modes, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of the page. path: None where there is nothing in it. whole_run: of one mode, over
    all its time."""

    title: str
    path: Path | None
    whole_run: bool = False


def draw_charts(scenario: Scenario, results: Results, folder: Path) -> Iterator[Chart]:
    """All charts, those with something in them as files."""

    def chart(name: str, title: str, draw: Callable[[Axes], None], *, bars: bool = True) -> Chart:
        path = folder / f"{name}.png"
        figure = Figure(figsize=(WIDE, HIGH), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        if bars and len(results) > FEW:
            for label in axes.get_xticklabels():
                label.set(rotation=40, ha="right")
        figure.savefig(path, dpi=DPI)
        return Chart(title, path)

    yield chart("rate", "rate after an onset", partial(_draw_rate, scenario, results), bars=False)
    yield chart("queue", "queue after an onset", partial(_draw_queue, results), bars=False)
    yield chart("above-level-1", "time above level 1", partial(_draw_above, results))
    for panel in panels(list(results.values())):
        if panel.empty:
            yield Chart(panel.title, None)
        else:
            yield chart(panel.name, panel.title, panel.draw)
    highest = max(max(r.total_rate_bps.values, default=0.0) for r in results.values()) / MBIT
    deepest = max(max(r.peak_queue, r.mode.depths[-1]) for r in results.values())
    for name, result in results.items():
        path = folder / f"overview-{name}.png"
        draw_overview(scenario, result, highest, deepest, path)
        yield Chart(f"{result.mode.title}: the whole run", path, whole_run=True)


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile."""
    if len(values) < 2:
        return (values[0],) * 3
    lower, middle, upper = quantiles(values, n=4, method="inclusive")
    return lower, middle, upper


def over_onsets(series: Series, onsets: Sequence[float], offset_ms: float) -> list[float]:
    """The value at a time after each onset; none before the first value."""
    found = []
    for onset in onsets:
        before = [
            value
            for time, value in zip(series.times_ms, series.values, strict=True)
            if time <= onset + offset_ms
        ]
        found += before[-1:]
    return found


def _band(
    axes: Axes, result: Measurement, series: Series, end_ms: float, scale: float = 1.0
) -> None:
    """Median over the onsets, and between the quartiles."""
    onsets = [each.onset_ms for each in result.onsets]
    offsets = [-ZOOM_BEFORE_MS + STEP_MS * n for n in range(int(end_ms + ZOOM_BEFORE_MS) + 1)]
    times, spread = [], []
    for offset in offsets:
        values = over_onsets(series, onsets, offset)
        if values:
            times.append(offset)
            spread.append([value / scale for value in quartiles(values)])
    lower, middle, upper = zip(*spread, strict=True)
    colour = result.mode.colour
    axes.fill_between(times, lower, upper, step="post", color=colour, alpha=0.22, linewidth=0)
    axes.step(times, middle, where="post", color=colour, linewidth=1.6, label=result.mode.title)


def _draw_rate(scenario: Scenario, results: Results, axes: Axes) -> None:
    longest = max((max(r.reactions_ms, default=0.0) for r in results.values()), default=0.0)
    end_ms = 2.0 * (longest or UNANSWERED_MS) + 10.0
    for result in results.values():
        _band(axes, result, result.total_rate_bps, end_ms, MBIT)
        if result.reaction_ms is not None:
            colour = result.mode.colour
            bound = median(each.bound_ms for each in result.answers)
            axes.axvline(result.reaction_ms, color=colour, linewidth=1.0)
            axes.axvline(bound, color=colour, linewidth=1.0, linestyle="--", alpha=0.7)
    axes.axhline(
        scenario.bottleneck_bps / MBIT, color="k", linewidth=0.9, linestyle="-.", label="bottleneck"
    )
    axes.set_ylim(bottom=0)
    axes.set_ylabel("rate of all senders (Mb/s)")
    _finish(axes, "Rate: median and quartiles of all onsets", end_ms)


def _draw_queue(results: Results, axes: Axes) -> None:
    for result in results.values():
        _band(axes, result, result.queue, QUEUE_AFTER_MS)
    axes.axhline(DEPTHS[0], color="0.4", linewidth=0.9, linestyle="--", label="level 1")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("queue (packets)")
    _finish(axes, "Queue: median and quartiles of all onsets", QUEUE_AFTER_MS)


def _finish(axes: Axes, title: str, end_ms: float) -> None:
    axes.axvline(0, color="0.35", linestyle=":", linewidth=1.2)
    axes.set_xlim(-ZOOM_BEFORE_MS, end_ms)
    axes.set_xlabel("time since the onset of congestion (ms)")
    axes.set_title(title, fontsize=11)
    axes.grid(alpha=0.25)
    if len(axes.get_legend_handles_labels()[0]) <= FEW + 1:
        axes.legend(fontsize=9, loc="best")
    else:
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4)


def _draw_above(results: Results, axes: Axes) -> None:
    for at, result in enumerate(results.values()):
        lower, middle, upper = quartiles(result.above_ms)
        axes.bar(at, middle, color=result.mode.colour, alpha=0.55)
        axes.errorbar(
            at, middle, yerr=[[middle - lower], [upper - middle]], color="0.2", capsize=5,
            linewidth=1.2,
        )  # fmt: skip
        count = len(result.above_ms)
        spots = [at + 0.5 * ((n + 0.5) / count - 0.5) for n in range(count)]
        axes.plot(spots, result.above_ms, "o", markersize=3, color=result.mode.colour)
        axes.annotate(
            f"{middle:.0f}", (at, 0), xytext=(0, 4), textcoords="offset points", ha="center",
            fontsize=10, fontweight="bold",
        )  # fmt: skip
    titles = [result.mode.title for result in results.values()]
    axes.set_xticks(range(len(titles)), titles, fontsize=9)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("of the congestion of an onset (ms)")
    axes.set_title("Time above level 1: median, quartiles, each onset", fontsize=11)
    axes.grid(axis="y", alpha=0.25)
