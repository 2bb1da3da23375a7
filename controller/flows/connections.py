"""Joins connection manager messages seen at different PEs into queue pairs of flows (FCN-3).

Each PE sees what its own data centre sends: the initiator's PE the REQ, the responder's the REP.
Offsets and semantics: IBTA volume 1, chapter 12. Communication IDs are unique per host only, so a
connection is named by VRF, both addresses and the initiator's ID. Connections of XRC (annex A14)
are set up by the same messages, but the REP names the target queue pair as an EE context, which PEs
do not report: its local QPN is 0, and nothing is learned. Datagram queue pairs (SIDR) have no
connection.

Every host can send these messages, and none is believed about another: a queue pair number comes
from the host that has it, an end needs both IDs, and the room for connections is shared fairly.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from fcn.contract.constants import CmAttribute
from fcn.controller.config.notation import Address
from fcn.controller.flows.key import FIRST_DATA_QP, FlowKey
from fcn.controller.flows.provenance import CommIds
from fcn.controller.flows.shares import FairShares, Host, NoRoomError, host_of

HALF_OPEN = 60.0
"""Seconds a handshake may take from one seen message to the next."""

ACKNOWLEDGED = 600.0
"""Seconds after an MRA: the answer takes longer. The time the MRA names is not reported."""


@dataclass(frozen=True, slots=True)
class CmMessage:
    """One message as a PE's digest reports it.

    `qpn` is the local QPN in a REQ and REP, the remote QPN in a DREQ, else 0; `remote_comm_id` is 0
    in a REQ.
    """

    vrf: str
    src: Address
    dst: Address
    attribute: int
    local_comm_id: int
    remote_comm_id: int
    qpn: int


@dataclass(frozen=True, slots=True)
class QueuePairLearned:
    """Packets of `flow` are sent by queue pair `source_qp` of `flow.src`."""

    flow: FlowKey
    source_qp: int
    comm_ids: CommIds | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FlowClosed:
    """The connection `flow` belongs to is no more. `unseen`: nobody said so, but one of its queue
    pairs has another one."""

    flow: FlowKey
    unseen: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class PeerClosed:
    """A DREQ of a connection whose handshake was not seen: `flow` ends, and so does the flow back
    whose source queue pair is `flow.dest_qp`, if this may be believed."""

    flow: FlowKey


@dataclass(frozen=True, slots=True)
class Refused:
    """No room for the connection of `host`, which has the largest share already."""

    host: Host


CmEvent = QueuePairLearned | FlowClosed | PeerClosed | Refused

_Key = tuple[str, Address, Address, int]
"""VRF, initiator, responder, the initiator's communication ID."""

_QueuePair = tuple[str, Address, int]
"""VRF, host, number."""


def _named(flow: FlowKey, ids: CommIds) -> _Key:
    """The connection that a flow belongs to."""
    ends = (flow.src, flow.dst) if ids.initiated else (flow.dst, flow.src)
    return flow.vrf, *ends, ids.own if ids.initiated else ids.peer


@dataclass(slots=True)
class _Connection:
    deadline: float
    initiator_qp: int | None = None
    responder_qp: int | None = None
    responder_comm_id: int | None = None
    _flows: tuple[tuple[FlowKey, int, CommIds], ...] = ()

    @property
    def is_complete(self) -> bool:
        return self.initiator_qp is not None and self.responder_qp is not None

    def flows(self, key: _Key) -> tuple[tuple[FlowKey, int, CommIds], ...]:
        """Both directions with source queue pairs and IDs, once both halves are known."""
        if self._flows:
            return self._flows
        vrf, initiator, responder, comm_id = key
        if (
            self.initiator_qp is not None
            and self.responder_qp is not None
            and self.responder_comm_id is not None
        ):
            forth = FlowKey(vrf, initiator, responder, self.responder_qp)
            back = FlowKey(vrf, responder, initiator, self.initiator_qp)
            self._flows = (
                (forth, self.initiator_qp, CommIds(True, comm_id, self.responder_comm_id)),
                (back, self.responder_qp, CommIds(False, self.responder_comm_id, comm_id)),
            )
        return self._flows

    def queue_pairs(self, key: _Key) -> Iterator[_QueuePair]:
        """Those that are known."""
        vrf, initiator, responder, _ = key
        if self.initiator_qp is not None:
            yield vrf, initiator, self.initiator_qp
        if self.responder_qp is not None:
            yield vrf, responder, self.responder_qp


