"""What the controller sees of paths: state, traffic, events (FAN-4)."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml
from switches import MemorySwitch, all_up, plane_up, until
from watch_lab import POLICY, PathLab, running, with_two_ways

from fcn.contract.paths import (
    PATH_REPORTS,
    forget_order,
    path_cell,
    path_report,
    report_cell,
    reporter_cell,
)
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, parse_config
from fcn.controller.config.reporters import reporters
from fcn.controller.events import Kind
from fcn.controller.node.paths import PathState
from fcn.softswitch.api import CounterValue

CPU_PORT = (510).to_bytes(2, "big")


@pytest.fixture
def network(network: dict[str, Any]) -> dict[str, Any]:
    """The example, with a second P between the PEs and a policy with a path by each."""
    return with_two_ways(network, POLICY)


class Lab(PathLab):
    """The running controller, and what pe1's data plane counts."""

    def say(self, slot: int, **counts: int) -> None:
        """How often this was news of a path, by member of PathReport."""
        for report, count in counts.items():
            cell = report_cell(self.plan.cell, slot, PATH_REPORTS[report])
            self.set("path_reports", cell, count)

    def speak(self, slot: int, name: str, **counts: int) -> None:
        """How often a link or node of the path said this."""
        node = self.plane.nodes["pe1"]
        found = reporters(node.provision.config, "pe1", (self.plan,))[self.plan.paths[slot].number]
        (cell,) = (each.cell for each in found if each.name == name)
        for report, count in counts.items():
            self.set("reporter_reports", reporter_cell(cell, PATH_REPORTS[report]), count)

    def carry(self, slot: int, packets: int, octets: int) -> None:
        """What a path has carried."""
        self.set("path_traffic", path_cell(self.plan.cell, slot), packets, octets)

    def state(self, slot: int) -> PathState:
        """A path as the controller saw it."""
        found = self.plane.nodes["pe1"].paths.state("both", slot)
        assert found is not None
        return found

    def kinds(self) -> list[Kind]:
        """Events of paths so far."""
        return [event.kind for event in self.events if event.kind.startswith("path-")]


@pytest.fixture
async def lab(config: Config, switches: dict[str, MemorySwitch]) -> AsyncIterator[Lab]:
    async with running(Lab, config, switches) as found:
        yield found


async def test_a_path_fails_and_is_well_again(lab: Lab) -> None:
    await lab.look()
    assert not lab.state(0).failed
    began = lab.state(0).since
    lab.say(0, FAILED=1)
    await lab.look()
    assert lab.state(0).failed
    assert lab.state(0).since > began
    assert lab.state(1).since == pytest.approx(began, abs=1.0)
    lab.say(0, FAILED=1, WELL=1)
    await lab.look()
    assert not lab.state(0).failed
    await until(lambda: len(lab.kinds()) == 2)
    assert lab.kinds() == [Kind.PATH_FAILED, Kind.PATH_WELL]
    failed = next(event for event in lab.events if event.kind is Kind.PATH_FAILED)
    assert failed.message == "pe1: path pe2-srv6 of both has failed"
    assert failed.fields["id"] == "17"


async def test_who_said_so_is_told(lab: Lab) -> None:
    await lab.look()
    lab.speak(0, "p1:2", FAILED=1)
    lab.say(0, FAILED=1)
    await lab.look()
    assert lab.state(0).source == "p1:2"
    lab.speak(0, "p1:2", WELL=1)
    lab.speak(0, "p2", FAILED=1, WELL=1)
    lab.say(0, FAILED=1, WELL=1)
    await lab.look()
    assert lab.state(0).source.split(", ") == ["p2", "p1:2"]
    lab.speak(0, "p2", FAILED=2)
    lab.say(0, FAILED=2, WELL=1)
    await lab.look()
    await until(lambda: len(lab.kinds()) == 3)
    assert [event.message for event in lab.events if event.kind is Kind.PATH_FAILED] == [
        "pe1: path pe2-srv6 of both has failed, says p1:2",
        "pe1: path pe2-srv6 of both has failed, says p2",
    ]
    assert "p2" in (await lab.fcn("paths")).stdout


