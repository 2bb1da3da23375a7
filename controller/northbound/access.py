"""Who may call what: the role that each method of the API needs, and the look at every call."""

import hashlib
import inspect
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import grpc
from cryptography import x509
from google.protobuf.json_format import MessageToDict

from fcn.contract.certificates import Revoked, TlsFileError, check_dates
from fcn.contract.constants import PipelineError
from fcn.contract.roles import Role, RoleError, names_of, role_of
from fcn.contract.rpc import REFUSAL, while_allowed
from fcn.controller.flows.service import FlowError
from fcn.controller.node.session import SwitchAwayError
from fcn.controller.northbound.audit import AuditError, AuditLog
from fcn.controller.northbound.local_users import KEY, LocalUsers
from fcn.controller.northbound.network import ApplyError
from fcn.controller.proto import fcn_pb2 as pb
from fcn.controller.store import StoreError


class Access(NamedTuple):
    """What a method needs; `changes`: it is noted who called it; `largest`: octets of a request."""

    role: Role
    changes: bool = False
    largest: int = 4096


MANY = 1 << 17
"""Octets of a request with a thousand flows (cli/flows.py)."""

FILE = 1 << 22
"""Octets of one with a configuration; more gRPC does not take."""

METHODS: Mapping[str, Access] = {
    "GetNetwork": Access(Role.READ_ONLY),
    "GetStatus": Access(Role.READ_ONLY),
    "ListFlows": Access(Role.READ_ONLY),
    "GetThresholds": Access(Role.READ_ONLY),
    "GetCounters": Access(Role.READ_ONLY),
    "ListPaths": Access(Role.READ_ONLY),
    "ListLinks": Access(Role.READ_ONLY),
    "ListQueues": Access(Role.READ_ONLY),
    "WatchEvents": Access(Role.READ_ONLY),
    # Other controllers.
    "FollowState": Access(Role.READ_ONLY),
    "FollowConnections": Access(Role.READ_ONLY),
    # Changes nothing, but takes the controller's time.
    "DiffConfig": Access(Role.OPERATOR, largest=FILE),
    "AddFlow": Access(Role.OPERATOR, changes=True),
    "AddFlows": Access(Role.OPERATOR, changes=True, largest=MANY),
    "DeleteFlow": Access(Role.OPERATOR, changes=True),
    "SetFeatures": Access(Role.OPERATOR, changes=True),
    "SetThresholds": Access(Role.OPERATOR, changes=True),
    "ReportPath": Access(Role.OPERATOR, changes=True),
    "ApplyConfig": Access(Role.ADMIN, changes=True, largest=FILE),
}
"""Of every method of the service; one that is not here cannot be called."""

TOLD = 16
"""Flows of a request that are put into words: more take the event loop's time, and are not kept
(audit.py)."""

AT_ONCE = 100
"""Calls that one caller has open; each costs a look a second, and a copy of what it is told."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls; `serial` of the certificate, in hexadecimal digits."""

    name: str
    role: Role
    serial: str = ""


