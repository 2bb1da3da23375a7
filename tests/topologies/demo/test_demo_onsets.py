"""Onsets of congestion in rounds: the same state before each, and what they are compared by."""

from dataclasses import replace

import pytest
from demo_record import START_NS, at, cnp, event, log, record

from fcn.topologies.demo.measure import MeasureError, Series, measure, time_above
from fcn.topologies.demo.plots import over_onsets, quartiles
from fcn.topologies.demo.scenario import JOIN_S, ROUND_S, SENDING_S, Scenario, demo_scenario
from fcn.topologies.demo.traffic import RunRecord
from fcn.topologies.trafficmanager import QueueDepth

ROUNDS = 4
ROUND_MS, JOIN_MS = ROUND_S * 1000, JOIN_S * 1000
AFTER_JOIN_MS = 10.0
REACTIONS_MS = (13.0, 14.0, 15.0, 20.0)
ABOVE_MS = (30.0, 40.0, 50.0, 60.0)


def scenario() -> Scenario:
    return demo_scenario(ROUNDS * ROUND_S)


def rounds() -> RunRecord:
    """A congestion in every round, which the first sender answers; the queue is long for a while,
    and once more at the end of the round."""
    run = record("ecn")
    line = scenario().dcqcn(scenario().flows[0]).rate_bps
    joins = [ROUND_MS * number + JOIN_MS for number in range(ROUNDS)]
    onsets = [join + AFTER_JOIN_MS for join in joins]
    resets = [(join, "reset", {"qps": 1}) for join in joins]
    cuts = [
        (onset + reaction, "cnp", cnp("10.2.1.10", line))
        for onset, reaction in zip(onsets, REACTIONS_MS, strict=True)
    ]
    rates = [(0.0, "rate", {"qp": 0x11, "rate_bps": line})]
    summary = {"qp": 0x11, "packets": 100}
    logs = [
        log("h1", [*rates, *sorted([*resets, *cuts], key=lambda each: each[0]),
                   (8000.0, "qp_summary", summary)]),
        log("h2", [*rates, *resets, (8000.0, "qp_summary", summary)]),
    ]  # fmt: skip
    depths = [(0.0, 0)]
    for onset, above in zip(onsets, ABOVE_MS, strict=True):
        depths += [(onset, 9), (onset + above - 10, 8), (onset + 900, 20), (onset + 910, 0)]
    return replace(
        run,
        ce_ns=tuple(map(at, onsets)),
        senders=dict(zip(run.senders, logs, strict=True)),
        receivers=dict.fromkeys(run.receivers, run.receivers["h4"]),
        queue=tuple(QueueDepth(at(time), depth, 0, 0) for time, depth in depths),
    )


def test_the_demo_has_rounds_with_a_pause_at_the_end() -> None:
    assert scenario().rounds == ROUNDS
    assert demo_scenario(ROUNDS * ROUND_S + 1).rounds == ROUNDS
    # As long as the queue takes to drain when it is full, and twice that.
    assert 2 * scenario().bottleneck_depth / scenario().bottleneck_pps < ROUND_S - SENDING_S
    assert scenario().together_s == pytest.approx(SENDING_S - JOIN_S)


def test_every_round_has_an_onset() -> None:
    found = measure(scenario(), rounds())
    assert [each.onset_ms for each in found.onsets] == [
        pytest.approx(ROUND_MS * n + JOIN_MS + AFTER_JOIN_MS) for n in range(ROUNDS)
    ]
    assert found.reactions_ms == [pytest.approx(each) for each in REACTIONS_MS]
    assert found.reaction_ms == pytest.approx(14.5)
    assert found.disturbed == 0


def test_time_above_level_1_is_that_of_a_congestion_and_that_of_its_round() -> None:
    found = measure(scenario(), rounds())
    # Until the queue is at the threshold again; 10 ms more later in the round.
    assert found.above_ms == tuple(pytest.approx(each - 10) for each in ABOVE_MS)
    assert found.time_above_ms == pytest.approx(35)
    assert found.round_above_ms == tuple(pytest.approx(each) for each in ABOVE_MS)
    assert found.round_time_above_ms == pytest.approx(45)
    assert found.peaks == (9, 9, 9, 9)


def test_an_onset_after_a_cut_is_left_out() -> None:
    """Noise before it has one sender in another state."""
    run = rounds()
    early = event(ROUND_MS + JOIN_MS + 1, "cnp", cnp("10.2.1.10", 1e6))
    h1 = run.senders["h1"]
    events = tuple(sorted([*h1.events, early], key=lambda each: each.time_ns))
    run = replace(run, senders={**run.senders, "h1": replace(h1, events=events)})
    found = measure(scenario(), run)
    assert found.disturbed == 1
    assert len(found.onsets) == len(found.above_ms) == ROUNDS - 1
    assert found.reactions_ms == [pytest.approx(each) for each in REACTIONS_MS if each != 14.0]


def test_a_cut_before_the_reset_disturbs_nothing() -> None:
    run = rounds()
    early = event(ROUND_MS + JOIN_MS - 1, "cnp", cnp("10.2.1.10", 1e6))
    h1 = run.senders["h1"]
    events = tuple(sorted([*h1.events, early], key=lambda each: each.time_ns))
    run = replace(run, senders={**run.senders, "h1": replace(h1, events=events)})
    assert measure(scenario(), run).disturbed == 0


def test_without_resets_nothing_can_be_compared() -> None:
    run = rounds()
    senders = {
        name: replace(each, events=tuple(e for e in each.events if e.name != "reset"))
        for name, each in run.senders.items()
    }
    with pytest.raises(MeasureError, match="of 4 onsets of congestion none"):
        measure(scenario(), replace(run, senders=senders))


def test_time_above_a_depth() -> None:
    series = Series((0.0, 10.0, 20.0, 30.0), (9.0, 8.0, 12.0, 0.0))
    assert time_above(series, 8, 0, 100) == 20
    assert time_above(series, 8, 5, 25) == 10
    assert time_above(Series((0.0,), (9.0,)), 8, 0, 100) == 100
    assert time_above(Series((), ()), 8, 0, 100) == 0


def test_values_over_onsets_and_their_quartiles() -> None:
    series = Series((0.0, 10.0, 20.0), (1.0, 2.0, 3.0))
    assert over_onsets(series, [0.0, 10.0], 5.0) == [1.0, 2.0]
    assert over_onsets(series, [0.0, 10.0], -5.0) == [1.0], "no value before the first"
    assert quartiles([4.0]) == (4.0, 4.0, 4.0)
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 3.0, 4.0)


def test_records_begin_at_their_start() -> None:
    assert rounds().start_ns == START_NS
