"""`fcn lab run` and `fcn lab list`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fcn.controller.cli.common import EXIT_FAILED, ended_by, err, marked, mistyped, say, say_error
from fcn.controller.cli.common import out as console
from fcn.lab.cli.stopping import stopped
from fcn.lab.errors import LabError
from fcn.lab.modes import Mode

if TYPE_CHECKING:
    from fcn.lab.result.model import Result
    from fcn.lab.run import runner

EXIT_SCENARIO = 3


def list_scenarios() -> None:
    """The scenarios that come with fcn."""
    from fcn.lab.scenario.load import catalog, load_scenario

    table = Table("scenario", "network", "hosts", "time", "what it shows", box=None)
    for name in catalog():
        plan = load_scenario(name)
        duration = f"{plan.scenario.duration / 1e6:g} ms"
        hosts = str(len(plan.wiring.hosts))
        table.add_row(name, plan.topology.name, hosts, duration, plan.scenario.title)
    console.print(table)


Seed = Annotated[
    int | None,
    typer.Option(min=0, max=(1 << 63) - 1, help="Instead of the scenario's.", show_default=False),
]


def run(
    scenario: Annotated[str, typer.Argument(help="A scenario of `fcn lab list`, or a YAML file.")],
    mode: Annotated[
        str | None,
        typer.Option(
            help=f"Instead of the scenario's: {', '.join(get_args(Mode))}.", show_default=False
        ),
    ] = None,
    seed: Seed = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the result; default: out/lab/NAME-MODE-SEED."),
    ] = None,
    until: Annotated[
        str, typer.Option(help="Virtual time at which to end, such as 5ms.", show_default=False)
    ] = "",
) -> None:
    """Run a scenario and save its result.

    Ctrl-C or SIGTERM ends the run: what was measured so far is saved, too.
    """
    from fcn.contract.garbage_collection import seldom_collected

    with seldom_collected():
        _run(scenario, mode, seed, out, until)


def _run(scenario: str, mode: str | None, seed: int | None, out: Path | None, until: str) -> None:
    from fcn.lab.cli.keep import keep
    from fcn.lab.result.folder import check_place
    from fcn.lab.run import runner
    from fcn.lab.scenario.load import ScenarioError, load_scenario

    with ended_by(ScenarioError, code=EXIT_SCENARIO):
        plan = load_scenario(scenario).using(mode=chosen_mode(mode), seed=seed)
    until_ns = _until(until, plan.scenario.duration)
    label = f"{plan.name}-{plan.scenario.mode}-{plan.scenario.seed}"
    folder = out or Path("out/lab") / label
    with ended_by(LabError):
        check_place(folder)
        with stopped() as stop:
            with _Display(label) as display:
                result = runner.run_scenario(plan, until_ns=until_ns, show=display.show, stop=stop)
            if not result.about.reached_ns:
                raise LabError(f"{label} was stopped before hosts sent: nothing is saved")
            kept = keep(result, folder, say_error, _wait_for_room)
    _say(result, kept)
    if kept != folder or result.about.reached_ns < (until_ns or result.about.duration_ns):
        raise typer.Exit(EXIT_FAILED)


class _Display(Progress):
    """A progress bar on a terminal, otherwise a line for each phase of the run."""

    def __init__(self, label: str) -> None:
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[time]}"),
            TimeElapsedColumn(),
            console=err,
            disable=not err.is_terminal,
        )
        self._label = marked(label)
        self._doing = ""
        self._shown = self.add_task(self._label, total=None, time="")

    def show(self, now: "runner.Progress") -> None:
        if now.doing != self._doing and not err.is_terminal:
            err.print(f"{self._label}: {now.doing}", highlight=False, soft_wrap=True)
        self._doing = now.doing
        if now.reached_ns == 0:
            self.update(self._shown, time=now.doing)
            return
        time = f"{now.reached_ns / 1e6:.3f} of {now.duration_ns / 1e6:g} ms"
        total, done = now.duration_ns, now.reached_ns
        self.update(self._shown, total=total, completed=done, time=time)


def _say(result: "Result", folder: Path) -> None:
    from fcn.lab.report.remarks import remarks
    from fcn.lab.result.deadlock import deadlocks

    about = result.about
    done = int(result.messages["completed_ns"].notna().sum())
    reached = f"{about.reached_ns / 1e6:g} of {about.duration_ns / 1e6:g} ms"
    say(
        f"{about.label}: {reached} in {about.wall_s:.1f} s, {about.hops:,} packet-hops, "
        f"{done} of {len(result.messages)} messages complete; digest {about.digest}\n"
        f"{folder}" + ("" if about.finished else " (ended early)")
    )
    for remark in remarks({about.label: result}):
        console.print(f"[yellow]note:[/] {marked(remark)}", highlight=False, soft_wrap=True)
    for each in deadlocks(result):
        circle = " to ".join((*each.nodes, each.nodes[0]))
        say_error(
            f"deadlock of flow control since {each.since_ns / 1e6:g} ms: {circle} wait for each "
            "other; look at the ways of the traffic, or at links.*.pfc"
        )


def chosen_mode(text: str | None) -> Mode | None:
    if text is None:
        return None
    for mode in get_args(Mode):
        if text == mode:
            found: Mode = mode
            return found
    raise typer.BadParameter(f"{text!r} is not a mode; those are {', '.join(get_args(Mode))}")


def _until(text: str, duration_ns: int) -> int | None:
    if not text:
        return None
    from fcn.topologies.units import parse_time

    with mistyped("--until"):
        time = parse_time(text)
    if time == 0:
        raise typer.BadParameter(f"--until: {text} is when hosts begin to send; give a later time")
    if time > duration_ns:
        longest = f"{duration_ns / 1e6:g}ms"
        raise typer.BadParameter(
            f"--until: {text} is behind the scenario's end, {longest}; a longer run needs a larger "
            "`duration` there"
        )
    return time


def _wait_for_room() -> bool:
    """Whether somebody is there, and has made room for the result."""
    if not (err.is_terminal and sys.stdin.isatty()):
        return False
    err.print("The result is kept in memory: make room, then press Enter; Ctrl-D gives it up.")
    try:
        input()
    except EOFError:
        return False
    return True
