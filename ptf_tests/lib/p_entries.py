"""Methods that write the tables of the transit node (P4Info contract)."""

from fcn.packets.fantel import FANTEL_PORT
from fcn.ptf_tests.lib.entries import NodeTables


class PTables(NodeTables):
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
            interval=self.target.ticks(interval_us),
        )

    def fantel_profile(
        self,
        src: str,
        *,
        node: int,
        epoch: int,
        over_icmpv6: bool = False,
    ) -> None:
        """How FANTEL messages of this node look, and who it is in them."""
        self.set_default(
            "fantel_profile",
            "set_fantel_profile",
            src=src,
            udp_src_port=0xC0DE,
            udp_dst_port=FANTEL_PORT,
            dscp=48,
            over_icmpv6=int(over_icmpv6),
            node=node,
            epoch=epoch,
        )
