"""ServiceTermination: which VRF a tunnel leads into (p4src/common/service_termination.p4)."""

from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.pipeline import Pipeline
from fcn.controller.owners.intent import Intent


class ServiceTermination:
    """Ends tunnels in VRFs (FCN-5)."""

    def __init__(self, intent: Intent, pipeline: Pipeline) -> None:
        self._intent = intent
        self._types = pipeline.enum("TunnelType")

    def terminate_srv6(self, sid: IPv6Address, vrf: int) -> None:
        """End.DT46 (RFC 8986 section 4.8)."""
        match = P4TableMatch(dst=sid)
        action = P4TableAction("end_dt46", vrf=vrf)
        self._intent.put(P4TableEntry("service_sid", match=match, action=action))

    def terminate_vxlan(self, vni: int, vrf: int) -> None:
        """RFC 7348 over IPv6."""
        self._terminate("VXLAN", vni, vrf)

    def terminate_gre(self, key: int, vrf: int) -> None:
        """RFC 2890 key, over IPv6 (RFC 7676)."""
        self._terminate("GRE", key, vrf)

    def terminate_mpls_udp(self, label: int, vrf: int) -> None:
        """VPN label at the bottom of the stack (RFC 7510)."""
        self._terminate("MPLS_UDP", label, vrf)

    def _terminate(self, kind: str, tunnel_id: int, vrf: int) -> None:
        match = P4TableMatch(tunnel_type=self._types[kind], tunnel_id=tunnel_id)
        action = P4TableAction("set_tunnel_vrf", vrf=vrf)
        self._intent.put(P4TableEntry("tunnel_vrf", match=match, action=action))
