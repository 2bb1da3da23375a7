"""Who reaches an address over gRPC or HTTP, and the files of TLS there."""

import ipaddress
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fcn.contract.certificates import (
    Revoked,
    TlsFileError,
    Watched,
    check_dates,
    read_certificates,
    read_file,
    read_revoked,
)


def is_local(address: str) -> bool:
    """Whether only this machine reaches a gRPC address (HOST:PORT, [IPv6]:PORT, unix:PATH)."""
    if is_socket(address):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_socket(address: str) -> bool:
    """Whether a gRPC address is a Unix socket, whose file's mode says who reaches it."""
    return address.startswith(("unix:", "unix-abstract:"))


def check_certificates(file: Path) -> None:
    """Check that a PEM file has certificates of CAs, one of which holds now. Raises
    TlsFileError."""
    certificates = read_certificates(file)
    try:
        check_dates(file, certificates)
    except TlsFileError:
        for each in certificates:
            try:
                check_dates(file, [each])
            except TlsFileError:
                continue
            return
        raise


def check_own(certificate: Path) -> None:
    """Check that a PEM file has a certificate, and maybe those of its issuers, that holds now.
    Raises TlsFileError."""
    check_dates(certificate, read_certificates(certificate))


def check_key(certificate: Path, key: Path) -> None:
    """Check that a PEM file has the unencrypted key of a certificate. Raises TlsFileError."""
    read_file(key)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(
            certificate, key, password=lambda: _encrypted(key)
        )
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise TlsFileError(
                f"{key} is not the key of {certificate}; the two are made together"
            ) from error
        raise TlsFileError(f"{key} has no private key in PEM (-----BEGIN PRIVATE KEY-----)") from (
            error
        )


def _encrypted(key: Path) -> str:
    raise TlsFileError(
        f"{key} is encrypted, and nobody is asked for its password; `openssl pkey -in {key} -out "
        "FILE` writes it without"
    )


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """The PEM files of a server. With `ca` its clients need a certificate signed by it, and one
    that `crl` does not revoke."""

    certificate: Path
    key: Path
    ca: Path | None = None
    crl: Path | None = None

    @property
    def handshake(self) -> list[Path]:
        """Those that a handshake needs."""
        return [file for file in (self.certificate, self.key, self.ca) if file is not None]

    def check(self) -> None:
        """Raise TlsFileError where one of them cannot be used."""
        check_own(self.certificate)
        check_key(self.certificate, self.key)
        if self.ca is not None:
            check_certificates(self.ca)
            if self.crl is not None:
                read_revoked(self.crl, self.ca)

    def revoked(self, failed: Callable[[str], object]) -> Watched[Revoked]:
        """Whose certificates are refused all the same. Raises TlsFileError."""
        ca, crl = self.ca, self.crl
        if ca is None or crl is None:
            return Watched((), Revoked, failed)
        return Watched((crl, ca), lambda: read_revoked(crl, ca), failed)

    def context(self) -> ssl.SSLContext:
        """For a server of Python's own. Raises TlsFileError."""
        self.check()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if self.ca is not None:
            context.load_verify_locations(self.ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context
