"""The control plane: all nodes, the flow service, and the supporting services."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from finsy import P4Schema

from fcn.controller.clock import SYSTEM_CLOCK, Clock
from fcn.controller.config import Config, parse_config
from fcn.controller.config.check_reload import check_reload
from fcn.controller.config.programs import program_of
from fcn.controller.config.transport import expiries
from fcn.controller.config.watching import Watching
from fcn.controller.events import EventBus, Kind
from fcn.controller.finsy_adapter import check_finsy
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.regions import CmReport
from fcn.controller.flows.service import FlowService
from fcn.controller.hostagent.reports import HostReports
from fcn.controller.hostagent.service import HostAgentService, serving_agents
from fcn.controller.leadership.leadership import Leadership
from fcn.controller.neighbors.room import NeighborRoom
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.connection import Connection
from fcn.controller.node.counters import Counters
from fcn.controller.node.edge import NodeEdge
from fcn.controller.node.inbox import Inbox
from fcn.controller.node.member import Job, Member
from fcn.controller.node.session import SwitchAwayError
from fcn.controller.node.settings import Past, as_file, drop, rebase, recall
from fcn.controller.northbound.metrics import FcnCollector, serving_metrics
from fcn.controller.northbound.network import Applied, ApplyError, Network
from fcn.controller.northbound.snapshot import take_snapshot
from fcn.controller.owners.intent import Change
from fcn.controller.pace import Pace
from fcn.controller.provision.provision import Provision
from fcn.controller.store import Store
from fcn.controller.timings import Timings

LOG = logging.getLogger("fcn")

HOUSEKEEPING = 5.0
"""Seconds between checks for expired senders and idle flows."""

INFERENCE = 0.25
"""Seconds between runs of the inference of source queue pairs (FCN-3 b)."""

SUPPRESSED = 60.0
"""Seconds between events about events that were suppressed (events.py)."""

METRICS = 1.0
"""Seconds between metrics snapshots, each of which goes through all flows; there is one sooner when
the last switch is up, so that `/readyz` says it at once."""

CERTIFICATES = 60.0
"""Seconds between looks at when certificates expire."""

LAG = 0.1
"""Seconds between measurements of how late the event loop is."""


class ControlPlane:
    """Everything `fcn run` runs.

    All time but that of the event loop comes from `clock`, all chance from `rng`, which draws the
    flow labels and must not be predictable in production; None: the system's. `me`: which one of
    the configuration's `controllers` this is. Raises PipelineError, FinsyError, StoreError.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
        leadership: Leadership | None = None,
        me: str | None = None,
    ) -> None:
        check_finsy()
        self.config = config
        self._me = me
        self._clock = clock
        self.agents_address = ""
        self.store = Store(config.state, clock.wall)
        self.bus = EventBus(clock)
        rng = rng or random.SystemRandom()
        self.flows = FlowService(config, {}, self.bus, clock, rng, self.store)
        self._inbox = Inbox(self.flows.refusals, clock.work, clock=clock.monotonic)
        self._lag = Timings()
        self.reports = HostReports({}, clock.dated)
        self.leadership = leadership or Leadership(list(config.nodes), clock)
        self.nodes: dict[str, NodeAgent] = {}
        self.neighbors: dict[str, NeighborService] = {}
        self.edges: dict[str, NodeEdge] = {}
        self._members: dict[str, Member] = {}
        self._jobs: dict[str, list[asyncio.Task[None]]] = {}
        """While it runs: of each node what a change of the configuration replaces."""
        self._sessions: dict[str, asyncio.Task[None]] = {}
        self._changing = asyncio.Lock()
        self.network = Network(
            config,
            self.bus,
            self.nodes,
            self.flows,
            self.neighbors,
            self.reports,
            clock.wall(),
            self.store,
            self,
        )
        self._move_to(config, self._members_of(config))
        self._recall()
        self.metrics = FcnCollector(take_snapshot(self.network), clock)

    def keep(self, image: bytes) -> None:
        """Keep what the leader keeps, for the time after that. Raises StoreError."""
        if self.leadership.leads:
            return
        self.store.replace(image)
        for member in self._members.values():
            as_file(member.provision)
        self._recall()
        self.flows.recall()

    def hear(self, region: str, report: CmReport) -> None:
        """A PE of another region reports a message, as its controller says."""
        name, port, message = report
        node = self.config.nodes.get(name)
        if node is None or node.region != region or message.vrf not in self.config.vrfs:
            return
        source = message.vrf, (name, port), int(message.src)
        if self._inbox.admits(name, source):
            handle = partial(self.flows.connection_message, *report)
            failed = partial(LOG.exception, "cannot handle %s of region %s", report, region)
            self._inbox.put(name, source, handle, failed)

    def _recall(self) -> None:
        """What was set of the nodes by command is in force."""
        for name, member in self._members.items():
            drop(self.store, name, recall(self.store, member.provision))

    def _members_of(self, config: Config) -> dict[str, Member]:
        """The nodes of a configuration. Those of which it asks the same as the one in force stay
        as they are, and all others that were there have their sessions on. Raises PipelineError."""
        watching = Watching(config)
        members = {}
        for name, node in config.ruled_by(self._me).items():
            old = self._members.get(name)
            program = old.provision.pipeline if old else program_of(config, node)
            provision = Provision(config, name, program, watching)
            if old is not None and provision.is_like(old.provision):
                members[name] = old
            else:
                members[name] = self._member(provision, old.connection if old else None)
        return members

    def _member(self, provision: Provision, connection: Connection | None) -> Member:
        config, name = provision.config, provision.name
        if connection is None:
            tls = config.tls_of(provision.node)
            connection = Connection(
                name,
                provision.node,
                provision.pipeline,
                self.bus,
                self._clock,
                self.leadership,
                tls,
                self.store,
            )
        counters = Counters(provision, connection, self._clock)
        neighbors = NeighborService(
            config,
            name,
            provision.routing,
            provision.underlay,
            connection.send_packet,
            NeighborRoom(name, provision.host_room, self.flows.refusals),
            self.bus,
            self._clock.monotonic,
            connection.heard_until,
            counters.refused,
        )
        edge = (
            NodeEdge(provision, connection.up_for, self.flows.known_key, self.store)
            if provision.is_pe
            else None
        )
        agent = NodeAgent(
            provision,
            connection,
            self.flows,
            self._inbox,
            neighbors,
            self.bus,
            self._clock,
            self.store,
            edge,
            counters,
        )
        return Member(provision, connection, edge, neighbors, agent)

    def _move_to(self, config: Config, members: dict[str, Member]) -> None:
        self.config, self._members = config, members
        self.leadership.move_to(list(members))
        self.nodes = {name: member.agent for name, member in members.items()}
        self.neighbors = {name: member.neighbors for name, member in members.items()}
        self.edges = _edges(members)
        self.flows.move_to(config, self.edges)
        self.reports.move_to(config.host_agents.hosts if config.host_agents else {})
        network = self.network
        network.config, network.nodes, network.neighbors = config, self.nodes, self.neighbors

    async def differences(
        self, text: str, file: str
    ) -> AsyncIterator[tuple[str, P4Schema, Change]]:
        """What the configuration in `text` would change at each node. Raises ConfigError naming
        `file`, PipelineError."""
        config = await self._read(text, file)
        members = self._members_of(config)
        changed = {
            name: member
            for name, member in members.items()
            if member is not self._members.get(name)
        }
        for member in changed.values():
            recall(self.store, member.provision)
        edges, flows, pace = _edges(members), dict[str, list[Change]](), Pace()
        for name in changed.keys() & self.edges.keys():
            flows[name] = []
            for flow, new in self.flows.under(name, config, edges):
                flows[name] += _flow_changes(self.edges[name], flow, edges.get(name), new)
                await pace.step()
        # From here on nobody else has a turn: what has changed meanwhile is no difference.
        found = []
        for name, member in changed.items():
            if before := self._members.get(name):
                member.take_over(before)
            changes = [*member.changes(before), *flows.get(name, [])]
            found += [(name, member.provision.intent.schema, change) for change in changes]
        for row in found:
            yield row

    async def apply(self, text: str, file: str) -> list[Applied]:
        """Put the configuration in `text` in force, and write the difference. Raises ConfigError
        naming `file`, PipelineError and ApplyError, with nothing changed."""
        # Who asked may go away meanwhile; half of it must not stay.
        return await asyncio.shield(asyncio.create_task(self._apply(text, file)))

    async def _apply(self, text: str, file: str) -> list[Applied]:
        async with self._changing:
            before, config = self.config, await self._read(text, file)
            old = self._members
            refused = {name: agent.intent.refused for name, agent in self.nodes.items()}
            changes, past = await self._change_to(config)
            applied = []
            for name, found in changes.items():
                agent = self.nodes[name]
                written = await agent.synchronized()
                if agent.intent.refused - refused.get(name, frozenset()):
                    reason = agent.refusal
                    for each in changes.keys() & old.keys():
                        rebase(self.store, old[each].provision)
                    await self._change_to(before)
                    raise ApplyError(
                        f"{name} refuses {reason}; the configuration before is in force again"
                    )
                applied.append(_counted(name, found, "up" if written else agent.status.state.value))
            for name, settings in past.items():
                drop(self.store, name, settings)
            for vrf in before.vrfs.keys() - config.vrfs.keys():
                self.flows.forget_tenant(vrf)
            shown = ", ".join(f"{each.node} {each}" for each in applied) or "nothing changes"
            self.bus.emit(Kind.CONFIGURED, "", f"{file} is in force: {shown}", file=file)
            return applied

    async def _read(self, text: str, file: str) -> Config:
        # In a thread: a file of a megabyte takes half a minute, and learning must not wait for it.
        further = partial(check_reload, self.config)
        return await asyncio.to_thread(parse_config, text, file, further)

    async def _change_to(
        self, config: Config
    ) -> tuple[dict[str, list[Change]], dict[str, list[Past]]]:
        """Replace what another configuration asks something else of; returns what changes at each
        of these nodes, and their settings that this ends. Raises PipelineError, with nothing
        changed."""
        members, old = self._members_of(config), self._members
        replaced = [name for name, member in members.items() if member is not old.get(name)]
        for name in old:
            if name in replaced or name not in members:
                await self._stop(name)
        # Only now: until here an operator may have said something.
        past = {name: recall(self.store, members[name].provision) for name in replaced}
        self._move_to(config, members)
        for name in old.keys() - members.keys():
            old[name].connection.close()
            await _ended([self._sessions.pop(name)])
        changes = {}
        for name in replaced:
            try:
                changes[name] = await self._filled(members[name], old.get(name))
            except Exception:
                LOG.exception("not all that was learned at %s is kept", name)
                changes[name] = []
            self._start(name, old.get(name))
        return changes, past

    async def _filled(self, member: Member, before: Member | None) -> list[Change]:
        """What its switch is to have of other entries, with all that was learned."""
        if before is not None:
            member.take_over(before)
        changes, pace = member.changes(before), Pace()
        if member.edge is not None and before is not None and before.edge is not None:
            for flow, new in self.flows.restated(member.provision.name):
                changes += _flow_changes(before.edge, flow, member.edge, new)
                await pace.step()
        return changes

    def _start(self, name: str, before: Member | None = None) -> None:
        member = self._members[name]
        agent = member.agent
        if before is None or before.agent.paths.plans != agent.paths.plans:
            agent.paths.tell_exposed()
        agent.start(before.agent if before else None)
        jobs: list[Job] = [*member.jobs, partial(self._check_idle, agent)]
        self._jobs[name] = [asyncio.create_task(_supervised(job)) for job in jobs]
        if before is None:
            self._sessions[name] = asyncio.create_task(_supervised(member.connection.run))

    async def _stop(self, name: str) -> None:
        await _ended(self._jobs.pop(name))
        await self._members[name].connection.pause()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connect to the switches and keep them equal to the intent until the context ends.

        Raises AgentServiceError, TlsFileError, OSError.
        """
        jobs: list[Job] = [
            self._inference,
            self._inbox.run,
            self._tell_suppressed,
        ]
        async with AsyncExitStack() as stack:
            stack.callback(self.store.close)
            if self.config.metrics:
                tls = self.config.listener_tls("metrics")
                stack.enter_context(serving_metrics(self.metrics, self.config.metrics, tls))
                jobs += [self._refresh_metrics, self._watch_loop]
            if self.config.host_agents:
                revoked = self.config.host_agents.files.revoked(LOG.error)
                agents = HostAgentService(self.reports, self.flows, self.bus, revoked.now)
                self.agents_address = await stack.enter_async_context(
                    serving_agents(self.config.host_agents, agents)
                )
            await stack.enter_async_context(_background(jobs))
            # One each: a switch that takes long to answer hides nothing of the others.
            for name in self._members:
                self._start(name)
            try:
                yield
            finally:
                for member in self._members.values():
                    member.connection.close()
                tasks = [task for tasks in self._jobs.values() for task in tasks]
                await _ended([*tasks, *self._sessions.values()])

    async def _check_idle(self, agent: NodeAgent) -> None:
        """Rarely, because looking at all flows is slow and needed only where an idle notification
        was lost; one node each, because a switch may answer late, or wrong."""
        while True:
            await asyncio.sleep(max(HOUSEKEEPING, self.config.flows.timeout / 1e6))
            try:
                await agent.check_idle()
            except SwitchAwayError as error:
                LOG.warning("%s; its idle flows are looked for later", error)

    async def _refresh_metrics(self) -> None:
        certificates, again = dict[str, float](), 0.0
        while True:
            await self._until_next_metrics()
            if (now := self._clock.monotonic()) >= again:
                certificates, again = expiries(self.config), now + CERTIFICATES
            self.metrics.show(take_snapshot(self.network, self._lag.now(), certificates))

    async def _until_next_metrics(self) -> None:
        before = self._all_up()
        for _ in range(5):
            await asyncio.sleep(METRICS / 5)
            if self._all_up() and not before:
                return

    def _all_up(self) -> bool:
        return all(agent.is_up for agent in self.nodes.values())

    async def _watch_loop(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            due = clock() + LAG
            await asyncio.sleep(LAG)
            self._lag.observe(max(clock() - due, 0.0))

    async def _tell_suppressed(self) -> None:
        while True:
            await asyncio.sleep(SUPPRESSED)
            self.bus.tell_suppressed()

    async def _inference(self) -> None:
        while True:
            await asyncio.sleep(INFERENCE)
            # Meanwhile not all PEs are heard.
            if not self._changing.locked():
                self.flows.infer()


@asynccontextmanager
async def _background(jobs: list[Job]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(_supervised(job)) for job in jobs]
    try:
        yield
    finally:
        await _ended(tasks)


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _edges(members: dict[str, Member]) -> dict[str, NodeEdge]:
    return {name: member.edge for name, member in members.items() if member.edge is not None}


def _flow_changes(
    edge: NodeEdge, flow: Flow, new_edge: NodeEdge | None, new: Flow | None
) -> Iterator[Change]:
    """What a flow that is `new` on another edge has of other entries there."""
    before = dict(edge.entries(flow))
    after = dict(new_edge.entries(new)) if new_edge is not None and new is not None else {}
    for key in before | after:
        old, now = (key + each[key] if key in each else None for each in (before, after))
        if old != now:
            yield Change(key, old, now)


def _counted(node: str, changes: list[Change], state: str) -> Applied:
    added = sum(change.before is None for change in changes)
    removed = sum(change.after is None for change in changes)
    return Applied(node, added, removed, len(changes) - added - removed, state)


async def _supervised(job: Job) -> None:
    """Run a job; when it fails, log the exception and restart it: other jobs must not stop."""
    task = asyncio.current_task()
    assert task is not None
    name = getattr(job, "__qualname__", repr(job))
    while True:
        try:
            await job()
            LOG.error("background job %s returned; starting it again", name)
        except asyncio.CancelledError:
            # gRPC cancels whoever waits on a channel that is closed.
            if task.cancelling():
                raise
            LOG.exception("background job %s was cancelled; starting it again", name)
        except Exception:
            LOG.exception("background job %s failed; starting it again", name)
        await asyncio.sleep(HOUSEKEEPING)
