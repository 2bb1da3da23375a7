"""SRv6: H.Encaps and H.Encaps.Red with 1 to 4 SIDs, End.DT46 and End (FCN-5)."""

from collections.abc import Sequence

from fcn.ptf_tests.lib.beds import (
    BLUE,
    HOST_V4,
    HOST_V6,
    P2_END_SID,
    P3_END_SID,
    P_END_SID,
    PE_ADDRESS,
    PE_END_SID,
    PE_RED_SID,
    RED,
    RED_TUNNEL,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_HOST,
    TO_REMOTE,
    PeTest,
    core_frame_in,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import (
    Ecn,
    IpFields,
    gre,
    ip,
    mpls_udp,
    roce,
    routed,
    srv6,
    srv6_full_path,
    srv6_red_path,
    udp,
    vxlan,
    with_destination,
    with_ttl,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.tunnels import every_tunnel

LABEL = 0x81234
DEST_QP = 0x118
TUNNEL_ID = 700
"""VNI, GRE key and VPN label of BLUE."""
SIDS = (P_END_SID, P2_END_SID, P3_END_SID, REMOTE_RED_SID)


class Srv6EncapTest(PeTest):
    """Sends a labelled RoCE packet of each IP version through each path of `paths`."""

    def check_path(self, dst: str, segments: Sequence[str], segments_left: int) -> None:
        """Send both IP versions through the tunnel with this destination and segment list."""
        if segments:
            action = f"encap_srv6_srh{len(segments)}"
            sids = {f"seg{i}": sid for i, sid in enumerate(segments)}
            self.pe.tunnel(
                RED_TUNNEL, action, src=PE_ADDRESS, dst=dst, segments_left=segments_left, **sids
            )
        else:
            self.pe.tunnel(RED_TUNNEL, "encap_srv6", src=PE_ADDRESS, dst=dst)
        for host, remote in TO_REMOTE:
            datagram = roce(host, remote, DEST_QP, ecn=Ecn.ECT0)
            outer = srv6(
                routed(datagram),
                PE_ADDRESS,
                dst,
                segments,
                segments_left,
                flow_label=LABEL,
                traffic_class=Ecn.ECT0,
            )
            self.check_into_wan(datagram, outer)
        self.pe.delete("tunnel", match={"tunnel": RED_TUNNEL})

    def configure_red_tunnel(self) -> None:
        """Label the flows; the test writes the tunnels itself."""
        for host, remote in TO_REMOTE:
            self.pe.flow(RED, host, remote, DEST_QP, LABEL)


class ReducedEncapsulation(Srv6EncapTest):
    """FCN-5: H.Encaps.Red of 1 to 4 SIDs; one SID needs no SRH, n SIDs list n-1."""

    def runTest(self) -> None:
        for count in range(1, 5):
            with self.subTest(sids=count):
                self.check_path(*srv6_red_path(SIDS[4 - count :]))


class ReducedEncapsulationOfFiveSids(Srv6EncapTest):
    """FCN-5: the longest SRH, four segments, also holds five SIDs in the reduced form."""

    def runTest(self) -> None:
        self.check_path(*srv6_red_path(("fc00:0:40:e::", *SIDS)))


class FullEncapsulation(Srv6EncapTest):
    """FCN-5: H.Encaps of 1 to 4 SIDs lists every SID."""

    def runTest(self) -> None:
        for count in range(1, 5):
            with self.subTest(sids=count):
                self.check_path(*srv6_full_path(SIDS[4 - count :]))


class UnknownTunnelIsCounted(Srv6EncapTest):
    """FCN-5: packets routed to a tunnel that is not configured are dropped and counted."""

    def runTest(self) -> None:
        frame = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP))
        self.check(DC_PORT, frame, drops={"UNKNOWN_TUNNEL": 1})


