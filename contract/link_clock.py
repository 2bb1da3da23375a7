"""The clock of a switch that makes no packets of its own: one goes round for ever (FAN-4).

It passes the queue of the clock port, whose rate paces it, and each time the switch looks at one of
its slots: a link, or a path that leaves by a link (p4src/fantel/v1model/clock.p4).
"""

import struct

from fcn.contract.constants import CLOCK_ETHER_TYPE
from fcn.contract.targets import V1MODEL

HIGHEST_RATE = 20_000
"""Packets per second: BMv2 has one thread for ingress, and these take a part of its time."""

_SECOND = 1_000_000
_NO_ADDRESSES = bytes(12)
_SHORTEST = 60
"""Octets of a frame without its check sequence: a chip sends none that is shorter."""


def clock_rate(slots: int, interval: int) -> int:
    """The rate of the clock port's queue, in packets per second, with which the clock comes to each
    slot once in `interval` (microseconds), or as often as HIGHEST_RATE lets it. A round takes a
    packet more than it has slots, which finds its end."""
    return min(-(-(slots + 1) * _SECOND // interval), HIGHEST_RATE)


def most_slots(interval: int) -> int:
    """How many slots the clock can come to in `interval` (microseconds)."""
    return HIGHEST_RATE * interval // _SECOND - 1


def round_time(slots: int, interval: int) -> float:
    """Seconds from one look at a slot to the next."""
    return (slots + 1) / clock_rate(slots, interval)


def shortest_round(slots: int) -> float:
    """Seconds from one look at a slot to the next at HIGHEST_RATE."""
    return (slots + 1) / HIGHEST_RATE


def clock_packet(token: int, *, is_last: bool = False) -> bytes:
    """What the controller sends out of the clock port once. Of two packets that go round, the one
    with the older token (32 bits, in a circle; on a chip the lower) ends.

    is_last: it ends the others and itself. BMv2 takes no other program while a packet goes round.
    """
    frame = _NO_ADDRESSES + struct.pack("!HIB", CLOCK_ETHER_TYPE, token % (1 << 32), is_last)
    return frame.ljust(_SHORTEST, b"\0")


def bmv2_commands(slots: int, interval: int) -> tuple[str, ...]:
    """What simple_switch_CLI is told for a node with so many slots."""
    port = V1MODEL.ports.clock
    return (f"set_queue_rate {clock_rate(slots, interval)} {port}",)
