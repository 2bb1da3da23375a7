"""The two ends of a VXLAN tunnel: a VXLAN device of the kernel and our PE's tables."""

from interop_testbed import (
    HOST_PREFIXES,
    LINUX_ADDRESS,
    PE_ADDRESS,
    TUNNEL_V4,
    TUNNEL_V6,
    VRF,
    VXLAN_DEVICE,
    InteropTestbed,
)

from fcn.contract.constants import enum_members
from fcn.ptf_tests.lib.pe_entries import PeTables

VNI = 77
OUR_MAC, LINUX_MAC = "02:aa:00:00:00:01", "02:aa:00:00:00:02"
"""Inner Ethernet addresses: a routed VXLAN tunnel is a link between two routers."""
NEXT_HOPS = ("169.254.1.1", "fe80::a:1")


def our_vxlan(pe: PeTables) -> None:
    """Route both families into the tunnel, and decapsulated packets in the VRF."""
    for tunnel in (TUNNEL_V4, TUNNEL_V6):
        pe.tunnel(
            tunnel,
            "encap_vxlan",
            src=PE_ADDRESS,
            dst=LINUX_ADDRESS,
            vni=VNI,
            inner_src_mac=OUR_MAC,
            inner_dst_mac=LINUX_MAC,
        )
    pe.tunnel_vrf(enum_members("TunnelType")["VXLAN"], VNI, VRF)


def linux_vxlan(testbed: InteropTestbed, checksum: str = "noudp6zerocsumtx") -> None:
    """A VXLAN device towards our PE that accepts zero UDP checksums, and routes over it."""
    linux = testbed.linux
    linux.ip(
        f"link add {VXLAN_DEVICE} mtu 1500 type vxlan id {VNI} local {LINUX_ADDRESS}"
        f" remote {PE_ADDRESS} dstport 4789 nolearning udp6zerocsumrx {checksum}"
    )
    linux.sysctl(f"net.ipv4.conf.{VXLAN_DEVICE}.rp_filter", 0)
    linux.ip(f"link set {VXLAN_DEVICE} address {LINUX_MAC} up")
    for prefix, next_hop in zip(HOST_PREFIXES, NEXT_HOPS, strict=True):
        linux.ip(f"neigh replace {next_hop} lladdr {OUR_MAC} dev {VXLAN_DEVICE} nud permanent")
        linux.ip(f"route add {prefix} via {next_hop} dev {VXLAN_DEVICE} onlink proto static")
