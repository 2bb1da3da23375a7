"""ECN at both ends of a tunnel: RFC 6040, of GRE and VXLAN RFC 9601 (SRF-1, SRF-2, FCN-7, PEC)."""

from fcn.contract.ecn import TWO_THRESHOLD_RULES
from fcn.ptf_tests.lib.beds import (
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    RED_TUNNEL,
    REMOTE_PE,
    REMOTE_RED_SID,
    TO_HOST,
    TO_REMOTE,
    PeTest,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import (
    Ecn,
    datagram_of,
    ecn_of,
    gre,
    mpls_udp,
    roce,
    routed,
    srv6,
    traffic_class_of,
    vxlan,
    with_ecn,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

DEST_QP = 0x118
LABEL = 0x8BEEF

VNI = 77
KEY = 78
VPN_LABEL = 79

DROP = None
QUIET: dict[str, int] = {}
UNUSED = {"ECN_UNUSED_COMBINATION": 1}
DANGEROUS = {"ECN_DANGEROUS_COMBINATION": 1}
LIGHT_CE = {"LIGHT_CE": 1}

DECAPSULATION = {
    (Ecn.NOT_ECT, Ecn.NOT_ECT): (Ecn.NOT_ECT, QUIET),
    (Ecn.NOT_ECT, Ecn.ECT0): (Ecn.NOT_ECT, DANGEROUS),
    (Ecn.NOT_ECT, Ecn.ECT1): (Ecn.NOT_ECT, DANGEROUS),
    (Ecn.NOT_ECT, Ecn.CE): (DROP, DANGEROUS),
    (Ecn.ECT0, Ecn.NOT_ECT): (Ecn.ECT0, QUIET),
    (Ecn.ECT0, Ecn.ECT0): (Ecn.ECT0, QUIET),
    (Ecn.ECT0, Ecn.ECT1): (Ecn.ECT1, QUIET),
    (Ecn.ECT0, Ecn.CE): (Ecn.CE, QUIET),
    (Ecn.ECT1, Ecn.NOT_ECT): (Ecn.ECT1, QUIET),
    (Ecn.ECT1, Ecn.ECT0): (Ecn.ECT1, UNUSED),
    (Ecn.ECT1, Ecn.ECT1): (Ecn.ECT1, QUIET),
    (Ecn.ECT1, Ecn.CE): (Ecn.CE, QUIET),
    (Ecn.CE, Ecn.NOT_ECT): (Ecn.CE, QUIET),
    (Ecn.CE, Ecn.ECT0): (Ecn.CE, QUIET),
    (Ecn.CE, Ecn.ECT1): (Ecn.CE, DANGEROUS),
    (Ecn.CE, Ecn.CE): (Ecn.CE, QUIET),
}
"""RFC 6040 figure 4: (inner, outer) to the outgoing ECN and the "(!)" or "(!!!)" event."""
TWO_THRESHOLD_DECAPSULATION = DECAPSULATION | {
    (Ecn.ECT0, Ecn.ECT1): (Ecn.ECT0, LIGHT_CE),
    (Ecn.ECT1, Ecn.ECT0): (Ecn.ECT1, QUIET),
    (Ecn.ECT1, Ecn.ECT1): (Ecn.ECT1, LIGHT_CE),
}
"""Figure 2 of the draft on precise ECN."""

ENCAPSULATION: dict[str, list[Ecn]] = {
    "NORMAL": list(Ecn),
    "COMPATIBILITY": [Ecn.NOT_ECT] * 4,
    "TWO_THRESHOLD": [Ecn.ECT0 if ecn is Ecn.ECT1 else ecn for ecn in Ecn],
}
"""The outer codepoint for each inner one, by mode (RFC 6040 section 4.1; PEC-5)."""


class EncapsulationNormalMode(PeTest):
    """SRF-1, FCN-7: the inner ECN field is copied to the outer header and not changed."""

    mode = "NORMAL"

    def configure_red_tunnel(self) -> None:
        """A tunnel of the mode."""
        mode = self.enum("EcnEncapMode")[self.mode]
        self.pe.tunnel(RED_TUNNEL, "encap_srv6", ecn_mode=mode, src=PE_ADDRESS, dst=REMOTE_RED_SID)

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            self.pe.flow(RED, host, remote, DEST_QP, LABEL)
            for ecn, outside in zip(Ecn, ENCAPSULATION[self.mode], strict=True):
                with self.subTest(remote=remote, ecn=ecn.name):
                    datagram = roce(host, remote, DEST_QP, ecn=ecn)
                    ends = (PE_ADDRESS, REMOTE_RED_SID)
                    outer = srv6(routed(datagram), *ends, flow_label=LABEL, traffic_class=outside)
                    self.check_into_wan(datagram, outer)


class EncapsulationCompatibilityMode(EncapsulationNormalMode):
    """SRF-1: in compatibility mode the outer header is Not-ECT for every inner codepoint."""

    mode = "COMPATIBILITY"


class EncapsulationTwoThresholdMode(EncapsulationNormalMode):
    """PEC-5: outside, ECT(1) of a sender is ECT(0), so that nobody takes it for light congestion;
    the inner header keeps it."""

    mode = "TWO_THRESHOLD"


class EncapsulationOfEveryTunnelType(PeTest):
    """SRF-1: the ECN modes hold for every tunnel type, per tunnel."""

    def configure_red_tunnel(self) -> None:
        """None: the test writes the tunnels itself."""

    def runTest(self) -> None:
        common = {"src": PE_ADDRESS, "dst": REMOTE_PE}
        kinds: dict[str, dict[str, int | str]] = {
            "encap_vxlan": {
                "vni": VNI,
                "inner_src_mac": "02:aa:00:00:00:01",
                "inner_dst_mac": "02:aa:00:00:00:02",
            },
            "encap_gre": {"key": KEY},
            "encap_mpls_udp1": {"vpn_label": VPN_LABEL},
            "encap_mpls_udp2": {"sr_label": 16001, "vpn_label": VPN_LABEL},
            "encap_srv6_srh1": {"segments_left": 1, "seg0": REMOTE_RED_SID},
        }
        for action, parameters in kinds.items():
            for name, mode in self.enum("EcnEncapMode").items():
                self.pe.tunnel(RED_TUNNEL, action, ecn_mode=mode, **common, **parameters)
                for host, remote in TO_REMOTE:
                    with self.subTest(action=action, mode=name, remote=remote):
                        frames = [
                            host_frame_in(roce(host, remote, DEST_QP, ecn=ecn)) for ecn in Ecn
                        ]
                        outers = [
                            traffic_class_of(datagram_of(frame))
                            for frame in self.exchange(DC_PORT, *frames).frames[CORE_PORT]
                        ]
                        self.assertEqual(outers, ENCAPSULATION[name])
                self.pe.delete("tunnel", match={"tunnel": RED_TUNNEL})


class DecapsulationSrv6(PeTest):
    """SRF-2: all 16 cells for IPv4 and IPv6 customers, the anomalous ones counted."""

    cells = DECAPSULATION

    def tunnelled(self, datagram: bytes, ecn: Ecn) -> bytes:
        """What the remote PE sends, with this outer ECN field."""
        return srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=ecn)

    def runTest(self) -> None:
        for remote, host in TO_HOST:
            for (inner, outer), (outgoing, events) in self.cells.items():
                with self.subTest(inner=inner.name, outer=outer.name, host=host):
                    datagram = roce(remote, host, DEST_QP, ecn=inner)
                    arriving = self.tunnelled(datagram, outer)
                    if outgoing is DROP:
                        frame = core_frame_in(arriving)
                        self.check(CORE_PORT, frame, drops={"ECN_NOT_ECT_CE": 1}, events=events)
                    else:
                        after = with_ecn(routed(datagram), outgoing)
                        self.check_out_of_wan(arriving, after, events)


class DecapsulationVxlan(DecapsulationSrv6):
    """SRF-2: all 16 cells at the end of a VXLAN tunnel."""

    def configure(self) -> None:
        """RED's VNI."""
        super().configure()
        self.pe.tunnel_vrf(self.enum("TunnelType")["VXLAN"], VNI, RED)

    def tunnelled(self, datagram: bytes, ecn: Ecn) -> bytes:
        """What the remote PE sends, with this outer ECN field."""
        return vxlan(datagram, REMOTE_PE, PE_ADDRESS, VNI, traffic_class=ecn)


class DecapsulationGre(DecapsulationSrv6):
    """SRF-2: all 16 cells at the end of a GRE tunnel."""

    def configure(self) -> None:
        """RED's key."""
        super().configure()
        self.pe.tunnel_vrf(self.enum("TunnelType")["GRE"], KEY, RED)

    def tunnelled(self, datagram: bytes, ecn: Ecn) -> bytes:
        """What the remote PE sends, with this outer ECN field."""
        return gre(datagram, REMOTE_PE, PE_ADDRESS, KEY, traffic_class=ecn)


class DecapsulationMpls(DecapsulationSrv6):
    """SRF-2: all 16 cells at the end of an MPLS over UDP tunnel."""

    def configure(self) -> None:
        """RED's label."""
        super().configure()
        self.pe.tunnel_vrf(self.enum("TunnelType")["MPLS_UDP"], VPN_LABEL, RED)

    def tunnelled(self, datagram: bytes, ecn: Ecn) -> bytes:
        """What the remote PE sends, with this outer ECN field."""
        return mpls_udp(datagram, REMOTE_PE, PE_ADDRESS, [VPN_LABEL], traffic_class=ecn)


class DecapsulationTwoThresholdMode(DecapsulationSrv6):
    """PEC-5, PEC-4: all 16 cells; light CE leaves the inner codepoint and is counted, CE reaches
    the receiver."""

    cells = TWO_THRESHOLD_DECAPSULATION

    def configure(self) -> None:
        """The rules of the mode."""
        super().configure()
        for rule in TWO_THRESHOLD_RULES:
            self.pe.delete("decap_ecn", match={"inner_ecn": rule.inner, "outer_ecn": rule.outer})
        self.pe.decap_rules(TWO_THRESHOLD_RULES)


class CongestionReachesTheReceiver(PeTest):
    """SRF-3: CE on the outer header becomes CE in the inner header; the inner DSCP is kept."""

    def runTest(self) -> None:
        for remote, host in TO_HOST:
            datagram = roce(remote, host, DEST_QP, ecn=Ecn.ECT0, dscp=46)
            outer = srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=10 << 2 | Ecn.CE)
            outcome = self.exchange(CORE_PORT, core_frame_in(outer))
            (frame,) = outcome.frames[DC_PORT]
            self.assertEqual(ecn_of(datagram_of(frame)), Ecn.CE)
            self.assertEqual(traffic_class_of(datagram_of(frame)) >> 2, 46)
