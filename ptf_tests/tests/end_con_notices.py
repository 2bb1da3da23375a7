"""CNPs to END.CON SIDs, as a congested P writes them (SRF-4)."""

from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6ExtHdrDestOpt
from scapy.packet import Raw

from fcn.contract.ecn import Ecn
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_REMOTE,
    core_frame_out,
)
from fcn.ptf_tests.lib.congestion import LABEL, CongestedPTest, from_ingress_pe
from fcn.ptf_tests.lib.congestion import SENT as FAST_CNP_SENT
from fcn.ptf_tests.lib.end_con import PE_RED_END_CON, TRAFFIC_CLASS, end_con_cnp, incomplete_cnp
from fcn.ptf_tests.lib.limits import BUDGET, FLOOD, LONG_US, flood
from fcn.ptf_tests.lib.packets import (
    BTH_HEADER,
    IPV6_HEADER,
    UDP_HEADER,
    IpFields,
    fast_cnp,
    gre,
    ip,
    mpls_udp,
    roce,
    routed,
    srv6,
    udp,
    udp_checksum_valid,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.tunnels import every_tunnel

DEST_QP = 0x118
SENT = {"END_CON_CNP_TRIGGERED": 1, "END_CON_CNP_SENT": 1}
HIDDEN = {"END_CON_CNP_TRIGGERED": 1, "INNER_OPAQUE": 1}
ESP: IpFields = {"nh": 50}
OUTER: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}


def tunnels(inner: bytes) -> dict[str, bytes]:
    """A customer's packet in every tunnel that shows it, from the PE's END.CON SID."""
    return {
        name: each.datagram for name, each in every_tunnel(inner, PE_RED_END_CON, OUTER).items()
    }


class EndConTest(CongestedPTest):
    """A P that tells senders by way of END.CON."""

    def configure_feature(self) -> None:
        """CNPs to END.CON in place of Fast CNPs."""
        self.p.enable_end_con(P_ADDRESS, traffic_class=TRAFFIC_CLASS)

    def tells(self, datagram: bytes, notice: bytes) -> None:
        """The congested packet goes on, and its sender is told by this packet."""
        self.check_forwarded(datagram, back=[core_frame_out(notice, DC_PORT)], events=SENT)


class CnpForTheSender(EndConTest):
    """SRF-4: every octet, for every tunnel, IPv4 and IPv6; the packet itself goes on."""

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            for what, datagram in tunnels(roce(host, remote, DEST_QP)).items():
                with self.subTest(tunnel=what, host=host):
                    notice = end_con_cnp(remote, host, DEST_QP, LABEL)
                    self.tells(datagram, notice)
                    if ":" in host:
                        self.assertTrue(udp_checksum_valid(notice[IPV6_HEADER:]))


class PacketsOfAllSizes(EndConTest):
    """SRF-4: payload and the headers between it and the BTH leave no octet behind."""

    def runTest(self) -> None:
        for payload in (0, 4, 16, 100, 1024, 4096, 8192):
            datagram = srv6(
                roce(HOST_V6, REMOTE_V6, DEST_QP, payload=bytes(payload)),
                PE_RED_END_CON,
                REMOTE_RED_SID,
                **OUTER,
            )
            with self.subTest(payload=payload):
                self.tells(datagram, end_con_cnp(REMOTE_V6, HOST_V6, DEST_QP, LABEL))


class OpaqueTunnels(EndConTest):
    """SRF-4: where the P cannot see a RoCEv2 packet it says so in a counter, and sends nothing."""

    def runTest(self) -> None:
        inner = roce(HOST_V6, REMOTE_V6, DEST_QP)
        inner4 = roce(HOST_V4, REMOTE_V4, DEST_QP)
        fragment = roce(HOST_V4, REMOTE_V4, DEST_QP, flags="MF")
        datagrams = {
            "destination options": ip(
                PE_RED_END_CON, REMOTE_PE, IPv6ExtHdrDestOpt() / Raw(inner), **OUTER
            ),
            "six segments": srv6(inner, PE_RED_END_CON, REMOTE_PE, ("fc00::1",) * 6, 3, **OUTER),
            "GRE with a checksum": gre_with_flags(inner4, 0xA000),
            "encrypted": ip(PE_RED_END_CON, REMOTE_PE, bytes(80), **OUTER | ESP),
            "UDP, not RoCE": srv6(
                udp(HOST_V4, REMOTE_V4, 1, 2), PE_RED_END_CON, REMOTE_RED_SID, **OUTER
            ),
            "fragment": srv6(fragment, PE_RED_END_CON, REMOTE_RED_SID, **OUTER),
            "ICMPv6": ip(PE_RED_END_CON, REMOTE_PE, ICMPv6EchoRequest(), **OUTER),
            "a CNP": srv6(
                incomplete_cnp(HOST_V4, REMOTE_V4, DEST_QP), PE_RED_END_CON, REMOTE_RED_SID, **OUTER
            ),
            "three labels": mpls_udp(inner4, PE_RED_END_CON, REMOTE_PE, (16, 17, 18), **OUTER),
        }
        for what, datagram in datagrams.items():
            with self.subTest(what=what):
                self.check_forwarded(datagram, events=HIDDEN)


