"""What holds of a run whatever its modes, and what its modes mean (ALL-1 to ALL-3)."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from ipaddress import ip_address

from domain_modes import DC_PORTS
from mode_frames import Carried
from mode_world import STREAMS, Seen, Stream

from fcn.packets.icrc import icrc_valid
from fcn.packets.roce import ROCEV2_PORT

NOTICES = {
    "none": None,
    "fcn": "fast-cnp",
    "two-threshold": "fast-cnp",
    "end-con": "end-con-cnp",
    "fantel": "fantel",
}
"""What nodes tell the ingress PE of congestion with."""
FAILURE, CONGESTION, LOAD = 1, 3, 5
PARA_TYPES = {"off": 0, "service": 0x9, "flow": 0x9, "priority": 0xC}
"""Of an ARN: five-tuple or priority, and time."""
HELD_BACK_NS = 30_000
"""A notification from a neighbour's queue to the next node's: 10 us of fibre, and the time of the
frames that are before it."""


def holds(seen: Seen) -> bool:
    """Whether neighbours hold."""
    return seen.modes["flow_control"] != "off"


def roce_streams() -> list[Stream]:
    """Those of RoCEv2."""
    return [stream for stream in STREAMS if stream.source_qp]


def through_the_queue(seen: Seen) -> set[int]:
    """Streams of RoCEv2 with packets in the congested queue."""
    counted = Counter(each.stream for each in seen.queued)
    return {stream.number for stream in roce_streams() if counted[stream.number] >= 20}


def moves(seen: Seen) -> bool:
    """Whether flows change their path because of congestion."""
    way, waits = seen.modes["way"], seen.modes["load_balancing"] == "on"
    # Flows that are balanced leave a congested path in a pause, too.
    others = way == "backup" or (way == "paths" and not waits)
    return seen.modes.get("treatment") == "reroute" or (
        seen.modes["notification"] == "fantel" and others
    )


def check_losses(seen: Seen) -> None:
    """A policer alone drops, where the treatment is one."""
    lost = {
        stream.number: seen.sent[stream.number] - len(seen.arrived[stream.number])
        for stream in STREAMS
    }
    dropped = seen.counts["pe1"]["drop LIGHT_CONGESTION_RATE"]
    if seen.modes.get("treatment") == "slow":
        assert sum(lost.values()) == dropped, "the policer alone drops"
    else:
        assert not {number: count for number, count in lost.items() if count}
    allowed = {"drop INGRESS", "drop FLOW_INTERVAL", "drop NODE_RATE_LIMIT",
               "drop LIGHT_CONGESTION_RATE", "drop UNKNOWN_PORT"}  # fmt: skip
    if holds(seen):
        # An ARN, where a queue is congested more often than a neighbour may begin holds.
        allowed.add("drop HOLD_LIMIT")
    # A path that was cut has lost a hello or a message. Of what a data centre paused a copy ends in
    # egress as each packet leaves: it tells the neighbour (wait_for_dc.p4).
    for node, counts in seen.counts.items():
        copies = counts["HOLD_LEFT"] if counts["PAUSE_RECEIVED"] else 0
        assert counts["drop EGRESS"] == copies, node
        assert {name for name in counts if name.startswith("drop ")} - {"drop EGRESS"} <= allowed


def check_order(seen: Seen, may_move: bool) -> None:
    """Of each flow that keeps its path."""
    for number, packets in seen.arrived.items():
        numbers = [packet.number for packet in packets]
        assert len(set(numbers)) == len(numbers), number
        if not may_move:
            assert numbers == sorted(numbers), number


def check_unchanged(seen: Seen) -> None:
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


def notifications(seen: Seen, near: str, far: str) -> Iterator[Carried]:
    """On a core link."""
    yield from (each for each in seen.carried[near, far] if each.kind not in ("", "data", "hello"))


def delays(first: Iterable[Carried], last: Iterable[Carried]) -> list[int]:
    """How long each took from one link to another, in ns; none of them is lost."""
    arrivals: dict[bytes, deque[int]] = defaultdict(deque)
    for each in last:
        arrivals[_behind_hop_limit(each)].append(each.time_ns)
    return [arrivals[_behind_hop_limit(each)].popleft() - each.time_ns for each in first]


def _behind_hop_limit(frame: Carried) -> bytes:
    """A notification, the same on every link."""
    return frame.datagram[:7] + frame.datagram[8:]


def told(seen: Seen) -> Counter[int]:
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
    (stream,) = (each for each in roce_streams() if each.source_qp == dest_qp)
    assert stream.port == port
    return stream


def _addresses(frame: Carried) -> tuple[object, object]:
    octets = frame.datagram
    if octets[0] >> 4 == 4:
        return ip_address(octets[12:16]), ip_address(octets[16:20])
    return ip_address(octets[8:24]), ip_address(octets[24:40])
