"""Output of `fcn`: tables or JSON."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from fcn.contract.depth import LEVELS, Depth, DepthUnit
from fcn.contract.marking import NAMES
from fcn.controller.cli.common import say
from fcn.controller.cli.printing import print_table, table_of
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
    if as_json:
        _print_json(_plain(status))
        return
    table = table_of(
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
    print_table(console, table)
    for node in status.nodes:
        if node.detail:
            say(f"{node.name}: {node.detail}", console)
        if node.refused:
            say(
                f"{node.name}: refused {node.refused} updates, the last of them: {node.refusal}; "
                "the controller's log says which the others were",
                console,
            )
    for region in dict.fromkeys(each.region for each in status.others):
        others = [each for each in status.others if each.region == region]
        if not any(each.heard for each in others):
            reasons = "; ".join(f"{each.name}: {each.detail}" for each in others)
            say(
                f"no controller of region {region} is heard ({reasons}): connections to there that "
                "are set up now may have no sender",
                console,
            )
    say(
        f"notification: {status.notification}; "
        f"labels: {status.labels_in_use} in use, {status.labels_resting} in quarantine; "
        f"controller {status.version} since {_moment(status.started)}",
        console,
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
        widths = print_table(console, table, widths)
        number += len(page)
    say(f"{number} flows" if number else why_none(), console)


def _flow_table(flows: "Iterable[pb.Flow]", counted: bool) -> Table:
    columns = ["node", "vrf", "source", "destination", "dest QP", "label", "source QP", "origin"]
    table = table_of("", *columns, *(["packets", "octets"] if counted else []))
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
                say(sentence, console)
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
    table = table_of(title, "node", "port", "queue", "in")
    for column in NAMES if two else map(str, LEVELS):
        table.add_column(column, justify="right")
    for queue in thresholds.queues:
        unit = DepthUnit[pb.DepthUnit.Name(queue.unit)]
        depths = (format_depth(Depth(amount, unit)) for amount in queue.depths)
        table.add_row(queue.node, str(queue.port), str(queue.queue), unit.value, *depths)
    print_table(console, table)
    console.print()
    policy = table_of("What is done at a level", "level", "mark CE", "notify", "per flow every")
    for item in thresholds.levels:
        marks, notifies = ("yes" if flag else "no" for flag in (item.mark, item.notify))
        policy.add_row(str(item.level), marks, notifies, format_duration(item.interval))
    print_table(console, policy)


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
        say("nothing has been counted; --all shows counters that are 0", console)
        return
    table = table_of("", "node", "counter", "what", "packets", "octets")
    for item in shown:
        table.add_row(item.node, item.counter, item.name, str(item.packets), str(item.octets))
    print_table(console, table)


def show_paths(console: Console, policies: "Sequence[pb.Policy]", *, as_json: bool) -> None:
    """A table per policy, and why one failure can end it."""
    if as_json:
        _print_json(list(map(_plain, policies)))
        return
    if not policies:
        say(NO_POLICY, console)
    for policy in policies:
        columns = ("tunnel", "ID", "via", "weight", "state", "for", "said by")
        title = f"{policy.node}: {policy.name}, to {policy.to}"
        table = table_of(title, *columns, "packets/s", "packets")
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
        print_table(console, table)
        balanced = [path for path in policy.paths if path.HasField("flowlets")]
        if balanced:
            moves = [
                f"{path.tunnel} {path.loads} times, {path.flowlets} flowlets moved there"
                for path in balanced
            ]
            say(f"Heard of the load of {'; '.join(moves)}", console)
        if policy.exposed:
            say(f"One failure can end it: {policy.exposed}", console)
        console.print()


def show_links(console: Console, links: "Sequence[pb.Link]", *, as_json: bool) -> None:
    """A row for each end of a link."""
    if as_json:
        _print_json(list(map(_plain, links)))
        return
    if not links:
        say(NO_LINK, console)
        return
    table = table_of("", "link", "far end", "state", "for", "came up", "went down", "utilization")
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
    print_table(console, table)


def show_changes(console: Console, changes: "Sequence[pb.EntryChange]", *, as_json: bool) -> None:
    """What a configuration would change in switches."""
    if as_json:
        _print_json([_plain(change) for change in changes])
        return
    if not changes:
        console.print("no switch would be changed")
        return
    table = table_of("", "switch", "change", "table", "match", "before", "after")
    for change in changes:
        what = change.node, change.change, change.table, change.match
        table.add_row(*map(escape, (*what, change.before, change.after)))
    print_table(console, table)


def show_applied(console: Console, nodes: "Sequence[pb.AppliedNode]", *, as_json: bool) -> None:
    """What became of the nodes of which a configuration asks something else."""
    if as_json:
        _print_json([_plain(node) for node in nodes])
        return
    if not nodes:
        console.print("in force; no switch is changed")
        return
    table = table_of("in force", "switch", "added", "removed", "changed", "state")
    for node in nodes:
        counts = (str(count) for count in (node.added, node.removed, node.changed))
        table.add_row(node.name, *counts, _state(node.state))
    print_table(console, table)


def show_event(console: Console, event: "pb.Event", *, as_json: bool) -> None:
    """One line per event, flushed."""
    if as_json:
        print(json.dumps(_plain(event), ensure_ascii=False), flush=True)
        return
    clock = time.strftime("%H:%M:%S", time.localtime(event.time))
    say(
        f"{clock}.{int(event.time % 1 * 1000):03d} {event.node or '-':<8} {event.kind:<14} "
        f"{escaped(event.message)}",
        console,
    )
