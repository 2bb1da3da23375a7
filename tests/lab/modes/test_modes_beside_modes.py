"""Modes beside modes: every accepted pair of them is in one of these runs, in which each does what
it is there for (ALL-1 to ALL-3). docs/modes.md has the pairs. `make test` runs every mode once."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from ipaddress import ip_address
from itertools import accumulate

import pytest
from domain_modes import DC_PORTS
from mode_frames import Carried
from mode_pairs import committed_runs, name_of, with_every_mode
from mode_world import STREAMS, Seen, Stream, run_modes

from fcn.contract.ecn import CLASSIC_RULES, TWO_THRESHOLD_RULES, Ecn, Verdict
from fcn.packets.icrc import icrc_valid
from fcn.packets.roce import ROCEV2_PORT
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
KINDS = {
    "none": None,
    "fcn": "fast-cnp",
    "two-threshold": "fast-cnp",
    "end-con": "end-con-cnp",
    "fantel": "fantel",
}
"""What nodes tell the ingress PE of congestion with."""
FAILURE, CONGESTION, LOAD = 1, 3, 5
LABEL_BIT = 1 << 19
PARA_TYPES = {"off": 0, "service": 0x9, "flow": 0x9, "priority": 0xC}
"""Of an ARN: five-tuple or priority, and time."""
HELD_BACK_NS = 30_000
"""A notification from a neighbour's queue to the next node's: 10 us of fibre, and the time of the
frames that are before it."""
PASSED_ON = 160
"""Packets in a node, of which so many are held that it asks others: 120 (domain_modes.HOLDING)."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(world, marks=() if number in EVERYDAY else pytest.mark.exhaustive)
        for number, world in enumerate(WORLDS)
    ],
)
def seen(request: pytest.FixtureRequest) -> Seen:
    """One run."""
    place, run = WORLDS[request.param]
    return run_modes(RUNS[run], place)


def _roce() -> list[Stream]:
    return [stream for stream in STREAMS if stream.source_qp]


def _moves(seen: Seen) -> bool:
    """Whether flows change their path because of congestion."""
    way, waits = seen.modes["way"], seen.modes["load_balancing"] == "on"
    # Flows that are balanced leave a congested path in a pause, too.
    others = way == "backup" or (way == "paths" and not waits)
    return seen.modes.get("treatment") == "reroute" or (
        seen.modes["notification"] == "fantel" and others
    )


def _stays_congested(seen: Seen) -> bool:
    """Whether the queue is beyond all thresholds for long: nothing relieves it but holds."""
    return not _moves(seen) and seen.modes.get("treatment") != "slow"


def _holds(seen: Seen) -> bool:
    return seen.modes["flow_control"] != "off"


def _watches(seen: Seen) -> bool:
    """Whether nodes say of paths that they have failed."""
    return seen.modes["failure_detection"] == "on" and seen.modes["way"] != "tunnel"


def _through_the_queue(seen: Seen) -> set[int]:
    """Streams of RoCEv2 with packets in the congested queue."""
    counted = Counter(each.stream for each in seen.queued)
    return {stream.number for stream in _roce() if counted[stream.number] >= 20}


# -- customers' packets ------------------------------------------------------------------------


def test_nothing_is_lost(seen: Seen) -> None:
    lost = {
        stream.number: seen.sent[stream.number] - len(seen.arrived[stream.number])
        for stream in STREAMS
    }
    dropped = seen.counts["pe1"]["drop LIGHT_CONGESTION_RATE"]
    if seen.modes.get("treatment") == "slow":
        assert dropped > 0
        assert sum(lost.values()) == dropped, "the policer alone drops"
    else:
        assert not {number: count for number, count in lost.items() if count}
    allowed = {"drop INGRESS", "drop FLOW_INTERVAL", "drop NODE_RATE_LIMIT",
               "drop LIGHT_CONGESTION_RATE", "drop UNKNOWN_PORT"}  # fmt: skip
    # A path that was cut has lost a hello or a message.
    for node, counts in seen.counts.items():
        assert {name for name in counts if name.startswith("drop ")} <= allowed, node


