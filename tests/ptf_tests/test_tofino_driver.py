"""The driver of the chip's model, as far as it needs no model."""

import itertools
import json
import random
import struct
from dataclasses import replace
from typing import Any, cast

import pytest

from fcn.ptf_tests.targets import TARGETS, TargetUnavailableError
from fcn.ptf_tests.tofino import digests
from fcn.ptf_tests.tofino.arrays import Counters, Registers, SpreadCounters, limited, unlimited
from fcn.ptf_tests.tofino.backend import ChipBackend
from fcn.ptf_tests.tofino.context import (
    Action,
    ActionData,
    Array,
    Block,
    Format,
    Memory,
    Quantum,
    ValueSet,
)
from fcn.ptf_tests.tofino.entries import ActionMemory
from fcn.ptf_tests.tofino.image import ImageError, MemoryWrite, RegisterWrite, writes
from fcn.ptf_tests.tofino.layout import Layout, write_all
from fcn.ptf_tests.tofino.memories import StageMemory, TwoPort
from fcn.ptf_tests.tofino.packing import Bits, Nibbles, Slice, pieces_of_range, tcam_row
from fcn.ptf_tests.tofino.tofino1 import TOFINO1
from fcn.ptf_tests.tofino.tofino2 import TOFINO2
from fcn.ptf_tests.tofino.valuesets import ValueSetMemory
from fcn.softswitch.api import CounterValue, EngineError, MeterRates
from fcn.softswitch.proto.bfpipeline_pb2 import BfPipelineConfig

SEED = 4


class Chip:
    """Registers and memories that keep what is written."""

    def __init__(self, layout: Layout = TOFINO1) -> None:
        self.layout = layout
        self.registers: dict[int, int] = {}
        self.memories: dict[int, int] = {}

    def read(self, address: int) -> int:
        return self.registers.get(address, 0)

    def write(self, address: int, value: int) -> None:
        self.registers[address] = value

    def read_memory(self, address: int) -> int:
        return self.memories.get(address, 0)

    def write_memory(self, address: int, word: int) -> None:
        self.memories[address] = word

    def fill_memory(self, address: int, count: int, word: int) -> None:
        self.memories |= dict.fromkeys(range(address, address + count), word)


def _searched(key: int, ranges: dict[int, str]) -> tuple[int, int]:
    """What the chip makes of the 44 bits of a key: pairs of bits, or a nibble, as one of several
    lines. ranges: which nibble of a byte is a part of a range."""
    low = high = 0
    for byte in range(6):
        at, value = byte * 8, key >> byte * 8 & 0xFF
        if byte in ranges:
            line = 1 << (value >> 4 if ranges[byte] == "high" else value & 0xF)
            low |= (line & 0xFF) << at
            high |= (line >> 8) << at
            continue
        for pair in range(0, 4 if byte == 5 else 8, 2):
            each = value >> pair & 3
            bit = 1 << at + pair + (each & 1)
            if each < 2:
                low |= bit
            else:
                high |= bit
    return low, high


def _hits(words: tuple[int, int], key: int, ranges: dict[int, str]) -> bool:
    low, high = _searched(key, ranges)
    kept_low, kept_high = words[0] >> 1, words[1] >> 1
    return not low & ~kept_low and not high & ~kept_high


def test_tcam_row_hits_what_agrees_in_the_bits_of_the_mask() -> None:
    numbers = random.Random(SEED)
    part = Slice("key", "spec", 0, 44, 1)
    for _ in range(200):
        mask, value = numbers.getrandbits(44), numbers.getrandbits(44)
        (words,) = tcam_row([(part, Bits(value & mask, mask))], 1)
        same = value & mask | numbers.getrandbits(44) & ~mask
        assert _hits(words, same, {})
        if mask:
            wrong = same ^ numbers.choice([1 << b for b in range(44) if mask >> b & 1])
            assert not _hits(words, wrong, {})


def test_tcam_row_is_one_of_its_own_and_an_empty_one_hits_nothing() -> None:
    ((low, high),) = tcam_row([], 1)
    assert (low & 1, high & 1) == (1, 0)
    assert all(_hits((low, high), key, {}) for key in (0, 1, (1 << 44) - 1))
    empty = (1, 0)
    assert not any(_hits(empty, key, {}) for key in (0, 1, (1 << 44) - 1))


