"""What `fcn check` says of precise flow control (SRF-5 to SRF-8)."""

from typing import Any

import pytest
from parsing import parsed, problems
from spoilt import cases, spoil

from fcn.contract.constants import compiled_programs
from fcn.controller.config.check_modes import mode_warnings
from fcn.controller.config.modes import FlowControlMode, Relief
from fcn.controller.config.programs import program_of
from fcn.controller.provision.provision import Provision


def test_it_is_off_by_default(network: dict[str, Any]) -> None:
    assert parsed(network).flow_control is FlowControlMode.OFF


@pytest.mark.parametrize("mode", ["off", "service", "flow", "priority"])
def test_modes_are_read(network: dict[str, Any], mode: str) -> None:
    network["flow_control"] = mode
    network["holding"] = {"relief": "cnp", "hold_at": "64kB", "release_at": "16kB"}
    config = parsed(network)
    assert config.flow_control == mode
    assert config.holding.relief is Relief.CNP


@pytest.mark.parametrize(
    ("holding", "where", "reason"),
    [
        ({"udp_port": 1021}, "udp_port", "fast_cnp_port"),
        ({"udp_port": 4791}, "udp_port", "ROCEV2"),
        ({"release_at": 40}, "release_at", "is not below hold_at"),
        ({"release_at": "16kB"}, "release_at", "in the unit of hold_at"),
        ({"hold_at": "1kB"}, "release_at", "in the unit of hold_at"),
        ({"time": "20ms"}, "time", "more time than longest"),
        ({"repeat": "2ms"}, "repeat", "shorter than time"),
        ({"pass_on_at": 30}, "pass_off_at", "below pass_on_at"),
        ({"relief": "shout"}, "relief", "pfc"),
        ({"hold_at": 600_000}, "hold_at", "524287 at most"),
        ({"drain_below": 600_000}, "drain_below", "524287 at most"),
        ({"drain_every": "10ms"}, "drain_every", "shorter than longest"),
        ({"octets": "64B"}, "octets", "all would be dropped"),
        ({"octets": 4_000_000}, "octets", "has no unit"),
        ({"octets": "4 gigabytes"}, "octets", "write 1500B, 9kB or 4MB"),
        ({"octets": "5GB"}, "octets", "5GB is out of range; write 64B to 4GB"),
        ({"octets": "63B"}, "octets", "63B is out of range; write 64B to 4GB"),
        ({"drain_every": "1.4us"}, "drain_every", "finer than a microsecond; write whole ones"),
        ({"longest": "5s", "holds_per_port": 4}, "longest", "2s at most"),
        ({"longest": "1h"}, "longest", "1h is out of range; write 1us to 10s"),
        ({"time": "0us"}, "time", "0us is out of range; write 1us to 10s"),
        ({"repeat": "11s"}, "repeat", "11s is out of range; write 1us to 10s"),
        ({"drain_every": "400h"}, "drain_every", "400h is out of range; write 1us to 1s"),
        ({"relief_repeat": "4s"}, "relief_repeat", "4s is out of range; write 1us to 3s"),
        ({"packets": 1_000_001}, "packets", "less than or equal to 1000000"),
    ],
)
def test_what_contradicts_itself_is_refused(
    network: dict[str, Any], holding: dict[str, Any], where: str, reason: str
) -> None:
    network["flow_control"] = "service"
    network["holding"] = holding
    found = problems(network)
    assert {path for path, _ in found} == {f"holding.{where}"}
    assert all(reason in message for _, message in found)


IMPOSSIBLE = f"""\
links = []
  neighbours are known from links
nodes.p1.ports += {{number: 7, role: core}}
  port 7 has no link
flow_control = priority
nodes.p1.program = {compiled_programs() / "tna"}
  the program for Tofino 1 names services only; write service
nodes.pe1.program = {compiled_programs() / "tna"}
  has no pe program with flow control
"""


@pytest.mark.parametrize(("changes", "_where", "reason"), cases(IMPOSSIBLE))
def test_what_no_network_can_do_is_refused(
    network: dict[str, Any], changes: tuple[str, ...], _where: str, reason: str
) -> None:
    network["flow_control"] = "service"
    found = problems(spoil(network, changes))
    assert any(reason in message for _, message in found), found


