"""Irregular connection set-ups, constructed from real handshakes (FCN-3).

Fields of the capture's messages are modified (packets.cm), and decoded as the PE program reports
them, at the initiator's and the responder's PE.
"""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address
from itertools import permutations

import pytest
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap

from fcn.controller.flows.connections import (
    CmEvent,
    CmMessage,
    ConnectionTracker,
    FlowClosed,
    PeerClosed,
    QueuePairLearned,
)
from fcn.controller.flows.key import FlowKey
from fcn.packets.cm import (
    CM_DATA_LENGTH,
    CmAttribute,
    CmDrep,
    CmDreq,
    CmMra,
    CmRej,
    CmRep,
    CmReq,
    CmRtu,
    Mad,
    RejectReason,
)
from fcn.ptf_tests.lib.captures import SOFTROCE

A4, B4 = ip_address("192.168.7.2"), ip_address("192.168.7.1")
A6, B6 = ip_address("fd00:7::2"), ip_address("fd00:7::1")
SIDR_REQ, SIDR_REP = 0x17, 0x18
UC = 1
EXTENDED, XRC = 3, 1


@pytest.fixture(scope="module")
def messages() -> list[Packet]:
    """The capture's CM frames, in order: four handshakes with their disconnects."""
    found = [packet for packet in rdpcap(str(SOFTROCE)) if Mad in packet]
    assert len(found) == 20
    return found


@pytest.fixture(params=[0, 1], ids=["ipv4", "ipv6"])
def handshake(request: pytest.FixtureRequest, messages: list[Packet]) -> "Handshake":
    """REQ, REP, RTU, DREQ, DREP of one connection."""
    start = 5 * request.param
    return Handshake(*(packet.copy() for packet in messages[start : start + 5]))


class Handshake:
    """The frames of a connection, and the expected flows."""

    def __init__(self, req: Packet, rep: Packet, rtu: Packet, dreq: Packet, drep: Packet) -> None:
        self.req, self.rep, self.rtu, self.dreq, self.drep = req, rep, rtu, dreq, drep
        layers = (CmReq, CmRep, CmRtu, CmDreq, CmDrep)
        assert [type(frame[Mad].payload) for frame in self.all] == list(layers)

    @property
    def all(self) -> tuple[Packet, ...]:
        return self.req, self.rep, self.rtu, self.dreq, self.drep

    def flows(self) -> tuple[FlowKey, FlowKey]:
        """The flow to the responder, and the reverse flow."""
        src, dst = addresses(self.req)
        return (
            FlowKey("blue", src, dst, self.rep[CmRep].local_qpn),
            FlowKey("blue", dst, src, self.req[CmReq].local_qpn),
        )

    def learned(self) -> list[CmEvent]:
        forth, back = self.flows()
        return [QueuePairLearned(forth, back.dest_qp), QueuePairLearned(back, forth.dest_qp)]

    def closed(self) -> list[CmEvent]:
        return [FlowClosed(flow) for flow in self.flows()]

    def again(self, *, comm_ids: int, a_qp: int = 0, b_qp: int = 0) -> "Handshake":
        """Another connection of the same hosts; `comm_ids` is added to the IDs, a QP kept if 0."""
        copy = Handshake(*(frame.copy() for frame in self.all))
        for frame in copy.all:
            frame[Mad].payload.local_comm_id += comm_ids
            if CmReq not in frame:
                frame[Mad].payload.remote_comm_id += comm_ids
        copy.req[CmReq].local_qpn = a_qp or self.req[CmReq].local_qpn
        copy.rep[CmRep].local_qpn = b_qp or self.rep[CmRep].local_qpn
        copy.dreq[CmDreq].remote_qpn = copy.rep[CmRep].local_qpn
        return copy

    def answer(self, layer: Packet, *, by_responder: bool = True) -> Packet:
        """A frame of either side with another CM message, made from its REP or RTU."""
        frame = (self.rep if by_responder else self.rtu).copy()
        attributes = {CmRej: CmAttribute.REJ, CmMra: CmAttribute.MRA, CmDreq: CmAttribute.DREQ}
        frame[Mad].attribute = attributes[type(layer)]
        frame[Mad].remove_payload()
        frame[Mad].add_payload(layer)
        return frame

    @property
    def a_id(self) -> int:
        return int(self.req[CmReq].local_comm_id)

    @property
    def b_id(self) -> int:
        return int(self.rep[CmRep].local_comm_id)


