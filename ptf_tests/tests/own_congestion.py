"""A congested ingress PE sends CNPs to the sender (FCN-12) and marks CE (SRF-3)."""

import time

from fcn.packets.roce import CNP_RESERVED, Opcode
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    PE_ADDRESS,
    PE_RED_SID,
    RED,
    RED_TUNNEL,
    REMOTE_BLUE_SID,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    REMOTE_V6,
    TO_HOST,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.notifications import (
    DEST_QP,
    LABEL_V4,
    LABEL_V6,
    SOURCE_QP,
    NotificationTest,
    cnp_v4_frame,
    cnp_v6_frame,
    fast_cnp_frame,
)
from fcn.ptf_tests.lib.packets import Ecn, cnp, ip, roce, routed, srv6, udp, with_ecn
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2

LEVEL = 3
TOLD = {"CNP_TRIGGERED": 1, "OWN_CONGESTION": 1, "CNP_SENT": 1}
LONG_INTERVAL_US = 60_000_000


def tunnelled(datagram: bytes, label: int, sid: str = REMOTE_RED_SID, ecn: int = 2) -> bytes:
    """The frame with a host's datagram as sent into the WAN."""
    outer = srv6(routed(datagram), PE_ADDRESS, sid, flow_label=label, traffic_class=ecn)
    return core_frame_out(outer)


class CongestedPeTest(NotificationTest):
    """Every packet towards the core passes a queue at congestion level LEVEL."""

    mark = Ecn.NOT_ECT
    notify = True
    interval_us = 0

    def configure(self) -> None:
        """The level and its policy."""
        super().configure()
        self.pe.queue_level(CORE_PORT, LEVEL)
        self.pe.level_policy(
            LEVEL, mark=self.mark, notify=self.notify, interval_us=self.interval_us
        )


class SenderIsToldByThePeItself(CongestedPeTest):
    """FCN-12: the packet is forwarded, the sender gets a standard CNP, over IPv4 and IPv6."""

    def runTest(self) -> None:
        for host, remote, label, expected in (
            (HOST_V4, REMOTE_V4, LABEL_V4, cnp_v4_frame()),
            (HOST_V6, REMOTE_V6, LABEL_V6, cnp_v6_frame()),
        ):
            for payload in (b"", bytes(64), bytes(1024), bytes(4096)):
                with self.subTest(host=host, payload=len(payload)):
                    datagram = roce(host, remote, DEST_QP, payload=payload)
                    self.check(
                        DC_PORT,
                        host_frame_in(datagram),
                        expect={CORE_PORT: [tunnelled(datagram, label)], DC_PORT: [expected]},
                        events=TOLD,
                    )


class SenderIsToldWhateverTheTunnel(CongestedPeTest):
    """FCN-12, FCN-5: the CNP is the same, whichever tunnel the flow takes."""

    def configure_red_tunnel(self) -> None:
        """None: the test writes the tunnels itself."""

    def runTest(self) -> None:
        segments = {f"seg{i}": f"fc00:0:2:{i}::" for i in range(4)}
        kinds: dict[str, dict[str, int | str]] = {
            "encap_srv6_srh4": {"segments_left": 4} | segments,
            "encap_vxlan": {
                "vni": 1,
                "inner_src_mac": "02:aa:00:00:00:01",
                "inner_dst_mac": "02:aa:00:00:00:02",
            },
            "encap_gre": {"key": 2},
            "encap_mpls_udp1": {"vpn_label": 16},
            "encap_mpls_udp2": {"sr_label": 16, "vpn_label": 17},
        }
        for action, parameters in kinds.items():
            self.pe.tunnel(RED_TUNNEL, action, src=PE_ADDRESS, dst=REMOTE_PE, **parameters)
            for host, remote, told in (
                (HOST_V4, REMOTE_V4, cnp_v4_frame()),
                (HOST_V6, REMOTE_V6, cnp_v6_frame()),
            ):
                with self.subTest(action=action, host=host):
                    before = self.counts()
                    frame = host_frame_in(roce(host, remote, DEST_QP))
                    outcome = self.exchange(DC_PORT, frame)
                    self.assertEqual(outcome.frames[DC_PORT], [told])
                    self.assertEqual(len(outcome.frames[CORE_PORT]), 1)
                    self.assertEqual(self.growth(before), {f"event {name}": 1 for name in TOLD})
            self.pe.delete("tunnel", match={"tunnel": RED_TUNNEL})


