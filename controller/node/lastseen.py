"""Which flows of a switch send nothing, by their counters: a switch may count idle time anew with
every change of an entry, as BMv2 does, and the entry of a watched flow changes often."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fcn.controller.flows.key import FlowKey


@dataclass(frozen=True, slots=True)
class _Count:
    label: int
    packets: int
    since: float


class LastSeen:
    """Compares what is read every now and then. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._counts: dict[FlowKey, _Count] = {}

    def keep(self, keys: Iterable[FlowKey]) -> None:
        """Forget all other flows."""
        self._counts = {key: self._counts[key] for key in keys if key in self._counts}

    def silent_for(self, key: FlowKey, label: int, packets: int) -> float:
        """Seconds for which a flow was seen to have sent nothing, now that its entry with this
        label has counted so many packets."""
        now, before = self._clock(), self._counts.get(key)
        if before is not None and (before.label, before.packets) == (label, packets):
            return now - before.since
        self._counts[key] = _Count(label, packets, now)
        return 0.0
