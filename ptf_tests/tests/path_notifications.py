"""FANTEL messages for an ingress PE: who is believed, about what, and what is malformed."""

import struct
from random import Random

from fcn.packets.fantel import Event, Fantel
from fcn.packets.fantel_tlvs import (
    BufferStatus,
    DeviceLoad,
    FailureCause,
    FiveTuple,
    LinkUtilization,
    Origin,
    PathId,
    Tlv,
)
from fcn.ptf_tests.lib.beds import (
    HOST_V4,
    P_ADDRESS,
    PE_ADDRESS,
    PE_RED_SID,
    REMOTE_V4,
    core_frame_in,
    host_frame_in,
)
from fcn.ptf_tests.lib.packets import srv6
from fcn.ptf_tests.lib.path_messages import LINKS, Link, PathMessageTest, fantel, notification
from fcn.ptf_tests.lib.paths import FIRST_PATH_ID, NEVER_US
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.tests.paths import SOME_FLOWS

RECEIVED = {"FANTEL_RECEIVED": 1}
V4_TUPLE = FiveTuple(ip_version=4, label=1, protocol=17, src4=HOST_V4, dst4=REMOTE_V4)
V6_TUPLE = FiveTuple(ip_version=6, label=0x80001, protocol=4, src6=PE_ADDRESS, dst6="fc00:0:2::")
EXTRA: tuple[tuple[Tlv, ...], ...] = (
    (),
    (V4_TUPLE,),
    (V6_TUPLE, FailureCause(cause=2)),
    (BufferStatus(queue=1, level=7, depth=1 << 31),),
    (LinkUtilization(permille=1000), DeviceLoad(permille=0)),
    (V4_TUPLE, FailureCause(), BufferStatus(), LinkUtilization(), DeviceLoad(permille=1000)),
)
"""Parameters behind origin and path, in their order."""


class EveryParameter(PathMessageTest):
    """FAN-1, FAN-2: a message is understood whatever parameters it has besides the path."""

    def runTest(self) -> None:
        for number, extra in enumerate(EXTRA):
            with self.subTest(extra=[tlv.name for tlv in extra]):
                for sequence, (event, left) in enumerate(
                    ((Event.FAILURE, {1}), (Event.FAILURE_CLEARED, {0, 1})), 2 * number + 1
                ):
                    message = notification(event, FIRST_PATH_ID, LINKS[0], 1, sequence, *extra)
                    self.check(CORE_PORT, core_frame_in(message), events=RECEIVED)
                    self.assertEqual(set(self.paths_of(SOME_FLOWS)), left)


class FailedUntilAllSayWell(PathMessageTest):
    """FAN-4: a path of which two links have failed has failed until both are well again; what one
    says does not end what another said."""

    def runTest(self) -> None:
        self.tell(Event.FAILURE, 0, LINKS[0])
        self.tell(Event.FAILURE, 0, LINKS[2])
        self.tell(Event.FAILURE_CLEARED, 0, LINKS[0])
        self.tell(Event.FAILURE_CLEARED, 0, LINKS[1])
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        self.tell(Event.FAILURE_CLEARED, 0, LINKS[2])
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})
        # What is said by hand no link ends; well by hand ends what all said: a message may be lost.
        self.say("FAILED", 0)
        self.tell(Event.FAILURE, 0)
        self.tell(Event.FAILURE_CLEARED, 0)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        self.tell(Event.FAILURE, 0)
        self.say("WELL", 0)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class OldMessages(PathMessageTest):
    """FAN-8: a copy of a message, or one that was overtaken, says nothing; a node that has started
    again begins a new epoch. Numbers compare in the circle of RFC 1982."""

    def speak(self, event: Event, epoch: int, sequence: int, *, is_news: bool = True) -> None:
        """Send it; it is stale unless it is news."""
        message = notification(event, FIRST_PATH_ID, LINKS[0], epoch, sequence)
        drops = {} if is_news else {"NOTIFICATION_STALE": 1}
        self.check(CORE_PORT, core_frame_in(message), events=RECEIVED, drops=drops)

    def runTest(self) -> None:
        self.speak(Event.FAILURE, 5, 10)
        self.speak(Event.FAILURE_CLEARED, 5, 10, is_news=False)
        self.speak(Event.FAILURE_CLEARED, 5, 9, is_news=False)
        self.speak(Event.FAILURE_CLEARED, 4, 1000, is_news=False)
        self.speak(Event.FAILURE_CLEARED, 5, 10 + (1 << 31), is_news=False)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        self.speak(Event.FAILURE_CLEARED, 6, 0)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})
        self.speak(Event.FAILURE_CLEARED, 7, (1 << 32) - 2)
        self.speak(Event.FAILURE, 7, 1)
        self.speak(Event.FAILURE_CLEARED, 7, (1 << 32) - 2, is_news=False)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
        # What a register has before the first message is no message's.
        for _ in range(2):
            nothing = notification(Event.FAILURE, FIRST_PATH_ID, LINKS[2], 0, 0)
            self.check(
                CORE_PORT, core_frame_in(nothing), events=RECEIVED, drops={"NOTIFICATION_STALE": 1}
            )
        # Each link has numbers of its own.
        self.tell(Event.FAILURE, 0, LINKS[1])


