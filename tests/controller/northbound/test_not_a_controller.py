"""What a command says of something else that answers where the controller should be."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
        ended.set()
