"""The interface of a PE to the flow service (flows/flow.py, Edge): writes flows to its intent."""

from collections.abc import Callable
from functools import lru_cache

from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.controller.config.addressing import cnp_source
from fcn.controller.config.features import Feature
from fcn.controller.config.notation import Address
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.provenance import to_text
from fcn.controller.provision.provision import Provision

SOURCES = 65536
"""Hosts of which it is kept from where their CNPs come, unless that is the peer."""


class NodeEdge:
    """Installs and removes the flows of one PE, which is connected since `up_for` seconds."""

    def __init__(self, provision: Provision, up_for: Callable[[], float]) -> None:
        self._provision = provision
        self._up_for = up_for
        size = provision.pipeline.table_size
        self._capacity = {
            version: min(size(FLOW_TABLES[version]), size(LABEL_TABLES[version]))
            for version in FLOW_TABLES
        }
        self._cnp_source = lru_cache(SOURCES)(self._find_cnp_source)

    @property
    def learning(self) -> bool:
        """Whether the PE reports flows and labels them (FCN-16)."""
        return Feature.LEARNING in self._provision.features

    def heard_for(self) -> float:
        """Seconds since when its reports arrive without a gap; 0 while they do not."""
        return self._up_for()

    def capacity(self, ip_version: int) -> int:
        return self._capacity[ip_version]

    def install(self, flow: Flow) -> None:
        """Label a flow. When its sender is known, notifications with the label become CNPs."""
        provision, key = self._provision, flow.key
        vrf = provision.vrf_id(key.vrf)
        of_peer = provision.node.cnp.source == "peer"
        source = key.dst if of_peer else self._cnp_source(key.vrf, key.src)
        if flow.source_qp is None or source is None:
            provision.flow_by_label.source_unknown(flow.label, key.src.version, key.vrf)
        else:
            provision.flow_by_label.notify_sender(
                flow.label,
                vrf,
                source,
                key.src,
                flow.source_qp,
                flow.p_key,
                to_text(flow.origin, flow.comm_ids),
                key.vrf,
            )
        provision.flow_table.label(
            vrf,
            key.src,
            key.dst,
            key.dest_qp,
            flow.label,
            flow.timeout,
            watched=flow.watched,
            share=key.vrf,
        )

    def _find_cnp_source(self, vrf: str, sender: Address) -> Address | None:
        return cnp_source(self._provision.node, vrf, sender, peer=sender)

    def remove(self, flow: Flow, successor: str | None = None) -> None:
        """Undo `install`; `successor`: the VRF of the flow that gets its place."""
        provision, key = self._provision, flow.key
        vrf = provision.vrf_id(key.vrf)
        provision.flow_table.unlabel(vrf, key.src, key.dst, key.dest_qp, successor)
        provision.flow_by_label.forget(flow.label, key.src.version, successor)
