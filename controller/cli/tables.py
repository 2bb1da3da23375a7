"""Output of `fcn`: tables or JSON."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from fcn.contract.depth import LEVELS, Depth, DepthUnit
from fcn.contract.marking import NAMES
from fcn.controller.config.modes import Notification
from fcn.controller.config.notation import format_depth, format_duration
from fcn.controller.logs import escaped

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from fcn.controller.proto import fcn_pb2 as pb

STATE_STYLES = {
    "up": "green",
    "away": "bold red",
    "backup": "bold red",
    "connecting": "yellow",
    "failed": "bold red",
    "congested": "yellow",
    "down": "bold red",
}


NO_POLICY = "no node has a policy: `policies` of a node in the file names the paths to another PE"
NO_LINK = "no link is watched: that takes `failure_detection` and `links` in the file"


def _plain(message: "Message") -> dict[str, Any]:
    """As JSON data, with 64-bit integers as numbers; protobuf's JSON has them as text."""
    from google.protobuf.json_format import MessageToDict

    data = MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return _with_numbers(data, message.DESCRIPTOR)


def _with_numbers(data: dict[str, Any], kind: Any) -> dict[str, Any]:  # noqa: ANN401
    for name, value in data.items():
        field = kind.fields_by_name[name]
        many = isinstance(value, list)
        if field.cpp_type == field.CPPTYPE_UINT64:
            data[name] = [int(each) for each in value] if many else int(value)
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for each in value if many else [value]:
                _with_numbers(each, field.message_type)
    return data


def _print_json(data: object) -> None:
    print(json.dumps(data, indent=2, ensure_ascii=False))


def _print_json_pages(pages: Iterable[Iterable[object]]) -> None:
    """One list of all items, printed page by page, as `_print_json` prints it."""
    before = "["
    for page in pages:
        for item in page:
            text = json.dumps(item, indent=2, ensure_ascii=False)
            print(before, "  " + text.replace("\n", "\n  "), sep="\n", end="")
            before = ","
        sys.stdout.flush()
    print("[]" if before == "[" else "\n]")


_NUMERIC = frozenset(
    {
        "came up", "went down", "packets", "octets", "added", "removed", "changed", "packets/s",
        "utilization", "entries", "flows", "nbrs", "port", "level",
    }
)  # fmt: skip

_FOLDED = frozenset(
    {"switch", "features", "source", "destination", "via", "tunnel", "match", "before", "after"}
)
"""Columns that may take several lines; a number or name in two is misread."""
_FOLDED_WIDTH = 12
"""Characters of such a column, at least."""
_GAP = 2
"""Characters between columns."""
_WIDEST = 10_000
"""Characters of a cell, at most, where it need not fit a terminal."""


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in _NUMERIC else "left",
            overflow="fold",
            no_wrap=column not in _FOLDED,
        )
    return table


def _print(console: Console, table: Table, before: Sequence[int] = ()) -> list[int]:
    """A terminal gets lines of its width, anything else one line per row. `before`: the widths of
    the columns in the page before this one; returns those in this."""
    least = before or [0] * len(table.columns)
    if not console.is_terminal or _is_plain(console, table, least):
        return _print_lines(console, table, least)
    widest = console.options.update(max_width=_WIDEST)
    natural = [
        max([narrow, *(console.measure(each, options=widest).maximum for each in _cells(column))])
        for column, narrow in zip(table.columns, least, strict=True)
    ]
    least = [
        width if column.no_wrap else min(width, _FOLDED_WIDTH)
        for column, width in zip(table.columns, natural, strict=True)
    ]
    if sum(least) + _gaps(least) > console.width:
        _print_in_parts(console, table, natural, least)
        return natural
    whole = max(sum(natural) + _gaps(natural), console.measure(table.title or "").maximum)
    if whole <= console.width:
        for column, width in zip(table.columns, natural, strict=True):
            column.width = width
    usual = console.width
    console.width = min(whole, usual)
    console.print(table)
    console.width = usual
    return natural


def _is_plain(console: Console, table: Table, least: Sequence[int]) -> bool:
    """Whether a terminal has room for a table without colors."""
    columns = [list(column.cells) for column in table.columns]
    if table.show_header or not all(type(cell) is str for cells in columns for cell in cells):
        return False
    widths = [
        max(low, *(cell_len(str(cell)) for cell in cells))
        for low, cells in zip(least, columns, strict=True)
    ]
    return sum(widths) + _gaps(widths) <= console.width


