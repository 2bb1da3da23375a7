"""A controller with many flows, which tells what they cost: `python -m fcn.bench.scale_controller
CONFIG FLOWS KEPT`. It learns FLOWS flows, or finds KEPT of them on the switch, and prints a line of
JSON (bench/scale.py)."""

import asyncio
import gc
import json
import logging
import os
import sys
import time
from contextlib import suppress
from ipaddress import IPv4Address
from pathlib import Path

from fcn.contract.garbage_collection import collect_often
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.connection import State
from fcn.controller.owners.addresses import ipv4
from fcn.controller.pace import Pace

SOURCE, DESTINATION = int(IPv4Address("10.1.0.0")), int(IPv4Address("10.17.0.0"))
HOSTS, PEERS = 256, 4096
"""Flows of a host; hosts they go to."""


def resident() -> int:
    """Octets of memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


class Longest:
    """The longest time for which the event loop did not come back."""

    def __init__(self) -> None:
        self.seconds = 0.0

    async def watch(self) -> None:
        """Until cancelled."""
        while True:
            before = time.monotonic()
            await asyncio.sleep(0)
            self.seconds = max(self.seconds, time.monotonic() - before)


def key_of(number: int) -> FlowKey:
    ends = ipv4(SOURCE + number // HOSTS), ipv4(DESTINATION + number % PEERS)
    return FlowKey("red", *ends, number + 2)


async def entered(agent: NodeAgent, state: State) -> None:
    while agent.status.state is not state:  # noqa: ASYNC110 (nothing tells it)
        await asyncio.sleep(0.001)


async def learn(plane: ControlPlane, count: int) -> None:
    """So many flows are reported, with their senders, and are on the switch afterwards."""
    pace = Pace()
    for number in range(count):
        plane.flows.reported(key_of(number), 2 + number // 4)
        await pace.step()
    if not await plane.nodes["pe1"].settled():
        raise RuntimeError("the switch went away")


async def refill(plane: ControlPlane) -> float:
    """Seconds until a switch that was started anew, and is empty, holds all entries."""
    agent = plane.nodes["pe1"]
    print("learned", flush=True)
    await entered(agent, State.SYNCHRONIZING)
    began = time.monotonic()
    await agent.synchronized()
    return time.monotonic() - began


async def run(text: str, count: int, kept: int) -> dict[str, float]:
    plane = ControlPlane(parse_config(text))
    before, began, longest = resident(), time.monotonic(), Longest()
    watch = asyncio.create_task(longest.watch())
    collector = asyncio.create_task(collect_often())
    told: dict[str, float] = {}
    async with plane.running():
        await entered(plane.nodes["pe1"], State.UP)
        told["up_s"] = time.monotonic() - began
        if count:
            before, began, longest.seconds = resident(), time.monotonic(), 0.0
            await learn(plane, count)
            told["learn_s"] = time.monotonic() - began
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch
        told["held_s"] = longest.seconds
        found = len(plane.flows.all())
        if found != (count or kept):
            raise RuntimeError(f"{found} flows instead of {count or kept}")
        told["octets"] = resident() - before
        if count:
            told["refill_s"] = await refill(plane)
        collector.cancel()
    return told


def main() -> None:
    logging.basicConfig(level=logging.WARNING)
    file, count, kept = sys.argv[1:]
    print(json.dumps(asyncio.run(run(Path(file).read_text(), int(count), int(kept)))))


if __name__ == "__main__":
    main()
