"""Real handshakes, and one of another transport made of them (FCN-3), decoded as the PE program
reports them, at the initiator's and the responder's PE. test_cm.py has what else messages can be.
"""

from ipaddress import ip_address

import pytest
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import rdpcap

from fcn.controller.flows.connections import (
    CmEvent,
    CmMessage,
    ConnectionTracker,
    FlowClosed,
    QueuePairLearned,
)
from fcn.controller.flows.key import FlowKey
from fcn.packets.cm import (
    CmAttribute,
    CmDreq,
    CmRep,
    CmReq,
    Mad,
)
from fcn.ptf_tests.lib.captures import SOFTROCE

A4, B4 = ip_address("192.168.7.2"), ip_address("192.168.7.1")
A6, B6 = ip_address("fd00:7::2"), ip_address("fd00:7::1")
EXTENDED, XRC = 3, 1


@pytest.fixture(scope="module")
def messages() -> list[Packet]:
    """The capture's CM frames, in order: four handshakes with their disconnects."""
    found = [packet for packet in rdpcap(str(SOFTROCE)) if Mad in packet]
    assert len(found) == 20
    return found


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


def see(connections: ConnectionTracker, *frames: Packet) -> list[CmEvent]:
    return [event for frame in frames for event in connections.handle(digest(frame))]


def test_the_handshakes_as_captured(messages: list[Packet]) -> None:
    connections = ConnectionTracker(lambda: 0.0)
    events = see(connections, *messages)
    expected = [
        QueuePairLearned(FlowKey("blue", src, dst, qp), qp)
        for a, b, qp in ((A4, B4, 17), (A6, B6, 18), (A4, B4, 19), (A4, B4, 20))
        for src, dst in ((a, b), (b, a))
    ]
    assert [event for event in events if isinstance(event, QueuePairLearned)] == expected
    closed = [event.flow for event in events if isinstance(event, FlowClosed)]
    assert sorted(map(str, closed)) == sorted(str(each.flow) for each in expected)
    assert len(connections) == 0


@pytest.mark.parametrize("start", [0, 5], ids=["ipv4", "ipv6"])
def test_of_extended_reliable_connections_nothing_wrong_is_learned(
    messages: list[Packet], start: int
) -> None:
    """The target's queue pair is in the place of the EE context (Linux: cm_format_rep, IBTA volume
    1, annex A14): 0 in that of the QPN is no queue pair."""
    req, rep, rtu, dreq = (packet.copy() for packet in messages[start : start + 4])
    req[CmReq].transport_service = EXTENDED
    req[CmReq].extended_transport = XRC
    rep[CmRep].local_eecn = rep[CmRep].local_qpn
    rep[CmRep].local_qpn = 0
    rep[CmRep].srq = 1
    connections = ConnectionTracker(lambda: 0.0)
    assert see(connections, req, rep, rtu) == []
    see(connections, dreq)
    assert len(connections) == 0
