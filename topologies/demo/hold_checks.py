"""Consistency of what nodes count of flow control, and that no mode does what another one does."""

from collections.abc import Iterator

from fcn.contract.names import named_cells
from fcn.topologies.demo.check import Check
from fcn.topologies.demo.modes import ARNS, HELLO
from fcn.topologies.demo.scenario import Scenario
from fcn.topologies.demo.traffic import RunRecord

PAUSE = "PAUSE"
# What an ARN leads to where it arrives: an event, or a reason to refuse it.
OBEYED = ("HOLD_BEGUN", "HOLD_RENEWED", "HOLD_ENDED_EARLY", "HOLD_UNKNOWN")
REFUSED = (
    "ARN_UNSUPPORTED",
    "HOLD_LIMIT",
    "HOLD_NO_CELL",
    "NOTIFICATION_UNTRUSTED",
    "NOTIFICATION_MALFORMED",
)
HOLDS = tuple(named_cells("holds").values())
SENT = "{}_SENT"


def holding(scenario: Scenario, record: RunRecord) -> Iterator[Check]:
    """From the ARN of a congested node by way of the neighbours that hold to PAUSE frames."""
    for node, counters in record.counters.items():
        for kind in (ARNS.kind, PAUSE):
            yield Check(
                f"{kind} of {node}",
                "triggered",
                counters.events.get(f"{kind}_TRIGGERED", 0),
                "sent",
                counters.events.get(f"{kind}_SENT", 0),
            )
        yield Check(
            f"ARN messages at {node}",
            "received",
            counters.events.get(f"{ARNS.kind}_RECEIVED", 0),
            "obeyed or refused for a reason",
            sum(counters.events.get(name, 0) for name in OBEYED)
            + sum(counters.drops.get(why, 0) for why in REFUSED),
        )
        yield Check(
            f"packets held by {node}",
            "came to wait",
            counters.events.get("HOLD_PARKED", 0),
            "left in their turn",
            counters.events.get("HOLD_LEFT", 0),
        )
    node, _ = scenario.bottleneck
    yield Check(
        f"{ARNS.title} of {node}",
        "sent",
        record.counters[node].events.get(f"{ARNS.kind}_SENT", 0),
        "seen on its link",
        len(record.notices_ns),
    )
    yield Check(
        ARNS.title,
        "sent",
        record.counted(f"{ARNS.kind}_SENT"),
        "received",
        record.counted(f"{ARNS.kind}_RECEIVED"),
    )
    yield Check("the ingress PE asks senders", *_asks(record))


def _asks(record: RunRecord) -> tuple[str, int, str, int]:
    """Frames for hosts that are not heard are those of hosts that send no RDMA."""
    sent = record.counted(f"{PAUSE}_SENT")
    heard = sum(len(list(log.named("pause"))) for log in record.senders.values())
    return "PAUSE frames heard by senders and not sent", max(0, heard - sent), "allowed", 0


def silence(record: RunRecord) -> Iterator[Check]:
    """What the mode does not do is not done: nothing is sent or held that belongs to others."""
    mode = record.mode
    own = {mode.notice.kind, "CNP"} if mode.notifies else set[str]()
    own |= {ARNS.kind, PAUSE} if mode.holds else set()
    own |= {HELLO} if mode.watches else set()
    others = set(named_cells("notifications_sent").values()) - set(map(SENT.format, own))
    sent = sum(record.counted(name) for name in others)
    yield Check("modes do not mix", "notifications of other modes", sent, "allowed", 0)
    if not mode.holds:
        held = sum(record.counted(name) for name in HOLDS)
        yield Check("flow control is off", "holds and packets held", held, "allowed", 0)
