"""Consistency of the counters of all hops: each check compares two independent counts."""

from collections import Counter
from collections.abc import Iterator

from fcn.topologies.demo.check import Check
from fcn.topologies.demo.hold_checks import holding, silence
from fcn.topologies.demo.scenario import Scenario, by_switch
from fcn.topologies.demo.traffic import RunRecord, flow_endpoints

# Reasons for which a PE drops a notification; each is counted under `drops`.
PE_NOTIFICATION_DROPS = (
    "TRANSLATION_DISABLED",
    "LABEL_UNKNOWN",
    "SOURCE_QP_UNKNOWN",
    "FLOW_INTERVAL",
    "NODE_RATE_LIMIT",
)
PE_REFUSALS = ("NOTIFICATION_UNTRUSTED", "NOTIFICATION_MALFORMED", "NOTIFICATION_ON_DC_PORT")
# In the two-threshold mode: an ingress PE was told of light congestion of a flow; it dropped what
# was beyond the rate of the flow.
TREATED = "LIGHT_CONGESTION"
SLOWED = "LIGHT_CONGESTION_RATE"
# In the modes of flow control: more had to wait than a node has room for.
NO_ROOM = "HOLD_NO_ROOM"
HOST_PROBLEMS = ("bad_length", "bad_checksum", "bad_icrc", "unknown_qp", "socket_lost")


