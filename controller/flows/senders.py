"""Which queue pair sends a flow, and how that became known; lifecycle.py says who is believed."""

from collections.abc import Iterator
from typing import NamedTuple

from fcn.controller.config.notation import Address
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.lifecycle import MAY_REPLACE
from fcn.controller.flows.provenance import CommIds, Origin


class Sender(NamedTuple):
    """The queue pair behind a flow.

    `timeout`: microseconds of silence after which the label of this flow is released, None as
    configured; `comm_ids`: of the connection, where a handshake was seen.
    """

    source_qp: int
    origin: Origin
    timeout: int | None = None
    comm_ids: CommIds | None = None


_QueuePair = tuple[str, Address, int]
"""VRF, host, number."""


def _adds_nothing(known: Sender, sender: Sender) -> bool:
    """Of two that name the same queue pair: what a handshake said keeps its communication IDs."""
    return sender.origin is Origin.INFERRED or (
        sender.origin is Origin.AGENT and known.origin is Origin.CM
    )


class Senders:
    """Senders of all flows, with and without a label."""

    def __init__(self) -> None:
        self._senders: dict[FlowKey, Sender] = {}
        self._by_queue_pair: dict[_QueuePair, dict[FlowKey, None]] = {}

    def __contains__(self, key: FlowKey) -> bool:
        return key in self._senders

    def __iter__(self) -> Iterator[tuple[FlowKey, Sender]]:
        return iter(self._senders.items())

    def get(self, key: FlowKey) -> Sender | None:
        """The sender of a flow, if known."""
        return self._senders.get(key)

    def learn(self, key: FlowKey, sender: Sender) -> bool:
        """Somebody says who sends the flow; whether that is news and believed."""
        known = self._senders.get(key)
        if known is not None:
            if sender.origin not in MAY_REPLACE[known.origin]:
                return False
            if known == sender or (
                known.source_qp == sender.source_qp and _adds_nothing(known, sender)
            ):
                return False
        self._put(key, sender)
        return True

    def restore(self, key: FlowKey, sender: Sender) -> None:
        """A switch has it so; what is known already stands."""
        if key not in self._senders:
            self._put(key, sender)

    def forget(self, key: FlowKey) -> None:
        """Nobody knows the sender any more."""
        known = self._senders.pop(key)
        pair = (key.vrf, key.src, known.source_qp)
        del self._by_queue_pair[pair][key]
        if not self._by_queue_pair[pair]:
            del self._by_queue_pair[pair]

    def sent_by(self, vrf: str, src: Address, dst: Address, source_qp: int) -> list[FlowKey]:
        """Flows from `src` to `dst` that this queue pair sends."""
        return [flow for flow in self.of_queue_pair(vrf, src, source_qp) if flow.dst == dst]

    def of_queue_pair(self, vrf: str, src: Address, source_qp: int) -> list[FlowKey]:
        """Flows to any host that this queue pair sends."""
        return list(self._by_queue_pair.get((vrf, src, source_qp), ()))

    def _put(self, key: FlowKey, sender: Sender) -> None:
        if key in self._senders:
            self.forget(key)
        self._senders[key] = sender
        pair = (key.vrf, key.src, sender.source_qp)
        self._by_queue_pair.setdefault(pair, {})[key] = None