def _print_lines(console: Console, table: Table, least: Sequence[int]) -> list[int]:
    """What rich would print of it without colors, at a tenth of the time; in tables of 100,000 rows
    that is what one waits for."""
    columns = [[_text(each) for each in _cells(column)] for column in table.columns]
    widths = [max(low, *map(cell_len, cells)) for low, cells in zip(least, columns, strict=True)]
    padded = [
        [" " * (width - cell_len(cell)) + cell for cell in cells]
        if column.justify == "right"
        else [cell + " " * (width - cell_len(cell)) for cell in cells]
        for column, cells, width in zip(table.columns, columns, widths, strict=True)
    ]
    if not table.show_header:
        padded = [cells[1:] for cells in padded]
    lines = [(" " * _GAP).join(row) for row in zip(*padded, strict=True)]
    if table.title:
        lines.insert(0, str(table.title).ljust(sum(widths) + _gaps(widths)))
    console.out("\n".join(lines), highlight=False)
    return widths


def _text(cell: RenderableType) -> str:
    if isinstance(cell, str):
        return Text.from_markup(cell).plain if "[" in cell else cell
    assert isinstance(cell, Text)
    return cell.plain


def _cells(column: Column) -> Iterator[RenderableType]:
    yield column.header
    yield from column.cells


def _gaps(widths: Sequence[int]) -> int:
    """Characters between columns of these widths."""
    return _GAP * (len(widths) - 1)


def _print_in_parts(
    console: Console, table: Table, natural: Sequence[int], least: Sequence[int]
) -> None:
    """As many columns as fit, and the others by their names below each row."""
    fitting = next(
        count
        for count in range(len(least), 0, -1)
        if count == 1 or sum(least[:count]) + _gaps(least[:count]) <= console.width
    )
    widths = list(least[:fitting])
    spare = console.width - sum(widths) - _gaps(widths)
    for index, width in enumerate(widths):
        more = min(max(spare, 0), natural[index] - width)
        widths[index], spare = width + more, spare - more
    for number, cells in enumerate(zip(*(column.cells for column in table.columns), strict=True)):
        columns = (column.copy() for column in table.columns[:fitting])
        row = Table(*columns, box=None, pad_edge=False, header_style="bold")
        row.show_header = number == 0 and table.show_header
        if number == 0:
            row.title, row.title_justify = table.title, table.title_justify
        for column, width in zip(row.columns, widths, strict=True):
            column.width = width
        row.add_row(*cells[:fitting])
        console.print(row)
        others = zip(table.columns[fitting:], cells[fitting:], strict=True)
        below = "  ".join(f"{column.header} {cell}" for column, cell in others)
        console.print(Padding(below, (0, 0, 0, _GAP)), highlight=False)


