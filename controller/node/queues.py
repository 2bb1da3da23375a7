"""What waits at a switch: P4Runtime does not tell it, and of the targets only softswitch does."""

from collections.abc import Sequence
from typing import NamedTuple

import grpc

from fcn.contract.proto import trafficmanager_pb2 as tm
from fcn.contract.rpc import Stub
from fcn.controller.finsy_adapter import channel_of
from fcn.controller.node.connection import Connection
from fcn.controller.node.session import SwitchAwayError, answering
from fcn.controller.provision.provision import Provision

TIMEOUT = 1.0
"""Seconds for an answer: who looks at the network waits for it."""


class PortQueue(NamedTuple):
    """The most packets that waited at a port in the last second or two, the level of so many in one
    queue, and their part of the highest threshold."""

    port: int
    packets: int
    level: int
    full: float


class Queues:
    """Those of one switch, read when somebody asks."""

    def __init__(self, provision: Provision, connection: Connection) -> None:
        self._provision = provision
        self._connection = connection

    async def read(self) -> Sequence[PortQueue] | str:
        """A port each; or why nobody knows."""
        channel = channel_of(self._connection.switch)
        if channel is None:
            return f"{self._connection.name} is {self._connection.status.state}"
        try:
            with answering(self._connection.name):
                ask = Stub(channel, tm.DESCRIPTOR.services_by_name["TrafficManager"]).GetPorts
                answer = await ask(tm.GetPortsRequest(), timeout=TIMEOUT)
        except SwitchAwayError as error:
            return str(error)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return "its target does not tell how long queues are, as softswitch does"
            return f"its switch does not tell them: {error.details() or error.code().name}"
        depths = self._depths()
        numbers = {port.number for port in self._provision.node.ports}
        return [
            _graded(each.port, each.counters.queue_peak, depths.get(each.port, ()))
            for each in answer.ports
            if each.port in numbers
        ]

    def _depths(self) -> dict[int, tuple[int, ...]]:
        """By port, packets at which levels begin in the first of its queues that has some; with two
        thresholds the last is the maximum."""
        to = self._provision
        size = to.config.congestion.packet_size
        first = {port: depths for (port, _), depths in sorted(to.thresholds.items())[::-1]}
        return {
            port: tuple(to.pipeline.target.depth.convert(depth, size) for depth in depths)
            for port, depths in first.items()
        }


def _graded(port: int, packets: int, depths: tuple[int, ...]) -> PortQueue:
    level = sum(packets >= depth for depth in depths)
    return PortQueue(port, packets, level, min(1.0, packets / depths[-1]) if depths else 0.0)
