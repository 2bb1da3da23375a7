"""`fcn topo run`: it leaves nothing behind, and commands run in hosts."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from process_tree import descendants, is_running

from fcn.hosts.processes import wait_until


def test_nothing_outlives_a_killed_network(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    command = [sys.executable, "-m", "fcn.topologies.run", "wan", "--target", "softswitch"]
    with subprocess.Popen([*command, "--out", tmp_path], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        said = ""
        while "browser" not in said:
            line = run.stdout.readline()
            assert line, f"never started: {said}"
            said += line
        page = said.split()[-1]
        # The page is served outside of the network's namespaces.
        wait_until(lambda: b"fcn live" in fetched(page), 60, f"the live page at {page}")
        started = descendants(run.pid)
        assert len(started) > 8, "switches, hosts and controller"
        run.kill()
        wait_until(lambda: not any(map(is_running, started)), 20, "all processes gone")


def fetched(address: str) -> bytes:
    """What is served there; nothing where nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return bytes(answer.read())
    except OSError:
        return b""


def test_commands_in_hosts(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    command = [sys.executable, "-m", "fcn.topologies.run", "wan", "--target", "softswitch", "--cli"]
    done = subprocess.run(
        [*command, "--out", tmp_path],
        input="h1 ping -c 1 -W 5 10.2.1.10\nh1 echo controller at $FCN_API\nexit\n",
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 received" in done.stdout + done.stderr
    assert f"controller at unix:{tmp_path}/api/" in done.stdout + done.stderr
