"""What a handler does not survive costs its message: each loop counts and tells it, and goes on."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Any

import finsy as fy
import pytest
import yaml
from finsy.proto import p4d, p4r
from scapy.layers.l2 import ARP, Ether
from switches import MemorySwitch, QuietEngine, all_up, packet_to, until
from tenants import BLUE, DC_PORT, RED, RED_PORT, two_tenants
from virtual import virtual_plane, virtual_plane_up

from fcn.contract.constants import CmAttribute, PuntReason
from fcn.contract.pipeline import load_pipeline
from fcn.controller.app import HOUSEKEEPING, ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.service import FlowService
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.connection import State
from fcn.controller.node.messages import WAITING
from fcn.controller.owners.flow_learning import FlowLearning
from fcn.controller.owners.flow_tables import FlowTable
from fcn.controller.owners.gateway import Gateway
from fcn.controller.owners.punt import Punt
from fcn.softswitch.p4rt.digests import DigestStore

pytestmark = pytest.mark.virtual_time

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
MAC = 0x525400000001
NEW_FLOW = load_pipeline("pe").schema.digests["new_flow_ipv4_t"]
LARGE = 1 << 20
"""Octets."""


def new_flow(engine: QuietEngine) -> None:
    engine.digest("new_flow_ipv4_t", packet_to(33))


def request(engine: QuietEngine) -> None:
    message = (BLUE, int(A), int(B), CmAttribute.REQ, 0xA1, 0, 17, DC_PORT)
    engine.digest("cm_ipv4_t", message)


def asker(engine: QuietEngine) -> None:
    engine.digest("neighbor_ipv4_t", (DC_PORT, 0, int(A), MAC))


def idle(engine: QuietEngine) -> None:
    engine.fall_idle("flow_ipv4")


def arp(
    engine: QuietEngine, mac: str = "52:54:00:00:00:01", vrf: int = BLUE, port: int = DC_PORT
) -> None:
    frame = bytes(Ether(src=mac) / ARP(op=1, hwsrc=mac, psrc=str(A), pdst="10.1.0.1"))
    engine.packet_in(port, PuntReason.ARP, 0, vrf, frame)


def labelled(plane: ControlPlane) -> bool:
    return len(plane.flows.all()) == 1


def unlabelled(plane: ControlPlane) -> bool:
    return not plane.flows.all()


def followed(plane: ControlPlane) -> bool:
    return len(plane.flows._connections) == 1


def resolved(plane: ControlPlane) -> bool:
    return len(plane.neighbors["pe1"]) == 1


@dataclass(frozen=True)
class Case:
    """`name` of `owner` fails on the first message that `send` causes, counted as `kind`; `shown`
    is in the log, and `handled` says whether the second message was."""

    owner: type
    name: str
    send: Callable[[QuietEngine], None]
    kind: str
    shown: str
    handled: Callable[[ControlPlane], bool]


CASES = [
    Case(FlowService, "seen", new_flow, "new_flow_ipv4_t", "dest_qp=33", labelled),
    Case(FlowLearning, "report", new_flow, "new_flow_ipv4_t", "33, 65535, 5, 50000", labelled),
    Case(FlowLearning, "item", new_flow, "new_flow_ipv4_t", "0a01000a", labelled),
    Case(FlowLearning, "sender", new_flow, "new_flow_ipv4_t", "0a01000a", labelled),
    Case(FlowService, "connection_message", request, "cm_ipv4_t", "qpn=17", followed),
    Case(FlowLearning, "sender", request, "cm_ipv4_t", "0a01000a", followed),
    Case(FlowService, "idle", idle, "idle notification", "QP 0x21", unlabelled),
    Case(FlowTable, "flow_of", idle, "idle notification", "flow_ipv4", unlabelled),
    Case(NeighborService, "asked", asker, "neighbor_ipv4_t", str(MAC), resolved),
    Case(Gateway, "asker", asker, "neighbor_ipv4_t", str(MAC), resolved),
    Case(NeighborService, "handle", arp, "packet", "5254000000010a01000a", resolved),
    Case(Punt, "received", arp, "packet", "5254000000010a01000a", resolved),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.kind}")
async def test_a_handler_that_fails_costs_its_message_only(
    case: Case,
    config: Config,
    switches: dict[str, MemorySwitch],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    works, due = getattr(case.owner, case.name), False
    is_static = isinstance(vars(case.owner)[case.name], staticmethod)

    def fails_once(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        nonlocal due
        if due:
            due = False
            raise ValueError("of this test")
        return works(*arguments, **named)

    # Before the controller takes it for its handler.
    monkeypatch.setattr(
        case.owner, case.name, staticmethod(fails_once) if is_static else fails_once
    )
    async with virtual_plane_up(config) as plane:
        agent, engine = plane.nodes["pe1"], switches["pe1"].engine
        if case.send is idle:
            plane.flows.seen("pe1", DC_PORT, FlowKey("blue", A, B, 33))
            assert await agent.settled()
        since = agent.status.since
        due = True
        case.send(engine)
        await until(lambda: agent.failures)
        case.send(engine)
        # At once: a loop that had ended would begin again after app.HOUSEKEEPING seconds.
        await until(lambda: case.handled(plane), seconds=HOUSEKEEPING / 2)
        assert agent.failures == {case.kind: 1}
        assert (agent.status.state, agent.status.since) == (State.UP, since)
    told = [each.getMessage() for each in caplog.records if "cannot handle" in each.getMessage()]
    assert len(told) == 1
    assert told[0].startswith(f"pe1: cannot handle a {case.kind} (1 so far): ")
    assert case.shown in told[0]


def _unknown_metadata() -> p4r.StreamMessageResponse:
    metadata = [p4r.PacketMetadata(metadata_id=99, value=b"1")]
    return p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=b"frame", metadata=metadata))


def _unknown_table() -> p4r.StreamMessageResponse:
    notification = p4r.IdleTimeoutNotification(table_entry=[p4r.TableEntry(table_id=0x2ABCDEF)])
    return p4r.StreamMessageResponse(idle_timeout_notification=notification)


def _larger_than_frames() -> p4r.StreamMessageResponse:
    return p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=bytes(LARGE)))


@pytest.mark.parametrize(
    ("kind", "message", "said"),
    [
        ("packet", _unknown_metadata(), "cannot handle a packet (1 so far)"),
        ("packet", _larger_than_frames(), "dropped a packet (1 so far): it has 1048"),
        ("idle notification", _unknown_table(), "cannot handle a idle notification (1 so far)"),
    ],
)
async def test_a_message_that_is_not_of_the_program_costs_itself_only(
    kind: str,
    message: p4r.StreamMessageResponse,
    said: str,
    config: Config,
    switches: dict[str, MemorySwitch],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with virtual_plane_up(config) as plane:
        agent = plane.nodes["pe1"]
        since = agent.status.since
        switches["pe1"].say(message)
        arp(switches["pe1"].engine)
        await until(lambda: resolved(plane))
        assert agent.failures == {kind: 1}
        assert (agent.status.state, agent.status.since) == (State.UP, since)
    assert f"pe1: {said}" in caplog.text


def _large(number: int) -> p4r.StreamMessageResponse:
    """A list with this number, of a VRF that there is not."""
    struct = p4d.P4StructLike(members=[p4d.P4Data(bitstring=bytes([1]) * (LARGE // 9))] * 9)
    digest = p4r.DigestList(digest_id=NEW_FLOW.id, list_id=number, data=[p4d.P4Data(struct=struct)])
    return p4r.StreamMessageResponse(digest=digest)


async def test_what_waits_for_synchronization_is_bounded_in_octets(
    config: Config, switches: dict[str, MemorySwitch], caplog: pytest.LogCaptureFixture
) -> None:
    """Though the lists are few; the rest is counted, and afterwards all is taken."""
    async with virtual_plane(config).running():
        await until(lambda: switches["pe1"].engines)
    thawed = switches["pe1"].freeze()
    plane = virtual_plane(config)
    fits = WAITING // LARGE - 1
    async with plane.running():
        agent = plane.nodes["pe1"]
        await until(lambda: agent.status.state is State.SYNCHRONIZING)
        for number in range(1, fits + 3):
            switches["pe1"].say(_large(number))
        await until(lambda: agent.failures)
        thawed.set()
        await all_up(plane)
        switches["pe1"].say(_large(fits + 3))
        await until(lambda: agent.lists_lost)
        assert (agent.failures, agent.lists_lost) == ({"digest": 2}, 2)
    assert "pe1: dropped a digest (1 so far): more came than may wait" in caplog.text


async def test_packets_of_vrfs_take_turns(
    network: dict[str, Any], switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenant that asks all the time does not keep another's one question waiting."""
    order: list[int] = []
    begin = asyncio.Event()

    async def handle(_service: NeighborService, packet: fy.P4PacketIn) -> None:
        await begin.wait()
        order.append(Punt.received(packet).vrf)

    monkeypatch.setattr(NeighborService, "handle", handle)
    async with virtual_plane_up(parse_config(yaml.safe_dump(two_tenants(network)))) as plane:
        engine, messages = switches["pe1"].engine, plane.nodes["pe1"]._messages
        for number in range(50):
            arp(engine, f"52:54:00:00:01:{number:02x}")
        arp(engine, vrf=RED, port=RED_PORT)
        await until(lambda: len(messages._packets) >= 50)
        begin.set()
        await until(lambda: len(order) == 51)
    assert order.index(RED) <= 2


def _known(plane: ControlPlane, flows: int) -> bool:
    return len(plane.flows.all()) == flows


async def test_lists_that_did_not_come_are_counted(
    config: Config, switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their numbers, of one digest in one session."""
    skipped, flush = [0], DigestStore._flush

    def flush_later(self: DigestStore, learner: Any) -> None:  # noqa: ANN401
        learner.next_list_id += skipped[0]
        flush(self, learner)

    monkeypatch.setattr(DigestStore, "_flush", flush_later)
    async with virtual_plane_up(config) as plane:
        for flow, (skip, lost) in enumerate([(5, 0), (0, 0), (3, 3), (0, 3)]):
            skipped[0] = skip
            switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33 + flow))
            await until(partial(_known, plane, flow + 1))
            assert plane.nodes["pe1"].lists_lost == lost
        assert sum(plane.nodes["pe1"].report_latency.counts) == 4
        assert sum(plane.nodes["pe1"].write_latency.counts) > 0
