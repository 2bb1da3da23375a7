"""An egress PE whose port to a data centre is congested asks the neighbour a packet came from to
hold it, as any other congested node does (SRF-7)."""

from fcn.packets.arn import Arn, ArnType
from fcn.packets.roce import CNP_RESERVED, Opcode
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    PE_ADDRESS,
    PE_BLUE_SID,
    PE_RED_SID,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    TO_HOST,
    core_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.egress import (
    KEY,
    LEVEL,
    SENT,
    TRAFFIC_CLASS,
    VNI,
    VPN_LABEL,
    notice,
    tunnels,
)
from fcn.ptf_tests.lib.flow_control import ARN_TIME_US, flow_arn, priority_arn, service_arn
from fcn.ptf_tests.lib.notifications import cnp_v4_frame, fast_cnp_frame
from fcn.ptf_tests.lib.packets import Ecn, roce, routed
from fcn.ptf_tests.lib.paused_dc import (
    arriving,
    blue,
    customer,
    delivered,
    delivered_to_blue,
    delivered_to_second,
    second,
    tunnelled,
)
from fcn.ptf_tests.lib.pe_flow_control import DEST_QP, LABEL, SOURCE_QP, PeFlowControlTest, to_p
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT, DC_PORT_2
from fcn.ptf_tests.lib.tunnels import customer_label

END = ArnType.ELIMINATED
ASKED = {"ARN_TRIGGERED": 1, "ARN_SENT": 1}


class CongestedDcPortTest(PeFlowControlTest):
    """The queue of DC_PORT is beyond `hold_at`."""

    def configure(self) -> None:
        """That of DC_PORT_2 is not."""
        super().configure()
        self.pe.hold_level(DC_PORT, "CONGESTED")
        self.pe.hold_level(DC_PORT_2, "BETWEEN")

    def name(self, kind: ArnType = ArnType.DETECTED) -> Arn:
        """What the neighbour is to hold of customer()."""
        return service_arn(kind, ARN_TIME_US, src=REMOTE_PE, dst=PE_RED_SID)


class NeighbourIsAsked(CongestedDcPortTest):
    """SRF-7: once within the refresh interval; when the queue is relieved, that it may go on."""

    outer_priority = 0

    def frame(self, psn: int) -> bytes:
        """Of the neighbour P."""
        return arriving(customer(psn), outer_priority=self.outer_priority)

    def runTest(self) -> None:
        first, *others, last = (customer(psn) for psn in range(5))
        self.check(
            CORE_PORT,
            self.frame(0),
            expect={DC_PORT: [delivered(first)], CORE_PORT: [to_p(self.name())]},
            events=ASKED,
        )
        self.check(
            CORE_PORT,
            *map(self.frame, range(1, 4)),
            expect={DC_PORT: [delivered(each) for each in others]},
            events={"ARN_INTERVAL_SUPPRESSED": len(others)},
        )
        self.pe.delete_hold_level(DC_PORT)
        self.pe.hold_level(DC_PORT, "RELIEVED")
        self.check(
            CORE_PORT,
            self.frame(4),
            expect={DC_PORT: [delivered(last)], CORE_PORT: [to_p(self.name(END))]},
            events=ASKED,
        )


class NeighbourIsAskedForAFlow(NeighbourIsAsked):
    """SRF-6: by the inner five-tuple."""

    mode = "FLOW"

    def name(self, kind: ArnType = ArnType.DETECTED) -> Arn:
        """And by whose it is."""
        label = customer_label(PE_RED_SID)
        return flow_arn(kind, ARN_TIME_US, src=REMOTE_V4, dst=HOST_V4, customer=label)


class NeighbourIsAskedForAPriority(NeighbourIsAsked):
    """SRF-6: that of the tunnel."""

    mode = "PRIORITY"
    outer_priority = 3

    def name(self, kind: ArnType = ArnType.DETECTED) -> Arn:
        """By the DSCP of the underlay."""
        return priority_arn(kind, ARN_TIME_US, self.outer_priority)