class ConnectionTracker:
    """Follows every handshake; feed it the messages of all PEs in any order.

    A handshake of which nothing is seen for HALF_OPEN seconds (ACKNOWLEDGED after an MRA) is
    dropped. At most `limit` connections are remembered, in fair shares of the hosts whose messages
    made them known. `clock` returns seconds and never goes back.
    """

    def __init__(self, clock: Callable[[], float], *, limit: int = 65536) -> None:
        self._clock = clock
        self._connections: dict[_Key, _Connection] = {}
        self._half_open: OrderedDict[_Key, float] = OrderedDict()
        """When to look at the deadline again; soonest first."""
        self._limit = limit
        self._shares: FairShares[_Key] = FairShares()
        self._queue_pairs: dict[_QueuePair, _Key] = {}
        """Of half-seen connections, too: a queue pair has one connection at a time."""

    def __len__(self) -> int:
        """Connections remembered, half-seen ones included."""
        return len(self._connections)

    def handle(self, message: CmMessage) -> list[CmEvent]:
        """What this message says about flows. Repeating a message says nothing new."""
        self._expire()
        match message.attribute:
            case CmAttribute.REQ | CmAttribute.REP if message.qpn < FIRST_DATA_QP:
                return []
            case CmAttribute.REQ:
                return self._request(message)
            case CmAttribute.REP:
                return self._reply(message)
            case CmAttribute.MRA:
                return self._acknowledged(message)
            case CmAttribute.REJ | CmAttribute.DREP:
                return self._close(message)
            case CmAttribute.DREQ:
                return self._disconnect(message)
            case _:
                return []

    def restore(self, flow: FlowKey, source_qp: int, ids: CommIds) -> bool:
        """A switch has a flow of a connection set up before this controller started; whether it is
        followed now. What is known already stands."""
        key = _named(flow, ids)
        known = self._connections.get(key)
        if known is not None:
            return (flow, source_qp, ids) in known.flows(key)
        connection = _Connection(
            self._clock(),
            initiator_qp=source_qp if ids.initiated else flow.dest_qp,
            responder_qp=flow.dest_qp if ids.initiated else source_qp,
            responder_comm_id=ids.peer if ids.initiated else ids.own,
        )
        queue_pairs = list(connection.queue_pairs(key))
        if len(self._connections) >= self._limit:
            return False
        if any(each in self._queue_pairs for each in queue_pairs):
            return False
        self._shares.add(host_of(flow.vrf, flow.src), key, self._limit)
        self._connections[key] = connection
        self._queue_pairs.update(dict.fromkeys(queue_pairs, key))
        return True

    def drop(self, flow: FlowKey, source_qp: int, ids: CommIds) -> None:
        """The connection of this flow has ended unseen."""
        key = _named(flow, ids)
        connection = self._connections.get(key)
        if connection and (flow, source_qp, ids) in connection.flows(key):
            self._forget(key)

    def forget_tenant(self, vrf: str) -> None:
        """There is no such VRF any more."""
        for key in [key for key in self._connections if key[0] == vrf]:
            self._forget(key)

    def halves(self) -> Iterator[CmMessage]:
        """The messages that made known what is known; between two, others may be handled."""
        for key in list(self._connections):
            if (found := self._connections.get(key)) is None:
                continue
            vrf, initiator, responder, comm_id = key
            if (qpn := found.initiator_qp) is not None:
                yield CmMessage(vrf, initiator, responder, CmAttribute.REQ, comm_id, 0, qpn)
            if found.responder_qp is not None and (own := found.responder_comm_id) is not None:
                ids = own, comm_id
                yield CmMessage(
                    vrf, responder, initiator, CmAttribute.REP, *ids, found.responder_qp
                )

    def _request(self, message: CmMessage) -> list[CmEvent]:
        key = (message.vrf, message.src, message.dst, message.local_comm_id)
        connection = self._connections.get(key)
        events: list[CmEvent] = []
        if connection and connection.initiator_qp not in (None, message.qpn):
            events += self._forget(key)
            connection = None
        if connection and connection.initiator_qp == message.qpn:
            self._wait(key, connection, HALF_OPEN)
            return events
        connection = connection or _Connection(0.0)
        connection.initiator_qp = message.qpn
        return events + self._progress(key, connection, message)

    def _reply(self, message: CmMessage) -> list[CmEvent]:
        key = (message.vrf, message.dst, message.src, message.remote_comm_id)
        connection = self._connections.get(key)
        events: list[CmEvent] = []
        half = (message.qpn, message.local_comm_id)
        if connection and connection.responder_qp is not None:
            if (connection.responder_qp, connection.responder_comm_id) == half:
                self._wait(key, connection, HALF_OPEN)
                return events
            events += self._forget(key)
            connection = None
        connection = connection or _Connection(0.0)
        connection.responder_qp, connection.responder_comm_id = half
        return events + self._progress(key, connection, message)

    def _progress(self, key: _Key, connection: _Connection, message: CmMessage) -> list[CmEvent]:
        # Who sets up a connection of his queue pair has none of it any more.
        queue_pair = message.vrf, message.src, message.qpn
        events = self._replace(queue_pair, key)
        if key not in self._connections:
            host = host_of(message.vrf, message.src)
            try:
                displaced = self._shares.add(host, key, self._limit)
            except NoRoomError:
                return [*events, Refused(host)]
            if displaced is not None:
                events += self._forget(displaced)
            self._connections[key] = connection
        self._wait(key, connection, HALF_OPEN)
        self._queue_pairs[queue_pair] = key
        events += [QueuePairLearned(*flow) for flow in connection.flows(key)]
        return events

    def _replace(self, queue_pair: _QueuePair, key: _Key) -> list[CmEvent]:
        """An older connection of the queue pair has ended unseen."""
        older = self._queue_pairs.get(queue_pair)
        if older is None or older == key:
            return []
        return [replace(event, unseen=True) for event in self._forget(older)]

    def _acknowledged(self, message: CmMessage) -> list[CmEvent]:
        for key in self._matches(message):
            self._wait(key, self._connections[key], ACKNOWLEDGED)
        return []

    def _close(self, message: CmMessage) -> list[CmEvent]:
        return [event for key in self._matches(message) for event in self._forget(key)]

    def _disconnect(self, message: CmMessage) -> list[CmEvent]:
        events = self._close(message)
        named = (message.vrf, message.dst, message.qpn)
        if events or not message.qpn or named in self._queue_pairs:
            return events
        return [PeerClosed(FlowKey(message.vrf, message.src, message.dst, message.qpn))]

    def _matches(self, message: CmMessage) -> list[_Key]:
        """The connections a message of either side names with both IDs.

        A REJ that answers a REQ need not carry an ID of the responder's.
        """
        sent_by_initiator = (message.vrf, message.src, message.dst, message.local_comm_id)
        sent_by_responder = (message.vrf, message.dst, message.src, message.remote_comm_id)
        found: dict[_Key, None] = {}
        for key, other in (
            (sent_by_initiator, message.remote_comm_id),
            (sent_by_responder, message.local_comm_id),
        ):
            connection = self._connections.get(key)
            if connection and connection.responder_comm_id in (None, other):
                found[key] = None
        return list(found)

    def _forget(self, key: _Key) -> list[FlowClosed]:
        connection = self._connections.pop(key)
        self._half_open.pop(key, None)
        self._shares.remove(key)
        for queue_pair in connection.queue_pairs(key):
            if self._queue_pairs.get(queue_pair) == key:
                del self._queue_pairs[queue_pair]
        return [FlowClosed(flow) for flow, _, _ in connection.flows(key)]

    def _wait(self, key: _Key, connection: _Connection, seconds: float) -> None:
        """A message of the handshake was seen; the next may take so long."""
        now = self._clock()
        if connection.is_complete:
            self._half_open.pop(key, None)
            return
        connection.deadline = max(connection.deadline, now + seconds)
        self._half_open[key] = now + HALF_OPEN
        self._half_open.move_to_end(key)

    def _expire(self) -> None:
        now = self._clock()
        while self._half_open:
            key, due = next(iter(self._half_open.items()))
            if due > now:
                return
            if self._connections[key].deadline <= now:
                self._forget(key)
            else:
                self._half_open[key] = now + HALF_OPEN
                self._half_open.move_to_end(key)
