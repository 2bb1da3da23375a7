"""What a command says of something else that answers where the controller should be."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import grpc
import pytest

from fcn.contract.rpc import handler_of
from fcn.controller.northbound.client import FcnClient, UnreachableError
from fcn.controller.proto import fcn_pb2 as pb


@pytest.fixture
def server() -> Iterator[grpc.Server]:
    with ThreadPoolExecutor(4) as pool:
        started = grpc.server(pool)
        yield started
        started.stop(None).wait()


def test_another_server_is_no_controller(server: grpc.Server) -> None:
    """As that of a switch."""
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with FcnClient(f"127.0.0.1:{port}") as client:
        for ask in (client.status, client.flows, lambda: next(client.events())):
            with pytest.raises(UnreachableError, match=r"what answers at .* is no controller"):
                ask()


def test_a_controller_that_is_stopped_is_called_silent(server: grpc.Server) -> None:
    ended = Event()

    class Silent:
        """A controller of which each answer is awaited for ever."""

        def __getattr__(self, _method: str) -> Callable[[object, grpc.ServicerContext], object]:
            return lambda _request, _context: ended.wait()

    service = pb.DESCRIPTOR.services_by_name["Fcn"]
    server.add_generic_rpc_handlers((handler_of(service, Silent()),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with FcnClient(f"127.0.0.1:{port}", timeout=0.2) as client:
        with pytest.raises(UnreachableError, match=r"the controller at .* does not answer"):
            client.status()
        with pytest.raises(UnreachableError, match=r"the controller at .* does not answer"):
            client.events()
        ended.set()


class Telling:
    """A controller that has an event to tell, and then none; it takes for ever to say its state."""

    def __init__(self, ended: Event) -> None:
        self._ended = ended
        self.asked = Event()

    def WatchEvents(  # noqa: N802
        self, _request: object, _context: grpc.ServicerContext
    ) -> Iterator[pb.Event]:
        yield pb.Event()
        self._ended.wait()

    def GetStatus(self, _request: object, _context: grpc.ServicerContext) -> None:  # noqa: N802
        self.asked.set()
        self._ended.wait()


def test_a_controller_that_ends_while_it_is_asked_is_named(server: grpc.Server) -> None:
    ended = Event()
    telling = Telling(ended)
    service = pb.DESCRIPTOR.services_by_name["Fcn"]
    server.add_generic_rpc_handlers((handler_of(service, telling),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    gone = r"the controller at .* has ended, or the connection to it; `fcn status` says"
    with FcnClient(f"127.0.0.1:{port}") as client, ThreadPoolExecutor(1) as other:
        events = client.events()
        next(events)
        asking = other.submit(client.status)
        assert telling.asked.wait(60)
        server.stop(0)
        for waited in (lambda: next(events), asking.result):
            with pytest.raises(UnreachableError, match=gone):
                waited()
        ended.set()


def test_a_process_that_is_stopped_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel takes connections for it."""
    soon = [(f"grpc.{which}_reconnect_backoff_ms", 100) for which in ("min", "initial")]
    monkeypatch.setattr("fcn.controller.northbound.client.KEEPALIVE", soon)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "api"))
        listening.listen()
        silent = pytest.raises(UnreachableError, match="does not answer; is its process stopped")
        with FcnClient(f"unix:{tmp_path}/api") as client, silent:
            client.status()
