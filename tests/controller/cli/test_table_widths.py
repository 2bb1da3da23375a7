"""Tables on narrow terminals and in pipes."""

import io

import pytest
from rich.console import Console

from fcn.controller.cli import tables
from fcn.controller.proto import fcn_pb2 as pb

SOURCE = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:1"
DESTINATION = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:2"
PACKETS, OCTETS = 10**9, 10**12


def shown(*, terminal: bool, counted: bool) -> list[str]:
    """Lines of a table with one flow, 80 columns wide if that is enough."""
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal, color_system=None)
    key = pb.FlowKey(vrf="blue", src=SOURCE, dst=DESTINATION, dest_qp=0x123456)
    flow = pb.Flow(key=key, node="pe1", label=0x80004, source_qp=0x654321, origin="cm")
    if counted:
        flow.packets, flow.octets = PACKETS, OCTETS
    tables.show_flows(console, [flow], as_json=False)
    assert console.width == 80
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("counted", [False, True])
def test_a_pipe_gets_one_line_per_row(counted: bool) -> None:
    _, row, _ = shown(terminal=False, counted=counted)
    cells = [SOURCE, DESTINATION, "0x123456", "0x80004", "0x654321"]
    assert row.split()[2:7] == cells


def test_a_terminal_of_80_columns_is_enough() -> None:
    lines = shown(terminal=True, counted=False)
    assert max(map(len, lines)) <= 80
    assert {"0x123456", "0x80004", "0x654321"} <= set(" ".join(lines).split())


def test_numbers_are_never_folded() -> None:
    words = " ".join(shown(terminal=True, counted=True)).split()
    assert {str(PACKETS), str(OCTETS)} <= set(words)


def test_an_ipv6_address_of_a_switch_is_shown() -> None:
    """Square brackets are markup to the library that prints."""
    console = Console(file=io.StringIO(), width=80)
    status = pb.GetStatusResponse(nodes=[pb.NodeStatus(name="pe1", grpc="[fd00::1]:50001")])
    tables.show_status(console, status, as_json=False)
    assert isinstance(console.file, io.StringIO)
    assert "[fd00::1]:50001" in console.file.getvalue()
