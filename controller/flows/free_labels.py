"""Which flow labels are free, and one of them at random: in constant time, also when few are left.

The low 16 bits of a label index the rate gates of every node, so a label is drawn of a gate that
has fewest labels in use.
"""

import random
from array import array

from fcn.contract.constants import FCN_LABEL_BIT, FLOW_GATE_SIZE

LABEL_COUNT = FCN_LABEL_BIT
"""How many labels have FCN_LABEL_BIT, the top bit, set."""

GATE_MASK = FLOW_GATE_SIZE - 1
"""The bits of a label that index the rate gates of a node."""

_GATE_BITS = GATE_MASK.bit_length()

PER_GATE = LABEL_COUNT // FLOW_GATE_SIZE

_NONE_FREE = PER_GATE
"""The class of gates none of whose labels is free; that of others is their labels in use."""


class FreeLabels:
    """All labels are free at first. `rng` must not be predictable in production, because labels
    could be guessed otherwise."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._used = bytearray(FLOW_GATE_SIZE)
        """Of each gate a bit for each label."""
        self._resting = bytearray(FLOW_GATE_SIZE)
        self._class = bytearray(FLOW_GATE_SIZE)
        self._place = array("H", range(FLOW_GATE_SIZE))
        """Of each gate in the list of its class."""
        self._gates = [array("H") for _ in range(PER_GATE + 1)]
        self._gates[0].extend(range(FLOW_GATE_SIZE))
        self.used = 0

    def draw(self) -> int:
        """A free label, of which there must be one."""
        gates = next(gates for gates in self._gates[:_NONE_FREE] if gates)
        gate = gates[self._rng.randrange(len(gates))]
        taken = self._used[gate] | self._resting[gate]
        free = [number for number in range(PER_GATE) if not taken >> number & 1]
        number = free[self._rng.randrange(len(free))]
        return FCN_LABEL_BIT | number << _GATE_BITS | gate

    def is_used(self, label: int) -> bool:
        """Whether it is in use."""
        gate, bit = _cell(label)
        return bool(self._used[gate] & bit)

    def use(self, label: int) -> None:
        """It is in use from now on, and was not."""
        gate, bit = _cell(label)
        self._used[gate] |= bit
        self._resting[gate] &= ~bit
        self.used += 1
        self._sort(gate)

    def rest(self, label: int) -> None:
        """It is neither in use nor free."""
        gate, bit = _cell(label)
        self.used -= bool(self._used[gate] & bit)
        self._used[gate] &= ~bit
        self._resting[gate] |= bit
        self._sort(gate)

    def wake(self, label: int) -> None:
        """It rests no longer."""
        gate, bit = _cell(label)
        self._resting[gate] &= ~bit
        self._sort(gate)

    def _sort(self, gate: int) -> None:
        used = self._used[gate]
        full = used | self._resting[gate] == (1 << PER_GATE) - 1
        before, now = self._class[gate], _NONE_FREE if full else used.bit_count()
        if now == before:
            return
        left, place = self._gates[before], self._place[gate]
        last = left.pop()
        if last != gate:
            left[place] = last
            self._place[last] = place
        self._class[gate] = now
        self._place[gate] = len(self._gates[now])
        self._gates[now].append(gate)


def _cell(label: int) -> tuple[int, int]:
    return label & GATE_MASK, 1 << (label >> _GATE_BITS) % PER_GATE
