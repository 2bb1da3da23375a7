"""Makes stories of the records of native/sw_trace.h."""

import gc
import json
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fcn.softswitch.engine.codegen.points import SEPARATOR
from fcn.softswitch.engine.program import Program
from fcn.softswitch.stories import words
from fcn.softswitch.stories.image import Image, Layout
from fcn.softswitch.stories.lookups import Lookups
from fcn.softswitch.stories.story import Cell, Packet, Step, Story

_RECORD = struct.Struct("=IIIIQ")
(
    _BEGIN, _COPY, _PASS, _CHANGES, _POINT, _TABLE, _CELL, _QUEUED, _SENT, _END, _NOTE, _CUT,
) = range(1, 13)  # fmt: skip
_CLONE_I2E, _CLONE_E2E, _REPLICA, _RESUBMIT, _RECIRCULATE = range(1, 6)
_NO_SESSION, _DIGEST, _GROUP, _PARSER_ERROR, _DEPARSER = range(1, 6)
_ENDS = (
    ("sent", ""),
    ("to the controller", "packet-in"),
    ("replaced", "its copies live on"),
    ("dropped", "by the program, at the end of ingress"),
    ("dropped", "by the program, at the end of egress"),
    ("dropped", "the queue is full"),
    ("dropped", "there is no such port, queue or multicast group"),
    ("dropped", "the port has no interface"),
    ("dropped", "the memory that all queues share is full"),
    ("dropped", "the memory of its ingress port and priority is full"),
    ("dropped", "too many packets wait to be resubmitted or recirculated"),
    ("dropped", "an assertion failed, it went round too often, or it outgrew its buffer"),
)
_INGRESS_DROP, _EGRESS_DROP = 3, 4
_COPIES = {
    _CLONE_I2E: "clone of ingress to session {}",
    _CLONE_E2E: "clone of egress to session {}",
    _REPLICA: "replica, instance {}",
    _RESUBMIT: "resubmitted, with field list {}",
    _RECIRCULATE: "recirculated, with field list {}",
}
MOST_STEPS = 20_000
"""Of a story."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Stories are small objects without a circle: the collector would look at all of them, again
    and again, for a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Teller:
    """Takes records of one trace as they come, and gives stories that are complete."""

    def __init__(self, program: Program, node: str = "") -> None:
        self._program = program
        self._model = program.model
        self._node = node
        self._layout = Layout(program)
        self._sources = words.sources(json.loads(program.blob))
        self._lookups = Lookups(program)
        self._cells = words.cell_names(program.model)
        self._errors = {number: name for name, number in program.model.errors.items()}
        self._digests = {i: each.name for i, each in program.model.learn_lists.items()}
        self._points = [self._point(name) for name in program.story_points]
        self._open: dict[int, _Open] = {}

    def tell(self, records: bytes) -> list[Story]:
        """Stories that the records complete, in the order in which they are."""
        with _no_collection():
            return self._told(records)

    def _told(self, records: bytes) -> list[Story]:
        done: list[Story] = []
        at = 0
        while at < len(records):
            size, kind, number, arg, extra = _RECORD.unpack_from(records, at)
            at += _RECORD.size
            payload = records[at : at + size]
            at += (size + 7) & ~7
            story = self._take(kind, number, arg, extra, payload)
            if story is not None:
                done.append(story)
        return done

    def rest(self, why: str) -> list[Story]:
        """Stories that are not complete, and why."""
        roots = {id(each.root): each.root for each in self._open.values()}
        self._open.clear()
        return [Story(root.packet, False, root.why or why, self._node) for root in roots.values()]

    def _point(self, name: str) -> "_Point":
        match name.split(SEPARATOR):
            case ["parser", state]:
                return _Point("parser", "parser", state)
            case ["parser", state, transition]:
                return _Point("transition", "parser", state, self._after(state, int(transition)))
            case [part, table, outcome, action]:
                place = self._sources.places.get(f"{part}/{table}", "")
                return _Point("table", part, table, "", place, outcome == "hit", action)
            case [part, node, result]:
                what = self._sources.texts.get(f"{part}/{node}", "") or node
                place = self._sources.places.get(f"{part}/{node}", "")
                return _Point("condition", part, what, result, place)
            case [part, what] if part in ("ingress", "egress"):
                place = self._sources.places.get(f"{part}/{what}", "")
                return _Point("statement", part, self._statements(part, what) or what, "", place)
            case [kind, array]:
                return _Point("cell", kind, array)
        raise ValueError(f"a point of {name.count(SEPARATOR) + 1} words")

    def _after(self, state: str, transition: int) -> str:
        """The state that a transition leads to; the last one is the default."""
        every = self._model.states[state].transitions
        cases = [t.next_state for t in every if t.value is not None or t.value_set is not None]
        default = next((t.next_state for t in every if t.value is None and not t.value_set), None)
        return ([*cases, default][transition]) or "accept"

    def _take(self, kind: int, number: int, arg: int, extra: int, payload: bytes) -> Story | None:
        if kind == _BEGIN:
            packet = Packet(number, "received", arg, extra, payload.hex())
            root = _Root(packet)
            root.live.add(number)
            self._open[number] = _Open(packet, root, Image(self._layout))
            return None
        if kind == _COPY:
            self._copy(number, arg, extra & 0xFFFFFFFF, extra >> 32)
            return None
        one = self._open.get(number)
        if one is None:
            return None
        if kind == _END:
            # What was sent has been told.
            if arg != 0:
                one.add(self._end(one, arg, extra))
            one.packet.ended = True
            return self._leave(number)
        if kind == _CUT:
            one.root.why = "it is too long; more of it is not told"
            return self._leave(number)
        self._event(one, kind, arg, extra, payload)
        return None

    def _leave(self, number: int) -> Story | None:
        root = self._open.pop(number).root
        root.live.discard(number)
        if root.live:
            return None
        return Story(root.packet, not root.why, root.why, self._node)

    def _copy(self, number: int, how: int, original: int, by: int) -> None:
        parent = self._open.get(original)
        if parent is None:
            return
        packet = Packet(number, _COPIES[how].format(by))
        parent.root.live.add(number)
        image = Image(self._layout) if how in (_RESUBMIT, _RECIRCULATE) else parent.image.copy()
        self._open[number] = _Open(packet, parent.root, image)
        parent.add(Step("copy", "", packet.how, copy=packet))

    def _event(self, one: "_Open", kind: int, arg: int, extra: int, payload: bytes) -> None:
        if kind == _PASS:
            one.image.set(payload)
            one.part = ("parser", "egress")[arg]
            one.current = None
        elif kind == _CHANGES:
            changes = one.image.change(payload)
            if one.current is not None:
                one.current.changes += changes
                one.note_egress_spec(one.current, changes)
        elif kind == _QUEUED:
            queue, depth = struct.unpack("=II", payload)
            text = f"queue {queue}, {depth} packets before it"
            one.add(Step("queue", "", f"port {arg}", text, time_ns=extra))
        elif kind == _SENT:
            one.add(Step("sent", "", f"port {arg}", time_ns=extra, frame=payload.hex()))
        elif kind == _NOTE:
            one.add(self._note(arg, extra))
        else:
            self._passed(one, kind, arg, extra, payload)

    def _passed(self, one: "_Open", kind: int, point: int, extra: int, payload: bytes) -> None:
        at = self._points[point]
        if at.kind == "transition":
            if one.current is not None and one.current.kind == "parser":
                one.current.result = at.result
        elif kind == _CELL:
            bits = f"{int.from_bytes(payload, sys.byteorder):#x}" if payload else ""
            name = self._cells.get(at.what, {}).get(extra, "")
            if one.current is not None:
                one.current.cells.append(Cell(at.part, at.what, extra, name, bits))
        elif kind == _TABLE:
            lookup = self._lookups.read(at.what, at.hit, at.action, payload)
            statements = self._sources.statements.get(self._lookups.action_id(payload), "")
            one.add(Step(at.kind, at.part, at.what, statements, at.place, lookup=lookup))
        else:
            one.add(Step(at.kind, at.part, at.what, at.result, at.place))

    def _statements(self, part: str, name: str) -> str:
        """The source of a table or call that p4c made of statements."""
        block = next(b for b in self._model.control_blocks if b.name == part)
        for table in block.tables:
            if table.name == name and table.default is not None:
                return self._sources.statements.get(table.default.action_id, "")
        for call in block.calls:
            if call.name == name:
                return self._sources.statements.get(call.action_id, "")
        return ""

    def _note(self, note: int, number: int) -> Step:
        if note == _DEPARSER:
            return Step("deparser", "deparser", "headers are put before the payload")
        text = {
            _NO_SESSION: f"no clone: there is no session {number}",
            _DIGEST: f"digest {self._digests.get(number, number)}",
            _GROUP: f"multicast group {number}",
            _PARSER_ERROR: f"parser error {self._errors.get(number, number)}",
        }[note]
        return Step("note", "", text)

    @staticmethod
    def _end(one: "_Open", why: int, time_ns: int) -> Step:
        what, reason = _ENDS[why]
        if why in (_INGRESS_DROP, _EGRESS_DROP):
            by = one.egress_spec_by
            reason += f": {by} has set the drop port" if by else ""
        return Step("end", "", what, reason, time_ns=time_ns)


@dataclass(frozen=True, slots=True)
class _Point:
    """A point of the program as it is told."""

    kind: str
    part: str
    what: str
    result: str = ""
    place: str = ""
    hit: bool = False
    action: str = ""


class _Root:
    """A story that is being told: packets of it that are still inside."""

    def __init__(self, packet: Packet) -> None:
        self.packet = packet
        self.live: set[int] = set()
        self.why = ""
        self.steps = 0


class _Open:
    def __init__(self, packet: Packet, root: _Root, image: Image) -> None:
        self.packet = packet
        self.root = root
        self.image = image
        self.part = ""
        self.current: Step | None = None
        self.egress_spec_by = ""

    def add(self, step: Step) -> None:
        self.current = step
        self.root.steps += 1
        if self.root.steps <= MOST_STEPS:
            self.packet.steps.append(step)
        else:
            self.root.why = f"more than {MOST_STEPS} steps; the others are not told"

    def note_egress_spec(self, step: Step, changes: list[Any]) -> None:
        """Who has set the port last."""
        if any(change.field == "standard_metadata.egress_spec" for change in changes):
            action = "" if step.lookup is None else f" by {step.lookup.action}"
            self.egress_spec_by = f"{step.kind} {step.what}{action}"
