"""Flow labels of RoCE flows and entropy labels of everything else (FCN-2, FCN-6)."""

import finsy as fy

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.packets.roce import CNP_RESERVED, Opcode
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    REMOTE_BLUE_SID,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_REMOTE,
    PeTest,
    core_frame_out,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import Ecn, datagram_of, flow_label_of, ip, roce, routed, srv6, udp
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

DEST_QP = 0x118
LABEL = 0x80001


class LabelTest(PeTest):
    """Observes the outer flow label."""

    def labels(self, *frames: bytes) -> list[int]:
        """The outer flow labels of frames from the DC port, in order."""
        outcome = self.exchange(DC_PORT, *frames)
        return [flow_label_of(datagram_of(frame)) for frame in outcome.frames[CORE_PORT]]


class AssignedLabelIsUsed(LabelTest):
    """FCN-2, FCN-6: packets of a mapped flow have its label, also the lowest and the highest."""

    def runTest(self) -> None:
        for number, label in enumerate((FCN_LABEL_BIT, 0x80001, 0xABCDE, 0xFFFFF)):
            for host, remote in TO_REMOTE:
                with self.subTest(label=hex(label), remote=remote):
                    self.pe.flow(RED, host, remote, DEST_QP + number, label)
                    datagram = roce(host, remote, DEST_QP + number)
                    outer = srv6(
                        routed(datagram),
                        PE_ADDRESS,
                        REMOTE_RED_SID,
                        flow_label=label,
                        traffic_class=Ecn.ECT0,
                    )
                    self.check_into_wan(datagram, outer)


class EveryPacketOfTheFlowHasTheLabel(LabelTest):
    """FCN-2: the label does not depend on opcode, PSN, UDP source port and payload."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL)
        frames = [
            host_frame_in(
                roce(
                    HOST_V4,
                    REMOTE_V4,
                    DEST_QP,
                    opcode=opcode,
                    psn=psn,
                    sport=0xC000 + psn,
                    payload=bytes(4 * psn),
                )
            )
            for psn, opcode in enumerate((0x00, 0x01, 0x02, 0x04, 0x06, 0x0A, 0x0C, 0x10, 0x11))
        ]
        self.assertEqual(self.labels(*frames), [LABEL] * len(frames))


class TheFlowKeyIsExact(LabelTest):
    """FCN-2: a packet with another VRF, source, destination or DestQP does not get the label."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL)
        self.pe.flow(BLUE, HOST_V4, REMOTE_V4, DEST_QP, LABEL + 1)
        same = roce(HOST_V4, REMOTE_V4, DEST_QP)
        self.assertEqual(
            self.labels(host_frame_in(same), host_frame_in(same, vlan=BLUE_VLAN)),
            [LABEL, LABEL + 1],
        )
        others = (
            roce("10.1.0.11", REMOTE_V4, DEST_QP),
            roce(HOST_V4, "10.2.0.21", DEST_QP),
            roce(HOST_V4, REMOTE_V4, DEST_QP + 1),
        )
        for label in self.labels(*(host_frame_in(datagram) for datagram in others)):
            self.assertEqual(label & FCN_LABEL_BIT, 0)


