"""Plots of measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure


def plot_marking(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Plot the share of marked packets over queue depth, beside the configured curves. rows: depth,
    codepoint, packets, marked, configured."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for codepoint, colour in (("ECT1", "#2166ac"), ("CE", "#b2182b")):
        found = [row for row in rows if row["codepoint"] == codepoint]
        depths = [row["depth"] for row in found]
        shares = [row["marked"] / row["packets"] for row in found]
        axes.plot(depths, [row["configured"] for row in found], color=colour, label=codepoint)
        axes.plot(depths, shares, ".", color=colour, label=f"{codepoint}, measured")
    axes.set_xlabel("queue depth, packets")
    axes.set_ylabel("share of packets marked")
    axes.set_title("Marking curves of the two-threshold mode")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def plot_fixed_point(models: Mapping[str, Sequence[Any]], runs: Sequence[Any], path: Path) -> None:
    """Plot queue and alpha over the number of flows: models as curves, runs as points. All have
    flows, queue_octets and alpha."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    queues, alphas = figure.subplots(1, 2)
    for axes, scale, name in ((queues, 1e-3, "queue_octets"), (alphas, 1, "alpha")):
        for label, found in models.items():
            values = [scale * getattr(each, name) for each in found]
            axes.plot([each.flows for each in found], values, label=label)
        values = [scale * getattr(each, name) for each in runs]
        axes.plot([each.flows for each in runs], values, "x", color="black", label="laboratory")
        axes.set_xlabel("flows")
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    queues.set_ylabel("queue, kB")
    alphas.set_ylabel("alpha")
    figure.suptitle("DCQCN's fixed point")
    figure.savefig(path, dpi=120)
