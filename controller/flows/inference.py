"""Infers the source queue pair of a flow from packets of the reverse direction (FCN-3 b).

A reliable connection consists of two flows, one per direction; the destination QP of each is the
source QP of the other. Responses (ACK, NAK, READ response, atomic ACK) repeat the PSN of a recent
request, so a flow whose responses repeat the PSNs of a reverse flow is paired with it. The PEs
report one packet per flow and learning window as a sample. A pairing is accepted in two cases:

- by port: mlx5 and Linux derive the UDP source port from both queue pair numbers, so both flows
  have the same, predictable port; it confirms a pairing unless other flows have that port too;
- by PSN alone: several samples agree, and every other pairing of either flow is contradicted, or
  has no supporting sample while the other flow is paired elsewhere.

When two candidates remain, nothing is concluded.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from fcn.controller.config.types import Address
from fcn.controller.flows.connections import QueuePairLearned
from fcn.controller.flows.key import FlowKey

RC_RESPONSES = frozenset(range(0x0D, 0x13))
"""READ response, ACK (and NAK), atomic ACK (IBTA volume 1, table 38)."""

RC_REQUESTS = frozenset((*range(0x0D), 0x13, 0x14, 0x16, 0x17))
"""SEND, RDMA WRITE, READ request, atomics, SEND with invalidate."""

ANSWER_LIMIT = 1.0
"""Seconds within which a request is answered; an upper bound of the round-trip time."""

SKEW = 0.1
"""Seconds by which reports of two PEs may arrive out of order."""

SPACING = 0.05
"""Seconds between kept requests of a flow, and initially between kept responses."""

MAX_SPACING = 1.0
"""Upper bound of the seconds between kept responses: each is compared with every reverse flow."""

PATIENCE = 0.25
"""Seconds after which a response is evaluated: by then later requests have been reported too."""

REACH = 1 << 16
"""PSNs a flow may differ from its nearest sample: packets in flight and of one learning window."""

SUPPORTS_NEEDED = 3
"""Responses that must agree where the PSN is the only evidence."""

HISTORY = 64
"""Samples of requests kept per flow, at least; 64 samples cover 3 seconds."""

_PSN_SPACE = 1 << 24


def connection_port(one_qp: int, other_qp: int) -> int:
    """UDP source port of both directions as mlx5 and Linux compute it (rdma_get_udp_sport)."""
    value = one_qp * other_qp
    value ^= value >> 20
    value ^= value >> 40
    label = value & 0xFFFFF
    return (label & 0x3FFF ^ label >> 14) | 0xC000


@dataclass(frozen=True, slots=True)
class Sample:
    """One reported packet of a flow: BTH opcode and PSN, and its UDP source port."""

    opcode: int
    psn: int
    udp_source_port: int


class _Echo(Enum):
    """Whether a response answers a flow's requests."""

    YES = 1
    NO = 2
    UNKNOWN = 3


