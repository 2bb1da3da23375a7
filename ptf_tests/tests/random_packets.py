"""Sound and damaged packets of all kinds stop no node, and two targets do the same with them.

`FCN_RANDOM` ("packets,seed,file") has more of them sent, and what came of each group written to the
file, a line of JSON each: python -m fcn.ptf_tests.differences compares two such files.
"""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

from fcn.contract.ecn import Ecn
from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    P_END_SID,
    PE_ADDRESS,
    PE_END_SID,
    PE_RED_SID,
    REMOTE_PE,
    TO_HOST,
    TO_REMOTE,
    PTest,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.notifications import DEST_QP, LABEL_V4, LABEL_V6, NotificationTest
from fcn.ptf_tests.lib.packets import arn, fast_cnp, gre, mpls_udp, roce, srv6, udp, vxlan
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

Frames = list[tuple[int, bytes]]
"""Port and frame of each."""

FEW, SEED = 96, 1
GROUP = 32
"""Packets whose outcome is one line."""
SHORTEST = 15
"""Octets of the shortest frame a Linux interface sends."""
HEADERS = 110
"""Octets in which a damaged packet differs."""


def damaged(frame: bytes, draw: random.Random) -> bytes:
    """The frame, or one that differs from it behind its MAC addresses: other bits, octets, or an
    early end."""
    changed = bytearray(frame)
    end = min(len(frame), HEADERS)
    match draw.randrange(40):
        case 0:
            del changed[draw.randrange(SHORTEST, len(changed)) :]
        case way if way < 20:
            for _ in range(draw.randint(1, 3)):
                changed[draw.randrange(12, end)] ^= 1 << draw.randrange(8)
        case way if way < 28:
            at = draw.randrange(12, end)
            changed[at : at + 2] = draw.randbytes(min(2, len(frame) - at))
        case way if way < 34:
            changed[draw.randrange(12, end)] = draw.choice((0, 0xFF))
    return bytes(changed)


class RandomTest(FcnTest):
    """Packets drawn from a bed's sound ones."""

    def sound(self) -> Frames:
        """One of each kind."""
        raise NotImplementedError

    def groups(self, packets: int, seed: int) -> Iterator[tuple[int, list[bytes]]]:
        """Frames that go into one port together."""
        draw = random.Random(seed)
        by_port: dict[int, list[bytes]] = {}
        for port, frame in self.sound():
            by_port.setdefault(port, []).append(frame)
        for _ in range(0, packets, GROUP):
            port = draw.choice(sorted(by_port))
            yield port, [damaged(draw.choice(by_port[port]), draw) for _ in range(GROUP)]

    def send_packets(self) -> None:
        """Send them, write what comes of them; afterwards the node treats sound ones."""
        packets, seed, name = os.environ.get("FCN_RANDOM", f"{FEW},{SEED},{os.devnull}").split(",")
        after = self.counts()
        with Path(name).open("w") as file:
            for port, frames in self.groups(int(packets), int(seed)):
                outcome = self.exchange(port, *frames)
                before, after = after, self.counts()
                line = {
                    "in": [frame.hex() for frame in frames],
                    "out": {at: [f.hex() for f in sent] for at, sent in outcome.frames.items()},
                    "punts": [punt.payload.hex() for punt in outcome.punts],
                    "counters": {
                        key: after[key] - n for key, n in before.items() if after[key] != n
                    },
                }
                file.write(json.dumps(line) + "\n")
        for port, frame in self.sound():
            before = self.counts()
            outcome = self.exchange(port, frame)
            self.assertTrue(outcome.frames or outcome.punts or self.growth(before), frame.hex())


class AtAP(PTest, RandomTest):
    """A transit node, of which no queue is congested (FCN-1, FCN-8)."""

    def sound(self) -> Frames:
        """Tunnels of every kind, notifications, packets for the node."""
        inner = roce(HOST_V4, TO_REMOTE[0][1], DEST_QP)
        return [
            (DC_PORT, core_frame_in(datagram, DC_PORT))
            for datagram in (
                srv6(inner, PE_ADDRESS, REMOTE_PE, flow_label=LABEL_V4, traffic_class=Ecn.ECT0),
                srv6(inner, PE_ADDRESS, P_END_SID, (REMOTE_PE,), 1, flow_label=LABEL_V4),
                vxlan(inner, PE_ADDRESS, REMOTE_PE, 9, flow_label=LABEL_V4),
                gre(inner, PE_ADDRESS, REMOTE_PE, 5),
                mpls_udp(inner, PE_ADDRESS, REMOTE_PE, (16, 17)),
                fast_cnp(PE_ADDRESS, REMOTE_PE, LABEL_V4, 3),
                udp(PE_ADDRESS, P_ADDRESS, 5, 6, b"for the node"),
                arn(PE_ADDRESS, P_ADDRESS, b"no ARN"),
            )
        ]

    def runTest(self) -> None:
        self.send_packets()


class AtAPe(NotificationTest, RandomTest):
    """A PE that translates notifications and labels two flows (FCN-1, FCN-13)."""

    def sound(self) -> Frames:
        """Customers' packets, tunnels that end or go on, notifications."""
        customers = [roce(src, dst, qp) for src, dst in TO_REMOTE for qp in (DEST_QP, 0x222)]
        customers += [udp(src, dst, 7, 8, b"no RDMA") for src, dst in TO_REMOTE]
        back = [roce(src, dst, 0x333) for src, dst in TO_HOST]
        return [(DC_PORT, host_frame_in(datagram)) for datagram in customers] + [
            (CORE_PORT, core_frame_in(datagram))
            for datagram in (
                *(srv6(inner, REMOTE_PE, PE_RED_SID, traffic_class=Ecn.CE) for inner in back),
                *(srv6(inner, REMOTE_PE, PE_END_SID, (REMOTE_PE,), 1) for inner in back),
                fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4, 3),
                fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V6, 3),
                udp(HOST_V6, PE_ADDRESS, 5, 6, b"for the node"),
            )
        ]

    def runTest(self) -> None:
        self.send_packets()
