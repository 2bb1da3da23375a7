"""Figure 1 of draft-hu-rtgwg-rocev2-fcn-00: two data centres, and a WAN of two PEs and R1 to R5.

The figure names two routers R2: the one in the middle is R5 here. Each data centre has 16 leaves,
2 spines, a gateway and (in the figure) 64 hosts.

        ingress PE            links: pe1-r1 pe1-r2, r1-r3 r2-r4, r3-pe2 r4-pe2,
         R1      R2                  and R5 to each of R1, R2, R3, R4
           \\ R5 /
         R3      R4
         egress PE
"""

from fcn.topologies.dc.plan import DataCentre
from fcn.topologies.model import Host, Link, Node, Queue, Topology

HOSTS = 64
INGRESS, EGRESS = "pe1", "pe2"
ROUTERS = ("r1", "r2", "r3", "r4", "r5")
LAST_ROUTERS = ("r3", "r4")
BOTTLENECK_PPS = 1000
BOTTLENECK_DEPTH = 256


def dual_dc(hosts: int = HOSTS) -> Topology:
    """The WAN with the gateways as its hosts; `hosts` of each data centre are behind them."""
    centres = (DataCentre(1, hosts), DataCentre(2, hosts))
    return Topology(
        name="dual-dc",
        nodes=(
            Node(INGRESS, "pe"),
            *(Node(name, "p") for name in ROUTERS),
            Node(EGRESS, "pe"),
        ),
        links=(
            Link(INGRESS, "r1"),
            Link(INGRESS, "r2"),
            Link("r1", "r3"),
            Link("r2", "r4"),
            *(Link("r5", name) for name in ROUTERS[:4]),
            *(Link(name, EGRESS) for name in LAST_ROUTERS),
        ),
        hosts=tuple(
            Host(centre.gateway, pe, networks=centre.networks)
            for centre, pe in zip(centres, (INGRESS, EGRESS), strict=True)
        ),
        queues=tuple(
            Queue(name, EGRESS, BOTTLENECK_PPS, BOTTLENECK_DEPTH) for name in LAST_ROUTERS
        ),
    )
