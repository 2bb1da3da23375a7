"""P4Runtime switches without packets for the controller's tests: the softswitch's server over an
engine that keeps state, remembers what it was sent and reports what a test tells it to."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc

from fcn.softswitch.api import Engine, EngineEvents, MatchKey, TableAction
from fcn.softswitch.p4rt.detached import DetachedEngine
from fcn.softswitch.p4rt.devconfig import DeviceConfig, parse_device_config
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import start_server
from fcn.softswitch.p4rt.transport import Transport

WAIT = 30.0


class QuietEngine(DetachedEngine):
    """Counts table writes; a test speaks for the data plane through `events`."""

    def __init__(self, config: DeviceConfig) -> None:
        super().__init__(config)
        self.writes = 0
        self.tables: dict[int, str] = {}
        self.sent: list[bytes] = []
        self.events: EngineEvents | None = None

    def set_events(self, events: EngineEvents) -> None:
        self.events = events

    def table_insert(
        self,
        table: str,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int = 0,
    ) -> int:
        self.writes += 1
        handle = super().table_insert(table, match, priority, action, idle_timeout_ns)
        self.tables[handle] = table
        return handle

    def table_modify(
        self, table: str, handle: int, action: TableAction, idle_timeout_ns: int = 0
    ) -> None:
        self.writes += 1
        super().table_modify(table, handle, action, idle_timeout_ns)

    def table_delete(self, table: str, handle: int) -> None:
        self.writes += 1
        super().table_delete(table, handle)
        del self.tables[handle]

    def packet_out(self, data: bytes) -> None:
        self.sent.append(data)

    def size(self, table: str) -> int:
        """Entries of a table, by its name without control."""
        return sum(name.rpartition(".")[2] == table for name in self.tables.values())

    def digest(self, name: str, *items: tuple[int, ...]) -> None:
        """The data plane reports these items."""
        assert self.events is not None
        self.events.digest(name, items)

    def packet_in(self, port: int, reason: int, vlan: int, vrf: int, frame: bytes) -> None:
        """The data plane sends a frame up: reason 7, ingress_port 9, vlan_id 16, vrf 16 bits."""
        assert self.events is not None
        header = reason << 41 | port << 32 | vlan << 16 | vrf
        self.events.packet_in(header.to_bytes(6, "big") + frame)

    def fall_idle(self, table: str) -> None:
        """Every entry of a table was not hit for its idle timeout."""
        assert self.events is not None
        for handle, name in list(self.tables.items()):
            if name.rpartition(".")[2] == table:
                self.events.idle(name, handle)


@dataclass
class MemorySwitch:
    """One switch; `stop` and `start` are power off and on, the port stays the same."""

    device_id: int = 1
    port: int = 0
    engines: list[QuietEngine] = field(default_factory=list)
    _device: Device | None = None
    _server: grpc.aio.Server | None = None

    @property
    def engine(self) -> QuietEngine:
        """The data plane of the pipeline set last."""
        return self.engines[-1]

    @property
    def address(self) -> str:
        """Where the server listens."""
        return f"127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Power on, without a pipeline."""
        ports = Ports({}, {})
        self._device = Device(self.device_id, _Backend(self.engines), ports.attach, ports.on_status)
        address = f"127.0.0.1:{self.port}"
        self._server, self.port = await start_server(self._device, ports, Transport(address))

    async def stop(self) -> None:
        """Power off."""
        if self._server is not None and self._device is not None:
            await self._server.stop(None)
            await self._device.close()
        self._server = self._device = None


@dataclass
class _Backend:
    """softswitch.p4rt.device.Backend."""

    engines: list[QuietEngine]

    def build(self, device_config: bytes) -> None:
        """Nothing to compile."""

    def open(self, device_config: bytes) -> Engine:
        self.engines.append(QuietEngine(parse_device_config(device_config)))
        return self.engines[-1]

    def start(self, engine: Engine) -> None:
        """Nothing to run."""

    def pause(self, engine: Engine) -> None:
        """Nothing runs."""

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        return {}


@asynccontextmanager
async def memory_switches(count: int) -> AsyncIterator[list[MemorySwitch]]:
    """So many switches, powered on."""
    switches = [MemorySwitch() for _ in range(count)]
    for switch in switches:
        await switch.start()
    try:
        yield switches
    finally:
        for switch in switches:
            await switch.stop()


async def until(condition: Callable[[], Any], what: str = "") -> None:
    """Wait for a condition; fails the test when it does not come true."""
    async with asyncio.timeout(WAIT):
        while not condition():  # noqa: ASYNC110 - other tasks change it, without an event
            await asyncio.sleep(0.01)
