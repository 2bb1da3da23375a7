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
