"""What a tenant can send towards the controller: well-formed messages, and what is like them.

Layouts are tables of fields; a message is made from one, then some fields get boundary values, bits
flip, and octets are cut off or appended. Offsets of the connection manager's messages count from
the BTH (packets/cm.py), and what a PE reports of them is read as p4src/learning/roce_parser.p4
does. A seeded generator rather than hypothesis: a million messages in a row, to one controller that
remembers, are one example.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from fcn.contract.constants import CmAttribute
from fcn.contract.ports import PORT_BITS
from fcn.controller.config.notation import Address

UD_SEND_ONLY = 0x64
QP0, QP1 = 0, 1
CLASS_CM = 0x07
CLASSES = (0x01, 0x81, 0x03, 0x04, 0x32, 0x09)
"""Subnet management (LID routed, directed route), subnet administration and other classes."""
SIDR = (0x17, 0x18)
LOAD_ALTERNATE = (0x19, 0x1A)
REQUESTS, RESPONSES, OTHERS = (0x04, 0x0A, 0x0C), (0x0D, 0x10, 0x11), (0x24, 0x64, 0xA4, 0x81)

Fields = Mapping[str, tuple[int, int]]
"""Offset and octets by name."""

BTH: Fields = {"opcode": (0, 1), "p_key": (2, 2), "dest_qp": (5, 3), "psn": (9, 3)}
MAD: Fields = {
    **BTH,
    "q_key": (12, 4),
    "source_qp": (17, 3),
    "base_version": (20, 1),
    "mgmt_class": (21, 1),
    "class_version": (22, 1),
    "method": (23, 1),
    "status": (24, 2),
    "transaction_id": (28, 8),
    "attribute": (36, 2),
    "modifier": (40, 4),
    "local_comm_id": (44, 4),
    "remote_comm_id": (48, 4),
}
QPN_AT = {CmAttribute.REQ: 76, CmAttribute.REP: 56, CmAttribute.DREQ: 52}
MAD_END = 276
GRH = 40
"""Octets of a global route header, which UD receivers find before the payload and RoCEv2 lacks."""

ARP: Fields = {
    "hardware": (14, 2),
    "protocol": (16, 2),
    "hardware_length": (18, 1),
    "protocol_length": (19, 1),
    "operation": (20, 2),
    "sender_mac": (22, 6),
    "sender": (28, 4),
    "target_mac": (32, 6),
    "target": (38, 4),
}
IPV6: Fields = {
    "version": (14, 4),
    "length": (18, 2),
    "next_header": (20, 1),
    "hop_limit": (21, 1),
    "src": (22, 16),
    "dst": (38, 16),
    "type": (54, 1),
    "code": (55, 1),
    "checksum": (56, 2),
    "flags": (58, 4),
    "target": (62, 16),
}
IPV4: Fields = {
    "version": (14, 1),
    "length": (16, 2),
    "fragment": (20, 2),
    "ttl": (22, 1),
    "protocol": (23, 1),
    "checksum": (24, 2),
    "src": (26, 4),
    "dst": (30, 4),
    "type": (34, 1),
    "code": (35, 1),
    "id": (38, 2),
}
ND_OPTIONS = (1, 2, 3, 4, 5, 14, 24, 25, 31, 253)
ND_TYPES = (133, 134, 135, 135, 135, 136, 136, 137)
ODD_ADDRESSES: Mapping[int, Sequence[Address]] = {
    4: tuple(map(IPv4Address, ("0.0.0.0", "255.255.255.255", "127.0.0.1", "224.0.0.1", "1.2.3.4"))),
    6: tuple(
        map(IPv6Address, ("::", "::1", "ff02::1", "fe80::1", "::ffff:10.1.0.10", "2001:db8::"))
    ),
}


@dataclass(slots=True)
class Attempt:
    """What both ends of a connection of the attackers know."""

    src: Address
    dst: Address
    ids: tuple[int, int]
    qps: tuple[int, int]
    psn: int = 0


def put(octets: bytearray, field: tuple[int, int], value: int) -> None:
    """Write a number where there is room for it, modulo its size."""
    at, size = field
    if len(octets) >= at + size:
        octets[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "big")


def number(octets: bytes, at: int, size: int) -> int:
    """Read a number."""
    return int.from_bytes(octets[at : at + size], "big")


def reported(
    vrf: int, port: int, src: Address, dst: Address, udp_src_port: int, packet: bytes
) -> tuple[str, dict[str, int]] | None:
    """The digest of a RoCEv2 packet from a port, given from its BTH on; None: there is none."""
    if len(packet) < 12:
        return None
    ends = {"vrf": vrf, "src": int(src), "dst": int(dst)}
    if (packet[0], number(packet, 5, 3)) == (UD_SEND_ONLY, QP1):
        if len(packet) < 44:
            return None
        attribute = number(packet, 36, 2)
        if packet[21] == CLASS_CM:
            if attribute > 0x7F:
                return None
            qpn_at = QPN_AT.get(CmAttribute(attribute)) if attribute in set(CmAttribute) else None
            if len(packet) < (52 if qpn_at is None else qpn_at + 3):
                return None
            remote = 0 if attribute == CmAttribute.REQ else number(packet, 48, 4)
            qpn = 0 if qpn_at is None else number(packet, qpn_at, 3)
            ids = {"local_comm_id": number(packet, 44, 4), "remote_comm_id": remote}
            origin = {"attribute_and_port": attribute << PORT_BITS | port}
            return f"cm_ipv{src.version}_t", {**ends, **ids, "qpn": qpn, **origin}
    return f"new_flow_ipv{src.version}_t", {
        **ends,
        "dest_qp": number(packet, 5, 3),
        "p_key": number(packet, 2, 2),
        "psn": number(packet, 9, 3),
        "udp_src_port": udp_src_port,
        "opcode": packet[0],
        "port": port,
    }


class Grammar:
    """Messages of some hosts of one tenant. `known`: numbers worth guessing, as those of others."""

    def __init__(self, rng: random.Random, hosts: Sequence[Address], known: Sequence[int]) -> None:
        self.rng = rng
        self.hosts = hosts
        self.known = known
        self.connections = [self._connection() for _ in range(12)]

    def life(self) -> list[tuple[bool, int | None]]:
        """What a connection sends, in order: by the initiator or not, and the attribute; None is
        data. Mostly a handshake and some data, with messages missing, repeated and exchanged."""
        rng = self.rng
        steps: list[tuple[bool, int | None]] = [(True, CmAttribute.REQ), (False, CmAttribute.REP)]
        steps += [(True, CmAttribute.RTU), *((side, None) for side in (True, False) * 3)]
        if rng.random() < 0.4:
            steps += [(True, CmAttribute.DREQ), (False, CmAttribute.DREP)]
        if rng.random() < 0.3:
            steps.insert(1, (False, rng.choice((CmAttribute.MRA, CmAttribute.REJ))))
        for _ in range(rng.choice((0, 0, 0, 1, 2))):
            at = rng.randrange(len(steps))
            match rng.randrange(3):
                case 0:
                    del steps[at]
                case 1:
                    steps.insert(at, steps[at])
                case _:
                    steps.append(steps.pop(at))
        return steps

    def any_step(self) -> tuple[bool, int | None]:
        """A step of no order."""
        attribute = self.rng.choice((*CmAttribute, *SIDR, *LOAD_ALTERNATE, 0xFFFF, None, None))
        return self.rng.random() < 0.5, attribute

    def roce(self, connection: Attempt, forth: bool, attribute: int | None) -> bytes:
        """A packet of a connection: of the connection manager, or data."""
        rng = self.rng
        own, peer = connection.ids if forth else connection.ids[::-1]
        own_qp, peer_qp = connection.qps if forth else connection.qps[::-1]
        if attribute is None:
            packet = bytearray(28)
            connection.psn += rng.choice((0, 1, 1, 64, 1 << 22))
            opcode = rng.choice(rng.choice((REQUESTS, RESPONSES, RESPONSES, OTHERS)))
            fields = {"opcode": opcode, "p_key": 0xFFFF, "dest_qp": peer_qp, "psn": connection.psn}
            return self._made(packet, BTH, fields)
        packet = bytearray(MAD_END)
        fields = {
            "opcode": UD_SEND_ONLY,
            "dest_qp": QP0 if rng.random() < 0.02 else QP1,
            "source_qp": QP1,
            "q_key": 0x80010000,
            "base_version": 1,
            "mgmt_class": rng.choice(CLASSES) if rng.random() < 0.03 else CLASS_CM,
            "class_version": 2,
            "method": 3,
            "attribute": attribute,
            "local_comm_id": own,
            "remote_comm_id": peer,
        }
        if attribute in QPN_AT:
            qpn = peer_qp if attribute == CmAttribute.DREQ else own_qp
            put(packet, (QPN_AT[CmAttribute(attribute)], 3), qpn)
        made = self._made(packet, MAD, fields)
        return bytes(GRH) + made if rng.random() < 0.01 else made

    def neighbor(self, mine: Address, own: Sequence[Address]) -> bytes:
        """ARP or neighbour discovery, or a packet like those; `own`: addresses of the router."""
        rng = self.rng
        target = rng.choice((*own, *own, *self.hosts, *ODD_ADDRESSES[mine.version]))
        target = target if target.version == mine.version else mine
        mac = rng.choice((0x020000000001, rng.getrandbits(48), 0, (1 << 48) - 1))
        if mine.version == 4:
            fields = {
                "hardware": 1,
                "protocol": 0x0800,
                "hardware_length": 6,
                "protocol_length": 4,
                "operation": rng.choice((1, 1, 2, 3, 8)),
                "sender_mac": mac,
                "sender": int(mine),
                "target": int(target),
            }
            return self._made(self._ether(0x0806, mac, 28), ARP, fields)
        options = b"".join(self._option(mac) for _ in range(rng.choice((0, 1, 1, 1, 2, 5))))
        frame = self._ether(0x86DD, mac, 64) + options
        fields = {
            "version": 0x60000000,
            "length": 24 + len(options),
            "next_header": 58,
            "hop_limit": rng.choice((255, 255, 255, 64)),
            "src": int(rng.choice((mine, mine, IPv6Address("::")))),
            "dst": int(target),
            "type": rng.choice(ND_TYPES),
            "target": int(target),
        }
        return self._made(frame, IPV6, fields)

    def packet(self, mine: Address, to: Address) -> bytes:
        """An IP packet: an echo request, or anything to a host nobody knows."""
        rng = self.rng
        mac = rng.getrandbits(48)
        if mine.version == 4:
            frame = self._ether(0x0800, mac, 28 + rng.choice((0, 8, 56)))
            fields = {"version": 0x45, "length": len(frame) - 14, "ttl": rng.choice((64, 1, 0))}
            fields |= {"protocol": rng.choice((1, 1, 17)), "src": int(mine), "dst": int(to)}
            return self._made(frame, IPV4, fields | {"type": 8})
        frame = self._ether(0x86DD, mac, 48 + rng.choice((0, 8, 56)))
        fields = {"version": 0x60000000, "length": len(frame) - 54, "hop_limit": 64}
        fields |= {"next_header": rng.choice((58, 58, 17, 0, 43, 44)), "type": 128}
        return self._made(frame, IPV6, fields | {"src": int(mine), "dst": int(to)})

    def address(self, version: int, *others: Address) -> Address:
        """One of the tenant's, of others, or none a host can have."""
        candidates = (*self.hosts, *self.hosts, *others, *ODD_ADDRESSES[version])
        return self.rng.choice([each for each in candidates if each.version == version])

    def value(self, size: int) -> int:
        """A number of some octets that is likely to matter."""
        rng, top = self.rng, 1 << 8 * size
        edges = (0, 1, 2, top - 1, top - 2, top >> 1, (top >> 1) - 1, 1 << 8 * (size - 1))
        return rng.choice((rng.choice(edges), rng.choice(self.known), rng.getrandbits(8 * size)))

    def begin_another(self) -> None:
        """One of the connections is followed by another, which may use numbers of it again."""
        place = self.rng.randrange(len(self.connections))
        older, newer = self.connections[place], self._connection()
        if self.rng.random() < 0.5:
            newer.qps = (older.qps[0], newer.qps[1])
        if self.rng.random() < 0.3:
            newer.ids = (older.ids[0], newer.ids[1])
        self.connections[place] = newer

    def _connection(self) -> Attempt:
        rng = self.rng
        src = rng.choice(self.hosts)
        dst = rng.choice([host for host in self.hosts if host.version == src.version])
        ids = rng.choice(((self.value(4), self.value(4)), (7, 7)))
        return Attempt(src, dst, ids, (self.value(3), self.value(3)), rng.getrandbits(24))

    def _ether(self, ether_type: int, mac: int, size: int) -> bytearray:
        frame = bytearray(14 + size)
        put(frame, (0, 6), self.rng.choice(((1 << 48) - 1, 0x3333FF000001, 0x02AA00000001)))
        put(frame, (6, 6), mac)
        put(frame, (12, 2), ether_type)
        return frame

    def _option(self, mac: int) -> bytes:
        rng = self.rng
        octets = bytearray(8 * rng.choice((1, 1, 1, 2, 4)))
        octets[0] = rng.choice(ND_OPTIONS)
        octets[1] = rng.choice((len(octets) // 8, len(octets) // 8, 0, 1, 2, 255))
        octets[2:8] = mac.to_bytes(6, "big")
        return bytes(octets)

    def _made(self, octets: bytearray, layout: Fields, fields: Mapping[str, int]) -> bytes:
        """Fill in the fields, and spoil some in one message of five."""
        rng = self.rng
        for name, value in fields.items():
            put(octets, layout[name], value)
        if rng.random() < 0.15:
            for name in rng.sample(list(layout), rng.choice((1, 1, 2))):
                put(octets, layout[name], self.value(layout[name][1]))
        match rng.randrange(60):
            case 0:
                del octets[rng.randrange(len(octets)) :]
            case 1:
                octets += rng.randbytes(rng.randrange(1, 60))
            case 2:
                octets[rng.randrange(len(octets))] ^= 1 << rng.randrange(8)
        return bytes(octets)
