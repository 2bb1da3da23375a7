"""Table and plot of a run."""

from pathlib import Path

from matplotlib.figure import Figure
from rich.table import Table

from fcn.topologies.arrival_stamps import NS_PER_S
from fcn.topologies.failover.measure import MS, Measured
from fcn.topologies.failover.run import LINK, ROUND, SECONDS, Record

DPI = 130
BIN_NS = 20 * MS


def result_table(measured: Measured) -> Table:
    made = Table(title="A link dies", show_header=False)
    made.add_column()
    made.add_column(justify="right")
    for name, nanoseconds in (
        ("its node knows, and packets go round it", measured.detected_ns),
        ("its node tells the ingress PE", measured.told_ns),
        ("the PE takes the other path", measured.moved_ns),
        ("  detection and propagation, the lower bound", measured.bound_ns),
        ("nothing arrives for", measured.silent_ns),
        ("mended: the PE takes the first path again after", measured.back_ns),
    ):
        made.add_row(name, f"{nanoseconds / MS:.1f} ms")
    made.add_row("the other path, over the lower bound", f"{measured.ratio:.3f}")
    made.add_row("packets lost", str(measured.lost))
    return made


def draw(record: Record, measured: Measured, title: str, file: Path) -> None:
    """Packets over time, where they were."""
    figure = Figure(figsize=(9.5, 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    bins = round(SECONDS * NS_PER_S) // BIN_NS
    span = 0.0, bins * BIN_NS / NS_PER_S
    for axes, series in (
        (
            upper,
            {
                "leave PE1 on the first path": record.left[LINK[0]],
                "leave PE1 on the other path": record.left[ROUND],
                f"go round the link, from {LINK[0]}": record.round_it,
            },
        ),
        (lower, {"arrive at PE2": record.arrived}),
    ):
        for name, times in series.items():
            since = [(stamp - record.start_ns) / NS_PER_S for stamp in times]
            weights = [NS_PER_S / BIN_NS] * len(since)
            axes.hist(since, bins, range=span, weights=weights, histtype="step", lw=1.2, label=name)
        for stamp, name in ((measured.failed_ns, "cut"), (record.mended_ns, "mended")):
            at = (stamp - record.start_ns) / NS_PER_S
            axes.axvline(at, color="0.35", ls=":", lw=1.2)
            axes.text(at, 0, f" {name}", fontsize=8, va="bottom")
        stopped, continued = (
            (stamp - record.start_ns) / NS_PER_S
            for stamp in (record.stopped_ns, record.continued_ns)
        )
        axes.axvspan(stopped, continued, color="0.9", lw=0, label="the controller is stopped")
        axes.set_ylabel("packets/s")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.25)
        axes.legend(loc="center left", fontsize=8)
    upper.set_title(title, fontsize=11)
    lower.set_xlabel("time since the first packet (s)")
    lower.set_xlim(0, SECONDS)
    figure.savefig(file, dpi=DPI)
