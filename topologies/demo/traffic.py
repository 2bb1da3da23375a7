"""One run: sends the traffic and records what is measured."""

import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fcn.hosts.processes import ProcessError
from fcn.hosts.roce.log import RoceLog
from fcn.hosts.roce.options import Receiver, Sender
from fcn.hosts.roce.running import RoceProcess
from fcn.packets.arn import ARN_PORT
from fcn.packets.wire import FAST_CNP_PORT
from fcn.topologies.arrival_stamps import NS_PER_S
from fcn.topologies.controller_config import end_con_sids, grpc_endpoint
from fcn.topologies.counters import CounterReader, NodeCounters
from fcn.topologies.demo.modes import ARNS, END_CON_CNPS, FANTELS, HELLO, Mode
from fcn.topologies.demo.other_traffic import OtherTraffic, Seen
from fcn.topologies.demo.scenario import CNP_INTERVAL_US, LINK_BPS, MTU, Flow, Scenario
from fcn.topologies.demo.tap import (
    ANY_IPV6,
    CONGESTION_TOLD,
    MARKED_CE,
    Tap,
    far_end,
    ipv6_to,
    udp_to,
)
from fcn.topologies.model import Port
from fcn.topologies.network import SWITCHES, Network
from fcn.topologies.trafficmanager import QueueDepth, QueueRecorder, TrafficManager

