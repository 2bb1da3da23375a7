"""`python -m fcn.topologies.demo`: end-to-end ECN alone against FCN on one network.

Exit status 0: senders reacted faster with FCN and all counters agree. 1: otherwise, or something
failed; the reason is printed.
"""

import sys
from pathlib import Path
from typing import Annotated

import grpc
import typer
from rich.console import Console

from fcn.hosts.roce.log import LogError
from fcn.topologies.command import FAILURES, choose_target, say_failure, say_how_to_look
from fcn.topologies.demo.checks import check_run
from fcn.topologies.demo.display import Display
from fcn.topologies.demo.measure import MeasureError, measure
from fcn.topologies.demo.plots import draw_overview, draw_reaction
from fcn.topologies.demo.report import (
    Checks,
    Records,
    comparison,
    hop_rows,
    html_page,
    terminal_table,
)
from fcn.topologies.demo.scenario import MODE_NAMES, MODES, Mode, Scenario, demo_scenario
from fcn.topologies.demo.traffic import Run, RunRecord
from fcn.topologies.isolation import enter
from fcn.topologies.network import Network, Target, make_directory

DEFAULT_SECONDS = 16.0
MIN_SECONDS = 4.0

console = Console()


def run_once(network: Network, scenario: Scenario, mode: Mode, out: Path) -> RunRecord:
    """One run with its progress shown."""
    with Display(console, scenario, mode) as display:
        return Run(network, scenario, mode, out / mode, display.show).carry_out()


def run_both(scenario: Scenario, target: Target, out: Path) -> Records:
    """Run both modes on one network."""
    with Network(scenario.topology, target, scenario.settings, out / "network") as network:
        say_how_to_look(console, network)
        for flow in scenario.flows:
            network.wait_for_ping(flow.sender, flow.receiver)
        return {mode: run_once(network, scenario, mode, out) for mode in MODES}


def evaluate(scenario: Scenario, target: Target, records: Records, out: Path) -> list[str]:
    """Show and write the results; returns what is wrong with them."""
    checks: Checks = {mode: check_run(scenario, records[mode]) for mode in MODES}
    problems = [
        f"{MODE_NAMES[mode]}: {check}"
        for mode in MODES
        for check in checks[mode]
        if not check.passed
    ]
    try:
        results = {mode: measure(scenario, records[mode]) for mode in MODES}
    except MeasureError as error:
        return [*problems, str(error)]
    console.print(terminal_table("Notifications at every hop", hop_rows(scenario, records)))
    console.print(terminal_table("Result", comparison(scenario, results)))
    images = [out / "reaction.png", out / "overview.png"]
    draw_reaction(scenario, results, images[0])
    draw_overview(scenario, results, images[1])
    page = out / "index.html"
    page.write_text(html_page(scenario, target, results, records, checks, images))
    console.print(f"written: {page}, {', '.join(map(str, images))}")
    total = sum(map(len, checks.values()))
    console.print(f"{total - len(problems)} of {total} comparisons of counters agree")
    ecn, fcn = results["ecn"].reaction_ms, results["fcn"].reaction_ms
    if 2 * results["fcn"].caused_by_pe <= len(results["fcn"].congestions):
        problems.append("with FCN most first cuts were not caused by the ingress PE's CNPs")
    if fcn >= ecn:
        problems.append(f"FCN is not faster: {fcn:.2f} ms against {ecn:.2f} ms (medians)")
    return problems


def main(
    target: Annotated[str, typer.Option(help="softswitch or bmv2; default: what is here")] = "",
    seconds: Annotated[
        float, typer.Option(min=MIN_SECONDS, help="length of each run")
    ] = DEFAULT_SECONDS,
    out: Annotated[Path, typer.Option(help="where results go")] = Path("out/demo"),
) -> None:
    """Run the demo."""
    chosen = choose_target(target)
    try:
        enter("fcn.topologies.demo", sys.argv[1:])
        make_directory(out)
        scenario = demo_scenario(seconds)
        console.print(
            f"DC1 - PE1 - P1 - P2 - PE2 - DC2 on {chosen}: starting switches, hosts and controller"
        )
        records = run_both(scenario, chosen, out)
        problems = evaluate(scenario, chosen, records, out)
    except (*FAILURES, LogError) as error:
        problems = [str(error)]
    except grpc.RpcError as error:
        problems = [f"a switch does not answer: {error.code().name}, {error.details()}"]
    for problem in problems:
        say_failure(console, problem)
    if problems:
        raise typer.Exit(1)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
