"""The folder of a laboratory's certificates: a folder for each CA, and for each holder one with all
that it needs, to be copied to its machine. What is there stays; nothing is written through a link.
"""

import fcntl
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509

from fcn.contract.certificates import TlsFileError, read_certificates, read_file
from fcn.contract.roles import Role
from fcn.controller.pki.authority import Signed, Usage, new_ca, read_signed, revocation_list, sign

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")

DIGITS = re.compile(r"[0-9.]+")
"""A mistyped address is no name of a machine."""

CERTIFICATE, KEY, CA, CRL = "certificate.pem", "key.pem", "ca.pem", "crl.pem"

CAS = ("controllers", "switches", "agents", "operators")
"""One for each kind of holder: a certificate of one kind is of no use where another is wanted."""


class PkiError(Exception):
    """Nothing can be made in a folder; the message says why and what to do."""


class Kind(StrEnum):
    """Who holds a certificate."""

    CONTROLLER = "controller"
    SWITCH = "switch"
    AGENT = "agent"
    READ_ONLY = Role.READ_ONLY.word
    OPERATOR = Role.OPERATOR.word
    ADMIN = Role.ADMIN.word

    @property
    def ca(self) -> str:
        own = {Kind.CONTROLLER: "controllers", Kind.SWITCH: "switches", Kind.AGENT: "agents"}
        return own.get(self, "operators")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who gets a certificate, and by which further names and addresses it is reached."""

    kind: Kind
    name: str
    names: tuple[str, ...] = ()

    @property
    def place(self) -> Path:
        """Its folder, below that of all."""
        if self.kind is Kind.CONTROLLER:
            return Path(self.name)
        return Path(self.kind.ca) / self.name


OWN = (
    Holder(Kind.CONTROLLER, "controller", ("localhost", "127.0.0.1", "::1", socket.gethostname())),
    Holder(Kind.ADMIN, "admin"),
    Holder(Kind.OPERATOR, "operator"),
    Holder(Kind.READ_ONLY, "read-only"),
)
"""What every laboratory has."""


def parse_holder(text: str) -> Holder:
    """`[KIND:]NAME[=ADDRESS,...]`; a name without a kind is that of a switch. Raises ValueError."""
    who, _, addresses = text.partition("=")
    word, colon, name = who.rpartition(":")
    kinds = {str(kind): kind for kind in Kind}
    kind = kinds.get(word) if colon else Kind.CONTROLLER if name == "controller" else Kind.SWITCH
    if kind is None or (kind is Kind.CONTROLLER) != (name == "controller"):
        raise ValueError(
            f"{text!r} is not [KIND:]NAME[=ADDRESS,...] with a KIND of "
            f"{', '.join(each for each in kinds if each != 'controller')}, such as pe1=10.0.0.1, "
            "agent:gpu-1 or operator:alice; addresses of the controller: controller=10.0.0.9"
        )
    names = tuple(filter(None, addresses.split(",")))
    for each in (name, *names):
        if not NAME.fullmatch(each) and not _is_address(each):
            raise ValueError(f"{text!r}: {each!r} is no name, nor an address")
    for each in names:
        if DIGITS.fullmatch(each) and not _is_address(each):
            raise ValueError(f"{text!r}: {each!r} is no address")
    return Holder(kind, name, names)


def make(folder: Path, holders: Sequence[Holder]) -> list[tuple[Path, bool]]:
    """Make what is missing of CAs and holders; returns the folders, and which of them are new.
    Raises PkiError."""
    wanted = {holder.place: holder for holder in OWN}
    for holder in holders:
        before = wanted.get(holder.place)
        if before is not None and before.kind is not holder.kind:
            raise PkiError(
                f"{holder.name} is to be {before.kind} and {holder.kind}; give one of "
                "them another name"
            )
        names = (*(before.names if before else ()), *holder.names)
        wanted[holder.place] = Holder(holder.kind, holder.name, names)
    _make_folder(folder)
    with _alone(folder):
        for holder in holders:
            _check_names(folder / holder.place, holder)
        return _make(folder, wanted)


def _make(folder: Path, wanted: Mapping[Path, Holder]) -> list[tuple[Path, bool]]:
    for part in ("ca", *sorted({str(place.parent) for place in wanted} - {"."})):
        _make_folder(folder / part)
    cas = {name: _ca(folder, name) for name in CAS}
    made = []
    for place, holder in wanted.items():
        new = not _is_folder(folder / place)
        if new:
            _write_folder(folder / place, _files(folder, cas, holder))
        made.append((folder / place, new))
    return made


def _check_names(place: Path, holder: Holder) -> None:
    """Raises PkiError when a certificate that is there lacks a name that is asked for now."""
    if not holder.names or not _is_folder(place):
        return
    known: set[str] = set()
    with suppress(x509.ExtensionNotFound):
        names = _only(place / CERTIFICATE).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
        known = {str(each.value).lower() for each in names.value}
    lacking = [
        each
        for each in holder.names
        if (str(ip_address(each)) if _is_address(each) else each.lower()) not in known
    ]
    if lacking:
        raise PkiError(
            f"{place} is there, and its certificate does not hold for {', '.join(lacking)}; for "
            f"one that does, remove the folder and run this again with all names of {holder.name}"
        )


def revoke(folder: Path, holder: Holder) -> list[Path]:
    """Revoke all certificates that were made for a holder; returns the files that say so. Raises
    PkiError."""
    name = holder.kind.ca
    home = folder / "ca" / name
    if not _is_folder(home):
        raise PkiError(f"{folder} has no CA of {name}; `fcn pki init {folder}` makes it")
    issued = [_only(file) for file in sorted((home / "issued").glob(f"{holder.name}-*.pem"))]
    numbers = {each.serial_number for each in issued if _common_name(each) == holder.name}
    if not numbers:
        raise PkiError(f"no certificate was made here for {holder.kind} {holder.name}")
    with _alone(folder), _reading():
        known = {each.serial_number for each in x509.load_pem_x509_crl(read_file(home / CRL))}
        text = revocation_list(_read_ca(home), known | numbers)
        places = [home / CRL, *_copies(folder, name)]
        for file in places:
            _replace(file, text)
    return places


def _copies(folder: Path, ca: str) -> Iterator[Path]:
    """Where the holders that are to know it have the list of a CA."""
    if ca != "controllers":
        yield from (file for file in [folder / "controller" / f"{ca}-{CRL}"] if file.exists())
        return
    yield from sorted((folder / "switches").glob(f"*/{CRL}"))


def _files(folder: Path, cas: Mapping[str, Signed], holder: Holder) -> dict[str, bytes]:
    """What a holder needs, by the name of the file."""
    ca = holder.kind.ca
    usage = {Kind.CONTROLLER: Usage.BOTH, Kind.SWITCH: Usage.SERVER}.get(holder.kind, Usage.CLIENT)
    role = Role.__members__.get(holder.kind.name)
    try:
        uris = () if role is None else (role.uri,)
        made = sign(cas[ca], holder.name, usage, names=holder.names, uris=uris)
    except ValueError as error:
        raise PkiError(f"cannot make a certificate for {holder.name}: {error}") from None
    number = f"{made.certificate.serial_number:x}"
    _replace(folder / "ca" / ca / "issued" / f"{holder.name}-{number}.pem", made.certificate_pem)
    files = {CERTIFICATE: made.certificate_pem, KEY: made.key_pem}
    if holder.kind is Kind.CONTROLLER:
        files |= {f"{name}-{CA}": cas[name].certificate_pem for name in CAS if name != ca}
        files |= {f"{name}-{CRL}": _list(folder, name) for name in ("agents", "operators")}
    else:
        files[CA] = cas["controllers"].certificate_pem
    if holder.kind is Kind.SWITCH:
        files[CRL] = _list(folder, "controllers")
    return files


def _ca(folder: Path, name: str) -> Signed:
    home = folder / "ca" / name
    if _is_folder(home):
        return _read_ca(home)
    made = new_ca(f"fcn {name} {os.urandom(4).hex()}")
    files = {CERTIFICATE: made.certificate_pem, KEY: made.key_pem, CRL: revocation_list(made, ())}
    _write_folder(home, files, "issued")
    return made


def _read_ca(home: Path) -> Signed:
    with _reading():
        return read_signed(read_file(home / CERTIFICATE), read_file(home / KEY))


def _list(folder: Path, name: str) -> bytes:
    with _reading():
        return read_file(folder / "ca" / name / CRL)


def _only(file: Path) -> x509.Certificate:
    with _reading():
        return read_certificates(file)[0]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else changes it meanwhile: of two lists that are written at once one would be lost."""
    with _writing(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (TlsFileError, ValueError) as error:
        raise PkiError(f"{error}; what is in this folder was made by something else") from None


def _common_name(certificate: x509.Certificate) -> str:
    (name,) = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(name.value)


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _is_folder(path: Path) -> bool:
    """Whether a folder is there. Raises PkiError for anything else, a link too."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise PkiError(f"{path} is no folder, or a link to one; remove it, or choose another")
    return path.exists()


def _make_folder(path: Path) -> None:
    if _is_folder(path):
        if path.stat().st_uid != os.geteuid():
            raise PkiError(f"{path} belongs to somebody else; choose another folder")
        return
    with _writing(path):
        path.mkdir(mode=0o700, parents=True)


def _write_folder(path: Path, files: Mapping[str, bytes], *folders: str) -> None:
    """All of it, or nothing: whatever ends this program in between."""
    with _writing(path):
        new = Path(tempfile.mkdtemp(prefix=".new-", dir=path.parent))
        try:
            for name in folders:
                (new / name).mkdir(mode=0o700)
            for name, octets in files.items():
                _new_file(new / name, octets)
            new.rename(path)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise


def _replace(path: Path, octets: bytes) -> None:
    with _writing(path):
        new = path.with_name(f".new-{os.urandom(4).hex()}")
        try:
            _new_file(new, octets)
            new.rename(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


def _new_file(path: Path, octets: bytes) -> None:
    with _writing(path):
        mode = 0o600 if path.name == KEY else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(path, flags, mode), "wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PkiError(f"cannot write {path}: {error.strerror}") from None
