"""Two provider edges on softswitches with two tenants, and a controller that learns their flows."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import yaml

from fcn.bench.handshakes import Site
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.hosts.processes import Process
from fcn.ptf_tests.targets.softswitch import Softswitch
from fcn.topologies.api import all_nodes_up

NODES = ("pe1", "pe2")
TENANTS = {"red": 1, "blue": 2}
"""VRF and its ID, which is its port at both edges."""
CORE_PORT = 3
HOSTS = 64
"""Hosts of a tenant at each edge."""
START_TIMEOUT = 60.0
"""Seconds until the controller has set up both switches."""
LITTLE = 0.1
"""Share of a core a controller uses that has little to do."""

TICK = 0.1


def outer(node: str, port: int) -> str:
    """The interface at the other end of a switch port."""
    return f"{node}-{port}x"


def _inner(node: str, port: int) -> str:
    return f"{node}-{port}"


def pairs() -> list[tuple[str, str]]:
    """The interfaces of all ports, each with that at its other end."""
    ports = [*TENANTS.values(), CORE_PORT]
    return [(_inner(node, port), outer(node, port)) for node in NODES for port in ports]


def _network(folder: Path) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for number, name in enumerate(NODES, start=1):
        far = 3 - number
        ports: list[dict[str, Any]] = [
            {"number": port, "role": "dc", "vrf": vrf, "addresses": [f"10.{number}.0.1/16"]}
            for vrf, port in TENANTS.items()
        ]
        nodes[name] = {
            "role": "pe",
            "grpc": f"127.0.0.1:{20000 + number}",
            "device_id": number,
            "features": "all",
            "underlay_address": f"fc00:ff::{number}",
            "locator": f"fc00:{number}::/64",
            "end_sids": [f"fc00:{number}::e"],
            "ports": [*ports, {"number": CORE_PORT, "role": "core"}],
            "vrfs": {
                vrf: {
                    "service_sid": f"fc00:{number}::d4{vrf_id}",
                    "routes": [{"prefix": f"10.{far}.0.0/16", "tunnel": "srv6"}],
                }
                for vrf, vrf_id in TENANTS.items()
            },
            "tunnels": {"srv6": {"type": "srv6", "to": NODES[far - 1]}},
        }
    return {
        "api": f"unix:{folder / 'api'}",
        "vrfs": {name: {"id": vrf_id} for name, vrf_id in TENANTS.items()},
        "nodes": nodes,
        "links": [[f"{name}:{CORE_PORT}" for name in NODES]],
    }


class _RecordingSwitch(Softswitch):
    record: Path

    def program(self) -> list[str]:
        return [sys.executable, "-m", "fcn.bench.recorder", str(self.record)]


@dataclass
class Installed:
    """When flows took effect, in nanoseconds of the monotonic clock."""

    labels: dict[tuple[int, int, int, int], tuple[int, int]] = field(default_factory=dict)
    """VRF, source, destination, queue pair: when the flow got its label, and the label."""
    senders: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Label: when its sender was known, and the queue pair."""

    @classmethod
    def read(cls, record: Path) -> "Installed":
        """What fcn.bench.recorder wrote; of entries written twice the first counts."""
        found = cls()
        complete, _, _ = record.read_text().rpartition("\n")
        for line in complete.splitlines():
            when, kind, *words = line.split()
            numbers = [int(word) for word in words]
            if kind == "label":
                vrf, src, dst, dest_qp, label = numbers
                found.labels.setdefault((vrf, src, dst, dest_qp), (int(when), label))
            else:
                label, source_qp = numbers
                found.senders.setdefault(label, (int(when), source_qp))
        return found


@dataclass
class Network:
    """The running network; `folder` has its files."""

    folder: Path
    config: Config
    controller: Process

    def site(self, node: str, tenant: str) -> Site:
        """The hosts of a tenant at an edge."""
        described = self.config.nodes[node]
        port = next(each for each in described.ports if each.number == TENANTS[tenant])
        first = IPv4Address(f"10.{NODES.index(node) + 1}.1.1")
        return Site(first, HOSTS, format_mac(port_mac(node, described, port)))

    def record(self, node: str) -> Path:
        return self.folder / f"{node}.record"

    def controller_seconds(self) -> float:
        words = Path(f"/proc/{self.controller.pid}/stat").read_text().rpartition(")")[2].split()
        ticks_per_second = 100
        return (int(words[11]) + int(words[12])) / ticks_per_second

    def wait_until_quiet(self, seconds: float, at_most: float) -> None:
        """Wait until for so long no flow was installed, and the controller had little to do: what
        tenants cause that get no more flows comes before the rest."""
        last, used, since = -1, 0.0, time.monotonic()
        end = since + at_most
        while time.monotonic() < min(since + seconds, end):
            size = sum(self.record(node).stat().st_size for node in NODES)
            if size != last or self.controller_seconds() > used + LITTLE * seconds:
                last, used, since = size, self.controller_seconds(), time.monotonic()
            time.sleep(TICK)


@contextmanager
def running_network(folder: Path, tree: Path) -> Iterator[Network]:
    """The network with empty tables, controlled by the controller of the checkout `tree`.

    Raises ProcessError, TargetUnavailableError.
    """
    text = yaml.safe_dump(_network(folder), sort_keys=False)
    file = folder / "network.yaml"
    file.write_text(text)
    config = parse_config(text)
    with ExitStack() as stack:
        for name in NODES:
            node = config.nodes[name]
            interfaces = {port.number: _inner(name, port.number) for port in node.ports}
            log = folder / f"{name}.log"
            switch = _RecordingSwitch(interfaces, node.grpc, node.device_id, log)
            switch.record = folder / f"{name}.record"
            switch.record.touch()
            stack.enter_context(switch)
        command = [sys.executable, "-m", "fcn.controller.cli.main", "run", "-c", str(file)]
        of_tree = ["env", f"--chdir={tree}", f"PYTHONPATH={tree}"]
        controller = Process("fcn run", command, folder / "controller.log", of_tree)
        stack.enter_context(controller)
        controller.wait_ready(partial(all_nodes_up, str(config.api)), START_TIMEOUT)
        yield Network(folder, config, controller)
