"""What packets show against senders that are known, in the flow service (FCN-3 b)."""

from ipaddress import ip_address

import pytest
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
)
from tenants import DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.controller.events import Kind
from fcn.controller.flows.checks import CHECK
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.continuity import PAUSE
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.refusals import RefusalReason
from fcn.controller.flows.trail import Sample
from fcn.controller.flows.watch import WATCH


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


def test_what_is_stated_of_a_pairing_that_is_checked_ends_the_watch(net: Network) -> None:
    """A host could have any number of its flows reported, one after the other."""
    net.converse(1)
    net.infer(0.5)
    assert net.forth.watched
    assert net.back.watched
    assert net.service.reported(FORTH, 17)
    assert net.service.reported(BACK, 33)
    assert not net.forth.watched
    assert not net.back.watched


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
    net.connect(17, 33, (0xA1, 0xB1))
    net.connect(18, 34, (0xA2, 0xB2))
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
        net.restart()
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
        list(again.service.adopt(name, found))
    assert again.known() == net.known()
    again.run(CHECK, (FORTH, BACK_2, 5000), (FORTH_2, BACK, 3_000_000))
    again.run(WATCH, (FORTH, BACK_2, 15_000), (FORTH_2, BACK, 3_010_000))
    assert again.known() == {FORTH: 18, BACK_2: 33, FORTH_2: 17, BACK: 34}


@pytest.mark.parametrize("missing", ["disconnected", "late", "dropped", "kept back"])
def test_reports_that_are_missing_are_no_pause(net: Network, missing: str) -> None:
    """Of a connection so fast that after a pause any PSN might be another's."""
    net.connect(17, 33, (1, 2))
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
                net.service.refusals.refuse(
                    "pe1", "blue", RefusalReason.TOO_MANY_REPORTS, lambda: ""
                )
            elif missing == "kept back":
                net.service.refusals.kept_back("pe1", "blue")
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
    net.connect(44, 33, (1, 2), a=other)
    net.service.seen("pe2", DC_PORT, FlowKey("blue", B, other, 44))
    net.converse(8)
    net.infer()
    assert net.sources == (None, None)
