"""Fields in the words of a memory, and entries of a TCAM.

Words are Python integers of any width. What context.json says of a field: which bits of its value
(`start`, `width`) are where in the word (`offset`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

UNIT_BITS = 128
"""Of an SRAM's word."""
TCAM_BITS = 47
"""Of a TCAM's word: payload, 44 of the key, parity."""
_KEY_START = 1
"""Behind the payload."""
_NIBBLE = 4
_BYTE = 8
_TOP_NIBBLE = 5
"""The byte of a TCAM's word that is only half there."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Bits `start` to `start + width - 1` of what `name` says, at bit `offset` of a word.

    source: what it is, as in context.json. constant: the value where the source is that.
    nibble: of a part of a range key, where in a nibble it begins; None of any other field.
    duplicate: of a part of a range key, the upper half of its encoding.
    """

    name: str
    source: str
    start: int
    width: int
    offset: int
    constant: int = 0
    nibble: int | None = None
    duplicate: bool = False

    @property
    def mask(self) -> int:
        """The bits of the word."""
        return ((1 << self.width) - 1) << self.offset

    def of(self, value: int) -> int:
        """The bits of the value, where they belong in the word."""
        return (value >> self.start << self.offset) & self.mask


def units(word: int, count: int) -> list[int]:
    """The words of `count` memories that a wide word is in, the lowest first."""
    return [word >> (index * UNIT_BITS) & ((1 << UNIT_BITS) - 1) for index in range(count)]


@dataclass(frozen=True, slots=True)
class Bits:
    """A ternary match on bits: those set in `mask` are those of `value`."""

    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class Nibbles:
    """A part of a range: which values it may have."""

    allowed: frozenset[int]


def pieces_of_range(low: int, high: int, parts: Sequence[tuple[int, int]]) -> list[list[Nibbles]]:
    """A range as rows of a TCAM, each with the values allowed in each part of the key.

    parts: (start, width) of each part, the highest bits first.
    """
    if not parts:
        return [[]]
    (start, width), rest = parts[0], parts[1:]
    top, below = (1 << width) - 1, (1 << start) - 1
    first, last = low >> start & top, high >> start & top
    anything = [Nibbles(frozenset(range(1 << each))) for _, each in rest]
    if first == last:
        lower = pieces_of_range(low & below, high & below, rest)
        return [[Nibbles(frozenset({first})), *row] for row in lower]
    rows = []
    if low & below:
        for row in pieces_of_range(low & below, below, rest):
            rows.append([Nibbles(frozenset({first})), *row])
        first += 1
    tail = []
    if high & below != below:
        for row in pieces_of_range(0, high & below, rest):
            tail.append([Nibbles(frozenset({last})), *row])
        last -= 1
    if first <= last:
        rows.append([Nibbles(frozenset(range(first, last + 1))), *anything])
    return rows + tail


def tcam_row(parts: Iterable[tuple[Slice, Bits | Nibbles]], words: int) -> list[tuple[int, int]]:
    """The two words that each TCAM of a wide row keeps.

    A pair of bits is encoded as four, one for each value it may have: in the first word those of 0
    and 1, in the second of 2 and 3. A part of a range takes a byte, of which the sixteen bits are
    the values of its nibble. What no part has may be anything; the payload of the first word says
    that the row is one of its own.
    """
    value = mask = 0
    ranges: dict[int, frozenset[int]] = {}
    for part, match in parts:
        if isinstance(match, Bits):
            value |= part.of(match.value & match.mask)
            mask |= part.of(match.mask)
        elif not part.duplicate:
            byte = _byte(part.offset)
            allowed = _in_nibble(part, match.allowed)
            ranges[byte] = ranges.get(byte, allowed) & allowed
    return [_encoded(value, mask, ranges, word) for word in range(words)]


def _byte(offset: int) -> int:
    """Which byte of which word, as one number: word * 8 + byte."""
    word, bit = divmod(offset, TCAM_BITS)
    return word * _BYTE + (bit - _KEY_START) // _BYTE


def _in_nibble(part: Slice, allowed: frozenset[int]) -> frozenset[int]:
    """The values of a whole nibble in which a part of the key has one that is allowed."""
    at, top = part.nibble or 0, (1 << part.width) - 1
    return frozenset(n for n in range(1 << _NIBBLE) if n >> at & top in allowed)


def _encoded(
    value: int, mask: int, ranges: dict[int, frozenset[int]], word: int
) -> tuple[int, int]:
    low = high = 0
    value >>= word * TCAM_BITS + _KEY_START
    mask >>= word * TCAM_BITS + _KEY_START
    for pair in range(0, TCAM_BITS - 3, 2):
        fixed, wanted = mask >> pair & 3, value >> pair & 3
        for each in range(4):
            if (each ^ wanted) & fixed == 0:
                bit = 1 << (pair + (each & 1))
                if each < 2:
                    low |= bit
                else:
                    high |= bit
    for number, allowed in ranges.items():
        if number // _BYTE == word:
            low, high = _with_range(low, high, number % _BYTE, allowed)
    return low << _KEY_START | 1, high << _KEY_START


def _with_range(low: int, high: int, byte: int, allowed: frozenset[int]) -> tuple[int, int]:
    if byte == _TOP_NIBBLE:
        raise ValueError("a range key in the last nibble of a TCAM's word is not supported")
    at = byte * _BYTE
    bits = sum(1 << each for each in allowed)
    hole = ~(0xFF << at)
    return low & hole | (bits & 0xFF) << at, high & hole | (bits >> _BYTE) << at
