"""Programs that cannot be built or loaded because of the disk: what to do is said."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from engine_scenarios import PROGRAMS

from fcn.softswitch.engine import (
    BuildError,
    ProgramError,
    build,
    cache,
    load_program,
    loader,
    program,
)
from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.build import load_library
from fcn.softswitch.engine.codegen import control_blocks
from fcn.softswitch.engine.codegen.actions import INLINED
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import parse_json
from fcn.softswitch.engine.model import Model

ARITH = PROGRAMS / "arith.json"


def test_no_key_is_longer_than_the_engine_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(control_blocks, "MAX_KEY_WORDS", 2 * control_blocks.MAX_KEY_WORDS)
    code = generate(parse_json(ARITH.read_bytes()))
    with pytest.raises(BuildError, match="SW_KEY_WORDS == 64"):
        build.build_library(code)


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cache"
    file.write_text("a file where a directory is wanted")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    with pytest.raises(BuildError) as refused:
        load_program(ARITH)
    assert str(refused.value) == (
        f"cannot keep the built program in {file}/fcn/softswitch: Not a directory; make room "
        "there or make it writable, or start the switch with XDG_CACHE_HOME set to another place"
    )


def test_a_cache_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends ever new pipelines would fill the disk. What was used lately stays."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "KEPT", 2)
    monkeypatch.setattr(build, "compile_c", lambda _code, target, _flags: target.write_text("C"))
    first, second = (build.build_library(f"/* {number} */") for number in range(2))
    for used, file in enumerate((first, second)):
        os.utime(file, (used, used))
    assert build.build_library("/* 0 */") == first
    third = build.build_library("/* 2 */")
    folder = tmp_path / "fcn" / "softswitch"
    assert set(folder.glob("*.so")) == {first, third}
    assert {lock.stem for lock in folder.glob("*.lock")} == {first.stem, third.stem}


def test_what_a_killed_switch_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch is killed while its compiler runs; another then builds the same program."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiler = tmp_path / "compiler"
    compiler.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then exec cc --version; fi\n'
        f"mkfifo {tmp_path}/ready; echo > {tmp_path}/ready; exec sleep 60\n"
    )
    compiler.chmod(0o700)
    command = (
        "import sys; from fcn.softswitch.engine import load_program; load_program(sys.argv[1])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", command, str(ARITH)],
        env={**os.environ, "CC": str(compiler)},
        start_new_session=True,
    ) as switch:
        ready = tmp_path / "ready"
        while not ready.exists():
            assert switch.poll() is None
        ready.read_text()
        os.killpg(switch.pid, signal.SIGKILL)
    folder = tmp_path / "fcn" / "softswitch"
    assert len(list(folder.glob("*.build"))) == 1
    left = next(folder.glob("*.build"))
    key = left.stem.partition("-")[0]
    monkeypatch.setattr(build, "_key", lambda *_: key)
    assert load_program(ARITH).library == folder / f"{key}.so"
    assert {path.suffix for path in folder.iterdir()} == {".so", ".lock"}


def test_own_flags_come_last_and_make_another_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    given: list[Sequence[str]] = []

    def compiled(_code: str, target: Path, flags: Sequence[str]) -> None:
        given.append(flags)
        target.touch()

    monkeypatch.setattr(build, "compile_c", compiled)
    monkeypatch.delenv("CFLAGS", raising=False)
    plain = build.build_library("/* a program */")
    monkeypatch.setenv("CFLAGS", "-O1 '-DNAME=a b'")
    assert build.build_library("/* a program */") != plain
    assert given[1] == (*given[0], "-O1", "-DNAME=a b")


def test_a_compiler_that_outlives_its_switch_does_not_reach_the_next_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its linker would put a part of a library in the place of the one that is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    targets: list[Path] = []

    def compiled(_code: str, target: Path, _flags: Sequence[str]) -> None:
        targets.append(target)
        if len(targets) == 1:
            raise BuildError("killed")
        target.write_text("whole")

    monkeypatch.setattr(build, "compile_c", compiled)
    with pytest.raises(BuildError, match="killed"):
        build.build_library("/* a program */")
    assert build.build_library("/* a program */").read_text() == "whole"
    first, second = targets
    assert first.parent != second.parent


def test_switches_that_start_together_build_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiled: list[Path] = []
    together = threading.Barrier(2)
    compile_c = build.compile_c

    def counted(code: str, target: Path, flags: Sequence[str]) -> None:
        compiled.append(target)
        compile_c(code, target, flags)

    def start() -> Path:
        together.wait(60)
        return load_program(ARITH).library

    monkeypatch.setattr(build, "compile_c", counted)
    with ThreadPoolExecutor(2) as pool:
        one, two = (pool.submit(start) for _ in range(2))
        assert one.result() == two.result()
    assert len(compiled) == 1


def test_a_library_cut_by_a_power_failure(tmp_path: Path) -> None:
    library = tmp_path / "cut.so"
    library.touch()
    with pytest.raises(BuildError, match=f"file too short.*; delete {library}, and it is built"):
        load_library(library)


def test_the_compilers_time_and_memory_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compiles what a client sent."""
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\n(ulimit -t; ulimit -v) > {tmp_path}/limits\nexit 1\n")
    compiler.chmod(0o700)
    monkeypatch.setattr(build, "_compiler", lambda: ((str(compiler),), ""))
    with pytest.raises(BuildError, match="failed on"):
        build.compile_c("", tmp_path / "program.so", ())
    assert (tmp_path / "limits").read_text().split() == ["600", str(4 << 20)]