def _say(console: Console, text: str) -> None:
    """A line as it is: square brackets in what a switch said are no markup."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _state(state: str) -> Text:
    return Text(state, STATE_STYLES.get(state, ""))


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _age(since: float) -> str:
    """Time elapsed since a time, in the largest unit of which at least two have passed."""
    seconds = max(0, int(time.time() - since))
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def show_status(console: Console, status: "pb.GetStatusResponse", *, as_json: bool) -> None:
    """State of every node."""
    if as_json:
        _print_json(_plain(status))
        return
    table = _table(
        "", "node", "role", "switch", "state", "for", "features", "entries", "flows", "nbrs"
    )
    for node in status.nodes:
        entries = str(node.entries)
        if node.pending:
            entries = f"{node.entries - node.pending}/{node.entries}"
        table.add_row(
            node.name,
            node.role,
            escape(node.grpc),
            _state(node.state),
            _age(node.since),
            ", ".join(node.features) or "off",
            entries,
            str(node.flows),
            str(node.neighbors),
        )
    _print(console, table)
    for node in status.nodes:
        if node.detail:
            _say(console, f"{node.name}: {node.detail}")
        if node.refused:
            _say(
                console,
                f"{node.name}: refused {node.refused} updates, the last of them: {node.refusal}; "
                "the controller's log says which the others were",
            )
    _say(
        console,
        f"notification: {status.notification}; "
        f"labels: {status.labels_in_use} in use, {status.labels_resting} in quarantine; "
        f"controller {status.version} since {_moment(status.started)}",
    )


def show_flows(
    console: Console,
    pages: "Iterable[Sequence[pb.Flow]]",
    why_none: Callable[[], str],
    *,
    counted: bool,
    as_json: bool,
) -> None:
    """One line per flow, a page as soon as it comes; `counted`: packets and octets, too. A page
    with longer cells than those before has wider columns. why_none: asked where there is none."""
    if as_json:
        _print_json_pages(map(_plain, page) for page in pages)
        return
    number, widths = 0, list[int]()
    for page in pages:
        table = _flow_table(page, counted)
        table.show_header = number == 0
        widths = _print(console, table, widths)
        number += len(page)
    _say(console, f"{number} flows" if number else why_none())


def _flow_table(flows: "Iterable[pb.Flow]", counted: bool) -> Table:
    columns = ["node", "vrf", "source", "destination", "dest QP", "label", "source QP", "origin"]
    table = _table("", *columns, *(["packets", "octets"] if counted else []))
    for flow in flows:
        cells = [
            flow.node or "-",
            flow.key.vrf,
            flow.key.src,
            flow.key.dst,
            f"{flow.key.dest_qp:#x}",
            f"{flow.label:#x}" if flow.HasField("label") else "-",
            f"{flow.source_qp:#x}" if flow.HasField("source_qp") else "unknown",
            flow.origin,
        ]
        if counted:
            cells += [str(flow.packets), str(flow.octets)] if flow.HasField("packets") else ["", ""]
        table.add_row(*cells)
    return table


def show_flow_details(
    console: Console,
    flows: "Iterable[pb.Flow]",
    counters: "pb.GetCountersResponse | None" = None,
    *,
    as_json: bool,
) -> None:
    """All attributes of flows; with counters, what is known of each in sentences, too."""
    from fcn.controller.northbound.story import counted, story

    if as_json:
        _print_json(list(map(_plain, flows)))
        return
    for flow in flows:
        rows = {
            "flow": f"{flow.key.vrf} {flow.key.src} → {flow.key.dst} QP {flow.key.dest_qp:#x}",
            "ingress PE": flow.node or "none: the flow has no label now",
            "label": f"{flow.label:#x}" if flow.HasField("label") else "none",
            "source QP": f"{flow.source_qp:#x}" if flow.HasField("source_qp") else "unknown",
            "P_Key": f"{flow.p_key:#x}",
            "known by": flow.origin,
        }
        if flow.node:
            rows["timeout"] = format_duration(flow.timeout) if flow.timeout else "never"
            rows["since"] = _moment(flow.since)
        if flow.HasField("packets"):
            rows["packets"] = f"{flow.packets} ({flow.octets} octets)"
        for name, value in rows.items():
            console.print(f"{name:>10}  {value}", highlight=False)
        if counters is not None:
            for sentence in story(flow, counted(counters).get(flow.node, {})):
                _say(console, sentence)
        console.print()


def show_thresholds(
    console: Console, thresholds: "pb.GetThresholdsResponse", *, as_json: bool
) -> None:
    """Depths per queue, then the policy of the levels."""
    from fcn.controller.proto import fcn_pb2 as pb

    if as_json:
        data = _plain(thresholds)
        for queue in data["queues"]:
            queue["unit"] = DepthUnit[queue["unit"]].value
        _print_json(data)
        return
    two = thresholds.notification == Notification.TWO_THRESHOLD
    title = "Queue depths of the marking curves" if two else "Queue depth at which a level begins"
    table = _table(title, "node", "port", "queue", "in")
    for column in NAMES if two else map(str, LEVELS):
        table.add_column(column, justify="right")
    for queue in thresholds.queues:
        unit = DepthUnit[pb.DepthUnit.Name(queue.unit)]
        depths = (format_depth(Depth(amount, unit)) for amount in queue.depths)
        table.add_row(queue.node, str(queue.port), str(queue.queue), unit.value, *depths)
    _print(console, table)
    console.print()
    policy = _table("What is done at a level", "level", "mark CE", "notify", "per flow every")
    for item in thresholds.levels:
        marks, notifies = ("yes" if flag else "no" for flag in (item.mark, item.notify))
        policy.add_row(str(item.level), marks, notifies, format_duration(item.interval))
    _print(console, policy)


def show_counters(
    console: Console, counters: "Iterable[pb.Counter]", *, with_zeros: bool, as_json: bool
) -> None:
    """Counters; those that are 0 only `with_zeros` or as JSON."""
    shown = [counter for counter in counters if with_zeros or counter.packets or as_json]
    if as_json:
        nodes: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
        for item in shown:
            values = {"packets": item.packets, "octets": item.octets}
            nodes.setdefault(item.node, {}).setdefault(item.counter, {})[item.name] = values
        _print_json(nodes)
        return
    if not shown:
        _say(console, "nothing has been counted; --all shows counters that are 0")
        return
    table = _table("", "node", "counter", "what", "packets", "octets")
    for item in shown:
        table.add_row(item.node, item.counter, item.name, str(item.packets), str(item.octets))
    _print(console, table)


def show_paths(console: Console, policies: "Sequence[pb.Policy]", *, as_json: bool) -> None:
    """A table per policy, and why one failure can end it."""
    if as_json:
        _print_json(list(map(_plain, policies)))
        return
    if not policies:
        _say(console, NO_POLICY)
    for policy in policies:
        columns = ("tunnel", "ID", "via", "weight", "state", "for", "said by")
        title = f"{policy.node}: {policy.name}, to {policy.to}"
        table = _table(title, *columns, "packets/s", "packets")
        for path in policy.paths:
            table.add_row(
                path.tunnel,
                f"{path.id:#x}",
                ", ".join(path.via) or "-",
                f"backup, {path.weight}" if path.backup else str(path.weight),
                _state(path.state),
                _age(path.since) if path.since else "-",
                path.source or ("unknown" if path.state in ("failed", "congested") else "-"),
                f"{path.rate:.0f}",
                str(path.packets),
            )
        _print(console, table)
        balanced = [path for path in policy.paths if path.HasField("flowlets")]
        if balanced:
            moves = [
                f"{path.tunnel} {path.loads} times, {path.flowlets} flowlets moved there"
                for path in balanced
            ]
            _say(console, f"Heard of the load of {'; '.join(moves)}")
        if policy.exposed:
            _say(console, f"One failure can end it: {policy.exposed}")
        console.print()


def show_links(console: Console, links: "Sequence[pb.Link]", *, as_json: bool) -> None:
    """A row for each end of a link."""
    if as_json:
        _print_json(list(map(_plain, links)))
        return
    if not links:
        _say(console, NO_LINK)
        return
    table = _table("", "link", "far end", "state", "for", "came up", "went down", "utilization")
    for link in links:
        table.add_row(
            f"{link.node}:{link.port}",
            f"{link.peer}:{link.peer_port}",
            _state(link.state),
            _age(link.since) if link.since else "-",
            str(link.ups),
            str(link.downs),
            f"{link.utilization:.1%}" if link.HasField("utilization") else "",
        )
    _print(console, table)


def show_changes(console: Console, changes: "Sequence[pb.EntryChange]", *, as_json: bool) -> None:
    """What a configuration would change in switches."""
    if as_json:
        _print_json([_plain(change) for change in changes])
        return
    if not changes:
        console.print("no switch would be changed")
        return
    table = _table("", "switch", "change", "table", "match", "before", "after")
    for change in changes:
        what = change.node, change.change, change.table, change.match
        table.add_row(*map(escape, (*what, change.before, change.after)))
    _print(console, table)


def show_applied(console: Console, nodes: "Sequence[pb.AppliedNode]", *, as_json: bool) -> None:
    """What became of the nodes of which a configuration asks something else."""
    if as_json:
        _print_json([_plain(node) for node in nodes])
        return
    if not nodes:
        console.print("in force; no switch is changed")
        return
    table = _table("in force", "switch", "added", "removed", "changed", "state")
    for node in nodes:
        counts = (str(count) for count in (node.added, node.removed, node.changed))
        table.add_row(node.name, *counts, _state(node.state))
    _print(console, table)


def show_event(console: Console, event: "pb.Event", *, as_json: bool) -> None:
    """One line per event, flushed."""
    if as_json:
        print(json.dumps(_plain(event), ensure_ascii=False), flush=True)
        return
    clock = time.strftime("%H:%M:%S", time.localtime(event.time))
    _say(
        console,
        f"{clock}.{int(event.time % 1 * 1000):03d} {event.node or '-':<8} {event.kind:<14} "
        f"{escaped(event.message)}",
    )
