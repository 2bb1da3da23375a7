"""Failures of links, on results written by hand."""

from dataclasses import replace

import pandas as pd
import pytest
from lab_results import NEAR_NS, about

from fcn.lab.result.failover import arrivals, failovers, lost
from fcn.lab.result.model import EventInfo, Result
from fcn.lab.result.tables import ARRIVED, LINK_DOWN, LINK_UP, PATH, frame

MS = 1_000_000
FAILED_NS = 3 * MS
DETECTED_NS = FAILED_NS + 4 * MS
MOVED_NS = DETECTED_NS + NEAR_NS + 20_000
MENDED_NS = 12 * MS


def failed(*more: tuple[object, ...], up_at: int | None = MENDED_NS) -> Result:
    """The link between p1 and pe2 fails; pe1, to which l1 belongs, takes path `b`."""
    events = [EventInfo(time_ns=FAILED_NS, text="link p1-pe2 down")]
    if up_at is not None:
        events.append(EventInfo(time_ns=up_at, text="link p1-pe2 up"))
    counters = [
        (0, "p1", LINK_UP, "pe2", 1),
        *((at, "pe1", PATH, "to-pe2: a", at) for at in range(MS, DETECTED_NS, MS)),
        (DETECTED_NS - MS, "pe2", LINK_DOWN, "p1", 1),
        (DETECTED_NS, "p1", LINK_DOWN, "pe2", 1),
        *((at, "pe1", PATH, "to-pe2: b", at) for at in range(MOVED_NS, MENDED_NS, MS)),
        *((at, "pe2", ARRIVED, "r1", at) for at in (MS, 2 * MS, FAILED_NS + 1, 8 * MS, 9 * MS)),
        *more,
    ]
    flow = ("l1", 0, "r1", 0x100, 0x800000, "CONNECTED", 104, 110_000, 40, 6, 1, 0, 1, 1, 96_000, 0,
            3, 2, 0)  # fmt: skip
    return Result(
        about(events=tuple(events)),
        messages=frame("messages", [("l1", 0, 0, 32_000, 0, 9_000_000)]),
        connections=frame("connections", [flow]),
        counters=frame("counters", counters),
    )


def test_what_is_found() -> None:
    (row,) = failovers(failed()).to_dict("records")
    assert (row["link"], row["failed_ns"], row["pe"], row["node"]) == (
        "p1-pe2", FAILED_NS, "pe1", "p1"
    )  # fmt: skip
    assert row["detected_ns"] == DETECTED_NS - FAILED_NS
    assert row["propagation_ns"] == NEAR_NS
    assert row["bound_ns"] == DETECTED_NS - FAILED_NS + NEAR_NS
    assert (row["moved_ns"], row["path"]) == (MOVED_NS - FAILED_NS, "to-pe2: b")
    assert row["ratio"] == row["moved_ns"] / row["bound_ns"]
    assert row["silent_ns"] == 8 * MS - FAILED_NS - 1
    assert row["lost"] == 40 - 3 - 2


def test_what_happens_after_the_mend_is_not_for_it() -> None:
    result = failed((MENDED_NS + MS, "pe2", ARRIVED, "r1", 10**9), up_at=MOVED_NS - 1)
    (row,) = failovers(result).to_dict("records")
    assert pd.isna(row["moved_ns"])
    assert pd.isna(row["ratio"])
    assert row["path"] == ""


def test_a_failure_that_nobody_saw() -> None:
    result = failed()
    unseen = result.counters[result.counters["node"] != "p1"]
    (row,) = failovers(replace(result, counters=unseen)).to_dict("records")
    assert pd.isna(row["detected_ns"])
    assert pd.isna(row["bound_ns"])


def test_a_network_that_does_not_watch_its_links() -> None:
    result = failed()
    assert failovers(replace(result, counters=frame("counters", []))).empty


def test_what_is_lost_is_known_when_all_is_acknowledged() -> None:
    result = failed()
    assert lost(result, "pe1") == 35
    assert lost(result, "pe2") == 0
    messages = result.messages.assign(completed_ns=pd.array([None], dtype="Int64"))
    assert lost(replace(result, messages=messages), "pe1") is None


def test_arrivals_are_of_all_receivers() -> None:
    result = failed((2 * MS, "pe2", ARRIVED, "r2", 7))
    series = arrivals(result, "pe1")
    assert series.index.tolist() == [MS, 2 * MS, FAILED_NS + 1, 8 * MS, 9 * MS]
    assert series.iloc[-1] == 9 * MS


@pytest.mark.parametrize("text", ["controller away", "thresholds p1-pe2 5, 6"])
def test_other_events_are_no_failures(text: str) -> None:
    result = failed()
    events = (EventInfo(time_ns=1, text=text),)
    assert failovers(replace(result, about=about(events=events))).empty
