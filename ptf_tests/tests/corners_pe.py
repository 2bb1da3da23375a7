"""What seldom happens at a PE: marks, PAUSE frames, tunnels and paths that other tests pass by."""

import time
from functools import partial

from fcn.contract.profiles import Mode
from fcn.packets.fantel import Event, Fantel
from fcn.packets.fantel_tlvs import DeviceLoad, LinkUtilization, Origin, PathId
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    TO_HOST,
    PeTest,
    core_frame_in,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.checksums import ALL_ONES, udp_checksum_of
from fcn.ptf_tests.lib.flow_control import LONG_US
from fcn.ptf_tests.lib.links import LinkTest
from fcn.ptf_tests.lib.notifications import LABEL_V6, NotificationTest, cnp_v4_frame, fast_cnp_frame
from fcn.ptf_tests.lib.packets import Ecn, cnp, ip, roce, routed, srv6, with_ecn, with_traffic_class
from fcn.ptf_tests.lib.path_messages import PathMessageTest, fantel
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID, NEVER_US
from fcn.ptf_tests.lib.pe_flow_control import (
    DEST_QP,
    QUANTA,
    PeFlowControlTest,
    customer,
    leaving,
    pause,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.tests import malformed_at_pe, two_threshold_edge
from fcn.ptf_tests.tests.paths import SOME_FLOWS

LEVEL = 3
QP_OF_ZERO_CHECKSUM = 0x8836
"""Of a CNP for HOST_V6, whose ICRC follows from it."""
GRE = 47
PACKET = two_threshold_edge.PACKET_V4


def marked(ecn: Ecn, mark: Ecn) -> Ecn:
    """What a queue that marks makes of a packet: CE of both, ECT(1) of ECT(0)."""
    if ecn in (Ecn.NOT_ECT, Ecn.CE) or mark is Ecn.NOT_ECT:
        return ecn
    return mark if Ecn.CE in (mark, ecn) or ecn is Ecn.ECT0 else ecn


class EveryMark(PeTest):
    """SRF-3, PEC-1: of customers' packets over IPv4 and IPv6 as of the underlay's; a level without
    a policy marks nothing."""

    def runTest(self) -> None:
        self.pe.queue_level(DC_PORT, LEVEL)
        self.pe.queue_level(CORE_PORT, LEVEL)
        self.marks(Ecn.NOT_ECT)
        for mark in (Ecn.ECT1, Ecn.CE):
            self.pe.level_policy(LEVEL, mark=mark, notify=False)
            self.marks(mark)
            self.pe.delete("level_policy", match={"level": LEVEL})

    def marks(self, mark: Ecn) -> None:
        """Every codepoint, through the core and to the host."""
        for ecn in Ecn:
            after = marked(ecn, mark)
            events = {} if after == ecn else {f"{mark.name}_MARKED": 1}
            for remote, host in TO_HOST:
                with self.subTest(mark=mark.name, ecn=ecn.name, host=host):
                    datagram = roce(remote, host, DEST_QP, ecn=ecn)
                    outer = srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=ecn)
                    expected = host_frame_out(with_ecn(routed(datagram), after))
                    self.check(
                        CORE_PORT, core_frame_in(outer), expect={DC_PORT: [expected]}, events=events
                    )
            transit = srv6(datagram, "fc00:0:9::1", REMOTE_PE, traffic_class=ecn)
            self.check_transit(transit, with_ecn(routed(transit), after), events=events)


class NoRuleForTheEcnField(PeTest):
    """SRF-2: where no rule is for a combination, the inner codepoint stays."""

    def runTest(self) -> None:
        self.pe.delete("decap_ecn", match={"inner_ecn": Ecn.ECT0, "outer_ecn": Ecn.CE})
        datagram = roce(REMOTE_V4, HOST_V4, DEST_QP, ecn=Ecn.ECT0)
        outer = srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=Ecn.CE)
        expected = host_frame_out(routed(datagram))
        self.check(CORE_PORT, core_frame_in(outer), expect={DC_PORT: [expected]})


class NeverDrawn(PeTest):
    """PEC-1: a probability of next to nothing marks next to nothing."""

    needs = frozenset({Mode.TWO_THRESHOLD})

    def runTest(self) -> None:
        self.pe.marking_curve(CORE_PORT, Ecn.ECT1, 0)
        inner = roce(HOST_V4, REMOTE_V4, DEST_QP)
        transit = srv6(inner, "fc00:0:9::1", REMOTE_PE, traffic_class=Ecn.ECT0)
        before = self.counts()
        self.exchange(CORE_PORT, *[core_frame_in(transit)] * 16)
        self.assertLess(self.growth(before).get("event ECT1_MARKED", 0), 3)


