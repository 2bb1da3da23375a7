"""Prometheus metrics: state of the controller, and the switches' counters as last read.

The HTTP server runs in its own thread, so it renders the last snapshot only.
"""

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from cryptography import x509
from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from fcn.contract.certificates import Revoked, Watched
from fcn.contract.transport import ServerFiles
from fcn.contract.version import fcn_version
from fcn.controller.clock import SYSTEM_CLOCK, Clock
from fcn.controller.northbound.probes import with_probes
from fcn.controller.northbound.snapshot import Snapshot
from fcn.controller.timings import Distribution

LOG = logging.getLogger("fcn")

CLIENTS = 64
"""Threads of the controller, beyond which no client is answered."""

CLIENT_TIMEOUT = 10.0
"""Seconds a client may be silent; each that is connected occupies a thread."""


_COUNTER, _GAUGE, _TIMES = CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
_CELL = ("node", "counter", "name")
_LINK = ("node", "port", "peer")
_PATH = ("node", "policy", "path")

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily

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
    (_COUNTER, "fcn_switch_packets", "Packets by counter and reason", _CELL),
    (_COUNTER, "fcn_switch_octets", "Octets by counter and reason", _CELL),
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
"""All but the version: kind, name, text and labels."""


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
        families: dict[str, Family] = {
            name: kind(name, text, labels=labels) for kind, name, text, labels in FAMILIES
        }

        def add(name: str, labels: Sequence[str], value: float) -> None:
            family = families[name]
            assert not isinstance(family, HistogramMetricFamily)
            family.add_metric(labels, value)

        def add_times(name: str, labels: Sequence[str], times: Distribution) -> None:
            family = families[name]
            assert isinstance(family, HistogramMetricFamily)
            family.add_metric(labels, times.cumulative(), times.seconds)

        for node in snapshot.nodes:
            add("fcn_node_up", [node.name], float(node.up))
            for name, enabled in node.features.items():
                add("fcn_node_feature", [node.name, name.value], float(enabled))
            add("fcn_node_entries", [node.name], node.entries)
            add("fcn_node_pending", [node.name], node.pending)
            add("fcn_node_refused", [node.name], node.refused)
            for kind, count in node.failed.items():
                add("fcn_node_messages_failed", [node.name, kind], count)
            for source_qp, number in (("known", node.known), ("unknown", node.unknown)):
                if number is not None:
                    add("fcn_flows", [node.name, source_qp], number)
            add("fcn_neighbors", [node.name], node.neighbors)
            add("fcn_node_lists_lost", [node.name], node.lists_lost)
            add_times("fcn_write_latency_seconds", [node.name], node.writes)
            if node.reports is not None:
                add_times("fcn_report_latency_seconds", [node.name], node.reports)
            for counter, members in node.counters.items():
                for member, (count, length) in members.items():
                    add("fcn_switch_packets", [node.name, counter, member], count)
                    add("fcn_switch_octets", [node.name, counter, member], length)
            for state in node.links:
                where = [node.name, str(state.link.port), state.link.peer]
                if state.state != "unknown":
                    add("fcn_link_up", where, float(state.state == "up"))
                add("fcn_link_failures", where, state.downs)
                if state.utilization is not None:
                    add("fcn_link_utilization", where, state.utilization)
            for policy, path in node.balanced:
                add("fcn_path_loads", [node.name, policy, path.path.name], path.loads)
                add("fcn_path_flowlets", [node.name, policy, path.path.name], path.flowlets)
        add_times("fcn_loop_lag_seconds", [], snapshot.lag)
        for file, moment in snapshot.certificates.items():
            add("fcn_certificate_expires", [file], moment)
        for who, is_heard in snapshot.heard.items():
            add("fcn_region_heard", who, float(is_heard))
        add("fcn_labels", ["used"], snapshot.labels_used)
        add("fcn_labels", ["quarantined"], snapshot.labels_quarantined)
        for host, count in snapshot.reports_accepted.items():
            add("fcn_agent_reports", [host], count)
        for reason, count in snapshot.reports_refused.items():
            add("fcn_agent_reports_refused", [reason], count)
        for (vrf, reason), count in snapshot.learning_refused.items():
            add("fcn_learning_refused", [vrf, reason], count)
        yield InfoMetricFamily("fcn_build", "What runs", value={"version": fcn_version()})
        yield from families.values()


class MetricsError(Exception):
    """Metrics cannot be served; the message says why and what to do."""


class _Handler(WSGIRequestHandler):
    """Leaves clients that are silent, and logs nothing."""

    timeout = CLIENT_TIMEOUT

    def handle(self) -> None:
        with suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
        """Log nothing."""


class _Server(ThreadingMixIn, WSGIServer):
    """Answers each client in a thread of its own, in which TLS begins, too."""

    daemon_threads = True
    tls: Callable[[], ssl.SSLContext] | None = None
    revoked: Callable[[], Revoked] = Revoked

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """In a thread, while there are few."""
        if threading.active_count() > CLIENTS:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer a client, over TLS where there is TLS."""
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(CLIENT_TIMEOUT)
        # A client that cannot do it hears so by TLS; a certificate may be renewed by the next.
        with suppress(OSError), self.tls().wrap_socket(request, server_side=True) as secured:
            shown = secured.getpeercert(binary_form=True)
            if shown and self.revoked().has(x509.load_der_x509_certificate(shown)):
                return
            super().finish_request(secured, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """Strangers do not fill the log."""


@contextmanager
def serving_metrics(
    collector: FcnCollector, endpoint: str, tls: ServerFiles | None = None
) -> Iterator[int]:
    """Serve `/metrics`, `/healthz`, `/readyz` and `/ready` on host:port; yields the port. Raises
    MetricsError, TlsFileError."""
    host, _, port = endpoint.rpartition(":")
    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)

    class Server(_Server):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    try:
        server = Server((host.strip("[]"), int(port)), _Handler)
    except OSError as error:
        raise MetricsError(
            f"cannot serve metrics on {endpoint}: {error.strerror}; "
            "choose another `metrics:` in the configuration"
        ) from None
    server.set_app(with_probes(make_wsgi_app(registry), collector.last))
    if tls is not None:
        server.tls = Watched(tls.handshake, tls.context, LOG.error).now
        server.revoked = tls.revoked(LOG.error).now
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
