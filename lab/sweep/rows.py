"""The rows of a sweep while it goes on: a file to which each finished run adds a line."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from fcn.hosts.scratch import locked
from fcn.lab.errors import LabError

ROWS_FILE = "rows.jsonl"


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other sweeps from a folder, which is made: each would run all that is missing. Raises
    LabError when one is there, or the folder cannot be made."""
    taken = LabError(f"another sweep writes to {folder}: wait for it, or name another with --out")
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(folder / ".lock", taken))
        except OSError as error:
            raise LabError(f"{folder}: {error.strerror}; name another folder") from None
        yield


@dataclass(frozen=True, slots=True)
class Row:
    """A run that has finished. identity: `Point.identity`. digest: of its frames."""

    identity: str
    digest: str
    measures: Mapping[str, float | None]


_ROW = TypeAdapter(Row)


class RowStore:
    """Rows in a folder. What a killed process wrote last may be cut off: that run counts as not
    done."""

    def __init__(self, folder: Path) -> None:
        """Raises LabError when the folder cannot be made or its rows cannot be read."""
        self.file = folder / ROWS_FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = self.file.read_bytes() if self.file.exists() else b""
        except OSError as error:
            raise LabError(f"{folder}: {error.strerror}; name another folder") from None
        whole = written[: written.rfind(b"\n") + 1]
        try:
            rows = [_ROW.validate_json(line) for line in whole.splitlines()]
            if len(whole) < len(written):
                os.truncate(self.file, len(whole))
        except ValueError:
            raise LabError(f"{self.file}: not the rows of a sweep; name another folder") from None
        except OSError as error:
            raise LabError(f"{self.file}: {error.strerror}") from None
        self.rows = {row.identity: row for row in rows}

    def add(self, row: Row) -> None:
        """Keep a row, whatever happens to this process afterwards. Raises LabError."""
        line = _ROW.dump_json(row) + b"\n"
        try:
            with self.file.open("ab") as stream:
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise LabError(f"{self.file}: {error.strerror}; make room, then go on") from None
        self.rows[row.identity] = row

    def missing(self, identities: Iterable[str]) -> list[str]:
        """Those of which there is no row, in their order."""
        return [identity for identity in identities if identity not in self.rows]
