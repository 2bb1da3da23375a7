"""Prometheus metrics: what the controller knows, and the switches' counters as last read."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fcn.controller.node.agent import State

if TYPE_CHECKING:
    from fcn.controller.app import ControlPlane


class FcnCollector(Collector):
    """Reads the control plane when Prometheus asks. Runs in the HTTP server's thread and only
    looks at snapshots."""

    def __init__(self, plane: "ControlPlane") -> None:
        self._plane = plane

    def collect(self) -> Iterator[Metric]:
        """All metrics, prefixed `fcn_`."""
        up = GaugeMetricFamily("fcn_node_up", "1 when the switch is as intended", labels=["node"])
        feature = GaugeMetricFamily(
            "fcn_node_feature", "1 when fast congestion notification is enabled", labels=["node"]
        )
        entries = GaugeMetricFamily("fcn_node_entries", "Entries intended", labels=["node"])
        pending = GaugeMetricFamily("fcn_node_pending", "Entries not yet written", labels=["node"])
        refused = CounterMetricFamily(
            "fcn_node_refused", "Updates the switch did not accept", labels=["node"]
        )
        flows = GaugeMetricFamily("fcn_flows", "Labelled flows", labels=["node", "source_qp"])
        neighbors = GaugeMetricFamily("fcn_neighbors", "Resolved neighbours", labels=["node"])
        packets = CounterMetricFamily(
            "fcn_switch_packets",
            "Packets by counter and reason",
            labels=["node", "counter", "name"],
        )
        for name, agent in self._plane.nodes.items():
            up.add_metric([name], float(agent.status.state is State.UP))
            feature.add_metric([name], float(agent.feature))
            entries.add_metric([name], len(agent.intent))
            pending.add_metric([name], agent.intent.pending)
            refused.add_metric([name], agent.status.refused)
            live = list(self._plane.flows.on_node(name).values())
            known = sum(flow.source_qp is not None for flow in live)
            flows.add_metric([name, "known"], known)
            flows.add_metric([name, "unknown"], len(live) - known)
            neighbors.add_metric([name], len(self._plane.neighbors[name]))
            for counter, members in agent.last_counters.items():
                for member, (count, _) in members.items():
                    packets.add_metric([name, counter, member], count)
        labels = GaugeMetricFamily("fcn_labels", "Flow labels by state", labels=["state"])
        labels.add_metric(["used"], len(self._plane.flows.labels))
        labels.add_metric(["quarantined"], self._plane.flows.labels.resting)
        accepted = CounterMetricFamily(
            "fcn_agent_reports", "Reports of host agents", labels=["host"]
        )
        refused_reports = CounterMetricFamily(
            "fcn_agent_reports_refused", "Reports not accepted, by reason", labels=["reason"]
        )
        for host, count in self._plane.reports.accepted.copy().items():
            accepted.add_metric([host], count)
        for reason, count in self._plane.reports.refused.copy().items():
            refused_reports.add_metric([reason.value], count)
        yield from (accepted, refused_reports)
        yield from (up, feature, entries, pending, refused, flows, neighbors, packets, labels)


def serve_metrics(plane: "ControlPlane", endpoint: str) -> tuple[Callable[[], None], int]:
    """Serve `/metrics` on host:port; returns what stops it, and the port. Raises OSError."""
    host, _, port = endpoint.rpartition(":")
    registry = CollectorRegistry()
    registry.register(FcnCollector(plane))
    server, thread = start_http_server(int(port), host.strip("[]"), registry)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop, server.server_port
