"""`python -m fcn.ptf_tests.replay --target bmv2|softswitch CAPTURE --report FILE`.

Sends every routable packet of a capture from its sender's side, waits for it on the other side, and
reports as JSON the packets lost or changed and the flows the controller listed. A lost packet ends
the replay.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from fcn.hosts.processes import holds_within
from fcn.hosts.scratch import scratch_folder
from fcn.packets.icrc import icrc_valid
from fcn.ptf_tests.lib.packets import datagram_of, ttl_of, with_ttl
from fcn.ptf_tests.replay.capture import CapturedPacket, FlowId, live_flows, routable_packets
from fcn.ptf_tests.replay.wan import GATEWAY_MACS, Wan
from fcn.ptf_tests.targets import TARGETS
from fcn.topologies.isolation import enter

TUNNELS = ("srv6", "vxlan", "gre", "mpls-udp")
ARRIVAL = 60.0
"""Seconds to wait for a packet."""
KNOWLEDGE = 10.0
"""Seconds within which the controller must list the expected flows."""
PE_HOPS = 2
"""Routing hops of the customer's packet: both PEs."""
_CHATTER = (b"\x08\x06",)
"""EtherTypes of packets that the PE itself originates: ARP."""

Expectation = dict[FlowId, frozenset[int | None]]
"""Expected flows, with the accepted source QPs of each."""


def main() -> None:
    """Enter the sandbox, replay, write the report; exit code 1 when it contains an error."""
    parser = argparse.ArgumentParser(prog="python -m fcn.ptf_tests.replay", description=__doc__)
    parser.add_argument("capture", type=Path)
    parser.add_argument("--target", choices=sorted(TARGETS), default="softswitch")
    parser.add_argument("--tunnel", choices=TUNNELS, default="srv6")
    parser.add_argument("--report", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--log-dir", type=Path, help="keep configuration and logs here")
    options = parser.parse_args()
    enter("fcn.ptf_tests.replay", sys.argv[1:])
    with scratch_folder("fcn-replay-") as scratch:
        work = options.log_dir or scratch
        work.mkdir(parents=True, exist_ok=True)
        report = replay(options.capture, options.target, options.tunnel, work)
    options.report.write_text(json.dumps(report, indent=2) + "\n")
    wrong = report["lost"] + report["changed"] + report["unexpected"] + report["misknown"]
    sys.exit(1 if wrong else 0)


def replay(capture: Path, target: str, tunnel: str, work: Path) -> dict[str, Any]:
    """Run the capture through the network and return the report."""
    packets = routable_packets(capture)
    side_of_mac: dict[str, str] = {}
    hosts: dict[str, dict[str, str]] = defaultdict(dict)
    for packet in packets:
        side = side_of_mac.setdefault(packet.sender_mac, f"dc{len(side_of_mac) + 1}")
        hosts[side][packet.src] = packet.sender_mac
    if sorted(hosts) != ["dc1", "dc2"]:
        raise ValueError(f"{capture}: packets of {len(hosts)} senders, need exactly 2")
    report: dict[str, Any] = {
        "sent": len(packets),
        "lost": [],
        "changed": [],
        "unexpected": [],
        "misknown": [],
        "roce": 0,
        "checkpoints": 0,
    }
    with Wan(target, hosts, tunnel, work) as wan:
        seen: Expectation = {}
        for packet, expected in zip(packets, live_flows(packets), strict=True):
            # Before a connection changes, and after a new flow appears.
            if packet.cm is not None or expected.keys() - seen.keys():
                _compare_flows(wan, expected, f"before packet {packet.number}", report)
            seen = expected
            sender = side_of_mac[packet.sender_mac]
            _pass_through(wan, packet, sender, "dc2" if sender == "dc1" else "dc1", report)
            # Waiting for every packet of a connection that is broken would take hours.
            if report["lost"]:
                break
        _compare_flows(wan, seen, "at the end", report)
        report["drops"] = {
            f"{counter.node} {counter.name}": counter.packets
            for counter in wan.controller.counters()
            if counter.counter == "drops" and counter.packets
        }
    return report


def _pass_through(
    wan: Wan, packet: CapturedPacket, sender: str, receiver: str, report: dict[str, Any]
) -> None:
    """Send one packet and compare what arrives: same datagram, TTL less by the PEs' hops."""
    gateway = _octets(GATEWAY_MACS[sender])
    ether_type = b"\x08\x00" if packet.datagram[0] >> 4 == 4 else b"\x86\xdd"
    source = _octets(packet.sender_mac)
    wan.sides[sender].send(gateway + source + ether_type + packet.datagram)
    expected = with_ttl(packet.datagram, ttl_of(packet.datagram) - PE_HOPS)
    while True:
        frame = wan.sides[receiver].receive(ARRIVAL)
        if frame is None:
            report["lost"].append(packet.number)
            return
        if frame[12:14] in _CHATTER:
            continue
        arrived = datagram_of(frame)
        if arrived == expected:
            break
        if arrived[-16:] == expected[-16:]:
            report["changed"].append([packet.number, expected.hex(), arrived.hex()])
            return
        report["unexpected"].append(frame.hex())
    if packet.bth is not None:
        report["roce"] += 1
        if not icrc_valid(arrived):
            report["changed"].append([packet.number, "ICRC", arrived.hex()])


def _octets(mac: str) -> bytes:
    return bytes.fromhex(mac.replace(":", ""))


def _compare_flows(wan: Wan, expected: Expectation, when: str, report: dict[str, Any]) -> None:
    """Wait until the controller lists exactly these flows, each with a source QP it may have."""

    def listed() -> dict[FlowId, int | None]:
        return {
            FlowId(flow.key.src, flow.key.dst, flow.key.dest_qp): (
                flow.source_qp if flow.HasField("source_qp") else None
            )
            for flow in wan.controller.flows()
        }

    def as_expected() -> bool:
        flows = listed()
        return flows.keys() == expected.keys() and all(
            flows[flow] in allowed for flow, allowed in expected.items()
        )

    report["checkpoints"] += 1
    if not holds_within(as_expected, KNOWLEDGE):
        report["misknown"].append({"when": when, "expected": str(expected), "got": str(listed())})


if __name__ == "__main__":
    main()
