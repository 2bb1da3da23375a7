"""Shared by the tests of the RoCEv2 hosts: the C driver and a pair of hosts."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


class Driver:
    """Line protocol of roce_driver.c, built with ASan and UBSan."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, request: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(request + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the driver ended on {request[:200]!r}: {self._process.wait()}"
        return answer.strip()

    def close(self) -> None:
        """End it; a sanitizer report (leaks included) is a failure."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=120) == 0


@dataclass(frozen=True)
class HostPair:
    """Two namespaces `a` and `b` with 10.77.0.1/2 and fd77::1/2 on a veth pair."""

    a: str
    b: str

    ADDRESSES: ClassVar = {4: ("10.77.0.1", "10.77.0.2"), 6: ("fd77::1", "fd77::2")}

    def command(self, namespace: str, *command: str) -> list[str]:
        return ["ip", "netns", "exec", namespace, *command]
