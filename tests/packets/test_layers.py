"""The layers of packets/: against known packets, a real capture and the compiled programs."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap

from fcn.packets.cm import (
    CM_CLASS,
    CM_DATA_LENGTH,
    LAYERS,
    MAD_LENGTH,
    QP1,
    CmAttribute,
    CmDreq,
    CmRep,
    CmReq,
    Mad,
)
from fcn.packets.fast_cnp import FAST_CNP_PORT, FastCnp
from fcn.packets.icrc import icrc, icrc_valid
from fcn.packets.roce import AETH, BTH, ROCEV2_PORT, CNPPadding, Deth, Opcode
from fcn.ptf_tests.lib import vectors
from fcn.ptf_tests.lib.captures import SOFTROCE

ROOT = Path(__file__).parents[2]
CM_UDP_LENGTH = 288


@pytest.fixture(scope="module")
def roce_packets() -> list[Packet]:
    """The capture's RoCEv2 datagrams, from their IP header."""
    found = [p.payload for p in rdpcap(str(SOFTROCE)) if UDP in p and p[UDP].dport == ROCEV2_PORT]
    assert len(found) == 404
    return found


def test_the_compiled_programs_use_the_same_numbers() -> None:
    numbers: dict[str, Any] = json.loads(
        (ROOT / "p4src" / "compiled" / "constants.json").read_text()
    )
    assert numbers["UdpPort"]["ROCEV2"] == ROCEV2_PORT
    assert numbers["BthOpcode"] == {name: Opcode[name] for name in numbers["BthOpcode"]}
    assert numbers["MAD_CLASS_CM"] == CM_CLASS
    assert numbers["QP1"] == QP1
    assert numbers["CmAttribute"] == {member.name: member.value for member in CmAttribute}


def test_every_cm_message_of_the_capture_is_read_to_its_end(roce_packets: list[Packet]) -> None:
    messages = [p for p in roce_packets if Mad in p]
    assert Counter(CmAttribute(p[Mad].attribute).name for p in messages) == {
        "REQ": 4,
        "REP": 4,
        "RTU": 4,
        "DREQ": 4,
        "DREP": 4,
    }
    for message in messages:
        assert message[BTH].dqpn == QP1
        assert message[Deth].source_qp == QP1
        assert message[UDP].len == CM_UDP_LENGTH
        layer = message[Mad].payload
        assert type(layer) is LAYERS[CmAttribute(message[Mad].attribute)]
        assert not layer.payload


def test_the_layers_agree_with_the_fields_of_the_capture(roce_packets: list[Packet]) -> None:
    requests = [p[CmReq] for p in roce_packets if CmReq in p]
    replies = [p[CmRep] for p in roce_packets if CmRep in p]
    ends = [p[CmDreq] for p in roce_packets if CmDreq in p]
    assert [r.local_qpn for r in requests] == [0x11, 0x12, 0x13, 0x14]
    assert [r.starting_psn for r in requests] == [0xFB1264, 0x6C06BE, 0x1AC008, 0xEBD834]
    assert [r.remote_comm_id for r in replies] == [r.local_comm_id for r in requests]
    assert sorted(d.remote_qpn for d in ends) == sorted(r.local_qpn for r in replies)
    assert requests[1].primary_local_gid == "fd00:7::2"
    assert requests[1].primary_remote_gid == "fd00:7::1"


def test_every_packet_of_the_capture_is_rebuilt_as_it_was(roce_packets: list[Packet]) -> None:
    """Also with the ICRC computed by scapy's layer, and by fcn.packets.icrc."""
    for packet in roce_packets:
        original = bytes(packet)
        rebuilt = packet.copy()
        del rebuilt[BTH].icrc
        assert bytes(rebuilt).hex() == original.hex()
        assert icrc_valid(original)


@pytest.mark.parametrize("attribute", CmAttribute)
def test_a_cm_message_is_one_mad(attribute: CmAttribute) -> None:
    layer = LAYERS[attribute]()
    assert len(layer) == CM_DATA_LENGTH
    mad = Mad() / layer
    assert len(mad) == MAD_LENGTH
    read = Mad(bytes(mad))
    assert read.attribute == attribute
    assert type(read.payload) is LAYERS[attribute]


def test_cm_of_another_class_is_left_alone() -> None:
    mad = Mad(mgmt_class=0x03, attribute=CmAttribute.REQ) / Raw(bytes(CM_DATA_LENGTH))
    assert CmReq not in Mad(bytes(mad))


@pytest.mark.parametrize("vector", vectors.CNP_VECTORS, ids=lambda v: v.name)
def test_known_cnps_are_read(vector: vectors.CnpVector) -> None:
    packet = (IP if vector.datagram[0] >> 4 == 4 else IPv6)(vector.datagram)
    cnp = packet[BTH]
    assert (cnp.opcode, cnp.becn, cnp.dqpn, cnp.psn) == (Opcode.CNP, 1, vector.dest_qp, 0)
    assert bytes(packet[CNPPadding]) == bytes(16)


@pytest.mark.parametrize(
    "opcode",
    [
        Opcode.RC_ACKNOWLEDGE,
        Opcode.RC_RDMA_READ_RESPONSE_ONLY,
        Opcode.RC_RDMA_READ_RESPONSE_FIRST,
        Opcode.RC_RDMA_READ_RESPONSE_LAST,
        Opcode.RC_ATOMIC_ACKNOWLEDGE,
    ],
)
def test_responses_have_an_aeth(opcode: Opcode) -> None:
    built = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=ROCEV2_PORT)
    built = built / BTH(opcode=opcode, dqpn=5) / AETH(syndrome=0x1F, msn=0xABCDEF) / Raw(bytes(8))
    read = IP(bytes(built))
    assert (read[AETH].syndrome, read[AETH].msn) == (0x1F, 0xABCDEF)
    assert icrc_valid(bytes(built))


def test_the_oracle_and_the_layer_compute_the_same_icrc() -> None:
    random_source = random.Random(13)
    for size in range(0, 64, 4):
        for header in (
            IP(src="10.0.0.1", dst="10.9.8.7", tos=3),
            IPv6(src="::1", dst="2001::", tc=9),
        ):
            bth = BTH(
                opcode=Opcode.RC_SEND_ONLY,
                dqpn=random_source.getrandbits(24),
                psn=random_source.getrandbits(24),
                fecn=size >> 2 & 1,
                becn=size >> 3 & 1,
            )
            built = bytes(
                header / UDP(sport=7, dport=ROCEV2_PORT) / bth / random_source.randbytes(size)
            )
            assert built[-4:] == icrc(built[:-4])


def test_fast_cnp_word_has_the_layout_of_the_draft() -> None:
    word = FastCnp(label=0x8A1B2, level=5)
    assert bytes(word).hex() == f"{0x8A1B2 << 12 | 5 << 9:08x}"
    datagram = IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP(sport=9, dport=FAST_CNP_PORT) / word
    read = IPv6(bytes(datagram))
    assert read[UDP].len == 12
    assert (read[FastCnp].label, read[FastCnp].level, read[FastCnp].reserved) == (0x8A1B2, 5, 0)


@pytest.mark.parametrize("size", range(16))
def test_a_truncated_bth_is_raw_and_no_error(size: int) -> None:
    datagram = IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=ROCEV2_PORT) / bytes(size)
    assert bytes(IP(bytes(datagram)))[28:] == bytes(size)
