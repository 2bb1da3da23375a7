"""Plots of results, drawn without a display.

What is drawn is chosen so that it can be read: rates of at most MOST_LINES connections (of more,
their sum and their spread), the deepest queues, the busiest links.
"""

import base64
import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from fcn.lab.report.amounts import scale
from fcn.lab.result import analysis
from fcn.lab.result.failover import arrivals, carried, failovers
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import BY_PE, BY_RECEIVER, caused, reactions
from fcn.lab.result.slowdown import by_size
from fcn.topologies.demo.modes import MODES

DPI = 110
MOST_LINES = 8
MOST_QUEUES = 3
LEAST_SHARE = 0.02
"""Of the greatest: what is less cannot be seen beside it."""

BINS = 60
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#17becf")
PE_COLOUR, RECEIVER_COLOUR = MODES["fcn"].colour, MODES["ecn"].colour
LEGEND_ROOM = 1.3
"""Height of an axis relative to its data, so that the legend covers none."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with its title, as the octets of a PNG file."""

    title: str
    png: bytes

    @property
    def base64(self) -> str:
        return base64.b64encode(self.png).decode()

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        return self.png


def plots(result: Result) -> list[Plot]:
    """Those of one run for which it has data."""
    made = [
        ("Rates, queues and notifications", draw_overview(result)),
        ("From the first congestion to the first rate cut", draw_reaction(result)),
        ("When the first link failed", draw_failover(result)),
        ("Flow completion times", draw_completion({result.about.label: result})),
        ("Slowdown by size of message", draw_slowdown({result.about.label: result})),
        ("Load of links", draw_load(result)),
    ]
    return [Plot(title, _png(figure)) for title, figure in made if figure is not None]


def overlaid(results: Mapping[str, Result]) -> list[Plot]:
    """Several runs in the same axes."""
    made = [
        ("What hosts send, and queues, of all runs", draw_overlaid(results)),
        ("Flow completion times of all runs", draw_completion(results)),
        ("Slowdown by size of message of all runs", draw_slowdown(results)),
    ]
    return [Plot(title, _png(figure)) for title, figure in made if figure is not None]


def draw_overview(result: Result) -> Figure | None:
    """Rates of the connections, depths of the deepest queues, and notifications, over time."""
    rates = analysis.rates(result)
    depths = analysis.over_time(result, "queues", "packets")
    panels: list[Callable[[Axes, Result], None]] = []
    if not rates.empty:
        panels.append(_draw_rates)
    if not depths.empty:
        panels.append(_draw_queues)
    if len(result.notices) or len(result.crossings):
        panels.append(_draw_notifications)
    if not panels:
        return None
    figure, axes = _panels(len(panels))
    for panel, draw in zip(axes, panels, strict=True):
        draw(panel, result)
        _draw_events(panel, result)
        _finish(panel)
    _time_axis(axes[-1], result)
    return figure


def draw_reaction(result: Result) -> Figure | None:
    """Rates and queue around the onset of the first congestion that somebody reacted to."""
    found = reactions(result)
    answered = found[found["cut_ns"].notna()]
    if answered.empty:
        return None
    first = answered.iloc[0]
    onset, after = int(first["onset_ns"]), int(first["reaction_ns"])
    bounds = {"by the ingress PE": first["fcn_bound_ns"], "by the receiver": first["ecn_bound_ns"]}
    colours = {BY_PE: PE_COLOUR, BY_RECEIVER: RECEIVER_COLOUR}
    known = [int(bound) for bound in bounds.values() if not pd.isna(bound)]
    end = 1.4 * max([after, *known, 1])
    one, unit = scale(end, "ns")
    figure, axes = _panels(2, height=2.9)
    depths = analysis.over_time(result, "queues", "packets")
    queue = (first["node"], first["towards"])
    parts = [
        (axes[0], analysis.sent(result), "bps", "sent by all hosts"),
        (axes[1], depths.get(queue, pd.Series(dtype="float64")), "count", "queue (packets)"),
    ]
    for panel, series, kind, label in parts:
        inside = _between(series, onset - 0.3 * end, onset + end)
        value, name = scale(inside.max(), "bps") if kind == "bps" and len(inside) else (1, "")
        # What was sent is of the time before a sample.
        where: Literal["pre", "post"] = "pre" if kind == "bps" else "post"
        panel.step(
            (inside.index - onset) / one, inside / value, where=where, color="#1f77b4", lw=1.6
        )
        panel.set_ylabel(f"{label} ({name})" if name else label)
        panel.axvline(0, color="0.35", ls=":", lw=1.2, label="onset: first CE mark")
        for (text, bound), colour in zip(bounds.items(), colours.values(), strict=True):
            if not pd.isna(bound):
                panel.axvline(bound / one, color=colour, ls="--", lw=1, label=f"propagation {text}")
        by = first["by"]
        panel.axvline(
            after / one, color=colours[by], lw=1.6, alpha=0.6,
            label=f"first cut: {first['host']}, CNP of the {by}",
        )  # fmt: skip
        panel.set_xlim(-0.3 * end / one, end / one)
        panel.set_ylim(0, LEGEND_ROOM * max(1.0, float(inside.max() / value) if len(inside) else 1))
        _finish(panel, legend=panel is axes[0])
    axes[0].set_title(f"Queue of {queue[0]} towards {queue[1]}", fontsize=11)
    axes[-1].set_xlabel(f"time since the onset ({unit})")
    return figure


