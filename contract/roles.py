"""What the holder of a certificate may do at the controller: a URI among its names says it."""

from enum import IntEnum

from cryptography import x509

PREFIX = "urn:fcn:role:"


class RoleError(Exception):
    """A certificate says no role; the message says what to do."""


class Role(IntEnum):
    """Each may do what those before it may."""

    READ_ONLY = 1
    OPERATOR = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        """Its name for people, and in certificates."""
        return self.name.lower().replace("_", "-")

    @property
    def uri(self) -> str:
        """What a certificate has among its names (subjectAltName)."""
        return PREFIX + self.word


def names_of(certificate: x509.Certificate) -> str:
    """The common name of a certificate, else its DNS names."""
    common = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return ", ".join(str(each.value) for each in common) or ", ".join(
        _alternatives(certificate, x509.DNSName)
    )


def role_of(certificate: x509.Certificate) -> Role:
    """The one role that a certificate says. Raises RoleError."""
    uris = _alternatives(certificate, x509.UniformResourceIdentifier)
    said = sorted({uri for uri in uris if uri.startswith(PREFIX)})
    for role in Role:
        if said == [role.uri]:
            return role
    found = f"says {' and '.join(said)}" if said else "says no role"
    choice = ", ".join(role.uri for role in Role)
    raise RoleError(
        f"the certificate of {names_of(certificate) or 'this client'} {found}; it needs one of "
        f"these URIs among its names (subjectAltName): {choice}"
    )


def _alternatives(
    certificate: x509.Certificate, kind: type[x509.DNSName] | type[x509.UniformResourceIdentifier]
) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return names.get_values_for_type(kind)
