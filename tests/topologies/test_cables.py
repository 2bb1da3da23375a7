"""Links that are cut drop everything, and stay up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fcn.topologies.cables import CableError, app, set_link
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import CONFIGURATION, FcnSettings, controller_yaml

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")


@needs_root
def test_cutting_and_mending() -> None:
    inside = [sys.executable, "-m", "isolated_cable"]
    done = subprocess.run(
        ["unshare", "--net", *inside],
        cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@needs_root
@pytest.mark.parametrize(
    ("text", "link", "reason"),
    [
        (
            controller_yaml(network("wan"), FcnSettings()),
            "pe1:pe2",
            "no link pe1:pe2; there are pe1:p1",
        ),
        (controller_yaml(network("wan"), FcnSettings()), "p1", "no link p1;"),
        (None, "r1:r3", "where does the network run? (--out)"),
        ("", "r1:r3", "is not that of a network that runs"),
        ("[1", "r1:r3", "is not that of a network that runs"),
        ("just text", "r1:r3", "is not that of a network that runs"),
        ("nodes: {}", "r1:r3", "is not that of a network that runs"),
    ],
)
def test_what_cannot_be_cut(tmp_path: Path, text: str | None, link: str, reason: str) -> None:
    if text is not None:
        (tmp_path / CONFIGURATION).write_text(text)
    done = CliRunner().invoke(app, ["cut", link, "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert reason in " ".join(done.stderr.split())


def test_an_interface_that_is_not_there() -> None:
    with pytest.raises(CableError, match="r1-eth2"):
        set_link(network("failover"), "r1", "r3", up=False)
