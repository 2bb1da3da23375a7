"""What tenants send changes what is theirs and nothing else: the flow service between their PEs."""

import gc
import os
import random
from collections import Counter
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from flow_network import BACK, FORTH, A, B, Network
from tenants import DC_PORT

from fcn.contract.constants import FCN_LABEL_BIT, CmAttribute
from fcn.controller.config import parse_config
from fcn.controller.events import Kind
from fcn.controller.flows import service
from fcn.controller.flows.connections import ConnectionTracker
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import CommIds, Origin
from fcn.controller.flows.refusals import REPORT_INTERVAL, RefusalReason
from fcn.controller.flows.reports import REPORTS_OVERLAP

OTHER_A = ip_address("10.1.0.11")
OTHER_PORT = 21
CAPACITY = 64
FUZZ_MESSAGES = int(os.environ.get("FCN_FUZZ_MESSAGES", "5000"))


@pytest.fixture
def net(network: dict[str, Any]) -> Network:
    return of(network)


def of(network: dict[str, Any]) -> Network:
    """Its PEs have little room."""
    return Network(parse_config(yaml.safe_dump(network)), CAPACITY)


def test_messages_count_only_where_their_source_is(net: Network) -> None:
    """A host behind PE1 can neither install flows at PE2 nor rewrite mappings of others there."""
    net.connect()
    for src, dst in ((B, A), (ip_address("192.0.2.1"), A)):
        net.cm("pe1", src, dst, CmAttribute.REQ, 0xA1, 0, 99)
        net.cm("pe1", src, dst, CmAttribute.REP, 0xB1, 0xA1, 98)
        net.cm("pe1", src, dst, CmAttribute.DREQ, 0xB1, 0xA1, 17)
        net.service.seen("pe1", DC_PORT, FlowKey("blue", src, dst, 50))
    assert (net.sender(FORTH), net.sender(BACK)) == (17, 33)
    assert len(net.service.all()) == 2
    assert net.service.refusals.counts == {("blue", RefusalReason.FOREIGN_SOURCE): 8}


def test_a_report_behind_the_disconnect_of_its_flow_says_nothing(net: Network) -> None:
    """Reports of data come in batches of their own, so the last packet's can be late."""
    net.connect()
    net.cm("pe1", A, B, CmAttribute.DREQ, 0xA1, 0xB1, 33)
    net.service.seen("pe1", DC_PORT, FORTH)
    net.service.seen("pe2", DC_PORT, BACK)
    assert net.service.all() == []
    net.connect(ids=(0xA2, 0xB2))
    net.service.seen("pe1", DC_PORT, FORTH, p_key=0x8001)
    assert net.edges["pe1"].flows[FORTH].p_key == 0x8001, "a handshake counts at once"
    net.cm("pe1", A, B, CmAttribute.DREQ, 0xA2, 0xB2, 33)
    ended = net.now
    net.now += 3 * REPORTS_OVERLAP
    net.service.seen("pe1", DC_PORT, FORTH, sent=ended - 0.1)
    assert net.service.all() == [], "it waited longer than others, and is of the time before"
    net.service.seen("pe1", DC_PORT, FORTH, sent=ended + REPORTS_OVERLAP)
    assert [flow.key for flow in net.service.all()] == [FORTH]


def test_disconnects_of_flows_that_nobody_has_leave_nothing(net: Network) -> None:
    for qp in range(2, 1000):
        net.cm("pe1", A, B, CmAttribute.DREQ, qp, qp, qp)
    net.service.seen("pe1", DC_PORT, FlowKey("blue", A, B, 50))
    assert [flow.key.dest_qp for flow in net.service.all()] == [50]


