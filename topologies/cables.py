"""Cuts and mends links of a running network: `python -m fcn.topologies.cables cut r1:r3`.

The interfaces of a link that is cut stay up and drop all that is sent: BMv2 receives nothing any
more on one that was down, and no switch is told of what it has to find out.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fcn.contract.command_line import Commands
from fcn.controller.cli.capture import CaptureError, running_switch
from fcn.controller.cli.common import ended_by, fail
from fcn.hosts.processes import run
from fcn.topologies.model import Topology
from fcn.topologies.running import OUT, Out, RunningError, configuration

app = Commands(help="Cut and mend links of a running network.", no_args_is_help=True)

Links = Annotated[list[str], typer.Argument(help="links as NODE:NODE, such as r1:r3")]


class CableError(Exception):
    """A link cannot be cut or mended; the message says why."""


@app.command()
def cut(links: Links, out: Out = OUT) -> None:
    """Drop everything on these links, in both directions."""
    _set(links, out, up=False)


@app.command()
def mend(links: Links, out: Out = OUT) -> None:
    """Let everything pass again."""
    _set(links, out, up=True)


def set_link(topology: Topology, a: str, b: str, *, up: bool) -> None:
    """Mend or cut a link of a network that runs in this namespace. Raises CableError."""
    for near, far in ((a, b), (b, a)):
        _set_interface((), topology.port(near, far).interface, up=up)


def _set(links: Iterable[str], out: Path, *, up: bool) -> None:
    if os.geteuid() != 0:
        raise fail("interfaces of switches need root: run it with sudo")
    with ended_by(CableError, CaptureError, RunningError):
        config = configuration(out)
        ends = [end for link in links for end in _ends(config, link)]
        for prefix, interface in ends:
            _set_interface(prefix, interface, up=up)


def _ends(config: dict[str, Any], link: str) -> Iterable[tuple[Sequence[str], str]]:
    """How to enter the namespace of each end, and its interface."""
    a, _, b = link.partition(":")
    for near, far in ((a, b), (b, a)):
        node = config["nodes"].get(near, {"ports": ()})
        numbers = [port["number"] for port in node["ports"] if port["name"] == far]
        if not numbers:
            known = ", ".join(_links(config))
            raise CableError(f"no link {link}; there are {known}")
        switch = running_switch(node["grpc"], config["api"])
        yield ("nsenter", f"--net=/proc/{switch.pid}/ns/net"), switch.interfaces[numbers[0]]


def _links(config: dict[str, Any]) -> Iterable[str]:
    for ends in config["links"]:
        yield ":".join(end.partition(":")[0] for end in ends)


def _set_interface(prefix: Sequence[str], interface: str, *, up: bool) -> None:
    shown = _tc(prefix, "show", "dev", interface, "root")
    if up is ("qdisc blackhole" not in shown):
        return
    _tc(prefix, *(("del", "dev", interface, "root") if up else _drop_all(interface)))


def _drop_all(interface: str) -> tuple[str, ...]:
    return "replace", "dev", interface, "root", "blackhole"


def _tc(prefix: Sequence[str], *arguments: str) -> str:
    return run([*prefix, "tc", "qdisc", *arguments], error=CableError)


if __name__ == "__main__":
    app()
