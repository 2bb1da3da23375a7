"""Flow control by the five-tuple inside the tunnel (SRF-5 to SRF-7)."""

from fcn.packets.arn import Arn, ArnType
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    P_END_SID,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_REMOTE,
    core_frame_in,
    core_frame_out,
)
from fcn.ptf_tests.lib.flow_control import (
    ARN_TIME_US,
    LABEL,
    FlowControlTest,
    arn_in,
    arn_out,
    flow_arn,
    frames_in,
    frames_out,
    priority_arn,
    service_arn,
)
from fcn.ptf_tests.lib.packets import (
    IPV6_HEADER,
    Ecn,
    IpFields,
    ip,
    roce,
    routed,
    srv6,
    udp,
    with_total_length,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.tunnels import customer_label, every_tunnel

END = ArnType.ELIMINATED
OUTER: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
DETECTED = {"ARN_TRIGGERED": 1, "ARN_SENT": 1}
RED = customer_label(REMOTE_RED_SID)
JUMBO = 8_700
"""Octets of payload: with all headers just below the MTU of the interfaces."""
OTHER_PORT = 5000
OTHER_SIDS = ("fc00:0:2:d47::", "fc00:0:2:47::", "fc00:0:2:146::", "fc00:0:2:46::1")
"""Of other customers, who may use the same addresses."""


def packets(
    count: int,
    first: int = 1,
    *,
    sid: str = REMOTE_RED_SID,
    sport: int = 0xC001,
    hosts: tuple[str, str] = TO_REMOTE[0],
) -> list[bytes]:
    """Packets of one flow of a customer, in order; all flows have one outer label."""
    return [
        srv6(roce(*hosts, 0x118, psn=psn, sport=sport), PE_ADDRESS, sid, **OUTER)
        for psn in range(first, first + count)
    ]


def hidden() -> dict[str, bytes]:
    """Packets whose tunnel does not show a whole UDP header, or BTH where the port says so."""
    fragment = roce(HOST_V4, REMOTE_V4, 0x118, flags="MF")
    options = bytearray(udp(HOST_V4, REMOTE_V4, 1, 2))
    options[0] = 0x46
    whole = srv6(roce(HOST_V6, REMOTE_V6, 0x118), PE_ADDRESS, REMOTE_RED_SID, **OUTER)
    version = bytearray(whole)
    version[IPV6_HEADER] ^= 0x10
    short = [with_total_length(roce(HOST_V4, REMOTE_V4, 0x118), octets) for octets in (15, 19)]
    esp: IpFields = {"nh": 50}
    return {
        "TCP": srv6(ip(HOST_V4, REMOTE_V4, bytes(20), proto=6), PE_ADDRESS, REMOTE_PE, **OUTER),
        "fragment": srv6(fragment, PE_ADDRESS, REMOTE_PE, **OUTER),
        "options": srv6(bytes(options), PE_ADDRESS, REMOTE_PE, **OUTER),
        "another version": bytes(version),
        **{f"IPv4 {i}": srv6(each, PE_ADDRESS, REMOTE_PE, **OUTER) for i, each in enumerate(short)},
        "encrypted": ip(PE_ADDRESS, REMOTE_PE, bytes(80), **OUTER | esp),
        "six segments": srv6(
            roce(HOST_V6, REMOTE_V6, 7), PE_ADDRESS, REMOTE_PE, ("fc00::1",) * 6, 3, **OUTER
        ),
        **{
            f"cut at {length}": whole[:4] + (length - 40).to_bytes(2, "big") + whole[6:length]
            for length in (40, 47, 79, 80, 87, 88, 99)
        },
    }


class FlowControlOfFlows(FlowControlTest):
    """A P in mode flow."""

    mode = "FLOW"


class FlowIsNamed(FlowControlOfFlows):
    """SRF-5, SRF-6: every octet of the ARN about a flow, for every tunnel, IPv4 and IPv6; the
    packet itself goes on, and is counted once."""

    def configure(self) -> None:
        """In addition: a congested queue."""
        super().configure()
        self.p.hold_level(CORE_PORT, "CONGESTED")

    def runTest(self) -> None:
        port = 0xC001
        for src, dst in TO_REMOTE:
            for name in every_tunnel(roce(src, dst, 7), PE_ADDRESS, OUTER):
                # Every one another flow
                port += 1
                inner = roce(src, dst, 7, sport=port)
                tunnel = every_tunnel(inner, PE_ADDRESS, OUTER)[name]
                named = flow_arn(
                    time_us=ARN_TIME_US, src=src, dst=dst, sport=port, customer=tunnel.customer
                )
                with self.subTest(tunnel=name, src=src):
                    self.check_forwarded(tunnel.datagram, back=[arn_out(named)], events=DETECTED)


class FlowIsNamedAlikeOnItsWay(FlowControlOfFlows):
    """SRF-7: what a neighbour downstream of an End SID names, its packets have upstream too."""

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 7)
        arrived = srv6(inner, PE_ADDRESS, P_END_SID, (REMOTE_RED_SID,), 1, **OUTER)
        left = core_frame_out(
            routed(srv6(inner, PE_ADDRESS, REMOTE_RED_SID, (REMOTE_RED_SID,), 0, **OUTER))
        )
        self.hold(flow_arn(customer=RED))
        frame = core_frame_in(arrived, DC_PORT)
        self.check(DC_PORT, frame, events={"HOLD_PARKED": 1})
        self.send(CORE_PORT, arn_in(flow_arn(END, customer=RED)))
        self.assertEqual(self.receive(CORE_PORT), left)
        self.p.hold_level(CORE_PORT, "CONGESTED")
        named = arn_out(flow_arn(time_us=ARN_TIME_US, customer=RED))
        self.check(DC_PORT, frame, expect={CORE_PORT: [left], DC_PORT: [named]}, events=DETECTED)