def addresses(frame: Packet):  # type: ignore[no-untyped-def]  # noqa: ANN201
    ip = frame[IP] if IP in frame else frame[IPv6]
    return ip_address(ip.src), ip_address(ip.dst)


def digest(frame: Packet) -> CmMessage:
    """The digest of a frame, read from its octets (p4src/learning/digests.p4)."""
    read = Ether(bytes(frame))
    layer = read[Mad].payload
    src, dst = addresses(read)
    attribute = read[Mad].attribute
    ids = bytes(layer)
    qpn = 0
    if isinstance(layer, CmReq | CmRep):
        qpn = layer.local_qpn
    elif isinstance(layer, CmDreq):
        qpn = layer.remote_qpn
    remote = 0 if attribute == CmAttribute.REQ else int.from_bytes(ids[4:8], "big")
    return CmMessage("blue", src, dst, attribute, int.from_bytes(ids[:4], "big"), remote, qpn)


class Tracker:
    """A connection tracker that takes frames."""

    def __init__(self) -> None:
        self.connections = ConnectionTracker(lambda: 0.0)

    def __call__(self, *frames: Packet) -> list[CmEvent]:
        return [event for frame in frames for event in self.connections.handle(digest(frame))]


@pytest.fixture
def see() -> Tracker:
    return Tracker()


def test_the_handshakes_as_captured(messages: list[Packet], see: Tracker) -> None:
    events = see(*messages)
    expected = [
        QueuePairLearned(FlowKey("blue", src, dst, qp), qp)
        for a, b, qp in ((A4, B4, 17), (A6, B6, 18), (A4, B4, 19), (A4, B4, 20))
        for src, dst in ((a, b), (b, a))
    ]
    assert [event for event in events if isinstance(event, QueuePairLearned)] == expected
    closed = [event.flow for event in events if isinstance(event, FlowClosed)]
    assert sorted(map(str, closed)) == sorted(str(each.flow) for each in expected)
    assert len(see.connections) == 0


# -- REJ ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", RejectReason)
@pytest.mark.parametrize("with_own_id", [False, True])
def test_rejected_request(
    handshake: Handshake, see: Tracker, reason: RejectReason, with_own_id: bool
) -> None:
    """The responder's ID is 0 when it rejects before it has assigned one."""
    own = handshake.b_id if with_own_id else 0
    reject = CmRej(local_comm_id=own, remote_comm_id=handshake.a_id, reason=reason)
    assert see(handshake.req, handshake.answer(reject)) == []
    assert len(see.connections) == 0
    assert see(handshake.rep) == []


def test_stale_connection_is_rejected_and_the_old_one_disconnected(
    handshake: Handshake, see: Tracker
) -> None:
    """The initiator restarted and uses a queue pair that is still in use for the responder: by
    naming it in another REQ it says that the old connection is no more."""
    see(handshake.req, handshake.rep)
    fresh = handshake.again(comm_ids=7)
    stale = CmRej(remote_comm_id=fresh.a_id, reason=RejectReason.STALE_CONNECTION)
    assert see(fresh.req) == handshake.closed()
    assert see(fresh.answer(stale)) == []
    old = CmDreq(
        local_comm_id=handshake.b_id,
        remote_comm_id=handshake.a_id,
        remote_qpn=handshake.req[CmReq].local_qpn,
    )
    assert see(handshake.answer(old)) == [PeerClosed(handshake.flows()[1])]
    assert len(see.connections) == 0


@pytest.mark.parametrize("half", ["req", "rep"])
def test_half_a_handshake_of_its_queue_pair_ends_a_connection(
    handshake: Handshake, see: Tracker, half: str
) -> None:
    """The report of the other half was lost: what is known of the queue pair is wrong."""
    see(handshake.req, handshake.rep)
    qps = {"b_qp": 0x77} if half == "req" else {"a_qp": 0x77}
    fresh = handshake.again(comm_ids=7, **qps)
    assert see(getattr(fresh, half)) == handshake.closed()
    other = "rep" if half == "req" else "req"
    assert see(getattr(fresh, other)) == fresh.learned()


# -- MRA, retransmission, loss -----------------------------------------------------------------


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_retransmitted_request_and_reply_in_any_order(
    handshake: Handshake, see: Tracker, order: tuple[int, ...]
) -> None:
    frames = handshake.req, handshake.rep, handshake.req, handshake.rep
    assert see(*(frames[index] for index in order)) == handshake.learned()


