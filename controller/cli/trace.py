"""`fcn trace`: stories of packets, told by the package `softswitch`."""

import os
from typing import TYPE_CHECKING

import typer

from fcn.controller.cli.capture import CaptureError, controller_process, entering
from fcn.controller.cli.common import ended_by, switch_of
from fcn.controller.cli.programs import become
from fcn.controller.config.notation import DEFAULT_ENDPOINT

if TYPE_CHECKING:
    from fcn.controller.proto import fcn_pb2 as pb


def trace(context: typer.Context) -> None:
    """Tell what packets pass in a switch, and why they end: `fcn trace --help`."""
    api, arguments = _taken(context.args, "--api")
    if arguments and not arguments[0].startswith("-"):
        node = arguments.pop(0)
        arguments = ["--node", node, *_reach(switch_of(node, api)), *arguments]
        # The switch's address is one of where the controller runs.
        with ended_by(CaptureError):
            inside = entering(controller_process(api))
        become("fcn.softswitch.tracer", arguments, inside=inside)
    become("fcn.softswitch.tracer", context.args)


def _taken(arguments: list[str], option: str) -> tuple[str, list[str]]:
    """The value of --api, which only this command knows, and the other arguments."""
    value, left = os.environ.get("FCN_API") or DEFAULT_ENDPOINT, []
    given = iter(arguments)
    for argument in given:
        name, _, joined = argument.partition("=")
        if name == option:
            value = joined or next(given, "")
        else:
            left.append(argument)
    return value, left


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
