"""What `fcn check` says of precise flow control (SRF-5 to SRF-8)."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from fcn.contract.constants import compiled_programs
from fcn.controller.config import ConfigError, parse_config
from fcn.controller.config.modes import FlowControl, Relief


def problems(network: dict[str, Any]) -> list[tuple[str, str]]:
    """(path, message) of every problem."""
    try:
        parse_config(yaml.safe_dump(network))
    except ConfigError as error:
        return [(problem.where, problem.message) for problem in error.problems]
    return []


def test_it_is_off_by_default(network: dict[str, Any]) -> None:
    assert parse_config(yaml.safe_dump(network)).flow_control is FlowControl.OFF


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
    network: dict[str, Any],
    mode: str,
    change: Callable[[dict[str, Any]], None] | None,
    reason: str,
) -> None:
    network["flow_control"] = mode
    if change is not None:
        change(network)
    assert any(reason in message for _, message in problems(network)), problems(network)
