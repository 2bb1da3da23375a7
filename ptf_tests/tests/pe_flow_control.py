"""The ingress PE holds too, and asks its data centre for relief (SRF-7, SRF-8)."""

import time

from fcn.contract.profiles import Mode
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST_V4,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    RED,
    REMOTE_BLUE_SID,
    REMOTE_V4,
    PeTest,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.flow_control import LONG_US
from fcn.ptf_tests.lib.packets import arn, cnp, datagram_of, roce, srv6, udp
from fcn.ptf_tests.lib.pe_flow_control import (
    DEST_QP,
    END,
    LABEL,
    OTHER_LABEL,
    OTHER_QP,
    PRIORITY,
    QUANTA,
    SOURCE_QP,
    PeFlowControlTest,
    about_red,
    blue_frame_in,
    blue_frame_out,
    customer,
    from_p,
    leaving,
    pause,
    tunnelled,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT


class IngressPeHoldsItsTunnel(PeFlowControlTest):
    """SRF-7: what the outer header names waits and leaves in order; another customer's tunnel to
    the same PE does not wait."""

    def runTest(self) -> None:
        self.hold()
        self.park(*range(1, 21))
        other = customer(7)
        plain = udp(HOST_V4, REMOTE_V4, 5000, 6000)
        self.check(DC_PORT, blue_frame_in(other), expect={CORE_PORT: [blue_frame_out(other)]})
        outcome = self.exchange(DC_PORT, blue_frame_in(plain))
        self.assertEqual(len(outcome.frames[CORE_PORT]), 1)
        self.release(20)


class FlowIsLearnedWhileHeld(PeFlowControlTest):
    """SRF-7: packets of a flow that gets its label while others of it wait stay behind them."""

    count = 8

    def runTest(self) -> None:
        psns = range(1, 2 * self.count + 1)
        frames = [host_frame_in(customer(psn, OTHER_QP)) for psn in psns]
        self.hold()
        events = {"HOLD_PARKED": self.count}
        self.check(DC_PORT, *frames[: self.count], events=events)
        self.pe.flow(RED, HOST_V4, REMOTE_V4, OTHER_QP, OTHER_LABEL)
        self.check(DC_PORT, *frames[self.count :], events=events)
        self.send(CORE_PORT, from_p(about_red(END)))
        for psn in psns:
            frame = self.receive(CORE_PORT)
            self.assertIsNotNone(frame, f"packet {psn} did not leave")
            if frame is not None:
                datagram = datagram_of(frame)
                label = int.from_bytes(datagram[:4], "big") & 0xFFFFF
                self.assertEqual(label == OTHER_LABEL, psn > self.count, hex(label))
                expected = tunnelled(customer(psn, OTHER_QP), label)
                self.assertEqual(frame.hex(), core_frame_out(expected).hex(), str(psn))


class CustomersPortIsNoNotification(PeFlowControlTest):
    """FCN-17: a tenant's datagram to the ports of notifications is traffic like any other."""

    def runTest(self) -> None:
        tenant = udp(HOST_V4, REMOTE_V4, 5000, 1022, payload=bytes(about_red()))
        outcome = self.exchange(DC_PORT, host_frame_in(tenant))
        self.assertEqual(len(outcome.frames[CORE_PORT]), 1)
        self.check(DC_PORT, host_frame_in(customer(1)), expect={CORE_PORT: [leaving(1)]})


class ArnFromTheDataCentre(PeFlowControlTest):
    """SRF-7, FCN-17: an ARN from a DC port is dropped, counted, and holds nothing."""

    def runTest(self) -> None:
        frame = host_frame_in(arn(P_ADDRESS, PE_ADDRESS, about_red()))
        before = self.counts()
        self.exchange(DC_PORT, frame)
        grown = self.growth(before)
        self.assertNotIn("event HOLD_BEGUN", grown)
        self.assertNotIn("event ARN_RECEIVED", grown)
        self.assertEqual(sum(n for name, n in grown.items() if name.startswith("drop")), 1, grown)
        self.check(DC_PORT, host_frame_in(customer(1)), expect={CORE_PORT: [leaving(1)]})


class PauseFramesForTheDataCentre(PeFlowControlTest):
    """SRF-8: at the mark of its budget the PE pauses the packets' priority on the DC port, repeats
    it while it holds much, and ends it with a time of 0."""

    refresh_us = 300_000
    behind_us = 10_000
    """The softswitch's clock may be behind by so much while packets wait (sw_loop.c)."""

    def configure(self) -> None:
        """Relief by PAUSE frames."""
        super().configure()
        self.pe.dc_relief(
            DC_PORT, "PAUSE", refresh_us=self.refresh_us, mac=NODE_MAC[DC_PORT], quanta=QUANTA
        )
        self.pe.hold_level(CORE_PORT, "RELIEVED")
        self.pe.hold_budget(48, mark=5, low=2)

    def runTest(self) -> None:
        self.hold()
        self.park(1, 2, 3, 4)
        started = time.monotonic()
        self.send(DC_PORT, host_frame_in(customer(5)))
        for _ in range(3):
            frame = self.receive(DC_PORT)
            self.assertEqual(frame, pause(QUANTA))
        least_us = 2 * self.refresh_us - self.behind_us
        self.assertGreaterEqual(time.monotonic() - started, least_us / 1e6)
        self.release(5)
        while (frame := self.receive(DC_PORT)) == pause(QUANTA):
            pass
        self.assertEqual(frame, pause(0))
        before = self.counts()
        self.check(DC_PORT, host_frame_in(customer(6)), expect={CORE_PORT: [leaving(6)]})
        self.assertEqual(self.growth(before), {})


class OnlyWhatWaitsIsPaused(PeFlowControlTest):
    """SRF-8: at the mark of the budget other priorities of the data centre are not paused."""

    relief = "PAUSE"

    def configure(self) -> None:
        """Relief, and a budget of which two packets reach the mark."""
        super().configure()
        self.pe.enable_cnp()
        self.pe.label_to_cnp(OTHER_LABEL, BLUE, REMOTE_V4, HOST_V4, SOURCE_QP)
        self.pe.dc_relief(
            DC_PORT, self.relief, refresh_us=LONG_US, mac=NODE_MAC[DC_PORT], quanta=QUANTA
        )
        self.pe.hold_budget(48, mark=2, low=1)

    def runTest(self) -> None:
        self.hold()
        outcome = self.exchange(DC_PORT, *(host_frame_in(customer(psn)) for psn in (1, 2)))
        self.assertEqual(len(outcome.frames[DC_PORT]), 1)
        other = roce(HOST_V4, REMOTE_V4, DEST_QP, dscp=40)
        self.check(DC_PORT, blue_frame_in(other), expect={CORE_PORT: [blue_frame_out(other)]})


class OnlySendersOfWhatWaitsAreTold(OnlyWhatWaitsIsPaused):
    """SRF-8: nor do senders of other flows get CNPs."""

    relief = "CNP"


class CongestedCoreQueuePausesTheDataCentre(PeFlowControlTest):
    """SRF-8: so does the PE's own congested queue, by the priority of the 802.1Q tag where there is
    one."""

    def configure(self) -> None:
        """Relief by PAUSE frames, a congested queue."""
        super().configure()
        self.pe.dc_relief(
            DC_PORT, "PAUSE", refresh_us=LONG_US, mac=NODE_MAC[DC_PORT], quanta=QUANTA
        )
        self.pe.hold_level(CORE_PORT, "CONGESTED")

    def runTest(self) -> None:
        events = {"PAUSE_TRIGGERED": 1, "PAUSE_SENT": 1}
        self.check(
            DC_PORT,
            host_frame_in(customer(1)),
            expect={CORE_PORT: [leaving(1)], DC_PORT: [pause(QUANTA)]},
            events=events,
        )
        tagged = bytearray(host_frame_in(customer(1), vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC))
        tagged[14] |= 5 << 5
        outcome = self.exchange(DC_PORT, bytes(tagged))
        self.assertEqual(outcome.frames[DC_PORT], [pause(QUANTA, 5)])
        sent = datagram_of(outcome.frames[CORE_PORT][0])
        self.assertEqual(
            sent[24:40],
            datagram_of(core_frame_out(srv6(customer(1), PE_ADDRESS, REMOTE_BLUE_SID)))[24:40],
        )


class CnpsForTheDataCentre(PeFlowControlTest):
    """SRF-8: with relief by CNP the sender of the held flow gets CNPs, at most one per interval."""

    def configure(self) -> None:
        """Relief by CNP."""
        super().configure()
        self.pe.enable_cnp()
        self.pe.dc_relief(DC_PORT, "CNP", refresh_us=LONG_US)
        self.pe.hold_budget(48, mark=3, low=2)

    def runTest(self) -> None:
        self.hold()
        self.park(1, 2)
        self.check(
            DC_PORT,
            host_frame_in(customer(3)),
            host_frame_in(customer(4)),
            expect={DC_PORT: [host_frame_out(cnp(REMOTE_V4, HOST_V4, SOURCE_QP))]},
            events={"HOLD_PARKED": 2, "CNP_TRIGGERED": 1, "CNP_SENT": 1, "OWN_CONGESTION": 1},
        )
        self.release(4)


class PriorityOfTheTunnel(PeFlowControlTest):
    """SRF-6: in mode priority the outer header has the priority of the customer's packet."""

    mode = "PRIORITY"

    def runTest(self) -> None:
        expected = core_frame_out(tunnelled(customer(1), dscp=PRIORITY << 3))
        self.check(DC_PORT, host_frame_in(customer(1)), expect={CORE_PORT: [expected]})


class SilentByDefault(PeTest):
    """FCN-16: without flow control nothing is held and nobody is paused."""

    needs = frozenset({Mode.FLOW_CONTROL})

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL)
        self.pe.hold_level(CORE_PORT, "CONGESTED")
        frames = [host_frame_in(customer(psn)) for psn in range(1, 5)]
        self.check(DC_PORT, *frames, expect={CORE_PORT: [leaving(psn) for psn in range(1, 5)]})
