"""The controller asks no clock but its own what time it is, and draws no other random numbers."""

import ast
import random
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import yaml

from fcn import controller
from fcn.controller.app import ControlPlane
from fcn.controller.clock import Clock
from fcn.controller.config import parse_config
from fcn.controller.config.tls import AgentHost
from fcn.controller.flows.key import FlowKey
from fcn.controller.hostagent.reports import Device

FLOWS = [
    FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), number)
    for number in range(2, 12)
]


def labelled(network: dict[str, Any], clock: Clock, rng: random.Random) -> ControlPlane:
    """A control plane that gave labels to flows."""
    plane = ControlPlane(parse_config(yaml.safe_dump(network)), clock, rng)
    for key in FLOWS:
        plane.flows.add(key, 0x11)
    return plane


FOLDER = Path(controller.__file__).parent

OWN_TIME = ("clock.py", "logs.py", "cli/", "northbound/audit.py", "northbound/access.py")
"""The clock itself, time stamps of logs and of the audit log, and the command line, which is no
part of what runs."""


def asked_of_time(source: str) -> Iterator[str]:
    """What a module takes from `time`, and whether it draws from the system's random numbers."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "time" or node.attr == "SystemRandom":
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield from (alias.name for alias in node.names)


def fixed(seconds: float) -> Callable[[], float]:
    """A clock that shows this always."""
    return lambda: seconds


async def test_all_time_is_of_the_clock_given(network: dict[str, Any]) -> None:
    plane = labelled(network, Clock(fixed(5.0), fixed(1_000.0)), random.Random(1))
    assert {flow.since for flow in plane.flows.all()} == {1_000.0}
    assert {node.status.since for node in plane.nodes.values()} == {1_000.0}
    assert plane.network.started == 1_000.0


async def test_what_was_said_before_a_flow_is_not_said_of_it(network: dict[str, Any]) -> None:
    """Also where the clock is set back by a day meanwhile."""
    now = [0.0, 1_000_000.0]
    plane = labelled(network, Clock(lambda: now[0], lambda: now[1]), random.Random(1))
    host = {"vrf": "blue", "addresses": ["10.1.0.10"]}
    plane.reports.move_to({"a": AgentHost.model_validate(host)})
    key = FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), 99)

    def report(second: float) -> None:
        now[0] = second
        plane.reports.accept("a", [Device("rxe0", (key.src,), ((0x12, 99),))])

    report(1.0)
    report(3.0)
    now[:] = 4.0, 1_000_000.0 - 86_400
    seen = plane.flows.add(key, 0x12).since
    for second, sender in ((4.0, None), (5.0, None), (7.0, 0x12)):
        if second > 4:
            report(second)
        assert plane.reports.sender(key, seen) == sender


async def test_labels_are_those_of_the_seed(network: dict[str, Any]) -> None:
    clock = Clock(fixed(5.0), fixed(1_000.0))
    first, second, other = (
        [flow.label for flow in labelled(network, clock, random.Random(seed)).flows.all()]
        for seed in (1, 1, 2)
    )
    assert first == second
    assert first != other


def test_no_part_asks_the_system() -> None:
    found = {
        name: asked
        for file in FOLDER.rglob("*.py")
        if not (name := str(file.relative_to(FOLDER))).startswith(OWN_TIME)
        and (asked := set(asked_of_time(file.read_text("utf-8"))))
    }
    assert found == {"app.py": {"SystemRandom"}}
    assert set(asked_of_time((FOLDER / "clock.py").read_text("utf-8"))) == {
        "time",
        "monotonic",
        "thread_time",
    }
