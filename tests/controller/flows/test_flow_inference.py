"""Inference in the flow service: watching, learning and deleting senders (FCN-3 b, FCN-4)."""

import random
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from tenants import DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.controller.clock import Clock
from fcn.controller.config import Config, ConfigError, parse_config
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.checks import CHECK
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.continuity import PAUSE
from fcn.controller.flows.evidence import VERIFIED_SHARE
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.refusals import Reason
from fcn.controller.flows.service import FlowService
from fcn.controller.flows.trail import Sample, connection_port
from fcn.controller.flows.watch import FIRST_REST, WATCH

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
FORTH, BACK = FlowKey("blue", A, B, 33), FlowKey("blue", B, A, 17)
WRITE, ACK, UC_SEND = 0x0A, 0x11, 0x24
PORT = connection_port(17, 33)


class Edge:
    """An ingress PE that records its flows."""

    def __init__(self) -> None:
        self.learning = True
        self.up_for = 3600.0
        self.flows: dict[FlowKey, Flow] = {}
        self.writes = 0

    def heard_for(self) -> float:
        return self.up_for

    def capacity(self, ip_version: int) -> int:
        return 16384

    def install(self, flow: Flow) -> None:
        self.flows[flow.key] = flow
        self.writes += 1

    def remove(self, flow: Flow, heir: str | None = None) -> None:
        del self.flows[flow.key]


class Network:
    """A flow service with a clock that the test advances."""

    def __init__(self, config: Config) -> None:
        self.now = 10.0
        clock = Clock(lambda: self.now, lambda: self.now)
        self.psn = 100
        self.config = config
        self.edges: Mapping[str, Edge] = {
            name: Edge() for name, node in config.nodes.items() if node.role == "pe"
        }
        self.bus = EventBus(clock)
        self.service = FlowService(config, self.edges, self.bus, clock, random.Random(1))

    def see(self, node: str, key: FlowKey, opcode: int, psn: int, port: int = PORT) -> None:
        self.now += 0.15
        self.service.seen(node, DC_PORT, key, 0xFFFF, Sample(opcode, psn, port))

    def converse(self, times: int, port: int = PORT) -> None:
        """Requests forth and responses back, in turn."""
        for _ in range(times):
            self.psn += 1
            self.see("pe1", FORTH, WRITE, self.psn, port)
            self.see("pe2", BACK, ACK, self.psn, port)

    def run(self, seconds: float, *connections: tuple[FlowKey, FlowKey, int]) -> None:
        """Let connections go on: requests of the flow forth from this PSN on, responses back."""
        for step in range(round(seconds / 0.3)):
            for forth, back, psn in connections:
                for key, opcode in ((forth, WRITE), (back, ACK)):
                    node = "pe1" if key.src == A else "pe2"
                    sample = Sample(opcode, (psn + step) % (1 << 24), 0xC000)
                    self.service.seen(node, DC_PORT, key, 0xFFFF, sample)
            self.now += 0.3
            self.service.infer()

    def known(self) -> dict[FlowKey, int | None]:
        """Source queue pair of every flow, as the PEs have it."""
        return {
            key: flow.source_qp for edge in self.edges.values() for key, flow in edge.flows.items()
        }

    def infer(self, wait: float = 2.0) -> None:
        self.now += wait
        self.service.infer()

    @property
    def sources(self) -> tuple[int | None, int | None]:
        return self.forth.source_qp, self.back.source_qp

    @property
    def forth(self) -> Flow:
        return self.edges["pe1"].flows[FORTH]

    @property
    def back(self) -> Flow:
        return self.edges["pe2"].flows[BACK]


@pytest.fixture
def net(network: dict[str, Any]) -> Network:
    for node in network["nodes"].values():
        node["features"] = "all"
    return Network(parse_config(yaml.safe_dump(network)))


def test_a_flow_is_watched_until_its_source_is_known_and_looked_at_again(net: Network) -> None:
    net.see("pe1", FORTH, WRITE, 100)
    assert net.forth.watched
    net.see("pe2", BACK, ACK, 100)
    label = net.forth.label
    net.infer(0.5)
    assert (net.forth.source_qp, net.forth.origin) == (17, Origin.INFERRED)
    assert (net.back.source_qp, net.back.origin) == (33, Origin.INFERRED)
    assert net.forth.watched
    assert net.back.watched
    assert net.forth.label == label
    # The label, and that it is watched, in one write request; so are the source and that it is
    # watched again.
    assert net.edges["pe1"].writes == 4


