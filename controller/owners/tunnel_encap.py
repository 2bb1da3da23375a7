"""TunnelEncap: the tunnels of a PE (p4src/common/pe/tunnel_encap.p4)."""

from dataclasses import dataclass
from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.pipeline import Pipeline
from fcn.controller.owners.intent import Intent


@dataclass(frozen=True, slots=True)
class Outer:
    """What every tunnel has: addresses, and how the outer ECN field is set (RFC 6040 4.1)."""

    src: IPv6Address
    dst: IPv6Address
    ecn_mode: str


class TunnelEncap:
    """Puts customer packets into tunnels (FCN-5)."""

    def __init__(self, intent: Intent, pipeline: Pipeline) -> None:
        self._intent = intent
        self._ecn_modes = pipeline.enum("EcnEncapMode")

    def encap_srv6(
        self,
        tunnel: int,
        src: IPv6Address,
        sids: tuple[IPv6Address, ...],
        *,
        reduced: bool,
        ecn_mode: str,
    ) -> None:
        """H.Encaps or H.Encaps.Red (RFC 8986 section 5) with SIDs in the order of the path.

        The SRH lists them last first (RFC 8754 section 2); reduced, the first SID is in the
        destination address only, and one SID needs no SRH.
        """
        listed = tuple(reversed(sids[1:] if reduced else sids))
        outer = Outer(src, sids[0], ecn_mode)
        if not listed:
            self._put(tunnel, "encap_srv6", outer)
            return
        segments = {f"seg{index}": int(sid) for index, sid in enumerate(listed)}
        segments["segments_left"] = len(sids) - 1
        self._put(tunnel, f"encap_srv6_srh{len(listed)}", outer, **segments)

    def encap_vxlan(
        self, tunnel: int, outer: Outer, vni: int, inner_src_mac: int, inner_dst_mac: int
    ) -> None:
        """RFC 7348 over IPv6."""
        macs = {"inner_src_mac": inner_src_mac, "inner_dst_mac": inner_dst_mac}
        self._put(tunnel, "encap_vxlan", outer, vni=vni, **macs)

    def encap_gre(self, tunnel: int, outer: Outer, key: int) -> None:
        """RFC 2784 and 2890 over IPv6 (RFC 7676)."""
        self._put(tunnel, "encap_gre", outer, key=key)

    def encap_mpls_udp(
        self, tunnel: int, outer: Outer, vpn_label: int, sr_label: int | None
    ) -> None:
        """RFC 7510, with one SR label above the VPN label (RFC 8663) or none."""
        if sr_label is None:
            self._put(tunnel, "encap_mpls_udp1", outer, vpn_label=vpn_label)
        else:
            labels = {"sr_label": sr_label, "vpn_label": vpn_label}
            self._put(tunnel, "encap_mpls_udp2", outer, **labels)

    def _put(self, tunnel: int, action: str, outer: Outer, **params: int) -> None:
        self._intent.put(
            P4TableEntry(
                "tunnel",
                match=P4TableMatch(tunnel=tunnel),
                action=P4TableAction(
                    action,
                    ecn_mode=self._ecn_modes[outer.ecn_mode.upper()],
                    src=outer.src,
                    dst=outer.dst,
                    **params,
                ),
            )
        )