class TaggedSenderIsTold(CongestedPeTest):
    """FCN-12: the CNP is tagged when the sender is in a VLAN."""

    def runTest(self) -> None:
        self.pe.delete("port_role", match={"ingress_port": DC_PORT, "vlan_id": 0})
        for host, remote, label in ((HOST_V4, REMOTE_V4, 0x95000), (HOST_V6, REMOTE_V6, 0x95001)):
            self.pe.flow(BLUE, host, remote, DEST_QP, label)
            self.pe.label_to_cnp(label, BLUE, remote, host, SOURCE_QP)
            datagram = roce(host, remote, DEST_QP)
            told = host_frame_out(
                cnp(remote, host, SOURCE_QP), vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC
            )
            outcome = self.exchange(
                DC_PORT, host_frame_in(datagram, vlan=BLUE_VLAN), marker_port=CORE_PORT
            )
            outcome_later = self.exchange(CORE_PORT)
            frames = {
                port: outcome.frames.get(port, []) + outcome_later.frames.get(port, [])
                for port in (CORE_PORT, DC_PORT)
            }
            self.assertEqual(
                frames, {CORE_PORT: [tunnelled(datagram, label, REMOTE_BLUE_SID)], DC_PORT: [told]}
            )


class OnlyEcnCapableFlows(CongestedPeTest):
    """FCN-12, FCN-8: Not-ECT never causes a CNP; ECT(0), ECT(1) and CE do."""

    def runTest(self) -> None:
        for ecn in Ecn:
            with self.subTest(ecn=ecn.name):
                datagram = roce(HOST_V4, REMOTE_V4, DEST_QP, ecn=ecn)
                capable = ecn != Ecn.NOT_ECT
                self.check(
                    DC_PORT,
                    host_frame_in(datagram),
                    expect={CORE_PORT: [tunnelled(datagram, LABEL_V4, ecn=ecn)]}
                    | ({DC_PORT: [cnp_v4_frame()]} if capable else {}),
                    events=TOLD if capable else {},
                )


