"""What a node knows notifications by on their way (docs/packets.md)."""

from fcn.contract.constants import enum_members
from fcn.contract.profiles import Mode
from fcn.controller.config.modes import FlowControlMode, Notification
from fcn.controller.config.tunnel_ends import end_con_sids
from fcn.controller.owners.tables import Tables
from fcn.controller.provision.node_intent import NodeIntent


def recognise_notifications(to: NodeIntent) -> None:
    """Tell the node every kind that the domain uses: none is held, or causes another (ALL-1)."""
    config = to.config
    ports = {"FAST_CNP": config.fast_cnp_port}
    if config.notification is Notification.FANTEL or any(
        node.policies for node in config.nodes.values()
    ):
        ports["FANTEL"] = config.fantel_port
    if config.flow_control is not FlowControlMode.OFF and Mode.FLOW_CONTROL in to.pipeline.modes:
        ports["ARN"] = config.holding.udp_port
        if config.notification is Notification.END_CON:
            for sid in end_con_sids(config, to.name):
                to.tables.put("notification_sid", {"dst": sid}, "on_its_way")
    for kind, port in ports.items():
        expect(to.tables, kind, port)


def expect(tables: Tables, kind: str, udp_port: int) -> None:
    """Treat datagrams to this port as notifications of this kind (NotificationKind)."""
    number = enum_members("NotificationKind")[kind]
    match = {"udp_dst_port": udp_port}
    tables.put("notification_port", match, "set_notification_kind", kind=number)
