"""Programs in namespaces of their own, when the process one started is told to end."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from process_tree import descendants, ended, interfaces

from fcn.hosts.processes import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")

PATIENCE_S = 180.0
ENDING = [signal.SIGTERM, signal.SIGHUP]


@contextmanager
def program(
    *command: str | Path, ignored: signal.Signals | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A program of this Python in a process group of its own, which ignores a signal as after
    nohup; killed in the end."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    # What the caller of the tests ignores, as after nohup, is ignored here by nobody. Not by
    # preexec_fn: with it the child runs gRPC's handlers of fork, which can end it.
    signals = ["env", "--default-signal=INT,HUP,TERM"]
    if ignored is not None:
        signals.append(f"--ignore-signal={ignored.name.removeprefix('SIG')}")
    with subprocess.Popen(
        [*signals, sys.executable, "-m", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_status_is_that_of_the_program_inside() -> None:
    with program("isolated", "7") as process:
        line = first_line(process)
        assert re.fullmatch(r"inside net:\[\d+\]\n", line)
        assert os.readlink("/proc/self/ns/net") not in line
        assert process.wait(PATIENCE_S) == 7


@pytest.mark.parametrize("number", ENDING)
def test_work_is_interrupted_and_cleans_up(number: signal.Signals) -> None:
    with program("isolated", "work") as process:
        assert "inside" in first_line(process)
        started = descendants(process.pid)
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 128 + number
        assert first_line(process) == "cleaned up\n"
        assert ended(started)


@pytest.mark.parametrize("tell", [os.kill, os.killpg])
@pytest.mark.parametrize("number", ENDING)
def test_a_service_ends_in_order(
    number: signal.Signals, tell: Callable[[int, signal.Signals], None]
) -> None:
    """Also when all of its group are told, as when a terminal hangs up."""
    with program("isolated", "serve") as process:
        assert "inside" in first_line(process)
        assert first_line(process) == "waiting\n"
        tell(process.pid, number)
        assert process.wait(PATIENCE_S) == 0
        assert first_line(process) == "ended in order\n"


def test_a_signal_that_the_caller_ignores_ends_nothing() -> None:
    with program("isolated", "work", ignored=signal.SIGHUP) as process:
        assert "inside" in first_line(process)
        os.killpg(process.pid, signal.SIGHUP)
        assert process.stdin is not None
        process.stdin.write("still here\n")
        process.stdin.flush()
        assert first_line(process) == "still here\n"
        process.terminate()
        assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM
        assert first_line(process) == "cleaned up\n"


def test_a_signal_before_the_program_can_hear_it_is_not_lost() -> None:
    with program("isolated", "work") as process:
        wait_until(lambda: bool(descendants(process.pid)), PATIENCE_S, "unshare")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM


def test_nothing_is_left_when_the_process_is_killed() -> None:
    with program("isolated", "work") as process:
        assert "inside" in first_line(process)
        started = descendants(process.pid)
        assert len(started) == 2
        process.kill()
        wait_until(partial(ended, started), PATIENCE_S, "all processes gone")


@contextmanager
def wan(out: Path) -> Iterator[tuple["subprocess.Popen[str]", list[list[str]]]]:
    """`fcn topo run wan` as a user starts it, and the commands it tells to try."""
    command = ("fcn.controller.cli.main", "topo", "run", "wan", "--target", "softswitch")
    with program(*command, "--out", out) as process:
        assert process.stdout is not None
        commands = []
        for line in process.stdout:
            if line.startswith("  "):
                commands.append(shlex.split(line))
            if "ends it" in line:
                break
        assert process.poll() is None, "never started"
        yield process, commands


def nodes_up(command: list[str]) -> int:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return len(re.findall(r"\bup\b", done.stdout))


@pytest.mark.exhaustive
def test_topologies_are_reached_from_outside_and_end_with_all_in_them(tmp_path: Path) -> None:
    """Two at once. The second's directory is so deep that a socket below it would have too long a
    path."""
    before = interfaces()
    near, deep = tmp_path / "a", tmp_path / ("d" * 100)
    with wan(near) as (first, here), wan(deep) as (second, there):
        started = {process: descendants(process.pid) for process in (first, second)}
        assert len(started[first]) > 8, "switches, hosts and controller"
        assert [command[1] for command in here] == ["status", "counters", "events", "topo"]
        assert subprocess.run(here[1], capture_output=True, check=False).returncode == 0
        assert (near / "api").stat().st_mode & 0o777 == 0o700
        assert here[0] != there[0]
        assert nodes_up(here[0]) == nodes_up(there[0]) == 4
        with program("fcn.topologies.run", "wan", "--out", deep) as third:
            output, _ = third.communicate(timeout=PATIENCE_S)
            assert third.returncode == 1
            assert "choose another directory with --out" in " ".join(output.split())
        socket = Path(there[0][-1].removeprefix("unix:"))
        assert socket.is_socket()
        for process, number in ((second, signal.SIGTERM), (first, signal.SIGHUP)):
            assert nodes_up(here[0]) == 4, "the end of the other changes nothing"
            process.send_signal(number)
            assert process.wait(PATIENCE_S) == 0
            wait_until(partial(ended, started[process]), PATIENCE_S, "all processes gone")
        assert not socket.parent.exists()
    assert not (near / "api").exists()
    assert interfaces() == before
