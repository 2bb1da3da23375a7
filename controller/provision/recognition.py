"""What a node knows notifications by on their way (docs/packets.md)."""

from fcn.contract.profiles import Mode
from fcn.controller.config.modes import FlowControlMode, Notification
from fcn.controller.config.tunnel_ends import end_con_sids
from fcn.controller.owners.notification_port import NotificationPort
from fcn.controller.owners.notification_sid import NotificationSid
from fcn.controller.provision.node_intent import NodeIntent


def recognise_notifications(to: NodeIntent) -> None:
    """Tell the node every kind that the domain uses: none is held, or causes another (ALL-1)."""
    config = to.config
    ports = NotificationPort(to.intent)
    ports.expect("FAST_CNP", config.fast_cnp_port)
    if config.notification is Notification.FANTEL or any(
        node.policies for node in config.nodes.values()
    ):
        ports.expect("FANTEL", config.fantel_port)
    if config.flow_control is FlowControlMode.OFF or Mode.FLOW_CONTROL not in to.pipeline.modes:
        return
    ports.expect("ARN", config.holding.udp_port)
    if config.notification is Notification.END_CON:
        sids = NotificationSid(to.intent)
        for sid in end_con_sids(config, to.name):
            sids.expect(sid)
