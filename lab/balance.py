"""Conservation: where every frame of a simulation is, or why it is no more."""

from collections.abc import Mapping
from dataclasses import dataclass

from fcn.lab.core import Simulation
from fcn.lab.errors import LabError

_NOT_ENGINE_ENDS = (
    "received",
    "copied",
    "refused",
    "from_cpu",
    "off_drops",
    "unlinked",
    "pauses_sent",
    "pauses_received",
)


@dataclass(frozen=True)
class Balance:
    """sources: frames that came to be. ends: frames that are no more, by place and reason.
    places: frames that are somewhere now. All named `node or link: what`."""

    sources: Mapping[str, int]
    ends: Mapping[str, int]
    places: Mapping[str, int]

    @property
    def difference(self) -> int:
        """Frames that nobody accounts for: 0."""
        return sum(self.sources.values()) - sum(self.ends.values()) - sum(self.places.values())


def balance(simulation: Simulation) -> Balance:
    """Account for every frame. Raises LabError when a part of the network loses or invents one."""
    sources: dict[str, int] = {}
    ends: dict[str, int] = {}
    places: dict[str, int] = {}
    arrived = dict.fromkeys((*simulation.switches, *simulation.hosts), 0)
    left = dict.fromkeys(arrived, 0)
    for link in simulation.links:
        for direction in (0, 1):
            counters = link.counters(direction)
            near, far = link.ends[direction], link.ends[1 - direction]
            name = f"{near.node.name}:{near.port} to {far.node.name}:{far.port}"
            left[near.node.name] += counters.put
            arrived[far.node.name] += counters.delivered
            ends[f"{name}: link down"] = counters.cut
            ends[f"{name}: bit errors"] = counters.errors
            places[f"{name}: in flight"] = counters.in_flight
            gone = counters.delivered + counters.cut + counters.errors
            _equal(name, counters.put, gone + counters.in_flight)
    for name, host in simulation.hosts.items():
        seen = host.counters()
        sources[f"{name}: sent"] = seen.made
        ends[f"{name}: received"] = seen.received - seen.overflowed
        ends[f"{name}: memory full"] = seen.overflowed
        ends[f"{name}: no link"] = seen.unlinked
        places[f"{name}: waiting to be sent"] = seen.queued
        _equal(name, seen.made, left[name] + seen.unlinked + seen.queued)
        _equal(name, arrived[name], seen.received)
    for name, switch in simulation.switches.items():
        totals = switch.totals()
        taken = totals["received"] + totals["refused"] + totals["off_drops"]
        taken += totals["pauses_received"]
        _equal(name, taken, arrived[name] + totals["from_cpu"])
        sent = totals["sent"] + totals["pauses_sent"]
        _equal(name, sent, left[name] + totals["unlinked"])
        became = {what: n for what, n in totals.items() if what not in _NOT_ENGINE_ENDS}
        _equal(name, totals["received"] + totals["copied"], sum(became.values()))
        sources[f"{name}: from the control plane"] = totals["from_cpu"]
        sources[f"{name}: copied"] = totals["copied"]
        sources[f"{name}: pauses sent"] = totals["pauses_sent"]
        ends[f"{name}: pauses received"] = totals["pauses_received"]
        places[f"{name}: in queues"] = became.pop("held", 0)
        became.pop("sent", 0)
        for what in ("refused", "off_drops", "unlinked"):
            became[what] = totals[what]
        ends |= {f"{name}: {what}": n for what, n in became.items()}
    _equal("frames in memory", simulation.frames_in_use, sum(places.values()))
    result = Balance(sources, ends, places)
    _equal("the network", result.difference, 0)
    return result


def _equal(where: str, one: int, other: int) -> None:
    if one != other:
        raise LabError(f"{where} does not keep count of its frames: {one} are not {other}")
