"""Commands for a guest and their results, over the Unix socket of its virtio-serial port.

Line protocol of init.sh. Several scripts may run in the guest at the same time.
"""

import base64
import json
import select
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONNECT_POLL_S = 0.05
REPLY_TIMEOUT_S = 10.0
# Under TCG on a loaded machine even a trivial command can take seconds.
COMMAND_TIMEOUT_S = 45.0
NO_OUTPUT = "-"


class GuestError(RuntimeError):
    """A guest did not boot, ended, or failed a command; the message says which."""


@dataclass(frozen=True, slots=True)
class Result:
    """Output of a script (both streams) and its exit status."""

    status: int
    output: str


class Channel:
    """One guest's command channel. Not for use from several threads."""

    def __init__(self, name: str, path: Path, timeout_s: float) -> None:
        """Connect and wait until the guest says it is ready; GuestError after `timeout_s`."""
        self._name = name
        self._received = b""
        self._results: dict[int, Result] = {}
        self._last = 0
        deadline = time.monotonic() + timeout_s
        self._socket = self._connect(path, deadline)
        if self._read_line(deadline) != "ready":
            raise GuestError(f"{name}: its first word was not that it is ready")

    def _connect(self, path: Path, deadline: float) -> socket.socket:
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(path))
                return connection
            except OSError as error:
                connection.close()
                if time.monotonic() > deadline:
                    raise GuestError(f"{self._name}: no command channel: {error}") from error
                time.sleep(CONNECT_POLL_S)

    def start(self, script: str) -> int:
        """Start a shell script in the guest; returns the number to `wait` for."""
        self._last += 1
        encoded = base64.b64encode(script.encode()).decode()
        try:
            self._socket.sendall(f"{self._last} {encoded}\n".encode())
        except OSError as error:
            raise GuestError(f"{self._name} is gone: {error}") from error
        return self._last

    def done(self, number: int) -> bool:
        """Whether a started script has ended; does not wait."""
        while number not in self._results and (b"\n" in self._received or self._readable()):
            self._take_reply(time.monotonic() + REPLY_TIMEOUT_S)
        return number in self._results

    def wait(self, number: int, timeout_s: float = COMMAND_TIMEOUT_S) -> Result:
        """Result of a started script; GuestError after `timeout_s` or when the guest ends."""
        deadline = time.monotonic() + timeout_s
        while number not in self._results:
            self._take_reply(deadline)
        return self._results.pop(number)

    def run(self, script: str, timeout_s: float = COMMAND_TIMEOUT_S) -> str:
        """Output of a script; GuestError when its exit status is not 0."""
        try:
            result = self.wait(self.start(script), timeout_s)
        except GuestError as error:
            raise GuestError(f"{error}: {script}") from error
        if result.status != 0:
            raise GuestError(
                f"{self._name}: {script}: status {result.status}: {result.output.strip()}"
            )
        return result.output

    def json(self, script: str, timeout_s: float = COMMAND_TIMEOUT_S) -> Any:  # noqa: ANN401 (JSON value)
        """Output of a script, decoded; GuestError when it is no JSON."""
        output = self.run(script, timeout_s)
        try:
            return json.loads(output)
        except json.JSONDecodeError as error:
            raise GuestError(f"{self._name}: {script}: {error}: {output[:200]!r}") from error

    def close(self) -> None:
        self._socket.close()

    def _readable(self) -> bool:
        return bool(select.select([self._socket], [], [], 0)[0])

    def _take_reply(self, deadline: float) -> None:
        identifier, status, output = self._read_line(deadline).split(" ")
        encoded = "" if output == NO_OUTPUT else output
        self._results[int(identifier)] = Result(
            int(status), base64.b64decode(encoded).decode(errors="replace")
        )

    def _read_line(self, deadline: float) -> str:
        while b"\n" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0:
                raise GuestError(f"{self._name}: no answer in time")
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(65536)
            except TimeoutError:
                continue
            except OSError as error:
                raise GuestError(f"{self._name} is gone: {error}") from error
            if not data:
                raise GuestError(f"{self._name} has ended")
            self._received += data
        line, self._received = self._received.split(b"\n", 1)
        return line.decode()
