"""Modes beside an egress PE whose port to a data centre is congested, and beside one whose data
centre pauses (ALL-1 to ALL-3, FCN-18, SRF-9). `make test` runs every mode of SEEN_HERE once."""

import pytest
from domain_modes import PAUSED_PORT
from mode_checks import (
    HELD_BACK_NS,
    NOTICES,
    PARA_TYPES,
    check_losses,
    check_order,
    check_unchanged,
    delays,
    holds,
    moves,
    notifications,
    roce_streams,
    through_the_queue,
    told,
)
from mode_frames import Carried
from mode_pairs import committed_runs, name_of, params_of, with_every_mode
from mode_world import EGRESS, PAUSED, PAUSED_HOST, STREAMS, Seen, run_modes

from fcn.contract.ecn import Ecn

RUNS = {name_of(number, run): run for number, run in enumerate(committed_runs(), 1)}
WORLDS = {
    f"{place}-{name}": (place, name)
    for name, run in RUNS.items()
    for place in (EGRESS, PAUSED)
    if place == EGRESS or run["heed_pause"] == "on"
}
SEEN_HERE = ("notification", "flow_control", "heed_pause", "treatment")
"""What the queue before a data centre meets; the others have every day in the other file."""
EVERYDAY = with_every_mode(
    [
        {mode: value for mode, value in RUNS[run].items() if mode in SEEN_HERE} | {"place": place}
        for place, run in WORLDS.values()
    ]
)
LAST_HOPS = ("p2", "p5")
"""Neighbours of the egress PE."""


@pytest.fixture(scope="module", params=params_of(WORLDS, EVERYDAY))
def seen(request: pytest.FixtureRequest) -> Seen:
    """One run."""
    place, run = WORLDS[request.param]
    return run_modes(RUNS[run], place)


def _of_the_port(seen: Seen) -> list[Carried]:
    """What the troubled port has delivered."""
    return [each for each in seen.data("pe2", PAUSED_HOST) if each.kind == "data"]


def _notices(seen: Seen, near: str, far: str) -> list[Carried]:
    """What tells the ingress PE."""
    kind = NOTICES[seen.modes["notification"]]
    return [each for each in notifications(seen, near, far) if each.kind == kind]


def _arns(seen: Seen) -> list[Carried]:
    """What the egress PE asks its neighbours."""
    return [
        each
        for neighbour in LAST_HOPS
        for each in notifications(seen, "pe2", neighbour)
        if each.kind == "arn"
    ]


# -- customers' packets ------------------------------------------------------------------------


def test_nothing_is_lost(seen: Seen) -> None:
    check_losses(seen)


def test_flows_are_in_order(seen: Seen) -> None:
    """But for those that leave a congested path: that of the drained packets, too."""
    treated = seen.modes.get("treatment") == "reroute"
    waits = seen.place == PAUSED or holds(seen)
    check_order(seen, may_move=treated or (waits and moves(seen)))


def test_packets_are_as_they_were(seen: Seen) -> None:
    check_unchanged(seen)


def test_a_congested_port_marks(seen: Seen) -> None:
    """SRF-3: whatever the tunnel did with the ECN field, this queue is the customer's."""
    if seen.place != EGRESS:
        return
    marks = {each.ecn for each in _of_the_port(seen)}
    assert Ecn.CE in marks
    assert all(
        each.ecn == Ecn.NOT_ECT
        for each in _of_the_port(seen)
        if not STREAMS[each.stream or 0].source_qp
    )


# -- notifications -----------------------------------------------------------------------------


def test_the_ingress_pe_is_told_as_the_mode_says(seen: Seen) -> None:
    """FCN-18; mode fantel says nothing of a port to a data centre. What drains after a hold or a
    pause may make queues that are told of, too."""
    kind = NOTICES[seen.modes["notification"]]
    said = [each for near in LAST_HOPS for each in _notices(seen, "pe2", near)]
    arrived = [each for near in ("p1", "p3") for each in _notices(seen, near, "pe1")]
    others = {each.kind for near in ("p1", "p3") for each in notifications(seen, near, "pe1")}
    if kind in (None, "fantel"):
        assert not said
    elif seen.place == EGRESS:
        assert 0 < len(said) <= len(arrived)
        assert len(said) == len(arrived) or holds(seen)
    assert others <= {kind, "fantel", "arn"}