class EveryPriorityIsPaused(PeFlowControlTest):
    """SRF-8: the PAUSE frame is about the priority of the customer's packet; of a port without
    a profile it asks for no time."""

    def runTest(self) -> None:
        self.pe.dc_relief(DC_PORT, "PAUSE", refresh_us=0, mac=NODE_MAC[DC_PORT], quanta=QUANTA)
        self.pe.hold_level(CORE_PORT, "CONGESTED")
        for priority in range(8):
            with self.subTest(priority=priority):
                frame = host_frame_in(with_traffic_class(customer(1), priority << 5 | Ecn.ECT0))
                outcome = self.exchange(DC_PORT, frame)
                self.assertEqual(outcome.frames[DC_PORT], [pause(QUANTA, priority)])
                self.assertEqual(len(outcome.frames[CORE_PORT]), 1)
        self.pe.delete("pause_profile", match={"port": DC_PORT})
        (frame,) = self.exchange(DC_PORT, host_frame_in(customer(1))).frames[DC_PORT]
        self.assertEqual(frame[12:], pause(0)[12:])


class CnpsAsOftenAsTheQueueSays(PeFlowControlTest):
    """FCN-12, SRF-8: where the queue's level asks for CNPs more often than the relief does, it
    counts."""

    def runTest(self) -> None:
        self.pe.enable_cnp()
        self.pe.queue_level(CORE_PORT, LEVEL)
        self.pe.level_policy(LEVEL, notify=True, interval_us=0)
        self.pe.dc_relief(DC_PORT, "CNP", refresh_us=LONG_US)
        self.pe.hold_level(CORE_PORT, "CONGESTED")
        psns = range(1, 6)
        outcome = self.exchange(DC_PORT, *(host_frame_in(customer(psn)) for psn in psns))
        self.assertEqual(outcome.frames[CORE_PORT], [leaving(psn) for psn in psns])
        self.assertEqual(outcome.frames[DC_PORT], [cnp_v4_frame()] * len(psns))


class NothingIsDoneAboutIt(two_threshold_edge.LightCongestionTest):
    """PEC-3: a lightly congested flow of a tunnel without a treatment goes on as before."""

    def configure_treatment(self) -> None:
        """None."""

    def runTest(self) -> None:
        self.told()
        self.check(DC_PORT, PACKET, expect={CORE_PORT: [self.sent()]})


class TreatmentIsNotRenewedAtOnce(two_threshold_edge.LightCongestionTest):
    """PEC-3: for one hold after the treatment what is told changes nothing; after that it does."""

    hold_us = 1_500_000

    def runTest(self) -> None:
        own, next_ = [self.sent()], [self.sent(sid=two_threshold_edge.NEXT_SID)]

        def takes(frames: list[bytes]) -> bool:
            return self.exchange(DC_PORT, PACKET).frames == {CORE_PORT: frames}

        def told_again() -> bool:
            self.told()
            return takes(next_)

        began = time.monotonic()
        self.told()
        self.assertTrue(takes(next_))
        self.wait_for("the flow's own path", partial(takes, own))
        self.told()
        is_own = takes(own)
        if time.monotonic() - began < 2 * self.hold_us / 1e6:
            self.assertTrue(is_own)
        self.wait_for("the treatment begins again", told_again)
        self.assertGreaterEqual(time.monotonic() - began, 2 * self.hold_us / 1e6)
        again = time.monotonic()
        self.wait_for(
            "two holds are over",
            lambda: takes(own) and time.monotonic() - again > 2 * self.hold_us / 1e6,
        )
        self.assertTrue(told_again())


