"""Reading context.json of the assembler, whose schema is that of p4lang/p4c,
backends/tofino/compiler_interfaces.

Names lose what the compiler puts before them (`pipe.` and the dot of `@name(".x")`), so that they
are those of the P4Info.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fcn.ptf_tests.tofino.context import (
    Action,
    ActionData,
    Array,
    Block,
    Context,
    ContextError,
    Format,
    HashBit,
    Idle,
    Immediate,
    Key,
    MatchTable,
    Memory,
    Override,
    Parameter,
    Quantum,
    Stage,
    StageAction,
    StaticEntry,
    ValueSet,
    Way,
)
from fcn.ptf_tests.tofino.packing import Slice


def plain(name: str) -> str:
    """A name without what the compiler puts before it."""
    return name.removeprefix("pipe.").removeprefix(".").removeprefix("pipe.")


def read(data: bytes) -> Context:
    """Parse context.json. Raises ContextError."""
    try:
        document = json.loads(data)
        return _context(document)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ContextError(
            f"context.json is not as the assembler writes it: {type(error).__name__}: {error}"
        ) from error


def _context(document: dict[str, Any]) -> Context:
    tables: dict[str, MatchTable] = {}
    action_data: dict[str, ActionData] = {}
    arrays: dict[tuple[str, str], tuple[Array, ...]] = {}
    for table in document["tables"]:
        kind, name = table["table_type"], plain(table["name"])
        if kind == "match" and not _of_ports(table):
            tables[name] = _match_table(table)
        elif kind in ("action", "action_data"):
            action_data[name] = _action_data(table)
        elif kind in ("statistics", "meter", "stateful", "selection"):
            arrays[(kind, name)] = tuple(_arrays(table))
    return Context(
        tables=tables,
        action_data=action_data,
        arrays=arrays,
        value_sets={each.name: each for each in _value_sets(document)},
        quanta={each.type: each for each in map(_quantum, document["learn_quanta"])},
        target=document["target"],
    )


_SRAMS, _MAP_RAMS = 12, 6
"""In a row."""
_Starts = Mapping[str, int]
"""The lowest bit of a field that is in the key, by the key's name: 0 but where it is a slice."""


def _slices(entry: Mapping[str, Any], width: int, starts: _Starts) -> tuple[Slice, ...]:
    found = []
    for field in entry["fields"]:
        part = field.get("range")
        name = plain(field["field_name"])
        found.append(
            Slice(
                name=name,
                source=field["source"],
                start=field["start_bit"] - starts.get(name, 0),
                width=field["field_width"],
                offset=field["lsb_mem_word_idx"] * width + field["lsb_mem_word_offset"],
                constant=sum(
                    piece["value"] << piece["dest_start"] for piece in field.get("const_tuples", ())
                ),
                nibble=None if part is None else part.get("nibble_offset", 0),
                duplicate=part is not None and part["is_duplicate"],
            )
        )
    return tuple(found)


def _format(pack: Mapping[str, Any], starts: _Starts | None = None) -> Format:
    units, width = pack["number_memory_units_per_table_word"], pack["memory_word_width"]
    count = pack.get("entries_per_table_word", 1)
    fields: list[tuple[Slice, ...]] = [()] * count
    for entry in pack.get("entries", ()):
        fields[entry["entry_number"]] = _slices(entry, width, starts or {})
    return Format(units, tuple(fields))


def _blocks(allocation: Mapping[str, Any] | None) -> tuple[Block, ...]:
    if allocation is None:
        return ()
    blocks = [
        Block(tuple(reversed(each["memory_units"])), tuple(page or 0 for page in each["vpns"]))
        for each in allocation["memory_units_and_vpns"]
        if each["memory_units"]
    ]
    return tuple(sorted(blocks, key=lambda block: block.pages))


def _spare(allocation: Mapping[str, Any]) -> tuple[int, ...]:
    spare = allocation.get("spare_bank_memory_unit", ())
    return tuple(spare) if isinstance(spare, list) else (spare,) if isinstance(spare, int) else ()


def _stage_actions(table: Mapping[str, Any]) -> dict[int, StageAction]:
    return {
        each["action_handle"]: StageAction(
            each["vliw_instruction"],
            each["vliw_instruction_full"],
            each["next_table"],
            each["next_table_full"],
            tuple(
                Immediate(
                    field["param_name"],
                    field["param_shift"],
                    field["dest_start"],
                    field["dest_width"],
                    _number(field["const_value"]) if field["param_type"] == "constant" else None,
                )
                for field in each["immediate_fields"]
            ),
        )
        for each in table.get("action_format", ())
    }


