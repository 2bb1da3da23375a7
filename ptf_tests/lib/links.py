"""A node that watches a link, and what the far end says of it (FAN-4; RFC 5880, RFC 5881)."""

from ptf import testutils
from scapy.contrib.bfd import BFD
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from fcn.contract.link_clock import clock_packet
from fcn.contract.names import BFD_TABLES
from fcn.contract.profiles import Mode
from fcn.contract.targets import V1MODEL
from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.beds import NEIGHBOUR_MAC, NODE_MAC, core_frame_in
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.entries import NodeTables
from fcn.ptf_tests.lib.packets import ip
from fcn.ptf_tests.lib.ports import CORE_PORT
from fcn.ptf_tests.targets import TARGETS
from fcn.ptf_tests.targets.tofino import Tofino

CLOCK_RATE = 400
"""Slots per second; tests wait for what the clock does."""
BFD_PORT = 3784
ADMIN_DOWN, DOWN, INIT, UP = range(4)
"""State in a BFD control packet (RFC 5880 section 4.1)."""
FAR_END = "fc00:0:2::1"
OWN, THEIRS = 7, 9
"""Discriminators."""
INTERVAL_US = 10_000
NEVER_US = 500_000_000
LAST_TOKEN = 1 << 20


def hello(
    state: int,
    node: str,
    *,
    yours: int = 0,
    source: str = FAR_END,
    hop_limit: int = 255,
    port: int = CORE_PORT,
    **fields: int,
) -> bytes:
    """A frame in which the far end of a link says how it is."""
    values = {"my_discriminator": THEIRS, "your_discriminator": yours} | fields
    datagram = UDP(sport=49152, dport=BFD_PORT) / BFD(sta=state, **values)
    return core_frame_in(ip(source, node, datagram, nh=17, ttl=hop_limit), port)


class LinkTest(FcnTest):
    """Mixed into a bed: the link behind `port` is watched in slot 0 of the clock."""

    needs = frozenset({Mode.FANTEL})

    port = CORE_PORT
    node_address: str
    tables: NodeTables
    says_hello = True
    """Otherwise the clock does not come to the link, and only its far end speaks."""
    interval_us = INTERVAL_US
    """After which a quiet link that is up carries a hello."""
    rate_kbps = 0
    """Of the link; by default its utilization is not measured."""
    detection_us = NEVER_US
    """By default a link goes down only when its far end says so."""

    @property
    def watches(self) -> bool:
        """Whether the program watches links: that of Tofino 1 says what is congested only."""
        return self.client.pipeline.has_tables(BFD_TABLES)

    def watch(self) -> None:
        """Watch the link. The clock does not run yet."""
        self._token = 0
        if not self.watches:
            return
        self.tables.bfd_session(self.port, FAR_END, OWN)
        if not self.says_hello:
            return
        self.tables.watch_link(
            0,
            self.port,
            far_end=(NEIGHBOUR_MAC[self.port], FAR_END),
            own=(NODE_MAC[self.port], self.node_address),
            interval_us=self.interval_us,
            detection_us=self.detection_us,
            discriminator=OWN,
            rate_kbps=self.rate_kbps,
        )

    def start_clock(self) -> None:
        """Let a clock packet go round."""
        # A chip's clock has its rate from the driver.
        if self.target != Tofino.name:
            address, port = testutils.test_param_get("grpc_address"), V1MODEL.ports.clock
            TARGETS[self.target].set_queue(address, port, CLOCK_RATE)
        self.addCleanup(self.stop_clock)
        self.inject_clock(self.next_token())
        self.wait_for("the clock's first round", lambda: self.rounds() > 0)

    def inject_clock(self, token: int, *, is_last: bool = False) -> None:
        """Put a clock packet into its queue."""
        port = self.client.pipeline.target.ports.clock
        self.packet_out(port, clock_packet(token, is_last=is_last))

    def stop_clock(self) -> None:
        """No clock packet is left: BMv2 takes the next test's program only then."""
        self._token = LAST_TOKEN if self._token < LAST_TOKEN else self._token + 1
        self.inject_clock(self._token, is_last=True)

    def next_token(self) -> int:
        """Of a younger clock packet."""
        self._token += 1
        return self._token

    def rounds(self) -> int:
        return read_counter(self.client, "clock_rounds", 0)[0][0]

    def wait_for_rounds(self, count: int) -> None:
        """Let the clock go so many more rounds."""
        before = self.rounds()
        self.wait_for("the clock goes on", lambda: self.rounds() > before + count)

    def link_changes(self) -> tuple[int, int]:
        return (
            read_counter(self.client, "links_up", self.port)[self.port][0],
            read_counter(self.client, "links_down", self.port)[self.port][0],
        )

    def bring_up(self) -> None:
        """The messages of RFC 5880 section 6.2, from down or from nothing known."""
        if not self.watches:
            return
        ups, downs = self.link_changes()
        self._say(DOWN)
        self._say(INIT)
        self.wait_for("the link comes up", lambda: self.link_changes() == (ups + 1, downs))

    def fall_silent(self) -> None:
        """The far end says that it is up, so that no hello goes there before one is due."""
        self._say(UP)

    def take_down(self) -> None:
        """The far end does not hear this node any more."""
        ups, downs = self.link_changes()
        self._say(DOWN)
        self.wait_for("the link goes down", lambda: self.link_changes() == (ups, downs + 1))

    def _say(self, state: int) -> None:
        self.send(self.port, hello(state, self.node_address, yours=OWN, port=self.port))

    def next_hello(self, state: int, diagnostic: int | None = None) -> Ether:
        """The next hello out of `port` that says this; others are left out. A busy BMv2 sends
        hellos in another order than it made them in.
        """
        said = (state,) if diagnostic is None else (state, diagnostic)

        def found() -> Ether | None:
            frame = self.receive(self.port)
            if frame is None:
                return None
            packet = Ether(frame)
            if BFD not in packet or packet[IPv6].dst != FAR_END:
                return None
            bfd = packet[BFD]
            return packet if (bfd.sta, bfd.diag)[: len(said)] == said else None

        return self.wait_for(f"a hello of state {said}", found)
