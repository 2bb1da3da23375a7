"""Frames of ARP, neighbour discovery and ICMP echo (RFC 826, 4861, 4443), valid and invalid."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from fcn.controller.neighbors.frames import (
    Announcement,
    EchoRequest,
    Solicitation,
    answer,
    destination,
    echo_reply,
    forwarded,
    interpret,
    solicit,
)

HOST_MAC, OWN_MAC = 0x020000000001, 0x02AA00000002
HOST, OWN = "02:00:00:00:00:01", "02:aa:00:00:00:02"
A, GATEWAY = ip_address("10.1.0.10"), ip_address("10.1.0.1")
A6, GATEWAY6 = ip_address("2001:db8:1::10"), ip_address("2001:db8:1::1")


def arp(op: int = 1, **fields: object) -> bytes:
    return bytes(Ether(src=HOST) / ARP(op=op, hwsrc=HOST, psrc=str(A), **fields))


def solicitation(src: str = str(A6), hlim: int = 255) -> bytes:
    header = Ether(src=HOST) / IPv6(src=src, dst="ff02::1:ff00:1", hlim=hlim)
    return bytes(header / ICMPv6ND_NS(tgt=str(GATEWAY6)) / ICMPv6NDOptSrcLLAddr(lladdr=HOST))


def test_arp_request_is_understood_and_answered() -> None:
    question = interpret(arp(pdst=str(GATEWAY)))
    assert question == Solicitation(GATEWAY, A, HOST_MAC)
    assert isinstance(question, Solicitation)
    reply = Ether(answer(question, OWN_MAC, 0))
    assert (reply.dst, reply.src) == (HOST, OWN)
    fields = reply[ARP]
    assert (fields.op, fields.hwsrc, fields.psrc) == (2, OWN, str(GATEWAY))
    assert (fields.hwdst, fields.pdst) == (HOST, str(A))


def test_arp_probe_has_no_sender() -> None:
    frame = bytes(Ether(src=HOST) / ARP(hwsrc=HOST, psrc="0.0.0.0", pdst=str(GATEWAY)))
    assert interpret(frame) == Solicitation(GATEWAY, None, HOST_MAC)


@pytest.mark.parametrize("frame", [arp(2, pdst=str(GATEWAY)), arp(1, pdst=str(A))])
def test_arp_reply_and_gratuitous_request_announce(frame: bytes) -> None:
    assert interpret(frame) == Announcement(A, HOST_MAC)


def test_neighbor_solicitation_is_understood_and_answered() -> None:
    question = interpret(solicitation())
    assert question == Solicitation(GATEWAY6, A6, HOST_MAC)
    assert isinstance(question, Solicitation)
    reply = Ether(answer(question, OWN_MAC, 0))
    assert (reply.dst, reply[IPv6].dst, reply[IPv6].hlim) == (HOST, str(A6), 255)
    advertised = reply[ICMPv6ND_NA]
    assert (advertised.tgt, advertised.R, advertised.S, advertised.O) == (str(GATEWAY6), 1, 1, 1)
    assert reply[ICMPv6NDOptDstLLAddr].lladdr == OWN


def test_duplicate_address_detection_is_answered_to_all_nodes() -> None:
    question = interpret(solicitation(src="::"))
    assert question == Solicitation(GATEWAY6, None, HOST_MAC)
    assert isinstance(question, Solicitation)
    reply = Ether(answer(question, OWN_MAC, 0))
    assert (reply.dst, reply[IPv6].dst, reply[ICMPv6ND_NA].S) == ("33:33:00:00:00:01", "ff02::1", 0)


def test_neighbor_message_through_a_router_is_forged() -> None:
    assert interpret(solicitation(hlim=254)) is None


def test_own_questions_are_those_hosts_answer() -> None:
    request = Ether(solicit(OWN_MAC, GATEWAY, A, 0))
    assert request.dst == "ff:ff:ff:ff:ff:ff"
    assert interpret(bytes(request)) == Solicitation(A, GATEWAY, OWN_MAC)
    target = ip_address("2001:db8:1::ab:cdef")
    request = Ether(solicit(OWN_MAC, GATEWAY6, target, 0))
    assert (request.dst, request[IPv6].dst) == ("33:33:ff:ab:cd:ef", "ff02::1:ffab:cdef")
    assert interpret(bytes(request)) == Solicitation(target, GATEWAY6, OWN_MAC)


def test_tagged_ports_get_tagged_frames() -> None:
    for frame in (
        solicit(OWN_MAC, GATEWAY, A, 7),
        answer(Solicitation(GATEWAY6, A6, HOST_MAC), OWN_MAC, 7),
        forwarded(ip_packet(), OWN_MAC, HOST_MAC, 7, as_router=True) or b"",
    ):
        assert Ether(frame)[Dot1Q].vlan == 7


@pytest.mark.parametrize(
    "request_",
    [
        IP(src=str(A), dst=str(GATEWAY)) / ICMP(id=3, seq=4) / b"hello",
        IPv6(src=str(A6), dst=str(GATEWAY6)) / ICMPv6EchoRequest(id=3, seq=4, data=b"hello"),
    ],
)
def test_echo_is_returned_with_its_data_and_without_padding(request_: Packet) -> None:
    frame = bytes(Ether(src=HOST) / request_).ljust(64, b"\0")
    sender = ip_address(request_.src)
    assert interpret(frame) == EchoRequest(sender, HOST_MAC)
    reply = Ether(echo_reply(frame, OWN_MAC, HOST_MAC, 0))
    assert (reply.dst, reply.src) == (HOST, OWN)
    layer = reply[ICMPv6EchoReply] if sender.version == 6 else reply[ICMP]
    data = layer.data if sender.version == 6 else bytes(layer.payload)
    assert (layer.id, layer.seq, data) == (3, 4, b"hello")
    network = reply[IPv6] if sender.version == 6 else reply[IP]
    assert (network.src, network.dst) == (request_.dst, request_.src)
    rebuilt = Ether(bytes(reply))
    if sender.version == 6:
        del rebuilt[ICMPv6EchoReply].cksum
    else:
        del rebuilt[ICMP].chksum, rebuilt[IP].chksum
    assert bytes(rebuilt) == bytes(reply)


@pytest.mark.parametrize(
    "packet",
    [
        IPv6(src=str(A6), dst=str(GATEWAY6))
        / ICMPv6DestUnreach()
        / IPv6(src=str(GATEWAY6), dst=str(A6))
        / ICMPv6EchoRequest(),
        IPv6(src=str(A6), dst=str(GATEWAY6)) / IPv6() / ICMPv6EchoRequest(),
        IP(src=str(A), dst=str(GATEWAY)) / IP() / ICMP(),
        IPv6(src="ff02::1", dst=str(GATEWAY6)) / ICMPv6EchoRequest(),
        IPv6(src="::", dst=str(GATEWAY6)) / ICMPv6EchoRequest(),
        IP(src="224.0.0.1", dst=str(GATEWAY)) / ICMP(),
        IP(src="0.0.0.0", dst=str(GATEWAY)) / ICMP(),
    ],
)
def test_quoted_or_tunnelled_echo_and_one_of_no_station_is_not_answered(packet: Packet) -> None:
    assert interpret(bytes(Ether(src=HOST) / packet)) is None


def ip_packet(ttl: int = 64) -> bytes:
    packet = IP(src="10.9.0.1", dst=str(A), ttl=ttl) / UDP(sport=1, dport=4791) / Raw(b"\x04" * 32)
    return bytes(Ether(src=HOST) / packet)


def test_waiting_packet_is_routed_on_its_way() -> None:
    sent = forwarded(ip_packet(), OWN_MAC, HOST_MAC, 0, as_router=True)
    assert sent is not None
    frame = Ether(sent)
    assert (frame.dst, frame.src, frame[IP].ttl) == (HOST, OWN, 63)
    expected = Ether(ip_packet(63))
    assert bytes(frame[IP]) == bytes(expected[IP])


def test_last_hop_to_live_is_not_forwarded() -> None:
    assert forwarded(ip_packet(1), OWN_MAC, HOST_MAC, 0, as_router=True) is None


def test_underlay_packet_keeps_its_hop_limit() -> None:
    packet = bytes(Ether() / IPv6(dst=str(A6), hlim=1))
    sent = forwarded(packet, OWN_MAC, HOST_MAC, 0, as_router=False)
    assert sent is not None
    assert Ether(sent)[IPv6].hlim == 1


def test_destination_is_that_of_the_first_ip_header() -> None:
    assert destination(ip_packet()) == A
    assert destination(bytes(Ether() / IPv6(dst=str(A6)) / IP(dst="10.0.0.9"))) == A6
    assert destination(ip_packet()[:30]) is None
    assert destination(arp(pdst=str(GATEWAY))) is None


@given(st.binary(max_size=120))
def test_garbage_is_no_message_or_a_plausible_one(frame: bytes) -> None:
    assert not isinstance(interpret(frame), Exception)


@pytest.mark.parametrize("whole", [arp(pdst=str(GATEWAY)), solicitation(), ip_packet()])
def test_truncation_at_every_octet_is_survived(whole: bytes) -> None:
    for length in range(len(whole)):
        interpret(whole[:length])
        destination(whole[:length])
