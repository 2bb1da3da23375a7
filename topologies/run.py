"""Run a topology by name until interrupted: `python -m fcn.topologies.run wan --cli`.

`python -m fcn.topologies.run dual-dc --hosts 64` starts the two data centres of
`fcn.topologies.dual_dc`.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fcn.topologies.catalog import CATALOG
from fcn.topologies.command import (
    FAILURES,
    HOW_TO_END,
    choose_target,
    say_failure,
    say_how_to_look,
)
from fcn.topologies.controller_config import FcnSettings
from fcn.topologies.dc.__main__ import main as run_dual_dc
from fcn.topologies.dual_dc import HOSTS
from fcn.topologies.isolation import enter, wait_for_signal
from fcn.topologies.network import Network

console = Console()

DUAL_DC = "dual-dc"
NAMES = (*CATALOG, DUAL_DC)


def main(
    name: Annotated[str, typer.Argument(help=f"one of {', '.join(NAMES)}")] = "wan",
    target: Annotated[str, typer.Option(help="softswitch or bmv2")] = "",
    cli: Annotated[bool, typer.Option(help="Mininet's command line")] = False,
    out: Annotated[Path, typer.Option(help="logs and configuration")] = Path("out/topology"),
    hosts: Annotated[
        int | None,
        typer.Option(help="hosts of each data centre (dual-dc)", show_default=str(HOSTS)),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="flows to send and check, then end (dual-dc)", min=0)
    ] = None,
) -> None:
    """Start switches, hosts and controller and leave them running."""
    if name not in NAMES:
        raise typer.BadParameter(f"no topology {name}; there are {', '.join(NAMES)}")
    if name == DUAL_DC:
        if cli:
            raise typer.BadParameter(f"{DUAL_DC} has no --cli: its hosts are no Mininet hosts")
        run_dual_dc(HOSTS if hosts is None else hosts, target, sample or 0, out)
    if hosts is not None or sample is not None:
        raise typer.BadParameter(f"--hosts and --sample are of {DUAL_DC}; {name} has none")
    chosen = choose_target(target)
    try:
        enter("fcn.topologies.run", sys.argv[1:])
        topology = CATALOG[name]()
        with Network(topology, chosen, FcnSettings(), out) as network:
            names = ", ".join(host.name for host in topology.hosts)
            console.print(f"{name} runs on {chosen}; hosts {names}; logs in {out}")
            say_how_to_look(console, network)
            if cli:
                network.interact()
            else:
                wait_for_signal(lambda: console.print(HOW_TO_END))
    except FAILURES as error:
        say_failure(console, error)
        raise typer.Exit(1) from error


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
