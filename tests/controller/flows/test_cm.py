"""Connection tracking (FCN-3, FCN-4), message by message and with arbitrary sequences."""

import os
import random
from dataclasses import replace
from ipaddress import IPv4Address
from itertools import permutations

import pytest
from edges import HandClock

from fcn.contract.constants import CmAttribute
from fcn.controller.flows.connections import (
    ACKNOWLEDGED,
    HALF_OPEN,
    CmEvent,
    CmMessage,
    ConnectionTracker,
    FlowClosed,
    PeerClosed,
    QueuePairLearned,
    Refused,
)
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import CommIds
from fcn.controller.flows.shares import Host

A, B = IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")
REQ = CmMessage("blue", A, B, CmAttribute.REQ, 0xA1, 0, 17)
REP = CmMessage("blue", B, A, CmAttribute.REP, 0xB1, 0xA1, 33)
RTU = CmMessage("blue", A, B, CmAttribute.RTU, 0xA1, 0xB1, 0)
DREQ = CmMessage("blue", A, B, CmAttribute.DREQ, 0xA1, 0xB1, 33)
REJ_OF_A2 = CmMessage("blue", B, A, CmAttribute.REJ, 0, 0xA2, 0)
DREP = CmMessage("blue", B, A, CmAttribute.DREP, 0xB1, 0xA1, 0)
FORTH, BACK = FlowKey("blue", A, B, 33), FlowKey("blue", B, A, 17)
LEARNED = [QueuePairLearned(FORTH, 17), QueuePairLearned(BACK, 33)]
CLOSED = [FlowClosed(FORTH), FlowClosed(BACK)]
FUZZ_MESSAGES = int(os.environ.get("FCN_FUZZ_MESSAGES", "20000"))


def tracker() -> ConnectionTracker:
    return ConnectionTracker(HandClock())


def feed(connections: ConnectionTracker, *messages: CmMessage) -> list[CmEvent]:
    return [event for message in messages for event in connections.handle(message)]


@pytest.mark.parametrize("order", list(permutations([REQ, REP, RTU])))
def test_digests_of_two_switches_come_in_any_order(order: tuple[CmMessage, ...]) -> None:
    assert feed(tracker(), *order) == LEARNED


@pytest.mark.parametrize(
    "message",
    [
        DREQ,
        DREP,
        CmMessage("blue", B, A, CmAttribute.DREQ, 0xB1, 0xA1, 17),
        CmMessage("blue", A, B, CmAttribute.DREP, 0xA1, 0xB1, 0),
        # The initiator refuses the reply; the responder gives up waiting for a lost RTU.
        CmMessage("blue", A, B, CmAttribute.REJ, 0xA1, 0xB1, 0),
        CmMessage("blue", B, A, CmAttribute.REJ, 0xB1, 0xA1, 0),
    ],
)
def test_either_side_closes_both_flows_at_once(message: CmMessage) -> None:
    connections = tracker()
    feed(connections, REQ, REP)
    assert feed(connections, message) == CLOSED
    assert len(connections) == 0


@pytest.mark.parametrize(
    "stranger",
    [
        replace(DREQ, vrf="red", qpn=0),
        replace(DREQ, local_comm_id=0xA2, qpn=0),
        replace(DREQ, remote_comm_id=0xB2, qpn=0),
        replace(DREQ, src=B, dst=A, qpn=0),
        replace(DREP, local_comm_id=0xB2),
        CmMessage("blue", B, A, CmAttribute.REJ, 0xB1, 0xA2, 0),
        CmMessage("blue", B, A, CmAttribute.REJ, 0xB2, 0xA1, 0),
    ],
)
def test_ids_of_another_connection_close_nothing(stranger: CmMessage) -> None:
    connections = tracker()
    feed(connections, REQ, REP)
    assert feed(connections, stranger) == []
    assert feed(connections, DREQ) == CLOSED


@pytest.mark.parametrize("own", [0, 0xB1])
def test_rejected_request(own: int) -> None:
    """The responder's ID is 0 when it rejects before it has assigned one."""
    connections = tracker()
    assert feed(connections, REQ, CmMessage("blue", B, A, CmAttribute.REJ, own, 0xA1, 0)) == []
    assert len(connections) == 0
    assert feed(connections, REP) == []


