"""Sends RDMA traffic over the network `failover`, cuts a link of it, and mends it."""

import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fcn.controller.northbound.client import FcnClient
from fcn.hosts.processes import ProcessError, wait_until
from fcn.hosts.roce.options import Dcqcn, Receiver, Sender
from fcn.hosts.roce.running import READY_TIMEOUT_S, RoceProcess
from fcn.packets.wire import FANTEL_PORT
from fcn.topologies.arrival_stamps import NS_PER_S
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import FcnSettings
from fcn.topologies.demo.tap import Tap, far_end, ipv6_to, udp_to
from fcn.topologies.model import Port, Topology
from fcn.topologies.network import SWITCHES, Network, Target

SENDER, RECEIVER = "h1", "h3"
INGRESS, EGRESS = "pe1", "pe2"
LINK = ("r1", "r3")
"""The one that is cut; the first of its ends tells the ingress PE."""

ROUND, SPARE = "r2", "r4"
"""The neighbour by which packets go round it, which is the first node of the other path, too, and
that path's last one."""

FIRST_PATH = 0
PPS = 1_000
MTU = 1024
BITS = (MTU + 44) * 8
CONNECT_S = 6.0
QUIET_S = 3.0
"""For so long no path changes, before the run begins."""

STOPPED_S, CUT_S, CONTINUED_S, MENDED_S, SECONDS = 1.0, 2.0, 4.0, 6.0, 9.0
"""Since the first packet: the controller is stopped, the link is cut, the controller goes on, the
link is mended, the sender ends."""


@dataclass(frozen=True, slots=True)
class Record:
    """When what happened, and when packets were where, in CLOCK_MONOTONIC nanoseconds.

    left: from the ingress PE, over each of its links. over_link, round_it: from the link's first
    end to the other one, and to its neighbour. told: FANTEL messages from there to the PE. arrived:
    at the egress PE. All but `arrived` are when a packet left. states: of the first path, as the
    controller showed it when it went on, and in the end.
    """

    start_ns: int
    stopped_ns: int
    cut_ns: int
    continued_ns: int
    mended_ns: int
    left: dict[str, tuple[int, ...]]
    over_link: tuple[int, ...]
    round_it: tuple[int, ...]
    told: tuple[int, ...]
    arrived: tuple[int, ...]
    states: tuple[str, str]
    propagation_ns: int


Say = Callable[[str], None]


def carry_out(target: Target, directory: Path, say: Say) -> Record:
    """Run to the end; raises ProcessError when any part of it fails."""
    topology = network("failover")
    # Features of congestion are not needed here.
    settings = FcnSettings(enabled=False)
    with Network(topology, target, settings, directory / "network") as running:
        if running.page:
            say(f"look at it in a browser on this machine: {running.page}")
        running.wait_for_ping(SENDER, RECEIVER)
        say("waiting until all links and paths are well")
        _wait_until_well(running)
        return _Run(running, directory / "run", say).record()


