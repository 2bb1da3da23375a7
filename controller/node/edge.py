"""The interface of a PE to the flow service (flows/flow.py, Edge): writes flows to its intent, and
finds them among what its switch holds."""

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Self

from fcn.contract.exact import Encoded
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.controller.config.addressing import cnp_source, vrf_names
from fcn.controller.config.features import Feature
from fcn.controller.config.notation import Address
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin, from_text, to_text
from fcn.controller.owners.held_flows import Held, HeldFlows
from fcn.controller.provision.provision import Provision
from fcn.controller.store import Store, StoreError

LOG = logging.getLogger("fcn")

SOURCES = 65536
"""Hosts of which it is kept from where their CNPs come, unless that is the peer."""


class NodeEdge:
    """Installs and removes the flows of one PE, which is connected since `up_for` seconds.

    known: the key that is kept of a flow that a queue pair sends."""

    def __init__(
        self,
        provision: Provision,
        up_for: Callable[[], float],
        known: Callable[[FlowKey, int], FlowKey] = lambda key, _source_qp: key,
        store: Store | None = None,
    ) -> None:
        self._provision = provision
        self._up_for = up_for
        self._known = known
        self._store = store or Store()
        size = provision.pipeline.table_size
        self._capacity = {
            version: min(size(FLOW_TABLES[version]), size(LABEL_TABLES[version]))
            for version in FLOW_TABLES
        }
        self._cnp_source = lru_cache(SOURCES)(self._find_cnp_source)
        self._found: Flow | None = None
        """The flow that the switch holds as `install` would write it; None: that was done."""
        self._names = vrf_names(provision.config)
        self.reused: frozenset[int] = frozenset()
        """VRF IDs that may be those of other VRFs in what the switch holds, and says."""

    @property
    def learning(self) -> bool:
        """Whether the PE reports flows and labels them (FCN-16)."""
        return Feature.LEARNING in self._provision.features

    def heard_for(self) -> float:
        """Seconds since when its reports arrive without a gap; 0 while they do not."""
        return self._up_for()

    def capacity(self, ip_version: int) -> int:
        return self._capacity[ip_version]

    def take_over(self, before: Self) -> None:
        """The switch may hold what was written under the configuration before."""
        others = {vrf for vrf, name in before._names.items() if self._names.get(vrf) != name}
        self.reused = before.reused | others

    def begin(self) -> None:
        """The switch may hold what was written by an earlier run, and is about to be written to.
        Raises StoreError."""
        self.reused |= self._store.reused(self._provision.name, self._names)
        self._name_vrfs(alone=False)

    def left_to_leader(self) -> None:
        """Another controller writes to the switch; it has the same file."""
        self.reused = frozenset()

    def synchronized(self) -> None:
        """The switch holds nothing else than this configuration asks for."""
        self.reused = frozenset()
        self._name_vrfs(alone=True)

    def _name_vrfs(self, *, alone: bool) -> None:
        try:
            self._store.name_vrfs(self._provision.name, self._names, alone=alone)
        except StoreError as error:
            LOG.warning(
                "%s; a controller that is started with other VRF IDs may mix up VRFs", error
            )

    def install(self, flow: Flow, before: Flow | None = None) -> None:
        """Label a flow. When its sender is known, notifications with the label become CNPs."""
        if flow is self._found:
            self._found = None
            return
        olds = self.entries(before) if before is not None else (None, None)
        for entry, old in zip(self.entries(flow), olds, strict=True):
            if entry != old:
                again = old is not None
                self._provision.intent.put_encoded(entry, flow.key.vrf, again=again)

    def entries(self, flow: Flow) -> tuple[Encoded, Encoded]:
        """Those of a flow: of its label, and of its packets."""
        provision, key = self._provision, flow.key
        vrf, source = provision.vrf_id(key.vrf), self._source(key)
        label, version = flow.label, key.src.version
        if flow.source_qp is None or source is None:
            of_label = provision.flow_by_label.source_unknown(label, version)
        else:
            note = to_text(flow.origin, flow.comm_ids)
            sender = key.src, flow.source_qp, flow.p_key, note
            of_label = provision.flow_by_label.notify_sender(label, vrf, source, *sender)
        ends = vrf, key.src, key.dst, key.dest_qp
        told = label, flow.timeout
        return of_label, provision.flow_table.label(*ends, *told, watched=flow.watched)

    def found(self, held: HeldFlows, now: float, *, on_switch: bool = True) -> Iterator[Flow]:
        """Flows among what a switch was read to hold `now` (seconds since the epoch), without those
        of VRFs that are not configured, or whose ID was another's; not `on_switch`: it held them
        before it got this program.

        Where the flow itself that was given is installed before the next, the intent never hears of
        its entries: the switch has them."""
        names = {vrf: name for vrf, name in self._names.items() if vrf not in self.reused}
        for each in held:
            flow = self._flow_of(each, names, now)
            if flow is not None:
                is_kept = on_switch and self._is_kept(each, flow)
                self._found = flow if is_kept else None
                yield flow
                if is_kept and self._found is None:
                    continue
                self._found = None
            if on_switch:
                for key, value in held.entries(each):
                    self._provision.intent.hold(key, value)

    def _flow_of(self, held: Held, names: Mapping[int, str], now: float) -> Flow | None:
        if held.flow is None or (vrf := names.get(held.flow.vrf)) is None:
            return None
        _, src, dst, dest_qp, label, timeout, watched = held.flow
        key, node = FlowKey(vrf, src, dst, dest_qp), self._provision.name
        if (sender := held.sender) is None:
            return Flow(key, node, label, timeout, Origin.RESTORED, since=now, watched=watched)
        origin, ids = from_text(sender.note)
        told = sender.source_qp, sender.p_key, ids
        key = self._known(key, sender.source_qp)
        return Flow(key, node, label, timeout, origin, *told, since=now, watched=watched)

    def _is_kept(self, held: Held, flow: Flow) -> bool:
        """Whether the switch holds it as `install` writes it, and nothing of it waits."""
        sender = held.sender
        return (
            sender is not None
            and held.flow is not None
            and (sender.vrf, sender.note) == (held.flow.vrf, to_text(flow.origin, flow.comm_ids))
            and (source := self._source(flow.key)) is not None
            and int(source) == sender.cnp_source
            and not flow.timeout % 1000
            and not self._provision.intent.shares_wait
        )

    def _source(self, key: FlowKey) -> Address | None:
        if self._provision.node.cnp.source == "peer":
            return key.dst
        return self._cnp_source(key.vrf, key.src)

    def _find_cnp_source(self, vrf: str, sender: Address) -> Address | None:
        return cnp_source(self._provision.node, vrf, sender, peer=sender)

    def remove(self, flow: Flow, successor: str | None = None) -> None:
        """Undo `install`; `successor`: the VRF of the flow that gets its place."""
        provision, key, share = self._provision, flow.key, successor or flow.key.vrf
        ends = provision.vrf_id(key.vrf), key.src, key.dst, key.dest_qp
        provision.intent.drop_encoded(provision.flow_table.key(*ends), share)
        of_label = provision.flow_by_label.key(flow.label, key.src.version)
        provision.intent.drop_encoded(of_label, share)
