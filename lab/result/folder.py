"""Results as folders: `result.json`, `TABLE.csv` of each table, and `NAME.pcap` of each capture.

A folder appears whole or not at all: it is written beside its place, as `.NAME.fcn-lab-…/new`, and
then renamed. `result.json` is written last, so what a killed process leaves there is no result; the
next one that is saved beside it removes it.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, BytesIO, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd
import pyarrow as pa
from pyarrow import csv
from pydantic import BaseModel, ConfigDict, ValidationError

from fcn.contract.pages import check_page_file
from fcn.hosts.scratch import remove_left, replacing, scratch_folder
from fcn.lab.result.exchange import exchange
from fcn.lab.result.model import FORMAT, About, Result
from fcn.lab.result.tables import TABLES, ResultError, TableName

RESULT_FILE = "result.json"
REPORT_FILE = "report.html"
"""What `fcn lab show` writes beside a result."""

_ROWS = 1 << 18
_BLOCK = 1 << 20
"""Rows, and octets, that are read at once of a table that need not fit in memory."""

_BATCH = 1 << 16
"""Rows that are written at once."""

_PCAP = ".pcap"
_LEFT = ".[!.]*.fcn-lab-*"
"""Hidden folders of results that are being saved: as _beside() begins their names."""

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class _Document(BaseModel):
    """Of result.json. files: SHA-256 of each other file, by its name."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    format: int
    about: About
    files: dict[str, str]


def save(result: Result, folder: Path) -> None:
    """Save a result as a folder, in place of a result that is there already.

    Raises ResultError when something else is there or it cannot be written; what was there stays.
    """
    check_place(folder)
    folder = Path(os.path.abspath(folder))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_left(_LEFT, folder.parent)
        with scratch_folder(_beside(folder), folder.parent) as beside:
            new = beside / "new"
            new.mkdir()
            _write(result, new)
            _replace(folder, new)
    except OSError as error:
        raise ResultError(f"{folder}: cannot save the result: {error.strerror}") from None


def load(folder: Path) -> Result:
    """The result in a folder. Raises ResultError, naming the file, when it is none, of another
    version or not as it was saved."""
    document = _load_document(folder)
    contents = {}
    for name, digest in document.files.items():
        if Path(name).name != name:
            raise ResultError(f"{folder / RESULT_FILE}: {name!r} is not a file of the folder")
        contents[name] = _read(folder / name)
        _check(folder / name, hashlib.sha256(contents[name]).hexdigest(), digest)
    captures = {
        name.removesuffix(_PCAP): data for name, data in contents.items() if name.endswith(_PCAP)
    }
    tables: dict[str, Any] = {}
    for table in TABLES:
        if (file := f"{table}.csv") not in contents:
            raise ResultError(f"{folder / RESULT_FILE}: lists no {file}; run again")
        tables[table] = _parse_csv(table, contents[file], folder / file)
    return Result(about=document.about, captures=captures, **tables)


def open_result(folder: Path) -> "Stored":
    """A result in a folder, of whatever size. Raises ResultError as load()."""
    document = _load_document(folder)
    for table in TABLES:
        if f"{table}.csv" not in document.files:
            raise ResultError(f"{folder / RESULT_FILE}: lists no {table}.csv; run again")
    return Stored(folder, document.about, document.files)


@dataclass(frozen=True)
class Stored:
    """What a result is about, and its tables some rows at a time."""

    folder: Path
    about: About
    digests: Mapping[str, str]

    def octets(self, tables: Iterable[TableName]) -> int:
        """How much there is of these tables. Raises ResultError."""
        total = 0
        for table in tables:
            with _open(self.folder / f"{table}.csv") as stream:
                total += os.fstat(stream.fileno()).st_size
        return total

    def chunks(
        self, table: TableName, columns: Sequence[str], seen: Callable[[int], object]
    ) -> Iterator[pd.DataFrame]:
        """Some columns, texts as categories; seen: told of octets that were read. Raises
        ResultError, as late as at the end where the file was changed."""
        file = self.folder / f"{table}.csv"
        options = _options(table)
        texts = {column.name: "category" for column in TABLES[table] if column.kind == "text"}
        options |= {"chunksize": _ROWS, "usecols": list(columns)}
        options["dtype"] |= texts
        with _open(file) as stream:
            hashed = _Hashed(stream, seen)
            try:
                with pd.read_csv(BufferedReader(hashed, _BLOCK), **options) as parts:
                    yield from parts
            except (ValueError, OSError) as error:
                raise ResultError(f"{file}: {error}; run again") from None
            _check(file, hashed.digest.hexdigest(), self.digests[file.name])


class _Hashed(RawIOBase):
    """A stream that is hashed while it is read."""

    def __init__(self, stream: BufferedReader, seen: Callable[[int], object]) -> None:
        self._stream = stream
        self._seen = seen
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        size = self._stream.readinto(view)
        self.digest.update(view[:size])
        self._seen(size)
        return size


def load_about(folder: Path) -> About:
    """What the result in a folder is about, without its tables. Raises ResultError as load()."""
    return _load_document(folder).about


