"""Values derived from the configuration: MACs, underlay routes, attachments, tunnels."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import pairwise
from typing import Any

import pytest
from parsing import parsed, table_entries

from fcn.contract.names import ROUTE_TABLES
from fcn.contract.pipeline import load_pipeline
from fcn.contract.targets import V1MODEL
from fcn.controller.config import Config
from fcn.controller.config.addressing import (
    attachment,
    cnp_source,
    link_local,
    locate,
    node_mac,
    port_mac,
    underlay_next_hops,
)

SID = "2001:db8:0:2::d46"


def entries(config: Config, node: str, table: str) -> dict[str, str]:
    """Match and action of a node's intended entries, as text."""
    schema = load_pipeline(config.nodes[node].role).schema
    found = table_entries(config, node, table)
    return {entry.match_str(schema): entry.action_str(schema) for entry in found}


def test_macs_are_stable_local_and_distinct(network: dict[str, Any]) -> None:
    config = parsed(network)
    macs = [
        port_mac(name, node, port) for name, node in config.nodes.items() for port in node.ports
    ]
    macs += [node_mac(name, node) for name, node in config.nodes.items()]
    assert len(set(macs)) == len(macs)
    assert all(mac >> 40 == 0x02 for mac in macs)
    assert node_mac("pe1", config.nodes["pe1"]) == node_mac("pe1", parsed(network).nodes["pe1"])


def test_configured_mac_wins(network: dict[str, Any]) -> None:
    network["nodes"]["pe1"]["ports"][0]["mac"] = "00:11:22:33:44:55"
    node = parsed(network).nodes["pe1"]
    assert port_mac("pe1", node, node.ports[0]) == 0x001122334455


def test_link_local_address_is_modified_eui_64() -> None:
    """The example of RFC 4291 appendix A."""
    assert link_local(0x3456789ABCDE) == IPv6Address("fe80::3656:78ff:fe9a:bcde")


def test_shortest_paths(network: dict[str, Any]) -> None:
    routes = underlay_next_hops(parsed(network), "p1")
    assert routes[IPv6Network("2001:db8:0:1::/64")] == [(1, "pe1", 2)]
    assert routes[IPv6Network("2001:db8:0:2::/64")] == [(2, "p2", 1)]
    assert IPv6Network("2001:db8:0:ff::11/128") not in routes


def test_equal_paths_share_the_load(network: dict[str, Any]) -> None:
    """A second pair of transit nodes, and parallel links, make ECMP."""
    network["nodes"]["p3"] = {
        "role": "p",
        "grpc": "127.0.0.1:1",
        "underlay_address": "2001:db8:0:ff::13",
        "ports": [{"number": number, "role": "core"} for number in (1, 2)],
    }
    network["nodes"]["pe1"]["ports"].append({"number": 3, "role": "core"})
    network["nodes"]["p2"]["ports"].append({"number": 3, "role": "core"})
    network["links"] += [["pe1:3", "p3:1"], ["p3:2", "p2:3"]]
    config = parsed(network)
    pe2 = IPv6Network("2001:db8:0:ff::2/128")
    assert underlay_next_hops(config, "pe1")[pe2] == [(2, "p1", 1), (3, "p3", 1)]
    assert entries(config, "pe1", "underlay")["dst=0x20010db8000000ff0000000000000002"].count("1*")


def test_node_without_links_is_unreachable_and_not_routed(network: dict[str, Any]) -> None:
    network["links"] = network["links"][:2]
    routes = underlay_next_hops(parsed(network), "pe1")
    assert IPv6Network("2001:db8:0:ff::2/128") not in routes
    assert IPv6Network("2001:db8:0:ff::12/128") in routes


def test_explicit_underlay_route_replaces_the_computed_one(network: dict[str, Any]) -> None:
    hop = {"port": 2, "mac": "02:00:00:00:00:99"}
    network["nodes"]["pe1"]["underlay"] = [{"prefix": "2001:db8:0:ff::2/128", "via": [hop]}]
    routes = entries(parsed(network), "pe1", "underlay")
    assert "dst_mac=0x20000000099" in routes["dst=0x20010db8000000ff0000000000000002"]


def test_addresses_are_located_by_longest_prefix(network: dict[str, Any]) -> None:
    """Two sites of one subnet: a host route through the tunnel precedes the connected prefix."""
    for node, far in (("pe1", "pe2"), ("pe2", "pe1")):
        data = network["nodes"][node]
        data["ports"][0]["addresses"] = ["192.168.7.254/24"]
        number = 2 if node == "pe1" else 1
        prefix = f"192.168.7.{3 - number}/32"
        data["vrfs"]["blue"]["routes"] = [{"prefix": prefix, "tunnel": f"{far}-srv6"}]
    config = parsed(network)
    assert locate(config, "blue", ip_address("192.168.7.2")) == ["pe1"]
    assert locate(config, "blue", ip_address("192.168.7.1")) == ["pe2"]
    assert locate(config, "blue", ip_address("10.0.0.1")) == []
    assert locate(config, "green", ip_address("192.168.7.1")) == []


def test_address_behind_a_router_is_attached_at_its_next_hop(network: dict[str, Any]) -> None:
    route = {"prefix": "10.9.0.0/16", "via": "10.1.0.254"}
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"].append(route)
    found = attachment(parsed(network).nodes["pe1"], "blue", ip_address("10.9.1.1"))
    assert found is not None
    assert (found.port.number, found.neighbor) == (1, ip_address("10.1.0.254"))


