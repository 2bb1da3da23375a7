"""The parts of a running control plane that the northbound interfaces use."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from finsy import P4Schema

from fcn.controller.config import Config
from fcn.controller.config.document import DocumentError, read_again
from fcn.controller.events import EventBus
from fcn.controller.flows.service import FlowService
from fcn.controller.hostagent.reports import HostReports
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.agent import NodeAgent
from fcn.controller.owners.intent import Change
from fcn.controller.store import Store


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a node under another configuration. state: `up` where its switch has it, else
    why it gets it later."""

    node: str
    added: int
    removed: int
    changed: int
    state: str

    def __str__(self) -> str:
        later = "" if self.state == "up" else f" ({self.state})"
        return f"+{self.added} -{self.removed} ~{self.changed}{later}"


class Changeable(Protocol):
    """A control plane whose configuration can be replaced while it runs."""

    def differences(self, text: str, file: str) -> AsyncIterator[tuple[str, P4Schema, Change]]:
        """What the configuration in `text` would change at each node. Raises ConfigError naming
        `file`, PipelineError."""

    async def apply(self, text: str, file: str) -> list[Applied]:
        """Put it in force, and write the difference. Raises ConfigError, PipelineError and
        ApplyError, with nothing changed."""


class ApplyError(Exception):
    """A switch refuses what a configuration needs; the one before is in force again."""


@dataclass(slots=True)
class Network:
    """Nodes and neighbours by the node's name; `started` is in seconds since the epoch. Another
    configuration replaces them here."""

    config: Config
    bus: EventBus
    nodes: Mapping[str, NodeAgent]
    flows: FlowService
    neighbors: Mapping[str, NeighborService]
    reports: HostReports
    started: float
    store: Store
    plane: Changeable
    file: Path | None = None
    """What the controller reads when it is started again, if that is known."""

    def is_file(self, text: str) -> bool:
        try:
            return self.file is not None and read_again(self.file) == text
        except (OSError, DocumentError):
            return False
