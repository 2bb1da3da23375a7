"""An egress PE with a congested port to a data centre, and its packets (FCN-18)."""

from collections.abc import Mapping

from fcn.ptf_tests.lib.beds import (
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    core_frame_in,
    core_frame_out,
    host_frame_out,
)
from fcn.ptf_tests.lib.notifications import NotificationTest
from fcn.ptf_tests.lib.packets import Ecn, IpFields, fast_cnp, gre, mpls_udp, routed, srv6, vxlan
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

LABEL = 0x8CAFE
LEVEL = 5
TRAFFIC_CLASS = 0xC0
REMOTE_END_CON = "fc00:0:2:c0::"
SENT = {"FAST_CNP_TRIGGERED": 1, "FAST_CNP_SENT": 1}
END_CON_SENT = {"END_CON_CNP_TRIGGERED": 1, "END_CON_CNP_SENT": 1}
VNI, KEY, VPN_LABEL = 0xABC, 0xBEEF, 0xFFF0


def tunnels(inner: bytes, src: str = REMOTE_PE) -> dict[str, bytes]:
    """A customer's packet in every tunnel that ends at this PE."""
    fields: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
    sids = (PE_RED_SID, "fc00:0:1::2", "fc00:0:1::3", "fc00:0:1::4")
    overlay = vxlan(inner, src, PE_ADDRESS, VNI, **fields)
    return {
        "SRv6": srv6(inner, src, PE_RED_SID, **fields),
        **{
            f"SRv6, {count} segments": srv6(inner, src, PE_RED_SID, sids[:count], 0, **fields)
            for count in range(1, len(sids) + 1)
        },
        "VXLAN": overlay,
        "GRE": gre(inner, src, PE_ADDRESS, KEY, **fields),
        "MPLS": mpls_udp(inner, src, PE_ADDRESS, (VPN_LABEL,), **fields),
    }


def arriving(
    inner: bytes, *, label: int = LABEL, ecn: int = Ecn.ECT0, src: str = REMOTE_PE
) -> bytes:
    """The frame from the WAN."""
    return core_frame_in(srv6(inner, src, PE_RED_SID, flow_label=label, traffic_class=ecn))


def notice(label: int = LABEL, level: int = LEVEL, *, flow_label: int = 0) -> bytes:
    """The Fast CNP towards the ingress PE."""
    return core_frame_out(
        fast_cnp(
            PE_ADDRESS, REMOTE_PE, label, level, traffic_class=TRAFFIC_CLASS, flow_label=flow_label
        )
    )


class EgressPeTest(NotificationTest):
    """Every packet towards a host behind DC_PORT passes a queue at congestion level `level`."""

    level = LEVEL
    interval_us = 0
    mark = Ecn.NOT_ECT

    def configure(self) -> None:
        """Fast CNPs for ingress PEs, tunnels of all types, the congested port."""
        super().configure()
        pe, types = self.pe, self.enum("TunnelType")
        pe.tunnel_vrf(types["VXLAN"], VNI, RED)
        pe.tunnel_vrf(types["GRE"], KEY, RED)
        pe.tunnel_vrf(types["MPLS_UDP"], VPN_LABEL, RED)
        self.configure_feature()
        pe.queue_level(DC_PORT, self.level)
        pe.level_policy(self.level, mark=self.mark, notify=True, interval_us=self.interval_us)

    def configure_feature(self) -> None:
        """Fast CNPs on, label not copied."""
        self.pe.enable_fast_cnp(PE_ADDRESS, traffic_class=TRAFFIC_CLASS, translates="FAST_CNP")

    def tells(
        self, inner: bytes, frame: bytes, told: bytes, events: Mapping[str, int] = SENT
    ) -> None:
        """The packet reaches its host, and the ingress PE is told by this frame."""
        delivered = host_frame_out(routed(inner))
        self.check(
            CORE_PORT, frame, expect={DC_PORT: [delivered], CORE_PORT: [told]}, events=events
        )

    def tells_nobody(
        self, inner: bytes, frame: bytes, events: Mapping[str, int] | None = None
    ) -> None:
        """The packet reaches its host, and that is all."""
        expect = {DC_PORT: [host_frame_out(routed(inner))]}
        self.check(CORE_PORT, frame, expect=expect, events=events)
