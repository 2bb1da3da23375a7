"""Temporary folders of processes that end, are killed, or still run."""

import fcntl
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fcn.hosts.scratch import scratch_folder

PREFIX = "fcn-test-"
HOLD = f"""
import sys
from fcn.hosts.scratch import scratch_folder
with scratch_folder("{PREFIX}") as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def _holder() -> "tuple[subprocess.Popen[str], Path]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_for_its_owner_and_ends_with_its_use(temporary: Path) -> None:
    with scratch_folder(PREFIX) as folder:
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(temporary: Path) -> None:
    killed, left = _holder()
    running, used = _holder()
    foreign = temporary / "fcn-other"
    foreign.mkdir()
    target = temporary / "target"
    target.mkdir()
    (temporary / f"{PREFIX}link").symlink_to(target)
    with killed, running:
        killed.kill()
        killed.wait()
        assert left.exists()
        with scratch_folder(PREFIX) as folder:
            assert not left.exists()
            assert (used / "file").exists()
            assert folder != used
        assert foreign.exists()
        assert target.exists()
        running.communicate("")
    assert not used.exists()


def test_one_that_was_killed_before_it_locked_its_folder_leaves_none(temporary: Path) -> None:
    """What its death leaves has no lock, and is whatever tempfile.mkdtemp() made."""
    made = _interrupted_after("tempfile.mkdtemp", temporary)
    with scratch_folder(PREFIX) as folder:
        assert folder not in made
        assert list(temporary.iterdir()) == [folder]


def test_a_folder_removed_before_its_lock_is_made_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another process does that takes it for one that was left."""
    lock = fcntl.flock
    locked: list[int] = []

    def late(descriptor: int, operation: int) -> None:
        if not locked:
            next(temporary.iterdir()).rmdir()
        locked.append(descriptor)
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with scratch_folder(PREFIX) as folder:
        assert list(temporary.iterdir()) == [folder]
    assert len(locked) == 2


def _interrupted_after(function: str, temporary: Path) -> list[Path]:
    """Use a folder while the process ends right after the function; what it leaves."""
    script = f"""
import os, tempfile
from fcn.hosts.scratch import scratch_folder
real = {function}
def last(*args, **kwargs):
    real(*args, **kwargs)
    os._exit(9)
{function} = last
with scratch_folder("{PREFIX}"):
    pass
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    left = list(temporary.iterdir())
    assert len(left) == 1
    return left
