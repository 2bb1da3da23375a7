"""Synchronous P4Runtime client for tests.

PTF tests are synchronous, so this client is too: finsy's entities and schema do the encoding; a
reader thread puts the messages of the stream into one queue per kind.
"""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Self, TypeVar

import finsy as fy
import grpc
from finsy.p4entity import (
    P4EntityList,
    P4IdleTimeoutNotification,
    P4UpdateList,
    decode_entity,
    decode_stream,
    encode_entities,
    encode_updates,
)
from finsy.proto import p4r, p4r_grpc, rpc_code, rpc_status

from fcn.contract.pipeline import Pipeline

_T = TypeVar("_T")

RPC_TIMEOUT = 120.0
"""Timeout of an RPC in seconds; setting a pipeline on a busy machine takes longest."""


class P4RuntimeError(Exception):
    """An RPC failed; the message names the operation and, for writes, each refused update."""

    def __init__(self, operation: str, error: grpc.RpcError) -> None:
        self.code: grpc.StatusCode = error.code()
        self.sub_codes: dict[int, int] = {}
        """Canonical code of each refused update, by its position in the request."""
        lines = [f"{operation}: {self.code.name}: {error.details()}"]
        for position, sub in enumerate(_sub_errors(error)):
            if sub.canonical_code != rpc_code.OK:
                self.sub_codes[position] = sub.canonical_code
                lines.append(f"  update {position}: code {sub.canonical_code}: {sub.message}")
        super().__init__("\n".join(lines))


def _call(operation: str, rpc: Callable[[], _T]) -> _T:
    try:
        return rpc()
    except grpc.RpcError as error:
        raise P4RuntimeError(operation, error) from error


@lru_cache
def _out_of(pipeline: Pipeline, port: int) -> Sequence[p4r.PacketMetadata]:
    """The metadata of a packet-out: thousands are markers."""
    packet = fy.P4PacketOut(b"", egress_port=port, pad=0)
    return packet.encode_update(pipeline.schema).packet.metadata


def _sub_errors(error: grpc.RpcError) -> Iterator[p4r.Error]:
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = rpc_status.Status()
            status.ParseFromString(value)
            for detail in status.details:
                sub = p4r.Error()
                detail.Unpack(sub)
                yield sub


