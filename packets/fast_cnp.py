"""The Fast CNP a congested node sends to the ingress PE (FCN-9, FCN-10).

Draft "Fast Congestion Notification in WAN", section 4.2.
"""

from scapy.fields import BitField
from scapy.layers.inet import UDP
from scapy.packet import Packet, bind_layers

from fcn.packets.wire import FAST_CNP_PORT

__all__ = ["FAST_CNP_LENGTH", "FAST_CNP_PORT", "FastCnp"]

FAST_CNP_LENGTH = 4
"""Octets after the UDP header; any other length is malformed."""


class FastCnp(Packet):  # type: ignore[misc]  # scapy is untyped
    """The word after the UDP header: FlowLabel(20) CL(3) Rvd(9).

    `level` is the congestion level, 1 (lowest) to 7, 0 when unused; `reserved` is sent as 0 and
    ignored by the receiver.
    """

    name = "FastCNP"
    fields_desc = (
        BitField("label", 0, 20),
        BitField("level", 0, 3),
        BitField("reserved", 0, 9),
    )


bind_layers(UDP, FastCnp, dport=FAST_CNP_PORT)
