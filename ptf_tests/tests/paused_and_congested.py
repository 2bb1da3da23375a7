"""An egress PE whose data centre pauses a port that is congested, too: the neighbour is asked to
hold, and the ingress PE is told (SRF-9 beside FCN-18, ALL-2)."""

from fcn.packets.arn import Arn, ArnType
from fcn.ptf_tests.lib.beds import PE_ADDRESS, PE_RED_SID, REMOTE_PE, core_frame_in
from fcn.ptf_tests.lib.egress import LABEL, LEVEL, TRAFFIC_CLASS, notice
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, priority_arn
from fcn.ptf_tests.lib.packets import Ecn, srv6
from fcn.ptf_tests.lib.paused_dc import PausedDcTest, customer
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT


class BothHear(PausedDcTest):
    """ALL-2: packets that waited leave by a congested queue: each tells the ingress PE, one of them
    the neighbour that the pause is over; what waits tells only the neighbour."""

    def configure(self) -> None:
        """Fast CNPs for ingress PEs, every packet."""
        super().configure()
        self.pe.enable_fast_cnp(PE_ADDRESS, traffic_class=TRAFFIC_CLASS, translates="FAST_CNP")
        self.pe.queue_level(DC_PORT, LEVEL)
        self.pe.level_policy(LEVEL, mark=Ecn.NOT_ECT, notify=True, interval_us=0)

    def frame(self, psn: int) -> bytes:
        """In a tunnel whose label names the flow."""
        traffic_class = self.outer_priority << 5 | Ecn.ECT0
        inner = customer(psn)
        return core_frame_in(
            srv6(inner, REMOTE_PE, PE_RED_SID, traffic_class=traffic_class, flow_label=LABEL)
        )

    def runTest(self) -> None:
        self.pause()
        self.park_first(1, 2, 3)
        self.assertEqual(self.counts()["event FAST_CNP_SENT"], 0)
        self.end()
        self.arrive(1, 2, 3)
        heard = sorted(self.hex(self.receive(CORE_PORT)) for _ in range(4))
        wanted = [notice(), notice(), notice(), self.asked(ArnType.ELIMINATED)]
        self.assertEqual(heard, sorted(frame.hex() for frame in wanted))
        counts = self.counts()
        self.assertEqual((counts["event FAST_CNP_SENT"], counts["event ARN_SENT"]), (3, 2))


class BothHearInModePriority(BothHear):
    """ALL-2: the neighbour is to hold a priority."""

    mode = "PRIORITY"
    outer_priority = 3

    def name(self, kind: ArnType = ArnType.DETECTED, time_us: int = ARN_TIME_US) -> Arn:
        """That of the outer header."""
        return priority_arn(kind, time_us, self.outer_priority)
