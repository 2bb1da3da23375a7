"""A running fcn-softswitch, and cables to it."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

import fcn.softswitch.__main__
from fcn.contract.certificates import TlsFileError
from fcn.softswitch.__main__ import StartError, run
from fcn.softswitch.p4rt.options import parse_options
from fcn.softswitch.p4rt.transport import TransportError


def ip(*arguments: str) -> None:
    """Run ip."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@dataclass(frozen=True)
class Cable:
    """A veth pair: the switch's end and the tester's."""

    switch: str
    tester: str


@contextmanager
def veth_pairs() -> Iterator[tuple[Cable, Cable]]:
    """Two cables, removed afterwards, as an interface with the name of the first and an s is."""
    prefix = f"p4{os.getpid() % 100000}"
    pairs = (Cable(f"{prefix}a", f"{prefix}at"), Cable(f"{prefix}b", f"{prefix}bt"))
    try:
        for pair in pairs:
            ip("link", "add", pair.switch, "type", "veth", "peer", "name", pair.tester)
            for name in (pair.switch, pair.tester):
                Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
                ip("link", "set", name, "up")
        yield pairs
    finally:
        for name in (*(pair.switch for pair in pairs), f"{pairs[0].switch}s"):
            subprocess.run(["ip", "link", "del", name], capture_output=True, check=False)


@dataclass
class Command:
    """A running fcn-softswitch."""

    process: "subprocess.Popen[str]"
    line: str

    @property
    def address(self) -> str:
        return self.line.split(" on ")[1].split(",")[0]


@contextmanager
def command(
    *arguments: str,
    env: dict[str, str] | None = None,
    run: Sequence[str] = (sys.executable, "-m", "fcn.softswitch"),
) -> Iterator[Command]:
    """Start it and wait for its first line of output, which is empty when it ended."""
    process = subprocess.Popen(
        [*run, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        yield Command(process, process.stdout.readline())
    finally:
        process.kill()
        process.communicate()
        watchdog.cancel()


def refusal(*arguments: str) -> str:
    """Why it does not start, said in this process, which stays root."""

    async def starts() -> None:
        async with asyncio.timeout(120):
            await run(parse_options(arguments))

    with (
        patch.object(fcn.softswitch.__main__, "drop_privileges"),
        pytest.raises((StartError, TransportError, TlsFileError)) as refused,
    ):
        asyncio.run(starts())
    return str(refused.value)


def failure(*arguments: str, env: dict[str, str] | None = None) -> str:
    """Its stderr when it cannot start."""
    with command(*arguments, env=env) as switch:
        _, errors = switch.process.communicate(timeout=120)
        assert switch.line == ""
        assert switch.process.returncode == 1
        return errors
