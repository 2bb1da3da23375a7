"""TunnelVrf: the VRF of a VXLAN, GRE or MPLS tunnel (p4src/forwarding/tunnel_vrf.p4)."""

from fcn.contract.constants import enum_members
from fcn.controller.owners.owner import Owner


class TunnelVrf(Owner):
    """Decapsulates tunnels into VRFs (FCN-5)."""

    def terminate_vxlan(self, vni: int, vrf: int) -> None:
        """VXLAN over IPv6 with this VNI (RFC 7348)."""
        self._terminate("VXLAN", vni, vrf)

    def terminate_gre(self, key: int, vrf: int) -> None:
        """GRE over IPv6 with this key (RFC 2890, RFC 7676)."""
        self._terminate("GRE", key, vrf)

    def terminate_mpls_udp(self, label: int, vrf: int) -> None:
        """MPLS over UDP with this VPN label at the bottom of the stack (RFC 7510)."""
        self._terminate("MPLS_UDP", label, vrf)

    def _terminate(self, kind: str, tunnel_id: int, vrf: int) -> None:
        match = {"tunnel_type": enum_members("TunnelType")[kind], "tunnel_id": tunnel_id}
        self._put("tunnel_vrf", match, "set_tunnel_vrf", vrf=vrf)
