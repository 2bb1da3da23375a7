"""Client of the softswitch's traffic manager: port settings and recorded queue depths."""

import threading
import time
from dataclasses import dataclass

import grpc

from fcn.contract.proto import trafficmanager_pb2 as pb
from fcn.contract.rpc import Stub
from fcn.topologies.model import NS_PER_MS, ROOMY_DEPTH, Port, Queue

SAMPLE_NS = 2 * NS_PER_MS
STREAM_END_S = 5.0


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Packets waiting at a port; CLOCK_MONOTONIC nanoseconds, drops and packets sent so far."""

    time_ns: int
    depth: int
    sent: int
    drops: int


class TrafficManager:
    """Context manager around one switch's service."""

    def __init__(self, endpoint: str) -> None:
        self._channel = grpc.insecure_channel(endpoint)
        self.stub = Stub(self._channel, pb.DESCRIPTOR.services_by_name["TrafficManager"])

    def __enter__(self) -> "TrafficManager":
        return self

    def __exit__(self, *_exc: object) -> None:
        self._channel.close()

    def shape(self, port: Port, queue: Queue | None) -> None:
        """Set the propagation delay and the rate of a port, and its queue's depth and rate."""
        settings = pb.PortQueue(delay_ns=port.delay_ns, rate_bps=port.rate_bps, depth=ROOMY_DEPTH)
        if queue is not None:
            settings.depth = queue.depth
            settings.rate_pps = queue.rate_pps
        self.stub.SetPortQueue(pb.SetPortQueueRequest(port=port.number, queue=settings))

    def pace(self, port: int, rate_pps: int) -> None:
        """Set how many packets per second come round on a port."""
        queue = pb.PortQueue(rate_pps=rate_pps)
        self.stub.SetPortQueue(pb.SetPortQueueRequest(port=port, queue=queue))

    def queue_drops(self, port: int) -> int:
        """Packets lost to a full queue since the pipeline started."""
        answer = self.stub.GetPorts(pb.GetPortsRequest(ports=[port]))
        return int(answer.ports[0].counters.queue_drops)


class QueueRecorder:
    """Records the depth of one port's queue in a thread from creation to `stop`."""

    def __init__(self, endpoint: str, port: int) -> None:
        self._manager = TrafficManager(endpoint)
        self._port = port
        # The samples carry wall-clock time, everything else here is monotonic.
        self._to_monotonic = time.monotonic_ns() - time.time_ns()
        self._samples: list[QueueDepth] = []
        request = pb.WatchQueuesRequest(ports=[port], interval_ns=SAMPLE_NS)
        self._stream = self._manager.stub.WatchQueues(request)
        self._error: grpc.RpcError | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for sample in self._stream:
                time_ns = sample.time_ns + self._to_monotonic
                for port in sample.ports:
                    self._samples.append(
                        QueueDepth(time_ns, port.queue_depth, port.tx_packets, port.queue_drops)
                    )
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.CANCELLED:
                self._error = error

    def stop(self) -> tuple[QueueDepth, ...]:
        """End the recording and return all samples; raises what ended the stream early."""
        self._stream.cancel()
        self._thread.join(STREAM_END_S)
        self._manager.__exit__(None, None, None)
        if self._error is not None:
            raise self._error
        return tuple(self._samples)
