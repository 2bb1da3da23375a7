"""PE1 - P - PE2 as three switch processes, the real controller, and the two DC sides as sockets."""

import contextlib
import socket
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

import yaml

from fcn.controller.northbound.client import FcnClient
from fcn.hosts.processes import Process
from fcn.ptf_tests.lib.ports import make_interfaces
from fcn.ptf_tests.targets import TARGETS, Target
from fcn.topologies.api import all_nodes_up, fcn_command

RECEIVE_SIZE = 16384
VRF = "customer"
GATEWAY_MACS = {"dc1": "02:00:5e:00:00:01", "dc2": "02:00:5e:00:00:02"}
"""Where the hosts of each side send what leaves their subnet: the address of their PE's port."""
P_TO_PE2 = 2
"""The P's port towards PE2, the only one whose queue has congestion levels."""
NEVER = 100_000
"""A queue depth in packets that is never reached."""
DEADLINE = 60.0
"""Seconds until all nodes are up; a softswitch compiles its pipelines on the first start."""
_ETH_P_ALL = 0x0003
_PE_DC_PORT = 1
_PE_CORE_PORT = 2
_GRPC_PORTS = {"pe1": 9561, "p": 9562, "pe2": 9563}
_LINKS = (
    (("dc1", None), ("pe1", _PE_DC_PORT)),
    (("pe1", _PE_CORE_PORT), ("p", 1)),
    (("p", 2), ("pe2", _PE_CORE_PORT)),
    (("pe2", _PE_DC_PORT), ("dc2", None)),
)


class Side:
    """One DC side: sends and receives the frames of a host."""

    def __init__(self, interface: str) -> None:
        # Protocol 0: nothing is received before the socket is bound to its interface.
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.bind((interface, _ETH_P_ALL))

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        self._socket.send(frame)

    def receive(self, timeout: float) -> bytes | None:
        """The next frame from the PE; None when none comes within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                frame, address = self._socket.recvfrom(RECEIVE_SIZE)
            except TimeoutError:
                return None
            if address[2] != socket.PACKET_OUTGOING:
                return frame
        return None

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class Wan:
    """The running network; a context manager, to be used in a sandbox.

    target: name of the switch. hosts: MAC address of each host by side and address. tunnel: type
    of the tunnels (FCN-5). work: directory for configuration and logs.
    """

    def __init__(
        self, target: str, hosts: Mapping[str, Mapping[str, str]], tunnel: str, work: Path
    ) -> None:
        self._target = TARGETS[target]
        self._hosts = hosts
        self._tunnel = tunnel
        self._work = work
        self._stack = contextlib.ExitStack()
        self.sides: dict[str, Side] = {}
        self.switches: dict[str, Target] = {}
        self._api = f"unix:{work.absolute() / 'api'}"
        self.controller = FcnClient(self._api)

    def __enter__(self) -> Self:
        try:
            self._make_links()
            for device_id, (node, port) in enumerate(_GRPC_PORTS.items(), start=1):
                self.switches[node] = self._target(
                    {p: _interface(node, p) for p in _ports_of(node)},
                    f"127.0.0.1:{port}",
                    device_id,
                    self._work / f"{node}.log",
                )
                self._stack.enter_context(self.switches[node])
            for side in ("dc1", "dc2"):
                self.sides[side] = Side(side)
                self._stack.callback(self.sides[side].close)
            self._start_controller()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def _make_links(self) -> None:
        make_interfaces([(_interface(*one), _interface(*other)) for one, other in _LINKS])

    def _start_controller(self) -> None:
        file = self._work / "network.yaml"
        file.write_text(yaml.safe_dump(self.configuration(), sort_keys=False))
        log = self._work / "controller.log"
        process = Process("fcn run", [fcn_command(), "run", "-c", file], log)
        self._stack.enter_context(process)
        self._stack.enter_context(self.controller)
        process.wait_ready(partial(all_nodes_up, self._api), DEADLINE)

    def configuration(self) -> dict[str, Any]:
        """The controller's configuration: one customer, its hosts static, all features on."""
        return {
            "api": self._api,
            "vrfs": {VRF: {"id": 1, "vni": 1001, "gre_key": 1001, "mpls_label": 1001}},
            "nodes": {
                "pe1": self._pe("pe1", "dc1", "pe2", "dc2"),
                "p": {
                    "role": "p",
                    "grpc": f"127.0.0.1:{_GRPC_PORTS['p']}",
                    "device_id": 2,
                    "features": "all",
                    "underlay_address": "2001:db8:0:ff::3",
                    "ports": [{"number": number, "role": "core"} for number in (1, 2)],
                    "thresholds": [{"port": P_TO_PE2, "depths": [2, 4, 6, 8, 10, 12, 14]}],
                },
                "pe2": self._pe("pe2", "dc2", "pe1", "dc1"),
            },
            "congestion": {"thresholds": [NEVER]},
            "links": [["pe1:2", "p:1"], ["p:2", "pe2:2"]],
        }

    def _pe(self, node: str, side: str, other: str, other_side: str) -> dict[str, Any]:
        number = int(node[-1])
        gateways = {4: f"192.168.7.25{number}/24", 6: f"fd00:7::f{number}/64"}
        return {
            "role": "pe",
            "grpc": f"127.0.0.1:{_GRPC_PORTS[node]}",
            "device_id": list(_GRPC_PORTS).index(node) + 1,
            "features": "all",
            "underlay_address": f"2001:db8:0:ff::{number}",
            "locator": f"2001:db8:0:{number}::/64",
            "cnp": {"source": "peer"},
            "ports": [
                {
                    "number": _PE_DC_PORT,
                    "role": "dc",
                    "mac": GATEWAY_MACS[side],
                    "vrf": VRF,
                    "addresses": list(gateways.values()),
                    "hosts": dict(self._hosts[side]),
                },
                {"number": _PE_CORE_PORT, "role": "core"},
            ],
            "vrfs": {
                VRF: {
                    "service_sid": f"2001:db8:0:{number}::d46",
                    "routes": [
                        {"prefix": f"{address}/{128 if ':' in address else 32}", "tunnel": other}
                        for address in self._hosts[other_side]
                    ],
                }
            },
            "tunnels": {other: {"type": self._tunnel, "to": other}},
        }


def _ports_of(node: str) -> list[int]:
    return [port for ends in _LINKS for name, port in ends if name == node and port is not None]


def _interface(node: str, port: int | None) -> str:
    return node if port is None else f"{node}-{port}"
