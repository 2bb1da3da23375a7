"""Certificates in PEM files: when they hold, what a list revokes, and files that change."""

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Generic, TypeVar

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

T = TypeVar("T")

SOON = timedelta(days=30)
"""Whoever renews certificates wants to hear of it by then."""

_CRL = re.compile(rb"-----BEGIN X509 CRL-----.+?(?:-----END X509 CRL-----|\Z)", re.DOTALL)
"""A list, or what there is of it: one that is not written whole must not be taken for none."""


class TlsFileError(Exception):
    """A PEM file cannot be used; the message says what to do."""


def read_file(file: Path) -> bytes:
    """The octets of a file. Raises TlsFileError."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise TlsFileError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise TlsFileError(f"{str(file)!r} is not a path: {error}") from error


def read_certificates(file: Path) -> list[x509.Certificate]:
    """The certificates in a file, in its order. Raises TlsFileError."""
    try:
        return x509.load_pem_x509_certificates(read_file(file))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise TlsFileError(
            f"{file} has no certificate in PEM (-----BEGIN CERTIFICATE-----)"
        ) from error


def expiry(file: Path) -> datetime:
    """When the first of the certificates in a file expires. Raises TlsFileError."""
    return min(each.not_valid_after_utc for each in read_certificates(file))


def check_dates(where: Path | str, certificates: Iterable[x509.Certificate]) -> None:
    """Check that all of these hold now. Raises TlsFileError, which says where they are."""
    now = datetime.now(UTC)
    for each in certificates:
        if each.not_valid_after_utc < now:
            when = f"{each.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
            raise TlsFileError(f"{where} has expired ({_subject(each)}, {when}); renew it")
        if each.not_valid_before_utc > now:
            when = f"{each.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
            raise TlsFileError(
                f"{where} is not yet valid ({_subject(each)}, from {when}); is the clock right?"
            )


def _subject(certificate: x509.Certificate) -> str:
    return certificate.subject.rfc4514_string() or "without a subject"


class Watched(Generic[T]):
    """What `read` makes of files, made again when one of them changes: a renewed certificate needs
    no restart. Where `read` fails then (TlsFileError), `failed` hears why, and what was made before
    stays. Any thread may ask. Raises what `read` does."""

    def __init__(
        self, files: Iterable[Path], read: Callable[[], T], failed: Callable[[str], object]
    ) -> None:
        self._files = tuple(files)
        self._read = read
        self._failed = failed
        self._lock = threading.Lock()
        self._seen: list[tuple[int, int, int] | None] = []
        self._seen = self._state()
        self._made = read()

    def now(self) -> T:
        with self._lock:
            # Before they are read: what changes meanwhile is seen the next time.
            if (state := self._state()) != self._seen:
                self._seen = state
                try:
                    self._made = self._read()
                except TlsFileError as error:
                    self._failed(f"{error}; what was read before stays in use")
            return self._made

    def _state(self) -> list[tuple[int, int, int] | None]:
        try:
            return [_state(file) for file in self._files]
        except PermissionError:
            # It is another user by now, who may not look (softswitch/privileges.py).
            return self._seen


def _state(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except PermissionError:
        raise
    except (OSError, ValueError):
        # Why it cannot be read says who reads it.
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@dataclass(frozen=True, slots=True)
class Revoked:
    """Certificates that are revoked, by issuer and serial number."""

    numbers: frozenset[tuple[bytes, int]] = frozenset()

    def has(self, certificate: x509.Certificate) -> bool:
        return (certificate.issuer.public_bytes(), certificate.serial_number) in self.numbers


def read_revoked(file: Path, authorities: Path) -> Revoked:
    """What the lists (CRL, PEM) in a file revoke; each is of a CA in `authorities`. Raises
    TlsFileError."""
    try:
        lists = [x509.load_pem_x509_crl(text) for text in _CRL.findall(read_file(file))]
    except ValueError as error:
        raise TlsFileError(f"{file} has a list that cannot be read: {error}") from error
    if not lists:
        raise TlsFileError(f"{file} has no list in PEM (-----BEGIN X509 CRL-----)")
    known = read_certificates(authorities)
    numbers: set[tuple[bytes, int]] = set()
    for each in lists:
        if not _is_of(each, known):
            raise TlsFileError(
                f"{file} has a list of {each.issuer.rfc4514_string()}, which no CA in "
                f"{authorities} signed"
            )
        issuer = each.issuer.public_bytes()
        numbers |= {(issuer, entry.serial_number) for entry in each}
    return Revoked(frozenset(numbers))


def outdated(file: Path) -> bool:
    """Whether a list in a file should have been followed by another one by now. Raises
    TlsFileError."""
    now = datetime.now(UTC)
    lists = [x509.load_pem_x509_crl(text) for text in _CRL.findall(read_file(file))]
    return any(each.next_update_utc is not None and each.next_update_utc < now for each in lists)


def _is_of(found: x509.CertificateRevocationList, known: Sequence[x509.Certificate]) -> bool:
    for each in known:
        try:
            if found.is_signature_valid(each.public_key()):  # type: ignore[arg-type]
                return True
        except (TypeError, ValueError, UnsupportedAlgorithm):
            continue
    return False
