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
from fcn.topologies.demo.modes import MODES
from fcn.topologies.demo.other_traffic import Seen
from fcn.topologies.demo.probe import Arrival
from fcn.topologies.demo.scenario import SWITCH_PORT, OtherFlow, Scenario, continuous
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
OTHERS = 50


def scenario() -> Scenario:
    return continuous(SECONDS)


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
    port = SWITCH_PORT if src == PE_GATEWAY else 50_000
    return {
        "qp": QP,
        "src": src,
        "udp_src_port": port,
        "cut": True,
        "rate_before_bps": before,
        "rate_bps": before / 2,
    }


def took(qp: int, packets: int) -> list[tuple[float, str, Mapping[str, Any]]]:
    """Lines of a receiver: packets taken before all senders send, and after."""
    return [
        (SECONDS / 4 * 1000 - 10, "rate", {"qp": qp, "taken": 7}),
        (SECONDS * 1000 - 10, "rate", {"qp": qp, "taken": packets}),
    ]


def arrived(packets: int, ce: int) -> dict[str, Any]:
    return {"qp": QP, "packets": packets, "taken": packets, "ce": ce}


def record(name: str) -> RunRecord:
    """The run in the mode `ecn` or `fcn`; with FCN, the PE's CNP comes 3 ms after the onset."""
    mode = MODES[name]
    setting = scenario()
    first, second = setting.flows
    line = setting.dcqcn(first).rate_bps
    receiver = setting.address(first, first.receiver)
    rate = {"qp": QP, "rate_bps": line}
    by_pe = [(ONSET_MS + 3.0, "cnp", cnp(PE_GATEWAY, line))] if mode.notifies else []
    late_line = line / 2 if mode.notifies else line
    sent = {"qp": QP, "packets": PACKETS}
    reset = (SECONDS / 4 * 1000, "reset", {"qps": 1})
    h1 = log("h1", [
        (0.0, "rate", rate),
        reset,
        *by_pe,
        (ONSET_MS + 13.5, "cnp", cnp(receiver, late_line)),
        (SECONDS * 1000 - 1, "rate", {**rate, "rate_bps": late_line / 2}),
        (SECONDS * 1000, "qp_summary", sent),
    ])  # fmt: skip
    h2 = log("h2", [
        reset,
        (SECONDS / 4 * 1000, "rate", rate),
        (SECONDS * 1000, "qp_summary", sent),
    ])  # fmt: skip
    h3 = log("h3", [
        (ONSET_MS + 5.1, "ce", {"qp": QP}),
        (ONSET_MS + 5.1, "cnp_sent", {"qp": QP}),
        (ONSET_MS + 6.0, "loss", {"qp": QP, "packets": LOST}),
        *took(QP, 30), *took(QP + 1, 30),
        (SECONDS * 1000, "qp_summary", arrived(PACKETS - LOST, ce=1)),
    ])  # fmt: skip
    second_took = [taking for qp in range(QP, QP + 4) for taking in took(qp, 15)]
    h4 = log("h4", [*second_took, (SECONDS * 1000, "qp_summary", arrived(PACKETS, ce=0))])
    fcn = int(mode.notifies)
    sender = setting.address(first, first.sender)
    return RunRecord(
        mode=mode,
        start_ns=START_NS,
        senders={first.sender: h1, second.sender: h2},
        receivers={first.receiver: h3, second.receiver: h4},
        counters=_counters(fcn, sender),
        arrivals_ns=tuple(at(10.0 * i) for i in range(2 * PACKETS)),
        departures_ns=tuple(at(10.0 * i + 20.0) for i in range(2 * PACKETS - LOST)),
        ce_ns=(at(ONSET_MS),),
        notices_ns=(at(ONSET_MS + 0.1),) * fcn,
        queue=tuple(
            QueueDepth(at(time), depth, 0, 0)
            for time, depth in ((0, 0), (ONSET_MS - 4, 5), (ONSET_MS + 1, 9), (ONSET_MS + 20, 30))
        ),
        queue_drops=LOST,
        others=tuple(map(_seen, setting.others)),
    )


def _seen(flow: OtherFlow) -> Seen:
    """Packet n waits n/10 ms where it meets the congestion, and none elsewhere."""
    waits = flow == scenario().others[0]
    propagation_ns = scenario().topology.delay_ns(flow.sender, flow.receiver)
    arrivals = []
    for number in range(OTHERS):
        sent = at(10.0 * number + SECONDS / 4 * 1000 * (number > 0))
        arrivals.append(
            Arrival(number, sent, sent + propagation_ns + waits * number * NS_PER_MS // 10)
        )
    return Seen(flow, OTHERS, tuple(arrivals))


def _counters(fcn: int, sender: str) -> dict[str, NodeCounters]:
    """Packets both ways along PE1 - P1 - P2 - PE2; one CNP comes back from the receiver."""
    data, back, other = 2 * PACKETS, 1, OTHERS
    return {
        "pe1": NodeCounters(
            events={"FAST_CNP_RECEIVED": fcn, "CNP_SENT": fcn},
            port_rx={1: PACKETS, 2: PACKETS, 3: 2 * other, 4: back + fcn},
            port_tx={1: back + fcn, 4: data + 2 * other},
            flows=(FlowHits(0x80001, sender, QP, fcn),),
        ),
        "p1": NodeCounters(
            port_rx={1: data + 2 * other, 2: back + fcn},
            port_tx={2: data + 2 * other, 1: back + fcn},
        ),
        "p2": NodeCounters(
            events={"CE_MARKED": 1, "FAST_CNP_TRIGGERED": fcn, "FAST_CNP_SENT": fcn},
            port_rx={1: data + 2 * other, 2: back},
            port_tx={2: data + other - LOST, 3: other, 1: back + fcn},
        ),
        "pe2": NodeCounters(
            port_rx={1: back, 4: data + other - LOST},
            port_tx={4: back, 1: PACKETS - LOST, 2: PACKETS, 3: other},
        ),
        "pe3": NodeCounters(port_rx={2: other}, port_tx={1: other}),
    }


def with_counter(run: RunRecord, node: str, kind: str, key: str | int, change: int) -> RunRecord:
    """The run with one counter of one node changed."""
    counters = dict(run.counters)
    changed = asdict(counters[node]) | {"flows": counters[node].flows}
    changed[kind][key] = changed[kind].get(key, 0) + change
    counters[node] = NodeCounters(**changed)
    return replace(run, counters=counters)
