"""Processes of a network: start with a log file, wait for readiness, stop reliably."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

POLL_S = 0.02
STOP_TIMEOUT_S = 10.0


class ProcessError(RuntimeError):
    """A process ended or did not become ready; the message ends with its last output."""


def run(command: Sequence[str], *, stdin: str = "", error: type[Exception] = ProcessError) -> str:
    """What a program prints until its end; raises `error` when it is not installed or fails."""
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise error(f"{command[0]} is not on PATH; install it") from None
    if done.returncode != 0:
        raise error(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def holds_within(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Return as soon as `condition` holds; False when it does not within `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def wait_until(condition: Callable[[], bool], timeout_s: float, what: str) -> None:
    """Return when `condition` holds; raises ProcessError naming `what` after `timeout_s`."""
    if not holds_within(condition, timeout_s):
        raise ProcessError(f"{what}: not within {timeout_s:g} s")


def is_listening(host: str, port: int) -> bool:
    """Whether a TCP connection to host:port is accepted."""
    with socket.socket() as probe:
        if probe.connect_ex((host, port)) != 0:
            return False
        # A port of the ephemeral range may be the probe's own: TCP then connects it to itself.
        return bool(probe.getsockname() != probe.getpeername())


class Process:
    """One program with its output in `log`."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        prefix: Sequence[str] = (),
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start it; `prefix` (such as mnexec and its options) must exec the command. pass_fds:
        descriptors that it has, too."""
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with log.open("wb") as output:
                self._process = subprocess.Popen(
                    [*prefix, *map(str, command)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    # Ctrl-C is for the program that stops the network in order.
                    start_new_session=True,
                    pass_fds=pass_fds,
                )
        except FileNotFoundError as error:
            raise ProcessError(f"{name}: {error.filename} is not installed") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def prioritise(self) -> None:
        """Give all its present threads real-time priority (SCHED_RR), where that is permitted.

        For processes that forward packets, so that other load does not distort measurements.
        """
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(PermissionError, ProcessLookupError):
                os.sched_setscheduler(int(thread.name), os.SCHED_RR, os.sched_param(1))

    def last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-12:])

    def check_status(self, status: int) -> None:
        """Raise ProcessError where it has ended with this status, and it is not 0."""
        if status != 0:
            raise ProcessError(f"{self.name} ended with {status}: {self.last_words()}")

    def check(self) -> None:
        """Raise ProcessError when it has ended."""
        if not self.running:
            raise ProcessError(
                f"{self.name} ended with status {self._process.returncode}:\n{self.last_words()}"
            )

    def wait_ready(self, condition: Callable[[], bool], timeout_s: float) -> None:
        """Wait for `condition`; raises ProcessError when the process ends before or time is up."""

        def ready() -> bool:
            return not self.running or condition()

        try:
            wait_until(ready, timeout_s, f"{self.name} is not ready")
        except ProcessError as error:
            raise ProcessError(f"{error}\n{self.last_words()}") from None
        self.check()

    def wait(self, timeout_s: float) -> int:
        """Wait for its end; returns the exit status, raises ProcessError after `timeout_s`."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise ProcessError(f"{self.name} did not end within {timeout_s:g} s") from None

    def send(self, number: signal.Signals) -> None:
        if self.running:
            self._process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, kill it if it does not, and return the exit status."""
        self.send(number)
        try:
            return self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()