class OnlyThoseOnThePath(PathMessageTest):
    """FAN-8: of a path only its own links and nodes speak, each from the node's address; nobody
    outside the trusted prefixes is heard."""

    def runTest(self) -> None:
        strangers = (
            Link(P_ADDRESS, 7, 3),
            Link(P_ADDRESS, 8, 0),
            Link("fc00:0:10::2", 7, 1),
            Link("fc00:0:10::3", 7, 1),
        )
        for link in strangers:
            with self.subTest(link=link):
                message = notification(Event.FAILURE, FIRST_PATH_ID, link, 1, 1)
                self.check(
                    CORE_PORT,
                    core_frame_in(message),
                    events=RECEIVED,
                    drops={"PATH_REPORTER_UNKNOWN": 1},
                )
        for path_id in (0, FIRST_PATH_ID - 1, FIRST_PATH_ID + 2, 0xFFFFFFFF):
            with self.subTest(path_id=path_id):
                message = notification(Event.FAILURE, path_id, LINKS[0], 1, 1)
                self.check(
                    CORE_PORT,
                    core_frame_in(message),
                    events=RECEIVED,
                    drops={"PATH_REPORTER_UNKNOWN": 1},
                )
        outside = Link("fc00:0:11::1", 7, 1)
        self.may_report(0, outside, 100, 8)
        self.check(
            CORE_PORT,
            core_frame_in(notification(Event.FAILURE, FIRST_PATH_ID, outside, 1, 1)),
            events=RECEIVED,
            drops={"NOTIFICATION_UNTRUSTED": 1},
        )
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class NothingFromCustomers(PathMessageTest):
    """FAN-8: what a tenant sends is a customer's packet, on a DC port and in a tunnel, and never
    speaks of a path."""

    def runTest(self) -> None:
        message = notification(Event.FAILURE, FIRST_PATH_ID, LINKS[0], 1, 1)
        self.check(DC_PORT, host_frame_in(message), drops={"NOTIFICATION_ON_DC_PORT": 1})
        inside = srv6(message, P_ADDRESS, PE_RED_SID)
        self.check(CORE_PORT, core_frame_in(inside), drops={"NO_ROUTE": 1})
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class WhatIsNotSaid(PathMessageTest):
    """FAN-7, FAN-8: a message without a path, one of load without utilization, and one of another
    type are sound, but nothing here acts on them: counted."""

    def runTest(self) -> None:
        origin = Origin(node=7, link=1, epoch=1, sequence=1)
        unsupported = (
            Fantel(event=Event.FAILURE, parameters=[origin]),
            Fantel(event=Event.FAILURE, parameters=[origin, V6_TUPLE, FailureCause()]),
            Fantel(event=Event.LOAD, parameters=[origin, PathId(path_id=FIRST_PATH_ID)]),
            Fantel(
                event=Event.LOAD,
                parameters=[origin, PathId(path_id=FIRST_PATH_ID), DeviceLoad(permille=7)],
            ),
            Fantel(event=0, parameters=[origin, PathId(path_id=FIRST_PATH_ID)]),
            Fantel(event=6, parameters=[origin, PathId(path_id=FIRST_PATH_ID)]),
        )
        for message in unsupported:
            with self.subTest(message=message.command()):
                frame = core_frame_in(fantel(P_ADDRESS, message))
                self.check(CORE_PORT, frame, events=RECEIVED, drops={"FANTEL_UNSUPPORTED": 1})
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class Malformed(PathMessageTest):
    """FAN-8: versions, lengths and checksum are checked; whatever else is changed or cut off is
    counted and says nothing."""

    hold_down_us = NEVER_US

    def refused(self, packet: bytes) -> None:
        """It is malformed, wherever that is noticed."""
        before = self.counts()
        self.exchange(CORE_PORT, core_frame_in(packet))
        grown = self.growth(before)
        grown.pop("event FANTEL_RECEIVED", None)
        self.assertIn(
            grown,
            [
                {f"drop {reason}": 1}
                for reason in ("NOTIFICATION_MALFORMED", "BAD_LENGTH", "MALFORMED")
            ],
        )

    def message(self, *parameters: Tlv) -> bytes:
        """The octets behind UDP of a failure of the first path."""
        origin = Origin(node=7, link=1, epoch=1, sequence=1)
        path = PathId(path_id=FIRST_PATH_ID)
        return bytes(Fantel(event=Event.FAILURE, parameters=[origin, path, *parameters]))

    def runTest(self) -> None:
        whole = self.message(V6_TUPLE, FailureCause(), BufferStatus(), LinkUtilization())
        # Version, Code, and type, version and length of each TLV
        words = [0, 4, 24, 32, 76, 84, 96]
        places = [0, 2, *(at + i for at in words[1:] for i in range(4))]
        for at in places:
            for bit in (0x01, 0x80):
                changed = bytearray(whole)
                changed[at] ^= bit
                with self.subTest(at=at, bit=bit):
                    self.refused(fantel(P_ADDRESS, bytes(changed)))
        for length in range(0, len(whole), 3):
            with self.subTest(length=length):
                self.refused(fantel(P_ADDRESS, whole[:length]))
        self.refused(fantel(P_ADDRESS, whole + bytes(4)))
        self.refused(fantel(P_ADDRESS, whole, checksum=0))
        self.refused(fantel(P_ADDRESS, whole, checksum=0x1234))
        for broken in (
            BufferStatus(level=8),
            LinkUtilization(permille=1001),
            DeviceLoad(permille=0xFFFF),
            FiveTuple(ip_version=5),
        ):
            with self.subTest(broken=broken.command()):
                self.refused(fantel(P_ADDRESS, self.message(broken)))
        good = fantel(P_ADDRESS, whole)
        for length in (8, len(whole) + 7, len(whole) + 9, 0xFFFF):
            lying = good[:44] + struct.pack("!H", length) + good[46:]
            with self.subTest(udp_length=length):
                self.refused(lying)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})
        self.check(CORE_PORT, core_frame_in(good), events=RECEIVED)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})