class Decapsulation(PeTest):
    """FCN-5: End.DT46 removes the outer header and an SRH of 1 to 4 segments with none left."""

    def runTest(self) -> None:
        paths: list[tuple[str, ...]] = [()]
        paths += [(PE_RED_SID, *reversed(SIDS[: count - 1])) for count in range(1, 5)]
        for segments in paths:
            for remote, host in TO_HOST:
                with self.subTest(segments=len(segments), host=host):
                    datagram = roce(remote, host, DEST_QP, ecn=Ecn.ECT0)
                    outer = srv6(
                        datagram, REMOTE_PE, PE_RED_SID, segments, 0, traffic_class=Ecn.ECT0
                    )
                    self.check_out_of_wan(outer, routed(datagram))


class DecapsulationWithSegmentsLeft(PeTest):
    """FCN-5: a service SID must be the last segment; otherwise the packet is dropped."""

    def runTest(self) -> None:
        datagram = roce(REMOTE_V4, HOST_V4, DEST_QP)
        outer = srv6(datagram, REMOTE_PE, PE_RED_SID, (PE_RED_SID, P_END_SID), 1, traffic_class=2)
        self.check(CORE_PORT, core_frame_in(outer), drops={"SRH_INVALID": 1})


class OtherTunnelsAtServiceSid(PeTest):
    """FCN-5: a service SID ends SRv6 alone; BLUE's tunnels do not lead from RED's SID to BLUE."""

    def configure(self) -> None:
        """Every other tunnel type is BLUE's."""
        super().configure()
        types = self.enum("TunnelType")
        for name in ("VXLAN", "GRE", "MPLS_UDP"):
            self.pe.tunnel_vrf(types[name], TUNNEL_ID, BLUE)

    def runTest(self) -> None:
        mac = "02:aa:00:00:00:01"
        ends = (REMOTE_PE, PE_RED_SID)
        for remote, host in TO_HOST:
            inner = roce(remote, host, DEST_QP)
            for outer in (
                vxlan(inner, *ends, TUNNEL_ID, inner_src_mac=mac, inner_dst_mac=mac),
                gre(inner, *ends, TUNNEL_ID),
                mpls_udp(inner, *ends, (TUNNEL_ID,)),
            ):
                self.check(CORE_PORT, core_frame_in(outer), drops={"UNSUPPORTED": 1})


class OtherRoutingHeadersAtServiceSid(PeTest):
    """FCN-5: a routing header that is no SRH hides no customer packet where its data are."""

    def runTest(self) -> None:
        for remote, host, protocol in ((REMOTE_V4, HOST_V4, 4), (REMOTE_V6, HOST_V6, 41)):
            inner = roce(remote, host, DEST_QP)
            for routing_type in (0, 2, 3, 5, 255):
                for last_entry in range(4):
                    header = bytes(
                        (protocol, 2 * (last_entry + 1), routing_type, 0, last_entry, 0, 0, 0)
                    )
                    outer = ip(REMOTE_PE, PE_RED_SID, header + inner, nh=43)
                    self.check(CORE_PORT, core_frame_in(outer), drops={"UNSUPPORTED": 1})


class InnerTtlExpiresAtDecapsulation(PeTest):
    """FCN-5: the egress PE decrements the inner TTL; at zero the packet is dropped."""

    def runTest(self) -> None:
        for remote, host in TO_HOST:
            datagram = udp(remote, host, 1, 2, ttl=1)
            outer = srv6(datagram, REMOTE_PE, PE_RED_SID)
            self.check(CORE_PORT, core_frame_in(outer), drops={"TTL_EXPIRED": 1})


class OuterHopLimitDoesNotMatterAtTheEnd(PeTest):
    """FCN-5: a packet for this node with hop limit 1 is processed."""

    def runTest(self) -> None:
        datagram = udp(REMOTE_V4, HOST_V4, 1, 2)
        outer = srv6(datagram, REMOTE_PE, PE_RED_SID, ttl=1)
        self.check_out_of_wan(outer, routed(datagram))


