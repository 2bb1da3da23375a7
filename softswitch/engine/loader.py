"""Reads BMv2 JSON into a Model; rejects unsupported constructs by name."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.bmv2json.headers import Headers
from fcn.softswitch.engine.bmv2json.program import read_program
from fcn.softswitch.engine.bmv2json.text import decode
from fcn.softswitch.engine.errors import ProgramError


@lru_cache(maxsize=limits.PROGRAMS_KEPT)
def parse_json(data: bytes) -> m.Model:
    """Build the model of a program from JSON; raises ProgramError or UnsupportedError."""
    return build_model(decode(data))


def build_model(root: Mapping[str, Any]) -> m.Model:
    """The model of a program; raises as parse_json()."""
    headers, program = read_program(root)
    (parser,), (deparser,) = program.parsers, program.deparsers
    pipelines = {p.name: p for p in program.pipelines}
    return m.Model(
        headers=headers.headers,
        stacks=headers.stacks,
        unions=headers.unions,
        union_stacks=headers.union_stacks,
        value_sets=headers.value_sets,
        errors=dict(program.errors),
        init_state=parser.init_state,
        states={s.name: s for s in parser.parse_states},
        deparse_order=deparser.order,
        actions={a.id: a for a in program.actions},
        ingress=pipelines["ingress"],
        egress=pipelines["egress"],
        calculations={c.name: c for c in program.calculations},
        checksums=program.checksums,
        counters={c.name: c for c in program.counter_arrays},
        meters={c.name: c for c in program.meter_arrays},
        registers={r.name: r for r in program.register_arrays},
        field_lists={f.id: f for f in program.field_lists},
        learn_lists={f.id: _learned(headers, f) for f in program.learn_lists},
        aliases={name: m.FieldRef(*pair) for name, pair in program.field_aliases},
    )


def _learned(headers: Headers, fields: m.FieldList) -> m.LearnList:
    widths = []
    for part in fields.fields:
        width = headers.width(part) if isinstance(part, m.FieldRef) else part.value.bit_length()
        if width is None:
            raise ProgramError(f"learn_lists: a varbit in digest {fields.name}")
        widths.append(max(1, width))
    return m.LearnList(fields.name, fields.fields, tuple(widths))


def read_json(path: Path) -> bytes:
    """The JSON in a file; raises ProgramError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProgramError(f"cannot read {path}: {error.strerror}") from error
