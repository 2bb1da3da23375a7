"""What lasts: the file itself, and labels that rest whatever becomes of clocks."""

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from fcn.controller.cli import run
from fcn.controller.cli.run import RunError, run_controller
from fcn.controller.config import parse_config
from fcn.controller.flows.labelling import LabelPool
from fcn.controller.logs import LogLevel
from fcn.controller.node.settings import drop
from fcn.controller.store import FILE, RegisteredFlow, Setting, Store, StoreError

QUARANTINE = 30.0
FLOW = RegisteredFlow("blue", "10.1.0.10", "10.2.0.20", 33, 17, None)


class Times:
    """A clock of the wall, and one that never goes back."""

    def __init__(self) -> None:
        self.wall, self.monotonic = 1_800_000_000.0, 5.0

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds

    def pool(self, folder: Path) -> tuple[Store, LabelPool]:
        """Those of a controller that starts now."""
        store = Store(str(folder), lambda: self.wall)
        return store, LabelPool(QUARANTINE, lambda: self.monotonic, random.Random(1), store)


def test_what_was_said_is_read_again(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.register([FLOW])
    store.register([FLOW._replace(dest_qp=34, timeout=0)])
    store.register([FLOW._replace(source_qp=18)])
    store.set("pe1", Setting("features", "learning", "learning,translation"))
    store.set("pe2", Setting("features", "", "learning"))
    store.set("pe2", Setting("features", "learning", "learning"))
    store.say(17, "FAILED")
    store.say(17, "CONGESTED")
    store.unsay(17, "CONGESTED")
    store.close()
    store = Store(str(tmp_path))
    assert set(store.flows("blue")) == {
        FLOW._replace(source_qp=18),
        FLOW._replace(dest_qp=34, timeout=0),
    }
    assert store.settings("pe1") == [Setting("features", "learning", "learning,translation")]
    assert store.settings("pe2") == [], "as the file says"
    assert store.reports(17) == ["FAILED"]
    store.unregister("blue", "10.1.0.10", "10.2.0.20", 33)
    assert [flow.dest_qp for flow in store.flows("blue")] == [34]
    store.close()


async def test_labels_rest_for_what_is_left(tmp_path: Path) -> None:
    times = Times()
    store, pool = times.pool(tmp_path)
    labels = [pool.take() for _ in range(3)]
    pool.release(labels[0], "blue")
    times.wait(10)
    pool.release(labels[1], "blue")
    await asyncio.sleep(0)
    store.close()
    times.wait(15)
    store, pool = times.pool(tmp_path)
    assert (pool.resting, len(pool)) == (2, 0)
    times.wait(5)
    assert pool.resting == 1
    assert pool.claim(labels[1]), "a switch still has it"
    assert pool.resting == 0
    await asyncio.sleep(0)
    store.close()
    store, pool = times.pool(tmp_path)
    assert pool.resting == 0
    store.close()


async def test_a_clock_that_jumps_back_frees_no_label_early_and_holds_none_for_ever(
    tmp_path: Path,
) -> None:
    times = Times()
    store, pool = times.pool(tmp_path)
    pool.release(pool.take(), "blue")
    await asyncio.sleep(0)
    store.close()
    times.wait(1)
    times.wall = 0.0
    store, pool = times.pool(tmp_path)
    times.wait(QUARANTINE - 1)
    assert pool.resting == 1
    store.close()
    # Whoever starts again has the time since, and not that of the clock before.
    store, pool = times.pool(tmp_path)
    times.wait(1.1)
    assert pool.resting == 0
    store.close()


async def test_a_full_disk_costs_no_label_its_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What could not be written is written with the next one, and the log says so once."""
    times = Times()
    store, pool = times.pool(tmp_path)
    labels = [pool.take() for _ in range(3)]
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_writing", lambda _store: _Full())
        for label in labels[:2]:
            pool.release(label, "blue")
            await asyncio.sleep(0)
    assert caplog.text.count("no room") == 1
    pool.release(labels[2], "blue")
    await asyncio.sleep(0)
    store.close()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_writing", lambda _store: _Full())
        store, pool = times.pool(tmp_path)
        assert pool.resting == 3, "a controller starts all the same"
        drop(store, "pe1", [(Setting("features", "", "learning"), "the file says something else")])
    assert caplog.text.count("no room") == 3
    store.close()


class _Full:
    def __enter__(self) -> None:
        raise StoreError("state.sqlite cannot be written: no room")

    def __exit__(self, *_exc: object) -> None:
        pass


def test_half_of_a_write_is_undone(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    nothing: list[RegisteredFlow] = [FLOW, (1, 2)]  # type: ignore[list-item]
    with pytest.raises(StoreError, match="cannot be written"):
        store.hear("pe1", nothing)
    assert (list(store.flows("blue")), store.has_heard("pe1")) == ([], False)
    store.hear("pe1", [FLOW])
    assert (list(store.flows("blue")), store.has_heard("pe1")) == ([FLOW], True)
    store.close()


def test_a_number_is_reused_until_a_switch_has_nothing_of_another_vrf() -> None:
    store = Store()
    assert not store.reused("pe1", {1: "blue"}), "nothing is known"
    store.name_vrfs("pe1", {1: "blue", 2: "red"}, alone=True)
    assert store.reused("pe1", {1: "red", 2: "red"}) == {1}
    assert not store.reused("pe2", {1: "red"})
    # Killed before it had written all of it, and the file is put back.
    store.name_vrfs("pe1", {1: "green", 2: "red"}, alone=False)
    assert store.reused("pe1", {1: "blue", 2: "red"}) == {1}
    store.name_vrfs("pe1", {1: "blue", 2: "red"}, alone=True)
    assert not store.reused("pe1", {1: "blue", 2: "red"})


def test_one_controller_at_a_time(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with pytest.raises(StoreError, match="used by another controller; give each a `state`"):
        Store(str(tmp_path))
    store.close()
    Store(str(tmp_path)).close()


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    Store(str(tmp_path)).close()
    database = sqlite3.connect(tmp_path / FILE)
    database.execute("PRAGMA user_version = 4")
    database.close()
    with pytest.raises(StoreError, match="has schema 4, of a newer fcn; this one knows 3"):
        Store(str(tmp_path))


@pytest.mark.parametrize(
    ("version", "later"), [(1, "DROP TABLE led; DROP TABLE vrf"), (2, "DROP TABLE vrf")]
)
def test_an_older_schema_is_taken_over(tmp_path: Path, version: int, later: str) -> None:
    """Version 1 knew nothing of rounds of the election, version 2 nothing of numbers of VRFs."""
    store = Store(str(tmp_path))
    store.hear("pe1", [FLOW])
    store.close()
    database = sqlite3.connect(tmp_path / FILE)
    database.executescript(f"{later}; PRAGMA user_version = {version}")
    database.close()
    store = Store(str(tmp_path))
    assert (list(store.flows("blue")), store.has_heard("pe1")) == ([FLOW], True)
    store.lead("pe1", 1)
    store.name_vrfs("pe1", {1: "blue"}, alone=True)
    store.close()


@pytest.mark.parametrize(("turn", "knows"), [(1, True), (2, True), (3, False), (1 << 63, True)])
def test_what_others_were_told_since_is_heard_again(turn: int, knows: bool) -> None:
    store = Store()
    store.lead("pe1", 1)
    store.hear("pe1", [])
    store.lead("pe1", turn)
    assert store.has_heard("pe1") == knows
    store.hear("pe1", [])
    store.lead("pe1", (turn & (1 << 63) - 1) + 1)
    assert store.has_heard("pe1")


def test_another_controller_has_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one, two = Store(str(tmp_path / "a")), Store(str(tmp_path / "b"))
    one.hear("pe1", [FLOW])
    two.register([FLOW._replace(dest_qp=99)])
    two.replace(one.image())
    assert list(two.flows("blue")) == [FLOW]
    assert two.has_heard("pe1")
    two.close()
    again = Store(str(tmp_path / "b"))
    assert list(again.flows("blue")) == [FLOW]
    assert not again.has_heard("pe1"), "another one led since, and may have said something"
    again.unregister(*FLOW[:4])
    assert (list(again.flows("blue")), list(one.flows("blue"))) == ([], [FLOW])


@pytest.mark.parametrize("image", [b"", b"SQLite format 3\0", bytes(4096), b"x" * 5000])
def test_what_is_no_store_is_refused(image: bytes) -> None:
    store = Store()
    store.register([FLOW])
    with pytest.raises(StoreError):
        store.replace(image)
    assert list(store.flows("blue")) == [FLOW]


@pytest.mark.parametrize("change", ["DROP TABLE flow", "CREATE TABLE song (name TEXT)"])
def test_a_store_with_other_tables_is_refused(tmp_path: Path, change: str) -> None:
    Store(str(tmp_path)).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute(change)
        image = other.serialize()
    store = Store()
    store.register([FLOW])
    with pytest.raises(StoreError, match="it has other tables"):
        store.replace(image)
    assert list(store.flows("blue")) == [FLOW]


def test_an_image_is_not_kept_in_a_file_that_was_removed(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    (tmp_path / FILE).unlink()
    with pytest.raises(StoreError, match="was removed, or replaced"):
        store.replace(Store().image())


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / FILE)
    database.execute("CREATE TABLE flow (song TEXT)")
    database.close()
    with pytest.raises(StoreError, match="of another program; name another folder"):
        Store(str(tmp_path))


@pytest.mark.parametrize("damage", ["text", "page"])
def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path, damage: str) -> None:
    store = Store(str(tmp_path))
    for number in range(12):
        store.set("pe1", Setting(f"{number}", "x" * 3000, "y"))
    store.close()
    file = tmp_path / FILE
    if damage == "text":
        file.write_text("features: all\n" * 500)
    else:
        content = bytearray(file.read_bytes())
        content[8192:12288] = bytes(4096)
        file.write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged \(.*\); put it back from a copy, or move"):
        Store(str(tmp_path))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be opened .* may the controller's user write"):
        Store(str(tmp_path / "nowhere"))


async def test_a_controller_does_not_start_with_a_damaged_file(
    network: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FILE).write_text("features: all\n" * 500)
    # The log is that of the whole process, of other tests, too.
    monkeypatch.setattr(run, "configure_logs", lambda *_, **__: None)
    config = parse_config(yaml.safe_dump(network | {"state": str(tmp_path)}))
    with pytest.raises(RunError, match="is damaged"):
        await run_controller(config, tmp_path / "network.yaml", LogLevel.ERROR, log_json=False)


async def test_what_is_lost_without_a_folder_is_said(
    network: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    network["api"] = f"unix:{tmp_path}/nowhere/api"
    config = parse_config(yaml.safe_dump(network))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "configure_logs", lambda *_, **__: None)
        with pytest.raises(RunError, match="there is no directory"):
            await run_controller(config, tmp_path / "f", LogLevel.ERROR, log_json=False)
    assert "the file has no `state`: features, thresholds, reports of paths" in caplog.text


def test_a_file_that_was_emptied_is_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Store(str(tmp_path)).close()
    assert caplog.text == ""
    (tmp_path / FILE).write_bytes(b"")
    Store(str(tmp_path)).close()
    assert f"{FILE} is empty: what was said by command before" in caplog.text
    caplog.clear()
    Store(str(tmp_path)).close()
    assert caplog.text == ""


def test_a_file_that_was_removed_meanwhile_keeps_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.set("pe1", Setting("features", "a", "b"))
    (tmp_path / FILE).unlink()
    for replaced in (False, True):
        if replaced:
            (tmp_path / FILE).write_bytes(b"")
        with pytest.raises(StoreError, match="removed, or replaced, while the controller runs"):
            store.set("pe1", Setting("features", "c", "b"))
    assert store.settings("pe1") == [Setting("features", "a", "b")]
    store.close()


def test_what_breaks_meanwhile_is_said_in_words(tmp_path: Path) -> None:
    """The reason is SQLite's, the words are ours."""
    store = Store(str(tmp_path))
    store._db.execute("DROP TABLE setting")
    with pytest.raises(StoreError, match=r"state\.sqlite is damaged \(no such table: setting\)"):
        store.settings("pe1")
    store.close()


def test_a_copy_that_is_old_is_not_all_there_is() -> None:
    """Of a controller whose disk was full: flows that were registered meanwhile stay."""
    store = Store()
    store.hear("pe1", [])
    assert store.has_heard("pe1")
    with pytest.raises(StoreError):
        store.replace(b"broken")
    assert not store.has_heard("pe1")
    store.hear("pe1", [])
    assert store.has_heard("pe1")