class EndAtThePe(PeTest):
    """FCN-5: a PE is also an SRv6 endpoint: End advances to the next of 1 to 4 segments."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        for count in range(1, 5):
            segments = [REMOTE_RED_SID, *(f"fc00:0:5{i}::" for i in range(1, count))]
            for left in range(1, count + 1):
                with self.subTest(segments=count, left=left):
                    before = srv6(inner, REMOTE_PE, PE_END_SID, segments, left, flow_label=LABEL)
                    after = srv6(
                        inner,
                        REMOTE_PE,
                        segments[left - 1],
                        segments,
                        left - 1,
                        flow_label=LABEL,
                        ttl=63,
                    )
                    self.check_transit(before, after)


class EndWithoutNextSegment(PeTest):
    """FCN-5: End drops packets with no segment left, a pointer beyond the list, or no SRH."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        for segments, left in (((P_END_SID,), 0), ((P_END_SID,), 2), ((), 0), ((P_END_SID,), 255)):
            with self.subTest(segments=segments, left=left):
                outer = srv6(inner, REMOTE_PE, PE_END_SID, segments, left)
                self.check(CORE_PORT, core_frame_in(outer), drops={"SRH_INVALID": 1})


class TransitThroughThePe(PeTest):
    """FCN-5: packets to another egress PE are forwarded; label and SRH do not change (RFC 6437)."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        for outer in (
            srv6(inner, REMOTE_PE, "fc00:0:77::1", flow_label=LABEL, traffic_class=0xBA),
            srv6(inner, REMOTE_PE, "fc00:0:77::1", (PE_RED_SID, P_END_SID), 1, flow_label=LABEL),
            udp(REMOTE_PE, "fc00:0:77::1", 1, 2),
        ):
            self.check_transit(outer)


class DamagedTransitStaysDamaged(PeTest):
    """FCN-5: what ends elsewhere is damaged there, too. A chip computes another wrong checksum of
    the customer's header; nothing else differs."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        for wrong in (0, 1, 0xFFFF, int.from_bytes(inner[10:12], "big") ^ 0x0100):
            damaged = inner[:10] + wrong.to_bytes(2, "big") + inner[12:]
            outer = srv6(damaged, REMOTE_PE, "fc00:0:77::1")
            (frame,) = self.exchange(CORE_PORT, core_frame_in(outer)).frames[CORE_PORT]
            whole = core_frame_out(routed(outer))
            checksum = slice(len(whole) - len(inner) + 10, len(whole) - len(inner) + 12)
            self.assertNotEqual(frame[checksum], inner[10:12])
            self.assertEqual(frame[: checksum.start], whole[: checksum.start])
            self.assertEqual(frame[checksum.stop :], whole[checksum.stop :])


class CutTransitThroughThePe(PeTest):
    """FCN-1: what ends elsewhere is forwarded whole, also when it is cut; of UDP the ports must be
    there."""

    def runTest(self) -> None:
        elsewhere: IpFields = {"flow_label": LABEL}
        inner = roce(REMOTE_V6, HOST_V6, DEST_QP, payload=b"")
        for name, tunnel in every_tunnel(inner, "fc00:0:77::9", elsewhere).items():
            whole = with_destination(tunnel.datagram, "fc00:0:77::1")
            with self.subTest(tunnel=name):
                cut = [
                    whole[:4] + (length - 40).to_bytes(2, "big") + whole[6:length]
                    for length in range(44, len(whole))
                ]
                self.check(
                    CORE_PORT,
                    *map(core_frame_in, cut),
                    expect={CORE_PORT: [core_frame_out(routed(each)) for each in cut]},
                )


class TransitHopLimitExpires(PeTest):
    """FCN-5: transit packets with hop limit 0 and 1 are dropped."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        for hop_limit in (0, 1):
            outer = with_ttl(srv6(inner, REMOTE_PE, "fc00:0:77::1"), hop_limit)
            self.check(CORE_PORT, core_frame_in(outer), drops={"TTL_EXPIRED": 1})
        outer = srv6(inner, REMOTE_PE, PE_END_SID, (REMOTE_RED_SID,), 1, ttl=1)
        self.check(CORE_PORT, core_frame_in(outer), drops={"TTL_EXPIRED": 1})
