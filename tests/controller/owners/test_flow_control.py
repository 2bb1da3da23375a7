"""The entries of precise flow control on every node (SRF-5 to SRF-8)."""

from ipaddress import ip_address
from typing import Any

import finsy as fy
import pytest
import yaml
from finsy.p4entity import decode_entity

from fcn.contract.pipeline import load_pipeline
from fcn.controller.config import parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.provision.provision import Provision


def entities(network: dict[str, Any], node: str) -> tuple[list[fy.P4TableEntry], list[Any]]:
    """Table and meter entries the controller writes to a node."""
    config = parse_config(yaml.safe_dump(network))
    pipeline = load_pipeline(config.nodes[node].role)
    intent = Provision(config, node, pipeline).intent
    taken = intent.take_updates(100_000)
    decoded = [decode_entity(update.entity, pipeline.schema) for update in taken]
    tables = [entity for entity in decoded if isinstance(entity, fy.P4TableEntry)]
    return tables, [entity for entity in decoded if isinstance(entity, fy.P4MeterEntry)]


def arguments(entries: list[fy.P4TableEntry], table: str) -> list[dict[str, Any]]:
    """Match and parameters of the entries of a table."""
    found = []
    for entry in entries:
        if entry.table_id == table and isinstance(entry.action, fy.P4TableAction):
            found.append({**(entry.match or {}), **entry.action.args})
    return found


@pytest.mark.parametrize("node", ["pe1", "p1"])
def test_off_holds_nothing_and_knows_nobody(network: dict[str, Any], node: str) -> None:
    tables, meters = entities(network, node)
    assert [each["mode"] for each in arguments(tables, "flow_control")] == [0]
    budget = [(each["packets"], each["longest"]) for each in arguments(tables, "hold_budget")]
    assert budget == [(0, 10_000)], "what is held when it is turned off leaves in its order"
    for table in ("arn_neighbor", "arn_upstream", "hold_level", "dc_relief"):
        assert arguments(tables, table) == []
    assert not {meter.meter_id for meter in meters} & {"arn_meter", "hold_meter"}
    assert all(each["udp_dst_port"] != 1022 for each in arguments(tables, "notification_port"))


@pytest.mark.parametrize("node", ["pe1", "p1"])
def test_neighbours_are_those_of_the_links(network: dict[str, Any], node: str) -> None:
    network["flow_control"] = "service"
    config = parse_config(yaml.safe_dump(network))
    tables, meters = entities(network, node)
    expected = {}
    for link in config.link_ends():
        for (name, port), (peer, peer_port) in (link, link[::-1]):
            far = config.nodes[peer].port(peer_port)
            if name == node and far is not None:
                mac = port_mac(peer, config.nodes[peer], far)
                expected[port] = (config.nodes[peer].underlay_address, mac)
    assert expected
    heard = {e["ingress_port"]: ip_address(e["source"]) for e in arguments(tables, "arn_neighbor")}
    assert heard == {port: address for port, (address, _) in expected.items()}
    told = {
        e["port"]: (ip_address(e["dst"]), e["dst_mac"]) for e in arguments(tables, "arn_upstream")
    }
    assert told == expected
    limits = {meter.index: meter.config for meter in meters if meter.meter_id == "hold_meter"}
    assert limits.keys() == expected.keys()
    # 64 holds of 10 ms: half at once, the other half in that time.
    assert all((c.cburst, c.cir) == (32, 3200) for c in limits.values() if c is not None)


def test_a_queue_is_congested_relieved_or_between(network: dict[str, Any]) -> None:
    network |= {"flow_control": "priority", "holding": {"hold_at": 40, "release_at": 16}}
    tables, _ = entities(network, "p1")
    assert [each["mode"] for each in arguments(tables, "flow_control")] == [3]
    ranges = {each["queue_depth"] for each in arguments(tables, "hold_level")}
    assert ranges == {(40, (1 << 19) - 1), (0, 15)}


@pytest.mark.parametrize(("relief", "number", "pauses"), [("pfc", 1, True), ("cnp", 2, False)])
def test_a_pe_asks_its_data_centres(
    network: dict[str, Any], relief: str, number: int, pauses: bool
) -> None:
    network |= {"flow_control": "service", "holding": {"relief": relief}}
    tables, _ = entities(network, "pe1")
    config = parse_config(yaml.safe_dump(network))
    ports = {port.number for port in config.nodes["pe1"].dc_ports}
    asked = arguments(tables, "dc_relief")
    assert {each["port"] for each in asked} == ports
    assert {each["relief"] for each in asked} == {number}
    assert {each["port"] for each in arguments(tables, "pause_profile")} == (
        ports if pauses else set()
    )


def test_a_pe_heeds_pauses_of_the_ports_it_is_told_to(network: dict[str, Any]) -> None:
    network |= {"flow_control": "service", "holding": {"packets": 900, "octets": "3MB"}}
    assert arguments(entities(network, "pe1")[0], "heeded_pauses") == []
    ports = network["nodes"]["pe1"]["ports"]
    ports[0] |= {"heed_pause": True, "rate": "100 Gb/s"}
    ports.append({"number": 7, "role": "dc", "vrf": "blue", "heed_pause": True, "rate": "1 Gb/s"})
    heeded = {
        each["port"]: each for each in arguments(entities(network, "pe1")[0], "heeded_pauses")
    }
    # 5.12 and 512 ns, in 2^-16 microseconds
    assert {port: each["quantum_time"] for port, each in heeded.items()} == {1: 335, 7: 33_554}
    # A fifth of the budget, for two ports
    assert {(each["packets"], each["octets"]) for each in heeded.values()} == {(90, 300_000)}


@pytest.mark.parametrize(
    ("mode", "together"), [("service", False), ("flow", False), ("priority", True)]
)
def test_ports_to_data_centres_are_watched_where_tenants_are_apart(
    network: dict[str, Any], mode: str, together: bool
) -> None:
    """Where neighbours would hold several tenants for the congestion of one, they are not asked."""
    network["flow_control"] = mode
    network["vrfs"]["red"] = {"id": 77}
    network["nodes"]["pe1"]["ports"].append({"number": 7, "role": "dc", "vrf": "red"})
    network["nodes"]["pe1"]["vrfs"]["red"] = {"service_sid": "2001:db8:0:1::d47"}
    tables, _ = entities(network, "pe1")
    node = parse_config(yaml.safe_dump(network)).nodes["pe1"]
    ports = {port.number for port in (node.core_ports if together else node.ports)}
    assert {each["egress_port"] for each in arguments(tables, "hold_level")} == ports
