"""Whether the rates of long flows had settled when a run ended.

A connection is long when all of its messages could be sent before the second half of the run began,
and were not acknowledged when it ended: one to which messages come at random has no rate to settle
at. Something of them was acknowledged before: half a run shorter than a round trip tells nothing.
It has settled when what was acknowledged in the last quarter differs from that in the quarter
before by TOLERANCE at most. Control that converges swings about its mean faster than a quarter of
the run. Where samples are seldom a quarter is what is between two of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fcn.lab.result.model import Result

TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class Settling:
    """A long connection: packets acknowledged in the third quarter of the run, and in the last; in
    as much time where samples did not see these."""

    host: str
    connection: int
    third: int
    last: int

    @property
    def change(self) -> float:
        """How much more it was in the last quarter, as a part of the larger one: -1 to 1."""
        larger = max(self.third, self.last)
        return (self.last - self.third) / larger if larger else 0.0

    @property
    def settled(self) -> bool:
        """Whether it stayed within the tolerance, and sent at all."""
        return self.last > 0 and abs(self.change) <= TOLERANCE


def long_connections(result: Result) -> list[Settling]:
    """Of a run; empty where no connection is long. A result that is not complete has none: its
    second half is not what the scenario means."""
    if not result.about.finished:
        return []
    return [*_long(result)]


def _long(result: Result) -> Iterator[Settling]:
    end = result.about.reached_ns
    half, quarter = end // 2, end * 3 // 4
    begun, middle, last = (_sampled(result, time) for time in (half, quarter, end))
    if not begun < middle < last:
        return
    connection = ["host", "connection"]
    messages = result.messages.groupby(connection)
    is_open = messages["completed_ns"].count() < messages.size()
    long = is_open.index[is_open & (messages["start_ns"].max() <= half)]
    rates = result.rates

    def acknowledged(until: int) -> list[int]:
        samples = rates[rates["time_ns"] <= until].groupby(connection)["acknowledged"]
        return samples.max().reindex(long, fill_value=0).astype(int).tolist()

    amounts = zip(acknowledged(half), acknowledged(quarter), acknowledged(end), strict=True)
    for (host, number), (at_half, at_quarter, at_end) in zip(long, amounts, strict=True):
        if at_half:
            third = (at_quarter - at_half) * (quarter - half) // (middle - begun)
            fourth = (at_end - at_quarter) * (end - quarter) // (last - middle)
            yield Settling(host, int(number), third, fourth)


def _sampled(result: Result, until: int) -> int:
    """When the last sample was: of queues there is a row of each."""
    times = result.queues["time_ns"]
    return int(times[times <= until].max()) if (times <= until).any() else until
