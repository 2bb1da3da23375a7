"""A program's JSON: read, and what one part of it says about another checked."""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.arrays import (
    Calculation,
    Checksum,
    Counter,
    Counters,
    FieldList,
    Meter,
    Meters,
    Registers,
)
from fcn.softswitch.engine.bmv2json.headers import Declared, Headers, known, once
from fcn.softswitch.engine.bmv2json.parser import Deparser, Parser
from fcn.softswitch.engine.bmv2json.tables import Action, Call, ControlBlock, Table
from fcn.softswitch.engine.bmv2json.values import (
    TAG,
    UNSUPPORTED,
    Id,
    Many,
    Name,
    Object,
    Pair,
)
from fcn.softswitch.engine.errors import ProgramError, UnsupportedError

_SHOWN = 3
_VALUE_SHOWN = 60
_Read = TypeVar("_Read", bound=Object)


class Refused(Object):
    """An object of a construct that is refused by name."""

    name: Name


class Meta(Object):
    """Version of the format."""

    version: Annotated[tuple[Id, ...], Field(min_length=1, max_length=4)] = (2,)


class Program(Object):
    """All but the headers."""

    meta: Annotated[Meta, Field(alias="__meta__")] = Meta()
    extern_instances: Many[Refused] = ()
    errors: Many[tuple[Name, Id]] = ()
    parsers: Many[Parser]
    deparsers: Many[Deparser]
    actions: Many[Action]
    pipelines: Many[ControlBlock]
    calculations: Many[Calculation]
    checksums: Many[Checksum]
    counter_arrays: Counters
    meter_arrays: Meters
    register_arrays: Registers
    field_lists: Many[FieldList] = ()
    learn_lists: Many[FieldList]
    field_aliases: Many[tuple[Name, Pair]] = ()


def read_program(root: Mapping[str, Any]) -> tuple[Headers, Program]:
    """A program of JSON, every value of which is within its limits and refers to what exists.

    Raises ProgramError, or UnsupportedError for what BMv2 has and the engine does not, naming the
    place.
    """
    headers = Headers(_read(Declared, root, None))
    program = _read(Program, root, headers)
    _supported(program)
    _check(headers, program)
    return headers, program


def _read(model: type[_Read], root: Mapping[str, Any], headers: Headers | None) -> _Read:
    try:
        return model.model_validate(root, context=headers)
    except ValidationError as error:
        raise _told(error) from error


def _told(error: ValidationError) -> ProgramError:
    problems = error.errors(include_url=False, include_context=False)
    malformed = [p for p in problems if p["type"] != UNSUPPORTED]
    shown = [f"{_place(p['loc'])}: {p['msg']}{_value(p['input'])}" for p in malformed[:_SHOWN]]
    if not shown:
        return UnsupportedError(f"{_place(problems[0]['loc'])}: {problems[0]['msg']}")
    more = len(malformed) - _SHOWN
    rest = f"; and {more} more" if more > 0 else ""
    return ProgramError(f"malformed BMv2 JSON: {'; '.join(shown)}{rest}")


def _place(loc: tuple[int | str, ...]) -> str:
    """A path into the JSON: actions[3].primitives[0].op."""
    out = ""
    for step in loc:
        if isinstance(step, int):
            out += f"[{step}]"
        elif not step.startswith(TAG):
            out += f".{step!r}" if not step.isidentifier() else f".{step}" if out else step
    return out


def _value(value: object) -> str:
    if isinstance(value, (str, int, float, bool)):
        return f" (it is {_shortened(repr(value))})"
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= _VALUE_SHOWN else text[:_VALUE_SHOWN] + "..."


def _supported(program: Program) -> None:
    if program.extern_instances:
        raise UnsupportedError(f"extern instances: {program.extern_instances[0].name!r}")
    if (major := program.meta.version[0]) != 2:
        raise UnsupportedError(f"BMv2 JSON format version {major}; version 2 is understood")
    if len(program.parsers) != 1 or len(program.deparsers) != 1:
        raise UnsupportedError("a program with other than one parser and one deparser")
    if primitives := program.deparsers[0].primitives:
        raise UnsupportedError(f"primitive {primitives[0].op!r} in the deparser")


def _check(headers: Headers, program: Program) -> None:
    _distinct(program)
    _parser(headers, program)
    _arrays(program)
    calculations = {c.name for c in program.calculations}
    for i, checksum in enumerate(program.checksums):
        known(f"checksums[{i}]", checksum.calculation, calculations, "calculation")
    actions = {a.id: a for a in program.actions}
    meters = {m.name for m in program.meter_arrays if m.direct}
    entries = 0
    for i, block in enumerate(program.pipelines):
        _control_flow(f"pipelines[{i}]", block, actions)
        for k, table in enumerate(block.tables):
            _table(f"pipelines[{i}].tables[{k}]", table, block, meters, actions)
            entries += len(table.entries)
    if entries > limits.ALL_CONST_ENTRIES:
        raise ProgramError(
            f"pipelines: {entries} const entries, {limits.ALL_CONST_ENTRIES} at most"
        )
    names = sorted(p.name for p in program.pipelines)
    if names != ["egress", "ingress"]:
        raise UnsupportedError(f"pipelines {names}; v1model has ingress and egress")


