"""What the tables of a result say. Pure functions of a Result that return data frames.

Units are in the names of columns: `_ns` nanoseconds, `_bps` bits per second, `octets`. What is
missing is missing: an empty table gives an empty data frame, a mean of nothing is not a number.
"""

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import pandas as pd

from fcn.contract.names import named_cells
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import caused
from fcn.lab.result.tables import TableName

NS_PER_S = 10**9
SIZE_CLASSES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
"""Octets up to which messages are of a class, in messages by size."""

ALL = "all"

_NOT_DROPPED = ("received", "to_cpu", "sent", "replaced")
_PROGRAM_DROPS = {"ingress_drops": "INGRESS", "egress_drops": "EGRESS"}
"""As the balance and the counters have them."""

_OBEYED = (
    *("HOLD_BEGUN", "HOLD_RENEWED", "HOLD_ENDED_EARLY", "HOLD_UNKNOWN"),
    *("FANTEL_RECEIVED", "HELLO_RECEIVED", "LIGHT_CONGESTION"),
)
"""What a message that is not refused leads to: an ARN, one about a path, a hello, a Fast CNP that
says light congestion. It ends there, as what is dropped does, unless it becomes a CNP."""

_NOTIFICATION_DROPS = ("FLOW_INTERVAL", "NODE_RATE_LIMIT")
_FLOW = ["host", "connection"]


def messages(result: Result) -> pd.DataFrame:
    """The messages after the warm-up, with `fct_ns`: from when it could be sent until all of it
    was acknowledged; missing for those that are not completed."""
    data = result.messages
    data = data[data["start_ns"] >= result.about.warm_up_ns]
    return data.assign(fct_ns=data["completed_ns"] - data["start_ns"]).reset_index(drop=True)


def flow_completion(result: Result) -> pd.DataFrame:
    """Flow completion times by size of the message, and of all (`up_to_octets` is missing).

    Columns: size (text), up_to_octets, messages, completed, mean_ns, median_ns, p99_ns, max_ns.
    Times are of completed messages only; where others remain, the long ones are missing in them.
    The 99th percentile is as percentile() has it.
    """
    rows = [_completion(*each) for each in by_size(messages(result), SIZE_CLASSES)]
    columns = {
        "size": "str", "up_to_octets": "Int64", "messages": "int64", "completed": "int64",
        "mean_ns": "float64", "median_ns": "float64", "p99_ns": "float64", "max_ns": "float64",
    }  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def by_size(
    data: pd.DataFrame, classes: Sequence[int]
) -> Iterator[tuple[str, int | None, pd.DataFrame]]:
    """Messages by size, and all of them last: what a class is called, up to how many octets it is,
    and its messages; without empty ones."""
    for low, high in zip((0, *classes), (*classes, None), strict=True):
        inside = data["size"] > low
        part = data[inside if high is None else inside & (data["size"] <= high)]
        if len(part):
            yield f"over {_size(low)}" if high is None else f"up to {_size(high)}", high, part
    if len(data):
        yield ALL, None, data


def percentile(values: "pd.Series[float]", part: float) -> float:
    """A value that was measured, the least that this part does not exceed; NaN of none."""
    return float(np.quantile(values, part, method="inverted_cdf")) if len(values) else float("nan")


def _size(octets: int) -> str:
    return f"{octets // 1000} kB" if octets < 10**6 else f"{octets // 10**6} MB"


def _completion(name: str, high: int | None, data: pd.DataFrame) -> dict[str, object]:
    times = data["fct_ns"].dropna().astype("float64")
    return {
        "size": name,
        "up_to_octets": high,
        "messages": len(data),
        "completed": len(times),
        "mean_ns": times.mean(),
        "median_ns": times.median(),
        "p99_ns": percentile(times, 0.99),
        "max_ns": times.max(),
    }


def goodput(result: Result) -> pd.DataFrame:
    """Of each connection: payload that its receiver took in order, per time in which it had a
    message: from its first message's start to its last completion, or to the end of the run when
    a message is not completed. Columns: host, connection, remote, payload, active_ns, goodput_bps
    """
    groups = result.messages.groupby(_FLOW)
    spans = pd.DataFrame(
        {
            "first": groups["start_ns"].min(),
            "last": groups["completed_ns"].max(),
            "open": groups["completed_ns"].count() < groups.size(),
        }
    )
    data = result.connections[[*_FLOW, "remote", "payload"]].merge(
        spans, how="left", left_on=_FLOW, right_index=True
    )
    last = data["last"].astype("float64").where(data["open"] == False, result.about.reached_ns)  # noqa: E712 - of a column
    data["active_ns"] = (last - data["first"].astype("float64")).clip(lower=0)
    data["goodput_bps"] = (data["payload"] * 8 * NS_PER_S / data["active_ns"]).where(
        data["active_ns"] > 0
    )
    return data.drop(columns=["first", "last", "open"])


