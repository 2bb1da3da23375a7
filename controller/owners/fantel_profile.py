"""FantelProfile: a P's FANTEL messages (p4src/fantel/messages/fantel_profile.p4)."""

from collections.abc import Iterable
from ipaddress import IPv6Address

from finsy import P4TableAction, P4TableEntry
from finsy.p4entity import P4Entity

from fcn.contract.pipeline import Pipeline
from fcn.controller.config.modes import FantelTransport
from fcn.controller.owners.flow_control import DSCP, UDP_SOURCE_PORT
from fcn.controller.owners.owner import Owner


class FantelProfile(Owner):
    """Header fields of FANTEL messages, and who this node is in them (FAN-1 to FAN-3)."""

    def set(
        self,
        src: IPv6Address,
        udp_dst_port: int,
        transport: FantelTransport,
        node: int,
        epoch: int,
    ) -> None:
        """Send messages with this source address. node: the number of this node; epoch: higher
        after each start of the switch, which then counts its messages from 0."""
        self._set(
            "fantel_profile",
            "set_fantel_profile",
            src=src,
            udp_src_port=UDP_SOURCE_PORT,
            udp_dst_port=udp_dst_port,
            dscp=DSCP,
            over_icmpv6=int(transport is FantelTransport.ICMPV6),
            node=node,
            epoch=epoch,
        )

    @staticmethod
    def epoch_in(held: Iterable[P4Entity], pipeline: Pipeline) -> int:
        """The epoch among what was read from a switch; 0 for one that has none yet."""
        for entity in held:
            if (
                isinstance(entity, P4TableEntry)
                and pipeline.schema.tables[entity.table_id].alias == "fantel_profile"
                and isinstance(entity.action, P4TableAction)
            ):
                return int(entity.action.args["epoch"])
        return 0