def test_stale_connection_is_rejected_and_the_old_one_disconnected() -> None:
    """The initiator restarted and uses a queue pair that is still in use for the responder: by
    naming it in another REQ it says that the old connection is no more."""
    connections = tracker()
    feed(connections, REQ, REP)
    assert feed(connections, replace(REQ, local_comm_id=0xA2)) == CLOSED
    assert feed(connections, REJ_OF_A2) == []
    old = CmMessage("blue", B, A, CmAttribute.DREQ, 0xB1, 0xA1, 17)
    assert feed(connections, old) == [PeerClosed(BACK)]
    assert len(connections) == 0


def another(number: int, a_qp: int, b_qp: int) -> tuple[CmMessage, CmMessage, CmMessage]:
    """Request and reply of another connection of these hosts, and its end."""
    ids = 0xA1 + number, 0xB1 + number
    return (
        CmMessage("blue", A, B, CmAttribute.REQ, ids[0], 0, a_qp),
        CmMessage("blue", B, A, CmAttribute.REP, ids[1], ids[0], b_qp),
        CmMessage("blue", A, B, CmAttribute.DREQ, *ids, b_qp),
    )


def flows(a_qp: int, b_qp: int) -> tuple[FlowKey, FlowKey]:
    return FlowKey("blue", A, B, b_qp), FlowKey("blue", B, A, a_qp)


@pytest.mark.parametrize(("a_qp", "b_qp"), [(17, 0x77), (0x77, 33)])
def test_half_a_handshake_of_its_queue_pair_ends_a_connection(a_qp: int, b_qp: int) -> None:
    """The report of the other half was lost: what is known of the queue pair is wrong."""
    connections = tracker()
    feed(connections, REQ, REP)
    request, reply, _ = another(1, a_qp, b_qp)
    first, second = (request, reply) if a_qp == 17 else (reply, request)
    assert feed(connections, first) == CLOSED
    forth, back = flows(a_qp, b_qp)
    assert feed(connections, second) == [
        QueuePairLearned(forth, a_qp),
        QueuePairLearned(back, b_qp),
    ]


def test_repeated_requests_and_replies_in_any_order() -> None:
    for order in permutations((REQ, REP, REQ, REP)):
        assert feed(tracker(), *order) == LEARNED


def test_request_repeated_after_the_end_starts_nothing() -> None:
    connections = tracker()
    feed(connections, REQ, REP, RTU, DREQ, DREP)
    assert feed(connections, REQ, DREP) == []
    assert len(connections) == 0


def test_queue_pair_used_again_after_disconnect() -> None:
    connections = tracker()
    for number in range(3):
        forth, back = flows(17, 0x200 + number)
        *handshake, end = another(number, 17, 0x200 + number)
        learned = [QueuePairLearned(forth, 17), QueuePairLearned(back, 0x200 + number)]
        assert feed(connections, *handshake, RTU) == learned
        assert feed(connections, end) == [FlowClosed(forth), FlowClosed(back)]


@pytest.mark.parametrize(("a_qp", "b_qp"), [(17, 0x201), (0x101, 33)])
def test_late_disconnect_of_the_old_connection_leaves_the_new_one(a_qp: int, b_qp: int) -> None:
    """One side's queue pair is in use in a new connection when the old DREQ is repeated."""
    connections = tracker()
    *handshake, end = another(1, a_qp, b_qp)
    feed(connections, REQ, REP, *handshake)
    alive = flows(a_qp, b_qp)
    for event in feed(connections, DREQ, DREP):
        assert isinstance(event, FlowClosed | PeerClosed)
        assert event.flow not in alive
    assert feed(connections, end) == [FlowClosed(flow) for flow in alive]


@pytest.mark.parametrize("qpn", [0, 1])
def test_management_queue_pairs_have_no_connection(qpn: int) -> None:
    assert feed(tracker(), replace(REQ, qpn=qpn), REP) == []


@pytest.mark.parametrize("attribute", [0x17, 0x18, 0x19, 0x1A, 0x1B, 0x00, 0xFFFF])
def test_datagram_service_and_unknown_messages_teach_nothing(attribute: int) -> None:
    """UD queue pairs are resolved by SIDR and have no connection: any number of senders."""
    connections = tracker()
    assert feed(connections, CmMessage("blue", A, B, attribute, 0x00010203, 0x04050607, 0)) == []
    assert len(connections) == 0


