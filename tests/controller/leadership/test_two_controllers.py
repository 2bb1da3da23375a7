"""One of several controllers rules all switches, whatever ends, restarts or is cut off."""

import asyncio
import random
from typing import Any

import pytest
import yaml
from _pytest.mark import ParameterSet
from rivals import CALM, UNHEARD, Rivals, first_and_second, rivals, until_ruled
from switches import packet_to, until

from fcn.controller.node.connection import State

pytestmark = pytest.mark.virtual_time

TAKE_OVER = 2.0
"""Seconds from the end of a leader until another one rules all switches."""


def seeds(count: int) -> list[ParameterSet]:
    """So many, two of them every day."""
    later = pytest.mark.exhaustive
    return [pytest.param(seed, marks=later if seed > 1 else ()) for seed in range(count)]


@pytest.mark.parametrize("named", [False, True])
async def test_the_second_waits_says_so_and_takes_over(
    network: dict[str, Any], named: bool
) -> None:
    async with rivals(network, named=named) as found:
        second = await first_and_second(found)
        for agent in second.nodes.values():
            await until(lambda: agent.status.state is State.BACKUP)  # noqa: B023
            assert agent.leader.startswith("controller one" if named else "another controller (")
            assert agent.leader.endswith(" leads; this one takes over when that ends")
        writes = {name: switch.engine.writes for name, switch in found.switches.items()}
        await found.end(1)
        await until_ruled(found, [2], TAKE_OVER)
        # What the switches hold is what it wants.
        assert writes == {name: switch.engine.writes for name, switch in found.switches.items()}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("seed", seeds(8))
async def test_a_switch_that_restarts_stays_with_the_leader(
    network: dict[str, Any], named: bool, seed: int
) -> None:
    """Whoever is there first."""
    rng = random.Random(seed)
    async with rivals(network, named=named) as found:
        leader = rng.choice((1, 2))
        await found.start(leader)
        await until_ruled(found, [leader], 10)
        await found.start(3 - leader)
        for _ in range(3):
            for link in found.links.values():
                link.to_switch.delay_ns = link.to_controller.delay_ns = rng.randint(1, 80) * 10**6
            switch = found.switches[rng.choice(list(found.switches))]
            await switch.stop()
            await switch.start()
            await until_ruled(found, [leader], CALM)


async def test_two_that_start_together_agree(network: dict[str, Any]) -> None:
    for named in (False, True):
        async with rivals(network, named=named) as found:
            await found.start(1)
            await found.start(2)
            await until_ruled(found, [1, 2], 10)


async def test_of_a_divided_network_the_larger_part_is_ruled(network: dict[str, Any]) -> None:
    """By the one that may; the other says why it does nothing. Afterwards one has all of it."""
    async with rivals(network, named=True) as found:
        first = await found.start(1)
        await until_ruled(found, [1], 10)
        await found.start(2)
        one, *others = found.switches
        for name in others:
            found.links[1, name].cut()
            await found.switches[name].stop()
            await found.switches[name].start()
        found.links[2, one].cut()
        await until(lambda: all(found.planes[2].nodes[name].is_up for name in others), seconds=CALM)
        await until(lambda: found.leaders() == [2], seconds=UNHEARD)
        agent = first.nodes[one]
        assert agent.status.state is State.BACKUP
        assert "nobody leads: this controller is primary on 1 of 4 switches" in agent.leader
        found.restore_all()
        await until_ruled(found, [2], CALM)


@pytest.mark.parametrize("seed", seeds(6))
async def test_after_any_accidents_one_rules_and_never_two(
    network: dict[str, Any], seed: int
) -> None:
    """Three controllers; controllers, switches and the channels between them fail at random."""
    rng = random.Random(seed)
    async with rivals(network, named=True) as found:
        for number in (1, 2, 3):
            await found.start(number)
        watching = asyncio.create_task(never_two(found))
        for _ in range(25):
            await accident(found, rng)
            await asyncio.sleep(rng.expovariate(2.0))
        found.restore_all()
        if not found.running:
            await found.start(1)
        await until_ruled(found, [1, 2, 3], CALM)
        assert not watching.done()
        watching.cancel()


async def never_two(found: Rivals) -> None:
    """End where two lead at the same time, and are not cut off from any switch."""
    while len(found.leaders()) < 2 or found.is_cut:  # noqa: ASYNC110 - any of many events
        await asyncio.sleep(0.0005)


async def accident(found: Rivals, rng: random.Random) -> None:
    """One thing fails, or comes back."""
    number = rng.choice((1, 2, 3))
    name = rng.choice(list(found.switches))
    match rng.choice(("controller", "switch", "channel", "channel")):
        case "controller" if number in found.running:
            await found.end(number)
        case "controller":
            await found.start(number)
        case "switch":
            await found.switches[name].stop()
            await found.switches[name].start()
        case "channel":
            link = found.links[number, name]
            (link.restore if link.is_cut else link.cut)()


async def test_who_takes_over_keeps_flows_of_a_vrf_with_a_number_that_was_anothers(
    network: dict[str, Any],
) -> None:
    """Both controllers have the file; the leader has put it in force."""
    async with rivals(network) as found:
        second = await first_and_second(found)
        for number, plane in found.planes.items():
            changed = yaml.safe_load(yaml.safe_dump(network))
            for place, name in enumerate(found.switches):
                node = changed["nodes"][name]
                node["grpc"] = f"127.0.{number}.{place + 1}:9559"
                node["device_id"] = found.switches[name].device_id
                if blue := node.get("vrfs", {}).pop("blue", None):
                    node["vrfs"]["green"] = blue
                    node["ports"][0]["vrf"] = "green"
            changed["vrfs"]["green"] = changed["vrfs"].pop("blue")
            await plane.apply(yaml.safe_dump(changed), "network.yaml")
        await asyncio.sleep(2)
        found.switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(lambda: found.planes[1].flows.all())
        (flow,) = found.planes[1].flows.all()
        assert await found.planes[1].nodes["pe1"].settled()
        await found.end(1)
        await until_ruled(found, [2], TAKE_OVER)
        (kept,) = second.flows.all()
        assert (kept.key, kept.label) == (flow.key, flow.label)
