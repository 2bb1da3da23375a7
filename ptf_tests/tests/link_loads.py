"""A P that tells an ingress PE how much of the links of its paths is in use (FAN-7)."""

from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from fcn.packets.fantel import Event, Fantel, FantelIcmpv6
from fcn.packets.fantel_tlvs import BufferStatus, DeviceLoad, LinkUtilization, PathId
from fcn.ptf_tests.lib.beds import P_ADDRESS, PE_ADDRESS
from fcn.ptf_tests.lib.congestion import from_ingress_pe
from fcn.ptf_tests.lib.flow_control import packet
from fcn.ptf_tests.lib.links import NEVER_US
from fcn.ptf_tests.lib.packets import Ecn
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT
from fcn.ptf_tests.lib.watched import CELL, EPOCH, NODE, PATH_ID, WatchedPTest, message

CHANGE = 100


class LoadSaidTest(WatchedPTest):
    """A P that measures the link behind CORE_PORT, and says so of a path."""

    says_hello = True
    interval_us = NEVER_US
    rate_kbps = 8
    refresh_us = NEVER_US

    def measure(self) -> None:
        """From now on; the hellos of the beginning count no more."""
        self.fall_silent()
        self.wait_for_rounds(12)
        self.watch_load(CHANGE)

    def watch_load(self, change: int) -> None:
        """Say it when it changes by so many permille."""
        self.p.watch_path_load(
            1,
            CORE_PORT,
            PATH_ID,
            cell=CELL,
            ingress_pe=PE_ADDRESS,
            change=change,
            refresh_us=self.refresh_us,
        )

    def next_load(self) -> Packet:
        """The next message of load for the PE: Fantel or FantelIcmpv6."""

        def found() -> Packet | None:
            frame = self.receive(DC_PORT)
            said = Ether(frame) if frame is not None else None
            for form in (Fantel, FantelIcmpv6):
                if said is not None and form in said and said[IPv6].dst == PE_ADDRESS:
                    return said[form]
            return None

        said = self.wait_for("a message of load", found)
        assert said is not None
        return said

    def send_burst(self) -> None:
        """Several seconds' worth of octets for the link."""
        for _ in range(40):
            self.send(DC_PORT, from_ingress_pe(packet()))


class SaidWhenItChanges(LoadSaidTest):
    """FAN-1, FAN-7: utilization of the link and load of the node, first when the watch begins, then
    when it differs by the configured change from what was said."""

    def runTest(self) -> None:
        self.measure()
        idle = self.receive(DC_PORT)
        nothing = (LinkUtilization(permille=0), DeviceLoad(permille=0))
        self.assertEqual(idle, message(Event.LOAD, 1, *nothing))
        self.wait_for_rounds(3)
        self.assertEqual(self.counts()["event FANTEL_SENT"], 1)
        self.send_burst()
        said, highest = 0, 0
        while highest < 500 or said > CHANGE:
            heard = self.next_load()
            now = heard[LinkUtilization].permille
            self.assertEqual(heard.event, Event.LOAD)
            self.assertGreaterEqual(abs(now - said), CHANGE)
            self.assertLessEqual(now, 1000)
            said, highest = now, max(highest, now)


class SaidAgain(LoadSaidTest):
    """FAN-7: what does not change is said again after the configured time, over ICMPv6, too."""

    refresh_us = 1

    def runTest(self) -> None:
        self.p.fantel_profile(P_ADDRESS, node=NODE.node, epoch=EPOCH, over_icmpv6=True)
        self.measure()
        first, second = self.next_load(), self.next_load()
        for said in (first, second):
            self.assertIsInstance(said, FantelIcmpv6)
            self.assertEqual(said[PathId].path_id, PATH_ID)
            self.assertEqual(said[LinkUtilization].permille, 0)


class QueueOfTheLink(LoadSaidTest):
    """FAN-7: a message of load says the queue's level and depth while packets leave a queue that
    stands; another level is said at once."""

    def runTest(self) -> None:
        self.p.level_policy(3, mark=Ecn.NOT_ECT, notify=False)
        self.p.queue_level(CORE_PORT, 3)
        self.measure()
        self.assertNotIn(BufferStatus, self.next_load())

        def standing() -> bool:
            self.send(DC_PORT, from_ingress_pe(packet()))
            said = self.next_load()
            return BufferStatus in said and said[BufferStatus].level == 3

        self.wait_for("the level of the queue", standing)
