"""Inference in the flow service: watching, learning and deleting senders (FCN-3 b, FCN-4)."""

from typing import Any

import pytest
import yaml
from edges import Edge
from flow_network import (
    ACK,
    BACK,
    BACK_2,
    FORTH,
    FORTH_2,
    UC_SEND,
    WRITE,
    A,
    B,
    Network,
    network_of,
)
from tenants import DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.controller.config import ConfigError, parse_config
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.evidence import VERIFIED_SHARE
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.refusals import RefusalReason
from fcn.controller.flows.trail import Sample
from fcn.controller.flows.watch import FIRST_REST, WATCH


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


@pytest.mark.parametrize("dropped", ["nothing", "kept back", "too many"])
def test_where_a_report_was_dropped_the_psn_proves_nothing(net: Network, dropped: str) -> None:
    """Two connections in step, one direction of each reported, while somebody floods the PE."""
    refusals = net.service.refusals
    for step in range(round(8.0 / 0.3)):
        if dropped == "kept back":
            refusals.kept_back("pe1", "blue")
        elif dropped == "too many":
            refusals.refuse("pe1", "blue", RefusalReason.TOO_MANY_REPORTS, lambda: "")
        net.run(0.3, (FORTH, BACK_2, 1000 + step))
    assert (net.known() == {FORTH: None, BACK_2: None}) is (dropped != "nothing")


def test_what_is_learned_otherwise_ends_the_watch(net: Network) -> None:
    net.converse(1, port=0xC000)
    net.service.add(FORTH, 99)
    assert (net.forth.source_qp, net.forth.origin, net.forth.watched) == (99, "manual", False)
    net.connect(17, 33, (0xA1, 0xB1))
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
        list(again.service.adopt(name, found))
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
    network["flows"] = {"watched": 0, "learning_window": "1s"}
    net = network_of(network)
    net.converse(8)
    net.infer()
    assert not net.forth.watched
    assert net.forth.source_qp is None


def test_a_learning_window_too_long_to_infer_is_refused(network: dict[str, Any]) -> None:
    network["flows"] = {"learning_window": "100ms"}
    with pytest.raises(ConfigError, match="turn inference off with watched: 0"):
        parse_config(yaml.safe_dump(network))


def test_no_tenant_can_have_so_many_watched_that_nothing_else_is_done(
    network: dict[str, Any],
) -> None:
    """Work grows with the square of the flows between two hosts."""
    network["flows"] = {"watched": 257}
    with pytest.raises(ConfigError, match=r"flows\.watched[\s\S]*less than or equal to 256"):
        parse_config(yaml.safe_dump(network))
