"""A controller that is restarted with other modes leaves nothing of the old ones (PEC-6, SRF-6)."""

import asyncio
from functools import partial
from itertools import pairwise
from typing import Any

import finsy as fy
import pytest
import yaml
from switches import MemorySwitch, until
from virtual import virtual_plane, virtual_plane_up

from fcn.contract.names import named_cells
from fcn.controller.config import parse_config
from fcn.softswitch.api import CounterValue

pytestmark = pytest.mark.virtual_time

Switches = dict[str, MemorySwitch]
DEFAULTS = ("domain_mode", "flow_control", "arn_profile", "hold_budget", "light_congestion")
METERS = ("arn_meter", "hold_meter")
CELLS = {name: index for index, name in named_cells("holds").items()}
MODES = [("end-con", "service"), ("two-threshold", "priority"), ("none", "service"), ("fcn", "off")]


def _network(network: dict[str, Any], notification: str, flow_control: str) -> str:
    """The example in these modes."""
    changed: dict[str, Any] = yaml.safe_load(yaml.safe_dump(network))
    changed |= {"notification": notification, "flow_control": flow_control}
    for node in changed["nodes"].values():
        if node["role"] == "pe":
            node.setdefault("cnp", {})["source"] = "peer"
            if flow_control != "off":
                node["ports"][0] |= {"heed_pause": True, "rate": "100 Gb/s"}
    if notification == "two-threshold":
        changed["two_threshold"] = {"treatment": "slow"}
        del changed["congestion"]
        for node in changed["nodes"].values():
            node.pop("thresholds", None)
    return yaml.safe_dump(changed)


async def _configured(text: str, switches: Switches) -> dict[str, frozenset[str]]:
    """What the tables of each switch have when the controller is done."""
    config = parse_config(text)
    async with virtual_plane_up(config) as plane:
        assert not any(agent.refused for agent in plane.nodes.values())
    return {name: await _content(switch) for name, switch in switches.items()}


async def _content(switch: MemorySwitch) -> frozenset[str]:
    """Entries, default entries and meter cells of modes of a switch, as its program has them."""
    options = fy.SwitchOptions(device_id=switch.device_id)
    found: set[str] = set()
    async with fy.Switch("reader", switch.address, options) as reader:
        defaults = [
            fy.P4TableEntry(table.alias, is_default_action=True)
            for table in reader.p4info.tables
            if table.alias in DEFAULTS
        ]
        reading: Any = reader.read([fy.P4TableEntry(), *defaults])
        async for entry in reading:
            schema = reader.p4info
            found.add(f"{entry.table_id} {entry.match_str(schema)} {entry.action_str(schema)}")
        meters = {meter.alias for meter in reader.p4info.meters}.intersection(METERS)
        reading = reader.read([fy.P4MeterEntry(meter) for meter in sorted(meters)])
        async for cell in reading:
            if cell.config is not None:
                found.add(f"{cell.meter_id} {cell.index} {cell.config}")
    return frozenset(found)


CHANGES = [*pairwise(MODES), (MODES[-1], MODES[0])]


@pytest.mark.parametrize(
    ("old", "new"),
    [*CHANGES[:2], *(pytest.param(*each, marks=pytest.mark.exhaustive) for each in CHANGES[2:])],
)
async def test_nothing_of_the_old_modes_is_left(
    network: dict[str, Any], switches: Switches, old: tuple[str, str], new: tuple[str, str]
) -> None:
    alone = await _configured(_network(network, *new), switches)
    other = await _configured(_network(network, *old), switches)
    assert other != alone
    again = await _configured(_network(network, *new), switches)
    for name, content in alone.items():
        assert sorted(again[name] ^ content) == [], name


@pytest.mark.parametrize("new", ["off", "flow"])
async def test_what_waits_leaves_before_the_mode_changes(
    network: dict[str, Any], switches: Switches, new: str
) -> None:
    text = _network(network, "fcn", "service")
    await _configured(text, switches)
    switch = next(iter(switches.values()))
    count = partial(switch.engine.counter_write, "holds")
    count(CELLS["HOLD_PARKED"], CounterValue(packets=7))
    count(CELLS["HOLD_LEFT"], CounterValue(packets=6))
    plane = virtual_plane(parse_config(_network(network, "fcn", new)))
    async with plane.running():
        agent = plane.nodes[next(iter(switches))]
        await until(lambda: switch.engine.size("arn_neighbor") == 0)
        await asyncio.sleep(5)
        assert not agent.is_up
        content = await _content(switch)
        assert any("set_flow_control(mode=0x1" in entry for entry in content), content
        # No more pauses, but what waits for a data centre keeps its order.
        assert any(" heed(quantum_time=0x0" in entry for entry in content), content
        count(CELLS["HOLD_LEFT"], CounterValue(packets=7))
        await until(lambda: agent.is_up)
        assert not agent.refused
    content = await _content(switch)
    assert not any("set_flow_control(mode=0x1" in entry for entry in content)
    assert (switch.engine.size("arn_neighbor") > 0) == (new == "flow")
