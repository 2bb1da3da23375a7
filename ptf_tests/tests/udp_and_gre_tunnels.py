"""The other tunnels of FCN-5: VXLAN, GRE with key and MPLS over UDP, all over IPv6."""

from collections.abc import Callable
from typing import ClassVar

from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    PE_ADDRESS,
    RED,
    RED_TUNNEL,
    REMOTE_PE,
    REMOTE_V4,
    TO_HOST,
    TO_REMOTE,
    PeTest,
    core_frame_in,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import (
    Ecn,
    datagram_of,
    gre,
    mpls_udp,
    roce,
    routed,
    udp_source_port_of,
    vxlan,
    with_udp_checksum,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

LABEL = 0x9ABCD
DEST_QP = 0x220
VNI = 0xABCDEF
KEY = 0xDEADBEEF
VPN_LABEL = 0xFFFF0
SR_LABEL = 16001
INNER_SRC_MAC = "02:aa:00:00:00:01"
INNER_DST_MAC = "02:aa:00:00:00:02"
ENTROPY_PORTS = range(0xC000, 0x10000)
"""RFC 7348 section 5, RFC 7510 section 3: dynamic ports."""


class TunnelTest(PeTest):
    """Tests of one tunnel type, which RED's tunnel has."""

    def check_encapsulation(self, outer: Callable[[bytes, int], bytes]) -> None:
        """Labelled RoCE packets, IPv4 and IPv6, are sent as outer(datagram, UDP source port)."""
        for host, remote in TO_REMOTE:
            self.pe.flow(RED, host, remote, DEST_QP, LABEL)
            with self.subTest(remote=remote):
                datagram = roce(host, remote, DEST_QP, ecn=Ecn.ECT1)

                def expected(got: bytes, datagram: bytes = datagram) -> bytes:
                    return core_frame_out(
                        outer(routed(datagram), udp_source_port_of(datagram_of(got)))
                    )

                self.check(DC_PORT, host_frame_in(datagram), expect={CORE_PORT: [expected]})

    def check_entropy_ports(self) -> None:
        """The UDP source port is in the dynamic range, constant per flow, and differs by flow."""
        ports = []
        for sport in range(0xC000, 0xC010):
            frame = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP, sport=sport))
            outcome = self.exchange(DC_PORT, frame, frame)
            first, second = (udp_source_port_of(datagram_of(f)) for f in outcome.frames[CORE_PORT])
            self.assertEqual(first, second, "one flow must keep its port")
            self.assertIn(first, ENTROPY_PORTS)
            ports.append(first)
        self.assertGreater(len(set(ports)), 8, f"16 flows share too few ports: {ports}")

    def check_decapsulation(self, outer: Callable[[bytes], bytes]) -> None:
        """Packets of both IP versions are decapsulated from outer(datagram) to RED's host."""
        for remote, host in TO_HOST:
            with self.subTest(host=host):
                datagram = roce(remote, host, DEST_QP, ecn=Ecn.ECT0)
                self.check_out_of_wan(outer(datagram), routed(datagram))


class VxlanTest(TunnelTest):
    """VXLAN in both directions under one VNI."""

    def configure_red_tunnel(self) -> None:
        """RED's VNI."""
        self.pe.tunnel(
            RED_TUNNEL,
            "encap_vxlan",
            src=PE_ADDRESS,
            dst=REMOTE_PE,
            vni=VNI,
            inner_src_mac=INNER_SRC_MAC,
            inner_dst_mac=INNER_DST_MAC,
        )
        self.pe.tunnel_vrf(self.enum("TunnelType")["VXLAN"], VNI, RED)

    @staticmethod
    def arriving(datagram: bytes, *, vni: int = VNI, checksum_zero: bool = False) -> bytes:
        """What the remote PE sends."""
        return vxlan(
            datagram,
            REMOTE_PE,
            PE_ADDRESS,
            vni,
            inner_src_mac=INNER_DST_MAC,
            inner_dst_mac=INNER_SRC_MAC,
            sport=0xC777,
            checksum_zero=checksum_zero,
            traffic_class=Ecn.ECT0,
        )


