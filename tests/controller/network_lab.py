"""A network of real switches in network namespaces: h1 ─ pe1 ═ p1 ═ pe2 ─ h2, run by `fcn run`.

All switches share one namespace with the controller; each host has its own. The API is a Unix
socket, so that the test reaches the controller from outside.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner, Result

from fcn.contract.targets import V1MODEL
from fcn.controller.cli.commands import app
from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.controller.proto import fcn_pb2 as pb

WAIT = 120.0
"""Timeout of every condition in seconds, sufficient for a busy machine; on its first start a switch
compiles its program."""

TARGETS = {
    "softswitch": (sys.executable, "-m", "fcn.softswitch"),
    "bmv2": ("simple_switch_grpc", "--max-port-count", "512"),
}
PORTS = {"pe1": (1, 2), "p1": (1, 2), "pe2": (1, 2)}
WIRES = (("pe1", 2, "p1", 1), ("p1", 2, "pe2", 2))
HOSTS = {"h1": ("pe1", 1), "h2": ("pe2", 1)}
IPV4 = {"h1": "10.1.0.10", "h2": "10.2.0.20"}
IPV6 = {"h1": "2001:db8:1::10", "h2": "2001:db8:2::20"}


def sh(*command: str, check: bool = True) -> str:
    """Output of a command. Raises CalledProcessError with its errors shown."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
        done.check_returncode()
    return done.stdout


