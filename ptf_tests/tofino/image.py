"""The binary of the assembler, as the writes it stands for.

A sequence of blocks, each of which begins with four octets, the letter of its kind the last. All is
written to pipe 0: the model has four, and no port of the others is used.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fcn.ptf_tests.tofino.layout import Layout

_WORD = 4
_MEMORY_WORD = 16


class ImageError(Exception):
    """The binary is not one of the assembler."""


class RegisterWrite(NamedTuple):
    """32 bits to an address on the chip's bus."""

    address: int
    value: int


class MemoryWrite(NamedTuple):
    """128 bits to an address of a memory, the lower 64 and the upper 64."""

    address: int
    low: int
    high: int


Write = RegisterWrite | MemoryWrite
_InPipe = Callable[[int], int]


@dataclass(slots=True)
class _Reader:
    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise ImageError(f"the binary ends in the middle of a block, at octet {self.at}")
        self.at, start = end, self.at
        return self.data[start:end]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


def writes(data: bytes, layout: Layout) -> Iterator[Write]:
    """What loading the binary writes, in order. Raises ImageError."""
    reader, in_pipe = _Reader(data), layout.registers.in_first
    while reader.at < len(data):
        start = reader.at
        kind = chr(reader.number(_WORD) >> 24)
        match kind:
            case "H" | "C":
                _skip_document(reader)
            case "R":
                address, value = reader.number(4), reader.number(4)
                yield RegisterWrite(in_pipe(address), value)
            case "r":
                yield RegisterWrite(reader.number(4), reader.number(4))
            case "B":
                yield from _registers(reader, in_pipe)
            case "D":
                yield from _memory(reader, layout.memories.in_first)
            case "d":
                yield from _memory(reader, int)
            case "S":
                yield from _scan(reader, in_pipe)
            case _:
                raise ImageError(f"the binary has a block of unknown kind {kind!r} at {start}")


def _skip_document(reader: _Reader) -> None:
    """BSON: its size comes first, and counts itself."""
    reader.take(reader.number(4) - 4)


def _words(reader: _Reader, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}I", reader.take(count * _WORD))


def _registers(reader: _Reader, in_pipe: _InPipe) -> Iterator[Write]:
    address, width, count = in_pipe(reader.number(8)), reader.number(4), reader.number(4)
    for index, value in enumerate(_words(reader, count * width // 32)):
        yield RegisterWrite(address + index * _WORD, value)


def _memory(reader: _Reader, in_pipe: _InPipe) -> Iterator[Write]:
    address, width, count = in_pipe(reader.number(8)), reader.number(4), reader.number(4)
    octets = reader.take(count * width // 8)
    octets += bytes(-len(octets) % _MEMORY_WORD)
    for index, (low, high) in enumerate(struct.iter_unpack("<QQ", octets)):
        yield MemoryWrite(address + index, low, high)


def _scan(reader: _Reader, in_pipe: _InPipe) -> Iterator[Write]:
    """Many words through one register, behind a register that selects where they go."""
    select, value = reader.number(8), reader.number(4)
    address, width, count = reader.number(8), reader.number(4), reader.number(4)
    if width % 32 or not width:
        raise ImageError(f"the binary has a scan of {width} bits, which are no whole words")
    words = _words(reader, count * width // 32)
    if select:
        yield RegisterWrite(in_pipe(select), value)
    for index, word in enumerate(words):
        yield RegisterWrite(in_pipe(address) + index * _WORD % (width // 8), word)