class AnyOctets(PathMessageTest):
    """FAN-8: random octets behind the port, and random changes of a message, end nothing and move
    no path (seed 13)."""

    def runTest(self) -> None:
        random = Random(13)
        whole = notification(Event.FAILURE, FIRST_PATH_ID, LINKS[0], 1, 1, V4_TUPLE, FailureCause())
        frames = []
        for _ in range(300):
            frames.append(core_frame_in(fantel(P_ADDRESS, random.randbytes(random.randrange(120)))))
            changed = bytearray(whole)
            for _ in range(random.randrange(1, 4)):
                # What is behind the checksum, so that it is wrong
                changed[random.randrange(48, len(whole))] ^= 1 << random.randrange(8)
            frames.append(core_frame_in(bytes(changed)))
        before = self.counts()
        self.exchange(CORE_PORT, *frames)
        grown = self.growth(before)
        self.assertEqual(grown["event FANTEL_RECEIVED"], len(frames))
        self.assertGreaterEqual(grown["drop NOTIFICATION_MALFORMED"], len(frames) - 5)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {0, 1})


class ChecksumZero(PathMessageTest):
    """FAN-8, RFC 8200 section 8.1: a checksum that would be 0 is sent as all ones, and is right."""

    def runTest(self) -> None:
        for sequence in range(1, 1 << 17):
            message = notification(Event.FAILURE, FIRST_PATH_ID, LINKS[0], 1, sequence)
            if message[46:48] == b"\xff\xff":
                break
        else:
            self.fail("no sequence number has a checksum of 0")
        self.check(CORE_PORT, core_frame_in(message), events=RECEIVED)
        self.assertEqual(set(self.paths_of(SOME_FLOWS)), {1})