class FlowIsHeldAndReleased(FlowControlOfFlows):
    """SRF-6, SRF-7: exactly the named flow waits, and leaves in its order with all its octets;
    flows with other ports or addresses, and the same of another customer, do not wait."""

    def runTest(self) -> None:
        for hosts in TO_REMOTE:
            src, dst = hosts
            self.hold(flow_arn(src=src, dst=dst, customer=RED))
            held = packets(20, hosts=hosts)
            self.park(held)
            others = [
                packets(3, sport=0xC002, hosts=hosts),
                *(packets(3, sid=sid, hosts=hosts) for sid in OTHER_SIDS),
                packets(3, hosts=(dst, src)),
            ]
            for other in others:
                self.check(DC_PORT, *frames_in(other), expect={CORE_PORT: frames_out(other)})
            self.park(packets(12, 21, hosts=hosts))
            over = flow_arn(END, src=src, dst=dst, customer=RED)
            self.release([*held, *packets(12, 21, hosts=hosts)], over)
            after = packets(5, 100, hosts=hosts)
            self.check(DC_PORT, *frames_in(after), expect={CORE_PORT: frames_out(after)})


class EveryTunnelIsHeld(FlowControlOfFlows):
    """SRF-7: whatever the tunnel and the size, packets come out as if they had not waited."""

    def runTest(self) -> None:
        for payload in (4, JUMBO):
            inner = udp(HOST_V6, REMOTE_V6, 0xC001, OTHER_PORT, bytes(payload))
            for name, tunnel in every_tunnel(inner, PE_ADDRESS, OUTER).items():
                with self.subTest(tunnel=name, payload=payload):
                    begin, end = (
                        flow_arn(
                            kind,
                            src=HOST_V6,
                            dst=REMOTE_V6,
                            dport=OTHER_PORT,
                            customer=tunnel.customer,
                        )
                        for kind in (ArnType.DETECTED, END)
                    )
                    self.hold(begin)
                    self.park([tunnel.datagram] * 2)
                    self.release([tunnel.datagram] * 2, end)


class HiddenFlowsAreNotNamed(FlowControlOfFlows):
    """SRF-6: of what a tunnel hides nothing false is said and nothing held: it passes, and
    congestion about it is counted."""

    def runTest(self) -> None:
        self.hold(flow_arn(customer=RED))
        for congested in (False, True):
            if congested:
                self.p.hold_level(CORE_PORT, "CONGESTED")
            for what, datagram in hidden().items():
                with self.subTest(what=what):
                    self.check_forwarded(datagram, events={"INNER_OPAQUE": 1} if congested else {})


class OtherArnsAreRefused(FlowControlOfFlows):
    """SRF-6: what this domain cannot hold takes no cell: other protocols, services, priorities."""

    def runTest(self) -> None:
        self.refuse(flow_arn(protocol=6), service_arn(), priority_arn())
        self.refuse(
            *(
                bytes([kind, 0, 0, 9]) + (version << 28 | 17).to_bytes(4, "big") + bytes(4)
                for version in (0, 5, 7, 15)
                for kind in (1, 2)
            )
        )
        self.p.flow_control_mode("SERVICE")
        self.refuse(flow_arn(), priority_arn())
        self.p.flow_control_mode("PRIORITY")
        self.refuse(flow_arn(), service_arn(), priority_arn(priority=8), priority_arn(END, 0, 9))

    def refuse(self, *messages: Arn | bytes) -> None:
        """All are dropped and counted."""
        frames = [arn_in(message) for message in messages]
        self.check(
            CORE_PORT,
            *frames,
            drops={"ARN_UNSUPPORTED": len(frames)},
            events={"ARN_RECEIVED": len(frames)},
        )


class BudgetOfFlows(FlowControlOfFlows):
    """SRF-7: at the mark the upstream neighbour is asked to hold the flow that waits."""

    def runTest(self) -> None:
        self.p.hold_budget(10, mark=5, low=2)
        self.hold(flow_arn(customer=RED))
        self.park(packets(4))
        self.check(
            DC_PORT,
            frames_in(packets(1, 5))[0],
            expect={DC_PORT: [arn_out(flow_arn(time_us=ARN_TIME_US, customer=RED))]},
            events={"HOLD_PARKED": 1, **DETECTED},
        )
        self.p.hold_level(CORE_PORT, "RELIEVED")
        self.release(packets(5), flow_arn(END, customer=RED))
        over = arn_out(flow_arn(END, ARN_TIME_US, customer=RED))
        self.assertEqual(self.receive(DC_PORT), over)


class PortsCountOnce(FlowControlOfFlows):
    """SRF-6: a packet that is parsed twice has arrived once."""

    def runTest(self) -> None:
        counted = [self.counted(packets(count)) for count in (1, 6)]
        self.assertEqual(counted[1] - counted[0], 5)

    def counted(self, datagrams: list[bytes]) -> int:
        """How many more frames have arrived after these and the marker of their end."""
        before = self.port_counter("port_rx", DC_PORT)[0]
        self.check(DC_PORT, *frames_in(datagrams), expect={CORE_PORT: frames_out(datagrams)})
        return self.port_counter("port_rx", DC_PORT)[0] - before