@pytest.mark.parametrize("width", [1, 4, 5, pytest.param(9, marks=pytest.mark.exhaustive)])
def test_rows_of_a_range_have_its_values_and_no_others(width: int) -> None:
    places = [(start, min(4, width - start)) for start in range(0, width, 4)][::-1]
    for low, high in itertools.combinations_with_replacement(range(1 << width), 2):
        if width > 5 and (low * 7 + high * 3) % 41:
            continue
        rows = pieces_of_range(low, high, places)
        found = [
            value
            for value in range(1 << width)
            for row in rows
            if all(
                value >> start & (1 << size) - 1 in part.allowed
                for (start, size), part in zip(places, row, strict=True)
            )
        ]
        assert found == list(range(low, high + 1))


def test_part_of_a_range_takes_a_byte_and_leaves_the_others() -> None:
    lower = Slice("depth", "range", 0, 4, 1 + 8, nibble=0)
    upper = Slice("depth", "range", 4, 3, 1 + 16, nibble=1)
    other = Slice("port", "spec", 0, 8, 1)
    parts: list[tuple[Slice, Bits | Nibbles]] = [
        (other, Bits(7, 0xFF)),
        (lower, Nibbles(frozenset({3, 9}))),
        (replace(lower, offset=13, duplicate=True), Nibbles(frozenset({3, 9}))),
        (upper, Nibbles(frozenset({5}))),
    ]
    (words,) = tcam_row(parts, 1)
    ranges = {1: "low", 2: "high"}
    for nibble, high in itertools.product(range(16), range(16)):
        key = 7 | nibble << 8 | high << 20
        assert _hits(words, key, ranges) == (nibble in (3, 9) and high >> 1 & 7 == 5)


def test_image_is_read_as_what_it_writes_to_pipe_0() -> None:
    header = struct.pack("<I", ord("H") << 24) + struct.pack("<I", 9) + bytes(5)
    one = struct.pack("<III", ord("R") << 24, 0x1000, 7)
    block = struct.pack("<IQII", ord("B") << 24, 0x2000000 | 3 << 23, 32, 2)
    block += struct.pack("<II", 1, 2)
    memory = struct.pack("<IQII", ord("D") << 24, 0x20000000000 | 2 << 37 | 5, 64, 3)
    memory += struct.pack("<QQQ", 10, 11, 12)
    scan = struct.pack("<IQIQII", ord("S") << 24, 0x2000010, 1, 0x2000020, 64, 2)
    scan += struct.pack("<IIII", 1, 2, 3, 4)
    assert list(writes(header + one + block + memory + scan, TOFINO1)) == [
        RegisterWrite(0x2001000, 7),
        RegisterWrite(0x2000000, 1),
        RegisterWrite(0x2000004, 2),
        MemoryWrite(0x20000000005, 10, 11),
        MemoryWrite(0x20000000006, 12, 0),
        RegisterWrite(0x2000010, 1),
        RegisterWrite(0x2000020, 1),
        RegisterWrite(0x2000024, 2),
        RegisterWrite(0x2000020, 3),
        RegisterWrite(0x2000024, 4),
    ]


@pytest.mark.parametrize("data", [b"\0\0\0?", b"\0\0", struct.pack("<II", ord("R") << 24, 1)])
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(ImageError):
        list(writes(data, TOFINO1))


def _array(kind: str, per_word: int, **detail: object) -> Array:
    blocks = (Block((6,), (0,)), Block((18,), (1,)))
    memory = Memory(Format(1, ((),) * per_word), blocks, (30,))
    return Array("cells", kind, 4096, False, 2, 3, per_word, memory, detail)


def test_two_port_words_are_found_where_the_chip_moved_them() -> None:
    chip = Chip()
    words = TwoPort(StageMemory(chip, 2), _array("meter", 1).memory)
    assert words.read(1024 + 5) == 0
    words.write(1024 + 5, 99)
    assert words.read(1024 + 5) == 99
    assert words.read(5) == 0
    # The chip writes into the spare memory, and what was there is free.
    place = next(address for address, word in chip.memories.items() if word == 99)
    page = place | 1 << 18
    spare = place & ~(0xF << 14 | 0xF << 10) | 2 << 14 | 6 << 10
    chip.memories[spare], chip.memories[spare | 1 << 18] = 100, chip.memories[page]
    chip.memories[page] = 0
    assert words.read(1024 + 5) == 100
    words.write(1024 + 5, 101)
    assert chip.memories[spare] == 101


