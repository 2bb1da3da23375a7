"""A P that sends Fast CNPs, and packets in its congested queue (FCN-8 to FCN-11)."""

from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_V4,
    PTest,
    core_frame_in,
    core_frame_out,
)
from fcn.ptf_tests.lib.packets import Ecn, fast_cnp, roce, srv6
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

LABEL = 0x8CAFE
TRAFFIC_CLASS = 0xC0
"""Traffic class of the Fast CNPs: CS6, Not-ECT."""
SENT = {"FAST_CNP_TRIGGERED": 1, "FAST_CNP_SENT": 1}


def tunnelled(label: int = LABEL, ecn: int = Ecn.ECT0, payload: int = 64) -> bytes:
    """A RoCE packet in its tunnel, from the ingress PE to the egress PE."""
    inner = roce(HOST_V4, REMOTE_V4, 0x118, payload=bytes(payload))
    return srv6(inner, PE_ADDRESS, REMOTE_PE, flow_label=label, traffic_class=ecn)


def from_ingress_pe(datagram: bytes) -> bytes:
    """As it arrives at the P."""
    return core_frame_in(datagram, DC_PORT)


def notice(label: int = LABEL, level: int = 0, *, flow_label: int = 0) -> bytes:
    """The Fast CNP as it leaves the P towards the ingress PE."""
    datagram = fast_cnp(
        P_ADDRESS, PE_ADDRESS, label, level, traffic_class=TRAFFIC_CLASS, flow_label=flow_label
    )
    return core_frame_out(datagram, DC_PORT)


class CongestedPTest(PTest):
    """Every packet towards the egress PE passes a queue at congestion level `level`."""

    level = 4
    mark = Ecn.NOT_ECT
    notify = True
    interval_us = 0

    def configure(self) -> None:
        """Fast CNPs enabled, one level on CORE_PORT."""
        super().configure()
        self.p.notification_port()
        self.configure_feature()
        self.p.queue_level(CORE_PORT, self.level)
        self.p.level_policy(
            self.level, mark=self.mark, notify=self.notify, interval_us=self.interval_us
        )

    def configure_feature(self) -> None:
        """Fast CNPs on, label not copied."""
        self.p.enable_fast_cnp(P_ADDRESS, traffic_class=TRAFFIC_CLASS)
