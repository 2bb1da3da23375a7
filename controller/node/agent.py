"""One switch: its connection, its synchronisation, and the messages it sends.

finsy keeps the stream, the arbitration and the pipeline; on every (re)connection the switch is
read, compared with the intent, and the difference is written in batches. Between connections the
intent goes on changing.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field
from enum import StrEnum

import finsy as fy
from finsy.p4client import P4ClientError
from finsy.p4entity import P4DigestListAck
from finsy.proto import p4r
from finsy.switch import SwitchEvent

from fcn.contract.constants import PipelineError
from fcn.contract.counters import add_up
from fcn.contract.depth import Depth
from fcn.contract.names import COUNTER_ENUMS, FLOW_TABLES, LABEL_TABLES, PORT_COUNTERS
from fcn.contract.pipeline import Pipeline
from fcn.controller.config import Config
from fcn.controller.config.addressing import cnp_source
from fcn.controller.config.model import Node
from fcn.controller.config.types import format_depth
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.service import Flow, FlowService
from fcn.controller.node.digests import cm_message, new_flow
from fcn.controller.node.provision import Provision
from fcn.controller.node.readback import flow_key, held_flows, read, read_switch
from fcn.controller.owners.flow_learning import DIGESTS, FlowLearning, NewFlow
from fcn.controller.owners.flow_table import FlowTable
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.punt import Punt

LOG = logging.getLogger("fcn.node")

BATCH = 500
"""Updates per write request."""

QUEUE = 100_000
"""Digest lists, packets and notifications that may wait for the controller."""


class State(StrEnum):
    """How the controller stands with a switch."""

    CONNECTING = "connecting"
    SYNCHRONIZING = "synchronizing"
    UP = "up"
    AWAY = "away"
    BACKUP = "backup"


@dataclass(slots=True)
class Status:
    """State of a switch since a time (seconds since the epoch), and the last thing that failed."""

    state: State = State.CONNECTING
    since: float = field(default_factory=time.time)
    detail: str = ""
    refused: int = 0


CounterValues = dict[str, dict[str, tuple[int, int]]]
"""(packets, octets) by counter and name."""

PacketHandler = Callable[[fy.P4PacketIn], Awaitable[None]]


class NodeAgent:
    """The controller's side of one switch."""

    def __init__(self, config: Config, name: str, pipeline: Pipeline, bus: EventBus) -> None:
        self.name = name
        self.config = config
        self.pipeline = pipeline
        self.status = Status(detail=f"nobody answers at {config.nodes[name].grpc} yet")
        self.closing = False
        self.provision = Provision(config, name, pipeline)
        self.flows: FlowService | None = None
        self.on_packet: PacketHandler | None = None
        self.on_ready: Callable[[list[fy.P4TableEntry]], None] | None = None
        self.last_counters: CounterValues = {}
        self._bus = bus
        self._vrf_names = {vrf.id: vrf_name for vrf_name, vrf in config.vrfs.items()}
        self._wake = asyncio.Event()
        self._sending = asyncio.Lock()
        self._failure = ""
        self._acks: list[P4DigestListAck] = []
        self._waiters: list[asyncio.Future[bool]] = []
        self.intent.changed = self._wake.set
        self.switch = fy.Switch(
            name,
            self.provision.node.grpc,
            fy.SwitchOptions(
                p4info=pipeline.p4info,
                p4blob=pipeline.blob,
                device_id=self.provision.node.device_id,
                ready_handler=self._ready,
            ),
        )
        self.switch.ee.add_listener(SwitchEvent.CHANNEL_DOWN, self._down)

    @property
    def intent(self) -> Intent:
        """What the switch should hold."""
        return self.provision.intent

    @property
    def feature(self) -> bool:
        """Whether fast congestion notification is enabled here (FCN-16)."""
        return self.provision.feature

    def capacity(self, ip_version: int) -> int:
        """Flows of an IP version the switch can label and find by their labels."""
        tables = FLOW_TABLES[ip_version], LABEL_TABLES[ip_version]
        return min(map(self.pipeline.table_size, tables))

    def install(self, flow: Flow) -> None:
        """Label a flow; notifications of the label become CNPs when the sender is known."""
        key = flow.key
        vrf = self.provision.vrf_id(key.vrf)
        source = cnp_source(self.provision.node, key.vrf, key.src, key.dst)
        if flow.source_qp is None or source is None:
            self.provision.flow_by_label.source_unknown(flow.label, key.src.version)
        else:
            self.provision.flow_by_label.notify_sender(
                flow.label, vrf, source, key.src, flow.source_qp, flow.p_key
            )
        self.provision.flow_table.label(
            vrf, key.src, key.dst, key.dest_qp, flow.label, flow.timeout, watched=flow.watched
        )

    def remove(self, flow: Flow) -> None:
        """Undo `install`."""
        key = flow.key
        vrf = self.provision.vrf_id(key.vrf)
        self.provision.flow_table.unlabel(vrf, key.src, key.dst, key.dest_qp)
        self.provision.flow_by_label.forget(flow.label, key.src.version)

    def set_feature(self, enabled: bool) -> None:
        """Enable or disable the feature; disabled, the node's flows lose their labels."""
        self.provision.set_feature(enabled)
        if not enabled and self.flows is not None:
            self.flows.release_node(self.name, "feature disabled")
        verb = "enabled" if enabled else "disabled"
        self._bus.emit(Kind.FEATURE, self.name, f"feature {verb} on {self.name}", enabled=enabled)

    def set_thresholds(self, port: int, queue: int, depths: tuple[Depth, ...]) -> None:
        """Let the levels of one queue begin at these depths; none: the queue has no levels.

        Raises DepthError.
        """
        thresholds = dict(self.provision.thresholds)
        thresholds.pop((port, queue), None)
        if depths:
            thresholds[port, queue] = depths
        self.provision.set_thresholds(thresholds)
        shown = ",".join(map(format_depth, depths))
        self._bus.emit(
            Kind.THRESHOLDS,
            self.name,
            f"thresholds of {self.name} port {port} queue {queue}: {shown or 'none'}",
            port=port,
            queue=queue,
            depths=shown,
        )

    async def settled(self) -> bool:
        """Wait until the switch holds the intent. False at once when it is not up."""
        if self.status.state is not State.UP:
            return False
        if not self.intent.pending:
            return True
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        return await waiter

    async def send_packet(self, port: int, frame: bytes) -> bool:
        """Send a frame out of a port. False when the switch is not up."""
        if self.status.state is not State.UP:
            return False
        await self._send(Punt.send(port, frame))
        return True

    async def _send(self, *messages: fy.P4PacketOut | P4DigestListAck) -> None:
        # A gRPC stream takes one message at a time.
        async with self._sending:
            await self.switch.write(messages)

    def failed(self, error: BaseException) -> None:
        """Something went wrong that ends the connection; it will be tried again."""
        self._failure = str(error).splitlines()[0] if str(error) else type(error).__name__
        self._bus.emit(Kind.NODE_ERROR, self.name, f"{self.name}: {self._failure}")

    def _enter(self, state: State, detail: str = "") -> None:
        self.status.state = state
        self.status.since = time.time()
        self.status.detail = detail

    def _down(self, _switch: fy.Switch) -> None:
        if self.closing:
            return
        reason = self._failure or f"lost the connection to {self.provision.node.grpc}"
        self._failure = ""
        detail = f"{reason}; trying again"
        self._enter(State.AWAY, detail)
        self._resolve(False)
        self._acks.clear()
        self._bus.emit(Kind.NODE_DOWN, self.name, f"{self.name}: {detail}")

    async def _ready(self, switch: fy.Switch) -> None:
        if not switch.is_primary:
            detail = (
                f"another controller rules this switch (election ID {switch.primary_id}); "
                "stop it, and this one takes over"
            )
            self._enter(State.BACKUP, detail)
            self._resolve(False)
            self._bus.emit(Kind.NODE_BACKUP, self.name, f"{self.name}: {detail}")
            return
        self._enter(State.SYNCHRONIZING)
        synchronized = asyncio.Event()
        for digest in DIGESTS if self.provision.is_pe else ():
            switch.create_task(self._read_digests(switch, digest, synchronized), name=digest)
        if self.provision.is_pe:
            switch.create_task(self._read_idle(switch, synchronized), name="idle")
        switch.create_task(self._read_packets(switch, synchronized), name="packets")
        await self._synchronize(switch)
        self._enter(State.UP)
        synchronized.set()
        self._bus.emit(Kind.NODE_UP, self.name, f"{self.name} is up", address=switch.address)
        await self._keep_written(switch)

    async def _synchronize(self, switch: fy.Switch) -> None:
        held = await read_switch(switch, self.pipeline)
        entries = [entity for entity in held if isinstance(entity, fy.P4TableEntry)]
        if self.flows is not None and self.provision.is_pe:
            self.flows.adopt(self.name, held_flows(self.name, entries, self._vrf_names))
        if self.on_ready is not None:
            self.on_ready(entries)
        self.intent.observe(entity.encode(self.pipeline.schema) for entity in held)
        total = self.intent.pending
        written = await self._write_pending(switch)
        self._bus.emit(
            Kind.SYNCHRONIZED,
            self.name,
            f"{self.name} holds {len(self.intent)} entries, {written} of them were written now",
            entries=len(self.intent),
            differing=total,
            written=written,
        )

    async def _keep_written(self, switch: fy.Switch) -> None:
        while True:
            self._wake.clear()
            await self._write_pending(switch)
            if self._acks:
                acks, self._acks = self._acks, []
                await self._send(*acks)
            if not self.intent.pending:
                self._resolve(True)
                await self._wake.wait()

    def _resolve(self, written: bool) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(written)

    async def _write_pending(self, switch: fy.Switch) -> int:
        written = 0
        while updates := self.intent.take_updates(BATCH):
            await self._write(switch, updates)
            written += len(updates)
            if self.status.state is State.SYNCHRONIZING:
                self.status.detail = f"{written} entries written, {self.intent.pending} to go"
        return written

    async def _write(self, switch: fy.Switch, updates: list[p4r.Update]) -> None:
        failures: dict[int, tuple[fy.GRPCStatusCode, str]] = {}
        try:
            await switch.write(updates)
        except P4ClientError as error:
            failures = {
                index: (detail.canonical_code, detail.message)
                for index, detail in error.details.items()
            }
            if not failures:
                raise
        for refusal in self.intent.settle(updates, failures):
            self.status.refused += 1
            text = p4r.Update.Type.Name(refusal.update.type)
            entity = refusal.update.entity
            table = entity.table_entry.table_id
            where = self.pipeline.schema.tables[table].alias if table else "entity"
            self._bus.emit(
                Kind.NODE_ERROR,
                self.name,
                f"{self.name} refuses {text} in {where}: {refusal.message} ({refusal.code.name})",
                table=where,
                code=refusal.code.name,
            )

    async def _read_digests(
        self, switch: fy.Switch, name: str, synchronized: asyncio.Event
    ) -> None:
        digests: AsyncIterator[fy.P4DigestList] = switch.read_digests(name, queue_size=QUEUE)
        async for digest in digests:
            await synchronized.wait()
            assert self.flows is not None
            for item in digest:
                report = FlowLearning.report(name, item)
                vrf = self._vrf_names.get(report.vrf)
                if vrf is None:
                    continue
                if isinstance(report, NewFlow):
                    self.flows.seen(self.name, *new_flow(vrf, report))
                else:
                    self.flows.connection_message(self.name, cm_message(vrf, report))
            self._acks.append(digest.ack())
            self._wake.set()

    async def _read_idle(self, switch: fy.Switch, synchronized: asyncio.Event) -> None:
        async for notification in switch.read_idle_timeouts(queue_size=QUEUE):
            await synchronized.wait()
            assert self.flows is not None
            for entry in notification:
                key = flow_key(FlowTable.flow_of(entry), self._vrf_names)
                if key is not None:
                    self.flows.idle(self.name, key)

    async def _read_packets(self, switch: fy.Switch, synchronized: asyncio.Event) -> None:
        async for packet in switch.read_packets(queue_size=QUEUE):
            await synchronized.wait()
            if self.on_packet is None:
                continue
            try:
                await self.on_packet(packet)
            except P4ClientError:
                raise
            except Exception:
                # Customers write these packets: none of them may end the connection.
                LOG.exception("%s: cannot handle packet %s", self.name, packet.payload.hex())

    async def check_idle(self) -> None:
        """Release flows whose idle notification was missed, as while the switch was away."""
        if self.status.state is not State.UP or self.flows is None or not self.provision.is_pe:
            return
        for pattern in FlowTable.timed():
            async for entry in read(self.switch, pattern):
                key = flow_key(FlowTable.overdue(entry), self._vrf_names)
                if key is not None:
                    self.flows.idle(self.name, key)

    async def counters(self, wanted: Collection[str] | None = None) -> CounterValues:
        """(packets, octets) by counter and by what it counts: all counters, or the wanted ones.

        Reasons and events have the names of the program's enums, ports those of the configuration.
        Raises P4ClientError, PipelineError.
        """
        if self.status.state is not State.UP:
            raise PipelineError(f"{self.name} is {self.status.state}; its counters cannot be read")
        names = counter_members(self.pipeline, self.provision.node)
        values: CounterValues = {}
        for counter in names.keys() & (wanted or names.keys()):
            cells = [
                cell
                for part in self.pipeline.counter_parts(counter)
                async for cell in read(self.switch, fy.P4CounterEntry(part))
            ]
            by_index = add_up(cells)
            values[counter] = {
                name: by_index.get(index, (0, 0)) for name, index in names[counter].items()
            }
        self.last_counters |= values
        return values


def counter_members(pipeline: Pipeline, node: Node) -> dict[str, dict[str, int]]:
    """Index of everything that each of a program's counters counts, by its name."""
    ports = {f"port {port.number}": port.number for port in node.ports}
    names = dict.fromkeys(PORT_COUNTERS, ports)
    for counter, enum in COUNTER_ENUMS.items():
        names[counter] = {name: number for name, number in pipeline.enum(enum).items() if number}
    return {counter: names[counter] for counter in names if counter in pipeline.counters}
