"""What is mistyped at `fcn flows` and passes the command line is refused by the controller."""

import asyncio
from ipaddress import ip_address
from typing import Any

import pytest
import yaml

from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.controller.northbound.serving import serving


async def refusal(network: dict[str, Any], method: str, *arguments: Any, **named: Any) -> str:  # noqa: ANN401
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    async with serving(plane.network, "127.0.0.1:0") as api:
        with FcnClient(api) as client, pytest.raises(ControllerError) as caught:
            await asyncio.to_thread(getattr(client, method), *arguments, **named)
        assert not list(plane.flows.all())
    return str(caught.value)


async def test_an_unknown_vrf_is_not_one_without_flows(network: dict[str, Any]) -> None:
    said = await refusal(network, "flows", vrf="bleu")
    assert said == "there is no VRF 'bleu'; configured are: blue"


async def test_a_zone_is_no_part_of_a_flow(network: dict[str, Any]) -> None:
    """The address is in the subnet of a DC port, but packets do not carry the zone."""
    key = FlowKey("blue", ip_address("2001:db8:1::10%lo"), ip_address("2001:db8:2::10"), 5)
    assert "names a zone" in await refusal(network, "add_flow", key, 6)


async def test_a_number_no_message_holds(network: dict[str, Any]) -> None:
    key = FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.10"), -1)
    assert "cannot be asked" in await refusal(network, "add_flow", key, 6)
