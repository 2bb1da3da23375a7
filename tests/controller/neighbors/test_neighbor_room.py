"""A tenant that invents hosts leaves room for another's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from switches import MemorySwitch, until
from tenants import BLUE, DC_PORT, RED, RED_PORT, two_tenants
from virtual import virtual_plane_up

from fcn.contract.constants import PuntReason
from fcn.contract.names import ROUTE_TABLES
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.flows.refusals import RefusalReason
from fcn.controller.neighbors import room
from fcn.controller.provision import provision

pytestmark = pytest.mark.virtual_time

Switches = dict[str, MemorySwitch]
ROOM = 20
MAC = 0x525400000001
VIA = "10.1.0.254"


@asynccontextmanager
async def running(network: dict[str, Any]) -> AsyncIterator[ControlPlane]:
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        yield plane


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """Two tenants, and a router of the first; who does not answer is asked again much later."""
    network["neighbors"] = {"retry": "1h"}
    route = {"prefix": "10.9.0.0/16", "via": VIA}
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"].append(route)
    return two_tenants(network)


def asker(port: int, address: str) -> tuple[int, ...]:
    """A host behind a port, as the digest has it."""
    return port, 0, int(ip_address(address)), MAC


async def test_invented_hosts_leave_routes_to_others(
    network: dict[str, Any], switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest of the port with most gives way, and no more are written than there is room."""
    monkeypatch.setattr(provision, "room_of_hosts", lambda _to: {4: ROOM, 6: ROOM})
    async with running(network) as plane:
        engine, service = switches["pe1"].engine, plane.neighbors["pe1"]
        before = engine.size("route_ipv4")
        invented = [asker(RED_PORT, f"10.1.0.{2 + number}") for number in range(3 * ROOM)]
        engine.digest("neighbor_ipv4_t", *invented)
        await until(lambda: len(service) == ROOM)
        refused = plane.flows.refusals.counts
        await until(lambda: refused["red", RefusalReason.NO_ROOM_NEIGHBORS] == 2 * ROOM)
        mine = [asker(DC_PORT, f"10.1.0.{2 + number}") for number in range(3)]
        engine.digest("neighbor_ipv4_t", *mine, asker(DC_PORT, VIA))
        await until(lambda: len(service) == ROOM + 1)
        assert await plane.nodes["pe1"].settled()
        known = [place.vrf for place, each in service._neighbors.items() if each.mac is not None]
        assert (known.count("blue"), known.count("red")) == (len(mine) + 1, ROOM - len(mine))
        assert engine.size("route_ipv4") == before + ROOM + 1
        assert refused == {("red", RefusalReason.NO_ROOM_NEIGHBORS): 2 * ROOM}


async def test_a_scan_does_not_keep_others_from_being_resolved(
    network: dict[str, Any], switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_UNRESOLVED", ROOM)

    def miss(vrf: int, host: int) -> None:
        packet = IP(src="10.2.0.20", dst=f"10.1.0.{host}") / UDP(dport=4791)
        frame = bytes(Ether() / packet)
        switches["pe1"].engine.packet_in(2, PuntReason.NEIGHBOR_MISS, 0, vrf, frame)

    async with running(network) as plane:
        service = plane.neighbors["pe1"]
        for host in range(2, 2 + 3 * ROOM):
            miss(RED, host)
        refused = plane.flows.refusals.counts
        await until(lambda: refused["red", RefusalReason.NO_ROOM_NEIGHBORS] == 2 * ROOM)
        miss(BLUE, 10)
        await until(
            lambda: any(
                each.vrf == "blue" for each in service._neighbors if each.address != ip_address(VIA)
            )
        )
        assert service.asking == ROOM + 1, "the router is one more"
        assert "blue" not in {vrf for vrf, _ in refused}


async def test_room_is_what_the_configuration_leaves(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network) as plane:
        assert await plane.nodes["pe1"].settled()
        provision, engine = plane.nodes["pe1"].provision, switches["pe1"].engine
        for version, table in ROUTE_TABLES.items():
            size, next_hops = provision.pipeline.table_size(table), int(version == 4)
            assert provision.host_room[version] == size - engine.size(table) - next_hops
        assert plane.nodes["p1"].provision.host_room == {}
