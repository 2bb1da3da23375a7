"""Whether what two hosts send each other is reported, as far as the controller knows (FCN-3 b).

What is missing from reports of the PEs is no evidence: not of a pause, nor that there is no other
flow.
"""

from collections.abc import Iterator, Mapping

from fcn.controller.flows.flow import Edge
from fcn.controller.flows.inference import HostPairKey
from fcn.controller.flows.places import Places
from fcn.controller.flows.refusals import Reason, Refusals
from fcn.controller.flows.watch import WATCH

MISSED = (Reason.LATE, Reason.TOO_MANY_REPORTS)
"""Why a packet of a watched flow may be missing from what is evidence."""


class Reporting:
    """What the PEs of two hosts report at present."""

    def __init__(self, edges: Mapping[str, Edge], places: Places, refusals: Refusals) -> None:
        self._edges = edges
        self._places = places
        self._refusals = refusals

    def heard_for(self, pair: HostPairKey) -> float:
        """Seconds since when all packets of watched flows between two hosts are reported in time,
        as far as that is known; 0 while they are not."""
        vrf = pair[0]
        return min(
            (
                min(self._edges[node].heard_for(), self._refusals.since(node, vrf, reason))
                for nodes in self._nodes(pair)
                for node in nodes
                for reason in MISSED
            ),
            default=0.0,
        )

    def is_complete(self, pair: HostPairKey) -> bool:
        """Whether all flows between two hosts enter the WAN at PEs that report and label them, as
        of a flow without a label there is no sample."""
        vrf = pair[0]
        return all(
            nodes and all(self._labels_all(node, vrf) for node in nodes)
            for nodes in self._nodes(pair)
        )

    def _nodes(self, pair: HostPairKey) -> Iterator[list[str]]:
        vrf, *hosts = pair
        return (self._places.nodes(vrf, host) for host in hosts)

    def _labels_all(self, node: str, vrf: str) -> bool:
        """Whether the PE reported and had room for every flow of the VRF for as long as a watch:
        what was seen before counts no more."""
        edge = self._edges[node]
        return (
            edge.learning
            and edge.heard_for() >= WATCH
            and self._refusals.since(node, vrf, Reason.NO_ROOM) > WATCH
        )
