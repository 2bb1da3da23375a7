"""Figures of results written by hand, against figures computed by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from lab_results import about, congested, with_pauses

from fcn.lab.result import analysis
from fcn.lab.result.model import Result
from fcn.lab.result.tables import frame

TABLE_FUNCTIONS = [
    analysis.messages, analysis.flow_completion, analysis.goodput, analysis.fairness,
    analysis.order, analysis.marks, analysis.notifications,
    analysis.pauses, analysis.queues, analysis.learning,
]  # fmt: skip


def records(data: pd.DataFrame) -> list[dict[Any, Any]]:
    found: list[dict[Any, Any]] = data.to_dict("records")
    return found


def test_flow_completion_times_by_size_and_of_all() -> None:
    rows: list[tuple[Any, ...]] = [("l1", n, n, 10_000, 0, 1000 * (n + 1)) for n in range(200)]
    rows += [("l1", 0, 900, 10_001, 500, 10_500), ("l1", 0, 901, 10**9, 0, None)]
    result = Result(about(), messages=frame("messages", rows))
    small, middle, large, whole = records(analysis.flow_completion(result))
    assert (small["size"], small["messages"], small["completed"]) == ("up to 10 kB", 200, 200)
    assert (small["mean_ns"], small["median_ns"]) == (100_500, 100_500)
    assert (small["p99_ns"], small["max_ns"]) == (198_000, 200_000)
    assert (middle["size"], middle["mean_ns"]) == ("up to 100 kB", 10_000)
    assert (large["size"], large["messages"], large["completed"]) == ("over 100 MB", 1, 0)
    assert pd.isna(large["mean_ns"])
    assert (whole["size"], whole["messages"], whole["completed"]) == ("all", 202, 201)


def test_messages_of_the_warm_up_are_not_measured() -> None:
    result = replace(congested(), about=about(warm_up_ns=100))
    assert analysis.messages(result)["start_ns"].tolist() == [100, 500_000]


def test_goodput_is_over_the_time_in_which_there_was_something_to_send() -> None:
    first, second = records(analysis.goodput(congested()))
    assert first["active_ns"] == 12_800_100
    assert first["goodput_bps"] == 96_000 * 8 * 1e9 / 12_800_100
    assert second["active_ns"] == 20_000_000 - 500_000, "not completed: until the end of the run"


def test_goodput_of_a_connection_without_messages_is_unknown() -> None:
    result = replace(congested(), messages=frame("messages"))
    assert analysis.goodput(result)["goodput_bps"].isna().all()


def test_fairness_counts_those_that_have_something_to_send() -> None:
    data = analysis.fairness(congested("fcn")).set_index("time_ns")
    assert tuple(data.loc[0]) == (1, 1.0)
    assert tuple(data.loc[1_000_000]) == (2, 1.0)
    assert tuple(data.loc[2_000_000]) == (2, (1e11 + 5e10) ** 2 / (2 * (1e22 + 25e20)))
    assert tuple(data.loc[15_000_000]) == (1, 1.0)


def test_what_all_hosts_sent_is_the_difference_of_two_samples() -> None:
    rows = [(0, "l1", 0, 1e9, 0, 0), (10, "l1", 0, 1e9, 0, 100), (20, "l2", 0, 1e9, 0, 50)]
    rows += [(30, "l1", 0, 1e9, 0, 300)]
    found = analysis.sent(Result(about(), rates=frame("rates", rows)))
    assert found.to_dict() == {10: 80e9, 20: 40e9, 30: 160e9}


def test_a_rate_counts_while_a_message_is_not_acknowledged() -> None:
    """Two messages with a pause between them, and a connection without any."""
    rows = [(t, "l1", number, 1e9, 0, 0) for t in range(0, 70, 10) for number in (0, 1)]
    messages = [("l1", 0, 0, 64, 10, 30), ("l1", 0, 1, 64, 50, None)]
    result = Result(about(), rates=frame("rates", rows), messages=frame("messages", messages))
    data = analysis.rates(result)
    assert data["l1", 0].dropna().index.tolist() == [10, 20, 50, 60]
    assert data["l1", 1].isna().all()


@pytest.mark.parametrize(
    ("values", "index"), [([5.0, 5.0, 5.0], 1.0), ([4.0, 0.0], 0.5), ([], None), ([0.0], None)]
)
def test_jain(values: list[float], index: float | None) -> None:
    found = analysis.jain(pd.Series(values, dtype="float64"))
    assert pd.isna(found) if index is None else found == index


def test_marks_are_a_share_of_what_was_sent() -> None:
    assert analysis.marks(congested())["share"].tolist() == [12 / 104, 8 / 100]


def test_notifications_are_counted_where_they_were_seen() -> None:
    rows = {
        (r["place"], r["what"]): r["count"] for r in records(analysis.notifications(congested()))
    }
    assert rows == {
        ("p1", "CE_MARKED"): 20,
        ("p1", "FAST_CNP_SENT"): 1,
        ("hosts", "CNP received from ingress PE"): 1,
        ("hosts", "CNP received from receiver"): 1,
        ("hosts", "CNP sent"): 1,
        ("hosts", "rate cut"): 2,
    }


def test_drops_are_what_ended_elsewhere_than_at_hosts_and_the_controller() -> None:
    """Of 10 that the program of pe1 dropped since the traffic began, 6 are counted under their
    reasons, 2 were hellos, and 1 said light congestion."""
    assert records(analysis.drops(congested())) == [
        {"place": "pe1", "reason": "FLOW_INTERVAL", "frames": 2, "lost": False},
        {"place": "pe1", "reason": "NO_ROUTE", "frames": 4, "lost": True},
        {"place": "p1", "reason": "queue_full_drops", "frames": 9, "lost": True},
        {"place": "p1:2 to pe2:1", "reason": "link down", "frames": 3, "lost": True},
        {"place": "pe1", "reason": "ingress_drops", "frames": 1, "lost": True},
    ]


def test_order_lists_what_came_out_of_order() -> None:
    first = records(analysis.order(congested()))[0]
    assert (first["beyond_gap"], first["retransmitted"], first["naks"]) == (3, 4, 1)


def test_a_pause_lasts_until_its_end_or_the_next() -> None:
    """40 us until it is renewed, 50 us, 10 us until it is ended, and 10 us until the run ends."""
    assert records(analysis.pauses(with_pauses())) == [
        {"node": "pe1", "towards": "p1", "priority": 3, "pauses": 3, "paused_ns": 100_000},
        {"node": "pe1", "towards": "p1", "priority": 4, "pauses": 1, "paused_ns": 10_000},
    ]


def test_depths_of_queues() -> None:
    (row,) = records(analysis.queues(congested()))
    assert (row["samples"], row["max_packets"], row["max_octets"]) == (2000, 120, 132_000)
    assert row["p99_packets"] == 110
    assert row["mean_packets"] == 120 * 120 / 2000


def test_throughput_is_the_difference_of_two_samples() -> None:
    data = analysis.throughput(congested())["p1", "pe2"]
    assert data.unique().tolist() == [80e9]
    assert data.index[0] == 100_000


def test_what_is_not_sampled_is_as_before() -> None:
    rows = [(0, "a", "b", 0, 0, 0), (10, "a", "b", 1, 100, 0), (30, "c", "d", 1, 500, 0)]
    rows += [(50, "a", "b", 2, 200, 0)]
    result = Result(about(), links=frame("links", rows))
    data = analysis.over_time(result, "links", "octets")
    assert data["a", "b"].tolist() == [0, 100, 100, 200]
    assert data["c", "d"].isna().tolist() == [True, True, False, False]
    assert analysis.throughput(result)["a", "b"].tolist() == [80e9, 0, 40e9]


def test_what_the_controller_did_is_summed() -> None:
    assert records(analysis.learning(congested())) == [
        {"node": "pe1", "what": "flow learned", "count": 3, "first_ns": 0, "last_ns": 90_000}
    ]


@pytest.mark.parametrize("function", TABLE_FUNCTIONS)
def test_of_nothing_come_empty_tables_with_columns(
    function: Callable[[Result], pd.DataFrame],
) -> None:
    """A run that was stopped before anything happened."""
    found = function(Result(about(mode="none", finished=False, reached_ns=0)))
    assert found.empty
    assert set(found.columns) == set(function(congested()).columns)


def test_nothing_over_time_is_nothing() -> None:
    nothing = Result(about())
    assert analysis.over_time(nothing, "queues", "packets").empty
    assert analysis.throughput(nothing).empty


def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed() -> None:
    for count in (1, 2, 99, 100, 101, 200, 1000):
        values = pd.Series(range(1, count + 1), dtype="float64")
        for hundredths in (50, 95, 99):
            least = -(-hundredths * count // 100)
            assert analysis.percentile(values, hundredths / 100) == least, (hundredths, count)
    assert pd.isna(analysis.percentile(pd.Series(dtype="float64"), 0.99))
