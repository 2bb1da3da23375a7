"""The controller as a process, for tests that end it."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from signal import Signals
from typing import Any

import yaml
from switches import until

from fcn.controller.northbound.client import FcnClient
from fcn.hosts.processes import Process


class Controller:
    """`fcn run` as a process of its own, beside the switches of the test; `me`: which one of the
    configuration's `controllers`; `prefix`: a program that runs it."""

    def __init__(
        self,
        network: dict[str, Any],
        folder: Path,
        me: str | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        self.network, self.folder, self._me, self._prefix = network, folder, me, prefix
        self.network["state"] = str(folder)
        if me is None:
            self.network["api"] = f"unix:{folder}/api"
        self.api = network["controllers"][me] if me else network["api"]
        self.runs = 0
        self._process: Process | None = None

    async def start(self) -> None:
        """Start it, and wait until all switches are up, or under another one that leads."""
        self.begin()
        await until(self._up)

    def begin(self) -> None:
        """Start it."""
        file = self.folder / "network.yaml"
        file.write_text(yaml.safe_dump(self.network))
        command = [sys.executable, "-m", "fcn.controller.cli.main", "run", "-c", str(file)]
        command += ["--as", self._me] if self._me else []
        self.runs += 1
        self._process = Process("fcn run", command, self.folder / f"log{self.runs}", self._prefix)

    def _up(self) -> bool:
        regions = self.network.get("regions", {None: [self._me]}).items()
        (mine,) = (region for region, names in regions if self._me in names)
        nodes: int = sum(node.get("region") == mine for node in self.network["nodes"].values())
        # A busy machine may lose a switch once more meanwhile.
        ups, backups = map(self.log.count, ("event=node-up", "event=node-backup"))
        return nodes <= ups or nodes <= backups

    @property
    def log(self) -> str:
        """Of this run."""
        return (self.folder / f"log{self.runs}").read_text()

    def send(self, number: Signals) -> None:
        """A signal."""
        assert self._process is not None
        self._process.send(number)

    async def kill(self) -> None:
        """As by a lack of memory."""
        self.send(Signals.SIGKILL)
        assert self._process is not None
        await asyncio.to_thread(self._process.wait, 60.0)

    async def ask(self, question: Callable[[FcnClient], Any]) -> Any:  # noqa: ANN401
        """Ask it while the switches go on."""

        def asked() -> Any:  # noqa: ANN401
            with FcnClient(self.api) as client:
                return question(client)

        return await asyncio.to_thread(asked)

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.__exit__()
