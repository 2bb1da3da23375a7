"""Calls of the softswitch's TrafficManager service."""

import grpc

from fcn.contract.proto import trafficmanager_pb2 as tm
from fcn.contract.rpc import Stub


def manager_at(channel: grpc.aio.Channel) -> Stub:
    """The service at the other end."""
    return Stub(channel, tm.DESCRIPTOR.services_by_name["TrafficManager"])


async def set_queue(client: Stub, port: int, **settings: int) -> tm.PortQueue:
    """All settings that are in force then."""
    request = tm.SetPortQueueRequest(port=port, queue=tm.PortQueue(**settings))
    return (await client.SetPortQueue(request)).queue


async def ports_of(client: Stub, *ports: int) -> dict[int, tm.Port]:
    """By number."""
    answer = await client.GetPorts(tm.GetPortsRequest(ports=ports))
    return {each.port: each for each in answer.ports}


async def statistics(client: Stub) -> dict[str, int]:
    """What the switch lost or suppressed, by name."""
    return dict((await client.GetStatistics(tm.GetStatisticsRequest())).counters)