@pytest.mark.parametrize(
    ("units", "entries", "pages", "address"),
    [
        (7, 1, (3, 11), 11 << 15 | 5 << 5 | 0x1F),
        (1, 4, (0, 1), 1 << 15 | 5 << 5 | 2 << 3 | 0b011),
        (1, 1, (0, 1), 1 << 15 | 5 << 5 | 0b01111),
    ],
)
def test_action_data_is_addressed_by_the_pages_of_its_memories(
    units: int, entries: int, pages: tuple[int, int], address: int
) -> None:
    """The third entry of the word in row 5 of the second page, or the only one."""
    blocks = tuple(Block(tuple(range(units)), (page,)) for page in pages)
    data = {2: {9: Memory(Format(units, ((),) * entries), blocks)}}
    memory = ActionMemory(StageMemory(Chip(), 2), ActionData("data", False, data, {}))
    index = (1024 + 5) * entries + min(2, entries - 1)
    assert memory.address(index, Action("act", 9, (), {})) == address


def test_counters_side_by_side_keep_apart() -> None:
    counters = Counters(Chip(), _array("statistics", 2, statistics_type="packets_and_bytes"))
    for index in (6, 7):
        counters.write(index, CounterValue(index, 100 * index))
    assert [counters.read(index) for index in (5, 6, 7)] == [
        CounterValue(),
        CounterValue(6, 600),
        CounterValue(7, 700),
    ]


def test_counter_of_several_stages_is_their_sum() -> None:
    kind = _array("statistics", 2, statistics_type="packets_and_bytes")
    chip = Chip()
    stages = [Counters(chip, replace(kind, stage=number)) for number in (5, 6)]
    spread = SpreadCounters(stages)
    for stage, packets in zip(stages, (3, 4), strict=True):
        stage.write(6, CounterValue(packets, 100 * packets))
    assert spread.read(6) == CounterValue(7, 700)
    spread.write(6, CounterValue(1, 64))
    assert spread.read(6) == CounterValue(1, 64)


class WrittenChip(Chip):
    """Counts what is written to registers."""

    writes = 0

    def write(self, address: int, value: int) -> None:
        self.writes += 1


def test_learning_filter_is_cleared_once_for_each_half_it_told() -> None:
    chip = WrittenChip()
    learning = digests.LearningFilter(chip)
    learning.clear()
    assert chip.writes == 0
    learning.drained()
    learning.drained()
    learning.clear()
    learning.clear()
    assert chip.writes == 2


def test_registers_begin_as_the_program_says() -> None:
    detail = {"alu_width": 16, "initial_value_lo": 0x12, "initial_value_hi": 0x34}
    registers = Registers(Chip(), _array("stateful", 4, **detail))
    registers.reset()
    registers.write(1025, 7)
    assert [registers.read(index) for index in (0, 1024, 1025, 1026)] == [
        0x340012,
        0x340012,
        7,
        0x340012,
    ]


def _bucket(word: int) -> tuple[float, int]:
    """Tokens per tick, and burst, of the committed bucket."""
    mantissa, exponent = word & 0x1FF, 31 - (word >> 9 & 0x1F)
    burst = (word >> 28 & 0xFF) << (word >> 36 & 0x1F)
    assert word >> 54 & (1 << 23) - 1 == burst, "a bucket begins full"
    return mantissa / (1 << exponent), burst


@pytest.mark.parametrize("rate", [10, 1000, 123_456, 10_000_000])
def test_meter_never_lets_more_pass_than_its_rate(rate: int) -> None:
    tokens, burst = _bucket(limited(MeterRates(rate, 5, rate, 5), 0.8))
    assert burst == 5
    assert 0.85 * rate <= tokens / 0.8e-9 <= rate


def test_meter_that_is_not_set_lets_all_pass() -> None:
    tokens, burst = _bucket(unlimited())
    assert tokens >= 1
    assert burst > 1_000_000


def test_digest_is_put_together_of_its_parts() -> None:
    parts = (("vrf", 1, 7, 16, 0), ("port", 3, 0, 9, 0), ("id", 5, 7, 8, 8), ("id", 6, 7, 8, 0))
    layout = Quantum("seen", 2, parts)
    quantum = bytes([2, 0x12, 0x34, 0x01, 0x56, 0x78, 0x9A]) + bytes(41)
    (found,) = digests.quanta(quantum[::-1])
    assert digests.type_of(found) == 2
    assert digests.fields(found, layout, ("vrf", "port", "id")) == (0x1234, 0x156, 0x789A)


