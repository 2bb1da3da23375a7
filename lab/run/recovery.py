"""Other ways than the data plane's to recover from the failure of a link, to compare it with."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from heapq import heappop, heappush

from fcn.controller.app import ControlPlane
from fcn.controller.config import Config
from fcn.controller.config.addressing import port_mac, underlay_next_hops
from fcn.controller.config.watching import Watching
from fcn.controller.node.session import SwitchAwayError
from fcn.controller.owners.underlay import Adjacency
from fcn.lab.control.loop import NS
from fcn.lab.run.watch import FailureWatch
from fcn.lab.scenario.model import Recovery

ALTERNATES, REPORTERS = "alternate", "path_reporter"
"""The tables without which a node does not send packets round a dead link, and a PE believes
nobody."""

LOOK_NS = 100_000
"""Between two looks of a routing process at the links of its own node."""


@asynccontextmanager
async def recovering(
    recovery: Recovery, plane: ControlPlane, watch: FailureWatch
) -> AsyncIterator[None]:
    """Recover in this way until the context ends; the nodes are up."""
    if recovery.by != "data-plane":
        for agent in plane.nodes.values():
            agent.intent.replace_table(ALTERNATES, ())
            if agent.provision.is_pe and recovery.by != "messages":
                agent.intent.replace_table(REPORTERS, ())
            await agent.settled()
    if recovery.by == "controller":
        acting = _by_controller(recovery, plane, watch.built.config)
    elif recovery.by == "igp":
        acting = _Igp(recovery, plane, watch).run()
    else:
        yield
        return
    task = asyncio.get_running_loop().create_task(acting)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _by_controller(recovery: Recovery, plane: ControlPlane, config: Config) -> None:
    """Read the nodes' counters of links again and again, and say of paths what follows."""
    watching = Watching(config)
    said: dict[tuple[str, int], str] = {}

    async def look(name: str) -> None:
        agent = plane.nodes[name]
        try:
            await agent.counters.poll(agent.links)
            for path in watching.paths(name):
                seen = agent.links.state(path.port)
                report = "FAILED" if seen is not None and seen.state == "down" else "WELL"
                if said.get((name, path.number), "WELL") != report:
                    said[name, path.number] = report
                    await plane.nodes[path.ingress].paths.report(path.number, report)
        except SwitchAwayError:
            return

    while True:
        await asyncio.gather(*map(look, config.nodes))
        await asyncio.sleep(recovery.poll / NS)


class _Igp:
    """Each node routes as a link-state protocol would let it, some time after a link changed."""

    def __init__(self, recovery: Recovery, plane: ControlPlane, watch: FailureWatch) -> None:
        self._recovery = recovery
        self._plane = plane
        self._config = watch.built.config
        self._watch = watch
        self._known: dict[str, dict[str, frozenset[str]]] = {name: {} for name in watch.links}
        """To each node, the links that others say are down, by who says so."""
        self._neighbours: dict[str, dict[str, int]] = {name: {} for name in watch.links}
        for wire in watch.built.wiring.wires:
            if wire.kind == "core":
                self._neighbours[wire.a][wire.b] = wire.delay_ns
                self._neighbours[wire.b][wire.a] = wire.delay_ns

    async def run(self) -> None:
        """Look at every node's own links, and let the others hear of them."""
        loop = asyncio.get_running_loop()
        seen: dict[str, frozenset[str]] = dict.fromkeys(self._known, frozenset())
        while True:
            for name, before in seen.items():
                now = self._watch.down(name)
                if now != before:
                    seen[name] = now
                    for node, heard_after in self._flooded(name, now):
                        wait = heard_after + self._recovery.spf_delay + self._recovery.fib
                        loop.call_later(wait / NS, self._route, node, name, now)
            await asyncio.sleep(LOOK_NS / NS)

    def _flooded(self, origin: str, down: frozenset[str]) -> Iterator[tuple[str, int]]:
        """Every node, and after how long it hears what the origin says."""
        heard: dict[str, int] = {}
        waiting = [(0, origin)]
        while waiting:
            at, node = heappop(waiting)
            if node in heard:
                continue
            heard[node] = at
            yield node, at
            for peer, delay in self._neighbours[node].items():
                if node != origin or peer not in down:
                    heappush(waiting, (at + delay + self._recovery.flooding, peer))

    def _route(self, node: str, origin: str, down: frozenset[str]) -> None:
        """The node's routes are now those of a network without the links of which it heard."""
        known = self._known[node]
        known[origin] = down
        dead = {frozenset((name, peer)) for name, peers in known.items() for peer in peers}
        config = self._config
        links = [
            link
            for link, ((a, _), (b, _)) in zip(config.links, config.link_ends(), strict=True)
            if frozenset((a, b)) not in dead
        ]
        left = config.model_copy(update={"links": tuple(links)})
        underlay = self._plane.nodes[node].provision.underlay
        for prefix, hops in underlay_next_hops(left, node).items():
            underlay.route(prefix, [self._adjacency(node, *hop) for hop in hops])

    def _adjacency(self, node: str, number: int, peer: str, peer_port: int) -> Adjacency:
        far = self._config.nodes[peer]
        port = far.port(peer_port)
        assert port is not None, "it is linked"
        provision = self._plane.nodes[node].provision
        return provision.adjacency(number, port_mac(peer, far, port))