def check_place(folder: Path) -> None:
    """Raises ResultError when a result cannot be saved there, or must not because something else
    is there. Creates the folder it would be in."""
    folder = Path(os.path.abspath(folder))
    another = "name another place for the result"
    try:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise ResultError(f"{folder}: is not a folder; {another}")
        if folder.is_dir() and (foreign := _foreign(folder)):
            raise ResultError(f"{folder}: holds something else ({foreign}); {another}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(_beside(folder), folder.parent):
            pass
    except OSError as error:
        raise ResultError(
            f"{folder}: a result cannot be saved there: {error.strerror}; {another}"
        ) from None


def _beside(folder: Path) -> str:
    """How hidden folders of results that are being saved begin, as nobody else's do."""
    return f".{folder.name}.fcn-lab-"


def _foreign(folder: Path) -> str:
    """The name of a file that is not of a result, of whatever version; empty if there is none."""
    files = sorted(each.name for each in folder.iterdir())
    if RESULT_FILE not in files:
        return files[0] if files else ""
    try:
        document = json.loads(_read(folder / RESULT_FILE))
        own = {*document["files"], RESULT_FILE, REPORT_FILE} if document["format"] else set()
    except (ValueError, KeyError, TypeError, RecursionError, ResultError):
        return RESULT_FILE
    return next((name for name in files if name not in own), "")


def _replace(folder: Path, new: Path) -> None:
    if not folder.exists():
        new.rename(folder)
        return
    if exchange(new, folder):
        return
    old = folder.with_name(f".{new.parent.name}.old")
    folder.rename(old)
    try:
        new.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old)


def _write(result: Result, folder: Path) -> None:
    digests = {}
    for table, rows in result.tables().items():
        with (folder / f"{table}.csv").open("w+b") as file:
            write_csv(rows, file)
            file.seek(0)
            digests[f"{table}.csv"] = hashlib.file_digest(file, "sha256").hexdigest()
    for capture, data in result.captures.items():
        (folder / f"{capture}{_PCAP}").write_bytes(data)
        digests[f"{capture}{_PCAP}"] = hashlib.sha256(data).hexdigest()
    document = _Document(format=FORMAT, about=result.about, files=digests)
    (folder / RESULT_FILE).write_text(document.model_dump_json(indent=1) + "\n", "utf-8")


def write_csv(data: pd.DataFrame, file: BinaryIO) -> None:
    """Write a table into an empty file: the octets of pandas' writer, which is slower by far."""
    columns = {str(name): _printable(column) for name, column in data.items()}
    file.write(f"{','.join(columns)}\n".encode())
    options = csv.WriteOptions(include_header=False, quoting_style="none", batch_size=_BATCH)
    try:
        csv.write_csv(pa.table(columns), file, options)
    except pa.ArrowInvalid:  # a text that needs quotes
        file.seek(0)
        file.truncate()
        file.write(data.to_csv(index=False, lineterminator="\n").encode())


def _printable(column: pd.Series) -> pa.Array:
    """As Arrow writes it: of floating point it has formats of its own."""
    values = pa.array(column, from_pandas=True)
    if not pa.types.is_floating(values.type):
        return values
    encoded = values.dictionary_encode()
    texts = pa.array(encoded.dictionary.to_numpy().astype(str).tolist())
    return pa.DictionaryArray.from_arrays(encoded.indices, texts)


def _load_document(folder: Path) -> _Document:
    file = folder / RESULT_FILE
    if not folder.is_dir():
        raise ResultError(f"{folder}: there is no such folder")
    if not file.is_file():
        raise ResultError(f"{folder}: holds no {RESULT_FILE}, so it is no result of `fcn lab run`")
    try:
        content = json.loads(_read(file))
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{file}: is not JSON ({error}); run again") from None
    version = content.get("format") if isinstance(content, dict) else None
    if not isinstance(version, int):
        raise ResultError(f"{file}: names no format, so it is no result of `fcn lab run`")
    if version != FORMAT:
        raise ResultError(
            f"{file}: format {version}; this fcn reads format {FORMAT}: run the scenario again, "
            "or use the fcn that made it"
        )
    try:
        return _Document.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ResultError(f"{file}: {where}: {first['msg']}; run again") from None


@contextmanager
def _open(file: Path) -> Iterator[BufferedReader]:
    """Whoever made the folder may have put something there that has no end, or waits for ever."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise ResultError(f"{file}: cannot be read: {error.strerror}") from None
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ResultError(f"{file}: is not a file; run again")
        yield stream


def _read(file: Path) -> bytes:
    try:
        with _open(file) as stream:
            return stream.read()
    except OSError as error:
        raise ResultError(f"{file}: cannot be read: {error.strerror}") from None
    except MemoryError:
        raise ResultError(f"{file}: does not fit in memory") from None


def _check(file: Path, digest: str, saved: str) -> None:
    if digest != saved:
        raise ResultError(f"{file}: changed or cut off since it was saved; run again")


def write_page(text: str, file: Path) -> None:
    """Write a page in place of one that is there, not through a link or into a pipe or a device
    that somebody put there. Raises PageFileError, ResultError."""
    check_page_file(file)
    try:
        with replacing(file) as new:
            new.write_text(text, "utf-8")
    except OSError as error:
        raise ResultError(f"{file}: cannot be written: {error.strerror}") from None


def _options(table: TableName) -> dict[str, Any]:
    """Of pandas' reader of CSV."""
    return {
        "dtype": {column.name: column.dtype for column in TABLES[table]},
        "keep_default_na": False,
        "na_values": {c.name: [""] for c in TABLES[table] if c.kind not in ("text", "name")},
    }


def _parse_csv(table: TableName, data: bytes, file: Path) -> pd.DataFrame:
    try:
        rows: pd.DataFrame = pd.read_csv(BytesIO(data), **_options(table))
    except ValueError as error:
        raise ResultError(f"{file}: {error}") from None
    return rows
