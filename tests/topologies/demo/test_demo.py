"""The demo end to end on the embedded softswitch, short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from process_tree import interfaces


def test_demo_on_softswitch(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    before = interfaces()
    done = subprocess.run(
        [
            sys.executable, "-m", "fcn.topologies.demo",
            "--target", "softswitch", "--seconds", "3", "--out", str(tmp_path),
        ],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout
    for name in ("index.html", "rate.png", "queue.png", "above-level-1.png", "overview-fcn.png"):
        assert (tmp_path / name).stat().st_size > 10_000
    assert "before each onset of congestion" in (tmp_path / "index.html").read_text()
    assert interfaces() == before
