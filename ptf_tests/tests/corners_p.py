"""What seldom happens at a P: limits, checksums that are zero, and ports and tunnels of no use."""

from fcn.packets.fantel import Event
from fcn.ptf_tests.lib.beds import (
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_V6,
    PTest,
    core_frame_in,
    core_frame_out,
)
from fcn.ptf_tests.lib.checksums import ALL_ONES, udp_checksum_of, word_of_zero_checksum
from fcn.ptf_tests.lib.congestion import LABEL, CongestedPTest, from_ingress_pe, tunnelled
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.end_con import PE_RED_END_CON, end_con_cnp
from fcn.ptf_tests.lib.flow_control import packet
from fcn.ptf_tests.lib.limits import BUDGET, flood
from fcn.ptf_tests.lib.packets import Ecn, IpFields, datagram_of, roce, routed, srv6, udp, vxlan
from fcn.ptf_tests.lib.path_messages import notification
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.watched import FAR_END_DOWN, NODE, PATH_ID, WatchedPTest, affected, message
from fcn.ptf_tests.tests import end_con_notices
from fcn.ptf_tests.tests.controller_packets import ARP_REQUEST

HIGH = 0x10000
IPPROTO_UDP = 17
LOST = {"LINK_DOWN": 1}


class LimitOfPathMessages(WatchedPTest):
    """FCN-15: messages about paths do not exceed the node's rate limit of notifications."""

    repeat_us = 0

    def runTest(self) -> None:
        self.p.notification_meter(BUDGET)
        self.take_down()
        before = self.counts()
        sent, _ = flood(self, DC_PORT, [from_ingress_pe(packet())] * 64)
        grown = self.growth(before)
        self.assertEqual(grown["event FANTEL_SENT"], sent)
        self.assertEqual(grown["event FANTEL_RATE_SUPPRESSED"], 64 - sent)


class FlowOverUdp(WatchedPTest):
    """FAN-2: the five-tuple of the traffic that met a dead link has the ports of its tunnel."""

    def runTest(self) -> None:
        self.take_down()
        datagram = vxlan(
            udp(HOST_V6, REMOTE_V6, 1, 2), PE_ADDRESS, REMOTE_PE, 9,
            flow_label=LABEL, traffic_class=Ecn.ECT0,
        )  # fmt: skip
        named = affected()
        named.protocol, named.sport, named.dport = IPPROTO_UDP, 0xC123, 4789
        self.check_lost(datagram, message(Event.FAILURE, 1, named, FAR_END_DOWN))


class ChecksumOfZero(WatchedPTest):
    """FAN-8: a message behind UDP whose checksum would be zero has all ones."""

    def runTest(self) -> None:
        def said(word: int) -> bytes:
            about = (affected(), FAR_END_DOWN)
            return notification(Event.FAILURE, PATH_ID, NODE, HIGH | word, 1, *about)

        word = word_of_zero_checksum(said)
        self.p.fantel_profile(P_ADDRESS, node=NODE.node, epoch=HIGH | word)
        self.take_down()
        before = self.counts()
        outcome = self.exchange(DC_PORT, from_ingress_pe(packet()))
        (frame,) = outcome.frames[DC_PORT]
        self.assertEqual(datagram_of(frame)[8:], said(word)[8:])
        self.assertEqual(udp_checksum_of(datagram_of(frame)), ALL_ONES)
        self.assertEqual(self.growth(before)["event FANTEL_SENT"], 1)


class CnpWithChecksumOfZero(end_con_notices.EndConTest):
    """SRF-4: so has a CNP by way of END.CON."""

    def runTest(self) -> None:
        def told(word: int) -> bytes:
            return end_con_cnp(REMOTE_V6, HOST_V6, HIGH | word, LABEL)[40:]

        word = word_of_zero_checksum(told)
        inner = roce(HOST_V6, REMOTE_V6, HIGH | word)
        outer: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
        datagram = srv6(inner, PE_RED_END_CON, REMOTE_PE, **outer)
        self.assertEqual(udp_checksum_of(told(word)), ALL_ONES)
        self.tells(datagram, end_con_cnp(REMOTE_V6, HOST_V6, HIGH | word, LABEL))


class PuntsAreLimited(PTest):
    """FCN-15: packets for the controller beyond the limit are dropped and counted."""

    def runTest(self) -> None:
        few = 30  # BMv2 loses some of more
        self.p.punt_limit(0, BUDGET)
        self.addCleanup(self.p.punt_limit, 0)
        before = self.counts()
        for _ in range(few):
            self.send(DC_PORT, ARP_REQUEST)
        self.wait_for("all are counted", lambda: sum(self.growth(before).values()) == few)
        refused = self.growth(before)["drop PUNT_RATE_LIMIT"]
        self.assertGreater(refused, 0)
        self.assertEqual(read_counter(self.client, "vrf_refused", 0)[0][0], refused)


class NoCustomersHere(PTest):
    """FCN-17: a P has no customers: what comes from a port of that kind is dropped."""

    def runTest(self) -> None:
        match = {"ingress_port": DC_PORT, "vlan_id": 0}
        self.p.delete("port_role", match=match)
        self.p.insert("port_role", "set_dc_port", match=match, vrf=1)
        frame = core_frame_in(tunnelled(), DC_PORT)
        before = self.counts()
        self.assertEqual(self.exchange(DC_PORT, frame, marker_port=CORE_PORT).frames, {})
        self.assertEqual(self.growth(before), {"drop UNSUPPORTED": 1})


class NoRoute(PTest):
    """FCN-1: what no route of the underlay leads to is dropped and counted."""

    def runTest(self) -> None:
        self.check(DC_PORT, from_ingress_pe(packet(dst="fc00:0:99::1")), drops={"NO_ROUTE": 1})


class LevelWithoutPolicy(CongestedPTest):
    """FCN-10: of a level for which there is no policy nothing is said, and nothing marked."""

    def runTest(self) -> None:
        self.p.delete("level_policy", match={"level": self.level})
        datagram = tunnelled()
        expected = core_frame_out(routed(datagram))
        self.check(DC_PORT, from_ingress_pe(datagram), expect={CORE_PORT: [expected]})
