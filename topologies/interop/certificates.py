"""A CA for host agents and their certificates, created as in docs/learning.md."""

from dataclasses import dataclass
from pathlib import Path

from fcn.hosts.processes import run

CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files (certificate and key) of one name."""

    certificate: Path
    key: Path


class Authority:
    """A new CA with its files in `directory`. Raises ProcessError when openssl fails."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory.absolute()
        self.ca = self._make("ca", "-x509", "-subj", "/CN=fcn agents").certificate

    def sign(self, name: str) -> Certificate:
        """Key and certificate of a host or of the controller."""
        return self._make(
            name,
            *("-x509", "-CA", str(self.ca), "-CAkey", str(self.ca.with_suffix(".key"))),
            *("-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"),
            *("-addext", "basicConstraints=critical,CA:FALSE"),
        )

    def _make(self, name: str, *request: str) -> Certificate:
        made = Certificate(self._directory / f"{name}.pem", self._directory / f"{name}.key")
        files = ("-out", str(made.certificate), "-keyout", str(made.key))
        run(["openssl", "req", *CURVE, *request, *files])
        return made
