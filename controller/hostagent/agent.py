"""`fcn host-agent`: reports this host's queue pairs to the controller periodically."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc

from fcn.contract.certificates import Watched
from fcn.contract.rpc import Stub
from fcn.contract.transport import check_certificates, check_key, check_own
from fcn.controller.hostagent.rdma import RdmaError, devices
from fcn.controller.hostagent.reports import Device
from fcn.controller.proto import hostagent_pb2 as pb

LOG = logging.getLogger("fcn.host-agent")

TIMEOUT = 10.0


class AgentError(Exception):
    """The agent cannot run with its options; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """PEM files: the host's certificate and key, and the CA that signed the controller's."""

    certificate: Path
    key: Path
    ca: Path

    def checked(self) -> object:
        """Another object each time. Raises TlsFileError where the files cannot be used."""
        check_own(self.certificate)
        check_key(self.certificate, self.key)
        check_certificates(self.ca)
        return object()

    def channel(self, controller: str, controller_name: str | None) -> grpc.aio.Channel:
        """A channel to host:port; its certificate must name `controller_name` or, without it, host.

        Raises AgentError.
        """
        try:
            credentials = grpc.ssl_channel_credentials(
                self.ca.read_bytes(), self.key.read_bytes(), self.certificate.read_bytes()
            )
        except OSError as error:
            raise AgentError(f"cannot read {error.filename}: {error.strerror}") from None
        options = [("grpc.ssl_target_name_override", controller_name)] if controller_name else []
        return grpc.aio.secure_channel(controller, credentials, options)


class HostAgent:
    """Sends snapshots of the queue pairs; each is taken after the response to the previous one.
    receiver: the controller, in the words of the log."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        snapshot: Callable[[], Sequence[Device]] = devices,
        receiver: str = "the controller",
    ) -> None:
        self._receiver = receiver
        self._stub = Stub(channel, pb.DESCRIPTOR.services_by_name["HostAgents"])
        self._snapshot = snapshot
        self._said = ""

    async def run(self, interval: float, ended: Callable[[], bool] = lambda: False) -> None:
        """Report every `interval` seconds until it is ended; after a failure retry, and log it
        once."""
        while not ended():
            try:
                found = await asyncio.to_thread(self._snapshot)
                answer = await self.report(found)
                pairs = sum(len(device.queue_pairs) for device in found)
                self._say(logging.INFO, f"{len(found)} RDMA devices, {pairs} queue pairs reported")
                if answer.learned:
                    LOG.info("%s learned the source of %d flows", self._receiver, answer.learned)
            except RdmaError as error:
                self._say(logging.ERROR, str(error))
            except grpc.aio.AioRpcError as error:
                verb = "cannot reach" if _unreachable(error) else "is refused by"
                self._say(logging.ERROR, f"the agent {verb} {self._receiver}: {error.details()}")
            await asyncio.sleep(interval)

    async def report(self, found: Sequence[Device]) -> pb.ReportResponse:
        """Send one snapshot. Raises grpc.aio.AioRpcError."""
        request = pb.ReportRequest(
            devices=[
                pb.RdmaDevice(
                    name=device.name,
                    addresses=[str(address) for address in device.addresses],
                    queue_pairs=[
                        pb.QueuePair(qpn=own, remote_qpn=peer) for own, peer in device.queue_pairs
                    ],
                )
                for device in found
            ]
        )
        response: pb.ReportResponse = await self._stub.Report(request, timeout=TIMEOUT)
        return response

    def _say(self, level: int, text: str) -> None:
        if text != self._said:
            LOG.log(level, text)
            self._said = text


def _unreachable(error: grpc.aio.AioRpcError) -> bool:
    return error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def _changed(files: Watched[object], used: object) -> bool:
    return files.now() is not used


async def run_agent(
    controllers: Sequence[str],
    credentials: Credentials,
    controller_name: str | None,
    interval: float,
) -> None:
    """Report to each controller, host:port, until cancelled, with renewed files once they belong
    together. Raises AgentError, TlsFileError."""
    files = (credentials.certificate, credentials.key, credentials.ca)
    renewed = Watched(files, credentials.checked, LOG.error)

    async def report_to(controller: str) -> None:
        receiver = "the controller" if len(controllers) == 1 else f"controller {controller}"
        while True:
            used = renewed.now()
            async with credentials.channel(controller, controller_name) as channel:
                agent = HostAgent(channel, receiver=receiver)
                await agent.run(interval, partial(_changed, renewed, used))

    await asyncio.gather(*map(report_to, controllers))
