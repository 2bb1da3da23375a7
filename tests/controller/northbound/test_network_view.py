"""What a picture of the network is made of: its nodes and links, and counters without a read."""

import asyncio
from typing import Any

import yaml
from switches import MemorySwitch, packet_to, plane_up, until
from typer.testing import CliRunner

from fcn.controller.app import ControlPlane
from fcn.controller.cli.commands import app
from fcn.controller.config import Config, parse_config
from fcn.controller.northbound.client import FcnClient
from fcn.controller.northbound.serving import serving
from fcn.controller.proto import fcn_pb2 as pb


async def test_nodes_ports_and_links_of_the_file(network: dict[str, Any]) -> None:
    network["nodes"]["p1"]["ports"][0]["rate"] = "10 Gb/s"
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    async with serving(plane.network, "127.0.0.1:0") as api:
        with FcnClient(api) as client:
            found = await asyncio.to_thread(client.network)
    nodes = {node.name: node for node in found.nodes}
    roles = {name: node.role for name, node in nodes.items()}
    assert roles == {"pe1": "pe", "p1": "p", "p2": "p", "pe2": "pe"}
    pe1, p1 = nodes["pe1"], nodes["p1"]
    assert [(port.number, port.name, port.role, port.vrf) for port in pe1.ports] == [
        (1, "dc1", "dc", "blue"),
        (2, "core1", "core", ""),
    ]
    assert [port.rate for port in p1.ports if port.HasField("rate")] == [10_000_000_000]
    assert [(each.node, each.port, each.peer, each.peer_port) for each in found.links] == [
        ("pe1", 2, "p1", 1),
        ("p1", 2, "p2", 1),
        ("p2", 2, "pe2", 2),
    ]


async def test_counters_as_read_last_need_no_switch(network: dict[str, Any]) -> None:
    """Cells that are 0 are left out, and so are nodes of which nobody knows anything."""
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    counters = plane.nodes["pe1"].counters
    counters.last = {"drops": {"NO_ROUTE": (3, 300), "MALFORMED": (0, 0)}}
    counters.read_at = 7.5
    async with serving(plane.network, "127.0.0.1:0") as api:
        with FcnClient(api) as client:
            found = await asyncio.to_thread(client.last_counters)
    assert list(found.counters) == [
        pb.Counter(node="pe1", counter="drops", name="NO_ROUTE", packets=3, octets=300)
    ]
    assert found.read == {"pe1": 7.5}


async def test_notifications_of_a_flow_are_listed_with_its_counters(
    config: Config, switches: dict[str, MemorySwitch]
) -> None:
    async with plane_up(config) as plane, serving(plane.network, "127.0.0.1:0") as api:
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(plane.flows.all)
        await plane.nodes["pe1"].settled()
        with FcnClient(api) as client:
            (plain,) = await asyncio.to_thread(client.flows)
            (counted,) = await asyncio.to_thread(lambda: client.flows(counters=True))
        shown = await asyncio.to_thread(
            CliRunner().invoke, app, ["flows", "show", "10.1.0.10", "--api", api]
        )
    assert not plain.HasField("notifications")
    assert counted.notifications == 0
    assert shown.exit_code == 0
    assert "Which queue pair sends it is not known" in shown.stdout
    assert "No notification came for its label" in shown.stdout
