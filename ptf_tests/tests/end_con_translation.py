"""CNPs to END.CON SIDs at the ingress PE: completed, delivered in the VRF of the SID (SRF-4)."""

from scapy.layers.inet6 import ICMPv6PacketTooBig, ICMPv6TimeExceeded
from scapy.packet import Raw

from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    PE_END_SID,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.end_con import PE_BLUE_END_CON, PE_RED_END_CON, end_con_cnp
from fcn.ptf_tests.lib.limits import BUDGET, FLOOD, LONG_US, flood
from fcn.ptf_tests.lib.notifications import (
    DEST_QP,
    LABEL_V4,
    LABEL_V6,
    SOURCE_QP,
    NotificationTest,
    cnp_v4_frame,
    cnp_v6_frame,
    fast_cnp_frame,
)
from fcn.ptf_tests.lib.packets import IPV6_HEADER, cnp, ip, roce, routed, srv6, udp
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2

TRANSLATED = {"END_CON_CNP_RECEIVED": 1, "CNP_SENT": 1}
RECEIVED = {"END_CON_CNP_RECEIVED": 1}
BLUE_LABEL = 0x8B10E
BLUE_QP = 0x77
UNTRUSTED = "2001:db8:bad::1"
NOTICE_V4 = end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, LABEL_V4)
NOTICE_V6 = end_con_cnp(REMOTE_V6, HOST_V6, DEST_QP, LABEL_V6)


class EndConTest(NotificationTest):
    """END.CON SIDs of both VRFs, whose flows have the same addresses; the mode is END.CON."""

    translated = TRANSLATED

    def configure(self) -> None:
        """In addition: the SIDs, and a flow of BLUE."""
        super().configure()
        self.pe.enable_cnp(translates="END_CON_CNP")
        self.pe.end_con_sid(PE_RED_END_CON, RED)
        self.pe.end_con_sid(PE_BLUE_END_CON, BLUE)
        self.pe.label_to_cnp(BLUE_LABEL, BLUE, REMOTE_V4, HOST_V4, BLUE_QP)


class SenderGetsItsCnp(EndConTest):
    """SRF-4: with the source queue pair and a valid ICRC, as from a Fast CNP."""

    def runTest(self) -> None:
        for notice, expected in ((NOTICE_V4, cnp_v4_frame()), (NOTICE_V6, cnp_v6_frame())):
            self.check_translated(core_frame_in(notice), expected)


class TheSidSaysWhichVrf(EndConTest):
    """SRF-4: customers with equal addresses stay apart; a label of one does not reach the other."""

    def runTest(self) -> None:
        blue = end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, BLUE_LABEL, sid=PE_BLUE_END_CON)
        expected = host_frame_out(
            cnp(REMOTE_V4, HOST_V4, BLUE_QP), vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC
        )
        self.check_translated(core_frame_in(blue), expected)
        for label, sid in ((LABEL_V4, PE_BLUE_END_CON), (BLUE_LABEL, PE_RED_END_CON)):
            notice = end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, label, sid=sid)
            self.check(
                CORE_PORT, core_frame_in(notice), drops={"LABEL_UNKNOWN": 1}, events=RECEIVED
            )


class AnotherFlowHasTheLabelNow(EndConTest):
    """SRF-4: when the CNP is for others than the label's flow, nobody is told."""

    def runTest(self) -> None:
        for receiver, sender, label in (
            (REMOTE_V4, "10.1.0.11", LABEL_V4),
            ("10.2.0.21", HOST_V4, LABEL_V4),
            (REMOTE_V6, "2001:db8:1::11", LABEL_V6),
            ("2001:db8:2::21", HOST_V6, LABEL_V6),
            (REMOTE_V6, HOST_V6, LABEL_V4),
            (REMOTE_V4, HOST_V4, LABEL_V6),
            (REMOTE_V4, HOST_V4, 0x81234),
            (REMOTE_V4, HOST_V4, 0),
        ):
            with self.subTest(receiver=receiver, sender=sender, label=hex(label)):
                notice = end_con_cnp(receiver, sender, DEST_QP, label)
                self.check(
                    CORE_PORT, core_frame_in(notice), drops={"LABEL_UNKNOWN": 1}, events=RECEIVED
                )


class OnlyCnpsFromTheDomain(EndConTest):
    """SRF-4, FCN-17: ICMPv6 errors, other packets and other tunnels to the SID reach no host."""

    def runTest(self) -> None:
        quoted = srv6(roce(HOST_V4, REMOTE_V4, DEST_QP), PE_RED_END_CON, "fc00:0:2:46::")
        inner = NOTICE_V4[40:]
        malformed = {
            "time exceeded": ip(P_ADDRESS, PE_RED_END_CON, ICMPv6TimeExceeded() / Raw(quoted)),
            "too big": ip(P_ADDRESS, PE_RED_END_CON, ICMPv6PacketTooBig() / Raw(quoted)),
            "data packet": srv6(
                roce(REMOTE_V4, HOST_V4, DEST_QP), P_ADDRESS, PE_RED_END_CON, flow_label=LABEL_V4
            ),
            "not RoCE": srv6(
                udp(REMOTE_V4, HOST_V4, 1, 2), P_ADDRESS, PE_RED_END_CON, flow_label=LABEL_V4
            ),
            "with SRH": srv6(
                inner,
                P_ADDRESS,
                PE_RED_END_CON,
                (PE_RED_END_CON, PE_END_SID),
                0,
                flow_label=LABEL_V4,
            ),
            "UDP": udp(P_ADDRESS, PE_RED_END_CON, 1, 2),
        }
        for what, datagram in malformed.items():
            with self.subTest(what=what):
                self.check(CORE_PORT, core_frame_in(datagram), drops={"NOTIFICATION_MALFORMED": 1})
        untrusted = end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, LABEL_V4, source=UNTRUSTED)
        self.check(CORE_PORT, core_frame_in(untrusted), drops={"NOTIFICATION_UNTRUSTED": 1})


