"""Errors of the P4Runtime server and their wire form (P4Runtime 1.4, Error Reporting Messages)."""

from collections.abc import Sequence
from functools import partial

from finsy.proto import p4r, rpc_code, rpc_status
from google.protobuf.any_pb2 import Any

ERROR_SPACE = "fcn-v1model-softswitch"

# All details of a batch, in octets: in base64 below the 64 KiB that finsy accepts.
_DETAILS_SIZE = 44 * 1024
# Octets of a message, which may repeat names of the client's. In gRPC metadata an octet takes up to
# three; of more than 8 KiB in all clients refuse some, of 16 KiB all.
_MESSAGE_SIZE = 2000
# A detail without its message.
_DETAIL_OVERHEAD = 48


def _shortened(message: str) -> str:
    octets = message.encode(errors="backslashreplace")
    if len(octets) <= _MESSAGE_SIZE:
        return message
    return octets[:_MESSAGE_SIZE].decode(errors="ignore") + "..."


class P4RuntimeError(Exception):
    """A rejected request: a canonical gRPC code (google.rpc.Code) and what to do about it."""

    def __init__(self, code: int, message: str) -> None:
        message = _shortened(message)
        super().__init__(message)
        self.code = code
        self.message = message


class BatchError(P4RuntimeError):
    """One or more elements of a Write or Read batch failed; `results` has one item per element."""

    def __init__(self, results: Sequence[P4RuntimeError | None]) -> None:
        failed = [f"[{i}] {error.message}" for i, error in enumerate(results) if error]
        super().__init__(
            rpc_code.UNKNOWN, f"{len(failed)} of {len(results)} failed: {'; '.join(failed[:3])}"
        )
        self.results = tuple(results)

    def status(self) -> rpc_status.Status:
        """google.rpc.Status with one p4.v1.Error per element, in order, OK ones included.

        The status is sent as gRPC metadata, whose size clients limit, so messages are shortened as
        batches get longer (P4Runtime 1.4, gRPC Metadata Maximum Size).
        """
        room = _DETAILS_SIZE // max(1, len(self.results)) - _DETAIL_OVERHEAD
        status = rpc_status.Status(code=self.code, message=self.message)
        for error in self.results:
            detail = Any()
            detail.Pack(p4r.Error() if error is None else _detail(error, room))
            status.details.append(detail)
        return status


def _detail(error: P4RuntimeError, room: int) -> p4r.Error:
    detail = p4r.Error(canonical_code=error.code)
    if room > len(ERROR_SPACE):
        detail.space = ERROR_SPACE
        detail.message = error.message[: room - len(ERROR_SPACE)]
    return detail


invalid_argument = partial(P4RuntimeError, rpc_code.INVALID_ARGUMENT)
"""The request contradicts the specification or the P4Info."""
out_of_range = partial(P4RuntimeError, rpc_code.OUT_OF_RANGE)
"""A byte string or an index does not fit."""
not_found = partial(P4RuntimeError, rpc_code.NOT_FOUND)
"""The entity, role or device does not exist."""
already_exists = partial(P4RuntimeError, rpc_code.ALREADY_EXISTS)
"""INSERT of an entity that exists."""
permission_denied = partial(P4RuntimeError, rpc_code.PERMISSION_DENIED)
"""Not the primary, or the entity is constant."""
failed_precondition = partial(P4RuntimeError, rpc_code.FAILED_PRECONDITION)
"""The state of the device forbids the request now."""
resource_exhausted = partial(P4RuntimeError, rpc_code.RESOURCE_EXHAUSTED)
"""A table, profile or group is full."""
unimplemented = partial(P4RuntimeError, rpc_code.UNIMPLEMENTED)
"""A part of P4Runtime that this target leaves out."""
aborted = partial(P4RuntimeError, rpc_code.ABORTED)
"""Rolled back because another update of the batch failed."""
internal = partial(P4RuntimeError, rpc_code.INTERNAL)
"""The engine rejected a request that the schema allows."""