def test_forgotten_connections_leave_nothing_behind() -> None:
    """Another host's connection takes the place of the newest of the host with most."""
    connections = ConnectionTracker(HandClock(), limit=10)
    for number in range(10):
        feed(connections, replace(REQ, local_comm_id=number, qpn=0x1000 + number))
    for number in range(10):
        feed(connections, replace(REP, remote_comm_id=number, qpn=0x1000 + number))
    newest = [FlowKey("blue", A, B, 0x1009), FlowKey("blue", B, A, 0x1009)]
    assert feed(connections, replace(REQ, src=B, dst=A)) == [FlowClosed(flow) for flow in newest]
    late = CmMessage("blue", A, B, CmAttribute.DREQ, 9, 0xB1, 0x1009)
    assert feed(connections, late) == [PeerClosed(newest[0])]


def test_communication_ids_are_unique_per_host_only() -> None:
    """Another pair of hosts can use the same IDs, the same addresses in another VRF the same queue
    pairs, too."""
    other_vrf = [replace(REQ, vrf="red"), replace(REP, vrf="red")]
    third = IPv4Address("10.0.0.3")
    other_host = [replace(REQ, src=third, qpn=90), replace(REP, dst=third, qpn=91)]
    crossed = [replace(REQ, src=B, dst=A, qpn=50), replace(REP, src=A, dst=B, qpn=60)]
    messages = [REQ, REP, *other_vrf, *other_host, *crossed]
    expected = {
        *LEARNED,
        QueuePairLearned(FlowKey("red", A, B, 33), 17),
        QueuePairLearned(FlowKey("red", B, A, 17), 33),
        QueuePairLearned(FlowKey("blue", third, B, 91), 90),
        QueuePairLearned(FlowKey("blue", B, third, 90), 91),
        QueuePairLearned(FlowKey("blue", B, A, 60), 50),
        QueuePairLearned(FlowKey("blue", A, B, 50), 60),
    }
    rng = random.Random(3)
    for _ in range(20):
        rng.shuffle(messages)
        events = feed(tracker(), *messages)
        assert set(events) == expected
        assert len(events) == len(expected)


def test_reused_id_replaces_the_old_connection() -> None:
    connections = tracker()
    feed(connections, REQ, REP)
    assert feed(connections, replace(REQ, qpn=18)) == CLOSED
    assert feed(connections, replace(REP, qpn=34)) == [
        QueuePairLearned(FlowKey("blue", A, B, 34), 18),
        QueuePairLearned(FlowKey("blue", B, A, 18), 34),
    ]


def test_disconnect_of_an_unseen_connection_names_its_flow() -> None:
    """After a restart the flow is in the switch tables, but the tracker has no IDs."""
    assert feed(tracker(), DREQ) == [PeerClosed(FORTH)]


def test_half_seen_handshake_is_forgotten_and_complete_ones_are_not() -> None:
    clock = HandClock()
    connections = ConnectionTracker(clock)
    feed(connections, REQ, REP, replace(REQ, local_comm_id=0xA2, qpn=18))
    clock.now = HALF_OPEN + 1
    assert feed(connections, replace(REP, remote_comm_id=0xA2, qpn=34)) == []
    clock.now = 24 * 3600
    assert feed(connections, DREQ) == CLOSED


def test_receipt_acknowledged_extends_the_wait_for_the_reply() -> None:
    clock = HandClock()
    connections = ConnectionTracker(clock)
    assert feed(connections, REQ, CmMessage("blue", B, A, CmAttribute.MRA, 0xB1, 0xA1, 0)) == []
    clock.now = ACKNOWLEDGED - 1
    of_the_reply = CmMessage("blue", A, B, CmAttribute.MRA, 0xA1, 0xB1, 0)
    assert feed(connections, REP, of_the_reply, RTU) == LEARNED
    clock.now = 0
    feed(connections, replace(REQ, local_comm_id=0xA2, qpn=19), REJ_OF_A2)
    assert len(connections) == 1


def test_acknowledged_request_is_forgotten_at_last() -> None:
    clock = HandClock()
    connections = ConnectionTracker(clock)
    feed(connections, REQ, CmMessage("blue", B, A, CmAttribute.MRA, 0xB1, 0xA1, 0))
    while clock.now < ACKNOWLEDGED + HALF_OPEN:
        clock.now += HALF_OPEN / 2
        feed(connections, RTU)
    assert len(connections) == 0


