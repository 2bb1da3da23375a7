"""Flow completion times over those of the same messages alone on their paths.

Alone, a message's packets follow each other at the rate of the slowest link of the path, or at the
connection's where that is less; each is received whole before it is sent on; the last one is
acknowledged at once. This is exact but for a nanosecond a hop, because a hop's times are whole
ones; that much less is taken, so that no slowdown is below 1. Of several paths of the fewest hops
it is the one with the least delay.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import pandas as pd

from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.result import analysis
from fcn.lab.result.analysis import NS_PER_S
from fcn.lab.result.model import HostInfo, NetworkInfo, Result
from fcn.lab.result.paths import Paths

SIZE_CLASSES = (
    1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000,
)  # fmt: skip
"""Octets up to which messages are of a class."""

_ETHERNET = 14
_IP = {4: 20, 6: 40}
_UDP_BTH_ICRC = 8 + 12 + 4
_RETH = 16
_AETH = 4
_WORD = 4


@dataclass(frozen=True, slots=True)
class _Hop:
    """A link of a path: what it adds to a frame, and nanoseconds that an octet takes."""

    octets: int
    octet_ns: float

    def ns(self, datagram: int) -> float:
        """That a frame with this datagram takes."""
        return (datagram + _ETHERNET + ETHERNET_OVERHEAD + self.octets) * self.octet_ns


class Ideal:
    """Completion times of messages that have a network for themselves."""

    def __init__(self, network: NetworkInfo) -> None:
        self._network = network
        self._paths = Paths(network)
        self._hosts = {host.name: host for host in network.hosts}
        self._core = {node.name for node in network.nodes if node.role != "fabric"}
        self._hops_of: dict[tuple[str, str], tuple[tuple[_Hop, ...], int]] = {}

    def completion_ns(self, host: str, remote: str, size: int) -> float | None:
        """Of a message of so many octets; None where the path or the hosts are not known."""
        there = self.received_ns(host, remote, size)
        back, back_ns = self._way(remote, host)
        if there is None or not back:
            return None
        version = self._hosts[host].ip
        ack = sum(hop.ns(_IP[version] + _UDP_BTH_ICRC + _AETH) for hop in back)
        return there + ack + back_ns - len(back)

    def received_ns(self, host: str, remote: str, size: int) -> float | None:
        """The same until the last packet is received."""
        sender = self._hosts.get(host)
        if sender is None or not sender.mtu or remote not in self._hosts:
            return None
        hops, there_ns = self._way(host, remote)
        return self._sent_ns(sender, hops, size) + there_ns - len(hops) if hops else None

    def _sent_ns(self, sender: HostInfo, hops: tuple[_Hop, ...], size: int) -> float:
        """From the first octet sent to the last received, without propagation.

        Of packets that are alike, one follows another by the time of the slowest hop so far; the
        first one has a RETH more, the last one is as short as the rest of the message.
        """
        headers = _IP[sender.ip] + _UDP_BTH_ICRC
        packets = -(-size // sender.mtu)
        rest = -(-(size - (packets - 1) * sender.mtu) // _WORD) * _WORD
        if packets == 1:
            return sum(hop.ns(headers + _RETH + rest) for hop in hops)
        middle = headers + sender.mtu
        last = [hop.ns(headers + rest) for hop in hops]
        rate = self._line_rates.get(sender.name, 0)
        paced = middle * 8 * NS_PER_S / rate if rate else 0.0
        extra = _RETH * 8 * NS_PER_S / rate if rate else 0.0
        longest = (packets - 1) * paced + extra + sum(last)
        before = 0.0  # the last but one, until it has left a hop
        follows = (packets - 2) * paced + extra
        more = 0.0
        for at, hop in enumerate(hops):
            before += hop.ns(middle)
            more += _RETH * hop.octet_ns
            follows = max(follows, (packets - 2) * hop.ns(middle) + more)
            longest = max(longest, before + follows + sum(last[at:]))
        return longest

    @cached_property
    def _line_rates(self) -> dict[str, float]:
        """Of a connection, of hosts where it is not that of their link."""
        return {
            name: float(group.parameters.get("line_rate", 0))
            for group in self._network.dcqcn
            for name in group.hosts
        }

    def _way(self, start: str, end: str) -> tuple[tuple[_Hop, ...], int]:
        """The hops of a path, and its propagation delay."""
        if (start, end) not in self._hops_of:
            way = self._paths.way(start, end)
            hops = [self._hop(*pair) for pair in pairwise(way)]
            delay = self._paths.delay_ns(start, end) or 0
            self._hops_of[start, end] = tuple(hops), delay
        return self._hops_of[start, end]

    def _hop(self, node: str, towards: str) -> _Hop:
        rate = self._rates[frozenset((node, towards))]
        is_core = {node, towards} <= self._core
        octets = self._network.tunnel_octets if is_core else 0
        return _Hop(octets, 8 * NS_PER_S / rate if rate else 0.0)

    @cached_property
    def _rates(self) -> dict[frozenset[str], int]:
        return {frozenset((link.a, link.b)): link.rate_bps for link in self._network.links}


def slowdowns(result: Result) -> pd.DataFrame:
    """The completed messages after the warm-up, with `ideal_ns`, what they would take alone, and
    `slowdown`, how many times as long they took. Empty where the result does not know."""
    data = analysis.messages(result).merge(result.connections[["host", "connection", "remote"]])
    data = data[data["fct_ns"].notna()]
    ideal = Ideal(result.about.network)
    keys = data[["host", "remote", "size"]].itertuples(index=False, name=None)
    known: dict[tuple[str, str, int], float | None] = {}
    times = []
    for key in keys:
        if key not in known:
            known[key] = ideal.completion_ns(*key)
        times.append(known[key])
    data = data.assign(ideal_ns=pd.Series(times, index=data.index, dtype="float64"))
    data = data[data["ideal_ns"].notna()]
    took = data["fct_ns"].astype("float64")
    return data.assign(slowdown=took / data["ideal_ns"]).reset_index(drop=True)


def by_size(result: Result) -> pd.DataFrame:
    """Slowdowns by size of the message, and of all (`up_to_octets` is missing).

    Columns: size (text), up_to_octets, messages (completed ones), mean, median, p95, p99.
    Percentiles as analysis.percentile() has them.
    """
    rows = [_row(*each) for each in analysis.by_size(slowdowns(result), SIZE_CLASSES)]
    columns = {
        "size": "str", "up_to_octets": "Int64", "messages": "int64",
        "mean": "float64", "median": "float64", "p95": "float64", "p99": "float64",
    }  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def _row(name: str, high: int | None, part: pd.DataFrame) -> dict[str, object]:
    return {
        "size": name,
        "up_to_octets": high,
        "messages": len(part),
        "mean": part["slowdown"].mean(),
        "median": analysis.percentile(part["slowdown"], 0.5),
        "p95": analysis.percentile(part["slowdown"], 0.95),
        "p99": analysis.percentile(part["slowdown"], 0.99),
    }
