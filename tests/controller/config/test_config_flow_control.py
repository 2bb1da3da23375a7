"""What `fcn check` says of precise flow control (SRF-5 to SRF-8)."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from fcn.contract.constants import compiled_programs
from fcn.controller.config import ConfigError, parse_config
from fcn.controller.config.modes import FlowControlMode, Relief


def problems(network: dict[str, Any]) -> list[tuple[str, str]]:
    """(path, message) of every problem."""
    try:
        parse_config(yaml.safe_dump(network))
    except ConfigError as error:
        return [(problem.where, problem.message) for problem in error.problems]
    return []


def test_it_is_off_by_default(network: dict[str, Any]) -> None:
    assert parse_config(yaml.safe_dump(network)).flow_control is FlowControlMode.OFF


@pytest.mark.parametrize("mode", ["off", "service", "flow", "priority"])
def test_modes_are_read(network: dict[str, Any], mode: str) -> None:
    network["flow_control"] = mode
    network["holding"] = {"relief": "cnp", "hold_at": "64kB", "release_at": "16kB"}
    config = parse_config(yaml.safe_dump(network))
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


def _no_links(network: dict[str, Any]) -> None:
    network["links"] = []


def _no_link_of_a_port(network: dict[str, Any]) -> None:
    network["nodes"]["p1"]["ports"].append({"number": 7, "role": "core"})


def _chip(network: dict[str, Any]) -> None:
    network["nodes"]["p1"]["program"] = str(compiled_programs() / "tna")


@pytest.mark.parametrize(
    ("mode", "change", "reason"),
    [
        ("service", _no_links, "neighbours are known from links"),
        ("service", _no_link_of_a_port, "port 7 has no link"),
        ("priority", _chip, "has no program for Tofino 1 yet"),
    ],
)
def test_what_no_network_can_do_is_refused(
    network: dict[str, Any], mode: str, change: Callable[[dict[str, Any]], None] | None, reason: str
) -> None:
    network["flow_control"] = mode
    if change is not None:
        change(network)
    assert any(reason in message for _, message in problems(network)), problems(network)


HEEDED = {"heed_pause": True, "rate": "100 Gb/s"}


def _of_pe(network: dict[str, Any]) -> dict[str, Any]:
    """The first PE, whose first port is that to a data centre."""
    node: dict[str, Any] = network["nodes"]["pe1"]
    return node


def _no_flow_control(network: dict[str, Any]) -> None:
    network["flow_control"] = "off"


def _no_rate(network: dict[str, Any]) -> None:
    del _of_pe(network)["ports"][0]["rate"]


def _core_port(network: dict[str, Any]) -> None:
    _of_pe(network)["ports"][1]["heed_pause"] = True


def _two_vlans(network: dict[str, Any]) -> None:
    port = {"number": 1, "vlan": 100, "role": "dc", "vrf": "blue"}
    _of_pe(network)["ports"].append(port | HEEDED)


def _no_room(network: dict[str, Any]) -> None:
    network["holding"] = {"packets": 1}


def _share_beyond_the_low_mark(network: dict[str, Any]) -> None:
    network["holding"] = {"pause_share": 30}


def _rare_arns(network: dict[str, Any]) -> None:
    network["holding"] = {"repeat": "600ms", "time": "2s", "longest": "2s"}


def _rate_alone(network: dict[str, Any]) -> None:
    del _of_pe(network)["ports"][0]["heed_pause"]


def _nobody_heeds(network: dict[str, Any]) -> None:
    network["holding"] = {"pause_share": 10}
    for key in HEEDED:
        del _of_pe(network)["ports"][0][key]


def _slower_than_a_quantum(network: dict[str, Any]) -> None:
    _of_pe(network)["ports"][0]["rate"] = "1 b/s"


def _just_slower_than_a_quantum(network: dict[str, Any]) -> None:
    _of_pe(network)["ports"][0]["rate"] = "51199 b/s"


def _second_tenant(network: dict[str, Any]) -> None:
    network["vrfs"]["red"] = {"id": 77, "gre_key": 78}
    node = _of_pe(network)
    node["ports"].append({"number": 7, "role": "dc", "vrf": "red"})
    node["vrfs"]["red"] = {"service_sid": "2001:db8:0:1::d47"}


def _priority_of_two_tenants(network: dict[str, Any]) -> None:
    network["flow_control"] = "priority"
    _second_tenant(network)


def _gre_of_two_tenants(network: dict[str, Any]) -> None:
    _second_tenant(network)
    network["vrfs"]["blue"]["gre_key"] = 79
    far = network["nodes"]["pe2"]
    far["vrfs"]["red"] = {"routes": [{"prefix": "10.7.0.0/24", "tunnel": "gre"}]}
    far["vrfs"]["blue"]["routes"].append({"prefix": "10.7.0.0/24", "tunnel": "gre"})
    far["tunnels"]["gre"] = {"type": "gre", "to": "pe1"}


@pytest.mark.parametrize(
    ("change", "where", "reason"),
    [
        (_no_flow_control, "nodes.pe1.ports[0].heed_pause", "needs flow_control"),
        (_no_rate, "nodes.pe1.ports[0].heed_pause", "write its rate"),
        (_core_port, "nodes.pe1.ports[1].heed_pause", "is for DC ports"),
        (_two_vlans, "nodes.pe1.ports[2].heed_pause", "at one entry of port 1"),
        (_no_room, "holding.pause_share", "raise pause_share"),
        (_share_beyond_the_low_mark, "holding.pause_share", "below pass_off_at"),
        (_rare_arns, "holding.repeat", "500ms at most"),
        (_nobody_heeds, "holding.pause_share", "no port has heed_pause"),
        (_slower_than_a_quantum, "nodes.pe1.ports[0].heed_pause", "512 bit times, more than"),
        (_just_slower_than_a_quantum, "nodes.pe1.ports[0].heed_pause", "longest (10ms)"),
        (_rate_alone, "nodes.pe1.ports[0].rate", "with heed_pause"),
        (_priority_of_two_tenants, "nodes.pe1.ports[0].heed_pause", "of all tenants"),
        (_gre_of_two_tenants, "nodes.pe1.ports[0].heed_pause", "GRE between two PEs"),
    ],
)
def test_pauses_that_cannot_be_heeded_are_refused(
    network: dict[str, Any], change: Callable[[dict[str, Any]], None], where: str, reason: str
) -> None:
    network["flow_control"] = "service"
    _of_pe(network)["ports"][0] |= HEEDED
    assert problems(network) == []
    change(network)
    found = problems(network)
    assert any(path == where and reason in message for path, message in found), found


def test_a_pause_of_one_quantum_may_take_as_long_as_any_hold(network: dict[str, Any]) -> None:
    network["flow_control"] = "service"
    _of_pe(network)["ports"][0] |= HEEDED | {"rate": "51200 b/s"}
    assert problems(network) == []


@pytest.mark.parametrize("mode", ["service", "flow"])
def test_tenants_of_one_pe_may_pause(network: dict[str, Any], mode: str) -> None:
    network["flow_control"] = mode
    _second_tenant(network)
    for port in _of_pe(network)["ports"]:
        if port["role"] == "dc":
            port |= HEEDED
    assert problems(network) == []