class TruncatedInside(EndConTest):
    """SRF-4: a packet cut within its inner headers causes no notification."""

    def runTest(self) -> None:
        whole = srv6(
            roce(HOST_V6, REMOTE_V6, DEST_QP, payload=b""), PE_RED_END_CON, REMOTE_RED_SID, **OUTER
        )
        datagrams = [
            whole[:4] + (length - IPV6_HEADER).to_bytes(2, "big") + whole[6:length]
            for length in range(IPV6_HEADER, 2 * IPV6_HEADER + UDP_HEADER + BTH_HEADER)
        ]
        self.check(
            DC_PORT,
            *map(from_ingress_pe, datagrams),
            expect={CORE_PORT: [core_frame_out(routed(datagram)) for datagram in datagrams]},
            events={name: len(datagrams) for name in HIDDEN},
        )


class NotificationsCauseNone(EndConTest):
    """SRF-4: neither a CNP to END.CON nor a packet that is not ECN-capable or has no FCN label."""

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, DEST_QP)
        for datagram in (
            end_con_cnp(HOST_V4, REMOTE_V4, DEST_QP, LABEL, sid=REMOTE_RED_SID),
            srv6(inner, PE_RED_END_CON, REMOTE_RED_SID, flow_label=LABEL),
            srv6(inner, PE_RED_END_CON, REMOTE_RED_SID, flow_label=5, traffic_class=Ecn.ECT0),
        ):
            self.check_forwarded(datagram)


class OneNoticePerFlowAndInterval(EndConTest):
    """FCN-15, SRF-4: a flow causes one notice per interval, as of Fast CNPs."""

    interval_us = LONG_US

    def runTest(self) -> None:
        datagram = tunnels(roce(HOST_V4, REMOTE_V4, DEST_QP))["SRv6"]
        notice = end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, LABEL)
        self.check(
            DC_PORT,
            *[from_ingress_pe(datagram)] * FLOOD,
            expect={
                CORE_PORT: [core_frame_out(routed(datagram))] * FLOOD,
                DC_PORT: [core_frame_out(notice, DC_PORT)],
            },
            events=SENT | {"END_CON_CNP_INTERVAL_SUPPRESSED": FLOOD - 1},
        )


class NodeBudgetOfNotices(EndConTest):
    """FCN-15, SRF-4: notices of many flows do not exceed the node's rate limit."""

    def runTest(self) -> None:
        self.p.notification_meter(BUDGET)
        inner = roce(HOST_V4, REMOTE_V4, DEST_QP)
        frames = [
            from_ingress_pe(
                srv6(inner, PE_RED_END_CON, REMOTE_RED_SID, flow_label=label, traffic_class=2)
            )
            for label in range(LABEL, LABEL + FLOOD)
        ]
        before = self.counts()
        sent, _ = flood(self, DC_PORT, frames)
        self.assertEqual(
            self.growth(before),
            {
                "event END_CON_CNP_TRIGGERED": sent,
                "event END_CON_CNP_SENT": sent,
                "event END_CON_CNP_RATE_SUPPRESSED": FLOOD - sent,
            },
        )


class OtherModesSendNone(CongestedPTest):
    """SRF-4, FCN-16: with Fast CNPs, or with none, no notice for END.CON; and the other way."""

    def runTest(self) -> None:
        datagram = tunnels(roce(HOST_V4, REMOTE_V4, DEST_QP))["SRv6"]
        passed = {CORE_PORT: [core_frame_out(routed(datagram))]}
        told = core_frame_out(
            fast_cnp(P_ADDRESS, PE_RED_END_CON, LABEL, self.level, traffic_class=TRAFFIC_CLASS),
            DC_PORT,
        )
        notice = core_frame_out(end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, LABEL), DC_PORT)
        frame = from_ingress_pe(datagram)
        self.check(DC_PORT, frame, expect=passed | {DC_PORT: [told]}, events=FAST_CNP_SENT)
        self.p.domain_mode()
        self.check(DC_PORT, frame, expect=passed)
        self.p.enable_end_con(P_ADDRESS, traffic_class=TRAFFIC_CLASS)
        self.check(DC_PORT, frame, expect=passed | {DC_PORT: [notice]}, events=SENT)


def gre_with_flags(inner: bytes, flags: int) -> bytes:
    """GRE with a checksum field, which nobody here writes or reads."""
    plain = gre(inner, PE_RED_END_CON, REMOTE_PE, 10, **OUTER)
    header = plain[:40] + flags.to_bytes(2, "big") + plain[42:44]
    datagram = header + bytes(4) + plain[44:]
    length = len(datagram) - 40
    return datagram[:4] + length.to_bytes(2, "big") + datagram[6:]
