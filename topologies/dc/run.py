"""The two data centres and the WAN of `fcn.topologies.dual_dc`, started and sampled."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fcn.topologies.dc.fabric import Fabric, prepare
from fcn.topologies.dc.plan import DataCentre
from fcn.topologies.dc.sample import settings, wait_for_fabric
from fcn.topologies.dual_dc import dual_dc
from fcn.topologies.network import Network, Target


@dataclass(frozen=True, slots=True)
class DualDc:
    """The running network and its data centres; `seconds` it took to start."""

    network: Network
    near: DataCentre
    far: DataCentre
    seconds: float


@contextmanager
def running_dual_dc(
    hosts: int, target: Target, directory: Path, progress: Callable[[str], None]
) -> Iterator[DualDc]:
    """Start everything, wait until the hosts reach each other; clean up after. Raises ProcessError.

    The caller has entered namespaces of its own (`fcn.topologies.isolation`).
    """
    begun = time.monotonic()
    near, far = DataCentre(1, hosts), DataCentre(2, hosts)
    prepare()
    progress("starting switches and controller")
    with Network(dual_dc(hosts), target, settings(), directory) as network:
        for centre in (near, far):
            progress(f"data centre {centre.number}: {hosts} hosts")
            Fabric(centre, network.host(centre.gateway)).start()
        progress("waiting until the data centres reach each other")
        wait_for_fabric(near, far)
        yield DualDc(network, near, far, time.monotonic() - begun)
