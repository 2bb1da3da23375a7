"""A CA for host agents and their certificates, as files."""

from dataclasses import dataclass
from pathlib import Path

from fcn.controller.pki.authority import Usage, new_ca, sign


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files (certificate and key) of one name."""

    certificate: Path
    key: Path


class Authority:
    """A new CA with its files in `directory`."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory.absolute()
        self._own = new_ca("fcn agents")
        self.ca = self._directory / "ca.pem"
        self.ca.write_bytes(self._own.certificate_pem)

    def sign(self, name: str) -> Certificate:
        """Key and certificate of a host or of the controller."""
        signed = sign(self._own, name, Usage.BOTH)
        made = Certificate(self._directory / f"{name}.pem", self._directory / f"{name}.key")
        made.certificate.write_bytes(signed.certificate_pem)
        made.key.touch(0o600)
        made.key.write_bytes(signed.key_pem)
        return made
