"""The demo's traffic (senders, receivers, rates, start times), marking and notification policy."""

from dataclasses import dataclass
from typing import Literal

from fcn.hosts.roce.options import Dcqcn
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import FcnSettings, Level
from fcn.topologies.model import Topology

Mode = Literal["ecn", "fcn"]
MODES: tuple[Mode, ...] = ("ecn", "fcn")
MODE_NAMES: dict[Mode, str] = {"ecn": "End-to-end ECN only", "fcn": "With FCN"}

MTU = 1024
# IP, UDP, BTH and ICRC around the payload; some packets also have a RETH.
HEADERS = {4: 20 + 8 + 12 + 4, 6: 40 + 8 + 12 + 4}

# Queue depths, in packets, at which levels 1 to 7 begin. The first tolerates
# the bursts of a loaded machine that does not send packets evenly paced.
THRESHOLDS = (8, 12, 16, 24, 32, 48, 64)
# FCN-11: the worse the congestion, the more often a flow is notified.
INTERVALS = ("20ms", "15ms", "10ms", "8ms", "6ms", "4ms", "2ms")
# DCQCN's time constants, 4 us to 300 us in a data centre of 40 Gb/s, scaled to queue pairs of a few
# Mb/s and a round-trip time of 16 ms: at most one CNP and one cut in about that time.
CNP_INTERVAL_US = 20_000
ALPHA_US = 20_000
INCREASE_US = 40_000
G = 1 / 16


@dataclass(frozen=True, slots=True)
class Flow:
    """RDMA WRITEs of `qps` queue pairs from `start_s` on, each at up to `pps` packets a second."""

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


@dataclass(frozen=True, slots=True)
class Scenario:
    """One demo; the two runs differ only in whether FCN is enabled."""

    topology: Topology
    bottleneck: tuple[str, str]
    flows: tuple[Flow, ...]
    seconds: float

    @property
    def settings(self) -> FcnSettings:
        """CE marking at every level in both runs; Fast CNPs only where FCN is enabled."""
        return FcnSettings(
            thresholds=THRESHOLDS,
            levels=tuple(Level(mark=True, notify=True, interval=each) for each in INTERVALS),
            enabled=False,
            cnp_source="pe",
            cnp_interval="1ms",
        )

    @property
    def bottleneck_pps(self) -> int:
        """Service rate of the bottleneck."""
        port = self.topology.port(*self.bottleneck)
        queue = self.topology.queue_of(port)
        assert queue is not None, "the bottleneck is a limited queue"
        return queue.rate_pps

    @property
    def overload_s(self) -> float:
        """When the last sender starts, and the offered load exceeds the bottleneck's rate."""
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

    def dcqcn(self, flow: Flow) -> Dcqcn:
        """Reaction point of a flow's queue pairs: line rate, and steps in proportion to it."""
        line = float(flow.pps * flow.bits_per_packet)
        return Dcqcn(
            rate_bps=line,
            min_rate_bps=line / 50,
            g=G,
            ai_bps=line / 80,
            hai_bps=line / 16,
            alpha_us=ALPHA_US,
            increase_us=INCREASE_US,
            cut_interval_us=CNP_INTERVAL_US,
            byte_counter=150 * flow.bits_per_packet // 8,
        )


def demo_scenario(seconds: float) -> Scenario:
    """Two senders into P2's queue towards PE2, over IPv4 and over IPv6.

    The first offers two thirds of its rate; after a quarter of the run the other starts and offers
    twice that.
    """
    topology = network("wan")
    (bottleneck,) = topology.queues
    share = bottleneck.rate_pps // 3
    return Scenario(
        topology=topology,
        bottleneck=(bottleneck.node, bottleneck.towards),
        flows=(
            Flow("h1", "h3", 4, qps=2, pps=share, start_s=0.0),
            Flow("h2", "h4", 6, qps=4, pps=share, start_s=seconds / 4),
        ),
        seconds=seconds,
    )
