"""A paused data centre beside the two-threshold mode and beside policies (SRF-9, ALL-1)."""

from fcn.contract.profiles import Mode
from fcn.packets.fantel import Event
from fcn.packets.fantel_tlvs import FiveTuple
from fcn.ptf_tests.lib.beds import PE_ADDRESS, core_frame_in, host_frame_out
from fcn.ptf_tests.lib.notifications import cnp_v4_frame, fast_cnp_frame
from fcn.ptf_tests.lib.packets import Ecn, routed, with_ecn
from fcn.ptf_tests.lib.path_messages import LINKS, PathMessageTest, notification
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID
from fcn.ptf_tests.lib.paused_dc import PausedDcTest, customer, delivered, pause_frame
from fcn.ptf_tests.lib.pe_flow_control import LABEL, QUANTA, SOURCE_QP
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

LIGHT, HEAVY = 1, 7
ALL_PAUSED = {"PAUSE_RECEIVED": 1, "HOLD_BEGUN": 8}


class PausedBesideTest(PausedDcTest):
    """All priorities of a port pause; CNPs are made for its hosts."""

    def configure(self) -> None:
        """Translation as well."""
        super().configure()
        self.pe.notification_port()
        self.pe.enable_cnp(translates="FAST_CNP")

    def pause_all(self) -> None:
        """Every priority waits from now on."""
        paused = pause_frame(dict.fromkeys(range(8), QUANTA))
        self.check(DC_PORT, paused, events=ALL_PAUSED)


class BesideTwoThresholds(PausedBesideTest):
    """PEC-3, SRF-9: light congestion ends at the PE, a CNP for heavy congestion passes the paused
    port, and what waited has the mark of the port's queue."""

    needs = frozenset({Mode.FLOW_CONTROL, Mode.TWO_THRESHOLD})

    def configure(self) -> None:
        """Light congestion is treated; the port's queue marks every packet with ECT(1)."""
        super().configure()
        self.pe.treat_light_congestion(self.longest_us)
        self.pe.queue_level(DC_PORT, LIGHT)
        self.pe.level_policy(LIGHT, mark=Ecn.ECT1, notify=False)

    def runTest(self) -> None:
        self.pause_all()
        received = {"FAST_CNP_RECEIVED": 1}
        light, heavy = fast_cnp_frame(LABEL, LIGHT), fast_cnp_frame(LABEL, HEAVY)
        self.check(CORE_PORT, light, events=received | {"LIGHT_CONGESTION": 1})
        cnp = [cnp_v4_frame(SOURCE_QP)]
        self.check(CORE_PORT, heavy, expect={DC_PORT: cnp}, events=received | {"CNP_SENT": 1})
        self.park_first(1)
        self.end()
        marked = host_frame_out(with_ecn(routed(customer(1)), Ecn.ECT1))
        self.assertEqual(self.hex(self.receive(DC_PORT)), marked.hex())


class BesidePaths(PausedBesideTest, PathMessageTest):
    """FAN-4, SRF-9: the CNP because of paths that have all failed passes the port that is paused;
    what waits there stays, in its order."""

    needs = frozenset({Mode.FLOW_CONTROL, Mode.FANTEL})

    def failed(self, slot: int) -> bytes:
        """A link of a path says so, and names the flow."""
        self.sequence += 1
        flow = FiveTuple(ip_version=6, label=LABEL, protocol=4, src6=PE_ADDRESS, dst6="fc00:0:2::")
        path = FIRST_PATH_ID + slot
        message = notification(Event.FAILURE, path, LINKS[0], 1, self.sequence, flow)
        return core_frame_in(message)

    def runTest(self) -> None:
        self.pause_all()
        self.park_first(1)
        received = {"FANTEL_RECEIVED": 1}
        self.check(CORE_PORT, self.failed(0), events=received)
        told = received | {"CNP_SENT": 1, "PATH_NONE_LEFT": 1}
        cnp = [cnp_v4_frame(SOURCE_QP)]
        self.check(CORE_PORT, self.failed(1), expect={DC_PORT: cnp}, events=told)
        self.end()
        self.assertEqual(self.hex(self.receive(DC_PORT)), delivered(customer(1)).hex())
