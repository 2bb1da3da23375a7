"""TLS in the configuration: PEM files towards switches, clients and host agents."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from fcn.contract.transport import ServerFiles
from fcn.controller.config.base import Model
from fcn.controller.config.types import AnyAddress, Items, Listen, Name


class Tls(Model):
    """TLS to a switch, with PEM files.

    `ca` signed the switch's certificate, which has `name`, or else the host in `grpc`.
    `certificate` and `key` are the controller's own, for switches that ask for them (mutual TLS).
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    name: Annotated[str, Field(min_length=1, max_length=253)] | None = None


class ControllerTls(Model):
    """TLS where the controller is reached over TCP (`api`, `metrics`), with PEM files.

    `certificate` and `key` are its own. `ca` signed the certificates of its clients, whose names
    say their role (contract/roles.py); `crl` revokes some of them.
    """

    certificate: str
    key: str
    ca: str
    crl: str | None = None

    @property
    def files(self) -> ServerFiles:
        """The same as paths."""
        crl = Path(self.crl) if self.crl is not None else None
        return ServerFiles(Path(self.certificate), Path(self.key), Path(self.ca), crl)


class AgentHost(Model):
    """A host whose agent may report: its VRF, and the addresses of its RDMA devices."""

    vrf: str
    addresses: Annotated[Items[AnyAddress], Field(min_length=1)]


class HostAgents(ControllerTls):
    """Where agents of hosts report their queue pairs (FCN-3 a), with mutual TLS: the name in an
    agent's certificate (SAN, or else common name) is the host's name here."""

    listen: Listen
    hosts: Annotated[dict[Name, AgentHost], Field(min_length=1)]
