"""Punt: packets to and from the controller (p4src/common/base/punt.p4)."""

from dataclasses import dataclass

from finsy import P4PacketIn, P4PacketOut


@dataclass(frozen=True, slots=True)
class Punted:
    """A frame a switch sent up; `reason` is a PuntReason, `vrf` the number switches store."""

    reason: int
    port: int
    vlan: int
    vrf: int
    frame: bytes


class Punt:
    """Frames the switch sends to the controller, and the controller out of a port."""

    @staticmethod
    def received(packet: P4PacketIn) -> Punted:
        """What the switch says of a frame."""
        return Punted(
            packet["reason"],
            packet["ingress_port"],
            packet["vlan_id"],
            packet["vrf"],
            packet.payload,
        )

    @staticmethod
    def send(port: int, frame: bytes) -> P4PacketOut:
        """Have the switch send a frame out of a port."""
        return P4PacketOut(frame, egress_port=port, pad=0)
