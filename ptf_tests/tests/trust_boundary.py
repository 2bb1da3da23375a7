"""Notifications are accepted from the domain only (FCN-17)."""

from fcn.packets.wire import FAST_CNP_PORT
from fcn.ptf_tests.lib.beds import (
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    PE_RED_SID,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    PeTest,
    core_frame_in,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.notifications import LABEL_V4, NotificationTest, cnp_v4_frame, fast_cnp_frame
from fcn.ptf_tests.lib.packets import datagram_of, fast_cnp, flow_label_of, routed, srv6, udp
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2


class SpoofedOnADcPort(NotificationTest):
    """FCN-17: a Fast CNP from a DC port is dropped and counted, for any source and destination."""

    def runTest(self) -> None:
        spoofed = (
            fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4),
            fast_cnp(HOST_V6, PE_ADDRESS, LABEL_V4),
            fast_cnp(HOST_V6, REMOTE_V6, LABEL_V4),
        )
        for datagram in spoofed:
            for port, vlan in ((DC_PORT, 0), (DC_PORT, BLUE_VLAN), (DC_PORT_2, 0)):
                self.check(
                    port,
                    host_frame_in(datagram, port=port, vlan=vlan),
                    drops={"NOTIFICATION_ON_DC_PORT": 1},
                )


class SpoofedInsideATunnel(NotificationTest):
    """FCN-17: a Fast CNP inside a tunnelled customer packet is not processed as a notification."""

    def runTest(self) -> None:
        inner = fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4)
        self.check(
            CORE_PORT, core_frame_in(srv6(inner, REMOTE_PE, PE_RED_SID)), drops={"NO_ROUTE": 1}
        )


class Ipv4DatagramOnThatPortIsTraffic(NotificationTest):
    """FCN-17: Fast CNPs are IPv6; an IPv4 datagram to the same port is ordinary traffic."""

    def runTest(self) -> None:
        datagram = udp(HOST_V4, REMOTE_V4, FAST_CNP_PORT, FAST_CNP_PORT, b"four")

        def tunnelled(got: bytes) -> bytes:
            label = flow_label_of(datagram_of(got))
            return core_frame_out(
                srv6(routed(datagram), PE_ADDRESS, "fc00:0:2:46::", flow_label=label)
            )

        self.check(DC_PORT, host_frame_in(datagram), expect={CORE_PORT: [tunnelled]})


class UntrustedByDefault(NotificationTest):
    """FCN-17: with no prefix configured every notification is dropped."""

    def configure_trust(self) -> None:
        """Nobody."""

    def runTest(self) -> None:
        self.check(CORE_PORT, fast_cnp_frame(LABEL_V4), drops={"NOTIFICATION_UNTRUSTED": 1})


class OnlyConfiguredPrefixes(NotificationTest):
    """FCN-17: accepted from the configured prefix only, by longest-prefix match."""

    def configure_trust(self) -> None:
        """One /48, minus one of its nodes."""
        self.pe.trust("fc00:0:10::/48")
        self.pe.insert("trusted_source", "untrusted", match={"src": "fc00:0:10::bad/128"})

    def runTest(self) -> None:
        for source in ("fc00:0:10::1", "fc00:0:10:ffff:ffff:ffff:ffff:ffff"):
            self.check_translated(
                core_frame_in(fast_cnp(source, PE_ADDRESS, LABEL_V4)), cnp_v4_frame()
            )
        for source in ("fc00:0:11::1", "fc00:0:f::1", "2001:db8::1", "fc00:0:10::bad"):
            with self.subTest(source=source):
                self.check(
                    CORE_PORT,
                    core_frame_in(fast_cnp(source, PE_ADDRESS, LABEL_V4)),
                    drops={"NOTIFICATION_UNTRUSTED": 1},
                )


class UntrustedIsNotTransit(PeTest):
    """FCN-17: trust is checked for notifications to this node, not for transit."""

    def runTest(self) -> None:
        self.pe.notification_port()
        datagram = fast_cnp("2001:db8::1", REMOTE_PE, LABEL_V4)
        self.check_transit(datagram)