def test_flows_are_in_order(seen: Seen) -> None:
    for number, packets in seen.arrived.items():
        numbers = [packet.number for packet in packets]
        assert len(set(numbers)) == len(numbers), number
        if not _moves(seen):
            assert numbers == sorted(numbers), number


def test_packets_are_as_they_were(seen: Seen) -> None:
    """But for ECN, and one hop at each PE."""
    for port, vlan in DC_PORTS.items():
        sent = {(each.stream, each.number): each for each in seen.carried[f"h1-{port}", "pe1"]}
        for each in seen.carried["pe2", f"h2-{port}"]:
            if each.kind == "data":
                assert each.vlan == vlan
                assert _plain(each, 0) == _plain(sent[each.stream, each.number], 2)


def _plain(frame: Carried, hops: int) -> bytes:
    """Without ECN and checksum, after so many hops."""
    octets = bytearray(frame.datagram)
    if octets[0] >> 4 == 4:
        octets[1] &= 0xFC
        octets[8] -= hops
        octets[10:12] = bytes(2)
    else:
        octets[1] &= 0xCF
        octets[7] -= hops
    return bytes(octets)


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


def _notifications(seen: Seen, near: str, far: str) -> Iterator[Carried]:
    """On a core link."""
    yield from (each for each in seen.carried[near, far] if each.kind not in ("", "data", "hello"))


def test_the_ingress_pe_is_told_as_the_mode_says(seen: Seen) -> None:
    kind = KINDS[seen.modes["notification"]]
    kinds = Counter(
        each.kind
        for each in _notifications(seen, "p1", "pe1")
        if each.kind != "fantel" or each.event == CONGESTION
    )
    expected = {kind} - {None} | ({"arn"} if _holds(seen) else set())
    if seen.upstream is None:
        assert not kinds
        return
    assert set(kinds) <= expected
    if kind is not None:
        assert kinds[kind] > 0
    forms = {each.form for each in _notifications(seen, "p1", "pe1") if each.kind == "fantel"}
    assert forms <= {seen.modes["fantel_transport"]}


def test_notifications_pass_soon_and_unmarked(seen: Seen) -> None:
    """Of those that pass p1 on their way from p2 to pe1, where nothing is congested: what holds
    where they meet congestion themselves (ALL-1) is for ptf:notifications_on_their_way."""
    passed: dict[bytes, deque[int]] = defaultdict(deque)
    for each in _notifications(seen, "p1", "pe1"):
        passed[_behind_hop_limit(each)].append(each.time_ns)
    count = 0
    for each in _notifications(seen, "p2", "p1"):
        assert each.ecn == Ecn.NOT_ECT
        if each.kind != "arn":
            late = passed[_behind_hop_limit(each)].popleft() - each.time_ns
            assert 0 < late <= HELD_BACK_NS
            count += 1
    assert count or KINDS[seen.modes["notification"]] is None or seen.place != "p2"


def _behind_hop_limit(frame: Carried) -> bytes:
    return frame.datagram[:7] + frame.datagram[8:]


def test_senders_are_told(seen: Seen) -> None:
    """FCN-12, FCN-13, SRF-4, PEC-3, PEC-4, FAN-6: each flow of the congested queue, by a CNP."""
    told = _told(seen)
    mode = seen.modes["notification"]
    relieved = _holds(seen) and seen.modes["relief"] == "cnp"
    if mode == "none" and not relieved:
        assert not told
    elif mode != "none" and _stays_congested(seen):
        assert set(told) >= _through_the_queue(seen) != set()
    elif mode == "fantel" and not relieved and seen.upstream is not None:
        # Of its own queue the ingress PE tells at once, and leaves the path when its clock says so.
        assert not told, "there is a better path"
    if mode == "two-threshold":
        assert seen.counts["pe1"]["LIGHT_CONGESTION"] > 0
    if seen.modes.get("treatment") == "slow":
        assert seen.counts["pe1"]["SLOWED"] > 0
    if seen.modes.get("treatment") == "reroute":
        assert seen.counts["pe1"]["REROUTED"] > 0
        assert seen.data("p4", "p5")


