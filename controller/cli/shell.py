"""`fcn shell`: p4runtime-shell in a separate environment, because it pins old packages."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from fcn.controller.cli.common import say

if TYPE_CHECKING:
    from fcn.controller.proto import fcn_pb2 as pb

PACKAGES = ("p4runtime-shell==0.0.6", "setuptools<81")
"""p4runtime-shell 0.0.6 pins protobuf < 3.21 and ipython 7.31; the latter needs pkg_resources."""

VARIABLES = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
"""The generated code works with the pinned protobuf's Python implementation only."""

INSTALL_LIMIT = 600
"""Seconds allowed for the installation."""


class ShellError(Exception):
    """The shell cannot be opened; the message says why and what to do."""


def environment() -> Path:
    """Where the shell's virtual environment is kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "fcn" / "p4runtime-shell"


_NAMED = """
import sys
from functools import partial
import grpc
options = [("grpc.ssl_target_name_override", sys.argv.pop(1))]
grpc.secure_channel = partial(grpc.secure_channel, options=options)
from p4runtime_sh.shell import main
main()
"""
"""Runs p4runtime-shell, which has no option for the name in a switch's certificate, with one."""


def shell_arguments(switch: "pb.NodeStatus") -> list[str]:
    """What Python is to run, to read the switch as the controller reaches it. Raises ShellError."""
    arguments = ["-m", "p4runtime_sh"]
    tls = switch.tls
    if tls.name:
        arguments = ["-c", _NAMED, tls.name]
    # An election ID below the controller's, so that it can only read.
    arguments += ["--grpc-addr", switch.grpc, "--device-id", str(switch.device_id)]
    arguments += ["--election-id", "0,1"]
    if switch.HasField("tls"):
        arguments.append("--ssl")
        files = {"--cacert": tls.ca, "--cert": tls.certificate, "--private-key": tls.key}
        for option, file in files.items():
            if file and not os.access(file, os.R_OK):
                raise ShellError(
                    f"{file}, which the controller uses for {switch.name}, cannot be read here: "
                    "run this on the controller's machine, as a user who may read it"
                )
            arguments += [option, file] if file else []
    return arguments


def open_shell(switch: "pb.NodeStatus", console: Console) -> int:
    """Run the shell on a switch, which can only read; returns its exit code. Raises ShellError."""
    arguments = shell_arguments(switch)
    python = ready_environment(console)
    say(
        f"p4runtime-shell on {switch.grpc}: read with e.g. "
        "`table_entry['endpoint'].read(lambda entry: print(entry))`; only the controller can write",
        console,
    )
    command = [str(python), *arguments]
    return subprocess.run(command, env=os.environ | VARIABLES, check=False).returncode


def ready_environment(console: Console) -> Path:
    """The Python of the shell's environment, created on first use. Raises ShellError."""
    home = environment()
    python, complete = home / "bin" / "python", home / "complete"
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ShellError(
            f"cannot make {home.parent}: {error.strerror}; "
            "set XDG_CACHE_HOME to a folder that can be written to"
        ) from error
    with home.with_suffix(".lock").open("w") as lock:
        # A concurrent call waits until the environment is complete. It is created in place, because
        # a venv contains its own path and cannot be moved.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            _make(home, python, console)
            complete.touch()
    return python


def _make(home: Path, python: Path, console: Console) -> None:
    shutil.rmtree(home, ignore_errors=True)
    steps = {
        f"making an environment in {home}": [sys.executable, "-m", "venv", str(home)],
        "installing p4runtime-shell (once)": [
            str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            *PACKAGES,
        ],
    }  # fmt: skip
    for what, command in steps.items():
        with console.status(what):
            _run(what, command)
        console.print(f"{what}: done", highlight=False)


def _run(what: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ShellError(f"{what} failed: {error}") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise ShellError(
            f"{what} failed: {reason}; the shell needs the network once, to install its packages"
        )
