"""Base class of every packet test: a freshly loaded program, exchanges of frames, counters.

An *exchange* sends frames into one port and returns everything that was sent on every port. It ends
on a condition, not after a delay: a marker follows the frames through the switch, and then a marker
is sent out of every port behind all frames that were caused.
"""

import queue
import time
import unittest
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import finsy as fy
import ptf
from ptf import testutils

from fcn.contract.constants import enum_members
from fcn.contract.names import EVENT_COUNTERS, named_cells
from fcn.contract.pipeline import load_pipeline
from fcn.contract.profiles import Mode
from fcn.ptf_tests.lib.asserts import Expected, assert_frames
from fcn.ptf_tests.lib.counters import read_counter, read_counters
from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient
from fcn.ptf_tests.lib.ports import ALL_PORTS, DC_PORT, UNUSED_PORT

_T = TypeVar("_T")
DEADLINE = 30.0
"""Seconds within which an expected condition must hold, also on a busy machine. The absence of a
frame is detected by the marker behind it, without waiting."""
_ROUNDS, _ROUNDS_OF_BMV2 = 2, 3
"""Markers behind a frame: of its own pass, and of what it causes, as copies are recirculated once.
BMv2 has threads for its egress ports: at that of the recirculation port a copy may come behind the
marker."""
_BURST = 16
"""Frames sent before waiting for them; below the receive buffer and queue depth of any target."""
_MARKER_ETHER_TYPE = b"\x88\xb5"
"""IEEE 802 local experimental EtherType 1, for markers that are sent by packet-out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an exchange."""

    frames: dict[int, list[bytes]] = field(default_factory=dict)
    """Frames in order, by egress port; ports without frames are missing."""
    punts: list[fy.P4PacketIn] = field(default_factory=list)
    """Packets sent to the controller, markers left out."""


