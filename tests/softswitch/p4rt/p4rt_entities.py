"""Entities of the test program that depend on others, and one of every kind."""

from finsy import P4Schema
from finsy.proto import p4r
from p4rt_testing import acl_entry, host_entry, send_action

INSERT, MODIFY = p4r.Update.INSERT, p4r.Update.MODIFY


def route(schema: P4Schema, number: int, target: p4r.TableAction) -> p4r.TableEntry:
    """An entry of the table with an action profile."""
    entry = p4r.TableEntry(table_id=schema.tables["route"].id, action=target)
    entry.match.add(field_id=1).lpm.CopyFrom(
        p4r.FieldMatch.LPM(value=bytes([number, 0]), prefix_len=40)
    )
    return entry


def one_shot(schema: P4Schema, *weights: tuple[int, int]) -> p4r.TableAction:
    """An action set that sends to ports with weights."""
    target = p4r.TableAction()
    for port, weight in weights:
        target.action_profile_action_set.action_profile_actions.add(
            action=send_action(schema, port), weight=weight
        )
    return target


def everything(schema: P4Schema) -> list[tuple[int, p4r.Entity]]:
    """Updates of every kind of entity, in order of dependency."""
    host = host_entry(schema, 1)
    host.metadata, host.idle_timeout_ns = b"cookie", 10**9
    host.counter_data.packet_count = 3
    acl = acl_entry(schema)
    acl.meter_config.cir = acl.meter_config.pir = 5
    by_default = p4r.TableEntry(table_id=schema.tables["learning"].id, is_default_action=True)
    by_default.action.action.action_id = schema.actions["learn"].id
    nexthops = schema.action_profiles["nexthops"].id
    rates = p4r.MeterConfig(cir=1, cburst=2, pir=3, pburst=4)
    key = p4r.TableEntry(table_id=host.table_id, match=host.match)
    acl_key = p4r.TableEntry(table_id=acl.table_id, match=acl.match, priority=acl.priority)
    by_member = route(schema, 1, p4r.TableAction(action_profile_member_id=1))
    by_group = route(schema, 2, p4r.TableAction(action_profile_group_id=1))
    replicas = [p4r.Replica(port=b"\x01", instance=1)]
    member = p4r.ActionProfileMember(
        action_profile_id=nexthops, member_id=1, action=send_action(schema, 1)
    )
    group = p4r.ActionProfileGroup(
        action_profile_id=nexthops,
        group_id=1,
        members=[p4r.ActionProfileGroup.Member(member_id=1, weight=1)],
    )
    counter = p4r.CounterEntry(
        counter_id=schema.counters["port_rx"].id,
        index=p4r.Index(index=2),
        data=p4r.CounterData(packet_count=1, byte_count=9),
    )
    meter = p4r.MeterEntry(
        meter_id=schema.meters["limiter"].id, index=p4r.Index(index=2), config=rates
    )
    register = p4r.RegisterEntry(register_id=schema.registers["seen"].id, index=p4r.Index(index=2))
    register.data.bitstring = b"\x07"
    digest = p4r.DigestEntry(
        digest_id=schema.digests["learn_t"].id, config=p4r.DigestEntry.Config(max_list_size=1)
    )
    tree = p4r.PacketReplicationEngineEntry(
        multicast_group_entry=p4r.MulticastGroupEntry(multicast_group_id=1, replicas=replicas)
    )
    mirror = p4r.PacketReplicationEngineEntry(
        clone_session_entry=p4r.CloneSessionEntry(session_id=1, replicas=replicas)
    )
    return [
        (INSERT, p4r.Entity(table_entry=host)),
        (INSERT, p4r.Entity(table_entry=acl)),
        (MODIFY, p4r.Entity(table_entry=by_default)),
        (INSERT, p4r.Entity(action_profile_member=member)),
        (INSERT, p4r.Entity(action_profile_group=group)),
        (INSERT, p4r.Entity(table_entry=by_member)),
        (INSERT, p4r.Entity(table_entry=by_group)),
        (MODIFY, p4r.Entity(counter_entry=counter)),
        (
            MODIFY,
            p4r.Entity(
                direct_counter_entry=p4r.DirectCounterEntry(
                    table_entry=key, data=p4r.CounterData(packet_count=3)
                )
            ),
        ),
        (MODIFY, p4r.Entity(meter_entry=meter)),
        (
            MODIFY,
            p4r.Entity(direct_meter_entry=p4r.DirectMeterEntry(table_entry=acl_key, config=rates)),
        ),
        (MODIFY, p4r.Entity(register_entry=register)),
        (INSERT, p4r.Entity(digest_entry=digest)),
        (INSERT, p4r.Entity(packet_replication_engine_entry=tree)),
        (INSERT, p4r.Entity(packet_replication_engine_entry=mirror)),
    ]
