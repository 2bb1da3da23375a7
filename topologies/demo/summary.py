"""The demo's results on a terminal: the network, where the report is, a sentence, three numbers,
and the table. Everything else is in the report."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fcn.topologies.demo.conclusion import conclusion, numbers
from fcn.topologies.demo.drawing import ways_back
from fcn.topologies.demo.plots import Results
from fcn.topologies.demo.report import Row, comparison
from fcn.topologies.demo.scenario import Scenario

SLOW, FAST = "red", "green"


def summary(scenario: Scenario, results: Results, page: Path) -> Iterator[RenderableType]:
    """In the order in which it is read. page: the report."""
    yield network_picture(scenario)
    yield Text(f"the report, with charts: {page}")
    yield Text(conclusion(results), style="bold")
    titles = [each.mode.title for each in results.values()]
    yield _table("", titles, numbers(results))
    yield _table("Result", titles, comparison(results))


def _table(title: str, modes: Sequence[str], rows: Iterable[Row]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for mode in modes:
        table.add_column(mode, justify="right")
    for row in rows:
        table.add_row(row.name, *row.values)
    return table


def network_picture(scenario: Scenario) -> Text:
    """The way of the data as a line, with the queue that is congested; what is beside it, and both
    ways back to the sender, below."""
    topology, flow = scenario.topology, scenario.flows[0]
    behind = {
        node.name: " ".join(host.name for host in topology.hosts if host.pe == node.name)
        for node in topology.nodes
    }
    way = topology.path(flow.sender, flow.receiver)[1:-1]
    line = Text(f"{behind[way[0]]} ── ")
    at = {}
    for name, following in zip(way, [*way[1:], None], strict=True):
        at[name] = len(line)
        line.append(name.upper(), "bold")
        if following is None:
            line.append(f" ── {behind[name]}")
        elif (name, following) == scenario.bottleneck:
            line.append(f" ▮▮▮━━ {topology.delay_ms(name, following):g} ms ━━ ", SLOW)
        else:
            line.append(f" ── {topology.delay_ms(name, following):g} ms ── ")
    lines = [line]
    for link in topology.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if near in way and far not in way:
                corner = f"{'':{at[near]}}└── {link.delay_ms:g} ms ── {far.upper()}"
                lines.append(Text(f"{corner} ── {behind[far]}" if behind[far] else corner))
    fast, slow = ways_back(scenario)
    for text, end, colour in ((fast, at[scenario.bottleneck[0]], FAST), (slow, len(line), SLOW)):
        lines.append(Text(f"◀── {text} ".ljust(end, "─") + "┘", colour))
    return Text("\n").join(lines)
