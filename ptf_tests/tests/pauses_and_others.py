"""What waits for a data centre that pauses changes nothing for another that was paused itself
(SRF-8, SRF-9)."""

from fcn.ptf_tests.lib.beds import (
    HOST2_MAC,
    HOST2_V6,
    HOST_V6,
    NODE_MAC,
    host_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.flow_control import LONG_US
from fcn.ptf_tests.lib.packets import routed, srv6, udp
from fcn.ptf_tests.lib.paused_dc import PausedDcTest, pause_frame
from fcn.ptf_tests.lib.pe_flow_control import QUANTA
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, DC_PORT_2


class OwnTunnelEndsNoPause(PausedDcTest):
    """SRF-8: what waited for one data centre and leaves says nothing to another that this PE has
    paused: its own congested queue has not been relieved."""

    def configure(self) -> None:
        """Relief by PAUSE frames at the second port, whose traffic to the WAN meets a queue."""
        super().configure()
        self.pe.dc_relief(
            DC_PORT_2, "PAUSE", refresh_us=LONG_US, mac=NODE_MAC[DC_PORT_2], quanta=QUANTA
        )
        self.pe.hold_level(CORE_PORT, "CONGESTED")

    def runTest(self) -> None:
        to_wan = udp(HOST2_V6, "2001:db8:2::10", 1, 2)
        frame = host_frame_in(to_wan, port=DC_PORT_2, host_mac=HOST2_MAC)
        before = self.counts()
        self.exchange(DC_PORT_2, frame)
        self.assertEqual(self.growth(before)["event PAUSE_SENT"], 1)
        self.pause(priority=0)
        inner = udp("2001:db8:aaaa::1", "2001:db8:aaaa::2", 1, 2)
        tunnel = srv6(inner, HOST2_V6, HOST_V6)
        self.send(DC_PORT_2, host_frame_in(tunnel, port=DC_PORT_2, host_mac=HOST2_MAC))
        self.wait_for("it waits", lambda: self.counts()["event HOLD_PARKED"] == 1)
        before = self.counts()
        self.end(priority=0)
        self.assertEqual(self.hex(self.receive(DC_PORT)), host_frame_out(routed(tunnel)).hex())
        self.exchange(DC_PORT, pause_frame({}))
        self.assertNotIn("event PAUSE_SENT", self.growth(before))
