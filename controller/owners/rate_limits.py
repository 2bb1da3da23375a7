"""Meters of switches, and their cells (p4src/base/rate_limits.p4)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from finsy import P4MeterConfig, P4MeterEntry

from fcn.contract.constants import VRF_CELLS

UNDERLAY = 0
"""In place of a VRF's number: what concerns the underlay."""

NOTIFICATION_METER = "notification_meter"
"""Of all notifications of a P, of all CNPs of a PE for its own senders (FCN-15)."""
NOTICE_METER = "notice_meter"
"""Of all notifications of a PE for other PEs (FCN-18)."""
PUNT_METER = "punt_meter"
"""Of packets sent to the controller, and reports of hosts that ask for their gateway."""
REPORT_METER = "report_meter"
"""Of reports of flows and of connection set-ups."""
ARN_METER = "arn_meter"
HOLD_METER = "hold_meter"


class MeterCell(NamedTuple):
    """A cell of a meter that the controller sets."""

    meter: str
    cell: int


def cell_of(vrf: int) -> int:
    """The index of what a switch keeps per VRF, from the VRF's number."""
    return vrf % VRF_CELLS


def meter_cells(
    meters: Iterable[str], vrfs: Iterable[int], ports: Iterable[int]
) -> Iterator[MeterCell]:
    """The cells of these meters that the controller sets for these VRFs and the underlay, and for
    these core ports."""
    per_vrf = sorted({UNDERLAY, *map(cell_of, vrfs)})
    node = {meter: [0] for meter in (NOTIFICATION_METER, NOTICE_METER, ARN_METER)}
    cells = {**node, HOLD_METER: sorted(ports)}
    for meter in meters:
        yield from (MeterCell(meter, cell) for cell in cells.get(meter, per_vrf))


def meter_entry(meter: str, cell: int, rate: int, burst: int) -> P4MeterEntry:
    """A limit of so many a second."""
    config = P4MeterConfig(cir=rate, cburst=burst, pir=rate, pburst=burst)
    return P4MeterEntry(meter, index=cell, config=config)
