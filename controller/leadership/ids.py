"""Election IDs that say whose they are (P4Runtime 1.4, Client Arbitration: the highest is primary).

    127      64 63    56 55   16 15   0
    +----------+--------+-------+-------+
    |  round   |  0xFC  | name  |  run  |
    +----------+--------+-------+-------+
                         controller

A controller comes to every switch under one of STANDBY, with which it takes it from nobody that
rules, and bids with a round above all that the switch has seen. Its run is by chance: a switch may
hold the dead stream of one before, and two may run under one name. Other software's IDs are without
the mark.
"""

import hashlib
import secrets
from typing import NamedTuple, Self

MARK = 0xFC
_MARK_SHIFT = 56
_ROUND_SHIFT = 64
_RUN_BITS = 16
CONTROLLERS = 1 << _MARK_SHIFT
"""Numbers of controllers are below this."""
LAST_ROUND = (1 << 64) - 1

STANDBY = range(2, 10)
"""Election IDs of controllers that are not primary."""

WEAK = 10
"""The highest election ID without the mark that is taken from: what tools use that only read
(`fcn shell`), and what P4Runtime clients use when nobody thinks of it."""


def number_of(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[: (_MARK_SHIFT - _RUN_BITS) // 8])


def run_of(number: int) -> int:
    """A controller that is started under the name with this number."""
    return number << _RUN_BITS | secrets.randbits(_RUN_BITS)


def name_of(controller: int) -> int:
    return controller >> _RUN_BITS


class ElectionId(NamedTuple):
    """A controller's ID of a round, which is 1 or more."""

    round: int
    controller: int

    @property
    def value(self) -> int:
        """As the switch has it, 128 bits."""
        return self.round << _ROUND_SHIFT | MARK << _MARK_SHIFT | self.controller

    @classmethod
    def parse(cls, value: int) -> Self | None:
        """None where it is no controller's of ours."""
        low = value & ((1 << _ROUND_SHIFT) - 1)
        if low >> _MARK_SHIFT != MARK or low == value:
            return None
        return cls(value >> _ROUND_SHIFT, low & (CONTROLLERS - 1))


def above(highest: int, controller: int) -> int | None:
    """The ID with which a controller takes a switch that has seen `highest`; None where there is
    none, or where other software holds the switch by a number of its own that is not WEAK."""
    seen = highest >> _ROUND_SHIFT
    if seen >= LAST_ROUND:
        return None
    return ElectionId(seen + 1, controller).value