class InnerLabelIsUntouched(LabelTest):
    """FCN-6: both PEs leave the customer's own IPv6 flow label unchanged."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V6, REMOTE_V6, DEST_QP, LABEL)
        for inner_label in (0x00001, 0x12345, 0xFFFFF):
            datagram = roce(HOST_V6, REMOTE_V6, DEST_QP, flow_label=inner_label)
            outer = srv6(
                routed(datagram),
                PE_ADDRESS,
                REMOTE_RED_SID,
                flow_label=LABEL,
                traffic_class=Ecn.ECT0,
            )
            self.check_into_wan(datagram, outer)
            back = roce(REMOTE_V6, HOST_V6, DEST_QP, flow_label=inner_label)
            self.check_out_of_wan(
                srv6(back, REMOTE_PE, PE_RED_SID, flow_label=LABEL, traffic_class=Ecn.ECT0),
                routed(back),
            )


class UnmappedFlowTravelsAsIs(LabelTest):
    """FCN-6: a flow without mapping is forwarded with an entropy label, top bit clear."""

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            datagram = roce(host, remote, DEST_QP)

            def expected(got: bytes, datagram: bytes = datagram) -> bytes:
                label = flow_label_of(datagram_of(got))
                self.assertEqual(label & FCN_LABEL_BIT, 0)
                return core_frame_out(
                    srv6(
                        routed(datagram),
                        PE_ADDRESS,
                        REMOTE_RED_SID,
                        flow_label=label,
                        traffic_class=Ecn.ECT0,
                    )
                )

            self.check(DC_PORT, *[host_frame_in(datagram)] * 3, expect={CORE_PORT: [expected] * 3})


class EntropyLabelsSpread(LabelTest):
    """FCN-2: entropy labels are constant per flow, differ between flows, have the top bit clear."""

    def runTest(self) -> None:
        frames = [
            host_frame_in(udp(host, remote, sport, 4791 + sport % 3))
            for host, remote in TO_REMOTE
            for sport in range(2000, 2100)
        ]
        first, second = self.labels(*frames), self.labels(*frames)
        self.assertEqual(first, second, "a flow must keep its label")
        self.assertEqual([hex(label) for label in first if label & FCN_LABEL_BIT], [])
        self.assertGreater(len(set(first)), 190, "200 flows share too few labels")


class EntropyOfOtherProtocols(LabelTest):
    """FCN-2: packets without ports, and fragments, get one entropy label per address pair."""

    def runTest(self) -> None:
        pieces = [
            ip(HOST_V4, REMOTE_V4, b"x" * 32, proto=17, flags="MF", id=9),
            ip(HOST_V4, REMOTE_V4, b"y" * 32, proto=17, frag=4, id=9),
        ]
        labels = self.labels(*(host_frame_in(piece) for piece in pieces))
        self.assertEqual(len(set(labels)), 1, "fragments of a packet must stay together")
        self.assertEqual(labels[0] & FCN_LABEL_BIT, 0)


class CnpsAndQp1AreNoFlows(LabelTest):
    """FCN-2: a CNP or a QP1 message never gets a flow's label, even if an entry matches it."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, 1, LABEL)
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL + 1)
        for datagram in (
            roce(HOST_V4, REMOTE_V4, 1, opcode=Opcode.UD_SEND_ONLY, payload=bytes(8 + 256)),
            roce(HOST_V4, REMOTE_V4, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
        ):
            (label,) = self.labels(host_frame_in(datagram))
            self.assertEqual(label & FCN_LABEL_BIT, 0)


class DecapsulatedPacketsGetNoLabel(LabelTest):
    """FCN-2: the label is in the outer header only: it is removed at decapsulation."""

    def runTest(self) -> None:
        self.pe.flow(RED, REMOTE_V6, HOST_V6, DEST_QP, LABEL)
        datagram = roce(REMOTE_V6, HOST_V6, DEST_QP)
        outer = srv6(datagram, REMOTE_PE, PE_RED_SID, flow_label=0x9999, traffic_class=Ecn.ECT0)
        self.check_out_of_wan(outer, routed(datagram))


class FlowCountersCount(LabelTest):
    """FCN-2: a flow's entry counts its packets and octets."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL)
        frame = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP))
        self.labels(*[frame] * 5)
        match = fy.P4TableMatch(vrf=RED, src=HOST_V4, dst=REMOTE_V4, dest_qp=DEST_QP)
        (counter,) = self.client.read(
            fy.P4DirectCounterEntry(
                counter_id=self.direct_counter_of("flow_ipv4"),
                table_entry=fy.P4TableEntry("flow_ipv4", match=match),
            )
        )
        self.assertEqual((counter.packet_count, counter.byte_count), (5, 5 * len(frame)))


class VrfLabelsGoTheirOwnTunnels(LabelTest):
    """FCN-2: flows with equal addresses in two VRFs have their own labels and tunnels."""

    def runTest(self) -> None:
        self.pe.flow(BLUE, HOST_V6, REMOTE_V6, DEST_QP, LABEL + 2)
        datagram = roce(HOST_V6, REMOTE_V6, DEST_QP)
        outer = srv6(
            routed(datagram),
            PE_ADDRESS,
            REMOTE_BLUE_SID,
            flow_label=LABEL + 2,
            traffic_class=Ecn.ECT0,
        )
        self.check(
            DC_PORT,
            host_frame_in(datagram, vlan=BLUE_VLAN),
            expect={CORE_PORT: [core_frame_out(outer)]},
        )
