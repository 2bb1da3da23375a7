"""Runs a system test's program in its sandbox and hands over its report."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fcn.ptf_tests.replay.loop import UNAVAILABLE

RUN_TIMEOUT = 900
Runner = Callable[..., dict[str, Any]]


@pytest.fixture
def run_system(tmp_path: Path) -> Runner:
    """run_system(module, target, *arguments): the report of `python -m module`, skips explained."""

    def run(module: str, target: str, *arguments: str) -> dict[str, Any]:
        if os.geteuid() != 0:
            pytest.skip("needs root: the network is made of namespaces and raw sockets")
        if target == "bmv2" and shutil.which("simple_switch_grpc") is None:
            pytest.skip("simple_switch_grpc is not on PATH")
        report = tmp_path / "report.json"
        command = [sys.executable, "-m", module, "--target", target, *arguments]
        command += ["--report", str(report), "--log-dir", str(tmp_path)]
        # Programs of tests are beside them.
        beside = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=RUN_TIMEOUT, check=False, env=beside
        )
        if result.returncode == UNAVAILABLE:
            pytest.skip(result.stderr.strip())
        assert report.is_file(), f"{module} ended early:\n{result.stdout}{result.stderr}"
        content: dict[str, Any] = json.loads(report.read_text())
        return content

    return run
