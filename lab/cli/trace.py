"""`fcn lab trace`."""

from pathlib import Path
from typing import Annotated

import typer

from fcn.controller.cli.common import fail
from fcn.lab.cli.run import EXIT_FAILED, EXIT_SCENARIO, chosen_mode
from fcn.lab.cli.stopping import stopped
from fcn.lab.errors import LabError


def trace(
    scenario: Annotated[str, typer.Argument(help="A scenario of `fcn lab list`, or a YAML file.")],
    node: Annotated[str, typer.Argument(help="A switch of it.")],
    at: Annotated[str, typer.Option(help="Virtual time from which on, such as 3ms.")] = "0ms",
    port: Annotated[int | None, typer.Option(help="Port by which the packets come.")] = None,
    match: Annotated[
        list[str] | None,
        typer.Option("--match", "-m", metavar="FIELD=VALUE[/MASK]", help="As of `fcn trace`."),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-c", help="Stories.", min=1, max=1000)] = 1,
    mode: Annotated[str | None, typer.Option(help="Instead of the scenario's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the scenario's.", min=0)] = None,
    full: Annotated[bool, typer.Option("--full", help="Also what changes nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A story a line, as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with the stories.")] = None,
) -> None:
    """Run a scenario until the stories of some packets of a switch are complete, and tell them.

    The run is the same as without: what happened there at that time happens here.
    """
    from fcn.lab.run.runner import run_scenario
    from fcn.lab.run.spy import Spy
    from fcn.lab.scenario.load import ScenarioError, load_scenario
    from fcn.softswitch.tracer.show import ShowError, say, show
    from fcn.topologies.units import parse_time

    try:
        plan = load_scenario(scenario).using(mode=chosen_mode(mode), seed=seed)
    except ScenarioError as error:
        raise fail(str(error), EXIT_SCENARIO) from None
    try:
        spy = Spy(node, parse_time(at), port, match or [], count)
    except ValueError as error:
        raise typer.BadParameter(f"--at: {error}") from None
    try:
        with stopped() as stop:
            run_scenario(plan, stop=lambda: stop() or spy.is_done(), spy=spy)
        told = show(spy.stories, full=full, as_json=as_json, html=html)
    except (LabError, ShowError) as error:
        raise fail(str(error), EXIT_FAILED) from None
    if not told:
        say(f"no packet like that came to {node} from {at} on")
        raise typer.Exit(EXIT_FAILED)
