"""Run a network until interrupted: `python -m fcn.topologies.run wan --cli`.

The network is one of `fcn.topologies.catalog` or a YAML file that describes one.
"""

import sys
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fcn.contract.command_line import Commands
from fcn.topologies.api import commands_for_network
from fcn.topologies.catalog import CATALOG, network
from fcn.topologies.command import FAILURES, HOW_TO_END, choose_target, say_failure, say_how_to_look
from fcn.topologies.controller_config import FcnSettings
from fcn.topologies.data_centre import MAX_HOSTS
from fcn.topologies.dc.run import running_data_centres
from fcn.topologies.dc.sample import SampleResult, run_sample, sample_flows
from fcn.topologies.isolation import enter, wait_for_signal
from fcn.topologies.model import Topology
from fcn.topologies.network import Network, Target

console = Console()


def main(
    name: Annotated[
        str, typer.Argument(help=f"one of {', '.join(CATALOG)}, or a YAML file")
    ] = "wan",
    target: Annotated[str, typer.Option(help="softswitch or bmv2")] = "",
    cli: Annotated[bool, typer.Option(help="Mininet's command line")] = False,
    out: Annotated[Path, typer.Option(help="logs and configuration")] = Path("out/topology"),
    hosts: Annotated[
        int | None, typer.Option(help="hosts of each data centre", min=1, max=MAX_HOSTS)
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(help="flows between two data centres to send and check, then end", min=1),
    ] = None,
) -> None:
    """Start switches, hosts and controller and leave them running.

    With --sample: exit status 1 when a flow is not learned or notified.
    """
    chosen = choose_target(target)
    try:
        topology = network(name, hosts)
        _check_options(topology, cli, hosts, sample)
        enter("fcn.topologies.run", sys.argv[1:], page=True)
        if topology.centres:
            good = _run_data_centres(topology, chosen, sample, out)
        else:
            good = _run(topology, chosen, cli, out)
    except FAILURES as error:
        say_failure(console, error)
        raise typer.Exit(1) from error
    raise typer.Exit(0 if good else 1)


def _check_options(topology: Topology, cli: bool, hosts: int | None, sample: int | None) -> None:
    centres = len(topology.centres)
    if cli and centres:
        raise typer.BadParameter(
            f"{topology.name} has no --cli: hosts of data centres are no Mininet hosts"
        )
    if not centres and (hosts is not None or sample is not None):
        raise typer.BadParameter(
            f"--hosts and --sample are of data centres; {topology.name} has none"
        )
    if sample is not None and centres != 2:
        raise typer.BadParameter(f"--sample is of two data centres; {topology.name} has {centres}")


def _run(topology: Topology, target: Target, cli: bool, out: Path) -> bool:
    with Network(topology, target, FcnSettings(), out) as running:
        names = ", ".join(host.name for host in topology.hosts)
        console.print(f"{topology.name} runs on {target}; hosts {names}; logs in {out}")
        say_how_to_look(console, running)
        if pair := _pair(topology):
            traffic = commands_for_network(running.directory, f"traffic {pair}")
            console.print(
                f"send traffic:\n{traffic}", soft_wrap=True, highlight=False, markup=False
            )
        if cli:
            running.interact()
        else:
            wait_for_signal(lambda: console.print(HOW_TO_END))
    return True


def _pair(topology: Topology) -> str:
    """Two hosts of a VRF at different PEs; empty where there are none."""
    for near, far in combinations(topology.hosts, 2):
        if near.pe != far.pe and near.vrf == far.vrf:
            return f"{near.name} {far.name}"
    return ""


def _run_data_centres(topology: Topology, target: Target, sample: int | None, out: Path) -> bool:
    def say(what: str) -> None:
        console.print(f"{topology.name}: {what}", highlight=False)

    with running_data_centres(topology, target, out, say) as running:
        hosts = sum(centre.size for centre in topology.centres)
        say(
            f"{hosts} hosts in data centres run on {target}; logs in {out}; "
            f"`ip netns exec d1h1 ...` runs inside a host"
        )
        say_how_to_look(console, running)
        if sample is None:
            wait_for_signal(lambda: console.print(HOW_TO_END))
            return True
        near, far = topology.centres
        result = run_sample(running, sample_flows(near, far, sample), out / "sample", say)
        running.check()
    _show(result)
    return result.good


def _show(result: SampleResult) -> None:
    verdict = "[green]good[/]" if result.good else "[bold red]NOT good[/]"
    console.print(
        f"{result.flows} flows: {result.mapped} of {2 * result.flows} directions mapped and "
        f"{result.surplus} others; {result.notified} senders notified by {result.cnps} CNPs "
        f"({result.rejected_cnps} to a wrong queue pair); the PE looked up {result.looked_up} "
        f"of the flows: {verdict}",
        highlight=False,
    )


if __name__ == "__main__":
    app = Commands(add_completion=False)
    app.command()(main)
    app()
