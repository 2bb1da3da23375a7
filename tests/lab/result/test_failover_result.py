"""Failures of links, on results written by hand."""

from dataclasses import replace

import pandas as pd
import pytest
from lab_results import DETECTED_NS, FAILED_NS, MENDED_NS, MOVED_NS, MS, NEAR_NS, about, link_failed

from fcn.lab.result.failover import arrivals, carried, failovers, lost
from fcn.lab.result.model import EventInfo
from fcn.lab.result.tables import ARRIVED, frame


def test_what_is_found() -> None:
    (row,) = failovers(link_failed()).to_dict("records")
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
    result = link_failed((MENDED_NS + MS, "pe2", ARRIVED, "r1", 10**9), up_at=MOVED_NS - 1)
    (row,) = failovers(result).to_dict("records")
    assert pd.isna(row["moved_ns"])
    assert pd.isna(row["ratio"])
    assert row["path"] == ""


def test_a_failure_that_nobody_saw() -> None:
    result = link_failed()
    unseen = result.counters[result.counters["node"] != "p1"]
    (row,) = failovers(replace(result, counters=unseen)).to_dict("records")
    assert pd.isna(row["detected_ns"])
    assert pd.isna(row["bound_ns"])


def test_a_network_that_does_not_watch_its_links() -> None:
    result = link_failed()
    assert failovers(replace(result, counters=frame("counters", []))).empty


def test_what_is_lost_is_known_when_all_is_acknowledged() -> None:
    result = link_failed()
    assert lost(result, "pe1") == 35
    assert lost(result, "pe2") == 0
    messages = result.messages.assign(completed_ns=pd.array([None], dtype="Int64"))
    assert lost(replace(result, messages=messages), "pe1") is None


def test_arrivals_are_of_all_receivers() -> None:
    result = link_failed((2 * MS, "pe2", ARRIVED, "r2", 7))
    series = arrivals(result, "pe1")
    assert series.index.tolist() == [MS, 2 * MS, FAILED_NS + 1, 8 * MS, 9 * MS]
    assert series.iloc[-1] == 9 * MS


def test_what_paths_carried() -> None:
    series = carried(link_failed(), "pe1")
    assert list(series) == ["to-pe2: a", "to-pe2: b"]
    assert series["to-pe2: b"].index[0] == MOVED_NS
    assert carried(link_failed(), "pe2") == {}


@pytest.mark.parametrize("text", ["controller away", "thresholds p1-pe2 5, 6"])
def test_other_events_are_no_failures(text: str) -> None:
    result = link_failed()
    events = (EventInfo(time_ns=1, text=text),)
    assert failovers(replace(result, about=about(events=events))).empty
