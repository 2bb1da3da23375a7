"""A program alone, in memory: packets are given to it one by one."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from finsy.proto import p4r
from google.protobuf import text_format
from google.protobuf.message import Message

from fcn.softswitch.api import EngineError
from fcn.softswitch.engine import MemoryEngine, make_program
from fcn.softswitch.engine.tracing import Bounds
from fcn.softswitch.p4rt.errors import P4RuntimeError
from fcn.softswitch.p4rt.pipeline import Pipeline, PipelineConfig
from fcn.softswitch.stories.story import Story
from fcn.softswitch.stories.teller import Teller
from fcn.softswitch.tracer.show import ShowError

LONGEST_NS = 1_000_000_000
"""What a packet has, in virtual time, to leave the switch with all its copies."""
_P4INFO_SUFFIXES = (".p4info.txtpb", ".p4.p4info.txtpb")
_FIRST = ("action_profile_member", "action_profile_group", "packet_replication_engine_entry")


def read_config(program: Path, p4info: Path | None) -> p4r.ForwardingPipelineConfig:
    """A JSON of p4c-bm2-ss with its P4Info: that beside it by default. Raises ShowError."""
    config = p4r.ForwardingPipelineConfig()
    beside = (program.with_suffix(suffix) for suffix in _P4INFO_SUFFIXES)
    info = p4info or next((path for path in beside if path.exists()), None)
    try:
        config.p4_device_config = program.read_bytes()
    except OSError as error:
        raise ShowError(f"cannot read {program}: {error.strerror}") from error
    if info is not None:
        config.p4info.SetInParent()
        _parse(info, config.p4info)
    return config


def read_entries(file: Path) -> list[p4r.Update]:
    """Entries in P4Runtime's text format: a WriteRequest, or a ReadResponse. Raises ShowError."""
    request, response = p4r.WriteRequest(), p4r.ReadResponse()
    try:
        _parse(file, request)
    except ShowError as refused:
        try:
            _parse(file, response)
        except ShowError:
            raise refused from None
    return [*request.updates, *updates(response.entities)]


def updates(entities: Iterable[p4r.Entity]) -> list[p4r.Update]:
    """What writes entities that were read: what others refer to first; what is always there is
    modified, and what the program has is left."""
    found = []
    for entity in entities:
        kind = entity.WhichOneof("entity")
        if kind == "table_entry" and entity.table_entry.is_const:
            continue
        always = kind in ("register_entry", "meter_entry", "counter_entry", "value_set_entry")
        always = always or (kind == "table_entry" and entity.table_entry.is_default_action)
        how = p4r.Update.MODIFY if always else p4r.Update.INSERT
        found.append(p4r.Update(type=how, entity=entity))
    return sorted(found, key=lambda each: _rank(each.entity.WhichOneof("entity")))


def _rank(kind: str | None) -> int:
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)


def _parse(file: Path, message: Message) -> None:
    try:
        text_format.Parse(file.read_text(), message)
    except OSError as error:
        raise ShowError(f"cannot read {file}: {error.strerror}") from error
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ShowError(
            f"{file} is not a {message.DESCRIPTOR.name} in text format: {error}"
        ) from error


class Alone:
    """A program with entries."""

    def __init__(
        self,
        config: p4r.ForwardingPipelineConfig,
        entries: Sequence[p4r.Update],
        node: str = "",
    ) -> None:
        """Raises ShowError."""
        try:
            parsed = PipelineConfig.parse_preloaded(config)
            program = make_program(parsed.program, stories=True)
            self._engine = MemoryEngine(program)
            pipeline = Pipeline(parsed, self._engine, lambda _message: False, time.time_ns)
            for number, update in enumerate(entries, 1):
                try:
                    pipeline.write(update, "")
                except P4RuntimeError as error:
                    raise ShowError(f"entry {number}: {error.message}") from error
        except (EngineError, P4RuntimeError) as error:
            raise ShowError(getattr(error, "message", str(error))) from error
        self._teller = Teller(program, node)

    def tell(self, packets: Iterable[bytes], port: int) -> Iterator[Story]:
        """The story of each packet, which comes by this port when the one before has left."""
        for packet in packets:
            try:
                self._engine.start_trace([], Bounds())
                self._engine.inject(port, packet)
                self._run()
                yield from self._teller.tell(self._engine.trace_records())
                yield from self._teller.rest("it has not left within a second")
                self._engine.stop_trace()
            except EngineError as error:
                raise ShowError(str(error)) from error

    def _run(self) -> None:
        last = self._engine.now_ns() + LONGEST_NS
        while self._engine.trace_state()["live"]:
            due = self._engine.next_due_ns()
            if due is None or due > last:
                return
            self._engine.advance(max(0, due - self._engine.now_ns()))
