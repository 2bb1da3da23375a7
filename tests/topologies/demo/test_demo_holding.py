"""The demo's judgement of modes in which neighbours hold."""

from dataclasses import replace

import demo_record
import pytest
from demo_record import ONSET_MS, record, scenario, with_counter

from fcn.hosts.roce.log import Event
from fcn.topologies.demo.checks import check_run
from fcn.topologies.demo.measure import measure
from fcn.topologies.demo.modes import MODES
from fcn.topologies.demo.traffic import RunRecord
from fcn.topologies.demo.verdict import problems

HELD = 7
PAUSE_MS = 4.0


def held(mode: str = "service") -> RunRecord:
    """P2 asks P1, which holds and asks PE1, which pauses h1."""
    run = record("ecn")
    quiet = {
        host: replace(
            log, events=tuple(e for e in log.events if e.name not in ("cnp", "cnp_sent", "ce"))
        )
        for host, log in {**run.senders, **run.receivers}.items()
    }
    pause = demo_record.event(ONSET_MS + 1 + PAUSE_MS, "pause", {"hold_ns": 33_000_000, "qps": 2})
    h1 = quiet["h1"]
    *events, summary = h1.events
    quiet["h1"] = replace(h1, events=(*events, pause, summary))
    run = replace(
        run,
        mode=MODES[mode],
        ce_ns=(),
        notices_ns=(demo_record.at(ONSET_MS + 1),),
        senders={host: quiet[host] for host in run.senders},
        receivers={
            host: replace(quiet[host], events=tuple(_unmarked(quiet[host].events)))
            for host in run.receivers
        },
    )
    for node, kind, key, change in (
        ("p2", "events", "CE_MARKED", -1),
        ("p2", "events", "ARN_TRIGGERED", 1),
        ("p2", "events", "ARN_SENT", 1),
        ("p2", "port_tx", 1, 1),
        ("p1", "port_rx", 2, 1),
        ("p1", "events", "ARN_RECEIVED", 1),
        ("p1", "events", "HOLD_BEGUN", 1),
        ("p1", "events", "HOLD_PARKED", HELD),
        ("p1", "events", "HOLD_LEFT", HELD),
        ("p1", "events", "ARN_TRIGGERED", 1),
        ("p1", "events", "ARN_SENT", 1),
        ("p1", "port_tx", 1, 1),
        ("pe1", "port_rx", 4, 1),
        ("pe1", "events", "ARN_RECEIVED", 1),
        ("pe1", "events", "HOLD_BEGUN", 1),
        ("pe1", "events", "PAUSE_TRIGGERED", 1),
        ("pe1", "events", "PAUSE_SENT", 1),
    ):  # fmt: skip
        run = with_counter(run, node, kind, key, change)
    return run


def _unmarked(events: tuple[Event, ...]) -> list[Event]:
    return [
        replace(each, members={**each.members, "ce": 0}) if each.name == "qp_summary" else each
        for each in events
    ]


def failures(run: RunRecord) -> list[str]:
    return [check.name for check in check_run(scenario(), run) if not check.passed]


@pytest.mark.parametrize("mode", ["service", "priority"])
def test_consistent_counters_pass(mode: str) -> None:
    assert failures(held(mode)) == []


@pytest.mark.parametrize(
    ("node", "kind", "key", "named"),
    [
        ("p2", "events", "ARN_SENT", "ARN of p2"),
        ("p2", "events", "ARN_SENT", "ARN messages of p2"),
        ("p1", "events", "ARN_RECEIVED", "ARN messages"),
        ("p1", "events", "HOLD_RENEWED", "ARN messages at p1"),
        ("p1", "drops", "HOLD_LIMIT", "ARN messages at p1"),
        ("p1", "events", "HOLD_PARKED", "packets held by p1"),
        ("p1", "drops", "HOLD_NO_ROOM", "data lost"),
        ("pe1", "events", "PAUSE_SENT", "PAUSE of pe1"),
        ("pe1", "events", "CNP_SENT", "modes do not mix"),
        ("p2", "events", "FAST_CNP_SENT", "modes do not mix"),
        ("p2", "events", "CE_MARKED", "marking is disabled"),
    ],
)
def test_every_changed_counter_is_noticed(node: str, kind: str, key: str, named: str) -> None:
    assert named in failures(with_counter(held(), node, kind, key, 1))


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ("ARN_SENT", "modes do not mix"),
        ("PAUSE_SENT", "modes do not mix"),
        ("HOLD_BEGUN", "flow control is off"),
        ("HOLD_PARKED", "flow control is off"),
    ],
)
@pytest.mark.parametrize("mode", ["ecn", "fcn"])
def test_holds_in_other_modes_are_noticed(mode: str, key: str, named: str) -> None:
    assert named in failures(with_counter(record(mode), "p1", "events", key, 1))


def test_a_pause_that_nobody_sent_is_noticed() -> None:
    run = with_counter(held(), "pe1", "events", "PAUSE_SENT", -1)
    assert "the ingress PE asks senders" in failures(run)


def test_the_reaction_is_the_first_pause_of_a_sender() -> None:
    found = measure(scenario(), held())
    assert found.reaction_ms is None
    assert found.pause_ms == pytest.approx(PAUSE_MS)
    assert found.held == HELD


def test_a_mode_that_holds_nothing_fails() -> None:
    run = held()
    assert list(problems({"service": measure(scenario(), run)})) == []
    idle = with_counter(replace(run, notices_ns=()), "p1", "events", "HOLD_PARKED", -HELD)
    idle = replace(idle, senders={**idle.senders, "h1": idle.senders["h2"]})
    title = MODES["service"].title
    assert list(problems({"service": measure(scenario(), idle)})) == [
        f"{title}: the congested node asked no neighbour",
        f"{title}: no packet was held",
        f"{title}: no sender was paused",
    ]
