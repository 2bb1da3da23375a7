"""A customer's packet in every tunnel that shows it (FCN-5)."""

import zlib
from dataclasses import dataclass
from ipaddress import IPv6Address

from fcn.ptf_tests.lib.beds import REMOTE_PE, REMOTE_RED_SID
from fcn.ptf_tests.lib.packets import IpFields, gre, mpls_udp, srv6, vxlan

VNI = 9
GRE_KEY = 10
MPLS_LABEL = 17
_TRANSIT_SIDS = ("fc00:0:2::2", "fc00:0:2::3", "fc00:0:2::4")


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A packet from its underlay header on, and the label that an ARN has for the customer."""

    datagram: bytes
    customer: int


def customer_label(end: str, number: int = 0) -> int:
    """The 20 bits that tell customers apart: of the service SID, or the far end of the tunnel and
    the VNI, key or label there."""
    return zlib.crc32(IPv6Address(end).packed + number.to_bytes(4, "big")) & 0xFFFFF


def every_tunnel(inner: bytes, src: str, outer: IpFields) -> dict[str, Tunnel]:
    """By a name; the packet is from `src` and towards REMOTE_PE."""
    sid = customer_label(REMOTE_RED_SID)
    sids = (REMOTE_RED_SID, *_TRANSIT_SIDS)
    frame = vxlan(inner, src, REMOTE_PE, VNI, **outer)
    stacks = {"MPLS": (16, MPLS_LABEL), "MPLS, one label": (MPLS_LABEL,)}
    return {
        "SRv6": Tunnel(srv6(inner, src, REMOTE_RED_SID, **outer), sid),
        **{
            f"SRv6, {count} segments": Tunnel(
                srv6(inner, src, REMOTE_PE, sids[:count], count - 1, **outer), sid
            )
            for count in range(1, len(sids) + 1)
        },
        "VXLAN": Tunnel(frame, customer_label(REMOTE_PE, VNI)),
        "GRE": Tunnel(
            gre(inner, src, REMOTE_PE, GRE_KEY, **outer), customer_label(REMOTE_PE, GRE_KEY)
        ),
        "GRE without a key": Tunnel(
            gre(inner, src, REMOTE_PE, None, **outer), customer_label(REMOTE_PE)
        ),
        **{
            name: Tunnel(
                mpls_udp(inner, src, REMOTE_PE, stack, **outer),
                customer_label(REMOTE_PE, MPLS_LABEL),
            )
            for name, stack in stacks.items()
        },
    }
