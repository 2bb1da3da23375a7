"""Which fields one side of the queues has for itself.

Parser, verified checksums and ingress are one side, egress and updated checksums the other. A field
that only one of them reads and writes, such as a local variable, needs no place in a packet that
waits. The engine has one place for it, for all packets: each side has one packet at a time.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum

from fcn.softswitch.engine import model as m

_OF_THE_SWITCH = ("standard_metadata", "intrinsic_metadata", "queueing_metadata")


class Side(Enum):
    """A side of the queues, as C calls the struct of its fields."""

    INGRESS = "in"
    EGRESS = "out"


def one_sided(model: m.Model) -> dict[m.FieldRef, Side]:
    """The fields that one side has for itself, in the order of declaration.

    Not those of the switch itself, of headers that are used as a whole, and what a copy or a digest
    has of a packet.
    """
    uses = {side: set(_uses(model, _code(model, side))) for side in Side}
    kept: set[m.FieldRef | m.Const] = {*model.aliases.values()}
    kept.update(ref for each in model.field_lists.values() for ref in each.fields)
    kept.update(ref for each in model.learn_lists.values() for ref in each.fields)
    whole = {ref.name for used in uses.values() for ref in used if isinstance(ref, m.HeaderRef)}
    whole |= {*_OF_THE_SWITCH, *model.deparse_order}
    whole |= {name for each in model.stacks.values() for name in each.headers}
    instances: dict[str, list[m.Header]] = {}
    for header in model.headers.values():
        instances.setdefault(header.type.name, []).append(header)
    out = {}
    for header in model.headers.values():
        if header.name in whole or len(instances[header.type.name]) > 1:
            continue
        for each in header.type.fields:
            ref = m.FieldRef(header.name, each.name)
            sides = [side for side, used in uses.items() if ref in used]
            if len(sides) == 1 and ref not in kept:
                out[ref] = sides[0]
    return out


def _code(model: m.Model, side: Side) -> Iterator[object]:
    """What of a program runs on a side."""
    block = model.ingress if side is Side.INGRESS else model.egress
    if side is Side.INGRESS:
        yield tuple(model.states.values())
    for each in model.checksums:
        if each.verify if side is Side.INGRESS else each.update:
            yield each.target, each.condition, m.Named("calculation", each.calculation)
    yield block.conditionals, block.profiles
    profiles = {profile.name for profile in block.profiles}
    actions = {call.action_id for call in block.calls}
    for table in model.tables():
        if table in block.tables or table.profile in profiles:
            actions.update(table.action_ids)
    for table in block.tables:
        yield table.keys
        if table.default is not None:
            actions.add(table.default.action_id)
        if table.meter is not None and table.meter in model.meters:
            yield model.meters[table.meter].target
    yield tuple(model.actions[number].primitives for number in actions if number in model.actions)


def _uses(model: m.Model, parts: Iterable[object]) -> Iterator[m.FieldRef | m.HeaderRef]:
    """The fields and whole headers that parts of a model name."""
    for part in parts:
        if isinstance(part, (m.FieldRef, m.HeaderRef)):
            yield part
        elif isinstance(part, m.Named):
            if part.name in model.calculations:
                yield from _uses(model, model.calculations[part.name].inputs)
        elif isinstance(part, m.CalcInput):
            if part.field is not None:
                yield part.field
            if part.header is not None:
                yield m.HeaderRef(part.header)
        elif isinstance(part, m.Primitive) and part.op == "add_header_fast":
            pass  # it sets the header's validity alone, which is in the packet
        elif isinstance(part, tuple):
            yield from _uses(model, part)
        elif is_dataclass(part):
            yield from _uses(model, (getattr(part, each.name) for each in fields(part)))
