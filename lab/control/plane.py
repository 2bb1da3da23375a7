"""The control plane of a simulated network: the controller's own code on simulated channels."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fcn.controller.app import ControlPlane
from fcn.controller.clock import Clock
from fcn.controller.config import Config
from fcn.controller.finsy_adapter import channels_by
from fcn.controller.leadership.leadership import Leadership
from fcn.lab.control.loop import World
from fcn.lab.control.switch import ControlledSwitch, Hardware, Observer, Request


class ControlError(Exception):
    """The controller cannot run on this network; the message says why."""


@dataclass(frozen=True, slots=True)
class NodeControl:
    """A switch and the one-way delay of its control channel."""

    hardware: Hardware
    delay_ns: int


@dataclass(frozen=True, slots=True)
class Controlled:
    """A control plane that runs, and the switches by node."""

    plane: ControlPlane
    switches: Mapping[str, ControlledSwitch]


def _ignore(_request: Request) -> None:
    """Observe nothing."""


@asynccontextmanager
async def controlled(
    config: Config,
    nodes: Mapping[str, NodeControl],
    world: World,
    *,
    seed: int,
    observer: Observer = _ignore,
) -> AsyncIterator[Controlled]:
    """Run the controller until the context ends; to be entered on the event loop of `world`.

    The time is the world's, wall time too: seconds since it began. Labels are drawn with `seed`.
    `observer` is told of every request when it arrives at a switch. Metrics are not served.
    Raises ControlError, PipelineError, FinsyError.
    """
    if config.host_agents is not None:
        raise ControlError("host agents cannot be simulated; remove host_agents")
    switches: dict[str, ControlledSwitch] = {}
    by_address: dict[str, ControlledSwitch] = {}
    for name, node in config.nodes.items():
        if name not in nodes:
            raise ControlError(f"{name} of the configuration is not in the network")
        control = nodes[name]
        switch = ControlledSwitch(
            name, node.device_id, control.hardware, control.delay_ns, world, observer
        )
        if by_address.setdefault(node.grpc, switch) is not switch:
            raise ControlError(f"{name} has the address of another node: grpc: {node.grpc}")
        switches[name] = switch
    time = asyncio.get_running_loop().time
    clock = Clock(time, time, time)
    plane = ControlPlane(
        config.model_copy(update={"metrics": None, "state": None}),
        clock,
        random.Random(seed),
        # Alone, and the same one in every run.
        Leadership(list(config.nodes), clock, me=1),
    )
    with channels_by(lambda address: by_address[address].channel()):
        async with plane.running():
            yield Controlled(plane, switches)
    for switch in switches.values():
        await switch.stop()