def draw_failover(result: Result) -> Figure | None:
    """What a PE sent on each path, and what arrived, around the first failure that was detected."""
    found = failovers(result)
    seen = found[found["detected_ns"].notna()]
    if seen.empty:
        return None
    first = seen.iloc[0]
    failed, pe = int(first["failed_ns"]), str(first["pe"])
    marks = {
        f"{first['node']} knows": first["detected_ns"],
        "and propagation": first["bound_ns"],
        "first packet on another path": first["moved_ns"],
    }
    end = 2 * max(int(mark) for mark in marks.values() if not pd.isna(mark))
    width = max(3 * end // 2 // BINS, 1)
    one, unit = scale(end, "ns")
    figure, axes = _panels(2, height=2.9)
    lines = [(axes[0], name, series) for name, series in carried(result, pe).items()]
    lines.append((axes[1], "at receivers", arrivals(result, pe)))
    for panel, name, series in lines:
        times = pd.Index(range(-end // 2, end + 1, width))
        counts = series.astype("float64").set_axis(series.index - failed)
        counts = counts.reindex(counts.index.union(times)).interpolate(method="index").fillna(0)
        rates = counts.loc[times].diff() * analysis.NS_PER_S / width
        panel.step(times / one, rates, where="pre", lw=1.3, label=name)
    for panel, label in zip(
        axes, (f"sent by {pe} (packets/s)", "arrived (packets/s)"), strict=True
    ):
        panel.axvline(0, color="0.35", ls=":", lw=1.2, label=f"{first['link']} fails")
        for (text, mark), style in zip(marks.items(), ("--", "-.", "-"), strict=True):
            if not pd.isna(mark):
                panel.axvline(mark / one, color=PE_COLOUR, ls=style, lw=1, label=text)
        panel.set_ylabel(label)
        panel.set_ylim(0, LEGEND_ROOM * max(1.0, panel.get_ylim()[1]))
        _finish(panel, legend=panel is axes[0])
    axes[-1].set_xlabel(f"time since the failure ({unit})")
    axes[-1].set_xlim(-end / 2 / one, end / one)
    return figure


def draw_completion(results: Mapping[str, Result]) -> Figure | None:
    """The share of messages completed within a time, of all messages of each run."""
    times = {}
    for name, result in results.items():
        done = analysis.messages(result)
        values = done["fct_ns"].dropna().astype("float64").sort_values().reset_index(drop=True)
        if len(values):
            times[name] = values, len(done)
    if not times:
        return None
    one, unit = scale(max(values.iloc[-1] for values, _ in times.values()), "ns")
    figure, (axes,) = _panels(1, height=3.6)
    for (name, (values, total)), colour in zip(times.items(), _colours(results), strict=False):
        label = name if len(values) == total else f"{name} ({len(values)} of {total} completed)"
        share = pd.Series(range(1, len(values) + 1)) / total
        axes.step(values / one, 100 * share, where="post", color=colour, label=label)
    axes.set_xscale("log")
    fastest = min(values.iloc[0] for values, _ in times.values()) / one
    slowest = max(values.iloc[-1] for values, _ in times.values()) / one
    _plain_log_ticks(axes, fastest, slowest)
    axes.set_xlabel(f"flow completion time ({unit})")
    axes.set_ylabel("messages completed (%)")
    axes.set_ylim(0, 103)
    _finish(axes)
    return figure


def draw_slowdown(results: Mapping[str, Result]) -> Figure | None:
    """How many times as long messages took as alone, by their size: median and 99th percentile."""
    tables = {name: by_size(result).iloc[:-1] for name, result in results.items()}
    rows = pd.concat([data[["size", "up_to_octets"]] for data in tables.values()])
    sizes = rows.drop_duplicates().sort_values("up_to_octets")["size"].tolist()
    if not sizes:
        return None
    figure, (axes,) = _panels(1, height=3.6)
    for (name, data), colour in zip(tables.items(), _colours(results), strict=True):
        if data.empty:
            continue
        places = [sizes.index(size) for size in data["size"]]
        axes.plot(places, data["median"], "o--", color=colour, ms=4, lw=1, label=f"{name}, median")
        axes.plot(places, data["p99"], "o-", color=colour, ms=4, lw=1.4, label=f"{name}, 99 %")
    axes.set_xticks(range(len(sizes)), sizes, fontsize=8)
    axes.set_yscale("log")
    axes.set_xlabel("size of message")
    axes.set_ylabel("slowdown")
    axes.set_ylim(bottom=0.9)
    _finish(axes)
    return figure


def draw_load(result: Result) -> Figure | None:
    """What the busiest links carry over time."""
    speeds = analysis.throughput(result)
    if speeds.empty or not speeds.max().max() > 0:
        return None
    means = speeds.mean().sort_values(ascending=False, kind="stable")
    busiest = means[means > means.max() * LEAST_SHARE].index[:MOST_LINES]
    one, unit = scale(float(speeds[busiest].max().max()), "bps")
    time, _ = _time_scale(result)
    figure, (axes,) = _panels(1, height=3.6)
    for link, colour in zip(busiest, COLOURS, strict=False):
        axes.plot(
            speeds.index / time, speeds[link] / one, color=colour, lw=1, label=" to ".join(link)
        )
    axes.set_ylabel(f"frames put on the link ({unit})")
    axes.set_ylim(bottom=0)
    _draw_events(axes, result)
    _finish(axes)
    _time_axis(axes, result)
    return figure


def draw_overlaid(results: Mapping[str, Result]) -> Figure | None:
    """What all hosts send, and the deepest queue of each run."""
    sent = {name: analysis.sent(result) for name, result in results.items()}
    depths = {name: analysis.over_time(r, "queues", "packets") for name, r in results.items()}
    sums = {name: series for name, series in sent.items() if not series.empty}
    queues = {name: data[_deepest(data)[0]] for name, data in depths.items() if not data.empty}
    if not sums and not queues:
        return None
    longest = max(results.values(), key=lambda result: result.about.reached_ns)
    time, _ = _time_scale(longest)
    highest = max((float(series.max()) for series in sums.values()), default=0)
    one, unit = scale(highest, "bps")
    figure, axes = _panels(2)
    for name, colour in zip(results, _colours(results), strict=True):
        if name in sums:
            series = sums[name]
            axes[0].step(
                series.index / time, series / one, where="pre", color=colour, lw=1.2, label=name
            )
        if name in queues:
            series = queues[name]
            label = f"{name}: {' to '.join(cast(tuple[str, str], series.name))}"
            axes[1].plot(series.index / time, series, color=colour, lw=1, label=label)
    axes[0].set_ylabel(f"sent by all hosts ({unit})")
    axes[1].set_ylabel("deepest queue (packets)")
    for panel in axes:
        panel.set_ylim(bottom=0)
        _finish(panel)
    _time_axis(axes[-1], longest)
    return figure


def _draw_rates(axes: Axes, result: Result) -> None:
    rates = analysis.rates(result)
    time, _ = _time_scale(result)
    one, unit = scale(float(max(rates.max().max(), 1)), "bps")
    if len(rates.columns) <= MOST_LINES:
        for column, colour in zip(rates.columns, COLOURS, strict=False):
            host, number = cast(tuple[str, int], column)
            name = host if _connections_of(result, host) == 1 else f"{host}, connection {number}"
            axes.step(
                rates.index / time, rates[host, number] / one, where="post", color=colour, lw=1.2,
                label=name,
            )  # fmt: skip
    else:
        low, middle, high = (rates.quantile(q, axis=1) / one for q in (0.1, 0.5, 0.9))
        axes.fill_between(
            rates.index / time, low, high, step="post", alpha=0.3, color=COLOURS[0],
            label=f"80 % of {len(rates.columns)} connections", lw=0,
        )  # fmt: skip
        axes.step(
            rates.index / time, middle, where="post", color=COLOURS[0], label="median", lw=1.2
        )
    axes.set_ylabel(f"DCQCN's rate ({unit})")
    axes.set_ylim(0, LEGEND_ROOM * float(rates.max().max()) / one)


def _draw_queues(axes: Axes, result: Result) -> None:
    depths = analysis.over_time(result, "queues", "packets")
    time, _ = _time_scale(result)
    chosen = _deepest(depths)
    for queue, colour in zip(chosen, COLOURS, strict=False):
        axes.plot(depths.index / time, depths[queue], color=colour, lw=1, label=" to ".join(queue))
    limits = {(q.node, q.towards): q for q in result.about.network.queues}
    limit = limits.get(chosen[0])
    if limit is not None and limit.thresholds:
        axes.axhline(limit.thresholds[0], color="0.5", ls="--", lw=0.8, label="level 1 begins")
    axes.set_ylabel("queue (packets)")
    axes.set_ylim(0, max(1.0, LEGEND_ROOM * float(depths.max().max())))


def _draw_notifications(axes: Axes, result: Result) -> None:
    time, unit = _time_scale(result)
    told = caused(result, "cnp")
    fast = result.crossings[result.crossings["what"].isin(["fast_cnp", "end_con_cnp"])]
    width = result.about.reached_ns / BINS / time
    edges = [width * number for number in range(BINS + 1)]
    first = fast.groupby(["node", "towards"]).size()
    by = {name: told.loc[told["by"] == name, "time_ns"] / time for name in (BY_PE, BY_RECEIVER)}
    axes.hist(
        list(by.values()), bins=edges, stacked=True, histtype="stepfilled",
        color=[PE_COLOUR, RECEIVER_COLOUR],
        label=[f"CNPs of the {name} ({len(times)})" for name, times in by.items()],
    )  # fmt: skip
    if len(first):
        node, towards = cast(tuple[str, str], first.idxmax())
        times = fast[(fast["node"] == node) & (fast["towards"] == towards)]["time_ns"]
        axes.hist(
            times / time, bins=edges, histtype="step", color="k", lw=1,
            label=f"notices for the ingress PE on the link {node} to {towards} ({len(times)})",
        )  # fmt: skip
    axes.set_ylabel(f"in each {width:.3g} {unit}")
    axes.set_ylim(0, LEGEND_ROOM * max(1.0, axes.get_ylim()[1]))


def _draw_events(axes: Axes, result: Result) -> None:
    time, _ = _time_scale(result)
    for number, event in enumerate(result.about.events):
        axes.axvline(
            event.time_ns / time, color="0.4", ls=":", lw=1.2,
            label="event of the scenario" if number == 0 else None,
        )  # fmt: skip


def _panels(count: int, height: float = 2.7) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(9.5, 0.7 + height * count), layout="constrained")
    grid = figure.subplots(count, 1, sharex=True, squeeze=False)
    return figure, [row[0] for row in grid]


def _finish(axes: Axes, *, legend: bool = True) -> None:
    axes.grid(alpha=0.25)
    if legend and axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper right", fontsize=8, framealpha=0.9, ncols=2)


def _plain_log_ticks(axes: Axes, low: float, high: float) -> None:
    """At 1, 2 and 5 of each decade, as plain numbers."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [first * 10.0**decade for decade in decades for first in (1, 2, 5)]
    inside = [tick for tick in ticks if low / 2 <= tick <= high * 2]
    axes.set_xticks(inside, [f"{tick:g}" for tick in inside])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(low / 1.2, high * 1.2)


def _time_scale(result: Result) -> tuple[float, str]:
    return scale(result.about.reached_ns, "ns")


def _time_axis(axes: Axes, result: Result) -> None:
    time, unit = _time_scale(result)
    axes.set_xlabel(f"time since the traffic began ({unit})")
    axes.set_xlim(0, max(result.about.reached_ns, 1) / time)


def _deepest(depths: pd.DataFrame) -> list[tuple[str, str]]:
    peaks = depths.max().sort_values(ascending=False, kind="stable")
    chosen = peaks[peaks > peaks.max() * LEAST_SHARE].index[:MOST_QUEUES].tolist()
    return chosen or peaks.index[:1].tolist()


def _between(series: "pd.Series[float]", low: float, high: float) -> "pd.Series[float]":
    """The points from `low` to `high`, with the one before, from which the line comes."""
    before = series[series.index < low].tail(1)
    return pd.concat([before, series[(series.index >= low) & (series.index <= high)]])


def _connections_of(result: Result, host: str) -> int:
    return int((result.connections["host"] == host).sum())


def _colours(results: Mapping[str, Result]) -> Iterable[str]:
    """By mode where each run has another, otherwise in a row."""
    modes = [result.about.mode for result in results.values()]
    if len(set(modes)) == len(modes):
        return [MODES[mode].colour for mode in modes]
    return [COLOURS[number % len(COLOURS)] for number in range(len(modes))]


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=DPI)
    return out.getvalue()