def test_messages_count_only_behind_the_port_of_their_source(network: dict[str, Any]) -> None:
    """A host of the same tenant behind another port of the PE, or another VLAN of that port, can
    neither end a connection nor state, begin or change anything in the other's name."""
    node = network["nodes"]["pe1"]
    other = {"number": OTHER_PORT, "role": "dc", "vrf": "blue", "addresses": ["10.1.3.1/24"]}
    node["ports"] += [other, {**other, "vlan": 7, "addresses": ["10.1.4.1/24"]}]
    net = of(network)
    net.connect()
    flows = list(net.edges["pe1"].flows.values())
    net.cm("pe1", A, B, CmAttribute.REQ, 0xA2, 0, 17, port=OTHER_PORT)
    net.cm("pe1", A, B, CmAttribute.REQ, 0xA1, 0, 99, port=OTHER_PORT)
    net.cm("pe1", A, B, CmAttribute.DREQ, 0xA1, 0xB1, 33, port=OTHER_PORT)
    net.cm("pe1", A, B, CmAttribute.REJ, 0xA1, 0xB1, 0, port=OTHER_PORT)
    net.service.seen("pe1", OTHER_PORT, FlowKey("blue", A, B, 50))
    assert list(net.edges["pe1"].flows.values()) == flows
    assert (net.sender(FORTH), net.sender(BACK)) == (17, 33)
    assert net.service.refusals.counts == {("blue", RefusalReason.FOREIGN_SOURCE): 5}
    for port, subnet in (
        (OTHER_PORT, "10.1.3.10"),
        (OTHER_PORT, "10.1.4.10"),
        (DC_PORT, "10.1.0.99"),
    ):
        net.service.seen("pe1", port, FlowKey("blue", ip_address(subnet), B, 50))
    assert len(net.edges["pe1"].flows) == 4
    assert net.service.refusals.counts.total() == 5


def test_hosts_behind_a_router_are_where_the_router_is(network: dict[str, Any]) -> None:
    """The router's port counts for all behind it, but for what has a port of its own."""
    node = network["nodes"]["pe1"]
    port = {"number": OTHER_PORT, "role": "dc", "vrf": "blue", "addresses": ["10.1.3.1/24"]}
    node["ports"].append(port)
    routes = [("10.9.0.0/16", "10.1.3.2"), ("10.9.2.0/24", "10.1.0.7")]
    node["vrfs"]["blue"]["routes"] += [{"prefix": prefix, "via": via} for prefix, via in routes]
    net = of(network)
    for host, behind in (("10.9.0.1", OTHER_PORT), ("10.9.2.1", DC_PORT)):
        src = ip_address(host)
        for number in (DC_PORT, OTHER_PORT):
            net.service.seen("pe1", number, FlowKey("blue", src, B, number))
        found = [key.dest_qp for key in net.edges["pe1"].flows if key.src == src]
        assert found == [behind]


