"""Messages of the InfiniBand connection manager on queue pair 1 (IBTA volume 1, chapter 12), FCN-3.

A message is IP / UDP / BTH / Deth / Mad / one of the Cm layers, 288 octets of UDP. Offsets in
comments count from the start of the BTH.
"""

from enum import IntEnum

from scapy.fields import (
    BitField,
    ByteEnumField,
    ByteField,
    IP6Field,
    ShortEnumField,
    ShortField,
    StrFixedLenField,
    X3BytesField,
    XIntField,
    XLongField,
    XShortField,
)
from scapy.packet import Packet, bind_layers

from fcn.packets.roce import DEFAULT_P_KEY, Deth

QP1 = 1
"""QP 1, the general services interface, which the connection manager uses."""

QP1_Q_KEY = 0x80010000
CM_CLASS = 0x07
MAD_LENGTH = 256
CM_DATA_LENGTH = 232
"""Octets of a MAD after its common header."""


class CmAttribute(IntEnum):
    """Attribute IDs of the communication management class."""

    REQ = 0x10
    MRA = 0x11
    REJ = 0x12
    REP = 0x13
    RTU = 0x14
    DREQ = 0x15
    DREP = 0x16


class RejectReason(IntEnum):
    """Reasons of a REJ that the project uses (table 111)."""

    NO_QP = 1
    TIMEOUT = 4
    INVALID_SERVICE_ID = 8
    STALE_CONNECTION = 10
    CONSUMER = 28


def _names(enum: type[IntEnum]) -> dict[int, str]:
    return {int(member): member.name for member in enum}


class Mad(Packet):  # type: ignore[misc]  # scapy is untyped
    """The 24 octets all management datagrams begin with (13.4.3)."""

    name = "MAD"
    fields_desc = (
        ByteField("base_version", 1),  # 20
        ByteEnumField("mgmt_class", CM_CLASS, {CM_CLASS: "CM"}),  # 21
        ByteField("class_version", 2),
        ByteEnumField("method", 0x03, {0x03: "Send"}),
        ShortField("status", 0),
        ShortField("class_specific", 0),
        XLongField("transaction_id", 0),  # 28
        ShortEnumField("attribute", CmAttribute.REQ, _names(CmAttribute)),  # 36
        ShortField("reserved", 0),
        XIntField("modifier", 0),
    )


class CmReq(Packet):  # type: ignore[misc]  # scapy is untyped
    """Request for communication (12.6.5): the initiator's queue pair and first PSN."""

    name = "CM REQ"
    fields_desc = (
        XIntField("local_comm_id", 0),  # 44
        XIntField("reserved1", 0),
        XLongField("service_id", 0),  # 52
        XLongField("local_ca_guid", 0),
        XIntField("reserved2", 0),
        XIntField("local_q_key", 0),
        X3BytesField("local_qpn", 0),  # 76
        ByteField("responder_resources", 1),
        X3BytesField("local_eecn", 0),
        ByteField("initiator_depth", 1),
        X3BytesField("remote_eecn", 0),
        BitField("remote_cm_timeout", 20, 5),
        BitField("transport_service", 0, 2),  # 0 RC, 1 UC, 2 RD
        BitField("end_to_end_flow_control", 0, 1),
        X3BytesField("starting_psn", 0),  # 88
        BitField("local_cm_timeout", 20, 5),
        BitField("retry_count", 7, 3),
        XShortField("p_key", DEFAULT_P_KEY),
        BitField("path_mtu", 3, 4),
        BitField("rdc_exists", 0, 1),
        BitField("rnr_retry_count", 7, 3),
        BitField("max_cm_retries", 15, 4),
        BitField("srq", 0, 1),
        BitField("extended_transport", 0, 3),
        XShortField("primary_local_lid", 0xFFFF),
        XShortField("primary_remote_lid", 0xFFFF),
        IP6Field("primary_local_gid", "::"),  # 100
        IP6Field("primary_remote_gid", "::"),
        BitField("primary_flow_label", 0, 20),
        BitField("reserved3", 0, 6),
        BitField("primary_packet_rate", 0, 6),
        ByteField("primary_traffic_class", 0),
        ByteField("primary_hop_limit", 64),
        BitField("primary_sl", 0, 4),
        BitField("primary_subnet_local", 0, 1),
        BitField("reserved4", 0, 3),
        BitField("primary_ack_timeout", 0, 5),
        BitField("reserved5", 0, 3),
        StrFixedLenField("alternate_path", bytes(44), 44),
        StrFixedLenField("private_data", bytes(92), 92),
    )


