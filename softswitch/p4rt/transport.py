"""Who can reach the gRPC server, and how: its address, and TLS."""

import logging
from dataclasses import dataclass
from pathlib import Path

import grpc

from fcn.contract.certificates import Revoked, Watched
from fcn.contract.grpc_tls import server_credentials
from fcn.contract.transport import ServerFiles, is_local

_LOG = logging.getLogger("softswitch")


class TransportError(Exception):
    """The server cannot be reached as asked for; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Transport:
    """HOST:PORT and PEM files; with `ca`, clients need a certificate signed by it, which `crl` does
    not revoke.

    Without a certificate the server speaks plain gRPC, on loopback only unless `insecure`.
    """

    address: str
    certificate: Path | None = None
    key: Path | None = None
    ca: Path | None = None
    insecure: bool = False
    crl: Path | None = None

    def credentials(self) -> grpc.ServerCredentials | None:
        """Of the files, which are read again when they change; None is plain gRPC. Raises
        TransportError, TlsFileError."""
        files = self._files()
        return None if files is None else server_credentials(files, _LOG.error)

    def revoked(self) -> Watched[Revoked]:
        """Whose certificates are refused all the same. Raises TransportError, TlsFileError."""
        files = self._files()
        return Watched((), Revoked, _LOG.error) if files is None else files.revoked(_LOG.error)

    def _files(self) -> ServerFiles | None:
        if self.crl is not None and self.ca is None:
            raise TransportError("--crl revokes certificates of --ca; give that, too")
        if self.certificate is not None and self.key is not None:
            return ServerFiles(self.certificate, self.key, self.ca, self.crl)
        if self.certificate is not self.key or self.ca is not None:
            raise TransportError("TLS needs both --certificate and --key; --ca goes with them")
        self._check_plain()
        return None

    def warnings(self) -> tuple[str, ...]:
        """What whoever started it should know."""
        if not self.insecure or self.certificate is not None or is_local(self.address):
            return ()
        return (
            f"{self.address} can be reached from other machines without TLS, and whoever speaks "
            "P4Runtime controls the switch",
        )

    def _check_plain(self) -> None:
        if not self.insecure and not is_local(self.address):
            raise TransportError(
                f"{self.address} can be reached from other machines, and whoever speaks P4Runtime "
                "controls the switch: give --certificate, --key and --ca for TLS, listen on "
                "127.0.0.1, or say --insecure"
            )
