"""What modes are compared by, in real time and in the laboratory: one table and one plot."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from matplotlib.axes import Axes

NOTHING = "-"
PERCENT = 99
PLACE_COLOURS = ("#4393c3", "#d6a25a", "#5aae61", "#9970ab", "#bababa")
PALEST = 0.2
"""Opacity of the last sender's part of a bar is above it."""
LABELLED = 1 / 25
"""Parts of a bar below this share of the highest one have no room for a label."""


@dataclass(frozen=True, slots=True)
class Other:
    """What one flow of other traffic saw.

    delay_ns: the 99th percentile of its packets' time on the way beyond propagation, None where
    none arrived.
    """

    place: str
    sent: int
    lost: int
    delay_ns: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """One run in one mode.

    reaction_ns: from the onset of a congestion to the first rate cut of a sender, median; None
    where nobody cut. pause_ns: the same to the first PAUSE frame that a sender heeds. held: packets
    that waited in neighbours, once for each. peak_queue: packets. dropped: packets that did not
    arrive, of other traffic too. goodput_bps: of each sender, while all of them send. fairness:
    Jain's index over the goodput of their queue pairs in that time.
    """

    title: str
    colour: str
    reaction_ns: float | None
    pause_ns: float | None
    held: int
    peak_queue: float
    dropped: int
    goodput_bps: Mapping[str, float]
    fairness: float | None
    others: tuple[Other, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: a name, and its value in each run."""

    name: str
    values: tuple[str, ...]


def jain(values: Iterable[float]) -> float | None:
    """Jain's fairness index: 1 when all are equal, 1/n when one has all; None where all are 0."""
    numbers = list(values)
    squares = sum(value**2 for value in numbers)
    return sum(numbers) ** 2 / (len(numbers) * squares) if squares else None


def percentile(values: Iterable[float]) -> float | None:
    """The 99th percentile: the least of the values that 99 % do not exceed; None of nothing."""
    ordered = sorted(values)
    return ordered[math.ceil(PERCENT * len(ordered) / 100) - 1] if ordered else None


def comparison_rows(figures: Sequence[Figures]) -> Iterator[Row]:
    """The table of the modes, in the order of the runs. Delays are beyond propagation."""

    def row(name: str, text: Callable[[Figures], str]) -> Row:
        return Row(name, tuple(map(text, figures)))

    yield row("onset to first rate cut, median", lambda f: time_text(f.reaction_ns))
    if any(each.held for each in figures):
        yield row("  to first pause of a sender, median", lambda f: time_text(f.pause_ns))
        yield row("packets held by neighbours", lambda f: f"{f.held:,}")
    yield row("peak queue (packets)", lambda f: f"{f.peak_queue:.0f}")
    yield row("packets dropped", lambda f: f"{f.dropped:,}")
    for sender in figures[0].goodput_bps:
        yield row(f"goodput of {sender}", lambda f, s=sender: rate_text(f.goodput_bps[s]))  # type: ignore[misc]
    yield row("  of all senders", lambda f: rate_text(sum(f.goodput_bps.values())))
    yield row("  Jain's index of queue pairs", lambda f: _number(f.fairness))
    for number, other in enumerate(figures[0].others):
        yield row(
            f"other traffic, {other.place}: delay, p99",
            lambda f, n=number: time_text(f.others[n].delay_ns),  # type: ignore[misc]
        )
        yield row("  lost", lambda f, n=number: _lost(f.others[n]))  # type: ignore[misc]


def time_text(ns: float | None) -> str:
    """A time in milliseconds, or in microseconds below one."""
    if ns is None:
        return NOTHING
    return f"{ns / 1e6:.2f} ms" if ns >= 1e6 else f"{ns / 1e3:.2f} us"


def rate_text(bps: float) -> str:
    """A rate in Gb/s, or in Mb/s below one."""
    return f"{bps / 1e9:.2f} Gb/s" if bps >= 1e9 else f"{bps / 1e6:.2f} Mb/s"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _lost(other: Other) -> str:
    return f"{100 * other.lost / other.sent:.1f} %" if other.sent else NOTHING


@dataclass(frozen=True, slots=True)
class Panel:
    """A chart of the modes. empty: there is nothing in it, all is zero or missing."""

    name: str
    title: str
    draw: Callable[[Axes], None]
    empty: bool = False


def panels(figures: Sequence[Figures]) -> tuple[Panel, ...]:
    """The figures of the table as bars, a group of bars for each mode."""
    reactions = [_scaled(f.pause_ns if f.reaction_ns is None else f.reaction_ns) for f in figures]
    pauses = " or pause" if any(f.pause_ns is not None for f in figures) else ""

    def bars(name: str, title: str, values: Sequence[float | None]) -> Panel:
        def draw(axes: Axes) -> None:
            _bars(axes, title, figures, values)
            if name == "fairness":
                axes.set_ylim(0, 1.15)

        return Panel(name, title, draw, empty=not any(values))

    return (
        bars("reaction", f"onset to first rate cut{pauses}, median (ms)", reactions),
        bars("peak", "peak queue (packets)", [f.peak_queue for f in figures]),
        bars("dropped", "packets dropped", [float(f.dropped) for f in figures]),
        Panel(
            "goodput",
            "goodput by sender",
            lambda axes: _goodput(axes, figures),
            empty=not _most_goodput(figures),
        ),
        bars("fairness", "Jain's fairness index of queue pairs", [f.fairness for f in figures]),
        Panel(
            "other-traffic",
            "other traffic: delay beyond propagation",
            lambda axes: _others(axes, figures),
            empty=not any(o.delay_ns or o.lost for f in figures for o in f.others),
        ),
    )


def _scaled(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e6


def _bars(
    axes: Axes, title: str, figures: Sequence[Figures], values: Sequence[float | None]
) -> None:
    colours = [each.colour for each in figures]
    drawn = axes.bar(range(len(figures)), [value or 0.0 for value in values], color=colours)
    axes.bar_label(drawn, [NOTHING if v is None else _short(v) for v in values], fontsize=9)
    _finish(axes, title, figures)


def _short(value: float) -> str:
    """Four significant digits, and all of a large whole number."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _goodput(axes: Axes, figures: Sequence[Figures]) -> None:
    """Stacked by sender."""
    unit, name = (1e9, "Gb/s") if _most_goodput(figures) >= 1e9 else (1e6, "Mb/s")
    base = [0.0] * len(figures)
    colours = [each.colour for each in figures]
    senders = list(figures[0].goodput_bps)
    least = LABELLED * _most_goodput(figures) / unit
    for number, sender in enumerate(senders):
        shade = 1 - (1 - PALEST) * number / len(senders)
        values = [each.goodput_bps[sender] / unit for each in figures]
        drawn = axes.bar(range(len(figures)), values, bottom=base, color=colours, alpha=shade)
        texts = [f"{sender} {value:.3g}" if value >= least else "" for value in values]
        axes.bar_label(drawn, texts, label_type="center", fontsize=8)
        base = [below + value for below, value in zip(base, values, strict=True)]
    _finish(axes, f"goodput by sender ({name})", figures)


def _most_goodput(figures: Sequence[Figures]) -> float:
    return max(sum(each.goodput_bps.values()) for each in figures)


def _others(axes: Axes, figures: Sequence[Figures]) -> None:
    """Side by side by place; what was lost is written above."""
    places = [each.place for each in figures[0].others]
    width = 0.8 / max(len(places), 1)
    for number, (place, colour) in enumerate(zip(places, cycle(PLACE_COLOURS), strict=False)):
        offset = (number - (len(places) - 1) / 2) * width
        seen = [each.others[number] for each in figures]
        drawn = axes.bar(
            [at + offset for at in range(len(figures))],
            [_scaled(other.delay_ns) or 0.0 for other in seen],
            width=width,
            color=colour,
            label=place,
        )
        axes.bar_label(drawn, [_other_label(other) for other in seen], fontsize=8)
    _finish(axes, "other traffic: delay beyond propagation,\n99th percentile (ms)", figures)
    axes.legend(fontsize=8)


def _other_label(other: Other) -> str:
    delay = NOTHING if other.delay_ns is None else f"{other.delay_ns / 1e6:.3g}"
    return f"{delay}\n{100 * other.lost / other.sent:.1f} % lost" if other.lost else delay


def _finish(axes: Axes, title: str, figures: Sequence[Figures]) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xticks(range(len(figures)), [each.title for each in figures], fontsize=8)
    axes.set_ylim(0, 1.25 * max(axes.get_ylim()[1], 1e-9))
    axes.grid(axis="y", alpha=0.25)
