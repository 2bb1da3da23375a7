"""Commands and options of `fcn`. What a command needs is imported when it runs: others start soon.

Exit codes: 0 success, 1 refused or failed, 2 usage error, 3 invalid configuration file, 4 the
controller cannot be reached, 5 (of `fcn status`) a switch is not as intended.
"""

import os
import signal
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fcn.contract.command_line import Commands
from fcn.contract.program import kept_for_later
from fcn.contract.version import fcn_version
from fcn.controller.cli import tables
from fcn.controller.cli.capture import CaptureError
from fcn.controller.cli.capture import capture as capture_port
from fcn.controller.cli.common import (
    EXIT_NOT_READY,
    MAX_PATH_ID,
    AnyNode,
    Api,
    Json,
    NodeName,
    controller,
    ended_by,
    err,
    fail,
    number,
    out,
    say,
    switch_of,
)
from fcn.controller.cli.flows import flows_app
from fcn.controller.cli.host_agent import host_agent
from fcn.controller.cli.pki import pki_app
from fcn.controller.cli.programs import OPTIONS, lab, page, top, topo_app
from fcn.controller.cli.reload import ConfigFile, apply, diff, refused, unreadable
from fcn.controller.cli.settings import feature_app, thresholds_app
from fcn.controller.cli.shell import ShellError, open_shell
from fcn.controller.cli.trace import trace
from fcn.controller.config.notation import DEFAULT_ENDPOINT
from fcn.controller.logs import LogLevel

if TYPE_CHECKING:
    from fcn.controller.config import Config
    from fcn.controller.config.paths import Planner

