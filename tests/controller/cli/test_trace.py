"""`fcn trace NODE`: how the switch is reached becomes options of the program that tells."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from fcn.contract.command_line import Commands
from fcn.controller.cli import common, trace
from fcn.controller.cli.commands import app
from fcn.controller.proto import fcn_pb2 as pb
from fcn.softswitch.tracer.__main__ import main

INSIDE = ["nsenter", "--net=/proc/17/ns/net"]
Run = list[tuple[str, list[str]]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Run:
    """What the command becomes, beside a controller with two nodes."""
    found: Run = []
    nodes = [pb.NodeStatus(name="pe1", grpc="unix:/run/pe1", device_id=7)]
    second = pb.NodeStatus(name="pe2", grpc="10.0.0.2:50001", device_id=8)
    second.tls.ca = "/ca"
    second.tls.name = "other"

    @contextmanager
    def controller(api: str) -> Iterator[SimpleNamespace]:
        found.append((api, []))
        yield SimpleNamespace(status=lambda: SimpleNamespace(nodes=[*nodes, second]))

    def become(module: str, arguments: Sequence[str], inside: Sequence[str] = ()) -> None:
        found.append((module, list(arguments)))
        raise SystemExit(0 if inside == INSIDE or "--switch" not in arguments else 9)

    monkeypatch.setattr(common, "controller", controller)
    monkeypatch.setattr(trace, "become", become)
    monkeypatch.setattr(trace, "controller_process", lambda _api: 17)
    monkeypatch.setattr(trace, "entering", lambda pid: INSIDE if pid == 17 else [])
    monkeypatch.delenv("FCN_API", raising=False)
    return found


def _fcn(*arguments: str) -> int:
    return CliRunner().invoke(app, ["trace", *arguments]).exit_code


def test_a_node_is_reached_as_the_controller_reaches_it(ran: Run) -> None:
    assert _fcn("pe1", "--api", "unix:/api", "-m", "dst=::1") == 0
    assert ran == [
        ("unix:/api", []),
        (
            "fcn.softswitch.tracer",
            ["--node", "pe1", "--switch", "unix:/run/pe1", "--device-id", "7", "-m", "dst=::1"],
        ),
    ]


@pytest.mark.parametrize("api", [("--api", "unix:/api"), ("--api=unix:/api",)])
def test_the_address_of_the_controller_may_come_first(ran: Run, api: tuple[str, ...]) -> None:
    assert _fcn(*api, "pe1") == 0
    assert ran[0] == ("unix:/api", [])


def test_with_tls_the_files_and_the_name_go_along(ran: Run) -> None:
    assert _fcn("pe2", "--api=unix:/api") == 0
    arguments = ran[1][1]
    assert arguments[arguments.index("--ca") + 1] == "/ca"
    assert arguments[arguments.index("--name") + 1] == "other"


def test_without_a_node_the_controller_is_not_asked(ran: Run) -> None:
    assert _fcn("--program", "x.json", "--packet", "00") == 0
    assert ran == [("fcn.softswitch.tracer", ["--program", "x.json", "--packet", "00"])]


@pytest.mark.parametrize(
    "options",
    [
        ["-m", "dst=::1"],
        ["-c3", "--full", "--json"],
        ["--match", "dst=::1", "--seconds=3", "--html", "x"],
    ],
)
def test_the_node_may_come_last(ran: Run, options: list[str]) -> None:
    assert _fcn(*options, "pe1", "--api", "unix:/api") == 0
    assert ran[1][1][:2] == ["--node", "pe1"]
    assert ran[1][1][-len(options) :] == options


def test_options_without_a_value_are_those_of_the_program() -> None:
    commands = Commands(add_completion=False)
    commands.command()(main)
    options = [each for each in get_command(commands).params if getattr(each, "is_flag", False)]
    assert {name for each in options for name in each.opts} | {"--help"} == trace.FLAGS


@pytest.mark.parametrize(
    "arguments", [("pe1", "-c", "1", "pe2"), ("--api", "unix:/a", "pe1", "--api=unix:/b")]
)
def test_two_nodes_or_controllers_are_refused(ran: Run, arguments: tuple[str, ...]) -> None:
    assert _fcn(*arguments) == 2
    assert ran == []


def test_a_node_that_is_not_there_is_named(ran: Run) -> None:
    assert _fcn("pe3") == 1
    assert [module for module, _ in ran if module.startswith("fcn")] == []
