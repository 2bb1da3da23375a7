"""Utilization of links written by hand, against figures computed by hand."""

import pandas as pd
import pytest
from lab_results import about

from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.result.load import difference, flowlets_moved, utilization, whole_utilization
from fcn.lab.result.model import LinkInfo, Result
from fcn.lab.result.tables import FLOWLETS, PATH, frame

ONE, OTHER = ("p1", "pe2"), ("p1", "pe3")
RATE_BPS = 8 * 10**9
"""An octet in a nanosecond."""


def carried(*rows: tuple[int, str, str, int, int], warm_up_ns: int = 0) -> Result:
    """Frames and octets put on links, which are ready after 40 ns."""
    network = about().network
    links = tuple(
        LinkInfo(a=a, b=b, delay_ns=0, rate_bps=rate)
        for a, b, rate in ((*ONE, RATE_BPS), (*OTHER, RATE_BPS), ("p1", "pe1", 0))
    )
    made = about(warm_up_ns=warm_up_ns, reached_ns=40_000)
    made = made.model_copy(update={"network": network.model_copy(update={"links": links})})
    return Result(made, links=frame("links", [(*row, 0) for row in rows]))


def test_the_line_between_frames_is_in_use_too() -> None:
    frames = 10
    rows = [(0, *ONE, 0, 0), (10_000, *ONE, frames, 5_000 - frames * ETHERNET_OVERHEAD)]
    shares = utilization(carried(*rows), 10_000)
    assert shares[ONE].tolist() == [0.5, 0, 0, 0]
    assert shares.index.tolist() == [10_000, 20_000, 30_000, 40_000]


def test_a_window_has_several_samples_and_begins_after_the_warm_up() -> None:
    rows = [(at, *ONE, 0, at // 4) for at in range(0, 40_001, 5_000)]
    shares = utilization(carried(*rows, warm_up_ns=20_000), 10_000)
    assert shares[ONE].to_dict() == {30_000: 0.25, 40_000: 0.25}


def test_the_utilization_of_the_whole_time() -> None:
    rows = [
        (at, *pair, 0, at // part) for at in (0, 40_000) for pair, part in ((ONE, 4), (OTHER, 8))
    ]
    shares = whole_utilization(carried(*rows))
    assert shares.to_dict("records") == [
        {"node": "p1", "towards": "pe2", "share": 0.25},
        {"node": "p1", "towards": "pe3", "share": 0.125},
    ]
    assert whole_utilization(Result(about(reached_ns=0))).empty


def test_links_without_a_rate_have_no_utilization() -> None:
    shares = utilization(carried((0, "p1", "pe1", 0, 0), (9_000, "p1", "pe1", 1, 64)), 10_000)
    assert shares.empty


def test_a_difference_is_in_parts_of_the_larger() -> None:
    shares = pd.DataFrame({ONE: [0.5, 0.2, 0.0, 0.4], OTHER: [0.25, 0.2, 0.0, 0.8]})
    found = difference(shares, ONE, OTHER)
    assert found.whole == pytest.approx((1.25 - 1.1) / 1.25)
    assert found.mean == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert found.p95 == pytest.approx(0.5)


def test_flowlets_of_all_paths_are_counted() -> None:
    rows = [
        (10, "pe1", FLOWLETS, "to-pe2: a", 2),
        (20, "pe1", FLOWLETS, "to-pe2: a", 5),
        (20, "pe1", FLOWLETS, "to-pe2: b", 1),
        (20, "pe1", PATH, "to-pe2: b", 100),
    ]
    assert flowlets_moved(Result(about(), counters=frame("counters", rows))) == 6
    assert flowlets_moved(Result(about())) == 0
