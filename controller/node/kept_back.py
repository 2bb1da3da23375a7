"""What a switch counts as not reported of a VRF (`controller_share`) is evidence of nothing."""

from collections.abc import Iterator

from fcn.contract.names import VRF_COUNTERS
from fcn.controller.flows.refusals import Refusals
from fcn.controller.node.counters import Cell, Cells, CounterUser
from fcn.controller.owners.rate_limits import cell_of
from fcn.controller.provision.provision import Provision


class KeptBack(CounterUser):
    """Tells of what VRFs of a PE reports are missing."""

    def __init__(self, provision: Provision, refusals: Refusals) -> None:
        self._node = provision.name
        self._refusals = refusals
        self._vrfs = {
            (counter, cell_of(provision.vrf_id(name))): name
            for counter in VRF_COUNTERS
            if counter in provision.pipeline.counters
            for name in provision.node.vrfs
        }
        self._last: dict[Cell, int] = {}

    def cells(self) -> Iterator[Cell]:
        yield from self._vrfs

    def start_anew(self) -> None:
        """What was counted before is counted from zero."""
        self._last.clear()

    async def see(self, counts: Cells) -> None:
        """More was kept back since the last time; the first time is no news."""
        for cell, vrf in self._vrfs.items():
            packets, _ = counts[cell]
            if packets > self._last.get(cell, packets):
                self._refusals.kept_back(self._node, vrf)
            self._last[cell] = packets
