"""Client of a running controller's API, for the command line, demos and tests."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import grpc

from fcn.contract.certificates import TlsFileError, read_file
from fcn.contract.depth import Depth, DepthError, check_thresholds
from fcn.contract.rpc import KEEPALIVE, REFUSAL, Stub
from fcn.contract.transport import check_certificates, check_key, check_own, is_socket
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.controller.flows.key import FlowKey
from fcn.controller.northbound.local_users import word_for
from fcn.controller.proto import fcn_pb2 as pb

M = TypeVar("M")

TIMEOUT = 30.0

CHANGE_TIMEOUT = 300.0
"""Of what reads every switch: seconds."""


class ControllerError(Exception):
    """The controller refused a request or cannot be reached; the message says what to do."""


class UnreachableError(ControllerError):
    """Nobody answers where the controller should be."""


class FlowFilters(TypedDict, total=False):
    """Which flows are asked for, by node, VRF, address and label: an empty filter matches every
    flow; and whether with what they count, and with those that wait for a label."""

    node: str
    vrf: str
    address: str
    label: int | None
    counters: bool
    unlabelled: bool


def client_credentials(folder: Path) -> grpc.ChannelCredentials:
    """Of a folder with `certificate.pem`, `key.pem` and `ca.pem`. Raises TlsFileError."""
    certificate, key, ca = (folder / f"{name}.pem" for name in ("certificate", "key", "ca"))
    check_own(certificate)
    check_key(certificate, key)
    check_certificates(ca)
    octets = (read_file(ca), read_file(key), read_file(certificate))
    return grpc.ssl_channel_credentials(*octets)


class FcnClient:
    """A connection to the controller; a context manager. Methods raise ControllerError.

    `endpoint` is host:port or unix:/path, as `api:` in the configuration; `timeout` of a call is in
    seconds; `tls` is a folder with the client's `certificate.pem` and `key.pem`, and with `ca.pem`
    of the controller, over TCP; default: FCN_TLS of the environment, else plain text.
    """

    def __init__(
        self, endpoint: str = DEFAULT_ENDPOINT, timeout: float = TIMEOUT, tls: Path | None = None
    ) -> None:
        self._endpoint = endpoint
        self._timeout = timeout
        self._tls = tls or (Path(named) if (named := os.environ.get(TLS_VARIABLE)) else None)
        self._channel = self._open()
        self._stub = Stub(self._channel, pb.DESCRIPTOR.services_by_name["Fcn"])

    def __enter__(self) -> "FcnClient":
        return self

    def __exit__(self, *exc: object) -> None:
        self._channel.close()

    def _open(self) -> grpc.Channel:
        if self._tls is None or is_socket(self._endpoint):
            return grpc.insecure_channel(self._endpoint, KEEPALIVE)
        try:
            return grpc.secure_channel(self._endpoint, client_credentials(self._tls), KEEPALIVE)
        except TlsFileError as error:
            raise ControllerError(str(error)) from None

    def network(self) -> pb.GetNetworkResponse:
        return self._call(pb.GetNetworkResponse, self._stub.GetNetwork, pb.GetNetworkRequest())

    def status(self) -> pb.GetStatusResponse:
        return self._call(pb.GetStatusResponse, self._stub.GetStatus, pb.GetStatusRequest())

    def flows(self, **filters: Unpack[FlowFilters]) -> list[pb.Flow]:
        """Flows that match all filters."""
        return [flow for page in self.flow_pages(**filters) for flow in page]

    def flow_pages(self, **filters: Unpack[FlowFilters]) -> Iterator[Sequence[pb.Flow]]:
        """The same page by page, as they come: all show the moment of the first. The time allowed
        is for each page; between two the caller may take his."""
        flags = {f"with_{name}": filters.get(name) for name in ("counters", "unlabelled")}
        where = {name: filters.get(name) for name in ("node", "vrf", "address", "label")}
        request = _message(pb.ListFlowsRequest, **where, **flags)
        call = self._stub.ListFlows(request)
        try:
            while (page := self._next(call)) is not None:
                yield page.flows
        finally:
            call.cancel()

    def _next(self, call: Any, timeout: float | None = None) -> Any:  # noqa: ANN401
        """The next message of a stream, None when it has ended."""
        with self._in_time(call, timeout):
            return next(call, None)

    @contextmanager
    def _in_time(self, call: Any, timeout: float | None = None) -> Iterator[None]:  # noqa: ANN401
        """Wait for a part of a stream."""
        limit = threading.Timer(timeout or self._timeout, call.cancel)
        limit.start()
        try:
            yield
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.CANCELLED:
                raise self._silent() from None
            raise self._explained(error) from None
        finally:
            limit.cancel()

    def add_flow(
        self, key: FlowKey, source_qp: int, timeout: int | None = None
    ) -> pb.AddFlowResponse:
        """Register a flow manually; `timeout` in microseconds, 0: never, None: as configured."""
        request = _message(pb.AddFlowRequest, key=_key(key), source_qp=source_qp, timeout=timeout)
        return self._change(pb.AddFlowResponse, self._stub.AddFlow, request)

    def add_flows(self, flows: Iterable[tuple[FlowKey, int, int | None]]) -> pb.AddFlowsResponse:
        """Register flows, as `add_flow` does one; some thousands, as all are one message."""
        messages = [
            _message(pb.AddFlowRequest, key=_key(key), source_qp=source_qp, timeout=timeout)
            for key, source_qp, timeout in flows
        ]
        request = pb.AddFlowsRequest(flows=messages)
        return self._change(pb.AddFlowsResponse, self._stub.AddFlows, request)

    def delete_flow(self, key: FlowKey) -> None:
        request = _message(pb.DeleteFlowRequest, key=_key(key))
        self._change(pb.DeleteFlowResponse, self._stub.DeleteFlow, request)

    def set_features(
        self, node: str, enabled: bool, features: Iterable[str] = ()
    ) -> pb.SetFeaturesResponse:
        """Enable or disable features of a node; without `features` all features of its role."""
        request = _message(pb.SetFeaturesRequest, node=node, features=features, enabled=enabled)
        return self._change(pb.SetFeaturesResponse, self._stub.SetFeatures, request)

    def thresholds(self, node: str = "") -> pb.GetThresholdsResponse:
        """Queue depths at which levels begin."""
        request = _message(pb.GetThresholdsRequest, node=node)
        return self._call(pb.GetThresholdsResponse, self._stub.GetThresholds, request)

    def set_thresholds(
        self, node: str, port: int, queue: int, depths: tuple[Depth, ...]
    ) -> pb.SetThresholdsResponse:
        try:
            check_thresholds(depths)
        except DepthError as error:
            raise ControllerError(str(error)) from None
        queue_thresholds = _message(
            pb.QueueThresholds,
            node=node,
            port=port,
            queue=queue,
            depths=[depth.amount for depth in depths],
            unit=depths[0].unit.name if depths else None,
        )
        request = pb.SetThresholdsRequest(queue=queue_thresholds)
        return self._change(pb.SetThresholdsResponse, self._stub.SetThresholds, request)

    def counters(self, node: str = "") -> list[pb.Counter]:
        """Counters of one node, or of all connected nodes."""
        request = _message(pb.GetCountersRequest, node=node)
        return list(self._call(pb.GetCountersResponse, self._stub.GetCounters, request).counters)

    def last_counters(self) -> pb.GetCountersResponse:
        """Those that are not 0, as the controller read them last, and when that was."""
        request = pb.GetCountersRequest(last=True)
        return self._call(pb.GetCountersResponse, self._stub.GetCounters, request)

    def paths(self, node: str = "") -> list[pb.Policy]:
        """Policies and their paths, of one node or of all."""
        request = _message(pb.ListPathsRequest, node=node)
        return list(self._call(pb.ListPathsResponse, self._stub.ListPaths, request).policies)

    def links(self, node: str = "") -> list[pb.Link]:
        """Links that nodes watch, of one node or of all."""
        request = _message(pb.ListLinksRequest, node=node)
        return list(self._call(pb.ListLinksResponse, self._stub.ListLinks, request).links)

    def queues(self) -> pb.ListQueuesResponse:
        """What waits at the ports of all switches that tell it."""
        return self._call(pb.ListQueuesResponse, self._stub.ListQueues, pb.ListQueuesRequest())

    def report_path(self, number: int, report: str) -> None:
        """Tell the PE of the path with this ID: failed, well, congested,
        relieved or forget."""
        request = _message(pb.ReportPathRequest, id=number, report=report)
        self._change(pb.ReportPathResponse, self._stub.ReportPath, request)

    def diff_config(self, text: str, file: str) -> Iterator[pb.DiffConfigResponse]:
        """What a configuration would change, page by page; or its problems."""
        call = self._stub.DiffConfig(_message(pb.ConfigRequest, text=text, file=file))
        try:
            while (page := self._next(call, CHANGE_TIMEOUT)) is not None:
                yield page
        finally:
            call.cancel()

    def apply_config(self, text: str, file: str) -> pb.ApplyConfigResponse:
        """Put a configuration in force as a whole; or its problems."""
        request = _message(pb.ConfigRequest, text=text, file=file)
        call = self._stub.ApplyConfig
        return self._change(pb.ApplyConfigResponse, call, request, CHANGE_TIMEOUT)

    def events(self) -> Iterator[pb.Event]:
        """Events emitted after this call returns, until the caller stops."""
        call = self._stub.WatchEvents(pb.WatchEventsRequest())
        with self._in_time(call):
            call.initial_metadata()
            # It is there as soon as the call has failed, too.
            if not call.is_active() and call.code() is not grpc.StatusCode.OK:
                raise call
        return self._received(call)

    def _received(self, call: Iterator[pb.Event]) -> Iterator[pb.Event]:
        try:
            yield from call
        except grpc.RpcError as error:
            gone = error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
            raise (self._ended() if gone else self._explained(error)) from None

    def _change(
        self,
        _kind: type[M],
        method: Callable[..., M],
        request: object,
        timeout: float | None = None,
    ) -> M:
        """A call of which is noted who made it."""
        if not is_socket(self._endpoint):
            return self._call(_kind, method, request, timeout)
        with word_for(self._endpoint.removeprefix("unix:")) as metadata:
            return self._call(_kind, method, request, timeout, metadata)

    def _call(
        self,
        _kind: type[M],
        method: Callable[..., M],
        request: object,
        timeout: float | None = None,
        metadata: tuple[tuple[str, str], ...] = (),
    ) -> M:
        """_kind: of the answer, for types; messages have none."""
        try:
            return method(request, timeout=timeout or self._timeout, metadata=metadata)
        except grpc.RpcError as error:
            raise self._explained(error) from None

    def _silent(self) -> UnreachableError:
        return UnreachableError(
            f"the controller at {self._endpoint} does not answer; is its process stopped, or its "
            "machine overloaded?"
        )

    def _ended(self) -> UnreachableError:
        return UnreachableError(
            f"the controller at {self._endpoint} has ended, or the connection to it; `fcn status` "
            "says whether it is back, and what it knows"
        )

    def _explained(self, error: grpc.RpcError) -> ControllerError:
        code, details = error.code(), error.details() or ""
        if set(REFUSAL) <= {tuple(each) for each in error.trailing_metadata() or ()}:
            return ControllerError(details)
        if code == grpc.StatusCode.UNAVAILABLE and "ermission denied" in details:
            return UnreachableError(
                f"permission denied at {self._endpoint}: be the user the controller runs as"
            )
        if code == grpc.StatusCode.UNAVAILABLE and (reason := self._of_tls(details)):
            return UnreachableError(f"no TLS with what listens at {self._endpoint}: {reason}")
        if code == grpc.StatusCode.UNAVAILABLE and "timed out before receiving SETTINGS" in details:
            return self._silent()
        if code == grpc.StatusCode.UNAVAILABLE and any(word in details for word in _NOBODY):
            return UnreachableError(
                f"no controller answers at {self._endpoint}; start one with "
                "`fcn run -c network.yaml`, or say where it is with --api or FCN_API"
            )
        if code == grpc.StatusCode.UNAVAILABLE and any(word in details for word in _GONE):
            return self._ended()
        if code == grpc.StatusCode.UNIMPLEMENTED:
            return UnreachableError(
                f"what answers at {self._endpoint} is no controller, or one of another version; "
                "`api` of the configuration says where it listens"
            )
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            return self._silent()
        return ControllerError(details or str(code))

    def _of_tls(self, details: str) -> str:
        """What is wrong with TLS, empty where something else is."""
        if self._tls is None or is_socket(self._endpoint):
            closed = not is_socket(self._endpoint) and any(word in details for word in _CLOSED)
            return f"does it want a certificate? {TLS_VARIABLE} names the folder" if closed else ""
        if "CERTIFICATE_VERIFY_FAILED" in details:
            reason = details.removesuffix(": OK").rpartition(": ")[2]
            return f"its certificate is not one of {self._tls / 'ca.pem'} ({reason})"
        if "Hostname Verification" in details:
            return "its certificate has another name than that in the address"
        if "WRONG_VERSION_NUMBER" in details:
            return "it speaks plain text"
        if any(word in details for word in (*_CLOSED, "andshake", "SSL")):
            return f"it does not take {self._tls / 'certificate.pem'}, of another CA"
        return ""


TLS_VARIABLE = "FCN_TLS"
"""Of the environment: the folder with a client's files, where none is named."""

_CLOSED = ("Socket closed", "onnection reset", "onnection closed", "Broken pipe", "EOF")
"""What gRPC says where the other side hangs up."""

_GONE = (*_CLOSED, "Stream removed", "Cancelling all calls", "GOAWAY", "eepalive", "Ping timeout")
"""And where it ends, or a connection does, while it is asked."""

_NOBODY = ("connect", "resol")
"""What gRPC says of an address where nobody listens, or that means nothing."""


def _message(kind: Callable[..., Any], **fields: object) -> Any:  # noqa: ANN401
    """A message of this kind. Raises ControllerError for what its fields cannot hold."""
    try:
        return kind(**fields)
    except ValueError as error:
        raise ControllerError(f"this cannot be asked: {error}") from None


def _key(key: FlowKey) -> pb.FlowKey:
    found: pb.FlowKey = _message(
        pb.FlowKey, vrf=key.vrf, src=str(key.src), dst=str(key.dst), dest_qp=key.dest_qp
    )
    return found
