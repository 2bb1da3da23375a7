"""Attached interfaces, their state and their queue settings, which outlive pipelines."""

import fcntl
import logging
import socket
import struct
from collections.abc import Iterable, Mapping

from fcn.contract.targets import V1MODEL
from fcn.softswitch.api import Engine, EngineError, PortCounters, PortQueue

_LOG = logging.getLogger(__name__)
_SIOCGIFFLAGS = 0x8913
_IFF_RUNNING = 0x40
PARKING_RATE = 20_000
"""Packets per second that come round on the parking port, where held packets wait (SRF-7)."""
PARKING_DEPTH = 1 << 20
"""Packets that may wait there: more than a node can be told to hold, so that none is lost."""
CLOCK_RATE = 1_000
"""Packets per second that come round on the clock port (FAN-4) until somebody sets its rate."""
_SILENT = PortCounters(0, 0, 0, 0, 0, 0, 0)


class PortError(Exception):
    """There is no such port, or its setting was rejected."""


class Ports:
    """Ports by number; runs on the event loop."""

    def __init__(self, interfaces: Mapping[int, str], queues: Mapping[int, PortQueue]) -> None:
        self.interfaces = dict(interfaces)
        self.queues = {port: queues.get(port, PortQueue()) for port in interfaces}
        self.queues |= {port: queue for port, queue in _rounds().items() if port not in interfaces}
        self.up = {port: interface_is_up(name) for port, name in interfaces.items()}
        self._engine: Engine | None = None

    def attach(self, engine: Engine | None) -> None:
        """Set the engine and apply the queue settings; None while there is no pipeline."""
        self._engine = engine
        if engine is None:
            return
        for port, queue in self.queues.items():
            if queue != PortQueue():
                engine.port_queue_set(port, queue)

    def on_status(self, port: int, up: bool) -> None:
        """Record and log that an interface went up or down."""
        self.up[port] = up
        name = self.interfaces.get(port, "?")
        _LOG.info("port %d (%s) is %s", port, name, "up" if up else "down")

    def select(self, ports: Iterable[int]) -> list[int]:
        """The given ports, or all when there are none; PortError for an unknown one."""
        chosen = list(ports)
        for port in chosen:
            if port not in self.interfaces:
                raise self._no_port(port)
        return chosen or sorted(self.interfaces)

    def queue(self, port: int) -> PortQueue:
        """A port's settings; packets come round through two that have no interface."""
        if port not in self.queues:
            raise self._no_port(port)
        return self.queues[port]

    def set_queue(self, port: int, queue: PortQueue) -> None:
        """Change a port's settings, for this and later pipelines."""
        self.queue(port)
        if self._engine is not None:
            try:
                self._engine.port_queue_set(port, queue)
            except EngineError as error:
                raise PortError(f"port {port}: {error}") from error
        self.queues[port] = queue

    def counters(self, port: int) -> PortCounters:
        """Counters of a port, zero without a pipeline."""
        return self._engine.port_counters(port) if self._engine is not None else _SILENT

    def _no_port(self, port: int) -> PortError:
        attached = ", ".join(map(str, sorted(self.interfaces))) or "none"
        return PortError(f"port {port} is not attached (attached: {attached})")


def _rounds() -> dict[int, PortQueue]:
    """Of the ports through which packets come round."""
    parking = PortQueue(depth=PARKING_DEPTH, rate_pps=PARKING_RATE)
    of = {V1MODEL.ports.parking: parking, V1MODEL.ports.clock: PortQueue(rate_pps=CLOCK_RATE)}
    return {port: queue for port, queue in of.items() if port is not None}


def interface_is_up(name: str) -> bool:
    """Whether an interface of this network namespace has carrier."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe, _SIOCGIFFLAGS, struct.pack("16sh14x", name.encode(), 0))
        except OSError:
            return False
    (flags,) = struct.unpack_from("H", answer, 16)
    return bool(flags & _IFF_RUNNING)
