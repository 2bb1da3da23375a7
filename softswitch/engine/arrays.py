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
        self._done(
            self._lib.sw_ctl_counter(self._handle, number, index, value is not None, p, o),
            f"counter {counter}[{index}]",
        )
        return CounterValue(p[0], o[0])

    def counter_read(self, counter: str, index: int) -> CounterValue:
        """See softswitch.api.Engine."""
        return self._counter(counter, index, None)

    def counter_write(self, counter: str, index: int, value: CounterValue) -> None:
        """See softswitch.api.Engine."""
        self._counter(counter, index, value)

    def meter_set(self, meter: str, index: int, rates: MeterRates | None) -> None:
        """See softswitch.api.Engine."""
        number = self._number(self.program.meters, "meter", meter)
        self._done(
            self._lib.sw_ctl_meter(
                self._handle, number, index, rates is not None, self._rates(rates)
            ),
            f"meter {meter}[{index}]",
        )

    def register_read(self, register: str, index: int) -> int:
        """See softswitch.api.Engine."""
        number = self._number(self.program.registers, "register", register)
        cell = self._ffi.new("uint8_t[16]")
        self._done(
            self._lib.sw_ctl_register(self._handle, number, index, False, cell),
            f"register {register}[{index}]",
        )
        return int.from_bytes(bytes(self._ffi.buffer(cell)), "big")

    def register_write(self, register: str, index: int, value: int) -> None:
        """See softswitch.api.Engine."""
        number = self._number(self.program.registers, "register", register)
        width = self.program.model.registers[register].width
        if not 0 <= value < 1 << width:
            raise EngineError(f"register {register}: {value} does not fit {width} bits")
        cell = self._ffi.new("uint8_t[16]", value.to_bytes(16, "big"))
        self._done(
            self._lib.sw_ctl_register(self._handle, number, index, True, cell),
            f"register {register}[{index}]",
        )

    # Packet replication

    def clone_session_set(
        self, session_id: int, replicas: Sequence[Replica], class_of_service: int, truncate: int
    ) -> None:
        """See softswitch.api.Engine."""
        ports, instances = [r.port for r in replicas], [r.instance for r in replicas]
        self._done(
            self._lib.sw_ctl_session_set(
                self._handle, session_id, len(ports), ports, instances, class_of_service, truncate
            ),
            f"clone session {session_id}",
        )

    def clone_session_delete(self, session_id: int) -> None:
        """See softswitch.api.Engine."""
        self._done(
            self._lib.sw_ctl_session_drop(self._handle, session_id), f"clone session {session_id}"
        )

    def multicast_group_set(self, group_id: int, replicas: Sequence[Replica]) -> None:
        """See softswitch.api.Engine."""
        ports, instances = [r.port for r in replicas], [r.instance for r in replicas]
        self._done(
            self._lib.sw_ctl_mgroup_set(self._handle, group_id, len(ports), ports, instances),
            f"multicast group {group_id}",
        )

    def multicast_group_delete(self, group_id: int) -> None:
        """See softswitch.api.Engine."""
        self._done(
            self._lib.sw_ctl_mgroup_drop(self._handle, group_id), f"multicast group {group_id}"
        )

    # Packets and ports

    def port_queue_set(self, port: int, queue: PortQueue) -> None:
        """See softswitch.api.Engine."""
        self._done(
            self._lib.sw_ctl_port_queue(
                self._handle,
                port,
                _UNCHANGED if queue.depth is None else queue.depth,
                queue.rate_pps or 0,
                queue.rate_bps or 0,
                queue.delay_ns,
            ),
            f"port {port}",
        )

    def port_overhead_set(self, port: int, octets: int) -> None:
        """Octets a frame takes on the port's wire beyond its own, which count for the bit rate;
        24 on Ethernet: preamble, frame check sequence and the gap between frames."""
        self._done(self._lib.sw_ctl_port_overhead(self._handle, port, octets), f"port {port}")

    def port_buffer_set(self, port: int, octets: int | None) -> None:
        """Octets each queue of a port holds, beside its depth in packets; None: unlimited."""
        self._done(self._lib.sw_ctl_port_buffer(self._handle, port, octets or 0), f"port {port}")

    def buffer_set(self, octets: int | None) -> None:
        """Octets all queues of all ports hold together; None: unlimited."""
        self._lib.sw_ctl_buffer(self._handle, octets or 0)

    def seed(self, seed: int) -> None:
        """The random numbers of the program follow from this seed (64 bits) from now on. An engine
        with a virtual clock begins with seed 0, any other with its time of start."""
        self._lib.sw_ctl_seed(self._handle, seed)

    def port_counters(self, port: int) -> PortCounters:
        """See softswitch.api.Engine."""
        s = self._ffi.new("sw_port_stats *")
        self._done(self._lib.sw_ctl_port_stats(self._handle, port, s), f"port {port}")
        return PortCounters(
            rx_packets=s.rx_packets,
            rx_octets=s.rx_octets,
            tx_packets=s.tx_packets,
            tx_octets=s.tx_octets,
            queue_drops=s.queue_drops,
            queue_depth=s.queue_depth,
            queue_peak=s.queue_peak,
            queue_octets=s.queue_octets,
            queue_octets_peak=s.queue_octets_peak,
        )
