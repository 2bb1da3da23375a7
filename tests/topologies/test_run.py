"""`fcn topo run`: commands run in hosts, and it leaves nothing behind when it is killed."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import IO

import pytest
from process_tree import descendants, is_running

from fcn.hosts.processes import wait_until

PATIENCE_S = 60


def test_a_network_is_used_and_killed(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    command = [sys.executable, "-m", "fcn.topologies.run", "wan", "--target", "softswitch", "--cli"]
    with subprocess.Popen(
        [*command, "--out", tmp_path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as run:  # fmt: skip
        assert run.stdin is not None
        assert run.stdout is not None
        page = said(run.stdout, "browser").split()[-1]
        # The page is served outside of the network's namespaces.
        wait_until(lambda: b"fcn live" in fetched(page), PATIENCE_S, f"the live page at {page}")
        run.stdin.write("h1 ping -c 1 -W 5 10.2.1.10\nh1 echo controller at $FCN_API\n")
        run.stdin.flush()
        said(run.stdout, "1 received")
        said(run.stdout, f"controller at unix:{tmp_path}/api/")
        started = descendants(run.pid)
        assert len(started) > 8, "switches, hosts and controller"
        run.kill()
        wait_until(lambda: not any(map(is_running, started)), PATIENCE_S, "all processes gone")


def said(output: IO[str], words: str) -> str:
    """The next line with these words."""
    before = ""
    for line in output:
        if words in line:
            return line
        before += line
    raise AssertionError(f"never said {words}: {before}")


def fetched(address: str) -> bytes:
    """What is served there; nothing where nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return bytes(answer.read())
    except OSError:
        return b""
