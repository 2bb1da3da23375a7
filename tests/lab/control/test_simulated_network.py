"""The controller in the laboratory: it runs beside the switches of a simulation, and labels flows
of packets that hosts send over links."""

import asyncio

from wan_network import HOST_MAC, until

from fcn.controller.config import parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.controller.owners.digests import MAX_DELAY_NS
from fcn.lab.control.loop import NS, run
from fcn.lab.control.plane import NodeControl, controlled
from fcn.lab.control.switch import Request
from fcn.lab.core import Simulation
from fcn.ptf_tests.lib.packets import ethernet, roce
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import FcnSettings, controller_yaml

CHANNEL_NS, LINK_NS = 3_000_000, 7_000
RATE_BPS = 100 * 10**9


def frames_and_writes() -> tuple[int, list[tuple[int, str, bytes]]]:
    """When the first frame of a flow is at its PE, and what is written to the switches."""
    topology = network("wan")
    config = parse_config(controller_yaml(topology, FcnSettings()))
    requests: list[Request] = []
    with Simulation(seed=1) as simulation:
        nodes = {
            name: NodeControl(simulation.add_switch(name), CHANNEL_NS) for name in config.nodes
        }
        host = simulation.add_host("h1")
        port = next(each for each in topology.ports if each.peer == "h1")
        pe = simulation.switches[port.node]
        simulation.connect(
            host, 0, pe, port.number, rate_bps=RATE_BPS, delay_ns=LINK_NS, overhead=0
        )
        own = config.nodes[port.node].port(port.number)
        assert own is not None
        mac = format_mac(port_mac(port.node, config.nodes[port.node], own))
        source, target = (str(topology.addresses(name).ipv4.ip) for name in ("h1", "h3"))
        frame = ethernet(roce(source, target, 0x21), src=HOST_MAC, dst=mac)

        async def main() -> int:
            async with controlled(
                config, nodes, simulation, seed=1, observer=requests.append
            ) as running:
                planes = running.plane.nodes.values()
                await until(lambda: all(node.is_up for node in planes), "the switches")
                await asyncio.sleep(0.05)
                begun, sent = len(requests), simulation.now_ns
                host.send(frame)
                await until(lambda: bool(running.plane.flows.all()), "the flow")
                await asyncio.sleep(0.05)
                (write,) = (each for each in requests[begun:] if each.method == "Write")
                arrival = sent + LINK_NS + len(frame) * 8 * NS // RATE_BPS
                # From the PE to the controller and back.
                assert write.time_ns - arrival - MAX_DELAY_NS - 2 * CHANNEL_NS in (0, 1)
                assert write.node == port.node
                return arrival

        arrived = run(simulation, main())
    return arrived, [
        (each.time_ns, each.node, each.message.SerializeToString(deterministic=True))
        for each in requests
    ]


def test_two_runs_are_the_same() -> None:
    assert frames_and_writes() == frames_and_writes()
