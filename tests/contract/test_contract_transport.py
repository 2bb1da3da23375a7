"""Which addresses other machines reach, and the files of TLS."""

import subprocess
from pathlib import Path

import pytest

from fcn.contract.certificates import TlsFileError
from fcn.contract.transport import check_certificates, check_key, is_local
from fcn.topologies.interop.certificates import Authority


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("127.0.0.1:1", True), ("127.9.9.9:1", True), ("[::1]:1", True), ("localhost:1", True),
        ("unix:/tmp/x", True), ("unix-abstract:x", True), ("0.0.0.0:1", False), ("[::]:1", False),
        (":1", False), ("10.0.0.1:1", False), ("switch.example:1", False),
        ("127.0.0.1.example:1", False), ("[::ffff:10.0.0.1]:1", False),
    ],
)  # fmt: skip
def test_addresses_of_this_machine(address: str, local: bool) -> None:
    assert is_local(address) is local


def test_certificates_and_keys(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    one, two = authority.sign("one"), authority.sign("two")
    check_certificates(authority.ca)
    check_certificates(one.certificate)
    check_key(one.certificate, one.key)
    with pytest.raises(TlsFileError, match=r"two\.key is not the key of .*one\.pem"):
        check_key(one.certificate, two.key)
    with pytest.raises(TlsFileError, match=r"one\.key has no certificate in PEM"):
        check_certificates(one.key)
    with pytest.raises(TlsFileError, match=r"one\.pem has no private key in PEM"):
        check_key(one.certificate, one.certificate)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TlsFileError, match=r"cannot read .*none\.pem: No such file"):
        check_certificates(tmp_path / "none.pem")
    with pytest.raises(TlsFileError, match="Is a directory"):
        check_certificates(tmp_path)
    with pytest.raises(TlsFileError, match="is not a path"):
        check_certificates(Path("a\0b"))
    empty = tmp_path / "empty.pem"
    empty.touch()
    with pytest.raises(TlsFileError, match="no certificate in PEM"):
        check_certificates(empty)


def test_an_encrypted_key_is_not_asked_for_its_password(tmp_path: Path) -> None:
    one = Authority(tmp_path).sign("one")
    encrypted = tmp_path / "encrypted.key"
    subprocess.run(
        ["openssl", "pkey", "-in", str(one.key), "-aes256", "-passout", "pass:secret", "-out",
         str(encrypted)],
        check=True, capture_output=True,
    )  # fmt: skip
    with pytest.raises(TlsFileError, match=r"is encrypted.*`openssl pkey -in .*encrypted\.key"):
        check_key(one.certificate, encrypted)
