"""The control plane's side of native/sw_trace.h: packets of an engine are told of."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from fcn.softswitch.api import EngineError
from fcn.softswitch.engine import model as m
from fcn.softswitch.engine.build import load_library
from fcn.softswitch.engine.codegen.layout import Layout
from fcn.softswitch.engine.handle import NativeEngine
from fcn.softswitch.engine.program import Program

_ALWAYS = _PORT = (1 << 32) - 1
_MOST_BITS = 128


@dataclass(frozen=True, slots=True)
class FieldTest:
    """A field of a valid header has this value, where the mask has ones."""

    field: m.FieldRef
    value: int
    mask: int


@dataclass(frozen=True, slots=True)
class PortTest:
    """The packet came by this port."""

    port: int


Filter = Sequence[Sequence[FieldTest | PortTest]]
"""Of each group one test has to be passed, after a packet is parsed."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Stories that are told, and octets of their records: of one story, and of all that nobody has
    taken yet."""

    stories: int = 1
    story_octets: int = 1 << 18
    octets: int = 4 << 20


@dataclass(frozen=True, slots=True)
class PlacedField:
    """Where a field is in the headers and metadata of a packet, with what the engine has of them
    behind; `valid`: where the validity of its header is, None of metadata."""

    header: str
    field: m.FieldType
    at: int
    size: int
    valid: int | None


def placed_fields(program: Program) -> list[PlacedField]:
    """All fields of a program of traced(), in the order of its model."""
    layout = Layout(program.model)
    fields = [(h, f) for h in program.model.headers.values() for f in h.type.fields]
    table = load_library(program.library).sw_fields
    return [
        PlacedField(
            h.name, f, table[i][0], table[i][1], None if h.metadata else layout.valid_slot(h.name)
        )
        for i, (h, f) in enumerate(fields)
    ]


class TraceControl(NativeEngine):
    """An engine that can tell of packets once its code is that of traced()."""

    def use(self, program: Program) -> None:
        """Go on with other code of the same program: with that of traced(), or with the first."""
        self._lib = load_library(program.library)
        self.program = program
        self._call("", "adopt")

    def start_trace(self, wanted: Filter, bounds: Bounds) -> None:
        """Tell of the next packets that the filter wants. Raises EngineError."""
        tests = [
            self._test(group, test) for group, each in enumerate(wanted) for test in each
        ]  # fmt: skip
        native = self._ffi.new("sw_trace_test[]", tests)
        limits = (bounds.stories, bounds.story_octets, bounds.octets)
        self._call("a trace", "trace_start", native, len(tests), *limits)

    def stop_trace(self) -> None:
        """Tell of no more packets; what was not taken is lost."""
        self._call("", "trace_stop")

    def trace_state(self) -> dict[str, int]:
        """`size`: octets to be taken; `stories` begun, `live`: packets of theirs that are inside;
        `passed`: packets that were not wanted; `lost`: records there was no room for."""
        return self._fields("sw_trace_state", "", "trace_look")

    def trace_records(self) -> bytes:
        """Records since the last call."""
        size = self.trace_state()["size"]
        # There may be more by then.
        room = size + (1 << 20)
        buffer = self._ffi.new("uint8_t[]", room)
        got = self._call("", "trace_take", buffer, room)
        return bytes(self._ffi.buffer(buffer, got))

    def _test(self, group: int, test: FieldTest | PortTest) -> dict[str, object]:
        if isinstance(test, PortTest):
            port = test.port.to_bytes(4, sys.byteorder)
            return {"group": group, "at": _PORT, "size": 4, "valid": _ALWAYS, "value": list(port)}
        place = next(
            p
            for p in placed_fields(self.program)
            if (p.header, p.field.name) == (test.field.header, test.field.field)
        )
        if place.field.varbit or place.field.width > _MOST_BITS:
            raise EngineError(f"{place.header}.{place.field.name} is too wide for a filter")
        value, mask = (x.to_bytes(place.size, sys.byteorder) for x in (test.value, test.mask))
        return {
            "group": group,
            "at": place.at,
            "size": place.size,
            "valid": _ALWAYS if place.valid is None else place.valid,
            "value": list(value),
            "mask": list(mask),
        }
