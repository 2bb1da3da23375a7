"""Commands end in order, those that are programs of their own, too: where their output cannot be
written, and at Ctrl-C while they import what they need."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fcn.controller.config.load import EXAMPLE

FCN = [sys.executable, "-m", "fcn.controller.cli.main"]

INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
slow = sys.argv.pop(1)
class Finder:
    def find_spec(self, name, path, target=None):
        if name == slow:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from {program} import main
main()
"""
"""Ctrl-C while a module is imported."""


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["check", "-c", str(EXAMPLE)],
        ["lab", "list"],
        # Programs of their own, started as `fcn lab` is.
        *(
            pytest.param([*command, "--help"], marks=pytest.mark.exhaustive)
            for command in (["trace"], ["page"], ["top"], ["topo", "cut"])
        ),
    ],
    ids=" ".join,
)
def test_a_full_disk_is_named(command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*FCN, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.stderr == "error: cannot write the output: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize("command", [["check", "-c", str(EXAMPLE)], ["lab", "list"]], ids=" ".join)
def test_a_reader_that_has_enough_is_no_error(command: list[str]) -> None:
    reader, pipe = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*FCN, *command], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(pipe)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_with_few_characters_shows_the_others_by_number(tmp_path: Path) -> None:
    file = tmp_path / "pe1→pe2.yaml"
    file.write_text(EXAMPLE.read_text())
    done = subprocess.run(
        [*FCN, "check", "-c", str(file)],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"pe1\\u2192pe2.yaml: 4 nodes" in done.stdout


def test_a_terminal_that_says_it_has_no_width_is_printed_to() -> None:
    done = subprocess.run(
        [*FCN, "check", "-c", str(EXAMPLE)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "0"},
    )
    assert f"{EXAMPLE}: 4 nodes" in done.stdout


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("fcn.controller.cli.main", ("typer", "--help")),
        ("fcn.controller.cli.main", ("grpc", "status")),
        ("fcn.contract.program", ("typer", "fcn.lab", "--help")),
        ("fcn.contract.program", ("google.protobuf", "fcn.softswitch.tracer", "--help")),
    ],
)
def test_ctrl_c_while_modules_are_imported(program: str, arguments: tuple[str, ...]) -> None:
    code = INTERRUPTED.format(program=program)
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, "")


def test_a_program_is_given_its_arguments() -> None:
    done = subprocess.run(
        [*FCN, "lab", "run", "nowhere"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "300"},
    )
    assert done.returncode == 3
    assert done.stderr.startswith("error: no scenario nowhere")


def test_a_program_that_ends_does_not_look_for_unused_objects() -> None:
    """As many as are in a scenario's result take half a second."""
    code = """
import gc
from fcn.contract.program import ended_in_order
class Unused:
    def __del__(self):
        print("found")
gc.disable()
with ended_in_order():
    unused = Unused()
    unused.itself = unused
    del unused
print("ends")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ends\n"
