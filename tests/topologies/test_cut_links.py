"""`fcn topo run failover`, its links cut and mended by commands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.hosts.processes import wait_until

PATIENCE_S = 180.0


def first_path(api: str) -> str:
    """State of the first path of pe1; nothing while nobody knows it."""
    try:
        with FcnClient(api) as client:
            policies = client.paths("pe1")
    except ControllerError:
        return ""
    return policies[0].paths[0].state if policies else ""


def test_a_path_fails_and_is_well_again(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    run = [sys.executable, "-m", "fcn.topologies.run", "failover", "--target", "softswitch"]
    cables = [sys.executable, "-m", "fcn.topologies.cables"]
    out = ["--out", str(tmp_path)]
    api = f"unix:{tmp_path}/api/fcn.sock"
    with subprocess.Popen([*run, *out], stdout=subprocess.PIPE, text=True) as network:
        assert network.stdout is not None
        try:
            said = ""
            while "ends it" not in said:
                line = network.stdout.readline()
                assert line, f"never started: {said}"
                said += line
            assert f"topo cut r1:r3 --out {tmp_path}" in said
            wait_until(lambda: first_path(api) == "up", PATIENCE_S, "the path is up")
            subprocess.run([*cables, "cut", "r1:r3", *out], check=True)
            wait_until(lambda: first_path(api) == "failed", PATIENCE_S, "the path has failed")
            subprocess.run([*cables, "mend", "r3:r1", *out], check=True)
            wait_until(lambda: first_path(api) == "up", PATIENCE_S, "the path is up again")
        finally:
            network.terminate()
            network.wait()
