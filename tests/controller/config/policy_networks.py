"""Configurations with policies: two PEs, and P nodes between them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from fcn.controller.cli.commands import app

SQUARE = "pe1-r1 r1-r3 r3-pe2 pe1-r2 r2-r4 r4-pe2"
"""The draft's figures: R1 and R3 above, R2 and R4 below."""

TWO_WAYS = {"north": ["r1", "r3"], "south": ["r2", "r4"]}
IDS = {"paths": [{"tunnel": "north", "id": 17}, {"tunnel": "south", "id": 18}]}


def network(
    links: str,
    tunnels: dict[str, list[str]],
    policy: dict[str, Any] | None = None,
    *,
    without_sids: Iterable[str] = (),
) -> dict[str, Any]:
    """pe1 has SRv6 tunnels to pe2 by these nodes and the policy `to-pe2`, which a route names; by
    default it has one path for each tunnel."""
    pairs = [link.split("-") for link in links.split()]
    names = sorted({"pe1", "pe2"} | {name for pair in pairs for name in pair})
    ports = dict.fromkeys(names, 0)
    wired = []
    for pair in pairs:
        ends = []
        for name in pair:
            ports[name] += 1
            ends.append(f"{name}:{ports[name]}")
        wired.append(ends)
    nodes: dict[str, Any] = {
        name: {
            "role": "pe" if name.startswith("pe") else "p",
            "grpc": f"127.0.0.1:{50000 + number}",
            "underlay_address": f"fc00:ff::{number}",
            "end_sids": [] if name in without_sids else [f"fc00:{number}::e"],
            "ports": [{"number": port, "role": "core"} for port in range(1, ports[name] + 1)]
            or [{"number": 1, "role": "core"}],
        }
        for number, name in enumerate(names, 1)
    }
    for name, subnet, sid in (("pe1", "10.1.0.1/24", "d1"), ("pe2", "10.2.0.1/24", "d2")):
        nodes[name]["ports"].append(
            {"number": 99, "role": "dc", "vrf": "blue", "addresses": [subnet]}
        )
        nodes[name]["vrfs"] = {"blue": {"service_sid": f"fc00:99::{sid}"}}
    route = {"prefix": "10.2.0.0/24", "policy": "to-pe2"}
    nodes["pe1"]["vrfs"]["blue"]["routes"] = [route]
    nodes["pe1"]["tunnels"] = {
        name: {"type": "srv6", "to": "pe2", "via": via} for name, via in tunnels.items()
    }
    given = policy or {"paths": [{"tunnel": name} for name in tunnels]}
    nodes["pe1"]["policies"] = {"to-pe2": {"to": "pe2", **given}}
    return {"vrfs": {"blue": {"id": 1, "vni": 7}}, "nodes": nodes, "links": wired}


def notes(tmp_path: Path, data: dict[str, Any]) -> str:
    """What `fcn check` says of a valid file."""
    file = tmp_path / "network.yaml"
    file.write_text(yaml.safe_dump(data))
    done = CliRunner().invoke(app, ["check", "-c", str(file)])
    assert done.exit_code == 0, done.output
    return done.stdout