def test_notices_pass_soon_and_unmarked(seen: Seen) -> None:
    """ALL-1: from the egress PE to the ingress PE, whatever is held meanwhile."""
    kind = NOTICES[seen.modes["notification"]]
    if kind == "fantel":
        return
    for hops in (("pe2", "p2", "p1", "pe1"), ("pe2", "p5", "p4", "p3", "pe1")):
        first = _notices(seen, hops[0], hops[1])
        assert all(each.ecn == Ecn.NOT_ECT for each in first)
        late = delays(first, _notices(seen, hops[-2], hops[-1]))
        assert all(0 < each <= (len(hops) - 2) * HELD_BACK_NS for each in late)


def test_senders_are_told(seen: Seen) -> None:
    """FCN-13, SRF-4, PEC-3, PEC-4: each flow of the congested port, no flow of another one."""
    senders = set(told(seen))
    relieved = holds(seen) and seen.modes["relief"] == "cnp"
    kind = NOTICES[seen.modes["notification"]]
    through = {stream.number for stream in roce_streams() if stream.port == PAUSED_PORT}
    if seen.place == EGRESS and kind not in (None, "fantel"):
        if seen.modes.get("treatment") not in ("slow", "reroute"):
            assert through_the_queue(seen) == through
            assert senders == through or (holds(seen) and senders > through)
        else:
            assert senders <= through
        if seen.modes["notification"] == "two-threshold":
            assert seen.counts["pe1"]["LIGHT_CONGESTION"] > 0
    elif not relieved and (kind is None or (seen.place == EGRESS and not holds(seen))):
        assert not senders


# -- neighbours --------------------------------------------------------------------------------


def test_neighbours_hold_for_a_data_centre(seen: Seen) -> None:
    """SRF-9; and for its congested port (SRF-7)."""
    arns = _arns(seen)
    parked = {node: counts["HOLD_PARKED"] for node, counts in seen.counts.items()}
    assert parked == {node: counts["HOLD_LEFT"] for node, counts in seen.counts.items()}
    assert not any(counts["HOLD_SKIPPED"] for counts in seen.counts.values())
    if not holds(seen):
        assert not arns
        return
    assert {each.datagram[40 + 8 + 3] for each in arns} == {PARA_TYPES[seen.modes["flow_control"]]}
    assert {each.event for each in arns} == {1, 2}
    assert (parked["pe2"] > 0) == (seen.place == PAUSED)
    assert any(parked[node] > 0 for node in LAST_HOPS)


def test_nothing_reaches_a_data_centre_that_pauses(seen: Seen) -> None:
    """SRF-9: but what was in the port's queue."""
    if seen.place != PAUSED:
        return
    begin, _, end = (
        each.time_ns for each in seen.carried[PAUSED_HOST, "pe2"] if each.kind == "pause"
    )
    meanwhile = [each for each in _of_the_port(seen) if begin + HELD_BACK_NS < each.time_ns < end]
    assert not meanwhile
    assert [each for each in _of_the_port(seen) if each.time_ns < begin]
    assert [each for each in _of_the_port(seen) if each.time_ns > end]


def test_other_ports_go_on(seen: Seen) -> None:
    """SRF-6: where neighbours hold flows, those of the other data centre are none of them."""
    if seen.place != PAUSED or seen.modes["flow_control"] != "flow":
        return
    (other,) = (
        each
        for each in seen.carried
        if each[0] == "pe2" and each[1].startswith("h2") and each[1] != PAUSED_HOST
    )
    sent = {
        (each.stream, each.number): each.time_ns
        for each in seen.data(other[1].replace("h2", "h1"), "pe1")
    }
    late = [each.time_ns - sent[each.stream, each.number] for each in seen.data(*other)]
    assert late
    assert max(late) <= 6 * HELD_BACK_NS
