"""The connections of a run as the live page lists flows, and the story of each."""

from collections.abc import Iterator
from typing import Any

from fcn.lab.notices import NoticeKind
from fcn.lab.result.model import Result
from fcn.page.flows import MOST
from fcn.page.model import Flows, FlowView
from fcn.page.rows import rate

MS = 1e6


def flows_of(result: Result) -> Flows:
    """Those that got most CNPs, of the whole run."""
    connections = result.connections.sort_values("cnps", ascending=False, kind="stable")
    rows = connections.head(MOST).to_dict("records")
    return Flows(0.0, len(connections), tuple(_row(result, row) for row in rows))


def _row(result: Result, row: dict[Any, Any]) -> FlowView:
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
        story=tuple(_story(result, row)),
    )


def _story(result: Result, row: dict[Any, Any]) -> Iterator[str]:
    """Sentences."""
    yield (
        f"Queue pair {row['local_qp']:#x} of {row['host']} sends to {row['remote_qp']:#x} of "
        f"{row['remote']}: {row['packets']} packets in the whole run, {row['retransmitted']} again."
    )
    yield f"{row['marked']} came with CE, of which the receiver told in {row['cnps_sent']} CNPs."
    notices = result.notices
    own = notices[(notices["host"] == row["host"]) & (notices["connection"] == row["connection"])]
    came, cuts = (
        own[own["what"] == each.name.lower()] for each in (NoticeKind.CNP, NoticeKind.CUT)
    )
    if came.empty:
        yield "No CNP came to it."
        return
    first = came.iloc[0]
    by = (
        "a PE, which had heard of it from where the queue is"
        if first["by_switch"]
        else "its receiver"
    )
    yield (
        f"CNPs that came: {len(came)}, by switches {int(came['by_switch'].sum())}. The first came "
        f"{first['time_ns'] / MS:.3f} ms after the beginning, by {by}."
    )
    if len(cuts):
        least = cuts.loc[cuts["value"].idxmin()]
        yield (
            f"The sender cut its rate {len(cuts)} times, the first time after "
            f"{cuts['time_ns'].iloc[0] / MS:.3f} ms; the least was {rate(float(least['value']))}, "
            f"after {least['time_ns'] / MS:.3f} ms."
        )
