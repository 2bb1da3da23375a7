"""Prometheus metrics: state of the controller, and the switches' counters as last read.

The HTTP server runs in its own thread, so it renders the last snapshot only.
"""

import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from cryptography import x509
from prometheus_client import CollectorRegistry, ProcessCollector, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from fcn.contract.certificates import Revoked, Watched
from fcn.contract.transport import ServerFiles
from fcn.contract.version import fcn_version
from fcn.controller.clock import SYSTEM_CLOCK, Clock
from fcn.controller.northbound.probes import with_probes
from fcn.controller.northbound.snapshot import CELL, OF_SWITCHES, Snapshot

LOG = logging.getLogger("fcn")

CLIENTS = 64
"""Threads of the controller, beyond which a client is answered in the place of another."""

CLIENT_TIMEOUT = 10.0
"""Seconds a client may be silent; each that is connected occupies a thread."""


class FcnCollector(Collector):
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
        yield InfoMetricFamily("fcn_build", "What runs", value={"version": fcn_version()})
        yield from snapshot.families
        packets, octets = (
            CounterMetricFamily(name, text, labels=CELL) for name, text in OF_SWITCHES.items()
        )
        for node, counters in snapshot.counters.items():
            for counter, members in counters.items():
                for member, (count, length) in members.items():
                    packets.add_metric((node, counter, member), count)
                    octets.add_metric((node, counter, member), length)
        yield packets
        yield octets


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

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments)
        self._answered: dict[socket.socket, None] = {}
        """Who is, the first of them first."""

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """In a thread. Whoever has one for longest gives way where there are many: who says a
        little now and then is not silent."""
        threads = threading.active_count()
        if threads > CLIENTS:
            with suppress(OSError, StopIteration, RuntimeError):
                next(iter(self._answered)).shutdown(socket.SHUT_RDWR)
        # Its thread may have no turn to end.
        if threads > 2 * CLIENTS:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer a client, over TLS where there is TLS."""
        if self.tls is None:
            with self._one_more(request):
                super().finish_request(request, client_address)
            return
        request.settimeout(CLIENT_TIMEOUT)
        # A client that cannot do it hears so by TLS; a certificate may be renewed by the next.
        with (
            suppress(OSError),
            self.tls().wrap_socket(
                request, server_side=True, do_handshake_on_connect=False
            ) as secured,
            self._one_more(secured),
        ):
            secured.do_handshake()
            shown = secured.getpeercert(binary_form=True)
            if shown and self.revoked().has(x509.load_der_x509_certificate(shown)):
                return
            super().finish_request(secured, client_address)

    @contextmanager
    def _one_more(self, request: socket.socket) -> Iterator[None]:
        self._answered[request] = None
        try:
            yield
        finally:
            self._answered.pop(request, None)

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
