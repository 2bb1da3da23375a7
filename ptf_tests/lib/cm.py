"""Messages of the InfiniBand connection manager on QP 1 (IBTA volume 1, chapter 12), FCN-3."""

import struct
from dataclasses import dataclass
from ipaddress import ip_address

from fcn.packets.cm import CM_CLASS, MAD_LENGTH, QP1, QP1_Q_KEY, CmAttribute
from fcn.packets.roce import ROCEV2_PORT, Opcode
from fcn.ptf_tests.lib.packets import IPV6_HEADER, UDP_HEADER, Ecn, roce

UDP_PROTOCOL = 17

_BTH = 12
_DETH = 8
_CLASS_VERSION = 2
_METHOD_SEND = 0x03
_MAD_HEADER = 24
"""The CM message starts behind BTH, DETH and MAD header; offsets below count from the BTH."""


_QPN_OFFSET: dict[int, int] = {CmAttribute.REQ: 76, CmAttribute.REP: 56, CmAttribute.DREQ: 52}
"""Where a message carries its queue pair number, counted from the BTH."""


def cm_message(
    src: str,
    dst: str,
    attribute: int,
    *,
    local_comm_id: int,
    remote_comm_id: int = 0,
    qpn: int = 0,
    sport: int = 0xC123,
    mgmt_class: int = CM_CLASS,
) -> bytes:
    """A CM datagram of UDP length 288.

    qpn goes where the attribute carries a queue pair number: local QPN of REQ and REP, remote QPN
    of DREQ.
    """
    mad = bytearray(MAD_LENGTH)
    mad[0:4] = bytes((1, mgmt_class, _CLASS_VERSION, _METHOD_SEND))
    struct.pack_into("!Q", mad, 8, 0x0123456700000000 | local_comm_id)
    struct.pack_into("!H", mad, 16, attribute)
    struct.pack_into("!II", mad, _MAD_HEADER, local_comm_id, remote_comm_id)
    offset = _QPN_OFFSET.get(attribute)
    if offset is not None:
        start = offset - _BTH - _DETH
        mad[start : start + 3] = qpn.to_bytes(3, "big")
    deth = struct.pack("!II", QP1_Q_KEY, QP1)
    return roce(
        src,
        dst,
        QP1,
        opcode=Opcode.UD_SEND_ONLY,
        payload=deth + bytes(mad),
        sport=sport,
        ecn=Ecn.NOT_ECT,
        dscp=0,
    )


@dataclass(frozen=True, slots=True)
class CmMessage:
    """A connection manager message as the data plane reports it (cm_ipv4_t, cm_ipv6_t)."""

    src: str
    dst: str
    attribute: int
    local_comm_id: int
    remote_comm_id: int
    qpn: int


def parse_cm(datagram: bytes) -> CmMessage | None:
    """Read a CM message off a RoCEv2 datagram; None for any other packet.

    remote_comm_id is 0 in a REQ, qpn 0 in messages that carry none.
    """
    if datagram[0] >> 4 == 4:
        protocol, transport = datagram[9], (datagram[0] & 0x0F) * 4
        src, dst = str(ip_address(datagram[12:16])), str(ip_address(datagram[16:20]))
    else:
        protocol, transport = datagram[6], IPV6_HEADER
        src, dst = str(ip_address(datagram[8:24])), str(ip_address(datagram[24:40]))
    bth = transport + UDP_HEADER
    if (
        protocol != UDP_PROTOCOL
        or datagram[transport + 2 : transport + 4] != ROCEV2_PORT.to_bytes(2, "big")
        or datagram[bth] != Opcode.UD_SEND_ONLY
        or datagram[bth + 5 : bth + 8] != QP1.to_bytes(3, "big")
        or datagram[bth + 21] != CM_CLASS
    ):
        return None
    attribute = int.from_bytes(datagram[bth + 36 : bth + 38], "big")
    local, remote = struct.unpack_from("!II", datagram, bth + 44)
    offset = _QPN_OFFSET.get(attribute)
    qpn = int.from_bytes(datagram[bth + offset : bth + offset + 3], "big") if offset else 0
    return CmMessage(src, dst, attribute, local, 0 if attribute == CmAttribute.REQ else remote, qpn)
