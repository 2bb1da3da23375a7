"""Stories as text: a line a step, what changed below it, copies where they were made."""

from collections.abc import Iterator

from fcn.softswitch.stories.story import Lookup, Packet, Step, Story

_INDENT = "  "


def as_text(story: Story, number: int, *, full: bool = False) -> str:
    """full: also conditions and statements that changed nothing."""
    where = f" at {story.node}" if story.node else ""
    head = f"story {number}{where}: packet {story.packet.number}"
    lines = [head, *_packet(story.packet, 1, full)]
    if not story.complete:
        lines.append(f"{_INDENT}not complete: {story.missing}")
    return "\n".join(lines)


def _packet(packet: Packet, depth: int, full: bool) -> Iterator[str]:
    pad = _INDENT * depth
    came = "" if packet.port is None else f" by port {packet.port}"
    time = "" if packet.time_ns is None else f" at {packet.time_ns / 1e9:.6f} s"
    size = f", {len(packet.frame) // 2} octets" if packet.frame else ""
    yield f"{pad}{packet.how}{came}{time}{size}"
    if packet.frame:
        yield f"{pad}{_INDENT}{packet.frame}"
    part = ""
    for step in packet.steps:
        if not full and _silent(step):
            continue
        if step.part and step.part != part:
            part = step.part
            yield f"{pad}{part}"
        yield from _step(step, depth + 1, full)


def _silent(step: Step) -> bool:
    return (
        step.kind in ("statement", "condition", "deparser") and not step.changes and not step.cells
    )


def _step(step: Step, depth: int, full: bool) -> Iterator[str]:
    pad = _INDENT * depth
    if step.copy is not None:
        yield f"{pad}+ packet {step.copy.number}:"
        yield from _packet(step.copy, depth + 1, full)
        return
    yield f"{pad}{title(step)}{f'  ({step.source})' if step.source else ''}"
    if step.lookup is not None:
        for key in step.lookup.keys:
            entry = f"  entry {key.entry}" if key.entry else ""
            yield f"{pad}{_INDENT}key {key.name} = {key.value}{entry}"
    for cell in step.cells:
        value = f" = {cell.value}" if cell.value else ""
        yield f"{pad}{_INDENT}{cell.kind} {cell.array}[{cell.name or cell.index}]{value}"
    for change in step.changes:
        yield f"{pad}{_INDENT}{change_text(change.field, change.before, change.after)}"
    if step.frame:
        yield f"{pad}{_INDENT}{step.frame}"


def title(step: Step) -> str:
    if step.lookup is not None:
        return f"table {step.what}: {_outcome(step.lookup)}"
    time = "" if step.time_ns is None else f" at {step.time_ns / 1e9:.6f} s"
    match step.kind:
        case "parser":
            return f"state {step.what} -> {step.result or 'stop'}"
        case "condition":
            return f"if {step.what}: {step.result}"
        case "sent":
            return f"sent by {step.what}{time}, {len(step.frame) // 2} octets"
        case "queue":
            return f"to {step.what}, {step.result}{time}"
        case "end":
            return f"{step.what}{f' ({step.result})' if step.result else ''}{time}"
    return step.what


def _outcome(lookup: Lookup) -> str:
    arguments = ", ".join(f"{name}={value}" for name, value in lookup.arguments.items())
    priority = "" if lookup.priority is None else f", priority {lookup.priority}"
    chosen = f" of its {lookup.chosen}" if lookup.chosen else ""
    action = f"{lookup.action}({arguments}){chosen}" if lookup.action else "no action"
    return f"{'hit' if lookup.hit else 'miss'}{priority}, {action}"


def change_text(field: str, before: str, after: str) -> str:
    if before and after:
        return f"{field}: {before} -> {after}"
    return f"+ {field} {after}" if after else f"- {field} {before}"
