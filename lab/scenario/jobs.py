"""Jobs of a scenario as tasks: what hosts compute, what they send, and for what each waits.

Every job has connections of its own. A rank is a host of a job, by its place. In each iteration a
rank computes, and has done with it when it has received, or computed, the last of its own; its next
iteration begins then, whatever the others do.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from fcn.lab.scenario.model import Job, JobName
from fcn.lab.scenario.traffic import Traffic, named, traffic_of
from fcn.lab.scenario.wiring import EndHost, Wiring


@dataclass(frozen=True, slots=True)
class Task:
    """What takes `duration_ns` from when all that it waits for (places of tasks before it) is done:
    time, or of a flow (its place in `Traffic.flows`) time and then a message of `size` octets."""

    duration_ns: int
    after: tuple[int, ...] = ()
    start_ns: int = 0
    flow: int | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """An iteration of a rank: the tasks with which it begins and ends, and for how long the rank
    computes. job: its kind, and its place in the scenario, from 1."""

    job: str
    iteration: int
    rank: EndHost
    begin: int
    end: int
    compute_ns: int


@dataclass
class Work:
    """The tasks of all jobs of a scenario, each after those it waits for."""

    tasks: list[Task] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def add(self, task: Task) -> int:
        """One more; its place."""
        self.tasks.append(task)
        return len(self.tasks) - 1


def workload(wiring: Wiring) -> tuple[Traffic, Work]:
    """All that a scenario sends: its traffic, with the connections of its jobs after those of
    patterns, and what the jobs do."""
    traffic, work = traffic_of(wiring), Work()
    patterns = len(wiring.scenario.traffic)
    for number, job in enumerate(wiring.scenario.jobs):
        builder = _Builder(work, traffic, patterns, number, job, named(wiring, job.ranks))
        builder.build()
    return traffic, work


def messages_of(job: Job, ranks: int) -> int:
    """How many messages a job of so many ranks sends in all."""
    each = {
        "ring": 2 * (ranks - 1) * ranks,
        "tree": 2 * (ranks - 1),
        "all-to-all": (ranks - 1) * ranks,
        "pipeline": 2 * (ranks - 1) * job.microbatches,
    }
    return each[job.job] * job.iterations


class _Builder:
    def __init__(
        self,
        work: Work,
        traffic: Traffic,
        patterns: int,
        number: int,
        job: Job,
        ranks: list[EndHost],
    ) -> None:
        self._work = work
        self._traffic = traffic
        self._pattern = patterns + number
        self._name = f"{job.job} {number + 1}"
        self._job = job
        self._ranks = ranks
        self._flows: dict[tuple[int, int], int] = {}

    def build(self) -> None:
        job = self._job
        before = [self._time(0, start=job.start) for _ in self._ranks]
        iteration = self._kinds[job.job]
        for number in range(job.iterations):
            ends = iteration(before)
            for rank, begin, end in zip(self._ranks, before, ends, strict=True):
                part = Part(self._name, number, rank, begin, end, self._compute)
                self._work.parts.append(part)
            before = ends

    @property
    def _compute(self) -> int:
        job = self._job
        return job.microbatches * (job.compute + job.back) if job.job == "pipeline" else job.compute

    @property
    def _kinds(self) -> Mapping[JobName, Callable[[list[int]], list[int]]]:
        return {
            "ring": self._ring,
            "tree": self._tree,
            "all-to-all": self._all_to_all,
            "pipeline": self._pipeline,
        }

    def _time(self, duration: int, *after: int, start: int = 0) -> int:
        return self._work.add(Task(duration, after, start))

    def _send(self, rank: int, to: int, size: int, *after: int) -> int:
        if (rank, to) not in self._flows:
            ends = self._ranks[rank], self._ranks[to]
            (self._flows[rank, to],) = self._traffic.open(*ends, self._pattern, 1)
        return self._work.add(Task(0, after, 0, self._flows[rank, to], size))

    def _ring(self, before: list[int]) -> list[int]:
        """All-reduce: each rank sends a part of its data to the next one, 2 (n - 1) times, each
        time what it has received last. After half of them every rank has the sum of a part."""
        ranks = len(self._ranks)
        parts = _parts(self._job.size, ranks)
        ready = [self._time(self._job.compute, each) for each in before]
        received = ready
        for step in range(2 * (ranks - 1)):
            sent = [
                self._send(rank, (rank + 1) % ranks, parts[(rank - step) % ranks], received[rank])
                for rank in range(ranks)
            ]
            received = [sent[rank - 1] for rank in range(ranks)]
        return [self._time(0, each) for each in received]

    def _tree(self, before: list[int]) -> list[int]:
        """All-reduce: from the leaves of a binary tree to its root, the sum so far from each, and
        back down; rank r is above 2 r + 1 and 2 r + 2."""
        ranks, size = len(self._ranks), self._job.size
        ready = [self._time(self._job.compute, each) for each in before]
        up: dict[int, int] = {}
        for rank in reversed(range(1, ranks)):
            below = [up[child] for child in _children(rank, ranks)]
            up[rank] = self._send(rank, (rank - 1) // 2, size, ready[rank], *below)
        down = {0: self._time(0, ready[0], *(up[child] for child in _children(0, ranks)))}
        for rank in range(ranks):
            for child in _children(rank, ranks):
                down[child] = self._send(rank, child, size, down[rank])
        return [self._time(0, down[rank]) for rank in range(ranks)]

    def _all_to_all(self, before: list[int]) -> list[int]:
        """Each rank sends to every other one, beginning with the next."""
        ranks = len(self._ranks)
        ready = [self._time(self._job.compute, each) for each in before]
        received: list[list[int]] = [[] for _ in self._ranks]
        for rank in range(ranks):
            for distance in range(1, ranks):
                to = (rank + distance) % ranks
                received[to].append(self._send(rank, to, self._job.size, ready[rank]))
        return [self._time(0, own, *others) for own, others in zip(ready, received, strict=True)]

    def _pipeline(self, before: list[int]) -> list[int]:
        """Each rank is a stage that computes one microbatch at a time: all forward, then all back,
        the last one first (GPipe). It sends what the next stage, or the one before, waits for."""
        job, last = self._job, len(self._ranks) - 1
        busy = list(before)
        arrived: dict[int, int] = {}
        for stages, step, takes, batches in (
            (range(last + 1), 1, job.compute, range(job.microbatches)),
            (range(last, -1, -1), -1, job.back, reversed(range(job.microbatches))),
        ):
            order = list(batches)
            arrived = {}
            for stage in stages:
                sent: dict[int, int] = {}
                for batch in order:
                    waits = [busy[stage], *([arrived[batch]] if batch in arrived else [])]
                    busy[stage] = self._time(takes, *waits)
                    if 0 <= stage + step <= last:
                        sent[batch] = self._send(stage, stage + step, job.size, busy[stage])
                arrived = sent
        return busy


def _parts(size: int, number: int) -> list[int]:
    """A size in so many parts, of which the first may be an octet larger."""
    whole, more = divmod(size, number)
    return [whole + (place < more) for place in range(number)]


def _children(rank: int, ranks: int) -> Iterable[int]:
    return (child for child in (2 * rank + 1, 2 * rank + 2) if child < ranks)
