"""The BMv2 JSON of a pipeline as far as the server needs it, and its agreement with the P4Info.

JSON format: behavioral-model docs/JSON_format.md. Tables the compiler made up are in the JSON only
and ignored here.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fcn.softswitch.api import ActionCall, Exact, Lpm, MatchKey, Range, Ternary
from fcn.softswitch.p4rt.errors import invalid_argument
from fcn.softswitch.p4rt.schema import MatchKind, Schema, Table

_MAX_DIFFERENCES = 10


@dataclass(frozen=True, slots=True)
class ConstEntry:
    """An entry compiled into the program, in P4Runtime terms (the highest priority wins)."""

    match: tuple[MatchKey, ...]
    priority: int
    action: ActionCall


@dataclass(frozen=True, slots=True)
class DeviceTable:
    """A table of the JSON; keys are (match type, width in bits)."""

    keys: tuple[tuple[str, int], ...]
    actions: frozenset[str]
    size: int
    profile: str | None
    direct_counter: bool
    direct_meter: bool
    idle_timeout: bool
    default: ActionCall | None
    entries: tuple[ConstEntry, ...]


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """Names, widths and sizes of everything the control plane can reach in a JSON.

    The compiler may write several copies of an action, so each name has a set of parameter widths.
    """

    tables: Mapping[str, DeviceTable]
    actions: Mapping[str, frozenset[tuple[int, ...]]]
    profiles: Mapping[str, bool]
    counters: Mapping[str, int]
    meters: Mapping[str, int]
    registers: Mapping[str, tuple[int, int]]
    digests: Mapping[str, tuple[int, ...]]


def parse_device_config(data: bytes) -> DeviceConfig:
    """Read BMv2 JSON; INVALID_ARGUMENT says where it is not that."""
    try:
        config = json.loads(data)
    except ValueError as error:
        raise invalid_argument(
            f"p4_device_config is not JSON ({error}); send the .json that p4c-bm2-ss wrote"
        ) from error
    try:
        return _parse(config)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise invalid_argument(
            f"p4_device_config is not BMv2 JSON: {type(error).__name__} {error}"
        ) from error


def check_agreement(schema: Schema, config: DeviceConfig) -> None:
    """Raise INVALID_ARGUMENT with what differs unless the P4Info belongs to the JSON."""
    differences = list(_differences(schema, config))
    if differences:
        shown = "; ".join(differences[:_MAX_DIFFERENCES])
        more = len(differences) - _MAX_DIFFERENCES
        rest = f"; and {more} more" if more > 0 else ""
        raise invalid_argument(
            f"the P4Info does not belong to p4_device_config: {shown}{rest}; "
            "send both outputs of one compiler run"
        )


def _parse(config: dict[str, Any]) -> DeviceConfig:
    widths = _field_widths(config)
    actions = {
        action["id"]: (action["name"], tuple(int(p["bitwidth"]) for p in action["runtime_data"]))
        for action in config["actions"]
    }
    direct_counters = {c["binding"] for c in config["counter_arrays"] if c["is_direct"]}
    pipelines = config["pipelines"]
    return DeviceConfig(
        tables={
            table["name"]: _table(table, widths, actions, direct_counters)
            for pipeline in pipelines
            for table in pipeline["tables"]
        },
        actions={
            name: frozenset(widths for other, widths in actions.values() if other == name)
            for name, _ in actions.values()
        },
        profiles={
            profile["name"]: "selector" in profile
            for pipeline in pipelines
            for profile in pipeline.get("action_profiles", ())
        },
        counters={c["name"]: c["size"] for c in config["counter_arrays"] if not c["is_direct"]},
        meters={m["name"]: m["size"] for m in config["meter_arrays"] if not m["is_direct"]},
        registers={r["name"]: (r["size"], r["bitwidth"]) for r in config["register_arrays"]},
        digests={
            d["name"]: tuple(_width(e["value"], widths) for e in d["elements"])
            for d in config["learn_lists"]
        },
    )


def _field_widths(config: dict[str, Any]) -> dict[tuple[str, str], int]:
    types = {
        t["name"]: {f[0]: f[1] for f in t["fields"] if isinstance(f[1], int)}
        for t in config["header_types"]
    }
    return {
        (header["name"], field): width
        for header in config["headers"]
        for field, width in types[header["header_type"]].items()
    }


def _width(target: list[str], widths: Mapping[tuple[str, str], int]) -> int:
    header, field = target
    return 1 if field == "$valid$" else widths[(header, field)]


def _table(
    table: dict[str, Any],
    widths: Mapping[tuple[str, str], int],
    actions: Mapping[int, tuple[str, tuple[int, ...]]],
    direct_counters: set[str],
) -> DeviceTable:
    entries = table.get("entries", [])
    lowest = max((entry.get("priority", 0) for entry in entries), default=0)
    default = table.get("default_entry")
    return DeviceTable(
        keys=tuple((k["match_type"], _width(k["target"], widths)) for k in table["key"]),
        actions=frozenset(table["actions"]),
        size=table["max_size"],
        profile=table.get("action_profile"),
        direct_counter=bool(table["with_counters"]) or table["name"] in direct_counters,
        direct_meter=table.get("direct_meters") is not None,
        idle_timeout=bool(table["support_timeout"]),
        default=_call(default, actions) if default else None,
        entries=tuple(_const_entry(entry, lowest, actions) for entry in entries),
    )


def _call(
    entry: dict[str, Any], actions: Mapping[int, tuple[str, tuple[int, ...]]]
) -> ActionCall | None:
    if entry["action_id"] not in actions:
        return None
    return ActionCall(
        actions[entry["action_id"]][0],
        tuple(int(value, 16) for value in entry.get("action_data", ())),
    )


def _const_entry(
    entry: dict[str, Any], lowest: int, actions: Mapping[int, tuple[str, tuple[int, ...]]]
) -> ConstEntry:
    action = _call(entry["action_entry"], actions)
    if action is None:
        raise ValueError(f"const entry with unknown action {entry['action_entry']['action_id']}")
    return ConstEntry(
        match=tuple(_const_key(key) for key in entry["match_key"]),
        # BMv2 counts priorities from 1 downwards in importance, P4Runtime upwards.
        priority=lowest + 1 - entry.get("priority", 0),
        action=action,
    )


def _const_key(key: dict[str, Any]) -> MatchKey:
    match key["match_type"]:
        case "exact":
            return Exact(int(key["key"], 16))
        case "lpm":
            return Lpm(int(key["key"], 16), int(key["prefix_length"]))
        case "ternary" | "optional":
            return Ternary(int(key["key"], 16), int(key["mask"], 16))
        case "range":
            return Range(int(key["start"], 16), int(key["end"], 16))
        case other:
            raise ValueError(f"unknown match type {other}")


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
    for kind, wanted, found in (
        ("counter", {c.name: c.size for c in schema.counters.values()}, config.counters),
        ("meter", {m.name: m.size for m in schema.meters.values()}, config.meters),
    ):
        yield from _array_differences(kind, wanted.items(), found)
    for register in schema.registers.values():
        shape = (register.size, register.type.width)
        if config.registers.get(register.name) != shape:
            found_shape = config.registers.get(register.name, "missing")
            yield f"register {register.name} is {shape}, in the JSON {found_shape}"
    for digest in schema.digests.values():
        if config.digests.get(digest.name) != digest.type.widths():
            fields = config.digests.get(digest.name, "missing")
            yield f"digest {digest.name} is {digest.type.widths()}, in the JSON {fields}"


def _array_differences(
    kind: str, wanted: Iterable[tuple[str, int]], found: Mapping[str, int]
) -> Iterator[str]:
    for name, size in wanted:
        if found.get(name) != size:
            yield f"{kind} {name} has {size} cells, in the JSON {found.get(name, 'none')}"


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