def test_ctrl_c_does_not_make_the_compiler_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is for the command that needs the program, which ends in order."""
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\nkill -INT $$\n")
    compiler.chmod(0o700)
    monkeypatch.setattr(build, "_compiler", lambda: ((str(compiler),), ""))
    build.compile_c("", tmp_path / "program.so", ())


def test_a_program_that_comes_again_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when it is built and opened, nor when a controller sends it again."""
    read: list[bytes] = []
    parse_json = loader.parse_json

    def counted(data: bytes) -> Model:
        read.append(data)
        return parse_json(data)

    monkeypatch.setattr(program, "parse_json", counted)
    texts = [ARITH.read_bytes() + b" " * (n + 1) for n in range(limits.PROGRAMS_KEPT + 1)]
    for text in (texts[0], texts[0], *texts, texts[-1], texts[0]):
        program.make_program(text)
    assert read == [*texts, texts[0]]
    for _ in range(2):
        with pytest.raises(ProgramError):
            program.make_program(b"{}")
    assert read[-2:] == [b"{}", b"{}"]


def test_another_list_of_sources_is_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the one from the cache, which lacks a file or has one too many."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiled: list[str] = []

    def noted(code: str, target: Path, _flags: Sequence[str]) -> None:
        compiled.append(code)
        target.touch()

    monkeypatch.setattr(build, "compile_c", noted)
    first = build.build_library("/* a program */")
    assert build.build_library("/* a program */") == first
    monkeypatch.setattr(build, "SOURCES", build.SOURCES[:-1])
    assert build.build_library("/* a program */") != first
    assert len(compiled) == 2


def _of_many_actions(count: int) -> str:
    """C of a program whose table has `count` actions."""
    root = json.loads((PROGRAMS / "kitchen.json").read_text())
    template = max(root["actions"], key=lambda action: len(action["primitives"]))
    first = 1 + max(action["id"] for action in root["actions"])
    root["actions"] += [{**template, "id": first + i, "name": f"more{i}"} for i in range(count)]
    return generate(parse_json(json.dumps(root).encode()))


def test_functions_do_not_grow_with_the_number_of_actions() -> None:
    """A compiler's time for one function grows faster than the function: what may become part of
    the pipeline's function is bounded, and nothing else has code of every action."""
    few, many = _of_many_actions(0), _of_many_actions(1000)
    text = re.findall(r"^(static|SW_OWN) (void act_\d+\(.*?^}$)", many, re.DOTALL | re.MULTILINE)
    inlined = [len(code) for kind, code in text if kind == "static"]
    assert sum(inlined) <= INLINED < sum(len(code) for _, code in text)

    def longest_other(code: str) -> int:
        function = re.compile(r"^static [^\n=]*\)\n{\n.*?^}$", re.DOTALL | re.MULTILINE)
        return max(len(c) for c in function.findall(code) if " act_" not in c.split("{")[0])

    assert longest_other(many) == longest_other(few)
    assert "SW_OWN" not in few


@pytest.mark.parametrize("name", ["pe", "p"])
def test_the_projects_own_actions_may_be_inlined(name: str) -> None:
    assert "SW_OWN" not in generate(parse_json(Path(f"p4src/compiled/{name}.json").read_bytes()))
