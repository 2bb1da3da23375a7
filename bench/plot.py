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
