"""Customers come and go, and change places, while the controller runs: none gets what was learned
of another."""

import asyncio
from copy import deepcopy
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml
from switches import all_up, until
from tenants import BLUE, DC_PORT, RED, two_tenants
from virtual import VirtualSwitch, virtual_plane, virtual_plane_up

from fcn.contract.constants import CmAttribute
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import State
from fcn.controller.store import Store

pytestmark = pytest.mark.virtual_time

Switches = dict[str, VirtualSwitch]
A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
FORTH, BACK = FlowKey("blue", A, B, 33), FlowKey("blue", B, A, 17)
SOURCES = {FORTH: 17, BACK: 33}


def shake_hands(switches: Switches) -> None:
    """Hosts of `blue` do, at its first port."""
    request = (BLUE, int(A), int(B), CmAttribute.REQ, 1, 0, 17, DC_PORT)
    reply = (BLUE, int(B), int(A), CmAttribute.REP, 2, 1, 33, DC_PORT)
    for name, item in (("pe1", request), ("pe2", reply)):
        switches[name].engine.digest("cm_ipv4_t", item)


async def connect(plane: ControlPlane, switches: Switches) -> None:
    """The same, and wait for what follows."""
    shake_hands(switches)
    await until(lambda: known(plane) == SOURCES)
    for name in ("pe1", "pe2"):
        assert await plane.nodes[name].settled()


def known(plane: ControlPlane) -> dict[FlowKey, int | None]:
    """Source queue pairs of labelled flows."""
    return {flow.key: flow.source_qp for flow in plane.flows.all()}


def renamed(network: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """Another customer is where that one was, with its numbers."""
    found = deepcopy(network)
    found["vrfs"][new] = found["vrfs"].pop(old)
    for name in ("pe1", "pe2"):
        node = found["nodes"][name]
        node["vrfs"][new] = node["vrfs"].pop(old)
        for port in node["ports"]:
            if port.get("vrf") == old:
                port["vrf"] = new
    return found


async def apply(plane: ControlPlane, network: dict[str, Any]) -> None:
    await plane.apply(yaml.safe_dump(network), "network.yaml")


async def test_a_vrf_that_was_gone_knows_nobody(
    network: dict[str, Any], switches: Switches
) -> None:
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        await connect(plane, switches)
        await apply(plane, renamed(network, "blue", "green"))
        assert not plane.flows.waiting()
        await apply(plane, network)
        # A message that comes at once may be of the time before.
        await asyncio.sleep(2)
        packet = (BLUE, int(A), int(B), 33, 0xFFFF, 5, 50000, 4, DC_PORT)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet)
        await until(lambda: bool(known(plane)))
        assert known(plane) == {FORTH: None}


async def test_a_vrf_does_not_inherit_flows_with_a_number(
    network: dict[str, Any], switches: Switches
) -> None:
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        await connect(plane, switches)
        switches["pe2"].link.cut()
        await until(lambda: plane.nodes["pe2"].status.state is State.AWAY)
        await apply(plane, renamed(network, "blue", "green"))
        assert not known(plane)
        assert switches["pe1"].engine.size("flow_ipv4") == 0
        switches["pe2"].link.restore()
        await all_up(plane)
        assert not known(plane)
        assert switches["pe2"].engine.size("flow_ipv4") == 0


async def test_a_vrf_does_not_inherit_flows_while_no_controller_runs(
    network: dict[str, Any], switches: Switches, tmp_path: Path
) -> None:
    network["state"] = str(tmp_path)
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        await connect(plane, switches)
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        assert known(plane) == SOURCES
    # The switches keep it for the next controller.
    shake_hands(switches)
    green = renamed(network, "blue", "green")
    async with virtual_plane_up(parse_config(yaml.safe_dump(green))) as plane:
        await asyncio.sleep(5)
        assert not known(plane)
        assert not len(plane.flows._connections)
        assert all(switch.engine.size("flow_ipv4") == 0 for switch in switches.values())
        shake_hands(switches)
        await until(lambda: len(known(plane)) == 2)
        assert await plane.nodes["pe1"].settled()
    async with virtual_plane_up(parse_config(yaml.safe_dump(green))) as plane:
        assert len(known(plane)) == 2, "these are green's"


async def test_a_controller_killed_while_it_writes_has_said_whose_numbers_those_are(
    network: dict[str, Any], switches: Switches, tmp_path: Path
) -> None:
    """The file before may be put back then."""
    network["state"] = str(tmp_path)
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))):
        pass
    thawed = switches["pe1"].freeze()
    plane = virtual_plane(parse_config(yaml.safe_dump(renamed(network, "blue", "green"))))
    async with plane.running():
        await until(lambda: plane.nodes["pe1"].status.state is State.SYNCHRONIZING)
    thawed.set()
    store = Store(str(tmp_path))
    assert store.reused("pe1", {BLUE: "blue"}) == {BLUE}
    store.close()


async def test_a_vrf_does_not_hear_what_hosts_of_another_said(
    network: dict[str, Any], switches: Switches
) -> None:
    """The messages are under way while its number changes hands."""
    plane = virtual_plane(parse_config(yaml.safe_dump(network)))
    async with plane.running():
        await all_up(plane)
        shake_hands(switches)
        await apply(plane, renamed(network, "blue", "green"))
        await asyncio.sleep(5)
        assert not known(plane)
        assert not len(plane.flows._connections)


async def test_vrfs_exchange_their_numbers(network: dict[str, Any], switches: Switches) -> None:
    network = two_tenants(network)
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        await connect(plane, switches)
        labels = {flow.key: flow.label for flow in plane.flows.all()}
        network["vrfs"]["blue"]["id"], network["vrfs"]["red"]["id"] = RED, BLUE
        await apply(plane, network)
        assert known(plane) == SOURCES, "none is of red"
        assert {flow.key: flow.label for flow in plane.flows.all()} == labels
        for name in ("pe1", "pe2"):
            assert switches[name].engine.size("flow_ipv4") == 1
