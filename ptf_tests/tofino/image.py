"""The binary of the assembler (tofino.bin), as the writes it stands for.

A sequence of blocks, each of which begins with four octets, the letter of its kind the last. All is
written to pipe 0: the model has four, and no port of the others is used.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_REGISTER_PIPE = 1 << 25
_REGISTER_PIPE_NUMBER = 3 << 23
_MEMORY_PIPE = 1 << 41
_MEMORY_PIPE_NUMBER = 3 << 37
_WORD = 4
_MEMORY_WORD = 16


class ImageError(Exception):
    """The binary is not one of the assembler for Tofino 1."""


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


@dataclass(slots=True)
class _Reader:
    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise ImageError(f"tofino.bin ends in the middle of a block, at octet {self.at}")
        self.at, start = end, self.at
        return self.data[start:end]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


def writes(data: bytes) -> Iterator[Write]:
    """What loading the binary writes, in order. Raises ImageError."""
    reader = _Reader(data)
    while reader.at < len(data):
        start = reader.at
        kind = chr(reader.number(_WORD) >> 24)
        match kind:
            case "H" | "C":
                _skip_document(reader)
            case "R":
                address, value = reader.number(4), reader.number(4)
                yield RegisterWrite(_in_pipe(address), value)
            case "r":
                yield RegisterWrite(reader.number(4), reader.number(4))
            case "B":
                yield from _registers(reader)
            case "D":
                yield from _memory(reader, relative=True)
            case "d":
                yield from _memory(reader, relative=False)
            case "S":
                yield from _scan(reader)
            case _:
                raise ImageError(f"tofino.bin has a block of unknown kind {kind!r} at {start}")


def _in_pipe(address: int) -> int:
    """Of pipe 0: an address without a pipe is relative to one."""
    if address & _REGISTER_PIPE:
        return address & ~_REGISTER_PIPE_NUMBER
    return address if address & _REGISTER_PIPE_NUMBER else address | _REGISTER_PIPE


def _memory_in_pipe(address: int) -> int:
    if address & _MEMORY_PIPE:
        return address & ~_MEMORY_PIPE_NUMBER
    return address if address & _MEMORY_PIPE_NUMBER else address | _MEMORY_PIPE


def _skip_document(reader: _Reader) -> None:
    """BSON: its size comes first, and counts itself."""
    reader.take(reader.number(4) - 4)


def _words(reader: _Reader, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}I", reader.take(count * _WORD))


def _registers(reader: _Reader) -> Iterator[Write]:
    address, width, count = _in_pipe(reader.number(8)), reader.number(4), reader.number(4)
    for index, value in enumerate(_words(reader, count * width // 32)):
        yield RegisterWrite(address + index * _WORD, value)


def _memory(reader: _Reader, *, relative: bool) -> Iterator[Write]:
    address, width, count = reader.number(8), reader.number(4), reader.number(4)
    if relative:
        address = _memory_in_pipe(address)
    octets = reader.take(count * width // 8)
    octets += bytes(-len(octets) % _MEMORY_WORD)
    for index, (low, high) in enumerate(struct.iter_unpack("<QQ", octets)):
        yield MemoryWrite(address + index, low, high)


def _scan(reader: _Reader) -> Iterator[Write]:
    """Many words through one register, behind a register that selects where they go."""
    select, value = reader.number(8), reader.number(4)
    address, width, count = reader.number(8), reader.number(4), reader.number(4)
    if width % 32 or not width:
        raise ImageError(f"tofino.bin has a scan of {width} bits, which are no whole words")
    words = _words(reader, count * width // 32)
    if select:
        yield RegisterWrite(_in_pipe(select), value)
    for index, word in enumerate(words):
        yield RegisterWrite(_in_pipe(address) + index * _WORD % (width // 8), word)
