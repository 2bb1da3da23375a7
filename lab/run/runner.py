"""Runs a scenario from the first message of the controller to a result."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd

from fcn.contract.garbage_collection import seldom_collected
from fcn.contract.version import fcn_version
from fcn.controller.config.notation import Address, format_depth
from fcn.controller.logs import quiet_logs
from fcn.lab.balance import Balance, balance
from fcn.lab.control.loop import NS, run
from fcn.lab.control.plane import Controlled, NodeControl, controlled
from fcn.lab.control.switch import Request
from fcn.lab.core import Simulation
from fcn.lab.errors import LabError
from fcn.lab.modes import NOTIFICATIONS
from fcn.lab.result.model import About, BalanceInfo, EventInfo, Result
from fcn.lab.result.tables import TableName, frame
from fcn.lab.roce import completions
from fcn.lab.run.build import Built, build, start_tcp
from fcn.lab.run.connections import Connection
from fcn.lab.run.describe import network_info
from fcn.lab.run.jobs import RunningJobs
from fcn.lab.run.probes import Probes, connection_rows, tcp_rows
from fcn.lab.run.recovery import recovering
from fcn.lab.run.sampler import Sampler
from fcn.lab.run.spy import Spy
from fcn.lab.run.watch import FailureWatch
from fcn.lab.run.world import WatchedWorld
from fcn.lab.scenario.load import Plan
from fcn.lab.scenario.model import Event
from fcn.lab.tcp import TcpFlow

CONNECT_EVERY_NS = 500_000
"""Connections are opened one after another: three reports of each go from both PEs to the
controller, of which it takes 10,000 a second (`controller_share`)."""

LOOK_NS = 1_000_000
"""Between two looks at whether the controller is ready."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: what it does, and how much of the traffic's time has passed."""

    doing: str
    reached_ns: int
    duration_ns: int


Show = Callable[[Progress], None]


def _show_nothing(_progress: Progress) -> None:
    """Nobody looks."""


def _never() -> bool:
    return False


_ALONE = threading.Lock()


@contextmanager
def _alone() -> Iterator[None]:
    """One run after another in a process: where finsy gets its channels from is the same for all
    threads (channels_by), and so are logs and the collection of garbage."""
    with _ALONE:
        yield


@_alone()
@quiet_logs()
@seldom_collected()
def run_scenario(
    plan: Plan,
    *,
    until_ns: int | None = None,
    show: Show = _show_nothing,
    stop: Callable[[], bool] = _never,
    spy: Spy | None = None,
) -> Result:
    """Run a scenario; the result says how far it came. Runs in other threads wait for each other.

    until_ns: end then, as if stopped; above 0. show: told of progress every millisecond of virtual
    time in which something happens, and stop is asked whether to end. spy: is told of packets of a
    switch. Raises LabError when the network does not become ready, or loses count of its frames.
    """
    if until_ns is not None and until_ns <= 0:
        raise LabError(f"until_ns is {until_ns}; hosts begin to send at 0, so give a later time")
    begun = time.monotonic()
    port = plan.config.fast_cnp_port
    with Simulation(plan.scenario.seed, fast_cnp_port=port) as simulation:
        simulation.keep_digest()
        built = build(plan.wiring, plan.config, simulation)
        if spy is not None:
            spy.prepare(simulation)
        each = _Run(plan, built, until_ns, show, stop, spy)
        run(each.world, each.main())
        return each.result(time.monotonic() - begun)


