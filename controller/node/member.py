"""All that the controller has of one node, as one configuration asks for it."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Self

from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.connection import Connection
from fcn.controller.node.edge import NodeEdge
from fcn.controller.owners.intent import Change, Intent
from fcn.controller.provision.provision import Provision

Job = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Member:
    """One node. edge: None for a P node."""

    provision: Provision
    connection: Connection
    edge: NodeEdge | None
    neighbors: NeighborService
    agent: NodeAgent

    @property
    def jobs(self) -> list[Job]:
        """What runs for it all the time."""
        return [self.agent.counters.run, self.neighbors.run]

    def take_over(self, before: Self) -> None:
        """Intend what was learned under the configuration before, but for flows."""
        if self.edge is not None and before.edge is not None:
            self.edge.take_over(before.edge)
        self.neighbors.take_over(before.neighbors)
        self.provision.watched.take_over(before.provision.watched)

    def changes(self, before: Self | None) -> list[Change]:
        """What the switch is to have of other entries than under the configuration before, but for
        flows."""
        intent = self.provision.intent
        return list((before.provision.intent if before else Intent(intent.schema)).changes(intent))
