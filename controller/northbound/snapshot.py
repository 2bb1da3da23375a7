"""The values of the metrics, copied in the event loop so that another thread can read them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from fcn.controller.config.features import ROLE_FEATURES
from fcn.controller.node.agent import NodeAgent
from fcn.controller.node.counters import CounterValues
from fcn.controller.northbound.network import Network
from fcn.controller.timings import NOTHING, Distribution

_COUNTER, _GAUGE, _TIMES = CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
_LINK = ("node", "port", "peer")
_PATH = ("node", "policy", "path")

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
Add = Callable[..., None]
"""Adds a value to the family of this name, with these labels."""

FAMILIES: tuple[tuple[type[Family], str, str, tuple[str, ...]], ...] = (
    (_COUNTER, "fcn_agent_reports", "Reports of host agents", ("host",)),
    (_COUNTER, "fcn_agent_reports_refused", "Reports not accepted, by reason", ("reason",)),
    (
        _COUNTER,
        "fcn_learning_refused",
        "Reports of switches that are not used, by VRF and reason",
        ("vrf", "reason"),
    ),
    (_GAUGE, "fcn_node_up", "1 when the switch is as intended", ("node",)),
    (_GAUGE, "fcn_node_feature", "1 when the feature is enabled", ("node", "feature")),
    (_GAUGE, "fcn_node_entries", "Entries intended", ("node",)),
    (_GAUGE, "fcn_node_pending", "Entries not yet written", ("node",)),
    (_COUNTER, "fcn_node_refused", "Updates the switch did not accept", ("node",)),
    (
        _COUNTER,
        "fcn_node_messages_failed",
        "Messages of a switch that could not be handled, by kind",
        ("node", "kind"),
    ),
    (_GAUGE, "fcn_flows", "Labelled flows", ("node", "source_qp")),
    (_GAUGE, "fcn_neighbors", "Resolved neighbours", ("node",)),
    (_GAUGE, "fcn_labels", "Flow labels by state", ("state",)),
    (
        _GAUGE,
        "fcn_link_up",
        "1 when the node hears the far end of a link, 0 when it does no more",
        _LINK,
    ),
    (_COUNTER, "fcn_link_failures", "How often a link went down", _LINK),
    (_GAUGE, "fcn_link_utilization", "Part of a link's rate that the node sends", _LINK),
    (_TIMES, "fcn_report_latency_seconds", "From sending a report to its flow", ("node",)),
    (_TIMES, "fcn_write_latency_seconds", "Of write requests to a switch", ("node",)),
    (_TIMES, "fcn_loop_lag_seconds", "By how much the event loop is late", ()),
    (_COUNTER, "fcn_node_lists_lost", "Lists of reports that did not come here", ("node",)),
    (_GAUGE, "fcn_certificate_expires", "When it does, seconds since the epoch", ("file",)),
    (
        _GAUGE,
        "fcn_region_heard",
        "1 when a controller of another region is heard",
        ("region", "controller"),
    ),
    (_COUNTER, "fcn_path_loads", "Messages of a path's load", _PATH),
    (_COUNTER, "fcn_path_flowlets", "Flowlets moved to a path because of load", _PATH),
)
"""All but the version and what switches count: kind, name, text and labels."""

CELL = ("node", "counter", "name")
OF_SWITCHES = {
    "fcn_switch_packets": "Packets by counter and reason",
    "fcn_switch_octets": "Octets by counter and reason",
}
"""What they count: name and text, by cell."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The network at one time: its metrics, what each switch has counted, of which metrics are made
    when somebody asks, and the state of nodes that are not up."""

    families: tuple[Family, ...]
    counters: Mapping[str, CounterValues]
    waiting: Mapping[str, str]


def take_snapshot(
    network: Network,
    lag: Distribution = NOTHING,
    certificates: Mapping[str, float] = MappingProxyType({}),
) -> Snapshot:
    """Copy the values of the metrics. To be called in the event loop: its sources are not
    thread-safe. lag: by how much the event loop was late. certificates: by file, when it expires,
    in seconds since the epoch."""
    families = {name: kind(name, text, labels=labels) for kind, name, text, labels in FAMILIES}

    def add(name: str, value: float | Distribution, *labels: str) -> None:
        family = families[f"fcn_{name}"]
        if isinstance(family, HistogramMetricFamily):
            assert isinstance(value, Distribution)
            family.add_metric(labels, value.cumulative(), value.seconds)
        else:
            assert not isinstance(value, Distribution)
            family.add_metric(labels, value)

    for agent in network.nodes.values():
        _add_node(add, network, agent)
    add("loop_lag_seconds", lag)
    for file, moment in certificates.items():
        add("certificate_expires", moment, file)
    for who, reason in network.flows.regions.silent.items():
        add("region_heard", float(not reason), *who)
    add("labels", len(network.flows.labels), "used")
    add("labels", network.flows.labels.resting, "quarantined")
    for host, count in network.reports.accepted.items():
        add("agent_reports", count, host)
    for refusal, count in network.reports.refused.items():
        add("agent_reports_refused", count, refusal.value)
    for (vrf, reason), count in network.flows.refusals.counts.items():
        add("learning_refused", count, vrf, reason.value)
    return Snapshot(
        tuple(families.values()),
        {name: agent.counters.last for name, agent in network.nodes.items()},
        {name: _state(agent) for name, agent in network.nodes.items() if not agent.is_up},
    )


def _state(agent: NodeAgent) -> str:
    status = agent.status
    return f"{status.state.value}: {status.detail}" if status.detail else status.state.value


def _add_node(add: Add, network: Network, agent: NodeAgent) -> None:
    name = agent.name
    add("node_up", float(agent.is_up), name)
    for feature in sorted(ROLE_FEATURES[agent.provision.node.role]):
        add("node_feature", float(feature in agent.features), name, feature.value)
    add("node_entries", agent.entries, name)
    add("node_pending", agent.intent.pending, name)
    add("node_refused", agent.refused, name)
    for kind, count in agent.failures.items():
        add("node_messages_failed", count, name, kind)
    # A P labels no flows, and sends no reports.
    if agent.provision.is_pe:
        known, flows = network.flows.known_on(name), len(network.flows.on_node(name))
        add("flows", known, name, "known")
        add("flows", flows - known, name, "unknown")
        add("report_latency_seconds", agent.report_latency, name)
    add("neighbors", len(network.neighbors[name]), name)
    add("node_lists_lost", agent.lists_lost, name)
    add("write_latency_seconds", agent.write_latency, name)
    if agent.is_up:
        _add_links_and_paths(add, agent)


def _add_links_and_paths(add: Add, agent: NodeAgent) -> None:
    for link in agent.links.links:
        if (state := agent.links.state(link.port)) is None:
            continue
        where = agent.name, str(link.port), link.peer
        if state.state != "unknown":
            add("link_up", float(state.state == "up"), *where)
        add("link_failures", state.downs, *where)
        if state.utilization is not None:
            add("link_utilization", state.utilization, *where)
    for plan in filter(agent.paths.balances, agent.paths.plans):
        for slot in range(len(plan.paths)):
            if (path := agent.paths.state(plan.policy, slot)) is not None:
                add("path_loads", path.loads, agent.name, plan.policy, path.path.name)
                add("path_flowlets", path.flowlets, agent.name, plan.policy, path.path.name)
