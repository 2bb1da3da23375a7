"""A sample of all pairs of hosts: every host of one data centre sends to one of the other.

Flows of both IP versions at once exceed the capacity of the last routers: each must be notified.
"""

import itertools
import math
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fcn.controller.northbound.client import FcnClient
from fcn.hosts.processes import holds_within
from fcn.hosts.roce.log import RoceLog
from fcn.hosts.roce.options import Dcqcn, Receiver, Sender
from fcn.hosts.roce.running import RoceProcess
from fcn.topologies.arrival_stamps import NS_PER_S
from fcn.topologies.controller_config import FcnSettings, Level
from fcn.topologies.counters import CounterReader
from fcn.topologies.data_centre import DataCentre, DcHost
from fcn.topologies.dc.fabric import NAMESPACES
from fcn.topologies.network import Network

# All flows together: more than four times the capacity of both last routers, 2000 packets/s of 1024
# octets, so that of 16 flows two are too much for one: labels leave it less in one run of 2,000.
OFFERED_BPS = 8e7
# The minimum rates of all senders keep both congested, so that every sender is notified in the end.
SLOWEST = 0.25
# Traffic lasts at least LEAST_S, and until every sender is notified, at most LONGEST_S.
LEAST_S, LONGEST_S = 8.0, 60.0
CONNECT_S = 3.0
CONNECT_S_PER_FLOW = 0.1
HOLD_MS = 120_000
LOG_INTERVAL_MS = 1000
FIRST_SENDER_QP, FIRST_RECEIVER_QP = 0x1000, 0x2000
MAPPING_TIMEOUT_S = 30.0
# Hosts are paired at a distance of 13, or the next number that is coprime to that of the hosts.
STRIDE = 13


@dataclass(frozen=True, slots=True)
class SampleFlow:
    """One flow of the sample with the queue pairs of both ends."""

    number: int
    sender: DcHost
    receiver: DcHost
    family: int

    @property
    def src(self) -> str:
        return self.sender.address(self.family)

    @property
    def dst(self) -> str:
        return self.receiver.address(self.family)

    @property
    def sender_qp(self) -> int:
        return FIRST_SENDER_QP + self.number

    @property
    def receiver_qp(self) -> int:
        return FIRST_RECEIVER_QP + self.number


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The results of the flows, as counts of flows and of CNPs."""

    flows: int
    mapped: int
    surplus: int
    notified: int
    looked_up: int
    cnps: int
    rejected_cnps: int

    @property
    def good(self) -> bool:
        """All flows learned and notified, no other mapping and no CNP to a wrong queue pair."""
        return (
            0 < self.flows == self.notified == self.looked_up
            and self.mapped == 2 * self.flows
            and not self.surplus
            and not self.rejected_cnps
        )


def settings() -> FcnSettings:
    """Notifications without CE marks, so that every CNP a sender receives is from its PE."""
    thresholds = (4, 8, 16, 32, 64, 96, 128)
    return FcnSettings(
        thresholds=thresholds,
        levels=tuple(Level(mark=False, notify=True, interval="20ms") for _ in thresholds),
        cnp_interval="10ms",
    )


def sample_flows(near: DataCentre, far: DataCentre, count: int) -> tuple[SampleFlow, ...]:
    """`count` flows from different hosts to different hosts, IPv4 and IPv6 in turn."""
    size = len(far.hosts)
    stride = next(step for step in itertools.count(STRIDE) if math.gcd(step, size) == 1)
    return tuple(
        SampleFlow(
            number, near.hosts[number], far.hosts[number * stride % size], 6 - number % 2 * 2
        )
        for number in range(min(count, size))
    )


def run_sample(
    network: Network, flows: Sequence[SampleFlow], directory: Path, progress: Callable[[str], None]
) -> SampleResult:
    """Send, compare with the controller's mapping, count notifications; raises ProcessError."""
    directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        progress(f"starting {len(flows)} receivers and senders")
        for receiver in [stack.enter_context(_receiver(flow, directory)) for flow in flows]:
            receiver.wait_for("start")
        rate = OFFERED_BPS / len(flows)
        connect_s = CONNECT_S + CONNECT_S_PER_FLOW * len(flows)
        start_ns = time.monotonic_ns() + round(connect_s * NS_PER_S)
        senders = [stack.enter_context(_sender(flow, rate, start_ns, directory)) for flow in flows]
        for sender in senders:
            sender.wait_for("connected")
        progress("mapping")
        mapped, surplus = _compare(network.api, flows)
        progress("traffic")
        least_ns = start_ns + round(LEAST_S * NS_PER_S)
        holds_within(
            lambda: time.monotonic_ns() >= least_ns and all(each.told("cnp") for each in senders),
            connect_s + LONGEST_S,
        )
        for sender in senders:
            sender.send(signal.SIGUSR1)
        for sender in senders:
            sender.wait_for("finished")
        looked_up = _looked_up(network, flows)
        for sender in senders:
            sender.stop()
        logs = [sender.log_read for sender in senders]
    cnps = [sum(1 for _ in log.named("cnp")) for log in logs]
    return SampleResult(
        flows=len(flows),
        mapped=mapped,
        surplus=surplus,
        notified=sum(count > 0 for count in cnps),
        looked_up=looked_up,
        cnps=sum(cnps),
        rejected_cnps=sum(_rejected(log) for log in logs),
    )


