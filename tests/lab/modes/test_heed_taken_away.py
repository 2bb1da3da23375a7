"""A port whose PAUSE frames another configuration does not heed, while packets wait for its data
centre: no new packet of their flows overtakes them (SRF-7, SRF-9)."""

import asyncio

import yaml
from domain_modes import PAUSED_PORT, completed, network
from mode_world import (
    EGRESS,
    LOOK,
    PAUSED,
    PAUSED_HOST,
    STREAMS,
    World,
    until,
)

from fcn.controller.config import parse_config
from fcn.lab.control.loop import run
from fcn.lab.control.plane import controlled
from fcn.lab.core import Simulation
from fcn.ptf_tests.lib.paused_dc import pause_frame

MODES = completed({"notification": "none", "heed_pause": "on"})
SECONDS = 0.1
PART = 0.02
"""Of the rates of hosts: what waits has room."""


def test_what_waits_is_not_overtaken() -> None:
    data = network(MODES)
    # Neighbours go on sending.
    data["holding"] |= {"time": "2us", "repeat": "1us"}
    config = parse_config(yaml.safe_dump(data))
    for port in data["nodes"][EGRESS]["ports"]:
        if port.pop("heed_pause", False):
            del port["rate"]
    with Simulation(seed=1) as simulation:
        world = World(MODES, config, simulation, PAUSED)
        nodes = world.wire()

        async def main() -> None:
            async with controlled(config, nodes, simulation, seed=1) as running:
                plane = running.plane
                await until(lambda: all(node.is_up for node in plane.nodes.values()), "switches")
                world.collect()
                world.carried.clear()
                world.send(SECONDS, PART)
                applied = asyncio.create_task(plane.apply(yaml.safe_dump(data), "network.yaml"))
                for _ in range(round(SECONDS / LOOK)):
                    # It goes on, whatever the node does.
                    simulation.hosts[PAUSED_HOST].send(pause_frame(dict.fromkeys(range(8), 0xFFFF)))
                    await asyncio.sleep(LOOK)
                await applied
                await asyncio.sleep(SECONDS)
                world.collect()
                counts = world.counts()[EGRESS]
            assert counts["HOLD_PARKED"] == counts["HOLD_LEFT"] > 10
            assert counts["drop NOTIFICATION_ON_DC_PORT"] > 0
            arrived = world.carried[EGRESS, PAUSED_HOST]
            for stream in STREAMS:
                if stream.port == PAUSED_PORT:
                    numbers = [each.number for each in arrived if each.stream == stream.number]
                    assert numbers == list(range(world.sent(stream.number)))

        run(simulation, main())
