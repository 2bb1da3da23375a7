"""What a frame on a link is, by its octets alone: read from the formats, not by the project's
parsers (docs/packets.md)."""

from dataclasses import dataclass

VLAN, IPV4, IPV6, MAC_CONTROL = 0x8100, 0x0800, 0x86DD, 0x8808
UDP, ICMPV6 = 17, 58
ROCEV2, FAST_CNP, ARN, FANTEL, BFD = 4791, 1021, 1022, 61021, 3784
FANTEL_ICMPV6 = 200
CNP = 0x81
NOTIFICATIONS = frozenset({"fast-cnp", "end-con-cnp", "cnp", "arn", "fantel", "pause"})


@dataclass(frozen=True, slots=True)
class Carried:
    """A frame. kind: of a notification or hello, `data` of a packet of a stream, otherwise empty.

    datagram: what follows Ethernet. ecn: of its first IP header. stream, number: of data, whatever
    tunnel it is in. form: of FANTEL, `udp` or `icmpv6`; event: its type. label: of a Fast CNP.
    """

    time_ns: int
    kind: str
    datagram: bytes
    ecn: int = 0
    vlan: int = 0
    stream: int | None = None
    number: int = 0
    form: str = ""
    event: int = 0


def read_frame(time_ns: int, data: bytes, mark: bytes) -> Carried:
    """What it is. mark: what stands in each packet of a stream before two numbers."""
    ether_type, at, vlan = int.from_bytes(data[12:14], "big"), 14, 0
    if ether_type == VLAN:
        vlan, ether_type, at = data[15] | (data[14] & 0xF) << 8, int.from_bytes(data[16:18]), 18
    datagram = data[at:]
    if ether_type == MAC_CONTROL:
        return Carried(time_ns, "pause", datagram)
    if ether_type not in (IPV4, IPV6):
        return Carried(time_ns, "", datagram)
    version = datagram[0] >> 4
    ecn = datagram[1] & 3 if version == 4 else datagram[1] >> 4 & 3
    found = datagram.find(mark)
    if found >= 0:
        at = found + len(mark)
        number = int.from_bytes(datagram[at + 1 : at + 5])
        return Carried(time_ns, "data", datagram, ecn, vlan, datagram[at], number)
    kind, form, event = _kind(datagram)
    return Carried(time_ns, kind, datagram, ecn, vlan, form=form, event=event)


def _kind(datagram: bytes) -> tuple[str, str, int]:
    """Kind, form and event of what is no data."""
    version = datagram[0] >> 4
    protocol, behind = (datagram[9], 20) if version == 4 else (datagram[6], 40)
    body = datagram[behind:]
    if protocol in (4, 41):
        # A CNP in an IP header more is one by way of END.CON.
        return ("end-con-cnp", "", 0) if _kind(body)[0] == "cnp" else ("", "", 0)
    if protocol == ICMPV6 and body[0] == FANTEL_ICMPV6:
        return "fantel", "icmpv6", body[4]
    if protocol != UDP:
        return "", "", 0
    match int.from_bytes(body[2:4]):
        case 4791:
            return ("cnp" if body[8] == CNP else ""), "", 0
        case 1021:
            return "fast-cnp", "", 0
        case 1022:
            return "arn", "", body[8]
        case 61021:
            return "fantel", "udp", body[9]
        case 3784:
            return "hello", "", 0
    return "", "", 0
