"""`topology.txt` and `flow.txt` of HPCC (alibaba-edu/High-Precision-Congestion-Control).

A topology: numbers of nodes, switches and links; the numbers of the switches; a line of each link:
two nodes, rate, delay, error rate. Flows: their number; a line of each: source, destination,
priority group, destination port, octets, start in seconds. HPCC does not read what stands behind.
"""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from fcn.contract.units import NANOSECONDS
from fcn.lab.imports.lines import MAX_FLOWS, MAX_LINKS, MAX_NODES, ImportedError, Line, read_lines
from fcn.lab.imports.network import Flow, Imported, Link
from fcn.lab.roce import MAX_MESSAGE

_RATES = {"bps": 1, "Kbps": 10**3, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_NS_PER_S = 10**9
_MAX_DELAY = 10**10
_MAX_RATE = 10**13

_SETTINGS = """\
# As HPCC's hosts with DCQCN: packets of 1000 octets, and its parameters.
hosts: {mtu: 1000, dcqcn: {profile: hpcc-ns3}}
"""


def read_hpcc(topology: Path, flow: Path) -> Imported:
    """Raises ImportedError."""
    lines = read_lines(topology)
    if len(lines) < 2:
        raise ImportedError(f"{topology}: needs a line of numbers, one of switches, and links")
    head = lines[0]
    nodes = head.whole(0, "number of nodes", MAX_NODES, 1)
    count = head.whole(1, "number of switches", nodes)
    links = head.whole(2, "number of links", MAX_LINKS)
    head.ends(3)
    switches = _switches(lines[1], nodes, count)
    beyond = lines[2 + links :]
    if len(lines) < 2 + links:
        head.refuse(f"{links} links are announced, but {len(lines) - 2} lines follow")
    notes = []
    if beyond:
        notes.append(
            f"{topology.name} announces {links} links; {len(beyond)} lines more are not read"
        )
    found = [_link(line, nodes) for line in lines[2 : 2 + links]]
    hosts, between = _sorted(lines[2:], found, switches)
    names = {host.a for host in hosts}
    linked = {end for a, b, *_ in found for end in (a, b)}
    if alone := [node for node in range(nodes) if node not in linked]:
        kind = "switch" if alone[0] in switches else "host"
        head.refuse(f"{kind} {alone[0]} has no link")
    edges = {host.b for host in hosts}
    flows, more = _flows(flow, names)
    return Imported(
        f"{topology.name}, {flow.name} of HPCC",
        tuple(f"s{node}" for node in switches if f"s{node}" in edges),
        tuple(f"s{node}" for node in switches if f"s{node}" not in edges),
        tuple(hosts),
        tuple(between),
        flows,
        (*notes, *more),
        _SETTINGS,
    )


def _switches(line: Line, nodes: int, count: int) -> list[int]:
    if len(line.words) != count:
        line.refuse(f"{count} switches are announced, not {len(line.words)}")
    found = [line.whole(place, "switch", nodes - 1) for place in range(count)]
    if len(set(found)) < count:
        line.refuse("a switch is named twice")
    return found


def _link(line: Line, nodes: int) -> tuple[int, int, int, int]:
    """Both nodes, rate and delay."""
    if len(line.words) != 5:
        line.refuse("a link has two nodes, rate, delay and error rate")
    a, b = (line.whole(place, "node", nodes - 1) for place in (0, 1))
    if a == b:
        line.refuse(f"node {a} is linked to itself")
    rate = line.amount(2, "rate", _RATES)
    delay = line.amount(3, "delay", NANOSECONDS)
    if not 0 < rate <= _MAX_RATE:
        line.refuse("the rate is not above 0 and at most 10 Tb/s")
    if delay > _MAX_DELAY:
        line.refuse("the delay is longer than 10 s")
    if line.number_of(4, "error rate"):
        line.refuse("links lose no packets here; the error rate must be 0")
    return a, b, rate, delay


def _sorted(
    lines: Sequence[Line], links: Sequence[tuple[int, int, int, int]], switches: Sequence[int]
) -> tuple[list[Link], list[Link]]:
    """Links of hosts, and those between switches."""
    known = set(switches)
    hosts: dict[str, Link] = {}
    between: dict[frozenset[int], Link] = {}
    for line, (a, b, rate, delay) in zip(lines, links, strict=False):
        if a in known and b in known:
            if frozenset((a, b)) in between:
                line.refuse(f"{a} and {b} are linked above; here there is one link between two")
            between[frozenset((a, b))] = Link(f"s{a}", f"s{b}", rate, delay)
            continue
        host, switch = (a, b) if b in known else (b, a)
        if switch not in known:
            line.refuse(f"{a} and {b} are both hosts; a host's link is to a switch")
        if f"h{host}" in hosts:
            line.refuse(f"host {host} is linked above; here a host has one link")
        hosts[f"h{host}"] = Link(f"h{host}", f"s{switch}", rate, delay)
    return list(hosts.values()), list(between.values())


def _flows(file: Path, hosts: set[str]) -> tuple[tuple[Flow, ...], list[str]]:
    lines = read_lines(file)
    if not lines:
        raise ImportedError(f"{file}: needs the number of flows, and a line of each")
    count = lines[0].whole(0, "number of flows", MAX_FLOWS, 1)
    lines[0].ends(1)
    if len(lines) - 1 < count:
        lines[0].refuse(f"{count} flows are announced, but {len(lines) - 1} lines follow")
    notes = []
    if beyond := len(lines) - 1 - count:
        notes.append(f"{file.name} announces {count} flows; {beyond} lines more are not read")
    found = [_flow(line, hosts) for line in lines[1 : 1 + count]]
    if len({line.words[2] for line in lines[1 : 1 + count]}) > 1:
        notes.append("priority groups are not imported: flows share one priority here")
    first = min(flow.start_ns for flow in found)
    if first:
        notes.append(
            f"times are since the first flow, which begins at {first / _NS_PER_S:g} s there"
        )
    return tuple(
        Flow(flow.source, flow.target, flow.size, flow.start_ns - first) for flow in found
    ), notes


def _flow(line: Line, hosts: set[str]) -> Flow:
    if len(line.words) != 6:
        line.refuse(
            "a flow has source, destination, priority group, port, octets and start in seconds"
        )
    ends = [f"h{line.whole(place, 'host', MAX_NODES)}" for place in (0, 1)]
    for end in ends:
        if end not in hosts:
            line.refuse(f"{end[1:]} is no host of the topology")
    if ends[0] == ends[1]:
        line.refuse(f"host {ends[0][1:]} cannot send to itself")
    line.whole(2, "priority group", 7)
    line.whole(3, "port", 65535)
    size = line.whole(4, "octets", MAX_MESSAGE, 1)
    start = line.time_ns(5, "start", Decimal(_NS_PER_S))
    return Flow(ends[0], ends[1], size, start)
