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
from p4rt_testing import P4INFO, RecordingEngine, acl_entry, config, host_entry

from fcn.softswitch.p4rt.errors import P4RuntimeError
from fcn.softswitch.p4rt.pipeline import Pipeline, PipelineConfig

CONFIG = PipelineConfig.parse(config())
SCHEMA = P4Schema(P4INFO)
NEXTHOPS = SCHEMA.action_profiles["nexthops"].id
NUMBERS = st.sampled_from([0, 1, 2, 3, 100, *CONFIG.schema.tables, *CONFIG.schema.actions])
SIGNED = st.sampled_from([-1, 0, 1, 2, 3, 10, 48, 2**31 - 1])
BYTES = st.sampled_from([b"", b"\x00", b"\x01", b"\x02", b"\xff", b"\x01\x00", b"\xff" * 7])


def _send(port: int) -> p4r.Action:
    return p4r.Action(
        action_id=SCHEMA.actions["send"].id,
        params=[p4r.Action.Param(param_id=1, value=bytes([port]))],
    )


def _route(number: int, action: p4r.TableAction) -> p4r.Entity:
    entry = p4r.TableEntry(table_id=SCHEMA.tables["route"].id, action=action)
    entry.match.add(field_id=1).lpm.CopyFrom(
        p4r.FieldMatch.LPM(value=bytes([number, 0]), prefix_len=40)
    )
    return p4r.Entity(table_entry=entry)


def _seeds() -> list[p4r.Entity]:
    """One or two valid entities of every kind, some of which depend on others."""
    host = host_entry(SCHEMA, 1)
    host.counter_data.packet_count = 5
    host.idle_timeout_ns = 10
    acl = acl_entry(SCHEMA)
    acl.meter_config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=2, pburst=2))
    learning = p4r.TableEntry(table_id=SCHEMA.tables["learning"].id, is_default_action=True)
    learning.action.action.action_id = SCHEMA.actions["learn"].id
    one_shot = p4r.TableAction()
    one_shot.action_profile_action_set.action_profile_actions.add(action=_send(1), weight=2)
    one_shot.action_profile_action_set.action_profile_actions.add(action=_send(2), weight=60)
    member = p4r.ActionProfileMember(action_profile_id=NEXTHOPS, member_id=1, action=_send(1))
    group = p4r.ActionProfileGroup(action_profile_id=NEXTHOPS, group_id=1)
    group.members.add(member_id=1, weight=1)
    counter = p4r.CounterEntry(
        counter_id=SCHEMA.counters["port_rx"].id, data=p4r.CounterData(packet_count=1)
    )
    meter = p4r.MeterEntry(meter_id=SCHEMA.meters["limiter"].id, index=p4r.Index(index=1))
    meter.config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=2, pburst=2))
    register = p4r.RegisterEntry(register_id=SCHEMA.registers["seen"].id, index=p4r.Index(index=1))
    register.data.bitstring = b"\x07"
    direct = p4r.DirectCounterEntry(table_entry=host, data=p4r.CounterData(byte_count=9))
    replicas = [p4r.Replica(port=b"\x01"), p4r.Replica(egress_port=2, instance=3)]
    multicast = p4r.MulticastGroupEntry(multicast_group_id=1, replicas=replicas)
    clone = p4r.CloneSessionEntry(session_id=1, replicas=replicas)
    digest = p4r.DigestEntry(digest_id=SCHEMA.digests["learn_t"].id)
    digest.config.max_list_size = 4
    replication = p4r.PacketReplicationEngineEntry
    return [
        p4r.Entity(table_entry=host),
        p4r.Entity(table_entry=host_entry(SCHEMA, 2)),
        p4r.Entity(table_entry=acl),
        p4r.Entity(table_entry=learning),
        _route(1, one_shot),
        _route(2, p4r.TableAction(action_profile_group_id=1)),
        _route(3, p4r.TableAction(action_profile_member_id=1)),
        p4r.Entity(action_profile_member=member),
        p4r.Entity(action_profile_group=group),
        p4r.Entity(counter_entry=counter),
        p4r.Entity(meter_entry=meter),
        p4r.Entity(register_entry=register),
        p4r.Entity(direct_counter_entry=direct),
        p4r.Entity(packet_replication_engine_entry=replication(multicast_group_entry=multicast)),
        p4r.Entity(packet_replication_engine_entry=replication(clone_session_entry=clone)),
        p4r.Entity(digest_entry=digest),
    ]


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
