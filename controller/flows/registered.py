"""Flows that an operator registered, in the store: they last however the controller ends, and what
was deleted does not come back from a switch that was away."""

import logging
from collections.abc import Iterable, Iterator, Sequence

from fcn.controller.config.notation import parse_address
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.senders import Sender
from fcn.controller.store import RegisteredFlow, Store, StoreError

LOG = logging.getLogger("fcn")


class Registered:
    """The registered flows of a network."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.recall()

    def recall(self) -> None:
        """Those of the store, in which there may be others."""
        self._keys = {key for key, _ in self.flows()}

    def flows(self) -> Iterator[tuple[FlowKey, Sender]]:
        """All of them, with their senders."""
        for vrf, src, dst, dest_qp, source_qp, timeout in self._store.flows():
            key = FlowKey(vrf, parse_address(src), parse_address(dst), dest_qp)
            yield key, Sender(source_qp, Origin.MANUAL, timeout)

    def add(self, flows: Sequence[tuple[FlowKey, Sender]]) -> None:
        """Register flows, or say something else of them. Raises StoreError."""
        self._store.register(_kept(key, sender.source_qp, sender.timeout) for key, sender in flows)
        self._keys.update(key for key, _ in flows)

    def remove(self, key: FlowKey) -> None:
        """Whether it was registered or not, it is not any more. Raises StoreError."""
        if key in self._keys:
            self._store.unregister(key.vrf, str(key.src), str(key.dst), key.dest_qp)
            self._keys.remove(key)

    def believed(self, node: str, held: Iterable[Flow]) -> Iterator[Flow]:
        """Flows read from a switch, without those that were deleted while it was away.

        From a switch that is read for the first time its registered flows are taken over, as from
        a controller that kept none."""
        held = list(held)
        if not self._store.has_heard(node):
            found = [flow for flow in held if _is_registered(flow) and flow.key not in self._keys]
            kept = [_kept(flow.key, flow.source_qp or 0, flow.timeout) for flow in found]
            try:
                self._store.hear(node, kept)
            except StoreError as error:
                LOG.warning("%s; the registered flows of %s are in the switch only", error, node)
            self._keys |= {flow.key for flow in found}
        for flow in held:
            if not _is_registered(flow) or flow.key in self._keys:
                yield flow


def _is_registered(flow: Flow) -> bool:
    return flow.origin is Origin.MANUAL and flow.source_qp is not None


def _kept(key: FlowKey, source_qp: int, timeout: int | None) -> RegisteredFlow:
    return RegisteredFlow(key.vrf, str(key.src), str(key.dst), key.dest_qp, source_qp, timeout)
