"""Combines connection manager messages of different PEs into the queue pairs of flows (FCN-3).

Each PE reports what its own data centre sends: the initiator's PE the REQ, the responder's the REP
(IBTA volume 1, chapter 12). Communication IDs are unique per host only, so a connection is
identified by VRF, both addresses and the initiator's ID.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fcn.contract.constants import CmAttribute
from fcn.controller.config.types import Address
from fcn.controller.flows.key import FlowKey


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
    """`flow` is sent by queue pair `source_qp` of `flow.src`."""

    flow: FlowKey
    source_qp: int


@dataclass(frozen=True, slots=True)
class FlowClosed:
    """The connection that `flow` belongs to has ended."""

    flow: FlowKey


@dataclass(frozen=True, slots=True)
class PeerClosed:
    """A DREQ of a connection whose handshake was not seen: `flow` has ended, and also the reverse
    flow, which is sent by queue pair `flow.dest_qp`."""

    flow: FlowKey


CmEvent = QueuePairLearned | FlowClosed | PeerClosed

_Key = tuple[str, Address, Address, int]
"""VRF, initiator, responder, the initiator's communication ID."""


@dataclass(slots=True)
class _Connection:
    touched: float
    initiator_qp: int | None = None
    responder_qp: int | None = None
    responder_comm_id: int | None = None

    def flows(self, key: _Key) -> Iterator[tuple[FlowKey, int]]:
        """Both directions with their source queue pairs, once REQ and REP are known."""
        vrf, initiator, responder, _ = key
        if self.initiator_qp is not None and self.responder_qp is not None:
            yield FlowKey(vrf, initiator, responder, self.responder_qp), self.initiator_qp
            yield FlowKey(vrf, responder, initiator, self.initiator_qp), self.responder_qp


class ConnectionTracker:
    """Tracks every handshake; takes the messages of all PEs in any order.

    Because any host in a data centre can send connection requests, incomplete handshakes are
    discarded after `half_open` seconds, and at most `limit` connections are kept: the least
    recently updated one is discarded first. `clock` is monotonic, in seconds.
    """

    def __init__(
        self, clock: Callable[[], float], *, half_open: float = 60.0, limit: int = 65536
    ) -> None:
        self._clock = clock
        self._half_open = half_open
        self._limit = limit
        self._connections: OrderedDict[_Key, _Connection] = OrderedDict()
        self._owners: dict[FlowKey, _Key] = {}
        """The current connection of each flow: late messages of an older one must not close it."""

    def __len__(self) -> int:
        """Connections kept, incomplete ones included."""
        return len(self._connections)

    def handle(self, message: CmMessage) -> list[CmEvent]:
        """The changes that follow from a message; none for a repeated message."""
        self._expire()
        match message.attribute:
            case CmAttribute.REQ:
                return self._request(message)
            case CmAttribute.REP:
                return self._reply(message)
            case CmAttribute.REJ | CmAttribute.DREP:
                return self._close(message)
            case CmAttribute.DREQ:
                return self._disconnect(message)
            case _:
                return []

    def _request(self, message: CmMessage) -> list[CmEvent]:
        key = (message.vrf, message.src, message.dst, message.local_comm_id)
        connection = self._connections.get(key)
        events: list[CmEvent] = []
        if connection and connection.initiator_qp not in (None, message.qpn):
            events += self._forget(key)
            connection = None
        if connection and connection.initiator_qp == message.qpn:
            self._touch(key, connection)
            return events
        connection = connection or _Connection(self._clock())
        connection.initiator_qp = message.qpn
        return events + self._progress(key, connection)

    def _reply(self, message: CmMessage) -> list[CmEvent]:
        key = (message.vrf, message.dst, message.src, message.remote_comm_id)
        connection = self._connections.get(key)
        events: list[CmEvent] = []
        half = (message.qpn, message.local_comm_id)
        if connection and connection.responder_qp is not None:
            if (connection.responder_qp, connection.responder_comm_id) == half:
                self._touch(key, connection)
                return events
            events += self._forget(key)
            connection = None
        connection = connection or _Connection(self._clock())
        connection.responder_qp, connection.responder_comm_id = half
        return events + self._progress(key, connection)

    def _progress(self, key: _Key, connection: _Connection) -> list[CmEvent]:
        self._touch(key, connection)
        events: list[CmEvent] = []
        for flow, source_qp in connection.flows(key):
            # A queue pair has one connection at a time: an older one must have ended.
            older = self._owners.get(flow)
            if older not in (None, key):
                events += self._forget(older)
            self._owners[flow] = key
            events.append(QueuePairLearned(flow, source_qp))
        return events

    def _close(self, message: CmMessage) -> list[CmEvent]:
        return [event for key in self._matches(message) for event in self._forget(key)]

    def _disconnect(self, message: CmMessage) -> list[CmEvent]:
        events = self._close(message)
        flow = FlowKey(message.vrf, message.src, message.dst, message.qpn)
        if events or not message.qpn or flow in self._owners:
            return events
        return [PeerClosed(flow)]

    def _matches(self, message: CmMessage) -> list[_Key]:
        """The connections that a message of either side identifies by both IDs.

        A REJ that answers a REQ does not have to contain an ID of the responder.
        """
        sent_by_initiator = (message.vrf, message.src, message.dst, message.local_comm_id)
        sent_by_responder = (message.vrf, message.dst, message.src, message.remote_comm_id)
        found = []
        for key, other in (
            (sent_by_initiator, message.remote_comm_id),
            (sent_by_responder, message.local_comm_id),
        ):
            connection = self._connections.get(key)
            if connection and connection.responder_comm_id in (None, other):
                found.append(key)
        return found

    def _forget(self, key: _Key) -> list[CmEvent]:
        connection = self._connections.pop(key)
        return [FlowClosed(flow) for flow in self._disown(key, connection)]

    def _disown(self, key: _Key, connection: _Connection) -> list[FlowKey]:
        flows = [flow for flow, _ in connection.flows(key) if self._owners.get(flow) == key]
        for flow in flows:
            del self._owners[flow]
        return flows

    def _touch(self, key: _Key, connection: _Connection) -> None:
        connection.touched = self._clock()
        self._connections[key] = connection
        self._connections.move_to_end(key)
        while len(self._connections) > self._limit:
            self._disown(*self._connections.popitem(last=False))

    def _expire(self) -> None:
        """Discard incomplete handshakes that are too old; complete connections are kept."""
        oldest = self._clock() - self._half_open
        while self._connections:
            key, connection = next(iter(self._connections.items()))
            if connection.touched > oldest:
                return
            if connection.initiator_qp is None or connection.responder_qp is None:
                del self._connections[key]
            else:
                self._touch(key, connection)