def test_a_host_connected_to_itself_may_refuse_itself() -> None:
    """Both sides have the same address, and here the same IDs."""
    own = [
        CmMessage("blue", A, A, CmAttribute.REQ, 0xA1, 0, 17),
        CmMessage("blue", A, A, CmAttribute.REJ, 0xA1, 0xA1, 0),
    ]
    connections = tracker()
    assert feed(connections, *own) == []
    assert len(connections) == 0
    assert feed(connections, REQ, REP) == LEARNED


@pytest.mark.parametrize("side", ["initiator", "responder"])
def test_queue_pair_in_a_new_connection_has_left_the_old_one(side: str) -> None:
    """Also where the other side is another host: the DREQ to the old one was lost."""
    third = IPv4Address("10.0.0.3")
    if side == "initiator":
        new = [replace(REQ, dst=third, local_comm_id=0xA2)]
        new += [replace(REP, src=third, remote_comm_id=0xA2, qpn=50)]
    else:
        new = [replace(REQ, src=third, local_comm_id=0xC1, qpn=60)]
        new += [replace(REP, dst=third, remote_comm_id=0xC1)]
    connections = tracker()
    feed(connections, REQ, REP)
    events = feed(connections, *new)
    assert [event for event in events if isinstance(event, FlowClosed)] == CLOSED
    assert len(connections) == 1


@pytest.mark.parametrize("side", ["initiator", "responder"])
def test_old_half_of_a_queue_pair_ends_no_newer_connection(side: str) -> None:
    """Its host never said that it gave up, as after a crash, and a stranger answers late."""
    third = IPv4Address("10.0.0.3")
    if side == "initiator":
        half = replace(REQ, dst=third, local_comm_id=0xA2)
        late = replace(REP, src=third, local_comm_id=0xC2, remote_comm_id=0xA2, qpn=50)
    else:
        half = replace(REP, dst=third, local_comm_id=0xB2, remote_comm_id=0xC2)
        late = replace(REQ, src=third, local_comm_id=0xC2, qpn=50)
    connections = tracker()
    assert feed(connections, half, replace(late, attribute=CmAttribute.MRA), REQ, REP) == LEARNED
    assert feed(connections, late) == []
    assert feed(connections, DREQ) == CLOSED


def test_nobody_ends_a_connection_of_others() -> None:
    """A third host, whatever IDs it guesses, speaks for its own address only."""
    third = IPv4Address("10.0.0.3")
    connections = tracker()
    feed(connections, REQ, REP)
    for attribute in CmAttribute:
        for peer in (A, B):
            for own, other in permutations((0xA1, 0xB1)):
                for qpn in (17, 33):
                    guess = CmMessage("blue", third, peer, attribute, own, other, qpn)
                    closed = feed(connections, guess)
                    assert not [event for event in closed if isinstance(event, FlowClosed)]
    assert feed(connections, DREQ) == CLOSED


def test_request_flood_is_bounded_and_leaves_room_for_others() -> None:
    connections = ConnectionTracker(HandClock(), limit=100)
    for comm_id in range(1000):
        connections.handle(replace(REQ, local_comm_id=comm_id, qpn=1000 + comm_id))
    assert len(connections) == 100
    assert feed(connections, replace(REQ, local_comm_id=7777, qpn=7777)) == [
        Refused(Host("blue", A))
    ]
    others = [replace(REQ, src=IPv4Address(f"10.0.1.{n}"), qpn=40 + n) for n in range(10)]
    answers = [replace(REP, dst=each.src, qpn=90 + n) for n, each in enumerate(others)]
    events = feed(connections, *others, *answers)
    assert len([event for event in events if isinstance(event, QueuePairLearned)]) == 20
    assert len(connections) == 100


def test_connection_of_a_switch_ends_by_its_own_ids() -> None:
    """After a restart: the flow's entry names the IDs (provenance.py)."""
    learned = [each for each in feed(tracker(), REQ, REP) if isinstance(each, QueuePairLearned)]
    forth, back = (each.comm_ids for each in learned)
    for flow, source_qp, ids in ((FORTH, 17, forth), (BACK, 33, back)):
        connections = tracker()
        assert ids is not None
        assert connections.restore(flow, source_qp, ids)
        assert feed(connections, replace(DREQ, local_comm_id=0xA2)) == []
        assert feed(connections, DREQ) == CLOSED


