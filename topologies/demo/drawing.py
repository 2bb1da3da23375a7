"""The demo's network as inline SVG, drawn from its description."""

import html
from collections.abc import Iterator

from fcn.topologies.demo.scenario import Scenario

COLUMN, ROW, TOP, EDGE = 92, 44, 26, 40
BOX, BOX_HIGH = 46, 28
SLOW, FAST, PLAIN = "#b2182b", "#1b7837", "#444"


def drawing(scenario: Scenario) -> str:
    """Nodes and hosts in columns along the way of the data, what is beside it below; the congested
    queue; the way of each kind of notification with its propagation delay."""
    places = _places(scenario)
    columns = max(x for x, _ in places.values())
    rows = max(y for _, y in places.values())
    below = TOP + ROW * rows + 46
    width, height = 2 * EDGE + COLUMN * columns, below + 2 * 30
    body = "".join(
        [*_links(scenario, places), *_boxes(scenario, places), *_ways(scenario, places, below)]
    )
    node, peer = scenario.bottleneck
    title = f"The network; the congested queue is at {node} towards {peer}"
    return (
        f'<svg class="network" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{html.escape(title)}" font-family="system-ui,sans-serif" font-size="13" '
        f'text-anchor="middle"><defs>{_head("fast", FAST)}{_head("slow", SLOW)}</defs>{body}</svg>'
    )


def _places(scenario: Scenario) -> dict[str, tuple[int, int]]:
    """Column and row of everything: the way of the first flow is the first row."""
    topology, flow = scenario.topology, scenario.flows[0]
    way = topology.path(flow.sender, flow.receiver)
    places = {name: (column, 0) for column, name in enumerate(way)}
    for node in topology.nodes:
        if node.name not in places:
            found = topology.path(flow.sender, node.name)
            column = next(places[each][0] for each in reversed(found) if each in places)
            places[node.name] = (column + 1, _free(places, column + 1))
    sources = {sender for sender, _ in scenario.pairs}
    for host in topology.hosts:
        if host.name not in places:
            side = -1 if host.name in sources else 1
            column, row = places[host.pe]
            column += side
            places[host.name] = (column, _free(places, column, row))
    return places


def _free(places: dict[str, tuple[int, int]], column: int, row: int = 0) -> int:
    taken = {y for x, y in places.values() if x == column}
    return next(y for y in range(row, row + len(places) + 1) if y not in taken)


def _at(place: tuple[int, int]) -> tuple[int, int]:
    return EDGE + COLUMN * place[0], TOP + ROW * place[1]


def _links(scenario: Scenario, places: dict[str, tuple[int, int]]) -> Iterator[str]:
    topology = scenario.topology
    hosts = [(host.name, host.pe) for host in topology.hosts]
    for a, b in hosts:
        (x, y), (to_x, to_y) = _at(places[a]), _at(places[b])
        yield f'<path d="M{x} {y}L{to_x} {to_y}" stroke="#bbb" fill="none"/>'
    for link in topology.links:
        (x, y), (to_x, to_y) = _at(places[link.a]), _at(places[link.b])
        congested = {link.a, link.b} == set(scenario.bottleneck)
        colour, thick = (SLOW, 4) if congested else ("#888", 2)
        yield f'<path d="M{x} {y}L{to_x} {to_y}" stroke="{colour}" stroke-width="{thick}"/>'
        middle_y = (y + to_y) / 2 + (-11 if y == to_y else 16)
        yield _text((x + to_x) / 2, middle_y, f"{link.delay_ms:g} ms", PLAIN)


def _boxes(scenario: Scenario, places: dict[str, tuple[int, int]]) -> Iterator[str]:
    nodes = {node.name for node in scenario.topology.nodes}
    for name, place in places.items():
        x, y = _at(place)
        shape = (
            f'<rect x="{x - BOX / 2:g}" y="{y - BOX_HIGH / 2:g}" width="{BOX}" '
            f'height="{BOX_HIGH}" rx="{5 if name in nodes else 14}" '
            f'fill="{"#dbe9f6" if name in nodes else "#fff"}" stroke="#555"/>'
        )
        label = name.upper() if name in nodes else name
        yield f'{shape}<text x="{x}" y="{y + 5}">{html.escape(label)}</text>'
    node, peer = scenario.bottleneck
    (x, y), (to_x, _) = _at(places[node]), _at(places[peer])
    side = 1 if to_x > x else -1
    # A queue: three packets that wait at the port.
    for number in range(3):
        left = x + side * (BOX / 2 + 3) + side * 6 * number - (0 if side > 0 else 5)
        yield f'<rect x="{left:g}" y="{y - 7}" width="5" height="14" fill="{SLOW}"/>'


def _ways(scenario: Scenario, places: dict[str, tuple[int, int]], y: int) -> Iterator[str]:
    """From the queue to the first sender: by the ingress PE, and by the receiver."""
    flow = scenario.flows[0]
    (sender, _), (receiver, _) = _at(places[flow.sender]), _at(places[flow.receiver])
    start, _ = _at(places[scenario.bottleneck[0]])
    fast, slow = ways_back(scenario)
    yield _way(f"M{start} {y}H{sender}", "fast", FAST)
    yield _text((start + sender) / 2, y - 6, fast, FAST)
    low = y + 30
    yield _way(f"M{start} {y + 12}H{receiver}V{low}H{sender}", "slow", SLOW)
    yield _text((receiver + sender) / 2, low + 16, slow, SLOW)


def ways_back(scenario: Scenario) -> tuple[str, str]:
    """Who tells the first sender, and how long that takes: the ingress PE, and the receiver."""
    topology, flow = scenario.topology, scenario.flows[0]
    node = scenario.bottleneck[0]
    fast = topology.delay_ms(node, flow.sender)
    slow = topology.delay_ms(node, flow.receiver) + topology.delay_ms(flow.receiver, flow.sender)
    return f"a switch tells the sender: {fast:g} ms", f"the receiver tells the sender: {slow:g} ms"


def _text(x: float, y: float, text: str, colour: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}">{html.escape(text)}</text>'


def _way(path: str, head: str, colour: str) -> str:
    return (
        f'<path d="{path}" stroke="{colour}" stroke-width="2" fill="none" '
        f'marker-end="url(#{head})"/>'
    )


def _head(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    )
