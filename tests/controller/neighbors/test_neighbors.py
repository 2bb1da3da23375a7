"""Neighbours: answers, resolution on demand, host routes, refresh, and attacks by hosts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from ipaddress import ip_address
from typing import Any

import finsy as fy
import pytest
import yaml
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from switches import MemorySwitch, QuietEngine, until
from virtual import virtual_plane_up

from fcn.contract.constants import PuntReason
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.neighbors import places, room
from fcn.controller.neighbors.places import Places
from fcn.controller.node.connection import State

Switches = dict[str, MemorySwitch]

VRF = 1
pytestmark = pytest.mark.virtual_time

HOST, OTHER = "52:54:00:00:00:01", "52:54:00:00:00:02"


@asynccontextmanager
async def running(network: dict[str, Any]) -> AsyncIterator[ControlPlane]:
    async with virtual_plane_up(parse_config(yaml.safe_dump(network))) as plane:
        yield plane


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """Short retry interval, long refresh; a second, tagged subnet on the same port."""
    network["neighbors"] = {"retry": "100ms", "attempts": 2, "refresh": "1h"}
    network["vrfs"]["red"] = {"id": 2}
    port = {"number": 1, "vlan": 7, "role": "dc", "vrf": "red", "addresses": ["10.1.0.1/24"]}
    network["nodes"]["pe1"]["ports"].append(port)
    network["nodes"]["pe1"]["vrfs"]["red"] = {}
    return network


def sent(engine: QuietEngine, layer: Any) -> list[Any]:  # noqa: ANN401 - scapy is untyped
    """Packet-outs whose frame has this layer; metadata: pad 7, port 9 bits."""
    frames = [(int.from_bytes(data[:2], "big") & 0x1FF, Ether(data[2:])) for data in engine.sent]
    return [(port, frame) for port, frame in frames if layer in frame]


def arp(op: int, psrc: str, pdst: str, mac: str = HOST) -> bytes:
    return bytes(Ether(src=mac) / ARP(op=op, hwsrc=mac, psrc=psrc, pdst=pdst))


def roce(dst: str, ttl: int = 64) -> bytes:
    packet = IP(src="10.2.0.20", dst=dst, ttl=ttl) / UDP(dport=4791) / (b"\x0a" + bytes(40))
    return bytes(Ether() / packet)


def written(engine: QuietEngine, writes: int) -> bool:
    return engine.writes == writes


def miss(engine: QuietEngine, dst: str) -> None:
    engine.packet_in(2, PuntReason.NEIGHBOR_MISS, 0, VRF, roce(dst))


async def test_missing_host_is_asked_for_and_gets_the_waiting_packets(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network) as plane:
        engine = switches["pe1"].engine
        routes = engine.size("route_ipv4")
        for _ in range(10):
            miss(engine, "10.1.0.10")
        await until(lambda: sent(engine, ARP))
        port, question = sent(engine, ARP)[0]
        assert (port, question[ARP].pdst, question[ARP].psrc) == (1, "10.1.0.10", "10.1.0.1")
        assert Dot1Q not in question
        engine.packet_in(1, PuntReason.ARP, 0, VRF, arp(2, "10.1.0.10", "10.1.0.1"))
        await until(lambda: engine.size("route_ipv4") == routes + 1)
        await until(lambda: sent(engine, UDP))
        waiting = sent(engine, UDP)
        assert len(waiting) == 4
        assert {(port, frame.dst, frame[IP].ttl) for port, frame in waiting} == {(1, HOST, 63)}
        assert len(plane.neighbors["pe1"]) == 1


async def test_host_that_asks_is_known(network: dict[str, Any], switches: Switches) -> None:
    async with running(network):
        engine = switches["pe1"].engine
        routes = engine.size("route_ipv4")
        engine.packet_in(1, PuntReason.ARP, 7, 2, arp(1, "10.1.0.10", "10.1.0.1"))
        await until(lambda: sent(engine, ARP))
        port, reply = sent(engine, ARP)[0]
        assert (port, reply[Dot1Q].vlan, reply[ARP].op, reply[ARP].psrc) == (1, 7, 2, "10.1.0.1")
        await until(lambda: engine.size("route_ipv4") == routes + 1)


async def test_ipv6_host_is_resolved(network: dict[str, Any], switches: Switches) -> None:
    async with running(network):
        engine = switches["pe1"].engine
        routes = engine.size("route_ipv6")
        target = "2001:db8:1::10"
        frame = bytes(Ether() / IPv6(dst=target) / UDP(dport=4791))
        engine.packet_in(2, PuntReason.NEIGHBOR_MISS, 0, VRF, frame)
        await until(lambda: sent(engine, ICMPv6ND_NS))
        assert sent(engine, ICMPv6ND_NS)[0][1][ICMPv6ND_NS].tgt == target
        header = Ether(src=HOST) / IPv6(src=target, dst="2001:db8:1::1", hlim=255)
        reply = header / ICMPv6ND_NA(tgt=target) / ICMPv6NDOptDstLLAddr(lladdr=HOST)
        engine.packet_in(1, PuntReason.ND, 0, VRF, bytes(reply))
        await until(lambda: engine.size("route_ipv6") == routes + 1)


async def test_silent_host_is_given_up_and_leaves_nothing(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network) as plane:
        engine = switches["pe1"].engine
        routes = engine.size("route_ipv4")
        miss(engine, "10.1.0.99")
        await until(lambda: len(sent(engine, ARP)) == 2)
        await until(lambda: not plane.neighbors["pe1"].asking)
        assert engine.size("route_ipv4") == routes


async def test_scan_of_a_subnet_is_bounded(
    network: dict[str, Any], switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MAX_UNRESOLVED", 128)
    network["nodes"]["pe1"]["ports"][0]["addresses"][0] = "10.1.0.1/16"
    network["nodes"]["pe2"]["vrfs"]["blue"]["routes"][0]["prefix"] = "10.1.0.0/16"
    network["neighbors"]["retry"] = "1m"
    async with running(network) as plane:
        engine = switches["pe1"].engine
        for number in range(190):
            miss(engine, f"10.1.{2 + number // 50}.{number % 50}")
        await until(lambda: plane.neighbors["pe1"].asking == 128)
        engine.packet_in(1, PuntReason.ARP, 0, VRF, arp(1, "10.1.200.1", "10.1.0.1"))
        await until(lambda: len(plane.neighbors["pe1"]) == 1)
        assert plane.neighbors["pe1"].asking == 128


@pytest.mark.parametrize(
    "frame",
    [
        arp(2, "10.1.0.10", "10.1.0.1"),
        arp(1, "10.1.0.10", "10.1.0.10"),
        arp(1, "10.99.0.10", "10.1.0.1"),
        arp(1, "10.1.0.1", "10.1.0.1"),
        arp(1, "10.1.0.10", "10.1.0.77"),
        arp(2, "10.1.0.10", "10.1.0.1", "01:00:5e:00:00:01"),
        b"",
        bytes(13),
        bytes(60),
    ],
    ids=["unasked", "gratuitous", "foreign", "own", "other-target", "group-mac", "0", "13", "60"],
)
async def test_nothing_is_learned_from(
    network: dict[str, Any], switches: Switches, frame: bytes
) -> None:
    async with running(network) as plane:
        engine = switches["pe1"].engine
        routes = engine.size("route_ipv4")
        engine.packet_in(1, PuntReason.ARP, 0, VRF, frame)
        engine.packet_in(1, PuntReason.ARP, 7, 2, arp(1, "10.1.0.20", "10.1.0.1"))
        await until(lambda: len(plane.neighbors["pe1"]) == 1)
        assert await plane.nodes["pe1"].settled()
        assert engine.size("route_ipv4") == routes + 1
        assert plane.nodes["pe1"].status.state is State.UP


async def test_next_hop_is_resolved_before_traffic_and_serves_its_routes(
    network: dict[str, Any], switches: Switches
) -> None:
    routes = network["nodes"]["pe1"]["vrfs"]["blue"]["routes"]
    routes.append({"prefix": "10.9.0.0/16", "via": "10.1.0.254"})
    async with running(network) as plane:
        engine = switches["pe1"].engine
        before = engine.size("route_ipv4")
        await until(lambda: sent(engine, ARP))
        assert sent(engine, ARP)[0][1][ARP].pdst == "10.1.0.254"
        miss(engine, "10.9.1.1")
        engine.packet_in(1, PuntReason.ARP, 0, VRF, arp(2, "10.1.0.254", "10.1.0.1", OTHER))
        await until(lambda: sent(engine, UDP))
        assert sent(engine, UDP)[0][1].dst == OTHER
        assert await plane.nodes["pe1"].settled()
        assert engine.size("route_ipv4") == before + 1


async def test_learned_host_survives_a_restart_of_the_controller(
    network: dict[str, Any], switches: Switches
) -> None:
    engine_of = switches["pe1"]
    async with running(network) as plane:
        engine_of.engine.packet_in(1, PuntReason.ARP, 0, VRF, arp(1, "10.1.0.10", "10.1.0.1"))
        await until(lambda: len(plane.neighbors["pe1"]) == 1)
        assert await plane.nodes["pe1"].settled()
    writes = engine_of.engine.writes
    engine_of.engine.sent.clear()
    async with running(network) as plane:
        assert len(plane.neighbors["pe1"]) == 1
        assert engine_of.engine.writes == writes
        await until(lambda: sent(engine_of.engine, ARP))
        await until(lambda: len(plane.neighbors["pe1"]) == 0)
        assert await plane.nodes["pe1"].settled()
        assert engine_of.engine.writes == writes + 1


async def test_host_that_moved_to_another_mac_is_followed(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network) as plane:
        engine = switches["pe1"].engine
        for mac in (HOST, OTHER):
            expected = engine.writes + 1
            frame = arp(1, "10.1.0.10", "10.1.0.1", mac)
            engine.packet_in(1, PuntReason.ARP, 0, VRF, frame)
            await until(partial(written, engine, expected))
        assert len(plane.neighbors["pe1"]) == 1


async def test_static_hosts_are_never_asked(network: dict[str, Any], switches: Switches) -> None:
    network["nodes"]["pe1"]["ports"][0]["hosts"] = {"10.1.0.10": HOST}
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"].append(
        {"prefix": "10.9.0.0/16", "via": "10.1.0.10"}
    )
    async with running(network) as plane:
        assert not plane.neighbors["pe1"].asking
        assert ip_address("10.1.0.10") in plane.config.nodes["pe1"].ports[0].hosts


async def test_nobody_takes_the_place_of_a_static_host(
    network: dict[str, Any], switches: Switches
) -> None:
    """Nor the traffic of the networks behind it."""
    network["nodes"]["pe1"]["ports"][0]["hosts"] = {"10.1.0.10": HOST}
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"].append(
        {"prefix": "10.9.0.0/16", "via": "10.1.0.10"}
    )
    async with running(network) as plane:
        engine = switches["pe1"].engine
        expected = engine.writes + 1
        for address in ("10.1.0.10", "10.1.0.11"):
            engine.packet_in(1, PuntReason.ARP, 0, VRF, arp(1, address, "10.1.0.1", OTHER))
        await until(partial(written, engine, expected))
        assert len(plane.neighbors["pe1"]) == 1


def test_a_host_costs_no_search_for_all_next_hops(
    network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts that invent addresses have it asked whether each is one."""
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"] += [
        {"prefix": f"10.9.{number}.0/24", "via": f"10.1.0.{number}"} for number in range(10, 100)
    ]
    config = parse_config(yaml.safe_dump(network))
    found, node = Places(config, "pe1"), config.nodes["pe1"]
    router, host = (found.on(node.ports[0], ip_address(f"10.1.0.{n}")) for n in (10, 100))
    assert found.is_next_hop(router)
    monkeypatch.setattr(places, "attachment", None)
    assert found.is_next_hop(router)
    assert not found.is_next_hop(host)