def check_run(scenario: Scenario, record: RunRecord) -> list[Check]:
    """All checks of one run, in the order in which a notification passes the hops."""
    return [
        *(() if record.mode.watches else _links(scenario, record)),
        *_data(scenario, record),
        *_marks(scenario, record),
        *(holding if record.mode.holds else _told)(scenario, record),
        *_cnps_of_receivers(scenario, record),
        *_hosts(record),
        *_mode(record),
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
    refused = sum(
        counters.drops.get(why, 0)
        for counters in record.counters.values()
        for why in (SLOWED, NO_ROOM)
    )
    yield Check(
        "data lost",
        "sent but not received",
        sent - received,
        f"lost in {node}, slowed by PEs or not held for want of room",
        missing + refused,
    )
    if record.queue_drops is not None and not record.mode.watches:
        yield Check(
            "queue drops", f"lost in {node}", missing, "its traffic manager", record.queue_drops
        )


def _missing_in(scenario: Scenario, record: RunRecord, node: str) -> int:
    """Packets received by a node, neither dropped with a reason nor sent."""
    counters = record.counters[node]
    made = counters.events.get(f"{record.mode.notice.kind}_SENT", 0)
    arrived = sum(counters.port_rx.values()) + made
    punted = sum(count for name, count in counters.events.items() if name.startswith("PUNTED_"))
    left = sum(counters.port_tx.get(port.number, 0) for port in scenario.topology.ports_of(node))
    return arrived - punted - sum(counters.drops.values()) - left


def _marks(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    seen = sum(log.total("qp_summary", "ce") for log in record.receivers.values())
    yield Check(
        "CE marks", "set by switches", record.counted("CE_MARKED"), "seen by receivers", seen
    )
    node, _ = scenario.bottleneck
    yield Check(
        f"CE marks of {node}",
        "set",
        record.counters[node].events.get("CE_MARKED", 0),
        "seen on its link",
        len(record.ce_ns),
    )


def _told(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    """From a congested node by way of the ingress PE to the senders."""
    yield from _notices(scenario, record)
    yield from _cnps_of_pes(scenario, record)


def _notices(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    ps, pes = _named(scenario, "p"), _named(scenario, "pe")
    kind, title = record.mode.notice.kind, record.mode.notice.title
    for node in (*ps, *pes):
        events = record.counters[node].events
        yield Check(
            f"notifications of {node}",
            "triggered",
            events.get(f"{kind}_TRIGGERED", 0),
            f"{title} sent",
            events.get(f"{kind}_SENT", 0),
        )
    node, _ = scenario.bottleneck
    sent, seen = record.counters[node].events.get(f"{kind}_SENT", 0), len(record.notices_ns)
    if record.mode.watches:
        # Messages are for other PEs, too, and of other things.
        more = max(0, seen - sent)
        yield Check(f"{title} of {node}", "seen on its link beyond those sent", more, "allowed", 0)
    else:
        yield Check(f"{title} of {node}", "sent", sent, "seen on its link", seen)
    refused = sum(record.counters[pe].drops.get(why, 0) for pe in pes for why in PE_REFUSALS)
    yield Check(
        title,
        "sent by P nodes and egress PEs",
        record.counted(f"{kind}_SENT"),
        "received or refused by PEs",
        record.counted(f"{kind}_RECEIVED", pes) + refused,
    )


def _cnps_of_pes(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    pes, notice = _named(scenario, "pe"), record.mode.notice
    for pe in pes:
        counters = record.counters[pe]
        dropped = sum(counters.drops.get(why, 0) for why in PE_NOTIFICATION_DROPS)
        told = f"{notice.title} received and own congestion"
        heard = counters.events.get(f"{notice.kind}_RECEIVED", 0)
        heard += counters.events.get("OWN_CONGESTION", 0)
        answered = "CNPs sent, flows treated, or neither for a reason"
        answers = counters.events.get("CNP_SENT", 0) + counters.events.get(TREATED, 0) + dropped
        if record.mode.watches:
            # What names no flow has no answer.
            more = max(0, answers - heard)
            yield Check(f"translation at {pe}", f"{answered}, beyond {told}", more, "allowed", 0)
        else:
            yield Check(f"translation at {pe}", told, heard, answered, answers)
    arrived: Counter[tuple[str, int]] = Counter()
    for flow, sender, _ in flow_endpoints(scenario, record):
        own = scenario.address(flow, flow.sender)
        arrived.update((own, e["qp"]) for e in sender.named("cnp") if by_switch(e))
    yield Check(
        "CNPs of PEs",
        "sent by PEs",
        record.counted("CNP_SENT", pes),
        "received by senders",
        arrived.total(),
    )
    held_back = sum(
        record.counters[pe].drops.get(why, 0)
        for pe in pes
        for why in ("FLOW_INTERVAL", "NODE_RATE_LIMIT")
    )
    looked_up: Counter[tuple[str, int]] = Counter()
    for pe in pes:
        for hit in record.counters[pe].flows:
            looked_up[hit.sender, hit.sender_qp] += hit.hits
    if held_back == 0 and not record.counted(TREATED, pes):
        for sender_address, qp in sorted(looked_up | arrived):
            yield Check(
                f"CNPs for QP {qp} of {sender_address}",
                "looked up by label",
                looked_up[sender_address, qp],
                "received",
                arrived[sender_address, qp],
            )
    else:
        yield Check(
            "labels looked up",
            "for known source QPs",
            looked_up.total(),
            "CNPs sent or held back, or flows treated",
            record.counted("CNP_SENT", pes) + record.counted(TREATED, pes) + held_back,
        )


def _cnps_of_receivers(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    for flow, sender, receiver in flow_endpoints(scenario, record):
        sent = Counter(event["qp"] for event in receiver.named("cnp_sent"))
        arrived = Counter(e["qp"] for e in sender.named("cnp") if not by_switch(e))
        for qp in sorted(sent | arrived):
            yield Check(
                f"CNPs of {flow.receiver} for QP {qp} of {flow.sender}",
                "sent",
                sent[qp],
                "received",
                arrived[qp],
            )


def _hosts(record: RunRecord) -> Iterator[Check]:
    for host, log in (*record.senders.items(), *record.receivers.items()):
        summary = log.one("summary")
        problems = sum(summary[name] for name in HOST_PROBLEMS) + summary["send_errors"]
        yield Check(f"packets at {host}", "invalid, misdirected or lost", problems, "allowed", 0)


def _mode(record: RunRecord) -> Iterator[Check]:
    """What the mode does not do is not done."""
    yield from silence(record)
    if not record.mode.marks:
        marked = record.counted("CE_MARKED")
        yield Check("marking is disabled", "packets marked", marked, "allowed", 0)
