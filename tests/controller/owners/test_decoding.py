"""Owners decode the entries they write, on every target, and ignore those of other tables."""

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

import finsy as fy
import pytest
from finsy import P4Schema
from finsy.p4entity import decode_entity
from finsy.p4schema import P4StructType
from finsy.proto import p4r

from fcn.contract.constants import PuntReason, compiled_programs
from fcn.contract.names import CM_DIGESTS, GATEWAY_TABLES, NEIGHBOR_DIGESTS, NEW_FLOW_DIGESTS
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.controller.finsy_adapter import keep_as_received
from fcn.controller.owners.flow_learning import (
    DIGESTS,
    ConnectionMessage,
    FlowLearning,
    NewFlow,
)
from fcn.controller.owners.flow_tables import (
    FlowByLabel,
    FlowMatch,
    FlowTable,
)
from fcn.controller.owners.gateway import Asker, Gateway
from fcn.controller.owners.held_flows import Held, HeldFlows, KnownSender, LabelledFlow
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.punt import Punt, Punted
from fcn.controller.owners.tables import Tables
from fcn.controller.owners.vrf_routing import HostRoute, VrfRouting

V4 = ip_address("10.1.0.10"), ip_address("10.2.0.20")
V6 = ip_address("2001:db8:1::10"), ip_address("2001:db8:2::20")
Write = Callable[[Intent], None]


@pytest.fixture(params=["v1model", "tna"])
def pipeline(request: pytest.FixtureRequest) -> Pipeline:
    folder = compiled_programs() / "tna" if request.param == "tna" else None
    return load_pipeline("pe", folder, binary=False)


def held(pipeline: Pipeline, *writes: Write) -> list[fy.P4TableEntry]:
    """The entries a switch holds after these updates, and one of another table."""
    intent = Intent(pipeline.schema)
    Tables(intent).put("endpoint", {"dst": IPv6Address("::1")}, "local_address")
    for write in writes:
        write(intent)
    entries = []
    for update in intent.take_updates(1000):
        entry = decode_entity(update.entity, pipeline.schema)
        assert isinstance(entry, fy.P4TableEntry)
        entries.append(entry)
    return entries


def read_back(pipeline: Pipeline, entries: list[fy.P4TableEntry]) -> list[Held]:
    """The same as a switch tells it; the intent finds no difference."""
    held, intent = HeldFlows(pipeline.schema), Intent(pipeline.schema)
    for entry in entries:
        if entry.table_id in held.names:
            intent.put(entry)
            response = p4r.ReadResponse(entities=[entry.encode(pipeline.schema)])
            held.add(entry.table_id, response.SerializeToString())
    found = list(held)
    intent.observe(dict(each for flow in found for each in held.entries(flow)))
    assert not intent.pending
    return found


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("ends", [V4, V6])
def test_labelled_flows(
    pipeline: Pipeline, ends: tuple[IPv6Address, IPv6Address], watched: bool
) -> None:
    def label(intent: Intent) -> None:
        owner = FlowTable(intent.schema)
        intent.put_encoded(owner.label(7, *ends, 0x22, 0x80001, 60_000_000, watched=watched))

    entries = held(pipeline, label)
    match = FlowMatch(7, *ends, 0x22)
    (found,) = read_back(pipeline, entries)
    assert found.flow == LabelledFlow(7, *ends, 0x22, 0x80001, 60_000_000, watched)
    assert [flow for entry in entries if (flow := FlowTable.flow_of(entry))] == [match]
    assert [count for entry in entries if (count := FlowTable.count_of(entry))] == []


def test_counted_flows(pipeline: Pipeline) -> None:
    (entry,) = (
        entry
        for entry in held(
            pipeline,
            lambda intent: intent.put_encoded(
                FlowTable(intent.schema).label(7, *V4, 0x22, 0x80001, 0, watched=False)
            ),
        )
        if FlowTable.flow_of(entry)
    )
    entry.counter_data = fy.P4CounterData(packet_count=3, byte_count=300)
    assert FlowTable.count_of(entry) == (FlowMatch(7, *V4, 0x22), (3, 300))


@pytest.mark.parametrize(
    ("timeout", "silent", "overdue"),
    [(0, 10, False), (5, 0, False), (5, 5, False), (5, 10, False), (5, 11, True)],
)
def test_flows_whose_idle_notification_was_missed(
    pipeline: Pipeline, timeout: int, silent: int, overdue: bool
) -> None:
    def label(intent: Intent) -> None:
        owner = FlowTable(intent.schema)
        intent.put_encoded(owner.label(7, *V4, 0x22, 0x80001, timeout * 1_000_000, watched=False))

    (entry,) = (entry for entry in held(pipeline, label) if FlowTable.flow_of(entry))
    entry.time_since_last_hit = silent * 1_000_000_000
    assert (FlowTable.overdue(entry) is not None) is overdue


