"""What differs between chips: where registers and memories are, and how wide what is in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Bus(Protocol):
    """Registers of 32 bits."""

    def read(self, address: int) -> int:
        """A register."""

    def write(self, address: int, value: int) -> None:
        """Write a register."""


_WHOLE = (1 << 32) - 1


class Setting(NamedTuple):
    """Bits of a register; all of them where no mask is given."""

    address: int
    value: int
    mask: int = _WHOLE


def write_all(bus: Bus, settings: Sequence[Setting]) -> None:
    """Write them, in order."""
    for address, value, mask in settings:
        kept = 0 if mask == _WHOLE else bus.read(address) & ~mask
        bus.write(address, kept | value)


class PipeBits(NamedTuple):
    """Of an address: the bit that says it is of a pipe, and those that say of which."""

    of_a_pipe: int
    number: int

    def in_first(self, address: int) -> int:
        """Of pipe 0: an address without a pipe is relative to one."""
        if address & self.of_a_pipe:
            return address & ~self.number
        return address if address & self.number else address | self.of_a_pipe


@dataclass(frozen=True, slots=True)
class Misses:
    """What a table does where nothing matches: registers of a stage, one for each table, 4 octets
    from one to the next. next_bits: of the next table's number."""

    next: int
    next_bits: int
    immediate: int
    instruction: int
    action_data: int
    statistics: int
    meter: int
    idle: int


@dataclass(frozen=True, slots=True)
class ParserRows:
    """The TCAM of the ingress parsers.

    parsers: the first row of each that is written, as the word with the bits that may be 0 and
    that with those that may be 1: address, and lowest bit. registers: where in these words a match
    register is, by its number.
    """

    parsers: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    registers: dict[int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """A chip; all addresses of pipe 0.

    package: what the model calls the chip. target: what the assembler calls it. reset: a register,
    and the bit that resets the chip. before: registers written before a program. stage_registers,
    stage_memories: the address of the first stage's, and how far it is to the next. meter: offset
    in a stage of the register of the first meter unit, and how far it is to the next. clock_ns:
    a cycle. filter: the learning filter, and the bits of its hashes. ports: what lets frames
    through all ports. cpu, recirculation: ports. mirrored: where copies leave, to be put in at
    `recirculation`, whose own way round drops most of a burst on the model. mirror: a session, with
    the octets behind which copies are cut.
    """

    name: str
    target: str
    package: int
    reset: tuple[int, int]
    before: tuple[Setting, ...]
    registers: PipeBits
    memories: PipeBits
    stage_registers: tuple[int, int]
    stage_memories: tuple[int, int]
    misses: Misses
    meter: tuple[int, int]
    clock_ns: float
    filter: tuple[int, int]
    parsers: ParserRows
    ports: tuple[Setting, ...]
    cpu: int
    recirculation: int
    mirrored: int
    mirror: Callable[[int, int], Sequence[Setting]]
