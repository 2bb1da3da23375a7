"""CM messages of fcn-roce: the offsets from which network nodes learn queue pairs (FCN-3)."""

import pytest
from roce_testing import Driver
from scapy.utils import RawPcapReader

from fcn.ptf_tests.lib.captures import SOFTROCE

BTH = 12  # the offsets below count from BTH octet 0
REQ, REJ, REP, RTU, DREQ, DREP = 0x10, 0x12, 0x13, 0x14, 0x15, 0x16
NAMES = {REQ: "REQ", REJ: "REJ", REP: "REP", RTU: "RTU", DREQ: "DREQ", DREP: "DREP"}


def built(driver: Driver, attribute: int) -> bytes:
    """The message after 12 zero octets in place of the BTH: offsets as in docs/packets.md."""
    return bytes(BTH) + bytes.fromhex(driver(f"cmbuild {attribute}"))


@pytest.mark.parametrize("attribute", NAMES)
def test_common_header(driver: Driver, attribute: int) -> None:
    message = built(driver, attribute)
    assert len(message) == BTH + 8 + 256
    assert message[12:16] == bytes.fromhex("80010000")
    assert message[17:20] == b"\0\0\1"
    assert message[20:24] == bytes.fromhex("01070203")
    assert message[28:36] == bytes.fromhex("1122334455667788")
    assert int.from_bytes(message[36:38]) == attribute
    assert message[44:48] == bytes.fromhex("a1a2a3a4")
    if attribute != REQ:
        assert message[48:52] == bytes.fromhex("b1b2b3b4")
    assert driver(f"cm {message[BTH:].hex()}").split()[0] == NAMES[attribute]


def test_req_fields(driver: Driver) -> None:
    message = built(driver, REQ)
    assert int.from_bytes(message[52:60]) == 0x1061C06
    assert message[76:79] == bytes.fromhex("c1c2c3")
    assert message[88:91] == bytes.fromhex("e1e2e3")
    assert message[100:132] == bytes.fromhex(
        "00000000000000000000ffff0a01000100000000000000000000ffff0a020001"
    )


def test_rep_and_dreq_fields(driver: Driver) -> None:
    assert built(driver, REP)[56:59] == bytes.fromhex("c1c2c3")
    assert built(driver, REP)[64:67] == bytes.fromhex("e1e2e3")
    assert built(driver, DREQ)[52:55] == bytes.fromhex("d1d2d3")


def test_fixed_req_fields_match_the_real_capture(driver: Driver) -> None:
    """Path MTU, transport and GID layout as in the REQ of a Debian kernel's rdma_rxe."""
    real = next(
        data[14 + 20 + 8 :]
        for data, _ in RawPcapReader(str(SOFTROCE))
        if data[14] == 0x45 and data[42] == 0x64 and data[14 + 28 + 36 : 14 + 28 + 38] == b"\0\x10"
    )
    ours = built(driver, REQ)
    assert ours[17:24] == real[17:24]
    assert ours[52:60] == real[52:60]
    assert ours[87] & 0x06 == real[87] & 0x06, "transport service type RC"
    assert ours[92:94] == real[92:94], "P_Key"
    assert ours[100:112] == real[100:112], "IPv4-mapped GID"
    answer = driver(f"cm {real[BTH:].hex()}")
    assert answer.startswith(f"REQ local={0xC0F20D73} ")
    assert "local_qp=17 " in answer


@pytest.mark.parametrize("length", [0, 1, 8, 24, 263])
def test_short_messages_are_refused(driver: Driver, length: int) -> None:
    assert driver(f"cm {built(driver, REQ)[BTH : BTH + length].hex() or '00'}") == "no"


def test_other_classes_and_attributes_are_refused(driver: Driver) -> None:
    message = bytearray(built(driver, REQ)[BTH:])
    message[9] = 0x03
    assert driver(f"cm {message.hex()}") == "no"
    message[9] = 0x07
    message[25] = 0x7F
    assert driver(f"cm {message.hex()}") == "no"
