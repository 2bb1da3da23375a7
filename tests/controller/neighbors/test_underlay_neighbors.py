"""What a neighbour in the WAN says of itself, and of others."""

import asyncio
from ipaddress import ip_address
from typing import Any

import finsy as fy
import pytest
import yaml
from scapy.layers.inet6 import ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr, IPv6
from scapy.layers.l2 import Ether
from switches import MemorySwitch, until
from virtual import virtual_plane_up

from fcn.contract.constants import PuntReason
from fcn.controller.config import parse_config
from fcn.controller.flows.refusals import RefusalReason
from fcn.controller.neighbors import room
from fcn.softswitch.api import CounterValue

pytestmark = pytest.mark.virtual_time

Switches = dict[str, MemorySwitch]
MAC = "52:54:00:00:00:01"
CORE_PORT, OTHER_PORT = 2, 3
OWN, OTHER = "2001:db8:c::1", "2001:db8:d::1"
ROOM = 20


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """A PE with subnets on two core ports; who does not answer is asked again much later."""
    network["neighbors"] = {"retry": "1h"}
    ports = network["nodes"]["pe1"]["ports"]
    ports[1]["addresses"] = [f"{OWN}/64"]
    ports.append({"number": OTHER_PORT, "role": "core", "addresses": [f"{OTHER}/64"]})
    return network


def solicit(switch: MemorySwitch, port: int, own: str, source: str) -> None:
    """A neighbour asks for an address of the node, and so says where it is."""
    question = IPv6(src=source, dst=own, hlim=255) / ICMPv6ND_NS(tgt=own)
    frame = Ether(src=MAC) / question / ICMPv6NDOptSrcLLAddr(lladdr=MAC)
    switch.engine.packet_in(port, PuntReason.ND, 0, 0, bytes(frame))


async def test_invented_neighbours_leave_routes_to_others(
    network: dict[str, Any], switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_UNDERLAY", ROOM)
    config = parse_config(yaml.safe_dump(network))
    async with virtual_plane_up(config) as plane:
        engine, service = switches["pe1"].engine, plane.neighbors["pe1"]
        before = engine.size("underlay")
        for number in range(2 * ROOM):
            solicit(switches["pe1"], CORE_PORT, OWN, f"2001:db8:c::{0x100 + number:x}")
            solicit(switches["pe1"], CORE_PORT, OWN, f"fe80::{0x100 + number:x}")
        refused = plane.flows.refusals.counts
        await until(lambda: refused["", RefusalReason.NO_ROOM_NEIGHBORS] == 3 * ROOM)
        solicit(switches["pe1"], OTHER_PORT, OTHER, "2001:db8:d::100")
        known = ip_address("2001:db8:d::100")
        await until(lambda: known in {place.address for place in service._neighbors})
        assert await plane.nodes["pe1"].settled()
        assert len(service) == ROOM
        assert before < engine.size("underlay") <= before + ROOM


async def test_where_the_file_says_a_node_is_nobody_else_is(
    network: dict[str, Any], switches: Switches
) -> None:
    """Its address is of the subnet of a core port: its route stays what it is."""
    p1, pe2 = (network["nodes"][name] for name in ("p1", "pe2"))
    p1["underlay_address"], pe2["underlay_address"] = "2001:db8:c::2", "2001:db8:c::3"
    config = parse_config(yaml.safe_dump(network))
    async with virtual_plane_up(config) as plane:

        async def routes() -> set[str]:
            options = fy.SwitchOptions(device_id=switches["pe1"].device_id)
            async with fy.Switch("reader", switches["pe1"].address, options) as reader:
                reading: Any = reader.read(fy.P4TableEntry("underlay"))
                return {f"{entry.match} {entry.action}" async for entry in reading}

        before, service = await routes(), plane.neighbors["pe1"]
        solicit(switches["pe1"], CORE_PORT, OWN, p1["underlay_address"])
        solicit(switches["pe1"], CORE_PORT, OWN, pe2["underlay_address"])
        solicit(switches["pe1"], CORE_PORT, OWN, "2001:db8:c::4")
        await until(lambda: len(service) > 0)
        assert [place.address for place in service._neighbors] == [ip_address("2001:db8:c::4")]
        assert await plane.nodes["pe1"].settled()
        assert before < await routes()


async def test_a_storm_takes_no_route_away(network: dict[str, Any], switches: Switches) -> None:
    """While the switch refuses packets of the underlay, answers may be among them; those of a VRF
    say nothing of it."""
    network["neighbors"] = {"retry": "1s", "attempts": 3, "refresh": "10s"}
    config = parse_config(yaml.safe_dump(network))
    async with virtual_plane_up(config) as plane:
        engine, service = switches["pe1"].engine, plane.neighbors["pe1"]
        counter, vrf = "vrf_refused", config.vrfs["blue"].id

        async def stormy(cell: int, seconds: int) -> int:
            solicit(switches["pe1"], CORE_PORT, OWN, "2001:db8:c::100")
            await until(lambda: len(service) == 1)
            for _ in range(seconds):
                before = engine.counter_read(counter, cell).packets
                engine.counter_write(counter, cell, CounterValue(before + 1, 0))
                await asyncio.sleep(1)
            return len(service)

        assert await stormy(0, 60) == 1
        await until(lambda: len(service) == 0)
        assert await stormy(vrf, 60) == 0
