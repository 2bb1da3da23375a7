"""A network with data centres, started."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path

from fcn.hosts.processes import wait_until
from fcn.topologies.data_centre import DataCentre
from fcn.topologies.dc.fabric import Fabric, answers, prepare
from fcn.topologies.dc.sample import settings
from fcn.topologies.model import Topology
from fcn.topologies.network import Network, Target

REACH_TIMEOUT_S = 60.0


@contextmanager
def running_data_centres(
    topology: Topology, target: Target, directory: Path, progress: Callable[[str], None]
) -> Iterator[Network]:
    """Start everything, wait until the hosts reach each other; clean up after. Raises ProcessError.

    The caller has entered namespaces of its own (`fcn.topologies.isolation`).
    """
    prepare()
    progress("starting switches and controller")
    with Network(topology, target, settings(), directory) as network:
        for centre in topology.centres:
            progress(f"data centre {centre.number}: {centre.size} hosts")
            Fabric(centre, network.host(centre.gateway)).start()
        progress("waiting until the data centres reach each other")
        vrfs = {host.name: host.vrf for host in topology.hosts}
        for near, far in combinations(topology.centres, 2):
            if vrfs[near.gateway] == vrfs[far.gateway]:
                _wait_for_fabrics(near, far)
        yield network


def _wait_for_fabrics(near: DataCentre, far: DataCentre) -> None:
    """Wait until the first and last hosts of both data centres reach each other."""
    for sender, receiver in ((near.hosts[0], far.hosts[-1]), (far.hosts[0], near.hosts[-1])):
        for family in (4, 6):
            wait_until(
                partial(answers, sender.name, receiver.address(family)),
                REACH_TIMEOUT_S,
                f"{sender.name} does not reach {receiver.name} over IPv{family}",
            )