class _Run:
    def __init__(self, running: Network, directory: Path, say: Say) -> None:
        self._network = running
        self._topology: Topology = running.topology
        self._directory = directory
        self._say = say
        self._inside = SWITCHES[running.target].shapes_links

    def record(self) -> Record:
        with ExitStack() as stack:
            near, far = LINK
            behind = ipv6_to(self._topology.locator(EGRESS))
            taps = {
                ends: stack.enter_context(Tap(self._far_end(*ends), program))
                for ends, program in {
                    (INGRESS, near): ipv6_to(self._topology.locator(near)),
                    (INGRESS, ROUND): ipv6_to(self._topology.locator(ROUND)),
                    (near, far): behind,
                    (near, ROUND): behind,
                    (near, INGRESS): udp_to(FANTEL_PORT),
                    (far, EGRESS): behind,
                    (SPARE, EGRESS): behind,
                }.items()
            }
            receiver, sender, start = self._start_hosts(stack)
            stopped, cut, continued, mended, states = self._events(start)
            sender.wait_for("finished")
            for process in (sender, receiver):
                process.stop(signal.SIGINT)
            times = {ends: self._left(ends, tap.stop()) for ends, tap in taps.items()}
        return Record(
            start_ns=start,
            stopped_ns=stopped,
            cut_ns=cut,
            continued_ns=continued,
            mended_ns=mended,
            left={name: times[INGRESS, name] for name in (near, ROUND)},
            over_link=times[near, far],
            round_it=times[near, ROUND],
            told=times[near, INGRESS],
            arrived=tuple(sorted((*times[far, EGRESS], *times[SPARE, EGRESS]))),
            states=states,
            propagation_ns=self._topology.delay_ns(near, INGRESS),
        )

    def _start_hosts(self, stack: ExitStack) -> tuple[RoceProcess, RoceProcess, int]:
        local, remote = (str(self._topology.addresses(name).ipv4.ip) for name in (SENDER, RECEIVER))
        log = self._directory / "receiver.jsonl"
        run, enter = self._network.run_roce, stack.enter_context
        receiver = enter(run(RECEIVER, Receiver(local=remote, log=log)))
        receiver.wait_for("start")
        start = time.monotonic_ns() + round(CONNECT_S * NS_PER_S)
        options = Sender(
            local=local,
            remote=remote,
            log=self._directory / "sender.jsonl",
            mtu=MTU,
            start_at_ns=start,
            duration_ms=round(SECONDS * 1000),
            hold_ms=round(READY_TIMEOUT_S * 1000),
            dcqcn=Dcqcn(rate_bps=float(PPS * BITS)),
        )
        sender = enter(run(SENDER, options))
        sender.wait_for("connected")
        if time.monotonic_ns() > start:
            raise ProcessError(f"connecting took longer than {CONNECT_S:g} s")
        return receiver, sender, start

    def _events(self, start: int) -> tuple[int, int, int, int, tuple[str, str]]:
        controller = self._network.controller
        assert controller is not None, "the network runs"
        stopped = self._at(start, STOPPED_S, "the controller is stopped")
        controller.send(signal.SIGSTOP)
        try:
            cut = self._at(start, CUT_S, f"the link between {' and '.join(LINK)} is cut")
            self._network.set_link(*LINK, up=False)
            continued = self._at(start, CONTINUED_S, "the controller goes on")
        finally:
            controller.send(signal.SIGCONT)
        seen = self._path_state("failed")
        mended = self._at(start, MENDED_S, "the link is mended")
        self._network.set_link(*LINK, up=True)
        return stopped, cut, continued, mended, (seen, self._path_state("up"))

    def _at(self, start: int, seconds: float, what: str) -> int:
        due = start + round(seconds * NS_PER_S)
        time.sleep(max(0, due - time.monotonic_ns()) / NS_PER_S)
        self._network.check()
        self._say(f"{seconds:g} s: {what}")
        return time.monotonic_ns()

    def _path_state(self, expected: str) -> str:
        """The state of the first path, as soon as it is as expected, or what it is then."""
        state = ""

        def is_so() -> bool:
            nonlocal state
            with FcnClient(self._network.api) as client:
                policy = client.paths(INGRESS)[0]
            state = policy.paths[FIRST_PATH].state
            return state == expected

        try:
            wait_until(is_so, READY_TIMEOUT_S, f"the first path is {expected}")
        except ProcessError:
            return state
        return state

    def _far_end(self, node: str, peer: str) -> str:
        return far_end(self._topology.port(node, peer).interface)

    def _left(self, ends: tuple[str, str], times: tuple[int, ...]) -> tuple[int, ...]:
        """When packets left; the link's delay is subtracted where the switch adds it."""
        port: Port = self._topology.port(*ends)
        delay = port.delay_ns if self._inside and ends[1] != EGRESS else 0
        return tuple(stamp - delay for stamp in times)


def _wait_until_well(running: Network) -> None:
    """Wait until no path has failed for a while: switches hear of each other one after another."""

    def is_well() -> bool:
        with FcnClient(running.api) as client:
            paths = [path for policy in client.paths() for path in policy.paths]
        return all(path.state == "up" and time.time() - path.since > QUIET_S for path in paths)

    wait_until(is_well, READY_TIMEOUT_S, "all paths are up")
