"""Malformed packets at a PE are dropped and counted, and cause no notification (FCN-8, FCN-13)."""

from fcn.contract.ecn import Ecn
from fcn.packets.cm import CmAttribute
from fcn.ptf_tests.lib.beds import (
    BLUE_VLAN,
    HOST_MAC,
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    PE_END_SID,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_REMOTE,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.cm import cm_message
from fcn.ptf_tests.lib.notifications import DEST_QP, LABEL_V4, NotificationTest
from fcn.ptf_tests.lib.packets import (
    BTH_HEADER,
    IPV4_HEADER,
    IPV6_HEADER,
    ethernet,
    fast_cnp,
    gre,
    mpls_udp,
    roce,
    srv6,
    udp,
    vxlan,
    with_total_length,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

PE_MAC = NODE_MAC[DC_PORT]
SHORTEST = 15
"""Octets of the shortest frame a Linux interface sends."""
SHORTEST_TAGGED = 20
"""Ethernet header, tag and two octets: less, and the receiving interface drops the frame."""
VNI = 5
KEY = 6
VPN_LABEL = 700
OFFSET_OF_UDP_LENGTH = 4


class MalformedTest(NotificationTest):
    """All features are enabled and all ports congested, so that any notification would be sent."""

    def configure(self) -> None:
        """Congestion everywhere, every tunnel type, learning."""
        super().configure()
        for port in (DC_PORT, CORE_PORT):
            self.pe.queue_level(port, 7)
        self.pe.level_policy(7, mark=Ecn.CE, notify=True)
        types = self.enum("TunnelType")
        for name, tunnel_id in (("VXLAN", VNI), ("GRE", KEY), ("MPLS_UDP", VPN_LABEL)):
            self.pe.tunnel_vrf(types[name], tunnel_id, RED)
        self.pe.set_default("flow_learning", "learning_on", window=0)

    def check_all_dropped(self, port: int, frames: list[bytes], what: str) -> None:
        """No frame is sent, and exactly one drop is counted for each frame."""
        before = self.counts()
        outcome = self.exchange(port, *frames)
        growth = self.growth(before)
        with self.subTest(what=what):
            self.assertEqual({p: [f.hex() for f in fs] for p, fs in outcome.frames.items()}, {})
            self.assertEqual(outcome.punts, [])
            self.assertEqual([name for name in growth if not name.startswith("drop ")], [])
            self.assertEqual(sum(growth.values()), len(frames), f"not one drop each: {growth}")


def cuts(frame: bytes) -> list[bytes]:
    """The frame cut off at every octet; Linux itself drops a frame cut within its 802.1Q tag."""
    shortest = SHORTEST_TAGGED if frame[12:14] == b"\x81\x00" else SHORTEST
    return [frame[:length] for length in range(shortest, len(frame))]


class TruncatedCustomerPackets(MalformedTest):
    """FCN-8: RoCE and CM packets of a customer cut at every octet, tagged and untagged."""

    def runTest(self) -> None:
        packets = {
            "RoCE over IPv4": host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP)),
            "RoCE over IPv6": host_frame_in(roce(HOST_V6, REMOTE_V6, DEST_QP)),
            "tagged": host_frame_in(roce(HOST_V6, REMOTE_V6, DEST_QP), vlan=BLUE_VLAN),
            "UDP over IPv4": host_frame_in(udp(HOST_V4, REMOTE_V4, 1, 2)),
            "IPv4 in IPv6": host_frame_in(srv6(udp(HOST_V4, REMOTE_V4, 1, 2), HOST_V6, REMOTE_V6)),
        }
        for what, frame in packets.items():
            self.check_all_dropped(DC_PORT, cuts(frame), what)


class TruncatedCmMessages(MalformedTest):
    """FCN-3: connection manager messages cut at every octet are never reported."""

    def runTest(self) -> None:
        for attribute in (CmAttribute.REQ, CmAttribute.REP, CmAttribute.DREQ):
            datagram = cm_message(HOST_V4, REMOTE_V4, attribute, local_comm_id=1, qpn=2)
            frames = cuts(host_frame_in(datagram))
            self.check_all_dropped(DC_PORT, frames[:120] + frames[-2:], attribute.name)


