"""Digests of new flows: one per flow and window, and only for flows (FCN-3)."""

import math
import time
from ipaddress import ip_address

import finsy as fy

from fcn.packets.cm import CmAttribute
from fcn.packets.roce import CNP_RESERVED, Opcode
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_VLAN,
    HOST2_V4,
    HOST_V4,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    TO_REMOTE,
    PeTest,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.cm import cm_message
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.learning import LearningTest
from fcn.ptf_tests.lib.packets import datagram_of, flow_label_of, ip, roce, srv6, udp
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2

DEST_QP = 0x118
LABEL = 0x81111
XRC = 0xA0
"""The first three bits of an opcode: the transport service (IBTA, table of opcodes)."""


def new_flow(
    src: str,
    dst: str,
    dest_qp: int,
    *,
    vrf: int = RED,
    psn: int = 1,
    p_key: int = 0xFFFF,
    sport: int = 0xC001,
    opcode: int = Opcode.RC_RDMA_WRITE_ONLY,
    port: int = DC_PORT,
) -> tuple[str, dict[str, int]]:
    """The digest message of a flow's first packet."""
    return f"new_flow_ipv{ip_address(dst).version}_t", {
        "vrf": vrf,
        "src": int(ip_address(src)),
        "dst": int(ip_address(dst)),
        "dest_qp": dest_qp,
        "p_key": p_key,
        "psn": psn,
        "udp_src_port": sport,
        "opcode": opcode,
        "port": port,
    }


class NewFlowIsReported(LearningTest):
    """FCN-3: the first packet of an unmapped flow is reported with the key of the flow."""

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            datagram = roce(
                host,
                remote,
                DEST_QP,
                psn=0xABCDEF,
                p_key=0x8001,
                sport=0xD00D,
                opcode=Opcode.RC_ACKNOWLEDGE,
                payload=bytes(4),
            )
            expected = new_flow(
                host,
                remote,
                DEST_QP,
                psn=0xABCDEF,
                p_key=0x8001,
                sport=0xD00D,
                opcode=Opcode.RC_ACKNOWLEDGE,
            )
            self.assertEqual(self.reports(DC_PORT, host_frame_in(datagram)), [expected])


class XrcIsLearnedAlike(LearningTest):
    """FCN-3: flows of extended reliable connections are reported like those of reliable ones, with
    their own opcodes (0xA0 to 0xB7)."""

    def runTest(self) -> None:
        for dest_qp, (host, remote) in enumerate(TO_REMOTE, DEST_QP):
            opcode = XRC | Opcode.RC_RDMA_WRITE_ONLY
            frame = host_frame_in(roce(host, remote, dest_qp, opcode=opcode))
            expected = new_flow(host, remote, dest_qp, opcode=opcode)
            self.assertEqual(self.reports(DC_PORT, frame), [expected])


class ThePortIsReported(LearningTest):
    """FCN-3: a report says where its packet came from, so that no host speaks for another of its
    VRF."""

    def runTest(self) -> None:
        for dest_qp, (host, remote) in enumerate(TO_REMOTE, DEST_QP):
            frame = host_frame_in(roce(host, remote, dest_qp), port=DC_PORT_2)
            self.assertEqual(
                self.reports(DC_PORT_2, frame), [new_flow(host, remote, dest_qp, port=DC_PORT_2)]
            )
            request = cm_message(host, remote, CmAttribute.REQ, local_comm_id=dest_qp, qpn=7)
            ((_, message),) = self.reports(DC_PORT_2, host_frame_in(request, port=DC_PORT_2))
            self.assertEqual(message["attribute_and_port"], CmAttribute.REQ << 9 | DC_PORT_2)


class TaggedFlowIsReportedWithItsVrf(LearningTest):
    """FCN-3: customers with overlapping addresses are distinguished by the VRF in the report."""

    def runTest(self) -> None:
        frames = (
            host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP)),
            host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP), vlan=BLUE_VLAN),
        )
        self.assertEqual(
            self.reports(DC_PORT, *frames),
            [
                new_flow(HOST_V4, REMOTE_V4, DEST_QP),
                new_flow(HOST_V4, REMOTE_V4, DEST_QP, vrf=BLUE),
            ],
        )


class StormOfOneFlowIsOneReport(LearningTest):
    """FCN-3: 300 packets of one new flow are one digest."""

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            frames = [host_frame_in(roce(host, remote, DEST_QP, psn=psn)) for psn in range(300)]
            self.assertEqual(
                self.reports(DC_PORT, *frames), [new_flow(host, remote, DEST_QP, psn=0)]
            )


class EveryFlowOfAStormIsReported(LearningTest):
    """FCN-3: de-duplication is per flow: 100 flows interleaved are 100 digests."""

    def runTest(self) -> None:
        flows = [(host, remote, 0x1000 + i) for i in range(50) for host, remote in TO_REMOTE]
        frames = [host_frame_in(roce(*flow)) for _ in range(3) for flow in flows]
        reported = self.reports(DC_PORT, *frames)
        self.assertCountEqual(
            [(name, sorted(fields.items())) for name, fields in reported],
            [(name, sorted(fields.items())) for name, fields in (new_flow(*f) for f in flows)],
        )


