"""What reports of the PEs are worth: whether they are believed, and whether any are missing.

A report counts where its packet's source is. One that arrives behind the message that ended its
flow says nothing of the flow now: PEs report data and connection messages in separate batches
(FCN-4). What is missing from reports is no evidence: not of a pause, nor that there is no other
flow (FCN-3 b).
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from math import inf

from fcn.controller.config import Config
from fcn.controller.config.addressing import attachment, locate
from fcn.controller.config.notation import Address
from fcn.controller.flows.flow import Edge
from fcn.controller.flows.key import FlowKey, HostPairKey
from fcn.controller.flows.refusals import RefusalReason, Refusals
from fcn.controller.flows.watch import WATCH

REMEMBERED = 65536
"""Addresses of which it is kept where they are, so that a report need not search for it; flows that
ended, of which late reports may come."""

LATEST = 60.0
"""Seconds by which a report may come late that is not taken for one of a new flow."""

REPORTS_OVERLAP = 3.0
"""Seconds after the end of a flow within which every report of its packets was sent. A flow between
the same queue pairs that no handshake announces is labelled that much later."""

REST = 10.0
"""Seconds for which no flow of a VRF is watched at a PE whose report was late: the next ones would
be no evidence either, and everything else from the switch would wait behind them."""

SETTLING = 1.0
"""Seconds within which the switch samples again afterwards."""


class Reports:
    """Judges reports. `clock` returns seconds and never goes back."""

    def __init__(
        self,
        config: Config,
        edges: Mapping[str, Edge],
        refusals: Refusals,
        clock: Callable[[], float],
    ) -> None:
        self._refusals = refusals
        self._clock = clock
        self._departed_until: OrderedDict[FlowKey, float] = OrderedDict()
        """Soonest first."""
        self.move_to(config, edges)

    def move_to(self, config: Config, edges: Mapping[str, Edge]) -> None:
        """Judge by this configuration from now on."""
        self._config = config
        self._edges = edges
        self._everywhere = lru_cache(REMEMBERED)(partial(locate, config))
        self.nodes = lru_cache(REMEMBERED)(self._nodes)
        self.port = lru_cache(REMEMBERED)(self._port)

    def _nodes(self, vrf: str, address: Address) -> list[str]:
        """The PEs of this region that an address of a VRF is attached to, most specific prefix
        first."""
        return [node for node in self._everywhere(vrf, address) if node in self._edges]

    def regions(self, vrf: str, address: Address) -> list[str | None]:
        """The regions of all PEs that an address of a VRF is attached to."""
        return [self._config.nodes[node].region for node in self._everywhere(vrf, address)]

    def _port(self, node: str, vrf: str, address: Address) -> int | None:
        """The port of a PE that an address of a VRF is behind; None where it is elsewhere."""
        found = attachment(self._config.nodes[node], vrf, address)
        return found.port.number if found is not None else None

    def believes(self, node: str, port: int, vrf: str, source: Address) -> bool:
        """Whether this PE can have got a packet from that address there: others are not believed.

        Of the other PEs nothing is looked up: sources are invented faster than that."""
        if self.port(node, vrf, source) == port:
            return True
        self._refusals.refuse(
            node,
            vrf,
            RefusalReason.FOREIGN_SOURCE,
            lambda: (
                f"a packet from {source} in {vrf} is not believed: "
                f"that is not behind port {port} of {node}"
            ),
        )
        return False

    def are_old(self, flow: FlowKey, sent: float) -> bool:
        """Whether reports of this flow's packets that were sent then may be of the time before its
        disconnect."""
        return self._departed_until.get(flow, -inf) > sent

    def departed(self, flow: FlowKey) -> None:
        """The flow was disconnected now."""
        now, departed = self._clock(), self._departed_until
        while departed and (
            next(iter(departed.values())) <= now - LATEST or len(departed) >= REMEMBERED
        ):
            departed.popitem(last=False)
        departed[flow] = now + REPORTS_OVERLAP
        departed.move_to_end(flow)

    def goes_on(self, flow: FlowKey) -> None:
        """The flow goes on, or begins again."""
        self._departed_until.pop(flow, None)

    def heard_for(self, pair: HostPairKey) -> float:
        """Seconds since when all packets of watched flows between two hosts are reported in time,
        as far as that is known; 0 while they are not."""
        vrf = pair[0]
        return min(
            (
                max(0.0, min(self._edges[node].heard_for(), self._complete_for(node, vrf)))
                for nodes in self._at(pair)
                for node in nodes
                if node in self._edges
            ),
            default=0.0,
        )

    def are_prompt(self, node: str, vrf: str) -> bool:
        """Whether reports of this PE are worth sampling flows of the VRF."""
        return self._refusals.since(node, vrf, RefusalReason.LATE) >= REST

    def _complete_for(self, node: str, vrf: str) -> float:
        """Seconds since when no packet of a watched flow is missing from what is evidence."""
        late = self._refusals.since(node, vrf, RefusalReason.LATE) - REST - SETTLING
        return min(late, self._refusals.complete_for(node, vrf))

    def are_complete(self, pair: HostPairKey) -> bool:
        """Whether all flows between two hosts enter the WAN at PEs that report and label them, as
        of a flow without a label there is no sample."""
        vrf = pair[0]
        return all(
            nodes and all(self._labels_all(node, vrf) for node in nodes) for nodes in self._at(pair)
        )

    def _at(self, pair: HostPairKey) -> Iterator[list[str]]:
        vrf, *hosts = pair
        return (self._everywhere(vrf, host) for host in hosts)

    def _labels_all(self, node: str, vrf: str) -> bool:
        """Whether the PE reported and had room for every flow of the VRF for as long as a watch:
        what was seen before counts no more."""
        edge = self._edges.get(node)
        return (
            edge is not None
            and edge.learning
            and edge.heard_for() >= WATCH
            and self._refusals.complete_for(node, vrf) > WATCH
            and self._refusals.since(node, vrf, RefusalReason.NO_ROOM) > WATCH
        )
