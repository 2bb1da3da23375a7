"""A controller whose tenants send it everything they can: it goes on, others keep what is theirs.

FCN_FUZZ_MESSAGES is how many messages (1,000,000 by hand), FCN_FUZZ_SEED the first of the random
numbers. The controller is the real one from its message loops to the entries it wants written; the
switches are stubs that deliver what a PE would.
"""

import asyncio
import os
import random
import resource
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from ipaddress import ip_address
from types import SimpleNamespace
from typing import Any, cast

import finsy as fy
import grpc
import pytest
import yaml
from stub_switch import Askers, Digests, Packet, StubSwitch, acknowledged
from tenant_grammar import Attempt, Grammar, reported
from tenants import DC_PORT, cm_item

from fcn.contract.constants import CmAttribute, PuntReason
from fcn.contract.names import NEIGHBOR_DIGESTS
from fcn.contract.pipeline import load_pipeline
from fcn.controller.clock import Clock
from fcn.controller.config import Config, parse_config
from fcn.controller.config.notation import Address
from fcn.controller.config.tls import AgentHost
from fcn.controller.events import EventBus
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.service import FlowService
from fcn.controller.flows.trail import Sample
from fcn.controller.hostagent.reports import HostReports
from fcn.controller.hostagent.service import HostAgentService
from fcn.controller.neighbors.room import MAX_UNRESOLVED, NeighborRoom
from fcn.controller.neighbors.service import NeighborService, Refused
from fcn.controller.node.connection import Connection
from fcn.controller.node.edge import NodeEdge
from fcn.controller.node.inbox import Inbox
from fcn.controller.node.lateness import Lateness
from fcn.controller.node.messages import Messages
from fcn.controller.proto import hostagent_pb2 as pb
from fcn.controller.provision.provision import Provision

MESSAGES = int(os.environ.get("FCN_FUZZ_MESSAGES", "4000"))
SEED = int(os.environ.get("FCN_FUZZ_SEED", "1"))
BATCH = 50
"""Messages between two looks at the time and at what is to be inferred."""
CHECK_EVERY = 1000
SUBNET_HOSTS = 508
"""Addresses of both IPv4 subnets of a VRF: more neighbours there cannot be; of IPv6 there can."""
CONNECTIONS = 65536
GROWTH = 400_000
"""KiB the process may grow by after the first fifth of the messages."""

PES = ("pe1", "pe2")
VRF_IDS = {"blue": 1, "red": 2, "green": 3}
PORTS = {"blue": DC_PORT, "red": 11, "green": 12}
OTHER_PORT = 21
"""Of `blue` too, at both PEs."""
VICTIM = "green"
HOSTS = {
    "pe1": [ip_address("10.1.0.10"), ip_address("10.1.0.11"), ip_address("2001:db8:1::10")],
    "pe2": [ip_address("10.2.0.20"), ip_address("2001:db8:2::20")],
}
VICTIMS = (ip_address("10.1.3.200"), ip_address("10.2.3.200"))
"""Hosts of the tenant `blue`, one behind another port of each PE; other hosts of `blue` cannot send
as these."""
VICTIM_MAC = 0x02DE00000001
IDS, QPS = (0xA1, 0xB1), (17, 33)


def config_of(network: dict[str, Any]) -> Config:
    """The example with three tenants that use the same addresses; one has two ports at each PE."""
    for site, name in enumerate(PES, start=1):
        addresses = [f"10.{site}.3.1/24"]
        port = {"number": OTHER_PORT, "role": "dc", "vrf": "blue", "addresses": addresses}
        node = network["nodes"][name]
        node["ports"].append(port)
        route = {"prefix": f"10.{3 - site}.3.0/24", "tunnel": f"pe{3 - site}-srv6"}
        node["vrfs"]["blue"]["routes"].append(route)
    for number, vrf in enumerate(("red", "green"), start=2):
        network["vrfs"][vrf] = {"id": number, "vni": 1000 + number}
        for site, name in enumerate(PES, start=1):
            node = network["nodes"][name]
            node["features"] = "all"
            addresses = [f"10.{site}.0.1/24", f"2001:db8:{site}::1/64"]
            port = {"number": PORTS[vrf], "role": "dc", "vrf": vrf, "addresses": addresses}
            node["ports"].append(port)
            blue = node["vrfs"]["blue"]
            sid = blue["service_sid"].replace("d46", f"d4{number + 5}")
            routes = [{**each, "tunnel": each["tunnel"]} for each in blue["routes"]]
            node["vrfs"][vrf] = {"service_sid": sid, "routes": routes}
    return parse_config(yaml.safe_dump(network))