def test_a_chip_asks_its_neighbours_and_holds_nothing(network: dict[str, Any]) -> None:
    """In mode service: `fcn check` says so, and no entry is of what its program has not."""
    network["flow_control"] = "service"
    network["nodes"]["p1"]["program"] = str(compiled_programs() / "tna")
    config = parsed(network)
    assert [where for where, text in mode_warnings(config) if "holds nothing" in text] == [
        "nodes.p1"
    ]
    program = program_of(config, config.nodes["p1"], binary=False)
    assert program.p4info.parent.name == "flow-control"
    intent = Provision(config, "p1", program).intent
    updates = intent.take_updates(100_000)
    tables = {
        program.schema.tables[u.entity.table_entry.table_id].alias
        for u in updates
        if u.entity.HasField("table_entry")
    }
    assert tables >= {"flow_control", "arn_profile", "arn_upstream", "hold_level"}


HEEDED = {"heed_pause": True, "rate": "100 Gb/s"}
SECOND_TENANT = """\
vrfs.red = {id: 77, gre_key: 78}
nodes.pe1.ports += {number: 7, role: dc, vrf: red}
nodes.pe1.vrfs.red = {service_sid: '2001:db8:0:1::d47'}
"""
NOT_HEEDED = f"""\
flow_control = off
  @nodes.pe1.ports[0].heed_pause needs flow_control
del nodes.pe1.ports[0].rate
  @nodes.pe1.ports[0].heed_pause write its rate
nodes.pe1.ports[1].heed_pause = true
  is for DC ports
nodes.pe1.ports += {{number: 1, vlan: 100, role: dc, vrf: blue, heed_pause: true, rate: 100 Gb/s}}
  @nodes.pe1.ports[2].heed_pause at one entry of port 1
holding.packets = 1
  @holding.pause_share raise pause_share
holding.pause_share = 30
  below pass_off_at
holding = {{repeat: 600ms, time: 2s, longest: 2s}}
  @holding.repeat 500ms at most
del nodes.pe1.ports[0].heed_pause
del nodes.pe1.ports[0].rate
holding.pause_share = 10
  no port has heed_pause
nodes.pe1.ports[0].rate = 1 b/s
  @nodes.pe1.ports[0].heed_pause 512 bit times, more than
nodes.pe1.ports[0].rate = 51199 b/s
  @nodes.pe1.ports[0].heed_pause longest (10ms)
del nodes.pe1.ports[0].heed_pause
  @nodes.pe1.ports[0].rate with heed_pause
flow_control = priority
{SECOND_TENANT}\
  @nodes.pe1.ports[0].heed_pause of all tenants
{SECOND_TENANT}\
vrfs.blue.gre_key = 79
nodes.pe2.vrfs.red.routes = [{{prefix: 10.7.0.0/24, tunnel: gre}}]
nodes.pe2.vrfs.blue.routes += {{prefix: 10.7.0.0/24, tunnel: gre}}
nodes.pe2.tunnels.gre = {{type: gre, to: pe1}}
  @nodes.pe1.ports[0].heed_pause GRE between two PEs
"""


@pytest.fixture
def heeding(network: dict[str, Any]) -> dict[str, Any]:
    """A network whose first PE heeds the PAUSE frames of its data centre."""
    network["flow_control"] = "service"
    network["nodes"]["pe1"]["ports"][0] |= HEEDED
    return network


@pytest.mark.parametrize(("changes", "where", "reason"), cases(NOT_HEEDED))
def test_pauses_that_cannot_be_heeded_are_refused(
    heeding: dict[str, Any], changes: tuple[str, ...], where: str, reason: str
) -> None:
    assert problems(heeding) == []
    found = problems(spoil(heeding, changes))
    assert any(path == where and reason in message for path, message in found), found


def test_a_pause_of_one_quantum_may_take_as_long_as_any_hold(heeding: dict[str, Any]) -> None:
    heeding["nodes"]["pe1"]["ports"][0]["rate"] = "51200 b/s"
    assert problems(heeding) == []


@pytest.mark.parametrize("mode", ["service", "flow"])
def test_tenants_of_one_pe_may_pause(network: dict[str, Any], mode: str) -> None:
    network["flow_control"] = mode
    spoil(network, tuple(SECOND_TENANT.splitlines()))
    for port in network["nodes"]["pe1"]["ports"]:
        if port["role"] == "dc":
            port |= HEEDED
    assert problems(network) == []