class OtherTunnels(malformed_at_pe.MalformedTest):
    """FCN-5: GRE without a key (RFC 2784) leads to a VRF of its own; what is in GRE and is not IP,
    and a tunnel in another version of IP, is dropped."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP, ecn=Ecn.NOT_ECT)

        def within_gre(flags: str, protocol: str, key: str = "") -> bytes:
            header = bytes.fromhex(flags + protocol + key)
            return core_frame_in(ip(REMOTE_PE, PE_ADDRESS, header + inner, nh=GRE))

        without_key = within_gre("0000", "0800")
        self.check_all_dropped(CORE_PORT, [without_key], "no VRF")
        self.pe.delete_queue_level(DC_PORT)
        self.pe.tunnel_vrf(self.enum("TunnelType")["GRE"], 0, RED)
        expected = host_frame_out(routed(inner))
        self.check(CORE_PORT, without_key, expect={DC_PORT: [expected]})
        bad = [within_gre("2000", "88b5", "00000006")]
        for version in (0, 4, 5, 7):
            outer = bytearray(srv6(inner, REMOTE_PE, PE_RED_SID))
            outer[0] = version << 4 | outer[0] & 0x0F
            bad.append(core_frame_in(bytes(outer)))
        self.check_all_dropped(CORE_PORT, bad, "other protocols")


class ChecksumOfZero(NotificationTest):
    """FCN-13: a CNP over IPv6 whose UDP checksum would be zero has all ones."""

    def runTest(self) -> None:
        told = cnp(REMOTE_V6, HOST_V6, QP_OF_ZERO_CHECKSUM)
        self.assertEqual(udp_checksum_of(told), ALL_ONES)
        self.pe.delete("flow_by_label_ipv6", match={"flow_label": LABEL_V6})
        self.pe.label_to_cnp(LABEL_V6, RED, REMOTE_V6, HOST_V6, QP_OF_ZERO_CHECKSUM)
        self.check_translated(fast_cnp_frame(LABEL_V6), host_frame_out(told))


class NoneLeftAllTheSame(PathMessageTest):
    """FAN-4, FAN-6: a path that has failed and is relieved is no better; that none is left is said
    once."""

    def runTest(self) -> None:
        before = self.counts()
        for event, slot in (
            (Event.FAILURE, 0),
            (Event.CONGESTION, 0),
            (Event.FAILURE, 1),
            (Event.CONGESTION_CLEARED, 0),
        ):
            self.tell(event, slot)
        self.assertEqual(self.growth(before)["event PATH_NONE_LEFT"], 1)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})


class NoUdpInThePolicy(PathMessageTest):
    """FAN-4: what has no ports is distributed over the paths of a policy by its addresses."""

    def runTest(self) -> None:
        datagrams = [ip(HOST_V4, f"10.2.0.{host}", bytes(20), proto=6) for host in range(20, 84)]
        self.assertEqual(set(self.paths_of(datagrams)), {0, 1})


class LoadOfAnotherKind(PathMessageTest):
    """FAN-8: where another TLV stands in the place of the load that Code announces, the message is
    malformed."""

    def runTest(self) -> None:
        origin = Origin(node=7, link=1, epoch=1, sequence=1)
        parameters = [origin, PathId(path_id=FIRST_PATH_ID), LinkUtilization(), DeviceLoad()]
        whole = bytearray(bytes(Fantel(event=Event.LOAD, parameters=parameters)))
        whole[-len(bytes(DeviceLoad()))] ^= 0x40
        self.check(
            CORE_PORT,
            core_frame_in(fantel(P_ADDRESS, bytes(whole))),
            drops={"NOTIFICATION_MALFORMED": 1},
            events={"FANTEL_RECEIVED": 1},
        )


class OwnQueue(LinkTest, PathMessageTest):
    """FAN-6: a PE leaves a path that begins with its own congested queue, until the queue has been
    short for the configured time."""

    node_address = PE_ADDRESS
    relief_us = 200_000

    def configure(self) -> None:
        """In addition: a clock that looks at the queue of the first path."""
        super().configure()
        self.tables = self.pe
        self.says_hello = False
        self.watch()
        self.pe.domain_mode("FANTEL", translates="FANTEL")
        self.pe.level_policy(LEVEL, notify=True)
        self.pe.watch_path(
            0,
            CORE_PORT,
            FIRST_PATH_ID,
            cell=11,
            repeat_us=0,
            refresh_us=NEVER_US,
            relief_us=self.relief_us,
        )
        self.start_clock()

    def takes(self, paths: set[int]) -> bool:
        """Whether the flows of the host are on these paths."""
        return set(self.paths_of(SOME_FLOWS)) == paths

    def runTest(self) -> None:
        self.wait_for("both paths", partial(self.takes, {0, 1}))
        self.pe.queue_level(CORE_PORT, LEVEL)
        self.wait_for("the other path", partial(self.takes, {1}))
        self.pe.delete_queue_level(CORE_PORT)
        self.wait_for("both paths again", partial(self.takes, {0, 1}))
