"""`python -m regions_loop --target softswitch|bmv2 --report FILE`.

As fcn.ptf_tests.replay.loop, with a controller for PE1 and P and another one for PE2: a connection
is set up across both, and its sender, behind PE1, sends a burst to a slow port of the P.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.hosts.processes import Process, wait_until
from fcn.packets.cm import CmAttribute
from fcn.ptf_tests.lib.cm import cm_message
from fcn.ptf_tests.lib.packets import Ecn, cnp, datagram_of, ethernet, roce
from fcn.ptf_tests.replay.loop import BURST, DEST_QP, MACS, QUEUE, RATE_PPS, SOURCE_QP
from fcn.ptf_tests.replay.wan import GATEWAY_MACS, P_TO_PE2, Wan
from fcn.ptf_tests.targets import TARGETS, TargetUnavailableError
from fcn.topologies.isolation import enter

SENDER, RECEIVER = "192.168.7.1", "192.168.7.2"
REGIONS = {"west": ("pe1", "p"), "east": ("pe2",)}
WITHIN = 300.0
"""Seconds, of a machine that does much else, too."""
UNAVAILABLE = 3


class DividedWan(Wan):
    """Each region has a controller of its name."""

    def _start_controller(self) -> None:
        file = self._work / "network.yaml"
        file.write_text(yaml.safe_dump(self.configuration()))
        self.clients = {name: FcnClient(f"unix:{self._work.absolute() / name}") for name in REGIONS}
        for name, client in self.clients.items():
            command = [sys.executable, "-m", "fcn.controller.cli.main", "run", "-c", str(file)]
            process = Process(name, [*command, "--as", name], self._work / f"{name}.log")
            self._stack.enter_context(process)
            self._stack.enter_context(client)
        for name, client in self.clients.items():
            wait_until(_is_up(client, len(REGIONS[name])), WITHIN, f"{name} up")

    def configuration(self) -> dict[str, Any]:
        found = super().configuration()
        del found["api"]
        found["controllers"] = {name: f"unix:{self._work.absolute() / name}" for name in REGIONS}
        found["regions"] = {name: [name] for name in REGIONS}
        for region, nodes in REGIONS.items():
            for node in nodes:
                found["nodes"][node]["region"] = region
        return found


def _is_up(client: FcnClient, count: int) -> Callable[[], bool]:
    def holds() -> bool:
        try:
            nodes = client.status().nodes
        except ControllerError:
            return False
        return len(nodes) == count and all(n.state == "up" and not n.pending for n in nodes)

    return holds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m regions_loop", description=__doc__)
    parser.add_argument("--target", choices=sorted(TARGETS), default="softswitch")
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--log-dir", type=Path, required=True)
    options = parser.parse_args()
    enter("regions_loop", sys.argv[1:])
    hosts = {"dc1": {SENDER: MACS["dc1"]}, "dc2": {RECEIVER: MACS["dc2"]}}
    with DividedWan(options.target, hosts, "srv6", options.log_dir) as wan:
        try:
            wan.switches["p"].limit_port(P_TO_PE2, RATE_PPS, QUEUE)
        except TargetUnavailableError as error:
            parser.exit(UNAVAILABLE, f"{options.target}: {error}\n")
        options.report.write_text(json.dumps(_run(wan)))


def _send(wan: Wan, side: str, datagram: bytes) -> None:
    wan.sides[side].send(ethernet(datagram, src=MACS[side], dst=GATEWAY_MACS[side]))


def _run(wan: DividedWan) -> dict[str, Any]:
    messages = (
        ("dc1", SENDER, RECEIVER, CmAttribute.REQ, 1, 0, SOURCE_QP),
        ("dc2", RECEIVER, SENDER, CmAttribute.REP, 2, 1, DEST_QP),
    )
    for side, src, dst, attribute, local, remote, qpn in messages:
        ids = {"local_comm_id": local, "remote_comm_id": remote, "qpn": qpn}
        _send(wan, side, cm_message(src, dst, attribute, **ids))
        assert wan.sides["dc2" if side == "dc1" else "dc1"].receive(WITHIN) is not None

    def senders() -> dict[str, list[tuple[str, int, int]]]:
        return {
            name: [(flow.key.src, flow.key.dest_qp, flow.source_qp) for flow in client.flows()]
            for name, client in wan.clients.items()
        }

    wait_until(lambda: all(senders().values()), WITHIN, "both flows")
    for name, client in wan.clients.items():
        wait_until(_is_up(client, len(REGIONS[name])), WITHIN, "the switches")
    for psn in range(BURST):
        _send(wan, "dc1", roce(SENDER, RECEIVER, DEST_QP, psn=psn, ecn=Ecn.ECT0))
    expected = cnp(RECEIVER, SENDER, SOURCE_QP, traffic_class=0xC2, sport=49152)
    frame = wan.sides["dc1"].receive(WITHIN)
    return {
        "senders": senders(),
        "is_cnp": frame is not None and datagram_of(frame) == expected,
    }


if __name__ == "__main__":
    main()