CONNECT_S = 6.0
HOLD_MS = 60_000
SETTLE_TIMEOUT_S = 60.0
SETTLE_S = 0.3
LOOK_S = 0.1
SAY_S = 2


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The record of one run. Counters are those of the run alone; times are CLOCK_MONOTONIC.

    Captured on the links of the bottleneck's node: `arrivals_ns` of packets towards its queue,
    `departures_ns` of packets from the queue, `ce_ns` of those with a CE mark, and `notices_ns`
    of notices sent to the ingress PE, or to the upstream neighbour. `queue` and `queue_drops` come
    from the softswitch's traffic manager; BMv2 has none, there the first is empty and the second
    None. `others`: what other traffic saw.
    """

    mode: Mode
    start_ns: int
    senders: dict[str, RoceLog]
    receivers: dict[str, RoceLog]
    counters: dict[str, NodeCounters]
    arrivals_ns: tuple[int, ...]
    departures_ns: tuple[int, ...]
    ce_ns: tuple[int, ...]
    notices_ns: tuple[int, ...]
    queue: tuple[QueueDepth, ...]
    queue_drops: int | None
    others: tuple[Seen, ...]

    def counted(self, event: str, nodes: Iterable[str] | None = None) -> int:
        """How often nodes counted an event; all of them unless named."""
        chosen = self.counters if nodes is None else nodes
        return sum(self.counters[node].events.get(event, 0) for node in chosen)


class Run:
    """Carries out a scenario once in one mode. say: is told how it goes; the live page shows it."""

    def __init__(
        self,
        network: Network,
        scenario: Scenario,
        mode: Mode,
        directory: Path,
        say: Callable[[str], None],
    ) -> None:
        self._network = network
        self._scenario = scenario
        self._mode = mode
        self._directory = directory
        self._say = say

    def carry_out(self) -> RunRecord:
        """Run to the end; raises ProcessError when any part of it fails."""
        self._network.set_features(self._mode.notifies)
        # Logs of an earlier run would be read as this one's.
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory.mkdir(parents=True)
        with ExitStack() as stack:
            reader = stack.enter_context(CounterReader(self._scenario.topology))
            before = self._settled(reader)
            drops_before = self._queue_drops()
            recorder = QueueRecorder(*self._queue) if self._queue else None
            arrivals, departures, marks, notices = map(stack.enter_context, self._taps())
            others = stack.enter_context(
                OtherTraffic(self._network, self._scenario, self._directory)
            )
            run, enter = self._network.run_roce, stack.enter_context
            receivers = {
                flow.receiver: enter(run(flow.receiver, self._receiver_options(flow)))
                for flow in self._flows
            }
            for receiver in receivers.values():
                receiver.wait_for("start")
            start_ns = time.monotonic_ns() + round(CONNECT_S * NS_PER_S)
            senders = {
                flow.sender: enter(run(flow.sender, self._sender_options(flow, start_ns)))
                for flow in self._flows
            }
            others.send(start_ns)
            for flow in self._flows:
                senders[flow.sender].wait_for("connected", flow.qps)
            if time.monotonic_ns() > start_ns:
                raise ProcessError(f"connecting took longer than {CONNECT_S:g} s")
            self._follow(start_ns, senders, notices)
            others.wait_until_sent()
            after = self._settled(reader)
            drops_after = self._queue_drops()
            near, out = self._bottleneck_ports
            departures_ns = self._left_at(departures, out)
            ce_ns = self._left_at(marks, out)
            notices_ns = self._left_at(notices, near)
            arrivals_ns = arrivals.stop()
            queue = recorder.stop() if recorder else ()
            seen = others.end()
            for process in (*senders.values(), *receivers.values()):
                process.check_status(process.stop(signal.SIGINT))
        return RunRecord(
            mode=self._mode,
            start_ns=start_ns,
            senders={host: sender.log_read for host, sender in senders.items()},
            receivers={host: receiver.log_read for host, receiver in receivers.items()},
            counters={name: now.since(before[name]) for name, now in after.items()},
            arrivals_ns=arrivals_ns,
            departures_ns=departures_ns,
            ce_ns=ce_ns,
            notices_ns=notices_ns,
            queue=queue,
            queue_drops=None
            if drops_after is None or drops_before is None
            else drops_after - drops_before,
            others=seen,
        )

    @property
    def _flows(self) -> tuple[Flow, ...]:
        return self._scenario.flows

    def _receiver_options(self, flow: Flow) -> Receiver:
        return Receiver(
            local=self._scenario.address(flow, flow.receiver),
            log=self._directory / f"receiver-{flow.receiver}.jsonl",
            cnp_interval_us=CNP_INTERVAL_US,
        )

    def _sender_options(self, flow: Flow, start_ns: int) -> Sender:
        log = self._directory / f"sender-{flow.sender}.jsonl"
        return sender_options(self._scenario, flow, log, start_ns)

    def _follow(self, start_ns: int, senders: Mapping[str, RoceProcess], notices: Tap) -> None:
        """Say how it goes until every sender has sent for its time."""
        deadline = start_ns + round((self._scenario.seconds + SETTLE_TIMEOUT_S) * NS_PER_S)
        said_ns = start_ns
        while not all(sender.counts["finished"] for sender in senders.values()):
            for sender in senders.values():
                sender.check()
            self._network.check()
            late = time.monotonic_ns() > deadline
            # What they wrote while this process had no turn counts.
            finished = [sender.told("finished") for sender in senders.values()]
            if late and not all(finished):
                raise ProcessError("the senders do not end")
            if (now_ns := time.monotonic_ns()) >= said_ns + SAY_S * NS_PER_S:
                sent = ", ".join(
                    f"{name} {sender.rate_bps / 1e6:.1f} Mb/s and {sender.counts['cnp']} CNPs"
                    for name, sender in senders.items()
                )
                self._say(
                    f"{self._mode.title}, {(now_ns - start_ns) / NS_PER_S:4.1f} s: {sent}, "
                    f"{notices.count} {self._mode.notice.title}"
                )
                said_ns = now_ns
            time.sleep(LOOK_S)

    def _taps(self) -> tuple[Tap, Tap, Tap, Tap]:
        """Arrivals, departures, marks and notices at the bottleneck's node."""
        near, out = self._bottleneck_ports
        behind = self._scenario.topology.locator(out.peer)
        return (
            Tap(near.interface, ipv6_to(behind)),
            Tap(far_end(out.interface), ipv6_to(behind) if self._mode.watches else ANY_IPV6),
            Tap(far_end(out.interface), MARKED_CE),
            Tap(far_end(near.interface), self._notices_filter()),
        )

    def _notices_filter(self) -> str:
        """What a notice of the congested node looks like on its link towards the senders."""
        if self._mode.notice is END_CON_CNPS:
            flow, topology = self._flows[0], self._scenario.topology
            _, ingress, *_ = topology.path(flow.sender, flow.receiver)
            return ipv6_to(end_con_sids(topology, ingress))
        if self._mode.notice is FANTELS:
            return CONGESTION_TOLD
        return udp_to(ARN_PORT if self._mode.notice is ARNS else FAST_CNP_PORT)

    @property
    def _bottleneck_ports(self) -> tuple[Port, Port]:
        """The bottleneck node's ports: towards the senders, and the congested one."""
        node, far = self._scenario.bottleneck
        topology = self._scenario.topology
        return (
            topology.port(node, topology.path(node, self._flows[0].sender)[1]),
            topology.port(node, far),
        )

    def _left_at(self, tap: Tap, port: Port) -> tuple[int, ...]:
        """When packets left the switch; the link delay is subtracted if the switch adds it."""
        inside = SWITCHES[self._network.target].shapes_links
        delay_ns = port.delay_ns if inside else 0
        return tuple(stamp - delay_ns for stamp in tap.stop())

    def _settled(self, reader: CounterReader) -> dict[str, NodeCounters]:
        """Counters when they no longer change: two consecutive readings are equal, but for what
        nodes do on their own."""
        last = reader.read()
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while True:
            time.sleep(SETTLE_S)
            now = reader.read()
            if self._compared(now) == self._compared(last):
                return now
            if time.monotonic() > deadline:
                raise ProcessError("counters keep changing although no host sends")
            last = now

    def _compared(self, counters: dict[str, NodeCounters]) -> dict[str, NodeCounters]:
        if not self._mode.watches:
            return counters
        return {name: each.without_own([HELLO]) for name, each in counters.items()}

    @property
    def _queue(self) -> tuple[str, int] | None:
        """The traffic manager of the bottleneck's node, if it has one, and the port."""
        if self._network.target != "softswitch":
            return None
        node, peer = self._scenario.bottleneck
        topology = self._scenario.topology
        return grpc_endpoint(topology, node), topology.port(node, peer).number

    def _queue_drops(self) -> int | None:
        if self._queue is None:
            return None
        endpoint, port = self._queue
        with TrafficManager(endpoint) as manager:
            return manager.queue_drops(port)


def sender_options(scenario: Scenario, flow: Flow, log: Path, start_ns: int) -> Sender:
    """What a flow's sender is started with; start_ns: CLOCK_MONOTONIC, of the first packet."""
    return Sender(
        local=scenario.address(flow, flow.sender),
        remote=scenario.address(flow, flow.receiver),
        log=log,
        qps=flow.qps,
        mtu=MTU,
        start_at_ns=start_ns + round(flow.start_s * NS_PER_S),
        duration_ms=round((scenario.seconds - flow.start_s) * 1000),
        round_ms=round(scenario.round_s * 1000),
        sending_ms=round((scenario.sending_s - flow.start_s) * 1000),
        reset_ms=round((scenario.overload_s - flow.start_s) * 1000),
        hold_ms=HOLD_MS,
        link_rate_bps=scenario.topology.link_rate_bps(flow.sender) or LINK_BPS,
        dcqcn=scenario.dcqcn(flow),
    )


def flow_endpoints(
    scenario: Scenario, record: RunRecord
) -> Iterator[tuple[Flow, RoceLog, RoceLog]]:
    """Each flow with its sender's and its receiver's log."""
    for flow in scenario.flows:
        yield flow, record.senders[flow.sender], record.receivers[flow.receiver]
