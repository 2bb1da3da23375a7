"""From the failure of a link to the first packet on another path, beside its lower bound.

A node finds out by itself that a link is dead, after a time without packets on it (detection). A PE
cannot know before a message has come to it from there (propagation). What the table of counters has
of links and paths is noted closely after each event of a link (`measure.closely`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from fcn.lab.result.model import Result
from fcn.lab.result.paths import Paths
from fcn.lab.result.reaction import rows_of
from fcn.lab.result.tables import ARRIVED, LINK_DOWN, PATH

_EVENT = re.compile(r"link (\S+)-(\S+) (down|up)")


@dataclass(frozen=True, slots=True)
class Failover:
    """A link that failed, and what it was for the senders behind one PE. Times but `failed_ns` are
    since the failure.

    node, detected_ns: the end of the link nearer to the PE, and when it knew. moved_ns, path: when
    the PE sent the first packet on another path than before. propagation_ns: from the node to the
    PE. bound_ns: detection and propagation. ratio: moved_ns over that. silent_ns: the longest time
    in which nothing arrived at the receivers. lost: data packets that senders sent in vain, over
    the whole run; None while some are under way.
    """

    link: str
    failed_ns: int
    pe: str
    node: str
    detected_ns: int | None = None
    propagation_ns: int | None = None
    bound_ns: int | None = None
    moved_ns: int | None = None
    path: str = ""
    ratio: float | None = None
    silent_ns: int | None = None
    lost: int | None = None


def failovers(result: Result) -> pd.DataFrame:
    """The failures in their order, for each PE with senders: the columns of `Failover`. Empty where
    no links are watched."""
    found = list(_failovers(result)) if (result.counters["kind"] == LINK_DOWN).any() else []
    return rows_of(Failover, found)


def lost(result: Result, pe: str) -> int | None:
    """Data packets that hosts behind a PE sent and nobody received. Whoever sends again by
    go-back-N sends what was lost, and what came behind a gap; None while messages are under way."""
    hosts = _hosts_of(result, pe)
    messages = result.messages[result.messages["host"].isin(hosts)]
    if messages["completed_ns"].isna().any():
        return None
    flows = result.connections[result.connections["host"].isin(hosts)]
    return int((flows["retransmitted"] - flows["beyond_gap"] - flows["repeated"]).sum())


def arrivals(result: Result, pe: str) -> "pd.Series[int]":
    """Frames that arrived so far at the hosts to which those behind a PE send, by time."""
    flows = result.connections
    remote = flows[flows["host"].isin(_hosts_of(result, pe))]["remote"]
    rows = result.counters[result.counters["kind"] == ARRIVED]
    rows = rows[rows["name"].isin(remote)].sort_values("time_ns", kind="stable")
    counts = rows.pivot_table(index="time_ns", columns="name", values="value", aggfunc="last")
    return counts.ffill().fillna(0).sum(axis=1).astype("int64")


def carried(result: Result, pe: str) -> dict[str, "pd.Series[int]"]:
    """Packets that a PE sent so far on each path, by time."""
    rows = result.counters[(result.counters["kind"] == PATH) & (result.counters["node"] == pe)]
    return {
        str(name): part.sort_values("time_ns", kind="stable").set_index("time_ns")["value"]
        for name, part in rows.groupby("name")
    }


def _failovers(result: Result) -> Iterator[Failover]:
    paths = Paths(result.about.network)
    senders = set(result.connections["host"])
    pes = dict.fromkeys(host.pe for host in result.about.network.hosts if host.name in senders)
    events = [(each.time_ns, _EVENT.fullmatch(each.text)) for each in result.about.events]
    links = [(at, found) for at, found in events if found is not None]
    for number, (at, found) in enumerate(links):
        if found[3] == "up":
            continue
        later = [then for then, _ in links[number + 1 :]]
        until = later[0] if later else result.about.reached_ns
        for pe in pes:
            yield _failover(result, paths, pe, (found[1], found[2]), (at, until))


def _failover(
    result: Result, paths: Paths, pe: str, ends: tuple[str, str], time: tuple[int, int]
) -> Failover:
    at, until = time
    node = min(ends, key=lambda end: paths.delay_ns(end, pe) or 0)
    far = ends[0] if node == ends[1] else ends[1]
    detected = _first(result, (node, LINK_DOWN, far), at, until)
    propagation = paths.delay_ns(node, pe)
    bound = None if detected is None or propagation is None else detected - at + propagation
    moved, path = _moved(result, pe, at, until)
    moved_ns = None if moved is None else moved - at
    return Failover(
        link="-".join(ends),
        failed_ns=at,
        pe=pe,
        node=node,
        detected_ns=None if detected is None else detected - at,
        propagation_ns=propagation,
        bound_ns=bound,
        moved_ns=moved_ns,
        path=path,
        ratio=moved_ns / bound if moved_ns is not None and bound else None,
        silent_ns=_silent_ns(arrivals(result, pe), at, until),
        lost=lost(result, pe),
    )


def _first(result: Result, key: tuple[str, str, str], at: int, until: int) -> int | None:
    """When a counter grew first in this time."""
    rows = result.counters
    node, kind, name = key
    rows = rows[(rows["node"] == node) & (rows["kind"] == kind) & (rows["name"] == name)]
    times = rows.loc[(rows["time_ns"] > at) & (rows["time_ns"] <= until), "time_ns"]
    return None if times.empty else int(times.min())


def _moved(result: Result, pe: str, at: int, until: int) -> tuple[int | None, str]:
    """When the PE used a path first that it did not use last before, and which."""
    rows = result.counters
    rows = rows[(rows["node"] == pe) & (rows["kind"] == PATH)]
    before = rows[rows["time_ns"] <= at].sort_values("time_ns", kind="stable")
    after = rows[(rows["time_ns"] > at) & (rows["time_ns"] <= until)]
    if before.empty:
        return None, ""
    others = after[after["name"] != before["name"].iloc[-1]]
    if others.empty:
        return None, ""
    first = others.loc[others["time_ns"].idxmin()]
    return int(first["time_ns"]), str(first["name"])


def _silent_ns(arrived: "pd.Series[int]", at: int, until: int) -> int | None:
    """The longest time between two arrivals, of which the later one is after the failure."""
    times = [int(time) for time in arrived[arrived.diff().fillna(1) > 0].index]
    begin = max(bisect_right(times, at) - 1, 0)
    inside = [time for time in times[begin:] if time <= until]
    return max((b - a for a, b in pairwise(inside)), default=None)


def _hosts_of(result: Result, pe: str) -> set[str]:
    return {host.name for host in result.about.network.hosts if host.pe == pe}
