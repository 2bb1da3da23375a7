"""The parts of a running control plane that the northbound interfaces use."""

from collections.abc import Mapping
from dataclasses import dataclass

from fcn.controller.config import Config
from fcn.controller.events import EventBus
from fcn.controller.flows.service import FlowService
from fcn.controller.hostagent.reports import HostReports
from fcn.controller.neighbors.service import NeighborService
from fcn.controller.node.agent import NodeAgent
from fcn.controller.store import Store


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes and neighbours by the node's name; `started` is in seconds since the epoch."""

    config: Config
    bus: EventBus
    nodes: Mapping[str, NodeAgent]
    flows: FlowService
    neighbors: Mapping[str, NeighborService]
    reports: HostReports
    started: float
    store: Store
