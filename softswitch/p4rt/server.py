"""The gRPC server of the softswitch: one port for all its services."""

import grpc
from finsy.proto import p4r_grpc

from fcn.contract.proto import trafficmanager_pb2
from fcn.contract.rpc import bounded, handler_of
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.revocation import RevocationGuard
from fcn.softswitch.p4rt.service import P4RuntimeService
from fcn.softswitch.p4rt.trace import TraceService
from fcn.softswitch.p4rt.trafficmanager import TrafficManagerService
from fcn.softswitch.p4rt.transport import Transport, TransportError
from fcn.softswitch.proto import trace_pb2

KEEPALIVE_MS, KEEPALIVE_TIMEOUT_MS = 30_000, 20_000
"""A client that vanished without closing its connection is primary for the sum of both at most."""
CONNECTIONS = 512
_MAX_CALLS = 1024
"""Of one connection, at a time; of more, the last wait."""
# P4Info, BMv2 JSON and large write batches exceed gRPC's 4 MiB; error details exceed its 8 KiB of
# metadata (P4Runtime 1.4, Guidelines for Implementations).
_OPTIONS = (
    ("grpc.max_receive_message_length", 256 * 1024 * 1024),
    ("grpc.max_send_message_length", 256 * 1024 * 1024),
    ("grpc.max_metadata_size", 1024 * 1024),
    ("grpc.so_reuseport", 0),
    ("grpc.max_concurrent_streams", _MAX_CALLS),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)


async def start_server(
    device: Device, ports: Ports, transport: Transport
) -> tuple[grpc.aio.Server, int]:
    """Serve a device as open_server() says, and start."""
    server, port = open_server(device, ports, transport)
    await server.start()
    return server, port


def open_server(device: Device, ports: Ports, transport: Transport) -> tuple[grpc.aio.Server, int]:
    """A server that has its port but is not started, and the port; port 0 takes a free one.

    Raises TransportError when the address is taken or unsafe, or TlsFileError.
    """
    credentials, revoked = transport.credentials(), transport.revoked()
    address = transport.address
    keepalive = (
        ("grpc.keepalive_time_ms", KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_MS),
        ("grpc.http2.ping_timeout_ms", KEEPALIVE_TIMEOUT_MS),
    )
    guards = [RevocationGuard(revoked)] if transport.crl is not None else []
    server = grpc.aio.server(
        interceptors=guards, options=(*_OPTIONS, *keepalive, *bounded(CONNECTIONS))
    )
    p4r_grpc.add_P4RuntimeServicer_to_server(P4RuntimeService(device), server)
    for proto, implementation in (
        (trafficmanager_pb2, TrafficManagerService(ports, device.statistics)),
        (trace_pb2, TraceService(device)),
    ):
        (service,) = proto.DESCRIPTOR.services_by_name.values()
        server.add_generic_rpc_handlers((handler_of(service, implementation),))
    try:
        port = (
            server.add_insecure_port(address)
            if credentials is None
            else server.add_secure_port(address, credentials)
        )
    except RuntimeError as error:
        raise TransportError(
            f"cannot listen on {address}: is another switch using it, and is it of this machine? "
            "Choose one with -- --grpc-server-addr HOST:PORT"
        ) from error
    return server, port
