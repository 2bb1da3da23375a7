"""`make` refuses what would do nothing."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("goal", ["ptf", "ptf-profiles"])
def test_packet_tests_on_no_switch_are_refused(goal: str) -> None:
    for targets, code in (("", 2), (" ", 2), ("softswitch", 0)):
        command = ["make", "--dry-run", goal, f"PTF_TARGETS={targets}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert ("PTF_TARGETS names no switch" in done.stderr) == (code != 0)
