"""What nodes and hosts show of a failure, looked at from outside: it costs the network nothing."""

from collections.abc import Iterator

from fcn.contract.names import LINK_COUNTERS
from fcn.contract.paths import path_cell
from fcn.controller.config.watching import Watching
from fcn.lab.core import SwitchNode
from fcn.lab.look import Look, Probe
from fcn.lab.result.tables import ARRIVED, FLOWLETS, LINK_DOWN, LINK_UP, PATH
from fcn.lab.run.build import Built

_UP, _DOWN, _ = LINK_COUNTERS
_OF_PATHS = {PATH: "path_traffic", FLOWLETS: "path_flowlets"}
"""Counters of a path, by what they are in a result."""


class FailureWatch:
    """Counters of links and paths, of a network that watches its links."""

    def __init__(self, built: Built) -> None:
        watching = Watching(built.config)
        self.built = built
        self.links = {name: watching.links(name) for name in built.config.nodes}
        self._plans = {
            name: watching.planner.plans(name)
            for name, node in built.config.nodes.items()
            if node.policies
        }
        self._full: dict[tuple[str, str], str] = {}

    @property
    def watches(self) -> bool:
        """Whether any node watches a link."""
        return any(self.links.values())

    def probes(self) -> dict[tuple[str, str, str], Probe]:
        """All of them, of switches that are on, by node, kind and name."""
        found: dict[tuple[str, str, str], Probe] = {}
        if not self.watches:
            return found
        switches = self.built.simulation.switches
        for node, kind, name, counter, index in self._cells():
            if switches[node].is_on:
                switch = switches[node]
                number = switch.engine.program.counters[self._full_name(switch, counter)]
                found[node, kind, name] = Probe(Look.COUNTER, switch.number, number, index)
        for host in self.built.wiring.hosts.values():
            link, way = self.built.link(host.site, host.name)
            found[host.site, ARRIVED, host.name] = Probe(Look.PUT, 2 * link.number + way)
        return found

    def down(self, node: str) -> frozenset[str]:
        """The neighbours whose link the node takes for down."""
        switch = self.built.simulation.switches[node]
        return frozenset(
            link.peer
            for link in self.links[node]
            if switch.is_on
            and self._read(switch, _DOWN, link.port) >= self._read(switch, _UP, link.port)
            and self._read(switch, _DOWN, link.port)
        )

    def are_up(self) -> bool:
        """Whether every node takes all links that it watches for up."""
        switches = self.built.simulation.switches
        return all(
            self._read(switches[node], _UP, link.port)
            > self._read(switches[node], _DOWN, link.port)
            for node, links in self.links.items()
            for link in links
        )

    def _cells(self) -> Iterator[tuple[str, str, str, str, int]]:
        """Node, kind, name, counter and index."""
        for node, links in self.links.items():
            for link in links:
                yield node, LINK_UP, link.peer, _UP, link.port
                yield node, LINK_DOWN, link.peer, _DOWN, link.port
        for node, plans in self._plans.items():
            for plan in plans:
                for slot, path in enumerate(plan.paths):
                    name = f"{plan.policy}: {path.name}"
                    for kind, counter in _OF_PATHS.items():
                        yield node, kind, name, counter, path_cell(plan.cell, slot)

    def _read(self, switch: SwitchNode, counter: str, index: int) -> int:
        return switch.engine.counter_read(self._full_name(switch, counter), index).packets

    def _full_name(self, switch: SwitchNode, counter: str) -> str:
        if (switch.name, counter) not in self._full:
            full = (each for each in switch.engine.program.counters if each.endswith(counter))
            self._full[switch.name, counter] = next(full)
        return self._full[switch.name, counter]
