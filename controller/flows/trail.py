"""What the reports about one flow show, and whether a response can belong to its requests.

The 24-bit PSN of a reliable connection's requests only grows, but for go-back-N; a READ takes as
many as its response has packets. Responses repeat PSNs that were asked for and not yet answered
(IBTA volume 1, 9.7). Reports are samples: a PSN nobody saw may still have been sent.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from fcn.controller.flows.key import FlowKey

PSN_SPACE = 1 << 24

HALF_SPACE = PSN_SPACE // 2
"""PSNs a requester can have outstanding (IBTA volume 1, 9.7.2): further ahead is behind."""

READ_REQUEST = 0x0C

READ_RESPONSES = frozenset(range(0x0D, 0x11))

RC_RESPONSES = READ_RESPONSES | {0x11, 0x12}
"""READ response, ACK (and NAK), atomic ACK (IBTA volume 1, table 38)."""

RC_REQUESTS = frozenset((*range(0x0D), 0x13, 0x14, 0x16, 0x17))
"""SEND, RDMA WRITE, READ request, atomics, SEND with invalidate."""

ANSWER_LIMIT = 1.0
"""Seconds within which a request that does not wait behind a READ is answered."""

READS_OUTSTANDING = 255
"""READs a requester can wait for: the initiator depth has 8 bits (IBTA volume 1, 12.7.31)."""

SKEW = 0.5
"""Seconds by which reports of two PEs may come in the wrong order."""

SAMPLE_SPACING = 0.02
"""Seconds between requests that are kept."""

HISTORY = 128
"""Requests kept per flow, at least: with SAMPLE_SPACING, more than ANSWER_LIMIT + 1.5 seconds."""

RESPONSE_SPACING = 0.25
"""Seconds between responses that are kept: each is weighed against every flow the other way."""


def connection_port(one_qp: int, other_qp: int) -> int:
    """UDP source port of both directions, as mlx5 and Linux choose it (rdma_get_udp_sport)."""
    value = one_qp * other_qp
    value ^= value >> 20
    value ^= value >> 40
    label = value & 0xFFFFF
    return (label & 0x3FFF ^ label >> 14) | 0xC000


class Sample(NamedTuple):
    """One reported packet of a flow: BTH opcode and PSN, and its UDP source port."""

    opcode: int
    psn: int
    udp_source_port: int

    @property
    def of_reliable_connection(self) -> bool:
        return self.opcode in RC_REQUESTS or self.opcode in RC_RESPONSES


class Verdict(Enum):
    """Does a response answer a flow's requests?"""

    SHOWN = 1
    """Its PSN is between PSNs that were seen to be asked for."""
    POSSIBLE = 2
    """Requests nobody saw may explain it."""
    IMPOSSIBLE = 3


@dataclass(slots=True)
class Trail:
    """What was seen of one flow: when requests came and how far their PSN was from `first_psn`,
    counted on over the wrap of the 24-bit number; (time, PSN) of responses not yet judged.

    `answer_limit`: seconds within which its requests are answered; `history`: requests kept, at
    least, which must reach that far back.
    """

    flow: FlowKey
    since: float
    port: int
    answer_limit: float = ANSWER_LIMIT
    history: int = HISTORY
    first_psn: int = 0
    times: list[float] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    stride: int = 1
    """The widest step between two requests: no READ takes more PSNs."""
    repeats: bool = False
    """Whether a request came after a later one: go-back-N, or reports out of order."""
    asks_reads: bool = False
    answers_reads: bool = False
    responses: deque[tuple[float, int]] = field(default_factory=deque)
    next_response: float = 0.0

    def record(self, now: float, sample: Sample) -> None:
        """Keep requests and responses some time apart, of requests also the latest."""
        self.port = sample.udp_source_port
        self.asks_reads = self.asks_reads or sample.opcode == READ_REQUEST
        if sample.opcode in RC_RESPONSES:
            self.answers_reads = self.answers_reads or sample.opcode in READ_RESPONSES
            if now >= self.next_response:
                self.responses.append((now, sample.psn))
                self.next_response = now + RESPONSE_SPACING
            return
        if not self.times:
            self.first_psn = sample.psn
            self.offsets.append(0)
            self.times.append(now)
            return
        last = self.offsets[-1]
        step = (sample.psn - self.first_psn - last) % PSN_SPACE
        if step >= HALF_SPACE:
            step -= PSN_SPACE
        self.repeats = self.repeats or step < 0
        # So far back may be as far ahead, by READs.
        self.stride = max(self.stride, step if step > -HALF_SPACE // 2 else HALF_SPACE)
        if len(self.times) > 1 and now - self.times[-2] < SAMPLE_SPACING:
            del self.times[-1], self.offsets[-1]
        elif len(self.times) == 2 * self.history:
            del self.times[: self.history], self.offsets[: self.history]
        self.offsets.append(last + step)
        self.times.append(now)

    def ripe(self, until: float) -> Iterator[tuple[float, int]]:
        """Take the responses that were reported until then."""
        while self.responses and self.responses[0][0] <= until:
            yield self.responses.popleft()

    def judge(self, answers: "Trail", when: float, psn: int) -> tuple[Verdict, int]:
        """Whether a response with this PSN, reported of the other flow at `when`, answers this
        flow's requests, and how many PSNs lie between it and what this flow sent at that time.

        What it answers was sent before it, within `answer_limit` unless it waits behind READs: the
        last sample before and the first after that time bound the PSNs. Where there is no such
        sample, there is no such bound; nor where READs are answered whose size nobody saw.
        """
        if not self.times or self.times[0] > when + SKEW:
            return Verdict.POSSIBLE, HALF_SPACE
        begin = bisect_right(self.times, when - self.answer_limit)
        end = bisect_right(self.times, when + SKEW, begin)
        bounds = self.offsets[max(begin - 1, 0) : end + 1]
        low, high = min(bounds), max(bounds)
        if high - low >= HALF_SPACE:
            return Verdict.POSSIBLE, HALF_SPACE
        ahead_of_low = (psn - self.first_psn - low) % PSN_SPACE
        if ahead_of_low <= high - low:
            return Verdict.SHOWN, self._distance(when, low + ahead_of_low)
        ahead, behind = ahead_of_low - (high - low), PSN_SPACE - ahead_of_low
        unseen_later = end == len(self.times) and ahead < HALF_SPACE
        reach = READS_OUTSTANDING * self.stride if self.asks_reads else 0
        if (
            begin == 0
            or (self.asks_reads and len(self.times) == 1)
            or (answers.answers_reads and not self.asks_reads)
        ):
            reach = HALF_SPACE
        if unseen_later or behind <= reach:
            return Verdict.POSSIBLE, min(ahead, behind)
        return Verdict.IMPOSSIBLE, min(ahead, behind)

    def bounds_reads(self, answers: "Trail") -> bool:
        """Whether an answer can be too late for all READs it may wait behind, as far as these were
        seen: small ones, of which none was repeated in part."""
        if not self.asks_reads:
            return not answers.answers_reads
        return READS_OUTSTANDING * self.stride < HALF_SPACE and not self.repeats

    def _distance(self, when: float, offset: int) -> int:
        after = bisect_right(self.times, when)
        around = (*self.offsets[max(after - 1, 0) : after + 1], offset)
        return max(around) - min(around) + 1
