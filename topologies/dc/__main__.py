"""`python -m fcn.topologies.dc`: two data centres across the WAN; a sample of flows, or Ctrl-C."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fcn.topologies.command import (
    FAILURES,
    HOW_TO_END,
    choose_target,
    say_failure,
    say_how_to_look,
)
from fcn.topologies.dc.run import running_dual_dc
from fcn.topologies.dc.sample import SampleResult, run_sample, sample_flows
from fcn.topologies.dual_dc import HOSTS
from fcn.topologies.isolation import enter, wait_for_signal
from fcn.topologies.network import Target

console = Console()


def main(
    hosts: Annotated[int, typer.Option(help="hosts of each data centre")] = HOSTS,
    target: Annotated[str, typer.Option(help="softswitch or bmv2")] = "",
    sample: Annotated[
        int, typer.Option(help="flows to send and check; 0: only run until Ctrl-C", min=0)
    ] = HOSTS,
    out: Annotated[Path, typer.Option(help="logs and configuration")] = Path("out/dual-dc"),
) -> None:
    """Start both data centres and the WAN; exit status 1 when a flow is not learned or notified."""
    chosen = choose_target(target)
    try:
        arguments = ["--hosts", hosts, "--target", chosen, "--sample", sample, "--out", out]
        enter("fcn.topologies.dc", [str(argument) for argument in arguments])
        good = _run(hosts, chosen, sample, out)
    except (*FAILURES, ValueError) as error:
        say_failure(console, error)
        raise typer.Exit(1) from error
    raise typer.Exit(0 if good else 1)


def _run(hosts: int, target: Target, sample: int, out: Path) -> bool:
    with running_dual_dc(hosts, target, out, _say) as dual:
        console.print(
            f"dual-dc runs on {target}: {2 * hosts} hosts, up after {dual.seconds:.0f} s; "
            f"logs in {out}; `ip netns exec d1h1 ...` runs inside a host",
            highlight=False,
        )
        say_how_to_look(console, dual.network)
        if not sample:
            wait_for_signal(lambda: console.print(HOW_TO_END))
            return True
        flows = sample_flows(dual.near, dual.far, sample)
        result = run_sample(dual.network, flows, out / "sample", _say)
        dual.network.check()
    _show(result)
    return result.good


def _say(what: str) -> None:
    console.print(f"dual-dc: {what}", highlight=False)


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
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