def jain(values: "pd.Series[float]") -> float:
    """Jain's fairness index: 1 when all are equal, 1/n when one has all; not a number for none."""
    numbers = values.dropna()
    squares = float((numbers**2).sum())
    return float(numbers.sum()) ** 2 / (len(numbers) * squares) if squares else float("nan")


def over_time(result: Result, table: TableName, value: str) -> pd.DataFrame:
    """A column of a table with samples, over time: index time_ns, one column for each host and
    connection, or node and neighbour. Tables hold changes only: what is not sampled is as before;
    nothing is known before the first sample."""
    data: pd.DataFrame = getattr(result, table)
    who = _FLOW if "host" in data.columns else ["node", "towards"]
    wide = data.pivot_table(index="time_ns", columns=who, values=value, aggfunc="last")
    return wide.sort_index().ffill()


def rates(result: Result) -> pd.DataFrame:
    """DCQCN's rates in bit/s over time, as over_time() gives them, while the connection has a
    message: from when it can be sent until it is acknowledged. A rate without one says nothing."""
    data = over_time(result, "rates", "rate_bps")
    of_flow = dict(iter(result.messages.groupby(_FLOW)))
    for flow in cast(list[tuple[str, int]], data.columns.tolist()):
        given = of_flow.get(flow, result.messages.head(0))
        started = given["start_ns"].sort_values()
        completed = given["completed_ns"].dropna().astype("int64").sort_values()
        open_now = started.searchsorted(data.index, side="right") - completed.searchsorted(
            data.index, side="right"
        )
        data[flow] = data[flow].where(open_now > 0)
    return data


def sent(result: Result) -> "pd.Series[float]":
    """Bits per second of IP packets that all hosts together sent since the sample before, over
    time_ns."""
    octets = over_time(result, "rates", "octets").fillna(0).sum(axis=1)
    seconds = octets.index.to_series().diff() / NS_PER_S
    return (octets.diff() * 8 / seconds).iloc[1:]


def fairness(result: Result) -> pd.DataFrame:
    """Jain's index over the rates of connections that have a message then, at every sample.

    Columns: time_ns, connections, jain. It says something where they share one bottleneck.
    """
    active = rates(result).dropna(how="all")
    index = active.sum(axis=1) ** 2 / (active.count(axis=1) * (active**2).sum(axis=1))
    data = pd.DataFrame({"connections": active.count(axis=1), "jain": index})
    data = data.rename_axis("time_ns").reset_index()
    return data.astype({"time_ns": "int64", "connections": "int64", "jain": "float64"})


def order(result: Result) -> pd.DataFrame:
    """Packet sequence numbers at the receivers, of each connection: `beyond_gap` packets came
    while one before them was missing, `repeated` had come already, `retransmitted` were sent
    again. Columns also: packets (sent), naks, timeouts."""
    columns = ["remote", "packets", "beyond_gap", "repeated", "retransmitted", "naks", "timeouts"]
    return result.connections[[*_FLOW, *columns]]


def marks(result: Result) -> pd.DataFrame:
    """Of each connection: packets the receiver saw marked with CE, and the share of those sent.

    Columns: host, connection, remote, packets, marked, share.
    """
    data = result.connections[[*_FLOW, "remote", "packets", "marked"]]
    return data.assign(share=(data["marked"] / data["packets"]).where(data["packets"] > 0))


def final_counters(result: Result, kind: str) -> pd.DataFrame:
    """The last value of each counter of a kind (event, drop): node, name, value; without zeros."""
    data = result.counters[result.counters["kind"] == kind].sort_values("time_ns", kind="stable")
    last = data.groupby(["node", "name"], as_index=False).agg(value=("value", "last"))
    return last[last["value"] > 0].reset_index(drop=True)


def notifications(result: Result) -> pd.DataFrame:
    """How often what told senders of congestion: columns place, what, count.

    From the nodes' counters (marks, notices sent, received, suppressed; CNPs), and of all hosts
    together: CNPs received by their source, CNPs sent, rate cuts.
    """
    counted = final_counters(result, "event")
    named = counted["name"].str.contains(
        r"CNP|FANTEL|_MARKED|OWN_CONGESTION|INNER_OPAQUE", regex=True
    )
    nodes = counted[named].rename(columns={"node": "place", "name": "what", "value": "count"})
    received = caused(result, "cnp")["by"].value_counts().sort_index()
    rows = [("hosts", f"CNP received from {by}", count) for by, count in received.items()]
    for what, text in (("cut", "rate cut"), ("cnp_sent", "CNP sent")):
        if count := int((result.notices["what"] == what).sum()):
            rows.append(("hosts", text, count))
    hosts = pd.DataFrame(rows, columns=["place", "what", "count"])
    return pd.concat([nodes, hosts], ignore_index=True).astype(
        {"place": "str", "what": "str", "count": "int64"}
    )


