"""`fcn trace`: stories of packets, told by the package `softswitch`."""

import os
from itertools import islice
from typing import TYPE_CHECKING

import typer

from fcn.controller.cli.capture import CaptureError, controller_process, entering
from fcn.controller.cli.common import ended_by, switch_of
from fcn.controller.cli.programs import become
from fcn.controller.config.notation import DEFAULT_ENDPOINT

if TYPE_CHECKING:
    from fcn.controller.proto import fcn_pb2 as pb

FLAGS = frozenset({"--full", "--json", "--help"})
"""Options of the program without a value."""


def trace(context: typer.Context) -> None:
    """Tell what packets pass in a switch, and why they end: `fcn trace --help`."""
    api, node, arguments = _taken(context.args)
    if node is not None:
        arguments = ["--node", node, *_reach(switch_of(node, api)), *arguments]
        # The switch's address is one of where the controller runs.
        with ended_by(CaptureError):
            inside = entering(controller_process(api))
        become("fcn.softswitch.tracer", arguments, inside=inside)
    become("fcn.softswitch.tracer", context.args)


def _taken(arguments: list[str]) -> tuple[str, str | None, list[str]]:
    """What only this command knows: the value of --api and the node, which may be anywhere; and the
    other arguments."""
    apis, nodes, left = list[str](), list[str](), list[str]()
    given = iter(arguments)
    for argument in given:
        name, _, joined = argument.partition("=")
        if name == "--api":
            apis.append(joined or next(given, ""))
        elif not argument.startswith("-"):
            nodes.append(argument)
        else:
            left.append(argument)
            # Of -c3 the value is there.
            if argument not in FLAGS and (len(argument) == len("-c") or argument.startswith("--")):
                left += [] if "=" in argument else islice(given, 1)
    if len(apis) > 1:
        raise typer.BadParameter(f"--api is given {len(apis)} times, and takes one value")
    if len(nodes) > 1:
        raise typer.BadParameter(f"one node at a time, not {' and '.join(nodes)}")
    return (
        apis[0] if apis else os.environ.get("FCN_API") or DEFAULT_ENDPOINT,
        nodes[0] if nodes else None,
        left,
    )


def _reach(switch: "pb.NodeStatus") -> list[str]:
    """How the controller reaches a switch, as options."""
    options = ["--switch", switch.grpc, "--device-id", str(switch.device_id)]
    if switch.HasField("tls"):
        tls = {
            "--ca": switch.tls.ca,
            "--certificate": switch.tls.certificate,
            "--key": switch.tls.key,
            "--name": switch.tls.name,
        }
        for option, value in tls.items():
            options += [option, value] if value else []
    return options
