"""Plots of measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt


def plot_sweeps(curves: Mapping[str, Sequence[tuple[float, float]]], path: Path) -> None:
    """Plot delivered against offered rate, both in packets per second, one line per curve."""
    figure, axes = plt.subplots(figsize=(8, 5))
    for name, points in curves.items():
        offered, delivered = zip(*points, strict=True)
        axes.plot(offered, delivered, marker="o", label=name)
    top = max(point for points in curves.values() for pair in points for point in pair)
    axes.plot([1e4, top], [1e4, top], linestyle=":", color="grey", label="no loss")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("offered, packets/s")
    axes.set_ylabel("delivered, packets/s")
    axes.set_title("Forwarding over veth")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_marking(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Plot the share of marked packets over queue depth, beside the configured curves. rows: depth,
    codepoint, packets, marked, configured."""
    figure, axes = plt.subplots(figsize=(8, 5))
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
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def plot_fixed_point(models: Mapping[str, Sequence[Any]], runs: Sequence[Any], path: Path) -> None:
    """Plot queue and alpha over the number of flows: models as curves, runs as points. All have
    flows, queue_octets and alpha."""
    figure, (queues, alphas) = plt.subplots(1, 2, figsize=(10, 4.5))
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
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
