"""What a P says of the traffic that met failure or congestion, and of the cause (FAN-1, FAN-4)."""

from fcn.contract.profiles import Mode
from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import BufferStatus, Cause, FailureCause, FiveTuple
from fcn.ptf_tests.lib.beds import HOST_V4, P_ADDRESS, P_END_SID, PE_ADDRESS, REMOTE_PE, REMOTE_V4
from fcn.ptf_tests.lib.congestion import from_ingress_pe
from fcn.ptf_tests.lib.flow_control import LABEL, FlowControlTest, packet
from fcn.ptf_tests.lib.links import ADMIN_DOWN, DOWN, NEVER_US, OWN, hello
from fcn.ptf_tests.lib.packets import Ecn, IpFields, gre, mpls_udp, roce, srv6, vxlan
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.watched import CELL, PATH_ID, WatchedPTest, affected, message
from fcn.ptf_tests.tests.congested_paths import LEVEL, CongestedPathTest

OUTER: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
SPORT = 0xC123


def tunnelled() -> dict[str, tuple[bytes, FiveTuple]]:
    """A packet of each kind of tunnel to REMOTE_PE, and what it is called."""
    inner = roce(HOST_V4, REMOTE_V4, 7)
    over_udp = FiveTuple(
        ip_version=6, label=LABEL, protocol=17, src6=PE_ADDRESS, dst6=REMOTE_PE, sport=SPORT
    )
    over_vxlan, over_mpls, over_gre = over_udp.copy(), over_udp.copy(), affected()
    over_vxlan.dport, over_mpls.dport, over_gre.protocol = 4789, 6635, 47
    ends = PE_ADDRESS, REMOTE_PE
    return {
        "srv6": (packet(), affected()),
        "vxlan": (
            vxlan(inner, *ends, 9, sport=SPORT, **OUTER),
            over_vxlan,
        ),
        "mpls": (mpls_udp(inner, *ends, (100,), sport=SPORT, **OUTER), over_mpls),
        "gre": (gre(inner, *ends, 5, **OUTER), over_gre),
    }  # fmt: skip


class NamedByCongestion(CongestedPathTest):
    """FAN-1, FAN-6: the five-tuple is that of an ARN, but for the label, by which the PE knows the
    flow: protocol 0 of a tunnel over SRv6, the ports of UDP directly behind IPv6."""

    repeat_us = 0

    def told(self, datagram: bytes) -> bytes:
        """The message that a packet causes."""
        frames = self.exchange(DC_PORT, from_ingress_pe(datagram)).frames
        # An ARN for the neighbour is shorter.
        return max(frames[DC_PORT], key=len)

    def expected(self, number: int, told: bytes, named: FiveTuple, path_id: int = PATH_ID) -> bytes:
        """The message with that name."""
        # How many packets stand behind it in the queue is the target's business.
        status = BufferStatus(queue=0, level=LEVEL, depth=int.from_bytes(told[-4:], "big"))
        return message(Event.CONGESTION, number, named, status, path_id=path_id)

    def runTest(self) -> None:
        self.congest()
        for number, (kind, (datagram, named)) in enumerate(tunnelled().items(), 1):
            with self.subTest(tunnel=kind):
                told = self.told(datagram)
                self.assertEqual(told, self.expected(number, told, named))
        # A segment that ended here is named as it arrived, so that the PE finds what it sent.
        self.p.core_path(PE_ADDRESS, PATH_ID + 1, CORE_PORT, cell=CELL + 1, interval_us=0, tag=1)
        inner = roce(HOST_V4, REMOTE_V4, 7)
        arrived = srv6(inner, PE_ADDRESS, P_END_SID, (REMOTE_PE,), 1, tag=1, **OUTER)
        told = self.told(arrived)
        named = affected(P_END_SID)
        self.assertEqual(told, self.expected(number + 1, told, named, PATH_ID + 1))


class NamedBesideHolds(FlowControlTest, NamedByCongestion):
    """FAN-1, SRF-6: the same where neighbours hold services."""

    needs = frozenset({Mode.FANTEL, Mode.FLOW_CONTROL})

    def configure(self) -> None:
        """In addition: the hold threshold."""
        super().configure()
        self.p.hold_level(CORE_PORT, "CONGESTED")


class NamedBesideHoldsOfFlows(NamedBesideHolds):
    """FAN-1, SRF-6: the same where they hold flows, for which packets are parsed a second time."""

    mode = "FLOW"


class NamedBesideHoldsOfPriorities(NamedBesideHolds):
    """FAN-1, SRF-6: the same where they hold priorities."""

    mode = "PRIORITY"


class CauseFromTheFarEnd(WatchedPTest):
    """FAN-1: the cause of a failure is what BFD said of it: down, or out of service."""

    def runTest(self) -> None:
        number = 0
        for state, cause in (
            (DOWN, Cause.NEIGHBOR_DOWN),
            (ADMIN_DOWN, Cause.ADMINISTRATIVE),
            (DOWN, Cause.NEIGHBOR_DOWN),
        ):
            with self.subTest(state=state):
                number += 1
                self.p.core_path(
                    PE_ADDRESS, PATH_ID + number, CORE_PORT, cell=CELL + number,
                    interval_us=NEVER_US, tag=number,
                )  # fmt: skip
                self.exchange(CORE_PORT, hello(state, P_ADDRESS, yours=OWN))
                said = message(
                    Event.FAILURE,
                    number,
                    affected(),
                    FailureCause(cause=cause),
                    path_id=PATH_ID + number,
                )
                self.check_lost(packet(tag=number), said)
                self.bring_up()


class CauseIsSilence(WatchedPTest):
    """FAN-1: the cause of the failure of a link of which nothing is heard any more."""

    says_hello = True
    detection_us = 300_000

    def runTest(self) -> None:
        self.wait_for("the silence is noticed", lambda: self.link_changes() == (1, 1))
        said = message(Event.FAILURE, 1, affected(), FailureCause(cause=Cause.NEIGHBOR_SILENT))
        # Hellos leave by the other port.
        frames = self.exchange(DC_PORT, from_ingress_pe(packet())).frames
        self.assertEqual(frames[DC_PORT], [said])
