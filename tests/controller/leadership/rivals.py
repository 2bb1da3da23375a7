"""Several controllers of the same virtual switches, each by channels of its own."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import yaml
from switches import until
from virtual import DELAY_NS, VirtualSwitch

from fcn.controller.app import ControlPlane
from fcn.controller.clock import Clock
from fcn.controller.config import parse_config
from fcn.controller.finsy_adapter import channels_by
from fcn.controller.leadership.ids import run_of
from fcn.controller.leadership.leadership import Leadership
from fcn.controller.node.connection import State
from fcn.lab.control.channel import Channel
from fcn.lab.control.link import ControlLink

UNHEARD = 16.0
"""Seconds until a controller notices that a switch is cut off (controller/node/session.py)."""

CALM = 60.0
"""Seconds after which what was cut or stopped is in order again: keepalive, retries, waits."""


@dataclass
class Rivals:
    """`network`: without addresses. links: by controller and switch. named: whether `controllers`
    names them, so that only more than half of the switches make a leader. folder: where each keeps
    what was said."""

    network: dict[str, Any]
    switches: dict[str, VirtualSwitch]
    named: bool = False
    folder: Path | None = None
    links: dict[tuple[int, str], ControlLink] = field(default_factory=dict)
    planes: dict[int, ControlPlane] = field(default_factory=dict)
    _running: dict[int, AsyncExitStack] = field(default_factory=dict)
    _anew: dict[int, asyncio.Task[None]] = field(default_factory=dict)

    async def start(self, number: int, under: int | None = None) -> ControlPlane:
        """Start a controller, under the name of this one or of another."""
        network = yaml.safe_load(yaml.safe_dump(self.network))
        for place, name in enumerate(self.switches):
            network["nodes"][name]["grpc"] = f"127.0.{number}.{place + 1}:9559"
            network["nodes"][name]["device_id"] = self.switches[name].device_id
            self.links.setdefault((number, name), ControlLink(DELAY_NS))
        if self.folder is not None:
            network["state"] = str(self.folder / str(number))
            (self.folder / str(number)).mkdir(exist_ok=True)
        time = asyncio.get_running_loop().time
        clock = Clock(time, time, time)
        names = {1: "one", 2: "two", 3: "three", 4: "four"} if self.named else None
        config = parse_config(yaml.safe_dump(network))
        me = run_of(number if under is None else under)
        leadership = Leadership(list(config.nodes), clock, me, names)
        plane = ControlPlane(config, clock, random.Random(number), leadership)
        stack = AsyncExitStack()
        await stack.enter_async_context(plane.running())
        self.planes[number], self._running[number] = plane, stack
        self._anew[number] = asyncio.create_task(self._begin_anew(number, plane, under))
        return plane

    async def _begin_anew(self, number: int, plane: ControlPlane, under: int | None) -> None:
        """As `fcn run` does where another one has ruled."""
        await plane.leadership.deposed.wait()
        if self.planes.get(number) is plane:
            await self._stop(number)
            await self.start(number, under)

    async def _stop(self, number: int) -> None:
        del self.planes[number]
        await self._running.pop(number).aclose()

    async def end(self, number: int) -> None:
        """End a controller; its streams end, too."""
        self._anew.pop(number).cancel()
        if number in self.planes:
            await self._stop(number)

    @property
    def running(self) -> set[int]:
        """Who was started, and has not ended."""
        return set(self._anew)

    def channel(self, address: str) -> Channel:
        """As finsy asks for it."""
        _, _, number, place = address.partition(":")[0].split(".")
        name = list(self.switches)[int(place) - 1]
        return Channel(self.links[int(number), name], self.switches[name].server)

    @property
    def is_cut(self) -> bool:
        """Whether a controller is cut off from a switch."""
        return any(link.is_cut for link in self.links.values())

    def restore_all(self) -> None:
        """Every controller reaches every switch again."""
        for link in self.links.values():
            if link.is_cut:
                link.restore()

    def leaders(self) -> list[int]:
        """Who leads."""
        return [number for number, plane in self.planes.items() if plane.leadership.leads]

    def rule_all(self, number: int) -> bool:
        """Whether this one rules every switch, and the others none."""
        return number in self.planes and all(
            (agent.status.state is State.UP) == (each == number)
            for each, plane in self.planes.items()
            for agent in plane.nodes.values()
        )


@asynccontextmanager
async def rivals(
    network: dict[str, Any], *, named: bool = False, folder: Path | None = None
) -> AsyncIterator[Rivals]:
    """A virtual switch for each node, started, and no controller."""
    ports = count(1)
    switches = {name: VirtualSwitch(port=next(ports)) for name in network["nodes"]}
    found = Rivals(network, switches, named, folder)
    with channels_by(found.channel):
        for switch in switches.values():
            await switch.start()
        try:
            yield found
        finally:
            for number in list(found.running):
                await found.end(number)
            for switch in switches.values():
                await switch.stop()


async def until_ruled(found: Rivals, by: Sequence[int], seconds: float) -> None:
    """Wait until one of these rules all switches; at most so long, in virtual time."""
    await until(lambda: any(map(found.rule_all, by)), seconds=seconds)


async def first_and_second(found: Rivals) -> ControlPlane:
    """Controller 1 rules, and 2, which is returned, has come after it."""
    await found.start(1)
    await until_ruled(found, [1], 10)
    second = await found.start(2)
    await until_ruled(found, [1], 10)
    return second
