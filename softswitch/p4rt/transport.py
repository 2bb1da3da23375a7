"""Who can reach the gRPC server, and how: its address, and TLS."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

import grpc


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
        key, certificate = _read(self.key), _read(self.certificate)
        authority = _read(self.ca) if self.ca is not None else None
        return grpc.ssl_server_credentials(
            [(key, certificate)],
            root_certificates=authority,
            require_client_auth=authority is not None,
        )

    def _check_plain(self) -> None:
        if not self.insecure and not is_loopback(self.address):
            raise TransportError(
                f"{self.address} can be reached from other machines, and whoever speaks P4Runtime "
                "controls the switch: give --certificate, --key and --ca for TLS, listen on "
                "127.0.0.1, or say --insecure"
            )


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches a gRPC address (HOST:PORT, [IPv6]:PORT, unix:PATH)."""
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TransportError(f"cannot read {path}: {error.strerror}") from error
