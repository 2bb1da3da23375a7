"""Signals that end `fcn run`, and one that has it read its file again."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import yaml

from fcn import controller
from fcn.hosts.processes import Process

EXAMPLE = Path(controller.__file__).parent / "examples" / "network.yaml"
PATIENCE_S = 120.0


def configuration(folder: Path) -> str:
    data = yaml.safe_load(EXAMPLE.read_text())
    data["api"] = f"unix:{folder}/api"
    del data["metrics"]
    return yaml.safe_dump(data)


@contextmanager
def switchless(folder: Path, *prefix: str, read_slowly: bool = False) -> Iterator[Process]:
    """`fcn run`, started; its switches are away. read_slowly: its file is a pipe."""
    file = folder / "network.yaml"
    if read_slowly:
        os.mkfifo(file)
    else:
        file.write_text(configuration(folder))
    command: list[str | Path] = [sys.executable, "-m", "fcn.controller.cli.main", "run", "-c", file]
    with Process("fcn run", command, folder / "log", prefix) as process:
        yield process


@contextmanager
def controller_of_its_own(folder: Path, *prefix: str) -> Iterator[Process]:
    """The same once it listens."""
    with switchless(folder, *prefix) as process:
        process.wait_ready(lambda: "API on" in process.log.read_text(), PATIENCE_S)
        yield process


def reasons(process: Process) -> list[str]:
    return [line for line in process.log.read_text().splitlines() if "stopped by" in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_ends_the_controller_is_named(tmp_path: Path, number: signal.Signals) -> None:
    with controller_of_its_own(tmp_path) as process:
        process.send(number)
        assert process.wait(PATIENCE_S) == 0
        (reason,) = reasons(process)
    assert reason.endswith(f"stopped by {number.name}")


def test_its_file_is_read_again(tmp_path: Path) -> None:
    """And refused as a whole where anything is wrong, by its line."""
    file = tmp_path / "network.yaml"
    # Whoever runs the tests may ignore SIGHUP, and a process inherits that.
    with controller_of_its_own(tmp_path, "env", "--default-signal=HUP") as process:

        def said(what: str) -> None:
            process.send(signal.SIGHUP)
            process.wait_ready(lambda: what in process.log.read_text(), PATIENCE_S)

        said(f"{file} is in force: nothing changes")
        right = file.read_text()
        file.write_text(right.replace("prefix: 10.2.0.0/24", "prefix: 10.22.0.0/24"))
        said(f"{file} is in force: pe1 +1 -1 ~0 (connecting)")
        file.write_text(right.replace("device_id: 1", "device_id: 7") + "nonsense: 1\n")
        said(f"{file} is refused; the configuration before stays in force")
        line = len(right.splitlines()) + 1
        assert f"ERROR fcn: {file}:{line}: nonsense: unknown key" in process.log.read_text()
        file.write_text(right.replace("device_id: 1", "device_id: 7"))
        said("device_id: it is 1 now, and its session would end; restart the controller")
        file.unlink()
        said(f"{file} is not in force: [Errno 2] No such file or directory")
        os.mkfifo(file)
        said(f"{file} is not in force: [Errno 22] no regular file, which could be read again")
        process.send(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


def test_its_file_is_read_again_at_once_when_that_is_asked_for_at_its_start(tmp_path: Path) -> None:
    """As by `systemctl reload` just after a start: SIGHUP ends who does not listen to it."""
    with switchless(tmp_path, "env", "--default-signal=HUP", read_slowly=True) as process:
        pipes = list[int]()

        def is_read() -> bool:
            with suppress(OSError):
                pipes.append(os.open(tmp_path / "network.yaml", os.O_WRONLY | os.O_NONBLOCK))
            return bool(pipes)

        process.wait_ready(is_read, PATIENCE_S)
        process.send(signal.SIGHUP)
        with open(pipes[0], "w") as pipe:
            pipe.write(configuration(tmp_path))
        again = "network.yaml is not in force: [Errno 22] no regular file"
        process.wait_ready(lambda: again in process.log.read_text(), PATIENCE_S)
        process.send(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


SLOWLY = """
import importlib, os, sys
open(os.environ["GATE"]).close()
sys.path.remove(os.path.dirname(os.path.dirname(__file__)))
del sys.modules["typer"]
importlib.import_module("typer")
"""
"""A module in the place of Typer, which is that once somebody opens the gate."""


def test_what_is_asked_for_while_it_is_imported_is_done_then(tmp_path: Path) -> None:
    gate, place = tmp_path / "gate", tmp_path / "slow"
    os.mkfifo(gate)
    (place / "typer").mkdir(parents=True)
    (place / "typer" / "__init__.py").write_text(SLOWLY)
    paths = os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])
    prefix = ("env", "--default-signal=HUP", f"PYTHONPATH={paths}", f"GATE={gate}")
    with switchless(tmp_path, *prefix) as process:
        opened = list[int]()

        def is_imported() -> bool:
            with suppress(OSError):
                opened.append(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
            return bool(opened)

        process.wait_ready(is_imported, PATIENCE_S)
        process.send(signal.SIGHUP)
        os.close(opened[0])
        again = f"{tmp_path / 'network.yaml'} is in force: nothing changes"
        process.wait_ready(lambda: again in process.log.read_text(), PATIENCE_S)
        process.send(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


def test_the_controller_outlives_its_terminal_after_nohup(tmp_path: Path) -> None:
    with controller_of_its_own(tmp_path, "nohup") as process:
        process.send(signal.SIGHUP)
        process.send(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        (reason,) = reasons(process)
    assert reason.endswith("stopped by SIGTERM")


def test_a_full_disk_ends_no_controller(tmp_path: Path) -> None:
    """Where its output goes to, as its log."""
    shell = ("/bin/sh", "-c", 'exec "$@" >/dev/full', "sh")
    with switchless(tmp_path, *shell) as process:
        process.wait_ready(lambda: "no session with" in process.log.read_text(), PATIENCE_S)
        process.send(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        (reason,) = reasons(process)
    assert reason.endswith("stopped by SIGTERM")
