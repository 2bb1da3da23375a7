"""Counters, meters and registers in their memories."""

from collections.abc import Sequence

from fcn.ptf_tests.tofino.context import Array, ContextError
from fcn.ptf_tests.tofino.memories import Access, StageMemory, TwoPort, register
from fcn.ptf_tests.tofino.packing import UNIT_BITS
from fcn.softswitch.api import CounterValue, MeterRates

_COUNTER_BITS = {1: (64, 64), 2: (28, 36), 3: (17, 25)}
"""Of packets and of octets, where a word keeps so many counters of both."""
_PACKET_BITS = {2: 64, 4: 32}
_OCTET_BITS = {2: 64, 4: 32}
_FCS = 4
"""The chip counts the checksum of a frame, the softswitch does not."""
_TIME_SCALE = 20
_MANTISSA_BITS = 9
_LONGEST_EXPONENT = 27
"""Of a rate: the chip refuses more."""
_BURST_BITS = 8
_MOST_EXPONENT = 14
"""Of a burst whose level is kept in whole tokens."""


class Counters:
    """An array of counters, or those of the entries of a table."""

    def __init__(self, chip: Access, array: Array) -> None:
        self._cells = TwoPort(StageMemory(chip, array.stage), array.memory)
        self._per_word = array.per_word
        kind = array.detail["statistics_type"]
        both = {"packets_and_bytes": _COUNTER_BITS}.get(kind)
        if both is not None and array.per_word in both:
            self._packets, self._octets = both[array.per_word]
        elif kind == "packets" and array.per_word in _PACKET_BITS:
            self._packets, self._octets = _PACKET_BITS[array.per_word], 0
        elif kind == "bytes" and array.per_word in _OCTET_BITS:
            self._packets, self._octets = 0, _OCTET_BITS[array.per_word]
        else:
            raise ContextError(f"counter {array.name}: {array.per_word} of {kind} in a word")
        self._width = UNIT_BITS // array.per_word

    def read(self, index: int) -> CounterValue:
        """A cell."""
        word, at = divmod(index, self._per_word)
        cell = self._cells.read(word) >> at * self._width
        packets = cell & (1 << self._packets) - 1
        octets = cell >> self._packets & (1 << self._octets) - 1
        return CounterValue(packets, max(octets - packets * _FCS, 0))

    def write(self, index: int, value: CounterValue) -> None:
        """Set a cell."""
        word, at = divmod(index, self._per_word)
        cell = value.packets & (1 << self._packets) - 1
        octets = value.octets + value.packets * _FCS
        cell |= (octets & (1 << self._octets) - 1) << self._packets
        mask = (1 << self._width) - 1 << at * self._width
        self._cells.write(word, self._cells.read(word) & ~mask | cell << at * self._width & mask)


class SpreadCounters:
    """An array that tables of several stages count in: each has its own cells."""

    def __init__(self, stages: Sequence[Counters]) -> None:
        self._stages = stages

    def read(self, index: int) -> CounterValue:
        """What all stages counted."""
        values = [stage.read(index) for stage in self._stages]
        return CounterValue(
            sum(each.packets for each in values), sum(each.octets for each in values)
        )

    def write(self, index: int, value: CounterValue) -> None:
        """Set a cell."""
        first, *others = self._stages
        first.write(index, value)
        for stage in others:
            stage.write(index, CounterValue())


class Registers:
    """An array of cells, of one value or of two halves."""

    def __init__(self, chip: Access, array: Array) -> None:
        self._cells = TwoPort(StageMemory(chip, array.stage), array.memory)
        self._per_word = array.per_word
        self._width = UNIT_BITS // array.per_word
        half = int(array.detail["alu_width"])
        low, high = array.detail["initial_value_lo"], array.detail.get("initial_value_hi", 0)
        self._initial = low & (1 << half) - 1 | (high & (1 << half) - 1) << half
        self._initial &= (1 << self._width) - 1

    def reset(self) -> None:
        """What the program says its cells are at first."""
        cell = self._initial
        self._cells.fill(sum(cell << at * self._width for at in range(self._per_word)))

    def read(self, index: int) -> int:
        """A cell."""
        word, at = divmod(index, self._per_word)
        return self._cells.read(word) >> at * self._width & (1 << self._width) - 1

    def write(self, index: int, value: int) -> None:
        """Set a cell."""
        word, at = divmod(index, self._per_word)
        mask = (1 << self._width) - 1 << at * self._width
        self._cells.write(word, self._cells.read(word) & ~mask | value << at * self._width & mask)


class Meters:
    """An array of two-rate meters that count packets."""

    def __init__(self, chip: Access, array: Array) -> None:
        self._cells = TwoPort(StageMemory(chip, array.stage), array.memory)
        first, step = chip.layout.meter
        place = register(chip.layout, array.stage, first + step * array.detail["alu"])
        self._tick_ns = chip.layout.clock_ns * (1 << (chip.read(place) >> _TIME_SCALE & 0xF))

    def reset(self) -> None:
        """Every cell lets everything pass."""
        self._cells.fill(unlimited())

    def set(self, index: int, rates: MeterRates | None) -> None:
        """Configure a cell; None lets everything pass."""
        self._cells.write(index, unlimited() if rates is None else limited(rates, self._tick_ns))


def unlimited() -> int:
    """A meter that is always green."""
    most = (1 << _MANTISSA_BITS) - 1
    burst = _burst(((1 << _BURST_BITS) - 1) << _MOST_EXPONENT)
    return _meter((most, 0), (most, 0), burst, burst)


def limited(rates: MeterRates, tick_ns: float) -> int:
    """A meter with these rates per second, rounded down, and full buckets."""
    return _meter(
        _rate(rates.cir, tick_ns),
        _rate(rates.pir, tick_ns),
        _burst(rates.cburst),
        _burst(rates.pburst),
    )


def _rate(per_second: int, tick_ns: float) -> tuple[int, int]:
    """Mantissa and exponent: so many tokens in each 2^exponent ticks."""
    per_tick = per_second * tick_ns * 1e-9
    for exponent in range(_LONGEST_EXPONENT, -1, -1):
        mantissa = int(per_tick * (1 << exponent))
        if mantissa < 1 << _MANTISSA_BITS:
            return mantissa, exponent
    return (1 << _MANTISSA_BITS) - 1, 0


def _burst(packets: int) -> tuple[int, int]:
    """Mantissa and exponent, rounded down."""
    exponent = min(max(packets.bit_length() - _BURST_BITS, 0), _MOST_EXPONENT)
    return min(packets >> exponent, (1 << _BURST_BITS) - 1), exponent


def _meter(
    committed: tuple[int, int],
    peak: tuple[int, int],
    committed_burst: tuple[int, int],
    peak_burst: tuple[int, int],
) -> int:
    """A cell: rates with the exponent counted down from 31, bursts, full levels, time 0."""
    word = committed[0] | (31 - committed[1]) << 9
    word |= (peak[0] | (31 - peak[1]) << 9) << 14
    word |= (committed_burst[0] | committed_burst[1] << 8) << 28
    word |= (peak_burst[0] | peak_burst[1] << 8) << 41
    word |= (committed_burst[0] << committed_burst[1]) << 54
    return word | (peak_burst[0] << peak_burst[1]) << 77