class EveryTunnelIsAskedFor(CongestedDcPortTest):
    """SRF-6, SRF-7: a flow is named alike whatever its tunnel, of IPv4 and IPv6 customers."""

    mode = "FLOW"

    def runTest(self) -> None:
        pe, types = self.pe, self.enum("TunnelType")
        pe.flow_control_mode(self.mode, 0)
        numbers = {"VXLAN": VNI, "GRE": KEY, "MPLS": VPN_LABEL}
        for kind, number in zip(("VXLAN", "GRE", "MPLS_UDP"), numbers.values(), strict=True):
            pe.tunnel_vrf(types[kind], number, RED)
        for remote, host in TO_HOST:
            for payload in (0, 1024):
                inner = roce(remote, host, DEST_QP, payload=bytes(payload))
                for kind, datagram in tunnels(inner).items():
                    with self.subTest(kind=kind, host=host, payload=payload):
                        label = customer_label(PE_RED_SID)
                        if kind in numbers:
                            label = customer_label(PE_ADDRESS, numbers[kind])
                        message = flow_arn(
                            time_us=ARN_TIME_US, src=remote, dst=host, customer=label
                        )
                        self.check(
                            CORE_PORT,
                            core_frame_in(datagram),
                            expect={
                                DC_PORT: [host_frame_out(routed(inner))],
                                CORE_PORT: [to_p(message)],
                            },
                            events=ASKED,
                        )


class TaggedCustomerIsAskedFor(CongestedDcPortTest):
    """SRF-7: a VLAN tag is the data centre's alone; the ARN names BLUE's tunnel."""

    def runTest(self) -> None:
        message = service_arn(time_us=ARN_TIME_US, src=REMOTE_PE, dst=PE_BLUE_SID)
        self.check(
            CORE_PORT,
            blue(1),
            expect={DC_PORT: [delivered_to_blue(customer(1))], CORE_PORT: [to_p(message)]},
            events=ASKED,
        )


class OnlyItsNeighbourIsAsked(CongestedDcPortTest):
    """SRF-7: who is behind the port it came in by, and nobody about what leaves by another port."""

    def runTest(self) -> None:
        self.check(
            CORE_PORT_2,
            core_frame_in(tunnelled(customer(1)), CORE_PORT_2),
            expect={
                DC_PORT: [delivered(customer(1))],
                CORE_PORT_2: [to_p(self.name(), CORE_PORT_2)],
            },
            events=ASKED,
        )
        self.check(
            CORE_PORT, arriving(second(1)), expect={DC_PORT_2: [delivered_to_second(second(1))]}
        )
        self.pe.delete("arn_upstream", match={"port": CORE_PORT})
        self.check(CORE_PORT, arriving(customer(1)), expect={DC_PORT: [delivered(customer(1))]})


class AskedBesideFastCnps(CongestedDcPortTest):
    """ALL-2, FCN-18: the ingress PE is told and the neighbour is asked, by one packet."""

    def configure(self) -> None:
        """Fast CNPs for ingress PEs."""
        super().configure()
        self.pe.notification_port()
        self.pe.enable_cnp()
        self.pe.enable_fast_cnp(PE_ADDRESS, traffic_class=TRAFFIC_CLASS)
        self.pe.queue_level(DC_PORT, LEVEL)
        self.pe.level_policy(LEVEL, mark=Ecn.NOT_ECT, notify=True, interval_us=0)

    def runTest(self) -> None:
        inner = customer(1)
        before = self.counts()
        outcome = self.exchange(CORE_PORT, core_frame_in(tunnels(inner)["SRv6"]))
        self.assertEqual(outcome.frames[DC_PORT], [delivered(inner)])
        message = self.name()
        message.metric = LEVEL
        self.assertCountEqual(outcome.frames[CORE_PORT], [notice(), to_p(message)])
        self.assertEqual(self.growth(before), {f"event {name}": 1 for name in (*SENT, *ASKED)})


class NotificationsAskForNothing(AskedBesideFastCnps):
    """ALL-1: a CNP made here, for a sender behind the congested port."""

    def runTest(self) -> None:
        self.pe.enable_cnp(translates="FAST_CNP")
        self.check(
            CORE_PORT,
            fast_cnp_frame(LABEL),
            expect={DC_PORT: [cnp_v4_frame(SOURCE_QP)]},
            events={"FAST_CNP_RECEIVED": 1, "CNP_SENT": 1},
        )


class CustomersCnpIsAskedFor(CongestedDcPortTest):
    """SRF-7: a CNP of a customer is traffic like any other."""

    def runTest(self) -> None:
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP, opcode=Opcode.CNP, payload=CNP_RESERVED)
        self.check(
            CORE_PORT,
            arriving(inner),
            expect={DC_PORT: [delivered(inner)], CORE_PORT: [to_p(self.name())]},
            events=ASKED,
        )
