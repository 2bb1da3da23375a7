"""P4Runtime switches without packets for the controller's tests: the softswitch's server with an
engine that keeps state, records packet-outs and sends the messages a test specifies."""

import asyncio
import time
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import grpc
from finsy.proto import U128, p4r, rpc_code
from tenants import BLUE, DC_PORT, cm_item

from fcn.controller.app import ControlPlane
from fcn.controller.config import Config
from fcn.controller.leadership.ids import ElectionId
from fcn.softswitch.api import Engine, EngineError, EngineEvents, MatchKey, TableAction
from fcn.softswitch.p4rt.arbitration import Client
from fcn.softswitch.p4rt.detached import DetachedEngine
from fcn.softswitch.p4rt.devconfig import DeviceConfig, parse_device_config
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import start_server
from fcn.softswitch.p4rt.transport import Transport

WAIT = 120.0
_REQUESTS = ("read", "write", "set_config")


class QuietEngine(DetachedEngine):
    """Counts table writes; a test speaks for the data plane through `events`. `full`: a table that
    takes no more entries, by its name without control; `reason`: what the switch says then."""

    def __init__(self, config: DeviceConfig) -> None:
        super().__init__(config)
        self.writes = 0
        self.full = ""
        self.reason = "table full"
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
        if table.rpartition(".")[2] == self.full:
            raise EngineError(self.reason)
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
        """Number of entries of a table, by its name without the control."""
        return sum(name.rpartition(".")[2] == table for name in self.tables.values())

    def digest(self, name: str, *items: tuple[int, ...]) -> None:
        """Send a digest with these items; of a message of the connection manager the fields of
        `ConnectionMessage`."""
        assert self.events is not None
        if name.startswith("cm_"):
            items = tuple(cm_item(*item) for item in items)
        self.events.digest(name, items)

    def packet_in(self, port: int, reason: int, vlan: int, vrf: int, frame: bytes) -> None:
        """Send a packet-in; metadata: reason 7, ingress_port 9, vlan_id 16, vrf 16 bits."""
        assert self.events is not None
        header = reason << 41 | port << 32 | vlan << 16 | vrf
        self.events.packet_in(header.to_bytes(6, "big") + frame)

    def fall_idle(self, table: str) -> None:
        """Send an idle timeout notification for every entry of a table."""
        assert self.events is not None
        for handle, name in list(self.tables.items()):
            if name.rpartition(".")[2] == table:
                self.events.idle(name, handle)