async def test_what_is_said_again_and_again_is_no_news(lab: Lab) -> None:
    """A link that failed is so until it says otherwise; others say all the time that they are
    well."""
    lab.speak(0, "p2", WELL=3)
    lab.speak(0, "p1:2", FAILED=1)
    lab.say(0, FAILED=1)
    await lab.look()
    assert lab.state(0).source == "p1:2"
    lab.speak(0, "p2", WELL=5)
    lab.speak(0, "p1:2", FAILED=9, WELL=1)
    lab.say(0, FAILED=1, WELL=1)
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (False, "p1:2")
    lab.speak(0, "p1:2", FAILED=9, WELL=4)
    lab.speak(0, "p2", FAILED=1, WELL=5)
    lab.say(0, FAILED=2, WELL=1)
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (True, "p2")


async def test_what_happened_between_two_looks_is_told(lab: Lab) -> None:
    await lab.look()
    lab.say(1, FAILED=3, WELL=3)
    await lab.look()
    await until(lambda: lab.kinds() == [Kind.PATH_WELL])
    (event,) = (event for event in lab.events if event.kind is Kind.PATH_WELL)
    assert event.message == "pe1: path pe2-vxlan of both is well again, after 6 changes"


async def test_what_was_over_before_the_first_look_is_no_news(lab: Lab) -> None:
    lab.say(0, FAILED=1, WELL=1)
    lab.say(1, FAILED=1)
    await lab.look()
    await until(lambda: lab.kinds() == [Kind.PATH_FAILED])
    (event,) = (event for event in lab.events if event.kind is Kind.PATH_FAILED)
    assert event.message == "pe1: path pe2-vxlan of both has failed"
    assert not lab.state(0).failed


async def test_a_controller_that_was_away_agrees(lab: Lab) -> None:
    """Its first look finds what the data plane did without it."""
    lab.say(0, FAILED=2, WELL=1)
    lab.say(1, CONGESTED=1)
    await lab.look()
    assert lab.state(0).failed
    assert lab.state(1).congested
    await until(lambda: set(lab.kinds()) == {Kind.PATH_FAILED, Kind.PATH_CONGESTED})
    assert lab.plane.nodes["pe1"].intent.pending == 0, "it writes nothing"


async def test_cells_read_at_two_times_are_not_believed(lab: Lab) -> None:
    await lab.look()
    lab.say(0, FAILED=1, WELL=2)
    await lab.look()
    assert not lab.state(0).failed
    lab.say(0, FAILED=3, WELL=2)
    await lab.look()
    assert lab.state(0).failed


async def test_a_restarted_switch_knows_of_no_failure(lab: Lab) -> None:
    lab.say(0, FAILED=5, WELL=4)
    await lab.look()
    lab.say(0, FAILED=0, WELL=0)
    await lab.look()
    assert not lab.state(0).failed
    await until(lambda: lab.kinds() == [Kind.PATH_FAILED, Kind.PATH_WELL])


async def test_what_a_restarted_switch_forgot_is_said_by_nobody(lab: Lab) -> None:
    """Counters that are lower than before are no news of a path."""
    plan = lab.plan
    reporter = reporters(lab.plane.nodes["pe1"].provision.config, "pe1", [plan])[17][0]
    said = {name: reporter_cell(reporter.cell, number) for name, number in PATH_REPORTS.items()}
    lab.set("reporter_reports", said["WELL"], 1)
    lab.say(0, FAILED=2, WELL=1)
    lab.say(1, FAILED=3, WELL=3)
    await lab.look()
    await until(lambda: lab.kinds() == [Kind.PATH_FAILED])
    lab.events.clear()
    lab.set("reporter_reports", said["WELL"], 0)
    lab.say(0, FAILED=0, WELL=0)
    lab.say(1, FAILED=0, WELL=0)
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (False, "")
    lab.set("reporter_reports", said["FAILED"], 1)
    lab.say(0, FAILED=1)
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (True, reporter.name)
    await until(lambda: Kind.PATH_FAILED in lab.kinds())
    lost, failed = (event for event in lab.events if event.kind.startswith("path-"))
    assert lost.kind is Kind.PATH_WELL
    assert "the switch has started again, and no longer knows that path pe2-srv6" in lost.message
    assert failed.message.endswith(f"has failed, says {reporter.name}")


