"""Loop-free alternates on random networks: RFC 5286, FAN-5."""

from collections.abc import Iterator
from ipaddress import IPv6Network
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from fcn.controller.config.addressing import Hop, underlay_next_hops
from fcn.controller.config.alternates import Alternate, alternates
from fcn.controller.config.model import Config

Links = list[tuple[int, int]]


def network(links: Links, **more: dict[str, Any]) -> Config:
    """P nodes n0, n1, … with these links, two of the same for parallel ones."""
    ports: dict[str, int] = {}
    wired = []
    for pair in links:
        ends = []
        for name in (f"n{number}" for number in pair):
            ports[name] = ports.get(name, 0) + 1
            ends.append(f"{name}:{ports[name]}")
        wired.append(ends)
    nodes = {
        name: {
            "role": "p",
            "grpc": f"127.0.0.1:{1000 + index}",
            "underlay_address": f"2001:db8:ff::{index:x}",
            "locator": f"2001:db8:{index:x}::/48",
            "ports": [{"number": number + 1, "role": "core"} for number in range(count)],
            **more.get(name, {}),
        }
        for index, (name, count) in enumerate(sorted(ports.items()), 1)
    }
    return Config.model_validate({"nodes": nodes, "links": wired})


def locator(config: Config, name: str) -> IPv6Network:
    found = config.nodes[name].locator
    assert found is not None
    return found


def peers(config: Config, name: str, target: str) -> dict[str, tuple[str, bool]]:
    """The alternate by the neighbour behind the dead link, and whether it protects that node."""
    prefix, hops = locator(config, target), underlay_next_hops(config, name)
    behind = {port: peer for port, peer, _ in hops[prefix]}
    return {
        behind[found.dead_port]: (found.hop[1], found.protects_node)
        for found in alternates(config, name)
        if found.prefix == prefix
    }


def test_another_next_hop_of_the_same_cost_is_an_alternate() -> None:
    """Of several (ECMP), one that does without the neighbour."""
    square = network([(0, 1), (0, 2), (1, 3), (2, 3)])
    assert peers(square, "n0", "n3") == {"n1": ("n2", True), "n2": ("n1", True)}


def test_a_neighbor_that_would_send_it_back_is_none() -> None:
    """Inequality 1: in a ring of five, the far side is as near by way of this node."""
    ring = network([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    assert peers(ring, "n0", "n1") == {}
    assert peers(ring, "n0", "n2") == {"n1": ("n4", True)}
    triangle = network([(0, 1), (1, 2), (2, 0)])
    assert peers(triangle, "n0", "n1") == {"n1": ("n2", False)}


def test_one_that_protects_the_node_is_preferred() -> None:
    """n2 leads to n3 by n1 alone, n4 without it, though it is as far; a parallel link is no help
    when n1 is down."""
    links = [(0, 1), (0, 1), (1, 3), (0, 4), (4, 5), (5, 3)]
    assert peers(network(links), "n0", "n3") == {"n1": ("n4", True)}
    assert peers(network(links[:3]), "n0", "n3") == {"n1": ("n1", False)}


def test_nobody_knows_where_explicit_routes_lead() -> None:
    square = [(0, 1), (0, 2), (1, 3), (2, 3)]
    prefix = "2001:db8:4::/48"
    route = {"underlay": [{"prefix": prefix, "via": [{"port": 1, "mac": "02:00:00:00:00:01"}]}]}
    config = network(square, n2=route)
    assert peers(config, "n0", "n3") == {}
    assert str(locator(config, "n3")) == prefix
    assert {found.prefix for found in alternates(config, "n0")}, "others have one"
    default = {"underlay": [route["underlay"][0] | {"prefix": "::/0"}]}
    assert peers(network(square, n2=default), "n0", "n3")


@st.composite
def graphs(draw: st.DrawFn) -> Links:
    """Connected networks of up to eight nodes: a tree, and further links."""
    size = draw(st.integers(2, 8))
    links = [(draw(st.integers(0, node - 1)), node) for node in range(1, size)]
    pair = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    more = draw(st.lists(pair.filter(lambda ends: ends[0] != ends[1]), max_size=8))
    return links + more


class Network:
    """Routes and alternates of every node, computed once."""

    def __init__(self, links: Links) -> None:
        self.config = network(links)
        self.names = list(self.config.nodes)
        self.hops = {name: underlay_next_hops(self.config, name) for name in self.names}
        self.alternates = {
            (name, found.dead_port, found.prefix): found
            for name in self.names
            for found in alternates(self.config, name)
        }


class Walk:
    """Where packets to a node can go while a link, or a node, is down."""

    def __init__(self, net: Network, target: str, dead: set[tuple[str, int]]) -> None:
        self._prefix = locator(net.config, target)
        self._target = target
        self._dead = dead
        self._hops = net.hops
        self.alternates: dict[tuple[str, int], Alternate] = {
            (name, port): found
            for (name, port, prefix), found in net.alternates.items()
            if prefix == self._prefix
        }

    def ends(self, source: str, passed: tuple[str, ...] = ()) -> Iterator[str]:
        """Where each of the ways (ECMP) ends: at the target, or at a node without an alternate."""
        assert source not in passed, f"a loop: {passed} {source}"
        if source == self._target:
            yield source
            return
        for hop in self._hops[source][self._prefix]:
            taken: Hop | None = hop
            if (source, hop[0]) in self._dead:
                found = self.alternates.get((source, hop[0]))
                taken = found.hop if found is not None else None
            if taken is None or (source, taken[0]) in self._dead:
                yield source
            else:
                yield from self.ends(taken[1], (*passed, source))


@settings(max_examples=100)
@given(graphs())
def test_with_one_link_down_nothing_loops(links: Links) -> None:
    """And what meets it where there is an alternate arrives."""
    net = Network(links)
    for link in net.config.link_ends():
        for target in net.names:
            walk = Walk(net, target, set(link))
            without = {name for name, port in link if (name, port) not in walk.alternates}
            for source in net.names:
                assert set(walk.ends(source)) <= {target, *without}


@settings(max_examples=100)
@given(graphs())
def test_what_protects_a_node_does_without_it(links: Links) -> None:
    net = Network(links)
    for down in net.names:
        gone = {end for link in net.config.link_ends() for end in link if down in dict(link)}
        for target in net.names:
            if target == down:
                continue
            walk = Walk(net, target, gone)
            for (name, port), found in walk.alternates.items():
                if name != down and (name, port) in gone and found.protects_node:
                    assert set(walk.ends(found.hop[1])) == {target}


@settings(max_examples=100)
@given(graphs())
def test_there_is_an_alternate_where_there_are_several_next_hops(links: Links) -> None:
    net = Network(links)
    for name, routes in net.hops.items():
        for prefix, hops in routes.items():
            if len(hops) > 1:
                assert all((name, port, prefix) in net.alternates for port, _, _ in hops)
