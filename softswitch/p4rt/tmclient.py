"""Client of the softswitch's TrafficManager service."""

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any

import grpc

from fcn.contract.proto import trafficmanager_pb2 as tm
from fcn.contract.rpc import Stub


class TrafficManagerClient:
    """Queue settings and port counters of a running softswitch at HOST:PORT, in plain text or, with
    `credentials`, over TLS; `name`: in the switch's certificate, where that is not the host.

    Use as an asynchronous context manager. Calls raise grpc.aio.AioRpcError with NOT_FOUND for a
    port that is not attached and INVALID_ARGUMENT for impossible settings.
    """

    def __init__(
        self,
        address: str,
        credentials: grpc.ChannelCredentials | None = None,
        name: str | None = None,
    ) -> None:
        self._address = address
        self._credentials = credentials
        self._options = [("grpc.ssl_target_name_override", name)] if name else []
        self._channel: Any = None
        self._stub: Any = None

    async def __aenter__(self) -> "TrafficManagerClient":
        if self._credentials is None:
            self._channel = grpc.aio.insecure_channel(self._address)
        else:
            self._channel = grpc.aio.secure_channel(
                self._address, self._credentials, options=self._options
            )
        self._stub = Stub(self._channel, tm.DESCRIPTOR.services_by_name["TrafficManager"])
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._channel.close()

    async def set_queue(
        self,
        port: int,
        *,
        depth: int | None = None,
        rate_pps: int | None = None,
        rate_bps: int | None = None,
        delay_ns: int | None = None,
    ) -> tm.PortQueue:
        """Change the given settings, keep the others and return all; rate 0 is unlimited.

        depth in packets per priority queue, rates in packets or bits per second.
        """
        queue = tm.PortQueue(depth=depth, rate_pps=rate_pps, rate_bps=rate_bps, delay_ns=delay_ns)
        request = tm.SetPortQueueRequest(port=port, queue=queue)
        response: tm.SetPortQueueResponse = await self._stub.SetPortQueue(request)
        return response.queue

    async def ports(self, ports: Sequence[int] = ()) -> dict[int, tm.Port]:
        """State, settings and counters of the given ports or of all, by number."""
        response: tm.GetPortsResponse = await self._stub.GetPorts(tm.GetPortsRequest(ports=ports))
        return {port.port: port for port in response.ports}

    async def watch_queues(
        self, ports: Sequence[int] = (), *, interval_ns: int = 10_000_000
    ) -> AsyncIterator[tm.QueueSample]:
        """Queue depths of the given ports or of all, every `interval_ns` (at least 1 ms)."""
        request = tm.WatchQueuesRequest(ports=ports, interval_ns=interval_ns)
        async for sample in self._stub.WatchQueues(request):
            yield sample

    async def statistics(self) -> dict[str, int]:
        """What the switch lost or suppressed, by name."""
        response: tm.GetStatisticsResponse = await self._stub.GetStatistics(
            tm.GetStatisticsRequest()
        )
        return dict(response.counters)
