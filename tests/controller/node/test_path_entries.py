"""Entries of policies (FAN-4)."""

from typing import Any

import pytest
from parsing import parsed, table_entries
from watch_lab import POLICY, with_two_ways

from fcn.contract.constants import POLICY_BIT
from fcn.contract.paths import entries_of


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """The example, with a second P between the PEs and a policy with a path by each."""
    return with_two_ways(network, POLICY)


def entries(network: dict[str, Any], table: str) -> list[dict[str, Any]]:
    """Match and parameters of what the controller writes to a table of pe1."""
    found = table_entries(parsed(network), "pe1", table)
    return [{**(entry.match or {}), **entry.action.args} for entry in found]


def test_every_path_has_a_tunnel_and_a_name(network: dict[str, Any]) -> None:
    for switch in network["nodes"].values():
        switch.setdefault("grpc", "127.0.0.1:1")
    network["nodes"]["p3"]["grpc"] = "127.0.0.1:1"
    (policy,) = entries(network, "policy")
    assert policy["hold"] == 2_000_000
    tunnels = {each["tunnel"]: each for each in entries(network, "tunnel")}
    assert {policy["first"], policy["first"] + 1} <= tunnels.keys()
    assert "seg0" in tunnels[policy["first"]]
    assert tunnels[policy["first"] + 1]["vni"] == 1001
    routes = [*entries(network, "route_ipv4"), *entries(network, "route_ipv6")]
    used = [each["tunnel"] for each in routes if "tunnel" in each]
    assert used == [policy["tunnel"]] * 2
    assert policy["tunnel"] & POLICY_BIT
    named = {each["path_id"]: each for each in entries(network, "path_by_id")}
    assert named.keys() == {17, 18}
    assert [named[number]["path_slot"] for number in (17, 18)] == [0, 1]
    assert {each["policy_paths"] for each in named.values()} == {0b11}
    chosen = entries(network, "path")
    assert len(chosen) == entries_of(2)
    assert {each["policy"] for each in chosen} == {policy["number"]}


def test_flows_on_every_path_are_treated_at_light_congestion(network: dict[str, Any]) -> None:
    network["nodes"]["p3"]["grpc"] = "127.0.0.1:1"
    network |= {"notification": "two-threshold", "two_threshold": {"treatment": "slow"}}
    for key in ("thresholds", "levels"):
        del network["congestion"][key]
    network["nodes"]["p2"]["thresholds"] = []
    (policy,) = entries(network, "policy")
    slowed = {each["tunnel"] for each in entries(network, "light_policy")}
    assert {policy["first"], policy["first"] + 1} <= slowed


def test_a_domain_without_policies_has_no_entries(network: dict[str, Any]) -> None:
    pe1 = network["nodes"]["pe1"]
    del pe1["policies"]
    network["nodes"]["p3"]["grpc"] = "127.0.0.1:1"
    for route in pe1["vrfs"]["blue"]["routes"]:
        del route["policy"]
        route["tunnel"] = "pe2-srv6"
    for table in ("policy", "path", "path_by_id"):
        assert entries(network, table) == []


def test_nodes_are_heard_by_the_ports_their_messages_come_by(network: dict[str, Any]) -> None:
    network["nodes"]["p3"]["grpc"] = "127.0.0.1:1"
    heard = {each["source"] for each in entries(network, "path_reporter")}
    assert heard == {each["source"] for each in entries(network, "reporter_port")} != set()
