"""Whether a P4Info and a BMv2 JSON belong together.

The compiler describes the whole program in the P4Info and leaves out of the JSON what no packet can
reach. What is missing there is therefore no difference, unless the JSON has something of the same
kind that the P4Info does not have: then it was renamed, and the two are of different runs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol, TypeVar

from fcn.softswitch.p4rt.devconfig import DeviceConfig, DeviceTable
from fcn.softswitch.p4rt.errors import invalid_argument
from fcn.softswitch.p4rt.schema import Digest, MatchKind, Schema, Table

_MAX_DIFFERENCES = 10
_GENERATED = "tbl_"
"""Begins the names of tables that the compiler makes of plain statements, for the JSON only."""
_NUMBERED = re.compile(r"digest_\d+")


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_T = TypeVar("_T", bound=_Named)


def agreed(schema: Schema, config: DeviceConfig) -> Schema:
    """What of a P4Info is in the JSON; INVALID_ARGUMENT with the differences unless it belongs to
    it."""
    kept = replace(
        schema,
        tables=_kept(schema.tables, config.tables),
        profiles=_kept(schema.profiles, config.profiles),
        counters=_kept(schema.counters, config.counters),
        meters=_kept(schema.meters, config.meters),
        registers=_kept(schema.registers, config.registers),
        digests=_kept(_named(schema.digests, config.digests), config.digests),
        value_sets=_kept(schema.value_sets, config.value_sets),
    )
    differences = list(_differences(kept, config))
    if differences:
        shown = "; ".join(differences[:_MAX_DIFFERENCES])
        more = len(differences) - _MAX_DIFFERENCES
        rest = f"; and {more} more" if more > 0 else ""
        raise invalid_argument(
            f"the P4Info does not belong to p4_device_config: {shown}{rest}; "
            "send both outputs of one compiler run"
        )
    return kept


def _kept(described: Mapping[int, _T], found: Iterable[str]) -> Mapping[int, _T]:
    """The described objects without those the compiler removed."""
    names = {item.name for item in described.values()}
    if any(name not in names and not name.startswith(_GENERATED) for name in found):
        return described
    return {number: item for number, item in described.items() if item.name in set(found)}


def _named(
    described: Mapping[int, Digest], found: Mapping[str, tuple[int, ...]]
) -> Mapping[int, Digest]:
    """The described digests by their names in the JSON. Digests of tuples, which have no name in
    the program, are numbered in the P4Info and have the name of their type in the JSON."""
    names = {digest.name for digest in described.values()}
    others = [name for name in found if name not in names]
    renamed = dict(described)
    for number, digest in described.items():
        same = [name for name in others if found[name] == digest.type.widths()]
        if digest.name not in found and _NUMBERED.fullmatch(digest.name) and same:
            others.remove(same[0])
            renamed[number] = replace(digest, name=same[0])
    return renamed


def _differences(schema: Schema, config: DeviceConfig) -> Iterator[str]:
    for table in schema.tables.values():
        device = config.tables.get(table.name)
        if device is None:
            yield f"table {table.name} is not in the JSON"
        else:
            yield from _table_differences(table, device, schema)
    for action in schema.actions.values():
        widths = tuple(param.width for param in action.params)
        found_widths = config.actions.get(action.name)
        if found_widths is not None and widths not in found_widths:
            others = " or ".join(map(str, sorted(found_widths)))
            yield f"action {action.name} has parameters {widths}, in the JSON {others}"
    for profile in schema.profiles.values():
        if profile.name not in config.profiles:
            yield f"action profile {profile.name} is not in the JSON"
        elif config.profiles[profile.name] != profile.selector:
            yield f"only one of both has a selector in action profile {profile.name}"
    shapes: dict[str, Mapping[str, object]] = {
        "size of counter": {c.name: c.size for c in schema.counters.values()},
        "size of meter": {m.name: m.size for m in schema.meters.values()},
        "size and width of register": {
            r.name: (r.size, r.type.width) for r in schema.registers.values()
        },
        "width and size of value set": {
            v.name: (v.width, v.size) for v in schema.value_sets.values()
        },
        "widths of digest": {d.name: d.type.widths() for d in schema.digests.values()},
    }
    have = (config.counters, config.meters, config.registers, config.value_sets, config.digests)
    for (what, wanted), found in zip(shapes.items(), have, strict=True):
        for name, shape in wanted.items():
            if found.get(name) != shape:
                yield f"{what} {name} is {shape}, in the JSON {found.get(name, 'missing')}"


def _table_differences(table: Table, device: DeviceTable, schema: Schema) -> Iterator[str]:
    # p4c writes optional keys as ternary ones.
    kinds = {MatchKind.OPTIONAL: ("ternary", "optional")}
    if len(table.fields) != len(device.keys):
        yield f"table {table.name} has {len(table.fields)} keys, in the JSON {len(device.keys)}"
    for field, (kind, width) in zip(table.fields, device.keys, strict=False):
        if kind not in kinds.get(field.kind, (field.kind.value,)) or width != field.width:
            yield (
                f"key {field.name} of {table.name} is {field.kind.value} bit<{field.width}>, "
                f"in the JSON {kind} bit<{width}>"
            )
    names = {ref.action.name for ref in table.actions.values()}
    if names != device.actions:
        odd = ", ".join(sorted(names ^ device.actions))
        yield f"actions of table {table.name} differ: {odd}"
    profile = schema.profiles.get(table.profile_id)
    if (profile.name if profile else None) != device.profile:
        yield f"implementation of table {table.name} is {device.profile} in the JSON"
    for what, wanted, found in (
        ("a direct counter", table.direct_counter, device.direct_counter),
        ("a direct meter", table.direct_meter is not None, device.direct_meter),
        ("an idle timeout", table.idle_timeout, device.idle_timeout),
    ):
        if wanted != found:
            yield f"only one of both has {what} in table {table.name}"
