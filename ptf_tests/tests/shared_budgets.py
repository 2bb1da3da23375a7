"""Who shares a node's rate limits, and how (ALL-2, FCN-15, SRF-7)."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import cycle, islice

from fcn.packets.arn import Arn
from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.beds import (
    BLUE,
    HOST_V4,
    PE_ADDRESS,
    PE_BLUE_SID,
    PE_RED_SID,
    RED,
    REMOTE_BLUE_SID,
    REMOTE_PE,
    REMOTE_RED_SID,
    REMOTE_V4,
    core_frame_in,
)
from fcn.ptf_tests.lib.congestion import CongestedPTest, from_ingress_pe, tunnelled
from fcn.ptf_tests.lib.egress import EgressPeTest
from fcn.ptf_tests.lib.flow_control import FlowControlTest, arn_in, service_arn, services
from fcn.ptf_tests.lib.limits import SHARED, shares
from fcn.ptf_tests.lib.notifications import NotificationTest, fast_cnp_frame
from fcn.ptf_tests.lib.packets import Ecn, roce, srv6
from fcn.ptf_tests.lib.pe_flow_control import DEST_QP, PeFlowControlTest
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.transit_pe import OnAPe
from fcn.ptf_tests.lib.tunnels import customer_label

ONE, *MANY = range(0xA0000, 0xA0029)
"""Labels: a customer's one flow, another's."""
QP_IN_FRAME = slice(47, 50)
"""DestQP of the BTH behind Ethernet, IPv4 and UDP."""
WORD = slice(62, 65)
"""The label of a Fast CNP, and four more bits."""
ARN = slice(62, None)


def by_turns(one: bytes, many: Sequence[bytes]) -> list[bytes]:
    """One of ten frames, and the others in turn."""
    turn = cycle(many)
    return [each for _ in many for each in (*islice(turn, 9), one)]


def busy(fast: bytes, others: Sequence[bytes]) -> list[bytes]:
    """Nine of ten frames, and one of each of the others."""
    return [each for other in others for each in (*[fast] * 9, other)] * 3


def label_of(frame: bytes) -> Hashable:
    """Whom a Fast CNP is about."""
    return int.from_bytes(frame[WORD]) >> 4


def customer_of(frame: bytes) -> str:
    """Whose flow an ARN is about."""
    return str(Arn(frame[ARN]).label)


class _Shared:
    """Mixed into a test: who got how much of a budget of NOTICES."""

    def check_flows(
        self, told: Counter[Hashable], fast: Hashable, others: Sequence[Hashable]
    ) -> None:
        """A flow of which nine of ten frames are gets less than two thirds, and everybody some."""
        assert isinstance(self, FcnTest)
        self.assertEqual(told.keys(), {fast, *others})
        self.assertLess(told[fast], told.total() * 2 / 3, told)
        self.assertGreater(min(told.values()), told.total() / 24, told)

    def check_customers(self, told: Counter[Hashable], one: Hashable) -> None:
        """A customer whose one flow has a tenth of the frames beside 40 flows of another gets more
        than a tenth, not a flow's share."""
        assert isinstance(self, FcnTest)
        self.assertGreater(told[one], told.total() / 10, told)
        self.assertLess(told[one], told.total() * 2 / 3, told)


class CnpTest(_Shared, NotificationTest):
    """A PE that is told of flows whose DestQP is the end of their label."""

    def configure(self) -> None:
        """The one flow is BLUE's."""
        super().configure()
        self.pe.notification_meter(SHARED)
        for label in (ONE, *MANY):
            vrf = BLUE if label == ONE else RED
            self.pe.label_to_cnp(label, vrf, REMOTE_V4, HOST_V4, label & 0xFFFF)

    def told(self, order: list[bytes], qp: slice) -> Counter[Hashable]:
        """How many CNPs for whom; qp: where the DestQP is."""
        ports = CORE_PORT, DC_PORT, None
        return shares(self, order, "CNP_SENT", ports, lambda frame: int.from_bytes(frame[qp]))


class CnpsOfFlows(CnpTest):
    """ALL-2: of one customer."""

    def runTest(self) -> None:
        fast, *others = MANY[:6]
        order = busy(fast_cnp_frame(fast), [fast_cnp_frame(each) for each in others])
        told = self.told(order, QP_IN_FRAME)
        self.check_flows(told, fast & 0xFFFF, [each & 0xFFFF for each in others])


class CnpsOfCustomers(CnpTest):
    """ALL-2: only frames of BLUE have a tag, behind which the others have their DSCP and length."""

    def runTest(self) -> None:
        order = by_turns(fast_cnp_frame(ONE), [fast_cnp_frame(each) for each in MANY])
        self.check_customers(self.told(order, slice(12, 14)), 0x8100)


class FastCnpTest(_Shared, CongestedPTest):
    """A P whose queue towards the egress PE is congested."""

    level = 7
    interval_us = 1

    def told(self, order: list[bytes]) -> Counter[Hashable]:
        """How many Fast CNPs about which label."""
        self.p.notification_meter(SHARED)
        return shares(self, order, "FAST_CNP_SENT", (DC_PORT, DC_PORT, CORE_PORT), label_of)


