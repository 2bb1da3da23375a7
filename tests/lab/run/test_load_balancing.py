"""Flowlets over two paths of unequal length, of which others load one, in virtual time."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from fcn.lab.result import analysis
from fcn.lab.result.load import Difference, difference, flowlets_moved, utilization
from fcn.lab.result.model import Result
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import load_scenario, make_scenario

MS = 10**6
WARM_UP_NS = 250 * MS
SLOWER = 10
"""Rates and messages are so many times smaller than in the scenario that comes with fcn."""
SEED = 2
"""With which the hash of the flows neither fits the load by chance nor is very far from it."""

GOAL = 0.10
MOST_WITH_A_SLOW_CLOCK = 0.5
"""Of windows; where flows change sides it is 0.6 to 1."""

PATHS = ("r1", "r3"), ("r2", "r4")


def scenario(**balancing: str) -> dict[str, Any]:
    """It, with others from the beginning, and with this of load balancing changed."""
    data: dict[str, Any] = yaml.safe_load(load_scenario("load-background").text)
    slow = {"rate": "1 Gb/s"}
    data["links"]["core"] |= slow
    data["links"]["hosts"] |= slow
    data["hosts"]["dcqcn"] = {
        "line_rate": "40 Mb/s", "min_rate": "10 Mb/s", "additive_increase": "2 Mb/s"
    }  # fmt: skip
    sizes = [["1600B", 0.6], ["6400B", 0.3], ["25600B", 0.1]]
    many, endless, others = data["traffic"]
    data["traffic"] = [
        many | {"sizes": sizes},
        endless | {"size": "5MB"},
        others | {"sizes": sizes, "start": "0ms"},
    ]
    data["controller"]["configuration"]["load_balancing"] |= balancing
    data["measure"]["interval"] = "10ms"
    return data | {"duration": "700ms", "seed": SEED}


def run(data: dict[str, Any]) -> Result:
    """Without its beginning."""
    result = run_scenario(make_scenario(data))
    return replace(result, about=result.about.model_copy(update={"warm_up_ns": WARM_UP_NS}))


@pytest.fixture(scope="module")
def by_hash() -> Result:
    data = scenario()
    del data["controller"]["configuration"]["load_balancing"]
    return run(data)


@pytest.fixture(scope="module")
def by_load() -> Result:
    return run(scenario())


def unequal(result: Result) -> Difference:
    return difference(utilization(result, 10 * MS), *PATHS)


def test_paths_are_loaded_equally_where_a_hash_alone_does_not(
    by_hash: Result, by_load: Result
) -> None:
    assert unequal(by_hash).whole > 3 * GOAL
    assert unequal(by_load).whole < GOAL
    assert unequal(by_load).p95 < unequal(by_hash).mean
    assert flowlets_moved(by_load) > 0
    assert flowlets_moved(by_hash) == 0


def test_no_packet_is_out_of_order(by_load: Result) -> None:
    order = analysis.order(by_load)
    assert order["packets"].sum() > 10_000
    assert not order[["beyond_gap", "repeated", "retransmitted", "naks"]].any(axis=None)


@pytest.mark.exhaustive
def test_flows_with_many_pauses_in_a_round_of_the_clock_do_not_all_go_by_the_same_news() -> None:
    data = scenario()
    data["controller"]["configuration"]["failure_detection"]["interval"] = "100ms"
    many, endless, _ = data["traffic"]
    traffic = [many | {"load": 0.12}, endless]
    result = run(data | {"traffic": traffic, "duration": "900ms", "seed": 3})
    assert flowlets_moved(result) > 0
    assert unequal(result).p95 < MOST_WITH_A_SLOW_CLOCK
    assert not analysis.order(result)["beyond_gap"].any()


@pytest.mark.exhaustive
def test_a_pause_shorter_than_the_difference_of_delays_puts_packets_out_of_order() -> None:
    """So that what the test before did not find would be seen. Packets of a message are further
    apart than these flowlets, and closer than the paths differ."""
    result = run(scenario(flowlet="100us"))
    assert analysis.order(result)["beyond_gap"].sum() > 0
    assert analysis.drops(result)["reason"].eq("queue_drops").sum() == 0
