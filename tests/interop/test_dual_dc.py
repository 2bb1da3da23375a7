"""The dual data-centre topology with few hosts: it starts, every flow of the sample is notified."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TIMEOUT_S = 900


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
@pytest.mark.parametrize(
    "hosts",
    [2, pytest.param(16, marks=pytest.mark.exhaustive, id="one-on-every-leaf")],
)
def test_a_sample_of_all_pairs_is_learned_and_notified(tmp_path: Path, hosts: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fcn.topologies.run", "dual-dc", "--target", "softswitch",
         "--hosts", str(hosts), "--sample", str(hosts), "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{2 * hosts} of {2 * hosts} directions mapped and 0 others" in " ".join(
        done.stdout.split()
    )
