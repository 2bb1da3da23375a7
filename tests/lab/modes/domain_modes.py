"""The modes that a domain can have, and a small complete network in any of them (ALL-3).

    h1 (untagged) ─┐      ┌ p1 ══ p2 ┐      ┌─ h3 (untagged)
                   pe1 ═══╡          ╞═══ pe2
    h2 (VLAN 20) ──┘      └ p3═p4═p5 ┘      └─ h4 (VLAN 20)

The upper way is the shorter one. Both PEs are configured alike.
"""

from collections.abc import Mapping
from typing import Any

MODES: dict[str, tuple[str, ...]] = {
    "notification": ("none", "fcn", "end-con", "two-threshold", "fantel"),
    "treatment": ("none", "slow", "reroute"),
    "flow_control": ("off", "service", "flow", "priority"),
    "relief": ("pfc", "cnp"),
    "ecn": ("normal", "compatibility"),
    "tunnel": ("srv6", "srv6-encaps", "srv6-via", "vxlan", "gre", "mpls-udp"),
    "way": ("tunnel", "one-path", "paths", "backup"),
    "failure_detection": ("off", "on"),
    "load_balancing": ("off", "on"),
    "fantel_transport": ("udp", "icmpv6"),
    "cnp_source": ("pe", "peer"),
    "heed_pause": ("off", "on"),
}
"""What can be chosen, and the choices. tunnel: srv6 has one SID and no SRH, srv6-encaps an SRH
with it, srv6-via three SIDs. way: how a route names it; of several paths the second is an SRv6
tunnel by the other nodes. heed_pause: of PAUSED_PORT."""

Choice = Mapping[str, str]
"""Of some of MODES."""

ROUTERS = {"pe1": 1, "p1": 11, "p2": 12, "p3": 13, "p4": 14, "p5": 15, "pe2": 2}
"""By name, the last part of the underlay address."""
LINKS = [
    ["pe1:2", "p1:1"], ["p1:2", "p2:1"], ["p2:2", "pe2:2"],
    ["pe1:3", "p3:1"], ["p3:2", "p4:1"], ["p4:2", "p5:1"], ["p5:2", "pe2:3"],
]  # fmt: skip
VLAN = 20
DC_PORTS = {4: 0, 5: VLAN}
"""By number, the VLAN of their host."""
PAUSED_PORT = 4
"""Of a data centre: the one that pauses, and whose queue has thresholds."""
LINK_RATE = 10 * 10**9
RATE = "10 Gb/s"
HOST_MACS = {4: "02:00:00:00:00:04", 5: "02:00:00:00:00:05"}
TUNNELS: dict[str, dict[str, Any]] = {
    "srv6": {"type": "srv6"},
    "srv6-encaps": {"type": "srv6", "mode": "encaps"},
    "srv6-via": {"type": "srv6", "via": ["p1", "p2"]},
    "vxlan": {"type": "vxlan"},
    "gre": {"type": "gre"},
    "mpls-udp": {"type": "mpls-udp"},
}
HOLDING = {"packets": 500, "pass_on_at": 24, "pass_off_at": 8}
"""A node that holds 120 packets asks its own upstream neighbours."""
PAUSE_SHARE = 7
"""Percent: 35 packets."""
TWO_DEPTHS = [8, 24, 64]
CLASSIC_DEPTHS = [8, 16, 24, 32, 40, 48, 56]


def completed(choice: Choice) -> dict[str, str]:
    """The choice with what it needs of other modes, unless it says otherwise, and the defaults."""
    found = dict(choice)
    if "treatment" in found:
        found.setdefault("notification", "two-threshold")
    found.setdefault("notification", "fcn")
    if found["notification"] == "two-threshold":
        found.setdefault("treatment", "none")
    if found["notification"] == "fantel":
        found.setdefault("way", "one-path")
    if found["notification"] == "end-con":
        found.setdefault("cnp_source", "peer")
    if found.get("load_balancing") == "on" or found["notification"] == "fantel":
        found.setdefault("failure_detection", "on")
    if found.get("load_balancing") == "on":
        found.setdefault("way", "paths")
    if found.get("heed_pause") == "on":
        found.setdefault("flow_control", "service")
    if found.get("ecn") == "compatibility" and "notification" not in choice:
        found["notification"] = "none" if "treatment" not in found else found["notification"]
    for mode, values in MODES.items():
        if mode != "treatment":
            found.setdefault(mode, values[0])
    return found


