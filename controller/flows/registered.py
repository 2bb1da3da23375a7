"""Flows that an operator registered, in the store: they last however the controller ends, and what
was deleted does not come back from a switch that was away."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from fcn.controller.config.notation import Address, parse_address
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.senders import Sender
from fcn.controller.owners.addresses import KEPT, ipv4, ipv6
from fcn.controller.store import RegisteredFlow, Store, StoreError

LOG = logging.getLogger("fcn")


class Registered:
    """The registered flows of a network."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.recall()

    def recall(self) -> None:
        """Those of the store, in which there may be others."""
        address = lru_cache(KEPT)(_kept_address)
        self._flows = {
            FlowKey(vrf, address(src), address(dst), dest_qp): Sender(
                source_qp, Origin.MANUAL, timeout
            )
            for vrf, src, dst, dest_qp, source_qp, timeout in self._store.flows()
        }

    def flows(self) -> Iterable[tuple[FlowKey, Sender]]:
        """All of them, with their senders."""
        return self._flows.items()

    def add(self, flows: Sequence[tuple[FlowKey, Sender]]) -> None:
        """Register flows, or say something else of them. Raises StoreError."""
        self._store.register(_kept(key, sender.source_qp, sender.timeout) for key, sender in flows)
        self._flows.update(flows)

    def remove(self, key: FlowKey) -> None:
        """Whether it was registered or not, it is not any more. Raises StoreError."""
        if key in self._flows:
            self._store.unregister(key.vrf, str(key.src), str(key.dst), key.dest_qp)
            del self._flows[key]

    def believed(self, node: str, held: Iterable[Flow]) -> Iterator[Flow]:
        """Flows read from a switch, without those that were deleted while it was away.

        From a switch that is read for the first time its registered flows are taken over, as from
        a controller that kept none."""
        held = list(held)
        if not self._store.has_heard(node):
            found = [flow for flow in held if _is_registered(flow) and flow.key not in self._flows]
            kept = [_kept(flow.key, flow.source_qp or 0, flow.timeout) for flow in found]
            try:
                self._store.hear(node, kept)
            except StoreError as error:
                LOG.warning("%s; the registered flows of %s are in the switch only", error, node)
            for flow in found:
                sender = Sender(flow.source_qp or 0, Origin.MANUAL, flow.timeout)
                self._flows[flow.key] = sender
        for flow in held:
            if not _is_registered(flow) or flow.key in self._flows:
                yield flow


def _kept_address(text: str) -> Address:
    """The same object as in what switches report."""
    address = parse_address(text)
    return ipv4(int(address)) if address.version == 4 else ipv6(int(address))


def _is_registered(flow: Flow) -> bool:
    return flow.origin is Origin.MANUAL and flow.source_qp is not None


def _kept(key: FlowKey, source_qp: int, timeout: int | None) -> RegisteredFlow:
    return RegisteredFlow(key.vrf, str(key.src), str(key.dst), key.dest_qp, source_qp, timeout)
