"""Consistency of the counters of all hops: each check compares two independent counts."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fcn.contract.names import named_cells
from fcn.topologies.demo.modes import ARNS, HELLO
from fcn.topologies.demo.scenario import Scenario, by_switch
from fcn.topologies.demo.traffic import RunRecord, flow_endpoints

# Reasons for which a PE drops a notification; each is counted under `drops`.
HELD_BACK = ("FLOW_INTERVAL", "NODE_RATE_LIMIT")
PE_NOTIFICATION_DROPS = (
    "TRANSLATION_DISABLED", "LABEL_UNKNOWN", "SOURCE_QP_UNKNOWN", *HELD_BACK,
)  # fmt: skip
PE_REFUSALS = ("NOTIFICATION_UNTRUSTED", "NOTIFICATION_MALFORMED", "NOTIFICATION_ON_DC_PORT")
# In the two-threshold mode: an ingress PE was told of light congestion of a flow; it dropped what
# was beyond the rate of the flow.
TREATED = "LIGHT_CONGESTION"
SLOWED = "LIGHT_CONGESTION_RATE"
# In the modes of flow control: more had to wait than a node has room for.
NO_ROOM = "HOLD_NO_ROOM"
# What an ARN leads to where it arrives: an event, or a reason to refuse it.
ARN_OBEYED = ("HOLD_BEGUN", "HOLD_RENEWED", "HOLD_ENDED_EARLY", "HOLD_UNKNOWN")
ARN_REFUSED = (
    "ARN_UNSUPPORTED", "HOLD_LIMIT", "HOLD_NO_CELL", "NOTIFICATION_UNTRUSTED",
    "NOTIFICATION_MALFORMED",
)  # fmt: skip
PAUSE = "PAUSE"
HOST_PROBLEMS = ("bad_length", "bad_checksum", "bad_icrc", "unknown_qp", "socket_lost")


@dataclass(frozen=True, slots=True)
class Check:
    """Two counts that must be equal, each with its meaning."""

    name: str
    left: str
    left_count: int
    right: str = "allowed"
    right_count: int = 0

    @property
    def passed(self) -> bool:
        return self.left_count == self.right_count

    def __str__(self) -> str:
        relation = "=" if self.passed else "but"
        return (
            f"{self.name}: {self.left} {self.left_count} {relation} {self.right} {self.right_count}"
        )


def check_run(scenario: Scenario, record: RunRecord) -> list[Check]:
    """All checks of one run, in the order in which a notification passes the hops."""
    return [
        *(() if record.mode.watches else _links(scenario, record)),
        *_data(scenario, record),
        *_marks(scenario, record),
        *(_holding if record.mode.holds else _told)(scenario, record),
        *_cnps_of_receivers(scenario, record),
        *_hosts(record),
        *_silence(record),
    ]


def _named(scenario: Scenario, role: str) -> list[str]:
    return [node.name for node in scenario.topology.nodes if node.role == role]


def _links(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    for link in scenario.topology.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            out = scenario.topology.port(near, far).number
            into = scenario.topology.port(far, near).number
            yield Check(
                f"link {near} to {far}",
                f"{near} port {out} sent",
                record.counters[near].port_tx.get(out, 0),
                f"{far} port {into} received",
                record.counters[far].port_rx.get(into, 0),
            )


def _data(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    """Packets sent but not received are those that the bottleneck's queue dropped, and those of
    flows that an ingress PE slows, and those that no node has room to hold."""
    sent = sum(log.total("qp_summary", "packets") for log in record.senders.values())
    sent += sum(other.sent for other in record.others)
    received = sum(log.total("qp_summary", "packets") for log in record.receivers.values())
    received += sum(other.received for other in record.others)
    node, _ = scenario.bottleneck
    missing = record.queue_drops
    if not record.mode.watches:
        missing = _missing_in(scenario, record, node)
    if missing is None:
        return
    refused = sum(counters.dropped(SLOWED, NO_ROOM) for counters in record.counters.values())
    lost = f"lost in {node}, slowed by PEs or not held for want of room"
    yield Check("data lost", "sent but not received", sent - received, lost, missing + refused)
    if record.queue_drops is not None and not record.mode.watches:
        drops = record.queue_drops
        yield Check("queue drops", f"lost in {node}", missing, "its traffic manager", drops)


def _missing_in(scenario: Scenario, record: RunRecord, node: str) -> int:
    """Packets received by a node, neither dropped with a reason nor sent."""
    counters = record.counters[node]
    arrived = sum(counters.port_rx.values()) + counters.event(f"{record.mode.notice.kind}_SENT")
    punted = sum(count for name, count in counters.events.items() if name.startswith("PUNTED_"))
    left = sum(counters.port_tx.get(port.number, 0) for port in scenario.topology.ports_of(node))
    return arrived - punted - sum(counters.drops.values()) - left


def _marks(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    marked = record.counted("CE_MARKED")
    seen = sum(log.total("qp_summary", "ce") for log in record.receivers.values())
    yield Check("CE marks", "set by switches", marked, "seen by receivers", seen)
    node, _ = scenario.bottleneck
    own = record.counters[node].event("CE_MARKED")
    yield Check(f"CE marks of {node}", "set", own, "seen on its link", len(record.ce_ns))


def _told(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    """From a congested node by way of the ingress PE to the senders."""
    yield from _notices(scenario, record)
    yield from _cnps_of_pes(scenario, record)


def _notices(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    pes, (kind, title) = _named(scenario, "pe"), (record.mode.notice.kind, record.mode.notice.title)
    for name in (*_named(scenario, "p"), *pes):
        counters = record.counters[name]
        triggered, sent = counters.event(f"{kind}_TRIGGERED"), counters.event(f"{kind}_SENT")
        yield Check(f"notifications of {name}", "triggered", triggered, f"{title} sent", sent)
    node, _ = scenario.bottleneck
    sent, seen = record.counters[node].event(f"{kind}_SENT"), len(record.notices_ns)
    if record.mode.watches:
        # Messages are for other PEs, too, and of other things.
        more = max(0, seen - sent)
        yield Check(f"{title} of {node}", "seen on its link beyond those sent", more)
    else:
        yield Check(f"{title} of {node}", "sent", sent, "seen on its link", seen)
    yield Check(
        title,
        "sent by P nodes and egress PEs",
        record.counted(f"{kind}_SENT"),
        "received or refused by PEs",
        record.counted(f"{kind}_RECEIVED", pes)
        + sum(record.counters[pe].dropped(*PE_REFUSALS) for pe in pes),
    )


def _cnps_of_pes(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    pes, notice = _named(scenario, "pe"), record.mode.notice
    for pe in pes:
        counters = record.counters[pe]
        told = f"{notice.title} received and own congestion"
        heard = counters.event(f"{notice.kind}_RECEIVED") + counters.event("OWN_CONGESTION")
        answered = "CNPs sent, flows treated, or neither for a reason"
        answers = counters.event("CNP_SENT") + counters.event(TREATED)
        answers += counters.dropped(*PE_NOTIFICATION_DROPS)
        if record.mode.watches:
            # What names no flow has no answer.
            more = max(0, answers - heard)
            yield Check(f"translation at {pe}", f"{answered}, beyond {told}", more)
        else:
            yield Check(f"translation at {pe}", told, heard, answered, answers)
    arrived: Counter[tuple[str, int]] = Counter()
    for flow, sender, _ in flow_endpoints(scenario, record):
        own = scenario.address(flow, flow.sender)
        arrived.update((own, e["qp"]) for e in sender.named("cnp") if by_switch(e))
    sent, treated = record.counted("CNP_SENT", pes), record.counted(TREATED, pes)
    yield Check("CNPs of PEs", "sent by PEs", sent, "received by senders", arrived.total())
    held_back = sum(record.counters[pe].dropped(*HELD_BACK) for pe in pes)
    looked_up: Counter[tuple[str, int]] = Counter()
    for pe in pes:
        for hit in record.counters[pe].flows:
            looked_up[hit.sender, hit.sender_qp] += hit.hits
    if held_back == 0 and not treated:
        for each in sorted(looked_up | arrived):
            what = f"CNPs for QP {each[1]} of {each[0]}"
            yield Check(what, "looked up by label", looked_up[each], "received", arrived[each])
    else:
        yield Check(
            "labels looked up",
            "for known source QPs",
            looked_up.total(),
            "CNPs sent or held back, or flows treated",
            sent + treated + held_back,
        )


def _holding(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    """From the ARN of a congested node by way of the neighbours that hold to PAUSE frames."""
    for node, of in record.counters.items():
        for kind in (ARNS.kind, PAUSE):
            triggered, sent = of.event(f"{kind}_TRIGGERED"), of.event(f"{kind}_SENT")
            yield Check(f"{kind} of {node}", "triggered", triggered, "sent", sent)
        yield Check(
            f"ARN messages at {node}",
            "received",
            of.event(f"{ARNS.kind}_RECEIVED"),
            "obeyed or refused for a reason",
            sum(map(of.event, ARN_OBEYED)) + of.dropped(*ARN_REFUSED),
        )
        waited, left = of.event("HOLD_PARKED"), of.event("HOLD_LEFT")
        yield Check(f"packets held by {node}", "came to wait", waited, "left in their turn", left)
    node, _ = scenario.bottleneck
    sent, seen = record.counters[node].event(f"{ARNS.kind}_SENT"), len(record.notices_ns)
    yield Check(f"{ARNS.title} of {node}", "sent", sent, "seen on its link", seen)
    sent, received = (record.counted(f"{ARNS.kind}_{what}") for what in ("SENT", "RECEIVED"))
    yield Check(ARNS.title, "sent", sent, "received", received)
    # Frames for hosts that are not heard are those of hosts that send no RDMA.
    heard = sum(len(list(log.named("pause"))) for log in record.senders.values())
    more = max(0, heard - record.counted(f"{PAUSE}_SENT"))
    yield Check("the ingress PE asks senders", "PAUSE frames heard by senders and not sent", more)


def _cnps_of_receivers(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    for flow, sender, receiver in flow_endpoints(scenario, record):
        sent = Counter(event["qp"] for event in receiver.named("cnp_sent"))
        arrived = Counter(e["qp"] for e in sender.named("cnp") if not by_switch(e))
        for qp in sorted(sent | arrived):
            what = f"CNPs of {flow.receiver} for QP {qp} of {flow.sender}"
            yield Check(what, "sent", sent[qp], "received", arrived[qp])


def _hosts(record: RunRecord) -> Iterator[Check]:
    for host, log in (*record.senders.items(), *record.receivers.items()):
        summary = log.one("summary")
        problems = sum(summary[name] for name in (*HOST_PROBLEMS, "send_errors"))
        yield Check(f"packets at {host}", "invalid, misdirected or lost", problems)


def _silence(record: RunRecord) -> Iterator[Check]:
    """What the mode does not do is not done: nothing is sent, held or marked that belongs to
    others."""
    mode = record.mode
    own = {mode.notice.kind, "CNP"} if mode.notifies else set[str]()
    own |= {ARNS.kind, PAUSE} if mode.holds else set()
    own |= {HELLO} if mode.watches else set()
    others = set(named_cells("notifications_sent").values()) - {f"{kind}_SENT" for kind in own}
    sent = sum(map(record.counted, others))
    yield Check("modes do not mix", "notifications of other modes", sent)
    if not mode.holds:
        held = sum(map(record.counted, named_cells("holds").values()))
        yield Check("flow control is off", "holds and packets held", held)
    if not mode.marks:
        yield Check("marking is disabled", "packets marked", record.counted("CE_MARKED"))
