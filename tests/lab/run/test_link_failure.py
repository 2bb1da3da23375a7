"""A link dies under RDMA traffic, in virtual time: what the data plane does, and what others do."""

from typing import Any

import pandas as pd
import pytest
import yaml

from fcn.lab.result.failover import failovers
from fcn.lab.result.model import Result
from fcn.lab.result.tables import LINK_DOWN, LINK_UP, PATH
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import ScenarioError, load_scenario, make_scenario

MS = 10**6
HELLO_NS = MS
DETECTION_NS = 3 * HELLO_NS
FAILS_NS = 20 * MS
DELAY_NS = 5 * MS
"""Of the controller's channel, one way."""
WAYS = ("data-plane", "messages", "controller", "igp")


def scenario(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever YAML holds
    """The one that comes with fcn, shorter, with hellos every millisecond."""
    data: dict[str, Any] = yaml.safe_load(load_scenario("failover").text)
    data["controller"]["configuration"]["failure_detection"]["interval"] = "1ms"
    data["traffic"][0]["size"] = "8MB"
    data |= {"duration": "250ms", "events": [down(FAILS_NS)]}
    return data | changes


def down(at: int, state: str = "down") -> dict[str, Any]:
    return {"at": f"{at}ns", "link": ["r1", "r3"], "state": state}


@pytest.fixture(scope="module")
def runs() -> dict[str, Result]:
    """Each way to recover. With the data plane's the controller is away the whole time."""
    found = {}
    for by in WAYS:
        away = [{"at": "5ms", "controller": "away"}] if by in WAYS[:2] else []
        data = scenario(recovery={"by": by}, events=[*away, down(FAILS_NS)])
        found[by] = run_scenario(make_scenario(data, by))
    return found


def the(result: Result) -> "pd.Series[Any]":
    """Its only failure."""
    found = failovers(result)
    assert len(found) == 1
    return found.iloc[0]


def events(result: Result, name: str) -> int:
    counted = result.counters[result.counters["name"] == name]
    return int(counted.groupby("node")["value"].max().sum())


@pytest.mark.parametrize("by", WAYS)
def test_the_node_at_the_link_knows_in_time(runs: dict[str, Result], by: str) -> None:
    failure = the(runs[by])
    assert (failure["link"], failure["pe"], failure["node"]) == ("r1-r3", "pe1", "r1")
    # The last packet may be older than the failure, and the clock comes once in an interval.
    assert DETECTION_NS - HELLO_NS < failure["detected_ns"] <= DETECTION_NS + 2 * HELLO_NS
    assert failure["bound_ns"] == failure["detected_ns"] + MS // 2


@pytest.mark.parametrize("by", ["data-plane", "messages"])
def test_the_pe_takes_another_path_soon_without_a_controller(
    runs: dict[str, Result], by: str
) -> None:
    failure = the(runs[by])
    assert 1 <= failure["ratio"] <= 1.1
    assert failure["path"] == "to-pe2: to-pe2-2"
    arrived = runs[by].controller
    assert arrived[arrived["time_ns"] > 5 * MS + DELAY_NS].empty


def test_packets_go_round_the_link_until_then(runs: dict[str, Result]) -> None:
    round_it, straight = runs["data-plane"], runs["messages"]
    assert events(round_it, "REPAIRED") > 0
    assert events(straight, "REPAIRED") == 0
    assert the(round_it)["lost"] < the(straight)["lost"]
    assert the(round_it)["silent_ns"] < the(straight)["silent_ns"]


def test_the_controller_alone_is_later(runs: dict[str, Result]) -> None:
    failure = the(runs["controller"])
    # What it reads, it hears a channel later, and what it says arrives a channel later.
    assert failure["moved_ns"] > failure["detected_ns"] + 2 * DELAY_NS
    assert failure["lost"] > the(runs["messages"])["lost"]
    assert events(runs["controller"], "REPAIRED") == 0


def test_routing_alone_is_later_still(runs: dict[str, Result]) -> None:
    failure = the(runs["igp"])
    assert failure["silent_ns"] > failure["detected_ns"] + 60 * MS
    assert failure["lost"] > the(runs["controller"])["lost"]
    # The PE's path is the same; it leads another way now.
    assert pd.isna(failure["moved_ns"])


@pytest.mark.parametrize("by", WAYS)
def test_all_arrives(runs: dict[str, Result], by: str) -> None:
    assert runs[by].messages["completed_ns"].notna().all()


def test_a_controller_that_comes_back_leaves_it_as_it_is() -> None:
    """And when the link is mended, traffic goes back after the hold-down."""
    back, mended, hold_down = 60 * MS, 120 * MS, 100 * MS
    result = run_scenario(
        make_scenario(
            scenario(
                duration="400ms",
                traffic=[{"pattern": "messages", "from": ["h1"], "to": ["h3"], "size": "40MB"}],
                events=[
                    {"at": "5ms", "controller": "away"},
                    down(FAILS_NS),
                    {"at": f"{back}ns", "controller": "back"},
                    down(mended, "up"),
                ],
            )
        )
    )
    asked = result.controller[result.controller["time_ns"] > back]
    assert not asked.empty
    # Only that flows are watched, whose mappings are looked at again.
    written = asked[asked["what"] == "Write"]
    assert sorted(written["node"]) == ["pe1", "pe2"]
    paths = result.counters[(result.counters["kind"] == PATH) & (result.counters["node"] == "pe1")]
    used = {
        name: rows.loc[rows["value"].diff() > 0, "time_ns"] for name, rows in paths.groupby("name")
    }
    first, second = used["to-pe2: to-pe2-1"], used["to-pe2: to-pe2-2"]
    failure = the(result)
    assert FAILS_NS < second.min() <= FAILS_NS + 1.1 * failure["bound_ns"]
    again = first[first > second.min()].min()
    assert mended + hold_down < again < mended + hold_down + 10 * MS
    assert second.max() < again
    kinds = result.counters["kind"]
    assert set(result.counters.loc[kinds == LINK_UP, "name"]) >= {"r1", "r3"}
    assert result.counters.loc[kinds == LINK_DOWN, "value"].max() == 1


def test_recovery_needs_links_that_are_watched() -> None:
    data = scenario(network="wan", recovery={"by": "igp"}, events=[])
    data["controller"] = {}
    with pytest.raises(ScenarioError, match="no link of wan is watched"):
        make_scenario(data)
