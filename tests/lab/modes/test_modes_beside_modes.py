"""Modes beside modes: every accepted pair of them is in one of these runs, in which each does what
it is there for (ALL-1 to ALL-3). docs/modes.md has the pairs. `make test` runs every mode once."""

from collections import Counter
from itertools import accumulate

import pytest
from domain_modes import DC_PORTS
from mode_checks import (
    CONGESTION,
    FAILURE,
    HELD_BACK_NS,
    LOAD,
    NOTICES,
    PARA_TYPES,
    check_losses,
    check_order,
    check_unchanged,
    delays,
    holds,
    moves,
    notifications,
    through_the_queue,
    told,
)
from mode_pairs import committed_runs, name_of, params_of, with_every_mode
from mode_world import STREAMS, Seen, run_modes

from fcn.contract.ecn import CLASSIC_RULES, TWO_THRESHOLD_RULES, Ecn, Verdict
from fcn.ptf_tests.lib.packets import flow_label_of

RUNS = {name_of(number, run): run for number, run in enumerate(committed_runs(), 1)}
PLACES = ("p2", "p1", "pe1")
"""Where the queue is: that of a node behind a P, of one behind the ingress PE, and its own."""
WORLDS = {
    f"{place}-{name}": (place, name)
    for number, name in enumerate(RUNS)
    for place in (PLACES[0], PLACES[1 + number % 2])
}
EVERYDAY = with_every_mode([RUNS[run] | {"queue": place} for place, run in WORLDS.values()])
"""Numbers of worlds that together have every mode and place."""
LABEL_BIT = 1 << 19
PASSED_ON = 160
"""Packets in a node, of which so many are held that it asks others: 120 (domain_modes.HOLDING)."""


@pytest.fixture(scope="module", params=params_of(WORLDS, EVERYDAY))
def seen(request: pytest.FixtureRequest) -> Seen:
    """One run."""
    place, run = WORLDS[request.param]
    return run_modes(RUNS[run], place)


def _stays_congested(seen: Seen) -> bool:
    """Whether the queue is beyond all thresholds for long: nothing relieves it but holds."""
    return not moves(seen) and seen.modes.get("treatment") != "slow"


def _watches(seen: Seen) -> bool:
    """Whether nodes say of paths that they have failed."""
    return seen.modes["failure_detection"] == "on" and seen.modes["way"] != "tunnel"


# -- customers' packets ------------------------------------------------------------------------


def test_nothing_is_lost(seen: Seen) -> None:
    check_losses(seen)
    if seen.modes.get("treatment") == "slow":
        assert seen.counts["pe1"]["drop LIGHT_CONGESTION_RATE"] > 0


def test_flows_are_in_order(seen: Seen) -> None:
    check_order(seen, may_move=moves(seen))


def test_packets_are_as_they_were(seen: Seen) -> None:
    check_unchanged(seen)


def test_tunnels_are_those_configured(seen: Seen) -> None:
    """FCN-5; FCN-6: labels of RoCE flows, and no other, have the top bit."""
    next_header, port = {
        "srv6": ({4, 41}, 0),
        "srv6-encaps": ({43}, 0),
        "srv6-via": ({43}, 0),
        "vxlan": ({17}, 4789),
        "gre": ({47}, 0),
        "mpls-udp": ({17}, 6635),
    }[seen.modes["tunnel"]]
    checked = 0
    for each in seen.data("pe1", "p1"):
        assert each.datagram[6] in next_header
        assert port in (0, int.from_bytes(each.datagram[42:44]))
        assert each.stream is not None
        assert bool(flow_label_of(each.datagram) & LABEL_BIT) == bool(
            STREAMS[each.stream].source_qp
        )
        checked += 1
    assert checked


