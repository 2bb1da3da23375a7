"""The ingress PE holds single flows of its customers (SRF-6, SRF-7)."""

from fcn.packets.arn import Arn, ArnType
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    REMOTE_RED_SID,
    REMOTE_V4,
    core_frame_in,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, LONG_US, flow_arn
from fcn.ptf_tests.lib.packets import Ecn, arn, roce, routed, srv6
from fcn.ptf_tests.lib.pe_flow_control import (
    DEST_QP,
    END,
    LABEL,
    QUANTA,
    PeFlowControlTest,
    pause,
    to_p,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT
from fcn.ptf_tests.lib.tunnels import customer_label

RED = customer_label(REMOTE_RED_SID)
OTHER_PORT = 0xC777


def customer(psn: int, sport: int = 0xC001) -> bytes:
    """A host's packet; all flows are to one queue pair, so that they have one label."""
    return roce(HOST_V4, REMOTE_V4, DEST_QP, psn=psn, sport=sport)


def leaving(psn: int, sport: int = 0xC001) -> bytes:
    """The frame towards the neighbour P."""
    inner = routed(customer(psn, sport))
    datagram = srv6(
        inner, PE_ADDRESS, REMOTE_RED_SID, flow_label=LABEL, traffic_class=int(Ecn.ECT0)
    )
    return core_frame_out(datagram)


def about_flow(kind: ArnType = ArnType.DETECTED, time_us: int = LONG_US) -> Arn:
    """An ARN about RED's flow inside its tunnel."""
    return flow_arn(kind, time_us, customer=RED)


def from_p(message: Arn) -> bytes:
    """From the neighbour P."""
    return core_frame_in(arn(P_ADDRESS, PE_ADDRESS, message))


class PeHoldsOneFlow(PeFlowControlTest):
    """SRF-7: the flow waits and leaves in order; one with another port passes, its label
    notwithstanding."""

    mode = "FLOW"

    def runTest(self) -> None:
        events = {"ARN_RECEIVED": 1, "HOLD_BEGUN": 1}
        self.check(CORE_PORT, from_p(about_flow()), events=events)
        self.park(*range(1, 21))
        self.check(
            DC_PORT,
            host_frame_in(customer(7, OTHER_PORT)),
            expect={CORE_PORT: [leaving(7, OTHER_PORT)]},
        )
        self.send(CORE_PORT, from_p(about_flow(END)))
        for psn in range(1, 21):
            frame = self.receive(CORE_PORT)
            self.assertIsNotNone(frame, f"packet {psn} did not leave")
            if frame is not None:
                self.assertEqual(frame.hex(), leaving(psn).hex())


class PeBetweenNeighbours(PeFlowControlTest):
    """SRF-7: a PE on the way of others' tunnels names and holds their flows as a P does."""

    mode = "FLOW"

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, DEST_QP)
        transit = srv6(inner, "fc00:0:9::1", REMOTE_RED_SID, traffic_class=int(Ecn.ECT0))
        out = core_frame_out(routed(transit))
        frame = core_frame_in(transit, CORE_PORT_2)
        self.check(CORE_PORT, from_p(about_flow()), events={"ARN_RECEIVED": 1, "HOLD_BEGUN": 1})
        self.check(CORE_PORT_2, frame, events={"HOLD_PARKED": 1})
        self.send(CORE_PORT, from_p(about_flow(END)))
        self.assertEqual(self.receive(CORE_PORT), out)
        self.pe.hold_level(CORE_PORT, "CONGESTED")
        named = to_p(about_flow(time_us=ARN_TIME_US), CORE_PORT_2)
        self.check(
            CORE_PORT_2,
            frame,
            expect={CORE_PORT: [out], CORE_PORT_2: [named]},
            events={"ARN_TRIGGERED": 1, "ARN_SENT": 1},
        )


class FlowsPauseTheirDataCentre(PeFlowControlTest):
    """SRF-8: relief for a held flow is a PAUSE for its priority, as in the other modes."""

    mode = "FLOW"

    def configure(self) -> None:
        """Relief by PAUSE frames."""
        super().configure()
        self.pe.dc_relief(
            DC_PORT, "PAUSE", refresh_us=LONG_US, mac=NODE_MAC[DC_PORT], quanta=QUANTA
        )
        self.pe.hold_budget(48, mark=2, low=1)

    def runTest(self) -> None:
        self.check(CORE_PORT, from_p(about_flow()), events={"ARN_RECEIVED": 1, "HOLD_BEGUN": 1})
        self.park(1)
        self.check(
            DC_PORT,
            host_frame_in(customer(2)),
            expect={DC_PORT: [pause(QUANTA)]},
            events={"HOLD_PARKED": 1, "PAUSE_TRIGGERED": 1, "PAUSE_SENT": 1},
        )
