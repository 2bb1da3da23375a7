"""The topologies that can be run by name."""

from fcn.topologies.model import Host, Link, Node, Queue, Topology

BOTTLENECK_PPS = 1000
BOTTLENECK_DEPTH = 128


def wan() -> Topology:
    """DC1 - PE1 - P1 - P2 - PE2 - DC2, two hosts a side, the bottleneck at P2 towards PE2.

    One-way delays of 1, 2 and 5 ms are 200, 400 and 1000 km of fibre at 5 us per km: 16 ms RTT
    between the data centres, of which a notification from P2 saves the way to DC2 and back.
    """
    return Topology(
        name="wan",
        nodes=(Node("pe1", "pe"), Node("p1", "p"), Node("p2", "p"), Node("pe2", "pe")),
        links=(Link("pe1", "p1", 1.0), Link("p1", "p2", 2.0), Link("p2", "pe2", 5.0)),
        hosts=(Host("h1", "pe1"), Host("h2", "pe1"), Host("h3", "pe2"), Host("h4", "pe2")),
        queues=(Queue("p2", "pe2", BOTTLENECK_PPS, BOTTLENECK_DEPTH),),
    )


CATALOG = {"wan": wan}
