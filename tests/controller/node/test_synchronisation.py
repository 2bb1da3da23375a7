"""Synchronization: complete, idempotent, and repeated when a switch was changed or restarted."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from itertools import chain, combinations
from typing import Any

import finsy as fy
import pytest
import yaml
from switches import MemorySwitch, all_up, until
from virtual import virtual_plane

from fcn.contract.pipeline import load_pipeline
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.config.features import ROLE_FEATURES, Feature
from fcn.controller.flows.key import FlowKey
from fcn.controller.node.connection import State
from fcn.controller.node.synchronization import FEWEST, MOST

pytestmark = pytest.mark.virtual_time

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")

Switches = dict[str, MemorySwitch]


@asynccontextmanager
async def running(config: Config) -> AsyncIterator[ControlPlane]:
    plane = virtual_plane(config)
    async with plane.running():
        yield plane


def writes(switches: Switches) -> int:
    return sum(switch.engine.writes for switch in switches.values())


async def test_every_switch_gets_its_entries(config: Config, switches: Switches) -> None:
    async with running(config) as plane:
        await all_up(plane)
        assert not any(agent.refused for agent in plane.nodes.values())
        assert not any(agent.intent.pending for agent in plane.nodes.values())
        pe1 = switches["pe1"].engine
        assert pe1.size("port_role") == 2
        assert pe1.size("tunnel") == 2
        assert pe1.size("route_ipv4") == 3
        assert switches["p1"].engine.size("underlay") == 6


async def test_applying_again_writes_nothing(config: Config, switches: Switches) -> None:
    async with running(config) as plane:
        await all_up(plane)
    before = writes(switches)
    async with running(config) as plane:
        await all_up(plane)
    assert writes(switches) == before
    assert all(len(switch.engines) == 1 for switch in switches.values())


async def test_only_the_difference_is_written(
    network: dict[str, Any], config: Config, switches: Switches
) -> None:
    async with running(config) as plane:
        await all_up(plane)
    before = writes(switches)
    routes = network["nodes"]["pe1"]["vrfs"]["blue"]["routes"]
    routes.append({"prefix": "10.66.0.0/16", "discard": True})
    async with running(parse_config(yaml.safe_dump(network))) as plane:
        await all_up(plane)
    assert writes(switches) == before + 1


async def test_drift_is_repaired(config: Config, switches: Switches) -> None:
    """Entries removed, changed or added by another client while the controller was not running."""
    async with running(config) as plane:
        await all_up(plane)
    options = fy.SwitchOptions(device_id=1)
    port_role = fy.P4TableMatch(ingress_port=1, vlan_id=0)
    async with fy.Switch("other", switches["pe1"].address, options) as other:
        await other.write(
            [
                -fy.P4TableEntry("endpoint", match=fy.P4TableMatch(dst="2001:db8:0:ff::1")),
                ~fy.P4TableEntry(
                    "port_role", match=port_role, action=fy.P4TableAction("set_dc_port", vrf=77)
                ),
                +fy.P4TableEntry(
                    "route_ipv4",
                    match=fy.P4TableMatch(vrf=9, dst="10.0.0.0/8"),
                    action=fy.P4TableAction("blackhole"),
                ),
                ~fy.P4TableEntry(
                    "domain_mode",
                    action=fy.P4TableAction("set_mode", congestion_kind=0, translates=0),
                    is_default_action=True,
                ),
                -fy.P4TableEntry("decap_ecn", match=fy.P4TableMatch(inner_ecn=0, outer_ecn=3)),
                +fy.P4MulticastGroupEntry(3, replicas=[1]),
                ~fy.P4MeterEntry(
                    "notification_meter",
                    index=0,
                    config=fy.P4MeterConfig(cir=1, cburst=1, pir=1, pburst=1),
                ),
            ]
        )
        before = await content(other)
    async with running(config) as plane:
        await all_up(plane)
    async with fy.Switch("other", switches["pe1"].address, options) as other:
        after = await content(other)
    assert after != before
    assert not any("vrf=0x9" in entry for entry in after)
    assert "port_role ingress_port=0x1 vlan_id=0x0 set_dc_port(vrf=0x1)" in after
    assert any(
        entry.startswith("endpoint dst=0x20010db8000000ff0000000000000001") for entry in after
    )
    assert "domain_mode  set_mode(congestion_kind=0x1, translates=0x1)" in after
    assert "decap_ecn inner_ecn=0x0 outer_ecn=0x3 discard(reason=0xb, event=0x3)" in after


async def content(switch: fy.Switch) -> set[str]:
    found: set[str] = set()
    profiles = [
        fy.P4TableEntry(table.alias, is_default_action=True)
        for table in switch.p4info.tables
        if table.alias in ("domain_mode", "cnp_profile", "fast_cnp_profile", "flow_learning")
    ]
    reading: Any = switch.read([fy.P4TableEntry(), *profiles])
    async for entry in reading:
        schema = switch.p4info
        found.add(f"{entry.table_id} {entry.match_str(schema)} {entry.action_str(schema)}")
    return found


async def test_restarted_switch_is_synchronized_again(config: Config, switches: Switches) -> None:
    async with running(config) as plane:
        await all_up(plane)
        held = switches["pe1"].engine.tables.values()
        await switches["pe1"].stop()
        await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
        assert "lost the connection" in plane.nodes["pe1"].status.detail
        assert plane.nodes["p1"].status.state is State.UP
        await switches["pe1"].start()
        await until(lambda: plane.nodes["pe1"].status.state is State.UP)
        assert len(switches["pe1"].engines) == 2
        assert sorted(switches["pe1"].engine.tables.values()) == sorted(held)


async def test_many_flows_are_written_again_while_they_change(
    config: Config, switches: Switches
) -> None:
    """More than some requests: the next is on its way while what an earlier one has changes."""
    keys = [FlowKey("blue", A, B, number) for number in range(2, 2 + 3 * MOST)]
    async with running(config) as plane:
        await all_up(plane)
        for key in keys:
            assert plane.flows.reported(key, key.dest_qp)
        assert await plane.nodes["pe1"].settled()
        await switches["pe1"].stop()
        await until(lambda: plane.nodes["pe1"].status.state is State.AWAY)
        await switches["pe1"].start()
        await until(lambda: len(switches["pe1"].engines) == 2)
        engine, insert = switches["pe1"].engine, switches["pe1"].engine.table_insert

        def change_meanwhile(table: str, *entry: Any) -> int:  # noqa: ANN401
            if table.endswith("flow_ipv4") and engine.size("flow_ipv4") == MOST:
                for key in keys[::5]:
                    plane.flows.delete(key)
            return insert(table, *entry)

        setattr(engine, "table_insert", change_meanwhile)  # noqa: B010
        at_once = switches["pe1"].count_writes()
        await until(lambda: plane.nodes["pe1"].status.state is State.UP)
        assert await plane.nodes["pe1"].settled()
        left = len(keys) - len(keys[::5])
        assert len(plane.flows.all()) == left
        assert max(at_once) == 2
        assert switches["pe1"].engine.size("flow_ipv4") == left
        assert switches["pe1"].engine.size("flow_by_label_ipv4") == left
        assert not plane.nodes["pe1"].refused


@pytest.mark.parametrize(("each", "late"), [(0.0, [0.0, 0.05, 0.1]), (0.001, [0.0])])
async def test_requests_are_small_only_where_that_makes_them_sooner_done(
    config: Config, switches: Switches, each: float, late: list[float]
) -> None:
    """Not on a busy machine, where all are late by chance, the small ones as much as the large."""
    rng, loop, sizes = random.Random(1), asyncio.get_running_loop(), list[int]()

    def takes(updates: int) -> float:
        sizes.append(updates)
        return updates * each + rng.choice(late)

    async with running(config) as plane:
        await all_up(plane)
        switches["pe1"].delay_writes(takes)
        began = loop.time()
        for number in range(8 * MOST):
            assert plane.flows.reported(FlowKey("blue", A, B, 2 + number), 7)
        assert await plane.nodes["pe1"].settled()
        if each:
            assert max(sizes[-8:]) <= 2 * FEWEST
        else:
            assert loop.time() - began < 5.0


async def test_switch_that_is_away_at_first_is_awaited(config: Config, switches: Switches) -> None:
    await switches["p2"].stop()
    async with running(config) as plane:
        others = [agent for name, agent in plane.nodes.items() if name != "p2"]
        await until(lambda: all(agent.status.state is State.UP for agent in others))
        assert plane.nodes["p2"].status.state is State.CONNECTING
        await switches["p2"].start()
        await all_up(plane)


async def test_foreign_pipeline_is_replaced(config: Config, switches: Switches) -> None:
    """A switch that has another program, here the P program on a PE."""
    wrong = load_pipeline("p")
    options = fy.SwitchOptions(p4info=wrong.p4info, p4blob=wrong.blob, device_id=1)
    async with fy.Switch("other", switches["pe1"].address, options):
        pass
    async with running(config) as plane:
        await all_up(plane)
        assert switches["pe1"].engine.size("tunnel") == 2


@pytest.mark.parametrize("its", [999, 1 << 100])
async def test_other_software_that_is_primary_is_named_and_awaited(
    config: Config, switches: Switches, its: int
) -> None:
    options = fy.SwitchOptions(device_id=1, initial_election_id=its)
    async with fy.Switch("other", switches["pe1"].address, options), running(config) as plane:
        await until(lambda: plane.nodes["pe1"].status.state is State.BACKUP)
        detail = plane.nodes["pe1"].status.detail
        assert f"another controller is primary on this switch (election ID {its})" in detail
        assert not await plane.nodes["pe1"].settled()
        others = [agent for name, agent in plane.nodes.items() if name != "pe1"]
        await until(lambda: all(agent.status.state is State.UP for agent in others))
    async with running(config) as plane:
        await all_up(plane)


async def test_other_software_with_a_higher_id_takes_a_switch_for_a_while(
    config: Config, switches: Switches
) -> None:
    options = fy.SwitchOptions(device_id=1, initial_election_id=1 << 100)
    async with running(config) as plane:
        await all_up(plane)
        async with fy.Switch("other", switches["pe1"].address, options):
            await until(lambda: plane.nodes["pe1"].status.state is State.BACKUP)
        await all_up(plane)


async def test_what_only_reads_does_not_keep_the_controller_away(
    config: Config, switches: Switches
) -> None:
    options = fy.SwitchOptions(device_id=1, initial_election_id=1)
    async with fy.Switch("reader", switches["pe1"].address, options), running(config) as plane:
        await all_up(plane)


async def test_refused_entries_are_reported_and_the_rest_is_written(
    network: dict[str, Any], switches: Switches
) -> None:
    routes = [{"prefix": f"11.{i >> 8}.{i & 255}.0/24", "discard": True} for i in range(8200)]
    network["nodes"]["pe1"]["vrfs"]["blue"]["routes"] += routes
    async with running(parse_config(yaml.safe_dump(network))) as plane:
        await all_up(plane)
        agent = plane.nodes["pe1"]
        size = agent.provision.pipeline.table_size("route_ipv4")
        assert switches["pe1"].engine.size("route_ipv4") == size
        assert agent.refused == 8200 + 3 - size
        assert switches["pe1"].engine.size("port_role") == 2


@pytest.mark.parametrize("node", ["pe1", "p1"])
async def test_features_are_switched_in_the_data_plane(
    config: Config, switches: Switches, node: str
) -> None:
    """Any of the role's, each time from all others."""
    every = ROLE_FEATURES[config.nodes[node].role]
    # An election ID below the controller's: it only reads.
    options = fy.SwitchOptions(device_id=config.nodes[node].device_id, initial_election_id=1)
    async with running(config) as plane:
        await all_up(plane)
        agent = plane.nodes[node]
        async with fy.Switch("reader", switches[node].address, options) as reader:
            for chosen in powerset(every):
                features = frozenset(chosen)
                agent.set_features(every - features)
                agent.set_features(features)
                assert agent.features == features
                assert await agent.settled()
                text = " ".join(await content(reader))
                # Policies of levels do not depend on features.
                assert "set_policy(mark=0x3, notify=0x1," in text
                kind = int(Feature.NOTIFICATION in features)
                translates = int(Feature.TRANSLATION in features)
                assert f"set_mode(congestion_kind={kind:#x}, translates={translates:#x})" in text
                if Feature.LEARNING in every:
                    assert ("learning_on" in text) is (Feature.LEARNING in features)


def powerset(features: Iterable[Feature]) -> Iterator[tuple[Feature, ...]]:
    """All choices."""
    every = sorted(features)
    return chain.from_iterable(combinations(every, size) for size in range(len(every) + 1))


async def test_stopping_ends_every_task(config: Config, switches: Switches) -> None:
    async with running(config) as plane:
        await all_up(plane)
    await until(lambda: not [t for t in asyncio.all_tasks() if t.get_name().startswith("fy:")])
