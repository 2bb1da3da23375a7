"""Prometheus metrics: state of the controller, and the switches' counters as last read.

The HTTP server runs in its own thread, so it renders the last snapshot only.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from wsgiref.simple_server import WSGIRequestHandler

from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from fcn.contract.version import fcn_version
from fcn.controller.clock import SYSTEM_CLOCK, Clock
from fcn.controller.northbound.probes import with_probes
from fcn.controller.northbound.snapshot import Snapshot

CLIENT_TIMEOUT = 10.0
"""Seconds a client may be silent; each that is connected occupies a thread."""


class FcnCollector(Collector):
    """Renders snapshots."""

    def __init__(self, snapshot: Snapshot, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self.show(snapshot)

    def show(self, snapshot: Snapshot) -> None:
        """Replace the snapshot. Thread-safe, because snapshots are immutable."""
        self._shown = (snapshot, self._clock.monotonic())

    def last(self) -> tuple[Snapshot, float]:
        """The snapshot shown, and its age in seconds."""
        snapshot, taken = self._shown
        return snapshot, self._clock.monotonic() - taken

    def collect(self) -> Iterator[Metric]:
        """All metrics, prefixed `fcn_`."""
        snapshot, _ = self._shown
        up = GaugeMetricFamily("fcn_node_up", "1 when the switch is as intended", labels=["node"])
        feature = GaugeMetricFamily(
            "fcn_node_feature", "1 when the feature is enabled", labels=["node", "feature"]
        )
        entries = GaugeMetricFamily("fcn_node_entries", "Entries intended", labels=["node"])
        pending = GaugeMetricFamily("fcn_node_pending", "Entries not yet written", labels=["node"])
        refused = CounterMetricFamily(
            "fcn_node_refused", "Updates the switch did not accept", labels=["node"]
        )
        failed = CounterMetricFamily(
            "fcn_node_messages_failed",
            "Messages of a switch that could not be handled, by kind",
            labels=["node", "kind"],
        )
        flows = GaugeMetricFamily("fcn_flows", "Labelled flows", labels=["node", "source_qp"])
        neighbors = GaugeMetricFamily("fcn_neighbors", "Resolved neighbours", labels=["node"])
        packets = CounterMetricFamily(
            "fcn_switch_packets",
            "Packets by counter and reason",
            labels=["node", "counter", "name"],
        )
        octets = CounterMetricFamily(
            "fcn_switch_octets",
            "Octets by counter and reason",
            labels=["node", "counter", "name"],
        )
        link_up = GaugeMetricFamily(
            "fcn_link_up",
            "1 when the node hears the far end of a link, 0 when it does no more",
            labels=["node", "port", "peer"],
        )
        link_failures = CounterMetricFamily(
            "fcn_link_failures", "How often a link went down", labels=["node", "port", "peer"]
        )
        link_utilization = GaugeMetricFamily(
            "fcn_link_utilization",
            "Part of a link's rate that the node sends",
            labels=["node", "port", "peer"],
        )
        loads = CounterMetricFamily(
            "fcn_path_loads", "Messages of a path's load", labels=["node", "policy", "path"]
        )
        flowlets = CounterMetricFamily(
            "fcn_path_flowlets",
            "Flowlets moved to a path because of load",
            labels=["node", "policy", "path"],
        )
        for node in snapshot.nodes:
            up.add_metric([node.name], float(node.up))
            for name, enabled in node.features.items():
                feature.add_metric([node.name, name.value], float(enabled))
            entries.add_metric([node.name], node.entries)
            pending.add_metric([node.name], node.pending)
            refused.add_metric([node.name], node.refused)
            for kind, count in node.failed.items():
                failed.add_metric([node.name, kind], count)
            for source_qp, number in (("known", node.known), ("unknown", node.unknown)):
                if number is not None:
                    flows.add_metric([node.name, source_qp], number)
            neighbors.add_metric([node.name], node.neighbors)
            for counter, members in node.counters.items():
                for member, (count, length) in members.items():
                    packets.add_metric([node.name, counter, member], count)
                    octets.add_metric([node.name, counter, member], length)
            for state in node.links:
                where = [node.name, str(state.link.port), state.link.peer]
                if state.state != "unknown":
                    link_up.add_metric(where, float(state.state == "up"))
                link_failures.add_metric(where, state.downs)
                if state.utilization is not None:
                    link_utilization.add_metric(where, state.utilization)
            for policy, path in node.balanced:
                loads.add_metric([node.name, policy, path.path.name], path.loads)
                flowlets.add_metric([node.name, policy, path.path.name], path.flowlets)
        labels = GaugeMetricFamily("fcn_labels", "Flow labels by state", labels=["state"])
        labels.add_metric(["used"], snapshot.labels_used)
        labels.add_metric(["quarantined"], snapshot.labels_quarantined)
        accepted = CounterMetricFamily(
            "fcn_agent_reports", "Reports of host agents", labels=["host"]
        )
        refused_reports = CounterMetricFamily(
            "fcn_agent_reports_refused", "Reports not accepted, by reason", labels=["reason"]
        )
        for host, count in snapshot.reports_accepted.items():
            accepted.add_metric([host], count)
        for reason, count in snapshot.reports_refused.items():
            refused_reports.add_metric([reason], count)
        not_learned = CounterMetricFamily(
            "fcn_learning_refused",
            "Reports of switches that are not used, by VRF and reason",
            labels=["vrf", "reason"],
        )
        for (vrf, reason), count in snapshot.learning_refused.items():
            not_learned.add_metric([vrf, reason], count)
        yield from (accepted, refused_reports, not_learned)
        yield from (up, feature, entries, pending, refused, failed, flows, neighbors)
        yield from (packets, octets)
        yield InfoMetricFamily("fcn_build", "What runs", value={"version": fcn_version()})
        yield from (labels, link_up, link_failures, link_utilization, loads, flowlets)


class MetricsError(Exception):
    """Metrics cannot be served; the message says why and what to do."""


class _Handler(WSGIRequestHandler):
    """Metrics cannot be served; the message says why and what to do."""

    timeout = CLIENT_TIMEOUT

    def handle(self) -> None:
        """Answer a request, if there is one."""
        with suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Log nothing."""


@contextmanager
def serving_metrics(collector: FcnCollector, endpoint: str) -> Iterator[int]:
    """Serve `/metrics`, `/healthz` and `/ready` on host:port; yields the port. Raises
    MetricsError."""
    host, _, port = endpoint.rpartition(":")
    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)
    try:
        server, thread = start_http_server(int(port), host.strip("[]"), registry)
    except OSError as error:
        raise MetricsError(
            f"cannot serve metrics on {endpoint}: {error.strerror}; "
            "choose another `metrics:` in the configuration"
        ) from None
    server.RequestHandlerClass = _Handler
    server.set_app(with_probes(make_wsgi_app(registry), collector.last))
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