def drops(result: Result) -> pd.DataFrame:
    """Frames that were dropped, by place and reason: columns place, reason, frames, lost.

    Reasons in upper case are those the P4 programs count, and `ingress_drops` and `egress_drops`
    what they dropped without one, since the traffic began. Others are those of engines and links
    since the network was started. lost: False for notices that a PE took and for which it had to
    send no CNP.
    """
    every = final_counters(result, "drop")
    by_program = every.set_index(["node", "name"])["value"].to_dict()
    counted = every[every["name"].isin(named_cells("drops").values())]
    explained = counted.groupby("node")["value"].sum().to_dict()
    events = final_counters(result, "event")
    for node, _, count in events[events["name"].isin(_OBEYED)].itertuples(index=False):
        explained[node] = explained.get(node, 0) + count
    rows = [
        (node, name, value, name not in _NOTIFICATION_DROPS)
        for node, name, value in counted.itertuples(index=False)
    ]
    for ended, frames in result.about.balance.ends.items():
        place, _, reason = ended.rpartition(": ")
        if reason in _PROGRAM_DROPS:
            frames = by_program.get((place, _PROGRAM_DROPS[reason]), 0)
            known = min(frames, explained.get(place, 0))
            explained[place] = explained.get(place, 0) - known
            frames -= known
        if frames and reason not in _NOT_DROPPED:
            rows.append((place, reason, frames, True))
    data = pd.DataFrame(rows, columns=["place", "reason", "frames", "lost"])
    return data.astype({"place": "str", "reason": "str", "frames": "int64", "lost": "bool"})


def pauses(result: Result) -> pd.DataFrame:
    """Of each direction of a link and priority: how often and how long it was paused.

    Columns: node, towards, priority, pauses, paused_ns. A pause lasts until its time is over, or
    until a later one replaces or ends it, or the run ends.
    """
    rows = []
    keys = ["node", "towards", "priority"]
    for (node, towards, priority), part in result.pauses.groupby(keys):
        ordered = part.sort_values("time_ns", kind="stable")
        following = ordered["time_ns"].shift(-1, fill_value=result.about.reached_ns)
        lasted = (following - ordered["time_ns"]).clip(lower=0)
        paused = int(lasted.clip(upper=ordered["duration_ns"]).sum())
        rows.append((node, towards, priority, int((ordered["duration_ns"] > 0).sum()), paused))
    data = pd.DataFrame(rows, columns=[*keys, "pauses", "paused_ns"])
    whole = dict.fromkeys(["priority", "pauses", "paused_ns"], "int64")
    return data.astype({"node": "str", "towards": "str", **whole})


def queues(result: Result) -> pd.DataFrame:
    """Depths of each queue: columns node, towards, samples, mean_packets, mean_octets, p99_packets,
    max_packets, max_octets. The mean is over time and the most of all times, where the table of
    depths has the queue; the 99th percentile, and what it has not, is of the samples after the
    warm-up."""
    data = result.queues[result.queues["time_ns"] >= result.about.warm_up_ns]
    ends = ["node", "towards"]
    sampled = data.groupby(ends, as_index=False).agg(
        samples=("packets", "size"),
        mean_packets=("packets", "mean"),
        mean_octets=("octets", "mean"),
        p99_packets=("packets", lambda values: percentile(values, 0.99)),
        max_packets=("packets", "max"),
        max_octets=("octets", "max"),
    )
    true = result.depths.rename(
        columns={"most_packets": "max_packets", "most_octets": "max_octets"}
    )
    known = sampled[ends].merge(true, how="left", on=ends)
    for column in ("mean_packets", "mean_octets", "max_packets", "max_octets"):
        sampled[column] = known[column].fillna(sampled[column]).astype(sampled[column].dtype)
    return sampled


def throughput(result: Result) -> pd.DataFrame:
    """Bits per second of frames put on each direction of a link since the sample before: index
    time_ns, one column for each node and neighbour."""
    octets = over_time(result, "links", "octets")
    seconds = octets.index.to_series().diff() / NS_PER_S
    return (octets.diff() * 8).div(seconds, axis=0).iloc[1:]


def learning(result: Result) -> pd.DataFrame:
    """What the controller did, by node: columns node, what, count, first_ns, last_ns."""
    return result.controller.groupby(["node", "what"], as_index=False).agg(
        count=("count", "sum"), first_ns=("time_ns", "min"), last_ns=("time_ns", "max")
    )
