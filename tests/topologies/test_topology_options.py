"""What is mistyped at `fcn topo run` and the demo, and Ctrl-C before a topology can hear it."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from process_tree import descendants, ended
from typer.testing import CliRunner

from fcn.hosts.processes import ProcessError, wait_until
from fcn.topologies.catalog import CATALOG
from fcn.topologies.controller_config import FcnSettings
from fcn.topologies.description import EXAMPLE, parse_topology
from fcn.topologies.network import Network
from fcn.topologies.run import main

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")

PATIENCE_S = 180.0
RUN = ("fcn.controller.cli.main", "topo", "run")


def refused(*command: str | Path) -> tuple[int, str]:
    """Exit status of a program of this Python and all that it says."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert "Traceback" not in done.stdout
    return done.returncode, " ".join(done.stdout.replace("│", " ").split())


def misused(*options: str) -> tuple[int, str]:
    """The same of `fcn topo run` in this process: found before it leaves the namespace."""
    app = typer.Typer()
    app.command()(main)
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, options)
    return done.exit_code, " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("wan", "--hosts", "3"), "--hosts and --sample are of data centres; wan has none"),
        (("dual-dc", "--sample", "-1"), "greater than or equal to 1"),
        (("dual-dc", "--hosts", "9999"), "less than or equal to 3200"),
    ],
)
def test_wrong_options(options: tuple[str, ...], reason: str) -> None:
    status, said = misused(*options)
    assert status == 2
    assert reason in said


def test_a_network_that_is_not_there() -> None:
    """Square brackets are markup to the library that prints."""
    status, said = misused("[/]")
    assert status == 1
    assert "failed: no network [/]: " in said
    assert f"there are {', '.join(CATALOG)}, or name" in said


def test_what_the_controller_would_refuse(tmp_path: Path) -> None:
    """Each rate and interval is possible; together they are not."""
    text = CATALOG["failover"].read_text().replace("km}", "km, rate: 400 Gb/s}")
    file = tmp_path / "fast.yaml"
    file.write_text(f"{text}\nload_balancing: {{}}\n")
    options = ("--target", "softswitch", "--out", tmp_path / "out")
    status, said = refused(*RUN, file, *options)
    assert status == 1
    assert "failed: the controller refuses the configuration of fast; change its" in said
    assert ".rate: at this rate a link sends more in 100ms than switches count" in said


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "command",
    [
        (*RUN, "wan"),
        (*RUN, "dual-dc", "--hosts", "1"),
        ("fcn.topologies.demo",),
    ],
)
def test_a_directory_that_cannot_be_made(command: tuple[str, ...], tmp_path: Path) -> None:
    """Square brackets are markup to the library that prints."""
    file = tmp_path / "[red]file"
    file.touch()
    status, said = refused(*command, "--target", "softswitch", "--out", file)
    assert status == 1
    assert f"cannot write to {file}: File exists; choose another directory with --out" in said


def test_rates_in_bits_are_not_for_bmv2(tmp_path: Path) -> None:
    network = Network(
        parse_topology(EXAMPLE.read_text(), str(EXAMPLE)), "bmv2", FcnSettings(), tmp_path
    )
    with pytest.raises(ProcessError, match="pe2 cannot limit the bits per second towards h2"):
        network.__enter__()


@pytest.mark.parametrize(
    "missing",
    ["ip", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("mount", "sysctl"))],
)
def test_missing_programs_are_named(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = {"setpriv", "unshare", "ip", "mount", "sysctl"} - {missing}
    for name in needed:
        place = shutil.which(name)
        assert place is not None
        (tmp_path / name).symlink_to(place)
    monkeypatch.setenv("PATH", str(tmp_path))
    status, said = refused(*RUN, "wan", "--target", "softswitch", "--out", tmp_path / "out")
    assert status == 1
    assert missing in said
    assert "on PATH" in said


def test_ctrl_c_while_modules_are_loaded(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "fcn.topologies.run", "wan", "--out", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            # unshare, and the program it has just forked.
            wait_until(lambda: len(descendants(process.pid)) == 2, PATIENCE_S, "unshare")
            started = descendants(process.pid)
            os.killpg(process.pid, signal.SIGINT)
            output, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
        assert "Traceback" not in output
        assert process.returncode == 128 + signal.SIGINT
        assert ended(started)
