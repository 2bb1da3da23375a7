"""Frames of many connection set-ups and flows, each a copy of one with its numbers replaced."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from fcn.packets.cm import QP1, QP1_Q_KEY, CmAttribute, CmRep, CmReq, Mad
from fcn.packets.roce import BTH, ROCEV2_PORT, Deth, Opcode

INITIATOR_QP, RESPONDER_QP = 0x100, 0x800000
"""Queue pairs of the first connection; those of the next follow."""

INITIATOR_ID, RESPONDER_ID = 1, 0x80000000
"""Communication IDs of the first connection; those of the next follow."""

_IP = 14
_SOURCE = _IP + 12
_CHECKSUM = _IP + 10
_BTH = _IP + 20 + 8
_BTH_QP = _BTH + 5
_LOCAL_COMM_ID = _BTH + 44
_REQ_QPN = _BTH + 76
_REP_QPN = _BTH + 56


@dataclass(frozen=True, slots=True)
class Site:
    """Where a tenant's hosts are: the first of `hosts` consecutive addresses, and the MAC address
    of their gateway."""

    first: IPv4Address
    hosts: int
    gateway: str

    def host(self, number: int) -> IPv4Address:
        """The host that takes part in connection `number`."""
        return self.first + number % self.hosts


def requests(here: Site, there: Site, count: int) -> Iterator[bytes]:
    frame = _message(here, there, CmAttribute.REQ, CmReq())
    for number in range(count):
        _between(frame, here.host(number), there.host(number))
        struct.pack_into("!I", frame, _LOCAL_COMM_ID, INITIATOR_ID + number)
        frame[_REQ_QPN : _REQ_QPN + 3] = _queue_pair(INITIATOR_QP + number)
        yield bytes(frame)


def replies(here: Site, there: Site, count: int) -> Iterator[bytes]:
    frame = _message(there, here, CmAttribute.REP, CmRep())
    for number in range(count):
        _between(frame, there.host(number), here.host(number))
        comm_ids = RESPONDER_ID + number, INITIATOR_ID + number
        struct.pack_into("!II", frame, _LOCAL_COMM_ID, *comm_ids)
        frame[_REP_QPN : _REP_QPN + 3] = _queue_pair(RESPONDER_QP + number)
        yield bytes(frame)


def first_packets(here: Site, there: Site, count: int) -> Iterator[bytes]:
    """A data packet of a flow to each of `count` queue pairs, those of responders."""
    bth = BTH(opcode=Opcode.RC_RDMA_WRITE_ONLY) / bytes(20)
    frame = bytearray(bytes(_headers(here, there) / bth))
    for number in range(count):
        _between(frame, here.host(number), there.host(number))
        frame[_BTH_QP : _BTH_QP + 3] = _queue_pair(RESPONDER_QP + number)
        yield bytes(frame)


def _queue_pair(number: int) -> bytes:
    return number.to_bytes(3, "big")


def _headers(here: Site, there: Site) -> Packet:
    ends = IP(src=str(here.first), dst=str(there.first))
    # Without a source scapy would look for the interface.
    return (
        Ether(src="02:00:00:00:00:01", dst=here.gateway)
        / ends
        / UDP(sport=0xC000, dport=ROCEV2_PORT, chksum=0)
    )


def _message(here: Site, there: Site, attribute: CmAttribute, message: Packet) -> bytearray:
    header = BTH(opcode=Opcode.UD_SEND_ONLY, dqpn=QP1) / Deth(q_key=QP1_Q_KEY, source_qp=QP1)
    mad = Mad(attribute=attribute) / message
    return bytearray(bytes(_headers(here, there) / header / mad / bytes(4)))


def _between(frame: bytearray, source: IPv4Address, destination: IPv4Address) -> None:
    frame[_SOURCE : _SOURCE + 8] = source.packed + destination.packed
    frame[_CHECKSUM : _CHECKSUM + 2] = bytes(2)
    total = sum(struct.unpack_from("!10H", frame, _IP))
    total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", frame, _CHECKSUM, ~(total + (total >> 16)) & 0xFFFF)
