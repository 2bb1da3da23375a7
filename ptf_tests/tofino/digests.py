"""Digests: what the learning filter collects, as the messages of the P4Info."""

import queue
import random
from collections.abc import Iterator, Sequence

from fcn.ptf_tests.tofino.context import Quantum
from fcn.ptf_tests.tofino.memories import Access

_OCTETS = 48
"""Of a quantum; the first comes last."""
_TYPE = 0x7
_HASHES, _HASH_STEP, _HASH_WORDS = 4, 0x8000, 12
_BIT_STEP = 48
"""From one bit of a hash to the next, which has a word for each 32 bits of a quantum."""
_TIMEOUT, _CLEAR = 0x20018, 0x2001C
_COLLECTED = 2000
"""Quanta, or thousands of the model's clock (1.6 or 2 ms), after which they come."""


class LearningFilter:
    """The filter of pipe 0, which drops what it has seen until it is cleared."""

    def __init__(self, chip: Access) -> None:
        self._chip = chip
        self._base, self._bits = chip.layout.filter
        self._drained: queue.SimpleQueue[None] = queue.SimpleQueue()

    def reset(self) -> None:
        """Hashes that keep quanta apart; what is collected comes when the time is over, and the
        filter is cleared behind it: it is the P4Runtime server that remembers what was told."""
        numbers = random.Random(0)
        for function in range(_HASHES):
            for bit in range(self._bits):
                base = self._base + function * _HASH_STEP + bit * _BIT_STEP
                for word in range(_HASH_WORDS):
                    self._chip.write(base + 4 * word, numbers.getrandbits(32))
        self._chip.write(self._base + _TIMEOUT, _COLLECTED)

    def drained(self) -> None:
        """What one half has collected was told."""
        self._drained.put(None)

    def clear(self) -> None:
        """Forget what was seen, as often as it was told: not from the chip's own threads."""
        for _ in range(self._drained.qsize()):
            self._drained.get()
            self._chip.write(self._base + _CLEAR, 1)


def quanta(data: bytes) -> Iterator[bytes]:
    """Quanta, each with its first octet first."""
    for start in range(0, len(data) - _OCTETS + 1, _OCTETS):
        yield data[start : start + _OCTETS][::-1]


def type_of(quantum: bytes) -> int:
    """Which digest it is."""
    return quantum[0] & _TYPE


def fields(quantum: bytes, layout: Quantum, order: Sequence[str]) -> tuple[int, ...]:
    """The values of the fields in this order."""
    values = dict.fromkeys(order, 0)
    for name, octet, bit, width, offset in layout.parts:
        unused = 7 - bit
        size = (unused + width + 7) // 8
        word = int.from_bytes(quantum[octet : octet + size], "big")
        word >>= 8 * size - unused - width
        values[name] = values.get(name, 0) | (word & (1 << width) - 1) << offset
    return tuple(values[name] for name in order)
