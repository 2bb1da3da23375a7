"""Links that are cut drop everything, and stay up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fcn.topologies.cables import CableError, set_link
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import CONFIGURATION, FcnSettings, controller_yaml

COMMAND = [sys.executable, "-m", "fcn.topologies.cables"]


def test_cutting_and_mending() -> None:
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    inside = [sys.executable, "-m", "isolated_cable"]
    done = subprocess.run(
        ["unshare", "--net", *inside],
        cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_such_link(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    text = controller_yaml(network("wan"), FcnSettings())
    (tmp_path / CONFIGURATION).write_text(text)
    for link, reason in (("pe1:pe2", "no link pe1:pe2; there are pe1:p1"), ("p1", "no link p1;")):
        command = [*COMMAND, "cut", link, "--out", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert reason in done.stderr


def test_no_network_runs(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    done = subprocess.run(
        [*COMMAND, "mend", "r1:r3", "--out", str(tmp_path / "nowhere")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "where does the network run? (--out)" in done.stderr.replace("\n", " ")


@pytest.mark.parametrize("text", ["", "[1", "just text", "nodes: {}"])
def test_a_file_that_is_none_of_a_network(tmp_path: Path, text: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    (tmp_path / CONFIGURATION).write_text(text)
    done = subprocess.run(
        [*COMMAND, "cut", "r1:r3", "--out", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "is not that of a network that runs" in done.stderr.replace("\n", " ")


def test_an_interface_that_is_not_there() -> None:
    with pytest.raises(CableError, match="r1-eth2"):
        set_link(network("failover"), "r1", "r3", up=False)
