"""The connections of a run as the live page lists flows, and the story of each."""

from collections.abc import Iterator, Mapping
from typing import Any

from fcn.lab.report.replay_rows import CNP, CUT, Run
from fcn.page.model import Flows, FlowView
from fcn.page.rows import rate

MS = 1e6

Told = Mapping[tuple[str, int, str], Mapping[Any, Any]]
"""Rows of what connections were told, by host, number and kind."""


def flows_of(run: Run) -> Flows:
    """Those that got most CNPs, of the whole run."""
    told = {
        (row["host"], row["connection"], row["what"]): row for row in run.told.to_dict("records")
    }
    rows = run.connections.to_dict("records")
    return Flows(0.0, run.total, tuple(_row(told, row) for row in rows))


def _row(told: Told, row: dict[Any, Any]) -> FlowView:
    return FlowView(
        vrf="",
        source=row["host"],
        destination=row["remote"],
        dest_qp=row["remote_qp"],
        label="",
        node="",
        source_qp=f"{row['local_qp']:#x}",
        notifications=row["cnps"],
        notified=0,
        packets=row["packets"],
        story=tuple(_story(told, row)),
    )


def _story(told: Told, row: dict[Any, Any]) -> Iterator[str]:
    """Sentences."""
    yield (
        f"Queue pair {row['local_qp']:#x} of {row['host']} sends to {row['remote_qp']:#x} of "
        f"{row['remote']}: {row['packets']} packets in the whole run, {row['retransmitted']} again."
    )
    yield f"{row['marked']} came with CE, of which the receiver told in {row['cnps_sent']} CNPs."
    came, cuts = (told.get((row["host"], row["connection"], what)) for what in (CNP, CUT))
    if came is None:
        yield "No CNP came to it."
        return
    by = (
        "a PE, which had heard of it from where the queue is"
        if came["first_by"]
        else "its receiver"
    )
    yield (
        f"CNPs that came: {came['count']}, by switches {came['by_switch']}. The first came "
        f"{came['time_ns'] / MS:.3f} ms after the beginning, by {by}."
    )
    if cuts is not None:
        yield (
            f"The sender cut its rate {cuts['count']} times, the first time after "
            f"{cuts['time_ns'] / MS:.3f} ms; the least was {rate(float(cuts['value']))}, "
            f"after {cuts['least_ns'] / MS:.3f} ms."
        )
