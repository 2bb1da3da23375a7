"""A congested packet is told of to the neighbour it came from and to its sender: neither message
takes the other's place, however far packets are apart (FCN-8, FCN-12, SRF-3, SRF-4, SRF-8)."""

from typing import ClassVar

from fcn.contract.profiles import Mode
from fcn.packets.arn import Arn
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    NODE_MAC,
    P_ADDRESS,
    REMOTE_PE,
    REMOTE_V4,
    core_frame_in,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.congestion import LABEL, CongestedPTest, notice
from fcn.ptf_tests.lib.end_con import PE_RED_END_CON, TRAFFIC_CLASS, end_con_cnp
from fcn.ptf_tests.lib.flow_control import (
    ARN_TIME_US,
    LONG_US,
    FlowControlTest,
    arn_out,
    flow_arn,
    packet,
    priority_arn,
    service_arn,
)
from fcn.ptf_tests.lib.notifications import cnp_v4_frame
from fcn.ptf_tests.lib.packets import Ecn, roce, routed, srv6, with_ecn
from fcn.ptf_tests.lib.pe_flow_control import (
    DEST_QP,
    QUANTA,
    PeFlowControlTest,
    customer,
    leaving,
    pause,
    tunnelled,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

COUNT = 4
LIGHT = 1


class FastCnpsAndArns(FlowControlTest, CongestedPTest):
    """FCN-8, SRF-7: where everything is due with every packet, every packet causes both."""

    refresh_us = 0
    interval_us = 0
    kind = "FAST_CNP"
    marked: tuple[str, ...] = ()

    def configure(self) -> None:
        """Beyond a level that notifies, and beyond the hold threshold."""
        super().configure()
        self.p.hold_level(CORE_PORT, "CONGESTED")

    def names(self) -> Arn:
        """What the upstream neighbour holds."""
        return service_arn(time_us=ARN_TIME_US)

    def asked(self) -> bytes:
        """The frame towards the upstream neighbour; it says the level (SRF-11)."""
        message = self.names()
        message.metric = self.level
        return arn_out(message)

    def congested(self, psn: int) -> bytes:
        """A packet in the queue."""
        return packet(psn, label=LABEL)

    def sent_on(self, datagram: bytes) -> bytes:
        """The packet leaves as it is."""
        return datagram

    def told(self) -> bytes:
        """The frame towards the ingress PE."""
        return notice(level=self.level)

    def runTest(self) -> None:
        sent, before = [self.congested(psn) for psn in range(COUNT)], self.counts()
        outcome = self.exchange(DC_PORT, *(core_frame_in(each, DC_PORT) for each in sent))
        self.assertEqual(
            outcome.frames[CORE_PORT], [core_frame_out(self.sent_on(routed(each))) for each in sent]
        )
        self.assertCountEqual(outcome.frames[DC_PORT], [self.told(), self.asked()] * COUNT)
        events = [f"{kind}_{what}" for kind in (self.kind, "ARN") for what in ("TRIGGERED", "SENT")]
        events += self.marked
        self.assertEqual(self.growth(before), {f"event {name}": COUNT for name in events})


class FastCnpsAndArnsOfFlows(FastCnpsAndArns):
    """FCN-8, SRF-7: where the neighbour holds single flows."""

    mode = "FLOW"

    def names(self) -> Arn:
        """The flow of packet()."""
        return flow_arn(time_us=ARN_TIME_US)


class FastCnpsAndArnsOfPriorities(FastCnpsAndArns):
    """FCN-8, SRF-7: where the neighbour holds a priority."""

    mode = "PRIORITY"

    def names(self) -> Arn:
        """That of packet()."""
        return priority_arn(time_us=ARN_TIME_US, priority=0)


class LightCongestionAndArns(FastCnpsAndArns):
    """PEC-2, SRF-7: light congestion of the two-threshold mode beside a hold."""

    level = LIGHT
    mark = Ecn.ECT1
    marked = ("ECT1_MARKED",)

    def sent_on(self, datagram: bytes) -> bytes:
        """It is marked."""
        return with_ecn(datagram, Ecn.ECT1)


class EndConCnpsAndArns(FastCnpsAndArns):
    """SRF-4, SRF-7: the same of CNPs by way of END.CON."""

    kind = "END_CON_CNP"

    def configure_feature(self) -> None:
        """CNPs to END.CON in place of Fast CNPs."""
        self.p.enable_end_con(P_ADDRESS, traffic_class=TRAFFIC_CLASS)

    def names(self) -> Arn:
        """The service is that of the END.CON SID."""
        return service_arn(time_us=ARN_TIME_US, src=PE_RED_END_CON)

    def congested(self, psn: int) -> bytes:
        """From a PE's END.CON SID."""
        inner = roce(HOST_V4, REMOTE_V4, DEST_QP, psn=psn)
        return srv6(inner, PE_RED_END_CON, REMOTE_PE, flow_label=LABEL, traffic_class=Ecn.ECT0)

    def told(self) -> bytes:
        """The frame towards END.CON."""
        return core_frame_out(end_con_cnp(REMOTE_V4, HOST_V4, DEST_QP, LABEL), DC_PORT)


class PausesAndCnps(PeFlowControlTest):
    """FCN-12, SRF-8: a PE's congested queue pauses the data centre and tells the sender, with every
    packet where both are due."""

    level = 4

    def configure(self) -> None:
        """Relief by PAUSE frames, one's own CNPs, a queue beyond both thresholds."""
        super().configure()
        self.pe.enable_cnp()
        self.pe.queue_level(CORE_PORT, self.level)
        self.pe.level_policy(self.level, mark=Ecn.NOT_ECT, notify=True, interval_us=0)
        self.pe.dc_relief(DC_PORT, "PAUSE", refresh_us=0, mac=NODE_MAC[DC_PORT], quanta=QUANTA)
        self.pe.hold_level(CORE_PORT, "CONGESTED")

    def runTest(self) -> None:
        psns, before = range(1, COUNT + 1), self.counts()
        outcome = self.exchange(DC_PORT, *(host_frame_in(customer(psn)) for psn in psns))
        self.assertEqual(outcome.frames[CORE_PORT], [leaving(psn) for psn in psns])
        self.assertCountEqual(outcome.frames[DC_PORT], [cnp_v4_frame(), pause(QUANTA)] * COUNT)
        kinds = ("CNP_TRIGGERED", "CNP_SENT", "OWN_CONGESTION", "PAUSE_TRIGGERED", "PAUSE_SENT")
        self.assertEqual(self.growth(before), {f"event {name}": COUNT for name in kinds})


class ReliefInLightCongestion(PeFlowControlTest):
    """SRF-8, PEC-3: between the thresholds the data centre gets its relief, and the flow is treated
    as lightly congested."""

    needs = frozenset({Mode.FLOW_CONTROL, Mode.TWO_THRESHOLD})

    level = LIGHT
    relief = "CNP"
    relieved = cnp_v4_frame()
    events: ClassVar = {"CNP_TRIGGERED": 1, "CNP_SENT": 1, "OWN_CONGESTION": 1}

    def configure(self) -> None:
        """The two-threshold mode at its first threshold, where the hold threshold is, too."""
        super().configure()
        self.pe.enable_cnp()
        self.pe.treat_light_congestion(LONG_US)
        self.pe.queue_level(CORE_PORT, self.level)
        self.pe.level_policy(self.level, mark=Ecn.ECT1, notify=True, interval_us=LONG_US)
        self.pe.dc_relief(
            DC_PORT, self.relief, refresh_us=LONG_US, mac=NODE_MAC[DC_PORT], quanta=QUANTA
        )
        self.pe.hold_level(CORE_PORT, "CONGESTED")

    def runTest(self) -> None:
        self.check(
            DC_PORT,
            host_frame_in(customer(1)),
            expect={
                CORE_PORT: [core_frame_out(tunnelled(customer(1), ecn=Ecn.ECT1))],
                DC_PORT: [self.relieved],
            },
            events={"LIGHT_CONGESTION": 1, "ECT1_MARKED": 1} | self.events,
        )


class PauseInLightCongestion(ReliefInLightCongestion):
    """SRF-8, PEC-3: the same by a PAUSE frame; no sender hears of light congestion."""

    relief = "PAUSE"
    relieved = pause(QUANTA)
    events: ClassVar = {"CNP_TRIGGERED": 1, "PAUSE_TRIGGERED": 1, "PAUSE_SENT": 1}
