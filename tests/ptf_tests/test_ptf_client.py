"""The packet tests' P4Runtime client."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
from finsy.proto import p4r

from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient


def stream_of_a_switch(_requests: object, _context: object) -> Iterator[p4r.StreamMessageResponse]:
    """It says something of a program the client does not have, then goes on."""
    entry = p4r.TableEntry(table_id=0x2000001)
    yield p4r.StreamMessageResponse(
        idle_timeout_notification=p4r.IdleTimeoutNotification(table_entry=[entry])
    )
    yield p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=b"the next"))


def test_what_is_said_of_a_replaced_program_ends_no_stream() -> None:
    stream = grpc.stream_stream_rpc_method_handler(
        stream_of_a_switch,
        request_deserializer=p4r.StreamMessageRequest.FromString,
        response_serializer=p4r.StreamMessageResponse.SerializeToString,
    )
    server = grpc.server(ThreadPoolExecutor(1))
    handlers = grpc.method_handlers_generic_handler("p4.v1.P4Runtime", {"StreamChannel": stream})
    server.add_generic_rpc_handlers((handlers,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    client = P4RuntimeClient(f"127.0.0.1:{port}", 1)
    try:
        assert client.packet_ins.get(timeout=60).payload == b"the next"
        assert "table_id" in client.stream_errors.get_nowait()
    finally:
        client.close()
        server.stop(None)