def _told(seen: Seen) -> Counter[int]:
    """How many CNPs the sender of each stream got; every one is sound."""
    found: Counter[int] = Counter()
    for port, vlan in DC_PORTS.items():
        for each in seen.carried["pe1", f"h1-{port}"]:
            if each.kind != "cnp":
                continue
            stream = _stream_of(each, port)
            assert icrc_valid(each.datagram)
            assert each.vlan == vlan
            gateway = f"10.1.{port}.1" if stream.version == 4 else f"2001:db8:1:{port}::1"
            source = stream.dst if seen.modes["cnp_source"] == "peer" else gateway
            assert _addresses(each) == (ip_address(source), ip_address(stream.src))
            found[stream.number] += 1
    return found


def _stream_of(cnp: Carried, port: int) -> Stream:
    """By the queue pair that is to be slowed down."""
    at = 20 if cnp.datagram[0] >> 4 == 4 else 40
    assert int.from_bytes(cnp.datagram[at + 2 : at + 4]) == ROCEV2_PORT
    dest_qp = int.from_bytes(cnp.datagram[at + 13 : at + 16])
    (stream,) = (each for each in _roce() if each.source_qp == dest_qp)
    assert stream.port == port
    return stream


def _addresses(frame: Carried) -> tuple[object, object]:
    octets = frame.datagram
    if octets[0] >> 4 == 4:
        return ip_address(octets[12:16]), ip_address(octets[16:20])
    return ip_address(octets[8:24]), ip_address(octets[24:40])


# -- neighbours --------------------------------------------------------------------------------


def test_neighbours_hold_what_meets_the_queue(seen: Seen) -> None:
    """SRF-6, SRF-7; test_nothing_is_lost and test_flows_are_in_order say the rest."""
    parked = {node: counts["HOLD_PARKED"] for node, counts in seen.counts.items()}
    arns = [
        each
        for each in (_notifications(seen, seen.place, seen.upstream) if seen.upstream else ())
        if each.kind == "arn"
    ]
    assert {each.datagram[40 + 8 + 3] for each in arns} <= {PARA_TYPES[seen.modes["flow_control"]]}
    assert parked == {node: counts["HOLD_LEFT"] for node, counts in seen.counts.items()}
    asked = Counter(each.event for each in arns)
    assert not any(counts["HOLD_SKIPPED"] for counts in seen.counts.values())
    if not _holds(seen):
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
    by_pause = _holds(seen) and seen.modes["relief"] == "pfc"
    assert by_pause or not pauses
    own = seen.upstream is None and _stays_congested(seen)
    # What is dropped there is not held.
    filled = seen.modes.get("treatment") != "slow" and _most_in_pe1(seen) > PASSED_ON
    if _holds(seen) and (own or filled):
        assert pauses if by_pause else _told(seen)


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
    if seen.modes["notification"] != "fantel" or not _moves(seen):
        return
    if seen.upstream is None:
        return
    first = min(
        each.time_ns for each in _notifications(seen, "p1", "pe1") if each.event == CONGESTION
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
        each for each in _notifications(seen, "p1", "pe1")
        if (each.kind, each.event) == ("fantel", FAILURE) and each.time_ns > seen.cut
    ]  # fmt: skip


def test_loads_are_said(seen: Seen) -> None:
    """FAN-7: of paths that are compared."""
    said = [each for each in _notifications(seen, "p1", "pe1") if each.event == LOAD]
    compared = seen.modes["load_balancing"] == "on" and seen.modes["way"] == "paths"
    assert bool([each for each in said if each.kind == "fantel"]) == compared


def test_nothing_else_is_said_of_paths(seen: Seen) -> None:
    kinds = {each.kind for each in seen.carried["p1", "pe1"]}
    assert "fantel" not in kinds or _watches(seen)
    assert ("hello" in kinds) == (seen.modes["failure_detection"] == "on")
