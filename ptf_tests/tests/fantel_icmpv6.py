"""FANTEL messages over ICMPv6, received by an ingress PE and sent by a P (FAN-3)."""

from scapy.layers.inet6 import ICMPv6EchoRequest
from scapy.packet import Raw

from fcn.packets.fantel import FANTEL_HOP_LIMIT, FANTEL_ICMPV6_TYPE, Event, FantelIcmpv6
from fcn.packets.fantel_tlvs import FailureCause, Origin, PathId, Tlv
from fcn.ptf_tests.lib.beds import (
    HOST2_MAC,
    HOST2_V6,
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.flow_control import packet
from fcn.ptf_tests.lib.packets import ip, routed
from fcn.ptf_tests.lib.path_messages import LINKS, PathMessageTest
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2
from fcn.ptf_tests.lib.watched import EPOCH, FAR_END_DOWN, NODE, PATH_ID, WatchedPTest, affected
from fcn.ptf_tests.tests.path_notifications import EXTRA, RECEIVED, V6_TUPLE
from fcn.ptf_tests.tests.paths import SOME_FLOWS

NUMBER = 58
TYPE, CODE, CHECKSUM, EVENT, VERSION, RESERVED = 0, 1, 2, 4, 5, 6
"""Octets of the message."""


def over_icmpv6(
    event: int, path_id: int, sequence: int, *parameters: Tlv, code: int | None = None
) -> bytes:
    """An IPv6 packet with a message of the first link about a path."""
    link = LINKS[0]
    origin = Origin(node=link.node, link=link.port, epoch=1, sequence=sequence)
    tlvs = [origin, PathId(path_id=path_id), *parameters]
    return carried(FantelIcmpv6(event=event, code=code, parameters=tlvs))


def carried(message: FantelIcmpv6 | bytes) -> bytes:
    """An IPv6 packet with this for the PE."""
    payload = Raw(message) if isinstance(message, bytes) else message
    return ip(P_ADDRESS, PE_ADDRESS, payload, nh=NUMBER, ttl=FANTEL_HOP_LIMIT)


class EveryParameterOverIcmpv6(PathMessageTest):
    """FAN-1, FAN-3: the form over ICMPv6 says the same, whatever parameters it has."""

    def runTest(self) -> None:
        for number, extra in enumerate(EXTRA):
            with self.subTest(extra=[tlv.name for tlv in extra]):
                for sequence, (event, left) in enumerate(
                    ((Event.FAILURE, {1}), (Event.FAILURE_CLEARED, {0, 1})), 2 * number + 1
                ):
                    message = over_icmpv6(event, FIRST_PATH_ID, sequence, *extra)
                    self.check(CORE_PORT, core_frame_in(message), events=RECEIVED)
                    self.assertEqual(set(self.paths_of(SOME_FLOWS)), left)


class MalformedOverIcmpv6(PathMessageTest):
    """FAN-8: what is changed, cut off or added is counted, and moves no path."""

    def refused(self, datagram: bytes) -> None:
        """It is malformed."""
        before = self.counts()
        self.exchange(CORE_PORT, core_frame_in(datagram))
        grown = self.growth(before)
        grown.pop("event FANTEL_RECEIVED", None)
        self.assertIn(
            grown, [{f"drop {reason}": 1} for reason in ("NOTIFICATION_MALFORMED", "MALFORMED")]
        )

    def runTest(self) -> None:
        good = over_icmpv6(Event.FAILURE, FIRST_PATH_ID, 1, V6_TUPLE, FailureCause())
        whole = good[40:]
        for at in (CODE, CHECKSUM, EVENT, VERSION, RESERVED, 8, 20, 28, 40, len(whole) - 1):
            for bit in (0x01, 0x80):
                with self.subTest(at=at, bit=bit):
                    changed = bytearray(good)
                    changed[40 + at] ^= bit
                    self.refused(bytes(changed))
        for length in range(8, len(whole), 4):
            with self.subTest(length=length):
                shorter = FantelIcmpv6(whole[:length])
                del shorter.cksum
                self.refused(carried(bytes(carried(shorter))[40:]))
        for change in ({"version": 1}, {"code": 0x83}):
            with self.subTest(**change):
                origin = Origin(node=7, link=1, epoch=1, sequence=1)
                tlvs = [origin, PathId(path_id=FIRST_PATH_ID)]
                self.refused(carried(FantelIcmpv6(parameters=tlvs, **change)))
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})
        self.check(CORE_PORT, core_frame_in(good), events=RECEIVED)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})


class OtherIcmpv6(PathMessageTest):
    """FAN-3: other ICMPv6 for the PE goes to the controller as ever; of a tenant, the same type is
    his traffic, and says nothing."""

    def runTest(self) -> None:
        ping = ip(P_ADDRESS, PE_ADDRESS, ICMPv6EchoRequest(id=1, seq=1), nh=NUMBER)
        frame = core_frame_in(ping)
        self.check(CORE_PORT, frame, punts=[("UNDERLAY_LOCAL", frame)])
        message = over_icmpv6(Event.FAILURE, FIRST_PATH_ID, 1)
        between = ip(HOST_V6, HOST2_V6, Raw(message[40:]), nh=NUMBER)
        expected = host_frame_out(routed(between), port=DC_PORT_2, host_mac=HOST2_MAC)
        self.check(DC_PORT, host_frame_in(between), expect={DC_PORT_2: [expected]})
        for length in (1, 7):
            with self.subTest(length=length):
                short = ip(HOST_V6, HOST2_V6, Raw(message[40 : 40 + length]), nh=NUMBER)
                expected = host_frame_out(routed(short), port=DC_PORT_2, host_mac=HOST2_MAC)
                self.check(DC_PORT, host_frame_in(short), expect={DC_PORT_2: [expected]})
        to_node = ip(HOST_V6, PE_ADDRESS, Raw(message[40:]), nh=NUMBER)
        self.check(DC_PORT, host_frame_in(to_node), drops={"NO_ROUTE": 1})
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class SentOverIcmpv6(WatchedPTest):
    """FAN-3: a P sends the form over ICMPv6 where it is told to: experimental type 200 (RFC 4443),
    the draft's type in the first octet of its body."""

    def runTest(self) -> None:
        self.p.fantel_profile(P_ADDRESS, node=NODE.node, epoch=EPOCH, over_icmpv6=True)
        self.take_down()
        origin = Origin(node=NODE.node, link=NODE.port, epoch=EPOCH, sequence=1)
        tlvs = [origin, PathId(path_id=PATH_ID), affected(), FAR_END_DOWN]
        message = FantelIcmpv6(event=Event.FAILURE, parameters=tlvs)
        datagram = ip(P_ADDRESS, PE_ADDRESS, message, nh=NUMBER, ttl=255, traffic_class=48 << 2)
        self.assertEqual(datagram[40], FANTEL_ICMPV6_TYPE)
        self.check_lost(packet(), core_frame_out(datagram, DC_PORT))