def test_without_the_port_it_takes_more(net: Network) -> None:
    net.converse(3, port=0xC000)
    net.infer()
    assert net.forth.source_qp is net.back.source_qp is None
    net.converse(4, port=0xC000)
    net.infer()
    assert net.sources == (17, 33)


def test_where_a_pe_does_not_report_the_psn_proves_nothing(net: Network) -> None:
    """The reverse flow enters at a PE without learning, so not all flows are reported."""
    net.edges["pe2"].learning = False
    net.converse(8, port=0xC000)
    net.edges["pe2"].learning = True
    net.converse(1, port=0xC000)
    net.edges["pe2"].learning = False
    net.infer()
    assert net.forth.source_qp is None


def test_where_a_pe_was_away_the_psn_proves_nothing(net: Network) -> None:
    """A rival of the flow may have been there, until everything was watched anew."""
    for up_for in (0.0, WATCH - 0.1):
        net.edges["pe2"].up_for = up_for
        net.converse(8, port=0xC000)
        net.infer()
        assert net.forth.source_qp is None
    net.edges["pe2"].up_for = WATCH
    net.converse(1, port=0xC000)
    net.infer()
    assert net.sources == (17, 33)


def test_where_a_flow_has_no_label_the_psn_proves_nothing(
    net: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections in step; the tables have room for one direction of each only."""
    monkeypatch.setattr(Edge, "capacity", lambda *_: 1)
    net.run(8.0, (FORTH, BACK_2, 1000), (FORTH_2, BACK, 1000))
    assert net.known() == {FORTH: None, BACK_2: None}
    monkeypatch.setattr(Edge, "capacity", lambda *_: 2)
    net.run(WATCH + FIRST_REST, (FORTH, BACK, 9000), (FORTH_2, BACK_2, 900_000))
    net.run(WATCH, (FORTH, BACK, 12_000), (FORTH_2, BACK_2, 903_000))
    assert net.known() == {FORTH: 17, BACK: 33, FORTH_2: 18, BACK_2: 34}


def test_what_is_learned_otherwise_ends_the_watch(net: Network) -> None:
    net.converse(1, port=0xC000)
    net.service.add(FORTH, 99)
    assert (net.forth.source_qp, net.forth.origin, net.forth.watched) == (99, "manual", False)
    req = CmMessage("blue", A, B, CmAttribute.REQ, 0xA1, 0, 17)
    rep = CmMessage("blue", B, A, CmAttribute.REP, 0xB1, 0xA1, 33)
    net.service.connection_message("pe1", DC_PORT, req)
    net.service.connection_message("pe2", DC_PORT, rep)
    assert (net.forth.source_qp, net.back.source_qp, net.back.watched) == (99, 33, False)
    net.converse(8, port=0xC000)
    net.infer()
    assert (net.forth.origin, net.back.origin) == (Origin.MANUAL, Origin.CM)


def test_a_silent_flow_is_inferred_anew(net: Network) -> None:
    """QPNs are reused, so an inferred sender is valid only until the label is released."""
    net.converse(1)
    net.infer(0.5)
    net.service.idle("pe1", FORTH)
    assert FORTH not in net.edges["pe1"].flows
    assert net.service.waiting() == []
    net.see("pe1", FORTH, WRITE, 500)
    assert net.forth.source_qp is None
    assert net.forth.watched


def test_a_new_controller_watches_what_it_finds_unknown(net: Network) -> None:
    net.converse(1, port=0xC000)
    again = Network(net.config)
    for name, edge in net.edges.items():
        found = [
            Flow(f.key, name, f.label, f.timeout, Origin.RESTORED, since=0.0)
            for f in edge.flows.values()
        ]
        again.service.adopt(name, found)
    assert again.forth.watched
    assert again.back.watched
    again.converse(2)
    again.infer(0.5)
    assert (again.forth.source_qp, again.back.source_qp) == (17, 33)


def test_a_watched_flow_costs_no_write_per_packet(net: Network) -> None:
    """Its host chooses the P_Key of every packet."""
    for number in range(100):
        net.service.seen("pe1", DC_PORT, FORTH, 0x8001 + number % 2, Sample(WRITE, number, 0xC000))
    assert net.forth.p_key == 0x8001
    assert net.edges["pe1"].writes == 2


def test_a_message_of_a_handshake_is_of_two_flows(net: Network) -> None:
    """ALL-4: what the controller writes and removes for one report is bounded."""
    for node, src, dst, attribute, own, other, qp, most in (
        ("pe1", A, B, CmAttribute.REQ, 0xA1, 0, 17, 0),
        ("pe2", B, A, CmAttribute.REP, 0xB1, 0xA1, 33, 2),
        ("pe1", A, B, CmAttribute.RTU, 0xA1, 0xB1, 0, 2),
        ("pe1", A, B, CmAttribute.DREQ, 0xA1, 0xB1, 33, 2),
        ("pe2", B, A, CmAttribute.DREP, 0xB1, 0xA1, 0, 2),
    ):
        before = {key: flow for edge in net.edges.values() for key, flow in edge.flows.items()}
        writes = sum(edge.writes for edge in net.edges.values())
        message = CmMessage("blue", src, dst, attribute, own, other, qp)
        net.service.connection_message(node, DC_PORT, message)
        after = {key: flow for edge in net.edges.values() for key, flow in edge.flows.items()}
        writes = sum(edge.writes for edge in net.edges.values()) - writes
        assert writes + len(before.keys() - after.keys()) <= most, attribute


def test_watches_end_and_are_bounded(net: Network) -> None:
    limit = net.config.flows.watched
    for qp in range(2, 2 + 3 * limit):
        net.service.seen(
            "pe1", DC_PORT, FlowKey("blue", A, B, qp), 0xFFFF, Sample(UC_SEND, 1, 50000)
        )
    watched = [flow.key for flow in net.edges["pe1"].flows.values() if flow.watched]
    assert len(watched) == limit - limit // VERIFIED_SHARE
    net.infer(WATCH + 0.1)
    assert not any(flow.watched for flow in net.edges["pe1"].flows.values())


def test_labels_taken_back_end_the_watch(net: Network) -> None:
    net.converse(1, port=0xC000)
    net.service.release_node("pe2", "learning disabled")
    net.infer()
    assert net.edges["pe2"].flows == {}
    assert net.forth.source_qp is None


def test_inference_can_be_turned_off(network: dict[str, Any]) -> None:
    for node in network["nodes"].values():
        node["features"] = "all"
    network["flows"] = {"watched": 0, "learning_window": "1s"}
    net = Network(parse_config(yaml.safe_dump(network)))
    net.converse(8)
    net.infer()
    assert not net.forth.watched
    assert net.forth.source_qp is None


def test_a_learning_window_too_long_to_infer_is_refused(network: dict[str, Any]) -> None:
    network["flows"] = {"learning_window": "100ms"}
    with pytest.raises(ConfigError, match="turn inference off with watched: 0"):
        parse_config(yaml.safe_dump(network))


# -- evidence against what is known --------------------------------------------------------------

FORTH_2, BACK_2 = FlowKey("blue", A, B, 34), FlowKey("blue", B, A, 18)


def _two_connections(net: Network) -> None:
    net.run(5.0, (FORTH, BACK, 1000), (FORTH_2, BACK_2, 9_000_000))
    assert net.known() == {FORTH: 17, BACK: 33, FORTH_2: 18, BACK_2: 34}


def test_queue_pairs_that_change_partners_while_traffic_flows_are_learned_anew(
    net: Network,
) -> None:
    _two_connections(net)
    net.run(CHECK, (FORTH, BACK_2, 5000), (FORTH_2, BACK, 3_000_000))
    net.run(WATCH, (FORTH, BACK_2, 15_000), (FORTH_2, BACK, 3_010_000))
    assert net.known() == {FORTH: 18, BACK_2: 33, FORTH_2: 17, BACK: 34}


def test_a_new_flow_between_the_hosts_has_others_looked_at_sooner(net: Network) -> None:
    """Queue pair 17 is connected to a new one, and 33, that it left, to 18."""
    _two_connections(net)
    net.run(CHECK, (FORTH, BACK, 2000), (FORTH_2, BACK_2, 9_100_000))
    new = FlowKey("blue", A, B, 35)
    net.run(2 * CHECK, (new, BACK, 3_000_000), (FORTH, BACK_2, 6_000_000))
    net.service.idle("pe1", FORTH_2)
    net.run(WATCH, (new, BACK, 3_100_000), (FORTH, BACK_2, 6_100_000))
    assert net.known() == {new: 17, BACK: 35, FORTH: 18, BACK_2: 33}


def test_what_goes_on_unchanged_stays_known(net: Network) -> None:
    _two_connections(net)
    for _ in range(20):
        net.run(6.0, (FORTH, BACK, 1000), (FORTH_2, BACK_2, 9_000_000))
        assert net.known() == {FORTH: 17, BACK: 33, FORTH_2: 18, BACK_2: 34}
        assert net.forth.watched


def test_where_the_flow_forth_falls_silent_the_flow_back_is_in_doubt(net: Network) -> None:
    net.converse(1)
    net.infer(0.5)
    assert net.sources == (17, 33)
    net.service.idle("pe1", FORTH)
    assert net.back.source_qp is None
    assert net.back.watched


def test_an_agent_that_names_another_queue_pair_ends_the_flow_back_too(net: Network) -> None:
    net.converse(1)
    net.infer(0.5)
    assert net.service.reported(FORTH, 17)
    assert net.sources == (17, 33)
    assert net.service.reported(FORTH, 99)
    assert net.known() == {FORTH: 99, BACK: None}
    assert net.back.watched


@pytest.mark.parametrize("origin", [Origin.AGENT, Origin.MANUAL])
def test_one_direction_known_says_the_other(net: Network, origin: Origin) -> None:
    net.service.seen("pe1", DC_PORT, FORTH, 0xFFFF, Sample(UC_SEND, 1, 0xC000))
    if origin is Origin.AGENT:
        net.service.reported(FORTH, 17)
    else:
        net.service.add(FORTH, 17)
    net.service.seen("pe2", DC_PORT, BACK, 0xFFFF, Sample(UC_SEND, 1, 0xC000))
    assert net.known() == {FORTH: 17, BACK: None}
    net.see("pe2", BACK, ACK, 1)
    assert net.known() == {FORTH: 17, BACK: 33}
    assert net.back.origin is Origin.INFERRED
    net.service.delete(FORTH)
    assert net.back.source_qp is None


def test_one_direction_says_nothing_where_it_is_not_alone(net: Network) -> None:
    net.service.add(FORTH, 17)
    net.service.add(FORTH_2, 17)
    net.see("pe2", BACK, ACK, 1)
    assert net.back.source_qp is None


def test_what_packets_contradict_is_not_believed_of_the_other_direction_again(
    net: Network,
) -> None:
    net.service.add(FORTH, 17)
    net.run(0.3, (FORTH, BACK, 1000))
    assert net.sources == (17, 33)
    for step in range(300):
        net.service.seen("pe1", DC_PORT, FORTH, 0xFFFF, Sample(WRITE, 1000 + step, 0xC000))
        net.service.seen("pe2", DC_PORT, BACK, 0xFFFF, Sample(ACK, 9_000_000 + step, 0xC000))
        net.now += 0.3
        net.service.infer()
    assert net.known() == {FORTH: 17, BACK: None}


def _set_up(net: Network) -> None:
    """Two connections, by CM."""
    for a_qp, b_qp, ids in ((17, 33, (0xA1, 0xB1)), (18, 34, (0xA2, 0xB2))):
        request = CmMessage("blue", A, B, CmAttribute.REQ, ids[0], 0, a_qp)
        net.service.connection_message("pe1", DC_PORT, request)
        reply = CmMessage("blue", B, A, CmAttribute.REP, ids[1], ids[0], b_qp)
        net.service.connection_message("pe2", DC_PORT, reply)
    assert net.known() == {FORTH: 17, BACK: 33, FORTH_2: 18, BACK_2: 34}


SWAPPED = ((FORTH, BACK_2, 5000), (FORTH_2, BACK, 9_000_000))


@pytest.mark.parametrize("restart", [False, True])
def test_queue_pairs_of_a_handshake_that_change_partners_unseen(
    net: Network, restart: bool
) -> None:
    """Both DREQs were missed. The hosts' word stays until packets disprove it; then the agent's
    counts, and a late disconnect of the old connection ends nothing."""
    _set_up(net)
    if restart:
        held = {name: list(edge.flows.values()) for name, edge in net.edges.items()}
        net = Network(net.config)
        for name, flows in held.items():
            net.service.adopt(name, flows)
    net.run(2 * CHECK + 1, *SWAPPED)
    right = {FORTH: 18, BACK_2: 33, FORTH_2: 17, BACK: 34}
    for key, source_qp in net.known().items():
        assert source_qp in (None, right[key])
    for key, source_qp in right.items():
        net.service.reported(key, source_qp)
    assert net.known() == right
    late = CmMessage("blue", A, B, CmAttribute.DREQ, 0xA1, 0xB1, 33)
    net.service.connection_message("pe1", DC_PORT, late)
    net.service.infer()
    assert net.known() == right


def test_a_handshakes_connections_that_go_on_stay_known(net: Network) -> None:
    _set_up(net)
    for _ in range(120):
        net.run(1.5, (FORTH, BACK, 1000), (FORTH_2, BACK_2, 9_000_000))
        assert net.known() == {FORTH: 17, BACK: 33, FORTH_2: 18, BACK_2: 34}
        assert net.forth.watched


async def test_a_registration_that_packets_contradict_stays_and_is_named(net: Network) -> None:
    for key, source_qp in ((FORTH, 17), (BACK, 33), (FORTH_2, 18), (BACK_2, 34)):
        net.service.add(key, source_qp)
    with net.bus.watch() as events:
        net.run(2 * CHECK + 1, *SWAPPED)
        net.bus.emit(Kind.FEATURES, "", "end")
        named = set()
        async for event in events:
            if event.message == "end":
                break
            if event.kind is Kind.CONTRADICTED:
                named.add(event.fields["dest_qp"])
    assert named == {"33", "17", "34", "18"}
    assert net.known() == {FORTH: 17, BACK: 33, FORTH_2: 18, BACK_2: 34}


def test_flows_of_a_host_to_itself_have_no_partner(net: Network) -> None:
    own = FlowKey("blue", A, A, 17)
    net.service.add(own, 17)
    net.run(CHECK, (own, own, 1000))
    net.service.delete(own)
    assert net.known() == {}


def test_restored_flows_are_looked_at_too(net: Network) -> None:
    _two_connections(net)
    again = Network(net.config)
    for name, edge in net.edges.items():
        found = [
            Flow(f.key, name, f.label, f.timeout, Origin.RESTORED, f.source_qp, since=0.0)
            for f in edge.flows.values()
        ]
        again.service.adopt(name, found)
    assert again.known() == net.known()
    again.run(CHECK, (FORTH, BACK_2, 5000), (FORTH_2, BACK, 3_000_000))
    again.run(WATCH, (FORTH, BACK_2, 15_000), (FORTH_2, BACK, 3_010_000))
    assert again.known() == {FORTH: 18, BACK_2: 33, FORTH_2: 17, BACK: 34}


@pytest.mark.parametrize("missing", ["disconnected", "late", "dropped"])
def test_reports_that_are_missing_are_no_pause(net: Network, missing: str) -> None:
    """Of a connection so fast that after a pause any PSN might be another's."""
    net.service.connection_message(
        "pe1", DC_PORT, CmMessage("blue", A, B, CmAttribute.REQ, 1, 0, 17)
    )
    net.service.connection_message(
        "pe2", DC_PORT, CmMessage("blue", B, A, CmAttribute.REP, 2, 1, 33)
    )
    psn = 0

    def send(seconds: float, *, reported: bool) -> None:
        nonlocal psn
        for _ in range(round(seconds / 0.2)):
            psn = (psn + 200_000) % (1 << 24)
            if reported:
                net.service.seen("pe1", DC_PORT, FORTH, 0xFFFF, Sample(WRITE, psn, 0xC000))
            elif missing == "late":
                sample = Sample(WRITE, psn, 0xC000)
                net.service.seen("pe1", DC_PORT, FORTH, 0xFFFF, sample, net.now - 1)
            elif missing == "dropped":
                net.service.refusals.refuse("pe1", "blue", Reason.TOO_MANY_REPORTS, lambda: "")
            net.now += 0.2
            if missing == "disconnected":
                net.edges["pe1"].up_for = net.edges["pe1"].up_for + 0.2 if reported else 0.0
            net.service.infer()

    net.service.seen("pe2", DC_PORT, BACK)
    for _ in range(3):
        send(4.0, reported=True)
        send(PAUSE + 1, reported=False)
    send(2 * PAUSE, reported=True)
    assert net.sources == (17, 33)


def test_a_host_cannot_claim_a_queue_pair_that_another_host_is_connected_to(net: Network) -> None:
    """A sends to the queue pair of B that C is connected to, as if it were A's own connection to B:
    B's flow to A would be the one that sends to C, and that one would slow down for A."""
    other = ip_address("10.1.0.11")
    request = CmMessage("blue", other, B, CmAttribute.REQ, 1, 0, 44)
    net.service.connection_message("pe1", DC_PORT, request)
    reply = CmMessage("blue", B, other, CmAttribute.REP, 2, 1, 33)
    net.service.connection_message("pe2", DC_PORT, reply)
    net.service.seen("pe2", DC_PORT, FlowKey("blue", B, other, 44))
    net.converse(8)
    net.infer()
    assert net.sources == (None, None)