def test_request_retransmitted_after_its_end_starts_nothing(
    handshake: Handshake, see: Tracker
) -> None:
    see(*handshake.all)
    assert see(handshake.req) == []
    assert see(handshake.drep) == []
    assert len(see.connections) == 0


# -- queue pairs and IDs that are used again ---------------------------------------------------


def test_queue_pair_used_again_after_disconnect(handshake: Handshake, see: Tracker) -> None:
    for attempt in range(3):
        used = handshake.again(comm_ids=attempt, b_qp=0x200 + attempt)
        assert see(used.req, used.rep, used.rtu) == used.learned()
        assert see(used.dreq) == used.closed()


@pytest.mark.parametrize("kept", ["initiator's", "responder's"])
def test_late_disconnect_of_the_old_connection_leaves_the_new_one(
    handshake: Handshake, see: Tracker, kept: str
) -> None:
    """One side's queue pair is in use in a new connection when the old DREQ is repeated."""
    see(handshake.req, handshake.rep)
    a_qp, b_qp = (0, 0x201) if kept == "initiator's" else (0x101, 0)
    used = handshake.again(comm_ids=1, a_qp=a_qp, b_qp=b_qp)
    see(used.req, used.rep)
    late = see(handshake.dreq, handshake.drep)
    alive = used.flows()
    assert not any(isinstance(event, FlowClosed) and event.flow in alive for event in late)
    assert not any(isinstance(event, PeerClosed) and event.flow in alive for event in late)
    assert see(used.dreq) == used.closed()


# -- other transports, tags --------------------------------------------------------------------


def test_of_extended_reliable_connections_nothing_wrong_is_learned(
    handshake: Handshake, see: Tracker
) -> None:
    """The target's queue pair is in the place of the EE context (Linux: cm_format_rep, IBTA volume
    1, annex A14): 0 in that of the QPN is no queue pair."""
    handshake.req[CmReq].transport_service = EXTENDED
    handshake.req[CmReq].extended_transport = XRC
    handshake.rep[CmRep].local_eecn = handshake.rep[CmRep].local_qpn
    handshake.rep[CmRep].local_qpn = 0
    handshake.rep[CmRep].srq = 1
    assert see(handshake.req, handshake.rep, handshake.rtu) == []
    see(handshake.dreq)
    assert len(see.connections) == 0


@pytest.mark.parametrize("qpn", [0, 1])
def test_management_queue_pairs_have_no_connection(
    handshake: Handshake, see: Tracker, qpn: int
) -> None:
    handshake.req[CmReq].local_qpn = qpn
    assert see(handshake.req, handshake.rep) == []


@pytest.mark.parametrize("attribute", [SIDR_REQ, SIDR_REP, 0x19, 0x1A, 0x1B, 0x00, 0xFFFF])
def test_datagram_service_and_unknown_messages_teach_nothing(
    handshake: Handshake, see: Tracker, attribute: int
) -> None:
    """UD queue pairs are resolved by SIDR and have no connection: any number of senders."""
    frame = handshake.req.copy()
    frame[Mad].attribute = attribute
    frame[Mad].remove_payload()
    frame[Mad].add_payload(Raw(bytes(range(CM_DATA_LENGTH))))
    assert see(frame) == []
    assert len(see.connections) == 0


# -- limits ------------------------------------------------------------------------------------


def _attempts(handshake: Handshake, count: int) -> Iterator[CmMessage]:
    for message in (digest(handshake.req), digest(handshake.rep)):
        for number in range(count):
            attempt = replace(message, qpn=0x1000 + number)
            if message.attribute == CmAttribute.REQ:
                yield replace(attempt, local_comm_id=number)
            else:
                yield replace(attempt, remote_comm_id=number)


def test_forgotten_connections_leave_nothing_behind(handshake: Handshake) -> None:
    """Another host's connection takes the place of the newest of the host with most."""
    connections = ConnectionTracker(lambda: 0.0, limit=10)
    for message in _attempts(handshake, 10):
        connections.handle(message)
    src, dst = addresses(handshake.req)
    another = replace(digest(handshake.req), src=dst, dst=src)
    newest = [FlowKey("blue", src, dst, 0x1009), FlowKey("blue", dst, src, 0x1009)]
    assert connections.handle(another) == [FlowClosed(flow) for flow in newest]
    late = CmMessage("blue", src, dst, CmAttribute.DREQ, 9, handshake.b_id, 0x1009)
    assert connections.handle(late) == [PeerClosed(newest[0])]
