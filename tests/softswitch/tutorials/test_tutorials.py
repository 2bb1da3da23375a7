"""fcn-softswitch in place of simple_switch_grpc in the exercises of p4lang/tutorials.

FCN_TUTORIALS names a checkout; python3, p4c-bm2-ss, make and ptf are those on PATH. Exercises run
as the README files say, with their solutions, in namespaces of their own.
"""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tutorial_exercises import EXERCISES, Exercise

TUTORIALS = os.environ.get("FCN_TUTORIALS")
SECONDS = 240
_MODULES = "mininet, psutil, scapy, grpc, p4.v1.p4runtime_pb2, p4.tmp.p4config_pb2"
_SOFTSWITCH = Path(sys.executable).parent / "fcn-softswitch"
_SUDO = """#!/bin/sh
while :; do case "$1" in *=*) export "$1"; shift;; *) break;; esac; done
exec "$@"
"""


def _missing() -> str | None:
    """Why the exercises cannot run, None when they can."""
    if TUTORIALS is None:
        return "FCN_TUTORIALS does not name a checkout of p4lang/tutorials"
    if os.geteuid() != 0:
        return "Mininet needs root"
    for program in ("python3", "p4c-bm2-ss", "p4c", "make", "ptf", "iperf", "unshare"):
        if shutil.which(program) is None:
            return f"{program} is not on PATH"
    probe = ["python3", "-c", f"import {_MODULES}"]
    tried = subprocess.run(probe, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"python3 on PATH: {tried.stderr.strip().splitlines()[-1]}"
    return None


REASON = _missing()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.fixture
def path(tmp_path: Path) -> str:
    """PATH with a link to fcn-softswitch named as BMv2, and a sudo that does nothing for root."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "simple_switch_grpc").symlink_to(_SOFTSWITCH)
    (folder / "sudo").write_text(_SUDO)
    (folder / "sudo").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy, in which scripts may be executed."""
    assert TUTORIALS is not None
    copy = tmp_path / "tutorials"
    for name in ("exercises", "utils", "bin"):
        shutil.copytree(Path(TUTORIALS) / name, copy / name)
    for script in (*copy.rglob("*.py"), *copy.rglob("*.sh")):
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return copy


def _run(folder: Path, path: str, *command: str, typed: str = "") -> str:
    """Output of a command in namespaces of its own, whose processes end with it."""
    shell = f"ip link set lo up && exec {' '.join(command)}"
    own = ["unshare", "-n", "-m", "-p", "--fork", "--mount-proc", "--kill-child"]
    done = subprocess.run(
        [*own, "sh", "-c", shell],
        cwd=folder, env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1"}, input=typed,
        timeout=SECONDS, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_solution(checkout: Path, path: str, exercise: Exercise) -> None:
    folder = checkout / "exercises" / exercise.name
    for solution in (folder / "solution").iterdir():
        place = next(folder.glob(f"*topo/{solution.name}"), folder / solution.name)
        shutil.copy(solution, place)
    printed = _run(folder, path, "make", "run", typed=exercise.commands + "exit\n")
    logs = {"mininet": printed} | {log.stem: log.read_text() for log in folder.glob("*.log")}
    switches = {log.name: log.read_text()[-2000:] for log in folder.glob("logs/s*.log")}
    assert exercise.right(logs), (logs, switches)


@pytest.mark.parametrize("name", ["basic", "basic_tunnel"])
def test_packet_tests(checkout: Path, path: str, name: str) -> None:
    """The exercise's own PTF tests, against its solution."""
    printed = _run(checkout / "exercises" / name, path, "make", "test")
    assert "\nOK\n" in printed, printed
    assert "\nRan 0 tests" not in printed
