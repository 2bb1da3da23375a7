"""Decodes a capture of two RoCEv2 hosts, independently of the controller (FCN-3)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from scapy.utils import rdpcap

from fcn.packets.cm import CmAttribute
from fcn.packets.roce import ROCEV2_PORT, Opcode
from fcn.ptf_tests.lib.cm import CmMessage, parse_cm
from fcn.ptf_tests.lib.packets import IPV4_HEADER, IPV6_HEADER, UDP_HEADER, datagram_of

_IP_ETHER_TYPES = (b"\x08\x00", b"\x86\xdd")
_NEIGHBOUR_DISCOVERY = range(133, 138)
_ICMPV6 = 58
_TCP = 6
_UDP = 17
_PERFTEST = re.compile(rb"[0-9a-f]{4}:[0-9a-f]{4}:([0-9a-f]{6}):[0-9a-f]{6}:")
_QP1 = 1


@dataclass(frozen=True, slots=True)
class FlowId:
    """A flow by addresses and destination queue pair."""

    src: str
    dst: str
    dest_qp: int


@dataclass(frozen=True, slots=True)
class CapturedPacket:
    """A unicast IP packet, by its number in the capture, with the MAC address it was sent from."""

    number: int
    sender_mac: str
    datagram: bytes

    @property
    def src(self) -> str:
        """Source address."""
        return str(ip_address(_field(self.datagram, (12, 16), (8, 24))))

    @property
    def dst(self) -> str:
        """Destination address."""
        return str(ip_address(_field(self.datagram, (16, 20), (24, 40))))

    @property
    def protocol(self) -> int:
        """IP protocol or next header."""
        return _field(self.datagram, (9, 10), (6, 7))[0]

    @property
    def bth(self) -> bytes | None:
        """The packet from its BTH on; None when it is not RoCEv2."""
        transport = self.datagram[_field_offset(self.datagram) :]
        if self.protocol != _UDP or transport[2:4] != ROCEV2_PORT.to_bytes(2, "big"):
            return None
        return transport[UDP_HEADER:]

    @property
    def cm(self) -> CmMessage | None:
        """The connection manager message in the packet, if any."""
        return parse_cm(self.datagram) if self.bth else None

    @property
    def flow(self) -> FlowId | None:
        """The flow a data packet belongs to; None for CNPs, QP1 and everything else."""
        bth = self.bth
        if bth is None or bth[0] == Opcode.CNP:
            return None
        dest_qp = int.from_bytes(bth[5:8], "big")
        return None if dest_qp in (0, _QP1) else FlowId(self.src, self.dst, dest_qp)

    @property
    def is_neighbour_discovery(self) -> bool:
        """Whether it is ICMPv6 133 to 137, which is never forwarded."""
        return self.protocol == _ICMPV6 and self.datagram[IPV6_HEADER] in _NEIGHBOUR_DISCOVERY


def _field_offset(datagram: bytes) -> int:
    return IPV4_HEADER if datagram[0] >> 4 == 4 else IPV6_HEADER


def _field(datagram: bytes, ipv4: tuple[int, int], ipv6: tuple[int, int]) -> bytes:
    start, end = ipv4 if datagram[0] >> 4 == 4 else ipv6
    return datagram[start:end]


def routable_packets(capture: Path) -> list[CapturedPacket]:
    """Unicast IP packets between global addresses, without ARP, ND and link-local packets."""
    packets = []
    for number, scapy_packet in enumerate(rdpcap(str(capture))):
        frame = bytes(scapy_packet)
        if frame[12:14] not in _IP_ETHER_TYPES:
            continue
        packet = CapturedPacket(number, frame[6:12].hex(":"), datagram_of(frame))
        destination = ip_address(packet.dst)
        if (
            destination.is_multicast
            or destination.is_link_local
            or ip_address(packet.src).is_unspecified
            or packet.is_neighbour_discovery
        ):
            continue
        packets.append(packet)
    return packets


def source_qps(packets: list[CapturedPacket]) -> dict[FlowId, int]:
    """Source queue pair of every flow whose handshake is in the capture, both directions."""
    requests: dict[tuple[str, int], CmMessage] = {}
    known: dict[FlowId, int] = {}
    for message in (m for packet in packets if (m := packet.cm)):
        if message.attribute == CmAttribute.REQ:
            requests[message.src, message.local_comm_id] = message
        elif message.attribute == CmAttribute.REP:
            request = requests[message.dst, message.remote_comm_id]
            known[FlowId(request.src, request.dst, message.qpn)] = request.qpn
            known[FlowId(message.src, message.dst, request.qpn)] = message.qpn
    return known


def exchanged_qps(packets: list[CapturedPacket]) -> dict[FlowId, int]:
    """Source queue pair of every flow of perftest, whose ends exchange them over TCP.

    The message is text: LID, outstanding reads, QPN, PSN, ... in hexadecimal.
    """
    told: dict[tuple[str, str], int] = {}
    for packet in packets:
        match = _PERFTEST.search(packet.datagram) if packet.protocol == _TCP else None
        if match is not None:
            told[packet.src, packet.dst] = int(match[1], 16)
    return {FlowId(src, dst, told[dst, src]): qp for (src, dst), qp in told.items()}


def live_flows(packets: list[CapturedPacket]) -> Iterator[dict[FlowId, frozenset[int | None]]]:
    """Expected flows before each packet, with the source QPs the controller may list for each.

    With a handshake both directions are expected, with their source QPs, from the REP to the DREQ.
    Without, a flow is expected from its first packet on; its source QP is unknown (None) until
    there are packets of the reverse direction to infer it from, and then unknown or the one that
    perftest's ends exchanged.
    """
    by_cm, by_exchange = source_qps(packets), exchanged_qps(packets)
    live: dict[FlowId, frozenset[int | None]] = {}
    for packet in packets:
        yield dict(live)
        message, flow = packet.cm, packet.flow
        if message is not None and message.attribute == CmAttribute.REP:
            back = FlowId(message.dst, message.src, message.qpn)
            forward = FlowId(message.src, message.dst, by_cm[back])
            live |= {flow: frozenset({by_cm[flow]}) for flow in (forward, back)}
        elif message is not None and message.attribute == CmAttribute.DREQ:
            forward = FlowId(message.src, message.dst, message.qpn)
            del live[forward], live[FlowId(message.dst, message.src, by_cm[forward])]
        elif flow is not None and flow not in by_cm:
            source_qp = by_exchange[flow]
            back = FlowId(flow.dst, flow.src, source_qp)
            live[flow] = frozenset({None, source_qp} if back in live else {None})
            if back in live:
                live[back] = frozenset({None, flow.dest_qp})
