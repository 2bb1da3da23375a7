"""What the controller does about watched links, without packets: entries, clock, epoch, what is
shown (FAN-4)."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from switches import MemorySwitch, all_up, until
from watch_lab import WatchLab, running

from fcn.contract.constants import compiled_programs
from fcn.contract.link_clock import clock_packet
from fcn.controller.app import ControlPlane
from fcn.controller.clock import SYSTEM_CLOCK, Clock
from fcn.controller.config import Config, parse_config
from fcn.controller.events import Event, Kind
from fcn.controller.node.synchronization import Synchronizer
from fcn.controller.northbound.metrics import FcnCollector
from fcn.controller.northbound.snapshot import take_snapshot
from fcn.softswitch.api import CounterValue

CLOCK_PORT = (507).to_bytes(2, "big")


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """The example, whose links are watched."""
    return network | {"failure_detection": {"interval": "100ms"}}


class Lab(WatchLab):
    """The running controller, and what p1's data plane counts."""

    def count(self, counter: str, cell: int, packets: int) -> None:
        """Set a counter's cell."""
        self.switches["p1"].engine.counter_write(counter, cell, CounterValue(packets, 0))

    def turn(self, port: int, ups: int, downs: int) -> None:
        """How often a link of p1 came up and went down."""
        self.count("links_up", port, ups)
        self.count("links_down", port, downs)

    async def look(self) -> dict[int, str]:
        """Let the controller look; the states of p1's links."""
        p1 = self.plane.nodes["p1"]
        links = p1.links
        await p1.counters.poll(links)
        found = {link.port: links.state(link.port) for link in links.links}
        return {port: state.state for port, state in found.items() if state is not None}

    def told(self) -> list[str]:
        """Messages of events of links so far."""
        return [each.message for each in self.events if each.kind in (Kind.LINK_UP, Kind.LINK_DOWN)]


@pytest.fixture
async def lab(config: Config, switches: dict[str, MemorySwitch]) -> AsyncIterator[Lab]:
    async with running(Lab, config, switches) as found:
        yield found


async def test_links_go_down_and_come_back(lab: Lab) -> None:
    assert await lab.look() == {1: "unknown", 2: "unknown"}
    lab.turn(1, 1, 0)
    assert await lab.look() == {1: "up", 2: "unknown"}
    lab.turn(1, 1, 1)
    assert await lab.look() == {1: "down", 2: "unknown"}
    lab.turn(1, 3, 2)
    assert await lab.look() == {1: "up", 2: "unknown"}
    await until(lambda: len(lab.told()) == 3)
    link = "p1: the link p1:1 - pe1:2 is"
    assert lab.told() == [f"{link} up", f"{link} down", f"{link} up, after 3 changes"]
    down = next(event for event in lab.events if event.kind is Kind.LINK_DOWN)
    assert (down.fields["port"], down.fields["peer"], down.fields["peer_port"]) == ("1", "pe1", "2")


async def test_a_first_look_tells_only_of_what_is_down(lab: Lab) -> None:
    lab.turn(1, 5, 4)
    lab.turn(2, 2, 2)
    assert await lab.look() == {1: "up", 2: "down"}
    await until(lambda: lab.told())
    assert lab.told() == ["p1: the link p1:2 - p2:1 is down, after 4 changes"]


async def test_another_configuration_tells_nothing_again(lab: Lab, network: dict[str, Any]) -> None:
    lab.turn(2, 2, 2)
    assert (await lab.look())[2] == "down"
    await until(lambda: lab.told())
    before = lab.plane.nodes["p1"].links.state(2)
    network["nodes"]["p1"]["notifications"] = {"rate": 1000, "burst": 10}
    (applied,) = await lab.plane.apply(yaml.safe_dump(network), "network.yaml")
    assert (applied.node, applied.state, applied.added) == ("p1", "up", 0)
    assert lab.plane.nodes["p1"].links.state(2) == before
    assert (await lab.look())[2] == "down"
    assert len(lab.told()) == 1


async def test_a_restarted_switch_knows_nothing(lab: Lab) -> None:
    lab.turn(1, 2, 1)
    await lab.look()
    lab.turn(1, 0, 0)
    assert (await lab.look())[1] == "unknown"
    assert lab.told() == []


async def test_any_count_that_falls_is_a_restart(lab: Lab) -> None:
    """The links of a switch that came back meanwhile are well, which is no news."""
    counters = lab.plane.nodes["p1"].counters
    lab.count("port_rx", 1, 7)
    lab.turn(1, 2, 1)
    await counters.poll()
    lab.count("port_rx", 1, 6)
    lab.turn(1, 4, 3)
    await counters.poll()
    assert lab.told() == []
    lab.turn(1, 4, 4)
    await counters.poll()
    await until(lambda: lab.told() == ["p1: the link p1:1 - pe1:2 is down"])


