"""DC1 - PE1 - P - PE2 - DC2 with a guest in each data centre and the bottleneck at P."""

from collections.abc import Mapping
from typing import Any

from fcn.topologies.controller_config import FcnSettings, Level
from fcn.topologies.model import Host, Link, Node, Queue, Topology, TunnelType

NEAR, FAR = "g1", "g2"
INGRESS, TRANSIT, EGRESS = "pe1", "p", "pe2"
# Slower than even an emulated guest sends, so that P is congested; deep enough for all packets that
# rdma_rxe sends unacknowledged (128 per queue pair), so that none is lost.
BOTTLENECK_PPS = 1000
BOTTLENECK_DEPTH = 2048
THRESHOLDS = (8, 16, 32, 64, 128, 192, 256)
FLOW_TIMEOUT_S = 15


def interop(tunnel: TunnelType) -> Topology:
    """The topology with one type of tunnel between the PEs."""
    return Topology(
        name=f"interop-{tunnel}",
        nodes=(Node(INGRESS, "pe"), Node(TRANSIT, "p"), Node(EGRESS, "pe")),
        links=(Link(INGRESS, TRANSIT), Link(TRANSIT, EGRESS)),
        hosts=(Host(NEAR, INGRESS), Host(FAR, EGRESS)),
        queues=(Queue(TRANSIT, EGRESS, BOTTLENECK_PPS, BOTTLENECK_DEPTH),),
        tunnel=tunnel,
    )


def settings(sections: Mapping[str, Any]) -> FcnSettings:
    """CNPs from the peer's address, because Linux accepts packets for a QP from its peer only.

    `sections` are added to the controller's configuration.
    """
    return FcnSettings(
        thresholds=THRESHOLDS,
        levels=tuple(Level(mark=True, notify=True, interval="20ms") for _ in THRESHOLDS),
        cnp_source="peer",
        cnp_interval="10ms",
        flow_timeout=f"{FLOW_TIMEOUT_S}s",
        sections=sections,
    )
