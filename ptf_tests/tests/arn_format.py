"""What a congested node tells its upstream neighbour (SRF-5 to SRF-7)."""

import finsy as fy

from fcn.packets.arn import ArnType
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    P_END_SID,
    PE_ADDRESS,
    REMOTE_PE,
    REMOTE_V4,
    core_frame_in,
)
from fcn.ptf_tests.lib.flow_control import (
    ARN_TIME_US,
    LABEL,
    OTHER_SERVICE,
    FlowControlTest,
    arn_out,
    frames_in,
    frames_out,
    packet,
    packets,
    priority_arn,
    service_arn,
    services,
)
from fcn.ptf_tests.lib.packets import (
    Ecn,
    IpFields,
    datagram_of,
    fast_cnp,
    roce,
    routed,
    srv6,
    udp_checksum_valid,
    vxlan,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2

DETECTED = {"ARN_TRIGGERED": 1, "ARN_SENT": 1}


class CongestedFlowControlTest(FlowControlTest):
    """Every packet towards the egress PE meets a queue beyond the hold threshold."""

    def configure(self) -> None:
        """In addition to the bed: the queue."""
        super().configure()
        self.p.hold_level(CORE_PORT, "CONGESTED")


class ServiceIsNamed(CongestedFlowControlTest):
    """SRF-5: every octet of the ARN about a service, out of the port its packets come from; their
    flow label is no part of it."""

    def runTest(self) -> None:
        for port, label, dst in (
            (DC_PORT, LABEL, REMOTE_PE),
            (DC_PORT_2, 0x12345, REMOTE_PE),
            (DC_PORT, 0xFFFFF, OTHER_SERVICE),
        ):
            with self.subTest(port=port, label=hex(label), dst=dst):
                datagram = packet(label=label, dst=dst)
                expected = arn_out(service_arn(time_us=ARN_TIME_US, dst=dst), port)
                self.assertTrue(udp_checksum_valid(datagram_of(expected)))
                self.check(
                    port,
                    core_frame_in(datagram, port),
                    expect={CORE_PORT: frames_out([datagram]), port: [expected]},
                    events=DETECTED,
                )


class PortsNameAServiceOverUdp(CongestedFlowControlTest):
    """SRF-5: a tunnel over UDP is named by its ports, and not by its flow label."""

    def runTest(self) -> None:
        datagram = vxlan(
            roce(HOST_V4, REMOTE_V4, 7), PE_ADDRESS, REMOTE_PE, 9,
            flow_label=LABEL, traffic_class=Ecn.ECT0,
        )  # fmt: skip
        named = service_arn(time_us=ARN_TIME_US)
        named.protocol, named.sport, named.dport = 17, 0xC123, 4789
        self.check_forwarded(datagram, back=[arn_out(named)], events=DETECTED)


class SegmentIsNamedAsItArrived(CongestedFlowControlTest):
    """SRF-7: at an End SID the service is named by the destination the neighbour knows."""

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 7)
        outer: IpFields = {"flow_label": LABEL, "traffic_class": Ecn.ECT0}
        arrived = srv6(inner, PE_ADDRESS, P_END_SID, (REMOTE_PE,), 1, **outer)
        left = srv6(inner, PE_ADDRESS, REMOTE_PE, (REMOTE_PE,), 0, **outer)
        named = service_arn(time_us=ARN_TIME_US, dst=P_END_SID)
        self.check_forwarded(arrived, routed(left), back=[arn_out(named)], events=DETECTED)


class PriorityIsNamed(CongestedFlowControlTest):
    """SRF-6: in mode priority the ARN has the priority of the packet's DSCP."""

    mode = "PRIORITY"

    def runTest(self) -> None:
        for priority in range(8):
            datagram = packet(dscp=priority << 3 | 2)
            expected = arn_out(priority_arn(time_us=ARN_TIME_US, priority=priority))
            self.check_forwarded(datagram, back=[expected], events=DETECTED)


class OneArnPerServiceAndInterval(CongestedFlowControlTest):
    """FCN-15: while the queue stays congested an ARN is repeated only after the interval."""

    count = 40

    def runTest(self) -> None:
        self.check(
            DC_PORT,
            *frames_in(packets(self.count)),
            expect={
                CORE_PORT: frames_out(packets(self.count)),
                DC_PORT: [arn_out(service_arn(time_us=ARN_TIME_US))],
            },
            events={**DETECTED, "ARN_INTERVAL_SUPPRESSED": self.count - 1},
        )
        self.p.flow_control("OFF")
        self.check(DC_PORT, *frames_in(packets(3)), expect={CORE_PORT: frames_out(packets(3))})


class NodeBudgetOfArns(CongestedFlowControlTest):
    """FCN-15: ARN messages do not exceed the node's rate limit of notifications."""

    def runTest(self) -> None:
        self.p.arn_meter(fy.P4MeterConfig(cir=1, cburst=3, pir=1, pburst=3))
        datagrams = [packet(dst=dst) for dst in services(64)]
        before = self.counts()
        outcome = self.exchange(DC_PORT, *frames_in(datagrams))
        self.assertEqual(len(outcome.frames[CORE_PORT]), 64)
        sent = len(outcome.frames[DC_PORT])
        self.assertGreaterEqual(sent, 3)
        self.assertEqual(
            self.growth(before),
            {
                "event ARN_TRIGGERED": sent,
                "event ARN_SENT": sent,
                "event ARN_RATE_SUPPRESSED": 64 - sent,
            },
        )


class EliminatedOnce(CongestedFlowControlTest):
    """SRF-7: the neighbour hears once that the queue is below the release threshold again, and only
    if it was told to hold."""

    def runTest(self) -> None:
        if self.holds:
            self.p.hold_budget(10, mark=5, low=2)
        datagram = packet()
        frame, out = core_frame_in(datagram, DC_PORT), frames_out([datagram])
        self.check(
            DC_PORT,
            frame,
            expect={CORE_PORT: out, DC_PORT: [arn_out(service_arn(time_us=ARN_TIME_US))]},
            events=DETECTED,
        )
        self.p.delete_hold_level(CORE_PORT)
        self.check(DC_PORT, frame, expect={CORE_PORT: out})
        self.p.hold_level(CORE_PORT, "RELIEVED")
        over = arn_out(service_arn(ArnType.ELIMINATED, ARN_TIME_US))
        self.check(DC_PORT, frame, expect={CORE_PORT: out, DC_PORT: [over]}, events=DETECTED)
        self.check(DC_PORT, frame, expect={CORE_PORT: out})


class NotificationsCauseNone(CongestedFlowControlTest):
    """SRF-7: a notification in a congested queue causes no ARN, nor does traffic without an
    upstream."""

    def runTest(self) -> None:
        self.p.notification_port()
        notice = fast_cnp(PE_ADDRESS, REMOTE_PE, LABEL, 3)
        self.check_forwarded(notice)
        self.p.delete("arn_upstream", match={"port": DC_PORT})
        self.check(DC_PORT, *frames_in(packets(2)), expect={CORE_PORT: frames_out(packets(2))})
