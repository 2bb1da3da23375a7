"""Numbers taken from the P4 sources, per chip, and that stale ones are noticed."""

import json
from pathlib import Path

import pytest

from tools.p4 import compile as p4
from tools.p4 import programs

SOURCE = """\
#ifndef GUARD
#define GUARD
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif
#ifndef FLOWS
#define FLOWS 32768
#endif
const bit<9> BOTH = 0x10;
#if __TARGET_TOFINO__ == 2
const bit<9> PORT = 6;
#ifdef INNER
const int ONLY_2 = 1;
#endif
#else
const bit<9> PORT = 68;
#endif
enum bit<10> Session {
    RECIRC = 1
}
#endif
"""


@pytest.mark.parametrize(
    ("chip", "expected"), [(1, {"PORT": 68}), (2, {"PORT": 6, "ONLY_2": 1}), (0, {"PORT": 68})]
)
def test_numbers_of_a_chip(chip: int, expected: dict[str, int]) -> None:
    assert p4.numbers(p4.for_chip(SOURCE, chip)) == {
        "BOTH": 16,
        **expected,
        "Session": {"RECIRC": 1},
    }


def test_ports_of_every_architecture() -> None:
    """As p4src/*/externs.p4 has them today."""
    found = json.loads(p4.constants_text())["architectures"]
    ports = {name: (of["CPU_PORT"], of["RECIRC_PORT"]) for name, of in found.items()}
    assert ports == {"v1model": (510, 509), "tna": (64, 68), "t2na": (0, 6)}


def _copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """p4src in a place of its own; no compiler."""
    for source in programs.P4SRC.rglob("*"):
        if source.is_file() and "__pycache__" not in source.parts:
            target = tmp_path / source.relative_to(programs.P4SRC)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    for module in (programs, p4):
        monkeypatch.setattr(module, "P4SRC", tmp_path)
        monkeypatch.setattr(module, "COMPILED", tmp_path / "compiled")
    monkeypatch.setattr(p4, "compiler_version", lambda: None)
    return tmp_path


def test_number_of_a_chip_that_changed_is_noticed_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    externs = _copy(tmp_path, monkeypatch) / "base" / "tna" / "externs.p4"
    recorded = json.loads((tmp_path / "compiled" / "manifest.json").read_text())
    assert p4.check() == 0
    externs.write_text(externs.read_text().replace("RECIRC_PORT = 68", "RECIRC_PORT = 196"))
    assert p4.check() == 1
    assert "constants.json does not match the sources" in capsys.readouterr().err
    assert p4.write_constants() == 0
    assert p4.check() == 0
    written = json.loads((tmp_path / "compiled" / "constants.json").read_text())
    assert written["architectures"]["tna"]["RECIRC_PORT"] == 196
    manifest = json.loads((tmp_path / "compiled" / "manifest.json").read_text())
    assert manifest["p4c"] == recorded["p4c"]
    assert manifest["sources"] == recorded["sources"]
    assert manifest["outputs"] != recorded["outputs"]