class FcnTest(unittest.TestCase):
    """A test of one behaviour of a program; subclasses define `program`, `configure`, `runTest`."""

    program: ClassVar[str]
    needs: ClassVar[frozenset[Mode]] = frozenset()
    """Modes that the program must have; profiles without them leave the test out."""

    def setUp(self) -> None:
        """Load the program again, to reset the entries, counters and registers of other tests."""
        self.target: str = testutils.test_param_get("target")
        self.client = P4RuntimeClient(
            testutils.test_param_get("grpc_address"), testutils.test_param_get("device_id")
        )
        self.addCleanup(self.client.close)
        self.client.become_primary()
        profile = testutils.test_param_get("profile")
        self.client.set_pipeline(load_pipeline(self.program, profile=profile))
        self._serial = 0
        self._marker_punts = 0
        ptf.dataplane_instance.flush()
        with self.client.gathered():
            self.configure()
        # After the marker, no more messages of the replaced program can arrive.
        self.exchange(DC_PORT)
        self.client.discard_messages()

    def configure(self) -> None:
        """Write the entries the test needs."""

    # -- packets ---------------------------------------------------------------------------

    def exchange(self, port: int, *frames: bytes, marker_port: int | None = None) -> Outcome:
        """Send frames into `port`; return everything the switch sent because of them.

        marker_port: where markers enter, by default `port`; needed when `port` has no role.
        """
        outcome = Outcome()
        rounds = _ROUNDS_OF_BMV2 if self.target == "bmv2" else _ROUNDS
        for start in range(0, max(len(frames), 1), _BURST):
            for frame in frames[start : start + _BURST]:
                self.send(port, frame)
            for _ in range(rounds):
                self._pass_marker(port if marker_port is None else marker_port, outcome)
                self._flush_ports(outcome)
        return outcome

    def send(self, port: int, frame: bytes) -> None:
        self.client.flush()
        ptf.dataplane_instance.send(0, port, frame)

    def receive(self, port: int, timeout: float = DEADLINE) -> bytes | None:
        """The next frame out of `port`; None when none comes in time."""
        result = ptf.dataplane_instance.poll(device_number=0, port_number=port, timeout=timeout)
        if isinstance(result, ptf.dataplane.DataPlane.PollFailure):
            return None
        return bytes(result.packet)

    def packet_out(self, port: int, frame: bytes) -> None:
        """Send a frame out of `port` by packet-out."""
        self.client.packet_out(port, frame)

    def check(
        self,
        port: int,
        *frames: bytes,
        expect: Mapping[int, Sequence[Expected]] | None = None,
        drops: Mapping[str, int] | None = None,
        events: Mapping[str, int] | None = None,
        punts: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """Send frames; assert that exactly these frames, drops, events and packet-ins result.

        expect: frames by port. drops, events: growth of the counter of each member of DropReason
        and Event; others must not grow. punts: (member of PuntReason, frame) of packet-ins.
        """
        before = self.counts()
        outcome = self.exchange(
            port, *frames, marker_port=None if port != UNUSED_PORT else ALL_PORTS[0]
        )
        assert_frames(self, expect or {}, outcome.frames)
        reasons = {value: name for name, value in self.enum("PuntReason").items()}
        self.assertEqual(
            [(reason, frame.hex()) for reason, frame in punts],
            [(reasons[p["reason"]], p.payload.hex()) for p in outcome.punts],
            "packets to the controller",
        )
        wanted = {f"drop {name}": n for name, n in (drops or {}).items()}
        wanted |= {f"event {name}": n for name, n in (events or {}).items()}
        for reason, _ in punts:
            name = f"event PUNTED_{reason}"
            wanted[name] = wanted.get(name, 0) + 1
        self.assertEqual(wanted, self.growth(before), "counters that grew")

    def _pass_marker(self, port: int, outcome: Outcome) -> None:
        """Wait for an ARP request, punted from any port, to follow the frames sent into `port`."""
        self._serial += 1
        self._marker_punts += 1
        marker = _arp_marker(self._serial)
        self.send(port, marker)
        while True:
            punt = self.next_from(self.client.packet_ins, f"the marker sent into port {port}")
            if punt.payload == marker:
                return
            outcome.punts.append(punt)

    def _flush_ports(self, outcome: Outcome) -> None:
        """Collect what leaves each port until a frame from the controller comes after it."""
        markers = {}
        for port in ALL_PORTS:
            self._serial += 1
            markers[port] = bytes(12) + _MARKER_ETHER_TYPE + self._serial.to_bytes(46, "big")
            self.packet_out(port, markers[port])
        for port, marker in markers.items():
            while (frame := self.receive(port)) != marker:
                if frame is None:
                    self.fail(f"the packet-out to port {port} did not come out")
                outcome.frames.setdefault(port, []).append(frame)

    # -- counters --------------------------------------------------------------------------

    def enum(self, name: str) -> dict[str, int]:
        """Members of an enum of the programs."""
        return enum_members(name)

    def counts(self) -> dict[str, int]:
        """Packets by `drop <DropReason>` and `event <Event>`, without punted markers."""
        result: dict[str, int] = {}
        names = {counter: named_cells(counter) for counter in ("drops", *EVENT_COUNTERS)}
        for counter, cells in read_counters(self.client, names).items():
            kind = "drop" if counter == "drops" else "event"
            result |= {f"{kind} {names[counter][n]}": packets for n, (packets, _) in cells.items()}
        result["event PUNTED_ARP"] -= self._marker_punts
        return result

    def growth(self, before: Mapping[str, int]) -> dict[str, int]:
        """The counters that grew since `before`, with the difference."""
        after = self.counts()
        return {name: after[name] - n for name, n in before.items() if after[name] != n}

    def port_counter(self, counter: str, port: int) -> tuple[int, int]:
        """Packets and octets of a port in `port_rx` or `port_tx`."""
        return read_counter(self.client, counter, port)[port]

    def direct_counter_of(self, table: str) -> str:
        """Name of the direct counter attached to a table."""
        counter = self.client.schema.tables[table].direct_counter
        self.assertIsNotNone(counter, f"{table} has no direct counter")
        return str(counter.name) if counter else ""

    # -- messages and conditions -----------------------------------------------------------

    def next_from(self, source: "queue.Queue[_T]", what: str, timeout: float = DEADLINE) -> _T:
        """The next message of the switch; fails the test when none arrives in time."""
        try:
            return source.get(timeout=timeout)
        except queue.Empty:
            errors = list(self.client.stream_errors.queue)
            self.fail(f"{what} did not arrive within {timeout} s; stream errors: {errors}")

    def digests(self) -> list[tuple[str, dict[str, Any]]]:
        """Digest messages received so far: (digest name, fields), taken off the queue."""
        messages = []
        while not self.client.digests.empty():
            digest = self.client.digests.get()
            messages += [(digest.digest_id, dict(data)) for data in digest]
        return messages

    def wait_for(self, what: str, condition: Callable[[], _T], timeout: float = DEADLINE) -> _T:
        """Poll until `condition` is truthy and return it; fail the test when it stays falsy."""
        deadline = time.monotonic() + timeout
        while not (value := condition()):
            if time.monotonic() > deadline:
                self.fail(f"{what}: not within {timeout} s")
            time.sleep(0.005)
        return value


def _arp_marker(serial: int) -> bytes:
    """A unique ARP request; its sender hardware address is the serial number."""
    address = (0x02_00_00_00_00_00 | serial).to_bytes(6, "big")
    header = bytes.fromhex("0806 0001 0800 06 04 0001")
    return b"\xff" * 6 + address + header + address + bytes(4 + 6 + 4 + 18)
