"""Tables on narrow terminals and in pipes."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.markup import escape

from fcn.controller.cli import printing, tables
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
    tables.show_flows(console, [[flow]], str, counted=counted, as_json=False)
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


def test_what_does_not_fit_is_below_the_rest() -> None:
    head, *lines = shown(terminal=True, counted=True)
    assert max(map(len, (head, *lines))) <= 80
    assert f"packets {PACKETS}  octets {OCTETS}" in " ".join(lines)


def test_a_page_that_follows_is_lines_of_the_same_columns() -> None:
    """On a terminal with room for them, where drawing each would take long; on another it is drawn
    as the first."""
    flows = [pb.Flow(node="pe1", key=pb.FlowKey(src="10.1.0.1", dst=f"10.2.0.{n}")) for n in (1, 2)]
    for width in (100, 20):
        pages = list[str](), list[str]()
        for page, parts in zip(pages, ([flows], [flows[:1], flows[1:]]), strict=True):
            file = io.StringIO()
            console = Console(file=file, width=width, force_terminal=True, color_system=None)
            tables.show_flows(console, parts, str, counted=False, as_json=False)
            page += file.getvalue().splitlines()
        assert pages[0] == pages[1]


def test_a_pipe_gets_what_a_wide_terminal_does() -> None:
    """Names with brackets and wide characters, titles, and numbers on the right, too."""
    texts = []
    for terminal in (True, False):
        console = Console(file=io.StringIO(), width=200, force_terminal=terminal, color_system=None)
        table = printing.table_of("a title", "node", "packets", "state")
        table.add_row(escape("[red]東京"), "12", tables._state("away"))
        table.add_row("pe1", "3", "up")
        printing.print_table(console, table, [0, 9, 0])
        assert isinstance(console.file, io.StringIO)
        texts.append(console.file.getvalue())
    assert texts[0] == texts[1]
    assert "[red]東京         12  away" in texts[1]


NODE = pb.NodeStatus(
    name="amsterdam-pe-1",
    role="pe",
    grpc="[2001:db8:aaaa:bbbb::1]:50001",
    state="synchronizing",
    features=["learning", "notification", "translation"],
    entries=12345,
    pending=12,
    flows=123456,
    neighbors=1234,
)
COUNTER = pb.Counter(
    node="amsterdam-pe-1",
    counter="notification_events",
    name="NOTIFICATION_ON_DC_PORT",
    packets=PACKETS,
    octets=OCTETS,
)
PATH = pb.Path(
    tunnel="amsterdam-north",
    id=0x8F2B3C4D,
    weight=16,
    backup=True,
    via=["r1", "r2", "r3"],
    state="congested",
    source="p1:1, p2:12, operator",
    packets=PACKETS,
    rate=10**6,
)
LINK = pb.Link(
    node="amsterdam-pe-1",
    port=511,
    peer="amsterdam-pe-2",
    peer_port=511,
    state="unknown",
    ups=10**6,
    downs=10**6,
    utilization=1.0,
)
QUEUE = pb.QueueThresholds(
    node="amsterdam-pe-1", port=511, queue=7, depths=[*range(123000, 130000, 1000)]
)


@pytest.mark.parametrize(
    ("show", "whole"),
    [
        (
            lambda console: tables.show_status(
                console, pb.GetStatusResponse(nodes=[NODE] * 2), as_json=False
            ),
            ["amsterdam-pe-1", "synchronizing", "12333/12345", "123456", "1234"],
        ),
        (
            lambda console: tables.show_counters(
                console, [COUNTER] * 2, with_zeros=False, as_json=False
            ),
            ["amsterdam-pe-1", "NOTIFICATION_ON_DC_PORT", str(PACKETS), str(OCTETS)],
        ),
        (
            lambda console: tables.show_paths(
                console, [pb.Policy(node="pe1", name="to-pe2", paths=[PATH] * 2)], as_json=False
            ),
            ["0x8f2b3c4d", "congested", "1000000", str(PACKETS)],
        ),
        (
            lambda console: tables.show_links(console, [LINK] * 2, as_json=False),
            ["amsterdam-pe-1:511", "unknown", "1000000", "100.0%"],
        ),
        (
            lambda console: tables.show_thresholds(
                console, pb.GetThresholdsResponse(queues=[QUEUE] * 2), as_json=False
            ),
            ["amsterdam-pe-1", *map(str, range(123000, 130000, 1000))],
        ),
    ],
    ids=["status", "counters", "paths", "links", "thresholds"],
)
def test_every_table_fits_80_columns(show: Callable[[Console], None], whole: list[str]) -> None:
    """Of the longest rows a part is below the rest; both rows of a table have it."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    show(console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines[:-1])) <= 80
    words = " ".join(lines).split()
    assert all(words.count(word) >= 2 for word in whole)


def test_an_ipv6_address_of_a_switch_is_shown() -> None:
    """Square brackets are markup to the library that prints."""
    console = Console(file=io.StringIO(), width=80)
    status = pb.GetStatusResponse(nodes=[pb.NodeStatus(name="pe1", grpc="[fd00::1]:50001")])
    tables.show_status(console, status, as_json=False)
    assert isinstance(console.file, io.StringIO)
    assert "[fd00::1]:50001" in console.file.getvalue()


def test_an_event_is_one_line_whatever_a_host_said() -> None:
    console = Console(file=io.StringIO(), color_system=None)
    event = pb.Event(kind="agent-refused", message="mlx5_0\n12:00:00.000 pe1 node-up \x1b[2J")
    tables.show_event(console, event, as_json=False)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().endswith("mlx5_0\\n12:00:00.000 pe1 node-up \\u001b[2J\n")
    assert console.file.getvalue().count("\n") == 1
