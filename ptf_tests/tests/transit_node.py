"""Forwarding at a P: IPv6 by destination, SRv6 End, and dropped packets (FCN-5, FCN-8)."""

from fcn.ptf_tests.lib.beds import (
    BLUE_VLAN,
    HOST_MAC,
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    P_END_SID,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    PTest,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.congestion import LABEL, CongestedPTest, from_ingress_pe, tunnelled
from fcn.ptf_tests.lib.packets import (
    Ecn,
    IpFields,
    ethernet,
    fast_cnp,
    gre,
    ip,
    mpls_udp,
    roce,
    srv6,
    udp,
    vxlan,
)
from fcn.ptf_tests.lib.ports import DC_PORT, UNUSED_PORT

SHORTEST = 15


class EverythingOfTheDomainPasses(PTest):
    """FCN-5: tunnels of every type and plain IPv6 change in their hop limit only."""

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 7)
        for datagram in (
            srv6(inner, PE_ADDRESS, REMOTE_PE, flow_label=LABEL, traffic_class=0xFF),
            srv6(inner, PE_ADDRESS, REMOTE_PE, ["fc00::1"] * 4, 2),
            srv6(inner, PE_ADDRESS, REMOTE_PE, ["fc00::1"] * 7, 6),
            vxlan(inner, PE_ADDRESS, REMOTE_PE, 1),
            gre(inner, PE_ADDRESS, REMOTE_PE, 1),
            mpls_udp(inner, PE_ADDRESS, REMOTE_PE, [16, 17, 18]),
            udp(PE_ADDRESS, REMOTE_PE, 1, 2, b""),
            udp(PE_ADDRESS, REMOTE_PE, 1, 2, bytes(8000)),
            ip(PE_ADDRESS, REMOTE_PE, b"", nh=59),
            fast_cnp(PE_ADDRESS, REMOTE_PE, LABEL),
        ):
            self.check_forwarded(datagram)


class HopLimitExpires(PTest):
    """FCN-5: packets with hop limit 0 and 1 are dropped; with 2 forwarded."""

    def runTest(self) -> None:
        for hop_limit in (0, 1):
            datagram = udp(PE_ADDRESS, REMOTE_PE, 1, 2, ttl=hop_limit)
            self.check(DC_PORT, from_ingress_pe(datagram), drops={"TTL_EXPIRED": 1})
        datagram = udp(PE_ADDRESS, REMOTE_PE, 1, 2, ttl=2)
        self.check_forwarded(datagram)


class NoRoute(PTest):
    """FCN-5: a destination without route is dropped and counted."""

    def runTest(self) -> None:
        datagram = udp(PE_ADDRESS, "2001:db8::1", 1, 2)
        self.check(DC_PORT, from_ingress_pe(datagram), drops={"NO_ROUTE": 1})


class EndMovesToTheNextSegment(PTest):
    """FCN-5: SRv6 End (RFC 8986 section 4.1) with every SRH of 1 to 4 segments, IPv4 and IPv6."""

    def runTest(self) -> None:
        for inner in (roce(HOST_V4, REMOTE_V4, 7), roce(HOST_V6, REMOTE_V6, 7)):
            for count in range(1, 5):
                segments = [REMOTE_RED_SID, *(f"fc00:0:2:{i}::" for i in range(1, count))]
                for left in range(1, count + 1):
                    with self.subTest(segments=count, left=left):
                        before = srv6(
                            inner, PE_ADDRESS, P_END_SID, segments, left, flow_label=LABEL
                        )
                        after = srv6(
                            inner,
                            PE_ADDRESS,
                            segments[left - 1],
                            segments,
                            left - 1,
                            flow_label=LABEL,
                            ttl=63,
                        )
                        self.check_forwarded(before, after)


class EndWithoutNextSegment(PTest):
    """FCN-5: End drops packets with no segment left, a pointer beyond the list, or no SRH."""

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 7)
        for segments, left in (((REMOTE_RED_SID,), 0), ((REMOTE_RED_SID,), 2), ((), 0)):
            with self.subTest(segments=segments, left=left):
                datagram = srv6(inner, PE_ADDRESS, P_END_SID, segments, left)
                self.check(DC_PORT, from_ingress_pe(datagram), drops={"SRH_INVALID": 1})


class ForeignPortsAndProtocols(PTest):
    """FCN-1: a P drops other protocols than IPv6 and packets from ports that are not core ports."""

    def runTest(self) -> None:
        self.check(
            UNUSED_PORT, core_frame_in(udp(PE_ADDRESS, REMOTE_PE, 1, 2)), drops={"UNKNOWN_PORT": 1}
        )
        for frame in (
            host_frame_in(udp(HOST_V4, REMOTE_V4, 1, 2)),
            ethernet(bytes(50), src=HOST_MAC, dst=NODE_MAC[DC_PORT], ether_type=0x8847),
        ):
            self.check(DC_PORT, frame, drops={"UNSUPPORTED": 1})
        before = self.counts()
        tagged = host_frame_in(udp(PE_ADDRESS, REMOTE_PE, 1, 2), vlan=BLUE_VLAN)
        self.assertEqual(self.exchange(DC_PORT, tagged).frames, {})
        self.assertEqual(sum(self.growth(before).values()), 1)


class TruncatedHeaders(CongestedPTest):
    """FCN-8: headers cut at every octet are counted and cause no notification.

    A P parses the underlay headers only; it does not validate the inner packet.
    """

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 7)
        outer: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
        cases = {
            "SRv6": (tunnelled(), 40),
            "SRH": (srv6(inner, PE_ADDRESS, REMOTE_PE, ["fc00::1", "fc00::2"], 1, **outer), 80),
            "Fast CNP": (fast_cnp(PE_ADDRESS, REMOTE_PE, LABEL), 48),
            "End": (srv6(inner, PE_ADDRESS, P_END_SID, [REMOTE_PE], 1, **outer), 64),
        }
        for what, (datagram, header) in cases.items():
            frame = from_ingress_pe(datagram)
            frames = [frame[:length] for length in range(SHORTEST, 14 + header)]
            with self.subTest(what=what):
                before = self.counts()
                self.assertEqual(self.exchange(DC_PORT, *frames).frames, {})
                growth = self.growth(before)
                self.assertEqual([name for name in growth if not name.startswith("drop ")], [])
                self.assertEqual(sum(growth.values()), len(frames), f"not one drop each: {growth}")


class WrongVersion(CongestedPTest):
    """FCN-8: an IPv6 frame whose version is not 6 is dropped and counted."""

    def runTest(self) -> None:
        datagram = tunnelled()
        frames = [
            ethernet(
                bytes([version << 4]) + datagram[1:],
                src=HOST_MAC,
                dst=NODE_MAC[DC_PORT],
                ether_type=0x86DD,
            )
            for version in (0, 4, 5, 7, 15)
        ]
        self.check(DC_PORT, *frames, drops={"MALFORMED": len(frames)})
