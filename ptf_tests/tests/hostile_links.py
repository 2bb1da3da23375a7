"""What neighbours and tenants send to a node that watches its links."""

from collections.abc import Callable

from scapy.contrib.bfd import BFD
from scapy.layers.inet import IP, UDP

from fcn.packets.fantel import Event
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_in,
)
from fcn.ptf_tests.lib.flow_control import packet
from fcn.ptf_tests.lib.links import BFD_PORT, DOWN, OWN
from fcn.ptf_tests.lib.notifications import LABEL_V4, cnp_v4_frame
from fcn.ptf_tests.lib.packets import Ecn, gre, ip, mpls_udp, routed
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT
from fcn.ptf_tests.lib.watched import WatchedPTest, failure
from fcn.ptf_tests.tests.fantel_icmpv6 import over_icmpv6
from fcn.ptf_tests.tests.nothing_left import RECEIVED, TOLD, NothingLeftTest, affected
from fcn.ptf_tests.tests.udp_and_gre_tunnels import (
    KEY,
    VPN_LABEL,
    GreTest,
    MplsTest,
    TunnelTest,
    VxlanTest,
)

ROUNDS, BURST = 200, 200


class BfdInTunnelTest(TunnelTest):
    """BFD between hosts of a customer, in a tunnel that ends at the address of the PE."""

    def check_bfd(self, outer: Callable[[bytes], bytes]) -> None:
        """It is decapsulated as anything else."""
        datagram = UDP(sport=49152, dport=BFD_PORT) / BFD(sta=DOWN, your_discriminator=OWN)
        for inner in (
            ip(REMOTE_V6, HOST_V6, datagram, nh=17, ttl=255, traffic_class=Ecn.ECT0),
            bytes(IP(src=REMOTE_V4, dst=HOST_V4, ttl=255, tos=Ecn.ECT0) / datagram),
        ):
            with self.subTest(version=inner[0] >> 4):
                self.check_out_of_wan(outer(inner), routed(inner))


class BfdInVxlan(VxlanTest, BfdInTunnelTest):
    """FAN-8: in VXLAN, a customer's BFD is his."""

    def runTest(self) -> None:
        self.check_bfd(self.arriving)


class BfdInGre(GreTest, BfdInTunnelTest):
    """FAN-8: in GRE, a customer's BFD is his."""

    def runTest(self) -> None:
        self.check_bfd(lambda inner: gre(inner, REMOTE_PE, PE_ADDRESS, KEY))


class BfdInMpls(MplsTest, BfdInTunnelTest):
    """FAN-8: in MPLS over UDP, a customer's BFD is his."""

    def runTest(self) -> None:
        self.check_bfd(
            lambda inner: mpls_udp(inner, REMOTE_PE, PE_ADDRESS, (VPN_LABEL,), sport=0xC001)
        )


class SendersHearOverIcmpv6(NothingLeftTest):
    """FAN-3, FAN-4: where nothing is left, a message over ICMPv6 makes a CNP, too; one that names
    no known flow does not."""

    def runTest(self) -> None:
        self.check(CORE_PORT, self.frame(Event.FAILURE, 0, LABEL_V4), events=RECEIVED)
        message = over_icmpv6(Event.FAILURE, FIRST_PATH_ID + 1, 2, affected(LABEL_V4))
        self.check(
            CORE_PORT,
            core_frame_in(message),
            expect={DC_PORT: [cnp_v4_frame()]},
            events=TOLD | {"PATH_NONE_LEFT": 1},
        )
        message = over_icmpv6(Event.FAILURE, FIRST_PATH_ID + 1, 3, affected(LABEL_V4 + 1))
        self.check(CORE_PORT, core_frame_in(message), events=RECEIVED)


class NotBack(WatchedPTest):
    """FAN-5: an alternate that leads back to where the packet came from is none: both ends of a
    link would send it to and fro until its hop limit. A segment that ends here may go back."""

    def runTest(self) -> None:
        self.repair()
        self.take_down()
        self.check(
            CORE_PORT_2,
            core_frame_in(packet(), CORE_PORT_2),
            expect={DC_PORT: [failure(1)]},
            drops={"LINK_DOWN": 1},
            events={"FANTEL_TRIGGERED": 1, "FANTEL_SENT": 1},
        )


class BusyLink(WatchedPTest):
    """FAN-4: a packet that arrives while the clock packet is on its way is a sign of life, although
    it is later than the clock's time."""

    says_hello = True

    def runTest(self) -> None:
        frame = core_frame_in(packet(), CORE_PORT)
        for _ in range(ROUNDS):
            for _ in range(BURST):
                self.send(CORE_PORT, frame)
            self.assertEqual(self.link_changes(), (1, 0))