class _Run:
    def __init__(
        self,
        plan: Plan,
        built: Built,
        until_ns: int | None,
        show: Show,
        stop: Callable[[], bool],
        spy: Spy | None,
    ) -> None:
        self._plan = plan
        self._scenario = plan.scenario
        self._built = built
        self._simulation = built.simulation
        self._watch = FailureWatch(built)
        self.world = WatchedWorld(built.simulation)
        self._until = min(until_ns or self._scenario.duration, self._scenario.duration)
        self._show = show
        self._stop = stop
        self._spy = spy
        self._requests: list[tuple[int, str, str, int]] = []
        self._tables: dict[TableName, pd.DataFrame] = {}
        self._connections: list[Connection] = []
        self._connecting: deque[Connection] = deque()
        self._happened: list[EventInfo] = []
        self._begun = 0
        self._reached = 0
        self._sampled = 0
        self._sent: list[tuple[str, int, int, int, int]] = []
        self._tcp: list[TcpFlow] = []
        self._account = Balance({}, {}, {})
        self._captures: dict[str, bytes] = {}

    async def main(self) -> None:
        control = self._scenario.controller
        # Its own routing process writes a node's routes.
        is_local = self._scenario.recovery.by == "igp"
        nodes = {
            name: NodeControl(switch, 0 if is_local else control.delays.get(name, control.delay))
            for name, switch in self._simulation.switches.items()
            if name in self._built.config.nodes
        }
        async with controlled(
            self._built.config,
            nodes,
            self._simulation,
            seed=self._scenario.seed,
            observer=self._observe,
        ) as controller:
            await self._get_ready(controller)
            if not self._stop():
                async with recovering(self._scenario.recovery, controller.plane, self._watch):
                    await self._measure(controller)
            if self._spy is not None:
                self._spy.end()
            # Switches are closed with the controller, and lose what is in their queues.
            self._account = balance(self._simulation)

    async def _get_ready(self, controller: Controlled) -> None:
        """Switches provisioned, connections set up and, where the controller learns, learned."""
        deadline = self._scenario.controller.ready_within
        agents = controller.plane.nodes.values()
        await self._until_true(
            "the controller provisions", lambda: all(agent.is_up for agent in agents), deadline
        )
        await self._until_true("links come up", self._watch.are_up, deadline)
        flows = self._plan.traffic.flows
        for place, flow in enumerate(flows):
            sender = self._built.hosts[flow.source.name]
            receiver = self._built.hosts[flow.target.name]
            at = self._simulation.now_ns + place * CONNECT_EVERY_NS
            number = sender.connect(receiver.address, at_ns=at)
            self._connections.append(Connection(flow, sender, receiver, number))
        self._connecting.extend(self._connections)
        deadline += len(flows) * CONNECT_EVERY_NS
        await self._until_true("hosts connect", self._are_connected, deadline)
        # A segment there and back: as a handshake it makes PEs find both hosts.
        tcp = [
            start_tcp(self._built, replace(transfer, size=1, start_ns=0), self._simulation.now_ns)
            for transfer in self._plan.traffic.tcp
        ]
        await self._until_true(
            "TCP connects", lambda: all(each.counters().completed for each in tcp), deadline
        )
        if self._scenario.mode in NOTIFICATIONS:
            pe_of = self._plan.wiring.pe_of
            wanted = {
                each.key
                for each in self._connections
                if pe_of(each.flow.source) != pe_of(each.flow.target)
            }
            await self._until_true(
                "the controller learns", lambda: wanted <= _learned(controller), deadline
            )
        for agent in agents:
            await agent.settled()

    def _are_connected(self) -> bool:
        """They come up in the order in which they are opened, or nearly so. Raises LabError when
        one never will."""
        while self._connecting and self._connecting[0].is_up:
            self._connecting.popleft()
        if self._connecting and self._connecting[0].has_failed:
            flow = self._connecting[0].flow
            most = self._simulation.native.lib.LAB_MAX_ACCEPTED
            raise LabError(
                f"{self._plan.name}: {flow.source.name} cannot connect to {flow.target.name}: a "
                f"host accepts {most} connections (give fewer qps), and has 16 s to answer (look "
                "at links and queues)"
            )
        return not self._connecting

    async def _until_true(self, doing: str, ready: Callable[[], bool], deadline: int) -> None:
        while not ready():
            self._show(Progress(doing, 0, self._until))
            if self._stop():
                return
            if self._simulation.now_ns > deadline:
                raise LabError(
                    f"{self._plan.name}: gave up at {deadline / NS:g} s, as {doing}: give more "
                    "time (controller.ready_within), or look at the links and the configuration"
                )
            await asyncio.sleep(LOOK_NS / NS)

    async def _measure(self, controller: Controlled) -> None:
        begun = self._begun = self._simulation.now_ns
        for number, send in enumerate(self._plan.traffic.sends):
            each = self._connections[send.flow]
            start = begun + send.start_ns
            each.sender.write(each.number, send.size, start_ns=start, message_id=number)
            self._sent.append((each.host, each.number, number, send.size, send.start_ns))
        for transfer in self._plan.traffic.tcp:
            self._tcp.append(start_tcp(self._built, transfer, begun))
        jobs = RunningJobs(self._simulation, self._plan.work, self._connections, len(self._sent))
        sampler = Sampler(self._built, self._connections, self._watch, self._spans())
        probes = Probes(self._built, sampler)
        due: list[tuple[int, Callable[[], None]]] = [
            (event.at, partial(self._happen, event, controller))
            for event in self._scenario.events
            if event.at < self._until
        ]
        if self._spy is not None:
            due.append((self._spy.at_ns, partial(self._spy.begin, self._simulation)))
        due.sort(key=lambda each: each[0])
        looks = self._looks_at(sampler, controller)
        with self.world.watching(looks, sampler, begun):
            for at, happen in due:
                self.world.wait_for(begun + at)
                if not await self._reaches(begun + at, probes):
                    break
                happen()
            else:
                self.world.wait_for(None)
                await self._reaches(begun + self._until, probes)
        self._reached = self._simulation.now_ns - begun
        if self._reached > self._sampled:
            sampler.sample()
        probes.collect()
        self._captures = probes.captures()
        probes.count_lost()
        self._sent += jobs.messages()
        self._tables |= {**dict(probes.tables()), "jobs": frame("jobs", jobs.rows())}

    async def _reaches(self, time_ns: int, probes: Probes) -> bool:
        """Wait until then; False when the run is to be stopped before."""
        loop = asyncio.get_running_loop()
        begun = self._begun
        while not self._stop():
            now = self._simulation.now_ns
            if now >= time_ns:
                return True
            # Nothing happens before, and what the controller does then is little.
            due = self._simulation.next_due_ns()
            idle_until = time_ns if due is None else max(now, due)
            step = min(time_ns, begun + ((idle_until - begun) // LOOK_NS + 1) * LOOK_NS)
            await asyncio.sleep(step / NS - loop.time())
            if self._simulation.now_ns < step:
                await asyncio.sleep(1 / NS)  # the loop's clock may wake it 1 ns early
            self.world.catch_up()
            probes.take()
            self._show(Progress("hosts send", self._simulation.now_ns - begun, self._until))
        return False

    def _looks_at(
        self, sampler: Sampler, controller: Controlled
    ) -> Iterator[tuple[int, Callable[[bool], None]]]:
        """When what is looked at, since the traffic began."""
        known = (0, 0)

        def sample(controller_acted: bool) -> None:
            nonlocal known
            self._sampled = self._simulation.now_ns - self._begun
            sampler.sample()
            if controller_acted:
                known = self._look_at_flows(controller, self._sampled, known)

        interval = self._scenario.measure.interval
        for due in chain(range(0, self._until, interval), (self._until,)):
            yield due, sample

    def _look_at_flows(
        self, controller: Controlled, now: int, before: tuple[int, int]
    ) -> tuple[int, int]:
        """How many flows the controller has labelled, and of how many it knows the sender."""
        flows, nodes = controller.plane.flows, controller.switches
        known = sum(len(flows.on_node(node)) for node in nodes), sum(map(flows.known_on, nodes))
        for what, count, earlier in zip(("flows", "senders"), known, before, strict=True):
            if count != earlier:
                at = self._begun + now
                self._requests.append((at, "", what, count))
        return known

    def _spans(self) -> Iterator[range]:
        """When links and paths are looked at between samples: for a while after each event of a
        link."""
        measure = self._scenario.measure
        if not self._watch.watches:
            return
        done = 0
        for at in sorted(event.at for event in self._scenario.events if event.link is not None):
            end = min(at + measure.close_time, self._until)
            if times := range(max(at, done), end, measure.closely):
                yield times
            done = max(done, end)

    def _happen(self, event: Event, controller: Controlled) -> None:
        text = ""
        if event.link is not None:
            link, _ = self._built.link(*event.link)
            link.set_up(event.state == "up")
            text = f"link {'-'.join(event.link)} {event.state}"
        elif event.controller is not None:
            for name, switch in controller.switches.items():
                if event.node in (None, name):
                    (switch.link.cut if event.controller == "away" else switch.link.restore)()
            text = f"controller {event.controller} {event.node or ''}".rstrip()
        elif event.thresholds is not None:
            queue = event.thresholds
            port = self._plan.topology.port(queue.node, queue.towards).number
            controller.plane.nodes[queue.node].set_thresholds(port, 0, queue.depths)
            depths = ", ".join(map(format_depth, queue.depths))
            text = f"thresholds {queue.node}-{queue.towards} {depths}"
        self._happened.append(EventInfo(time_ns=event.at, text=text))

    def _observe(self, request: Request) -> None:
        count = len(request.message.updates) if request.method == "Write" else 1
        self._requests.append((request.time_ns, request.node, request.method, count))

    def result(self, wall_s: float) -> Result:
        done = {each.id: each.completed_ns for each in completions(self._simulation)}
        rows: dict[TableName, Iterable[tuple[Any, ...]]] = {
            "messages": (
                (*sent, done[sent[2]] - self._begun if sent[2] in done else None)
                for sent in self._sent
            ),
            "connections": connection_rows(self._connections),
            "tcp": tcp_rows(self._tcp, self._begun),
            "controller": ((at - self._begun, *rest) for at, *rest in self._requests),
        }
        account = self._account
        scenario = self._scenario
        about = About(
            fcn=fcn_version(),
            scenario=self._plan.name,
            text=self._plan.text,
            network_text=self._plan.network_text,
            mode=scenario.mode,
            seed=scenario.seed,
            duration_ns=scenario.duration,
            reached_ns=self._reached,
            finished=self._reached >= scenario.duration,
            wall_s=wall_s,
            digest=f"{self._simulation.digest:016x}",
            hops=self._simulation.hops,
            balance=BalanceInfo(sources=account.sources, ends=account.ends, places=account.places),
            network=network_info(self._plan, self._built.config),
            events=tuple(self._happened),
        )
        tables: dict[str, Any] = {table: frame(table, values) for table, values in rows.items()}
        tables.update(self._tables.items())
        return Result(about=about, captures=self._captures, **tables)


def _learned(controller: Controlled) -> set[tuple[Address, Address, int]]:
    """The flows whose sender the controller knows, as `Connection.key`."""
    return {
        (flow.key.src, flow.key.dst, flow.key.dest_qp)
        for flow in controller.plane.flows.all()
        if flow.source_qp is not None
    }
