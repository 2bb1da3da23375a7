"""An egress PE whose data centres send PAUSE frames, and the packets of its tests (SRF-9)."""

from fcn.packets.arn import Arn, ArnType
from fcn.ptf_tests.lib.beds import (
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST2_MAC,
    HOST2_V4,
    HOST_MAC,
    HOST_V4,
    PE_BLUE_SID,
    PE_RED_SID,
    REMOTE_PE,
    REMOTE_V4,
    core_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, LONG_US, service_arn
from fcn.ptf_tests.lib.packets import Ecn, ethernet, roce, routed, srv6
from fcn.ptf_tests.lib.pe_flow_control import DEST_QP, PRIORITY, QUANTA, PeFlowControlTest, to_p
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2

PAUSE_MAC = "01:80:c2:00:00:01"
OTHER_PRIORITY = 5
PFC = 0x0101
GLOBAL_PAUSE = 0x0001
"""Opcodes of MAC control frames (IEEE 802.1Qbb, 802.3 annex 31B)."""


def pause_frame(quanta: dict[int, int], opcode: int = PFC, length: int = 60) -> bytes:
    """The PAUSE frame of a data centre: quanta by priority; a priority without is not named."""
    words = [opcode, sum(1 << priority for priority in quanta)]
    words += [quanta.get(priority, 0) for priority in range(8)]
    payload = b"".join(word.to_bytes(2, "big") for word in words)
    frame = ethernet(payload, src=HOST_MAC, dst=PAUSE_MAC, ether_type=0x8808)
    return frame.ljust(length, b"\0")[:length]


def customer(psn: int, dscp: int = PRIORITY << 3, host: str = HOST_V4) -> bytes:
    """A packet from behind the remote PE to a host of this one."""
    return roce(REMOTE_V4, host, DEST_QP, psn=psn, dscp=dscp)


def tunnelled(inner: bytes, sid: str = PE_RED_SID, outer_priority: int = 0) -> bytes:
    """It in its tunnel."""
    traffic_class = outer_priority << 5 | Ecn.ECT0
    return srv6(inner, REMOTE_PE, sid, traffic_class=traffic_class)


def arriving(inner: bytes, sid: str = PE_RED_SID, outer_priority: int = 0) -> bytes:
    """The frame of the neighbour P."""
    return core_frame_in(tunnelled(inner, sid, outer_priority))


def delivered(inner: bytes) -> bytes:
    """The frame towards RED's host on DC_PORT."""
    return host_frame_out(routed(inner))


def delivered_to_second(inner: bytes) -> bytes:
    """The frame towards RED's host on DC_PORT_2."""
    return host_frame_out(routed(inner), port=DC_PORT_2, host_mac=HOST2_MAC)


def delivered_to_blue(inner: bytes) -> bytes:
    """The frame towards BLUE's host, which shares DC_PORT."""
    return host_frame_out(routed(inner), vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC)


def second(psn: int) -> bytes:
    """A packet to RED's host on DC_PORT_2."""
    return customer(psn, host=HOST2_V4)


def blue(psn: int) -> bytes:
    """The frame of the neighbour P with a packet to BLUE's host."""
    return arriving(customer(psn), PE_BLUE_SID)


class PausedDcTest(PeFlowControlTest):
    """A PE that heeds PAUSE frames on both DC ports: as long as a test, unless ended."""

    longest_us = LONG_US
    outer_priority = 0

    def configure(self) -> None:
        """Both ports heed; the node's budget is larger than what tests park."""
        super().configure()
        for port in (DC_PORT, DC_PORT_2):
            self.pe.heed_pauses(port, longest_us=self.longest_us)

    def name(self, kind: ArnType = ArnType.DETECTED, time_us: int = ARN_TIME_US) -> Arn:
        """What the neighbour is to hold."""
        return service_arn(kind, time_us, src=REMOTE_PE, dst=PE_RED_SID)

    def asked(self, kind: ArnType = ArnType.DETECTED, time_us: int = ARN_TIME_US) -> bytes:
        """The ARN to the neighbour P."""
        return to_p(self.name(kind, time_us))

    def frame(self, psn: int) -> bytes:
        """A packet to RED's host on DC_PORT, as it arrives."""
        return arriving(customer(psn), outer_priority=self.outer_priority)

    def pause(
        self,
        quanta: int = QUANTA,
        priority: int = PRIORITY,
        event: str = "BEGUN",
        port: int = DC_PORT,
    ) -> None:
        """A PAUSE frame that is heeded."""
        events = {"PAUSE_RECEIVED": 1, f"HOLD_{event}": 1}
        self.check(port, pause_frame({priority: quanta}), events=events)

    def end(self, priority: int = PRIORITY) -> None:
        """The pause is over."""
        self.send(DC_PORT, pause_frame({priority: 0}))

    def park(self, *psns: int) -> None:
        """Packets that wait; the neighbour has been told already."""
        self.check(CORE_PORT, *map(self.frame, psns), events={"HOLD_PARKED": len(psns)})

    def park_first(self, *psns: int) -> None:
        """Packets that wait; the first of them tells the neighbour."""
        for frame in map(self.frame, psns):
            self.send(CORE_PORT, frame)
        self.assertEqual(self.hex(self.receive(CORE_PORT)), self.asked().hex())
        parked = "event HOLD_PARKED"
        self.wait_for("all wait", lambda: self.counts()[parked] >= len(psns))

    def arrive(self, *psns: int) -> None:
        """Exactly these packets leave, in this order."""
        for psn in psns:
            self.assertEqual(
                self.hex(self.receive(DC_PORT)), delivered(customer(psn)).hex(), f"packet {psn}"
            )

    @staticmethod
    def hex(frame: bytes | None) -> str:
        """For messages of tests."""
        return "none came" if frame is None else frame.hex()