def _rejected(log: RoceLog) -> int:
    """CNPs to a queue pair that does not exist, without those in flight when the sender ends."""
    end = log.one("stopped").time_ns
    return sum(event.time_ns < end for event in log.named("cnp_rejected"))


def _receiver(flow: SampleFlow, directory: Path) -> RoceProcess:
    options = Receiver(
        local=flow.dst,
        log=directory / f"receiver-{flow.number}.jsonl",
        log_interval_ms=LOG_INTERVAL_MS,
        first_qp=flow.receiver_qp,
    )
    return _start(flow.receiver, options)


def _sender(flow: SampleFlow, rate_bps: float, start_ns: int, directory: Path) -> RoceProcess:
    return _start(flow.sender, sender_options(flow, rate_bps, start_ns, directory))


def sender_options(flow: SampleFlow, rate_bps: float, start_ns: int, directory: Path) -> Sender:
    """What a flow's sender is started with; start_ns: CLOCK_MONOTONIC."""
    return Sender(
        local=flow.src,
        remote=flow.dst,
        log=directory / f"sender-{flow.number}.jsonl",
        log_interval_ms=LOG_INTERVAL_MS,
        first_qp=flow.sender_qp,
        start_at_ns=start_ns,
        duration_ms=round(LONGEST_S * 1000),
        hold_ms=HOLD_MS,
        link_rate_bps=flow.sender.rate_bps,
        dcqcn=Dcqcn(rate_bps=rate_bps, min_rate_bps=rate_bps * SLOWEST, ai_bps=1e4, hai_bps=1e5),
    )


def _start(host: DcHost, options: Sender | Receiver) -> RoceProcess:
    return RoceProcess(host.name, options, ["nsenter", f"--net={NAMESPACES / host.name}", "--"])


def _compare(api: str, flows: Sequence[SampleFlow]) -> tuple[int, int]:
    """Mapped directions of the sample's connections, and the number of other mapped flows."""
    expected = {
        pair
        for flow in flows
        for pair in (
            (flow.src, flow.dst, flow.sender_qp, flow.receiver_qp),
            (flow.dst, flow.src, flow.receiver_qp, flow.sender_qp),
        )
    }
    deadline = time.monotonic() + MAPPING_TIMEOUT_S
    with FcnClient(api) as client:
        while True:
            known = {
                (flow.key.src, flow.key.dst, flow.source_qp, flow.key.dest_qp)
                for flow in client.flows()
            }
            if known == expected or time.monotonic() > deadline:
                return len(known & expected), len(known - expected)
            time.sleep(0.2)


def _looked_up(network: Network, flows: Sequence[SampleFlow]) -> int:
    """Flows for which the ingress PE made CNPs, by its own counters."""
    wanted = {(flow.src, flow.sender_qp) for flow in flows}
    topology = network.topology
    ingress = next(host.pe for host in topology.hosts if host.name == topology.centres[0].gateway)
    with CounterReader(topology) as reader:
        hits = reader.read()[ingress].flows
    return len({(flow.sender, flow.sender_qp) for flow in hits if flow.hits} & wanted)
