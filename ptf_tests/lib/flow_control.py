"""A P under precise flow control, and the messages and packets of its tests (SRF-5 to SRF-8)."""

from fcn.contract.profiles import Mode
from fcn.packets.arn import Arn, ArnType, Parameter
from fcn.packets.roce import ROCEV2_PORT
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    NEIGHBOUR_MAC,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    PTest,
    core_frame_in,
    core_frame_out,
)
from fcn.ptf_tests.lib.packets import Ecn, arn, datagram_of, roce, routed, srv6
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT, DC_PORT_2
from fcn.ptf_tests.lib.tunnels import customer_label

LABEL = 0x8CAFE
OTHER_SERVICE = REMOTE_RED_SID
"""A service that packet() does not belong to, through the same port."""
NEIGHBOUR = {
    DC_PORT: "fc00:0:1::1",
    DC_PORT_2: "fc00:0:3::1",
    CORE_PORT: "fc00:0:2::1",
    CORE_PORT_2: "fc00:0:20::1",
}
"""Underlay address of the neighbour on each port."""
ARN_TIME_US = 700
LONG_US = 30_000_000
"""A hold that outlives every test which ends it another way."""
BUDGET = 48
"""Packets, below the depth of any target's queue."""
ANY_PROTOCOL = 0
"""Of a service over SRv6, whatever its customers' packets are."""
IPPROTO_UDP = 17
SERVICE = Parameter.FIVE_TUPLE | Parameter.TIME
PRIORITY = Parameter.PRIORITY | Parameter.TIME


def packet(
    psn: int = 1, *, label: int = LABEL, dst: str = REMOTE_PE, dscp: int = 0, tag: int = 0
) -> bytes:
    """A tunnelled RoCE packet; `psn` tells packets apart. With a tag it has an SRH."""
    inner = roce(HOST_V4, REMOTE_V4, 0x118, psn=psn)
    segments = [dst] if tag else []
    traffic_class = dscp << 2 | Ecn.ECT0
    return srv6(
        inner, PE_ADDRESS, dst, segments, tag=tag, flow_label=label, traffic_class=traffic_class
    )


def packets(
    count: int, first: int = 1, *, label: int = LABEL, dst: str = REMOTE_PE, dscp: int = 0
) -> list[bytes]:
    """Packets of one flow, in order."""
    return [packet(first + i, label=label, dst=dst, dscp=dscp) for i in range(count)]


def services(count: int) -> list[str]:
    """The ends of the tunnels of as many services, all through CORE_PORT."""
    return [f"fc00:0:2:{0x1000 + number:x}::" for number in range(count)]


def frames_in(datagrams: list[bytes], port: int = DC_PORT) -> list[bytes]:
    """As they arrive at the P."""
    return [core_frame_in(datagram, port) for datagram in datagrams]


def frames_out(datagrams: list[bytes], port: int = CORE_PORT) -> list[bytes]:
    """As they leave the P."""
    return [core_frame_out(routed(datagram), port) for datagram in datagrams]


def service_arn(
    kind: ArnType = ArnType.DETECTED,
    time_us: int = LONG_US,
    *,
    src: str = PE_ADDRESS,
    dst: str = REMOTE_PE,
    para_type: int = SERVICE,
) -> Arn:
    """An ARN about the service of packet()."""
    return Arn(
        type=kind, para_type=para_type, ip_version=6, protocol=ANY_PROTOCOL,
        src6=src, dst6=dst, time=time_us,
    )  # fmt: skip


def flow_arn(
    kind: ArnType = ArnType.DETECTED,
    time_us: int = LONG_US,
    *,
    src: str = HOST_V4,
    dst: str = REMOTE_V4,
    sport: int = 0xC001,
    dport: int = ROCEV2_PORT,
    customer: int = customer_label(REMOTE_PE),
    protocol: int = IPPROTO_UDP,
) -> Arn:
    """An ARN about the flow of packet(); customer: its customer_label()."""
    addresses = {"src6": src, "dst6": dst} if ":" in src else {"src4": src, "dst4": dst}
    return Arn(
        type=kind, para_type=SERVICE, ip_version=6 if ":" in src else 4, label=customer,
        protocol=protocol, sport=sport, dport=dport, time=time_us, **addresses,
    )  # fmt: skip


def priority_arn(
    kind: ArnType = ArnType.DETECTED, time_us: int = LONG_US, priority: int = 3
) -> Arn:
    """An ARN about a priority."""
    return Arn(type=kind, para_type=PRIORITY, priority=priority, time=time_us)


def arn_in(message: Arn | bytes, port: int = CORE_PORT, *, ttl: int = 255) -> bytes:
    """The ARN of the neighbour on a port, as it arrives."""
    return core_frame_in(arn(NEIGHBOUR[port], P_ADDRESS, message, ttl=ttl), port)


def arn_out(message: Arn, port: int = DC_PORT) -> bytes:
    """The ARN this node sends to the neighbour on a port."""
    return core_frame_out(arn(P_ADDRESS, NEIGHBOUR[port], message, traffic_class=48 << 2), port)


class FlowControlTest(PTest):
    """A P whose core ports all have a neighbour; `mode` is a member of FlowControl."""

    needs = frozenset({Mode.FLOW_CONTROL})

    mode = "SERVICE"
    refresh_us = LONG_US

    def configure(self) -> None:
        """Flow control on, a budget, no queue is congested."""
        super().configure()
        p = self.p
        p.flow_control(self.mode, self.refresh_us)
        p.arn_profile(ARN_TIME_US)
        if self.holds:
            p.hold_budget(BUDGET)
        for port, address in NEIGHBOUR.items():
            if self.holds:
                p.arn_neighbor(port, address)
            p.arn_upstream(port, NODE_MAC[port], NEIGHBOUR_MAC[port], P_ADDRESS, address)

    @property
    def holds(self) -> bool:
        """Whether the program holds traffic itself: that of a chip asks its neighbours only."""
        return self.client.pipeline.has_tables({"hold_budget"})

    def hold(self, message: Arn, port: int = CORE_PORT, event: str = "BEGUN") -> None:
        """The neighbour on a port sends an ARN that is obeyed."""
        events = {"ARN_RECEIVED": 1, f"HOLD_{event}": 1}
        self.check(port, arn_in(message, port), events=events)

    def park(self, datagrams: list[bytes]) -> None:
        """Send packets that are all held."""
        events = {"HOLD_PARKED": len(datagrams)}
        self.check(DC_PORT, *frames_in(datagrams), events=events)

    def release(self, datagrams: list[bytes], message: Arn) -> None:
        """The neighbour sends an ARN after which exactly these packets leave, in this order."""
        self.send(CORE_PORT, arn_in(message))
        self.arrive(datagrams)

    def arrive(self, datagrams: list[bytes], port: int = CORE_PORT) -> None:
        """Wait until exactly these packets leave, in this order."""
        for index, expected in enumerate(frames_out(datagrams, port)):
            frame = self.receive(port)
            self.assertIsNotNone(frame, f"packet {index} of {len(datagrams)} did not leave")
            if frame is not None:
                self.assertEqual(datagram_of(frame).hex(), datagram_of(expected).hex(), str(index))
