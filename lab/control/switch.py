"""A switch as the controller sees it: its P4Runtime device and the channel to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import grpc
from finsy.proto import p4r_grpc

from fcn.lab.control.channel import Channel
from fcn.lab.control.link import ControlLink
from fcn.lab.control.loop import World
from fcn.lab.control.server import Server
from fcn.softswitch.api import Engine
from fcn.softswitch.engine import Program
from fcn.softswitch.p4rt.backend import load_config
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.service import P4RuntimeService


class Hardware(Protocol):
    """The switch itself, a part of the world."""

    def open(self, program: Program) -> Engine:
        """An engine for this program. Raises EngineError when the switch cannot run it."""

    def start(self, engine: Engine) -> None:
        """Forward with this engine from now on, in place of any other."""

    def close(self, engine: Engine) -> None:
        """This engine is not used any more; if the switch forwards with it, that ends."""


# Every switch of a role gets the same; compiling and parsing it takes no virtual time.
_program = lru_cache(maxsize=16)(load_config)


@dataclass(frozen=True, slots=True)
class Request:
    """A request when it arrives at a switch. `method` is the name alone, such as "Write"."""

    time_ns: int
    node: str
    method: str
    message: Any


Observer = Callable[[Request], None]


class _Backend:
    """Runs programs in the simulation; softswitch.p4rt.device.Backend."""

    def __init__(self, hardware: Hardware) -> None:
        self._hardware = hardware

    def build(self, device_config: bytes) -> None:
        """Compile."""
        _program(device_config)

    def open(self, device_config: bytes) -> Engine:
        """An engine of the node."""
        return self._hardware.open(_program(device_config))

    def start(self, engine: Engine) -> None:
        """Let the node forward with it."""
        self._hardware.start(engine)

    def pause(self, engine: Engine) -> None:
        """Nothing to do: another takes its place at the same instant."""

    def close(self, engine: Engine) -> None:
        """Take it from the node."""
        self._hardware.close(engine)

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        """None here: those of the engines are the simulation's."""
        return {}


class ControlledSwitch:
    """P4Runtime of one switch. `delay_ns`: one way between it and the controller."""

    def __init__(
        self,
        name: str,
        device_id: int,
        hardware: Hardware,
        delay_ns: int,
        world: World,
        observer: Observer,
    ) -> None:
        self.link = ControlLink(delay_ns)
        self._name = name
        self._device_id = device_id
        self._hardware = hardware
        self._world = world
        self._observer = observer
        self.start()

    def start(self) -> None:
        """Switch it on, without a program."""
        backend = _Backend(self._hardware)
        self._device = Device(self._device_id, backend, wall_clock=lambda: self._world.now_ns)
        self._server = Server(self._observe)
        p4r_grpc.add_P4RuntimeServicer_to_server(P4RuntimeService(self._device), self._server)

    async def stop(self) -> None:
        """Switch it off: its calls end and its engine is closed."""
        self._server.stop()
        await self._device.close()

    def channel(self) -> grpc.aio.Channel:
        """A channel to it. It has no more of grpc.aio.Channel than finsy uses."""
        return Channel(self.link, lambda: self._server)

    def _observe(self, method: str, message: object) -> None:
        name = method.rpartition("/")[2]
        self._observer(Request(self._world.now_ns, self._name, name, message))
