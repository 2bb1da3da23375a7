"""Signals that end `fcn run`, and one that may not."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from fcn import controller
from fcn.hosts.processes import Process

EXAMPLE = Path(controller.__file__).parent / "examples" / "network.yaml"
PATIENCE_S = 120.0
BY_HANGUP = "stopped by SIGHUP; a changed file is read at the next start"


@contextmanager
def switchless(folder: Path, *prefix: str) -> Iterator[Process]:
    """`fcn run`, started; its switches are away."""
    data = yaml.safe_load(EXAMPLE.read_text())
    data["api"] = f"unix:{folder}/api"
    del data["metrics"]
    file = folder / "network.yaml"
    file.write_text(yaml.safe_dump(data))
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_controller_is_named(tmp_path: Path, number: signal.Signals) -> None:
    with controller_of_its_own(tmp_path) as process:
        process.send(number)
        assert process.wait(PATIENCE_S) == 0
        (reason,) = reasons(process)
    assert reason.endswith(BY_HANGUP if number is signal.SIGHUP else f"stopped by {number.name}")


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
