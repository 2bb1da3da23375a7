"""The packet tests' P4Runtime client."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
from finsy.proto import p4r, p4r_grpc

from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient


class Replaced(p4r_grpc.P4RuntimeServicer):
    """A switch that says something of a program the client does not have, then goes on."""

    def StreamChannel(  # noqa: N802 (P4Runtime's name)
        self, _requests: object, _context: object
    ) -> Iterator[p4r.StreamMessageResponse]:
        entry = p4r.TableEntry(table_id=0x2000001)
        yield p4r.StreamMessageResponse(
            idle_timeout_notification=p4r.IdleTimeoutNotification(table_entry=[entry])
        )
        yield p4r.StreamMessageResponse(packet=p4r.PacketIn(payload=b"the next"))


def test_what_is_said_of_a_replaced_program_ends_no_stream() -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    p4r_grpc.add_P4RuntimeServicer_to_server(Replaced(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    client = P4RuntimeClient(f"127.0.0.1:{port}", 1)
    try:
        assert client.packet_ins.get(timeout=60).payload == b"the next"
        assert "table_id" in client.stream_errors.get_nowait()
    finally:
        client.close()
        server.stop(None)