async def test_links_are_shown(lab: Lab) -> None:
    lab.turn(1, 2, 2)
    await lab.look()
    shown = await lab.fcn("links", "p1", "--json")
    assert shown.exit_code == 0, shown.output
    first, second = json.loads(shown.stdout)
    assert first["since"] > 0
    assert first | {"since": 0} == {
        "node": "p1",
        "port": 1,
        "peer": "pe1",
        "peer_port": 2,
        "state": "down",
        "since": 0,
        "ups": 2,
        "downs": 2,
    }
    assert second["state"] == "unknown"
    table = (await lab.fcn("links")).stdout
    assert "pe1:2" in table
    assert "down" in table
    nobody = await lab.fcn("links", "p9")
    assert nobody.exit_code == 1
    assert "no node" in nobody.stderr


async def test_links_are_among_the_metrics(lab: Lab) -> None:
    """A link of which nothing is known is neither up nor down."""
    lab.turn(1, 2, 1)
    await lab.look()
    found = {
        (sample.name, sample.labels["port"]): sample.value
        for metric in FcnCollector(take_snapshot(lab.plane.network)).collect()
        for sample in metric.samples
        if sample.labels.get("node") == "p1" and sample.name.startswith("fcn_link_")
    }
    assert found == {
        ("fcn_link_up", "1"): 1.0,
        ("fcn_link_failures_total", "1"): 1.0,
        ("fcn_link_failures_total", "2"): 0.0,
    }


@pytest.fixture
def rated(network: dict[str, Any]) -> dict[str, Any]:
    """p1's first link has a rate."""
    network["nodes"]["p1"]["ports"][0]["rate"] = "1 Mb/s"
    return network


def sends(lab: Lab, octets: int) -> None:
    """What has left p1 by its first port, and by its second."""
    for port in (1, 2):
        lab.switches["p1"].engine.counter_write("port_tx", port, CounterValue(1, octets))


async def test_utilization_is_that_between_two_looks(rated: dict[str, Any], lab: Lab) -> None:
    sends(lab, 1_000_000)
    await lab.look()
    links = lab.plane.nodes["p1"].links
    first = links.state(1)
    assert first is not None
    assert first.utilization is None, "nobody knows when that was sent"
    sends(lab, 1_000_125)
    await lab.look()
    second, other = links.state(1), links.state(2)
    assert second is not None
    assert other is not None
    assert second.utilization == pytest.approx(1000 / 1e6 / (second.seen - first.seen))
    assert other.utilization is None, "without a rate"
    one, two = json.loads((await lab.fcn("links", "p1", "--json")).stdout)
    assert (one["rate"], one["utilization"]) == (1_000_000, second.utilization)
    assert not {"rate", "utilization"} & two.keys()
    row = (await lab.fcn("links", "p1")).stdout.splitlines()[1]
    assert row.rstrip().endswith(f"{second.utilization:.1%}")
    found = {
        sample.labels["port"]: sample.value
        for metric in FcnCollector(take_snapshot(lab.plane.network)).collect()
        for sample in metric.samples
        if sample.name == "fcn_link_utilization"
    }
    assert found == {"1": second.utilization}
    sends(lab, 0)
    await lab.look()
    restarted = links.state(1)
    assert restarted is not None
    assert restarted.utilization is None


async def test_links_of_a_switch_that_is_away_are_unknown(
    lab: Lab, switches: dict[str, MemorySwitch]
) -> None:
    lab.turn(1, 1, 0)
    await lab.look()
    await switches["p1"].stop()
    await until(lambda: not lab.plane.nodes["p1"].is_up)
    shown = json.loads((await lab.fcn("links", "p1", "--json")).stdout)
    assert {link["state"] for link in shown} == {"unknown"}


def clocks(switch: MemorySwitch) -> list[bytes]:
    """Clock packets that were sent, by their tokens."""
    return [token(data) for data in switch.engine.sent if data.startswith(CLOCK_PORT)]


def token(packet_out: bytes) -> bytes:
    """Of a clock packet, behind two octets with its port."""
    return packet_out[16:20]


async def test_each_switch_gets_a_clock(lab: Lab, switches: dict[str, MemorySwitch]) -> None:
    for switch in switches.values():
        (data,) = switch.engine.sent
        number = int.from_bytes(token(data), "big")
        assert data == CLOCK_PORT + clock_packet(number)
        assert number > 1_700_000_000, "seconds since the epoch, which a later controller exceeds"


