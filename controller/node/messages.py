"""Messages from a switch to the controller: digests, idle timeout notifications, packet-ins."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar, cast

import finsy as fy
from finsy.p4entity import P4DigestListAck

from fcn.controller.config.addressing import vrf_names
from fcn.controller.flows.service import FlowService
from fcn.controller.flows.trail import SKEW
from fcn.controller.node.connection import Connection
from fcn.controller.node.digests import cm_message, new_flow
from fcn.controller.node.failures import Failures
from fcn.controller.node.lateness import Lateness
from fcn.controller.node.provision import Provision
from fcn.controller.node.readback import flow_key, read
from fcn.controller.node.session import answering
from fcn.controller.owners.flow_learning import DIGESTS, FlowLearning, NewFlow, Report
from fcn.controller.owners.flow_table import FlowMatch, FlowTable

T = TypeVar("T")

QUEUE = 100_000
"""Messages of each kind that are queued at most."""

PacketHandler = Callable[[fy.P4PacketIn], Awaitable[None]]


class Messages:
    """Receives one switch's messages and passes them to the services.

    `acknowledge` receives the acknowledgement of each digest list once it is processed.
    """

    def __init__(
        self,
        provision: Provision,
        connection: Connection,
        flows: FlowService,
        on_packet: PacketHandler,
        acknowledge: Callable[[P4DigestListAck], None],
    ) -> None:
        self._name = provision.name
        self._is_pe = provision.is_pe
        self._vrf_names = vrf_names(provision.config)
        self._connection = connection
        self._switch = connection.switch
        self._flows = flows
        self._on_packet = on_packet
        self._acknowledge = acknowledge
        self.failures = Failures(provision.name)

    def start(self, synchronized: asyncio.Event) -> None:
        """Receive messages until the connection ends; process them once `synchronized` is set."""
        if self._is_pe:
            lateness = Lateness()
            for digest in DIGESTS:
                self._connection.start(digest, self._read_digests(digest, synchronized, lateness))
            self._connection.start("idle", self._read_idle(synchronized))
        self._connection.start("packets", self._read_packets(synchronized))

    async def check_idle(self) -> None:
        """Release flows whose idle notification was missed, as while the switch was away.

        Raises SwitchAwayError when that happens meanwhile.
        """
        if not self._connection.is_up or not self._is_pe:
            return
        with answering(self._name):
            for pattern in FlowTable.timed():
                async for entry in read(self._switch, pattern):
                    self._idle(FlowTable.overdue(entry))

    async def _read_digests(
        self, name: str, synchronized: asyncio.Event, lateness: Lateness
    ) -> None:
        async with _closed(self._switch.read_digests(name, queue_size=QUEUE)) as digests:
            async for digest in digests:
                in_time = lateness.of(digest.timestamp) <= SKEW
                await synchronized.wait()
                for item in digest:
                    with self.failures.survived(name, item):
                        self._reported(FlowLearning.report(name, item), in_time)
                self._acknowledge(digest.ack())

    def _reported(self, report: Report, in_time: bool) -> None:
        vrf = self._vrf_names.get(report.vrf)
        if vrf is None:
            return
        if isinstance(report, NewFlow):
            self._flows.seen(self._name, *new_flow(vrf, report), in_time=in_time)
        else:
            self._flows.connection_message(self._name, cm_message(vrf, report))

    async def _read_idle(self, synchronized: asyncio.Event) -> None:
        async with _closed(self._switch.read_idle_timeouts(queue_size=QUEUE)) as notifications:
            async for notification in notifications:
                await synchronized.wait()
                for entry in notification:
                    with self.failures.survived("idle notification", entry):
                        self._idle(FlowTable.flow_of(entry))

    def _idle(self, flow: FlowMatch | None) -> None:
        key = flow_key(flow, self._vrf_names)
        if key is not None:
            self._flows.idle(self._name, key)

    async def _read_packets(self, synchronized: asyncio.Event) -> None:
        async with _closed(self._switch.read_packets(queue_size=QUEUE)) as packets:
            async for packet in packets:
                await synchronized.wait()
                with self.failures.survived("packet", packet.payload):
                    await self._on_packet(packet)


def _closed(messages: AsyncIterator[T]) -> aclosing[AsyncGenerator[T, None]]:
    """Closes finsy's message queue when reading ends, because the next connection opens a new one.

    finsy's iterators are generators, although annotated as iterators; without this, one that ends
    with an exception stays open until its traceback is garbage-collected.
    """
    return aclosing(cast(AsyncGenerator[T, None], messages))
