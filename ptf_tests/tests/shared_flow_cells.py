"""Flows that hash alike share what a PE remembers of them, also those of other policies."""

from collections.abc import Sequence
from itertools import product
from socket import inet_aton
from zlib import crc32

from fcn.contract.constants import POLICY_BIT
from fcn.packets.fantel import Event
from fcn.ptf_tests.lib.beds import HOST_V4, PE_ADDRESS, RED, REMOTE_V4
from fcn.ptf_tests.lib.packets import udp
from fcn.ptf_tests.lib.path_messages import PathMessageTest
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID, FIRST_TUNNEL, NEVER_US, path_sid
from fcn.ptf_tests.tests.path_loads import STANDING, LoadTest

OTHER_V4 = "10.3.0.1"
"""Behind another policy, whose paths end where the slots from OTHER_SLOT on would."""
OTHER_SLOT = 4
FIRST_PORT = 53
IPPROTO_UDP = 17


def cell_of(dst: str, src_port: int, dst_port: int) -> int:
    """The cell of a UDP flow of RED's host, as flow_spread.p4 and entropy.p4 hash it."""
    ports = src_port.to_bytes(2, "big") + dst_port.to_bytes(2, "big")
    flow = RED.to_bytes(2, "big") + inet_aton(HOST_V4) + inet_aton(dst) + bytes([IPPROTO_UDP])
    return crc32(crc32(flow + ports).to_bytes(4, "big") + bytes(3)) >> 16


def flows_in(cells: Sequence[int], dst: str) -> list[bytes]:
    """For each of these cells a flow to `dst`, but none to FIRST_PORT."""
    found: dict[int, bytes] = {}
    for dst_port, src_port in product(range(FIRST_PORT + 1, 1 << 16), range(1 << 16)):
        cell = cell_of(dst, src_port, dst_port)
        if cell in cells:
            found.setdefault(cell, udp(HOST_V4, dst, src_port, dst_port))
            if len(found) == len(set(cells)):
                break
    return [found[cell] for cell in cells]


FLOWS = [udp(HOST_V4, REMOTE_V4, 1000 + i, FIRST_PORT) for i in range(16)]
CELLS = [cell_of(REMOTE_V4, 1000 + i, FIRST_PORT) for i in range(16)]


class SharedCellTest(PathMessageTest):
    """Two policies of two paths each."""

    flowlet_us = NEVER_US

    def configure(self) -> None:
        """In addition: the other policy."""
        super().configure()
        number = POLICY_BIT | 9
        for slot in range(len(self.shares)):
            self.pe.tunnel(
                FIRST_TUNNEL + OTHER_SLOT + slot, "encap_srv6", src=PE_ADDRESS,
                dst=path_sid(OTHER_SLOT + slot),
            )  # fmt: skip
        self.pe.route(RED, f"{OTHER_V4}/32", "to_tunnel", tunnel=number)
        self.pe.policy(
            4, number, FIRST_TUNNEL + OTHER_SLOT, FIRST_PATH_ID + OTHER_SLOT, self.shares,
            flowlet_us=self.flowlet_us,
        )  # fmt: skip

    def occupy(self) -> None:
        """Flows of the other policy come first."""
        taken = set(self.paths_of(flows_in(CELLS, OTHER_V4)))
        self.assertEqual(taken, {OTHER_SLOT, OTHER_SLOT + 1})


class CellOfAnotherPolicy(SharedCellTest):
    """FAN-6, FAN-7: a flow whose cell another policy's flow is using leaves its path for a failure
    only, too: at once, and not for congestion, which would let it overtake itself."""

    def runTest(self) -> None:
        self.occupy()
        before = self.paths_of(FLOWS)
        self.assertEqual(set(before), {0, 1})
        self.tell(Event.CONGESTION, 0)
        self.assertEqual(self.paths_of(FLOWS), before)
        self.tell(Event.CONGESTION_CLEARED, 0)
        self.assertEqual(self.paths_of(FLOWS), before)
        self.tell(Event.FAILURE, 0)
        self.assertEqual(set(self.paths_of(FLOWS)), {1})
        self.tell(Event.FAILURE, 1)
        self.assertEqual(set(self.paths_of(FLOWS)), {1})


class OneCellOnePath(SharedCellTest):
    """FAN-7: flows of a policy that share a cell take one path, also while another policy's flow is
    using it: whichever is first when that pauses, no other is moved."""

    def runTest(self) -> None:
        self.occupy()
        self.assertEqual(self.paths_of(flows_in(CELLS, REMOTE_V4)), self.paths_of(FLOWS))


class CellThatWasLeft(SharedCellTest, LoadTest):
    """FAN-7: a flow that begins where one of another policy has ended takes the path used less."""

    flowlet_us = 1

    def runTest(self) -> None:
        self.load(0, 1000, STANDING)
        self.occupy()
        self.assertEqual(set(self.paths_of(FLOWS)), {1})
