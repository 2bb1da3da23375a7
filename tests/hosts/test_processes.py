"""Processes of a network: readiness, failure and end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fcn.hosts.processes import Process, ProcessError, wait_until

SLEEPER = [sys.executable, "-c", "import signal; print('up', flush=True); signal.pause()"]


def test_ready_and_stopped(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "sleeper.log"
    with Process("sleeper", SLEEPER, log) as process:
        process.wait_ready(lambda: "up" in log.read_text(), 20)
        assert process.running
    assert not process.running
    assert process.stop() == -signal.SIGTERM


def test_death_before_ready_tells_the_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such thing')"]
    process = Process("failing", command, tmp_path / "log")
    with pytest.raises(ProcessError, match=r"failing ended with status 1:\nno such thing$"):
        process.wait_ready(lambda: False, 20)


def test_never_ready(tmp_path: Path) -> None:
    with (
        Process("sleeper", SLEEPER, tmp_path / "log") as process,
        pytest.raises(ProcessError, match="sleeper is not ready: not within"),
    ):
        process.wait_ready(lambda: False, 0.1)


def test_a_process_that_ignores_being_asked_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcn.hosts.processes.STOP_TIMEOUT_S", 0.2)
    code = "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True);"
    log = tmp_path / "log"
    process = Process("deaf", [sys.executable, "-c", code + "signal.pause()"], log)
    process.wait_ready(lambda: "up" in log.read_text(), 20)
    assert process.stop() == -signal.SIGKILL


def test_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="no-such-program is not installed"):
        Process("missing", ["no-such-program"], tmp_path / "log")


def test_wait_until_names_what_did_not_happen() -> None:
    with pytest.raises(ProcessError, match="the sky: not within"):
        wait_until(lambda: False, 0.05, "the sky")


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
def test_a_probe_that_meets_itself_found_nobody() -> None:
    """TCP connects a socket to itself where its own port happens to be the one it connects to."""
    code = (
        "from fcn.hosts.processes import is_listening\n"
        "print(any(is_listening('127.0.0.1', 40000) for _ in range(100)))"
    )
    prepare = "ip link set lo up && sysctl -qw net.ipv4.ip_local_port_range='40000 40001'"
    done = subprocess.run(
        [
            "unshare",
            "--net",
            "sh",
            "-c",
            f'{prepare} && exec "$@"',
            "sh",
            sys.executable,
            "-c",
            code,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
