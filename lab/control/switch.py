"""A switch as the controller sees it: its P4Runtime device and the channel to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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

OpenEngine = Callable[[Program], Engine]
"""The engine that runs this program from now on. Raises EngineError when it cannot."""

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

    def __init__(self, open_engine: OpenEngine) -> None:
        self._open_engine = open_engine

    def build(self, device_config: bytes) -> None:
        """Compile."""
        _program(device_config)

    def open(self, device_config: bytes) -> Engine:
        """Give the node this program."""
        return self._open_engine(_program(device_config))

    def start(self, engine: Engine) -> None:
        """Nothing to start: packets come from the simulation."""

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        """None here: those of the engines are the simulation's."""
        return {}


class ControlledSwitch:
    """P4Runtime of one switch. `delay_ns`: one way between it and the controller."""

    def __init__(
        self,
        name: str,
        device_id: int,
        open_engine: OpenEngine,
        delay_ns: int,
        world: World,
        observer: Observer,
    ) -> None:
        self.link = ControlLink(delay_ns)
        self.device = Device(device_id, _Backend(open_engine), wall_clock=lambda: world.now_ns)
        self._server = Server(
            lambda method, message: observer(
                Request(world.now_ns, name, method.rpartition("/")[2], message)
            )
        )
        p4r_grpc.add_P4RuntimeServicer_to_server(P4RuntimeService(self.device), self._server)

    def channel(self) -> grpc.aio.Channel:
        """A channel to it. It has no more of grpc.aio.Channel than finsy uses."""
        return Channel(self.link, self._server)
