"""Who can reach the gRPC server, and how: its address, and TLS."""

from dataclasses import dataclass
from pathlib import Path

import grpc

from fcn.contract.transport import TlsFileError, check_certificates, check_key, is_local


class TransportError(Exception):
    """The server cannot be reached as asked for; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Transport:
    """HOST:PORT and PEM files; with `ca`, clients need a certificate signed by it.

    Without a certificate the server speaks plain gRPC, on loopback only unless `insecure`.
    """

    address: str
    certificate: Path | None = None
    key: Path | None = None
    ca: Path | None = None
    insecure: bool = False

    def credentials(self) -> grpc.ServerCredentials | None:
        """Read the files; None is plain gRPC. Raises TransportError."""
        if self.certificate is None or self.key is None:
            if self.certificate is not self.key or self.ca is not None:
                raise TransportError("TLS needs both --certificate and --key; --ca goes with them")
            self._check_plain()
            return None
        try:
            check_certificates(self.certificate)
            check_key(self.certificate, self.key)
            if self.ca is not None:
                check_certificates(self.ca)
        except TlsFileError as error:
            raise TransportError(str(error)) from error
        key, certificate = self.key.read_bytes(), self.certificate.read_bytes()
        authority = self.ca.read_bytes() if self.ca is not None else None
        return grpc.ssl_server_credentials(
            [(key, certificate)],
            root_certificates=authority,
            require_client_auth=authority is not None,
        )

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
