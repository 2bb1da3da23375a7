"""Between controller and switches: who reaches a gRPC address, and the files of TLS."""

import ipaddress
import ssl
from pathlib import Path


class TlsFileError(Exception):
    """A PEM file cannot be used; the message says what to do."""


def is_local(address: str) -> bool:
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


def check_certificates(file: Path) -> None:
    """Check that a PEM file has certificates. Raises TlsFileError."""
    _readable(file)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError as error:
        raise TlsFileError(
            f"{file} has no certificate in PEM (-----BEGIN CERTIFICATE-----)"
        ) from error


def check_key(certificate: Path, key: Path) -> None:
    """Check that a PEM file has the unencrypted key of a certificate. Raises TlsFileError."""
    _readable(key)
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


def _readable(file: Path) -> None:
    try:
        with file.open("rb"):
            pass
    except OSError as error:
        raise TlsFileError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise TlsFileError(f"{str(file)!r} is not a path: {error}") from error