app = Commands(no_args_is_help=True)
app.add_typer(flows_app, name="flows")
app.add_typer(feature_app, name="feature")
app.add_typer(thresholds_app, name="thresholds")
app.add_typer(topo_app, name="topo")
app.add_typer(pki_app, name="pki")
app.command()(diff)
app.command()(apply)
app.command("host-agent")(host_agent)
app.command("lab", context_settings=OPTIONS)(lab)
app.command("page", context_settings=OPTIONS)(page)
app.command("top", context_settings=OPTIONS)(top)
app.command("trace", context_settings=OPTIONS)(trace)


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"fcn {fcn_version()}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
    tls: Annotated[
        Path | None,
        typer.Option(
            envvar="FCN_TLS",
            help="Folder with certificate.pem, key.pem and ca.pem, for a controller at host:port.",
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Fast congestion notification for RoCEv2 across wide-area networks."""
    if tls is not None:
        # For programs that take this one's place, too.
        os.environ["FCN_TLS"] = str(tls)


@app.command()
def run(
    config: ConfigFile,
    log_level: Annotated[LogLevel, typer.Option(help="Least severe to show.")] = LogLevel.INFO,
    log_json: Annotated[bool, typer.Option(help="Logs as JSON lines.")] = False,
    me: Annotated[
        str | None, typer.Option("--as", help="Which one of `controllers` of the file this is.")
    ] = None,
) -> None:
    """Run the controller until it is stopped (Ctrl-C or SIGTERM); SIGHUP: read the file again."""
    # As soon as the controller runs, it has the file read again.
    with kept_for_later(signal.SIGHUP):
        _run(config, log_level, log_json=log_json, me=me)


def _run(file: Path, log_level: LogLevel, *, log_json: bool, me: str | None) -> None:
    import asyncio

    network = _load(file)[0]
    controllers = network.controllers or {}
    if me is None and controllers:
        raise fail(f"say which controller this is: --as {' or --as '.join(controllers)}")
    if me is not None and me not in controllers:
        known = ", ".join(controllers) or "none"
        raise fail(f"`controllers` of {file} has no {me!r}; it has: {known}")
    # Behind _load(): a file that is refused needs none of it.
    from fcn.controller.cli.run import RunError, run_controller

    with ended_by(RunError):
        asyncio.run(run_controller(network, file, log_level, log_json=log_json, me=me))


@app.command()
def check(config: ConfigFile) -> None:
    """Check a configuration file; print every problem with its line."""
    network, planner = _load(config)
    from fcn.controller.config.check_balancing import balancing_warnings
    from fcn.controller.config.check_failures import failure_warnings
    from fcn.controller.config.check_modes import mode_warnings, program_notes
    from fcn.controller.config.check_unused import unused_notes
    from fcn.controller.config.transport import expiry_notes
    from fcn.controller.config.watching import Watching

    say(
        f"{config}: {len(network.nodes)} nodes, {len(network.vrfs)} VRFs, "
        f"{len(network.links)} links: valid"
    )
    notes = [
        (f"nodes.{node}.policies.{policy}", f"one failure can end it: {reason}")
        for node, policy, reason in planner.warnings()
    ]
    watching = Watching(network, planner)
    notes += failure_warnings(network, watching)
    notes += balancing_warnings(network, watching)
    notes += mode_warnings(network)
    notes += program_notes(network)
    notes += unused_notes(network)
    notes += expiry_notes(network)
    for where, text in notes:
        say(f"note: {where}: {text}")


def _load(file: Path) -> "tuple[Config, Planner]":
    from fcn.controller.config import ConfigError, load_planned

    try:
        return load_planned(file)
    except ConfigError as error:
        raise refused(file, error.problems) from None
    except OSError as error:
        raise unreadable(file, error) from None


@app.command()
def status(api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """Show the state of the controller and of every switch; exit code 5 if one is not up."""
    with controller(api) as client:
        found = client.status()
        tables.show_status(out, found, as_json=as_json)
    if any(node.state != "up" for node in found.nodes):
        raise typer.Exit(EXIT_NOT_READY)


@app.command()
def counters(
    node: AnyNode = "",
    all_: Annotated[bool, typer.Option("--all", help="Include counters that are 0.")] = False,
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """Show the switches' counters: drops by reason, events, ports."""
    with controller(api) as client:
        tables.show_counters(out, client.counters(node), with_zeros=all_, as_json=as_json)


@app.command()
def paths(node: AnyNode = "", api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """Show the paths of policies: their state, since when, who said so, and what they carry."""
    with controller(api) as client:
        tables.show_paths(out, client.paths(node), as_json=as_json)


@app.command()
def links(node: AnyNode = "", api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """Show the links that switches watch, as each end sees them: state, since when, changes."""
    with controller(api) as client:
        tables.show_links(out, client.links(node), as_json=as_json)


@app.command("report-path")
def report_path(
    path: Annotated[str, typer.Argument(metavar="ID", help="ID of the path, as fcn paths shows.")],
    report: Annotated[str, typer.Argument(help="failed, well, congested, relieved or forget.")],
    api: Api = DEFAULT_ENDPOINT,
) -> None:
    """Tell the PE of a path, as a node that sees it would: before works on a link, and after.

    With forget it forgets what was said of the path, and hears its nodes whatever numbers their
    next messages have.
    """
    wanted = number(path, "the ID of a path", MAX_PATH_ID)
    with controller(api) as client:
        client.report_path(wanted, report)


@app.command()
def events(
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
    count: Annotated[int, typer.Option(help="Stop after N events; 0: never.", min=0)] = 0,
) -> None:
    """Show events live: flows, connections, notifications, nodes."""
    with controller(api) as client, suppress(KeyboardInterrupt):
        for event in islice(client.events(), count or None):
            tables.show_event(out, event, as_json=as_json)


@app.command()
def shell(node: NodeName, api: Api = DEFAULT_ENDPOINT) -> None:
    """Open a read-only p4runtime-shell on a switch; the controller stays primary."""
    with ended_by(ShellError):
        raise typer.Exit(open_shell(switch_of(node, api), err))


@app.command()
def capture(
    node: NodeName,
    port: Annotated[int, typer.Argument(help="Port number.", min=0)],
    file: Annotated[
        Path | None,
        typer.Option("--write", "-w", help="Write a pcap to this file (-: stdout); default: text."),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-c", help="Stop after N packets; 0: never.", min=0)
    ] = 0,
    expression: Annotated[
        str, typer.Option("--filter", help="pcap filter, for example: udp port 1021.")
    ] = "",
    api: Api = DEFAULT_ENDPOINT,
) -> None:
    """Capture packets on a switch's port, on the machine where the switch runs."""
    address = switch_of(node, api).grpc
    with ended_by(CaptureError):
        capture_port(address, api, node, port, file=file, count=count, expression=expression)
