"""The router in front of a data centre: the PE program without tunnels, on the softswitch's engine.

It stands for leaves, spines and gateway, which run no P4 program: hosts are on its ports, so that
their queues are those of the last leaf; the fabric before them is never congested. It marks CE as
the core does, and notifies nobody. No controller is connected to it.
"""

from ipaddress import ip_network

from fcn.contract.depth import Depth
from fcn.contract.ecn import Ecn
from fcn.contract.pipeline import load_pipeline
from fcn.contract.profiles import LEAST
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.model import Config
from fcn.controller.owners.domain_mode import DomainMode
from fcn.controller.owners.gateway import Gateway as AnswersForGateway
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.port_mac import PortMac
from fcn.controller.owners.port_role import PortRole
from fcn.controller.owners.queue_level import QueueLevel
from fcn.controller.owners.vrf_routing import VrfRouting
from fcn.lab.core import Simulation, SwitchNode
from fcn.lab.entries import write_intent
from fcn.lab.scenario.wiring import Gateway
from fcn.softswitch.engine import load_program

_VRF = 1
_UPLINK = 1
_EVERYTHING = ("0.0.0.0/0", "::/0")


def add_gateway(
    simulation: Simulation,
    gateway: Gateway,
    config: Config,
    memory_octets: int | None,
    thresholds: tuple[Depth, ...],
) -> SwitchNode:
    """A gateway as a switch of the simulation, with its entries. `config`: the controller's.
    `thresholds`: of the queues of hosts, in every mode."""
    compiled = load_pipeline("pe", profile=LEAST)
    assert compiled.blob is not None, "load_pipeline loaded it"
    program = load_program(compiled.blob)
    switch = simulation.add_switch(gateway.name, program, memory_octets=memory_octets)
    intent = Intent(compiled.schema)
    roles, routes, answers = PortRole(intent), VrfRouting(intent), AnswersForGateway(intent)
    own = int(gateway.mac.replace(":", ""), 16)
    pe = config.nodes[gateway.pe]
    towards = pe.port(gateway.pe_port)
    assert towards is not None, "the configuration is that of the network"
    DomainMode(intent).set()
    macs = PortMac(intent)
    macs.own(_UPLINK, own)
    roles.admit_customer(_UPLINK, 0, _VRF)
    for address in gateway.addresses:
        answers.answer(_UPLINK, 0, address, own)
    for prefix in _EVERYTHING:
        far = port_mac(gateway.pe, pe, towards)
        routes.deliver(_VRF, ip_network(prefix), _UPLINK, 0, own, far)
    for host in gateway.hosts:
        macs.own(host.port, own)
        roles.admit_customer(host.port, 0, _VRF)
        mac = int(host.mac.replace(":", ""), 16)
        for address in (host.ipv4, host.ipv6):
            routes.deliver(_VRF, ip_network(address), host.port, 0, own, mac)
    _mark(QueueLevel(intent), gateway, config, thresholds)
    write_intent(gateway.name, intent, compiled, switch.engine)
    return switch


def _mark(
    levels: QueueLevel, gateway: Gateway, config: Config, thresholds: tuple[Depth, ...]
) -> None:
    congestion = config.congestion
    depths = {(host.port, 0): thresholds for host in gateway.hosts}
    levels.set_thresholds(depths, congestion.packet_size)
    for level, policy in congestion.levels.items():
        mark = Ecn.CE if policy.mark else Ecn.NOT_ECT
        levels.set_policy(level, mark=mark, notify=False, interval=policy.interval)
