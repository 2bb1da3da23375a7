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
    """The common name of a certificate, else its other names."""
    common = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return ", ".join(str(each.value) for each in common) or ", ".join(_others(certificate, "dns"))


def role_of(certificate: x509.Certificate) -> Role:
    """The one role that a certificate says. Raises RoleError."""
    said = {uri.removeprefix(PREFIX) for uri in _others(certificate, "uri") if _is_role(uri)}
    known = {role.word: role for role in Role}
    if len(said) == 1 and (role := known.get(*said)) is not None:
        return role
    found = f"says the roles {', '.join(sorted(said))}" if said else "says no role"
    choice = ", ".join(role.uri for role in Role)
    raise RoleError(
        f"the certificate of {names_of(certificate) or 'this client'} {found}; it needs one of "
        f"these URIs among its names (subjectAltName): {choice}"
    )


def _is_role(uri: str) -> bool:
    return uri.startswith(PREFIX)


def _others(certificate: x509.Certificate, kind: str) -> list[str]:
    kinds = {"uri": x509.UniformResourceIdentifier, "dns": x509.DNSName}
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return names.get_values_for_type(kinds[kind])