class WhatHasNoFlowCausesNothing(CongestedPeTest):
    """FCN-12: unmapped flows, CNPs, QP1 and other traffic cause no CNP under congestion."""

    def runTest(self) -> None:
        before = self.counts()
        for datagram in (
            roce(HOST_V4, REMOTE_V4, DEST_QP + 1),
            roce(HOST_V4, REMOTE_V4, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
            roce(HOST_V4, REMOTE_V4, 1, opcode=Opcode.UD_SEND_ONLY, payload=bytes(264)),
            udp(HOST_V4, REMOTE_V4, 1, 2, traffic_class=Ecn.ECT0),
            ip(HOST_V6, REMOTE_V6, b"tcp?" * 8, nh=253, traffic_class=Ecn.CE),
        ):
            outcome = self.exchange(DC_PORT, host_frame_in(datagram))
            self.assertEqual({port: len(f) for port, f in outcome.frames.items()}, {CORE_PORT: 1})
        self.assertEqual(self.growth(before), {})


class NotificationsUnderCongestionCauseNothing(CongestedPeTest):
    """FCN-8: a CNP towards a congested DC port, made from a Fast CNP, causes no other."""

    def runTest(self) -> None:
        self.pe.queue_level(DC_PORT, LEVEL)
        self.check(
            CORE_PORT,
            fast_cnp_frame(LABEL_V4),
            expect={DC_PORT: [cnp_v4_frame()]},
            events={"FAST_CNP_RECEIVED": 1, "CNP_SENT": 1},
        )


class UnknownSourceQpIsCounted(CongestedPeTest):
    """FCN-12, FCN-13: for a flow whose source QP is unknown congestion is counted, no CNP sent."""

    def runTest(self) -> None:
        self.pe.flow(RED, HOST_V4, REMOTE_V4, 0x777, 0x96000)
        self.pe.label_without_source_qp(0x96000, 4)
        datagram = roce(HOST_V4, REMOTE_V4, 0x777)
        self.check(
            DC_PORT,
            host_frame_in(datagram),
            expect={CORE_PORT: [tunnelled(datagram, 0x96000)]},
            drops={"SOURCE_QP_UNKNOWN": 1},
            events={"CNP_TRIGGERED": 1, "OWN_CONGESTION": 1},
        )


class DisabledNodeStaysSilent(CongestedPeTest):
    """FCN-16: without the feature, congestion causes no CNP."""

    def runTest(self) -> None:
        self.pe.domain_mode()
        datagram = roce(HOST_V4, REMOTE_V4, DEST_QP)
        self.check(
            DC_PORT, host_frame_in(datagram), expect={CORE_PORT: [tunnelled(datagram, LABEL_V4)]}
        )


class UncongestedPortStaysSilent(CongestedPeTest):
    """FCN-12: levels are per port: a queue that is not congested causes no CNP."""

    def configure(self) -> None:
        """Only the other port is congested."""
        super().configure()
        self.pe.delete_queue_level(CORE_PORT)
        self.pe.queue_level(DC_PORT_2, LEVEL)

    def runTest(self) -> None:
        datagram = roce(HOST_V4, REMOTE_V4, DEST_QP)
        self.check(
            DC_PORT, host_frame_in(datagram), expect={CORE_PORT: [tunnelled(datagram, LABEL_V4)]}
        )


class LevelWithoutNotification(CongestedPeTest):
    """FCN-12: a level whose policy does not notify causes no CNP, but can mark CE (SRF-3)."""

    notify = False
    mark = Ecn.CE

    def runTest(self) -> None:
        datagram = roce(HOST_V4, REMOTE_V4, DEST_QP)
        self.check(
            DC_PORT,
            host_frame_in(datagram),
            expect={CORE_PORT: [tunnelled(datagram, LABEL_V4, ecn=Ecn.CE)]},
            events={"CE_MARKED": 1},
        )


class LongIntervalLetsOneThrough(CongestedPeTest):
    """FCN-11, FCN-15: one flow under continuous congestion causes one CNP per interval."""

    interval_us = LONG_INTERVAL_US

    def runTest(self) -> None:
        datagram = roce(HOST_V4, REMOTE_V4, DEST_QP)
        self.check(
            DC_PORT,
            *[host_frame_in(datagram)] * 50,
            expect={CORE_PORT: [tunnelled(datagram, LABEL_V4)] * 50, DC_PORT: [cnp_v4_frame()]},
            events=TOLD | {"CNP_INTERVAL_SUPPRESSED": 49},
        )


class IntervalOfCnpsPasses(CongestedPeTest):
    """FCN-12, FCN-15: while its queue stays congested the PE goes on telling the sender, once in an
    interval of CNPs."""

    cnp_interval_us = 300_000

    def runTest(self) -> None:
        self.pe.enable_cnp(min_interval_us=self.cnp_interval_us)
        frame = host_frame_in(roce(HOST_V4, REMOTE_V4, DEST_QP))

        def cnps() -> int:
            return len(self.exchange(DC_PORT, frame).frames.get(DC_PORT, []))

        started = time.monotonic()
        self.assertEqual(cnps(), 1)
        for number in (1, 2):
            self.wait_for("the next CNP", cnps)
            elapsed = time.monotonic() - started
            self.assertGreaterEqual(elapsed, number * self.cnp_interval_us / 1e6)


class EgressMarkingTowardsTheHost(CongestedPeTest):
    """SRF-3: a congested DC port marks CE in the customer's header, with a valid IPv4 checksum.

    The ICRC does not cover ECN, so the packet stays valid for its receiver.
    """

    mark = Ecn.CE

    def runTest(self) -> None:
        self.pe.queue_level(DC_PORT, LEVEL)
        for remote, host in TO_HOST:
            for ecn in Ecn:
                with self.subTest(host=host, ecn=ecn.name):
                    datagram = roce(remote, host, DEST_QP, ecn=ecn)
                    outer = srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=ecn)
                    marks = ecn in (Ecn.ECT0, Ecn.ECT1)
                    after = with_ecn(routed(datagram), Ecn.CE) if marks else routed(datagram)
                    self.check_out_of_wan(outer, after, events={"CE_MARKED": 1} if marks else {})


class EgressMarkingAtChecksumCorners(CongestedPeTest):
    """SRF-3: the IPv4 checksum is valid where the sum wraps, for ECT(0) and ECT(1)."""

    mark = Ecn.CE

    def runTest(self) -> None:
        self.pe.queue_level(DC_PORT, LEVEL)
        for ecn in (Ecn.ECT0, Ecn.ECT1):
            base = routed(ip(REMOTE_V4, HOST_V4, b"x" * 8, id=0, proto=253, traffic_class=ecn))
            start = int.from_bytes(base[10:12], "big")
            for checksum in (0x0000, 0x0001, 0x0002, 0x0003, 0xFFFD, 0xFFFE):
                with self.subTest(ecn=ecn.name, checksum=hex(checksum)):
                    datagram = ip(
                        REMOTE_V4,
                        HOST_V4,
                        b"x" * 8,
                        id=(start - checksum) % 0xFFFF,
                        proto=253,
                        traffic_class=ecn,
                    )
                    self.assertEqual(int.from_bytes(routed(datagram)[10:12], "big"), checksum)
                    outer = srv6(datagram, REMOTE_PE, PE_RED_SID, traffic_class=ecn)
                    self.check_out_of_wan(
                        outer, with_ecn(routed(datagram), Ecn.CE), events={"CE_MARKED": 1}
                    )
