"""Port roles, 802.1Q customers and VRFs with overlapping addresses (FCN-1)."""

from fcn.ptf_tests.lib.beds import (
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST2_MAC,
    HOST2_V4,
    HOST2_V6,
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    PE_BLUE_SID,
    REMOTE_BLUE_SID,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    TO_HOST,
    TO_REMOTE,
    PeTest,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.packets import datagram_of, flow_label_of, roce, routed, srv6, udp
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2, UNUSED_PORT


class UnknownPortIsDropped(PeTest):
    """FCN-1: packets from a port without a role are dropped and counted."""

    def runTest(self) -> None:
        frame = host_frame_in(udp(HOST_V4, REMOTE_V4, 1000, 2000))
        self.check(UNUSED_PORT, frame, drops={"UNKNOWN_PORT": 1})


class UnknownVlanIsDropped(PeTest):
    """FCN-1: frames of a VLAN that is not configured are dropped on a port with other VLANs."""

    def runTest(self) -> None:
        datagram = udp(HOST_V4, REMOTE_V4, 1000, 2000)
        self.check(DC_PORT, host_frame_in(datagram, vlan=BLUE_VLAN + 1), drops={"UNKNOWN_PORT": 1})
        self.check(CORE_PORT, host_frame_in(datagram, vlan=BLUE_VLAN), drops={"UNKNOWN_PORT": 1})


class PriorityTagIsUntagged(PeTest):
    """FCN-1: a priority-tagged frame (VLAN 0) is processed like an untagged frame."""

    def runTest(self) -> None:
        datagram = udp(HOST_V4, HOST2_V4, 1000, 2000)
        untagged = host_frame_in(datagram)
        self.check(
            DC_PORT,
            untagged[:12] + b"\x81\x00\xe0\x00" + untagged[12:],
            expect={
                DC_PORT_2: [host_frame_out(routed(datagram), port=DC_PORT_2, host_mac=HOST2_MAC)]
            },
        )


class OverlappingCustomersStayApart(PeTest):
    """FCN-1: the same addresses in two VRFs go to two tunnels; the tag is removed."""

    def runTest(self) -> None:
        for src, dst in TO_REMOTE:
            datagram = roce(src, dst, 0x21)
            for vlan, sid in ((0, REMOTE_RED_SID), (BLUE_VLAN, REMOTE_BLUE_SID)):
                with self.subTest(dst=dst, vlan=vlan):

                    def tunnelled(got: bytes, datagram: bytes = datagram, sid: str = sid) -> bytes:
                        label = flow_label_of(datagram_of(got))
                        return core_frame_out(
                            srv6(
                                routed(datagram), PE_ADDRESS, sid, flow_label=label, traffic_class=2
                            )
                        )

                    self.check(
                        DC_PORT, host_frame_in(datagram, vlan=vlan), expect={CORE_PORT: [tunnelled]}
                    )


class TagIsPutOnTowardsTaggedCustomer(PeTest):
    """FCN-5: packets decapsulated for a tagged customer get its VLAN tag."""

    def runTest(self) -> None:
        for src, dst in TO_HOST:
            with self.subTest(dst=dst):
                datagram = roce(src, dst, 0x21)
                self.check(
                    CORE_PORT,
                    core_frame_in(srv6(datagram, REMOTE_PE, PE_BLUE_SID, traffic_class=2)),
                    expect={
                        DC_PORT: [
                            host_frame_out(routed(datagram), vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC)
                        ]
                    },
                )


class TwoPortsOfOneCustomer(PeTest):
    """FCN-1: packets between two DC ports of one VRF are forwarded locally."""

    def runTest(self) -> None:
        for src, dst in ((HOST_V4, HOST2_V4), (HOST_V6, HOST2_V6)):
            with self.subTest(dst=dst):
                datagram = udp(src, dst, 1000, 2000)
                self.check_between_ports(datagram)


class CustomerCannotReachAnotherVrf(PeTest):
    """FCN-1: a host of RED is not reachable from BLUE."""

    def runTest(self) -> None:
        frame = host_frame_in(udp(HOST_V4, HOST2_V4, 1000, 2000), vlan=BLUE_VLAN)
        self.check(DC_PORT, frame, drops={"NO_ROUTE": 1})


class DcPacketsAreNoUnderlayPackets(PeTest):
    """FCN-17: a customer's packet to a tunnel endpoint is routed in its VRF, not decapsulated."""

    def runTest(self) -> None:
        inner = udp(REMOTE_V4, HOST_V4, 1000, 2000)
        spoofed = srv6(inner, HOST_V6, PE_BLUE_SID)
        self.check(DC_PORT, host_frame_in(spoofed), drops={"NO_ROUTE": 1})


class PortCountersCountFramesAndOctets(PeTest):
    """FCN-1: port_rx and port_tx count every frame once, with its length."""

    def runTest(self) -> None:
        datagram = udp(HOST_V4, HOST2_V4, 1000, 2000)
        frame = host_frame_in(datagram)
        received = self.port_counter("port_rx", DC_PORT)
        sent = self.port_counter("port_tx", DC_PORT_2)
        self.send(DC_PORT, frame)
        self.assertEqual(
            self.receive(DC_PORT_2),
            host_frame_out(routed(datagram), port=DC_PORT_2, host_mac=HOST2_MAC),
        )
        self.assertEqual(
            self.port_counter("port_rx", DC_PORT), (received[0] + 1, received[1] + len(frame))
        )
        self.assertEqual(
            self.port_counter("port_tx", DC_PORT_2), (sent[0] + 1, sent[1] + len(frame))
        )
