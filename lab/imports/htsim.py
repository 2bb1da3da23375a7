"""Connection matrices (`.cm`) of htsim (Broadcom/csg-htsim).

`Nodes`, `Connections`, `Triggers` and `Failures` with their numbers; then a line of each
connection: `SRC->DST [id N] start PICOSECONDS size OCTETS [prio N]`. A matrix says nothing of the
network: hosts are put behind leaves in their order, and each leaf is linked to every spine.
"""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from fcn.lab.imports.lines import MAX_FLOWS, MAX_NODES, ImportedError, Line, read_lines
from fcn.lab.imports.network import Flow, Imported, Link
from fcn.lab.roce import MAX_MESSAGE

_NS_PER_PS = Decimal("0.001")
_MAX_NUMBER = (1 << 32) - 1
_HEAD = ("Nodes", "Connections", "Triggers", "Failures")
_TRIGGERS = ("trigger", "send_done_trigger", "recv_done_trigger", "addon")


@dataclass(frozen=True, slots=True)
class LeafSpine:
    """Hosts of a leaf, spines, rate of each link of a host (those between switches are as fast as
    they must be to carry all), and propagation of each link."""

    leaf: int = 16
    spines: int = 4
    rate_bps: int = 100 * 10**9
    delay_ns: int = 1000


def read_htsim(file: Path, shape: LeafSpine) -> Imported:
    """Raises ImportedError."""
    announced: dict[str, int] = {}
    flows: list[Flow] = []
    notes: list[str] = []
    for line in read_lines(file):
        word = line.words[0]
        if word.startswith("#"):
            continue
        if word in _HEAD:
            if flows:
                line.refuse(f"{word} stands before the connections")
            if word in announced:
                line.refuse(f"{word} is given twice")
            line.ends(2)
            most = {"Nodes": MAX_NODES, "Connections": MAX_FLOWS}.get(word, 0)
            if len(line.words) == 2 and not most and line.words[1] != "0":
                line.refuse("triggers and failures are not imported; give connections a start")
            announced[word] = line.whole(1, word, most)
        elif "->" in word:
            if "Nodes" not in announced:
                line.refuse("Nodes, their number, stands before the connections")
            if len(flows) == MAX_FLOWS:
                line.refuse(f"more than {MAX_FLOWS} connections")
            flows.append(_flow(line, announced["Nodes"]))
            if "prio" in line.words and not notes:
                notes.append("prio of connections is not imported: they share one priority here")
        else:
            line.refuse(f"neither a connection (0->1 …) nor one of {', '.join(_HEAD)}")
    if not flows:
        raise ImportedError(f"{file}: has no connections")
    if announced.get("Connections", 0) != len(flows):
        number = announced.get("Connections", 0)
        raise ImportedError(f"{file}: {number} connections are announced, not {len(flows)}")
    return _network(file, announced["Nodes"], flows, shape, notes)


def _flow(line: Line, nodes: int) -> Flow:
    source, _, target = line.words[0].partition("->")
    ends = Line(line.file, line.number, (source, target))
    numbers = [ends.whole(place, "node", nodes - 1) for place in (0, 1)]
    if numbers[0] == numbers[1]:
        line.refuse(f"node {source} cannot send to itself")
    start = size = None
    place = 1
    while place < len(line.words):
        key = line.words[place]
        if key in line.words[1:place:2]:
            line.refuse(f"{key} is given twice")
        if key in _TRIGGERS:
            line.refuse("triggers are not imported; give the connection a start")
        if key == "start":
            start = line.time_ns(place + 1, key, _NS_PER_PS)
        elif key == "size":
            size = line.whole(place + 1, key, MAX_MESSAGE)
        elif key in ("id", "prio"):
            line.whole(place + 1, key, _MAX_NUMBER)
        else:
            line.refuse(f"{key[:20]} is none of id, start, size and prio")
        place += 2
    if start is None:
        line.refuse("start is missing")
    if not size:
        line.refuse("size is missing" if size is None else "a flow of size 0 has no end")
    return Flow(f"h{numbers[0]}", f"h{numbers[1]}", size, start)


def _network(
    file: Path, nodes: int, flows: list[Flow], shape: LeafSpine, notes: list[str]
) -> Imported:
    leaves = -(-nodes // shape.leaf)
    spines = shape.spines if leaves > 1 else 0
    fabric = -(-shape.rate_bps * min(shape.leaf, nodes) // shape.spines)
    return Imported(
        f"{file.name} of htsim",
        tuple(f"leaf{number}" for number in range(leaves)),
        tuple(f"spine{number}" for number in range(spines)),
        tuple(
            Link(f"h{number}", f"leaf{number // shape.leaf}", shape.rate_bps, shape.delay_ns)
            for number in range(nodes)
        ),
        tuple(
            Link(f"leaf{leaf}", f"spine{spine}", fabric, shape.delay_ns)
            for leaf in range(leaves)
            for spine in range(spines)
        ),
        tuple(flows),
        (
            f"the network is not of the file: leaves with {shape.leaf} hosts each, {spines} spines",
            *notes,
        ),
    )
