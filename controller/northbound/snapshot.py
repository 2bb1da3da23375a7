"""The values of the metrics, copied in the event loop so that another thread can read them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from fcn.controller.config.features import ROLE_FEATURES, Feature
from fcn.controller.node.counters import CounterValues
from fcn.controller.node.links import LinkState
from fcn.controller.node.paths import PathState
from fcn.controller.northbound.network import Network
from fcn.controller.timings import NOTHING, Distribution


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """One node. `state`: why it is not up. `known`, `unknown`: labelled flows with and without a
    known sender; None at a node that labels none. `balanced`: paths between which flows are moved
    because of load, with their policies."""

    name: str
    up: bool
    state: str
    features: Mapping[Feature, bool]
    entries: int
    pending: int
    refused: int
    failed: Mapping[str, int]
    known: int | None
    unknown: int | None
    neighbors: int
    counters: CounterValues
    links: tuple[LinkState, ...]
    balanced: tuple[tuple[str, PathState], ...]
    lists_lost: int
    writes: Distribution
    reports: Distribution | None
    """Of a node that sends none: None."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The network at one time."""

    nodes: tuple[NodeSnapshot, ...]
    labels_used: int
    labels_quarantined: int
    reports_accepted: Mapping[str, int]
    reports_refused: Mapping[str, int]
    learning_refused: Mapping[tuple[str, str], int]
    """By VRF and reason."""
    heard: Mapping[tuple[str, str], bool]
    """Whether a controller of another region is heard, by region and name."""
    lag: Distribution = NOTHING
    """By how much the event loop was late."""
    certificates: Mapping[str, float] = field(default_factory=dict)
    """By file, when it expires, in seconds since the epoch."""


def take_snapshot(
    network: Network,
    lag: Distribution = NOTHING,
    certificates: Mapping[str, float] = MappingProxyType({}),
) -> Snapshot:
    """Copy the values of the metrics. To be called in the event loop: its sources are not
    thread-safe."""
    return Snapshot(
        tuple(_node(network, name) for name in network.nodes),
        len(network.flows.labels),
        network.flows.labels.resting,
        dict(network.reports.accepted),
        {reason.value: count for reason, count in network.reports.refused.items()},
        {
            (vrf, reason.value): count
            for (vrf, reason), count in network.flows.refusals.counts.items()
        },
        dict(network.flows.regions.heard),
        lag,
        dict(certificates),
    )


def _node(network: Network, name: str) -> NodeSnapshot:
    agent = network.nodes[name]
    known, flows = network.flows.known_on(name), len(network.flows.on_node(name))
    labels = agent.provision.is_pe
    status = agent.status
    return NodeSnapshot(
        name=name,
        up=agent.is_up,
        state=f"{status.state.value}: {status.detail}" if status.detail else status.state.value,
        features={
            feature: feature in agent.features
            for feature in Feature
            if feature in ROLE_FEATURES[agent.provision.node.role]
        },
        entries=agent.entries,
        pending=agent.intent.pending,
        refused=agent.refused,
        failed=dict(agent.failures),
        known=known if labels else None,
        unknown=flows - known if labels else None,
        neighbors=len(network.neighbors[name]),
        counters=agent.counters.last,
        links=tuple(
            state
            for link in agent.links.links
            if agent.is_up and (state := agent.links.state(link.port)) is not None
        ),
        lists_lost=agent.lists_lost,
        writes=agent.write_latency,
        reports=agent.report_latency if labels else None,
        balanced=tuple(
            (plan.policy, path)
            for plan in agent.paths.plans
            if agent.is_up and agent.paths.balances(plan)
            for slot in range(len(plan.paths))
            if (path := agent.paths.state(plan.policy, slot)) is not None
        ),
    )