def test_a_packet_costs_no_search_at_all_pes(net: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a tenant invents sources, that would cost the routes of its VRF at every PE each."""
    monkeypatch.setattr("fcn.controller.flows.reports.locate", None)
    net.service.seen("pe1", DC_PORT, FORTH)
    net.service.seen("pe1", DC_PORT, BACK)
    assert [flow.key for flow in net.service.all()] == [FORTH]


async def test_refusals_are_said_once_a_while(net: Network) -> None:
    with net.bus.watch() as events:
        for _ in range(1000):
            net.service.seen("pe1", DC_PORT, BACK)
        net.now += REPORT_INTERVAL
        net.service.seen("pe1", DC_PORT, BACK)
        net.service.add(FORTH, 17)
        said = []
        async for event in events:
            if event.kind is not Kind.REFUSED:
                break
            said.append(event.fields["reports"])
    assert said == ["1", "1000"]


@pytest.mark.parametrize("origin", [Origin.MANUAL, Origin.CM, Origin.AGENT])
def test_invented_ids_end_nothing(net: Network, origin: Origin) -> None:
    """Neither at once nor after a restart of the controller."""
    match origin:
        case Origin.MANUAL:
            net.service.add(FORTH, 17)
        case Origin.CM:
            net.connect()
        case Origin.AGENT:
            net.service.seen("pe1", DC_PORT, FORTH)
            assert net.service.reported(FORTH, 17)
    for _ in range(2):
        for attribute in (CmAttribute.DREQ, CmAttribute.DREP, CmAttribute.REJ):
            net.cm("pe1", A, B, attribute, 0x666, 0x667, 33)
            net.cm("pe2", B, A, attribute, 0x667, 0x666, 17)
        assert net.sender(FORTH) == 17
        net.restart()
        assert net.sender(FORTH) == 17


def test_registration_by_hand_ends_by_hand_only(net: Network) -> None:
    net.service.add(FORTH, 77, timeout=0)
    net.connect()
    assert not net.service.reported(FORTH, 18)
    assert net.sender(FORTH) == 77
    net.restart()
    net.connect(ids=(0xA2, 0xB2))
    net.cm("pe1", A, B, CmAttribute.DREQ, 0xA2, 0xB2, 33)
    assert net.sender(FORTH) == 77
    assert next(flow for flow in net.service.all() if flow.key == FORTH).timeout == 0
    net.service.delete(FORTH)
    assert net.sender(FORTH) is None


def test_disconnect_is_recognized_after_a_restart(net: Network) -> None:
    net.connect()
    net.restart()
    net.cm("pe2", B, A, CmAttribute.DREQ, 0xB1, 0xA1, 17)
    assert not net.service.all()


def held(key: FlowKey, label: int, source_qp: int, origin: Origin, *ids: int) -> Flow:
    """A flow as a PE has it; `ids`: of the sender of the flow, of its peer."""
    node = "pe1" if key.src in (A, OTHER_A) else "pe2"
    comm_ids = CommIds(key.src == A, *ids) if ids else None
    return Flow(key, node, label, 60_000_000, origin, source_qp, comm_ids=comm_ids, since=0.0)


def test_a_flow_whose_label_was_given_away_meanwhile_keeps_its_sender(net: Network) -> None:
    """The PE was not there when the controller began: another PE's flow got the label."""
    label, other = FCN_LABEL_BIT | 7, FlowKey("blue", B, A, 40)
    list(net.service.adopt("pe2", [held(other, label, 50, Origin.INFERRED)]))
    list(net.service.adopt("pe1", [held(FORTH, label, 77, Origin.MANUAL)]))
    assert net.sender(FORTH) == 77
    assert net.edges["pe1"].flows[FORTH].label != net.edges["pe2"].flows[other].label == label
    net.connect()
    assert net.sender(FORTH) == 77


def test_what_is_known_by_now_stands_against_what_a_pe_has(net: Network) -> None:
    net.connect()
    net.service.idle("pe1", FORTH)
    list(net.service.adopt("pe1", [held(FORTH, FCN_LABEL_BIT | 7, 99, Origin.AGENT)]))
    assert net.edges["pe1"].flows[FORTH].source_qp == 17
    assert net.edges["pe1"].flows[FORTH].origin is Origin.CM


def test_a_handshake_read_back_counts_only_with_its_connection(net: Network) -> None:
    """Entries of two moments: no disconnect would ever end the other."""
    list(net.service.adopt("pe1", [held(FORTH, FCN_LABEL_BIT | 7, 17, Origin.CM, 0xA1, 0xB1)]))
    list(net.service.adopt("pe2", [held(BACK, FCN_LABEL_BIT | 8, 34, Origin.CM, 0xB1, 0xA1)]))
    assert net.edges["pe1"].flows[FORTH].origin is Origin.CM
    assert net.edges["pe2"].flows[BACK].origin is Origin.RESTORED
    net.service.idle("pe1", FORTH)
    net.service.idle("pe2", BACK)
    assert [key for key, *_ in net.service.waiting()] == [FORTH]


def test_an_inferred_sender_is_in_doubt_where_the_flow_back_has_none(net: Network) -> None:
    """One PE was away when the pairing ended, and the controller was restarted before it came."""
    list(net.service.adopt("pe1", [held(FORTH, FCN_LABEL_BIT | 7, 17, Origin.INFERRED)]))
    assert net.sender(FORTH) == 17
    net.service.seen("pe2", DC_PORT, BACK)
    assert net.sender(FORTH) is net.sender(BACK) is None
    assert net.edges["pe1"].flows[FORTH].watched


def test_nothing_a_pe_has_ends_the_take_over(net: Network) -> None:
    itself = FlowKey("blue", A, A, 33)
    some = [
        held(itself, FCN_LABEL_BIT | 7, 33, Origin.RESTORED),
        replace(held(BACK, FCN_LABEL_BIT | 8, 33, Origin.MANUAL), node="pe1"),
        held(FORTH, FCN_LABEL_BIT | 9, 17, Origin.MANUAL),
    ]
    list(net.service.adopt("pe1", some))
    assert net.edges["pe1"].flows.keys() == {itself, FORTH}
    net.service.idle("pe1", itself)
    assert net.edges["pe1"].flows.keys() == {FORTH}


def test_connection_is_known_after_any_silence(net: Network) -> None:
    """A checkpoint every quarter of an hour."""
    net.connect()
    for _ in range(8):
        net.service.idle("pe1", FORTH)
        assert not [flow for flow in net.service.all() if flow.key == FORTH]
        net.now += 900
        net.cm("pe1", A, B, CmAttribute.REQ, 0x7777, 0, 99)
        net.service.seen("pe1", DC_PORT, FORTH)
        assert net.sender(FORTH) == 17


def test_the_agents_later_report_replaces_a_handshake_and_the_other_way_round(
    net: Network,
) -> None:
    net.connect()
    assert net.service.reported(FORTH, 18)
    assert net.sender(FORTH) == 18
    net.connect(a_qp=19, ids=(0xA2, 0xB2))
    assert net.sender(FORTH) == 19


def test_one_host_does_not_fill_the_table(net: Network) -> None:
    for dest_qp in range(100, 1100):
        net.service.seen("pe1", DC_PORT, FlowKey("blue", A, B, dest_qp))
    assert len(net.edges["pe1"].flows) == CAPACITY
    for dest_qp in range(100, 120):
        net.service.seen("pe1", DC_PORT, FlowKey("blue", OTHER_A, B, dest_qp))
    shares = Counter(key.src for key in net.edges["pe1"].flows)
    assert shares == {A: CAPACITY - 20, OTHER_A: 20}
    assert net.service.refusals.counts["blue", RefusalReason.NO_ROOM] == 1000 - CAPACITY


def test_what_is_stated_goes_before_what_is_not(net: Network) -> None:
    """Of the same host: others have their share all the same."""
    for dest_qp in range(100, 1100):
        net.service.seen("pe1", DC_PORT, FlowKey("blue", A, B, dest_qp))
    flows = net.edges["pe1"].flows
    for number in range(CAPACITY + 10):
        net.connect(a_qp=2000 + number, b_qp=5000 + number, ids=(1 + number, 9001 + number))
    assert {flow.source_qp for flow in flows.values()} == {*range(2000, 2000 + CAPACITY)}
    other = FlowKey("blue", OTHER_A, B, 100)
    net.service.seen("pe1", DC_PORT, other)
    assert other in flows
    assert len(flows) == CAPACITY


def test_what_a_full_table_does_not_take_leaves_nothing_in_memory(net: Network) -> None:
    """Nor cycles, in which everything would be looked through again and again."""
    for number in range(2 * CAPACITY):
        net.connect(a_qp=100 + number, b_qp=1000 + number, ids=(1 + number, 1001 + number))
    gc.collect()
    gc.disable()
    try:
        for number in range(2 * CAPACITY, 4 * CAPACITY):
            net.connect(a_qp=100 + number, b_qp=1000 + number, ids=(1 + number, 1001 + number))
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert net.service.refusals.counts["blue", RefusalReason.NO_ROOM]


def test_what_is_known_of_senders_is_bounded(net: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the connections that are remembered, however many there were, labelled or not."""
    monkeypatch.setattr(service, "ConnectionTracker", partial(ConnectionTracker, limit=CAPACITY))
    net.service = net.controller()
    for number in range(20 * CAPACITY):
        net.connect(a_qp=100 + number, b_qp=5000 + number, ids=(1 + number, 9001 + number))
        net.service.idle("pe1", FlowKey("blue", A, B, 5000 + number))
        if number % 3 < 2:
            ids = (1 + number, 9001 + number)
            net.cm("pe1", A, B, CmAttribute.DREQ, *ids, 5000 + number)
    known = {key for key, *_ in net.service.waiting()} | {each.key for each in net.service.all()}
    assert len(net.service._connections) <= CAPACITY
    assert CAPACITY // 2 < len(known) <= 2 * CAPACITY
    assert len(list(net.service._senders)) <= 2 * CAPACITY
    by_host = net.service._senders._by_host.values()
    assert sum(map(len, by_host)) <= 2 * CAPACITY


def test_a_full_table_has_room_for_a_registration_by_hand_and_keeps_it(net: Network) -> None:
    for dest_qp in range(100, 100 + CAPACITY):
        net.service.seen("pe1", DC_PORT, FlowKey("blue", OTHER_A, B, dest_qp))
    net.service.add(FORTH, 17)
    assert len(net.edges["pe1"].flows) == CAPACITY
    for dest_qp in range(100, 200):
        net.service.seen("pe1", DC_PORT, FlowKey("blue", A, B, dest_qp))
    assert FORTH in net.edges["pe1"].flows


def test_anything_tenants_send_is_survived(net: Network) -> None:
    """Tables never exceed their size, and a registration by hand outlives everything."""
    rng = random.Random(7)
    registered = FlowKey("blue", A, B, 5)
    net.service.add(registered, 6, timeout=0)
    hosts = [A, B, OTHER_A, ip_address("2001:db8:1::10"), ip_address("2001:db8:2::20")]
    for number in range(FUZZ_MESSAGES):
        net.now += rng.choice((0.0, 0.01, 10.0))
        if number % 500 == 499:
            net.restart()
        node, src = rng.choice(["pe1", "pe2"]), rng.choice(hosts)
        dst = rng.choice([host for host in hosts if host.version == src.version])
        match rng.randrange(5):
            case 0:
                net.service.seen(node, DC_PORT, FlowKey("blue", src, dst, rng.randrange(200)))
            case 1:
                key = rng.choice([registered, *net.edges[node].flows])
                net.service.idle(node, key)
            case _:
                attribute = rng.choice([*CmAttribute, 0x17, 0xFF])
                message = (attribute, *rng.choices(range(3), k=2), rng.randrange(2, 40))
                net.cm(node, src, dst, *message)
        if number % 10 == 0:
            net.service.infer()
        assert net.sender(registered) == 6
    assert len(net.service.labels) == len(net.service.all())


def test_a_registered_flow_that_was_deleted_while_it_was_read_stays_so(net: Network) -> None:
    """The session was lost before the switch was heard for the first time to its end."""
    found = [
        held(key, FCN_LABEL_BIT | label, 17, Origin.MANUAL)
        for label, key in enumerate((FORTH, replace(FORTH, dest_qp=99)))
    ]
    next(reading := net.service.adopt("pe1", found))
    assert {flow.key for flow in net.service.all()} == {FORTH}
    net.service.delete(FORTH)
    del reading
    list(net.service.adopt("pe1", found))
    assert {flow.key.dest_qp for flow in net.service.all()} == {99}
    net.service.add(FORTH, 17)
    list(net.service.adopt("pe1", found))
    assert {flow.key.dest_qp for flow in net.service.all()} == {33, 99}
