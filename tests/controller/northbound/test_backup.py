"""Changes at a controller that is a backup: refused, not kept for later."""

import asyncio
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

import finsy as fy
import pytest
import yaml
from switches import MemorySwitch, all_up, until

from fcn.contract.depth import Depth
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import State
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.controller.northbound.serving import serving

FLOW = FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), 33)
BACK = FlowKey("blue", FLOW.dst, FLOW.src, 17)
POLICY = {"to": "pe2", "paths": [{"tunnel": "pe2-srv6", "id": 17}]}

CHANGES: dict[str, Callable[[FcnClient], Any]] = {
    "flows add": lambda client: client.add_flow(FLOW, 17),
    "flows del": lambda client: client.delete_flow(FLOW),
    "feature": lambda client: client.set_features("pe1", False),
    "thresholds": lambda client: client.set_thresholds("pe1", 2, 0, (Depth(5),)),
    "report-path": lambda client: client.report_path(17, "failed"),
}


async def test_every_change_names_who_is_primary(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    network["nodes"]["pe1"]["policies"] = {"one": POLICY}
    for route in network["nodes"]["pe1"]["vrfs"]["blue"]["routes"]:
        if route.pop("tunnel", None):
            route["policy"] = "one"
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    options = fy.SwitchOptions(device_id=1, initial_election_id=1 << 100)

    async def asked(api: str, change: Callable[[FcnClient], Any]) -> str:
        """Why it is refused."""

        def ask() -> str:
            with FcnClient(api) as client, pytest.raises(ControllerError) as refused:
                change(client)
            return str(refused.value)

        return await asyncio.to_thread(ask)

    async with serving(plane.network, "127.0.0.1:0") as api, plane.running():
        await all_up(plane)
        plane.flows.add(FLOW, 17)
        async with fy.Switch("other", switches["pe1"].address, options):
            await until(lambda: plane.nodes["pe1"].status.state is State.BACKUP)
            for name, change in CHANGES.items():
                assert await asked(api, change) == (
                    "this controller is a backup at pe1, and changes nothing there: another "
                    f"controller is primary on this switch (election ID {1 << 100}); stop it, and "
                    "this one becomes primary"
                ), name
            assert [flow.key for flow in plane.flows.all()] == [FLOW]
            assert plane.nodes["pe1"].features == plane.nodes["pe1"].provision.node.features
            assert plane.store.settings("pe1") == []

            def elsewhere() -> None:
                with FcnClient(api) as client:
                    assert client.add_flow(BACK, 33).written

            await asyncio.to_thread(elsewhere)
        await all_up(plane)
