"""A program for the chip as P4Runtime brings it: P4Info, and a BfPipelineConfig."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from finsy.proto import p4i, p4r
from google.protobuf.message import DecodeError

from fcn.ptf_tests.tofino.context import Context, ContextError
from fcn.ptf_tests.tofino.context_json import plain, read
from fcn.ptf_tests.tofino.entries import default_outcome
from fcn.softswitch.api import ActionCall, EngineError
from fcn.softswitch.p4rt.devconfig import DeviceConfig, DeviceTable
from fcn.softswitch.p4rt.errors import invalid_argument
from fcn.softswitch.p4rt.pipeline import PipelineConfig
from fcn.softswitch.p4rt.schema import Schema, Table, parse_p4info
from fcn.softswitch.proto.bfpipeline_pb2 import BfPipelineConfig

_ARCHITECTURES = ("tna", "t2na")


@dataclass(frozen=True, slots=True)
class ChipProgram:
    """What the chip is loaded with, and what is where in it; names: the same for its log."""

    context: Context
    binary: bytes
    names: bytes


@lru_cache(maxsize=4)
def read_program(device_config: bytes) -> ChipProgram:
    """The program of a BfPipelineConfig. Raises EngineError."""
    try:
        message = BfPipelineConfig.FromString(device_config)
    except DecodeError as error:
        raise EngineError(f"p4_device_config is no BfPipelineConfig: {error}") from error
    if len(message.profiles) != 1:
        raise EngineError(
            f"p4_device_config has {len(message.profiles)} profiles; a program of one pipe is "
            "supported"
        )
    (profile,) = message.profiles
    try:
        return ChipProgram(read(profile.context), profile.binary, profile.context)
    except ContextError as error:
        raise EngineError(str(error)) from error


def parse(message: p4r.ForwardingPipelineConfig) -> PipelineConfig:
    """Check a config; INVALID_ARGUMENT or UNIMPLEMENTED says what is wrong with it."""
    if not message.HasField("p4info") or not message.p4_device_config:
        raise invalid_argument("the config needs both p4info and p4_device_config")
    try:
        context = read_program(message.p4_device_config).context
        schema = parse_p4info(_complete(message.p4info), _ARCHITECTURES)
        schema = replace(schema, tables=_on_chip(schema, context))
        device = _device(schema, context)
    except (EngineError, ContextError) as error:
        raise invalid_argument(str(error)) from error
    kept = p4r.ForwardingPipelineConfig()
    kept.CopyFrom(message)
    return PipelineConfig(kept, schema, device, message.p4_device_config)


def _complete(info: p4i.P4Info) -> p4i.P4Info:
    """The P4Info with the match of value sets, which the compiler leaves out, and without what the
    server has no word for: externs, and registers of structs."""
    whole = p4i.P4Info()
    whole.CopyFrom(info)
    del whole.externs[:]
    widths = {
        field.name: field.bitwidth
        for table in info.tables
        if table.preamble.name == "port_role"
        for field in table.match_fields
    }
    for value_set in whole.value_sets:
        if not value_set.match:
            value_set.match.add(
                id=1,
                name="port",
                bitwidth=widths["ingress_port"],
                match_type=p4i.MatchField.EXACT,
            )
    scalars = [each for each in whole.registers if each.type_spec.HasField("bitstring")]
    del whole.registers[:]
    whole.registers.extend(scalars)
    return whole


def _on_chip(schema: Schema, context: Context) -> Mapping[int, Table]:
    return {
        number: table
        for number, table in schema.tables.items()
        if plain(table.name) in context.tables
    }


def _device(schema: Schema, context: Context) -> DeviceConfig:
    """What the server asks of the program beside the P4Info: sizes and defaults."""
    tables = {}
    for table in schema.tables.values():
        what = default_outcome(context.tables[plain(table.name)])
        default = None
        if what is not None:
            default = ActionCall(what.action.name, tuple(what.parameters.values()))
        tables[table.name] = DeviceTable(
            keys=(),
            actions=frozenset(),
            size=table.size,
            profile=None,
            direct_counter=table.direct_counter,
            direct_meter=False,
            idle_timeout=table.idle_timeout,
            default=default,
            entries=(),
        )
    return DeviceConfig(tables, {}, {}, {}, {}, {}, {}, {})
