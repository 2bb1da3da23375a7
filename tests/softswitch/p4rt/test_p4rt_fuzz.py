"""Sequences of valid and malformed updates: success or P4RuntimeError, which changes nothing.

The updates a pipeline exports rebuild its state, whatever was written before.
"""

import contextlib
import time
from typing import Any

from finsy import P4Schema
from finsy.proto import p4r
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st
from p4rt_entities import everything, one_shot, route
from p4rt_testing import P4INFO, RecordingEngine, config, host_entry

from fcn.softswitch.p4rt.errors import P4RuntimeError
from fcn.softswitch.p4rt.pipeline import Pipeline, PipelineConfig

CONFIG = PipelineConfig.parse(config())
SCHEMA = P4Schema(P4INFO)
NUMBERS = st.sampled_from([0, 1, 2, 3, 100, *CONFIG.schema.tables, *CONFIG.schema.actions])
SIGNED = st.sampled_from([-1, 0, 1, 2, 3, 10, 48, 2**31 - 1])
BYTES = st.sampled_from([b"", b"\x00", b"\x01", b"\x02", b"\xff", b"\x01\x00", b"\xff" * 7])


def _seeds() -> list[p4r.Entity]:
    """Valid entities of every kind, some of which depend on others, and two more."""
    more = [host_entry(SCHEMA, 2), route(SCHEMA, 3, one_shot(SCHEMA, (1, 2), (2, 60)))]
    found = [entity for _, entity in everything(SCHEMA)]
    return found + [p4r.Entity(table_entry=entry) for entry in more]


def _damage(draw: st.DrawFn, message: Any) -> None:  # noqa: ANN401
    """Change, clear or double one field somewhere inside a message."""
    present = [field for field, _ in message.ListFields()]
    nested = [field for field in present if field.message_type is not None]
    if nested and draw(st.integers(0, 3)) > 0:
        field = draw(st.sampled_from(nested))
        value = getattr(message, field.name)
        if not field.is_repeated:
            _damage(draw, value)
        elif draw(st.booleans()):
            value.append(value[0])
        else:
            _damage(draw, value[draw(st.integers(0, len(value) - 1))])
        return
    field = draw(st.sampled_from(list(message.DESCRIPTOR.fields)))
    if field.is_repeated or field.message_type is not None or draw(st.booleans()):
        message.ClearField(field.name)
    else:
        setattr(message, field.name, draw(_values(field)))


def _values(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    match field.type:
        case FieldDescriptor.TYPE_BYTES:
            return BYTES
        case FieldDescriptor.TYPE_BOOL:
            return st.booleans()
        case FieldDescriptor.TYPE_STRING:
            return st.sampled_from(["", "x"])
        case FieldDescriptor.TYPE_INT32 | FieldDescriptor.TYPE_INT64:
            return SIGNED
        case FieldDescriptor.TYPE_ENUM:
            return st.sampled_from([0, 1])
        case _:
            return NUMBERS


@st.composite
def updates(draw: st.DrawFn) -> p4r.Update:
    """An update of a valid entity, malformed in one case of three."""
    kind = draw(st.sampled_from([p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE]))
    update = p4r.Update(type=kind)
    update.entity.CopyFrom(draw(st.sampled_from(_seeds())))
    if draw(st.integers(0, 2)) == 0:
        _damage(draw, update.entity)
    return update


def state(pipeline: Pipeline) -> list[bytes]:
    return [update.SerializeToString(deterministic=True) for update, _ in pipeline.export()]


@settings(max_examples=150)
@given(st.lists(updates(), min_size=1, max_size=20))
def test_any_sequence_of_updates(sequence: list[p4r.Update]) -> None:
    pipeline = Pipeline(CONFIG, RecordingEngine(CONFIG.device), lambda _message: True, time.time_ns)
    for update in sequence:
        before = state(pipeline)
        try:
            pipeline.write(update, "")
        except P4RuntimeError:
            assert state(pipeline) == before
        with contextlib.suppress(P4RuntimeError):
            list(pipeline.read(update.entity))
    replayed = Pipeline(CONFIG, RecordingEngine(CONFIG.device), lambda _message: True, time.time_ns)
    for update, role in pipeline.export():
        replayed.write(update, role)
    assert state(replayed) == state(pipeline)
