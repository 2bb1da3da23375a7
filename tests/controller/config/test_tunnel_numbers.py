"""The entries of table `tunnel`: one for each tunnel of a VRF, be it a policy's path or not."""

from ipaddress import IPv6Address
from typing import Any

import pytest
import yaml
from parsing import parsed, table_entries
from policy_networks import SQUARE, network
from test_config import refused

Data = dict[str, Any]
Args = dict[str, Any]

VIA = {"a": ["r1"], "b": ["r2"], "c": ["r5"]}


def three_ways(paths: str, routes: str = "", **nexts: str) -> Data:
    """Tunnels a, b and c of pe1: these are paths of its policy, these are named by routes, and
    flows of these are rerouted to others."""
    given = {"paths": [{"tunnel": name} for name in paths.split()], "backup": []}
    data = network(SQUARE + " pe1-r5 r5-pe2", VIA, given)
    node = data["nodes"]["pe1"]
    node["vrfs"]["blue"]["routes"] += [
        {"prefix": f"10.{number}.0.0/24", "tunnel": name}
        for number, name in enumerate(routes.split(), 30)
    ]
    if nexts:
        data |= {"notification": "two-threshold", "two_threshold": {"treatment": "reroute"}}
        for name, after in nexts.items():
            node["tunnels"][name]["next"] = after
    return data


def entries(data: Data, table: str) -> list[tuple[Args, Args]]:
    """Match and parameters of what pe1 is to have."""
    found = table_entries(parsed(data), "pe1", table)
    return [(dict(entry.match or {}), dict(entry.action.args)) for entry in found]


def names(data: Data) -> dict[int, str]:
    """The tunnels that the switch has, by number."""
    first_sids = {
        int(IPv6Address(data["nodes"][via]["end_sids"][0])): name for name, (via,) in VIA.items()
    }
    return {match["tunnel"]: first_sids[args["dst"]] for match, args in entries(data, "tunnel")}


def paths_of(data: Data) -> list[str]:
    """The tunnels of the policy's paths, by slot."""
    ((_, args),) = entries(data, "policy")
    known = names(data)
    slots = range(len(data["nodes"]["pe1"]["policies"]["to-pe2"]["paths"]))
    return [known[args["first"] + slot] for slot in slots]


def routed(data: Data) -> list[str]:
    """The tunnels that routes name, in the order of their prefixes."""
    known = names(data)
    found = [(match["dst"], args.get("tunnel")) for match, args in entries(data, "route_ipv4")]
    return [known[number] for _, number in sorted(found) if number in known]


def test_a_tunnel_of_a_path_and_of_a_route_is_written_once() -> None:
    data = three_ways("b a", "a c")
    assert sorted(names(data).values()) == ["a", "b", "c"]
    assert paths_of(data) == ["b", "a"]
    assert routed(data) == ["a", "c"]


@pytest.mark.parametrize(
    ("paths", "routes", "nexts", "written"),
    [
        ("a", "", {"a": "b", "b": "a"}, "ab"),
        ("a b", "", {"a": "b", "b": "a"}, "ab"),
        ("a", "", {"a": "b", "b": "c"}, "abc"),
        ("a b", "c", {"a": "c", "b": "a", "c": "a"}, "abc"),
        ("b", "a", {"a": "b", "b": "a"}, "ab"),
    ],
)
def test_flows_are_rerouted_from_path_to_path(
    paths: str, routes: str, nexts: dict[str, str], written: str
) -> None:
    data = three_ways(paths, routes, **nexts)
    known = names(data)
    assert "".join(sorted(known.values())) == written
    assert paths_of(data) == paths.split()
    assert routed(data) == routes.split()
    assert {
        known[match["tunnel"]]: known[args["next_tunnel"]]
        for match, args in entries(data, "light_policy")
    } == nexts


def test_a_path_whose_flows_are_rerouted_needs_a_next_tunnel() -> None:
    data = three_ways("a b", a="c")
    found = refused(yaml.safe_dump(data))
    assert [(where, "name the next tunnel" in why) for _, where, why in found] == [
        ("nodes.pe1.tunnels.b", True)
    ]
