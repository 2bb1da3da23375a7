"""Packets of all shapes are held, and come out as if they had not waited (SRF-7)."""

from fcn.packets.arn import ArnType
from fcn.ptf_tests.lib.beds import HOST_V4, PE_ADDRESS, REMOTE_PE, REMOTE_V4
from fcn.ptf_tests.lib.flow_control import LABEL, FlowControlTest, frames_in, service_arn
from fcn.ptf_tests.lib.packets import ip, roce, srv6, udp
from fcn.ptf_tests.lib.ports import DC_PORT

END = ArnType.ELIMINATED
JUMBO = 8_900
"""Octets of payload: with all headers just below the MTU of the interfaces."""


class AllShapesAreHeld(FlowControlTest):
    """SRF-7: jumbo and shortest packets, fragments, and what is cut off or no IP inside; a tagged
    frame has no place on a core link, held or not."""

    def runTest(self) -> None:
        whole = roce(HOST_V4, REMOTE_V4, 0x118)
        fragment = bytearray(udp(HOST_V4, REMOTE_V4, 1, 4791, bytes(32)))
        fragment[6] |= 0x20
        inner = [
            udp(HOST_V4, REMOTE_V4, 1, 2, bytes(JUMBO)),
            udp(HOST_V4, REMOTE_V4, 1, 2, b""),
            ip(HOST_V4, REMOTE_V4, b"\0" * 400, ttl=1),
            bytes(fragment),
            whole[:20],
            whole[:7],
            b"\x4f" + b"\xff" * 60,
        ]
        datagrams = [srv6(each, PE_ADDRESS, REMOTE_PE, flow_label=LABEL) for each in inner]
        self.hold(service_arn())
        self.park(datagrams)
        self.park(datagrams)
        self.release(datagrams * 2, service_arn(END))
        self.hold(service_arn())
        tagged = [frame[:12] + b"\x81\x00\x00\x05" + frame[12:] for frame in frames_in(datagrams)]
        self.check(DC_PORT, *tagged, drops={"UNSUPPORTED": len(tagged)})
