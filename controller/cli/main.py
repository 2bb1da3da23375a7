"""Commands and options of `fcn`; every command says what it did and, when it failed, what to do.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 the configuration file is wrong, 4 no
controller answers.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fcn.controller.cli import tables
from fcn.controller.cli.capture import CaptureError
from fcn.controller.cli.capture import capture as capture_port
from fcn.controller.cli.host_agent import host_agent
from fcn.controller.cli.shell import ShellError, open_shell
from fcn.controller.cli.topo import topo_app
from fcn.controller.config import Config, ConfigError, load_config
from fcn.controller.config.types import format_depth, parse_depth, parse_duration
from fcn.controller.flows.key import FlowKey
from fcn.controller.northbound.client import DEFAULT_ENDPOINT, ControllerError, FcnClient
from fcn.controller.proto import fcn_pb2 as pb

EXIT_FAILED = 1
EXIT_CONFIG = 3
EXIT_UNREACHABLE = 4

app = typer.Typer(
    help="Fast congestion notification for RoCEv2 across wide-area networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
flows_app = typer.Typer(help="Flows: labels and queue pairs.", no_args_is_help=True)
feature_app = typer.Typer(help="Turn the feature on or off on a node.", no_args_is_help=True)
thresholds_app = typer.Typer(help="Queue depths of congestion levels.", no_args_is_help=True)
app.add_typer(flows_app, name="flows")
app.add_typer(feature_app, name="feature")
app.add_typer(thresholds_app, name="thresholds")
app.add_typer(topo_app, name="topo")
app.command("host-agent")(host_agent)

out = Console()
err = Console(stderr=True)

ConfigFile = Annotated[
    Path, typer.Option("--config", "-c", help="The network, as YAML.", dir_okay=False)
]
Api = Annotated[
    str,
    typer.Option(envvar="FCN_API", help="Where the controller listens: host:port or unix:/path."),
]
Json = Annotated[bool, typer.Option("--json", help="JSON for scripts instead of a table.")]
NodeName = Annotated[str, typer.Argument(help="Name of a node in the configuration.")]
AnyNode = Annotated[str, typer.Argument(help="Name of a node; all without it.", show_default=False)]
Vrf = Annotated[str, typer.Argument(help="VRF.")]
Source = Annotated[str, typer.Argument(help="Source address of the flow.")]
Destination = Annotated[str, typer.Argument(help="Destination address of the flow.")]
DestQp = Annotated[str, typer.Argument(help="Destination QP, decimal or 0x…")]


def fail(message: str, code: int = EXIT_FAILED) -> typer.Exit:
    """Print an error; raise what this returns."""
    err.print(f"[bold red]error:[/] {message}", highlight=False, soft_wrap=True)
    return typer.Exit(code)


@contextmanager
def controller(api: str) -> Iterator[FcnClient]:
    """The running controller; its refusals end the command with a message."""
    try:
        with FcnClient(api) as client:
            yield client
    except ControllerError as error:
        unreachable = "no controller answers" in str(error)
        raise fail(str(error), EXIT_UNREACHABLE if unreachable else EXIT_FAILED) from None


@app.command()
def run(
    config: ConfigFile,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    log_json: Annotated[bool, typer.Option(help="Logs as JSON lines.")] = False,
) -> None:
    """Run the controller until it is stopped (Ctrl-C or SIGTERM)."""
    from fcn.controller.cli.run import RunError, run_controller

    network = _load(config)
    try:
        asyncio.run(run_controller(network, log_level, log_json=log_json))
    except RunError as error:
        raise fail(str(error)) from None


@app.command()
def check(config: ConfigFile) -> None:
    """Say what is wrong with a configuration file, by line."""
    network = _load(config)
    out.print(
        f"{config}: {len(network.nodes)} nodes, {len(network.vrfs)} VRFs, "
        f"{len(network.links)} links: all right",
        highlight=False,
    )


def _load(file: Path) -> Config:
    try:
        return load_config(file)
    except ConfigError as error:
        for problem in error.problems:
            where = f" {problem.where}:" if problem.where else ""
            err.print(
                f"{file}:{problem.line}:{where} {problem.message}",
                highlight=False,
                soft_wrap=True,
                markup=False,
            )
        raise fail(f"{len(error.problems)} problem(s) in {file}", EXIT_CONFIG) from None
    except (OSError, UnicodeDecodeError) as error:
        raise fail(f"cannot read {file}: {error}", EXIT_CONFIG) from None


@app.command()
def status(api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """How the controller stands with every switch."""
    with controller(api) as client:
        tables.show_status(out, client.status(), as_json=as_json)


@flows_app.command("list")
def flows_list(
    node: Annotated[str, typer.Option(help="Only flows that enter the WAN here.")] = "",
    vrf: Annotated[str, typer.Option(help="Only flows of this VRF.")] = "",
    address: Annotated[str, typer.Option(help="Only flows from or to this address.")] = "",
    counters: Annotated[bool, typer.Option(help="Read packet counts from the switches.")] = False,
    silent: Annotated[bool, typer.Option(help="Also known flows without a label now.")] = False,
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """Flows, their labels and queue pairs."""
    with controller(api) as client:
        found = client.flows(
            node=node, vrf=vrf, address=address, counters=counters, unlabelled=silent
        )
        tables.show_flows(out, found, as_json=as_json)


@flows_app.command("show")
def flows_show(
    label_or_address: Annotated[str, typer.Argument(help="A label (0x…) or an address.")],
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """Everything about the flows with a label or an address, with packet counts."""
    with controller(api) as client:
        found = client.flows(counters=True, unlabelled=True)
        wanted = [
            flow
            for flow in found
            if label_or_address in (flow.key.src, flow.key.dst)
            or (flow.HasField("label") and label_or_address in (hex(flow.label), str(flow.label)))
        ]
        if not wanted:
            raise fail(f"no flow has {label_or_address}; `fcn flows list` shows all")
        tables.show_flow_details(out, wanted, as_json=as_json)


@flows_app.command("add")
def flows_add(
    vrf: Vrf,
    src: Source,
    dst: Destination,
    dest_qp: DestQp,
    source_qp: Annotated[str, typer.Argument(help="Queue pair that sends the flow.")],
    timeout: Annotated[
        str | None, typer.Option(help="Silence after which the label is released, or 'never'.")
    ] = None,
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """Register a flow whose set-up cannot be observed."""
    key = _key(vrf, src, dst, dest_qp)
    microseconds = None
    if timeout is not None:
        try:
            microseconds = 0 if timeout == "never" else parse_duration(timeout)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
    with controller(api) as client:
        response = client.add_flow(key, _number(source_qp), microseconds)
        tables.show_flow_details(out, [response.flow], as_json=as_json)
        if not response.written:
            err.print(f"{response.flow.node} is away and gets the flow when it is back")


@flows_app.command("del")
def flows_del(
    vrf: Vrf, src: Source, dst: Destination, dest_qp: DestQp, api: Api = DEFAULT_ENDPOINT
) -> None:
    """Forget a flow and release its label."""
    with controller(api) as client:
        client.delete_flow(_key(vrf, src, dst, dest_qp))


@feature_app.command("enable")
def feature_enable(node: NodeName, api: Api = DEFAULT_ENDPOINT) -> None:
    """Let a node learn flows and send notifications."""
    _set_feature(node, True, api)


@feature_app.command("disable")
def feature_disable(node: NodeName, api: Api = DEFAULT_ENDPOINT) -> None:
    """Let a node forward only; its flows lose their labels."""
    _set_feature(node, False, api)


def _set_feature(node: str, enabled: bool, api: str) -> None:
    with controller(api) as client:
        written = client.set_feature(node, enabled)
    _until_restart(node, f"feature: {'true' if enabled else 'false'}", written)


def _until_restart(node: str, setting: str, written: bool) -> None:
    if not written:
        err.print(f"{node} is away and hears of it when it is back", highlight=False)
    err.print(
        f"holds until the controller is restarted; to keep it, put `{setting}` into the "
        f"configuration of {node}",
        highlight=False,
        soft_wrap=True,
    )


@thresholds_app.command("show")
def thresholds_show(node: AnyNode = "", api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """Queue depths at which levels begin, and what is done at each level."""
    with controller(api) as client:
        tables.show_thresholds(out, client.thresholds(node), as_json=as_json)


@thresholds_app.command("set")
def thresholds_set(
    node: NodeName,
    port: Annotated[int, typer.Argument(help="Port number.")],
    depths: Annotated[
        str,
        typer.Argument(
            help="Depths at which levels 1, 2, … begin, in packets as 8,16,24 or in octets as "
            "64kB,128kB; or 'none'."
        ),
    ],
    queue: Annotated[int, typer.Option(help="Queue of the port.")] = 0,
    api: Api = DEFAULT_ENDPOINT,
) -> None:
    """Change the levels of one queue."""
    try:
        parsed = () if depths == "none" else tuple(map(parse_depth, depths.split(",")))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    with controller(api) as client:
        written = client.set_thresholds(node, port, queue, parsed)
    shown = ", ".join(map(format_depth, parsed))
    setting = f"thresholds: [{{port: {port}, queue: {queue}, depths: [{shown}]}}]"
    _until_restart(node, setting, written)


@app.command()
def counters(
    node: AnyNode = "",
    all_: Annotated[bool, typer.Option("--all", help="Also those that are 0.")] = False,
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
) -> None:
    """What the switches counted: drops by reason, events, ports."""
    with controller(api) as client:
        tables.show_counters(out, client.counters(node), with_zeros=all_, as_json=as_json)


@app.command()
def events(
    api: Api = DEFAULT_ENDPOINT,
    as_json: Json = False,
    count: Annotated[int, typer.Option(help="End after so many; 0: never.", min=0)] = 0,
) -> None:
    """What happens, as it happens: flows, connections, notifications, nodes."""
    with controller(api) as client:
        try:
            for number, event in enumerate(client.events(), start=1):
                tables.show_event(out, event, as_json=as_json)
                if number == count:
                    return
        except KeyboardInterrupt:
            return


@app.command()
def shell(node: NodeName, api: Api = DEFAULT_ENDPOINT) -> None:
    """p4runtime-shell on a switch, to look around in; the controller stays in charge."""
    switch = _switch(node, api)
    try:
        code = open_shell(switch.grpc, switch.device_id, err)
    except ShellError as error:
        raise fail(str(error)) from None
    raise typer.Exit(code)


@app.command()
def capture(
    node: NodeName,
    port: Annotated[int, typer.Argument(help="Port number.", min=0)],
    file: Annotated[
        Path | None,
        typer.Option(
            "--write", "-w", help="Write a pcap to this file (-: standard output), not text."
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", "-c", help="End after so many packets; 0: never.", min=0)
    ] = 0,
    expression: Annotated[
        str, typer.Option("--filter", help="Only these packets: a pcap filter, as udp port 1021.")
    ] = "",
    api: Api = DEFAULT_ENDPOINT,
) -> None:
    """The packets of a switch's port, on the machine where the switch runs."""
    address = _switch(node, api).grpc
    try:
        capture_port(address, node, port, file=file, count=count, expression=expression)
    except CaptureError as error:
        raise fail(str(error)) from None


def _switch(node: str, api: str) -> pb.NodeStatus:
    with controller(api) as client:
        nodes = {item.name: item for item in client.status().nodes}
    if node not in nodes:
        raise fail(f"there is no node {node!r}; the nodes are: {', '.join(nodes)}")
    return nodes[node]


def _key(vrf: str, src: str, dst: str, dest_qp: str) -> FlowKey:
    try:
        return FlowKey(vrf, ip_address(src), ip_address(dst), _number(dest_qp))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _number(text: str) -> int:
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number") from None


def main() -> None:
    """Entry point of `fcn`."""
    # A closed pipe (`fcn flows list | head`) is no error.
    try:
        app()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
