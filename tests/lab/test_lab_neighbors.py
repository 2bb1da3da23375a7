"""RoCEv2 hosts answer ARP and neighbour discovery: no host has to be configured."""

import asyncio
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

import pytest
from lab_networks import host_mac
from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Ether

from fcn.controller.config import parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.lab.balance import balance
from fcn.lab.control.loop import run
from fcn.lab.control.plane import NodeControl, controlled
from fcn.lab.core import Simulation
from fcn.lab.hosts import HostNode
from fcn.lab.roce import RoceHost, State
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import FcnSettings, controller_yaml

OWN, ASKING = host_mac(1), host_mac(2)
V4, OTHER_V4 = "10.1.0.10", "10.1.0.1"
V6, OTHER_V6 = "2001:db8:1::10", "fe80::1"
ALL_NODES, ALL_NODES_MAC = "ff02::1", "33:33:00:00:00:01"
RATE = 100 * 10**9


def answers(address: IPv4Address | IPv6Address, *questions: bytes) -> list[Ether]:
    """What a host with this address sends when it receives these."""
    with Simulation() as simulation:
        host, asking = simulation.add_host("host"), simulation.add_host("asking")
        link = simulation.connect(host, 0, asking, 0, rate_bps=RATE, delay_ns=100)
        RoceHost(host, address, OWN, ASKING)
        link.tap(0)
        for question in questions:
            asking.send(question)
        simulation.run_until(1_000_000)
        balance(simulation)
        return [Ether(frame.data) for frame in simulation.tapped()]


def request(target: str = V4, operation: int = 1) -> bytes:
    """An ARP request."""
    arp = ARP(op=operation, hwsrc=ASKING, psrc=OTHER_V4, pdst=target)
    return bytes(Ether(src=ASKING, dst="ff:ff:ff:ff:ff:ff") / arp)


def solicitation(target: str = V6, src: str = OTHER_V6, hlim: int = 255, **icmp: int) -> bytes:
    """A neighbour solicitation; icmp: fields of ICMPv6."""
    head = Ether(src=ASKING, dst="33:33:ff:00:00:10") / IPv6(
        src=src, dst="ff02::1:ff00:10", hlim=hlim
    )
    option = b"" if src == "::" else ICMPv6NDOptSrcLLAddr(lladdr=ASKING)
    return bytes(head / ICMPv6ND_NS(tgt=target, **icmp) / option)


def test_a_request_is_answered() -> None:
    (answer,) = answers(IPv4Address(V4), request())
    assert (answer.src, answer.dst, answer[ARP].op) == (OWN, ASKING, 2)
    assert (answer[ARP].hwsrc, answer[ARP].psrc) == (OWN, V4)
    assert (answer[ARP].hwdst, answer[ARP].pdst) == (ASKING, OTHER_V4)


@pytest.mark.parametrize(("src", "solicited"), [(OTHER_V6, 1), ("::", 0)])
def test_a_solicitation_is_answered(src: str, solicited: int) -> None:
    """To all nodes when who asks has no address yet (RFC 4861 section 7.2.4)."""
    (answer,) = answers(IPv6Address(V6), solicitation(src=src))
    to = (ASKING, OTHER_V6) if solicited else (ALL_NODES_MAC, ALL_NODES)
    assert (answer.src, answer.dst, answer[IPv6].dst) == (OWN, *to)
    assert (answer[IPv6].src, answer[IPv6].hlim) == (V6, 255)
    advertisement = answer[ICMPv6ND_NA]
    flags = (advertisement.R, advertisement.S, advertisement.O)
    assert flags == (0, solicited, 1)
    assert advertisement.tgt == V6
    assert answer[ICMPv6NDOptDstLLAddr].lladdr == OWN
    checksum = advertisement.cksum
    del advertisement.cksum
    assert IPv6(bytes(answer[IPv6]))[ICMPv6ND_NA].cksum == checksum


def test_a_solicitation_with_nothing_but_zeros_at_its_end_is_one() -> None:
    """Its checksum covers what the frame leaves out."""
    padded = Ether(solicitation())
    del padded[IPv6].plen, padded[ICMPv6ND_NS].cksum
    long = bytes(padded / bytes(600))
    damaged = long[:-1] + b"\1"
    assert len(answers(IPv6Address(V6), long, damaged)) == 1


def test_what_asks_for_others_or_is_malformed_is_not_answered() -> None:
    good4, good6 = request(), solicitation()
    damaged = good6[:-1] + bytes([good6[-1] ^ 1])
    others = [request("10.1.0.11"), request(operation=2), *(good4[:n] for n in range(42))]
    assert answers(IPv4Address(V4), *others, good6) == []
    others = [solicitation("2001:db8:1::11"), solicitation(hlim=64), solicitation(code=1), damaged]
    others += [good6[:n] for n in range(14, 78)]
    assert answers(IPv6Address(V6), *others, good4) == []


async def until(condition: Callable[[], bool]) -> None:
    """Wait in virtual time."""
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110 - the network changes it, without an event
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("version", [4, 6])
def test_hosts_are_found_by_their_provider_edge(version: int) -> None:
    """Topology wan with its controller, whose configuration names no host: a connection between the
    sites, through neighbours the PEs had to look for."""
    topology = network("wan")
    config = parse_config(controller_yaml(topology, FcnSettings()))
    assert not any(port.hosts for node in config.nodes.values() for port in node.ports)
    with Simulation(seed=1) as simulation:
        nodes = {name: NodeControl(simulation.add_switch(name), 1_000_000) for name in config.nodes}
        for link in topology.links:
            simulation.connect(
                simulation.switches[link.a], topology.port(link.a, link.b).number,
                simulation.switches[link.b], topology.port(link.b, link.a).number,
                rate_bps=RATE, delay_ns=link.delay_ns,
            )  # fmt: skip
        hosts: dict[str, RoceHost] = {}
        for number, name in enumerate(("h1", "h3")):
            node: HostNode = simulation.add_host(name)
            port = next(each for each in topology.ports if each.peer == name)
            simulation.connect(
                node, 0, simulation.switches[port.node], port.number, rate_bps=RATE, delay_ns=500
            )
            own = config.nodes[port.node].port(port.number)
            assert own is not None
            gateway = format_mac(port_mac(port.node, config.nodes[port.node], own))
            addresses = topology.addresses(name)
            address = addresses.ipv4.ip if version == 4 else addresses.ipv6.ip
            hosts[name] = RoceHost(node, address, host_mac(1, number), gateway)

        async def main() -> None:
            async with controlled(config, nodes, simulation, seed=1) as running:
                await until(lambda: all(node.is_up for node in running.plane.nodes.values()))
                left, right = hosts["h1"], hosts["h3"]
                connection = left.connect(right.address, at_ns=simulation.now_ns)
                left.write(connection, 100_000, start_ns=simulation.now_ns)
                await until(lambda: left.sender(connection).acknowledged == 98)
                assert left.sender(connection).state == State.CONNECTED
                assert right.receiver(0).payload == 100_000

        run(simulation, main())
        balance(simulation)
