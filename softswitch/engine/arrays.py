"""Counters, meters, registers, packet replication and ports of a native engine."""

from collections.abc import Sequence

from fcn.softswitch.api import (
    CounterValue,
    EngineError,
    MeterRates,
    PortCounters,
    PortQueue,
    Replica,
)
from fcn.softswitch.engine.handle import NativeEngine

_UNCHANGED = 0xFFFFFFFF


class ArrayControl(NativeEngine):
    """The part of softswitch.api.Engine for indexed objects."""

    @staticmethod
    def _rates(rates: MeterRates | None) -> list[int]:
        if rates is None:
            return [0, 0, 0, 0]
        if rates.cir > rates.pir:
            raise EngineError(f"committed rate {rates.cir} above the peak rate {rates.pir}")
        return [rates.cir, rates.cburst, rates.pir, rates.pburst]

    def _counter(self, counter: str, index: int, value: CounterValue | None) -> CounterValue:
        number = self._number(self.program.counters, "counter", counter)
        p, o = self._ffi.new("uint64_t *"), self._ffi.new("uint64_t *")
        if value is not None:
            p[0], o[0] = value.packets, value.octets
        self._call(f"counter {counter}[{index}]", "counter", number, index, value is not None, p, o)
        return CounterValue(p[0], o[0])

    def counter_read(self, counter: str, index: int) -> CounterValue:
        return self._counter(counter, index, None)

    def counter_write(self, counter: str, index: int, value: CounterValue) -> None:
        self._counter(counter, index, value)

    def meter_set(self, meter: str, index: int, rates: MeterRates | None) -> None:
        number = self._number(self.program.meters, "meter", meter)
        what, native = f"meter {meter}[{index}]", self._rates(rates)
        self._call(what, "meter", number, index, rates is not None, native)

    def register_read(self, register: str, index: int) -> int:
        number = self._number(self.program.registers, "register", register)
        cell = self._ffi.new("uint8_t[16]")
        self._call(f"register {register}[{index}]", "register", number, index, False, cell)
        return int.from_bytes(bytes(self._ffi.buffer(cell)), "big")

    def register_write(self, register: str, index: int, value: int) -> None:
        number = self._number(self.program.registers, "register", register)
        width = self.program.model.registers[register].width
        if not 0 <= value < 1 << width:
            raise EngineError(f"register {register}: {value} does not fit {width} bits")
        cell = self._ffi.new("uint8_t[16]", value.to_bytes(16, "big"))
        self._call(f"register {register}[{index}]", "register", number, index, True, cell)

    # Packet replication

    def clone_session_set(
        self, session_id: int, replicas: Sequence[Replica], class_of_service: int, truncate: int
    ) -> None:
        what, copies = f"clone session {session_id}", _native(replicas)
        self._call(what, "session_set", session_id, *copies, class_of_service, truncate)

    def clone_session_delete(self, session_id: int) -> None:
        self._call(f"clone session {session_id}", "session_drop", session_id)

    def multicast_group_set(self, group_id: int, replicas: Sequence[Replica]) -> None:
        self._call(f"multicast group {group_id}", "mgroup_set", group_id, *_native(replicas))

    def multicast_group_delete(self, group_id: int) -> None:
        self._call(f"multicast group {group_id}", "mgroup_drop", group_id)

    # Packets and ports

    def port_queue_set(self, port: int, queue: PortQueue) -> None:
        depth = _UNCHANGED if queue.depth is None else queue.depth
        rates = queue.rate_pps or 0, queue.rate_bps or 0
        self._call(f"port {port}", "port_queue", port, depth, *rates, queue.delay_ns)

    def port_overhead_set(self, port: int, octets: int) -> None:
        """Octets a frame takes on the port's wire beyond its own, which count for the bit rate;
        24 on Ethernet: preamble, frame check sequence and the gap between frames."""
        self._call(f"port {port}", "port_overhead", port, octets)

    def port_buffer_set(self, port: int, octets: int | None) -> None:
        """Octets each queue of a port holds, beside its depth in packets; None: unlimited."""
        self._call(f"port {port}", "port_buffer", port, octets or 0)

    def buffer_set(self, octets: int | None) -> None:
        """Octets all queues of all ports hold together; None: unlimited."""
        self._call("", "buffer", octets or 0)

    def seed(self, seed: int) -> None:
        """The random numbers of the program follow from this seed (64 bits) from now on. An engine
        with a virtual clock begins with seed 0, any other with its time of start."""
        self._call("", "seed", seed)

    def port_counters(self, port: int) -> PortCounters:
        return PortCounters(**self._fields("sw_port_stats", f"port {port}", "port_stats", port))


def _native(replicas: Sequence[Replica]) -> tuple[int, list[int], list[int]]:
    """Their number, ports and instances."""
    return len(replicas), [each.port for each in replicas], [each.instance for each in replicas]