@dataclass(slots=True)
class _Trail:
    """Samples of one flow: times of requests and the offset of their PSN from `first_psn`, without
    the wrap at 24 bits; (time, PSN) of responses not yet evaluated."""

    flow: FlowKey
    since: float
    port: int
    first_psn: int = 0
    times: list[float] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    responses: deque[tuple[float, int]] = field(default_factory=deque)
    answers: int = 0
    next_answer: float = 0.0

    def record(self, now: float, sample: Sample) -> None:
        """Keep requests `SPACING` apart and always the latest; responses at growing intervals."""
        if sample.opcode in RC_RESPONSES:
            if now >= self.next_answer:
                self.responses.append((now, sample.psn))
                self.answers += 1
                doublings = max(0, self.answers - SUPPORTS_NEEDED)
                self.next_answer = now + min(MAX_SPACING, SPACING * 2**doublings)
            return
        if len(self.times) > 1 and now - self.times[-2] < SPACING:
            del self.times[-1], self.offsets[-1]
        elif len(self.times) == 2 * HISTORY:
            del self.times[:HISTORY], self.offsets[:HISTORY]
        if not self.times:
            self.first_psn = sample.psn
        last = self.offsets[-1] if self.offsets else 0
        step = (sample.psn - self.first_psn - last) % _PSN_SPACE
        self.offsets.append(last + (step - _PSN_SPACE if step >= _PSN_SPACE // 2 else step))
        self.times.append(now)

    def ripe(self, until: float) -> Iterator[tuple[float, int]]:
        """Take the responses that can be judged."""
        while self.responses and self.responses[0][0] <= until:
            yield self.responses.popleft()

    def answered_by(self, when: float, psn: int) -> _Echo:
        """Whether a response with this PSN, reported at `when`, answers the flow's requests.

        Requests it can answer were sent between `when` - ANSWER_LIMIT and `when`. The last sample
        before and the first after that interval bound their PSNs; where one is missing, REACH does.
        """
        begin = bisect_right(self.times, when - ANSWER_LIMIT)
        end = bisect_right(self.times, when + SKEW)
        if end == 0:
            return _Echo.NO if self.since <= when - ANSWER_LIMIT else _Echo.UNKNOWN
        bounds = self.offsets[max(begin - 1, 0) : end + 1]
        low = min(bounds) - (REACH if begin == 0 else 0)
        high = max(bounds) + (REACH if end == len(self.times) else 0)
        if high - low >= _PSN_SPACE // 2:
            return _Echo.UNKNOWN
        near = (psn - self.first_psn - low) % _PSN_SPACE <= high - low
        return _Echo.YES if near else _Echo.NO


_Pairing = tuple[int, int]
"""Destination queue pairs of a forward and a reverse flow, which identify them in a host pair."""


class _HostPair:
    """Flows of unknown source between two hosts, and the evidence for and against each pairing."""

    def __init__(self) -> None:
        self.forth: dict[int, _Trail] = {}
        self.back: dict[int, _Trail] = {}
        self.supports: dict[_Pairing, set[int]] = {}
        self.contradicted: set[_Pairing] = set()
        self.newest = 0.0
        self.ports_follow_qps = False

    def side(self, flow: FlowKey) -> dict[int, _Trail]:
        return self.forth if _is_forth(flow) else self.back

    def judge(self, until: float) -> None:
        """Compare responses reported up to `until` with requests of the other direction."""
        for qp, trail in self.back.items():
            for when, psn in trail.ripe(until):
                for other, asked in self.forth.items():
                    self._weigh((other, qp), asked, when, psn)
        for qp, trail in self.forth.items():
            for when, psn in trail.ripe(until):
                for other, asked in self.back.items():
                    self._weigh((qp, other), asked, when, psn)

    def _weigh(self, pairing: _Pairing, asked: _Trail, when: float, psn: int) -> None:
        if pairing in self.contradicted:
            return
        match asked.answered_by(when, psn):
            case _Echo.YES:
                self.supports.setdefault(pairing, set()).add(psn)
            case _Echo.NO:
                self.contradicted.add(pairing)
                self.supports.pop(pairing, None)

    def forget(self, flow: FlowKey) -> None:
        self.side(flow).pop(flow.dest_qp, None)
        place, qp = (0 if _is_forth(flow) else 1), flow.dest_qp
        self.contradicted = {each for each in self.contradicted if each[place] != qp}
        self.supports = {each: psns for each, psns in self.supports.items() if each[place] != qp}

    def by_port(self) -> list[_Pairing]:
        """Pairings confirmed by their UDP source port, which no other flow has."""
        forth_ports, back_ports = _by_port(self.forth), _by_port(self.back)
        found = []
        for forth, back in self.supports:
            port = connection_port(forth, back)
            if forth_ports.get(port) == [forth] and back_ports.get(port) == [back]:
                found.append((forth, back))
                self.ports_follow_qps = True
        return found

    def by_psn(self) -> list[_Pairing]:
        """Pairings with enough supporting responses, where no other is possible for either flow."""
        strong = {each for each, psns in self.supports.items() if len(psns) >= SUPPORTS_NEEDED}
        explained = {forth for forth, _ in strong}, {back for _, back in strong}
        return [
            each
            for each in strong
            if self._port_allows(*each) and self._without_rival(each, *explained)
        ]

    def _port_allows(self, forth: int, back: int) -> bool:
        """Whether the ports are as expected: once those of one connection between the hosts were
        found to be derived from its queue pairs, those of all connections must be."""
        port = connection_port(forth, back)
        return not self.ports_follow_qps or port == self.forth[forth].port == self.back[back].port

    def _without_rival(self, pairing: _Pairing, forths: set[int], backs: set[int]) -> bool:
        """Whether every other pairing of either flow is contradicted, or is unsupported while the
        other flow has a supported pairing of its own."""
        forth, back = pairing
        rivals = [((forth, other), other in backs) for other in self.back if other != back]
        rivals += [((other, back), other in forths) for other in self.forth if other != forth]
        return all(
            rival in self.contradicted or (rival not in self.supports and explained)
            for rival, explained in rivals
        )


def _is_forth(flow: FlowKey) -> bool:
    return int(flow.src) <= int(flow.dst)


def _by_port(trails: dict[int, _Trail]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for qp, trail in trails.items():
        found.setdefault(trail.port, []).append(qp)
    return found


HostPairKey = tuple[str, Address, Address]


def host_pair(flow: FlowKey) -> HostPairKey:
    """VRF and both addresses, the lower address first: the same for both directions."""
    low, high = (flow.src, flow.dst) if _is_forth(flow) else (flow.dst, flow.src)
    return flow.vrf, low, high


class Inference:
    """Collects samples of flows whose source QP is unknown and concludes which form a connection.

    `clock` is monotonic, in seconds. `complete` returns whether all flows of unknown source between
    two hosts are reported at present; otherwise a pairing by PSN alone is not accepted.
    """

    def __init__(self, clock: Callable[[], float], complete: Callable[[HostPairKey], bool]) -> None:
        self._clock = clock
        self._complete = complete
        self._pairs: dict[HostPairKey, _HostPair] = {}

    def __len__(self) -> int:
        """Flows under observation."""
        return sum(len(pair.forth) + len(pair.back) for pair in self._pairs.values())

    def observe(self, flow: FlowKey, sample: Sample) -> None:
        """Add a sample of a flow of unknown source. Ignored are packets of other transports than
        reliable connections, and of a host to itself."""
        if sample.opcode not in RC_REQUESTS | RC_RESPONSES or flow.src == flow.dst:
            return
        now = self._clock()
        pair = self._pairs.setdefault(host_pair(flow), _HostPair())
        trails = pair.side(flow)
        trail = trails.get(flow.dest_qp)
        if trail is None:
            trail = trails[flow.dest_qp] = _Trail(flow, now, sample.udp_source_port)
            pair.newest = now
        trail.port = sample.udp_source_port
        trail.record(now, sample)

    def forget(self, flow: FlowKey) -> None:
        """The flow's source is known, or it is no longer reported."""
        key = host_pair(flow)
        pair = self._pairs.get(key)
        if pair is not None:
            pair.forget(flow)
            if not pair.forth and not pair.back:
                del self._pairs[key]

    def conclude(self) -> list[QueuePairLearned]:
        """Connections inferred since the last call, both directions of each; their samples are
        discarded."""
        now = self._clock()
        learned: list[QueuePairLearned] = []
        for key, pair in list(self._pairs.items()):
            pair.judge(now - PATIENCE)
            found = pair.by_port()
            if not found and now - pair.newest >= ANSWER_LIMIT and self._complete(key):
                found = pair.by_psn()
            for forth_qp, back_qp in found:
                forth, back = pair.forth[forth_qp].flow, pair.back[back_qp].flow
                learned.append(QueuePairLearned(forth, back.dest_qp))
                learned.append(QueuePairLearned(back, forth.dest_qp))
                self.forget(forth)
                self.forget(back)
        return learned
