"""Limits of what a node sends to the controller, and to others about congestion (FCN-15)."""

from fcn.controller.config.base import RateLimit
from fcn.controller.owners.rate_limits import (
    UNDERLAY,
    MeterCell,
    NoticeLimit,
    NotificationLimit,
    PuntLimit,
    ReportLimit,
    meter_cells,
)
from fcn.controller.owners.recirculation import Recirculation
from fcn.controller.provision.node_intent import NodeIntent

UNDERLAY_LIMIT = RateLimit(rate=2_000, burst=500)
"""Packets per second of the underlay sent to the controller: enough for neighbour discovery, too
few to overload it."""


def recirculate_and_limit(to: NodeIntent) -> None:
    """Where copies of packets go, and how many packets a second."""
    Recirculation(to.intent).enable()
    NotificationLimit(to.intent).allow(to.node.notifications)
    if to.is_pe and to.tells_ingress_pes:
        NoticeLimit(to.intent).allow(to.node.notifications)
    punts, reports = PuntLimit(to.intent), ReportLimit(to.intent)
    punts.allow(UNDERLAY, UNDERLAY_LIMIT)
    for name in to.node.vrfs if to.is_pe else ():
        punts.allow(to.vrf_id(name), to.config.controller_share.packets)
        reports.allow(to.vrf_id(name), to.config.controller_share.reports)


def own_meter_cells(of: NodeIntent) -> list[MeterCell]:
    """Cells of the program's meters that the controller sets."""
    meters = [meter.alias for meter in of.pipeline.schema.meters]
    ports = (port.number for port in of.node.core_ports)
    return list(meter_cells(meters, map(of.vrf_id, of.node.vrfs), ports))
