"""The tables of a result: their columns and types, here and nowhere else.

Times are nanoseconds since the start of the run, sizes octets, rates bits per second. `node` and
`towards` name one direction of a link: from the one to the other. Counters and what is called
cumulative count from the start of the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from fcn.lab.errors import LabError

Kind = Literal["integer", "integer or nothing", "number", "text", "name"]
"""A name is a text of which a table of millions of rows has few, each kept once."""

TableName = Literal[
    "messages", "connections", "rates", "queues", "links", "counters", "notices", "crossings",
    "controller", "pauses", "jobs", "depths", "tcp",
]  # fmt: skip

_DTYPES: Mapping[Kind, str] = {
    "integer": "int64",
    "integer or nothing": "Int64",
    "number": "float64",
    "text": "str",
    "name": "category",
}


class ResultError(LabError):
    """A result that is not one: of another version, damaged, or with columns that do not fit."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what its values are, and what they mean."""

    name: str
    kind: Kind
    text: str

    @property
    def dtype(self) -> str:
        """Its pandas type."""
        return _DTYPES[self.kind]


LINK_UP, LINK_DOWN, PATH, ARRIVED = "link up", "link down", "path", "arrived"
FLOWLETS = "flowlets"
"""Kinds of counters of a network that watches its links, beside events and drops."""

TIME = Column("time_ns", "integer", "when")
NODE = Column("node", "text", "switch or host")
TOWARDS = Column("towards", "text", "its neighbour at the other end of the link")
HOST = Column("host", "text", "host")
CONNECTION = Column("connection", "integer", "its number at the host")


def _counts(**texts: str) -> tuple[Column, ...]:
    return tuple(Column(name, "integer", text) for name, text in texts.items())