@dataclass
class MemorySwitch:
    """One switch; `stop` and `start` simulate a power cycle, the port does not change.
    `wall_clock` dates what it reports: ns since the epoch."""

    device_id: int = 1
    port: int = 0
    engines: list[QuietEngine] = field(default_factory=list)
    frozen: int = 0
    wall_clock: Callable[[], int] = time.time_ns
    ports: Ports = field(default_factory=lambda: Ports({}, {}))
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
        self.ports = ports = Ports({}, {})
        backend, now = Backend(self.engines), lambda: self.wall_clock()
        self._device = Device(self.device_id, backend, ports.attach, ports.on_status, now)
        address = f"127.0.0.1:{self.port}"
        self._server, self.port = await start_server(self._device, ports, Transport(address))

    @property
    def is_led(self) -> bool:
        """Whether a controller is primary."""
        return self._device is not None and any(self._device.arbitration.primaries())

    def say(self, message: p4r.StreamMessageResponse) -> None:
        """Send this to the primary controller, whatever the program has."""
        assert self._device is not None
        assert self._device._notify(message)

    @property
    def kept(self) -> int:
        """Digest messages that it keeps for another controller."""
        return sum(map(len, self._kept()))

    def forget_kept(self) -> None:
        """It keeps none."""
        for kept in self._kept():
            kept.clear()

    def _kept(self) -> list[deque[Any]]:
        assert self._device is not None
        pipeline = self._device._running
        return [each.kept for each in pipeline.digests._learners.values()] if pipeline else []

    @contextmanager
    def lying(self, controller: int) -> Iterator[None]:
        """Meanwhile say to everybody, at once and always, that this controller has just become
        primary; afterwards the truth."""
        assert self._device is not None
        arbitration = self._device.arbitration
        rounds = count(1)

        def lie(_name: str, role: Any, clients: Iterable[Client]) -> None:  # noqa: ANN401
            told = ElectionId.parse(role.highest)
            bid = ElectionId((told.round if told else 0) + next(rounds), controller)
            for client in clients:
                update = p4r.MasterArbitrationUpdate(device_id=self.device_id)
                update.election_id.CopyFrom(U128.encode(bid.value))
                update.status.code = rpc_code.ALREADY_EXISTS
                client.stream.send(p4r.StreamMessageResponse(arbitration=update))

        def say_all() -> None:
            for name, role in arbitration._roles.items():
                arbitration._notify(name, role, role.clients)

        setattr(arbitration, "_notify", lie)  # noqa: B010
        say_all()
        try:
            yield
        finally:
            delattr(arbitration, "_notify")
            say_all()

    def freeze(self) -> asyncio.Event:
        """Answer no request to read until the event is set; `frozen` counts those that wait."""
        thawed = asyncio.Event()

        async def frozen(_request: object) -> None:
            self.frozen += 1
            await thawed.wait()

        self._first("read", frozen)
        return thawed

    def stop_at(self, request: int) -> asyncio.Event:
        """Answer no request from this one on, of those to read, to write, and for a program; the
        event is set when it comes. `answer_all` ends that."""
        come, left = asyncio.Event(), count(request, -1)

        async def unless_none_is_left(_request: object) -> None:
            if next(left) <= 0:
                come.set()
                await asyncio.Event().wait()

        for name in _REQUESTS:
            self._first(name, unless_none_is_left)
        return come

    def answer_all(self) -> None:
        for name in _REQUESTS:
            delattr(self._device, name)

    def before_program(self, wait: Callable[[object], Awaitable[None]]) -> None:
        """Wait for this before each request for a program is answered."""
        self._first("set_config", wait)

    def hear_reads(self, heard: Callable[[p4r.ReadRequest], None]) -> None:
        """Tell of every request to read."""

        async def told(request: p4r.ReadRequest) -> None:
            heard(request)

        self._first("read", told)

    def delay_writes(self, seconds: Callable[[int], float]) -> None:
        """A request to write so many updates takes so much longer."""

        async def delayed(request: p4r.WriteRequest) -> None:
            await asyncio.sleep(seconds(len(request.updates)))

        self._first("write", delayed)

    def count_writes(self) -> list[int]:
        """How many requests to write there are whenever another one comes."""
        assert self._device is not None
        write, found, waiting = self._device.write, list[int](), set[int]()

        async def counted(request: p4r.WriteRequest) -> None:
            waiting.add(id(request))
            found.append(len(waiting))
            await write(request)
            waiting.remove(id(request))

        setattr(self._device, "write", counted)  # noqa: B010
        return found

    def _first(self, name: str, wait: Callable[[Any], Awaitable[None]]) -> None:
        """Wait for this before each request with this name is answered."""
        assert self._device is not None
        answer = getattr(self._device, name)

        async def answered(request: object) -> None:
            await wait(request)
            await answer(request)

        async def told(request: object) -> AsyncIterator[p4r.ReadResponse]:
            await wait(request)
            async for each in answer(request):
                yield each

        setattr(self._device, name, told if name == "read" else answered)

    async def stop(self) -> None:
        """Power off."""
        if self._server is not None and self._device is not None:
            await self._server.stop(None)
            await self._device.close()
        self._server = self._device = None


@dataclass
class Backend:
    """softswitch.p4rt.device.Backend."""

    engines: list[QuietEngine]

    def build(self, device_config: bytes) -> None:
        """Nothing to compile."""

    def open(self, device_config: bytes) -> Engine:
        self.engines.append(QuietEngine(parse_device_config(device_config)))
        return self.engines[-1]

    def start(self, engine: Engine) -> None:
        """Nothing to run."""

    def close(self, engine: Engine) -> None:
        engine.close()

    def pause(self, engine: Engine) -> None:
        """Nothing runs."""

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        return {}


@asynccontextmanager
async def memory_switches(count: int) -> AsyncIterator[list[MemorySwitch]]:
    """This many switches, started."""
    switches = [MemorySwitch() for _ in range(count)]
    for switch in switches:
        await switch.start()
    try:
        yield switches
    finally:
        for switch in switches:
            await switch.stop()


async def until(condition: Callable[[], Any], what: str = "", seconds: float = WAIT) -> None:
    """Wait for a condition; fails the test on timeout."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - other tasks change it, without an event
            await asyncio.sleep(0.01)


def packet_to(dest_qp: int) -> tuple[int, ...]:
    """The report of a packet of a new flow (digest new_flow_ipv4_t)."""
    return (BLUE, 0x0A01000A, 0x0A020014, dest_qp, 0xFFFF, 5, 50000, 4, DC_PORT)


async def all_up(plane: ControlPlane) -> None:
    """Wait until every switch is synchronized."""
    await until(lambda: all(agent.is_up for agent in plane.nodes.values()))


@asynccontextmanager
async def up(plane: ControlPlane) -> AsyncIterator[ControlPlane]:
    """The control plane runs, every switch synchronized."""
    async with plane.running():
        await all_up(plane)
        yield plane


def plane_up(config: Config) -> AbstractAsyncContextManager[ControlPlane]:
    """A control plane that is `up`."""
    return up(ControlPlane(config))
