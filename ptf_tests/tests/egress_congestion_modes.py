"""An egress PE tells the ingress PE by way of END.CON, and beside precise flow control (FCN-18)."""

from fcn.packets.roce import CNP_RESERVED, Opcode
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    HOST_V4,
    HOST_V6,
    NODE_MAC,
    PE_ADDRESS,
    PE_RED_SID,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    TO_HOST,
    core_frame_in,
    core_frame_out,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.egress import (
    END_CON_SENT,
    LABEL,
    LEVEL,
    REMOTE_END_CON,
    SENT,
    TRAFFIC_CLASS,
    EgressPeTest,
    arriving,
    notice,
    tunnels,
)
from fcn.ptf_tests.lib.end_con import end_con_cnp
from fcn.ptf_tests.lib.flow_control import priority_arn
from fcn.ptf_tests.lib.notifications import DEST_QP, SOURCE_QP
from fcn.ptf_tests.lib.packets import Ecn, cnp, datagram_of, roce, routed, srv6, udp
from fcn.ptf_tests.lib.pe_flow_control import (
    QUANTA,
    PeFlowControlTest,
    customer,
    from_p,
    leaving,
    pause,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2


class EndConOfAnEgressPe(EgressPeTest):
    """SRF-4, FCN-18: the CNP for the sender, every octet, whatever the tunnel."""

    def configure_feature(self) -> None:
        """CNPs to END.CON in place of Fast CNPs."""
        self.pe.enable_end_con(PE_ADDRESS, traffic_class=TRAFFIC_CLASS)

    def told(self, remote: str, host: str) -> bytes:
        """The frame towards the ingress PE's END.CON SID."""
        return core_frame_out(
            end_con_cnp(host, remote, DEST_QP, LABEL, sid=REMOTE_END_CON, source=PE_ADDRESS)
        )

    def runTest(self) -> None:
        for remote, host in TO_HOST:
            for payload in (0, 16, 1024, 8192):
                inner = roce(remote, host, DEST_QP, payload=bytes(payload))
                for name, datagram in tunnels(inner, REMOTE_END_CON).items():
                    with self.subTest(tunnel=name, host=host, payload=payload):
                        frame, told = core_frame_in(datagram), self.told(remote, host)
                        self.tells(inner, frame, told, END_CON_SENT)


class IngressPeTakesTheCnp(EndConOfAnEgressPe):
    """SRF-4: what an egress PE has sent, an ingress PE completes: the same switch plays both."""

    def runTest(self) -> None:
        notices = []
        for remote, host in TO_HOST:
            inner = roce(remote, host, DEST_QP)
            frame = arriving(inner, src=REMOTE_END_CON)
            (sent,) = self.exchange(CORE_PORT, frame).frames[CORE_PORT]
            notices.append(datagram_of(sent))
        pe = self.pe
        pe.enable_cnp(translates="END_CON_CNP")
        pe.end_con_sid(REMOTE_END_CON, BLUE)
        for (remote, host), sent in zip(TO_HOST, notices, strict=True):
            self.route_to_host(
                BLUE, f"{remote}/{128 if ':' in remote else 32}", DC_PORT_2, BLUE_HOST_MAC
            )
            pe.label_to_cnp(LABEL, BLUE, host, remote, SOURCE_QP)
            told = host_frame_out(
                cnp(host, remote, SOURCE_QP), port=DC_PORT_2, host_mac=BLUE_HOST_MAC
            )
            self.check(
                CORE_PORT,
                core_frame_in(sent),
                expect={DC_PORT_2: [told]},
                events={"END_CON_CNP_RECEIVED": 1, "CNP_SENT": 1},
            )
            pe.delete_label(LABEL, 6 if ":" in host else 4)


class NoSenderToTell(EndConOfAnEgressPe):
    """SRF-4: what is no RoCEv2 packet, or a CNP, is counted, and nobody is told."""

    def runTest(self) -> None:
        for inner in (
            udp(REMOTE_V4, HOST_V4, 1, 2, traffic_class=Ecn.ECT0),
            roce(REMOTE_V4, HOST_V4, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
            roce(REMOTE_V6, HOST_V6, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED),
            roce(REMOTE_V4, HOST_V4, DEST_QP, flags="MF"),
        ):
            with self.subTest(inner=inner.hex()):
                frame = arriving(inner, src=REMOTE_END_CON)
                self.tells_nobody(inner, frame, {"INNER_OPAQUE": 1})


class BesideFlowControl(PeFlowControlTest):
    """ALL-1, ALL-2: where neighbours hold services, the ingress PE is told all the same, and nobody
    holds or names what tells it; a held priority does not hold it."""

    def configure(self) -> None:
        """Both are on; core and data centre are congested beyond all thresholds."""
        super().configure()
        pe = self.pe
        pe.notification_port()
        pe.enable_cnp()
        pe.enable_fast_cnp(PE_ADDRESS, traffic_class=TRAFFIC_CLASS)
        for port in (DC_PORT, CORE_PORT):
            pe.queue_level(port, LEVEL)
        pe.hold_level(CORE_PORT, "CONGESTED")
        pe.level_policy(LEVEL, mark=Ecn.NOT_ECT, notify=True, interval_us=0)
        pe.dc_relief(DC_PORT, "PAUSE", refresh_us=0, mac=NODE_MAC[DC_PORT], quanta=QUANTA)

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)
        frame = core_frame_in(
            srv6(inner, REMOTE_PE, PE_RED_SID, flow_label=LABEL, traffic_class=Ecn.ECT0)
        )
        expect = {DC_PORT: [host_frame_out(routed(inner))], CORE_PORT: [notice()]}
        self.check(CORE_PORT, frame, expect=expect, events=SENT)


class BesideFlowControlOfFlows(BesideFlowControl):
    """ALL-1, ALL-2: where they hold single flows."""

    mode = "FLOW"


class BesideFlowControlOfPriorities(BesideFlowControl):
    """ALL-1, ALL-2: where they hold a priority."""

    mode = "PRIORITY"


class HeldPriorities(BesideFlowControlOfPriorities):
    """ALL-1: the Fast CNP leaves while its own priority is held."""

    def runTest(self) -> None:
        self.hold_own_priority()
        super().runTest()

    def hold_own_priority(self) -> None:
        """That of TRAFFIC_CLASS."""
        self.check(
            CORE_PORT,
            from_p(priority_arn(priority=TRAFFIC_CLASS >> 5)),
            events={"ARN_RECEIVED": 1, "HOLD_BEGUN": 1},
        )


class BesideRelief(BesideFlowControl):
    """ALL-2, FCN-12, SRF-8: what goes the other way pauses its data centre and tells its sender,
    as if nothing else were."""

    def runTest(self) -> None:
        before = self.counts()
        outcome = self.exchange(DC_PORT, host_frame_in(customer(1)))
        told = host_frame_out(cnp(REMOTE_V4, HOST_V4, SOURCE_QP))
        self.assertCountEqual(outcome.frames[DC_PORT], [told, pause(QUANTA)])
        self.assertEqual(outcome.frames[CORE_PORT], [leaving(1)])
        kinds = ("CNP_TRIGGERED", "CNP_SENT", "OWN_CONGESTION", "PAUSE_TRIGGERED", "PAUSE_SENT")
        self.assertEqual(self.growth(before), {f"event {name}": 1 for name in kinds})
