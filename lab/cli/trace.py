"""`fcn lab trace`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fcn.contract.ports import LAST_PORT
from fcn.controller.cli.common import EXIT_FAILED, ended_by, mistyped
from fcn.lab.cli.run import EXIT_SCENARIO, Seed, chosen_mode
from fcn.lab.cli.stopping import stopped
from fcn.lab.errors import LabError

if TYPE_CHECKING:
    from fcn.lab.scenario.load import Plan


def trace(
    scenario: Annotated[
        str,
        typer.Argument(
            help="A scenario of `fcn lab list`, a YAML file, or the folder of a result."
        ),
    ],
    node: Annotated[str | None, typer.Argument(help="A switch of it.")] = None,
    frame: Annotated[
        int | None,
        typer.Option(
            help="Instead of a switch: a frame by its number, as in crossings.csv.",
            min=1,
            max=(1 << 63) - 1,
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Virtual time from which on, such as 3ms; default: 0ms."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port by which the packets come.", min=0, max=LAST_PORT)
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option("--match", "-m", metavar="FIELD=VALUE[/MASK]", help="As of `fcn trace`."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-c", help="Stories; default: 1.", min=1, max=1000)
    ] = None,
    mode: Annotated[str | None, typer.Option(help="Instead of the scenario's.")] = None,
    seed: Seed = None,
    full: Annotated[bool, typer.Option("--full", help="Also what changes nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A story a line, as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with the stories.")] = None,
) -> None:
    """Run a scenario until the stories of some packets of a switch are complete, and tell them.

    The run is the same as without: what happened there at that time happens here.
    """
    from fcn.lab.run.runner import run_scenario
    from fcn.lab.run.spy import FrameSpy, Spy
    from fcn.lab.scenario.load import ScenarioError
    from fcn.softswitch.tracer.show import ShowError, check_html, say, show
    from fcn.topologies.units import parse_time

    if (node is None) == (frame is None):
        raise typer.BadParameter("give a switch, or --frame NUMBER")
    of_a_switch = {"--at": at, "--port": port, "--match": match, "--count": count}
    given = ", ".join(name for name, value in of_a_switch.items() if value is not None)
    if frame is not None and given:
        raise typer.BadParameter(f"leave out {given}: --frame names one frame already")
    with ended_by(ScenarioError, code=EXIT_SCENARIO):
        plan, until_ns = _plan(scenario)
        plan = plan.using(mode=chosen_mode(mode), seed=seed)
    with mistyped("--at"):
        asked = Spy(node or "", parse_time(at or "0ms"), port, match or [], count or 1)
    spy = asked if frame is None else FrameSpy(frame)
    with ended_by(LabError, ShowError):
        if html is not None:
            check_html(html)
        with stopped() as stop:
            run_scenario(plan, until_ns=until_ns, stop=lambda: stop() or spy.is_done(), spy=spy)
        told = show(spy.stories, full=full, as_json=as_json, html=html)
    if not told:
        say(f"no packet like that came to {node} from {at or '0ms'} on")
        raise typer.Exit(EXIT_FAILED)


def _plan(scenario: str) -> "tuple[Plan, int | None]":
    """A scenario, or that of a result with its mode, its seed and the time it reached. Raises
    ScenarioError."""
    from fcn.lab.result.folder import RESULT_FILE, load_about
    from fcn.lab.scenario.load import load_scenario, parse_scenario

    folder = Path(scenario)
    if not (folder / RESULT_FILE).exists():
        return load_scenario(scenario), None
    with ended_by(LabError):
        about = load_about(folder)
    plan = parse_scenario(about.text, Path(about.scenario), about.network_text)
    return plan.using(mode=about.mode, seed=about.seed), about.reached_ns or None
