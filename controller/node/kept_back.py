"""What a switch counts as not reported of a VRF (`controller_share`) is evidence of nothing."""

from fcn.contract.names import VRF_COUNTERS
from fcn.controller.flows.refusals import Refusals
from fcn.controller.node.counters import GrowthUser
from fcn.controller.owners.rate_limits import cell_of
from fcn.controller.provision.provision import Provision


class KeptBack(GrowthUser):
    """Tells of what VRFs of a PE reports are missing."""

    def __init__(self, provision: Provision, refusals: Refusals) -> None:
        self._node = provision.name
        self._refusals = refusals
        super().__init__({
            (counter, cell_of(provision.vrf_id(name))): name
            for counter in VRF_COUNTERS
            if counter in provision.pipeline.counters
            for name in provision.node.vrfs
        })  # fmt: skip

    def grew(self, packets: dict[str, int]) -> None:
        for vrf in packets:
            self._refusals.kept_back(self._node, vrf)
