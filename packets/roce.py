"""RoCEv2 headers (IBTA volume 1, chapter 9 and annex A17).

BTH, AETH and the 16 octets of a CNP are scapy's own layers, re-exported here; a BTH built without
`icrc` computes it. DETH is added, and the AETH of responses that scapy does not dissect.
"""

from enum import IntEnum

from scapy.contrib.roce import AETH, BTH, CNPPadding
from scapy.fields import ByteField, X3BytesField, XIntField
from scapy.packet import Packet, bind_layers

__all__ = [
    "AETH",
    "BTH",
    "CNP_RESERVED",
    "DEFAULT_P_KEY",
    "ROCEV2_PORT",
    "CNPPadding",
    "Deth",
    "Opcode",
]

ROCEV2_PORT = 4791
DEFAULT_P_KEY = 0xFFFF
CNP_RESERVED = bytes(CNPPadding())


class Opcode(IntEnum):
    """BTH opcodes the project uses: transport service (upper 3 bits), operation (lower 5)."""

    RC_SEND_ONLY = 0x04
    RC_RDMA_WRITE_FIRST = 0x06
    RC_RDMA_WRITE_ONLY = 0x0A
    RC_RDMA_READ_REQUEST = 0x0C
    RC_RDMA_READ_RESPONSE_FIRST = 0x0D
    RC_RDMA_READ_RESPONSE_LAST = 0x0F
    RC_RDMA_READ_RESPONSE_ONLY = 0x10
    RC_ACKNOWLEDGE = 0x11
    RC_ATOMIC_ACKNOWLEDGE = 0x12
    UC_SEND_ONLY = 0x24
    UD_SEND_ONLY = 0x64
    CNP = 0x81


class Deth(Packet):  # type: ignore[misc]  # scapy is untyped
    """Datagram extended transport header: Q_Key(32) reserved(8) SourceQP(24), of UD packets."""

    name = "DETH"
    fields_desc = (
        XIntField("q_key", 0),
        ByteField("reserved", 0),
        X3BytesField("source_qp", 0),
    )


bind_layers(BTH, Deth, opcode=Opcode.UD_SEND_ONLY)
for _opcode in (
    Opcode.RC_RDMA_READ_RESPONSE_FIRST,
    Opcode.RC_RDMA_READ_RESPONSE_LAST,
    Opcode.RC_RDMA_READ_RESPONSE_ONLY,
    Opcode.RC_ATOMIC_ACKNOWLEDGE,
):
    bind_layers(BTH, AETH, opcode=_opcode)
