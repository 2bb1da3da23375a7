"""The demo's judgement of a mode whose nodes watch links and tell ingress PEs of paths (FAN-6)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from demo_record import record, scenario, with_counter

from fcn.topologies.counters import NodeCounters
from fcn.topologies.demo.checks import check_run
from fcn.topologies.demo.modes import HELLO, MODES
from fcn.topologies.demo.traffic import RunRecord


def told() -> RunRecord:
    """The run with FCN, by messages about paths; hellos and messages for other PEs as well."""
    run = record("fcn")
    run = replace(
        run,
        mode=MODES["fantel"],
        counters={
            name: replace(each, events=_renamed(each.events)) for name, each in run.counters.items()
        },
    )
    for node, event in (("p2", "TRIGGERED"), ("p2", "SENT"), ("pe3", "RECEIVED")):
        run = with_counter(run, node, "events", f"FANTEL_{event}", 1)
    for node in ("p1", "p2", "pe1"):
        run = with_counter(run, node, "events", f"{HELLO}_SENT", 40)
    return with_counter(run, "p2", "port_tx", 2, 40)


def _renamed(events: Mapping[str, int]) -> dict[str, int]:
    return {name.replace("FAST_CNP", "FANTEL"): count for name, count in events.items()}


def failed(run: RunRecord) -> list[str]:
    return [check.name for check in check_run(scenario(), run) if not check.passed]


def test_hellos_and_messages_for_others_are_no_contradiction() -> None:
    assert failed(told()) == []


@pytest.mark.parametrize(
    ("node", "event", "name"),
    [
        ("p1", "FANTEL_TRIGGERED", "notifications of p1"),
        ("pe2", "FANTEL_RECEIVED", "FANTEL messages"),
        ("pe2", "CNP_SENT", "translation at pe2"),
        ("pe1", "CNP_SENT", "CNPs of PEs"),
        ("p2", "FAST_CNP_SENT", "modes do not mix"),
        ("p1", "HOLD_PARKED", "flow control is off"),
    ],
)
def test_other_counts_contradict_each_other(node: str, event: str, name: str) -> None:
    assert name in failed(with_counter(told(), node, "events", event, 1))


def test_what_is_lost_is_what_the_queue_dropped() -> None:
    run = told()
    assert run.queue_drops is not None
    assert failed(replace(run, queue_drops=run.queue_drops + 1)) == ["data lost"]
    assert failed(replace(run, queue_drops=None)) == [], "a switch that does not say"


def test_only_this_mode_watches() -> None:
    assert [mode.name for mode in MODES.values() if mode.watches] == ["fantel"]
    hello = with_counter(record("fcn"), "p1", "events", f"{HELLO}_SENT", 1)
    assert failed(hello) == ["modes do not mix"]


def test_what_nodes_send_on_their_own_keeps_no_counter_from_settling() -> None:
    before = NodeCounters({"HELLO_SENT": 1, "CNP_SENT": 2}, {"NO_ROUTE": 1}, {1: 5}, {1: 6})
    after = NodeCounters({"HELLO_SENT": 9, "CNP_SENT": 2}, {"NO_ROUTE": 1}, {1: 7}, {1: 8})
    assert before != after
    assert before.without_own([HELLO]) == after.without_own([HELLO])
    other = NodeCounters({"HELLO_SENT": 1, "CNP_SENT": 3}, {"NO_ROUTE": 1})
    assert before.without_own([HELLO]) != other.without_own([HELLO])