async def restarted(
    network: dict[str, Any], switches: dict[str, MemorySwitch], wanted: int = 0
) -> list[tuple[int, str]]:
    """What the controller says by hand when it starts with this file, so many at least: IDs and
    reports."""
    names = {number: name for name, number in PATH_REPORTS.items()}

    def said() -> list[tuple[int, str]]:
        return [
            (int.from_bytes(data[2:6], "big"), names[data[-1]])
            for data in switches["pe1"].engine.sent
            if data.startswith(CPU_PORT)
        ]

    for engine in switches["pe1"].engines:
        engine.sent.clear()
    async with plane_up(parse_config(yaml.safe_dump(network))):
        # A switch acknowledges no packet.
        await until(lambda: len(said()) >= wanted, "reports")
    return said()


async def test_what_a_switch_knows_of_other_paths_is_forgotten(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    """FAN-8: a path whose state has another place, or of which others may speak by the same bits,
    does not inherit what was said; nobody would end it."""
    everything = [(number, report) for number in (17, 18) for report in ("WELL", "RELIEVED")]
    assert await restarted(network, switches) == [], "a new switch knows nothing"
    assert await restarted(network, switches) == [], "nothing has changed"
    policies = network["nodes"]["pe1"]["policies"]
    policies["both"] = {**POLICY, "paths": POLICY["paths"][::-1]}
    assert await restarted(network, switches, 4) == everything[2:] + everything[:2]
    policies["both"] = POLICY
    assert await restarted(network, switches, 4) == everything, "and back"
    # The links of p1 have other numbers: what was link 2 is another.
    ports = network["nodes"]["p1"]["ports"]
    ports.append({"number": 9, "role": "core"})
    network["links"] = [[end.replace("p1:2", "p1:9") for end in link] for link in network["links"]]
    assert await restarted(network, switches, 2) == everything[:2]


async def test_paths_are_shown(lab: Lab) -> None:
    lab.carry(0, 10, 1000)
    await lab.look()
    lab.say(0, FAILED=1)
    lab.carry(0, 70, 7000)
    await lab.look()
    assert lab.state(0).rate > 0
    shown = await lab.fcn("paths", "--json")
    assert shown.exit_code == 0, shown.output
    (policy,) = json.loads(shown.stdout)
    assert (policy["node"], policy["name"], policy["to"]) == ("pe1", "both", "pe2")
    first, second = policy["paths"]
    assert (first["tunnel"], first["id"], first["weight"]) == ("pe2-srv6", 17, 3)
    assert (first["state"], second["state"]) == ("failed", "up")
    assert (first["packets"], first["octets"]) == (70, 7000)
    assert first["via"] == ["p1", "p2"]
    table = (await lab.fcn("paths", "pe1")).stdout
    assert "failed" in table
    assert "unknown" in table, "who said so"
    nobody = await lab.fcn("paths", "pe9")
    assert nobody.exit_code == 1
    assert "no node" in nobody.stderr


async def test_an_operator_takes_a_path_out_of_use(
    lab: Lab, switches: dict[str, MemorySwitch]
) -> None:
    await lab.look()
    sent = switches["pe1"].engine.sent
    done = await lab.fcn("report-path", "17", "failed")
    assert done.exit_code == 0, done.output
    await until(lambda: sent)
    assert sent == [(510).to_bytes(2, "big") + path_report(17, "FAILED")]
    lab.say(0, FAILED=1)
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (True, "operator")
    assert "operator" in (await lab.fcn("paths")).stdout
    lab.say(0, FAILED=1, WELL=1)
    await lab.look()
    assert lab.state(0).source == "", "somebody else said that"


async def test_a_link_that_is_down_on_a_path_that_is_up_is_named(
    network: dict[str, Any], switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the PE believes none of its nodes."""
    monkeypatch.setattr("fcn.controller.node.counters.INTERVAL", 3600.0)
    watched = network | {"failure_detection": {"interval": "100ms"}}
    async with running(Lab, parse_config(yaml.safe_dump(watched)), switches) as lab:
        for counter in ("links_up", "links_down"):
            switches["p1"].engine.counter_write(counter, 2, CounterValue(1, 0))
        p1 = lab.plane.nodes["p1"]
        await p1.counters.poll(p1.links)
        for failed in (0, 1):
            lab.say(0, FAILED=failed)
            await lab.look()
            shown = (await lab.fcn("paths")).stdout
            assert ("not p1:2" in shown) is not bool(failed)


async def test_congestion_of_which_no_more_is_heard_ends(
    lab: Lab, switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless an operator said so; where there is a queue, its node says so again."""
    monkeypatch.setattr("fcn.controller.node.paths.CONGESTED_FOR", 0.0)
    sent, relieved = switches["pe1"].engine.sent, path_report(17, "RELIEVED")
    for said in (1, 2):
        lab.say(0, CONGESTED=said, RELIEVED=said - 1)
        await lab.look()
        await lab.look()
    await until(lambda: len(sent) == 2)
    assert sent == 2 * [(510).to_bytes(2, "big") + relieved]
    lab.say(0, CONGESTED=2, RELIEVED=2)
    await lab.look()
    assert (await lab.fcn("report-path", "17", "congested")).exit_code == 0
    await until(lambda: len(sent) == 3)
    lab.say(0, CONGESTED=3, RELIEVED=2)
    for _ in range(3):
        await lab.look()
    assert len(sent) == 3


async def test_another_configuration_changes_nothing_of_what_is_known(
    lab: Lab, network: dict[str, Any]
) -> None:
    """Nor is it told again."""
    assert (await lab.fcn("report-path", "17", "failed")).exit_code == 0
    lab.say(0, FAILED=1)
    await lab.look()
    before, told = lab.state(0), lab.kinds()
    routes = network["nodes"]["pe1"]["vrfs"]["blue"]["routes"]
    routes.append({"prefix": "10.66.0.0/16", "discard": True})
    (applied,) = await lab.plane.apply(yaml.safe_dump(network), "network.yaml")
    assert (applied.node, applied.state) == ("pe1", "up")
    assert lab.state(0) == before
    assert (before.failed, before.source) == (True, "operator")
    await lab.look()
    assert lab.state(0).since == before.since
    # What the policy was is not what it is now.
    network["nodes"]["pe1"]["policies"]["both"]["hold_down"] = "3s"
    await lab.plane.apply(yaml.safe_dump(network), "network.yaml")
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (True, "operator")
    assert lab.kinds()[: len(told)] == told


async def test_what_an_operator_said_holds_when_the_switch_starts_again(
    lab: Lab, switches: dict[str, MemorySwitch]
) -> None:
    """But not what was ended since, nor what nobody was told that it was said."""

    async def power_cycle(*kept: bytes) -> None:
        """The controller says these to the new switch."""
        await switches["pe1"].stop()
        await until(lambda: not lab.plane.nodes["pe1"].is_up)
        refused = await lab.fcn("report-path", "18", "congested")
        assert refused.exit_code == 1
        await switches["pe1"].start()
        await all_up(lab.plane)
        # What is said now comes behind what the controller says by itself.
        assert (await lab.fcn("report-path", "18", "failed")).exit_code == 0
        await until(lambda: switches["pe1"].engine.sent == [*kept, failed[18]])

    for number, report in (("17", "failed"), ("18", "failed"), ("17", "congested")):
        assert (await lab.fcn("report-path", number, report)).exit_code == 0
    assert (await lab.fcn("report-path", "17", "relieved")).exit_code == 0
    failed = {number: CPU_PORT + path_report(number, "FAILED") for number in (17, 18)}
    await power_cycle(*failed.values())
    lab.renew()
    lab.say(0, FAILED=1)
    lab.say(1, FAILED=1)
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (True, "operator")
    assert (await lab.fcn("report-path", "17", "forget")).exit_code == 0
    assert (await lab.fcn("report-path", "18", "well")).exit_code == 0
    await power_cycle()


async def test_an_operator_lets_a_switch_forget_what_was_said(
    lab: Lab, switches: dict[str, MemorySwitch]
) -> None:
    """The numbers of all who may speak of the path, and what they said, also by hand."""
    await lab.look()
    sent = switches["pe1"].engine.sent
    done = await lab.fcn("report-path", "17", "forget")
    assert done.exit_code == 0, done.output
    found = reporters(lab.plane.nodes["pe1"].provision.config, "pe1", (lab.plan,))[17]
    said = [forget_order(each.cell) for each in found]
    said += [path_report(17, report) for report in ("WELL", "RELIEVED")]
    await until(lambda: len(sent) == len(said))
    assert sent == [(510).to_bytes(2, "big") + each for each in said]


async def test_what_an_operator_ended_by_forget_is_said_by_the_operator(lab: Lab) -> None:
    await lab.look()
    lab.speak(0, "p1:2", FAILED=1)
    lab.say(0, FAILED=1)
    await lab.look()
    done = await lab.fcn("report-path", "17", "forget")
    assert done.exit_code == 0, done.output
    lab.say(0, FAILED=1, WELL=1)
    await lab.look()
    assert (lab.state(0).failed, lab.state(0).source) == (False, "operator")
    await lab.fcn("report-path", "17", "forget")
    lab.speak(0, "p1:2", FAILED=2)
    lab.say(0, FAILED=2, WELL=1)
    await lab.look()
    assert lab.state(0).source == "p1:2", "there was nothing to forget"


async def test_what_cannot_be_said_is_refused(lab: Lab) -> None:
    for path, said, code, reason in (
        ("17", "dead", 1, "'dead' cannot be said of a path; say one of: failed, well"),
        ("19", "failed", 1, "no policy has a path with ID 0x13"),
        ("north", "failed", 2, "'north' is not a number"),
        ("-- -1", "failed", 2, ""),
        (str(1 << 32), "failed", 2, "4294967296 is not the ID of a path"),
    ):
        done = await lab.fcn("report-path", path, said)
        assert done.exit_code == code, done.output
        assert reason in done.stderr


async def test_nobody_is_told_by_a_switch_that_is_away(
    lab: Lab, switches: dict[str, MemorySwitch]
) -> None:
    await switches["pe1"].stop()
    await until(lambda: not lab.plane.nodes["pe1"].is_up)
    done = await lab.fcn("report-path", "17", "failed")
    assert done.exit_code == 1
    assert "pe1 is" in done.stderr
    (policy,) = json.loads((await lab.fcn("paths", "--json")).stdout)
    assert {path["state"] for path in policy["paths"]} == {"unknown"}


async def test_a_policy_that_one_failure_can_end_is_told(network: dict[str, Any]) -> None:
    network["nodes"]["pe1"]["policies"]["both"] = POLICY | {"paths": POLICY["paths"][:1]}
    del network["nodes"]["p3"]
    network["links"] = [link for link in network["links"] if "p3" not in str(link)]
    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    with plane.bus.watch() as events:
        async with plane.running():
            event = await anext(events)
    assert (event.kind, event.node) == (Kind.PATH_EXPOSED, "pe1")
    assert event.message.startswith("pe1: one failure can end policy both: ")


async def test_nodes_without_policies_show_none(lab: Lab) -> None:
    shown = await lab.fcn("paths", "pe2", "--json")
    assert json.loads(shown.stdout) == []


async def test_what_a_pe_said_itself_ends_with_its_watch(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    """Of the first link of a path, and of the queue there: nobody else would end it."""
    network |= {"failure_detection": {}, "notification": "fantel"}
    for node in network["nodes"].values():
        # Routes by a tunnel are refused in this mode.
        for vrf in node.get("vrfs", {}).values():
            vrf["routes"] = [route for route in vrf.get("routes", ()) if "tunnel" not in route]
    everything = [(number, report) for number in (17, 18) for report in ("WELL", "RELIEVED")]
    await restarted(network, switches)
    assert await restarted(network, switches) == [], "nothing has changed"
    network["notification"] = "fcn"
    assert await restarted(network, switches, 4) == everything, "queues"
    assert await restarted(network, switches) == []
    del network["failure_detection"]
    assert await restarted(network, switches, 4) == everything, "links"
    assert await restarted(network, switches) == []
