"""What happened at RoCEv2 hosts, to the nanosecond."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address

from fcn.lab.native_handle import NativeLab

MOST_NOTICES = 1 << 20
"""Of 40 octets each, which wait to be taken."""


class NoticeKind(IntEnum):
    """What happened, and what the notice's value is; the values are those of notice.h.

    Those from CNP_SENT on are of a connection the host accepted, the others of one it opened.
    """

    CONNECTED = 1
    """The value is the remote queue pair."""
    CLOSED = 2
    """By the connection manager: packets acknowledged."""
    FAILED = 3
    """Packets acknowledged."""
    CNP = 4
    """A CNP arrived: the rate before it, in bit/s."""
    CUT = 5
    """It cut the rate: the rate since, in bit/s."""
    NAK = 6
    """A NAK arrived: the first packet that is missing, counted from 0."""
    TIMEOUT = 7
    """The first packet that was not acknowledged."""
    RETRANSMISSION = 8
    """How many packets will be sent again; a NAK or a timeout at the same time is the cause."""
    CNP_SENT = 9
    """Packets with CE so far."""
    GAP = 10
    """How many packets are missing."""
    NAK_SENT = 11
    """The PSN that is missing."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened at a host.

    connection: its number among those the host opened or accepted, as `what` says. peer: the source
    address of a CNP, otherwise the other host of the connection. by_switch: of CNP and CUT, whether
    a switch made the CNP; a PE gives it the address of the other host, so `peer` does not say.
    """

    time_ns: int
    host: str
    connection: int
    what: NoticeKind
    value: int
    peer: IPv4Address | IPv6Address
    by_switch: bool


def take_notices(native: NativeLab, names: Mapping[int, str]) -> list[Notice]:
    """Those since the last call, in order; names: of hosts by their numbers."""
    return [
        Notice(
            n.time,
            names[n.node],
            n.connection,
            NoticeKind(n.what),
            n.value,
            IPv4Address(bytes(n.peer)[:4]) if n.version == 4 else IPv6Address(bytes(n.peer)),
            bool(n.by_switch),
        )
        for n in native.take("lab_notice", "notices")
    ]
