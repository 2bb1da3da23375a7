"""`python -m fcn.ptf_tests.replay.loop --target bmv2|softswitch --report FILE`.

The whole control loop of the main draft, with the real controller and a real queue: a connection is
set up across the WAN, its sender sends a burst to a slow port of the P, and receives standard CNPs.
The report has the packets the hosts received and the counters of every node, for IPv4 and IPv6.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from fcn.contract.names import COUNTERS
from fcn.hosts.processes import wait_until
from fcn.hosts.scratch import scratch_folder
from fcn.packets.cm import CmAttribute
from fcn.ptf_tests.lib.cm import cm_message
from fcn.ptf_tests.lib.packets import Ecn, cnp, datagram_of, ecn_of, ethernet, roce
from fcn.ptf_tests.replay.wan import DEADLINE, GATEWAY_MACS, P_TO_PE2, Wan
from fcn.ptf_tests.targets import TARGETS, TargetUnavailableError
from fcn.topologies.isolation import enter

SENDERS = {"ipv4": ("192.168.7.1", "192.168.7.2"), "ipv6": ("fd00:7::1", "fd00:7::2")}
"""Sender behind PE1 and receiver behind PE2, by family."""
MACS = {"dc1": "02:de:00:00:00:01", "dc2": "02:de:00:00:00:02"}
SOURCE_QP = 0x2A5
DEST_QP = 0x118
RATE_PPS = 100
BURST = 30
"""Packets of the burst: 0.3 s at the bottleneck's rate."""
QUEUE = 64
ARRIVAL = 60.0
CHAIN = (
    ("p", "FAST_CNP_TRIGGERED"),
    ("p", "FAST_CNP_SENT"),
    ("p", "CE_MARKED"),
    ("pe1", "FAST_CNP_RECEIVED"),
    ("pe1", "CNP_SENT"),
)
"""Counters of the nodes on the path of a notification."""
UNAVAILABLE = 3
"""Exit code when the target lacks a required function."""


def main() -> None:
    """Enter the sandbox, run the loop in both families, write the report."""
    parser = argparse.ArgumentParser(
        prog="python -m fcn.ptf_tests.replay.loop", description=__doc__
    )
    parser.add_argument("--target", choices=sorted(TARGETS), default="softswitch")
    parser.add_argument("--report", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--log-dir", type=Path, help="keep configuration and logs here")
    options = parser.parse_args()
    enter("fcn.ptf_tests.replay.loop", sys.argv[1:])
    hosts = {
        side: {pair[i]: MACS[side] for pair in SENDERS.values()}
        for i, side in enumerate(("dc1", "dc2"))
    }
    with scratch_folder("fcn-loop-") as scratch:
        work = options.log_dir or scratch
        work.mkdir(parents=True, exist_ok=True)
        with Wan(options.target, hosts, "srv6", work) as wan:
            try:
                wan.switches["p"].limit_port(P_TO_PE2, RATE_PPS, QUEUE)
            except TargetUnavailableError as error:
                parser.exit(UNAVAILABLE, f"{options.target}: {error}\n")
            report = {family: _run_loop(wan, *pair) for family, pair in SENDERS.items()}
            wan.controller.set_features("p", enabled=False)
            report |= {f"{family} disabled": _burst(wan, *p) for family, p in SENDERS.items()}
    options.report.write_text(json.dumps(report, indent=2) + "\n")


def _run_loop(wan: Wan, sender: str, receiver: str) -> dict[str, Any]:
    """Set up the connection, wait until the flow is learned, send the burst."""
    messages = (
        ("dc1", sender, receiver, CmAttribute.REQ, 1, 0, SOURCE_QP),
        ("dc2", receiver, sender, CmAttribute.REP, 2, 1, DEST_QP),
        ("dc1", sender, receiver, CmAttribute.RTU, 1, 2, 0),
    )
    reports = (event for event in wan.controller.events() if event.kind == "cm-message")
    for side, src, dst, attribute, local, remote, qpn in messages:
        datagram = cm_message(
            src, dst, attribute, local_comm_id=local, remote_comm_id=remote, qpn=qpn
        )
        wan.sides[side].send(ethernet(datagram, src=MACS[side], dst=GATEWAY_MACS[side]))
        if wan.sides["dc2" if side == "dc1" else "dc1"].receive(ARRIVAL) is None:
            raise TimeoutError(f"{attribute.name} from {src} did not arrive at {dst}")
        # The messages enter at different PEs, whose digests can arrive in another order.
        next(reports)

    def known() -> bool:
        return any(
            (flow.key.src, flow.key.dst, flow.key.dest_qp) == (sender, receiver, DEST_QP)
            and flow.source_qp == SOURCE_QP
            for flow in wan.controller.flows()
        )

    wait_until(known, DEADLINE, "the flow")
    nodes = wan.controller.status
    wait_until(lambda: not any(node.pending for node in nodes().nodes), DEADLINE, "the switches")
    return _burst(wan, sender, receiver)


def _burst(wan: Wan, sender: str, receiver: str) -> dict[str, Any]:
    """Send the burst; collect the packets both hosts received and the growth of the counters."""
    before = _counts(wan)
    for psn in range(BURST):
        datagram = roce(sender, receiver, DEST_QP, psn=psn, ecn=Ecn.ECT0)
        wan.sides["dc1"].send(ethernet(datagram, src=MACS["dc1"], dst=GATEWAY_MACS["dc1"]))
    arrived: list[bytes] = []
    while len(arrived) < BURST and (frame := wan.sides["dc2"].receive(ARRIVAL)) is not None:
        arrived.append(datagram_of(frame))
    counted = {name: after - before[name] for name, after in _counts(wan).items()}
    back: list[bytes] = []
    while len(back) < counted["pe1 CNP_SENT"]:
        frame = wan.sides["dc1"].receive(ARRIVAL)
        if frame is None:
            break
        back.append(datagram_of(frame))
    profile = cnp(receiver, sender, SOURCE_QP, traffic_class=0xC2, sport=49152)
    return {
        "arrived": len(arrived),
        "arrived_ce": sum(ecn_of(datagram) == Ecn.CE for datagram in arrived),
        "cnps": len(back),
        "cnps_as_expected": sum(datagram == profile for datagram in back),
        "counted": counted,
    }


def _counts(wan: Wan) -> dict[str, int]:
    """Event and drop counters by node and name."""
    counts = {f"{node} {event}": 0 for node, event in CHAIN}
    for counter in wan.controller.counters():
        if counter.counter in COUNTERS:
            key = f"{counter.node} {counter.name}"
            counts[key] = counts.get(key, 0) + counter.packets
    return counts


if __name__ == "__main__":
    main()
