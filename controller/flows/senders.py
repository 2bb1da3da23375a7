"""Which queue pair sends a flow, and how that became known; lifecycle.py says who is believed."""

from collections.abc import Iterator
from typing import NamedTuple

from fcn.controller.config.notation import Address
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.lifecycle import MAY_REPLACE
from fcn.controller.flows.provenance import CommIds, Origin
from fcn.controller.flows.shares import Host, host_of


class Sender(NamedTuple):
    """The queue pair behind a flow.

    `timeout`: microseconds of silence after which the label of this flow is released, None as
    configured; `comm_ids`: of the connection, where a handshake was seen.
    """

    source_qp: int
    origin: Origin
    timeout: int | None = None
    comm_ids: CommIds | None = None


def _adds_nothing(known: Sender, sender: Sender) -> bool:
    """Of two that name the same queue pair: what a handshake said keeps its communication IDs."""
    return sender.origin is Origin.INFERRED or (
        sender.origin is Origin.AGENT and known.origin is Origin.CM
    )


class Senders:
    """Senders of all flows, with and without a label."""

    def __init__(self) -> None:
        self._senders: dict[FlowKey, Sender] = {}
        self._by_host: dict[Host, dict[int, FlowKey | dict[FlowKey, FlowKey]]] = {}
        """Flows by number of the queue pair: mostly one, which needs no dictionary."""

    def __contains__(self, key: FlowKey) -> bool:
        return key in self._senders

    def __iter__(self) -> Iterator[tuple[FlowKey, Sender]]:
        return iter(self._senders.items())

    def get(self, key: FlowKey) -> Sender | None:
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
            self.forget(key)
        self._put(key, sender)
        return True

    def restore(self, key: FlowKey, sender: Sender) -> bool:
        """A switch has it so, or the store; whether that is news: what is known already stands."""
        if key in self._senders:
            return False
        self._put(key, sender)
        return True

    def known(self, key: FlowKey, source_qp: int) -> FlowKey:
        """The key under which the flow is known, if this queue pair sends it: an equal one would
        take as much memory as all else of a sender."""
        flows = self._by_host.get(host_of(key.vrf, key.src), {}).get(source_qp)
        if isinstance(flows, dict):
            return flows.get(key, key)
        return flows if flows is not None and flows == key else key

    def forget(self, key: FlowKey) -> None:
        """Nobody knows the sender any more."""
        known = self._senders.pop(key)
        host = host_of(key.vrf, key.src)
        pairs = self._by_host[host]
        flows = pairs[known.source_qp]
        if isinstance(flows, dict) and len(flows) > 1:
            del flows[key]
            return
        del pairs[known.source_qp]
        if not pairs:
            del self._by_host[host]

    def forget_tenant(self, vrf: str) -> None:
        """There is no such VRF any more: known is what a person registered."""
        for key, sender in list(self._senders.items()):
            if key.vrf == vrf and sender.origin is not Origin.MANUAL:
                self.forget(key)

    def sent_by(self, vrf: str, src: Address, dst: Address, source_qp: int) -> list[FlowKey]:
        """Flows from `src` to `dst` that this queue pair sends."""
        return [flow for flow in self.of_queue_pair(vrf, src, source_qp) if flow.dst == dst]

    def of_queue_pair(self, vrf: str, src: Address, source_qp: int) -> list[FlowKey]:
        """Flows to any host that this queue pair sends."""
        flows = self._by_host.get(host_of(vrf, src), {}).get(source_qp, {})
        return list(flows) if isinstance(flows, dict) else [flows]

    def _put(self, key: FlowKey, sender: Sender) -> None:
        self._senders[key] = sender
        host = host_of(key.vrf, key.src)
        pairs = self._by_host.get(host)
        if pairs is None:
            pairs = self._by_host[host] = {}
        flows = pairs.setdefault(sender.source_qp, key)
        if isinstance(flows, dict):
            flows[key] = key
        elif flows is not key:
            pairs[sender.source_qp] = {flows: flows, key: key}
