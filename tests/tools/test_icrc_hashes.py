"""The ICRC a Tofino would compute, checked without the chip (FCN-13).

What the program asks for: the field lists of p4src/fast_cnp/tna/icrc.p4 are read from the source
and hashed by a plain bitwise CRC with the polynomial's parameters. What the chip does is seen on
its model (docs/tofino.md).
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

P4SRC = Path(__file__).resolve().parents[2] / "p4src"
TNA = P4SRC / "fast_cnp" / "tna"
CONFIG = P4SRC / "base" / "sizes.p4"
# From the IP header on: two independent implementations, and a capture of a real ConnectX-4.
VECTORS = {
    "ipv4": "45c0003c00004000401125e60a0100010a00000ac00012b7002800008100ffff4000011800000000"
    "0000000000000000000000000000000034587210",
    "ipv6": "6c0000000028114020010db800010000000000000000000120010db80002000000000000000000"
    "10c00012b700285b8a8100ffff400001180000000000000000000000000000000000000000e73bcc81",
    "connectx4": "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000"
    "000000000000000000000000000000000000000082fd002a",
}


@dataclass(frozen=True)
class Cnp:
    """The fields of a CNP that its ICRC depends on, by the names of the P4 program."""

    fields: dict[str, int]
    icrc: bytes
    is_ipv4: bool

    @classmethod
    def parse(cls, text: str) -> "Cnp":
        """From hexadecimal octets, IP header first."""
        data = bytes.fromhex(text)
        is_ipv4 = data[0] >> 4 == 4
        ip, udp = (20, data[20:]) if is_ipv4 else (40, data[40:])
        family = "ipv4" if is_ipv4 else "ipv6"
        width = 4 if is_ipv4 else 16
        return cls(
            {
                f"hdr.{family}.src": int.from_bytes(data[ip - 2 * width : ip - width]),
                f"hdr.{family}.dst": int.from_bytes(data[ip - width : ip]),
                "hdr.cnp_profile.ipv4_id": int.from_bytes(data[4:6]),
                "hdr.cnp_profile.udp_src_port": int.from_bytes(udp[0:2]),
                "hdr.roce.bth.p_key": int.from_bytes(udp[10:12]),
                "hdr.roce.bth.dest_qp": int.from_bytes(udp[13:16]),
            },
            data[-4:],
            is_ipv4,
        )


WIDTHS = {
    "hdr.ipv4.src": 32,
    "hdr.ipv4.dst": 32,
    "hdr.ipv6.src": 128,
    "hdr.ipv6.dst": 128,
    "hdr.cnp_profile.ipv4_id": 16,
    "hdr.cnp_profile.udp_src_port": 16,
    "hdr.roce.bth.p_key": 16,
    "hdr.roce.bth.dest_qp": 24,
}


def field_list(action: str) -> list[str]:
    """The items an action of icrc.p4 hashes."""
    text = (TNA / "icrc.p4").read_text()
    found = re.search(rf"action {action}\(\) \{{.*?get\(\{{(.*?)\}}\)", text, re.DOTALL)
    assert found, action
    return [item.strip() for item in found.group(1).split(",")]


def octets(items: list[str], cnp: Cnp) -> bytes:
    """What the list is for one CNP: literals, constants of sizes.p4 and fields."""
    known: dict[str, tuple[int, int]] = {}
    for width_of, name, terms in re.findall(
        r"const bit<(\d+)> (\w+) = ([\w +]+);", CONFIG.read_text()
    ):
        values = [known[term][1] if term in known else int(term, 0) for term in terms.split(" + ")]
        known[name] = int(width_of), sum(values)
    bits = ""
    for item in items:
        literal = re.fullmatch(r"(\d+)w(\w+)", item)
        if literal:
            width, value = int(literal[1]), int(literal[2], 0)
        elif item in known:
            width, value = known[item]
        else:
            width, value = WIDTHS[item], cnp.fields[item]
        bits += f"{value:0{width}b}"
    assert len(bits) % 8 == 0
    return int(bits, 2).to_bytes(len(bits) // 8)


def crc(data: bytes, polynomial: int, *, reverse: bool, init: int, xor: int) -> int:
    """CRC-32 bit by bit, as the parameters of CRCPolynomial define it."""
    register = init
    for octet in data:
        for position in range(8):
            bit = octet >> (position if reverse else 7 - position) & 1
            top = register >> 31 ^ bit
            register = (register << 1 & 0xFFFFFFFF) ^ (polynomial if top else 0)
    if reverse:
        register = int(f"{register:032b}"[::-1], 2)
    return register ^ xor


def swap(value: int) -> bytes:
    """`to_wire`: the least significant octet goes first."""
    return value.to_bytes(4, "little")


@pytest.mark.parametrize("vector", VECTORS)
def test_field_lists_of_the_source(vector: str) -> None:
    cnp = Cnp.parse(VECTORS[vector])
    source = (TNA / "icrc.p4").read_text()
    parameters = re.search(
        r"coeff = 32w(\w+), reversed = (\w+), msb = (\w+), extended = (\w+),\s+"
        r"init = 32w(\w+), xor = 32w(\w+)",
        source,
    )
    assert parameters
    assert parameters[3] == parameters[4] == "false"
    data = octets(field_list("hash_ipv4" if cnp.is_ipv4 else "hash_ipv6"), cnp)
    value = crc(
        data,
        int(parameters[1], 0),
        reverse=parameters[2] == "true",
        init=int(parameters[5], 0),
        xor=int(parameters[6], 0),
    )
    assert (
        "hdr.roce.cnp_payload.icrc = crc[7:0] ++ crc[15:8] ++ crc[23:16] ++ crc[31:24];" in source
    )
    assert swap(value) == cnp.icrc
