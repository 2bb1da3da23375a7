"""A small run of the demo, made up but consistent: what tests of its evaluation start from.

Two milliseconds after the second sender joined, a packet of the first one leaves P2 marked; the
notification reaches the sender at once after the propagation delay.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fcn.hosts.roce.log import Event, RoceLog
from fcn.topologies.counters import FlowHits, NodeCounters
from fcn.topologies.demo.scenario import Mode, Scenario, demo_scenario
from fcn.topologies.demo.traffic import RunRecord
from fcn.topologies.trafficmanager import QueueDepth

NS_PER_MS = 1_000_000
SECONDS = 8.0
START_NS = 5_000_000_000
ONSET_MS = SECONDS / 4 * 1000 + 2
PE_GATEWAY = "10.1.1.1"
QP = 0x11
PACKETS = 100
LOST = 3


def scenario() -> Scenario:
    return demo_scenario(SECONDS)


def at(milliseconds: float) -> int:
    return START_NS + round(milliseconds * NS_PER_MS)


def event(milliseconds: float, name: str, members: Mapping[str, Any]) -> Event:
    return Event(at(milliseconds), name, dict(members))


def log(name: str, events: list[tuple[float, str, Mapping[str, Any]]]) -> RoceLog:
    summary = dict.fromkeys(
        ("bad_length", "bad_checksum", "bad_icrc", "unknown_qp", "socket_lost", "send_errors"), 0
    )
    return RoceLog(
        Path(name),
        tuple(
            event(time, kind, members)
            for time, kind, members in [*events, (SECONDS * 1000, "summary", summary)]
        ),
    )


def cnp(src: str, before: float) -> dict[str, Any]:
    return {"qp": QP, "src": src, "cut": True, "rate_before_bps": before, "rate_bps": before / 2}


def arrived(packets: int, ce: int) -> dict[str, Any]:
    return {"qp": QP, "packets": packets, "taken": packets, "ce": ce}


def record(mode: Mode) -> RunRecord:
    """The run in one mode; with FCN, the PE's CNP comes 3 ms after the onset."""
    setting = scenario()
    first, second = setting.flows
    line = setting.dcqcn(first).rate_bps
    receiver = setting.address(first, first.receiver)
    rate = {"qp": QP, "rate_bps": line}
    by_pe = [(ONSET_MS + 3.0, "cnp", cnp(PE_GATEWAY, line))] if mode == "fcn" else []
    late_line = line / 2 if mode == "fcn" else line
    sent = {"qp": QP, "packets": PACKETS}
    h1 = log("h1", [
        (0.0, "rate", rate),
        *by_pe,
        (ONSET_MS + 13.5, "cnp", cnp(receiver, late_line)),
        (SECONDS * 1000 - 1, "rate", {**rate, "rate_bps": late_line / 2}),
        (SECONDS * 1000, "qp_summary", sent),
    ])  # fmt: skip
    h2 = log("h2", [
        (SECONDS / 4 * 1000, "rate", rate),
        (SECONDS * 1000, "qp_summary", sent),
    ])  # fmt: skip
    h3 = log("h3", [
        (ONSET_MS + 5.1, "ce", {"qp": QP}),
        (ONSET_MS + 5.1, "cnp_sent", {"qp": QP}),
        (ONSET_MS + 6.0, "loss", {"qp": QP, "packets": LOST}),
        (SECONDS * 1000, "qp_summary", arrived(PACKETS - LOST, ce=1)),
    ])  # fmt: skip
    h4 = log("h4", [(SECONDS * 1000, "qp_summary", arrived(PACKETS, ce=0))])
    fcn = int(mode == "fcn")
    sender = setting.address(first, first.sender)
    return RunRecord(
        mode=mode,
        start_ns=START_NS,
        end_ns=at(SECONDS * 1000),
        senders={first.sender: h1, second.sender: h2},
        receivers={first.receiver: h3, second.receiver: h4},
        counters=_counters(fcn, sender),
        arrivals_ns=tuple(at(10.0 * i) for i in range(2 * PACKETS)),
        departures_ns=tuple(at(10.0 * i + 20.0) for i in range(2 * PACKETS - LOST)),
        ce_ns=(at(ONSET_MS),),
        fast_cnps_ns=(at(ONSET_MS + 0.1),) * fcn,
        queue=tuple(
            QueueDepth(at(time), depth, 0, 0)
            for time, depth in ((0, 0), (ONSET_MS - 4, 5), (ONSET_MS + 1, 9), (ONSET_MS + 20, 30))
        ),
        queue_drops=LOST,
    )


def _counters(fcn: int, sender: str) -> dict[str, NodeCounters]:
    """Packets both ways along PE1 - P1 - P2 - PE2; one CNP comes back from the receiver."""
    data, back = 2 * PACKETS, 1
    return {
        "pe1": NodeCounters(
            events={"FAST_CNP_RECEIVED": fcn, "CNP_SENT": fcn},
            port_rx={1: PACKETS, 2: PACKETS, 3: back + fcn},
            port_tx={1: back + fcn, 3: data},
            flows=(FlowHits(0x80001, sender, QP, fcn),),
        ),
        "p1": NodeCounters(port_rx={1: data, 2: back + fcn}, port_tx={2: data, 1: back + fcn}),
        "p2": NodeCounters(
            events={"CE_MARKED": 1, "FAST_CNP_TRIGGERED": fcn, "FAST_CNP_SENT": fcn},
            port_rx={1: data, 2: back},
            port_tx={2: data - LOST, 1: back + fcn},
        ),
        "pe2": NodeCounters(
            port_rx={1: back, 3: data - LOST}, port_tx={3: back, 1: PACKETS - LOST, 2: PACKETS}
        ),
    }


def with_counter(run: RunRecord, node: str, kind: str, key: str | int, change: int) -> RunRecord:
    """The run with one counter of one node changed."""
    counters = dict(run.counters)
    changed = asdict(counters[node]) | {"flows": counters[node].flows}
    changed[kind][key] = changed[kind].get(key, 0) + change
    counters[node] = NodeCounters(**changed)
    return replace(run, counters=counters)
