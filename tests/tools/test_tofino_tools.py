"""The build tool for Tofino where something else than its tools is on PATH."""

from pathlib import Path

import pytest

from tools.p4 import tofino
from tools.p4.tofino_build import ASSEMBLER, COMPILER

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