class P4RuntimeClient:
    """One primary controller of one device.

    address: host:port of the P4Runtime server. device_id as in arbitration.
    Use as a context manager; leaving it closes the stream and so gives up the primary role.
    """

    def __init__(self, address: str, device_id: int) -> None:
        self.device_id = device_id
        self._pipeline: Pipeline | None = None
        self.packet_ins: queue.Queue[fy.P4PacketIn] = queue.Queue()
        self.digests: queue.Queue[fy.P4DigestList] = queue.Queue()
        self.idle: queue.Queue[P4IdleTimeoutNotification] = queue.Queue()
        self.stream_errors: queue.Queue[str] = queue.Queue()
        self._election_id = p4r.Uint128(high=0, low=1)
        self._requests: queue.Queue[p4r.StreamMessageRequest | None] = queue.Queue()
        self._gathered: list[p4r.Update] | None = None
        self._arbitration: queue.Queue[p4r.MasterArbitrationUpdate | grpc.RpcError] = queue.Queue()
        self._channel = grpc.insecure_channel(address)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read_stream, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        self.become_primary()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the stream and the channel; idempotent.

        Waits until the switch has ended the stream too: until then the election ID is taken.
        """
        self._requests.put(None)
        self._reader.join(RPC_TIMEOUT)
        self._stream.cancel()
        self._channel.close()

    def become_primary(self) -> None:
        """Arbitrate; raises PermissionError when another client holds a higher election ID."""
        self._requests.put(
            p4r.StreamMessageRequest(
                arbitration=p4r.MasterArbitrationUpdate(
                    device_id=self.device_id, election_id=self._election_id
                )
            )
        )
        answer = self._arbitration.get(timeout=RPC_TIMEOUT)
        if isinstance(answer, grpc.RpcError):
            raise P4RuntimeError("arbitration", answer)
        if answer.status.code != rpc_code.OK:
            raise PermissionError(f"not primary: {answer.status.message}")

    @property
    def pipeline(self) -> Pipeline:
        if self._pipeline is None:
            raise RuntimeError("no program is loaded; call set_pipeline first")
        return self._pipeline

    @property
    def schema(self) -> fy.P4Schema:
        return self._pipeline.schema if self._pipeline else fy.P4Schema()

    def set_pipeline(self, pipeline: Pipeline) -> None:
        """Load and commit a program; resets all tables, counters and registers."""
        self._pipeline = pipeline
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=self._election_id,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=pipeline.schema.get_pipeline_config(),
        )
        _call(
            "SetForwardingPipelineConfig",
            lambda: self._stub.SetForwardingPipelineConfig(request, timeout=RPC_TIMEOUT),
        )

    def discard_messages(self) -> None:
        """Discard the messages received so far."""
        for source in (self.packet_ins, self.digests, self.idle, self.stream_errors):
            with contextlib.suppress(queue.Empty):
                while True:
                    source.get_nowait()

    def write(self, *entities: P4UpdateList) -> None:
        """Send entities (+insert, ~modify, -delete) in one Write, stream messages on the stream."""
        updates: list[p4r.Update] = []
        for message in encode_updates(entities, self.schema):
            if isinstance(message, p4r.Update):
                updates.append(message)
            else:
                self.flush()
                self._requests.put(message)
        if self._gathered is not None:
            self._gathered += updates
        else:
            self._send(updates)

    def packet_out(self, port: int, frame: bytes) -> None:
        """Send a frame out of `port`."""
        self.flush()
        packet = p4r.PacketOut(payload=frame, metadata=_out_of(self.pipeline, port))
        self._requests.put(p4r.StreamMessageRequest(packet=packet))

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """What is written within is sent in one Write, before a packet or a question follows it."""
        self._gathered = []
        try:
            yield
            self.flush()
        finally:
            self._gathered = None

    def flush(self) -> None:
        """Send what was gathered."""
        if self._gathered:
            updates, self._gathered = self._gathered, []
            self._send(updates)

    def _send(self, updates: list[p4r.Update]) -> None:
        if updates:
            request = p4r.WriteRequest(
                device_id=self.device_id, election_id=self._election_id, updates=updates
            )
            _call("Write", lambda: self._stub.Write(request, timeout=RPC_TIMEOUT))

    def read(self, *entities: P4EntityList) -> list[Any]:
        found = self.read_encoded(encode_entities(entities, self.schema))
        return [decode_entity(entity, self.schema) for entity in found]

    def read_encoded(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        self.flush()
        request = p4r.ReadRequest(device_id=self.device_id, entities=entities)
        responses: list[p4r.ReadResponse] = _call(
            "Read", lambda: list(self._stub.Read(request, timeout=RPC_TIMEOUT))
        )
        return [entity for response in responses for entity in response.entities]

    def _read_stream(self) -> None:
        try:
            for message in self._stream:
                try:
                    self._sort(message)
                except ValueError as error:
                    # While a program is replaced, of what the other one had and this one has not
                    self.stream_errors.put(f"{error}: {message}")
        except grpc.RpcError as error:
            self._arbitration.put(error)

    def _sort(self, message: p4r.StreamMessageResponse) -> None:
        kind = message.WhichOneof("update")
        if kind == "arbitration":
            self._arbitration.put(message.arbitration)
        elif kind == "packet":
            self.packet_ins.put(decode_stream(message, self.schema))
        elif kind == "digest":
            digest: fy.P4DigestList = decode_stream(message, self.schema)
            self._requests.put(digest.ack().encode_update(self.schema))
            self.digests.put(digest)
        elif kind == "idle_timeout_notification":
            self.idle.put(decode_stream(message, self.schema))
        else:
            self.stream_errors.put(str(message))
