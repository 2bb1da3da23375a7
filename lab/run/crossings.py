"""When marked packets and notifications crossed the links on which they are noted."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcn.lab.control.loop import NS
from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.frames import HEADER, FrameKind
from fcn.lab.result.tables import conform
from fcn.lab.run.build import Built
from fcn.lab.scenario.wiring import Wiring

Pair = tuple[str, str]

KINDS = {
    FrameKind.MARKED: "ce",
    FrameKind.FAST_CNP: "fast_cnp",
    FrameKind.END_CON_CNP: "end_con_cnp",
    FrameKind.CNP: "cnp",
}

_IS_OF = np.array([[bool(kind & each) for kind in KINDS] for each in range(sum(KINDS) + 1)])
"""Whether a frame is of each kind, by its `FrameKind`."""

_COLUMNS = ("time_ns", "node", "towards", "what", "frame")


class Crossings:
    def __init__(self, built: Built, noted: set[Pair], begun_ns: int) -> None:
        """noted: links of which there are rows."""
        self._begun = begun_ns
        links = built.simulation.links
        self._noted = np.zeros(2 * len(links), np.bool_)
        self._rate = np.zeros(2 * len(links))
        self._delay = np.zeros(2 * len(links), np.int64)
        self._turn = np.zeros(2 * len(links), np.int64)
        self._ends = [("", "")] * (2 * len(links))
        turns = _turns(built.wiring)
        for link in links:
            for way in (0, 1):
                at = 2 * link.number + way
                pair = link.ends[way].node.name, link.ends[1 - way].node.name
                self._ends[at] = pair
                self._noted[at] = pair in noted
                self._rate[at] = link.rate_bps or np.inf
                self._delay[at] = link.delay_ns
                self._turn[at] = turns.get(pair, 0)
        self._seen: list[tuple[NDArray[Any], ...]] = []

    def take(self, headers: NDArray[np.void]) -> NDArray[np.int64]:
        """Note these frames; returns when their first bits left. headers: of HEADER."""
        direction = headers["direction"].astype(np.int64)
        times = headers["time"].astype(np.int64) - self._begun - self._delay[direction]
        times -= self._leaving(headers["length"].astype(np.int64), direction)
        at, kind = np.nonzero(_IS_OF[headers["kinds"] * self._noted[direction]])
        numbers = headers["number"].astype(np.int64)
        # There are millions: in no more octets than they need.
        narrow = direction[at].astype(np.uint32), kind.astype(np.uint8)
        self._seen.append((times[at], *narrow, numbers[at]))
        return times

    def table(self) -> pd.DataFrame:
        """All of them so far."""
        none = np.zeros(0, np.int64)
        columns = list(zip(*self._seen, strict=True)) if self._seen else [(none,)] * 4
        times, direction, kind, numbers = (np.concatenate(column) for column in columns)
        ends = (_named(end, direction) for end in zip(*self._ends, strict=True))
        values = (times, *ends, _named(list(KINDS.values()), kind), numbers)
        return conform(
            "crossings", pd.DataFrame(dict(zip(_COLUMNS, values, strict=True)), copy=False)
        )

    def _leaving(
        self, length: NDArray[np.int64], direction: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """How long the frames took from their first bits to their last."""
        bits = (length + ETHERNET_OVERHEAD) * 8
        exact = np.rint(bits * NS / self._rate[direction])
        return np.maximum(exact.astype(np.int64), self._turn[direction])


def _named(names: Sequence[str], which: NDArray[Any]) -> "pd.Categorical[Any]":
    each = pd.Series(names, dtype="category").cat
    return pd.Categorical.from_codes(each.codes.to_numpy()[which], each.categories)


def headers_of(data: bytes | memoryview) -> NDArray[np.void]:
    """The records of taps that keep no octets."""
    return np.frombuffer(data, HEADER)


def _turns(wiring: Wiring) -> dict[Pair, int]:
    """How long a packet takes at least where the network limits packets per second."""
    if not wiring.scenario.links.packet_rates:
        return {}
    queues = wiring.topology.queues
    return {(queue.node, queue.towards): NS // queue.rate_pps for queue in queues}
