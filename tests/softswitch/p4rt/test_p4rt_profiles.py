"""Action profile members and groups, and one-shot action sets."""

from finsy import P4Schema
from finsy.proto import p4r, rpc_code
from p4rt_entities import one_shot, route
from p4rt_testing import (
    Running,
    Session,
    check_refused,
    delete,
    insert,
    modify,
    refused,
    send_action,
)

from fcn.softswitch.api import ActionCall, GroupMember, GroupRef, MemberRef

SEND = "KitchenIngress.send"
ALREADY_EXISTS = rpc_code.ALREADY_EXISTS
INVALID_ARGUMENT = rpc_code.INVALID_ARGUMENT
NOT_FOUND = rpc_code.NOT_FOUND
RESOURCE_EXHAUSTED = rpc_code.RESOURCE_EXHAUSTED


def member(
    schema: P4Schema, number: int, port: int = 1, kind: int = p4r.Update.INSERT
) -> p4r.Update:
    message = p4r.ActionProfileMember(
        action_profile_id=schema.action_profiles["nexthops"].id,
        member_id=number,
        action=send_action(schema, port),
    )
    return p4r.Update(
        type=p4r.Update.Type.ValueType(kind), entity=p4r.Entity(action_profile_member=message)
    )


def group(
    schema: P4Schema,
    number: int,
    *weights: tuple[int, int],
    kind: int = p4r.Update.INSERT,
    max_size: int = 0,
) -> p4r.Update:
    message = p4r.ActionProfileGroup(
        action_profile_id=schema.action_profiles["nexthops"].id,
        group_id=number,
        max_size=max_size,
        members=[p4r.ActionProfileGroup.Member(member_id=m, weight=w) for m, w in weights],
    )
    return p4r.Update(
        type=p4r.Update.Type.ValueType(kind), entity=p4r.Entity(action_profile_group=message)
    )


async def test_members_and_groups(running: Running, primary: Session, schema: P4Schema) -> None:
    await primary.write(member(schema, 1, 1), member(schema, 2, 2))
    await primary.write(group(schema, 1, (1, 1), (2, 3)))
    engine = running.backend.engine
    assert engine.members == {1: ActionCall(SEND, (1,)), 2: ActionCall(SEND, (2,))}
    assert engine.groups == {1: (GroupMember(1, 1), GroupMember(2, 3))}
    await primary.write(
        insert(route(schema, 1, p4r.TableAction(action_profile_group_id=1))),
        insert(route(schema, 2, p4r.TableAction(action_profile_member_id=2))),
    )
    assert [e[3] for e in engine.entries.values()] == [GroupRef(1), MemberRef(2)]
    await primary.write(member(schema, 2, 3, p4r.Update.MODIFY))
    assert engine.members[2] == ActionCall(SEND, (3,))
    everything = await primary.read(
        p4r.Entity(action_profile_member=p4r.ActionProfileMember()),
        p4r.Entity(action_profile_group=p4r.ActionProfileGroup()),
    )
    assert [e.action_profile_member.member_id for e in everything[:2]] == [1, 2]
    assert everything[2] == group(schema, 1, (1, 1), (2, 3)).entity


async def test_what_is_in_use_cannot_go(primary: Session, schema: P4Schema) -> None:
    entry = route(schema, 1, p4r.TableAction(action_profile_group_id=1))
    other = route(schema, 2, p4r.TableAction(action_profile_member_id=2))
    await primary.write(member(schema, 1), member(schema, 2))
    await primary.write(group(schema, 1, (1, 1)), insert(other))
    await primary.write(insert(entry))
    drop = p4r.Update.DELETE
    in_use = [
        member(schema, 1, kind=drop),
        group(schema, 1, kind=drop),
        member(schema, 2, kind=drop),
    ]
    assert await refused(primary, *in_use) == [rpc_code.FAILED_PRECONDITION] * 3
    await primary.write(modify(route(schema, 2, p4r.TableAction(action_profile_group_id=1))))
    assert await refused(primary, in_use[1]) == [rpc_code.FAILED_PRECONDITION]
    await primary.write(delete(entry), delete(other))
    await primary.write(in_use[1])
    await primary.write(in_use[0], in_use[2])
    left = await primary.read(
        p4r.Entity(action_profile_member=p4r.ActionProfileMember()),
        p4r.Entity(action_profile_group=p4r.ActionProfileGroup()),
    )
    assert left == []


