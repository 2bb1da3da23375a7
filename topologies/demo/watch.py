"""Looking at a run while it goes on: growing logs and moving counters."""

import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import grpc
from finsy.proto import p4r, p4r_grpc

from topologies.controller_config import grpc_endpoint
from topologies.counters import enum_names, p4info
from topologies.model import Node, Topology
from topologies.roce.log import parse_line

SAMPLE_S = 0.1
READ_TIMEOUT_S = 5.0
# The events of a notification's way, with the role of the node that counts them.
WATCHED = {"p": "FAST_CNP_SENT", "pe": "CNP_SENT"}


@dataclass(frozen=True, slots=True)
class CounterSample:
    """Fast CNPs sent by P nodes and CNPs sent by PEs since the switches started."""

    time_ns: int
    fast_cnps: int
    pe_cnps: int


class LogTail:
    """The newest state in a log that is still being written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rates: dict[int, float] = {}
        self.counts: Counter[str] = Counter()

    def read(self) -> None:
        """Take in the lines completed since the last call."""
        if not self._path.exists():
            return
        with self._path.open("rb") as log:
            log.seek(self._offset)
            text = log.read()
        complete = text.rfind(b"\n") + 1
        self._offset += complete
        for line in text[:complete].decode().splitlines():
            event = parse_line(line, str(self._path))
            self.counts[event.name] += 1
            if event.name in ("rate", "cnp"):
                self._rates[event["qp"]] = event["rate_bps"]

    @property
    def rate_bps(self) -> float:
        """Sum of the queue pairs' current rates."""
        return sum(self._rates.values())


class CounterWatch:
    """Context manager that samples the notification counters of all nodes in a thread."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._channels = [
            grpc.insecure_channel(grpc_endpoint(topology, n.name)) for n in topology.nodes
        ]
        self._samples: list[CounterSample] = []
        self._ending = threading.Event()
        self._error: grpc.RpcError | None = None
        self._first = self._sample()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "CounterWatch":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        self._thread.join()
        for channel in self._channels:
            channel.close()

    def _run(self) -> None:
        try:
            while not self._ending.wait(SAMPLE_S):
                self._samples.append(self._sample())
        except grpc.RpcError as error:
            self._error = error

    def _sample(self) -> CounterSample:
        sums = {"p": 0, "pe": 0}
        for node, channel in zip(self._topology.nodes, self._channels, strict=True):
            sums[node.role] += self._read(node, p4r_grpc.P4RuntimeStub(channel))
        return CounterSample(time.monotonic_ns(), sums["p"], sums["pe"])

    def _read(self, node: Node, stub: p4r_grpc.P4RuntimeStub) -> int:
        counter = next(c for c in p4info(node.role).counters if c.preamble.alias == "events")
        names = enum_names(node.role, "Event")
        index = next(value for value, name in names.items() if name == WATCHED[node.role])
        request = p4r.ReadRequest(device_id=self._topology.index(node.name))
        entry = request.entities.add().counter_entry
        entry.counter_id = counter.preamble.id
        entry.index.index = index
        answers = [
            entity.counter_entry.data.packet_count
            for response in stub.Read(request, timeout=READ_TIMEOUT_S)
            for entity in response.entities
        ]
        return sum(answers)

    @property
    def fast_cnps(self) -> int:
        """Fast CNPs sent since the watch began, as of the newest sample."""
        return (
            self._samples[-1] if self._samples else self._first
        ).fast_cnps - self._first.fast_cnps

    def stop(self) -> tuple[CounterSample, ...]:
        """End it; samples count from its beginning. Raises what ended it early."""
        self._ending.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        return tuple(
            CounterSample(
                sample.time_ns,
                sample.fast_cnps - self._first.fast_cnps,
                sample.pe_cnps - self._first.pe_cnps,
            )
            for sample in self._samples
        )