async def test_a_clock_is_stopped_before_its_slots_are_gone(
    network: dict[str, Any], switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller that is killed in between leaves what tells the next one that a clock goes. The
    program stays: before another one the clock is stopped in any case."""
    for node in network["nodes"].values():
        node["profile"] = "full"
    await epochs(network, switches)
    del network["failure_detection"]
    stopped = asyncio.Event()

    async def killed(_self: Synchronizer, *_held: object) -> None:
        stopped.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(Synchronizer, "synchronize", killed)
        plane = ControlPlane(parse_config(yaml.safe_dump(network)))
        async with plane.running():
            await stopped.wait()
            await until(lambda: all(last_clocks(switch) for switch in switches.values()))
    await epochs(network, switches)
    for switch in switches.values():
        assert len(last_clocks(switch)) == 2


async def test_a_link_that_is_left_for_dead_is_told(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    """Its switch goes on dropping what leaves by it while it watches other links."""
    await epochs(network, switches)
    p1 = switches["p1"].engine
    p1.counter_write("links_up", 2, CounterValue(2, 0))
    p1.counter_write("links_down", 2, CounterValue(2, 0))
    network["links"].remove(["p1:2", "p2:1"])
    (event,) = await links_down(network)
    assert (event.node, event.fields["port"]) == ("p1", "2")
    assert "taken out of `links`" in event.message
    p1.counter_write("links_up", 2, CounterValue(3, 0))
    assert await links_down(network) == []
    p1.counter_write("links_down", 2, CounterValue(3, 0))
    del network["failure_detection"]
    assert await links_down(network) == [], "without a clock no link is dead"


async def links_down(network: dict[str, Any]) -> list[Event]:
    """What is told of links that are down until p1 is up."""
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    told = []
    with plane.bus.watch() as events:
        async with plane.running():
            event = await anext(events)
            while event.kind is not Kind.NODE_UP or event.node != "p1":
                told += [event] if event.kind is Kind.LINK_DOWN else []
                event = await anext(events)
    return told


@pytest.mark.virtual_time
async def test_a_clock_that_stands_still_is_set_going_again(
    config: Config, switches: dict[str, MemorySwitch]
) -> None:
    """With a younger token each time."""
    from virtual import virtual_plane

    plane = virtual_plane(config)
    p1 = switches["p1"]
    async with plane.running():
        await all_up(plane)
        await until(lambda: len(clocks(p1)) == 3)
        tokens = clocks(p1)
        assert tokens == sorted(set(tokens))
        rounds = 0

        def go() -> bool:
            nonlocal rounds
            rounds += 1
            p1.engine.counter_write("clock_rounds", 0, CounterValue(rounds, 0))
            return rounds > 3_000

        await until(go, seconds=100.0)
        assert len(clocks(p1)) <= 4


async def epochs(
    network: dict[str, Any], switches: dict[str, MemorySwitch], clock: Clock = SYSTEM_CLOCK
) -> dict[str, int]:
    """What the controller writes to P nodes, having found what is there; 0 for nothing."""
    plane = ControlPlane(parse_config(yaml.safe_dump(network)), clock)
    with plane.bus.watch() as events:
        async with plane.running():
            await all_up(plane)
            written: dict[str, int] = {}
            while len(written) < len(switches):
                event = await anext(events)
                if event.kind is Kind.SYNCHRONIZED:
                    written[event.node] = int(event.fields["written"])
    return written


async def test_a_controller_that_is_started_again_keeps_the_epoch(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    """The profile of messages is among the entries, and would be written if it were another."""
    assert all((await epochs(network, switches)).values())
    assert not any((await epochs(network, switches)).values())
    await switches["p1"].stop()
    await switches["p1"].start()
    written = await epochs(network, switches)
    assert written.pop("p1") > 0
    assert not any(written.values())


def last_clocks(switch: MemorySwitch) -> list[bytes]:
    """What ended clocks, by the programs before the present one too."""
    sent = [data for engine in switch.engines for data in engine.sent]
    return [data for data in sent if data.startswith(CLOCK_PORT) and data[20] == 1]


async def test_the_clock_stops_with_the_watch(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    """Once: what is not watched any more has no entries the next time."""
    await epochs(network, switches)
    for switch in switches.values():
        assert last_clocks(switch) == []
    del network["failure_detection"]
    await epochs(network, switches)
    await epochs(network, switches)
    for switch in switches.values():
        assert len(last_clocks(switch)) == 1


async def test_the_clock_stops_before_another_program_is_set(
    network: dict[str, Any],
    switches: dict[str, MemorySwitch],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """BMv2 would wait for ever. A switch without a program has no clock. The controller's own clock
    was set back by a month meanwhile."""
    monkeypatch.setattr("fcn.controller.node.program_change.LAST_ROUND", 0.0)
    await epochs(network, switches)
    for name in ("p.json", "p.p4info.txtpb"):
        text = (compiled_programs() / name).read_text()
        (tmp_path / name).write_text(text + "\n")
    network["nodes"]["p1"]["program"] = str(tmp_path)
    await epochs(network, switches, Clock(wall=lambda: time.time() - 30 * 24 * 3600))
    before, _ = switches["p1"].engines
    *_, running, last = (data for data in before.sent if data.startswith(CLOCK_PORT))
    assert last == last_clocks(switches["p1"])[0]
    started, ended = (int.from_bytes(token(data), "big") for data in (running, last))
    assert 0 <= (ended - started) % (1 << 32) < 1 << 31, "the older of two ends"
    assert len(last_clocks(switches["p1"])) == 1
    assert last_clocks(switches["p2"]) == []
