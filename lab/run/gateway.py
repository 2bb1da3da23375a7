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
from fcn.controller.owners.gateway import Gateway as AnswersForGateway
from fcn.controller.owners.intent import Intent
from fcn.controller.owners.queue_level import QueueLevel
from fcn.controller.owners.tables import Tables
from fcn.controller.owners.vrf_routing import VrfRouting
from fcn.controller.provision.fast_cnp import set_mode
from fcn.controller.provision.ports import admit_customer, take_frames
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
    tables, routes, answers = Tables(intent), VrfRouting(intent), AnswersForGateway(intent)
    own = int(gateway.mac.replace(":", ""), 16)
    pe = config.nodes[gateway.pe]
    towards = pe.port(gateway.pe_port)
    assert towards is not None, "the configuration is that of the network"
    set_mode(tables)
    for port in (_UPLINK, *(host.port for host in gateway.hosts)):
        take_frames(tables, port, own)
        admit_customer(tables, port, 0, _VRF)
    for address in gateway.addresses:
        answers.answer(_UPLINK, 0, address, own)
    for prefix in _EVERYTHING:
        far = port_mac(gateway.pe, pe, towards)
        routes.deliver(_VRF, ip_network(prefix), _UPLINK, 0, own, far)
    for host in gateway.hosts:
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