class RefusedError(Exception):
    """A call is refused, with this status code of gRPC."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def _code(error: Exception) -> grpc.StatusCode | None:
    """What a client is told of it; None of a fault of this program."""
    match error:
        case RefusedError():
            return error.code
        case SwitchAwayError():
            return grpc.StatusCode.UNAVAILABLE
        case ApplyError() | AuditError() | FlowError() | PipelineError() | StoreError():
            return grpc.StatusCode.FAILED_PRECONDITION
    return None


class Guarded:
    """A service behind its table. Whoever comes without TLS is an admin: who may use a Unix socket
    says its mode, and what is reached in plain text over TCP is said to be `insecure`."""

    def __init__(
        self,
        service: object,
        audit: AuditLog,
        users: LocalUsers,
        revoked: Callable[[], Revoked] = Revoked,
    ) -> None:
        self._service = service
        self._audit = audit
        self._users = users
        self._revoked = revoked
        self._calls: Counter[Caller] = Counter()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in METHODS:
            raise AttributeError(name)
        answer, access = getattr(self._service, name), METHODS[name]

        async def stream(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:  # noqa: ANN401
            async def look() -> Caller:
                return self._admit(name, access, request, context)

            try:
                with self._one_more(self._admit(name, access, request, context)):
                    async for each in while_allowed(answer(request), look):
                        if each is None:
                            await context.send_initial_metadata(())
                        else:
                            yield each
            except Exception as error:
                await _refuse(context, error)

        async def single(request: Any, context: grpc.aio.ServicerContext) -> Any:  # noqa: ANN401
            began = time.monotonic()
            try:
                caller = self._admit(name, access, request, context)
            except Exception as error:
                await _refuse(context, error)
            outcome, detail = "INTERRUPTED", "it may have been done"
            try:
                with self._one_more(caller):
                    response = await answer(request)
                outcome, detail = _said(response)
                return response
            except Exception as error:
                code = _code(error) or grpc.StatusCode.INTERNAL
                outcome, detail = code.name, str(error)
                await _refuse(context, error)
            finally:
                if access.changes:
                    seconds = time.monotonic() - began
                    self._tell(name, caller, request, context, seconds, outcome, detail)

        return stream if inspect.isasyncgenfunction(answer) else single

    def _admit(
        self,
        name: str,
        access: Access,
        request: Any,  # noqa: ANN401 - messages are untyped
        context: grpc.aio.ServicerContext,
    ) -> Caller:
        """Who may call this. Raises RefusedError, AuditError."""
        caller = self._caller(context)
        size = request.ByteSize()
        if size > access.largest:
            raise RefusedError(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"{name} has {size} octets; {access.largest} are the most",
            )
        if caller.role < access.role:
            needs, denied = f"needs {access.role.word}", grpc.StatusCode.PERMISSION_DENIED
            if access.changes:
                self._tell(name, caller, request, context, 0.0, denied.name, needs)
            raise RefusedError(
                denied,
                f"{name} needs the role {access.role.word}; {caller.name} has {caller.role.word}",
            )
        if access.changes:
            self._audit.check()
        return caller

    @contextmanager
    def _one_more(self, caller: Caller) -> Iterator[None]:
        """A call of this caller is open meanwhile. Raises RefusedError."""
        if self._calls[caller] >= AT_ONCE:
            raise RefusedError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"{caller.name} has {AT_ONCE} calls open; end some of them",
            )
        self._calls[caller] += 1
        try:
            yield
        finally:
            self._calls[caller] -= 1
            if not self._calls[caller]:
                del self._calls[caller]

    def _caller(self, context: grpc.aio.ServicerContext) -> Caller:
        found = context.auth_context().get("x509_pem_cert")
        if not found:
            metadata = dict(context.invocation_metadata() or ())
            return Caller(self._users.of(metadata.get(KEY, "")) or "unknown", Role.ADMIN)
        certificate = x509.load_pem_x509_certificate(found[0])
        who = names_of(certificate) or "the client"
        if self._revoked().has(certificate):
            refusal = f"the certificate of {who} is revoked"
            raise RefusedError(grpc.StatusCode.UNAUTHENTICATED, refusal)
        try:
            # A connection may outlast it.
            check_dates(f"the certificate of {who}", [certificate])
            return Caller(who, role_of(certificate), f"{certificate.serial_number:x}")
        except TlsFileError as error:
            raise RefusedError(grpc.StatusCode.UNAUTHENTICATED, str(error)) from None
        except RoleError as error:
            raise RefusedError(grpc.StatusCode.PERMISSION_DENIED, str(error)) from None

    def _tell(
        self,
        name: str,
        caller: Caller,
        request: object,
        context: grpc.aio.ServicerContext,
        seconds: float,
        outcome: str,
        detail: str,
    ) -> None:
        self._audit.tell(
            who=caller.name,
            role=caller.role.word,
            serial=caller.serial,
            peer=context.peer(),
            call=name,
            request=_asked(request),
            outcome=outcome,
            detail=detail,
            seconds=round(seconds, 3),
        )


async def _refuse(context: grpc.aio.ServicerContext, error: Exception) -> NoReturn:
    """End a call with what a client is told of an error, or raise it."""
    if (code := _code(error)) is not None:
        await context.abort(code, str(error), REFUSAL)
    raise error


def _asked(request: Any) -> dict[str, Any]:  # noqa: ANN401 - messages are untyped
    """A request in words; of a file, which may have anything in it, its sum."""
    if isinstance(request, pb.ConfigRequest):
        octets = request.text.encode()
        return {"file": request.file, "sha256": hashlib.sha256(octets).hexdigest()}
    count = {}
    if isinstance(request, pb.AddFlowsRequest):
        count = {"count": len(request.flows)}
        request = pb.AddFlowsRequest(flows=request.flows[:TOLD])
    said: dict[str, Any] = MessageToDict(
        request, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return said | count


def _said(response: Any) -> tuple[str, str]:  # noqa: ANN401
    """Outcome and details of a call that was answered."""
    if isinstance(response, pb.ApplyConfigResponse):
        if response.problems:
            first = response.problems[0]
            return "INVALID_ARGUMENT", f"line {first.line}: {first.where}: {first.message}"
        nodes = (
            f"{each.name} +{each.added} -{each.removed} ~{each.changed}" for each in response.nodes
        )
        return "OK", ", ".join(nodes)
    return "OK", ""
