"""`fcn status`: what an operator, or a script, learns of switches that are not as intended."""

import asyncio
from typing import Any

import pytest
import yaml
from switches import WAIT, MemorySwitch, packet_to, plane_up, until
from typer.testing import CliRunner, Result

from fcn.controller.app import ControlPlane
from fcn.controller.cli.commands import app
from fcn.controller.config import Config, parse_config
from fcn.controller.northbound.serving import serving


async def status(plane: ControlPlane) -> Result:
    """What the command prints, and its exit code."""
    async with serving(plane.network, "127.0.0.1:0") as api:
        return await asyncio.to_thread(CliRunner().invoke, app, ["status", "--api", api])


async def test_a_switch_that_is_away_is_an_exit_code(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    async with plane_up(parse_config(yaml.safe_dump(network))) as plane:
        assert (await status(plane)).exit_code == 0
        await switches["p1"].stop()
        await until(lambda: not plane.nodes["p1"].is_up)
        assert (await status(plane)).exit_code == 5


@pytest.mark.parametrize("reason", ["table full", "[/] is no place [red]", "first\nsecond"])
async def test_why_a_switch_refused_the_last_update(
    config: Config, switches: dict[str, MemorySwitch], reason: str
) -> None:
    """As the switch said it: square brackets are markup to the library that prints."""
    async with plane_up(config) as plane:
        engine = switches["pe1"].engine
        engine.full, engine.reason = "flow_ipv4", reason
        engine.digest("new_flow_ipv4_t", packet_to(33))
        async with asyncio.timeout(WAIT):
            while "refused" not in (shown := (await status(plane)).stdout):
                pass
    (line,) = (line for line in shown.splitlines() if "refused" in line)
    said = reason.partition("\n")[0]
    assert line.startswith("pe1: refused 1 updates, the last of them: INSERT in flow_ipv4: ")
    assert f"{said} (" in line
