"""Programs that cannot be built or loaded because of the disk: what to do is said."""

import tempfile
from pathlib import Path

import pytest
from engine_scenarios import PROGRAMS

from fcn.softswitch.engine import BuildError, load_program
from fcn.softswitch.engine.build import load_library
from fcn.softswitch.p4rt.backend import RealBackend

ARITH = PROGRAMS / "arith.json"


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    cache.write_text("a file where a directory is wanted")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    with pytest.raises(BuildError) as refused:
        load_program(ARITH)
    assert str(refused.value) == (
        f"cannot keep the built program in {cache}/fcn/softswitch: Not a directory; make room "
        "there or make it writable, or start the switch with XDG_CACHE_HOME set to another place"
    )


def test_temporary_files_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    backend = RealBackend({}, cpu_port=510, drop_port=511, queues=8)
    with pytest.raises(BuildError, match="missing: No such file or directory; make room there, or"):
        backend.build(ARITH.read_bytes())


def test_a_library_cut_by_a_power_failure(tmp_path: Path) -> None:
    library = tmp_path / "cut.so"
    library.touch()
    with pytest.raises(BuildError, match=f"file too short.*; delete {library}, and it is built"):
        load_library(library)