class CmRep(Packet):  # type: ignore[misc]  # scapy is untyped
    """Reply to a REQ (12.6.8): the responder's queue pair and first PSN."""

    name = "CM REP"
    fields_desc = (
        XIntField("local_comm_id", 0),  # 44
        XIntField("remote_comm_id", 0),  # 48
        XIntField("local_q_key", 0),
        X3BytesField("local_qpn", 0),  # 56
        ByteField("reserved1", 0),
        X3BytesField("local_eecn", 0),
        ByteField("reserved2", 0),
        X3BytesField("starting_psn", 0),  # 64
        ByteField("reserved3", 0),
        ByteField("responder_resources", 1),
        ByteField("initiator_depth", 1),
        BitField("target_ack_delay", 0, 5),
        BitField("failover_accepted", 0, 2),
        BitField("end_to_end_flow_control", 0, 1),
        BitField("rnr_retry_count", 7, 3),
        BitField("srq", 0, 1),
        BitField("reserved4", 0, 4),
        XLongField("local_ca_guid", 0),
        StrFixedLenField("private_data", bytes(196), 196),
    )


class CmRtu(Packet):  # type: ignore[misc]  # scapy is untyped
    """Ready to use (12.6.9)."""

    name = "CM RTU"
    fields_desc = (
        XIntField("local_comm_id", 0),
        XIntField("remote_comm_id", 0),
        StrFixedLenField("private_data", bytes(224), 224),
    )


class CmRej(Packet):  # type: ignore[misc]  # scapy is untyped
    """Reject (12.6.7), of either side, at any time before the connection is used."""

    name = "CM REJ"
    fields_desc = (
        XIntField("local_comm_id", 0),
        XIntField("remote_comm_id", 0),
        BitField("message_rejected", 0, 2),  # 0 REQ, 1 REP, 2 none of them
        BitField("reserved1", 0, 6),
        BitField("info_length", 0, 7),
        BitField("reserved2", 0, 1),
        ShortEnumField("reason", RejectReason.CONSUMER, _names(RejectReason)),
        StrFixedLenField("additional_info", bytes(72), 72),
        StrFixedLenField("private_data", bytes(148), 148),
    )


class CmMra(Packet):  # type: ignore[misc]  # scapy is untyped
    """Message receipt acknowledged (12.6.6): the answer will take longer."""

    name = "CM MRA"
    fields_desc = (
        XIntField("local_comm_id", 0),
        XIntField("remote_comm_id", 0),
        BitField("message_acknowledged", 0, 2),  # 0 REQ, 1 REP, 2 LAP
        BitField("reserved1", 0, 6),
        BitField("service_timeout", 0, 5),
        BitField("reserved2", 0, 3),
        StrFixedLenField("private_data", bytes(222), 222),
    )


class CmDreq(Packet):  # type: ignore[misc]  # scapy is untyped
    """Request to disconnect (12.6.10): `remote_qpn` is the queue pair of its receiver."""

    name = "CM DREQ"
    fields_desc = (
        XIntField("local_comm_id", 0),
        XIntField("remote_comm_id", 0),
        X3BytesField("remote_qpn", 0),  # 52
        ByteField("reserved", 0),
        StrFixedLenField("private_data", bytes(220), 220),
    )


class CmDrep(Packet):  # type: ignore[misc]  # scapy is untyped
    """Reply to a DREQ (12.6.11)."""

    name = "CM DREP"
    fields_desc = (
        XIntField("local_comm_id", 0),
        XIntField("remote_comm_id", 0),
        StrFixedLenField("private_data", bytes(224), 224),
    )


LAYERS: dict[CmAttribute, type[Packet]] = {
    CmAttribute.REQ: CmReq,
    CmAttribute.MRA: CmMra,
    CmAttribute.REJ: CmRej,
    CmAttribute.REP: CmRep,
    CmAttribute.RTU: CmRtu,
    CmAttribute.DREQ: CmDreq,
    CmAttribute.DREP: CmDrep,
}

bind_layers(Deth, Mad, source_qp=QP1)
for _attribute, _layer in LAYERS.items():
    bind_layers(Mad, _layer, mgmt_class=CM_CLASS, attribute=_attribute)
