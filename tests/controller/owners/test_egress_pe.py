"""What a PE has as egress PE: whom it tells of its ports to data centres, and how (FCN-18)."""

from typing import Any

import finsy as fy
import pytest
import yaml
from finsy.p4entity import decode_entity

from fcn.contract.pipeline import load_pipeline
from fcn.controller.config import parse_config
from fcn.controller.owners.rate_limits import NOTICE_METER, MeterCell
from fcn.controller.provision.provision import Provision

SENT = {"fcn": "FAST_CNP", "two-threshold": "FAST_CNP", "fantel": "CNP", "none": "NONE"}
"""The kind it sends of its own congestion, by the mode of the domain (member of NotificationKind).
CNP: to its own senders alone."""


def provision(network: dict[str, Any], node: str) -> Provision:
    """Everything the controller writes to a node, all features being on."""
    for each in network["nodes"].values():
        each["features"] = "all"
    config = parse_config(yaml.safe_dump(network))
    return Provision(config, node, load_pipeline(config.nodes[node].role))


def defaults(intended: Provision) -> dict[str, dict[str, int]]:
    """Parameters of the default actions, by table."""
    schema = intended.pipeline.schema
    found = {}
    for update in intended.intent.take_updates(100_000):
        entry = decode_entity(update.entity, schema)
        if isinstance(entry, fy.P4TableEntry) and entry.is_default_action:
            assert isinstance(entry.action, fy.P4TableAction)
            found[str(entry.table_id)] = dict(entry.action.args)
    return found


@pytest.mark.parametrize("node", ["pe1", "p1"])
def test_fast_cnps_look_as_configured(network: dict[str, Any], node: str) -> None:
    """FCN-9: those of a PE are no others than those of a P: address, port, hop limit."""
    network["fast_cnp_port"] = 4000
    network["nodes"][node]["fast_cnp"] = {
        "traffic_class": 0x28, "hop_limit": 9, "udp_source_port": 50_000, "copy_label": True
    }  # fmt: skip
    intended = provision(network, node)
    assert defaults(intended)["fast_cnp_profile"] == {
        "src": int(intended.node.underlay_address),
        "udp_src_port": 50_000,
        "udp_dst_port": 4000,
        "traffic_class": 0x28,
        "hop_limit": 9,
        "copy_label": 1,
    }


def test_its_limit_is_that_of_the_node(network: dict[str, Any]) -> None:
    """FCN-15: as much again as for its own senders."""
    network["nodes"]["pe1"]["notifications"] = {"rate": 777, "burst": 33}
    intended = provision(network, "pe1")
    assert MeterCell(NOTICE_METER, 0) in intended.meter_cells
    limits = {}
    for update in intended.intent.take_updates(100_000):
        entry = decode_entity(update.entity, intended.pipeline.schema)
        if isinstance(entry, fy.P4MeterEntry) and entry.config is not None:
            limits[entry.meter_id] = (entry.config.cir, entry.config.cburst)
    assert limits[NOTICE_METER] == limits["notification_meter"] == (777, 33)


@pytest.mark.parametrize("mode", SENT)
def test_the_mode_of_the_domain_says_what_it_sends(network: dict[str, Any], mode: str) -> None:
    """FCN-18, FCN-16: FANTEL is about paths, and a port to a data centre is on all of them."""
    network["notification"] = mode
    if mode == "fantel":
        network["failure_detection"] = {}
        for pe in ("pe1", "pe2"):
            # Routes by a tunnel are refused in this mode.
            network["nodes"][pe]["vrfs"]["blue"]["routes"] = []
    elif mode == "two-threshold":
        network["two_threshold"] = {"treatment": "none"}
        del network["congestion"], network["nodes"]["p2"]["thresholds"]
    intended = provision(network, "pe1")
    kind = intended.pipeline.enum("NotificationKind")[SENT[mode]]
    assert defaults(intended)["domain_mode"]["congestion_kind"] == kind


def test_ports_to_data_centres_have_levels_where_the_file_says_so(network: dict[str, Any]) -> None:
    """FCN-10: as the queues of any other port."""
    pe1 = network["nodes"]["pe1"]
    (port,) = (each["number"] for each in pe1["ports"] if each["role"] == "dc")
    assert (port, 0) not in provision(network, "pe1").thresholds
    pe1["thresholds"] = [{"port": port, "queue": 0, "depths": [7, 9]}]
    intended = provision(network, "pe1")
    found = set()
    for update in intended.intent.take_updates(100_000):
        entry = decode_entity(update.entity, intended.pipeline.schema)
        if isinstance(entry, fy.P4TableEntry) and entry.table_id == "queue_level" and entry.match:
            assert isinstance(entry.action, fy.P4TableAction)
            if entry.match["egress_port"] == port:
                found.add((entry.match["queue_depth"], entry.action.args["level"]))
    assert found == {((7, 8), 1), ((9, (1 << 19) - 1), 2)}
