"""What one message of the smallest size causes at most, in frames and octets without preamble and
check sequence (ALL-4). The numbers are those of docs/drafts.md; exchanges see every port."""

from dataclasses import dataclass

from fcn.contract.constants import PATH_CNPS
from fcn.packets.arn import ArnType
from fcn.packets.cm import CmAttribute
from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import LinkUtilization
from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.beds import HOST_V4, P_ADDRESS, REMOTE_V4, core_frame_in, host_frame_in
from fcn.ptf_tests.lib.cm import cm_message
from fcn.ptf_tests.lib.flow_control import FlowControlTest, arn_in, priority_arn, service_arn
from fcn.ptf_tests.lib.links import DOWN, INIT, OWN, hello
from fcn.ptf_tests.lib.notifications import LABEL_V4, LABEL_V6, NotificationTest, fast_cnp_frame
from fcn.ptf_tests.lib.path_messages import LINKS, notification
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.watched import WatchedPTest
from fcn.ptf_tests.tests import nothing_left
from fcn.ptf_tests.tests.cm_snooping import CmTest
from fcn.ptf_tests.tests.end_con_translation import NOTICE_V4, NOTICE_V6, EndConTest
from fcn.ptf_tests.tests.gateways import GatewayTest, arp_request, solicitation

ARP, ND = 60, 78
FAST_CNP, CNP_V4, CNP_V6 = 66, 74, 94
SMALLEST_FANTEL, FANTEL_WITH_FLOW, FANTEL_OF_LOAD = 94, 138, 102


@dataclass(frozen=True, slots=True)
class Caused:
    """What leaves all ports, and what the controller gets."""

    frames: tuple[int, ...] = ()
    """Octets of each, by size."""
    punts: int = 0
    digests: int = 0


class AmplificationTest(FcnTest):
    """Mixed into a bed."""

    def assert_caused(self, port: int, frame: bytes, octets: int, most: Caused) -> None:
        """A frame of so many octets causes this, and nothing else."""
        self.assertEqual(len(frame), octets)
        outcome = self.exchange(port, frame)
        sizes = sorted(len(each) for frames in outcome.frames.values() for each in frames)
        digests = self.wait_for("the report", self.digests) if most.digests else self.digests()
        self.assertEqual(Caused(tuple(sizes), len(outcome.punts), len(digests)), most)


class OneCnp(NotificationTest, AmplificationTest):
    """ALL-4: a Fast CNP is for one sender, 1.12 or 1.42 times its octets."""

    def runTest(self) -> None:
        for label, size in ((LABEL_V4, CNP_V4), (LABEL_V6, CNP_V6)):
            self.assert_caused(CORE_PORT, fast_cnp_frame(label), FAST_CNP, Caused((size,)))


class OneCnpOfEndCon(EndConTest, AmplificationTest):
    """ALL-4: a CNP by way of END.CON becomes smaller."""

    def runTest(self) -> None:
        for notice, size in ((NOTICE_V4, CNP_V4), (NOTICE_V6, CNP_V6)):
            self.assert_caused(CORE_PORT, core_frame_in(notice), size + 40, Caused((size,)))


class FailureTellsOneSender(nothing_left.NothingLeftTest, AmplificationTest):
    """ALL-4: a message that a path has failed moves its traffic, and is for the one sender that it
    names, where nothing is left; without a flow for none."""

    def runTest(self) -> None:
        self.tell(Event.FAILURE, 0)
        frame = self.frame(Event.FAILURE, 1, LABEL_V4)
        self.assert_caused(CORE_PORT, frame, FANTEL_WITH_FLOW, Caused((CNP_V4,)))
        for event in (Event.FAILURE, Event.FAILURE_CLEARED, Event.CONGESTION_CLEARED):
            self.sequence += 1
            message = notification(event, FIRST_PATH_ID + 1, LINKS[0], 1, self.sequence)
            self.assert_caused(CORE_PORT, core_frame_in(message), SMALLEST_FANTEL, Caused())


class LoadTellsNobody(nothing_left.NothingLeftTest, AmplificationTest):
    """ALL-4: a message of load causes no packet."""

    def runTest(self) -> None:
        load = LinkUtilization(permille=1000)
        message = notification(Event.LOAD, FIRST_PATH_ID, LINKS[0], 1, 1, load)
        self.assert_caused(CORE_PORT, core_frame_in(message), FANTEL_OF_LOAD, Caused())


class CongestionTellsSoMany(nothing_left.NoMoreThanSoMany, AmplificationTest):
    """ALL-4: a message that a path is congested is for the sender that it names and PATH_CNPS
    others, as their packets come: 65 times 74 or 94 octets."""

    def runTest(self) -> None:
        frames = self.label_flows()
        self.tell(Event.CONGESTION, 0)
        frame = self.frame(Event.CONGESTION, 1, LABEL_V4)
        self.assert_caused(CORE_PORT, frame, FANTEL_WITH_FLOW, Caused((CNP_V4,)))
        self.assertEqual(len(self.told(frames)), PATH_CNPS)
        self.assertEqual(self.told(frames), set())


class HoldSendsNothing(FlowControlTest, AmplificationTest):
    """ALL-4: an ARN stops a service for the longest time at most, and sends nothing."""

    def runTest(self) -> None:
        for kind in (ArnType.DETECTED, ArnType.ELIMINATED):
            self.assert_caused(CORE_PORT, arn_in(service_arn(kind)), 110, Caused())


class HoldOfAPrioritySendsNothing(FlowControlTest, AmplificationTest):
    """ALL-4: so does one of a priority."""

    mode = "PRIORITY"

    def runTest(self) -> None:
        for kind in (ArnType.DETECTED, ArnType.ELIMINATED):
            self.assert_caused(CORE_PORT, arn_in(priority_arn(kind)), 74, Caused())


class HelloAnswersNothing(WatchedPTest, AmplificationTest):
    """ALL-4: a hello causes no packet: hellos go by the clock, and so do messages about paths."""

    def runTest(self) -> None:
        for state in (DOWN, INIT, DOWN):
            self.assert_caused(CORE_PORT, hello(state, P_ADDRESS, yours=OWN), 86, Caused())


class OneAnswerAndOneReport(GatewayTest, AmplificationTest):
    """ALL-4: a request for a gateway's address causes one answer and one report of the host."""

    def runTest(self) -> None:
        self.assert_caused(DC_PORT, arp_request(), ARP, Caused((ARP,), digests=1))
        self.assert_caused(DC_PORT, solicitation(), ND, Caused((ND + 8,), digests=1))


class OneReportOfAMessage(CmTest, AmplificationTest):
    """ALL-4: a message of the connection manager goes on, and causes one report."""

    def runTest(self) -> None:
        frame = host_frame_in(
            cm_message(HOST_V4, REMOTE_V4, CmAttribute.REQ, local_comm_id=7, qpn=9)
        )
        self.assert_caused(DC_PORT, frame, 322, Caused((len(frame) + 40,), digests=1))