def wait_for(condition: Callable[[], Any], what: str, seconds: float = WAIT) -> None:
    """Wait until a condition holds; AssertionError names it when it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"gave up waiting for {what}"
        time.sleep(0.1)


def network_config(api: Path) -> dict[str, Any]:
    """The configuration; MAC addresses and underlay routes are derived from it."""
    nodes: dict[str, Any] = {}
    for number, name in enumerate(PORTS, start=1):
        nodes[name] = {
            "role": "p" if name == "p1" else "pe",
            "grpc": f"127.0.0.1:{20000 + number}",
            "device_id": number,
            "features": "all",
            "underlay_address": f"fc00:ff::{number}",
            "locator": f"fc00:{number}::/64",
            "end_sids": [f"fc00:{number}::e"],
            "ports": [{"number": 2, "role": "core"}],
        }
    nodes["p1"]["ports"].append({"number": 1, "role": "core"})
    for site, far, number in (("pe1", "pe2", 1), ("pe2", "pe1", 2)):
        nodes[site]["ports"].append(
            {
                "number": 1,
                "role": "dc",
                "vrf": "blue",
                "addresses": [f"10.{number}.0.1/24", f"2001:db8:{number}::1/64"],
            }
        )
        other = 3 - number
        nodes[site]["vrfs"] = {
            "blue": {
                "service_sid": f"fc00:{1 if site == 'pe1' else 3}::d46",
                "routes": [
                    {"prefix": f"10.{other}.0.0/24", "tunnel": "srv6"},
                    {"prefix": f"2001:db8:{other}::/64", "tunnel": "vxlan"},
                ],
            }
        }
        nodes[site]["tunnels"] = {
            "srv6": {"type": "srv6", "to": far, "via": ["p1"]},
            "vxlan": {"type": "vxlan", "to": far},
        }
        nodes[site]["cnp"] = {"source": "peer"}
    return {
        "api": f"unix:{api}",
        "neighbors": {"retry": "200ms"},
        "vrfs": {"blue": {"id": 1, "vni": 1001}},
        "nodes": nodes,
        "links": [[f"{a}:{x}", f"{b}:{y}"] for a, x, b, y in WIRES],
    }


@dataclass
class Lab:
    """Namespaces, switches and controller; `folder` is for logs, configuration and socket."""

    folder: Path
    target: str = "softswitch"
    prefix: str = field(default_factory=lambda: f"fcnc{os.getpid() % 100000}")
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def api(self) -> str:
        """Where the controller listens."""
        return f"unix:{self.folder / 'api'}"

    @property
    def config_file(self) -> Path:
        """The configuration file of the controller."""
        return self.folder / "network.yaml"

    def namespace(self, name: str) -> str:
        """Namespace of a host, or `wan` of the switches."""
        return f"{self.prefix}{name}"

    def interface(self, node: str, port: int) -> str:
        """Interface of a switch port."""
        return f"{node}-{port}"

    def inside(self, where: str, *command: str) -> list[str]:
        """A command to run in a namespace."""
        return ["ip", "netns", "exec", self.namespace(where), *command]

    def set_up(self) -> None:
        """Create links and hosts; the hosts have only the address of their gateway."""
        self.config_file.write_text(
            yaml.safe_dump(network_config(self.folder / "api"), sort_keys=False)
        )
        for name in ("wan", *HOSTS):
            sh("ip", "netns", "add", self.namespace(name))
            sh("ip", "-n", self.namespace(name), "link", "set", "lo", "up")
        wan = self.namespace("wan")
        for a, x, b, y in WIRES:
            self._wire(wan, self.interface(a, x), wan, self.interface(b, y))
        for host, (node, port) in HOSTS.items():
            there = self.namespace(host)
            self._wire(wan, self.interface(node, port), there, "eth0")
            sh("ip", "-n", there, "link", "set", "eth0", "mtu", "1400")
            sh("ip", "-n", there, "addr", "add", f"{IPV4[host]}/24", "dev", "eth0")
            sh("ip", "-n", there, "addr", "add", f"{IPV6[host]}/64", "dev", "eth0", "nodad")
            site = IPV4[host].rpartition(".")[0]
            sh("ip", "-n", there, "route", "add", "default", "via", f"{site}.1")
            gateway = IPV6[host].rpartition("::")[0] + "::1"
            sh("ip", "-n", there, "-6", "route", "add", "default", "via", gateway)

    def _wire(self, near: str, near_name: str, far: str, far_name: str) -> None:
        sh(
            *("ip", "link", "add", near_name, "mtu", "2000", "netns", near, "type", "veth"),
            *("peer", "name", far_name, "mtu", "2000", "netns", far),
        )
        for namespace, name in ((near, near_name), (far, far_name)):
            # No checksum offload: hosts must compute the checksums of their packets.
            offloads = ("tx", "off", "gro", "off", "tso", "off", "gso", "off")
            sh("ip", "netns", "exec", namespace, "ethtool", "-K", name, *offloads, check=False)
            sh("ip", "-n", namespace, "link", "set", name, "up")

    def start_switch(self, name: str) -> None:
        """Start a switch, without a program."""
        number = list(PORTS).index(name) + 1
        command = [*TARGETS[self.target], "--no-p4", "--device-id", str(number)]
        for port in PORTS[name]:
            command += ["-i", f"{port}@{self.interface(name, port)}"]
        if self.target == "bmv2":
            command += ["--thrift-port", str(9090 + number), "--log-console", "-L", "warn"]
        command += ["--", "--grpc-server-addr", f"127.0.0.1:{20000 + number}"]
        command += ["--cpu-port", str(V1MODEL.ports.cpu), "--drop-port", str(V1MODEL.ports.drop)]
        self._start(name, command)

    def start_controller(self) -> None:
        """`fcn run`."""
        command = [
            sys.executable,
            "-m",
            "fcn.controller.cli.main",
            "run",
            "-c",
            str(self.config_file),
        ]
        self._start("controller", command)

    def _start(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                self.inside("wan", *command), stdout=log, stderr=log
            )

    def stop(self, name: str, number: int = signal.SIGTERM) -> int:
        """End a process; returns its exit code."""
        process = self.processes.pop(name)
        process.send_signal(number)
        return process.wait(WAIT)

    def up(self, *names: str) -> bool:
        """Whether the controller is connected to these switches (all without names)."""
        nodes = self._nodes()
        return bool(nodes) and all(nodes[name].state == "up" for name in names or PORTS)

    def settled(self) -> bool:
        """Whether every switch holds its intended entries."""
        nodes = self._nodes().values()
        return self.up() and not any(node.pending for node in nodes)

    def _nodes(self) -> dict[str, pb.NodeStatus]:
        """Status of the nodes by name; empty while the controller does not answer."""
        try:
            with FcnClient(self.api) as client:
                return {node.name: node for node in client.status().nodes}
        except ControllerError:
            return {}

    def ping(self, host: str, target: str) -> bool:
        """Whether three pings in a row are answered, without loss."""
        command = self.inside(host, "ping", "-c", "3", "-i", "0.2", "-W", "2", target)
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def send_roce(self, source: str, target: str, *payloads: bytes) -> None:
        """RoCEv2 datagrams (from BTH to ICRC) from one host to another, over the kernel's UDP."""
        script = (
            "import socket,sys\n"
            "family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET\n"
            "with socket.socket(family, socket.SOCK_DGRAM) as sender:\n"
            "    for payload in sys.argv[2:]:\n"
            "        sender.sendto(bytes.fromhex(payload), (sys.argv[1], 4791))\n"
        )
        hexes = [payload.hex() for payload in payloads]
        sh(*self.inside(source, sys.executable, "-c", script, target, *hexes))

    def fcn(self, *arguments: str) -> Result:
        """The `fcn` command against the running controller, in this process."""
        return CliRunner(env={"FCN_API": self.api, "COLUMNS": "200"}).invoke(app, arguments)

    def tear_down(self) -> None:
        """Stop all processes and remove the namespaces, with everything in them."""
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(WAIT)
        for name in ("wan", *HOSTS):
            sh("ip", "netns", "del", self.namespace(name), check=False)
