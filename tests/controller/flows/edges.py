"""Ingress PEs, and a clock, for tests of the flow service."""

from collections import Counter

from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey


class HandClock:
    """Seconds that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Edge:
    """An ingress PE that records its flows, of which it has room for so many of an IP version."""

    def __init__(self, room: int = 16384) -> None:
        self.room = room
        self.learning = True
        self.up_for = 3600.0
        self.flows: dict[FlowKey, Flow] = {}
        self.writes = 0
        self._held = Counter[int]()

    def heard_for(self) -> float:
        return self.up_for

    def capacity(self, ip_version: int) -> int:
        return self.room

    def install(self, flow: Flow, before: Flow | None = None) -> None:
        version = flow.key.src.version
        self._held[version] += flow.key not in self.flows
        assert self._held[version] <= self.room
        self.flows[flow.key] = flow
        self.writes += 1

    def clear(self) -> None:
        self.flows.clear()
        self._held.clear()

    def remove(self, flow: Flow, successor: str | None = None) -> None:
        self._held[flow.key.src.version] -= 1
        del self.flows[flow.key]
