"""Notifications of every kind pass a node: none is held, and none causes another (ALL-1)."""

from scapy.layers.inet import UDP
from scapy.packet import Raw

from fcn.packets.fantel import (
    FANTEL_HOP_LIMIT,
    FANTEL_ICMPV6_TYPE,
    FANTEL_PORT,
    Event,
    Fantel,
    FantelIcmpv6,
)
from fcn.packets.fantel_tlvs import Origin, PathId
from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    core_frame_in,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.congestion import TRAFFIC_CLASS
from fcn.ptf_tests.lib.end_con import end_con_cnp
from fcn.ptf_tests.lib.entries import NodeTables
from fcn.ptf_tests.lib.flow_control import LABEL, LONG_US, FlowControlTest, priority_arn
from fcn.ptf_tests.lib.packets import IpFields, arn, fast_cnp, ip, routed, srv6, udp
from fcn.ptf_tests.lib.pe_flow_control import PeFlowControlTest
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT

REMOTE_END_CON = "fc00:0:2:c0::"
SENDER = "fc00:0:9::1"
"""Of the notifications: a node that neither PE nor P is a neighbour of."""
PRIORITY = 6
"""Of TRAFFIC_CLASS."""
TENANTS_ICMPV6 = Raw(bytes([FANTEL_ICMPV6_TYPE]) * 16)


def notifications() -> dict[str, bytes]:
    """One of each kind, as a node of the domain sends them to a PE."""
    parameters = [Origin(node=7, link=1, epoch=1, sequence=1), PathId(path_id=5)]
    over_udp = UDP(sport=0xC0DE, dport=FANTEL_PORT) / Fantel(
        event=Event.CONGESTION, parameters=parameters
    )
    over_icmpv6 = FantelIcmpv6(event=Event.CONGESTION, parameters=parameters)
    plain: IpFields = {"ttl": FANTEL_HOP_LIMIT, "traffic_class": TRAFFIC_CLASS, "nh": 17}
    icmpv6: IpFields = {**plain, "nh": 58}
    return {
        "Fast CNP": fast_cnp(SENDER, REMOTE_PE, LABEL, 3, traffic_class=TRAFFIC_CLASS),
        "END.CON, IPv4": end_con_cnp(
            HOST_V4, REMOTE_V4, 0x118, LABEL, sid=REMOTE_END_CON, source=SENDER
        ),
        "END.CON, IPv6": end_con_cnp(
            HOST_V6, REMOTE_V6, 0x118, LABEL, sid=REMOTE_END_CON, source=SENDER
        ),
        "FANTEL, UDP": ip(SENDER, REMOTE_PE, over_udp, **plain),
        "FANTEL, ICMPv6": ip(SENDER, REMOTE_PE, over_icmpv6, **icmpv6),
    }


def lookalikes() -> dict[str, bytes]:
    """What a tenant can send, in his tunnel: it is his traffic."""
    own = {
        "UDP to FANTEL's port": udp(HOST_V6, REMOTE_V6, 0xC0DE, FANTEL_PORT),
        "ICMPv6 type 200": ip(HOST_V6, REMOTE_V6, TENANTS_ICMPV6, nh=58),
        "a notification to END.CON": end_con_cnp(
            HOST_V4, REMOTE_V4, 0x118, LABEL, sid=REMOTE_END_CON, source=HOST_V6
        ),
    }
    return {
        name: srv6(each, SENDER, REMOTE_RED_SID, traffic_class=TRAFFIC_CLASS)
        for name, each in own.items()
    }


class NotificationsPass(FlowControlTest):
    """ALL-1: at a P whose neighbour holds their priority, and in a congested queue. What a tenant
    sends in his tunnel is held whatever it looks like."""

    mode = "PRIORITY"
    event = "HOLD_PARKED"

    def configure(self) -> None:
        """All kinds that a domain uses."""
        super().configure()
        know(self.p)
        if self.mode == "PRIORITY":
            self.hold(priority_arn(time_us=LONG_US, priority=PRIORITY))

    def runTest(self) -> None:
        pass_unharmed(self, DC_PORT)
        self.tenants()

    def tenants(self) -> None:
        """What tenants send is held, or named."""
        for name, datagram in lookalikes().items():
            with self.subTest(tenant=name):
                before = self.counts()
                self.exchange(DC_PORT, core_frame_in(datagram, DC_PORT))
                self.assertEqual(self.growth(before).get(f"event {self.event}"), 1)


class NotificationsNameNoService(NotificationsPass):
    """ALL-1: where neighbours hold services, a congested queue names none of them."""

    mode = "SERVICE"
    event = "ARN_TRIGGERED"

    def configure(self) -> None:
        """Each packet may name its service."""
        super().configure()
        self.p.flow_control_mode(self.mode, 0)


class NotificationsNameNoFlow(NotificationsNameNoService):
    """ALL-1: nor where they hold flows."""

    mode = "FLOW"

    def tenants(self) -> None:
        """Not all of them is UDP, which alone has flows (SRF-6)."""


class NotificationsPassPe(PeFlowControlTest):
    """ALL-1: a PE on their way to another does as a P."""

    mode = "PRIORITY"

    def configure(self) -> None:
        """All kinds that a domain uses; the neighbour holds their priority."""
        super().configure()
        know(self.pe)
        message = arn(P_ADDRESS, PE_ADDRESS, priority_arn(time_us=LONG_US, priority=PRIORITY))
        events = {"ARN_RECEIVED": 1, "HOLD_BEGUN": 1}
        self.check(CORE_PORT, core_frame_in(message), events=events)

    def runTest(self) -> None:
        pass_unharmed(self, CORE_PORT_2)
        for name, datagram in lookalikes().items():
            with self.subTest(tenant=name):
                frame = core_frame_in(datagram, CORE_PORT_2)
                self.check(CORE_PORT_2, frame, events={"HOLD_PARKED": 1})
        customer = ip(HOST_V6, REMOTE_V6, TENANTS_ICMPV6, nh=58, traffic_class=TRAFFIC_CLASS)
        self.check(DC_PORT, host_frame_in(customer), events={"HOLD_PARKED": 1})


def know(tables: NodeTables) -> None:
    """The domain's ports and SIDs, and a congested queue."""
    tables.notification_port()
    tables.notification_port(FANTEL_PORT, "FANTEL")
    tables.notification_sid(REMOTE_END_CON)
    tables.hold_level(CORE_PORT, "CONGESTED")


def pass_unharmed(test: FcnTest, port: int) -> None:
    """Each leaves as it came, and causes nothing."""
    for name, datagram in notifications().items():
        with test.subTest(kind=name):
            expect = {CORE_PORT: [core_frame_out(routed(datagram))]}
            test.check(port, core_frame_in(datagram, port), expect=expect)
