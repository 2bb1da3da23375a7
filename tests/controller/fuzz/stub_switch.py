"""A switch that delivers what a PE would, and does nothing with what it is told."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from finsy.p4entity import P4DigestListAck
from finsy.proto import p4d

from fcn.controller.finsy_adapter import Data


class Digests(list[Data]):
    """A digest list, as finsy has it, of a switch that does not say when."""

    def __init__(self, items: Sequence[dict[str, int]]) -> None:
        super().__init__(
            [p4d.P4Data(bitstring=value.to_bytes(16)) for value in item.values()] for item in items
        )

    timestamp = 0
    list_id = 0

    def ack(self) -> P4DigestListAck:
        """Of no use to a stub."""
        return cast(P4DigestListAck, None)


class Askers(list[dict[str, int]]):
    """A list of hosts that asked for their gateway, as finsy has it."""

    def ack(self) -> P4DigestListAck:
        """Of no use to a stub."""
        return cast(P4DigestListAck, None)


@dataclass
class Packet:
    """A packet-in, as finsy has it."""

    fields: dict[str, int]
    payload: bytes

    def __getitem__(self, name: str) -> int:
        return self.fields[name]


@dataclass
class StubSwitch:
    """Delivers what is queued."""

    queues: dict[str, asyncio.Queue[Any]] = field(default_factory=dict)

    def queue(self, name: str) -> asyncio.Queue[Any]:
        """By the kind of message."""
        return self.queues.setdefault(name, asyncio.Queue())

    async def _deliver(self, name: str) -> AsyncIterator[Any]:
        while True:
            yield await self.queue(name).get()
            self.queue(name).task_done()

    def read_digests(self, name: str, *, queue_size: int) -> AsyncIterator[Any]:
        """Lists of a digest."""
        return self._deliver(name)

    def read_idle_timeouts(self, *, queue_size: int) -> AsyncIterator[Any]:
        """None: the world tells the flow service itself."""
        return self._deliver("idle")

    def read_packets(self, *, queue_size: int) -> AsyncIterator[Any]:
        """Packet-ins."""
        return self._deliver("packets")


async def acknowledged(_ack: P4DigestListAck) -> None:
    """A switch takes every acknowledgement."""
