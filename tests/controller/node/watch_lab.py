"""A controller that runs beside switches without packets, and looks when a test says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar
from unittest.mock import patch

from switches import MemorySwitch, all_up
from typer.testing import CliRunner, Result

from fcn.controller.app import ControlPlane
from fcn.controller.cli.commands import app
from fcn.controller.config import Config
from fcn.controller.events import Event
from fcn.controller.node import counters
from fcn.controller.northbound.serving import serving
from fcn.softswitch.api import CounterValue


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


class PathLab(WatchLab):
    """pe1 has one policy."""

    def __init__(self, plane: ControlPlane, switches: dict[str, MemorySwitch], api: str) -> None:
        super().__init__(plane, switches, api)
        self.renew()
        (self.plan,) = plane.nodes["pe1"].paths.plans

    def renew(self) -> None:
        """pe1's switch was started again."""
        self._engine = self.switches["pe1"].engine

    def set(self, counter: str, cell: int, packets: int, octets: int = 0) -> None:
        """Set a counter's cell of pe1."""
        self._engine.counter_write(counter, cell, CounterValue(packets, octets))

    async def look(self) -> None:
        """Let the controller look at pe1's paths."""
        pe1 = self.plane.nodes["pe1"]
        await pe1.counters.poll(pe1.paths)


POLICY = {
    "to": "pe2",
    "hold_down": "2s",
    "paths": [{"tunnel": "pe2-srv6", "id": 17, "weight": 3}, {"tunnel": "pe2-vxlan", "id": 18}],
}
"""Of the network of `with_two_ways`: a path by each P."""


def with_two_ways(network: dict[str, Any], policy: dict[str, Any]) -> dict[str, Any]:
    """The example, with a second P between the PEs and a policy with a path by each."""
    nodes, links = network["nodes"], network["links"]
    for name in ("pe1", "pe2"):
        nodes[name]["ports"].append({"number": 3, "role": "core"})
    nodes["p3"] = nodes["p2"] | {
        "underlay_address": "2001:db8:0:ff::13",
        "locator": "2001:db8:0:13::/64",
        "end_sids": ["2001:db8:0:13::e"],
        "thresholds": [],
        "ports": [dict(port) for port in nodes["p2"]["ports"]],
    }
    links += [["pe1:3", "p3:1"], ["p3:2", "pe2:3"]]
    pe1 = nodes["pe1"]
    pe1["policies"] = {"both": deepcopy(policy)}
    pe1["tunnels"]["pe2-srv6"]["via"] = ["p2"]
    for route in pe1["vrfs"]["blue"]["routes"]:
        del route["tunnel"]
        route["policy"] = "both"
    return network


L = TypeVar("L", bound=WatchLab)


@asynccontextmanager
async def running(
    kind: type[L], config: Config, switches: dict[str, MemorySwitch]
) -> AsyncIterator[L]:
    """Of this kind, when all switches are up."""
    plane = ControlPlane(config)
    with patch.object(counters, "INTERVAL", 3600.0):
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