class VxlanEncapsulation(VxlanTest):
    """FCN-5, FCN-6, FCN-7: VXLAN to the egress PE with the flow's label and ECN."""

    def runTest(self) -> None:
        self.check_encapsulation(
            lambda inner, sport: vxlan(
                inner,
                PE_ADDRESS,
                REMOTE_PE,
                VNI,
                inner_src_mac=INNER_SRC_MAC,
                inner_dst_mac=INNER_DST_MAC,
                sport=sport,
                checksum_zero=True,
                flow_label=LABEL,
                traffic_class=Ecn.ECT1,
            )
        )
        self.check_entropy_ports()


class VxlanDecapsulation(VxlanTest):
    """FCN-5: VXLAN with and without UDP checksum is decapsulated (RFC 6935)."""

    def runTest(self) -> None:
        self.check_decapsulation(self.arriving)
        self.check_decapsulation(lambda datagram: self.arriving(datagram, checksum_zero=True))


class VxlanUnknownVni(VxlanTest):
    """FCN-5: a VNI that is not configured is dropped and counted."""

    def runTest(self) -> None:
        outer = self.arriving(roce(REMOTE_V4, HOST_V4, DEST_QP), vni=VNI - 1)
        self.check(CORE_PORT, core_frame_in(outer), drops={"UNKNOWN_TUNNEL": 1})


class VxlanWithoutVni(VxlanTest):
    """FCN-5: a VXLAN header whose I flag is clear has no valid VNI (RFC 7348 section 5)."""

    def runTest(self) -> None:
        outer = bytearray(self.arriving(roce(REMOTE_V4, HOST_V4, DEST_QP), checksum_zero=True))
        outer[48] = 0
        self.check(CORE_PORT, core_frame_in(bytes(outer)), drops={"UNSUPPORTED": 1})


class VxlanOfAnotherProtocol(VxlanTest):
    """FCN-5: an inner frame that is not an IP packet is dropped and counted (no bridging)."""

    def runTest(self) -> None:
        outer = bytearray(self.arriving(roce(REMOTE_V4, HOST_V4, DEST_QP), checksum_zero=True))
        outer[68:70] = b"\x88\xb5"
        self.check(CORE_PORT, core_frame_in(bytes(outer)), drops={"UNSUPPORTED": 1})


class GreTest(TunnelTest):
    """GRE in both directions under one key."""

    def configure_red_tunnel(self) -> None:
        """RED's key."""
        self.pe.tunnel(RED_TUNNEL, "encap_gre", src=PE_ADDRESS, dst=REMOTE_PE, key=KEY)
        self.pe.tunnel_vrf(self.enum("TunnelType")["GRE"], KEY, RED)


class GreEncapsulation(GreTest):
    """FCN-5, FCN-6, FCN-7: GRE with key (RFC 7676, RFC 2890)."""

    def runTest(self) -> None:
        self.check_encapsulation(
            lambda inner, _: gre(
                inner, PE_ADDRESS, REMOTE_PE, KEY, flow_label=LABEL, traffic_class=Ecn.ECT1
            )
        )


class GreDecapsulation(GreTest):
    """FCN-5: GRE with the key of a VRF is decapsulated; another key is dropped and counted."""

    def runTest(self) -> None:
        self.check_decapsulation(
            lambda datagram: gre(datagram, REMOTE_PE, PE_ADDRESS, KEY, traffic_class=Ecn.ECT0)
        )
        unknown = gre(roce(REMOTE_V4, HOST_V4, DEST_QP), REMOTE_PE, PE_ADDRESS, KEY + 1)
        self.check(CORE_PORT, core_frame_in(unknown), drops={"UNKNOWN_TUNNEL": 1})