def test_marks_follow_the_ecn_table(seen: Seen) -> None:
    """SRF-1 to SRF-3, PEC-1, PEC-5: from outside to inside at the egress PE."""
    two = seen.modes["notification"] == "two-threshold"
    rules = {
        (rule.inner, rule.outer): rule for rule in (TWO_THRESHOLD_RULES if two else CLASSIC_RULES)
    }
    outer = {
        (each.stream, each.number): Ecn(each.ecn)
        for last in ("p2", "p5")
        for each in seen.carried[last, "pe2"]
        if each.kind == "data"
    }
    for stream in STREAMS:
        for each in seen.arrived[stream.number]:
            mark = outer[stream.number, each.number]
            if stream.ecn is Ecn.NOT_ECT or seen.modes["ecn"] == "compatibility":
                assert mark is Ecn.NOT_ECT
            rule = rules[stream.ecn, mark]
            assert rule.verdict is not Verdict.DISCARD
            assert each.ecn == (mark if rule.verdict is Verdict.TAKE_OUTER else stream.ecn)
    marked = {mark for mark in outer.values() if mark not in (Ecn.NOT_ECT, Ecn.ECT0)}
    if seen.modes["ecn"] == "compatibility":
        assert not marked
    else:
        assert Ecn.CE in marked or two
        # A flow that is rerouted has left before the probability of ECT(1) is high.
        assert marked or seen.modes["treatment"] == "reroute"
        assert Ecn.ECT1 not in marked or two


# -- notifications -----------------------------------------------------------------------------


def test_the_ingress_pe_is_told_as_the_mode_says(seen: Seen) -> None:
    kind = NOTICES[seen.modes["notification"]]
    kinds = Counter(
        each.kind
        for each in notifications(seen, "p1", "pe1")
        if each.kind != "fantel" or each.event == CONGESTION
    )
    expected = {kind} - {None} | ({"arn"} if holds(seen) else set())
    if seen.upstream is None:
        assert not kinds
        return
    assert set(kinds) <= expected
    if kind is not None:
        assert kinds[kind] > 0
    forms = {each.form for each in notifications(seen, "p1", "pe1") if each.kind == "fantel"}
    assert forms <= {seen.modes["fantel_transport"]}


def test_notifications_pass_soon_and_unmarked(seen: Seen) -> None:
    """Of those that pass p1 on their way from p2 to pe1, where nothing is congested: what holds
    where they meet congestion themselves (ALL-1) is for ptf:notifications_on_their_way."""
    notices = [each for each in notifications(seen, "p2", "p1") if each.kind != "arn"]
    assert all(each.ecn == Ecn.NOT_ECT for each in notifications(seen, "p2", "p1"))
    late = delays(notices, notifications(seen, "p1", "pe1"))
    assert all(0 < each <= HELD_BACK_NS for each in late)
    assert late or NOTICES[seen.modes["notification"]] is None or seen.place != "p2"


def test_senders_are_told(seen: Seen) -> None:
    """FCN-12, FCN-13, SRF-4, PEC-3, PEC-4, FAN-6: each flow of the congested queue, by a CNP."""
    senders = told(seen)
    mode = seen.modes["notification"]
    relieved = holds(seen) and seen.modes["relief"] == "cnp"
    if mode == "none" and not relieved:
        assert not senders
    elif mode != "none" and _stays_congested(seen):
        assert set(senders) >= through_the_queue(seen) != set()
    elif mode == "fantel" and not relieved and seen.upstream is not None:
        # Of its own queue the ingress PE tells at once, and leaves the path when its clock says so.
        assert not senders, "there is a better path"
    if mode == "two-threshold":
        assert seen.counts["pe1"]["LIGHT_CONGESTION"] > 0
    if seen.modes.get("treatment") == "slow":
        assert seen.counts["pe1"]["SLOWED"] > 0
    if seen.modes.get("treatment") == "reroute":
        assert seen.counts["pe1"]["REROUTED"] > 0
        assert seen.data("p4", "p5")


# -- neighbours --------------------------------------------------------------------------------


