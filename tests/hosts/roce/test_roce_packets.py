"""ICRC, packet building and checking of fcn-roce (FCN-13 vectors, FCN-1 headers)."""

import random
import zlib

import pytest
from roce_testing import Driver
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

from fcn.ptf_tests.lib.captures import SOFTROCE

# CNPs from the IP header on, the last one captured from a ConnectX-4.
VECTORS = {
    "ipv4": "45c0003c00004000401125e60a0100010a00000ac00012b7002800008100ffff4000011800000000"
    "0000000000000000000000000000000034587210",
    "ipv6": "6c0000000028114020010db800010000000000000000000120010db8000200000000000000000010"
    "c00012b700285b8a8100ffff400001180000000000000000000000000000000000000000e73bcc81",
    "connectx4": "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000000000000000"
    "000000000000000000000000000000000000000082fd002a",
}


@pytest.fixture(scope="module")
def captured() -> list[bytes]:
    """RoCEv2 packets of the real capture, from the IP header on."""
    frames = [data for data, _ in RawPcapReader(str(SOFTROCE))]
    roce = [bytes(ip) for frame in frames if (ip := Ether(frame).payload).haslayer(BTH)]
    assert len(roce) > 20
    return roce


def fields(answer: str) -> dict[str, int]:
    verdict, *rest = answer.split()
    assert verdict == "ok", answer
    return {name: int(value) for name, value in (item.split("=") for item in rest)}


@pytest.mark.parametrize("name", ["ipv4", "ipv6"])
def test_cnp_vectors_are_accepted(driver: Driver, name: str) -> None:
    found = fields(driver(f"parse {VECTORS[name]}"))
    assert found["opcode"] == 0x81
    assert found["dest_qp"] == 0x118
    assert found["becn"] == 1
    assert found["psn"] == 0
    assert found["payload"] == 16


def test_real_capture_is_accepted(driver: Driver, captured: list[bytes]) -> None:
    assert {driver(f"parse {data.hex()}").split()[0] for data in captured} == {"ok"}


@pytest.mark.parametrize("name", ["ipv4", "ipv6"])
def test_every_truncation_is_refused(driver: Driver, name: str) -> None:
    whole = VECTORS[name]
    for length in range(0, len(whole), 2):
        assert not driver(f"parse {whole[:length]}").startswith("ok"), length


@pytest.mark.parametrize("name", ["ipv4", "ipv6"])
def test_every_flipped_bit_is_noticed_or_not_covered(driver: Driver, name: str) -> None:
    """Only changes of fields that routers change (masked in the ICRC) are accepted."""
    whole = bytes.fromhex(VECTORS[name])
    unnoticed = set()
    for bit in range(len(whole) * 8):
        changed = bytearray(whole)
        changed[bit // 8] ^= 0x80 >> bit % 8
        if driver(f"parse {changed.hex()}").startswith("ok"):
            unnoticed.add(bit // 8)
    # IPv6: traffic class, flow label and hop limit; the UDP checksum detects changes of BTH byte 4
    # and of itself. IPv4: the header checksum covers its fields, not BTH byte 4.
    assert unnoticed == ({0, 1, 2, 3, 7} if name == "ipv6" else {20 + 8 + 4})


def test_random_garbage_is_never_accepted(driver: Driver) -> None:
    seeded = random.Random(6040)
    for _ in range(500):
        head = bytes([seeded.choice((0x45, 0x60, 0x65, 0x00))])
        data = head + seeded.randbytes(seeded.randrange(0, 120))
        assert not driver(f"parse {data.hex()}").startswith("ok")


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("length", [0, 4, 16, 1024 + 16, 4096])
def test_built_packets_have_the_icrc_scapy_computes(
    driver: Driver, version: int, length: int
) -> None:
    payload = random.Random(length).randbytes(length)
    built = bytes.fromhex(driver(f"build {version} {payload.hex()}"))
    parsed = IP(built) if version == 4 else IPv6(built)
    assert parsed[BTH].opcode == 0x0A
    assert parsed[BTH].dqpn == 0x123456
    assert parsed[BTH].psn == 0xABCDEF
    assert parsed[BTH].ackreq == 1
    assert parsed[UDP].len == len(built) - (20 if version == 4 else 40)
    assert built[-4:] == parsed[BTH].compute_icrc(payload)
    assert built[-4:] == icrc(built)
    assert fields(driver(f"parse {built.hex()}"))["payload"] == length
    rebuilt = parsed.copy()
    if version == 4:
        del rebuilt[IP].chksum
        assert IP(bytes(rebuilt)).chksum == parsed.chksum
    else:
        del rebuilt[UDP].chksum
        assert IPv6(bytes(rebuilt))[UDP].chksum == parsed[UDP].chksum != 0


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("gap", [2, 16, 3008, 4000])
def test_a_packet_without_its_zeros_is_the_whole_one(
    driver: Driver, version: int, gap: int
) -> None:
    start = random.Random(gap).randbytes(24)
    built = bytes.fromhex(driver(f"build {version} {(start + bytes(4072)).hex()}"))
    verdict, short = driver(f"gap 4072 {gap} {version} {start.hex()}").split()
    before = len(built) - 16 - gap
    assert verdict == "ok"
    assert bytes.fromhex(short) == built[:before] + built[before + gap :]


def icrc(packet: bytes) -> bytes:
    """ICRC with zlib, from the description in InfiniBand annex A17."""
    masked = bytearray(packet[:-4])
    if packet[0] >> 4 == 4:
        at = 20
        masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
    else:
        at = 40
        masked[0] |= 0x0F
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xFF
    masked[at + 6] = masked[at + 7] = masked[at + 8 + 4] = 0xFF
    return zlib.crc32(b"\xff" * 8 + bytes(masked)).to_bytes(4, "little")


def test_payload_that_is_no_multiple_of_four_is_not_built(driver: Driver) -> None:
    assert driver("build 4 010203") == ""


def test_udp_source_port_is_symmetric_and_dynamic(driver: Driver) -> None:
    """mlx5's hash of the two QP numbers, computed by hand for 0x11 and 0x12."""
    product = 0x11 * 0x12
    assert int(driver("port 17 18")) == (product | 0xC000)
    assert driver("port 17 18") == driver("port 18 17")
    large = 0xABCDEF * 0x123456
    large ^= large >> 20
    large ^= large >> 40
    label = large & 0xFFFFF
    assert int(driver(f"port {0xABCDEF} {0x123456}")) == ((label & 0x3FFF) ^ label >> 14) | 0xC000
