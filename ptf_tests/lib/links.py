"""A node that watches a link, and what the far end says of it (FAN-4; RFC 5880, RFC 5881)."""

from pathlib import Path

from ptf import testutils
from scapy.contrib.bfd import BFD
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

from fcn.contract.constants import architecture_numbers
from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.beds import NEIGHBOUR_MAC, NODE_MAC, core_frame_in
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.entries import NodeTables
from fcn.ptf_tests.lib.packets import ip
from fcn.ptf_tests.lib.ports import CORE_PORT
from fcn.ptf_tests.targets import TARGETS

CLOCK_PORT: int = architecture_numbers("v1model")["CLOCK_PORT"]
CLOCK_RATE = 400
"""Slots per second; tests wait for what the clock does."""
CLOCK_ETHER_TYPE = 0x88B5
BFD_PORT = 3784
ADMIN_DOWN, DOWN, INIT, UP = range(4)
"""State in a BFD control packet (RFC 5880 section 4.1)."""
FAR_END = "fc00:0:2::1"
OWN, THEIRS = 7, 9
"""Discriminators."""
INTERVAL_US = 10_000
NEVER_US = 600_000_000


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
    """Mixed into a bed: the link behind CORE_PORT is watched in slot 0 of the clock."""

    node_address: str
    tables: NodeTables
    detection_us = NEVER_US
    """By default a link goes down only when its far end says so."""

    def watch(self) -> None:
        """Watch the link. The clock does not run yet."""
        self.tables.watch_link(
            0,
            CORE_PORT,
            far_end=(NEIGHBOUR_MAC[CORE_PORT], FAR_END),
            own=(NODE_MAC[CORE_PORT], self.node_address),
            interval_us=INTERVAL_US,
            detection_us=self.detection_us,
            discriminator=OWN,
        )
        self.tables.bfd_session(CORE_PORT, FAR_END, OWN)
        self._token = 0

    def start_clock(self, token: int | None = None) -> None:
        """Let a clock packet go round."""
        address = testutils.test_param_get("grpc_address")
        switch = TARGETS[self.target]({}, address, testutils.test_param_get("device_id"), Path())
        switch.limit_port(CLOCK_PORT, CLOCK_RATE, 16)
        self.inject_clock(self._next_token() if token is None else token)
        self.wait_for("the clock's first round", lambda: self.rounds() > 0)

    def inject_clock(self, token: int) -> None:
        """Put a clock packet into its queue."""
        frame = Ether(type=CLOCK_ETHER_TYPE, src="02:00:00:00:00:01", dst="02:00:00:00:00:01")
        self.packet_out(CLOCK_PORT, bytes(frame) + token.to_bytes(4, "big"))

    def _next_token(self) -> int:
        self._token += 1
        return self._token

    def rounds(self) -> int:
        """Rounds of the clock so far."""
        return read_counter(self.client, "clock_rounds")[0][0]

    def link_changes(self) -> tuple[int, int]:
        """How often the link went up and down."""
        return (
            read_counter(self.client, "links_up")[CORE_PORT][0],
            read_counter(self.client, "links_down")[CORE_PORT][0],
        )

    def say(self, state: int, **fields: int) -> None:
        """The far end says how the link is; the switch knows when this returns."""
        self.exchange(CORE_PORT, hello(state, self.node_address, yours=OWN, **fields))

    def bring_up(self) -> None:
        """The three messages of RFC 5880 section 6.2, from down or from nothing known."""
        ups, downs = self.link_changes()
        self.say(DOWN)
        self.say(INIT)
        self.assertEqual(self.link_changes(), (ups + 1, downs))

    def take_down(self) -> None:
        """The far end does not hear this node any more."""
        ups, downs = self.link_changes()
        self.say(DOWN)
        self.assertEqual(self.link_changes(), (ups, downs + 1))

    def next_hello(self, state: int) -> Ether:
        """The next hello out of CORE_PORT that says this; what else comes is left out."""

        def found() -> Ether | None:
            frame = self.receive(CORE_PORT)
            if frame is None:
                return None
            packet = Ether(frame)
            is_it = BFD in packet and packet[IPv6].dst == FAR_END and packet[BFD].sta == state
            return packet if is_it else None

        return self.wait_for(f"a hello of state {state}", found)
