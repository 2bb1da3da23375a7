"""Punt: packets to and from the controller (p4src/v1model/pe/finish.p4)."""

from dataclasses import dataclass

from finsy import P4PacketIn, P4PacketOut


@dataclass(frozen=True, slots=True)
class Punted:
    """A punted frame; `reason` is a PuntReason, `vrf` the VRF ID."""

    reason: int
    port: int
    vlan: int
    vrf: int
    frame: bytes


class Punt:
    """Decodes packet-ins and encodes packet-outs."""

    @staticmethod
    def received(packet: P4PacketIn) -> Punted:
        """The frame and the metadata of a packet-in."""
        return Punted(
            packet["reason"],
            packet["ingress_port"],
            packet["vlan_id"],
            packet["vrf"],
            packet.payload,
        )

    @staticmethod
    def send(port: int, frame: bytes) -> P4PacketOut:
        """A packet-out of a frame through a port."""
        return P4PacketOut(frame, egress_port=port, pad=0)
