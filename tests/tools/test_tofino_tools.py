"""The build tool for Tofino where something else than its tools is on PATH."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tools.p4 import tofino, tofino_record
from tools.p4.programs import chip_sources
from tools.p4.tofino_build import ASSEMBLER, CHIPS, COMPILER, Chip, ToolError
from tools.p4.tofino_package import package
from tools.p4.tofino_record import COMPILED, DOCUMENT, recorded
from tools.p4.tofino_reports import Usage

WRONG_TOOLS = {
    "fails": ("#!/bin/sh\nexit 3\n", "exit status 3"),
    "says why": ("#!/bin/sh\necho error: nonsense\nexit 1\n", "error: nonsense"),
    "does nothing": ("#!/bin/sh\n", "made no P4Info"),
    "is no program": ("no program", "cannot be run"),
}


@pytest.mark.parametrize(("text", "reason"), WRONG_TOOLS.values(), ids=WRONG_TOOLS)
def test_what_is_no_compiler_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    reason: str,
) -> None:
    for name in (COMPILER, ASSEMBLER):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tofino, "COMPILED", tmp_path / "compiled")
    monkeypatch.setattr("sys.argv", ["tofino"])
    assert tofino.main() == 1
    said = capsys.readouterr().err
    assert COMPILER in said
    assert reason in said
    assert not list((tmp_path / "compiled").glob("*"))


@pytest.mark.parametrize(
    "options",
    [
        ("--chip", "2"),
        ("--check", "--chip", "1"),
        ("--check", "--commit", "abc"),
        ("--changed", "--commit", "abc"),
        ("--package", "out", "--commit", "abc"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    for name in ("check", "record_changed", "make_package", "write"):
        monkeypatch.setattr(tofino, name, lambda *_arguments: pytest.fail("nothing is to be done"))
    monkeypatch.setattr("sys.argv", ["tofino", *options])
    with pytest.raises(SystemExit) as ended:
        tofino.main()
    assert ended.value.code == 2
    assert f"error: {options[-2]} is" in capsys.readouterr().err


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies of what is recorded, in which the tool works: folder `tna`, and tofino.md."""
    shutil.copytree(COMPILED, tmp_path / "tna")
    shutil.copy(DOCUMENT, tmp_path)
    for module in (tofino, tofino_record):
        monkeypatch.setattr(module, "COMPILED", tmp_path / "tna")
        monkeypatch.setattr(module, "DOCUMENT", tmp_path / "tofino.md")
    monkeypatch.setattr(tofino, "compiler_version", lambda: None)
    tofino_record.record_changed()
    return tmp_path


def check(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.argv", ["tofino", "--check"])
    return tofino.main()


def test_what_is_recorded_in_part_is_noticed(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As by a tool that is killed between files, or by hand; --changed mends the document."""
    assert check(monkeypatch) == 0
    document = copied / "tofino.md"
    document.write_text(document.read_text().replace("of 12 |", "of 11 |"))
    assert check(monkeypatch) == 1
    assert "docs/tofino.md does not have what the manifest says" in capsys.readouterr().err
    tofino_record.record_changed()
    assert check(monkeypatch) == 0
    (copied / "tna" / "more.p4info.txtpb").touch()
    assert check(monkeypatch) == 1
    (copied / "tna" / "more.p4info.txtpb").unlink()
    (copied / "tna" / "p.p4info.txtpb").unlink()
    assert check(monkeypatch) == 1
    assert "p.p4info.txtpb differs from the manifest" in capsys.readouterr().err


@pytest.mark.parametrize("text", [None, "<<<<<<<", "[]", "{}"])
@pytest.mark.parametrize("option", ["--check", "--changed"])
def test_what_is_no_manifest_is_named(
    copied: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str | None,
    option: str,
) -> None:
    manifest = copied / "tna" / "manifest.json"
    manifest.unlink() if text is None else manifest.write_text(text)
    monkeypatch.setattr("sys.argv", ["tofino", option])
    assert tofino.main() == 1
    assert "manifest.json is no manifest" in capsys.readouterr().err


def test_sources_that_change_while_they_are_placed_are_not_recorded(
    copied: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded()
    monkeypatch.setattr(tofino, "compiler_version", lambda: "1")
    monkeypatch.setattr(tofino, "chip_sources", lambda: chip_sources() | {"a": "b"})
    monkeypatch.setattr(tofino, "build_all", lambda *_: [])
    monkeypatch.setattr("sys.argv", ["tofino"])
    assert tofino.main() == 1
    assert "changed while they were placed: a;" in capsys.readouterr().err
    assert recorded() == before


def test_what_has_not_begun_is_left_when_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    is_ending = Event()

    class Pool(ThreadPoolExecutor):
        def __init__(self, _threads: int) -> None:
            super().__init__(1)

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            is_ending.set()
            super().shutdown(wait=wait)

    def build(program: str, _chip: Chip, _directory: Path) -> Usage:
        begun.append(program)
        assert len(begun) == 1 or is_ending.wait(10)
        raise ToolError(program)

    monkeypatch.setattr(tofino, "build", build)
    monkeypatch.setattr(tofino, "ThreadPoolExecutor", Pool)
    with pytest.raises(ToolError):
        tofino.build_all(CHIPS, tmp_path)
    assert len(begun) <= 2


def test_a_folder_that_cannot_be_written_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tofino, "compiler_version", lambda: "1")
    monkeypatch.setattr(tofino, "build_all", lambda *_: pytest.fail("it takes minutes"))
    monkeypatch.setattr("sys.argv", ["tofino", "--package", str(tmp_path / "file" / "chip")])
    assert tofino.main() == 1
    assert "Not a directory" in capsys.readouterr().err


def test_a_package_has_no_programs_of_another_chip(tmp_path: Path) -> None:
    """A P of fantel is for Tofino 1 only."""
    built = tmp_path / "built"
    (built / "p" / "assembled").mkdir(parents=True)
    for name in ("p.p4info.txtpb", "assembled/context.json", "assembled/p.bin"):
        (built / "p" / name).touch()
    (tmp_path / "out" / "fantel").mkdir(parents=True)
    for name in ("fantel/p.bin", "fantel/p.p4info.txtpb"):
        (tmp_path / "out" / name).touch()
    package(["p"], built, tmp_path / "out")
    names = {each.name for each in (tmp_path / "out").rglob("*") if each.is_file()}
    assert names == {"constants.json", "p.bin", "p.p4info.txtpb"}
    assert not list((tmp_path / "out" / "fantel").iterdir())
