"""What the commands that run topologies have in common."""

import shutil

import typer
from rich.console import Console
from rich.text import Text

from fcn.controller.northbound.client import ControllerError
from fcn.hosts.build import BuildError
from fcn.hosts.processes import ProcessError
from fcn.topologies.api import commands_for_network, commands_to_try
from fcn.topologies.cables import CableError
from fcn.topologies.catalog import NetworkError
from fcn.topologies.hosts import HostError
from fcn.topologies.isolation import IsolationError
from fcn.topologies.model import Topology
from fcn.topologies.network import SWITCHES, Network, Target

FAILURES = (
    BuildError, CableError, ControllerError, HostError, IsolationError, NetworkError, ProcessError,
)  # fmt: skip
"""What a topology can fail with; the message says why and what to do."""

HOW_TO_END = "Ctrl-C, or SIGTERM to this process, ends it"


def choose_target(name: str) -> Target:
    """The target of that name; without one BMv2 where it is installed, else the softswitch."""
    if not name:
        return "bmv2" if shutil.which("simple_switch_grpc") else "softswitch"
    for target in SWITCHES:
        if target == name:
            return target
    raise typer.BadParameter(f"no target {name}; there are {', '.join(SWITCHES)}")


def say_failure(console: Console, reason: object) -> None:
    """Print why it failed, as it is written."""
    console.print(Text.assemble(("failed:", "bold red"), " ", str(reason)), soft_wrap=True)


def _link_to_cut(topology: Topology) -> str:
    """One that a path of a policy passes, or else the first one."""
    for policy in topology.policies:
        node = policy.ways[0].via[-1]
        return ":".join(topology.path(node, policy.to)[:2])
    return f"{topology.links[0].a}:{topology.links[0].b}"


def say_how_to_look(console: Console, network: Network) -> None:
    """Print the commands for another terminal, each whole on its line."""
    text = f"look at it in a browser on this machine: {network.page}\n" if network.page else ""
    text += f"look at it from another terminal:\n{commands_to_try(network.api)}"
    topology, directory = network.topology, network.directory
    if topology.detection:
        watched = commands_to_try(network.api, ("paths", "links"))
        link = _link_to_cut(topology)
        text += f"\n{watched}\n{commands_for_network(directory, f'cut {link}', f'mend {link}')}"
    console.print(text, soft_wrap=True, highlight=False, markup=False)