class TruncatedTunnelPackets(MalformedTest):
    """FCN-5: packets of every tunnel that ends here, cut at every octet."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V6, HOST_V6, DEST_QP)
        inner4 = roce(REMOTE_V4, HOST_V4, DEST_QP)
        packets = {
            "SRv6": srv6(inner, REMOTE_PE, PE_RED_SID, traffic_class=2),
            "SRv6 with SRH": srv6(
                inner4, REMOTE_PE, PE_RED_SID, (PE_RED_SID, PE_END_SID), 0, traffic_class=2
            ),
            "VXLAN": vxlan(inner4, REMOTE_PE, PE_ADDRESS, VNI),
            "GRE": gre(inner, REMOTE_PE, PE_ADDRESS, KEY),
            "MPLS": mpls_udp(inner4, REMOTE_PE, PE_ADDRESS, (16, VPN_LABEL)),
            "End": srv6(inner4, REMOTE_PE, PE_END_SID, (REMOTE_RED_SID,), 1, traffic_class=2),
        }
        for what, datagram in packets.items():
            self.check_all_dropped(CORE_PORT, cuts(core_frame_in(datagram)), what)


class TruncatedFastCnps(MalformedTest):
    """FCN-9: a Fast CNP cut at every octet is counted, and no CNP is sent."""

    def runTest(self) -> None:
        frame = core_frame_in(fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4))
        self.check_all_dropped(CORE_PORT, cuts(frame), "Fast CNP")


class WrongIpLengths(MalformedTest):
    """FCN-1: packets with IP lengths beyond the frame or below the header are dropped."""

    def runTest(self) -> None:
        v4 = roce(HOST_V4, REMOTE_V4, DEST_QP)
        v6 = roce(HOST_V6, REMOTE_V6, DEST_QP)
        frames = [
            host_frame_in(with_total_length(v4, length))
            for length in (0, 1, 19, 20, 27, 28, len(v4) - 1, len(v4) + 1, 0xFFFF)
        ]
        frames += [
            host_frame_in(v6[:4] + length.to_bytes(2, "big") + v6[6:])
            for length in (0, 7, 8, len(v6) - IPV6_HEADER - 1, len(v6) - IPV6_HEADER + 1, 0xFFFF)
        ]
        self.check_all_dropped(DC_PORT, frames, "customer")
        outer = srv6(v4, REMOTE_PE, PE_RED_SID)
        frames = [
            core_frame_in(outer[:4] + length.to_bytes(2, "big") + outer[6:])
            for length in (len(v4) + 1, 0xFFFF)
        ]
        frames += [
            core_frame_in(srv6(with_total_length(v4, length), REMOTE_PE, PE_RED_SID))
            for length in (0, 19, len(v4) + 1, 0xFFFF)
        ]
        self.check_all_dropped(CORE_PORT, frames, "underlay")


class WrongIpVersionsAndHeaderLengths(MalformedTest):
    """FCN-1: an IP version that contradicts the EtherType, or an IHL below 5, causes a drop."""

    def runTest(self) -> None:
        v4 = roce(HOST_V4, REMOTE_V4, DEST_QP)
        v6 = roce(HOST_V6, REMOTE_V6, DEST_QP)
        v4_frames = [
            ethernet(bytes([first]) + v4[1:], src=HOST_MAC, dst=PE_MAC, ether_type=0x0800)
            for first in (0x05, 0x35, 0x55, 0x65, 0xF5, 0x40, 0x41, 0x42, 0x43, 0x44)
        ]
        v6_frames = [
            ethernet(bytes([version << 4]) + v6[1:], src=HOST_MAC, dst=PE_MAC, ether_type=0x86DD)
            for version in (0, 4, 5, 7, 15)
        ]
        self.check_all_dropped(DC_PORT, v4_frames + v6_frames, "customer")
        self.check_all_dropped(CORE_PORT, v6_frames, "underlay")


class WrongUdpLengthsOfRoce(MalformedTest):
    """FCN-1: a RoCE packet whose UDP length disagrees with IP, or has no room for BTH and ICRC."""

    def runTest(self) -> None:
        frames = []
        for datagram, header in (
            (roce(HOST_V4, REMOTE_V4, DEST_QP), IPV4_HEADER),
            (roce(HOST_V6, REMOTE_V6, DEST_QP), IPV6_HEADER),
        ):
            at = header + OFFSET_OF_UDP_LENGTH
            room = len(datagram) - header
            for length in (0, 7, 8, 12, 20, 23, 24, room - 1, room + 1, 0xFFFF):
                frames.append(
                    host_frame_in(datagram[:at] + length.to_bytes(2, "big") + datagram[at + 2 :])
                )
        for src, dst in TO_REMOTE:
            for size in range(BTH_HEADER + 4):
                frames.append(host_frame_in(udp(src, dst, 0xC000, 4791, bytes(size))))
        self.check_all_dropped(DC_PORT, frames, "RoCE")


class UnsupportedEtherTypes(MalformedTest):
    """FCN-1: frames that are neither IP nor ARP are dropped and counted on every port."""

    def runTest(self) -> None:
        frames = [
            ethernet(bytes(60), ether_type=ether_type, src=HOST_MAC, dst=PE_MAC)
            for ether_type in (0x0000, 0x0600, 0x8847, 0x88CC, 0x88B5, 0x8808, 0xFFFF)
        ]
        self.check_all_dropped(DC_PORT, frames, "customer")
        ipv4 = core_frame_in(udp(HOST_V4, REMOTE_V4, 1, 2))
        self.check_all_dropped(CORE_PORT, [*frames, ipv4], "underlay")


class DoubleTaggedFrames(MalformedTest):
    """FCN-1: a second 802.1Q tag is not supported: dropped and counted."""

    def runTest(self) -> None:
        tagged = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP), vlan=7)
        doubled = tagged[:12] + b"\x81\x00" + BLUE_VLAN.to_bytes(2, "big") + tagged[12:]
        self.check_all_dropped(DC_PORT, [doubled], "double tag")