@pytest.mark.parametrize(
    ("cnp", "expected4", "expected6"),
    [
        ({}, "10.1.0.1", "2001:db8:1::1"),
        ({"source": "pe"}, "10.1.0.1", "2001:db8:1::1"),
        ({"source": "peer"}, "10.2.0.20", "2001:db8:2::20"),
        (
            {"ipv4_source": "10.255.0.1", "ipv6_source": "2001:db8:ffff::1"},
            "10.255.0.1",
            "2001:db8:ffff::1",
        ),
    ],
)
def test_cnp_source(
    network: dict[str, Any], cnp: dict[str, str], expected4: str, expected6: str
) -> None:
    network["nodes"]["pe1"]["cnp"] = cnp
    node = parsed(network).nodes["pe1"]
    sender4, peer4 = IPv4Address("10.1.0.10"), IPv4Address("10.2.0.20")
    sender6, peer6 = IPv6Address("2001:db8:1::10"), IPv6Address("2001:db8:2::20")
    assert str(cnp_source(node, "blue", sender4, peer4)) == expected4
    assert str(cnp_source(node, "blue", sender6, peer6)) == expected6


def hexed(*sids: str) -> list[str]:
    return [f"{int(IPv6Address(sid)):#x}" for sid in sids]


@pytest.mark.parametrize(
    ("mode", "sids", "action", "segments"),
    [
        ("encaps.red", [SID], "encap_srv6(", []),
        ("encaps", [SID], "encap_srv6_srh1(", [SID]),
        ("encaps.red", ["a::1", SID], "encap_srv6_srh1(", [SID]),
        ("encaps", ["a::1", SID], "encap_srv6_srh2(", [SID, "a::1"]),
        ("encaps.red", ["a::1", "a::2", "a::3", SID], "encap_srv6_srh3(", [SID, "a::3", "a::2"]),
        (
            "encaps",
            ["a::1", "a::2", "a::3", SID],
            "encap_srv6_srh4(",
            [SID, "a::3", "a::2", "a::1"],
        ),
    ],
)
def test_srv6_policies(
    network: dict[str, Any], mode: str, sids: list[str], action: str, segments: list[str]
) -> None:
    """RFC 8986 section 5.1 and 5.2: the list is last SID first; reduced leaves out the first."""
    network["notification"] = "none"
    tunnel = {"type": "srv6", "sids": sids, "mode": mode, "ecn": "compatibility"}
    network["nodes"]["pe1"]["tunnels"]["pe2-srv6"] = tunnel
    found = next(
        text
        for text in entries(parsed(network), "pe1", "tunnel").values()
        if text.startswith("encap_srv6")
    )
    assert found.startswith(action)
    assert f"dst={hexed(sids[0])[0]}" in found.replace("0x00", "0x")
    assert "ecn_mode=0x1" in found
    for index, sid in enumerate(hexed(*segments)):
        assert f"seg{index}={sid}" in found
    if segments:
        assert f"segments_left={len(sids) - 1:#x}" in found


@pytest.mark.parametrize(
    ("tunnel", "expected"),
    [
        ({"type": "gre", "to": "pe2"}, "encap_gre(ecn_mode=0x0"),
        ({"type": "mpls-udp", "to": "pe2"}, "encap_mpls_udp1("),
        ({"type": "mpls-udp", "egress": "2001:db8::7", "sr_label": 5000}, "sr_label=0x1388"),
        (
            {"type": "vxlan", "egress": "2001:db8::7", "inner_dst_mac": "02:00:00:00:00:07"},
            "inner_dst_mac=0x20000000007",
        ),
    ],
)
def test_other_tunnels(network: dict[str, Any], tunnel: dict[str, Any], expected: str) -> None:
    network["nodes"]["pe1"]["tunnels"]["pe2-vxlan"] = tunnel
    assert any(expected in text for text in entries(parsed(network), "pe1", "tunnel").values())


def test_trusted_prefixes_default_to_the_nodes(network: dict[str, Any]) -> None:
    assert len(entries(parsed(network), "pe1", "trusted_source")) == 4
    network["trusted_prefixes"] = ["2001:db8:0:ff::/64"]
    trusted = entries(parsed(network), "pe1", "trusted_source")
    assert list(trusted) == ["src=0x20010db8000000ff0000000000000000/64"]


def test_levels_cover_every_depth_once(network: dict[str, Any]) -> None:
    shown = entries(parsed(network), "p2", "queue_level")
    ranges = sorted(
        tuple(int(part, 16) for part in match.rpartition("=")[2].split("..."))
        for match in shown
        if "egress_port=0x2 " in match
    )
    assert [low for low, _ in ranges] == [4, 8, 12, 16, 24, 32, 48]
    assert ranges[-1][1] == V1MODEL.depth.maximum
    assert all(high + 1 == low for (_, high), (low, _) in pairwise(ranges))


@pytest.mark.parametrize(
    ("default", "never"),
    [
        (
            "0.0.0.0/0",
            {"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32"},
        ),
        ("::/0", {"::/127", "fe80::/10", "ff00::/8"}),
        ("fe00::/7", {"fe80::/10", "ff00::/8"}),
        ("2001:db8::/32", set()),
    ],
)
def test_no_route_leads_to_loopback_link_or_group(
    network: dict[str, Any], default: str, never: set[str]
) -> None:
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"] = [{"prefix": default, "tunnel": "pe2-srv6"}]
    version = ip_network(default).version
    routes = table_entries(parsed(network), "pe1", ROUTE_TABLES[version])
    dropped = [entry["dst"] for entry in routes if entry.action.name == "blackhole"]
    assert {(int(each.network_address), each.prefixlen) for each in map(ip_network, never)} == set(
        dropped
    )