class SpoofedByCustomers(EndConTest):
    """FCN-17: what a customer sends to the SID stays in its VRF, in a tunnel or not."""

    def runTest(self) -> None:
        for port, vlan in ((DC_PORT, 0), (DC_PORT, BLUE_VLAN), (DC_PORT_2, 0)):
            self.check(port, host_frame_in(NOTICE_V4, port=port, vlan=vlan), drops={"NO_ROUTE": 1})
        inside = srv6(NOTICE_V4, REMOTE_PE, PE_RED_SID)
        self.check(CORE_PORT, core_frame_in(inside), drops={"NO_ROUTE": 1})


class TruncatedNotices(EndConTest):
    """SRF-4: a notice cut at every octet is dropped and counted once, whatever its length says."""

    def runTest(self) -> None:
        for notice in (NOTICE_V4, NOTICE_V6):
            lengths = range(IPV6_HEADER, len(notice))
            cut = [core_frame_in(_with_length(notice[:length])) for length in lengths]
            longer = core_frame_in(_with_length(notice + b"more"))
            self.check(CORE_PORT, *cut, longer, drops={"NOTIFICATION_MALFORMED": len(lengths) + 1})
            lying = [core_frame_in(notice[:length]) for length in lengths]
            self.check(CORE_PORT, *lying, drops={"BAD_LENGTH": len(lengths)})


class FloodOfNotices(EndConTest):
    """FCN-15, SRF-4: CNPs of a flow are limited, those of the node too; false notices use no budget
    up."""

    def runTest(self) -> None:
        unknown = end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, 0x81234)
        self.pe.notification_meter(BUDGET)
        self.check(
            CORE_PORT,
            *[core_frame_in(unknown)] * FLOOD,
            drops={"LABEL_UNKNOWN": FLOOD},
            events={"END_CON_CNP_RECEIVED": FLOOD},
        )
        self.pe.enable_cnp(min_interval_us=LONG_US, translates="END_CON_CNP")
        self.check(
            CORE_PORT,
            *[core_frame_in(NOTICE_V4)] * FLOOD,
            expect={DC_PORT: [cnp_v4_frame()]},
            drops={"FLOW_INTERVAL": FLOOD - 1},
            events={"END_CON_CNP_RECEIVED": FLOOD, "CNP_SENT": 1},
        )


class NodeBudgetOfCnps(EndConTest):
    """FCN-15, SRF-4: CNPs for many flows do not exceed the node's rate limit."""

    def runTest(self) -> None:
        self.pe.notification_meter(BUDGET)
        labels = range(0xA0000, 0xA0000 + FLOOD)
        for label in labels:
            self.pe.label_to_cnp(label, RED, REMOTE_V4, HOST_V4, SOURCE_QP)
        frames = [
            core_frame_in(end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, label)) for label in labels
        ]
        before = self.counts()
        sent, _ = flood(self, CORE_PORT, frames)
        self.assertEqual(
            self.growth(before),
            {
                "drop NODE_RATE_LIMIT": FLOOD - sent,
                "event END_CON_CNP_RECEIVED": FLOOD,
                "event CNP_SENT": sent,
            },
        )


class SourceQueuePairNotKnown(EndConTest):
    """SRF-4: without the sender's queue pair there is nothing to complete the CNP with."""

    def runTest(self) -> None:
        self.pe.label_without_source_qp(0x81235, 4)
        notice = end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, 0x81235)
        self.check(
            CORE_PORT, core_frame_in(notice), drops={"SOURCE_QP_UNKNOWN": 1}, events=RECEIVED
        )


class ModesRefuseEachOther(EndConTest):
    """SRF-4, FCN-16: the notifications of another mode are counted, and nobody is told."""

    def runTest(self) -> None:
        off = {"TRANSLATION_DISABLED": 1}
        fast_cnp = fast_cnp_frame(LABEL_V4)
        notice = core_frame_in(NOTICE_V4)
        self.check(CORE_PORT, fast_cnp, drops=off, events={"FAST_CNP_RECEIVED": 1})
        self.pe.enable_cnp(translates="FAST_CNP")
        self.check(CORE_PORT, notice, drops=off, events=RECEIVED)
        self.pe.domain_mode()
        self.check(CORE_PORT, fast_cnp, drops=off, events={"FAST_CNP_RECEIVED": 1})
        self.check(CORE_PORT, notice, drops=off, events=RECEIVED)


class ThereIsNoEndConElsewhere(NotificationTest):
    """SRF-4: without an END.CON SID configured, its packets are nobody's here."""

    def runTest(self) -> None:
        transit = core_frame_out(routed(NOTICE_V4))
        self.check(CORE_PORT, core_frame_in(NOTICE_V4), expect={CORE_PORT: [transit]})


def _with_length(datagram: bytes) -> bytes:
    """With the payload length of the underlay header that fits."""
    payload = len(datagram) - IPV6_HEADER
    return datagram[:4] + payload.to_bytes(2, "big") + datagram[6:]