def _distinct(program: Program) -> None:
    for key in ("calculations", "counter_arrays", "meter_arrays", "register_arrays", "learn_lists",
                "pipelines"):  # fmt: skip
        once(f"{key}, names", (x.name for x in getattr(program, key)))
    for key in ("actions", "field_lists", "learn_lists"):
        once(f"{key}, ids", (x.id for x in getattr(program, key)))
    once("errors, names", (name for name, _ in program.errors))
    once("tables, names", (t.name for p in program.pipelines for t in p.tables))
    once("action_profiles, names", (a.name for p in program.pipelines for a in p.profiles))


def _parser(headers: Headers, program: Program) -> None:
    parser = program.parsers[0]
    names = [s.name for s in parser.parse_states]
    once("parsers[0].parse_states, names", names)
    states = {None, *names}
    known("parsers[0].init_state", parser.init_state, states, "state")
    for i, state in enumerate(parser.parse_states):
        for k, transition in enumerate(state.transitions):
            where = f"parsers[0].parse_states[{i}].transitions[{k}].next_state"
            known(where, transition.next_state, states, "state")
    parsed = {h.name for h in headers.headers.values() if not h.metadata}
    for i, name in enumerate(program.deparsers[0].order):
        known(f"deparsers[0].order[{i}]", name, parsed, "header")


def _arrays(program: Program) -> None:
    tables = {t.name for p in program.pipelines for t in p.tables}
    cells = sum(r.size for r in program.register_arrays)
    arrays: list[Counter | Meter] = [*program.counter_arrays, *program.meter_arrays]
    for array in arrays:
        if array.direct:
            known(f"{array.name}, binding", array.binding, tables, "table")
        else:
            cells += array.size
    if cells > limits.ALL_CELLS:
        raise ProgramError(
            f"counter_arrays, meter_arrays, register_arrays: {cells} cells together, "
            f"{limits.ALL_CELLS} at most"
        )


def _control_flow(where: str, block: ControlBlock, actions: Mapping[int, Action]) -> None:
    names = [node.name for node in block.nodes]
    once(f"{where}, names of tables, conditionals and action calls", names)
    nodes = {None, *names}
    known(f"{where}.init_table", block.init, nodes, "node")
    for node in block.nodes:
        for following in node.successors:
            known(f"{where}, after {node.name}", following, nodes, "node")
    for i, call in enumerate(block.calls):
        _call(f"{where}.action_calls[{i}]", Call(call.action_id), actions, actions)
    try:
        TopologicalSorter({node.name: node.successors for node in block.nodes}).prepare()
    except CycleError as error:
        # What might never end
        raise ProgramError(f"{where}: {error.args[1][0]} comes after itself") from error


def _call(where: str, call: Call, possible: Iterable[int], actions: Mapping[int, Action]) -> None:
    known(f"{where}.action_id", call.action_id, possible, "action with id")
    action = actions[call.action_id]
    if len(action.params) != len(call.args):
        raise ProgramError(
            f"{where}: {action.name} has {len(action.params)} arguments, {len(call.args)} are given"
        )
    for i, (param, value) in enumerate(zip(action.params, call.args, strict=True)):
        if not 0 <= value < 1 << param.width:
            raise ProgramError(
                f"{where}.action_data[{i}]: {value:#x} does not fit {param.width} bits"
            )


def _table(
    where: str, t: Table, block: ControlBlock, meters: set[str], actions: Mapping[int, Action]
) -> None:
    for i, number in enumerate(t.action_ids):
        known(f"{where}.action_ids[{i}]", number, actions, "action with id")
    names = tuple(actions[number].name for number in t.action_ids)
    once(f"{where}.action_ids", names)
    if names != t.action_names:
        raise ProgramError(f"{where}.actions: these are not the names of action_ids")
    for name in t.next_tables:
        known(f"{where}.next_tables", name, {*names, "__HIT__", "__MISS__"}, "action")
    known(f"{where}.direct_meters", t.meter, {None, *meters}, "direct meter")
    profiles = {None, *(p.name for p in block.profiles)}
    known(f"{where}.action_profile", t.profile, profiles, "action profile")
    if t.default is not None:
        _call(f"{where}.default_entry", t.default, t.action_ids, actions)
    for i, entry in enumerate(t.entries):
        _call(f"{where}.entries[{i}].action_entry", entry.action, t.action_ids, actions)
