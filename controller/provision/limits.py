"""Limits of what a node sends to the controller, and to others about congestion (FCN-15)."""

from finsy import P4CloneSessionEntry

from fcn.controller.config.base import RateLimit
from fcn.controller.owners.rate_limits import (
    NOTICE_METER,
    NOTIFICATION_METER,
    PUNT_METER,
    REPORT_METER,
    UNDERLAY,
    MeterCell,
    cell_of,
    meter_cells,
    meter_entry,
)
from fcn.controller.owners.tables import Tables
from fcn.controller.provision.node_intent import NodeIntent

UNDERLAY_LIMIT = RateLimit(rate=2_000, burst=500)
"""Packets per second of the underlay sent to the controller: enough for neighbour discovery, too
few to overload it."""


def recirculate_and_limit(to: NodeIntent) -> None:
    """Where copies of packets go, and how many packets a second."""
    recirculate(to.tables)
    limits = {(NOTIFICATION_METER, 0): to.node.notifications}
    if to.is_pe and to.tells_ingress_pes:
        limits[NOTICE_METER, 0] = to.node.notifications
    limits[PUNT_METER, UNDERLAY] = UNDERLAY_LIMIT
    for name in to.node.vrfs if to.is_pe else ():
        cell = cell_of(to.vrf_id(name))
        limits[PUNT_METER, cell] = to.config.controller_share.packets
        limits[REPORT_METER, cell] = to.config.controller_share.reports
    for (meter, cell), limit in limits.items():
        to.intent.put(meter_entry(meter, cell, limit.rate, limit.burst))


def recirculate(tables: Tables) -> None:
    """Recirculate the copies of packets that somebody is to be told of."""
    for session in tables.target.clone_sessions:
        tables.intent.put(P4CloneSessionEntry(session.number, replicas=session.replicas))


def own_meter_cells(of: NodeIntent) -> list[MeterCell]:
    """Cells of the program's meters that the controller sets."""
    meters = [meter.alias for meter in of.pipeline.schema.meters]
    ports = (port.number for port in of.node.core_ports)
    return list(meter_cells(meters, map(of.vrf_id, of.node.vrfs), ports))
