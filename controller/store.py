"""What an operator said by command, which labels rest, and whose numbers VRFs have in the switches,
in a file that outlives the controller however it ends (SQLite). What switches hold is in the
switches.

Without a folder it is in memory: then it outlives a switch only.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fcn.controller.clock import SYSTEM_CLOCK

LOG = logging.getLogger("fcn")

FILE = "state.sqlite"

APPLICATION = 0x66636E31
"""`fcn1` in the head of the file (PRAGMA application_id)."""

VERSION = 3
"""Of the schema (PRAGMA user_version)."""

_WRITE_VERSION, _READ_VERSION, _NO_LOG = 18, 19, 1
"""Octets of the head of a file, and what they are without a write-ahead log."""

_SCHEMA = """
CREATE TABLE flow (
    vrf TEXT NOT NULL, src TEXT NOT NULL, dst TEXT NOT NULL, dest_qp INTEGER NOT NULL,
    source_qp INTEGER NOT NULL, timeout INTEGER, PRIMARY KEY (vrf, src, dst, dest_qp)
) STRICT;
CREATE TABLE heard (node TEXT PRIMARY KEY) STRICT;
CREATE TABLE setting (
    node TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, instead_of TEXT NOT NULL,
    PRIMARY KEY (node, name)
) STRICT;
CREATE TABLE report (
    path INTEGER NOT NULL, report TEXT NOT NULL, PRIMARY KEY (path, report)
) STRICT;
CREATE TABLE resting (label INTEGER PRIMARY KEY, vrf TEXT NOT NULL, until REAL NOT NULL) STRICT;
CREATE TABLE learned (node TEXT PRIMARY KEY, entries BLOB NOT NULL) STRICT;
"""

_LED = "CREATE TABLE led (node TEXT PRIMARY KEY, round INTEGER NOT NULL) STRICT;"
"""New in version 2."""

_VRF = """
CREATE TABLE vrf (
    node TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (node, id, name)
) STRICT;
"""
"""New in version 3."""


class StoreError(Exception):
    """The file cannot be used, or not be written; the message says why and what to do."""


class RegisteredFlow(NamedTuple):
    """A flow that an operator registered. `timeout` in microseconds, 0: never, None: as the file
    says."""

    vrf: str
    src: str
    dst: str
    dest_qp: int
    source_qp: int
    timeout: int | None


class Setting(NamedTuple):
    """What an operator set by command, in place of what the file said then."""

    name: str
    value: str
    instead_of: str


class Store:
    """The file in `folder`, which no other controller may use. `wall`: seconds since the epoch.

    Raises StoreError.
    """

    def __init__(
        self, folder: str | None = None, wall: Callable[[], float] = SYSTEM_CLOCK.wall
    ) -> None:
        self.lasts = folder is not None
        self._changed = asyncio.Event()
        self._file = Path(folder) / FILE if folder is not None else Path(":memory:")
        self._wall = wall
        self._changed_labels: dict[int, tuple[str, float] | None] = {}
        self._labels_due = self._labels_fail = False
        self._was_there = self.lasts and _identity(self._file) is not None
        with self._opening():
            self._db = sqlite3.connect(self._file, timeout=0, isolation_level=None)
        try:
            with self._opening():
                self._open()
                self._heard = _heard(self._db)
        except StoreError:
            self._db.close()
            raise
        self._identity = _identity(self._file) if self.lasts else None

    def changed_again(self) -> asyncio.Event:
        """Set when something is written after now."""
        return self._changed

    def image(self) -> bytes:
        """All of it, as a file."""
        self._write_labels()
        found = bytearray(self._db.serialize())
        # Read without a log beside it.
        found[_WRITE_VERSION], found[_READ_VERSION] = _NO_LOG, _NO_LOG
        return bytes(found)

    def replace(self, image: bytes) -> None:
        """Hold what another controller holds, from now on. Raises StoreError; then what is held is
        old, and what switches have beyond it is believed."""
        self._heard = set()
        self._check_place()
        try:
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as other:
                other.deserialize(image)
                ((application,),) = other.execute("PRAGMA application_id")
                ((version,),) = other.execute("PRAGMA user_version")
                if (application, version) != (APPLICATION, VERSION):
                    raise StoreError(
                        f"what the leader keeps has schema {version}, and this controller's has "
                        f"{VERSION}: run the same fcn everywhere"
                    )
                ((sound,),) = other.execute("PRAGMA quick_check(1)")
                if sound != "ok":
                    raise sqlite3.DatabaseError(sound.rpartition("\n")[2])
                if _tables(other) != _tables(self._db):
                    raise sqlite3.DatabaseError("it has other tables")
                heard = _heard(other)
                # This process is told of what changes. One that is started later may not be.
                other.execute("DELETE FROM heard")
                other.backup(self._db)
            self._heard = heard
        except (sqlite3.Error, MemoryError) as error:
            # An empty image is said to be no memory.
            reason = str(error) or "it is empty"
            raise StoreError(
                f"what the leader keeps cannot be kept in {self._file}: {reason}"
            ) from None

    def close(self) -> None:
        """Write what waits, and let others use the file."""
        self._write_labels()
        self._db.close()

    def flows(self, vrf: str) -> Iterator[RegisteredFlow]:
        """The flows of a VRF that an operator registered, one at a time. Raises StoreError."""
        with self._opening():
            found = self._db.execute("SELECT * FROM flow WHERE vrf = ?", (vrf,))
            yield from map(RegisteredFlow._make, found)

    def register(self, flows: Iterable[RegisteredFlow]) -> None:
        """Keep flows, in place of those with the same keys. Raises StoreError."""
        with self._writing():
            self._db.executemany("REPLACE INTO flow VALUES (?, ?, ?, ?, ?, ?)", flows)

    def unregister(self, vrf: str, src: str, dst: str, dest_qp: int) -> bool:
        """Keep it no longer; whether it was kept. Raises StoreError."""
        key, before = (vrf, src, dst, dest_qp), self._db.total_changes
        self._write("DELETE FROM flow WHERE (vrf, src, dst, dest_qp) = (?, ?, ?, ?)", *key)
        return self._db.total_changes > before

    def has_heard(self, node: str) -> bool:
        """Whether the registered flows that a switch had before are among `flows`, so that another
        one there was deleted meanwhile."""
        return node in self._heard

    def hear(self, node: str, flows: list[RegisteredFlow]) -> None:
        """These are the registered flows of a switch that was not heard before. Raises
        StoreError."""
        with self._writing():
            self._db.executemany("INSERT OR IGNORE INTO flow VALUES (?, ?, ?, ?, ?, ?)", flows)
            self._db.execute("INSERT OR IGNORE INTO heard VALUES (?)", (node,))
        self._heard.add(node)

    def lead(self, node: str, turn: int) -> None:
        """This controller has become primary on a switch, in this round of the election (its low 63
        bits). Where others were since that which is known, what they were told is in the switch
        alone, and it is to be heard again. Raises StoreError."""
        turn &= (1 << 63) - 1
        found = self._read("SELECT round FROM led WHERE node = ?", node)
        if turn - 1 > (found[0][0] if found else 0):
            self._heard.discard(node)
        with self._writing():
            self._db.execute("DELETE FROM heard WHERE node = ?", (node,))
            if node in self._heard:
                self._db.execute("INSERT INTO heard VALUES (?)", (node,))
            self._db.execute("REPLACE INTO led VALUES (?, ?)", (node, turn))

    def settings(self, node: str) -> list[Setting]:
        query = "SELECT name, value, instead_of FROM setting WHERE node = ? ORDER BY name"
        return [Setting(*row) for row in self._read(query, node)]

    def set(self, node: str, setting: Setting) -> None:
        """Keep a setting; none where the file says the same. Raises StoreError."""
        if setting.value == setting.instead_of:
            self.unset(node, setting.name)
        else:
            self._write("REPLACE INTO setting VALUES (?, ?, ?, ?)", node, *setting)

    def unset(self, node: str, name: str) -> None:
        """What the file says is in force. Raises StoreError."""
        self._write("DELETE FROM setting WHERE (node, name) = (?, ?)", node, name)

    def reports(self, path: int) -> list[str]:
        """What was said of a path, and holds."""
        query = "SELECT report FROM report WHERE path = ? ORDER BY report"
        return [report for (report,) in self._read(query, path)]

    def say(self, path: int, report: str) -> None:
        """This holds of a path. Raises StoreError."""
        self._write("INSERT OR IGNORE INTO report VALUES (?, ?)", path, report)

    def unsay(self, path: int, *reports: str) -> None:
        """These hold no longer. Raises StoreError."""
        with self._writing():
            for report in reports:
                self._db.execute("DELETE FROM report WHERE (path, report) = (?, ?)", (path, report))

    def learned(self, node: str) -> bytes | None:
        """What `keep_learned` kept."""
        found = self._read("SELECT entries FROM learned WHERE node = ?", node)
        return found[0][0] if found else None

    def keep_learned(self, node: str, entries: bytes) -> None:
        """What a switch had learned, while it gets another program. Raises StoreError."""
        self._write("REPLACE INTO learned VALUES (?, ?)", node, entries)

    def drop_learned(self, node: str) -> None:
        """The switch has it. Raises StoreError."""
        if self.learned(node) is not None:
            self._write("DELETE FROM learned WHERE node = ?", node)

    def reused(self, node: str, names: Mapping[int, str]) -> frozenset[int]:
        """VRF IDs that may be other VRFs' in what a switch holds than by these names."""
        found = self._read("SELECT id, name FROM vrf WHERE node = ?", node)
        return frozenset(vrf for vrf, name in found if names.get(vrf) != name)

    def name_vrfs(self, node: str, names: Mapping[int, str], *, alone: bool) -> None:
        """A switch is about to hold what is of VRFs by these names; `alone`: it holds nothing else.
        Raises StoreError."""
        before = set(self._read("SELECT id, name FROM vrf WHERE node = ?", node))
        gone = before - names.items() if alone else set()
        if not gone and before >= names.items():
            return
        with self._writing():
            for statement, rows in (
                ("DELETE FROM vrf WHERE (node, id, name) = (?, ?, ?)", gone),
                ("INSERT INTO vrf VALUES (?, ?, ?)", names.items() - before),
            ):
                self._db.executemany(statement, ((node, *row) for row in rows))

    def resting(self, longest: float) -> list[tuple[int, str, float]]:
        """Labels that rest, with their VRF and seconds left, the shortest first. A clock that was
        set back makes none rest for more than `longest` seconds from now."""
        now = self._wall()
        try:
            with self._writing():
                self._db.execute("DELETE FROM resting WHERE until <= ?", (now,))
                self._db.execute("UPDATE resting SET until = min(until, ?)", (now + longest,))
        except StoreError as error:
            LOG.warning("%s", error)
        query = "SELECT label, vrf, until FROM resting WHERE until > ? ORDER BY until"
        found = self._read(query, now)
        return [(label, vrf, min(until - now, longest)) for label, vrf, until in found]

    def rest(self, label: int, vrf: str, seconds: float) -> None:
        """A label rests from now on. It is written before the event loop turns to anything else:
        tenants make many labels rest, and each write by itself would take too long."""
        self._change_label(label, (vrf, self._wall() + seconds))

    def wake(self, label: int) -> None:
        """A label rests no longer."""
        self._change_label(label, None)

    def _change_label(self, label: int, rests: tuple[str, float] | None) -> None:
        if not self.lasts:
            return
        if not self._labels_due:
            asyncio.get_running_loop().call_soon(self._write_labels)
            self._labels_due = True
        self._changed_labels[label] = rests

    def _write_labels(self) -> None:
        """Where that fails they are written with the next ones."""
        self._labels_due = False
        changed = self._changed_labels
        if not changed:
            return
        try:
            # Without a wait for the disk: that is for the end of a machine, and its switches.
            self._db.execute("PRAGMA synchronous = NORMAL")
            try:
                with self._writing():
                    for label, rests in changed.items():
                        if rests is None:
                            self._db.execute("DELETE FROM resting WHERE label = ?", (label,))
                        else:
                            row = (label, *rests)
                            self._db.execute("REPLACE INTO resting VALUES (?, ?, ?)", row)
            finally:
                self._db.execute("PRAGMA synchronous = FULL")
        except (StoreError, sqlite3.Error) as error:
            if not self._labels_fail:
                LOG.warning(
                    "%s; a controller that is started now would use labels too early", error
                )
            self._labels_fail = True
        else:
            self._changed_labels = {}
            self._labels_fail = False

    def _read(self, query: str, *values: object) -> list[Any]:
        """Rows. Raises StoreError."""
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self._file} {_reason(error)}") from None

    def _write(self, statement: str, *values: object) -> None:
        with self._writing():
            self._db.execute(statement, values)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it is written, or nothing."""
        self._check_place()
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except sqlite3.Error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
            self._changed.set()
            self._changed = asyncio.Event()
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(f"{self._file} cannot be written: {error}") from None

    def _check_place(self) -> None:
        """What is written to a file that was removed would be lost. Raises StoreError."""
        if self.lasts and _identity(self._file) != self._identity:
            raise StoreError(
                f"{self._file} was removed, or replaced, while the controller runs: nothing can be "
                "kept. Restart the controller; it begins with what is there by then"
            )

    @contextmanager
    def _opening(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self._file} {_reason(error)}") from None

    def _open(self) -> None:
        run = self._db.execute
        # Nobody else reads it meanwhile, and a second controller is refused.
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        ((application,),) = run("PRAGMA application_id")
        ((version,),) = run("PRAGMA user_version")
        ((tables,),) = run("SELECT count(*) FROM sqlite_schema")
        if application != APPLICATION and tables:
            raise StoreError(
                f"{self._file} is a database of another program; name another folder as `state`"
            )
        if version > VERSION:
            raise StoreError(
                f"{self._file} has schema {version}, of a newer fcn; this one knows {VERSION}. "
                "Start that one, or name another folder as `state`"
            )
        if version == 0:
            if self._was_there:
                LOG.warning(
                    "%s is empty: what was said by command before, if anything was, is not known. "
                    "To have it again, end the controller and put the file back from a copy",
                    self._file,
                )
            head = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}"
            self._db.executescript(f"BEGIN EXCLUSIVE; {_SCHEMA} {_LED} {_VRF} {head}; COMMIT")
        elif version < VERSION:
            new = (_LED if version < 2 else "") + _VRF
            head = f"PRAGMA user_version = {VERSION}"
            self._db.executescript(f"BEGIN EXCLUSIVE; {new} {head}; COMMIT")
        ((sound,),) = run("PRAGMA quick_check(1)")
        if sound != "ok":
            raise sqlite3.DatabaseError(sound.rpartition("\n")[2])


def _heard(database: sqlite3.Connection) -> set[str]:
    """Switches whose registered flows are among those in the database."""
    return {node for (node,) in database.execute("SELECT node FROM heard")}


def _tables(database: sqlite3.Connection) -> set[tuple[object, ...]]:
    return set(database.execute("SELECT type, name, sql FROM sqlite_schema"))


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _reason(error: sqlite3.Error) -> str:
    """What is wrong with a file that cannot be used, and what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_BUSY:
        return "is used by another controller; give each a `state` of its own"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR):
        return f"cannot be opened ({error}); may the controller's user write to the folder?"
    if code == sqlite3.SQLITE_FULL:
        return f"cannot be written ({error}); make room on the disk"
    return (
        f"is damaged ({error}); put it back from a copy, or move it and {FILE}-wal away: the "
        "controller then begins with what the file says and the switches hold"
    )
