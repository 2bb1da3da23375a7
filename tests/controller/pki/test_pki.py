"""`fcn pki`: what it makes, keeps, refuses and revokes."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography import x509
from typer.testing import CliRunner

from fcn.contract.certificates import read_certificates, read_revoked
from fcn.contract.roles import Role, role_of
from fcn.contract.transport import ServerFiles, check_key
from fcn.controller.cli.commands import app
from fcn.controller.pki import folder as pki
from fcn.controller.pki.folder import Kind, PkiError, make, parse_holder, revoke


def holders(*texts: str) -> list[pki.Holder]:
    return [parse_holder(text) for text in texts]


def test_one_command_makes_everything(tmp_path: Path) -> None:
    folder = tmp_path / "pki"
    names = ["pe1=10.0.0.1", "agent:gpu-1", "operator:alice", "controller=fcn.example.net"]
    done = CliRunner().invoke(app, ["pki", "init", str(folder), *names], env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.stderr
    assert f"{folder}/switches/pe1: made" in done.stdout
    keys = sorted(folder.rglob("key.pem"))
    assert len(keys) == len(pki.CAS) + len(pki.OWN) + 3
    for key in keys:
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        check_key(key.with_name("certificate.pem"), key)
    for place in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    for name, role in (("read-only", Role.READ_ONLY), ("alice", Role.OPERATOR)):
        (found,) = read_certificates(folder / "operators" / name / "certificate.pem")
        assert role_of(found) is role
    own = folder / "controller"
    for ca in ("agents", "operators"):
        files = (own / "certificate.pem", own / "key.pem")
        ServerFiles(*files, own / f"{ca}-ca.pem", own / f"{ca}-crl.pem").check()
    (switch,) = read_certificates(folder / "switches" / "pe1" / "certificate.pem")
    text = switch.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name.value) for name in text] == ["pe1", "10.0.0.1"]


def test_kinds_have_cas_of_their_own(tmp_path: Path) -> None:
    """Else whoever has the certificate of a host could control every switch."""
    make(tmp_path, holders("pe1", "agent:gpu-1"))
    trusted = read_certificates(tmp_path / "switches" / "pe1" / "ca.pem")[0]
    for place, signed in (
        ("controller", True),
        ("agents/gpu-1", False),
        ("operators/admin", False),
    ):
        (found,) = read_certificates(tmp_path / place / "certificate.pem")
        assert (found.issuer == trusted.subject) is signed


def test_what_is_there_stays(tmp_path: Path) -> None:
    make(tmp_path, holders("pe1=10.0.0.1,2001:db8::1,Pe1.example.net"))
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.pem")}
    made = make(tmp_path, holders("pe1=2001:DB8:0::1,pe1.example.net", "pe2"))
    assert [place.name for place, new in made if new] == ["pe2"]
    assert all(file.read_bytes() == octets for file, octets in before.items())


@pytest.mark.parametrize("again", ["pe1=10.0.0.1,10.9.9.9", "controller=10.9.9.9"])
def test_a_certificate_that_is_there_gets_no_further_addresses(again: str, tmp_path: Path) -> None:
    """Nor is it said to hold for them: its holder would be refused where it is reached by one."""
    make(tmp_path, holders("pe1=10.0.0.1"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PkiError, match=r"does not hold for 10\.9\.9\.9; .* remove the folder"):
        make(tmp_path, holders("pe2", again))
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_written_through_links(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = tmp_path / "link"
    link.symlink_to(elsewhere)
    with pytest.raises(PkiError, match="a link to one"):
        make(link, [])
    folder = tmp_path / "pki"
    make(folder, [])
    (folder / "switches").symlink_to(elsewhere)
    with pytest.raises(PkiError, match="a link to one"):
        make(folder, holders("pe1"))
    (folder / "switches").unlink()
    (folder / "operators" / "bob").symlink_to(elsewhere)
    with pytest.raises(PkiError, match="a link to one"):
        make(folder, holders("operator:bob"))
    assert list(elsewhere.iterdir()) == []


def test_what_ends_in_between_leaves_nothing_by_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", no_space)
        with pytest.raises(PkiError, match=r"cannot write .*: No space left on device"):
            make(tmp_path, holders("pe1"))
    assert list((tmp_path / "ca").iterdir()) == []
    assert all(new for _, new in make(tmp_path, holders("pe1")))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", no_space)
        with pytest.raises(PkiError, match="No space left on device"):
            make(tmp_path, holders("pe2"))
        with pytest.raises(PkiError, match="No space left on device"):
            revoke(tmp_path, parse_holder("pe1"))
    make(tmp_path, holders("pe2"))
    assert not list(tmp_path.rglob(".new-*"))
    # Every certificate that was made can be revoked.
    for name in ("pe1", "pe2"):
        revoke(tmp_path, parse_holder(name))


def test_of_many_that_revoke_at_once_none_is_forgotten(tmp_path: Path) -> None:
    names = [f"operator:o{number}" for number in range(12)]
    make(tmp_path, holders(*names))
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: revoke(tmp_path, parse_holder(name)), names))
    own = tmp_path / "controller"
    revoked = read_revoked(own / "operators-crl.pem", own / "operators-ca.pem")
    assert len(revoked.numbers) == len(names)


def test_revocation_is_of_all_certificates_of_a_holder(tmp_path: Path) -> None:
    make(tmp_path, holders("operator:alice", "operator:alice-2", "agent:alice", "pe1"))
    home, lists = tmp_path / "operators" / "alice", tmp_path / "controller"
    (first,) = read_certificates(home / "certificate.pem")
    home.rename(tmp_path / "old")
    make(tmp_path, holders("operator:alice"))
    (second,) = read_certificates(home / "certificate.pem")
    changed = revoke(tmp_path, parse_holder("operator:alice"))
    assert lists / "operators-crl.pem" in changed
    revoked = read_revoked(lists / "operators-crl.pem", lists / "operators-ca.pem")
    (other,) = read_certificates(tmp_path / "operators" / "alice-2" / "certificate.pem")
    (agent,) = read_certificates(tmp_path / "agents" / "alice" / "certificate.pem")
    assert [revoked.has(each) for each in (first, second, other, agent)] == [
        True,
        True,
        False,
        False,
    ]
    # Another one later, beside those before.
    revoke(tmp_path, parse_holder("operator:alice-2"))
    revoked = read_revoked(lists / "operators-crl.pem", lists / "operators-ca.pem")
    assert [revoked.has(each) for each in (first, other)] == [True, True]
    revoke(tmp_path, parse_holder("controller"))
    switch = tmp_path / "switches" / "pe1"
    (controller,) = read_certificates(lists / "certificate.pem")
    assert read_revoked(switch / "crl.pem", switch / "ca.pem").has(controller)
    # A holder that is made later has the list as it is by then.
    make(tmp_path, holders("pe2"))
    switch = tmp_path / "switches" / "pe2"
    assert read_revoked(switch / "crl.pem", switch / "ca.pem").has(controller)


@pytest.mark.parametrize(
    "text",
    ["", "=10.0.0.1", "agent:", "king:bob", "a/b", "../x", "agent:../x", "pe1=10.0.0.1/24",
     "pe1=a b", "pe1=10.0.0.256", "pe1=10.0.0", "agent:controller", ".", "x" * 64, "a\nb"],
)  # fmt: skip
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not|is no name|is no address"):
        parse_holder(text)


def test_what_cannot_be_made_or_revoked(tmp_path: Path) -> None:
    with pytest.raises(PkiError, match="alice is to be operator and admin"):
        make(tmp_path, holders("operator:alice", "admin:alice"))
    with pytest.raises(PkiError, match="has no CA of switches"):
        revoke(tmp_path, parse_holder("pe1"))
    make(tmp_path, [])
    with pytest.raises(PkiError, match="no certificate was made here for switch pe1"):
        revoke(tmp_path, parse_holder("pe1"))
    (tmp_path / "ca" / "switches" / "key.pem").write_text("nonsense")
    with pytest.raises(PkiError, match="was made by something else"):
        make(tmp_path, holders("pe1"))
    assert parse_holder("admin").kind is Kind.SWITCH
