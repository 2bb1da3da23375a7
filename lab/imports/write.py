"""Writes what was imported: a scenario, and beside it the network it names."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from fcn.contract.hops import shortest
from fcn.contract.units import format_rate
from fcn.controller.logs import escaped
from fcn.hosts.scratch import scratch_folder
from fcn.lab.errors import LabError
from fcn.lab.imports.network import Flow, Imported
from fcn.lab.scenario.check import MAX_SAMPLES
from fcn.lab.scenario.load import Plan, load_scenario
from fcn.lab.scenario.model import Measure
from fcn.topologies.units import MAX_TIME_NS

_NS_PER_S = 10**9
_NS_PER_MS = 10**6
_SPARE = 2
"""How many times as long as the busiest host needs a run is, and a millisecond."""


def write_scenario(imported: Imported, file: Path) -> Plan:
    """Write FILE and FILE-network, and read them as they are. Raises LabError when they cannot be
    run, and when one of them is there already."""
    network = file.with_name(f"{file.stem}-network.yaml")
    for each in (file, network):
        if os.path.lexists(each):
            raise LabError(f"{each}: is there already; name another file with -o")
    texts = {network: network_text(imported), file: scenario_text(imported, network.name)}
    try:
        with scratch_folder(f".{file.stem}.fcn-lab-import-", file.parent) as beside:
            for each, text in texts.items():
                (beside / each.name).write_text(text, "utf-8")
            try:
                load_scenario(beside / file.name)
            except LabError as error:
                reason = str(error).replace(f"{beside}/", "")
                raise LabError(f"what was imported cannot be run:\n{reason}") from None
            for each in texts:
                os.link(beside / each.name, each)
    except OSError as error:
        raise LabError(f"{file}: cannot be written: {error.strerror}") from None
    return load_scenario(file)


def network_text(imported: Imported) -> str:
    """The description of the network."""
    return "".join(f"{line}\n" for line in _network(imported))


def scenario_text(imported: Imported, network: str) -> str:
    """The scenario, with a pattern of each flow, or of those to one host at the same time."""
    return "".join(f"{line}\n" for line in _scenario(imported, network))


def _network(imported: Imported) -> Iterator[str]:
    yield escaped(f"# From {imported.source}: switches with hosts are PEs.")
    yield "nodes:"
    for role, names in (("pe", imported.edges), ("p", imported.cores)):
        for name in names:
            yield f"  {name}: {{role: {role}}}"
    if imported.links:
        yield "links:"
    for link in imported.links:
        ends = f"between: [{link.a}, {link.b}]"
        yield f"  - {{{ends}, delay: {link.delay_ns}ns, rate: {format_rate(link.rate_bps)}}}"
    yield "hosts:"
    for link in imported.hosts:
        yield f"  {link.a}: {{pe: {link.b}, rate: {format_rate(link.rate_bps)}}}"


def _scenario(imported: Imported, network: str) -> Iterator[str]:
    yield escaped(f"# From {imported.source}.")
    for note in imported.notes:
        yield escaped(f"# {note[0].upper()}{note[1:]}.")
    yield f"title: {json.dumps(imported.source)}"
    yield f"network: {json.dumps(network)}"
    duration_ns = _duration_ns(imported)
    yield f"duration: {duration_ns}ns"
    yield "mode: ecn"
    yield "links:"
    delays = Counter(link.delay_ns for link in imported.hosts)
    (usual, _), *_others = delays.most_common(1)
    yield "  core: {buffer: 32MB}"
    yield f"  hosts: {{delay: {usual}ns, buffer: 32MB}}"
    unusual = [link for link in imported.hosts if link.delay_ns != usual]
    if unusual:
        yield "  only:"
    for link in unusual:
        yield f"    - {{between: [{link.a}, {link.b}], delay: {link.delay_ns}ns}}"
    # Of all queues between switches: as many samples as a run can keep.
    interval_us = -(-duration_ns * 2 * len(imported.links) // (MAX_SAMPLES * 1000))
    if interval_us > Measure().interval // 1000:
        yield f"measure: {{interval: {interval_us}us}}"
    if imported.settings:
        yield imported.settings.rstrip("\n")
    yield "traffic:"
    for flows in _together(imported.flows):
        sources = ", ".join(flow.source for flow in flows)
        what = f"to: [{flows[0].target}], size: {flows[0].size}B, start: {flows[0].start_ns}ns"
        kind = "incast" if len(flows) > 1 else "messages"
        yield f"  - {{pattern: {kind}, from: [{sources}], {what}}}"


def _together(flows: tuple[Flow, ...]) -> list[list[Flow]]:
    """Flows to one host of the same size at the same time, from a host each."""
    found: dict[tuple[str, int, int, int], list[Flow]] = {}
    of_source: Counter[Flow] = Counter()
    for flow in flows:
        place = of_source[flow]
        of_source[flow] += 1
        found.setdefault((flow.target, flow.size, flow.start_ns, place), []).append(flow)
    return list(found.values())


def _duration_ns(imported: Imported) -> int:
    """Until the last flow, twice what the busiest host needs for all its octets, and two round
    trips of the longest way."""
    rates = {link.a: link.rate_bps for link in imported.hosts}
    octets: Counter[str] = Counter()
    for flow in imported.flows:
        octets[flow.source] += flow.size
        octets[flow.target] += flow.size
    busiest = max(count * 8 * _NS_PER_S // rates[host] for host, count in octets.items())
    last = max(flow.start_ns for flow in imported.flows)
    spare = _SPARE * (busiest + 2 * _longest_ns(imported)) + _NS_PER_MS
    return min(last + spare, MAX_TIME_NS - 1)


def _longest_ns(imported: Imported) -> int:
    """Propagation of the longest way that a flow takes, by the fewest hops."""
    near: dict[str, list[str]] = {}
    delays: dict[tuple[str, str], int] = {}
    for link in imported.links:
        for here, there in ((link.a, link.b), (link.b, link.a)):
            near.setdefault(here, []).append(there)
            delays[here, there] = link.delay_ns
    hosts = {host.a: host for host in imported.hosts}
    ends = {(hosts[flow.source].b, hosts[flow.target].b) for flow in imported.flows}
    ways = (shortest(*pair, near) for pair in ends)
    between = max(sum(delays[hop] for hop in pairwise(way)) for way in ways)
    return between + 2 * max(host.delay_ns for host in imported.hosts)
