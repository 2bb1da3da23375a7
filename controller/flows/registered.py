"""Flows that an operator registered, in the store: they last however the controller ends, and what
was deleted does not come back from a switch that was away."""

import logging
from collections.abc import Iterable, Iterator, Sequence

from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.senders import Sender, Senders
from fcn.controller.owners.addresses import address_of
from fcn.controller.store import RegisteredFlow, Store, StoreError

LOG = logging.getLogger("fcn")


class Registered:
    """The registered flows of a network; those of VRFs that are configured are known to
    `senders`."""

    def __init__(self, store: Store, senders: Senders) -> None:
        self._store = store
        self._senders = senders
        self._gone: set[FlowKey] = set()
        """Deleted while the store did not have them: their switch is not heard to the end."""

    def flows(self, vrf: str) -> Iterator[tuple[FlowKey, Sender]]:
        """Those of a VRF, with their senders."""
        for _, src, dst, dest_qp, source_qp, timeout in self._store.flows(vrf):
            key = FlowKey(vrf, address_of(src), address_of(dst), dest_qp)
            yield key, Sender(source_qp, Origin.MANUAL, timeout)

    def add(self, flows: Sequence[tuple[FlowKey, Sender]]) -> None:
        """Register flows, or say something else of them. Raises StoreError."""
        self._gone.difference_update(key for key, _ in flows)
        self._store.register(_kept(key, sender.source_qp, sender.timeout) for key, sender in flows)

    def remove(self, key: FlowKey) -> None:
        """Whether it was registered or not, it is not any more. Raises StoreError."""
        ends = str(key.src), str(key.dst)
        if self._knows(key) and not self._store.unregister(key.vrf, *ends, key.dest_qp):
            self._gone.add(key)

    def believed(self, node: str, held: Iterable[Flow]) -> Iterator[Flow]:
        """Flows read from a switch, without those that were deleted while it was away.

        From a switch that is read for the first time its registered flows are taken over, as from
        a controller that kept none."""
        heard, found = self._store.has_heard(node), list[RegisteredFlow]()
        for flow in held:
            is_registered = flow.origin is Origin.MANUAL and flow.source_qp is not None
            if is_registered and not self._knows(flow.key):
                if heard or flow.key in self._gone:
                    continue
                found.append(_kept(flow.key, flow.source_qp or 0, flow.timeout))
            yield flow
        if not heard:
            try:
                self._store.hear(node, found)
            except StoreError as error:
                LOG.warning("%s; the registered flows of %s are in the switch only", error, node)

    def _knows(self, key: FlowKey) -> bool:
        known = self._senders.get(key)
        return known is not None and known.origin is Origin.MANUAL


def _kept(key: FlowKey, source_qp: int, timeout: int | None) -> RegisteredFlow:
    return RegisteredFlow(key.vrf, str(key.src), str(key.dst), key.dest_qp, source_qp, timeout)
