"""`python -m fcn.topologies.demo`: ways to tell senders of congestion, on one network.

Exit status 0: in each mode senders were told by whom they should be, sooner than with end-to-end
ECN alone where switches notify, and all counters agree. 1: otherwise, or something failed; the
reason is printed.
"""

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import grpc
import typer
from rich.console import Console

from fcn.contract.command_line import Commands
from fcn.controller.cli.common import mistyped
from fcn.hosts.roce.log import LogError
from fcn.topologies.command import FAILURES, choose_target, say_failure, say_how_to_look
from fcn.topologies.demo.checks import check_run
from fcn.topologies.demo.measure import MeasureError, measure
from fcn.topologies.demo.modes import DEFAULT_MODES, MODES, Mode, modes_named
from fcn.topologies.demo.page import Checks, html_page
from fcn.topologies.demo.plots import draw_charts
from fcn.topologies.demo.report import Records
from fcn.topologies.demo.scenario import ROUND_S, Scenario, demo_scenario
from fcn.topologies.demo.summary import summary
from fcn.topologies.demo.traffic import Run, RunRecord
from fcn.topologies.demo.verdict import problems as problems_of
from fcn.topologies.isolation import enter
from fcn.topologies.network import Network, Target, make_directory

DEFAULT_SECONDS = 24.0
MIN_SECONDS = ROUND_S

console = Console()


def _say(how_it_goes: str) -> None:
    console.print(how_it_goes, highlight=False, soft_wrap=True)


def run_modes(scenario: Scenario, modes: Sequence[Mode], target: Target, out: Path) -> Records:
    """Run every mode; those next to each other that need one configuration share a network."""
    records: dict[str, RunRecord] = {}
    for settings, group in groupby(modes, scenario.settings):
        with Network(scenario.topology, target, settings, out / "network") as network:
            say_how_to_look(console, network)
            for sender, receiver in scenario.pairs:
                network.wait_for_ping(sender, receiver)
            for mode in group:
                run = Run(network, scenario, mode, out / mode.name, _say)
                records[mode.name] = run.carry_out()
    return records


def evaluate(scenario: Scenario, target: Target, records: Records, out: Path) -> list[str]:
    """Show and write the results; returns what is wrong with them."""
    checks: Checks = {name: check_run(scenario, record) for name, record in records.items()}
    problems = [
        f"{records[name].mode.title}: {check}"
        for name, of_run in checks.items()
        for check in of_run
        if not check.passed
    ]
    try:
        results = {name: measure(scenario, record) for name, record in records.items()}
    except MeasureError as error:
        return [*problems, str(error)]
    charts = list(draw_charts(scenario, results, out))
    page = out / "index.html"
    page.write_text(html_page(scenario, target, results, records, checks, charts))
    for part in summary(scenario, results, page):
        console.print(part, highlight=False, soft_wrap=True)
    total = sum(map(len, checks.values()))
    console.print(f"{total - len(problems)} of {total} comparisons of counters agree")
    return [*problems, *problems_of(results)]


def main(
    target: Annotated[str, typer.Option(help="softswitch or bmv2; default: what is here")] = "",
    mode: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(MODES)}; again for more; default: ecn and fcn"),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=MIN_SECONDS, help="length of each run")
    ] = DEFAULT_SECONDS,
    out: Annotated[Path, typer.Option(help="where results go")] = Path("out/demo"),
) -> None:
    """Run the demo."""
    chosen = choose_target(target)
    with mistyped():
        modes = modes_named(DEFAULT_MODES if mode is None else mode)
    try:
        enter("fcn.topologies.demo", sys.argv[1:], page=True)
        make_directory(out)
        scenario = demo_scenario(seconds)
        console.print(
            f"DC1 - PE1 - P1 - P2 - PE2 - DC2 on {chosen}: starting switches, hosts and controller"
        )
        records = run_modes(scenario, modes, chosen, out)
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
    app = Commands(add_completion=False)
    app.command()(main)
    app()