class GreWithUnsupportedFlags(GreTest):
    """FCN-5: GRE with checksum, sequence number or another version is not decapsulated."""

    def runTest(self) -> None:
        for flags in (0x8000, 0xA000, 0x3000, 0x2001):
            with self.subTest(flags=hex(flags)):
                outer = bytearray(
                    gre(roce(REMOTE_V4, HOST_V4, DEST_QP), REMOTE_PE, PE_ADDRESS, KEY)
                )
                outer[40:42] = flags.to_bytes(2, "big")
                self.check(CORE_PORT, core_frame_in(bytes(outer)), drops={"UNSUPPORTED": 1})


class MplsTest(TunnelTest):
    """MPLS over UDP with the VPN label alone."""

    def configure_red_tunnel(self) -> None:
        """RED's VPN label."""
        self.pe.tunnel(
            RED_TUNNEL, "encap_mpls_udp1", src=PE_ADDRESS, dst=REMOTE_PE, vpn_label=VPN_LABEL
        )
        self.pe.tunnel_vrf(self.enum("TunnelType")["MPLS_UDP"], VPN_LABEL, RED)


class MplsEncapsulation(MplsTest):
    """FCN-5, FCN-6, FCN-7: one VPN label over UDP over IPv6 (RFC 7510)."""

    labels: ClassVar[tuple[int, ...]] = (VPN_LABEL,)

    def runTest(self) -> None:
        self.check_encapsulation(
            lambda inner, sport: mpls_udp(
                inner,
                PE_ADDRESS,
                REMOTE_PE,
                self.labels,
                sport=sport,
                checksum_zero=True,
                flow_label=LABEL,
                traffic_class=Ecn.ECT1,
            )
        )
        self.check_entropy_ports()


class SrMplsEncapsulation(MplsEncapsulation):
    """FCN-5: an SR label on top of the VPN label (RFC 8663)."""

    labels: ClassVar[tuple[int, ...]] = (SR_LABEL, VPN_LABEL)

    def configure_red_tunnel(self) -> None:
        """A path of one SR label."""
        self.pe.tunnel(
            RED_TUNNEL,
            "encap_mpls_udp2",
            src=PE_ADDRESS,
            dst=REMOTE_PE,
            sr_label=SR_LABEL,
            vpn_label=VPN_LABEL,
        )


class MplsDecapsulation(MplsTest):
    """FCN-5: the VPN label decides the VRF, alone or under one SR label, any UDP checksum."""

    def runTest(self) -> None:
        for labels in ((VPN_LABEL,), (SR_LABEL, VPN_LABEL)):
            for zero in (True, False):
                self.check_decapsulation(
                    lambda datagram, labels=labels, zero=zero: mpls_udp(  # type: ignore[misc]
                        datagram,
                        REMOTE_PE,
                        PE_ADDRESS,
                        labels,
                        sport=0xC001,
                        checksum_zero=zero,
                        traffic_class=Ecn.ECT0,
                    )
                )


class MplsUnknownLabels(MplsTest):
    """FCN-5: an unknown VPN label and a stack deeper than two are dropped and counted."""

    def runTest(self) -> None:
        datagram = roce(REMOTE_V4, HOST_V4, DEST_QP)
        for labels, reason in (
            ((VPN_LABEL - 1,), "UNKNOWN_TUNNEL"),
            ((VPN_LABEL, SR_LABEL), "UNKNOWN_TUNNEL"),
            ((SR_LABEL, SR_LABEL, VPN_LABEL), "UNSUPPORTED"),
        ):
            with self.subTest(labels=labels):
                outer = mpls_udp(datagram, REMOTE_PE, PE_ADDRESS, labels, sport=0xC001)
                self.check(CORE_PORT, core_frame_in(outer), drops={reason: 1})


class TunnelsForOthersPassBy(VxlanTest):
    """FCN-5: a VXLAN packet to another endpoint is forwarded, whatever its VNI."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        outer = vxlan(
            inner,
            REMOTE_PE,
            "fc00:0:77::1",
            VNI,
            inner_src_mac=INNER_DST_MAC,
            inner_dst_mac=INNER_SRC_MAC,
            sport=0xC001,
        )
        self.assertEqual(with_udp_checksum(outer), outer)
        self.check_transit(outer)
