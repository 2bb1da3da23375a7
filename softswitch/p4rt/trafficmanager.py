"""The TrafficManager service: queue settings, port counters and queue depths over gRPC."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, replace
from typing import NoReturn

import grpc
from grpc.aio import ServicerContext

from fcn.contract.proto import trafficmanager_pb2 as tm
from fcn.softswitch.p4rt.ports import PortError, Ports

_MIN_INTERVAL_NS = 1_000_000
_DEFAULT_INTERVAL_NS = 10_000_000
_NS = 1e-9
_COUNTED = tuple(field.name for field in tm.PortCounters.DESCRIPTOR.fields)


class TrafficManagerService:
    """fcn.softswitch.v1.TrafficManager of one device."""

    def __init__(self, ports: Ports, statistics: Callable[[], Mapping[str, int]]) -> None:
        self._ports = ports
        self._statistics = statistics

    async def SetPortQueue(  # noqa: N802
        self, request: tm.SetPortQueueRequest, context: ServicerContext
    ) -> tm.SetPortQueueResponse:
        """Change the settings that are present."""
        given = {field.name: value for field, value in request.queue.ListFields()}
        if given.get("depth") == 0:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "depth must be at least 1")
        for rate in ("rate_pps", "rate_bps"):
            if given.get(rate) == 0:
                given[rate] = None
        try:
            queue = replace(self._ports.queue(request.port), **given)
            self._ports.set_queue(request.port, queue)
        except PortError as error:
            await _not_found(context, error)
        return tm.SetPortQueueResponse(queue=tm.PortQueue(**asdict(queue)))

    async def GetPorts(  # noqa: N802
        self, request: tm.GetPortsRequest, context: ServicerContext
    ) -> tm.GetPortsResponse:
        try:
            chosen = self._ports.select(request.ports)
        except PortError as error:
            await _not_found(context, error)
        return tm.GetPortsResponse(ports=[self._port(port) for port in chosen])

    async def WatchQueues(  # noqa: N802
        self, request: tm.WatchQueuesRequest, context: ServicerContext
    ) -> AsyncIterator[tm.QueueSample]:
        """A sample every interval; samples missed are skipped."""
        try:
            chosen = self._ports.select(request.ports)
        except PortError as error:
            await _not_found(context, error)
        interval = max(request.interval_ns or _DEFAULT_INTERVAL_NS, _MIN_INTERVAL_NS)
        due = time.monotonic_ns()
        while True:
            yield self._sample(chosen)
            due = max(due + interval, time.monotonic_ns())
            await asyncio.sleep((due - time.monotonic_ns()) * _NS)

    async def GetStatistics(  # noqa: N802
        self, request: tm.GetStatisticsRequest, context: ServicerContext
    ) -> tm.GetStatisticsResponse:
        """Counters of the server and the engine."""
        return tm.GetStatisticsResponse(counters=self._statistics())

    def _port(self, port: int) -> tm.Port:
        counters = self._ports.counters(port)
        return tm.Port(
            port=port,
            interface=self._ports.interfaces[port],
            up=self._ports.up[port],
            queue=tm.PortQueue(**asdict(self._ports.queues[port])),
            counters=tm.PortCounters(**{name: getattr(counters, name) for name in _COUNTED}),
        )

    def _sample(self, ports: list[int]) -> tm.QueueSample:
        sample = tm.QueueSample(time_ns=time.time_ns())
        for port in ports:
            counters = self._ports.counters(port)
            sample.ports.add(
                port=port,
                queue_depth=counters.queue_depth,
                queue_peak=counters.queue_peak,
                tx_packets=counters.tx_packets,
                queue_drops=counters.queue_drops,
            )
        return sample


async def _not_found(context: ServicerContext, error: PortError) -> NoReturn:
    await context.abort(grpc.StatusCode.NOT_FOUND, str(error))
    raise AssertionError("abort() does not return")
