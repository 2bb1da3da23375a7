"""Times and losses of a run, and what is wrong with them."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from fcn.topologies.failover.run import LINK, ROUND, Record

GOAL = 1.1
"""Of the time to the first packet on the other path, over detection and propagation."""

MS = 1_000_000


class MeasureError(Exception):
    """A run in which nothing can be measured; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Nanoseconds, since the last packet that passed the link before it was cut.

    detected_ns: the first packet went round the link: its node knew. told_ns: the first message
    left for the PE. moved_ns: the first packet left the PE on the other path. silent_ns: the
    longest time without a packet at the far PE. back_ns: since the link was mended, to the first
    packet on the first path. lost: packets that left the PE and did not arrive.
    """

    failed_ns: int
    detected_ns: int
    propagation_ns: int
    told_ns: int
    moved_ns: int
    silent_ns: int
    back_ns: int
    lost: int

    @property
    def bound_ns(self) -> int:
        """Detection and propagation: no PE can know earlier."""
        return self.detected_ns + self.propagation_ns

    @property
    def ratio(self) -> float:
        """How much later than that the PE acted."""
        return self.moved_ns / self.bound_ns


def measure(record: Record) -> Measured:
    """Raises MeasureError."""
    passed = bisect_right(record.over_link, record.mended_ns)
    if not passed:
        raise MeasureError("no packet passed the link before it was cut")
    failed = record.over_link[passed - 1]
    first = record.left[LINK[0]]
    moved = _first(record.left[ROUND], failed, "on the other path")
    back = _first(first, max(record.mended_ns, moved), "on the first path again")
    arrived = [stamp for stamp in record.arrived if stamp < record.mended_ns]
    later = bisect_right(arrived, failed)
    if later in (0, len(arrived)):
        raise MeasureError("no packet arrived after the link was cut")
    gaps = (b - a for a, b in zip(arrived[later - 1 : -1], arrived[later:], strict=True))
    sent = sum(map(len, record.left.values()))
    return Measured(
        failed_ns=failed,
        detected_ns=_first(record.round_it, failed, "round the link") - failed,
        propagation_ns=record.propagation_ns,
        told_ns=_first(record.told, failed, "to tell the PE") - failed,
        moved_ns=moved - failed,
        silent_ns=max(gaps),
        back_ns=back - record.mended_ns,
        lost=sent - len(record.arrived),
    )


def problems(record: Record, measured: Measured) -> Iterator[str]:
    if measured.ratio > GOAL:
        yield (
            f"the first packet on the other path was {measured.ratio:.3f} times as late as "
            f"detection and propagation allow, more than {GOAL}"
        )
    if not measured.told_ns < measured.moved_ns:
        yield "the PE took the other path before it was told"
    at, mended = measured.failed_ns + measured.moved_ns + MS, record.mended_ns
    if any(at < stamp < mended for stamp in record.left[LINK[0]]):
        yield "packets left on the first path before its link was mended"
    for expected, state in zip(("failed", "up"), record.states, strict=True):
        if state != expected:
            yield f"the controller says that the first path is {state}, not {expected}"


def _first(times: tuple[int, ...], after: int, where: str) -> int:
    place = bisect_right(times, after)
    if place == len(times):
        raise MeasureError(f"no packet {where}")
    return times[place]
