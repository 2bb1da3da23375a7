"""Port numbers of a target: front-panel ports, and ports with another function."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import islice

PORT_BITS = 9
"""Width of a port number in every program."""

LAST_PORT = (1 << PORT_BITS) - 1

QUEUES = range(32)
"""Queues of a port."""


@dataclass(frozen=True)
class Ports:
    """Ports of a target. front_panel: number ranges of front-panel ports, except the ports below.

    cpu: to and from the controller. recirculation: from the end of egress into ingress.
    drop: egress port of packets to be dropped, on a target that has such a port. parking: from the
    end of egress into ingress, for packets that are held (SRF-7), on a target that holds so.
    clock: the same for the clock packet (contract/link_clock.py), which may be the recirculation
    port: then nothing paces it.
    """

    cpu: int
    recirculation: int
    front_panel: tuple[range, ...]
    drop: int | None = None
    parking: int | None = None
    _: KW_ONLY
    clock: int

    @property
    def paces_clock(self) -> bool:
        """Whether the clock has a queue of its own, whose rate is the clock's."""
        return self.clock != self.recirculation

    @property
    def _own(self) -> dict[int, str]:
        own = {
            self.cpu: "CPU port",
            self.clock: "clock port",
            self.recirculation: "recirculation port",
        }
        if self.drop is not None:
            own[self.drop] = "drop port"
        if self.parking is not None:
            own[self.parking] = "parking port"
        return own

    def problem(self, port: int) -> str | None:
        """Why `port` is not a front-panel port, as the predicate of a sentence; None when it is."""
        if port in self._own:
            return f"is the {self._own[port]}"
        if not any(port in ports for ports in self.front_panel):
            shown = ", ".join(f"{ports[0]} to {ports[-1]}" for ports in self.front_panel)
            return f"is not a front-panel port; those are {shown}"
        return None

    def first(self, count: int) -> tuple[int, ...]:
        """The `count` lowest front-panel ports from 1 on."""
        return tuple(islice(self._from_one(), count))

    def _from_one(self) -> Iterator[int]:
        for ports in self.front_panel:
            yield from (port for port in ports if port > 0 and self.problem(port) is None)