@pytest.mark.parametrize("ends", [V4, V6])
def test_senders_of_labels(pipeline: Pipeline, ends: tuple[IPv6Address, IPv6Address]) -> None:
    """Also one that another host sends, and one of a label that no controller of fcn gives."""
    sender, peer = ends

    def map_labels(intent: Intent) -> None:
        flows, owner = FlowTable(intent.schema), FlowByLabel(intent.schema)
        for number in (1, 2, 3):
            label = 0x80000 | number
            intent.put_encoded(flows.label(7, *ends, number, label, 0, watched=False))
        for label, host in ((0x80001, sender), (0x80003, peer), (0x1, sender)):
            intent.put_encoded(owner.notify_sender(label, 7, peer, host, 0x11, 0x8001, "agent"))
        intent.put_encoded(owner.source_unknown(0x80002, sender.version))

    entries = held(pipeline, map_labels)
    found = read_back(pipeline, entries)
    known = KnownSender(7, int(peer), int(sender), 0x11, 0x8001, "agent")
    assert [flow.flow.dest_qp for flow in found[:3] if flow.flow] == [1, 2, 3]
    assert [flow.sender for flow in found] == [known, None, None, None, None]
    assert [len(flow.places) for flow in found] == [2, 2, 1, 1, 1]


@pytest.mark.parametrize(("host", "subnet"), [("10.1.0.10", 24), ("2001:db8:1::10", 64)])
def test_host_routes(pipeline: Pipeline, host: str, subnet: int) -> None:
    """Prefixes, the default route, and routes that do not lead to a DC port are ignored."""
    address = ip_address(host)

    def route(intent: Intent) -> None:
        owner = VrfRouting(intent)
        for prefix in (host, f"{host}/{subnet}", f"{host}/0"):
            owner.deliver(7, ip_network(prefix, strict=False), 1, 100, 0x0200, 0x0201)
        owner.tunnel(8, ip_network(host), 1)
        owner.own(9, address)

    assert list(VrfRouting.hosts_in(held(pipeline, route))) == [HostRoute(7, address, 0x0201)]


@pytest.mark.parametrize(("version", "ends"), [(4, V4), (6, V6)])
def test_reports(version: int, ends: tuple[IPv6Address, IPv6Address]) -> None:
    src, dst = ends
    item = (7, int(src), int(dst))
    flow = FlowLearning.report(NEW_FLOW_DIGESTS[version], (*item, 1, 2, 3, 4, 5, 6))
    assert flow == NewFlow(7, src, dst, dest_qp=1, p_key=2, psn=3, udp_src_port=4, opcode=5, port=6)
    message = FlowLearning.report(CM_DIGESTS[version], (*item, 2, 3, 4, 1 << 9 | 5))
    assert message == ConnectionMessage(
        7, src, dst, attribute=1, local_comm_id=2, remote_comm_id=3, qpn=4, port=5
    )


@pytest.mark.parametrize("address", [V4[0], V6[0]])
def test_gateways(pipeline: Pipeline, address: IPv6Address) -> None:
    entries = held(pipeline, lambda intent: Gateway(intent).answer(3, 100, address, 0x02FC))
    (entry,) = (entry for entry in entries if entry.table_id == GATEWAY_TABLES[address.version])
    assert (entry["port"], entry["vlan_id"], entry["address"]) == (3, 100, int(address))
    assert isinstance(entry.action, fy.P4TableAction)
    assert entry.action.args == {"mac": 0x02FC}
    item = {"port": 3, "vlan_id": 100, "address": int(address), "mac": 0x0201}
    digest = NEIGHBOR_DIGESTS[address.version]
    assert Gateway.asker(digest, item) == Asker(3, 100, address, 0x0201)


def test_reports_have_the_fields_of_the_digests(pipeline: Pipeline) -> None:
    """In the order in which the P4Info's digests declare them, VRF and source first, port last."""
    flow = list(NewFlow._fields)
    message = list(ConnectionMessage._fields)
    message = [name for name in message if name not in ("attribute", "port")]
    message.append("attribute_and_port")
    assert flow[:2] == message[:2] == ["vrf", "src"]
    assert flow[-1] == "port"
    structs = pipeline.schema.p4info.type_info.structs
    fields = {
        digest.preamble.alias: [m.name for m in structs[digest.type_spec.struct.name].members]
        for digest in pipeline.schema.p4info.digests
    }
    expected = dict.fromkeys(NEW_FLOW_DIGESTS.values(), flow)
    asker = ["port", "vlan_id", "address", "mac"]
    expected |= dict.fromkeys(NEIGHBOR_DIGESTS.values(), asker)
    assert fields == expected | dict.fromkeys(CM_DIGESTS.values(), message)


def test_digests_are_kept_plain() -> None:
    schema = P4Schema(load_pipeline("pe").p4info)
    keep_as_received(schema, DIGESTS)
    for name in DIGESTS:
        spec = schema.digests[name].type_spec
        assert isinstance(spec, P4StructType)
        item = {field: number for number, field in enumerate(spec.members, start=240)}
        data = spec.encode_data(item)
        kept: Any = spec.decode_data(data)
        assert FlowLearning.item(kept) == tuple(item.values())
        port = item["port"] if "port" in item else item["attribute_and_port"] & 0x1FF
        assert FlowLearning.sender(kept) == (item["vrf"], port, item["src"])
        del data.struct.members[0]
        with pytest.raises(ValueError, match="fields, not"):
            spec.decode_data(data)


def test_packets_to_and_from_the_controller(pipeline: Pipeline) -> None:
    message = Punt.send(3, b"frame").encode_update(pipeline.schema)
    assert message.packet.payload == b"frame"
    metadata = {"reason": int(PuntReason.ARP), "ingress_port": 3, "vlan_id": 100, "vrf": 7}
    packet = fy.P4PacketIn(b"frame", metadata=metadata)
    assert Punt.received(packet) == Punted(PuntReason.ARP, 3, 100, 7, b"frame")
