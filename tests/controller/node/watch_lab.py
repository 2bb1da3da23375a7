"""A controller that runs beside switches without packets, and looks when a test says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

from switches import MemorySwitch, all_up
from typer.testing import CliRunner, Result

from fcn.controller.app import ControlPlane
from fcn.controller.cli.main import app
from fcn.controller.config import Config
from fcn.controller.events import Event
from fcn.controller.northbound.api import serving


class WatchLab:
    """The running controller, its events so far, and what a data plane counts."""

    def __init__(self, plane: ControlPlane, switches: dict[str, MemorySwitch], api: str) -> None:
        self.plane = plane
        self.events: list[Event] = []
        self.switches = switches
        self._api = api

    async def fcn(self, *arguments: str) -> Result:
        """Run `fcn`."""
        command = partial(CliRunner().invoke, app, [*arguments, "--api", self._api])
        return await asyncio.to_thread(command)


L = TypeVar("L", bound=WatchLab)


@asynccontextmanager
async def running(
    kind: type[L], config: Config, switches: dict[str, MemorySwitch]
) -> AsyncIterator[L]:
    """Of this kind, when all switches are up."""
    plane = ControlPlane(config)
    async with serving(plane.network, "127.0.0.1:0") as api, plane.running():
        await all_up(plane)
        found = kind(plane, switches, api)
        with plane.bus.watch() as events:

            async def collect() -> None:
                async for event in events:
                    found.events.append(event)

            task = asyncio.create_task(collect())
            yield found
            task.cancel()