async def test_linux_router_on_a_core_port_is_resolved(
    network: dict[str, Any], switches: Switches
) -> None:
    """An underlay route through a link-local neighbour that is not a node of the configuration."""
    network["nodes"]["p1"]["ports"].append({"number": 3, "role": "core"})
    hop = {"port": 3, "address": "fe80::99"}
    network["nodes"]["p1"]["underlay"] = [{"prefix": "2001:db8:f::/48", "via": [hop]}]
    async with running(network):
        engine = switches["p1"].engine
        await until(lambda: sent(engine, ICMPv6ND_NS))
        port, question = sent(engine, ICMPv6ND_NS)[0]
        assert (port, question[ICMPv6ND_NS].tgt) == (3, "fe80::99")
        writes = engine.writes
        header = Ether(src=HOST) / IPv6(src="fe80::99", dst=question[IPv6].src, hlim=255)
        reply = header / ICMPv6ND_NA(tgt="fe80::99") / ICMPv6NDOptDstLLAddr(lladdr=HOST)
        engine.packet_in(3, PuntReason.ND, 0, 0, bytes(reply))
        await until(lambda: engine.writes == writes + 1)


async def test_neighbors_are_not_given_up_while_the_switch_is_away(
    network: dict[str, Any], switches: Switches
) -> None:
    network["neighbors"] = {"retry": "10ms", "attempts": 1, "refresh": "10ms"}
    async with running(network) as plane:
        switch = switches["pe1"]
        frame = arp(1, "10.1.0.10", "10.1.0.1")
        await switch.stop()
        await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
        service = plane.neighbors["pe1"]
        packet = fy.P4PacketIn(
            frame, metadata={"ingress_port": 1, "reason": PuntReason.ARP, "vlan_id": 0, "vrf": VRF}
        )
        await service.handle(packet)
        rounds = service.rounds
        await until(lambda: service.rounds > rounds + 3)
        assert len(service) == 1
        await switch.start()
        await until(lambda: plane.nodes["pe1"].status.state is State.UP)
        await until(lambda: len(service) == 0)