class MappedFlowIsSilent(LearningTest):
    """FCN-3: a labelled flow is not reported; after its entry is removed it is, at once."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL)
        frame = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP))
        self.assertEqual(self.reports(DC_PORT, frame, frame), [])
        match = {"vrf": RED, "src": HOST_V4, "dst": REMOTE_V4, "dest_qp": DEST_QP}
        self.pe.delete("flow_ipv4", match=match)
        self.assertEqual(
            self.reports(DC_PORT, frame, frame), [new_flow(HOST_V4, REMOTE_V4, DEST_QP)]
        )


class ReportIsRepeatedAfterTheWindow(LearningTest):
    """FCN-3: a report is repeated after the learning window, not before."""

    window_us = 300_000

    def runTest(self) -> None:
        frame = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP))
        before = time.monotonic()
        self.assertEqual(len(self.reports(DC_PORT, frame)), 1)
        repeated = self.wait_for("the second report", lambda: self.reports(DC_PORT, frame))
        self.assertGreaterEqual(time.monotonic() - before, self.window_us / 1e6)
        self.assertEqual(repeated, [new_flow(HOST_V4, REMOTE_V4, DEST_QP)])


class WhatIsNoFlowIsNotReported(LearningTest):
    """FCN-3: CNPs, QP1, QP0, other UDP, fragments, and packets that do not enter a tunnel."""

    def runTest(self) -> None:
        silent = {
            "CNP": roce(HOST_V4, REMOTE_V4, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
            "QP1, no CM": roce(
                HOST_V4, REMOTE_V4, 1, opcode=Opcode.UD_SEND_ONLY, payload=bytes(8 + 256)
            ),
            "QP0": roce(HOST_V4, REMOTE_V4, 0),
            "other UDP": udp(HOST_V4, REMOTE_V4, 4791, 4790, bytes(40)),
            "fragment": ip(HOST_V4, REMOTE_V4, bytes(80), proto=17, frag=1),
            "no route": roce(HOST_V4, "198.51.100.1", DEST_QP),
            "same side": roce(HOST_V4, HOST2_V4, DEST_QP),
            "TTL 1": roce(HOST_V4, REMOTE_V4, DEST_QP, ttl=1),
        }
        for what, datagram in silent.items():
            with self.subTest(what=what):
                self.assertEqual(self.reports(DC_PORT, host_frame_in(datagram)), [])


class CorePacketsAreNotReported(LearningTest):
    """FCN-3: a PE reports flows from its DC ports only, not from core ports."""

    def runTest(self) -> None:
        outer = srv6(roce(REMOTE_V4, HOST_V4, DEST_QP), REMOTE_PE, PE_RED_SID, traffic_class=2)
        self.assertEqual(self.reports(CORE_PORT, core_frame_in(outer)), [])


class LearningIsOffByDefault(PeTest):
    """FCN-16: unless learning is enabled nothing is reported, and no report is counted."""

    def runTest(self) -> None:
        before = self.counts()
        self.exchange(DC_PORT, host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP)))
        self.assertEqual(self.growth(before), {})


class WatchedFlowIsReportedAndLabelled(LearningTest):
    """FCN-3: a watched flow is labelled and reported once per learning window."""

    def runTest(self) -> None:
        for host, remote in TO_REMOTE:
            self.pe.flow(RED, host, remote, DEST_QP, LABEL, watched=True)
            frame = host_frame_in(roce(host, remote, DEST_QP))
            self.assertEqual(
                self.reports(DC_PORT, *[frame] * 20), [new_flow(host, remote, DEST_QP)]
            )
            outcome = self.exchange(DC_PORT, frame)
            self.assertEqual(
                [flow_label_of(datagram_of(got)) for got in outcome.frames[CORE_PORT]], [LABEL]
            )


class ReportsAreLimitedPerVrf(LearningTest):
    """FCN-15: beyond the limit of their VRF new flows are not reported but forwarded, and counted
    for the VRF; another VRF's are reported."""

    def runTest(self) -> None:
        budget = fy.P4MeterConfig(cir=1, cburst=4, pir=1, pburst=4)
        self.pe.report_limit(RED, budget)
        flood, started = 12, time.monotonic()
        red = [host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP + n)) for n in range(flood)]
        reported = len(self.reports(DC_PORT, *red))
        earned = math.ceil(budget.cir * (time.monotonic() - started))
        self.assertIn(reported, range(budget.cburst, budget.cburst + earned + 1))
        refused = read_counter(self.client, "vrf_refused", RED, BLUE)
        self.assertEqual([refused[vrf][0] for vrf in (RED, BLUE)], [flood - reported, 0])
        blue = [
            host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP + n), vlan=BLUE_VLAN)
            for n in range(flood)
        ]
        self.assertEqual(
            self.reports(DC_PORT, *blue),
            [new_flow(HOST_V4, REMOTE_V4, DEST_QP + n, vrf=BLUE) for n in range(flood)],
        )
