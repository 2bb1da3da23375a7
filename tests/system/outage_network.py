"""Run by test_outage.py as `python -m outage_network`: the `wan` topology while its controller is
killed and comes back. The report says what the hosts reached meanwhile, and from whom."""

import argparse
import json
import re
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fcn.hosts.processes import wait_until
from fcn.topologies import catalog
from fcn.topologies.controller_config import FcnSettings
from fcn.topologies.isolation import enter
from fcn.topologies.network import Network

NEAR, FAR, MOVED = "h1", "h3", "h4"
MOVED_MAC = "02:de:00:00:00:99"
WITHIN_S = 20.0
"""How long a host may try to reach another, on a busy machine."""
WRITTEN = re.compile(r"(\w+) holds (\d+) entries, (\d+) of them were written now")


def main() -> None:
    """Build the network, take the controller away, bring it back, write the report."""
    parser = argparse.ArgumentParser(prog="python -m outage_network", description=__doc__)
    parser.add_argument("--target", choices=("softswitch", "bmv2"), required=True)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--log-dir", type=Path, required=True)
    options = parser.parse_args()
    enter("outage_network", sys.argv[1:])
    with Network(catalog.network("wan"), options.target, FcnSettings(), options.log_dir) as network:
        network.wait_for_ping(NEAR, FAR)
        network.wait_for_ping(NEAR, MOVED)
        report = {"away": _away(network), "back": _back(network)}
    options.report.write_text(json.dumps(report))


def _away(network: Network) -> dict[str, Any]:
    """Kill the controller and let both hosts forget their gateways."""
    assert network.controller is not None
    network.controller.stop(signal.SIGKILL)
    for name in (NEAR, FAR):
        network.host(name).run("ip neigh flush all")
    forgotten = {name: _gateways(network, name) for name in (NEAR, FAR)}
    reached = _reached(network, FAR)
    gateways = {name: _gateways(network, name) for name in (NEAR, FAR)}
    moved = network.host(MOVED)
    moved.run(f"ip link set {moved.defaultIntf().name} address {MOVED_MAC}")
    address = str(network.topology.addresses(MOVED).ipv4.ip)
    return {
        "forgotten": forgotten,
        "reached": reached,
        "gateways": gateways,
        "reaches moved": network.host(NEAR).answers(address),
        "gateway answers ping": network.host(NEAR).answers(
            str(network.topology.addresses(NEAR).ipv4_gateway.ip)
        ),
    }


def _back(network: Network) -> dict[str, Any]:
    """Start the controller again: what it wrote, by node, and what the hosts reach."""
    network._start_controller()
    controller = network.controller
    assert controller is not None
    log = controller.log.read_text()
    written = {node: int(count) for node, _, count in WRITTEN.findall(log)}
    return {
        "written": written,
        "reached": _reached(network, FAR),
        "reached moved": _reached(network, MOVED, ("ipv4",)),
    }


def _reached(
    network: Network, host: str, families: Sequence[str] = ("ipv4", "ipv6")
) -> dict[str, float]:
    """Seconds until a host answered NEAR, by address family."""
    addresses = network.topology.addresses(host)
    seconds = {}
    for family in families:
        address = {"ipv4": addresses.ipv4.ip, "ipv6": addresses.ipv6.ip}[family]
        started = time.monotonic()
        wait_until(
            partial(network.host(NEAR).answers, str(address)),
            WITHIN_S,
            f"{NEAR} does not reach {host} ({address})",
        )
        seconds[family] = time.monotonic() - started
    return seconds


def _gateways(network: Network, name: str) -> dict[str, str]:
    """The MAC addresses a host knows of its gateways, by address."""
    addresses = network.topology.addresses(name)
    wanted = {str(addresses.ipv4_gateway.ip), str(addresses.ipv6_gateway.ip)}
    neighbors = json.loads(network.host(name).run("ip -json neigh show"))
    return {
        entry["dst"]: entry["lladdr"]
        for entry in neighbors
        if entry["dst"] in wanted and "lladdr" in entry
    }


if __name__ == "__main__":
    main()
