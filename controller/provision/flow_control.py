"""Precise flow control between neighbours, as the domain's mode says (SRF-5 to SRF-9)."""

from fcn.contract.profiles import Mode
from fcn.controller.config.check_pauses import sharing_holds
from fcn.controller.config.modes import FlowControlMode
from fcn.controller.owners.flow_control import FlowControl
from fcn.controller.provision.node_intent import NodeIntent


def hold(to: NodeIntent) -> None:
    """Hold for neighbours, and ask them and data centres to; or nothing of it (SRF-6)."""
    if Mode.FLOW_CONTROL not in to.pipeline.modes:
        return
    control = FlowControl(to.intent)
    mode, holding = to.config.flow_control, to.config.holding
    if mode is FlowControlMode.OFF:
        control.turn_off(holding.longest)
        return
    size = to.config.congestion.packet_size
    control.turn_on(mode, holding, to.node.notifications, size)
    control.know(to.neighbors(), holding)
    control.watch([port.number for port in to.node.core_ports], holding, size)
    if to.is_pe:
        # A tenant whose own port is congested stops no other's traffic.
        if not sharing_holds(to.config, to.name, to.node):
            control.watch(sorted({port.number for port in to.node.dc_ports}), holding, size)
        control.relieve({port.number: to.mac(port) for port in to.node.dc_ports}, holding)
        rates = {p.number: p.rate for p in to.node.dc_ports if p.heed_pause and p.rate}
        control.heed(rates, holding)
