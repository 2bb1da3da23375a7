"""Equal-cost paths by the outer header including the flow label (FCN-2, RFC 6437, RFC 6438)."""

from collections import Counter

from fcn.contract.constants import FCN_LABEL_BIT
from fcn.ptf_tests.lib.beds import (
    DOMAIN,
    HOST_V4,
    HOST_V6,
    NEIGHBOUR_MAC,
    NODE_MAC,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    PeTest,
    PTest,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import datagram_of, roce, routed, srv6, udp, udp_flows
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT

DEST_QP = 0x100
FLOWS = 64
FAIR_SHARE = 0.25
"""Minimum of 64 flows on each of two paths: 16 or fewer has a probability below 1e-4."""


def both_paths() -> tuple[tuple[int, str, str], tuple[int, str, str]]:
    """Next hops behind the two core ports."""
    return (
        (CORE_PORT, NODE_MAC[CORE_PORT], NEIGHBOUR_MAC[CORE_PORT]),
        (CORE_PORT_2, NODE_MAC[CORE_PORT_2], NEIGHBOUR_MAC[CORE_PORT_2]),
    )


class PeSpreadsFlows(PeTest):
    """FCN-2: flows that differ only in their label use both paths, each flow a single path."""

    def configure_underlay(self) -> None:
        """Two equal paths."""
        self.pe.underlay(DOMAIN, *both_paths())

    def runTest(self) -> None:
        for i in range(FLOWS):
            self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP + i, FCN_LABEL_BIT + 7919 * i)
        self.check_spread([roce(HOST_V4, REMOTE_V4, DEST_QP + i) for i in range(FLOWS)])

    def check_spread(self, datagrams: list[bytes]) -> None:
        """Each datagram, sent three times, uses one path; both paths are used."""
        ports: Counter[int] = Counter()
        for datagram in datagrams:
            outcome = self.exchange(DC_PORT, *[host_frame_in(datagram)] * 3)
            self.assertEqual(len(outcome.frames), 1, "a flow must not be split")
            ((port, frames),) = outcome.frames.items()
            self.assertEqual(len(frames), 3)
            self.assertEqual(frames[0][0:6].hex(":"), NEIGHBOUR_MAC[port])
            self.assertEqual(frames[0][6:12].hex(":"), NODE_MAC[port])
            ports[port] += 1
        for port in (CORE_PORT, CORE_PORT_2):
            self.assertGreater(ports[port], FAIR_SHARE * len(datagrams), f"spread {dict(ports)}")


class PeSpreadsOtherTraffic(PeSpreadsFlows):
    """FCN-2: entropy labels distribute the flows of other traffic."""

    def runTest(self) -> None:
        self.check_spread(
            udp_flows(HOST_V6, REMOTE_V6, 1000, FLOWS // 2)
            + udp_flows(HOST_V4, REMOTE_V4, 1000, FLOWS // 2)
        )


class PSpreadsFlows(PTest):
    """FCN-2: a P distributes labelled flows too, and changes the hop limit only."""

    def runTest(self) -> None:
        self.p.underlay("fc00:0:99::/48", *both_paths())
        ports: Counter[int] = Counter()
        inner = roce(HOST_V4, REMOTE_V4, DEST_QP)
        for i in range(FLOWS):
            outer = srv6(inner, REMOTE_PE, "fc00:0:99::1", flow_label=FCN_LABEL_BIT + 7919 * i)
            outcome = self.exchange(DC_PORT, *[core_frame_in(outer, DC_PORT)] * 2)
            self.assertEqual(len(outcome.frames), 1, "a flow must not be split")
            ((port, frames),) = outcome.frames.items()
            self.assertEqual([datagram_of(f) for f in frames], [routed(outer)] * 2)
            ports[port] += 1
        for port in (CORE_PORT, CORE_PORT_2):
            self.assertGreater(ports[port], FAIR_SHARE * FLOWS, f"spread {dict(ports)}")


class WeightedPaths(PTest):
    """FCN-2: of two paths of weight 1 and 3 the second takes about three quarters of the flows."""

    def runTest(self) -> None:
        self.p.underlay("fc00:0:99::/48", *both_paths(), weights=(1, 3))
        inner = roce(HOST_V4, REMOTE_V4, DEST_QP)
        frames = [
            core_frame_in(
                srv6(inner, REMOTE_PE, "fc00:0:99::1", flow_label=FCN_LABEL_BIT + 7919 * i), DC_PORT
            )
            for i in range(FLOWS)
        ]
        outcome = self.exchange(DC_PORT, *frames)
        share = len(outcome.frames[CORE_PORT_2]) / FLOWS
        self.assertEqual(len(outcome.frames[CORE_PORT]), FLOWS - len(outcome.frames[CORE_PORT_2]))
        # Three quarters of 64, plus or minus five standard deviations
        self.assertGreater(share, 0.48)
        self.assertLess(share, 0.99)


class LostPathTakesNoTraffic(PeTest):
    """FCN-2: after a path is removed, every flow uses the remaining one."""

    def configure_underlay(self) -> None:
        """Two equal paths."""
        self.pe.underlay(DOMAIN, *both_paths())

    def runTest(self) -> None:
        self.pe.delete("underlay", match={"dst": DOMAIN})
        self.pe.underlay(DOMAIN, both_paths()[1])
        frames = [host_frame_in(each) for each in udp_flows(HOST_V4, REMOTE_V4, 1000, FLOWS)]
        outcome = self.exchange(DC_PORT, *frames)
        self.assertEqual(
            {port: len(got) for port, got in outcome.frames.items()}, {CORE_PORT_2: FLOWS}
        )


class UnderlayWithoutRoute(PeTest):
    """FCN-5: packets of a tunnel whose egress has no route are dropped and counted."""

    def configure_underlay(self) -> None:
        """No route at all."""

    def runTest(self) -> None:
        frame = host_frame_in(udp(HOST_V4, REMOTE_V4, 1, 2))
        self.check(DC_PORT, frame, drops={"NO_ROUTE": 1})
