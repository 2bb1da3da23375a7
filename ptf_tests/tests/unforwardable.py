"""What a router must not forward: frames for other stations, sources that are nobody's, lengths
that lie (FCN-1, FCN-5)."""

from fcn.packets.wire import FAST_CNP_PORT
from fcn.ptf_tests.lib.beds import (
    HOST2_MAC,
    HOST2_V4,
    HOST_MAC,
    HOST_V4,
    HOST_V6,
    NEIGHBOUR_MAC,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    PE_RED_SID,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    PeTest,
    PTest,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.congestion import CongestedPTest, from_ingress_pe, tunnelled
from fcn.ptf_tests.lib.notifications import DEST_QP, LABEL_V4, NotificationTest
from fcn.ptf_tests.lib.packets import ethernet, fast_cnp, roce, routed, srv6, udp
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2

OTHER_STATION = "02:fc:00:00:ff:ff"
GROUPS = ("ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:05", "33:33:00:00:00:01")
SOURCES_V4 = (
    "0.0.0.0",
    "0.255.255.255",
    "127.0.0.1",
    "169.254.7.7",
    "224.0.0.1",
    "239.255.255.255",
    "255.255.255.255",
)
SOURCES_V6 = ("::", "::1", "::ffff:10.1.0.10", "fe80::1", "febf::1", "ff02::1", "ffff::")
NEXT_TO_THEM_V4 = ("1.0.0.0", "126.255.255.255", "128.0.0.1", "169.253.0.1", "223.255.255.255",
                   "240.0.0.1")  # fmt: skip
NEXT_TO_THEM_V6 = ("1::", "64:ff9b::1", "fe7f::1", "fec0::1", "feff::1")
"""The nearest sources that are forwarded."""
MIN_IHL, MAX_IHL = 5, 15


class StationsTest(NotificationTest):
    """A PE that gets frames for others."""

    def refuse_from_the_core(self, address: str) -> None:
        """To this address, nothing of the WAN is forwarded, decapsulated or translated."""
        for datagram in (
            srv6(roce(REMOTE_V4, HOST_V4, DEST_QP), REMOTE_PE, PE_RED_SID),
            fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4),
            udp(REMOTE_PE, REMOTE_PE, 1, 2),
        ):
            frame = ethernet(datagram, src=NEIGHBOUR_MAC[CORE_PORT], dst=address)
            self.check(CORE_PORT, frame, drops={"OTHER_STATION": 1})


class OtherStationsOfTheLink(StationsTest):
    """FCN-1: a PE drops frames for other stations, which a switch floods; from customers, from the
    WAN, tunnelled to it, notifications, ARP."""

    def runTest(self) -> None:
        to_host2 = roce(HOST_V4, HOST2_V4, DEST_QP)
        arp = bytes.fromhex("0001 0800 06 04 0001") + bytes(20)
        for datagram in (
            to_host2,
            roce(HOST_V4, REMOTE_V4, DEST_QP),
            udp(HOST_V6, REMOTE_V6, 1, 2),
        ):
            frame = ethernet(datagram, src=HOST_MAC, dst=OTHER_STATION)
            self.check(DC_PORT, frame, drops={"OTHER_STATION": 1})
        frame = ethernet(arp, src=HOST_MAC, dst=OTHER_STATION, ether_type=0x0806)
        self.check(DC_PORT, frame, drops={"OTHER_STATION": 1})
        # The address of another port is another station on this link.
        frame = ethernet(to_host2, src=HOST_MAC, dst=NODE_MAC[DC_PORT_2])
        self.check(DC_PORT, frame, drops={"OTHER_STATION": 1})
        self.refuse_from_the_core(OTHER_STATION)


class GroupsOfTheLink(StationsTest):
    """FCN-1: an IP packet in a frame to a group is not forwarded, decapsulated or translated."""

    def runTest(self) -> None:
        for group in GROUPS:
            frame = ethernet(roce(HOST_V4, HOST2_V4, DEST_QP), src=HOST_MAC, dst=group)
            self.check(DC_PORT, frame, drops={"OTHER_STATION": 1})
            self.refuse_from_the_core(group)


class OtherStationsOfATransitNode(CongestedPTest):
    """FCN-8: a P neither forwards frames for others nor notifies because of them."""

    def runTest(self) -> None:
        for address in (OTHER_STATION, *GROUPS):
            frame = ethernet(tunnelled(), src=NEIGHBOUR_MAC[DC_PORT], dst=address)
            self.check(DC_PORT, frame, drops={"OTHER_STATION": 1})


class CustomerSources(PeTest):
    """FCN-1: no customer's packet is routed with a source that is nobody's (RFC 1812 section 5.3.7,
    RFC 3927 section 2.7, RFC 4291 sections 2.5.2, 2.5.3, 2.5.6, 2.7)."""

    def runTest(self) -> None:
        for source in (*SOURCES_V4, *SOURCES_V6):
            target = REMOTE_V6 if ":" in source else HOST2_V4
            with self.subTest(source=source):
                frame = host_frame_in(udp(source, target, 1, 2))
                self.check(DC_PORT, frame, drops={"BAD_SOURCE": 1})
        for source in NEXT_TO_THEM_V4:
            datagram = udp(source, HOST2_V4, 1, 2)
            expected = host_frame_out(routed(datagram), port=DC_PORT_2, host_mac=HOST2_MAC)
            self.check(DC_PORT, host_frame_in(datagram), expect={DC_PORT_2: [expected]})


class CustomerNotificationsWithSuchSources(PeTest):
    """FCN-17: what looks like a notification is counted as one, whatever its source."""

    def runTest(self) -> None:
        self.pe.notification_port(FAST_CNP_PORT)
        frame = host_frame_in(fast_cnp("fe80::1", PE_ADDRESS, LABEL_V4))
        self.check(DC_PORT, frame, drops={"NOTIFICATION_ON_DC_PORT": 1})


class UnderlaySources(PTest):
    """FCN-5: a P does not forward sources that are nobody's, but its nearest neighbours."""

    def runTest(self) -> None:
        for source in SOURCES_V6:
            with self.subTest(source=source):
                frame = from_ingress_pe(udp(source, REMOTE_PE, 1, 2))
                self.check(DC_PORT, frame, drops={"BAD_SOURCE": 1})
        for source in NEXT_TO_THEM_V6:
            datagram = udp(source, REMOTE_PE, 1, 2)
            expected = core_frame_out(routed(datagram))
            self.check(DC_PORT, from_ingress_pe(datagram), expect={CORE_PORT: [expected]})


class TransitSourcesAtAPe(PeTest):
    """FCN-5: the same for transit through a PE."""

    def runTest(self) -> None:
        for source in SOURCES_V6:
            with self.subTest(source=source):
                frame = core_frame_in(udp(source, REMOTE_PE, 1, 2))
                self.check(CORE_PORT, frame, drops={"BAD_SOURCE": 1})
