"""Memory switches and a control plane in virtual time, for tests about waiting.

Such a test is marked `virtual_time` and runs with the controller's own intervals and timeouts.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import grpc
from finsy.proto import p4r, p4r_grpc
from switches import Backend, MemorySwitch, up

from fcn.controller.app import ControlPlane
from fcn.controller.clock import Clock
from fcn.controller.config import Config
from fcn.controller.finsy_adapter import channels_by
from fcn.controller.leadership.leadership import Leadership
from fcn.lab.control.channel import Channel
from fcn.lab.control.link import ControlLink
from fcn.lab.control.loop import NS, VirtualTimeLoop
from fcn.lab.control.server import Server
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.service import P4RuntimeService

DELAY_NS = 1_000_000
"""Of every control channel, one way."""


@dataclass
class Idle:
    """A world in which nothing happens by itself."""

    now_ns: int = 0

    def run_until(self, time_ns: int) -> int:
        self.now_ns = time_ns
        return time_ns

    def next_due_ns(self) -> int | None:
        return None


class IdleLoop(VirtualTimeLoop):
    """A loop in such a world."""

    def __init__(self) -> None:
        self.world = Idle()
        super().__init__(self.world)


def virtual_time_loop() -> VirtualTimeLoop:
    """A loop for tests."""
    return IdleLoop()


def stand_still(seconds: float) -> None:
    """Nothing is done for so long, as by a machine that is stopped: then all that was due meanwhile
    is due at once."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, IdleLoop)
    loop.world.now_ns += round(seconds * NS)


@dataclass
class VirtualSwitch(MemorySwitch):
    """A memory switch at the end of a simulated channel. `sessions` counts the streams that began
    while it was silent."""

    link: ControlLink = field(default_factory=lambda: ControlLink(DELAY_NS))
    sessions: int = 0
    wall_clock: Callable[[], int] = lambda: round(asyncio.get_running_loop().time() * NS)
    _listener: Server | None = None

    async def start(self) -> None:
        self._device = Device(
            self.device_id, Backend(self.engines), wall_clock=lambda: self.wall_clock()
        )
        self._listener = Server(_ignore)
        p4r_grpc.add_P4RuntimeServicer_to_server(P4RuntimeService(self._device), self._listener)

    async def go_silent(self) -> None:
        """Power off; from then on something there accepts streams and never answers."""
        await self.stop()
        self._listener = Server(_ignore)
        handler = grpc.stream_stream_rpc_method_handler(
            self._listen,
            p4r.StreamMessageRequest.FromString,
            p4r.StreamMessageResponse.SerializeToString,
        )
        service = grpc.method_handlers_generic_handler(
            "p4.v1.P4Runtime", {"StreamChannel": handler}
        )
        self._listener.add_generic_rpc_handlers((service,))

    async def stop(self) -> None:
        if self._device is not None:
            self.server().stop()
            await self._device.close()
            self._device = None

    def channel(self) -> grpc.aio.Channel:
        """A channel to it."""
        return Channel(self.link, self.server)

    def server(self) -> Server:
        assert self._listener is not None
        return self._listener

    async def _listen(
        self, _requests: AsyncIterator[p4r.StreamMessageRequest], _context: object
    ) -> AsyncIterator[p4r.StreamMessageResponse]:
        self.sessions += 1
        await asyncio.Event().wait()
        yield p4r.StreamMessageResponse()


def _ignore(_method: str, _message: object) -> None:
    """Observe nothing."""


@asynccontextmanager
async def virtual_switches(number: int) -> AsyncIterator[list[VirtualSwitch]]:
    """This many switches, started, which finsy reaches by their addresses."""
    ports = count(1)
    switches = [VirtualSwitch(port=next(ports)) for _ in range(number)]
    for switch in switches:
        await switch.start()
    by_address = {switch.address: switch for switch in switches}
    with channels_by(lambda address: by_address[address].channel()):
        yield switches
    for switch in switches:
        await switch.stop()


def virtual_plane(config: Config) -> ControlPlane:
    """A control plane in the time of the running loop."""
    time = asyncio.get_running_loop().time
    clock = Clock(time, time, time)
    return ControlPlane(config, clock, random.Random(1), Leadership(list(config.nodes), clock, 1))


def virtual_plane_up(config: Config) -> AbstractAsyncContextManager[ControlPlane]:
    """The same, and `up`."""
    return up(virtual_plane(config))