def _number(value: int | str) -> int:
    return value if isinstance(value, int) else int(value, 0)


def _ways(table: Mapping[str, Any], starts: _Starts) -> Iterable[tuple[Way, Format]]:
    for way in table.get("ways", ()):
        place = way["memory_resource_allocation"]
        yield (
            Way(
                place["hash_function_id"],
                place["hash_entry_bit_lo"],
                place["number_entry_bits"],
                place["hash_select_bit_lo"],
                place["number_select_bits"],
                tuple(
                    Block(tuple(reversed(each["memory_units"])), tuple(each["vpns"]))
                    for each in place["memory_units_and_vpns"]
                ),
            ),
            _format(way["pack_format"][0], starts),
        )


def _hashes(table: Mapping[str, Any], starts: _Starts) -> Iterable[tuple[HashBit, ...]]:
    for function in table.get("hash_functions", ()):
        yield tuple(
            HashBit(
                bit["hash_bit"],
                bit["seed"],
                tuple(
                    (name, each["field_bit"] - starts.get(name, 0))
                    for each in bit["bits_to_xor"]
                    for name in (plain(each["field_name"]),)
                ),
            )
            for bit in function["hash_bits"]
        )


def _idle(table: Mapping[str, Any]) -> Idle | None:
    idle = table.get("idletime_stage_table")
    if not idle:
        return None
    return Idle(
        idle["precision"],
        idle["two_way_notification"],
        idle["enable_pfe"],
        tuple(
            Block(tuple(map(_behind_map_ram, block.units)), block.pages)
            for block in _blocks(idle["memory_resource_allocation"])
        ),
    )


def _behind_map_ram(unit: int) -> int:
    """The SRAM with whose number the driver means a map RAM: those of idle timeouts have their own
    numbers, and each row has map RAMs behind its last six SRAMs."""
    row, column = divmod(unit, _MAP_RAMS)
    return row * _SRAMS + _SRAMS - _MAP_RAMS + column


def _stage(table: Mapping[str, Any], starts: _Starts) -> Stage:
    kind = table["stage_table_type"]
    ways = tuple(_ways(table, starts))
    indirect = table.get("ternary_indirection_stage_table") or {}
    packs = table.get("pack_format", ())
    memory = None
    if indirect.get("memory_resource_allocation"):
        memory = Memory(
            _format(indirect["pack_format"][0]), _blocks(indirect["memory_resource_allocation"])
        )
    return Stage(
        kind=kind,
        number=table["stage_number"],
        logical=table["logical_table_id"],
        format=ways[0][1] if ways else _format(packs[0], starts) if packs else None,
        blocks=_blocks(table.get("memory_resource_allocation")),
        ways=tuple(way for way, _ in ways),
        hashes=tuple(_hashes(table, starts)),
        actions=_stage_actions(indirect or table),
        indirect=memory,
        idle=_idle(table),
    )


_OVERRIDES = (("stat", "stats_ptr"), ("meter", "meter_ptr"), ("stateful", "stful_ptr"))


def _action(action: Mapping[str, Any]) -> Action:
    overrides = {
        source: Override(
            action[f"override_{name}_full_addr"],
            action[f"override_{name}_addr"],
            action[f"override_{name}_addr_pfe"],
        )
        for name, source in _OVERRIDES
        if f"override_{name}_addr" in action
    }
    parameters = tuple(
        Parameter(each["name"], _number(each["default_value"]) if "default_value" in each else None)
        for each in action["p4_parameters"]
    )
    return Action(plain(action["name"]), action["handle"], parameters, overrides)


def _static_entry(entry: Mapping[str, Any]) -> StaticEntry:
    match: dict[str, tuple[int, int]] = {}
    ranges: dict[str, tuple[int, int]] = {}
    for key in entry["match_key_fields_values"]:
        name = plain(key["field_name"])
        if "range_start" in key:
            ranges[name] = _number(key["range_start"]), _number(key["range_end"])
        else:
            mask = _number(key["mask"]) if "mask" in key else -1
            match[name] = _number(key["value"]), mask
    return StaticEntry(
        entry["action_handle"],
        entry.get("priority", 0),
        match,
        ranges,
        {
            each["parameter_name"]: _number(each["value"])
            for each in entry["action_parameters_values"]
        },
    )


