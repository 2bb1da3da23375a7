"""What two connected queue pairs send each other, as runs of packets at equal distances.

IBTA volume 1, 9.7: requests have consecutive PSNs, a READ as many as its response has packets;
responses repeat them. After loss, or where the receiver is not ready, the requester goes back
(go-back-N).
"""

import math
import random
from dataclasses import dataclass
from enum import StrEnum

SEND, WRITE, READ_REQUEST, READ_RESPONSE, ACK = 0x01, 0x07, 0x0C, 0x0E, 0x11

RETRY_AFTER = 0.067
"""Seconds until a requester that hears nothing sends again; then twice as long."""


class Kind(StrEnum):
    """What a connection is used for."""

    SEND = "SEND"
    WRITE = "WRITE"
    READ = "READ"
    MIXED = "mixed"
    BEHIND = "WRITE behind READ"


class Trouble(StrEnum):
    """What goes wrong, now and then."""

    NONE = "none"
    LOSS = "loss"
    RNR = "RNR"
    OUTAGE = "outage"


@dataclass(frozen=True, slots=True)
class PacketRun:
    """Packet i leaves at `start + i * interval` with PSN `psn + i * stride`."""

    start: float
    interval: float
    count: int
    psn: int
    stride: int
    opcode: int

    def index_at(self, when: float) -> int:
        """The first packet at this time or later; `count` or more when there is none."""
        return max(0, math.ceil((when - self.start) / self.interval))


@dataclass(frozen=True, slots=True)
class Work:
    """What a requester has to do: messages of some packets, at a rate in packets per second."""

    kind: str
    message: int
    rate: float
    depth: int
    bursts: tuple[float, float]
    trouble: str


Runs = list[PacketRun]


