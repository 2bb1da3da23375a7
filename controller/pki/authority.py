"""A CA: its key, what it signs, and the list of what it revokes. Nothing here touches a disk."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LASTS = timedelta(days=398)
"""Of a certificate; as long as browsers take them."""

CA_LASTS = timedelta(days=3650)

CRL_LASTS = timedelta(days=398)

SKEW = timedelta(hours=1)
"""Clocks of a laboratory may differ by so much."""


class Usage(Enum):
    """What the holder of a certificate is in TLS."""

    SERVER = (ExtendedKeyUsageOID.SERVER_AUTH,)
    CLIENT = (ExtendedKeyUsageOID.CLIENT_AUTH,)
    BOTH = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)


@dataclass(frozen=True, slots=True)
class Signed:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """For its holder alone; without a password."""
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


def new_ca(name: str) -> Signed:
    """A CA that is nobody's but its own, and signs no other CAs."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(name)
    usage = _key_usage(signs=True)
    builder = _builder(subject, subject, key, datetime.now(UTC) + CA_LASTS)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    return Signed(builder.sign(key, hashes.SHA256()), key)


def sign(
    ca: Signed,
    name: str,
    usage: Usage,
    *,
    names: Iterable[str] = (),
    uris: Iterable[str] = (),
    begins: datetime | None = None,
    ends: datetime | None = None,
) -> Signed:
    """A new key with a certificate for it; `names`: DNS names and IP addresses besides `name`.
    Raises ValueError."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = ca.certificate
    ends = ends or min(datetime.now(UTC) + LASTS, issuer.not_valid_after_utc)
    builder = _builder(_subject(name), issuer.subject, key, ends, begins)
    alternatives: list[x509.GeneralName] = [
        _general(each) for each in dict.fromkeys((name, *names))
    ]
    alternatives += [x509.UniformResourceIdentifier(uri) for uri in uris]
    known = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    for extension, critical in (
        # Else its holder could sign certificates for others.
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_key_usage(signs=False), True),
        (x509.ExtendedKeyUsage(usage.value), False),
        (x509.SubjectAlternativeName(alternatives), False),
        (x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known), False),
    ):
        builder = builder.add_extension(extension, critical)
    return Signed(builder.sign(ca.key, hashes.SHA256()), key)


def revocation_list(ca: Signed, serials: Iterable[int]) -> bytes:
    """The list (CRL, PEM) of a CA that revokes these."""
    now = datetime.now(UTC)
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(ca.certificate.subject)
        .last_update(now)
        .next_update(now + CRL_LASTS)
    )
    for serial in sorted(serials):
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now)
        builder = builder.add_revoked_certificate(entry.build())
    return builder.sign(ca.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def read_signed(certificate: bytes, key: bytes) -> Signed:
    """What was written before. Raises ValueError."""
    private = serialization.load_pem_private_key(key, password=None)
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        raise ValueError("the key is of another kind than `fcn pki` makes")
    return Signed(x509.load_pem_x509_certificate(certificate), private)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    ends: datetime,
    begins: datetime | None = None,
) -> x509.CertificateBuilder:
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins or datetime.now(UTC) - SKEW)
        .not_valid_after(ends)
        .add_extension(own, critical=False)
    )


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
