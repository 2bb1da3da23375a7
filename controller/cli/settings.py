"""`fcn feature` and `fcn thresholds`: settings that can be changed at run time."""

from typing import TYPE_CHECKING, Annotated

import typer

from fcn.contract.command_line import Commands
from fcn.contract.depth import Depth
from fcn.contract.ports import LAST_PORT, PORT_BITS, QUEUES
from fcn.controller.cli import tables
from fcn.controller.cli.common import AnyNode, Api, Json, NodeName, controller, err, out, say
from fcn.controller.config.features import Feature
from fcn.controller.config.modes import Notification
from fcn.controller.config.notation import DEFAULT_ENDPOINT, format_depth, parse_depth

if TYPE_CHECKING:
    from fcn.controller.proto import fcn_pb2 as pb

feature_app = Commands(help="Turn features of a node on or off.", no_args_is_help=True)
thresholds_app = Commands(help="Queue depths of congestion levels.", no_args_is_help=True)

_SILENT = {Feature.LEARNING.value}
"""Features that do what they do where nothing is notified."""

FeatureNames = Annotated[
    list[Feature] | None,
    typer.Argument(help="Features; default: all of the node's role.", show_default=False),
]


@feature_app.command("enable")
def feature_enable(
    node: NodeName, features: FeatureNames = None, api: Api = DEFAULT_ENDPOINT
) -> None:
    """Enable learning, translation or notification on a node."""
    _set_features(node, features or [], api, enabled=True)


@feature_app.command("disable")
def feature_disable(
    node: NodeName, features: FeatureNames = None, api: Api = DEFAULT_ENDPOINT
) -> None:
    """Disable features of a node; disabling learning releases the labels of its flows."""
    _set_features(node, features or [], api, enabled=False)


def _set_features(node: str, features: list[Feature], api: str, *, enabled: bool) -> None:
    with controller(api) as client:
        done = client.set_features(node, enabled, features)
        notification = client.status().notification
    if enabled and notification == Notification.NONE and not _SILENT.issuperset(done.features):
        say(
            "the domain has notification: none, so nothing is notified or translated; write "
            "another in the configuration, and put that in force with `fcn apply`",
            err,
        )
    _say_how_long(node, f"features: [{', '.join(done.features)}]", done)


def _say_how_long(
    node: str, setting: str, done: "pb.SetFeaturesResponse | pb.SetThresholdsResponse"
) -> None:
    if not done.written:
        say(f"{node} is away; the change is written when it reconnects", err)
    what = "in effect until the controller is restarted, as its file has no `state`"
    if done.lasting:
        what = f"in effect until the configuration of {node} changes there"
    say(f"{what}; to have it in the file, put `{setting}` into the configuration of {node}", err)


def _port(text: str) -> int:
    """A port's number. Raises typer.BadParameter."""
    if not text.isascii() or not text.isdecimal() or len(text) > PORT_BITS or int(text) > LAST_PORT:
        raise typer.BadParameter(
            f"{text!r} is not a port number, 0 to {LAST_PORT}; write NODE PORT DEPTHS, "
            "as p2 1 8,16,24 (`fcn thresholds show NODE` lists ports)"
        )
    return int(text)


def _depths(text: str) -> tuple[Depth, ...]:
    """Depths with commas between them, or none. Raises typer.BadParameter."""
    if text == "none":
        return ()
    try:
        return tuple(parse_depth(depth.strip()) for depth in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"{error}; put commas between depths, as 8,16,24, or write none alone"
        ) from None


@thresholds_app.command("show")
def thresholds_show(node: AnyNode = "", api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """Show the queue depths at which levels begin, and the policy of each level."""
    with controller(api) as client:
        tables.show_thresholds(out, client.thresholds(node), as_json=as_json)


@thresholds_app.command("set")
def thresholds_set(
    node: NodeName,
    port: Annotated[int, typer.Argument(help="Port number.", parser=_port, metavar="INTEGER")],
    depths: Annotated[
        list[str],
        typer.Argument(
            help="Depths at which levels 1, 2, … begin, in packets as 8,16,24 or in octets as "
            "64kB,128kB; or 'none'. In the two-threshold mode T1, T2 and the maximum."
        ),
    ],
    queue: Annotated[
        int, typer.Option(help="Queue of the port.", min=QUEUES[0], max=QUEUES[-1])
    ] = 0,
    api: Api = DEFAULT_ENDPOINT,
) -> None:
    """Change the thresholds of one queue."""
    parsed = _depths(",".join(part.strip().removesuffix(",") for part in depths))
    with controller(api) as client:
        done = client.set_thresholds(node, port, queue, parsed)
    shown = ", ".join(map(format_depth, parsed))
    setting = f"thresholds: [{{port: {port}, queue: {queue}, depths: [{shown}]}}]"
    _say_how_long(node, setting, done)
