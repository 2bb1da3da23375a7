"""A PE under precise flow control, and the packets of its tests (SRF-7, SRF-8)."""

from fcn.contract.profiles import Mode
from fcn.packets.arn import Arn, ArnType
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    BLUE_VLAN,
    DOMAIN,
    HOST_V4,
    NEIGHBOUR_MAC,
    NODE_MAC,
    P_ADDRESS,
    PE_ADDRESS,
    RED,
    REMOTE_BLUE_SID,
    REMOTE_RED_SID,
    REMOTE_V4,
    PeTest,
    core_frame_in,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, LONG_US, service_arn
from fcn.ptf_tests.lib.packets import Ecn, arn, ethernet, roce, routed, srv6
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT

DEST_QP = 0x118
SOURCE_QP = 0x2A5
LABEL = 0x80004
OTHER_QP = 0x119
OTHER_LABEL = 0x80005
END = ArnType.ELIMINATED
PAUSE_MAC = "01:80:c2:00:00:01"
QUANTA = 0xFFFF
PRIORITY = 3
"""Of DSCP 26."""


def customer(psn: int, dest_qp: int = DEST_QP) -> bytes:
    """A host's packet; its priority is PRIORITY."""
    return roce(HOST_V4, REMOTE_V4, dest_qp, psn=psn)


def tunnelled(
    inner: bytes,
    label: int = LABEL,
    dscp: int = 0,
    *,
    sid: str = REMOTE_RED_SID,
    ecn: int = Ecn.ECT0,
) -> bytes:
    """The customer's packet in its tunnel, RED's unless stated."""
    traffic_class = dscp << 2 | ecn
    return srv6(routed(inner), PE_ADDRESS, sid, flow_label=label, traffic_class=traffic_class)


def blue_frame_in(inner: bytes) -> bytes:
    """The frame of BLUE's host."""
    return host_frame_in(inner, vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC)


def blue_frame_out(inner: bytes) -> bytes:
    """The frame towards the neighbour P, of BLUE's flow."""
    return core_frame_out(tunnelled(inner, OTHER_LABEL, sid=REMOTE_BLUE_SID))


def leaving(psn: int) -> bytes:
    """The frame towards the neighbour P."""
    return core_frame_out(tunnelled(customer(psn)))


def about_red(kind: ArnType = ArnType.DETECTED) -> Arn:
    """An ARN about RED's tunnel."""
    return service_arn(kind, LONG_US, dst=REMOTE_RED_SID)


def from_p(message: Arn) -> bytes:
    """From the neighbour P."""
    return core_frame_in(arn(P_ADDRESS, PE_ADDRESS, message))


def to_p(message: Arn, port: int = CORE_PORT) -> bytes:
    """The ARN of the PE to the neighbour P on a port."""
    return core_frame_out(arn(PE_ADDRESS, P_ADDRESS, message, traffic_class=48 << 2), port)


def pause(quanta: int, priority: int = PRIORITY) -> bytes:
    """A PAUSE frame of the PE (IEEE 802.1Qbb, 802.3 annex 31D)."""
    times = [quanta if each == priority else 0 for each in range(8)]
    words = [0x0101, 1 << priority, *times]
    payload = b"".join(word.to_bytes(2, "big") for word in words)
    frame = ethernet(payload, src=NODE_MAC[DC_PORT], dst=PAUSE_MAC, ether_type=0x8808)
    return frame.ljust(60, b"\0")


class PeFlowControlTest(PeTest):
    """A PE with labelled flows, whose neighbour P is on CORE_PORT."""

    needs = frozenset({Mode.FLOW_CONTROL})

    mode = "SERVICE"

    def configure(self) -> None:
        """Flow control on and a budget; no relief."""
        super().configure()
        pe = self.pe
        pe.trust(DOMAIN)
        for vrf, label in ((RED, LABEL), (BLUE, OTHER_LABEL)):
            pe.flow(vrf, HOST_V4, REMOTE_V4, DEST_QP, label)
        pe.label_to_cnp(LABEL, RED, REMOTE_V4, HOST_V4, SOURCE_QP)
        pe.flow_control(self.mode, LONG_US)
        pe.arn_profile(ARN_TIME_US)
        pe.hold_budget(48, mark=40, low=2)
        pe.arn_neighbor(CORE_PORT, P_ADDRESS)
        for port in (CORE_PORT, CORE_PORT_2):
            pe.arn_upstream(port, NODE_MAC[port], NEIGHBOUR_MAC[port], PE_ADDRESS, P_ADDRESS)

    def hold(self) -> None:
        """The P asks to hold what is in RED's tunnel."""
        events = {"ARN_RECEIVED": 1, "HOLD_BEGUN": 1}
        self.check(CORE_PORT, from_p(about_red()), events=events)

    def park(self, *psns: int) -> None:
        """Packets that are held, and cause nothing."""
        frames = [host_frame_in(customer(psn)) for psn in psns]
        self.check(DC_PORT, *frames, events={"HOLD_PARKED": len(frames)})

    def release(self, count: int) -> None:
        """The P says go on; PSN 1 to `count` leave in order."""
        self.send(CORE_PORT, from_p(about_red(END)))
        for psn in range(1, count + 1):
            frame = self.receive(CORE_PORT)
            self.assertIsNotNone(frame, f"packet {psn} of {count} did not leave")
            if frame is not None:
                # The outer flow label and all else are those of a packet that did not wait.
                self.assertEqual(frame.hex(), leaving(psn).hex())
