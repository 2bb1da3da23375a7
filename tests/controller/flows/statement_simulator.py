"""Simulates what hosts state of their connections, by CM and by agents, and what packets show.

Two hosts, their PEs and the flow service of the controller; time is simulated. CM messages are
lost, repeated, reordered and delayed on the way to the controller; agents are on one host or both,
report late or not at all for a while, and miss the newest queue pairs. Halfway the connections may
end without a DREQ, and others take their queue pair numbers.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

from edges import Edge
from inference_simulator import (
    CONCLUDE_EVERY,
    VRF,
    A,
    B,
    Conditions,
    Connection,
    conditions,
    connect,
    reports,
)
from tenants import DC_PORT

from fcn import controller
from fcn.contract.constants import CmAttribute
from fcn.controller.clock import Clock
from fcn.controller.config import Config, parse_config
from fcn.controller.config.tls import AgentHost
from fcn.controller.events import EventBus
from fcn.controller.flows import evidence
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.service import FlowService
from fcn.controller.flows.trail import Sample, connection_port
from fcn.controller.hostagent.reports import Device, HostReports

NODES = {A: "pe1", B: "pe2"}
HOSTS = {"A": A, "B": B}

SLOTS = 16
"""Flows watched at a time to look again at their mappings, as by default."""

AGENT_INTERVAL = 2.0

SET_UP = 0.6
"""Seconds from the first handshake until all connections have traffic."""


@dataclass(frozen=True, slots=True)
class Said:
    """What hosts state. `loss`: share of CM messages nobody reports; `repeated`: share that comes
    twice; `delay`: seconds by which one may be late; `agents`: the hosts that have one; `absent`:
    share of an agent's reports that do not come; `reuse`: how the connections are set up that take
    the numbers of others which ended unseen ("": there are none)."""

    cm: bool = True
    loss: float = 0.0
    repeated: float = 0.0
    delay: float = 0.0
    agents: str = ""
    absent: float = 0.0
    reuse: str = ""


@dataclass(slots=True)
class Outcome:
    """Flows with the right source at the end, with a wrong one, with none. `ended`: how often
    a statement was ended that was true; `statements`: how many there were."""

    right: int = 0
    wrong: int = 0
    unknown: int = 0
    ended: int = 0
    statements: int = 0


def by_cm(rng: random.Random) -> Said:
    """Handshakes of which the controller does not see all."""
    return Said(
        loss=rng.choice([0.0, 0.05, 0.3]),
        repeated=rng.choice([0.0, 0.1, 0.5]),
        delay=rng.choice([0.0, 0.02, 0.5]),
    )


def by_agents(rng: random.Random) -> Said:
    """Agents that see less than all, and are not always heard."""
    return Said(cm=False, agents=rng.choice(["A", "AB"]), absent=rng.choice([0.0, 0.3]))


def by_both(rng: random.Random) -> Said:
    """Both."""
    return replace(by_cm(rng), agents=rng.choice(["A", "AB"]), absent=0.3)


def reused(rng: random.Random) -> Said:
    """Queue pair numbers that others take after a DREQ nobody saw."""
    return Said(reuse=rng.choice(["by CM", "by CM, half of it seen", "without CM"]))


@cache
def _config() -> Config:
    return parse_config((Path(controller.__file__).parent / "examples/network.yaml").read_text())


class _World:
    """The controller, what it is told, and what is true."""

    def __init__(self, said: Said, rng: random.Random) -> None:
        self.now = 0.0
        clock = Clock(lambda: self.now, lambda: self.now)
        self.said = said
        self.rng = rng
        self.edges: Mapping[str, Edge] = {node: Edge() for node in NODES.values()}
        self.service = FlowService(_config(), self.edges, EventBus(clock), clock, random.Random(1))
        hosts = {
            name: AgentHost.model_validate({"vrf": VRF, "addresses": [str(at)]})
            for name, at in HOSTS.items()
        }
        self.reports = HostReports(hosts, lambda: self.now)
        self.snapshots: dict[str, Device] = {}
        self.truth: dict[FlowKey, int] = {}
        self.seen: dict[FlowKey, float] = {}
        self.stated: set[FlowKey] = set()
        self.outcome = Outcome()

    def connected(self, connections: list[Connection]) -> None:
        """These are the connections from now on."""
        self.truth = {
            flow: qp
            for each in connections
            for flow, qp in zip(each.flows, (each.a_qp, each.b_qp), strict=True)
        }

    def packet(self, flow: FlowKey, sample: Sample) -> None:
        """A packet, which the PE reports if it has no label for it, or watches the flow."""
        self.seen.setdefault(flow, self.now)
        known = self.edges[NODES[flow.src]].flows.get(flow)
        if known is None or known.watched:
            self.service.seen(NODES[flow.src], DC_PORT, flow, 0xFFFF, sample)

    def message(self, message: CmMessage) -> None:
        """A PE reports a message of the connection manager."""
        before = self._true_statements()
        self.service.connection_message(NODES[message.src], DC_PORT, message)
        self._compare(before)

    def agents(self) -> None:
        """Each sends the snapshot it took after its report before, as late as it can be, and
        without the queue pairs that were new then. Some of A are connected to another host, whose
        numbers are those of B's."""
        for name in self.said.agents:
            if self.rng.random() < self.said.absent:
                continue
            snapshot = self.snapshots.pop(name, None)
            if snapshot is not None:
                addresses = self.reports.accept(name, [snapshot])
                for flow in self.service.all():
                    if (VRF, flow.key.src) in addresses:
                        found = self.reports.sender(flow.key, self.seen.get(flow.key, self.now))
                        if isinstance(found, int):
                            self.service.reported(flow.key, found)
            pairs = {
                (qp, flow.dest_qp)
                for flow, qp in self.truth.items()
                if flow.src == HOSTS[name] and self.now - self.seen.get(flow, self.now) > 0.1
            }
            if name == "A":
                pairs |= {(0x10000 + qp, peer) for qp, peer in pairs if not peer % 5}
            self.snapshots[name] = Device("mlx5_0", (HOSTS[name],), tuple(sorted(pairs)))

    def conclude(self) -> None:
        """The controller looks at what was reported."""
        before = self._true_statements()
        self.service.infer()
        self._compare(before)

    def count(self) -> Outcome:
        """What is known of the flows that exist."""
        known = self._known()
        for key in self.seen.keys() & self.truth.keys():
            source = known[key].source_qp if key in known else None
            self.outcome.right += source == self.truth[key]
            self.outcome.wrong += source not in (None, self.truth[key])
            self.outcome.unknown += source is None
        self.outcome.statements = len(self.stated)
        return self.outcome

    def _known(self) -> dict[FlowKey, Flow]:
        return {key: flow for edge in self.edges.values() for key, flow in edge.flows.items()}

    def _true_statements(self) -> set[FlowKey]:
        stated = {
            key
            for key, flow in self._known().items()
            if flow.origin in (Origin.CM, Origin.AGENT) and flow.source_qp == self.truth.get(key)
        }
        self.stated |= stated
        return stated

    def _compare(self, before: set[FlowKey]) -> None:
        known = self._known()
        self.outcome.ended += sum(
            key not in known or known[key].source_qp != self.truth[key] for key in before
        )


