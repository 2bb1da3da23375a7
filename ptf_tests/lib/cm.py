"""Messages of the InfiniBand connection manager on QP 1 (IBTA volume 1, chapter 12), FCN-3."""

import struct
from enum import IntEnum

from ptf_tests.lib.packets import UD_SEND_ONLY, Ecn, roce

_Q_KEY_QP1 = 0x80010000
_MAD_LENGTH = 256
_BTH = 12
_DETH = 8
_CM_CLASS = 0x07
_CLASS_VERSION = 2
_METHOD_SEND = 0x03
_MAD_HEADER = 24
"""The CM message starts behind BTH, DETH and MAD header; offsets below count from the BTH."""


class CmAttribute(IntEnum):
    """Attribute IDs of the communication management class."""

    REQ = 0x10
    MRA = 0x11
    REJ = 0x12
    REP = 0x13
    RTU = 0x14
    DREQ = 0x15
    DREP = 0x16


def cm_message(
    src: str,
    dst: str,
    attribute: int,
    *,
    local_comm_id: int,
    remote_comm_id: int = 0,
    qpn: int = 0,
    sport: int = 0xC123,
    mgmt_class: int = _CM_CLASS,
) -> bytes:
    """A CM datagram of UDP length 288.

    qpn goes where the attribute carries a queue pair number: local QPN of REQ and REP, remote QPN
    of DREQ.
    """
    mad = bytearray(_MAD_LENGTH)
    mad[0:4] = bytes((1, mgmt_class, _CLASS_VERSION, _METHOD_SEND))
    struct.pack_into("!Q", mad, 8, 0x0123456700000000 | local_comm_id)
    struct.pack_into("!H", mad, 16, attribute)
    struct.pack_into("!II", mad, _MAD_HEADER, local_comm_id, remote_comm_id)
    offset = {CmAttribute.REQ: 76, CmAttribute.REP: 56, CmAttribute.DREQ: 52}.get(
        CmAttribute(attribute) if attribute in set(CmAttribute) else CmAttribute.MRA
    )
    if offset is not None:
        start = offset - _BTH - _DETH
        mad[start : start + 3] = qpn.to_bytes(3, "big")
    deth = struct.pack("!II", _Q_KEY_QP1, 1)
    return roce(
        src,
        dst,
        1,
        opcode=UD_SEND_ONLY,
        payload=deth + bytes(mad),
        sport=sport,
        ecn=Ecn.NOT_ECT,
        dscp=0,
    )
