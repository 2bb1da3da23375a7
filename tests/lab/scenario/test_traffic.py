"""Who sends what to whom and when, by pattern and seed."""

import math
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from fcn.lab.scenario.load import Plan, make_scenario
from fcn.lab.scenario.traffic import exponential
from fcn.lab.scenario.wiring import Wiring

MILLISECOND = 1_000_000


def plan(*patterns: dict[str, Any], seed: int = 1) -> Plan:
    """Two data centres of eight hosts, with this traffic for 50 ms."""
    return make_scenario(
        {
            "network": "dual-dc",
            "hosts_per_data_centre": 8,
            "duration": "50ms",
            "seed": seed,
            "links": {"core": {"rate": "400 Gb/s"}, "hosts": {"rate": "100 Gb/s"}},
            "traffic": list(patterns),
        }
    )


def pairs(of: Plan) -> list[tuple[str, str]]:
    """Sender and receiver of every connection."""
    return [(flow.source.name, flow.target.name) for flow in of.traffic.flows]


def test_messages_go_to_the_host_in_the_same_place() -> None:
    pattern = {
        "pattern": "messages", "from": ["d1h[12]", "d1h3"], "to": ["d2h1", "d2h2"],
        "size": "1kB", "count": 3, "interval": "2ms", "start": "1ms", "qps": 2,
    }  # fmt: skip
    made = plan(pattern)
    assert pairs(made)[::2] == pairs(made)[1::2]
    assert pairs(made)[::2] == [("d1h1", "d2h1"), ("d1h2", "d2h2"), ("d1h3", "d2h1")]
    times = {(send.flow, send.start_ns) for send in made.traffic.sends}
    assert times == {(flow, t * MILLISECOND) for flow in range(6) for t in (1, 3, 5)}
    assert {send.size for send in made.traffic.sends} == {1000}


def test_an_incast_goes_to_one_host_at_one_time() -> None:
    made = plan({"pattern": "incast", "from": ["gw1"], "to": ["d2h3"], "size": "64KiB"})
    assert pairs(made) == [(f"d1h{n}", "d2h3") for n in range(1, 9)]
    assert {(send.start_ns, send.size) for send in made.traffic.sends} == {(0, 65536)}


@pytest.mark.parametrize(("sources", "targets"), [("gw1", "gw2"), ("gw1", "gw1")])
def test_a_permutation_has_every_host_once_by_seed(sources: str, targets: str) -> None:
    pattern = {"pattern": "permutation", "from": [sources], "to": [targets], "size": "1kB"}
    found = pairs(plan(pattern))
    assert len({source for source, _ in found}) == len({target for _, target in found}) == 8
    assert all(source != target for source, target in found)
    assert pairs(plan(pattern)) == found
    assert any(pairs(plan(pattern, seed=seed)) != found for seed in (2, 3))


def test_a_permutation_of_sets_that_overlap_sends_nobody_to_itself() -> None:
    pattern = {
        "pattern": "permutation", "from": ["d1h1", "d1h2"], "to": ["d1h2", "d1h1", "d1h3"],
        "size": "1kB",
    }  # fmt: skip
    for seed in range(20):
        found = pairs(plan(pattern, seed=seed))
        assert len(found) == 2
        assert all(source != target for source, target in found)


def test_all_to_all_leaves_out_nobody_but_the_host_itself() -> None:
    made = plan({"pattern": "all-to-all", "from": ["gw2"], "to": ["gw2"], "size": "1kB"})
    assert len(set(pairs(made))) == 8 * 7


def test_exponential_numbers_are_as_often_above_any_value_as_they_must() -> None:
    """20,000 of them: 0.015 is more than four standard deviations of each share."""
    rng = random.Random(1)
    drawn = [exponential(rng, 10**6) for _ in range(20_000)]
    for multiple in (0.1, 0.5, 1, 2, 4):
        above = sum(each > multiple * 10**6 for each in drawn) / len(drawn)
        assert above == pytest.approx(math.exp(-multiple), abs=0.015), multiple
    assert sum(drawn) / len(drawn) == pytest.approx(10**6, rel=0.03)


def test_a_poisson_pattern_offers_its_load() -> None:
    """Of 8 hosts for 50 ms: some 2,700 messages, so that 10 % are five standard deviations."""
    pattern = {
        "pattern": "poisson", "from": ["gw1"], "to": ["gw2"], "load": 0.5, "peers": 3,
        "sizes": [["500kB", 3], ["2MB", 1]], "start": "10ms",
    }  # fmt: skip
    made = plan(pattern)
    octets = sum(send.size for send in made.traffic.sends)
    assert octets * 8 / (8 * 100e9 * 0.04) == pytest.approx(0.5, rel=0.1)
    large = sum(send.size == 2_000_000 for send in made.traffic.sends)
    assert large / len(made.traffic.sends) == pytest.approx(0.25, rel=0.2)
    times = [send.start_ns for send in made.traffic.sends]
    assert times[0] >= 10 * MILLISECOND
    assert all(a <= b for a, b in pairwise(times))
    assert times[-1] < 50 * MILLISECOND
    targets = {name: {t for s, t in pairs(made) if s == name} for name, _ in pairs(made)}
    assert {len(each) for each in targets.values()} == {3}


def test_a_pattern_is_the_same_whatever_stands_after_it() -> None:
    pattern = {"pattern": "poisson", "from": ["gw1"], "to": ["gw2"], "load": 0.1, "size": "1MB"}
    more = {"pattern": "poisson", "from": ["gw2"], "to": ["gw1"], "load": 0.2, "size": "1MB"}
    alone, beside = plan(pattern).traffic, plan(pattern, more).traffic
    assert alone.flows == [flow for flow in beside.flows if flow.pattern == 0]


def test_links_of_hosts_in_data_centres_have_the_rates_of_the_network() -> None:
    made = plan({"pattern": "permutation", "from": ["gw1"], "to": ["gw2"], "size": "1kB"})
    near, far = made.topology.centres
    fast = replace(made.topology, centres=(replace(near, rate_bps=4 * 10**9), far))
    wires = Wiring(made.scenario, fast)
    rates = {wire.a: wire.rate_bps for wire in wires.wires if wire.kind == "host"}
    assert (rates["d1h1"], rates["d2h1"]) == (4 * 10**9, 100 * 10**9)
