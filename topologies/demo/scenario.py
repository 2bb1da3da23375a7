"""The demo's traffic (senders, receivers, rates, start times), marking and notification policy."""

from dataclasses import dataclass
from typing import Literal

from fcn.hosts.roce.log import Event
from fcn.hosts.roce.options import Dcqcn
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import FcnSettings, Level
from fcn.topologies.demo.modes import Mode
from fcn.topologies.model import Queue, Topology

MTU = 1024
# IP, UDP, BTH and ICRC around the payload; some packets also have a RETH.
HEADERS = {4: 20 + 8 + 12 + 4, 6: 40 + 8 + 12 + 4}

# FCN-11: the worse the congestion, the more often a flow is notified.
INTERVALS = ("20ms", "15ms", "10ms", "8ms", "6ms", "4ms", "2ms")
# Of each flow of other traffic, a small part of what the bottleneck serves.
OTHER_PPS = 25
# UDP source port of notifications by switches; those of hosts are from 49152 on.
SWITCH_PORT = 40_000
# By this hosts tell how long a PAUSE frame is: 34 ms at most, IEEE 802.1Qbb.
LINK_BPS = 1_000_000_000
# DCQCN's time constants, 4 us to 300 us in a data centre of 40 Gb/s, scaled to queue pairs of a few
# Mb/s and a round-trip time of 16 ms: at most one CNP and one cut in about that time.
CNP_INTERVAL_US = 20_000
ALPHA_US = 20_000
INCREASE_US = 40_000
G = 1 / 16
# A round: the first sender alone, both, and a pause in which the queue drains: of 128 packets, and
# what hosts still have to send of a message.
ROUND_S = 3.0
JOIN_S = 0.3
SENDING_S = 2.6


@dataclass(frozen=True, slots=True)
class Flow:
    """RDMA WRITEs of `qps` queue pairs, each at up to `pps` packets a second, in every round from
    `start_s` after its beginning on."""

    sender: str
    receiver: str
    ip_version: Literal[4, 6]
    qps: int
    pps: int
    start_s: float

    @property
    def bits_per_packet(self) -> int:
        """Size of a data packet without RETH, counted from the IP header on."""
        return (MTU + HEADERS[self.ip_version]) * 8


def by_switch(cnp: Event) -> bool:
    """Whether a switch made the CNP of an event of a sender; its address may be the receiver's."""
    return bool(cnp["udp_src_port"] == SWITCH_PORT)


@dataclass(frozen=True, slots=True)
class OtherFlow:
    """Small UDP packets that are not ECN-capable, `pps` a second, whatever happens.

    place: where it meets the congested flows, in a few words.
    """

    place: str
    sender: str
    receiver: str
    pps: int = OTHER_PPS


@dataclass(frozen=True, slots=True)
class Scenario:
    """One demo; its runs differ only in their mode.

    Traffic comes in rounds of `round_s`. Messages begin in the first `sending_s` of each. When the
    last sender of a round starts, the reaction points of all are as new: line rate, alpha 1. So
    every round has an onset of congestion before which senders are in the same state, in all modes.
    """

    topology: Topology
    bottleneck: tuple[str, str]
    flows: tuple[Flow, ...]
    others: tuple[OtherFlow, ...]
    seconds: float
    round_s: float
    sending_s: float

    @staticmethod
    def settings(mode: Mode) -> FcnSettings:
        """What the controller is told for a mode. Features of switches are off until it runs."""
        return FcnSettings(
            thresholds=mode.depths,
            levels=tuple(Level(mark=mode.marks, notify=True, interval=each) for each in INTERVALS),
            enabled=False,
            cnp_source=mode.cnp_source,
            cnp_interval="1ms",
            udp_source_port=SWITCH_PORT,
            sections=mode.domain,
        )

    @property
    def bottleneck_pps(self) -> int:
        """Service rate of the bottleneck."""
        return self._queue.rate_pps

    @property
    def bottleneck_depth(self) -> int:
        """Packets that the bottleneck's queue has room for."""
        return self._queue.depth

    @property
    def _queue(self) -> Queue:
        queue = self.topology.queue_of(self.topology.port(*self.bottleneck))
        assert queue is not None, "the bottleneck is a limited queue"
        return queue

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Who sends to whom, other traffic included."""
        pairs = [(flow.sender, flow.receiver) for flow in self.flows]
        return (*pairs, *((other.sender, other.receiver) for other in self.others))

    @property
    def rounds(self) -> int:
        """Whole rounds of a run."""
        return int(self.seconds / self.round_s + 1e-9)

    @property
    def together_s(self) -> float:
        """How long all senders begin messages, in each round."""
        return self.sending_s - self.overload_s

    @property
    def overload_s(self) -> float:
        """When in a round the last sender starts: the offered load then exceeds the bottleneck's
        rate."""
        return max(flow.start_s for flow in self.flows)

    @property
    def bottleneck_bps(self) -> float:
        """Service rate in bit/s, for packets of the flows' mean size."""
        sizes = [flow.bits_per_packet for flow in self.flows]
        return self.bottleneck_pps * sum(sizes) / len(sizes)

    def address(self, flow: Flow, host: str) -> str:
        """Address of the flow's sender or receiver, in the flow's IP version."""
        addresses = self.topology.addresses(host)
        return str((addresses.ipv4 if flow.ip_version == 4 else addresses.ipv6).ip)

    def ipv4(self, host: str) -> str:
        return str(self.topology.addresses(host).ipv4.ip)

    @staticmethod
    def dcqcn(flow: Flow) -> Dcqcn:
        """Reaction point of a flow's queue pairs."""
        return reaction_point(flow.pps * flow.bits_per_packet, flow.bits_per_packet)


def reaction_point(line_bps: float, bits_per_packet: int) -> Dcqcn:
    """That of a queue pair of some Mb/s: line rate, and steps in proportion to it."""
    return Dcqcn(
        rate_bps=float(line_bps),
        min_rate_bps=line_bps / 50,
        g=G,
        ai_bps=line_bps / 80,
        hai_bps=line_bps / 16,
        alpha_us=ALPHA_US,
        increase_us=INCREASE_US,
        cut_interval_us=CNP_INTERVAL_US,
        byte_counter=150 * bits_per_packet // 8,
    )


def demo_scenario(seconds: float) -> Scenario:
    """Two senders into P2's queue towards PE2, over IPv4 and over IPv6.

    In each round the first offers two thirds of its rate; then the other starts and offers twice
    that. The other traffic runs all the time.
    """
    return _scenario(seconds, ROUND_S, JOIN_S, SENDING_S)


def continuous(seconds: float) -> Scenario:
    """The same in one round without a pause; the second sender starts after a quarter of it."""
    return _scenario(seconds, seconds, seconds / 4, seconds)


def _scenario(seconds: float, round_s: float, join_s: float, sending_s: float) -> Scenario:
    topology = network("demo")
    (bottleneck,) = topology.queues
    share = bottleneck.rate_pps // 3
    return Scenario(
        topology=topology,
        bottleneck=(bottleneck.node, bottleneck.towards),
        flows=(
            Flow("h1", "h3", 4, qps=2, pps=share, start_s=0.0),
            Flow("h2", "h4", 6, qps=4, pps=share, start_s=join_s),
        ),
        others=(OtherFlow("same queue", "h5", "h6"), OtherFlow("same ports", "h5", "h7")),
        seconds=seconds,
        round_s=round_s,
        sending_s=sending_s,
    )