def _of_ports(table: Mapping[str, Any]) -> bool:
    """Whether it is what the parser gets of a port, which is no table of a stage."""
    stages = table["match_attributes"].get("stage_tables", ())
    return any(stage["stage_table_type"] == "phase_0_match" for stage in stages)


def _match_table(table: Mapping[str, Any]) -> MatchTable:
    attached = {
        kind: (plain(refs[0]["name"]), refs[0]["how_referenced"] == "direct")
        for kind, refs in (
            ("action", table.get("action_data_table_refs")),
            ("selection", table.get("selection_table_refs")),
            ("statistics", table.get("statistics_table_refs")),
            ("meter", table.get("meter_table_refs")),
        )
        if refs
    }
    starts: dict[str, int] = {}
    for key in table["match_key_fields"]:
        name = plain(key["name"])
        starts[name] = min(key["start_bit"], starts.get(name, key["start_bit"]))
    stages = table["match_attributes"].get("stage_tables", ())
    return MatchTable(
        name=plain(table["name"]),
        size=table["size"],
        keys=tuple(
            Key(name, key.get("position", at), key["start_bit"] - starts[name], key["bit_width"])
            for at, key in enumerate(table["match_key_fields"])
            for name in (plain(key["name"]),)
        ),
        actions=tuple(map(_action, table["actions"])),
        default=table.get("default_action_handle"),
        entries=tuple(map(_static_entry, table.get("static_entries", ()))),
        stages=tuple(_stage(stage, starts) for stage in stages),
        attached=attached,
        color_bus=next(
            (ref["color_mapram_addr_type"] for ref in table.get("meter_table_refs", ())), None
        ),
    )


def _action_data(table: Mapping[str, Any]) -> ActionData:
    return ActionData(
        name=plain(table["name"]),
        indirect=table["how_referenced"] == "indirect",
        stages={
            stage["stage_number"]: {
                pack["action_handle"]: Memory(
                    _format(pack), _blocks(stage["memory_resource_allocation"])
                )
                for pack in stage["pack_format"]
            }
            for stage in table["stage_tables"]
        },
        actions={plain(action["name"]): action["handle"] for action in table["actions"]},
    )


def _arrays(table: Mapping[str, Any]) -> Iterable[Array]:
    for stage in table["stage_tables"]:
        pack = stage["pack_format"][0]
        allocation = stage["memory_resource_allocation"]
        yield Array(
            name=plain(table["name"]),
            kind=table["table_type"],
            size=table["size"],
            direct=table["how_referenced"] == "direct",
            stage=stage["stage_number"],
            logical=stage.get("logical_table_id", 0),
            per_word=pack["entries_per_table_word"],
            memory=Memory(_format(pack), _blocks(allocation), _spare(allocation)),
            detail={
                **{key: table[key] for key in table if key not in ("stage_tables", "name")},
                "alu": _first(stage.get("meter_alu_index", 0)),
            },
        )


def _first(numbers: int | list[int]) -> int:
    return numbers[0] if isinstance(numbers, list) else numbers


def _value_sets(document: Mapping[str, Any]) -> Iterable[ValueSet]:
    parsers = document["parsers"]["ingress"] if "parsers" in document else ()
    states = [state for parser in parsers for state in parser["states"]]
    for state in states or document.get("parser", {}).get("ingress", ()):
        if not state["uses_pvs"]:
            continue
        bits: dict[int, tuple[int, int]] = {}
        for register in state["match_registers"]:
            number = register["container_hardware_id"]
            for field in register["field_mapping"]:
                bits[field["select_statement_bit"]] = number, field["register_bit"]
        places = tuple(place for _, place in sorted(bits.items()))
        yield ValueSet(plain(state["pvs_name"]), tuple(state["tcam_rows"]), places)


def _quantum(quantum: Mapping[str, Any]) -> Quantum:
    return Quantum(
        plain(quantum["name"]),
        quantum["lq_cfg_type"],
        tuple(
            (
                plain(field["field_name"]),
                field["start_byte"],
                field["start_bit"],
                field["field_width"],
                field["phv_offset"],
            )
            for field in quantum["fields"]
        ),
    )