class FastCnpsOfFlows(FastCnpTest):
    """ALL-2: in one tunnel."""

    def runTest(self) -> None:
        fast, *others = MANY[:6]
        order = busy(
            from_ingress_pe(tunnelled(fast)), [from_ingress_pe(tunnelled(each)) for each in others]
        )
        self.check_flows(self.told(order), fast, others)


class FastCnpsOfCustomers(FastCnpTest):
    """ALL-2: the one flow is in another tunnel."""

    def runTest(self) -> None:
        inner = roce(HOST_V4, REMOTE_V4, 0x118)
        other = srv6(inner, PE_ADDRESS, REMOTE_BLUE_SID, flow_label=ONE, traffic_class=Ecn.ECT0)
        order = by_turns(
            from_ingress_pe(other), [from_ingress_pe(tunnelled(each)) for each in MANY]
        )
        self.check_customers(self.told(order), ONE)


class NoticesOfCustomers(_Shared, EgressPeTest):
    """ALL-2, FCN-18: of an egress PE, about BLUE's one flow and RED's."""

    interval_us = 1

    def runTest(self) -> None:
        self.pe.notice_meter(SHARED)
        inner = roce(REMOTE_V4, HOST_V4, DEST_QP)

        def frame(label: int) -> bytes:
            sid = PE_BLUE_SID if label == ONE else PE_RED_SID
            datagram = srv6(inner, REMOTE_PE, sid, flow_label=label, traffic_class=Ecn.ECT0)
            return core_frame_in(datagram)

        order = by_turns(frame(ONE), list(map(frame, MANY)))
        ports = CORE_PORT, CORE_PORT, DC_PORT
        self.check_customers(shares(self, order, "FAST_CNP_SENT", ports, label_of), ONE)


class ArnsOfCustomers(_Shared, FlowControlTest):
    """ALL-2: of a P whose neighbours hold single flows, about flows in two tunnels."""

    mode = "FLOW"
    refresh_us = 1
    turns = staticmethod(by_turns)

    def runTest(self) -> None:
        self.p.hold_level(CORE_PORT, "CONGESTED")
        self.p.arn_meter(SHARED)

        def frame(number: int, sid: str = REMOTE_RED_SID) -> bytes:
            inner = roce(HOST_V4, REMOTE_V4, 0x118, sport=0xC000 + number)
            return core_frame_in(srv6(inner, PE_ADDRESS, sid, traffic_class=Ecn.ECT0), DC_PORT)

        order = self.turns(frame(0, REMOTE_BLUE_SID), [frame(each) for each in range(40)])
        told = shares(self, order, "ARN_SENT", (DC_PORT, DC_PORT, CORE_PORT), customer_of)
        self.check_told(told)

    def check_told(self, told: Counter[Hashable]) -> None:
        """The tunnels are the customers."""
        self.check_customers(told, str(customer_label(REMOTE_BLUE_SID)))


def half_and_half(one: bytes, many: Sequence[bytes]) -> list[bytes]:
    """One frame, and the others in turn."""
    return [each for other in many for each in (one, other)]


class ArnsOfAPe(OnAPe, ArnsOfCustomers):
    """FCN-15: of what passes a PE in tunnels of others it knows no customers. Frames are told of as
    they come, by chance: of one in ten nothing is said now and then."""

    turns = staticmethod(half_and_half)

    def check_told(self, told: Counter[Hashable]) -> None:
        """Some is said of both."""
        self.assertEqual(len(told), 2)


class ArnsOfAnEgressPe(_Shared, PeFlowControlTest):
    """ALL-2, SRF-7: about flows of two customers, whose port is congested."""

    mode = "FLOW"

    def runTest(self) -> None:
        self.pe.hold_level(DC_PORT, "CONGESTED")
        self.pe.arn_meter(SHARED)
        self.pe.flow_control_mode(self.mode, 1)

        def frame(number: int, sid: str = PE_RED_SID) -> bytes:
            inner = roce(REMOTE_V4, HOST_V4, DEST_QP, sport=0xC000 + number)
            return core_frame_in(srv6(inner, REMOTE_PE, sid, traffic_class=Ecn.ECT0))

        order = by_turns(frame(0, PE_BLUE_SID), [frame(each) for each in range(40)])
        told = shares(self, order, "ARN_SENT", (CORE_PORT, CORE_PORT, DC_PORT), customer_of)
        self.check_customers(told, str(customer_label(PE_BLUE_SID)))


class HoldsGoRound(FlowControlTest):
    """SRF-7: of more services than a neighbour may hold each is held in its turn."""

    def runTest(self) -> None:
        self.p.hold_meter(CORE_PORT, SHARED)
        self.p.hold_budget(48, longest_us=1_000)
        waiting = set(services(12))

        def all_held() -> bool:
            for dst in services(12):
                before = self.counts()
                self.exchange(CORE_PORT, arn_in(service_arn(dst=dst, time_us=1_000)))
                grown = self.growth(before)
                if grown.keys() & {"event HOLD_BEGUN", "event HOLD_RENEWED"}:
                    waiting.discard(dst)
            return not waiting

        self.wait_for("every service is held", all_held)


class HoldsOfAPeGoRound(OnAPe, HoldsGoRound):
    """SRF-7."""
