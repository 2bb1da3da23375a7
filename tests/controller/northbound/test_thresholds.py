"""Thresholds set over the API and the command line keep their unit."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from switches import MemorySwitch, until
from typer.testing import CliRunner, Result

from fcn.contract.depth import Depth, DepthUnit
from fcn.controller.app import ControlPlane
from fcn.controller.cli.commands import app
from fcn.controller.config import Config
from fcn.controller.config.modes import Notification, Treatment
from fcn.controller.config.two_threshold import TwoThreshold
from fcn.controller.node.connection import State
from fcn.controller.northbound.serving import serving

Fcn = Callable[..., Any]


@asynccontextmanager
async def commands(config: Config) -> AsyncIterator[tuple[ControlPlane, Fcn]]:
    """A running controller, and `fcn` as its client."""
    plane = ControlPlane(config)
    async with serving(plane.network, "127.0.0.1:0") as api, plane.running():
        await until(lambda: plane.nodes["p2"].status.state is State.UP, "p2")

        async def fcn(*arguments: str) -> Result:
            command = partial(CliRunner().invoke, app, [*arguments, "--api", api])
            return await asyncio.to_thread(command)

        yield plane, fcn


async def test_octets_are_shown_as_octets(
    config: Config, switches: dict[str, MemorySwitch]
) -> None:
    async with commands(config) as (plane, fcn):
        before = switches["p2"].engine.size("queue_level")
        done = await fcn("thresholds", "set", "p2", "1", "64kB,128kB")
        assert done.exit_code == 0, done.output
        assert "thresholds: [{port: 1, queue: 0, depths: [64kB, 128kB]}]" in done.stderr
        kept = tuple(Depth(amount, DepthUnit.OCTETS) for amount in (64_000, 128_000))
        assert plane.nodes["p2"].provision.thresholds[1, 0] == kept
        # Seven thresholds in packets were replaced by two in octets.
        assert switches["p2"].engine.size("queue_level") == before - 5
        shown = json.loads((await fcn("thresholds", "show", "p2", "--json")).stdout)
        by_port = {queue["port"]: queue for queue in shown["queues"]}
        assert (by_port[1]["unit"], by_port[1]["depths"]) == ("octets", [64_000, 128_000])
        assert by_port[2]["unit"] == "packets"
        table = (await fcn("thresholds", "show", "p2")).stdout
        assert "64kB" in table
        assert "octets" in table


REFUSED = (
    ("1400B,1500B", 1, "p2 port 1 (BMv2): levels 1 and 2 at 1400 octets and 1500 octets are"),
    ("8,9999999", 1, "the target reports 524287 at most; write a smaller depth"),
    ("8,64kB", 1, "all in packets or all in octets; give them one unit"),
    ("64kB,32kB", 1, "32000 octets follows 64000 octets; write the smallest first"),
    ("8,8", 1, "but 8 packets follows 8 packets; write the smallest first, each once"),
    ("1,2,3,4,5,6,7,8", 1, "8 depths, but there are 7 levels; write 7 at most"),
    ("8 cells", 2, "is not a queue depth"),
)


async def test_thresholds_that_cannot_be_are_refused(config: Config) -> None:
    async with commands(config) as (plane, fcn):
        before = plane.nodes["p2"].provision.thresholds
        for depths, code, reason in REFUSED:
            done = await fcn("thresholds", "set", "p2", "1", depths)
            assert done.exit_code == code, depths
            assert reason in " ".join(done.stderr.split())
            assert plane.nodes["p2"].provision.thresholds == before
            assert plane.nodes["p2"].intent.pending == 0


async def test_nodes_and_ports_to_choose_from_are_named(config: Config) -> None:
    async with commands(config) as (_, fcn):
        done = await fcn("thresholds", "set", "p2", "9", "8")
        assert "p2 has no port 9; choose one of its ports: 1, 2" in done.stderr
        done = await fcn("thresholds", "set", "p9", "1", "8")
        assert "no node 'p9'; the nodes are: p1, p2, pe1, pe2" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("mode", "feature", "told"),
    [("none", "notification", True), ("none", "learning", False), ("fcn", "notification", False)],
)
async def test_features_that_do_nothing_in_the_domain_are_named(
    config: Config, mode: str, feature: str, told: bool
) -> None:
    quiet = config.model_copy(update={"notification": Notification(mode)})
    async with commands(quiet) as (_, fcn):
        await fcn("feature", "disable", "pe1")
        done = await fcn("feature", "enable", "pe1", feature)
        assert done.exit_code == 0
        assert ("notification: none, so nothing is notified" in done.stderr) == told


async def test_depths_may_be_arguments_of_their_own(config: Config) -> None:
    async with commands(config) as (plane, fcn):
        for depths in (["8", "16"], ["8,", "16"], ["8, 16"]):
            assert (await fcn("thresholds", "set", "p2", "1", *depths)).exit_code == 0
            assert plane.nodes["p2"].provision.thresholds[1, 0] == (Depth(8), Depth(16))
            assert (await fcn("thresholds", "set", "p2", "1", "none")).exit_code == 0
            assert (1, 0) not in plane.nodes["p2"].provision.thresholds


async def test_two_thresholds_are_changed_at_run_time(
    config: Config, switches: dict[str, MemorySwitch]
) -> None:
    """PEC-6: T1, T2 and maximum move levels and curves of one queue; anything else is refused."""
    changes = {
        "notification": Notification.TWO_THRESHOLD,
        "two_threshold": TwoThreshold(treatment=Treatment.SLOW),
    }
    p2 = config.nodes["p2"].model_copy(update={"thresholds": ()})
    two = config.model_copy(update=changes | {"nodes": {**config.nodes, "p2": p2}})
    async with commands(two) as (plane, fcn):
        engine = switches["p2"].engine
        before = engine.size("marking_curve"), engine.size("queue_level")
        for refused, reason in (
            ("8,16", "has three: T1, T2, maximum; write them as 16, 48, 128"),
            ("8,16,24,32", "three"),
        ):
            done = await fcn("thresholds", "set", "p2", "1", refused)
            assert done.exit_code == 1
            assert reason in " ".join(done.stderr.split())
            assert plane.nodes["p2"].intent.pending == 0
        assert (engine.size("marking_curve"), engine.size("queue_level")) == before
        done = await fcn("thresholds", "set", "p2", "1", "2,4,6")
        assert done.exit_code == 0, done.output
        # Of 8 and 32 steps and the last one, one of each curve and the last are left.
        assert engine.size("marking_curve") == before[0] - 41 + 3
        assert engine.size("queue_level") == before[1]
        table = (await fcn("thresholds", "show", "p2")).stdout
        assert "T1" in table
        assert "maximum" in table
