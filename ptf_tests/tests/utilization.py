"""Utilization of links that are neither idle nor full, measured by a P and by a PE (FAN-7)."""

from fcn.contract.paths import PathShare
from fcn.packets.fantel_tlvs import DeviceLoad, LinkUtilization
from fcn.ptf_tests.lib.beds import HOST_V4, REMOTE_V4, host_frame_in
from fcn.ptf_tests.lib.congestion import from_ingress_pe, tunnelled
from fcn.ptf_tests.lib.packets import udp, udp_flows
from fcn.ptf_tests.lib.ports import DC_PORT
from fcn.ptf_tests.tests import link_loads, path_loads

RATE_KBPS = 3_000
"""About 1,900 octets in each round of the clock."""
ROUNDS = 80


def sizes() -> list[int]:
    """Octets of payload: most of the range that the rate of the link allows, in no order."""
    return [(217 * number) % 1400 for number in range(ROUNDS)]


class PartlyUsed(link_loads.LoadSaidTest):
    """FAN-1, FAN-7: what is said lies between idle and full, and follows what is sent."""

    rate_kbps = RATE_KBPS

    def runTest(self) -> None:
        self.fall_silent()
        self.wait_for_rounds(12)
        self.watch_load(change=1)
        for size in sizes():
            self.send(DC_PORT, from_ingress_pe(tunnelled(payload=size)))
            self.wait_for_rounds(0)
        heard = [self.next_load() for _ in range(ROUNDS // 8)]
        for kind in (LinkUtilization, DeviceLoad):
            said = {message[kind].permille for message in heard}
            self.assertGreater(len(said), 2, said)
            self.assertLessEqual(max(said), 1000)


class PartlyUsedByAPe(path_loads.OwnLink):
    """FAN-7: a PE takes the load of its own link as that of the path."""

    rate_kbps = RATE_KBPS

    def runTest(self) -> None:
        for size in sizes():
            flow = udp(HOST_V4, REMOTE_V4, 5000, 53, payload=bytes(size))
            self.send(DC_PORT, host_frame_in(flow))
            self.wait_for_rounds(0)
        self.assertGreater(self.of_slots("path_loads")[0], 2)


class EightPaths(path_loads.LoadTest):
    """FAN-7: of as many paths as a policy can have, new flows take the one that is used least."""

    shares = (PathShare(1),) * 8

    def runTest(self) -> None:
        port = 10_000
        for slot in range(len(self.shares)):
            self.load(slot, 1000, path_loads.STANDING)
        for least in range(len(self.shares)):
            self.load(least, 0)
            flows = udp_flows(HOST_V4, REMOTE_V4, port, 32)
            port += len(flows)
            self.assertEqual(set(self.paths_of(flows)), {least})
            self.load(least, 1000, path_loads.STANDING)
