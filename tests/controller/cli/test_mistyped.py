"""What an operator mistypes at `fcn` is answered with a reason and an exit code, no traceback."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.console import Console
from typer.testing import CliRunner

from fcn.contract.version import fcn_version
from fcn.controller.cli import shell
from fcn.controller.cli.capture import CaptureError, controller_process
from fcn.controller.cli.commands import app
from fcn.controller.config.load import EXAMPLE

PEM = ("--certificate", "/x", "--key", "/x", "--ca", "/x")
NOWHERE = "unix:/nonexistent/api"


def fcn(*arguments: str, code: int, says: str, api: str = NOWHERE) -> None:
    done = CliRunner().invoke(app, arguments, env={"FCN_API": api, "COLUMNS": "300"})
    assert says in " ".join(done.stderr.replace("│", " ").split())
    assert done.exit_code == code, done.stderr
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_the_version_is_that_of_the_package() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"fcn {fcn_version()}\n")


@pytest.mark.parametrize(
    "api",
    [
        *("", "nonsense", "127.0.0.1", "127.0.0.1:99999", ":9661", "localhost:abc", "http://x"),
        *("unix:", "unix:relative", "unix:/" + "a" * 200, "[/]", "[red]", "[127.0.0.1]:1"),
        *("unix:/\udcff", "h\udcff:1"),
    ],
)
def test_an_address_that_is_none(api: str) -> None:
    fcn("status", "--api", api, code=2, says="--api or FCN_API: ")
    if api:
        fcn("events", code=2, says="--api or FCN_API: ", api=api)


def test_addresses_where_nobody_is(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(tmp_path / "stale"))
    for api in (f"unix:{tmp_path}/stale", f"unix:{tmp_path}/none", "no-such-host.invalid:1"):
        fcn("status", code=4, says=f"no controller answers at {api}", api=api)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["run", "-c", str(EXAMPLE), "--log-level", "loud"], "'debug', 'info', 'warning', 'error'"),
        (["thresholds", "set", "p1", "--", "-1", "8"], "'-1' is not a port number, 0 to 511"),
        (["thresholds", "set", "1", "p1", "8"], "'p1' is not a port number, 0 to 511; write NODE"),
        (["thresholds", "set", "p1", "1", "8,,16"], "'' is not a queue depth; write 8"),
        (["thresholds", "set", "p1", "1", "none,8"], "or write none alone"),
        (["thresholds", "set", "p1", "1", "8;16"], "put commas between depths, as 8,16,24"),
        (["thresholds", "set", "p1", "1"], "Missing argument"),
        (["thresholds", "set", "p1", "512", "8"], "'512' is not a port number, 0 to 511"),
        (["thresholds", "set", "p1", "1", "8", "--queue", "32"], "less than or equal to 31"),
        (["thresholds", "set", "p1", "1", "9" * 400 + "kB"], "is not a queue depth"),
        (["flows", "add", "blue", "10.1.0.1", "10.2.0.1", "0x1000000", "2"], "is not a queue pair"),
        (["flows", "add", "blue", "10.1.0.1", "10.2.0.1", "2", "--", "-2"], "is not a queue pair"),
        (["flows", "add", "blue", "fe80::1%lo", "fe80::2", "2", "2"], "names a zone"),
        (["flows", "list", "--address", "xyz"], "'xyz'"),
        (["flows", "show", "0x100000"], "0x100000 is not a label; those are 0 to 0xfffff"),
        (["report-path", "0x100000000", "well"], "is not the ID of a path; those are 0 to"),
        (["report-path", "to-pe2", "well"], "'to-pe2' is not a number"),
        (["check", "-c", "a", "--config", "b"], "--config is given 2 times, and takes one value"),
        (["--tls", "a", "--tls", "b", "status"], "--tls is given 2 times, and takes one value"),
        (["run", "-c", str(EXAMPLE), "--as", "a", "--as", "b"], "--as is given 2 times"),
        (["host-agent", "nonsense", *PEM], "not host:port"),
        (["host-agent", "x:1", *PEM, "--interval", "0s"], "too short"),
        (["host-agent", "x:1", *PEM, "--log-level", "loud"], "'debug', 'info'"),
    ],
)
def test_arguments_out_of_range(arguments: list[str], reason: str) -> None:
    fcn(*arguments, code=2, says=reason)


def test_a_missing_mininet_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    fcn("topo", "run", "wan", code=1, says="apt-get install mininet")


def test_an_address_for_metrics_that_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        text = EXAMPLE.read_text().replace("127.0.0.1:9662", taken)
        file.write_text(text.replace("unix:/run/fcn/api", f"unix:{tmp_path}/api"))
        # In a process of its own, because it has an event loop and logs of its own.
        done = subprocess.run(
            [sys.executable, "-m", "fcn.controller.cli.main", "run", "-c", str(file)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 1
    assert f"cannot serve metrics on {taken}: Address already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_message_cannot_hold() -> None:
    fcn("counters", "\udcff", code=1, says="this cannot be asked")


def test_names_are_shown_as_they_are_typed(tmp_path: Path) -> None:
    """Square brackets are markup to the library that prints."""
    file = tmp_path / "[red]net[" / "work.yaml"
    fcn("check", "-c", str(file), code=3, says=f"cannot read {file}: No such file")
    file.parent.mkdir()
    file.write_text("")
    fcn("check", "-c", str(file), code=3, says=f"1 problem(s) in {file}")
    file.write_text(EXAMPLE.read_text())
    assert f"{file}: 4 nodes, " in CliRunner().invoke(app, ["check", "-c", str(file)]).output
    fcn("check", "-c", f"{tmp_path}/\x1b[2J", code=3, says=f"cannot read {tmp_path}/\\u001b[2J: ")
    fcn("check", "-c", f"{tmp_path}/[/]", code=3, says=f"cannot read {tmp_path}/[/]: ")


def test_acontroller_process_that_has_just_ended_is_named() -> None:
    with pytest.raises(CaptureError, match="the controller at unix:/nonexistent/api is gone"):
        controller_process(NOWHERE)


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(shell.ShellError, match="set XDG_CACHE_HOME"):
        shell.ready_environment(Console())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_socket_of_somebody_else_is_no_missingcontroller_process() -> None:
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        Path(folder).chmod(0o755)
        path = Path(folder) / "api"
        listening.bind(str(path))
        listening.listen()
        path.chmod(0o600)
        # Imported before the user changes: a checkout may be closed to others.
        code = "import fcn.controller.cli.commands as fcn, os; os.setuid(65534); fcn.app()"
        done = subprocess.run(
            [sys.executable, "-c", code, "status", "--api", f"unix:{path}"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert f"permission denied at unix:{path}" in done.stderr
    assert done.returncode == 4


def test_which_controller_it_is(tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    alone, two = tmp_path / "alone.yaml", tmp_path / "two.yaml"
    alone.write_text(text)
    lines = [line for line in text.splitlines() if not line.startswith("api:")]
    two.write_text("\n".join(["controllers: {east: unix:/run/e, west: unix:/run/w}", *lines]))
    fcn("run", "-c", str(two), code=1, says="say which controller this is: --as east or --as west")
    fcn("run", "-c", str(two), "--as", "north", code=1, says="no 'north'; it has: east, west")
    fcn("run", "-c", str(alone), "--as", "east", code=1, says="no 'east'; it has: none")