def test_neighbours_hold_what_meets_the_queue(seen: Seen) -> None:
    """SRF-6, SRF-7; test_nothing_is_lost and test_flows_are_in_order say the rest."""
    parked = {node: counts["HOLD_PARKED"] for node, counts in seen.counts.items()}
    arns = [
        each
        for each in (notifications(seen, seen.place, seen.upstream) if seen.upstream else ())
        if each.kind == "arn"
    ]
    assert {each.datagram[40 + 8 + 3] for each in arns} <= {PARA_TYPES[seen.modes["flow_control"]]}
    assert parked == {node: counts["HOLD_LEFT"] for node, counts in seen.counts.items()}
    asked = Counter(each.event for each in arns)
    assert not any(counts["HOLD_SKIPPED"] for counts in seen.counts.values())
    if not holds(seen):
        assert not asked
        assert not any(parked.values())
    elif _stays_congested(seen) and seen.upstream is not None:
        assert asked[1] > 0
        assert asked[2] > 0
        assert parked[seen.upstream] > 0


def test_the_data_centre_is_relieved(seen: Seen) -> None:
    """SRF-8: where what p1 holds is passed on, by PAUSE frames or CNPs as configured."""
    pauses = [
        each for port in DC_PORTS for each in seen.carried["pe1", f"h1-{port}"]
        if each.kind == "pause"
    ]  # fmt: skip
    by_pause = holds(seen) and seen.modes["relief"] == "pfc"
    assert by_pause or not pauses
    own = seen.upstream is None and _stays_congested(seen)
    # What is dropped there is not held.
    filled = seen.modes.get("treatment") != "slow" and _most_in_pe1(seen) > PASSED_ON
    if holds(seen) and (own or filled):
        assert pauses if by_pause else told(seen)


def _most_in_pe1(seen: Seen) -> int:
    """The most packets that were in the ingress PE at once."""
    steps = [
        (each.time_ns, step)
        for ends, step in (
            (("h1-4", "pe1"), 1),
            (("h1-5", "pe1"), 1),
            (("pe1", "p1"), -1),
            (("pe1", "p3"), -1),
        )
        for each in seen.data(*ends)
    ]
    return max(accumulate(step for _, step in sorted(steps)))


# -- paths -------------------------------------------------------------------------------------


def test_traffic_leaves_a_congested_path(seen: Seen) -> None:
    """FAN-6."""
    if seen.modes["notification"] != "fantel" or not moves(seen):
        return
    if seen.upstream is None:
        return
    first = min(
        each.time_ns for each in notifications(seen, "p1", "pe1") if each.event == CONGESTION
    )
    late = [each for each in seen.data("pe1", "p1")
            if first + HELD_BACK_NS < each.time_ns < seen.begun + 5_000_000]  # fmt: skip
    assert not late
    assert seen.data("p4", "p5")


def test_traffic_leaves_a_failed_path(seen: Seen) -> None:
    """FAN-4, FAN-5: of what was sent when the failure had been found all has arrived."""
    if seen.cut is None:
        return
    late = [
        each for each in seen.carried["p4", "p5"]
        if each.kind == "data" and each.time_ns >= seen.found
    ]  # fmt: skip
    arrived = [
        each for packets in seen.arrived.values() for each in packets
        if each.time_ns >= seen.found
    ]  # fmt: skip
    assert len(late) == len(arrived) > 0
    assert [
        each for each in notifications(seen, "p1", "pe1")
        if (each.kind, each.event) == ("fantel", FAILURE) and each.time_ns > seen.cut
    ]  # fmt: skip


def test_loads_are_said(seen: Seen) -> None:
    """FAN-7: of paths that are compared."""
    said = [each for each in notifications(seen, "p1", "pe1") if each.event == LOAD]
    compared = seen.modes["load_balancing"] == "on" and seen.modes["way"] == "paths"
    assert bool([each for each in said if each.kind == "fantel"]) == compared


def test_nothing_else_is_said_of_paths(seen: Seen) -> None:
    kinds = {each.kind for each in seen.carried["p1", "pe1"]}
    assert "fantel" not in kinds or _watches(seen)
    assert ("hello" in kinds) == (seen.modes["failure_detection"] == "on")
