"""What the controller sees of paths between which flows are moved because of load (FAN-7)."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml
from switches import MemorySwitch, all_up, until
from watch_lab import PathLab, running, with_two_ways

from fcn.contract.paths import path_cell
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.events import Kind
from fcn.controller.northbound.metrics import FcnCollector
from fcn.controller.northbound.snapshot import take_snapshot

CPU_PORT = (510).to_bytes(2, "big")


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """The example, with two paths between the PEs by a P each, and load balancing."""
    paths = [{"tunnel": "pe2-srv6", "id": 17}, {"tunnel": "pe2-vxlan", "id": 18}]
    with_two_ways(network, {"to": "pe2", "paths": paths})
    for node in network["nodes"].values():
        for port in node["ports"]:
            if port["role"] == "core":
                port["rate"] = "1 Gb/s"
    return network | {"failure_detection": {}, "load_balancing": {}}


class Lab(PathLab):
    """The running controller, and what pe1's data plane counts."""

    def count(self, slot: int, loads: int, flowlets: int) -> None:
        """Messages of a path's load so far, and flowlets that were moved to it."""
        for counter, packets in (("path_loads", loads), ("path_flowlets", flowlets)):
            self.set(counter, path_cell(self.plan.cell, slot), packets)

    def told(self) -> list[str]:
        """Messages of events of moved flows so far."""
        return [event.message for event in self.events if event.kind is Kind.FLOWS_MOVED]


@pytest.fixture
async def lab(config: Config, switches: dict[str, MemorySwitch]) -> AsyncIterator[Lab]:
    async with running(Lab, config, switches) as found:
        yield found


async def test_flowlets_are_shown(lab: Lab) -> None:
    lab.count(0, 12, 3)
    lab.count(1, 7, 450)
    await lab.look()
    (policy,) = json.loads((await lab.fcn("paths", "--json")).stdout)
    assert [(path["loads"], path["flowlets"]) for path in policy["paths"]] == [(12, 3), (7, 450)]
    table = (await lab.fcn("paths")).stdout
    line = "Heard of the load of pe2-srv6 12 times, 3 flowlets moved there; pe2-vxlan 7 times, 450"
    assert f"{line} flowlets moved there" in table
    found = {
        (sample.name, sample.labels["policy"], sample.labels["path"]): sample.value
        for metric in FcnCollector(take_snapshot(lab.plane.network)).collect()
        for sample in metric.samples
        if sample.name.startswith("fcn_path_")
    }
    assert found == {
        ("fcn_path_loads_total", "both", "pe2-srv6"): 12.0,
        ("fcn_path_loads_total", "both", "pe2-vxlan"): 7.0,
        ("fcn_path_flowlets_total", "both", "pe2-srv6"): 3.0,
        ("fcn_path_flowlets_total", "both", "pe2-vxlan"): 450.0,
    }


async def test_that_flows_are_moved_is_told_once(lab: Lab) -> None:
    """What a switch counted before the first look is no news."""
    lab.count(1, 7, 450)
    await lab.look()
    await lab.look()
    lab.count(1, 9, 455)
    await lab.look()
    lab.count(1, 9, 470)
    await lab.look()
    await until(lambda: lab.told())
    text = "pe1: flows of policy both are moved because of load; flowlets: 5 to pe2-vxlan"
    assert lab.told() == [text]


async def test_a_restarted_switch_has_moved_nothing(lab: Lab) -> None:
    lab.count(1, 7, 450)
    await lab.look()
    lab.count(1, 0, 0)
    await lab.look()
    lab.count(1, 1, 2)
    await lab.look()
    await until(lambda: lab.told())
    assert lab.told()[0].endswith("flowlets: 2 to pe2-vxlan")


async def test_without_load_balancing_there_is_nothing_to_show(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    del network["load_balancing"]
    async with running(Lab, parse_config(yaml.safe_dump(network)), switches) as lab:
        await lab.look()
        (policy,) = json.loads((await lab.fcn("paths", "--json")).stdout)
        assert not any("flowlets" in path or "loads" in path for path in policy["paths"])
        assert "flowlets" not in (await lab.fcn("paths")).stdout


async def test_what_a_pe_said_of_loads_is_not_forgotten_by_hand(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    """It grows old by itself; of failures and queues nobody else would end it."""
    said: list[bytes] = []
    sections: list[dict[str, str] | None] = [{}, None, {}]
    for section in sections:
        network["load_balancing"] = section
        data = {key: value for key, value in network.items() if value is not None}
        plane = ControlPlane(parse_config(yaml.safe_dump(data)))
        sent = switches["pe1"].engines[-1].sent if switches["pe1"].engines else []
        before = len(sent)
        async with plane.running():
            await all_up(plane)
        sent = switches["pe1"].engine.sent
        said += [packet for packet in sent[before:] if packet.startswith(CPU_PORT)]
    assert said == []
