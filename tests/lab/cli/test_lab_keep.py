"""A result that finds no room where the user wanted it is not lost."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_results import about

from fcn.lab.cli.keep import keep
from fcn.lab.result.folder import load
from fcn.lab.result.model import Result
from fcn.lab.result.tables import ResultError

ROOM = 1 << 20
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


def large() -> Result:
    """Twice as large as the small disk."""
    return Result(about(), captures={"link": bytes(2 * ROOM)})


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


def never() -> bool:
    raise AssertionError("nobody has to be asked")


def test_a_full_disk_moves_the_result_elsewhere_and_says_so(disk: Path, tmp_path: Path) -> None:
    said: list[str] = []
    others = [disk, tmp_path / "missing", tmp_path]
    place = keep(large(), disk / "out" / "run", said.append, never, others)
    assert (place.name, place.parent.parent) == ("run", tmp_path)
    assert load(place).captures == large().captures
    (text,) = said
    assert "run: cannot save the result: No space left on device" in text
    assert f"The result is in {place} instead" in text
    assert list((disk / "out").iterdir()) == []
    assert [each.name for each in disk.iterdir()] == ["out"], "and nothing half-written"


def test_where_there_is_room_nobody_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    assert keep(large(), tmp_path / "run", said.append, never) == tmp_path / "run"
    assert said == []


def test_without_room_anywhere_the_user_is_asked_to_make_some(disk: Path) -> None:
    said: list[str] = []

    def make_room() -> bool:
        subprocess.run(["mount", "-o", f"remount,size={4 * ROOM}", disk], check=True)
        return True

    assert keep(large(), disk / "run", said.append, make_room, [disk]) == disk / "run"
    assert said[0].count("No space left on device") == 2
    assert load(disk / "run").captures == large().captures


def test_without_room_and_nobody_to_ask_nothing_is_left(disk: Path) -> None:
    with pytest.raises(ResultError, match="the result is lost: make room"):
        keep(large(), disk / "run", lambda _text: None, lambda: False, [disk])
    assert list(disk.iterdir()) == []