TABLES: Mapping[TableName, tuple[Column, ...]] = {
    "messages": (
        HOST,
        CONNECTION,
        *_counts(
            message="number of the message",
            size="octets",
            start_ns="when it could be sent",
        ),
        Column("completed_ns", "integer or nothing", "when all was acknowledged; empty: not yet"),
    ),
    "connections": (
        HOST,
        CONNECTION,
        Column("remote", "text", "the host at the other end"),
        *_counts(local_qp="queue pair of the sender", remote_qp="queue pair of the receiver"),
        Column("state", "text", "at the end of the run"),
        *_counts(
            packets="data packets sent, repeated ones included",
            octets="octets of IP packets sent",
            retransmitted="data packets sent again",
            acks="ACKs received",
            naks="NAKs received",
            timeouts="time-outs",
            cnps="CNPs received",
            cuts="rate cuts",
            payload="octets of payload the receiver took, in order",
            marked="packets with CE at the receiver",
            beyond_gap="packets the receiver did not take: some before them were missing",
            repeated="packets the receiver did not take: it had them already",
            cnps_sent="CNPs the receiver sent",
        ),
    ),
    "rates": (
        TIME,
        HOST,
        CONNECTION,
        Column(
            "rate_bps",
            "number",
            "DCQCN's current rate; there is a row when anything changed since the sample before",
        ),
        *_counts(
            acknowledged="data packets acknowledged, cumulative",
            octets="octets of IP packets sent, cumulative",
        ),
    ),
    "queues": (TIME, NODE, TOWARDS, *_counts(packets="in the queue", octets="in the queue")),
    "links": (
        TIME,
        NODE,
        TOWARDS,
        *_counts(
            frames="put on the link, cumulative; there is a row when anything changed",
            octets="of these frames, cumulative",
            cut="frames lost on the link while it was down, cumulative",
        ),
    ),
    "counters": (
        TIME,
        NODE,
        Column(
            "kind",
            "text",
            "event or drop; link up, link down: how often the node saw the link to this neighbour "
            "come up or go down; path: packets the PE sent on it; flowlets: those it moved to "
            "this path because of load; arrived: frames put on the link to this host",
        ),
        Column("name", "text", "name of the counter, neighbour, path (policy: tunnel) or host"),
        *_counts(value="cumulative; there is a row when it changed since the sample before"),
    ),
    "notices": (
        TIME,
        HOST,
        CONNECTION,
        Column("what", "text", "name of a `fcn.lab.notices.NoticeKind` in lower case"),
        *_counts(value="what it says there"),
        Column("peer", "text", "source address of a CNP; otherwise the connection's other host"),
        *_counts(by_switch="of cnp, and of a cut by one: 1 when a switch made it; otherwise 0"),
    ),
    "crossings": (
        TIME,
        replace(NODE, kind="name"),
        replace(TOWARDS, kind="name"),
        Column(
            "what",
            "name",
            "ce, fast_cnp, end_con_cnp, cnp; the time is when its first bit left `node`",
        ),
        *_counts(frame="its number among all frames that arrived, for `fcn lab trace --frame`"),
    ),
    "controller": (
        TIME,
        NODE,
        Column(
            "what",
            "text",
            "a request that arrived at the switch, by its P4Runtime name (before hosts send, too: "
            "times below 0); flows, senders: of the whole network, seen at a sample",
        ),
        *_counts(
            count="updates in a Write; 1 of other requests; labelled flows now; those of which the "
            "sender is known"
        ),
    ),
    "pauses": (
        TIME,
        NODE,
        TOWARDS,
        *_counts(
            priority="class of traffic that must wait, 0 to 7",
            duration_ns="for how long; 0 ends a pause",
        ),
    ),
    "depths": (
        NODE,
        TOWARDS,
        *_counts(
            most_packets="in the queue at once, of all times and not only of samples",
            most_octets="the same",
        ),
        Column("mean_packets", "number", "mean over time"),
        Column("mean_octets", "number", "the same"),
    ),
    "tcp": (
        HOST,
        CONNECTION,
        Column("remote", "text", "the host at the other end"),
        *_counts(
            acknowledged="octets acknowledged",
            sent="segments sent, repeated ones included",
            resent="segments sent again",
            marked="segments with CE at the receiver",
            cuts="how often the window was halved, for loss, a mark or a time-out",
            timeouts="time-outs",
        ),
        Column("completed_ns", "integer or nothing", "when all was acknowledged; empty: not yet"),
    ),
    "jobs": (
        Column("job", "text", "its kind, and its place in the scenario, from 1"),
        *_counts(iteration="from 0"),
        HOST,
        *_counts(compute_ns="for how long the host computes in this iteration"),
        Column("begun_ns", "integer or nothing", "when the host began it; empty: not yet"),
        Column(
            "completed_ns",
            "integer or nothing",
            "when the host had received, or computed, the last of it; empty: not yet",
        ),
    ),
}


def frame(table: TableName, rows: Iterable[Sequence[Any]] = ()) -> pd.DataFrame:
    """A table from rows of values in the order of its columns."""
    names = [column.name for column in TABLES[table]]
    return conform(table, pd.DataFrame(list(rows), columns=names))


def conform(table: TableName, data: pd.DataFrame) -> pd.DataFrame:
    """The same with the table's types. Raises ResultError when columns are missing or more, or a
    value does not fit its column."""
    columns = TABLES[table]
    names = [column.name for column in columns]
    if list(data.columns) != names:
        raise ResultError(
            f"table {table} has the columns {', '.join(map(str, data.columns))}; "
            f"it needs {', '.join(names)}"
        )
    dtypes = {column.name: column.dtype for column in columns}
    if data.dtypes.to_dict() != dtypes:
        try:
            data = data.astype(dtypes)
        except (TypeError, ValueError):
            data = _one_by_one(table, data)
    for column in columns:
        if column.kind in ("integer", "text", "name") and data[column.name].hasnans:
            raise ResultError(f"table {table}, column {column.name}: a value is missing")
    return data.reset_index(drop=True)


def _one_by_one(table: TableName, data: pd.DataFrame) -> pd.DataFrame:
    """Find the column whose values do not fit."""
    for column in TABLES[table]:
        try:
            data = data.astype({column.name: column.dtype})
        except (TypeError, ValueError) as error:
            raise ResultError(
                f"table {table}, column {column.name}: not all is {column.kind}: {error}"
            ) from None
    return data