RESTORED = [(FORTH, 17, CommIds(True, 0xA1, 0xB1)), (BACK, 33, CommIds(False, 0xB1, 0xA1))]


@pytest.mark.parametrize(("flow", "source_qp", "ids"), RESTORED)
def test_restored_connection_is_as_if_its_handshake_had_been_seen(
    flow: FlowKey, source_qp: int, ids: CommIds
) -> None:
    connections = tracker()
    assert connections.restore(flow, source_qp, ids)
    assert list(connections.halves()) == [REQ, REP]
    assert feed(connections, REQ, REP) == []
    reused = replace(REP, local_comm_id=0xB7, remote_comm_id=0xA7)
    assert feed(connections, reused) == CLOSED, "its queue pair has another connection"


@pytest.mark.parametrize(("flow", "source_qp", "ids"), RESTORED)
def test_restored_connections_count_for_the_source_of_the_flow(
    flow: FlowKey, source_qp: int, ids: CommIds
) -> None:
    connections = ConnectionTracker(HandClock(), limit=2)
    for apart in (0, 0x1000):
        named = CommIds(ids.initiated, ids.own + apart, ids.peer + apart)
        other = replace(flow, dest_qp=flow.dest_qp + apart)
        assert connections.restore(other, source_qp + apart, named)
    assert feed(connections, replace(REQ, src=flow.src, local_comm_id=0xA9, qpn=99)) == [
        Refused(Host("blue", flow.src))
    ]
    feed(connections, replace(REQ, src=IPv4Address("10.0.1.9"), local_comm_id=0xA9, qpn=99))
    assert len(list(connections.halves())) == 3, "one restored, and the other's request"


def test_halves_go_on_where_a_connection_ends_between_them() -> None:
    connections = tracker()
    feed(connections, REQ, REP, replace(REQ, local_comm_id=0xA2, qpn=18))
    halves = connections.halves()
    assert [next(halves), next(halves)] == [REQ, REP]
    feed(connections, REJ_OF_A2)
    assert list(halves) == []


def test_restored_connection_does_not_displace_a_newer_one() -> None:
    connections = tracker()
    feed(connections, REQ, REP)
    assert not connections.restore(FORTH, 18, CommIds(True, 0xA9, 0xB9))
    assert not connections.restore(FORTH, 18, CommIds(True, 0xA1, 0xB1))
    assert connections.restore(FORTH, 17, CommIds(True, 0xA1, 0xB1))
    assert len(connections) == 1
    assert feed(connections, DREQ) == CLOSED


def test_restored_connection_displaces_none() -> None:
    """The flows of the other are labelled, and nothing else would say its end."""
    connections = ConnectionTracker(HandClock(), limit=2)
    assert connections.restore(FORTH, 17, CommIds(True, 0xA1, 0xB1))
    assert connections.restore(replace(FORTH, dest_qp=34), 18, CommIds(True, 0xA2, 0xB2))
    other = replace(FORTH, src=IPv4Address("10.0.1.9"), dest_qp=35)
    assert not connections.restore(other, 19, CommIds(True, 0xA3, 0xB3))
    assert feed(connections, DREQ) == CLOSED


def test_any_sequence_of_messages_is_survived() -> None:
    """Few hosts, IDs and queue pairs, so that messages meet in every way."""
    rng = random.Random(5)
    attributes = [*CmAttribute, 0x17, 0x19, 0xFFFF]
    hosts = [A, B, IPv4Address("10.0.0.3")]
    clock = HandClock()
    connections = ConnectionTracker(clock, limit=20)
    known: dict[FlowKey, int] = {}
    for _ in range(FUZZ_MESSAGES):
        clock.now += rng.choice((0.0, 0.0, 1.0, 100.0))
        src, dst = rng.choices(hosts, k=2)
        own, peer, qpn = rng.choices(range(4), k=3)
        vrf, attribute = rng.choice(("blue", "red")), rng.choice(attributes)
        message = CmMessage(vrf, src, dst, attribute, own, peer, qpn)
        for event in connections.handle(message):
            match event:
                case QueuePairLearned(flow, source_qp):
                    known[flow] = source_qp
                case FlowClosed(flow):
                    known.pop(flow, None)
        assert len(connections) <= 20
    senders = [(flow.vrf, flow.src, source_qp) for flow, source_qp in known.items()]
    assert len(set(senders)) == len(senders), "a queue pair sends one flow at a time"
