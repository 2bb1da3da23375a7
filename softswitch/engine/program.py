"""A program ready to run: the checked JSON and the native library made from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.build import build_library, ffi, load_library
from fcn.softswitch.engine.codegen.control_blocks import key_words, set_words
from fcn.softswitch.engine.codegen.points import Notes
from fcn.softswitch.engine.codegen.unit import generate_with_points
from fcn.softswitch.engine.loader import parse_json, read_json


@dataclass(frozen=True)
class TableInfo:
    """A table as the control plane needs it."""

    index: int
    table: m.Table
    words: int
    actions: dict[str, m.Action]
    exact_mask: bytes
    """Where all keys are exact and whole."""


@dataclass(frozen=True, slots=True)
class ValueSetInfo:
    """A parser value set: its native table, its width in bits, its key's 64-bit words."""

    index: int
    width: int
    words: int


@dataclass(frozen=True)
class Program:
    """A compiled program; any number of engines may run it.

    library is the shared object with its native code, blob the JSON; the other fields are numbers
    shared by the generated code and the control plane.
    """

    library: Path
    blob: bytes = field(repr=False)
    model: m.Model = field(repr=False)
    tables: dict[str, TableInfo] = field(repr=False)
    value_sets: dict[str, ValueSetInfo] = field(repr=False)
    counters: dict[str, int] = field(repr=False)
    meters: dict[str, int] = field(repr=False)
    registers: dict[str, int] = field(repr=False)
    digests: dict[int, tuple[str, tuple[int, ...]]] = field(repr=False)
    points: tuple[str, ...] = field(default=(), repr=False)
    """What it notes of packets that pass (codegen/points.py), where that was asked for."""

    story_points: tuple[str, ...] = field(default=(), repr=False)
    """What it tells of packets, where it is one of traced()."""

    def reached(self) -> list[str]:
        """The points that a packet passed, in any engine of this process."""
        if not self.points:
            return []
        seen = ffi().buffer(load_library(self.library).sw_seen, len(self.points))
        return [name for name, passed in zip(self.points, bytes(seen), strict=True) if passed]


def traced(program: Program) -> Program:
    """The same program, which can tell what packets pass (tracing.py). Raises BuildError."""
    return program if program.story_points else make_program(program.blob, stories=True)


def load_program(json_path: str | Path) -> Program:
    """The program of a file; raises as make_program()."""
    return make_program(read_json(Path(json_path)))


def make_program(data: bytes, *, points: bool = False, stories: bool = False) -> Program:
    """Read p4c-bm2-ss JSON, generate C, build it (or take it from the cache) and return it;
    `points`: with notes of what packets passed; `stories`: it can tell what each of them passes.

    Raises ProgramError for a JSON that cannot be understood, UnsupportedError (naming the
    construct) for one outside the documented subset, BuildError when the compiler fails.
    """
    notes = Notes.STORIES if stories else Notes.SEEN if points else Notes.NONE
    model, code, names = _understood(data, notes)
    library = build_library(code)
    tables = {t.name: _table(model, i, t) for i, t in enumerate(model.tables())}

    def number(arrays: Mapping[str, m.Counter | m.Meter]) -> dict[str, int]:
        return {a.name: i for i, a in enumerate(a for a in arrays.values() if not a.direct)}

    return Program(
        library=library,
        blob=data,
        model=model,
        tables=tables,
        value_sets={
            name: ValueSetInfo(number, s.width, set_words(s))
            # They are tables after those of the program.
            for number, (name, s) in enumerate(model.value_sets.items(), len(tables))
        },
        counters=number(model.counters),
        meters=number(model.meters),
        registers={name: i for i, name in enumerate(model.registers)},
        digests={i: (f.name, f.widths) for i, f in model.learn_lists.items()},
        points=() if stories else names,
        story_points=names if stories else (),
    )


@lru_cache(maxsize=limits.PROGRAMS_KEPT)
def _understood(data: bytes, notes: Notes) -> tuple[m.Model, str, tuple[str, ...]]:
    """The model of a program, the C generated from it, and the points it notes."""
    model = parse_json(data)
    return (model, *generate_with_points(model, notes))


def _table(model: m.Model, index: int, t: m.Table) -> TableInfo:
    actions = {model.actions[a].name: model.actions[a] for a in t.action_ids}
    words, mask = key_words(t), b""
    if all(k.kind == "exact" and k.mask is None for k in t.keys):
        mask = b"".join(((1 << k.width) - 1).to_bytes(k.size) for k in t.keys).ljust(
            words * 8, b"\0"
        )
    return TableInfo(index, t, words, actions, mask)