def host_address(side: int, port: int, version: int = 4) -> str:
    """Of the host at this port of a PE."""
    return f"10.{side}.{port}.10" if version == 4 else f"2001:db8:{side}:{port}::10"


def network(choice: Choice) -> dict[str, Any]:
    """The configuration of the network, as plain data."""
    modes = completed(choice)
    data: dict[str, Any] = {
        "notification": modes["notification"],
        "flow_control": modes["flow_control"],
        "holding": HOLDING | {"relief": modes["relief"]},
        "fantel_transport": modes["fantel_transport"],
        "vrfs": {"blue": {"id": 1, "vni": 1001, "gre_key": 1001, "mpls_label": 1001}},
        "nodes": {name: _node(name, modes) for name in ROUTERS},
        "links": LINKS,
    }
    if "treatment" in modes:
        treatment = {"treatment": modes["treatment"], "depths": TWO_DEPTHS}
        data["two_threshold"] = treatment | {"rate": {"rate": 4000, "burst": 16}}
    if modes["heed_pause"] == "on":
        data["holding"]["pause_share"] = PAUSE_SHARE
    if modes["failure_detection"] == "on":
        data["failure_detection"] = {"interval": "5ms", "multiplier": 3, "relief": "5ms"}
    if modes["load_balancing"] == "on":
        data["load_balancing"] = {"flowlet": "20ms"}
    return data


def _node(name: str, modes: Choice) -> dict[str, Any]:
    number = ROUTERS[name]
    is_pe = name.startswith("pe")
    ports: list[dict[str, Any]] = [
        {"number": int(end.split(":")[1]), "role": "core", "rate": RATE}
        for link in LINKS
        for end in link
        if end.split(":")[0] == name
    ]
    node: dict[str, Any] = {
        "role": "pe" if is_pe else "p",
        "grpc": f"127.0.0.1:{50000 + number}",
        "features": "all",
        "underlay_address": f"2001:db8:0:ff::{number:x}",
        "locator": f"2001:db8:0:{number:x}::/64",
        "end_sids": [f"2001:db8:0:{number:x}::e"],
        "ports": ports,
    }
    if is_pe:
        _make_pe(node, number, modes)
    return node


def _make_pe(node: dict[str, Any], side: int, modes: Choice) -> None:
    far = 3 - side
    heeds = modes["heed_pause"] == "on"
    for port, vlan in DC_PORTS.items():
        node["ports"].append(
            {
                "number": port,
                "vlan": vlan,
                "role": "dc",
                "vrf": "blue",
                "addresses": [f"10.{side}.{port}.1/24", f"2001:db8:{side}:{port}::1/64"],
                "hosts": {host_address(side, port, version): HOST_MACS[port] for version in (4, 6)},
            }
            | ({"heed_pause": True, "rate": RATE} if heeds and port == PAUSED_PORT else {})
        )
    depths = TWO_DEPTHS if modes["notification"] == "two-threshold" else CLASSIC_DEPTHS
    node["thresholds"] = [{"port": PAUSED_PORT, "depths": depths}]
    to = f"pe{far}"
    short, long = dict(TUNNELS[modes["tunnel"]]), {"type": "srv6", "via": ["p4"]}
    if side == 2:
        short |= {"via": short["via"][::-1]} if "via" in short else {}
    if modes.get("treatment") == "reroute":
        short["next"] = "long"
    tunnels = {"short": short, "long": long}
    way: dict[str, Any] = {"policy": "both"}
    paths: dict[str, Any] = {"to": to, "hold_down": "10ms"}
    match modes["way"]:
        case "tunnel":
            way = {"tunnel": "short"}
        case "one-path":
            paths |= {"paths": [{"tunnel": "short"}], "backup": []}
        case "paths":
            paths |= {"paths": [{"tunnel": "short"}, {"tunnel": "long"}], "backup": []}
        case "backup":
            paths |= {"paths": [{"tunnel": "short"}], "backup": [{"tunnel": "long"}]}
    node["cnp"] = {"source": modes["cnp_source"]}
    node["tunnels"] = {
        name: tunnel | {"to": to, "ecn": modes["ecn"]} for name, tunnel in tunnels.items()
    }
    if "policy" in way:
        node["policies"] = {"both": paths}
    prefixes = [f"10.{far}.0.0/16", f"2001:db8:{far}::/48"]
    node["vrfs"] = {
        "blue": {
            "service_sid": f"2001:db8:0:{side:x}::d46",
            "end_con_sid": f"2001:db8:0:{side:x}::c0",
            "routes": [{"prefix": prefix} | way for prefix in prefixes],
        }
    }