class _Requester:
    def __init__(self, work: Work, rng: random.Random, psn: int, round_trip: float) -> None:
        self._work = work
        self._rng = rng
        self._psn = psn
        self._round_trip = round_trip
        self.requests: Runs = []
        self.responses: Runs = []
        # Small messages of a fast sender are acknowledged together.
        self._ack_every = work.message if rng.random() < 0.5 else rng.choice([1, 4, 64])

    def stream(self, opcode: int, start: float, stop: float) -> float:
        """WRITEs or SENDs until `stop` or until something goes wrong; returns when to go on."""
        work, psn = self._work, self._psn
        count = max(1, math.ceil((stop - start) * work.rate))
        every = max(1, min(self._ack_every, count))
        self.requests.append(PacketRun(start, 1 / work.rate, count, psn, 1, opcode))
        first_ack = start + (every - 1) / work.rate + self._round_trip
        self.responses.append(
            PacketRun(first_ack, every / work.rate, count // every, psn + every - 1, every, ACK)
        )
        self._psn += count
        return start + count / work.rate

    def read(self, start: float, stop: float) -> float:
        """READs until about `stop`."""
        work, psn = self._work, self._psn
        messages = max(1, math.ceil((stop - start) * work.rate / work.message))
        took = work.message / work.rate
        at_once = min(messages, work.depth)
        self.requests.append(PacketRun(start, 1e-6, at_once, psn, work.message, READ_REQUEST))
        if messages > at_once:
            later, then = start + self._round_trip + took, psn + at_once * work.message
            self.requests.append(
                PacketRun(later, took, messages - at_once, then, work.message, READ_REQUEST)
            )
        packets = messages * work.message
        answer = start + self._round_trip
        self.responses.append(PacketRun(answer, 1 / work.rate, packets, psn, 1, READ_RESPONSE))
        self._psn += packets
        return answer + packets / work.rate

    def write_behind_reads(self, start: float, stop: float) -> float:
        """WRITEs that do not wait for READs: their ACKs do."""
        work = self._work
        self._psn += work.depth * work.message
        first, answer = self._psn, start + self._round_trip
        reads = first - work.depth * work.message
        self.requests.append(PacketRun(start, 1e-6, work.depth, reads, work.message, READ_REQUEST))
        count = work.depth * work.message
        self.responses.append(PacketRun(answer, 1 / work.rate, count, reads, 1, READ_RESPONSE))
        ready = answer + count / work.rate
        ends = self.stream(WRITE, start + 1e-4, stop)
        run = self.responses.pop()
        waiting = min(run.count, run.index_at(ready))
        then, psn = run.start + waiting * run.interval, run.psn + waiting * run.stride
        self.responses += [
            PacketRun(ready, 1e-6, waiting, run.psn, run.stride, ACK),
            PacketRun(then, run.interval, run.count - waiting, psn, run.stride, ACK),
        ]
        return max(ends, ready) + self._round_trip

    def phase(self, start: float, stop: float) -> float:
        kind = self._work.kind
        if kind == Kind.MIXED:
            kind = self._rng.choice([Kind.SEND, Kind.WRITE, Kind.READ, Kind.BEHIND])
            stop = min(stop, start + self._rng.choice([0.02, 0.2, 1.0]))
        match kind:
            case Kind.READ:
                return self.read(start, stop)
            case Kind.BEHIND:
                return self.write_behind_reads(start, min(stop, start + 1.0))
            case _:
                return self.stream(SEND if kind == Kind.SEND else WRITE, start, stop)

    def go_back(self, when: float) -> float:
        """The packet sent about now is lost, or nobody is ready for it: nothing after it is
        answered; the requester sends it again, and all after it. Returns when it goes on."""
        rng, trip = self._rng, self._round_trip
        match self._work.trouble:
            case Trouble.LOSS:
                wait = trip if rng.random() < 0.7 else RETRY_AFTER * 2 ** rng.randrange(5)
            case Trouble.RNR:
                wait = trip + rng.choice([0.00001, 0.01, 0.2, 0.65])
            case _:
                wait = rng.uniform(0.05, 3.0)
        reads = self._work.kind in (Kind.READ, Kind.BEHIND)
        psn = self._unanswered(when if reads else when + trip)
        # What is on its way still comes, and what READs asked for.
        self.requests = _until(self.requests, when + min(wait, trip))
        self.responses = _until(self.responses, when + trip)
        self.responses.append(PacketRun(when + trip, 1.0, 1, psn, 1, ACK))
        if self._work.trouble == Trouble.OUTAGE:
            self.responses = _until(self.responses, when)
            retry, pause = when + RETRY_AFTER, RETRY_AFTER
            while retry < when + wait and self._work.kind not in (Kind.READ, Kind.BEHIND):
                burst = max(1, int(self._work.rate * min(pause / 2, trip)))
                self.requests.append(PacketRun(retry, 1 / self._work.rate, burst, psn, 1, WRITE))
                pause *= 2
                retry += pause
        self._psn = psn
        return when + wait

    def _unanswered(self, when: float) -> int:
        """The first PSN that is not answered at some time."""
        answered = [
            run.psn + min(run.count, run.index_at(when)) * run.stride
            for run in self.responses
            if run.start <= when and run.count > 1
        ]
        first = min((run.psn for run in self.requests), default=self._psn)
        return max([first, *answered])


def _until(runs: Runs, when: float) -> Runs:
    """Those packets that leave before a time."""
    return [
        PacketRun(
            run.start,
            run.interval,
            min(run.count, run.index_at(when)),
            run.psn,
            run.stride,
            run.opcode,
        )
        for run in runs
        if run.start < when
    ]


def exchange(
    work: Work,
    rng: random.Random,
    first_psn: int,
    start: float,
    stop: float,
    round_trip: float,
) -> tuple[Runs, Runs]:
    """Requests of a queue pair and the responses to them, between two times."""
    requester = _Requester(work, rng, first_psn, round_trip)
    on, off = work.bursts
    now = start
    while now < stop:
        breaks = now + rng.expovariate(0.7) if work.trouble != Trouble.NONE else stop
        end = min(stop, now + on)
        while now < end:
            now = requester.phase(now, min(end, breaks) if breaks > now else end)
            if breaks < stop and now >= breaks:
                now = requester.go_back(breaks)
                breaks = now + 0.01 + rng.expovariate(0.7)
        now += off
    return _until(requester.requests, stop), _until(requester.responses, stop + 2 * round_trip)
