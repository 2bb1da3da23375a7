"""A PE and a P on the way of a packet call it the same, or both nothing (SRF-6, SRF-7)."""

from fcn.packets.arn import Arn, ArnType
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
)
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, IPPROTO_UDP, LABEL, LONG_US, FlowControlTest
from fcn.ptf_tests.lib.flow_control import SERVICE as FIVE_TUPLE_AND_TIME
from fcn.ptf_tests.lib.packets import Ecn, IpFields, arn, gre, roce, routed, srv6, udp
from fcn.ptf_tests.lib.pe_flow_control import PeFlowControlTest, to_p
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT
from fcn.ptf_tests.lib.tunnels import every_tunnel

SOURCE = "fc00:0:9::1"
"""A node of the domain that is not the one under test."""
OUTER: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
VXLAN_FLAGS = 48
"""Offset in the datagram."""
SRH_NEXT_HEADER = 40
BEHIND_SRH = 64
IPPROTO_GRE = 47
PAYLOAD_LENGTH = slice(4, 6)
IPV6_HEADER = 40
SPORT = 1000
DPORT = 5000


def nameless() -> dict[str, bytes]:
    """Packets whose customer's flow neither kind of node knows."""
    datagrams = {
        "no tunnel": udp(SOURCE, REMOTE_PE, SPORT, DPORT, bytes(40), **OUTER),
        "no tunnel, RoCE": roce(SOURCE, REMOTE_PE, 7),
        "cut in BTH": srv6(udp(HOST_V6, REMOTE_V6, 1, 4791, bytes(2)), SOURCE, REMOTE_PE, **OUTER),
    }
    for inner in (roce(HOST_V4, REMOTE_V4, 7), roce(HOST_V6, REMOTE_V6, 7)):
        version = inner[0] >> 4
        frame = bytearray(every_tunnel(inner, SOURCE, OUTER)["VXLAN"].datagram)
        frame[VXLAN_FLAGS] = 0
        datagrams[f"VXLAN without VNI, IPv{version}"] = bytes(frame)
        one = srv6(inner, SOURCE, REMOTE_PE, (REMOTE_RED_SID,), 0, **OUTER)
        behind = one[:BEHIND_SRH] + gre(inner, SOURCE, REMOTE_PE, 10, **OUTER)[IPV6_HEADER:]
        nested = bytearray(behind)
        nested[SRH_NEXT_HEADER] = IPPROTO_GRE
        nested[PAYLOAD_LENGTH] = (len(nested) - IPV6_HEADER).to_bytes(2, "big")
        datagrams[f"GRE behind an SRH, IPv{version}"] = bytes(nested)
    return datagrams


def check_nameless(test: FcnTest, port: int) -> None:
    """Every one passes the congested queue and causes no message."""
    for what, datagram in nameless().items():
        with test.subTest(what=what):
            test.check(
                port,
                core_frame_in(datagram, port),
                expect={CORE_PORT: [core_frame_out(routed(datagram))]},
                events={"INNER_OPAQUE": 1},
            )


class NamelessAtP(FlowControlTest):
    """SRF-6: a P says nothing false."""

    mode = "FLOW"

    def configure(self) -> None:
        """In addition: a congested queue."""
        super().configure()
        self.p.hold_level(CORE_PORT, "CONGESTED")

    def runTest(self) -> None:
        check_nameless(self, DC_PORT)


class NamelessAtPe(PeFlowControlTest):
    """SRF-6: nor does a PE on the way, whatever packet came before."""

    mode = "FLOW"

    def configure(self) -> None:
        """In addition: a congested queue."""
        super().configure()
        self.pe.hold_level(CORE_PORT, "CONGESTED")

    def runTest(self) -> None:
        check_nameless(self, CORE_PORT_2)


class PeHoldsDatagramsOfNoTunnel(PeFlowControlTest):
    """SRF-7: in mode service, a PE on the way names, holds and releases plain UDP by its ports, as
    a P does; while it waits and when it leaves the upstream neighbour is told."""

    def runTest(self) -> None:
        self.pe.hold_budget(48, mark=2, low=1)
        self.pe.hold_level(CORE_PORT, "RELIEVED")
        held = [udp(SOURCE, REMOTE_PE, SPORT, DPORT, bytes([n]) * 40, **OUTER) for n in range(3)]
        frames = [core_frame_in(datagram, CORE_PORT_2) for datagram in held]
        begun = {"ARN_RECEIVED": 1, "HOLD_BEGUN": 1}
        self.check(CORE_PORT, self.from_p(ArnType.DETECTED), events=begun)
        self.check(CORE_PORT_2, frames[0], events={"HOLD_PARKED": 1})
        self.check(
            CORE_PORT_2,
            *frames[1:],
            expect={CORE_PORT_2: [self.told(ArnType.DETECTED)]},
            events={"HOLD_PARKED": 2, "ARN_TRIGGERED": 1, "ARN_SENT": 1},
        )
        self.send(CORE_PORT, self.from_p(ArnType.ELIMINATED))
        for datagram in held:
            self.assertEqual(self.receive(CORE_PORT), core_frame_out(routed(datagram)))
        self.assertEqual(self.receive(CORE_PORT_2), self.told(ArnType.ELIMINATED))

    def named(self, kind: ArnType, time_us: int) -> Arn:
        """The service of these datagrams."""
        return Arn(
            type=kind, para_type=FIVE_TUPLE_AND_TIME, ip_version=6, protocol=IPPROTO_UDP,
            src6=SOURCE, dst6=REMOTE_PE, sport=SPORT, dport=DPORT, time=time_us,
        )  # fmt: skip

    def from_p(self, kind: ArnType) -> bytes:
        """From the neighbour P."""
        return core_frame_in(arn(P_ADDRESS, PE_ADDRESS, self.named(kind, LONG_US)))

    def told(self, kind: ArnType) -> bytes:
        """To the upstream neighbour."""
        return to_p(self.named(kind, ARN_TIME_US), CORE_PORT_2)
