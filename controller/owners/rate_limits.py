"""NotificationLimit, PuntLimit and ReportLimit: meters (p4src/base/rate_limits.p4), and
NoticeLimit (p4src/fast_cnp/v1model/tell_ingress_pe.p4)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from finsy import P4MeterConfig, P4MeterEntry

from fcn.contract.constants import VRF_CELLS
from fcn.controller.config.base import RateLimit
from fcn.controller.owners.owner import Owner

UNDERLAY = 0
"""In place of a VRF's number: what concerns the underlay."""

NOTIFICATION_METER = "notification_meter"
NOTICE_METER = "notice_meter"
PUNT_METER = "punt_meter"
REPORT_METER = "report_meter"
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


def meter_config(rate: int, burst: int) -> P4MeterConfig:
    """A meter of one rate (per second) and burst."""
    return P4MeterConfig(cir=rate, cburst=burst, pir=rate, pburst=burst)


class _Limit(Owner):
    meter: str

    def _allow(self, index: int, limit: RateLimit) -> None:
        config = meter_config(limit.rate, limit.burst)
        self._intent.put(P4MeterEntry(self.meter, index=index, config=config))


class _NodeLimit(_Limit):
    def allow(self, limit: RateLimit) -> None:
        """Set rate (packets per second) and burst (packets)."""
        self._allow(0, limit)


class NotificationLimit(_NodeLimit):
    """All notifications of a P together, all CNPs of a PE for its own senders (FCN-15)."""

    meter = NOTIFICATION_METER


class NoticeLimit(_NodeLimit):
    """All notifications of a PE for other PEs (FCN-18)."""

    meter = NOTICE_METER


class _VrfLimit(_Limit):
    def allow(self, vrf: int, limit: RateLimit) -> None:
        """Set rate (per second) and burst of a VRF, or of the UNDERLAY."""
        self._allow(cell_of(vrf), limit)


class PuntLimit(_VrfLimit):
    """Packets sent to the controller, and reports of hosts that ask for their gateway."""

    meter = PUNT_METER


class ReportLimit(_VrfLimit):
    """Reports of flows and of connection set-ups."""

    meter = REPORT_METER
