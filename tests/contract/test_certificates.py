"""Certificates: when they hold, roles they say, lists that revoke some, and files that change."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fcn.contract.certificates import TlsFileError, Watched, read_certificates, read_revoked
from fcn.contract.roles import Role, RoleError, role_of
from fcn.contract.transport import ServerFiles, check_certificates, check_own
from fcn.controller.pki.authority import Signed, Usage, new_ca, revocation_list, sign

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture
def ca() -> Signed:
    return new_ca("test")


def written(folder: Path, *signed: Signed) -> Path:
    file = folder / "certificate.pem"
    file.write_bytes(b"".join(each.certificate_pem for each in signed))
    return file


def test_expired_and_not_yet_valid_certificates_are_named(tmp_path: Path, ca: Signed) -> None:
    old = sign(ca, "old", Usage.BOTH, begins=NOW - 2 * DAY, ends=NOW - DAY)
    early = sign(ca, "early", Usage.BOTH, begins=NOW + DAY, ends=NOW + 2 * DAY)
    good = sign(ca, "good", Usage.BOTH)
    with pytest.raises(TlsFileError, match=r"certificate\.pem has expired \(CN=old, .*renew it"):
        check_own(written(tmp_path, old))
    with pytest.raises(TlsFileError, match=r"is not yet valid \(CN=early, from .*is the clock"):
        check_own(written(tmp_path, early))
    with pytest.raises(TlsFileError, match="CN=old"):
        check_own(written(tmp_path, good, old))
    check_own(written(tmp_path, good))
    # Of CAs one is enough: the next one is there before the last one ends.
    check_certificates(written(tmp_path, old, good))
    with pytest.raises(TlsFileError, match="has expired"):
        check_certificates(written(tmp_path, old))


def test_a_certificate_says_one_role(ca: Signed) -> None:
    def role(*uris: str) -> Role:
        return role_of(sign(ca, "alice", Usage.CLIENT, uris=uris).certificate)

    assert [role(each.uri) for each in Role] == list(Role)
    assert role("https://alice.example", Role.OPERATOR.uri) is Role.OPERATOR
    for wrong in ((), ("urn:fcn:role:root",), (Role.ADMIN.uri, Role.READ_ONLY.uri)):
        with pytest.raises(RoleError, match=r"alice says .*urn:fcn:role:read-only"):
            role(*wrong)


def test_a_list_revokes_certificates_of_its_ca(tmp_path: Path, ca: Signed) -> None:
    other, file = new_ca("other"), tmp_path / "crl.pem"
    alice, bob = (sign(ca, name, Usage.CLIENT).certificate for name in ("alice", "bob"))
    cas = written(tmp_path, other, ca)
    file.write_bytes(revocation_list(other, ()) + revocation_list(ca, [alice.serial_number]))
    revoked = read_revoked(file, cas)
    assert (revoked.has(alice), revoked.has(bob)) == (True, False)
    # Half written: the last list is not taken for none.
    file.write_bytes(file.read_bytes()[:-60])
    with pytest.raises(TlsFileError, match="a list that cannot be read"):
        read_revoked(file, cas)
    file.write_bytes(revocation_list(new_ca("test"), [bob.serial_number]))
    with pytest.raises(TlsFileError, match=r"a list of CN=test, which no CA in .* signed"):
        read_revoked(file, cas)
    file.write_bytes(b"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n")
    with pytest.raises(TlsFileError, match="a list that cannot be read"):
        read_revoked(file, cas)
    file.write_bytes(b"nothing")
    with pytest.raises(TlsFileError, match="no list in PEM"):
        read_revoked(file, cas)


def test_changed_files_are_read_again_and_broken_ones_are_not_used(tmp_path: Path) -> None:
    file, failures = tmp_path / "file", list[str]()
    reads = 0

    def read() -> str:
        nonlocal reads
        reads += 1
        if (text := file.read_text()) == "broken":
            raise TlsFileError("file is broken")
        return text

    file.write_text("one")
    watched = Watched([file], read, failures.append)
    assert (watched.now(), watched.now(), reads) == ("one", "one", 1)
    file.write_text("broken")
    assert (watched.now(), watched.now(), reads) == ("one", "one", 2)
    assert failures == ["file is broken; what was read before stays in use"]
    new = tmp_path / "new"
    new.write_text("two")
    os.replace(new, file)
    assert watched.now() == "two"


def test_a_server_needs_all_its_files(tmp_path: Path, ca: Signed) -> None:
    own = sign(ca, "controller", Usage.BOTH)
    certificate, key = written(tmp_path, own), tmp_path / "key.pem"
    key.write_bytes(own.key_pem)
    authority = tmp_path / "ca.pem"
    authority.write_bytes(ca.certificate_pem)
    ServerFiles(certificate, key, authority).check()
    assert read_certificates(authority)[0] == ca.certificate
    with pytest.raises(TlsFileError, match="cannot read"):
        ServerFiles(certificate, key, tmp_path / "none").check()
    with pytest.raises(TlsFileError, match="cannot read"):
        ServerFiles(certificate, key, authority, tmp_path / "none").check()