# The rows of Tofino 1 are two words, those of Tofino 2 the halves of one.
@pytest.mark.parametrize(
    ("layout", "first", "second", "registers"),
    [
        (TOFINO1, (0x21C80000000, 0), (0x21C80000100, 0), (2, 3)),
        (TOFINO2, (0x26080000400, 0), (0x26080000400, 64), (1, 3)),
    ],
)
def test_value_set_rows_match_its_values_or_nothing(
    layout: Layout, first: tuple[int, int], second: tuple[int, int], registers: tuple[int, int]
) -> None:
    chip = Chip(layout)
    for row in (9, 8):
        for (base, shift), state in ((first, 5), (second, 7)):
            chip.memories[base + row] = chip.read_memory(base + row) | state << 32 + shift
    low_bits, high_bit = registers
    bits = (*((low_bits, bit) for bit in range(8)), (high_bit, 0))
    ports = ValueSetMemory(chip, ValueSet("ports", (9, 8), bits))
    ports.write([3])

    def word(place: tuple[int, int], row: int) -> int:
        return chip.memories[place[0] + row] >> place[1] & (1 << 64) - 1

    low, high = word(first, 9), word(second, 9)
    for port in range(512):
        key = (port & 0xFF) << layout.parsers.registers[low_bits]
        key |= (port >> 8) << layout.parsers.registers[high_bit]
        used = 0xFF << layout.parsers.registers[low_bits]
        used |= 1 << layout.parsers.registers[high_bit]
        assert (not key & ~high and not ~key & used & ~low) == (port == 3)
    assert (low >> 32, high >> 32) == (5, 7)
    assert (word(first, 8), word(second, 8)) == (5 << 32, 7 << 32)
    with pytest.raises(EngineError):
        ports.write([1, 2, 3])


def test_image_of_tofino_2_is_read_as_what_it_writes_to_pipe_0() -> None:
    one = struct.pack("<III", ord("R") << 24, 0x1000, 7)
    two = struct.pack("<III", ord("R") << 24, 0x4000000 | 3 << 24, 8)
    memory = struct.pack("<IQII", ord("D") << 24, 0x20000000000 | 2 << 39 | 5, 128, 1)
    memory += struct.pack("<QQ", 10, 11)
    assert list(writes(one + two + memory, TOFINO2)) == [
        RegisterWrite(0x4001000, 7),
        RegisterWrite(0x4000000, 8),
        MemoryWrite(0x20000000005, 10, 11),
    ]


@pytest.mark.parametrize("layout", [TOFINO1, TOFINO2])
def test_settings_keep_the_other_bits_of_a_register(layout: Layout) -> None:
    chip = Chip(layout)
    others = {place: (1 << 32) - 1 & ~mask for place, _, mask in layout.ports}
    chip.registers.update(others)
    write_all(chip, layout.ports)
    for place, value, mask in layout.ports:
        assert chip.registers[place] & mask == value
        assert chip.registers[place] & others[place] == others[place]


@pytest.mark.parametrize(("octets", "length"), [(20, 24), (60, 64), (43, 48)])
def test_copies_of_tofino_2_are_cut_at_words_and_have_what_is_asked(
    octets: int, length: int
) -> None:
    """The chip rounds down to four octets, and counts the checksum of a frame."""
    written = {setting.address: setting.value for setting in TOFINO2.mirror(3, octets)}
    assert {written[0x4C9000C + 0x800 * part] for part in range(4)} == {3 | length << 4}


def test_program_for_another_chip_is_refused() -> None:
    context = {"target": "tofino", "tables": [], "learn_quanta": [], "parser": {}}
    message = BfPipelineConfig(p4_name="p")
    message.profiles.add(context=json.dumps(context).encode())
    program = message.SerializeToString()
    one, two = (ChipBackend(cast("Any", Chip(layout)), {}) for layout in (TOFINO1, TOFINO2))
    one.build(program)
    with pytest.raises(EngineError, match="for tofino, not Tofino 2"):
        two.build(program)


def test_target_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("chip")
    switch = TARGETS["tofino"]({}, "127.0.0.1:1", 1, folder / "log")
    monkeypatch.delenv("FCN_TOFINO_MODEL", raising=False)
    with pytest.raises(TargetUnavailableError, match="FCN_TOFINO_MODEL"):
        switch.program()
    monkeypatch.setenv("FCN_TOFINO_MODEL", __file__)
    monkeypatch.setenv("FCN_P4", str(folder))
    with pytest.raises(TargetUnavailableError, match="FCN_P4"):
        switch.program()
    (folder / "pe.bin").touch()
    assert switch.program()[-1] == "fcn.ptf_tests.tofino"
