"""TunnelEncap: the tunnels of a PE (p4src/forwarding/tunnel_encap.p4)."""

from dataclasses import dataclass
from ipaddress import IPv6Address

from fcn.contract.constants import enum_members
from fcn.controller.owners.owner import Owner


@dataclass(frozen=True, slots=True)
class Outer:
    """Parameters of every tunnel: outer addresses, and the encapsulation mode of the ECN field,
    `normal`, `compatibility` (RFC 6040 section 4.1) or `two_threshold` (PEC-5)."""

    src: IPv6Address
    dst: IPv6Address
    ecn_mode: str


class TunnelEncap(Owner):
    """Encapsulation of customer packets, by tunnel number (FCN-5)."""

    def encap_srv6(
        self,
        tunnel: int,
        src: IPv6Address,
        sids: tuple[IPv6Address, ...],
        *,
        reduced: bool,
        ecn_mode: str,
        tag: int = 0,
    ) -> None:
        """H.Encaps or H.Encaps.Red (RFC 8986 section 5) with SIDs in the order of the path, and the
        tag of the SRH (contract/paths.py).

        The SRH lists them in reverse order (RFC 8754 section 2). In the reduced form the first SID
        is in the destination address only, and a single SID needs no SRH.
        """
        listed = tuple(reversed(sids[1:] if reduced else sids))
        outer = Outer(src, sids[0], ecn_mode)
        if not listed:
            self._encap(tunnel, "encap_srv6", outer)
            return
        segments = {f"seg{index}": int(sid) for index, sid in enumerate(listed)}
        segments["segments_left"] = len(sids) - 1
        segments["tag"] = tag
        self._encap(tunnel, f"encap_srv6_srh{len(listed)}", outer, **segments)

    def encap_vxlan(
        self, tunnel: int, outer: Outer, vni: int, inner_src_mac: int, inner_dst_mac: int
    ) -> None:
        """VXLAN over IPv6 (RFC 7348)."""
        macs = {"inner_src_mac": inner_src_mac, "inner_dst_mac": inner_dst_mac}
        self._encap(tunnel, "encap_vxlan", outer, vni=vni, **macs)

    def encap_gre(self, tunnel: int, outer: Outer, key: int) -> None:
        """GRE with a key over IPv6 (RFC 2784, RFC 2890, RFC 7676)."""
        self._encap(tunnel, "encap_gre", outer, key=key)

    def encap_mpls_udp(
        self, tunnel: int, outer: Outer, vpn_label: int, sr_label: int | None
    ) -> None:
        """MPLS over UDP (RFC 7510): the VPN label, optionally below one SR label (RFC 8663)."""
        if sr_label is None:
            self._encap(tunnel, "encap_mpls_udp1", outer, vpn_label=vpn_label)
        else:
            labels = {"sr_label": sr_label, "vpn_label": vpn_label}
            self._encap(tunnel, "encap_mpls_udp2", outer, **labels)

    def _encap(self, tunnel: int, action: str, outer: Outer, **params: int) -> None:
        ecn_mode = enum_members("EcnEncapMode")[outer.ecn_mode.upper()]
        ends = {"src": outer.src, "dst": outer.dst}
        self._put("tunnel", {"tunnel": tunnel}, action, ecn_mode=ecn_mode, **ends, **params)
