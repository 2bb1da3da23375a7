"""Topologies: ports, addresses, paths, and the controller's configuration made of them."""

from dataclasses import replace
from typing import get_args

import pytest

from fcn.contract.depth import Depth
from fcn.controller.config import parse_config
from fcn.topologies.catalog import CATALOG, network
from fcn.topologies.controller_config import FcnSettings, Level, controller_yaml
from fcn.topologies.model import Host, Link, Node, Topology, TopologyError, TunnelType


def test_wan_ports_and_addresses() -> None:
    topology = network("wan")
    assert [(port.number, port.peer, port.role) for port in topology.ports_of("pe1")] == [
        (1, "h1", "dc"), (2, "h2", "dc"), (3, "p1", "core"),
    ]  # fmt: skip
    assert topology.port("p2", "pe2").interface == "p2-eth2"
    addresses = topology.addresses("h4")
    assert str(addresses.ipv4) == "10.2.2.10/24"
    assert str(addresses.ipv6_gateway) == "2001:db8:2:2::1/64"


def test_wan_paths_and_delays() -> None:
    topology = network("wan")
    assert topology.path("h1", "h3") == ("h1", "pe1", "p1", "p2", "pe2", "h3")
    assert topology.delay_ms("h1", "h3") == topology.delay_ms("h3", "h1") == 8.0
    assert topology.delay_ms("p2", "h2") == 3.0


def test_bottleneck_is_found_by_its_port_only() -> None:
    topology = network("wan")
    limited = [port for port in topology.ports if topology.queue_of(port)]
    assert [(port.node, port.peer) for port in limited] == [("p2", "pe2")]


def test_no_path_is_an_error() -> None:
    with pytest.raises(TopologyError, match="no path"):
        replace(network("wan"), links=()).path("h1", "p1")


LEVELS = tuple(Level(mark=True, notify=True, interval=f"{10 - n}ms") for n in range(7))


@pytest.mark.parametrize("name", CATALOG)
@pytest.mark.parametrize("tunnel", get_args(TunnelType))
def test_the_controller_accepts_the_configuration(name: str, tunnel: TunnelType) -> None:
    topology = replace(network(name), tunnel=tunnel)
    config = parse_config(controller_yaml(topology, FcnSettings(levels=LEVELS, enabled=False)))
    assert set(config.nodes) == {node.name for node in topology.nodes}
    assert len(config.links) == len(topology.links)
    assert not any(node.features for node in config.nodes.values())
    assert config.congestion.levels[7].interval == 4000
    assert len({node.grpc for node in config.nodes.values()}) == len(config.nodes)


def test_thresholds_are_where_queues_are_limited() -> None:
    config = parse_config(
        controller_yaml(network("wan"), FcnSettings(thresholds=(5, 6), levels=LEVELS))
    )
    assert config.nodes["p2"].thresholds[0].depths == (Depth(5), Depth(6))
    assert config.nodes["p2"].thresholds[0].port == 2
    assert [name for name, node in config.nodes.items() if node.thresholds] == ["p2"]


def test_the_two_threshold_mode_has_three_depths_where_queues_are_limited() -> None:
    sections = {"notification": "two-threshold", "two_threshold": {"treatment": "slow"}}
    settings = FcnSettings(thresholds=(5, 6, 9), levels=LEVELS, sections=sections)
    config = parse_config(controller_yaml(network("wan"), settings))
    assert config.nodes["p2"].thresholds[0].depths == (Depth(5), Depth(6), Depth(9))
    assert config.two_threshold.depths == (Depth(2000), Depth(3000), Depth(4000))


def test_several_sites_and_vrfs_are_routed_to_each_other() -> None:
    topology = Topology(
        name="three",
        nodes=(Node("x", "pe"), Node("y", "pe"), Node("z", "pe"), Node("c", "p")),
        links=(Link("x", "c"), Link("y", "c"), Link("z", "c")),
        hosts=(Host("h1", "x"), Host("h2", "y"), Host("h3", "z", "red"), Host("h4", "x", "red")),
        vrfs={"blue": 1, "red": 2},
    )
    config = parse_config(controller_yaml(topology, FcnSettings()))
    routes = {
        (name, vrf): {str(route.prefix) for route in node_vrf.routes}
        for name, node in config.nodes.items()
        for vrf, node_vrf in node.vrfs.items()
    }
    assert routes["x", "blue"] == {"10.2.1.0/24", "2001:db8:2:1::/64"}
    assert routes["z", "red"] == {"10.1.2.0/24", "2001:db8:1:2::/64"}
    assert routes["z", "blue"] >= {"10.1.1.0/24", "10.2.1.0/24"}