class World:
    """Controller, stubs of the PEs, and what must not change."""

    def __init__(self, config: Config) -> None:
        self.rng = random.Random(SEED)
        self.now = 1000.0
        clock = Clock(self._clock, self._clock)
        bus = EventBus(clock)
        self.provisions = {
            name: Provision(config, name, load_pipeline("pe", config.nodes[name].program_folder))
            for name in PES
        }
        edges = {
            name: NodeEdge(provision, lambda: 3600.0) for name, provision in self.provisions.items()
        }
        self.flows = FlowService(config, edges, bus, clock, random.Random(1))
        self.inbox = Inbox(self.flows.refusals, self._clock)
        self.switches = {name: StubSwitch() for name in PES}
        self.tasks: list[asyncio.Task[None]] = []
        self.neighbors: dict[str, NeighborService] = {}
        self.messages: dict[str, Messages] = {}
        self.sent = 0
        self.attacks = 0
        for name, provision in self.provisions.items():
            lateness = Lateness(self._clock)
            self.neighbors[name] = NeighborService(
                config,
                name,
                provision.routing,
                provision.underlay,
                self._send,
                NeighborRoom(name, provision.host_room, self.flows.refusals),
                bus,
                self._clock,
                lateness.heard_until,
                lambda _vrf: Refused(0, self.now),
            )
            stub = SimpleNamespace(
                switch=self.switches[name],
                start=self._start,
                send=acknowledged,
                is_up=True,
                lateness=lateness,
            )
            self.messages[name] = Messages(
                provision,
                cast(Connection, stub),
                self.flows,
                self.inbox,
                self.neighbors[name].handle,
                self.neighbors[name].asked,
                self._clock,
            )
        hosts = {
            f"{vrf}-{name}": AgentHost.model_validate(
                {"vrf": vrf, "addresses": [str(each) for each in HOSTS[name]]}
            )
            for vrf in VRF_IDS
            for name in PES
        }
        self.reports = HostReports(hosts, self._clock)
        self.agents = HostAgentService(self.reports, self.flows, bus)
        known = (*IDS, *QPS, 1, 2, 0xB2)
        addresses = [each for name in PES for each in HOSTS[name]]
        self.grammars = {vrf: Grammar(self.rng, addresses, known) for vrf in ("blue", "red")}
        self.routers = [
            interface.ip
            for name in PES
            for port in config.nodes[name].ports
            for interface in port.addresses
        ]

    def _clock(self) -> float:
        return self.now

    async def _send(self, port: int, frame: bytes) -> bool:
        self.sent += 1
        return True

    def _start(self, _name: str, job: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.create_task(job))

    async def start(self) -> None:
        """Run the message loops, and let the victims connect and register."""
        ready = asyncio.Event()
        ready.set()
        for messages in self.messages.values():
            messages.start(ready)
        self.tasks += [asyncio.create_task(each.run()) for each in self.neighbors.values()]
        self.tasks.append(asyncio.create_task(self.inbox.run()))
        for vrf, port, (one, other) in (
            (VICTIM, PORTS[VICTIM], (HOSTS["pe1"][0], HOSTS["pe2"][0])),
            ("blue", OTHER_PORT, VICTIMS),
        ):
            request = self._cm(vrf, one, other, CmAttribute.REQ, IDS[0], 0, QPS[0], port)
            reply = self._cm(vrf, other, one, CmAttribute.REP, IDS[1], IDS[0], QPS[1], port)
            self.switches["pe1"].queue("cm_ipv4_t").put_nowait(Digests([request]))
            await self.settled()
            self.switches["pe2"].queue("cm_ipv4_t").put_nowait(Digests([reply]))
            await self.settled()
            self.flows.add(FlowKey(vrf, one, other, 77), 78, timeout=0)
            flow = FlowKey(vrf, one, other, 99)
            self.flows.seen("pe1", port, flow, 0xFFFF, Sample(4, 1, 0xC000))
        assert len(self.theirs()) == 8
        await self.announce()
        assert len(self.places()) == len(PES) * 3

    async def announce(self) -> None:
        """The victims ask for their gateways, as hosts do from time to time."""
        for name, own in zip(PES, VICTIMS, strict=True):
            for port, address in (
                (OTHER_PORT, own),
                (PORTS[VICTIM], HOSTS[name][0]),
                (PORTS[VICTIM], HOSTS[name][-1]),
            ):
                item = {"port": port, "vlan_id": 0, "address": int(address), "mac": VICTIM_MAC}
                digest = NEIGHBOR_DIGESTS[address.version]
                self.switches[name].queue(digest).put_nowait(Askers([item]))
        await self.settled()

    @staticmethod
    def _cm(vrf: str, src: Address, dst: Address, *values: int) -> dict[str, int]:
        names = [
            "vrf",
            "src",
            "dst",
            "local_comm_id",
            "remote_comm_id",
            "qpn",
            "attribute_and_port",
        ]
        item = cm_item(VRF_IDS[vrf], int(src), int(dst), *values)
        return dict(zip(names, item, strict=True))

    async def settled(self) -> None:
        """Wait until everything queued was handled, or a loop has ended."""
        for switch in self.switches.values():
            for queue in list(switch.queues.values()):
                joined = asyncio.create_task(queue.join())
                await asyncio.wait([joined, *self.tasks], return_when=asyncio.FIRST_COMPLETED)
                assert joined.done(), [task for task in self.tasks if task.done()]
        while self.inbox or any(messages._packets for messages in self.messages.values()):
            await asyncio.sleep(0)
            assert not any(task.done() for task in self.tasks)

    def theirs(self) -> list[Flow]:
        """The flows of the victims; whether one is watched is the controller's affair."""
        return [
            flow
            for flow in self.flows.all()
            if flow.key.vrf == VICTIM or {flow.key.src, flow.key.dst} == set(VICTIMS)
        ]

    def places(self) -> set[Any]:
        """Those of the victims: other hosts cannot say where they are."""
        return {
            (name, place, neighbor.mac)
            for name, service in self.neighbors.items()
            for place, neighbor in service._neighbors.items()
            if place.vrf == VICTIM or place.address in VICTIMS
        }

    async def attack(self) -> None:
        """One message of a host of `blue` or `red`, or those of the life of a connection."""
        rng = self.rng
        vrf = rng.choice(("blue", "red"))
        grammar, node = self.grammars[vrf], rng.choice(PES)
        kind = rng.random()
        if kind < 0.15:
            connection = rng.choice(grammar.connections)
            for forth, attribute in grammar.life():
                self._roce(vrf, grammar, node, connection, forth, attribute)
                await self.settled()
        elif kind < 0.70:
            connection = rng.choice(grammar.connections)
            self._roce(vrf, grammar, node, connection, *grammar.any_step())
        elif kind < 0.90:
            self._punted(vrf, grammar, node)
        elif kind < 0.94:
            self._asked(vrf, grammar, node)
        elif kind < 0.97:
            keys = [key for key in self.flows.on_node(node) if key.vrf == vrf]
            mine = [key for key in keys[:50] if not {key.src, key.dst} & set(VICTIMS)]
            if mine:
                self.flows.idle(node, rng.choice(mine))
        elif kind < 0.99:
            await self._report(vrf, grammar, node)
        else:
            grammar.begin_another()

    def _roce(
        self,
        vrf: str,
        grammar: Grammar,
        node: str,
        connection: Attempt,
        forth: bool,
        attribute: int | None,
    ) -> None:
        self.attacks += 1
        rng = self.rng
        src, dst = (connection.src, connection.dst) if forth else (connection.dst, connection.src)
        if rng.random() < 0.95:
            node = "pe1" if src in HOSTS["pe1"] else "pe2"
        if rng.random() < 0.05:
            src = grammar.address(src.version, *VICTIMS)
            dst = grammar.address(src.version, *VICTIMS)
        packet = grammar.roce(connection, forth, attribute)
        udp_src_port = rng.choice((0, 4791, 0xC000, 65535))
        found = reported(VRF_IDS[vrf], PORTS[vrf], src, dst, udp_src_port, packet)
        if found is not None:
            digest, item = found
            times = rng.choice((1, 1, 1, 2))
            self.switches[node].queue(digest).put_nowait(Digests([item] * times))

    def _punted(self, vrf: str, grammar: Grammar, node: str) -> None:
        self.attacks += 1
        rng = self.rng
        mine = grammar.address(rng.choice((4, 6)))
        if rng.random() < 0.6:
            reason = PuntReason.ARP if mine.version == 4 else PuntReason.ND
            frame = grammar.neighbor(mine, self.routers)
        else:
            reason = rng.choice((PuntReason.NEIGHBOR_MISS, PuntReason.LOCAL))
            subnet = ip_address(f"10.{rng.choice((1, 2))}.0.{rng.randrange(256)}")
            far = ip_address(f"2001:db8:{rng.choice((1, 2))}::{rng.getrandbits(16):x}")
            targets: Sequence[Address] = (*self.routers, subnet, far)
            to = rng.choice([each for each in targets if each.version == mine.version])
            frame = grammar.packet(mine, to)
        # The switch knows port and VRF; Ethernet is always whole.
        frame = frame.ljust(14, b"\0")
        metadata = {"reason": reason, "ingress_port": PORTS[vrf], "vlan_id": 0, "vrf": VRF_IDS[vrf]}
        self.switches[node].queue("packets").put_nowait(
            cast(fy.P4PacketIn, Packet(metadata, frame))
        )

    def _asked(self, vrf: str, grammar: Grammar, node: str) -> None:
        """A host asked for its gateway, and was answered by the switch, which knows the port."""
        self.attacks += 1
        rng = self.rng
        mine = grammar.address(rng.choice((4, 6)), *VICTIMS)
        if mine.version == 6 and rng.random() < 0.5:
            mine = ip_address(f"2001:db8:{rng.choice((1, 2))}::{rng.getrandbits(16):x}")
        mac = rng.choice((0x020000000001, rng.getrandbits(48), 0, (1 << 48) - 1))
        item = {
            "port": PORTS[vrf],
            "vlan_id": rng.choice((0, 0, 0, 7, 4095)),
            "address": int(mine),
            "mac": mac,
        }
        digest = NEIGHBOR_DIGESTS[mine.version]
        self.switches[node].queue(digest).put_nowait(Askers([item] * rng.choice((1, 1, 2))))

    async def _report(self, vrf: str, grammar: Grammar, node: str) -> None:
        self.attacks += 1
        rng = self.rng
        texts = [*map(str, (*HOSTS["pe1"], *HOSTS["pe2"], *VICTIMS)), "", "::1%eth0", "no", "1.2.3"]
        devices = [
            pb.RdmaDevice(
                name=rng.choice(("mlx5_0", "", "ü" * 300)),
                addresses=rng.choices(texts, k=rng.choice((1, 1, 2, 5))),
                queue_pairs=[
                    pb.QueuePair(qpn=grammar.value(4), remote_qpn=grammar.value(4))
                    for _ in range(rng.choice((0, 1, 3)))
                ]
                + [
                    pb.QueuePair(qpn=pair.qps[0], remote_qpn=pair.qps[1])
                    for pair in grammar.connections
                    if pair.qps[0] in range(2, 1 << 24)
                ],
            )
            for _ in range(rng.choice((0, 1, 1, 2)))
        ]
        identities = rng.choice(([f"{vrf}-{node}"], [f"{vrf}-{node}"], [], ["x"], ["\udcff"]))
        await self._as_agent(pb.ReportRequest(devices=devices), identities)

    async def _as_agent(self, request: pb.ReportRequest, identities: list[str]) -> None:
        class Refused(Exception):  # noqa: N818
            pass

        async def abort(_code: grpc.StatusCode, _text: str) -> None:
            raise Refused

        names = [name.encode(errors="surrogateescape") for name in identities]
        context = SimpleNamespace(
            peer_identities=lambda: names, auth_context=dict, peer=lambda: "peer", abort=abort
        )
        with suppress(Refused):
            await self.agents.report(
                request.SerializeToString(), cast(grpc.aio.ServicerContext, context)
            )

    def check(self) -> None:
        """Nothing failed, tables are bounded."""
        for messages in self.messages.values():
            assert not messages.failures.counts
        assert not [task for task in self.tasks if task.done()]
        service = self.flows
        for name, provision in self.provisions.items():
            flows = service.on_node(name)
            capacity = NodeEdge(provision, lambda: 3600.0).capacity(4)
            for version in (4, 6):
                assert sum(key.src.version == version for key in flows) <= capacity
            updates = provision.intent.take_updates(1 << 20)
            provision.intent.settle(updates, {})
            assert len(provision.intent) < 4 * capacity + 1000
            assert self.neighbors[name].asking <= MAX_UNRESOLVED
            assert len(self.neighbors[name]) <= sum(provision.host_room.values())
        assert len(service.labels) == len(service.all())
        assert len(service._connections) <= CONNECTIONS
        assert len(service._evidence) <= 128
        senders = sum(1 for _ in service._senders)
        assert senders <= 2 * CONNECTIONS + len(service.all())


async def test_whatever_tenants_send(
    network: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """No message fails, another tenant's state and that of third parties stays, all is bounded."""
    caplog.set_level("CRITICAL", "fcn.event")
    world = World(config_of(network))
    await world.start()
    theirs = {flow.key: (flow.label, flow.source_qp, flow.origin) for flow in world.theirs()}
    places = world.places()
    after_warming_up = looked = checked = 0
    while world.attacks < MESSAGES:
        await world.attack()
        if world.attacks >= looked + BATCH:
            looked = world.attacks
            await world.settled()
            world.now += world.rng.choice((0.001, 0.1, 0.3, 0.3, 1.0, 20.0))
            if world.rng.random() < 0.001:
                world.now += 1000
            await world.announce()
            world.flows.infer()
        if world.attacks >= checked + CHECK_EVERY or world.attacks >= MESSAGES:
            checked = world.attacks
            await world.settled()
            world.check()
            found = {flow.key: (flow.label, flow.source_qp, flow.origin) for flow in world.theirs()}
            assert found == theirs
            assert world.places() == places
        if not after_warming_up and world.attacks >= MESSAGES // 5:
            after_warming_up = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - after_warming_up < GROWTH
    assert len(world.flows.all()) > 8
    assert world.sent
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)
