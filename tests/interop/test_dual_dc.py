"""The dual data-centre topology with few hosts: it starts, every flow of the sample is notified."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TIMEOUT_S = 900
HOSTS = 16
"""One on every leaf of each data centre."""


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_a_sample_of_all_pairs_is_learned_and_notified(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fcn.topologies.run", "dual-dc", "--target", "softswitch",
         "--hosts", str(HOSTS), "--sample", str(HOSTS), "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{2 * HOSTS} of {2 * HOSTS} directions mapped and 0 others" in " ".join(
        done.stdout.split()
    )
