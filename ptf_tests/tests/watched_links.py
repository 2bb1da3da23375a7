"""Links whose far end a node watches in its data plane: BFD, and any packet as a sign of life."""

from random import Random
from typing import ClassVar

from scapy.contrib.bfd import BFD
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6

from fcn.contract.constants import CLOCK_ETHER_TYPE
from fcn.ptf_tests.lib.beds import (
    HOST2_MAC,
    HOST2_V6,
    HOST_V6,
    NEIGHBOUR_MAC,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    PeTest,
    PTest,
    core_frame_in,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.links import (
    ADMIN_DOWN,
    BFD_PORT,
    DOWN,
    FAR_END,
    INIT,
    INTERVAL_US,
    OWN,
    THEIRS,
    UP,
    LinkTest,
    hello,
)
from fcn.ptf_tests.lib.packets import ethernet, ip, routed
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT, DC_PORT_2
from fcn.ptf_tests.lib.watched import WatchedPTest
from fcn.ptf_tests.targets.tofino import Tofino

MALFORMED = {"NOTIFICATION_MALFORMED": 1}
UNTRUSTED = {"NOTIFICATION_UNTRUSTED": 1}
RECEIVED = {"HELLO_RECEIVED": 1}
AUTHENTICATION, MULTIPOINT = 0x04, 0x01
STATES = {
    (DOWN, ADMIN_DOWN): DOWN,
    (DOWN, DOWN): INIT,
    (DOWN, INIT): UP,
    (DOWN, UP): DOWN,
    (INIT, ADMIN_DOWN): DOWN,
    (INIT, DOWN): INIT,
    (INIT, INIT): UP,
    (INIT, UP): UP,
    (UP, ADMIN_DOWN): DOWN,
    (UP, DOWN): DOWN,
    (UP, INIT): UP,
    (UP, UP): UP,
}
"""The next state of a session by its own and what the far end says (RFC 5880 section 6.8.6)."""


class WatchedPeTest(LinkTest, PeTest):
    """A PE that watches the link behind CORE_PORT."""

    node_address = PE_ADDRESS

    def configure(self) -> None:
        """The bed of every PE test."""
        super().configure()
        self.tables = self.pe
        self.watch()


class SessionTest(LinkTest):
    """A node and the far end bring a link up by BFD (RFC 5880 section 6.2), and each hears of a
    failure by the other's hello; a link of which nobody spoke is not down."""

    def check_session(self) -> None:
        """The whole of it, with a link of which nothing is known."""
        self.start_clock()
        said = self.next_hello(DOWN)
        self.assertEqual((said.src, said.dst), (NODE_MAC[CORE_PORT], NEIGHBOUR_MAC[CORE_PORT]))
        self.assertEqual((said[IPv6].src, said[IPv6].dst), (self.node_address, FAR_END))
        self.assertEqual((said[IPv6].hlim, said[IPv6].tc, said[IPv6].plen), (255, 0xC0, 32))
        self.assertEqual((said[UDP].dport, said[UDP].len), (BFD_PORT, 32))
        self.assertIn(said[UDP].sport, range(49152, 65536))
        bfd = said[BFD]
        self.assertEqual((bfd.version, bfd.diag, int(bfd.flags)), (1, 0, 0))
        self.assertEqual((bfd.detect_mult, bfd.len), (3, 24))
        self.assertEqual((bfd.my_discriminator, bfd.your_discriminator), (OWN, 0))
        self.assertEqual((bfd.min_tx_interval, bfd.min_rx_interval), (INTERVAL_US,) * 2)
        self.assertEqual(bfd.echo_rx_interval, 0)
        again = said.copy()
        del again[UDP].chksum
        self.assertEqual(bytes(again.__class__(bytes(again))), bytes(said), "UDP checksum")

        self.send(CORE_PORT, hello(DOWN, self.node_address))
        self.assertEqual(self.next_hello(INIT)[BFD].your_discriminator, THEIRS)
        self.assertEqual(self.link_changes(), (0, 0))
        self.send(CORE_PORT, hello(UP, self.node_address, yours=OWN))
        self.next_hello(UP, 0)
        self.assertEqual(self.link_changes(), (1, 0))
        self.send(CORE_PORT, hello(DOWN, self.node_address, yours=OWN))
        # Neighbor Signaled Session Down (RFC 5880 section 6.8.6)
        self.next_hello(DOWN, 3)
        self.assertEqual(self.link_changes(), (1, 1))


class Session(SessionTest, WatchedPeTest):
    """FAN-4: a PE and the far end bring a link up."""

    def runTest(self) -> None:
        self.check_session()


class SessionOfP(SessionTest, PTest):
    """FAN-4: a P and the far end bring a link up."""

    node_address = P_ADDRESS

    def configure(self) -> None:
        """The bed of every P test."""
        super().configure()
        self.tables = self.p
        self.watch()

    def runTest(self) -> None:
        self.check_session()


class SilentLink(WatchedPTest):
    """FAN-4: a link of which nothing is heard for the detection time is down, and is up again only
    when both ends have said that they hear each other."""

    detection_us = 300_000
    says_hello = True

    def runTest(self) -> None:
        self.wait_for("the silence is noticed", lambda: self.link_changes() == (1, 1))
        self.next_hello(DOWN, 1)
        self.send(CORE_PORT, hello(UP, P_ADDRESS, yours=OWN))
        self.send(CORE_PORT, hello(DOWN, P_ADDRESS, yours=OWN))
        self.next_hello(INIT)
        self.send(CORE_PORT, hello(INIT, P_ADDRESS, yours=OWN))
        self.next_hello(UP)
        self.assertEqual(self.link_changes()[0], 2)


class DeadFromTheBeginning(WatchedPeTest):
    """FAN-4: a link that was never heard of is down after 64 detection times."""

    detection_us = 5_000

    def runTest(self) -> None:
        self.start_clock()
        self.wait_for("the silence is noticed", lambda: self.link_changes() == (1, 1))


class ClockStopsAndBegins(WatchedPTest):
    """FAN-4: that nobody looked at a link for a while is no silence of the link."""

    says_hello = True
    detection_us = 5_000_000

    def runTest(self) -> None:
        self.stop_clock()
        while self.receive(CORE_PORT, timeout=self.detection_us / 1e6):
            pass
        self.inject_clock(self.next_token())
        self.wait_for_rounds(1)
        self.assertEqual(self.link_changes(), (1, 0))


class StateMachine(WatchedPTest):
    """FAN-4: the state of a link follows RFC 5880 section 6.8.6 in every case."""

    STEPS: ClassVar[list[tuple[int, tuple[int, int]]]] = [
        (UP, (1, 0)),
        (INIT, (1, 0)),
        (ADMIN_DOWN, (1, 1)),
        (UP, (1, 1)),
        (ADMIN_DOWN, (1, 1)),
        (DOWN, (1, 1)),
        (ADMIN_DOWN, (1, 1)),
        (INIT, (2, 1)),
        (DOWN, (2, 2)),
        (DOWN, (2, 2)),
        (DOWN, (2, 2)),
        (UP, (3, 2)),
    ]

    def runTest(self) -> None:
        for number, (state, changes) in enumerate(self.STEPS):
            with self.subTest(step=number, state=state):
                self.check(CORE_PORT, hello(state, P_ADDRESS, yours=OWN), events=RECEIVED)
                self.assertEqual(self.link_changes(), changes)


class AnyMessages(WatchedPTest):
    """FAN-4, FAN-8: whatever is said, by whomever, in whatever order: the link is as RFC 5880 has
    it (section 6.8.6) by what the neighbour said alone (seed 29)."""

    def runTest(self) -> None:
        random = Random(29)
        state, ups, downs = UP, 1, 0
        for number in range(150):
            said = random.randrange(4)
            yours = random.choice((OWN, OWN, OWN, 0, THEIRS))
            hop_limit = random.choice((255, 255, 255, 254))
            source = random.choice((FAR_END, FAR_END, FAR_END, "fc00:0:2::2"))
            drops = {}
            if hop_limit != 255 or source != FAR_END:
                drops = UNTRUSTED
            elif yours == THEIRS or (yours == 0 and said > DOWN):
                drops = MALFORMED
            frame = hello(said, P_ADDRESS, yours=yours, hop_limit=hop_limit, source=source)
            with self.subTest(number=number, state=state, said=said, drops=drops):
                self.check(CORE_PORT, frame, events=RECEIVED, drops=drops)
                after = state if drops else STATES[state, said]
                ups += after == UP != state
                downs += after != UP == state
                state = after
                self.assertEqual(self.link_changes(), (ups, downs))


class NobodyElseSpeaks(WatchedPTest):
    """FAN-8: only the neighbour on the link, one hop away (RFC 5881 section 5), says how it is;
    what is malformed (RFC 5880 section 6.8.6) is counted and changes nothing."""

    def refused(self, drops: dict[str, int], frame: bytes, port: int = CORE_PORT) -> None:
        """It is counted as this, and the link stays up."""
        self.check(port, frame, events=RECEIVED, drops=drops)
        self.assertEqual(self.link_changes(), (1, 0))

    def runTest(self) -> None:
        self.refused(UNTRUSTED, hello(DOWN, P_ADDRESS, yours=OWN, hop_limit=254))
        self.refused(UNTRUSTED, hello(DOWN, P_ADDRESS, yours=OWN, source="fc00:0:2::2"))
        self.refused(
            UNTRUSTED, hello(DOWN, P_ADDRESS, yours=OWN, port=CORE_PORT_2), port=CORE_PORT_2
        )
        changes: tuple[dict[str, int], ...] = (
            {"version": 0},
            {"version": 2},
            {"len": 23},
            {"len": 25},
            {"flags": AUTHENTICATION},
            {"flags": MULTIPOINT},
            {"detect_mult": 0},
            {"my_discriminator": 0},
        )
        for fields in changes:
            with self.subTest(**fields):
                self.refused(MALFORMED, hello(DOWN, P_ADDRESS, yours=OWN, source=FAR_END, **fields))
        self.refused(MALFORMED, hello(DOWN, P_ADDRESS, yours=OWN + 1))
        # Who says that it hears this node knows its discriminator.
        self.refused(MALFORMED, hello(INIT, P_ADDRESS, yours=0))
        frame = hello(DOWN, P_ADDRESS, yours=OWN)
        for place in (60, 61, 66, 85):
            with self.subTest(place=place):
                changed = bytearray(frame)
                changed[place] ^= 0x01
                self.refused(MALFORMED, bytes(changed))
        for cut in (1, 24):
            with self.subTest(cut=cut):
                self.check(CORE_PORT, frame[:-cut], drops={"BAD_LENGTH": 1})
        longer = UDP(sport=49152, dport=BFD_PORT) / BFD(sta=DOWN, your_discriminator=OWN) / b"more"
        self.refused(MALFORMED, core_frame_in(ip(FAR_END, P_ADDRESS, longer, nh=17, ttl=255)))
        self.take_down()


class TenantsHaveTheirOwn(WatchedPeTest):
    """FAN-8: BFD between hosts of a customer is their traffic and says nothing of the WAN."""

    def runTest(self) -> None:
        self.bring_up()
        datagram = UDP(sport=49152, dport=BFD_PORT) / BFD(sta=DOWN, your_discriminator=OWN)
        between = ip(HOST_V6, HOST2_V6, datagram, nh=17, ttl=255)
        expected = host_frame_out(routed(between), port=DC_PORT_2, host_mac=HOST2_MAC)
        self.check(DC_PORT, host_frame_in(between), expect={DC_PORT_2: [expected]})
        to_node = ip(HOST_V6, PE_ADDRESS, datagram, nh=17, ttl=255)
        self.check(DC_PORT, host_frame_in(to_node), drops={"NO_ROUTE": 1})
        self.assertEqual(self.link_changes(), (1, 0))


class ClockFromOutside(WatchedPTest):
    """FAN-8: a frame of the clock's type that comes from a neighbour is none; of two clock packets
    the older one ends."""

    says_hello = True

    def runTest(self) -> None:
        forged = ethernet(
            (1 << 31).to_bytes(4, "big") + bytes(42),
            src=NEIGHBOUR_MAC[CORE_PORT],
            dst=NODE_MAC[CORE_PORT],
            ether_type=CLOCK_ETHER_TYPE,
        )
        before = self.counts()
        self.send(CORE_PORT, forged)
        self.wait_for(
            "the forged frame is dropped", lambda: self.growth(before).get("drop UNSUPPORTED") == 1
        )
        self.inject_clock(0)
        self.inject_clock(2)
        self.wait_for_rounds(10)
        # The youngest alone is left: a third one of its token would make two.
        self.inject_clock(1)
        self.wait_for_rounds(10)


class HelloWithoutSlot(WatchedPTest):
    """FAN-4: a hello whose slot is taken away while it comes round ends; it is not the clock."""

    says_hello = True

    def runTest(self) -> None:
        if self.target != Tofino.name:
            self.skipTest("only on a chip a hello comes round with the number of its slot")
        # The copy's header (p4src/base/tna/pass_headers.p4): a copy of the clock, of slot 99
        copy = bytes((5, self.enum("NotificationKind")["HELLO"], 0)) + (99).to_bytes(3, "big")
        clock = bytes(12) + CLOCK_ETHER_TYPE.to_bytes(2, "big") + b"\x60" + bytes(39)
        self.packet_out(self.client.pipeline.target.ports.clock, copy + clock)
        self.wait_for_rounds(3)
        self.stop_clock()

        def stands() -> bool:
            rounds = self.rounds()
            self.exchange(DC_PORT)
            return self.rounds() == rounds

        self.wait_for("the clock ends", stands)
