"""The controller infers who sends a flow from packets alone, in virtual time: it was away when all
connections but the first were opened."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from wan_network import until

from fcn.controller.config.model import FlowSettings
from fcn.controller.flows.provenance import Origin
from fcn.lab.control.loop import NS, run
from fcn.lab.control.plane import Controlled, NodeControl, controlled
from fcn.lab.core import Simulation
from fcn.lab.roce import RoceHost, State
from fcn.lab.run.build import Built, build
from fcn.lab.scenario.load import make_scenario
from fcn.packets.roce import Opcode
from fcn.ptf_tests.lib.packets import ethernet, roce

T = TypeVar("T")

DELAY_NS = 1_000_000
EVERY_NS = 5_000_000
"""Between two messages of a packet."""

CONNECTIONS = 16
AFTER = 5
"""Seconds that hosts go on to send after every sender is known."""

Learned = tuple[str, int, int | None]
"""Of a flow: node, queue pair, that of the sender."""


@dataclass(frozen=True)
class Wan:
    """Topology `wan` with its controller; h1 opens connections to h3."""

    built: Built
    running: Controlled

    @property
    def sender(self) -> RoceHost:
        """h1, behind pe1."""
        return self.built.hosts["h1"]

    @property
    def receiver(self) -> RoceHost:
        """h3, behind pe2."""
        return self.built.hosts["h3"]

    @property
    def now_ns(self) -> int:
        """Virtual time."""
        return self.built.simulation.now_ns

    def all_up(self) -> bool:
        """Whether the controller has all switches."""
        return all(agent.is_up for agent in self.running.plane.nodes.values())

    def none_up(self) -> bool:
        """Whether it has none."""
        return not any(agent.is_up for agent in self.running.plane.nodes.values())

    async def connect(self, count: int) -> list[int]:
        """So many connections, which are up."""
        address, now = self.receiver.address, self.now_ns
        own = [self.sender.connect(address, at_ns=now) for _ in range(count)]
        await until(
            lambda: all(self.sender.sender(n).state == State.CONNECTED for n in own),
            "the hosts to connect",
        )
        return own


def on_wan(main: Callable[[Wan], Awaitable[T]], **hosts: Any) -> T:  # noqa: ANN401 - any YAML
    """Run this on the network once its switches are provisioned and both hosts known."""
    plan = make_scenario(
        {
            "network": "wan",
            "duration": "1s",
            "links": {"core": {"rate": "10 Gb/s"}, "hosts": {"rate": "10 Gb/s"}},
            "hosts": hosts,
            "traffic": [{"pattern": "messages", "from": ["h1"], "to": ["h3"], "size": "1kB"}],
        }
    )
    with Simulation(seed=1) as simulation:
        built = build(plan.wiring, plan.config, simulation)
        nodes = {
            name: NodeControl(simulation.switches[name], DELAY_NS) for name in plan.config.nodes
        }

        async def whole() -> T:
            async with controlled(plan.config, nodes, simulation, seed=1) as running:
                network = Wan(built, running)
                await until(network.all_up, "the switches")
                await network.connect(1)
                return await main(network)

        return run(simulation, whole())


def inferred(first_psn: int, version: int) -> list[Learned]:
    """The flows whose sender was inferred while hosts sent to each other, with this first PSN."""

    async def main(network: Wan) -> list[Learned]:
        switches, flows = network.running.switches.values(), network.running.plane.flows
        for switch in switches:
            switch.link.cut()
        await until(network.none_up, "the switches to be lost")
        own = await network.connect(CONNECTIONS)
        for switch in switches:
            switch.link.restore()
        await until(network.all_up, "the switches again")
        assert {flow.origin for flow in flows.all()} == {Origin.CM}
        begun = network.now_ns
        for number in own:
            for each in range(4_000):
                network.sender.write(number, 1_000, start_ns=begun + each * EVERY_NS)
        await until(
            lambda: sum(flow.origin == Origin.INFERRED for flow in flows.all()) == 2 * CONNECTIONS,
            "every sender to be inferred",
        )
        before = network.sender.sender(own[0]).acknowledged
        await asyncio.sleep(AFTER)
        acknowledged = network.sender.sender(own[0]).acknowledged
        assert acknowledged > before + 0.9 * AFTER * NS / EVERY_NS
        assert (first_psn + acknowledged > 1 << 24) == (first_psn > 1 << 23)
        return [
            (flow.node, flow.key.dest_qp, flow.source_qp)
            for flow in flows.all()
            if flow.origin == Origin.INFERRED
        ]

    return on_wan(main, first_psn=first_psn, ip=version)


@pytest.mark.parametrize(
    ("before_the_wrap", "version"), [(30, 4), pytest.param(600, 6, marks=pytest.mark.exhaustive)]
)
def test_senders_are_inferred_while_psns_wrap(before_the_wrap: int, version: int) -> None:
    """Of connections that all began with one PSN, as those of NCCL do; before the sender is known,
    and while that is verified: the same as far from the wrap."""
    found = inferred((1 << 24) - before_the_wrap, version)
    assert found == inferred(1_000, version)
    pairs = {(qp, source) for node, qp, source in found if node == "pe1"}
    assert {(source, qp) for node, qp, source in found if node == "pe2"} == pairs
    assert len(pairs) == CONNECTIONS


def test_reports_of_reverse_traffic_are_bounded_by_the_learning_window() -> None:
    """Responses without requests stay unknown and watched: one report per learning window, of 100
    packets, and not fewer."""
    stranger, packets_per_window = 0x42, 100
    window_ns = FlowSettings().learning_window * 1_000

    async def main(network: Wan) -> None:
        agent = network.running.plane.nodes["pe2"]

        async def reports() -> int:
            return (await agent.counters.read())["reports"]["NEW_FLOW"][0]

        before, begun = await reports(), network.now_ns
        far, near = network.receiver, network.sender
        response = roce(
            str(far.address), str(near.address), stranger, opcode=Opcode.RC_ACKNOWLEDGE, psn=5
        )
        (host,) = (each for each in network.built.wiring.hosts.values() if each.name == "h3")
        frame = ethernet(response, src=host.mac, dst=far.gateway_mac)
        far.host.send_series(
            [frame], per_second=packets_per_window * NS / window_ns, start_ns=begun
        )
        await asyncio.sleep(2)
        windows = (network.now_ns - begun) / window_ns
        assert 0.9 * windows < await reports() - before <= windows + 1
        (flow,) = (f for f in network.running.plane.flows.all() if f.key.dest_qp == stranger)
        assert flow.source_qp is None

    on_wan(main)