async def test_malformed_members_and_groups(primary: Session, schema: P4Schema) -> None:
    await primary.write(member(schema, 1))
    await primary.write(group(schema, 1, (1, 1), max_size=4))
    unknown = member(schema, 9)
    unknown.entity.action_profile_member.action_profile_id = 77
    without_action = member(schema, 9)
    without_action.entity.action_profile_member.ClearField("action")
    watching = group(schema, 4, (1, 1))
    watching.entity.action_profile_group.members[0].watch_port = b"\x09"
    await check_refused(
        primary,
        (member(schema, 0), INVALID_ARGUMENT),
        (member(schema, 1), ALREADY_EXISTS),
        (member(schema, 5, kind=p4r.Update.MODIFY), NOT_FOUND),
        (unknown, INVALID_ARGUMENT),
        (without_action, INVALID_ARGUMENT),
        (group(schema, 0), INVALID_ARGUMENT),
        (group(schema, 1), ALREADY_EXISTS),
        (group(schema, 2, (7, 1)), NOT_FOUND),
        (group(schema, 2, (1, 0)), INVALID_ARGUMENT),
        (group(schema, 2, (1, 1), (1, 1)), INVALID_ARGUMENT),
        (group(schema, 1, (1, 5), kind=p4r.Update.MODIFY, max_size=4), RESOURCE_EXHAUSTED),
        (group(schema, 1, (1, 1), kind=p4r.Update.MODIFY, max_size=5), INVALID_ARGUMENT),
        (group(schema, 2, (1, 65)), RESOURCE_EXHAUSTED),
        (group(schema, 2, max_size=-1), INVALID_ARGUMENT),
        (watching, INVALID_ARGUMENT),
        (insert(route(schema, 1, p4r.TableAction(action_profile_member_id=8))), NOT_FOUND),
        (insert(route(schema, 1, p4r.TableAction(action_profile_group_id=8))), NOT_FOUND),
        (
            insert(route(schema, 1, p4r.TableAction(action=send_action(schema, 1)))),
            INVALID_ARGUMENT,
        ),
    )


async def test_watch_port(running: Running, primary: Session, schema: P4Schema) -> None:
    update = group(schema, 1, (1, 1))
    update.entity.action_profile_group.members[0].watch_port = b"\x00\x03"
    await primary.write(member(schema, 1))
    await primary.write(update)
    assert running.backend.engine.groups == {1: (GroupMember(1, 1, 3),)}
    (found,) = await primary.read(p4r.Entity(action_profile_group=p4r.ActionProfileGroup()))
    assert found.action_profile_group.members[0].watch_port == b"\x03"


async def test_one_shot(running: Running, primary: Session, schema: P4Schema) -> None:
    entry = route(schema, 1, one_shot(schema, (1, 1), (2, 3)))
    await primary.write(insert(entry))
    engine = running.backend.engine
    ((group_id, members),) = engine.groups.items()
    # As many consecutive members as the weight says, as in BMv2.
    assert [engine.members[m.member_id].args for m in members] == [(1,), (2,), (2,), (2,)]
    assert {member.weight for member in members} == {1}
    assert [e[3] for e in engine.entries.values()] == [GroupRef(group_id)]
    query = p4r.Entity(table_entry=p4r.TableEntry(table_id=entry.table_id))
    (found,) = await primary.read(query)
    assert found.table_entry == entry
    entry.action.CopyFrom(one_shot(schema, (3, 1)))
    await primary.write(modify(entry))
    assert [call.args for call in engine.members.values()] == [(3,)]
    assert len(engine.groups) == 1
    await primary.write(delete(entry))
    assert (engine.members, engine.groups, engine.entries) == ({}, {}, {})


async def test_one_shot_and_groups_do_not_mix(
    running: Running, primary: Session, schema: P4Schema
) -> None:
    entry = route(schema, 1, one_shot(schema, (1, 1)))
    await primary.write(insert(entry))
    assert (
        await refused(primary, member(schema, 1), group(schema, 1))
        == [rpc_code.INVALID_ARGUMENT] * 2
    )
    await primary.write(delete(entry))
    await primary.write(member(schema, 1))
    assert await refused(primary, insert(entry)) == [rpc_code.INVALID_ARGUMENT]
    assert running.backend.engine.entries == {}


async def test_refused_one_shot_leaves_nothing(
    running: Running, primary: Session, schema: P4Schema
) -> None:
    entry = route(schema, 1, one_shot(schema, (1, 1)))
    await primary.write(insert(entry))
    engine = running.backend.engine
    before = (dict(engine.members), dict(engine.groups))
    await check_refused(
        primary,
        (insert(entry), ALREADY_EXISTS),
        (insert(route(schema, 2, one_shot(schema, (1, 0)))), INVALID_ARGUMENT),
        (insert(route(schema, 2, one_shot(schema, (1, 64)))), RESOURCE_EXHAUSTED),
    )
    assert (engine.members, engine.groups) == before