MAC = 0x525400000001
GROUP_MAC = 0x01005E000001


async def test_gateways_are_the_switchs_to_answer_for(
    network: dict[str, Any], switches: Switches
) -> None:
    """Both gateways of the port, of the second VLAN, and the link-local address."""
    async with running(network):
        engine = switches["pe1"].engine
        assert (engine.size("gateway_ipv4"), engine.size("gateway_ipv6")) == (2, 2)


@pytest.mark.parametrize(("version", "address"), [(4, "10.1.0.10"), (6, "2001:db8:1::10")])
async def test_host_the_switch_has_answered_is_known(
    network: dict[str, Any], switches: Switches, version: int, address: str
) -> None:
    """Without an answer of the controller; not by an address that is not of its subnet, that is the
    gateway's, or that of a probe, nor by a MAC address no host has."""
    async with running(network) as plane:
        engine = switches["pe1"].engine
        routes = engine.size(f"route_ipv{version}")
        digest, service = f"neighbor_ipv{version}_t", plane.neighbors["pe1"]
        gateway, foreign, probe = {
            4: ("10.1.0.1", "10.9.0.1", "0.0.0.0"),
            6: ("2001:db8:1::1", "2001:db8:9::1", "ff02::1"),
        }[version]
        for refused in (gateway, foreign, probe):
            engine.digest(digest, (1, 0, int(ip_address(refused)), MAC))
        engine.digest(digest, (1, 0, int(ip_address(address)), GROUP_MAC))
        engine.digest(digest, (9, 0, int(ip_address(address)), MAC))
        engine.digest(digest, (1, 0, int(ip_address(address)), MAC))
        await until(lambda: engine.size(f"route_ipv{version}") == routes + 1)
        assert len(service) == 1
        layer = ARP if version == 4 else ICMPv6ND_NA
        assert not sent(engine, layer)
