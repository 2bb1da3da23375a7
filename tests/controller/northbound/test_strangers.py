"""Who connects to the API and says nothing takes no descriptor that switches need."""

import asyncio
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from run_process import Controller
from switches import MemorySwitch, until

FILES = 400
"""Descriptors of the controller: fewer than the strangers want."""


class Strangers:
    """They hold many connections, and others in place of those that are closed."""

    def __init__(self, address: tuple[str, int], stack: ExitStack) -> None:
        self._address, self._stack = address, stack
        self.refused = 0

    async def hold(self) -> None:
        held: list[socket.socket] = []
        while True:
            while len(held) < 2 * FILES:
                held.append(self._stack.enter_context(socket.socket()))
                held[-1].setblocking(False)
                held[-1].connect_ex(self._address)
            await asyncio.sleep(0.1)
            left = [each for each in held if not _has_ended(each)]
            self.refused += len(held) - len(left)
            held = left


def _has_ended(connection: socket.socket) -> bool:
    try:
        ended = connection.recv(1000) == b""
    except BlockingIOError:
        return False
    except OSError:
        ended = True
    if ended:
        connection.close()
    return ended


async def test_strangers_keep_no_switch_away(
    network: dict[str, Any], switches: dict[str, MemorySwitch], tmp_path: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = probe.getsockname()
    network["controllers"] = {"me": f"127.0.0.1:{address[1]}", "other": f"unix:{tmp_path}/other"}
    del network["api"]
    controller = Controller(network, tmp_path, "me", ["prlimit", f"--nofile={FILES}"])
    try:
        await controller.start()
        with ExitStack() as stack:
            strangers = Strangers(address, stack)
            holding = asyncio.create_task(strangers.hold())
            await until(lambda: strangers.refused > FILES, "they are refused")
            await switches["pe1"].stop()
            await switches["pe1"].start()
            await until(lambda: controller.log.count("event=node-up") == len(switches) + 1)
            holding.cancel()
        for lack in ("Too many open files", "File descriptor limit reached"):
            assert lack not in controller.log
    finally:
        controller.close()