def _handshakes(
    connections: list[Connection], said: Said, first_id: int, rng: random.Random
) -> Iterator[tuple[float, CmMessage]]:
    """The messages of which the controller hears, with the seconds until then."""
    for number, each in enumerate(connections, start=first_id):
        ids = 0xA0000 + number, 0xB0000 + number
        request = CmMessage(VRF, A, B, CmAttribute.REQ, ids[0], 0, each.a_qp)
        reply = CmMessage(VRF, B, A, CmAttribute.REP, ids[1], ids[0], each.b_qp)
        ready = CmMessage(VRF, A, B, CmAttribute.RTU, ids[0], ids[1], 0)
        messages = [request, reply, ready]
        if said.reuse == "by CM, half of it seen":
            messages.pop(rng.randrange(2))
        for step, message in enumerate(messages):
            if rng.random() < said.loss:
                continue
            for _ in range(2 if rng.random() < said.repeated else 1):
                yield 0.01 * step + rng.random() * said.delay, message


def _changed(
    connections: list[Connection], given: Conditions, rng: random.Random
) -> list[Connection]:
    """Other connections, of the same queue pair numbers."""
    shift = rng.randrange(1, len(connections))
    found = []
    for number, each in enumerate(connect(given, rng)):
        a_qp = connections[number].a_qp
        b_qp = connections[(number + shift) % len(connections)].b_qp
        ports = each.ports
        if given.ports == "queue pairs":
            ports = (connection_port(a_qp, b_qp),) * 2
        elif given.ports == "one":
            ports = connections[number].ports
        found.append(Connection(a_qp, b_qp, ports, each.packets))
    return found


def reused_network(seed: int) -> tuple[Conditions, Said]:
    """A network whose queue pair numbers are used again, under conditions drawn at random."""
    rng = random.Random(seed)
    given, said = conditions(rng), reused(rng)
    connections, window = min(8, given.connections), max(0.02, given.window)
    given = replace(given, seconds=30.0, connections=connections, window=window, churn=False)
    return given, said


def simulate(given: Conditions, said: Said, seed: int, slots: int = SLOTS) -> Outcome:
    """Let the hosts connect and talk for some seconds, once or, where numbers are reused, twice;
    the second time for longer. `slots`: flows watched at a time to look again."""
    rng = random.Random(seed)
    given = replace(given, hidden=False)
    with patch.object(evidence, "VERIFIED_SHARE", _config().flows.watched // slots):
        world = _World(said, rng)
    first = connect(given, rng)
    phases = [(first, given, replace(said, reuse=""))]
    if said.reuse:
        longer = replace(given, seconds=2 * given.seconds)
        phases.append((_changed(first, longer, rng), longer, said))
    for number, (connections, phase, how) in enumerate(phases):
        _phase(world, connections, phase, how, 1000 * number)
    return world.count()


def _phase(
    world: _World, connections: list[Connection], given: Conditions, said: Said, first_id: int
) -> None:
    begin, rng = world.now, world.rng
    happens: list[tuple[float, Callable[[], None]]] = []
    if said.cm and said.reuse != "without CM":
        for delay, message in _handshakes(connections, said, first_id, rng):
            happens.append((begin + delay, partial(world.message, message)))
    traffic = begin + SET_UP
    end = traffic + given.seconds + 3.0
    for when, flow, sample in reports(given, connections, rng):
        happens.append((traffic + when, partial(world.packet, flow, sample)))
    for action, interval in ((world.conclude, CONCLUDE_EVERY), (world.agents, AGENT_INTERVAL)):
        for step in range(round((end - begin) / interval)):
            happens.append((begin + interval * step, action))
    world.connected(connections)
    for when, action in sorted(happens, key=lambda each: each[0]):
        world.now = when
        action()
    world.now = end
