"""The demo end to end on the embedded softswitch, short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_demo_on_softswitch(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    before = interfaces()
    done = subprocess.run(
        [
            sys.executable, "-m", "topologies.demo",
            "--target", "softswitch", "--seconds", "4", "--out", str(tmp_path),
        ],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout
    for name in ("index.html", "reaction.png", "overview.png"):
        assert (tmp_path / name).stat().st_size > 10_000
    assert interfaces() == before


def interfaces() -> set[str]:
    """Interfaces of the demo's switches that are visible outside of it."""
    shown = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True)
    names = {line.split()[0].split("@")[0] for line in shown.stdout.splitlines()}
    return {name for name in names if name.startswith(("pe1-", "pe2-", "p1-", "p2-"))}
