"""Messages from a switch to the controller: digests, idle timeout notifications, packet-ins."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Set
from contextlib import aclosing
from functools import partial
from typing import TypeVar, cast

import finsy as fy
from finsy.p4entity import P4DigestListAck

from fcn.contract.names import NEIGHBOR_DIGESTS
from fcn.controller.config.addressing import vrf_names
from fcn.controller.finsy_adapter import Data
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.refusals import RefusalReason
from fcn.controller.flows.service import FlowService
from fcn.controller.flows.trail import Sample
from fcn.controller.node.connection import Connection
from fcn.controller.node.failures import Failures
from fcn.controller.node.inbox import FairQueue, Inbox, Source
from fcn.controller.node.lastseen import LastSeen
from fcn.controller.node.readback import flow_key, read_entries
from fcn.controller.node.session import answering
from fcn.controller.owners.flow_learning import DIGESTS, FlowLearning, NewFlow, Report
from fcn.controller.owners.flow_tables import FlowMatch, FlowTable
from fcn.controller.owners.gateway import Asker, Gateway
from fcn.controller.owners.punt import Punt
from fcn.controller.provision.provision import Provision

T = TypeVar("T")
M = TypeVar("M")

QUEUE = 100_000
"""Messages of each kind that are queued at most until the switch is synchronized."""

WAITING = 1 << 23
"""Octets of them all; decoded they take up to 25 times as much memory."""

SHOWN = 256
"""Octets of a message that the log shows."""

ACKS = 256
"""Acknowledgements that wait at most; a switch does without them after ACK_TIMEOUT_NS."""

PACKETS = 1024
"""Packets for the controller that wait at most, of all VRFs."""

LARGEST_PACKET = 1 << 14
"""Octets; no frame is larger."""

IDLE_PAGE = 64
"""Flows that are looked at in one request."""

OLD = 1.0
"""Seconds after the synchronization within which messages of the time before it come."""

SOURCE_MAC = slice(6, 12)

_KINDS = {"idle_timeout_notification": "idle notification"}
"""Of messages, where P4Runtime has another word."""

PacketHandler = Callable[[fy.P4PacketIn], Awaitable[None]]
AskerHandler = Callable[[Asker], Awaitable[None]]


class Messages:
    """Receives one switch's messages and passes them to the services: reports through `inbox`,
    packets through a queue of the switch's own, because a switch that takes no answer delays them.
    Digest lists are acknowledged when their reports are queued. `clock` is monotonic, in seconds.
    """

    def __init__(
        self,
        provision: Provision,
        connection: Connection,
        flows: FlowService,
        inbox: Inbox,
        on_packet: PacketHandler,
        on_asker: AskerHandler,
        clock: Callable[[], float],
    ) -> None:
        self._name = provision.name
        self._is_pe = provision.is_pe
        self._node = provision.node
        self._vrf_names = vrf_names(provision.config)
        self._vrf_id = provision.vrf_id
        self._flow_table = provision.flow_table
        self._connection = connection
        self._switch = connection.switch
        self._flows = flows
        self._inbox = inbox
        self._packets: FairQueue[Callable[[], Awaitable[None]]] = FairQueue(PACKETS)
        self._packets_wait = asyncio.Event()
        self._on_packet = on_packet
        self._on_asker = on_asker
        self._acks: deque[P4DigestListAck] = deque(maxlen=ACKS)
        self._acks_wait = asyncio.Event()
        self._clock = clock
        self._lateness = connection.lateness
        self._last_seen = LastSeen(clock)
        self.failures = Failures(provision.name, clock)
        self.lost = 0
        """Lists of reports that the switch has sent, and that did not come here."""
        self._synchronized: asyncio.Event | None = None
        """Of the session, once its messages are read."""
        self._settled_at = math.inf
        self._reused: Set[int] = frozenset()
        """VRF IDs that were others' in messages that may be of the time before."""
        self._waiting = 0
        """Octets that came before."""

    def admits(self, kind: str, octets: int) -> bool:
        """Whether a message of this size may wait for its turn; one that may not is counted."""
        kind = _KINDS.get(kind, kind)
        if kind == "packet" and octets > LARGEST_PACKET:
            self.failures.dropped(kind, f"it has {octets} octets")
            return False
        if self._synchronized is None:
            # finsy would log what customers' packets say.
            return False
        if self._synchronized.is_set():
            return True
        if self._waiting + octets > WAITING:
            self.failures.dropped(kind, "more came than may wait until the switch is synchronized")
            return False
        self._waiting += octets
        return True

    def undecodable(self, kind: str, message: bytes) -> None:
        """A message is not as the program declares it."""
        self.failures.failed(_KINDS.get(kind, kind), message[:SHOWN])

    def start(self, synchronized: asyncio.Event, reused: Set[int] = frozenset()) -> None:
        """Receive messages until the connection ends; process them once `synchronized` is set.

        reused: VRF IDs by which the switch may mean other VRFs until then."""
        self._lateness.begin()
        self._synchronized, self._waiting = None, 0
        self._reused, self._settled_at = reused, math.inf
        if self._is_pe:
            for digest in DIGESTS:
                self._connection.start(digest, self._read_digests(digest, synchronized))
            for digest in NEIGHBOR_DIGESTS.values():
                self._connection.start(digest, self._read_askers(digest, synchronized))
            self._connection.start("idle", self._read_idle(synchronized))
            self._connection.start("acknowledgements", self._send_acks())
        self._connection.start("packets", self._read_packets(synchronized))
        self._connection.start("packets handled", self._handle_packets())

    def settle(self) -> None:
        """The switch is synchronized."""
        self._settled_at = self._clock() + OLD

    def _vrf(self, number: int) -> str | None:
        """The VRF that a message means; None for none of the configuration, or perhaps another."""
        if number in self._reused and self._clock() < self._settled_at:
            return None
        return self._vrf_names.get(number)

    async def check_idle(self) -> None:
        """Release flows whose idle notification was missed, as while the switch was away, or does
        not come because the entry is changed too often.

        Raises SwitchAwayError when that happens meanwhile.
        """
        if not self._connection.is_up or not self._is_pe:
            return
        flows = self._flows.on_node(self._name).values()
        timed = {flow.key: flow for flow in flows if flow.timeout}
        self._last_seen.keep(timed)
        keys = list(timed)
        for first in range(0, len(keys), IDLE_PAGE):
            # Who waits for something else should not wait for a table of any size.
            patterns = [
                self._flow_table.timed(self._vrf_id(key.vrf), key.src, key.dst, key.dest_qp)
                for key in keys[first : first + IDLE_PAGE]
            ]
            with answering(self._name):
                async for entry in read_entries(self._switch, patterns):
                    if isinstance(entry, fy.P4TableEntry):
                        self._idle(FlowTable.overdue(entry) or self._silent(entry, timed))

    def _silent(self, entry: fy.P4TableEntry, timed: Mapping[FlowKey, Flow]) -> FlowMatch | None:
        """The flow of an entry, if it has counted no packet for twice the timeout."""
        counted = FlowTable.count_of(entry)
        key = flow_key(counted[0], self._vrf_names) if counted is not None else None
        flow = timed.get(key) if key is not None else None
        if counted is None or flow is None:
            return None
        silent = self._last_seen.silent_for(flow.key, flow.label, counted[1][0])
        return counted[0] if silent > 2 * flow.timeout / 1e6 else None

    async def _read_digests(self, name: str, synchronized: asyncio.Event) -> None:
        expected = 0
        async with _closed(self._switch.read_digests(name, queue_size=QUEUE)) as digests:
            async for digest in digests:
                # Lists are numbered; another program begins anew.
                self.lost += max(digest.list_id - expected, 0) if expected else 0
                expected = digest.list_id + 1
                late = self._lateness.of(digest.timestamp)
                sent = self._clock() - late
                # A switch may have kept it while no controller was there.
                dated = sent if synchronized.is_set() else -math.inf
                await synchronized.wait()
                for data in digest:
                    self._put(name, data, sent, dated)
                self._acknowledge(digest.ack())

    def _put(self, name: str, data: Data, sent: float, dated: float) -> None:
        """What is reported waits for its turn, if it may."""
        shown: object = None
        try:
            vrf_id, port, src = FlowLearning.sender(data)
            vrf = self._vrf(vrf_id)
            if vrf is None:
                return
            source = vrf, (self._name, port), src
            # Before it is decoded: what is dropped should cost as little as possible.
            if not self._inbox.admits(self._name, source):
                return
            shown = item = FlowLearning.item(data)
            report = FlowLearning.report(name, item)
            handle = self._handler(vrf, report, dated)
            failed = partial(self.failures.failed, name, report)
            self._inbox.put(self._name, source, handle, failed, sent)
        except Exception:
            self.failures.failed(name, shown or b"".join(each.bitstring for each in data))

    def _handler(self, vrf: str, report: Report, sent: float) -> Callable[[], None]:
        """What is to be done with a report of a packet of this VRF."""
        if isinstance(report, NewFlow):
            key = FlowKey(vrf, report.src, report.dst, report.dest_qp)
            sample = Sample(report.opcode, report.psn, report.udp_src_port)
            of_flow = key, report.p_key, sample, sent
            return partial(self._flows.seen, self._name, report.port, *of_flow)
        message = CmMessage(vrf, *report[1:-1])
        return partial(self._flows.connection_message, self._name, report.port, message)

    async def _read_askers(self, name: str, synchronized: asyncio.Event) -> None:
        async with _closed(self._switch.read_digests(name, queue_size=QUEUE)) as digests:
            async for digest in digests:
                await synchronized.wait()
                for item in digest:
                    with self.failures.survived(name, item):
                        asker = Gateway.asker(name, item)
                        port = self._node.port(asker.port, asker.vlan)
                        if port is not None:
                            handle = partial(self._handled, name, item, self._on_asker, asker)
                            source = port.vrf or "", asker.port, asker.mac.to_bytes(6)
                            self._queue_packet(source, handle)
                self._acknowledge(digest.ack())

    def _acknowledge(self, ack: P4DigestListAck) -> None:
        self._acks.append(ack)
        self._acks_wait.set()

    async def _send_acks(self) -> None:
        self._acks.clear()
        while True:
            await self._acks_wait.wait()
            self._acks_wait.clear()
            while self._acks:
                await self._connection.send(self._acks.popleft())

    async def _read_idle(self, synchronized: asyncio.Event) -> None:
        async with _closed(self._switch.read_idle_timeouts(queue_size=QUEUE)) as notifications:
            async for notification in notifications:
                await synchronized.wait()
                for entry in notification:
                    with self.failures.survived("idle notification", entry):
                        self._idle(FlowTable.flow_of(entry))

    def _idle(self, flow: FlowMatch | None) -> None:
        key = flow_key(flow, self._vrf_names)
        if key is None:
            return
        # The notification does not say the port.
        source = key.vrf, self._name, int(key.src)
        if self._inbox.admits(self._name, source):
            handle = partial(self._flows.idle, self._name, key)
            failed = partial(self.failures.failed, "idle notification", key)
            self._inbox.put(self._name, source, handle, failed)

    async def _read_packets(self, synchronized: asyncio.Event) -> None:
        # Those before have begun.
        self._synchronized = synchronized
        async with _closed(self._switch.read_packets(queue_size=QUEUE)) as packets:
            async for packet in packets:
                await synchronized.wait()
                with self.failures.survived("packet", packet.payload):
                    punted = Punt.received(packet)
                    vrf = self._vrf(punted.vrf) if punted.vrf else ""
                    if vrf is None:
                        continue
                    source = vrf, punted.port, packet.payload[SOURCE_MAC]
                    handle = partial(
                        self._handled, "packet", packet.payload, self._on_packet, packet
                    )
                    self._queue_packet(source, handle)

    def _queue_packet(self, source: Source, handle: Callable[[], Awaitable[None]]) -> None:
        refused: str | None = source[0]
        if self._packets.admits(source):
            displaced = self._packets.put(source, handle)
            refused = displaced[0] if displaced is not None else None
            self._packets_wait.set()
        if refused is not None:
            self._flows.refusals.refuse(
                self._name,
                refused,
                RefusalReason.TOO_MANY_PACKETS,
                lambda: f"{refused or 'the underlay'} sends the controller more than it handles",
            )

    async def _handle_packets(self) -> None:
        while True:
            await self._packets_wait.wait()
            handle = self._packets.take()
            if not self._packets:
                self._packets_wait.clear()
            await handle()
            # What is handled without waiting must not keep others waiting.
            await asyncio.sleep(0)

    async def _handled(
        self, kind: str, shown: object, handler: Callable[[M], Awaitable[None]], message: M
    ) -> None:
        with self.failures.survived(kind, shown):
            await handler(message)


def _closed(messages: AsyncIterator[T]) -> aclosing[AsyncGenerator[T, None]]:
    """Closes finsy's message queue when reading ends, because the next connection opens a new one.

    finsy's iterators are generators, although annotated as iterators; without this, one that ends
    with an exception stays open until its traceback is garbage-collected.
    """
    return aclosing(cast(AsyncGenerator[T, None], messages))
