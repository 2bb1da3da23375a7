"""A network that another process runs: its configuration, and how its hosts are entered."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
import yaml

from fcn.controller.cli.capture import PROC, running_switch
from fcn.hosts.processes import run
from fcn.topologies.controller_config import CONFIGURATION

OUT = Path("out/topology")
"""Where a network that runs has its files, unless it was told otherwise."""

Out = Annotated[Path, typer.Option(help="--out of the network that runs")]


class RunningError(Exception):
    """There is no such network or host, or it cannot be entered; the message says why."""


@dataclass(frozen=True, slots=True)
class RunningHost:
    """A host, by the process that keeps its namespaces."""

    name: str
    pid: int

    @property
    def enter(self) -> tuple[str, ...]:
        """How to enter its network."""
        return ("nsenter", f"--net={PROC}/{self.pid}/ns/net")

    @property
    def running(self) -> bool:
        return (PROC / str(self.pid)).exists()

    def address(self, version: Literal[4, 6]) -> str:
        """Its address of that IP version. Raises RunningError."""
        command = [*self.enter, "ip", "-json", f"-{version}", "address", "show", "scope", "global"]
        for interface in json.loads(run(command, error=RunningError)):
            for each in interface.get("addr_info", ()):
                return str(each["local"])
        raise RunningError(f"{self.name} has no address of IPv{version}")


def configuration(out: Path) -> dict[str, Any]:
    """The controller's configuration as data. Raises RunningError."""
    file = out / CONFIGURATION
    try:
        config: dict[str, Any] = yaml.safe_load(file.read_text())
    except OSError as error:
        raise RunningError(
            f"cannot read {file}: {error.strerror}; where does the network run? (--out)"
        ) from None
    except yaml.YAMLError:
        config = {}
    # It is not checked in whole: the controller that runs has done so.
    if not isinstance(config, dict) or not {"nodes", "links", "api"} <= config.keys():
        raise RunningError(f"{file} is not that of a network that runs; where does it? (--out)")
    return config


def hosts(config: dict[str, Any], names: Sequence[str]) -> Iterator[RunningHost]:
    """Hosts of the network with that configuration. Raises RunningError for those that it has not,
    and CaptureError where no switch of it runs."""
    switch = running_switch(next(iter(config["nodes"].values()))["grpc"], config["api"]).pid
    there = {
        name: pid
        for name, pid in _mininet_nodes()
        if _same(pid, switch, "pid") and not _same(pid, switch, "net")
    }
    for name in names:
        if name not in there:
            known = ", ".join(sorted(there)) or "none of Mininet's"
            raise RunningError(f"no host {name} in that network; there are {known}")
        yield RunningHost(name, there[name])


def _mininet_nodes() -> Iterator[tuple[str, int]]:
    """Names and shells of Mininet's nodes, of all networks of this machine."""
    for entry in PROC.iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            last = (entry / "cmdline").read_bytes().rstrip(b"\0").rpartition(b"\0")[2]
        except OSError:
            continue  # it has ended
        if last.startswith(b"mininet:"):
            yield last.removeprefix(b"mininet:").decode(errors="replace"), int(entry.name)


def _same(pid: int, other: int, namespace: str) -> bool:
    def of(process: int) -> str | None:
        try:
            return os.readlink(PROC / str(process) / "ns" / namespace)
        except OSError:
            return None

    return of(pid) == of(other)
