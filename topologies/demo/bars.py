"""What modes are compared by, as bars: a group of them for each mode."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle

from matplotlib.axes import Axes

from fcn.topologies.demo.measure import Measurement, Other

PLACE_COLOURS = ("#4393c3", "#d6a25a", "#5aae61", "#9970ab", "#bababa")
PALEST = 0.2
"""Opacity of the last sender's part of a bar is above it."""
LABELLED = 1 / 25
"""Parts of a bar below this share of the highest one have no room for a label."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart of the modes. empty: there is nothing in it, all is zero or missing."""

    name: str
    title: str
    draw: Callable[[Axes], None]
    empty: bool = False


def panels(runs: Sequence[Measurement]) -> tuple[Panel, ...]:
    """The amounts of the table."""
    reactions = [each.pause_ms if each.reaction_ms is None else each.reaction_ms for each in runs]
    pauses = " or pause" if any(each.pauses_ms for each in runs) else ""

    def bars(name: str, title: str, values: Sequence[float | None]) -> Panel:
        def draw(axes: Axes) -> None:
            _bars(axes, title, runs, values)
            if name == "fairness":
                axes.set_ylim(0, 1.15)

        return Panel(name, title, draw, empty=not any(values))

    return (
        bars("reaction", f"onset to first rate cut{pauses}, median (ms)", reactions),
        bars("peak", "peak queue (packets)", [each.peak_queue for each in runs]),
        bars("dropped", "packets dropped", [float(each.dropped) for each in runs]),
        Panel(
            "goodput",
            "goodput by sender",
            lambda axes: draw_goodput(axes, runs),
            empty=not any(each.total_goodput_bps for each in runs),
        ),
        bars("fairness", "Jain's fairness index of queue pairs", [each.fairness for each in runs]),
        Panel(
            "other-traffic",
            "other traffic: delay beyond propagation",
            lambda axes: draw_others(axes, runs),
            empty=not any(o.delay_ms or o.lost for each in runs for o in each.others),
        ),
    )


def _bars(
    axes: Axes, title: str, runs: Sequence[Measurement], values: Sequence[float | None]
) -> None:
    colours = [each.mode.colour for each in runs]
    drawn = axes.bar(range(len(runs)), [value or 0.0 for value in values], color=colours)
    axes.bar_label(drawn, ["-" if v is None else _short(v) for v in values], fontsize=9)
    _finish(axes, title, runs)


def _short(value: float) -> str:
    """Four significant digits, and all of a large whole number."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def draw_goodput(axes: Axes, runs: Sequence[Measurement]) -> None:
    """Stacked by sender."""
    base = [0.0] * len(runs)
    colours = [each.mode.colour for each in runs]
    senders = list(runs[0].goodputs_bps)
    least = LABELLED * max(each.total_goodput_bps for each in runs) / 1e6
    for number, sender in enumerate(senders):
        shade = 1 - (1 - PALEST) * number / len(senders)
        values = [each.sender_goodputs_bps[sender] / 1e6 for each in runs]
        drawn = axes.bar(range(len(runs)), values, bottom=base, color=colours, alpha=shade)
        texts = [f"{sender} {value:.3g}" if value >= least else "" for value in values]
        axes.bar_label(drawn, texts, label_type="center", fontsize=8)
        base = [below + value for below, value in zip(base, values, strict=True)]
    _finish(axes, "goodput by sender (Mb/s)", runs)


def draw_others(axes: Axes, runs: Sequence[Measurement]) -> None:
    """Side by side by place; what was lost is written above."""
    places = [each.place for each in runs[0].others]
    width = 0.8 / max(len(places), 1)
    for number, (place, colour) in enumerate(zip(places, cycle(PLACE_COLOURS), strict=False)):
        offset = (number - (len(places) - 1) / 2) * width
        seen = [each.others[number] for each in runs]
        drawn = axes.bar(
            [at + offset for at in range(len(runs))],
            [other.delay_ms or 0.0 for other in seen],
            width=width,
            color=colour,
            label=place,
        )
        axes.bar_label(drawn, [_other_label(other) for other in seen], fontsize=8)
    _finish(axes, "other traffic: delay beyond propagation,\n99th percentile (ms)", runs)
    axes.legend(fontsize=8)


def _other_label(other: Other) -> str:
    delay = "-" if other.delay_ms is None else f"{other.delay_ms:.3g}"
    return f"{delay}\n{100 * other.lost / other.sent:.1f} % lost" if other.lost else delay


def _finish(axes: Axes, title: str, runs: Sequence[Measurement]) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xticks(range(len(runs)), [each.mode.title for each in runs], fontsize=8)
    axes.set_ylim(0, 1.25 * max(axes.get_ylim()[1], 1e-9))
    axes.grid(axis="y", alpha=0.25)
