"""Another configuration while the controller runs: the difference is written, or nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import deepcopy
from ipaddress import ip_address
from typing import Any

import finsy as fy
import pytest
import yaml
from switches import MemorySwitch, all_up, packet_to, until
from virtual import virtual_plane

from fcn.contract.depth import Depth
from fcn.controller.app import ControlPlane
from fcn.controller.config import ConfigError, parse_config
from fcn.controller.config.features import Feature
from fcn.controller.events import Event, Kind
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import State
from fcn.controller.northbound.network import Applied, ApplyError

pytestmark = pytest.mark.virtual_time

Switches = dict[str, MemorySwitch]
A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
REGISTERED = FlowKey("blue", A, B, 44)
DISCARD = {"prefix": "10.66.0.0/16", "discard": True}


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """The example, with a node that a test may leave out."""
    network["nodes"]["p3"] = {
        "role": "p",
        "underlay_address": "2001:db8:0:ff::13",
        "ports": [{"number": 1, "role": "core"}],
    }
    return network


class Running:
    """A controller whose file a test changes."""

    def __init__(self, network: dict[str, Any], switches: Switches) -> None:
        self.network = deepcopy(network)
        self.plane: ControlPlane = virtual_plane(parse_config(yaml.safe_dump(network)))
        self._switches = switches

    @property
    def pe1(self) -> dict[str, Any]:
        """In the file."""
        node: dict[str, Any] = self.network["nodes"]["pe1"]
        return node

    @property
    def routes(self) -> list[Any]:
        """Of pe1."""
        found: list[Any] = self.pe1["vrfs"]["blue"]["routes"]
        return found

    async def apply(self) -> dict[str, Applied]:
        """Put the file in force."""
        applied = await self.plane.apply(yaml.safe_dump(self.network), "network.yaml")
        return {each.node: each for each in applied}

    async def differences(self) -> dict[str, tuple[int, int, int]]:
        """Entries that would be added, removed and changed by node."""
        found: dict[str, tuple[int, int, int]] = {}
        text = yaml.safe_dump(self.network)
        async for name, _, (_, before, after) in self.plane.differences(text, "network.yaml"):
            kind = (before is None, after is None, before is not None and after is not None)
            counts = zip(found.get(name, (0, 0, 0)), kind, strict=True)
            added, removed, changed = (count + more for count, more in counts)
            found[name] = (added, removed, changed)
        return found

    def writes(self) -> dict[str, int]:
        """To each switch so far."""
        return {name: switch.engine.writes for name, switch in self._switches.items()}

    def written(self, before: dict[str, int]) -> dict[str, int]:
        """To each switch since."""
        return {
            name: now - before[name] for name, now in self.writes().items() if now != before[name]
        }


async def before_end(events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """Events before the end."""
    async for event in events:
        if event.message == "the end":
            return
        yield event


@asynccontextmanager
async def running(network: dict[str, Any], switches: Switches) -> AsyncIterator[Running]:
    found = Running(network, switches)
    async with found.plane.running():
        await all_up(found.plane)
        yield found


async def test_only_the_difference_is_written_and_nobody_else_is_disturbed(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network, switches) as it:
        plane = it.plane
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        plane.flows.add(REGISTERED, 17)
        await until(lambda: switches["pe1"].engine.size("flow_ipv4") == 2)
        assert await plane.nodes["pe1"].settled()
        agents, flows, before = plane.nodes, set(plane.flows.all()), it.writes()
        sessions = {name: agent._connection for name, agent in agents.items()}
        with plane.bus.watch() as events:
            it.routes.append(DISCARD)
            it.routes[0]["tunnel"] = "pe2-vxlan"
            expected = await it.differences()
            assert it.written(before) == {}
            assert await it.apply() == {"pe1": Applied("pe1", 1, 1, 2, "up")}
            assert expected == {"pe1": (1, 1, 2)}
            kinds = [(await anext(events)).kind for _ in range(3)]
        assert kinds == [Kind.SYNCHRONIZED, Kind.NODE_UP, Kind.CONFIGURED]
        assert it.written(before) == {"pe1": 4}
        assert await it.differences() == {}
        assert await it.apply() == {}
        assert plane.nodes["p1"] is agents["p1"]
        assert {name: agent._connection for name, agent in plane.nodes.items()} == sessions
        assert set(plane.flows.all()) == flows
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(34))
        await until(lambda: switches["pe1"].engine.size("flow_ipv4") == 3)
        switches["pe1"].engine.fall_idle("flow_ipv4")
        await until(lambda: switches["pe1"].engine.size("flow_ipv4") == 0)


async def test_neighbours_are_still_known(network: dict[str, Any], switches: Switches) -> None:
    network["nodes"]["p1"]["underlay"] = [
        {"prefix": "2001:db8:f::/48", "via": [{"port": 2, "address": "fe80::1"}]}
    ]
    async with running(network, switches) as it:
        plane = it.plane
        (hop,) = plane.neighbors["p1"]._places.next_hops
        plane.neighbors["p1"]._learn(hop, 0x02AABBCCDDEE)
        port = plane.neighbors["pe1"]._node.ports[0]
        host = plane.neighbors["pe1"]._places.on(port, A)
        plane.neighbors["pe1"]._learn(host, 0x02AABBCCDDEF)
        for name in ("p1", "pe1"):
            assert await plane.nodes[name].settled()
        before = it.writes()
        it.routes.append(DISCARD)
        it.network["nodes"]["p1"]["notifications"] = {"rate": 1000, "burst": 10}
        await it.apply()
        assert it.written(before) == {"pe1": 1}, "a meter is no entry"
        assert (len(plane.neighbors["p1"]), len(plane.neighbors["pe1"])) == (1, 1)
        it.pe1["ports"][0]["addresses"] = ["10.7.0.1/24", "2001:db8:1::1/64"]
        await it.apply()
        assert len(plane.neighbors["pe1"]) == 0, "it is not there any more"


async def test_flows_follow_what_the_file_says_of_them(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network, switches) as it:
        plane = it.plane
        plane.flows.add(REGISTERED, 17)
        plane.flows.add(FlowKey("blue", B, A, 55), 18, 0)
        label = plane.flows.on_node("pe1")[REGISTERED].label
        it.network["vrfs"]["blue"]["id"] = 7
        it.network["flows"] = {"timeout": "3s", "label_quarantine": "1m"}
        await it.apply()
        flow = plane.flows.on_node("pe1")[REGISTERED]
        assert (flow.label, flow.source_qp, flow.timeout) == (label, 17, 3_000_000)
        (other,) = plane.flows.on_node("pe2").values()
        assert other.timeout == 0
        options = fy.SwitchOptions(device_id=1)
        async with fy.Switch("other", switches["pe1"].address, options) as switch:
            reading: Any = switch.read(fy.P4TableEntry("flow_ipv4"))
            assert [entry["vrf"] async for entry in reading if entry.match] == [7]
        it.pe1["features"] = ["translation"]
        expected = await it.differences()
        await it.apply()
        assert not plane.flows.on_node("pe1")
        assert plane.flows.labels.resting == 1
        assert switches["pe1"].engine.size("flow_ipv4") == 0
        assert expected["pe1"][1] >= 2, "that the flow ends is part of the difference"


async def test_what_was_said_by_command_stays_until_the_file_says_something_else(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network, switches) as it:
        plane = it.plane
        plane.nodes["pe1"].set_features(frozenset({Feature.LEARNING}))
        plane.nodes["pe1"].set_thresholds(2, 0, (Depth(5),))
        it.routes.append(DISCARD)
        await it.apply()
        assert plane.nodes["pe1"].features == {Feature.LEARNING}
        assert plane.nodes["pe1"].provision.thresholds[2, 0] == (Depth(5),)
        it.pe1["features"] = ["translation", "notification"]
        await it.differences()
        assert plane.nodes["pe1"].features == {Feature.LEARNING}
        assert len(plane.store.settings("pe1")) == 2
        await it.apply()
        assert plane.nodes["pe1"].features == {Feature.TRANSLATION, Feature.NOTIFICATION}
        assert plane.nodes["pe1"].provision.thresholds[2, 0] == (Depth(5),)
        assert len(plane.store.settings("pe1")) == 1


@pytest.mark.parametrize(
    ("change", "where", "reason"),
    [
        ({"api": "unix:/tmp/other"}, "api", "127.0.0.1:0 now; restart the controller"),
        ({"metrics": "127.0.0.1:9"}, "metrics", "it is not there now"),
        ({"flow_control": "service"}, "nodes.p1", "program fcn, and would get flow-control"),
        ({"nodes.p2.grpc": "127.0.0.1:7"}, "nodes.p2.grpc", "its session would end"),
        ({"nodes.p2.device_id": 77}, "nodes.p2.device_id", "its session would end"),
        ({"nodes.p2.features": "everything"}, "nodes.p2.features", ""),
    ],
)
async def test_a_file_is_refused_as_a_whole(
    network: dict[str, Any], switches: Switches, change: dict[str, Any], where: str, reason: str
) -> None:
    async with running(network, switches) as it:
        config, before = it.plane.config, it.writes()
        it.routes.append(DISCARD)
        for path, value in change.items():
            *parts, last = path.split(".")
            at = it.network
            for part in parts:
                at = at[part]
            at[last] = value
        for refused in (it.apply, it.differences):
            with pytest.raises(ConfigError) as error:
                await refused()
            problem = error.value.problems[0]
            assert problem.where.startswith(where)
            assert reason in problem.message
            lines = yaml.safe_dump(it.network).splitlines()
            assert where.rpartition(".")[2] in lines[problem.line - 1]
        assert it.plane.config is config
        assert it.written(before) == {}


async def test_what_one_switch_refuses_is_undone_at_all(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network, switches) as it:
        plane = it.plane
        plane.flows.add(REGISTERED, 17)
        assert await plane.nodes["pe1"].settled()
        flows, config = set(plane.flows.all()), plane.config
        held = {name: sorted(each.engine.tables.values()) for name, each in switches.items()}
        switches["pe1"].engine.full = "route_ipv4"
        it.routes.append(DISCARD)
        it.network["nodes"]["p1"]["thresholds"] = [{"port": 1, "depths": [3, 5]}]
        with pytest.raises(
            ApplyError, match=r"pe1 refuses INSERT in route_ipv4: table full .*befor"
        ):
            await it.apply()
        await all_up(plane)
        for agent in plane.nodes.values():
            assert await agent.settled()
        assert plane.config is config
        assert held == {
            name: sorted(each.engine.tables.values()) for name, each in switches.items()
        }
        assert set(plane.flows.all()) == flows
        switches["pe1"].engine.full = ""
        assert set(await it.apply()) == {"pe1", "p1"}


async def test_a_switch_that_is_away_gets_it_when_it_is_back(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network, switches) as it:
        plane = it.plane
        await switches["pe1"].stop()
        await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
        it.routes.append(DISCARD)
        assert await it.apply() == {"pe1": Applied("pe1", 1, 0, 0, "away")}
        await switches["pe1"].start()
        await all_up(plane)
        assert switches["pe1"].engine.size("route_ipv4") == 4


async def test_nodes_come_and_go(network: dict[str, Any], switches: Switches) -> None:
    p3 = network["nodes"].pop("p3")
    async with running(network, switches) as it:
        plane = it.plane
        it.network["nodes"]["p3"] = p3
        assert (await it.apply()).keys() == {"p3", "pe1", "pe2"}, "PEs trust it"
        await all_up(plane)
        assert plane.nodes["p3"].is_up
        engine = switches["p3"].engine
        assert engine.size("port_role") == 1
        agent = plane.nodes["p3"]
        del it.network["nodes"]["p3"]
        with plane.bus.watch() as events:
            assert (await it.apply()).keys() == {"pe1", "pe2"}
            plane.bus.emit(Kind.FEATURES, "", "the end")
            kinds = [event.kind async for event in before_end(events)]
        assert Kind.NODE_DOWN not in kinds, "it was meant to go"
        assert plane.nodes.keys() == network["nodes"].keys()
        assert engine.size("port_role") == 1, "its switch goes on"
        assert agent._connection.switch.is_up is False
        it.network["nodes"]["p3"] = p3
        await it.apply()
        await all_up(plane)


async def test_a_registered_flow_outlasts_a_file_without_its_vrf(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network, switches) as it:
        plane, right = it.plane, deepcopy(it.network)
        plane.flows.add(REGISTERED, 17)
        it.network["vrfs"]["red"] = it.network["vrfs"].pop("blue")
        for name in ("pe1", "pe2"):
            node = it.network["nodes"][name]
            node["vrfs"]["red"] = node["vrfs"].pop("blue")
            node["ports"][0]["vrf"] = "red"
        await it.apply()
        assert not plane.flows.on_node("pe1")
        it.network = right
        await it.apply()
        assert plane.flows.on_node("pe1")[REGISTERED].source_qp == 17, "before it sends"
        assert switches["pe1"].engine.size("flow_ipv4") == 1


async def test_what_is_said_while_a_file_is_refused_holds(
    network: dict[str, Any], switches: Switches
) -> None:
    async with running(network, switches) as it:
        plane, before = it.plane, it.plane.nodes["pe1"]
        switches["pe1"].engine.full = "route_ipv4"
        it.routes.append(DISCARD)
        it.pe1["features"] = ["translation", "learning"]
        applying = asyncio.create_task(it.apply())
        await until(lambda: plane.nodes["pe1"] is not before)
        plane.nodes["pe1"].set_features(frozenset({Feature.LEARNING}))
        with pytest.raises(ApplyError):
            await applying
        assert plane.nodes["pe1"].features == {Feature.LEARNING}
        (kept,) = plane.store.settings("pe1")
        assert kept.instead_of == "learning,translation,notification"
