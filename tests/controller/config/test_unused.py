"""What is mistyped is refused where it can do no good, and noted where it does nothing (yet)."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from test_config import example, refused

from fcn.controller.config import parse_config
from fcn.controller.config.check_modes import mode_warnings
from fcn.controller.config.check_unused import unused_notes

Data = dict[str, Any]
Change = Callable[[Data], object]


def put(*path: str | int, to: object) -> Change:
    """A change of one value."""

    def change(data: Data) -> None:
        at: Any = data
        for key in path[:-1]:
            at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
        at[path[-1]] = to

    return change


def all_of(*changes: Change) -> Change:
    """Several."""
    return lambda data: [change(data) for change in changes]


PE1, P1 = ("nodes", "pe1"), ("nodes", "p1")
DC = (*PE1, "ports", 0)
HOST_MAC = "02:00:00:00:00:09"
NO_AGENTS = {
    "listen": "127.0.0.1:9662",
    "certificate": "/nonexistent",
    "key": "/nonexistent",
    "ca": "/nonexistent",
    "hosts": {"gpu-1": {"vrf": "blue", "addresses": ["10.1.0.10"]}},
}


def level(interval: str, **more: object) -> Data:
    """A policy."""
    return {"interval": interval, **more}


def self_link(data: Data) -> None:
    ports = [{"number": number, "role": "core"} for number in (3, 4)]
    data["nodes"]["pe1"]["ports"] += ports
    data["links"].append(["pe1:3", "pe1:4"])


def route(**target: object) -> Change:
    """Another route of pe1."""
    return lambda data: data["nodes"]["pe1"]["vrfs"]["blue"]["routes"].append(target)


@pytest.mark.parametrize(
    ("change", "where", "reason"),
    [
        (self_link, "links[3]", "both ends are of pe1"),
        (put(*DC, "hosts", to={"10.1.0.1": HOST_MAC}), "10.1.0.1", "this node's own address"),
        (put(*DC, "hosts", to={"10.1.0.255": HOST_MAC}), "10.1.0.255", "broadcast address"),
        (put(*DC, "hosts", to={"10.7.0.1": HOST_MAC}), "10.7.0.1", "in no subnet of this port"),
        (route(prefix="10.9.0.0/16", via="10.1.0.1"), "routes[2].via", "this node's own address"),
        (put(*DC, "addresses", to=["127.0.0.1/8"]), "addresses[0]", "not a unicast address"),
        (put(*DC, "addresses", to=["224.0.0.1/8"]), "addresses[0]", "not a unicast address"),
        (
            all_of(put(*PE1, "mac", to=HOST_MAC), put(*P1, "ports", 0, "mac", to=HOST_MAC)),
            "pe1.mac",
            "02:00:00:00:00:09 already belongs to nodes.p1.ports.0.mac",
        ),
        (put(*P1, "locator", to="2001:db8:0:12::/64"), "p2.locator", "already nodes.p1.locator"),
        (
            put(*PE1, "tunnels", "pe2-srv6", "via", to=["p2", "p2"]),
            "pe2-srv6.via[1]",
            "p2 is visited already",
        ),
        (
            put(*PE1, "tunnels", "x", to={"type": "vxlan", "egress": "2001:db8:0:ff::1"}),
            "tunnels.x.egress",
            "an address of this node itself",
        ),
        (
            put(*PE1, "tunnels", "x", to={"type": "srv6", "sids": ["2001:db8:0:1::d46"]}),
            "tunnels.x.sids",
            "an address of this node itself",
        ),
        (put("congestion", "levels", to={1: level("1ms")}), "congestion.levels", "level 2, 3, 4"),
        (
            put("nodes", "p2", "thresholds", 0, "depths", to=["8 cells"]),
            "thresholds[0].depths[0]",
            "not a queue depth",
        ),
        (put("flows", "timeout", to="0us"), "flows.timeout", "write 100ms to"),
        (put(*P1, "cnp", to={"ttl": 9}), "p1.cnp", "of a P node write fast_cnp"),
        (
            put(*PE1, "cnp", "ipv4_source", to="10.1.0.1"),
            "pe1.cnp.ipv4_source",
            "with source: peer it is the flow's destination",
        ),
        (put("host_agents", to=NO_AGENTS), "host_agents.listen", "metrics listens on 127.0.0.1"),
        (put("host_agents", to=NO_AGENTS), "host_agents.ca", "cannot read /nonexistent"),
        (put("host_agents", to=NO_AGENTS), "host_agents.certificate", "cannot read /nonexistent"),
        (put("links", 0, to=["pe1:\u0662", "p1:1"]), "links[0][0]", "not of the form"),
        (put(*PE1, "program", to=""), "pe1.program", "at least 1"),
    ],
)
def test_what_can_do_no_good_is_refused(change: Change, where: str, reason: str) -> None:
    data = example()
    change(data)
    found = refused(yaml.safe_dump(data))
    assert any(at.endswith(where) and reason in why for _, at, why in found), found


def test_a_number_that_is_octal_elsewhere_is_refused() -> None:
    text = yaml.safe_dump(example()).replace("fast_cnp_port: 1021", "fast_cnp_port: 01021")
    ((_, where, why),) = refused(text)
    assert where == "fast_cnp_port"
    assert "valid integer, got '01021'" in why


def two_threshold(**section: object) -> Change:
    """The example in that mode."""

    def change(data: Data) -> None:
        del data["congestion"], data["nodes"]["p2"]["thresholds"]
        data |= {"notification": "two-threshold", "two_threshold": section}

    return change


def heeding(rate: str) -> Change:
    """A data centre whose PAUSE frames are heeded, and that gets some."""
    return all_of(
        put("flow_control", to="service"),
        put(*DC, "heed_pause", to=True),
        put(*DC, "rate", to=rate),
    )


ONE_POLICY = {"pair": {"to": "pe2", "paths": [{"tunnel": "pe2-srv6"}], "backup": []}}


@pytest.mark.parametrize(
    ("change", "where", "reason"),
    [
        (put("holding", "time", to="2ms"), "holding", "flow_control is off"),
        (put("fantel_transport", to="icmpv6"), "fantel_transport", "without failure_detection"),
        (
            put("failure_detection", to={"relief": "50ms"}),
            "failure_detection.relief",
            "of notification: fantel, and this domain has fcn",
        ),
        (
            all_of(
                put("switch_tls", to={"ca": "/nonexistent"}),
                *(put("nodes", n, "insecure", to=True) for n in ("pe1", "p1", "p2", "pe2")),
            ),
            "switch_tls",
            "all nodes are insecure",
        ),
        (
            two_threshold(treatment="none", rate={"rate": 5, "burst": 1}),
            "two_threshold.rate",
            "treatment: slow, which no flow gets",
        ),
        (two_threshold(treatment="none", hold="30ms"), "two_threshold.hold", "no flow is treated"),
        (
            put("congestion", "levels", 2, to=level("2ms")),
            "congestion.levels.2.interval",
            "2ms is longer than that of level 1 (1ms)",
        ),
        (
            put("trusted_prefixes", to=["2001:db8:0:ff::/124"]),
            "trusted_prefixes",
            "add 2001:db8:0:ff::11 (p1), 2001:db8:0:ff::12 (p2)",
        ),
        (
            heeding("400 Gb/s"),
            "nodes.pe1.ports[0].rate",
            "for 83us, and holding.relief_repeat is 150us",
        ),
        (put("vrfs", "red", to={"id": 2}), "vrfs.red", "no node has it"),
        (
            put(*PE1, "tunnels", "spare", to={"type": "srv6", "to": "pe2"}),
            "nodes.pe1.tunnels.spare",
            "no route or policy names it",
        ),
        (put(*PE1, "policies", to=ONE_POLICY), "nodes.pe1.policies.pair", "no route names it"),
    ],
)
def test_what_does_nothing_is_noted(change: Change, where: str, reason: str) -> None:
    data = example()
    change(data)
    ((place, why),) = unused_notes(parse_config(yaml.safe_dump(data)))
    assert place == where
    assert reason in why


@pytest.mark.parametrize(
    "change",
    [
        list,
        two_threshold(treatment="slow", rate={"rate": 5, "burst": 1}, hold="30ms"),
        heeding("100 Gb/s"),
        all_of(put("flow_control", to="service"), put("holding", "time", to="2ms")),
        put("trusted_prefixes", to=["2001:db8:0:ff::/64"]),
        all_of(put("notification", to="none"), put("trusted_prefixes", to=[])),
    ],
)
def test_what_has_an_effect_is_not_noted(change: Change) -> None:
    data = example()
    change(data)
    assert list(unused_notes(parse_config(yaml.safe_dump(data)))) == []


def test_an_egress_pe_tells_nobody_of_a_port_with_fantel() -> None:
    data = example() | {"failure_detection": {}, "notification": "fantel"}
    pe1 = data["nodes"]["pe1"]
    pe1["thresholds"] = [{"port": 1, "depths": [8]}]
    for name in ("pe1", "pe2"):
        node, tunnels = data["nodes"][name], data["nodes"][name]["tunnels"]
        for index, name_of_tunnel in enumerate(tunnels):
            to = tunnels[name_of_tunnel]["to"]
            policy = {"to": to, "paths": [{"tunnel": name_of_tunnel}], "backup": []}
            node.setdefault("policies", {})[f"by-{index}"] = policy
            given = node["vrfs"]["blue"]["routes"][index]
            node["vrfs"]["blue"]["routes"][index] = {
                "prefix": given["prefix"],
                "policy": f"by-{index}",
            }
    ((where, why),) = mode_warnings(parse_config(yaml.safe_dump(data)))
    assert where == "nodes.pe1.thresholds[0]"
    assert "with notification: fantel this node tells no other PE" in why
