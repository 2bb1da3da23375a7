"""The server for host agents: gRPC with mutual TLS (controller/proto/hostagent.proto)."""

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from ipaddress import ip_address

import grpc
from cryptography import x509
from google.protobuf.message import DecodeError

from fcn.contract.certificates import Revoked
from fcn.contract.grpc_tls import server_credentials
from fcn.contract.rpc import bounded
from fcn.controller.config.notation import Address
from fcn.controller.config.tls import HostAgents
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.service import FlowService
from fcn.controller.flows.shares import Host
from fcn.controller.hostagent.reports import (
    Ambiguous,
    Device,
    HostRefusal,
    HostReports,
    ReportRefusedError,
)
from fcn.controller.pace import Pace
from fcn.controller.proto import hostagent_pb2 as pb

LOG = logging.getLogger("fcn")

STOP_GRACE = 1.0

CONNECTIONS = 64
"""At a time, beside two of each host."""

MAX_REQUEST = 1 << 20
"""Octets of a report: MAX_QUEUE_PAIRS of 12 octets, and names."""

_CODES = {
    HostRefusal.UNKNOWN_HOST: grpc.StatusCode.PERMISSION_DENIED,
    HostRefusal.REVOKED: grpc.StatusCode.PERMISSION_DENIED,
    HostRefusal.FOREIGN_ADDRESS: grpc.StatusCode.PERMISSION_DENIED,
    HostRefusal.NONSENSE: grpc.StatusCode.INVALID_ARGUMENT,
    HostRefusal.TOO_OFTEN: grpc.StatusCode.RESOURCE_EXHAUSTED,
}


class AgentServiceError(Exception):
    """The server for host agents cannot start; the message says why and what to do."""


class HostAgentService:
    """Receives reports, and passes the senders found in them to the flow service."""

    def __init__(
        self,
        reports: HostReports,
        flows: FlowService,
        bus: EventBus,
        revoked: Callable[[], Revoked] = Revoked,
    ) -> None:
        self._reports = reports
        self._flows = flows
        self._bus = bus
        self._revoked = revoked

    def handler(self) -> grpc.GenericRpcHandler:
        """Its part in a server. Requests arrive as octets: parsing one that is refused anyway would
        cost others."""
        report = grpc.unary_unary_rpc_method_handler(
            self.report, response_serializer=pb.ReportResponse.SerializeToString
        )
        name = pb.DESCRIPTOR.services_by_name["HostAgents"].full_name
        return grpc.method_handlers_generic_handler(name, {"Report": report})

    async def report(self, request: bytes, context: grpc.aio.ServicerContext) -> pb.ReportResponse:
        """Process the report of a host, which is identified by its certificate."""
        identities = [name.decode(errors="replace") for name in context.peer_identities() or ()]
        host = ""
        try:
            host = self._reports.identify(identities)
            self._check_revoked(context, host)
            with self._reports.admitted(host):
                addresses = self._reports.accept(host, self._devices(request))
                answer = await self._learn(addresses)
        except ReportRefusedError as error:
            who = host or ", ".join(identities) or context.peer()
            self._bus.emit(
                Kind.AGENT_REFUSED,
                "",
                f"the report of {who} is refused: {error}",
                host=who,
                vrf=self._reports.vrf(host),
                reason=error.reason.value,
            )
            await context.abort(_CODES[error.reason], str(error))
        return answer

    async def _learn(self, addresses: Iterable[tuple[str, Address]]) -> pb.ReportResponse:
        """Use what is reported of the flows of these hosts. Others have their turn in between."""
        learned, ambiguous, pace = 0, 0, Pace()
        # Not all flows: the work for a report is that of its host.
        flows = [flow for address in addresses for flow in self._flows.of_host(Host(*address))]
        for each in flows:
            await pace.step()
            flow = self._flows.on_node(each.node).get(each.key)
            if flow is None:
                # It has ended meanwhile.
                continue
            match self._reports.sender(flow.key, flow.since):
                case int(source_qp):
                    learned += self._flows.reported(flow.key, source_qp)
                case Ambiguous.AMBIGUOUS:
                    ambiguous += 1
        return pb.ReportResponse(learned=learned, ambiguous=ambiguous)

    def _check_revoked(self, context: grpc.aio.ServicerContext, host: str) -> None:
        for pem in context.auth_context().get("x509_pem_cert", ()):
            if self._revoked().has(x509.load_pem_x509_certificate(pem)):
                raise self._reports.refusal(HostRefusal.REVOKED, f"{host}'s certificate is revoked")

    def _devices(self, request: bytes) -> list[Device]:
        try:
            message = pb.ReportRequest.FromString(request)
        except DecodeError:
            raise self._reports.refusal(HostRefusal.NONSENSE, "it is no ReportRequest") from None
        self._reports.check_size(message.devices)
        return [self._device(each) for each in message.devices]

    def _device(self, message: pb.RdmaDevice) -> Device:
        try:
            addresses = tuple(ip_address(text) for text in message.addresses)
        except ValueError as error:
            raise self._reports.refusal(HostRefusal.NONSENSE, f"{message.name}: {error}") from None
        pairs = tuple((pair.qpn, pair.remote_qpn) for pair in message.queue_pairs)
        return Device(message.name, addresses, pairs)


@asynccontextmanager
async def serving_agents(settings: HostAgents, service: HostAgentService) -> AsyncIterator[str]:
    """Receive reports; yields the address in use. Raises AgentServiceError, TlsFileError."""
    credentials = server_credentials(settings.files, LOG.error)
    server = grpc.aio.server(
        options=[
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", MAX_REQUEST),
            *bounded(CONNECTIONS + 2 * len(settings.hosts)),
        ]
    )
    server.add_generic_rpc_handlers((service.handler(),))
    try:
        port = server.add_secure_port(settings.listen, credentials)
    except RuntimeError:
        raise AgentServiceError(
            f"cannot receive reports on {settings.listen}: the address is in use, or not of this "
            "machine"
        ) from None
    await server.start()
    try:
        yield f"{settings.listen.rpartition(':')[0]}:{port}"
    finally:
        await server.stop(STOP_GRACE)
