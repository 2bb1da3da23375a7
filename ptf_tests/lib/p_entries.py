"""Methods that write the tables of the transit node (P4Info contract)."""

from fcn.packets.fantel import FANTEL_PORT
from fcn.packets.wire import FAST_CNP_PORT
from fcn.ptf_tests.lib.entries import NodeTables


class PTables(NodeTables):
    """The transit node."""

    def enable_fast_cnp(
        self,
        src: str,
        *,
        udp_src_port: int = 0xC0DE,
        udp_dst_port: int = FAST_CNP_PORT,
        traffic_class: int = 0xC0,
        hop_limit: int = 64,
        copy_label: bool = False,
    ) -> None:
        """Turn Fast CNPs on (FCN-16)."""
        self.domain_mode("FAST_CNP")
        self._profile(src, udp_src_port, udp_dst_port, traffic_class, hop_limit, copy_label)

    def enable_end_con(
        self, src: str, *, udp_src_port: int = 0xC0DE, traffic_class: int, hop_limit: int = 64
    ) -> None:
        """Turn CNPs to END.CON on (SRF-4)."""
        self.domain_mode("END_CON_CNP")
        self._profile(src, udp_src_port, 0, traffic_class, hop_limit, copy_label=False)

    def _profile(
        self,
        src: str,
        udp_src_port: int,
        udp_dst_port: int,
        traffic_class: int,
        hop_limit: int,
        copy_label: bool,
    ) -> None:
        self.set_default(
            "fast_cnp_profile",
            "set_fast_cnp_profile",
            src=src,
            udp_src_port=udp_src_port,
            udp_dst_port=udp_dst_port,
            traffic_class=traffic_class,
            hop_limit=hop_limit,
            copy_label=int(copy_label),
        )

    def core_path(
        self,
        ingress_pe: str,
        path_id: int,
        port: int,
        *,
        cell: int,
        interval_us: int,
        tag: int = 0,
        dst: str = "::",
    ) -> None:
        """A path through this node by a port, told by its tag, or without one by the destination;
        its failure is said again after interval_us."""
        self.insert(
            "core_path",
            "set_core_path",
            match={"ingress_pe": ingress_pe, "tag": tag, "dst": dst, "port": port},
            cell=cell,
            id=path_id,
            interval=interval_us,
        )

    def fantel_profile(
        self,
        src: str,
        *,
        node: int,
        epoch: int,
        udp_src_port: int = 0xC0DE,
        udp_dst_port: int = FANTEL_PORT,
        dscp: int = 48,
        over_icmpv6: bool = False,
    ) -> None:
        """How FANTEL messages of this node look, and who it is in them."""
        self.set_default(
            "fantel_profile",
            "set_fantel_profile",
            src=src,
            udp_src_port=udp_src_port,
            udp_dst_port=udp_dst_port,
            dscp=dscp,
            over_icmpv6=int(over_icmpv6),
            node=node,
            epoch=epoch,
        )
